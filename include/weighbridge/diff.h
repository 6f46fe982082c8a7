/*
 * weighbridge/diff.h: differences between two models.
 */
#ifndef WEIGHBRIDGE_DIFF_H
#define WEIGHBRIDGE_DIFF_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In what two models can differ; bits. */
#define WB_DIFF_NAMES 1u      /* a tensor that only one of them has */
#define WB_DIFF_CONFIG 2u     /* a field of wb_config */
#define WB_DIFF_METADATA 4u   /* an entry of the metadata */
#define WB_DIFF_SHAPES 8u     /* the shape of a tensor */
#define WB_DIFF_ENCODINGS 16u /* how a tensor is stored */
#define WB_DIFF_VALUES 32u    /* the values of a tensor */

typedef struct wb_diff_options {
    size_t size;                 /* sizeof(wb_diff_options) */
    uint32_t kinds;              /* what to compare, WB_DIFF_*; 0: all */
    const wb_executor *executor; /* NULL: that the first model was opened with */
    const wb_progress *progress; /* NULL: none */
} wb_diff_options;
#define WB_DIFF_OPTIONS_INIT WB_INIT(wb_diff_options)

typedef struct wb_diff wb_diff;

/*
 * Compares two open models, whatever their formats and quantizations. Tensors are matched by their
 * canonical names, else by those of the files; experts that are stored one by one are one tensor; an
 * output that is tied is the embedding. Values are compared as binary32, rows in the order Hugging
 * Face has them (see wb_hash_model). rope_layout, norm_offset and the fields about quantization are
 * not compared: they say how values are stored. Of two formats, what only one of them says about
 * itself is no difference: metadata and config are compared where both know.
 *
 * options  NULL: defaults
 * diff     owned, release with wb_diff_free, before the models are closed
 *
 * The result does not depend on the executor. Each thread takes some MiB, and what a row takes where
 * that is more. Fails with IO, MEMORY, CANCELLED, ARGUMENT, UNSUPPORTED for a tensor that cannot be
 * decoded, and CHANGED if a file did meanwhile. Thread-safe.
 */
WB_API wb_status wb_diff_models(const wb_model *a, const wb_model *b,
                                const wb_diff_options *options, wb_diff **diff,
                                wb_error *error) WB_MUST_CHECK;

/* NULL is ignored. */
WB_API void wb_diff_free(wb_diff *diff);

/* In what the models differ: WB_DIFF_*, 0 if in nothing that was compared. */
WB_API uint32_t wb_diff_kinds(const wb_diff *diff);

/* How far the values of b are from those of a. */
typedef struct wb_distance {
    uint64_t values;     /* that were compared; of a complex number both parts */
    uint64_t different;  /* of them are not the same bits, NaNs apart, which are all the same */
    uint64_t not_finite; /* of these NaN or infinite in one model or both; not in what follows */
    double nmse;         /* sum of (b - a)^2 over sum of a^2; infinite for a of nothing but zeros */
    double maximum;      /* largest |b - a| */
    double cosine;       /* of the angle between a and b; 1 if both are all zeros, 0 if one is */
    double snr;          /* -10 log10(nmse), in decibels; infinite where nmse is 0 */
} wb_distance;

typedef struct wb_tensor_diff {
    size_t size; /* sizeof(wb_tensor_diff) */
    const char
        *name; /* canonical where there is such a name; borrowed until the models are closed */
    size_t name_len;
    uint64_t a, b;     /* indices for wb_tensor_at; UINT64_MAX: the model does not have it */
    uint32_t differs;  /* WB_DIFF_NAMES, SHAPES, ENCODINGS, VALUES */
    uint32_t compared; /* 1: `distance` is known */
    wb_distance distance;
} wb_tensor_diff;
#define WB_TENSOR_DIFF_INIT WB_INIT(wb_tensor_diff)

/* The tensors of both models. */
WB_API uint64_t wb_diff_tensor_count(const wb_diff *diff);

/*
 * Tensor `index` < wb_diff_tensor_count, the worst first: those only one model has, those of different
 * shapes, values that are not finite, then by NMSE; of equals by name. NOT_FOUND for other numbers.
 */
WB_API wb_status wb_diff_tensor_at(const wb_diff *diff, uint64_t index,
                                   wb_tensor_diff *tensor) WB_MUST_CHECK;

/* All values that were compared, taken together. */
WB_API void wb_diff_distance(const wb_diff *diff, wb_distance *distance);

/* The fields of wb_config that differ: bit 1 << wb_config_field. */
WB_API uint64_t wb_diff_config(const wb_diff *diff);

typedef struct wb_meta_diff {
    size_t size;     /* sizeof(wb_meta_diff) */
    const char *key; /* borrowed until the models are closed */
    size_t key_len;
    uint64_t a, b; /* indices for wb_meta_at; UINT64_MAX: the model does not have it */
} wb_meta_diff;
#define WB_META_DIFF_INIT WB_INIT(wb_meta_diff)

/* The entries of the metadata that differ. */
WB_API uint64_t wb_diff_meta_count(const wb_diff *diff);
WB_API wb_status wb_diff_meta_at(const wb_diff *diff, uint64_t index,
                                 wb_meta_diff *meta) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
