/*
 * weighbridge/diff.h: differences between two models.
 */
#ifndef WEIGHBRIDGE_DIFF_H
#define WEIGHBRIDGE_DIFF_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of differences between two models. Each kind is one bit. */
#define WB_DIFF_NAMES 1u      /* a tensor exists in one model only */
#define WB_DIFF_CONFIG 2u     /* a field of wb_config differs */
#define WB_DIFF_METADATA 4u   /* a metadata entry differs */
#define WB_DIFF_SHAPES 8u     /* the shape of a tensor differs */
#define WB_DIFF_ENCODINGS 16u /* the encoding of a tensor differs */
#define WB_DIFF_VALUES 32u    /* the values of a tensor differ */

typedef struct wb_diff_options {
    size_t size;                 /* sizeof(wb_diff_options) */
    uint32_t kinds;              /* kinds of differences to look for, WB_DIFF_*; 0: all */
    const wb_executor *executor; /* NULL: the executor of model a */
    const wb_progress *progress; /* NULL: none */
} wb_diff_options;
#define WB_DIFF_OPTIONS_INIT WB_INIT(wb_diff_options)

typedef struct wb_diff wb_diff;

/*
 * Compares two open models of any formats and quantizations. Tensors are matched by canonical name,
 * or by native name if they have no canonical name. Experts that are stored separately are compared
 * as one tensor. If only one model stores an output matrix and the other ties it to the embedding,
 * the output matrix is compared with that embedding. Values are compared as binary32, with rows in
 * the order that Hugging Face uses (see weighbridge/hash.h). The config fields rope_layout,
 * norm_offset, quant_bits and quant_group_size are not compared, because they describe the storage.
 * If the formats differ, only metadata and config fields that both models specify are compared.
 *
 * options  NULL: defaults
 * diff     owned, release with wb_diff_free before the models are closed
 *
 * The result does not depend on the executor. Each thread uses some MiB of memory, or the size of
 * one row if that is larger. Models and comparison together need at most 1 MiB plus 16 times the
 * bytes of the headers. Fails with IO, MEMORY, CANCELLED or ARGUMENT, with UNSUPPORTED if a
 * tensor cannot be decoded, and with CHANGED if a file changed since its model was opened.
 * Thread-safe.
 */
WB_API wb_status wb_diff_models(const wb_model *a, const wb_model *b,
                                const wb_diff_options *options, wb_diff **diff,
                                wb_error *error) WB_MUST_CHECK;

/* Frees a comparison. NULL is ignored. */
WB_API void wb_diff_free(wb_diff *diff);

/* Returns the kinds of differences between the models: WB_DIFF_*, or 0 if there are none. */
WB_API uint32_t wb_diff_kinds(const wb_diff *diff);

/*
 * Distance between values of model a and values of model b. `nmse` and the members after it exclude
 * values that are NaN or infinite in either model.
 */
typedef struct wb_distance {
    uint64_t values;     /* number of values compared; a complex number counts as two */
    uint64_t different;  /* number of values with different bits; all NaNs are considered equal */
    uint64_t not_finite; /* number of the `different` values that are NaN or infinite in a or b */
    double nmse;         /* sum of (b - a)^2 / sum of a^2; infinite if all values of a are 0 */
    double maximum;      /* largest |b - a| */
    /* cosine similarity; 1 if all values of a and of b are 0; 0 if only those of one are 0 */
    double cosine;
    double snr; /* -10 log10(nmse), in decibels; infinite if nmse is 0 */
} wb_distance;

typedef struct wb_tensor_diff {
    size_t size; /* sizeof(wb_tensor_diff) */
    /* canonical name, or the native name if there is none; borrowed until the models are closed */
    const char *name;
    size_t name_len;
    uint64_t a, b;     /* indices for wb_tensor_at; UINT64_MAX: not in this model */
    uint32_t differs;  /* bits WB_DIFF_NAMES, WB_DIFF_SHAPES, WB_DIFF_ENCODINGS, WB_DIFF_VALUES */
    uint32_t compared; /* 1: the values were compared, and `distance` is valid */
    wb_distance distance;
} wb_tensor_diff;
#define WB_TENSOR_DIFF_INIT WB_INIT(wb_tensor_diff)

/* Returns the number of tensors; a tensor that both models have counts once. */
WB_API uint64_t wb_diff_tensor_count(const wb_diff *diff);

/*
 * Describes tensor `index`. Returns NOT_FOUND if `index` is not below wb_diff_tensor_count.
 * The tensors are ordered by these groups, and by name within a group:
 * 1. tensors that only one model has
 * 2. tensors with different shapes
 * 3. tensors with a value that differs and is NaN or infinite in at least one model
 * 4. other tensors with different values, ordered by descending NMSE, then by name
 * 5. tensors with other differences
 * 6. equal tensors
 */
WB_API wb_status wb_diff_tensor_at(const wb_diff *diff, uint64_t index,
                                   wb_tensor_diff *tensor) WB_MUST_CHECK;

/* Computes one distance over the values of all compared tensors. */
WB_API void wb_diff_distance(const wb_diff *diff, wb_distance *distance);

/* Returns 1 if the field `field` (wb_config_field) of wb_config differs, else 0. */
WB_API int wb_diff_config(const wb_diff *diff, uint32_t field);

typedef struct wb_meta_diff {
    size_t size;     /* sizeof(wb_meta_diff) */
    const char *key; /* borrowed until the models are closed */
    size_t key_len;
    uint64_t a, b; /* indices for wb_meta_at; UINT64_MAX: not in this model */
} wb_meta_diff;
#define WB_META_DIFF_INIT WB_INIT(wb_meta_diff)

/* Return the number of metadata entries that differ, and describe the one at `index`. */
WB_API uint64_t wb_diff_meta_count(const wb_diff *diff);
WB_API wb_status wb_diff_meta_at(const wb_diff *diff, uint64_t index,
                                 wb_meta_diff *meta) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
