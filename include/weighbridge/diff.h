/*
 * weighbridge/diff.h: differences between two models.
 */
#ifndef WEIGHBRIDGE_DIFF_H
#define WEIGHBRIDGE_DIFF_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of differences between two models; bits. */
#define WB_DIFF_NAMES 1u      /* a tensor exists in one model only */
#define WB_DIFF_CONFIG 2u     /* a field of wb_config differs */
#define WB_DIFF_METADATA 4u   /* a metadata entry differs */
#define WB_DIFF_SHAPES 8u     /* the shape of a tensor differs */
#define WB_DIFF_ENCODINGS 16u /* the encoding of a tensor differs */
#define WB_DIFF_VALUES 32u    /* the values of a tensor differ */

typedef struct wb_diff_options {
    size_t size;                 /* sizeof(wb_diff_options) */
    uint32_t kinds;              /* kinds to compare, WB_DIFF_*; 0: all */
    const wb_executor *executor; /* NULL: that of the first model */
    const wb_progress *progress; /* NULL: none */
} wb_diff_options;
#define WB_DIFF_OPTIONS_INIT WB_INIT(wb_diff_options)

typedef struct wb_diff wb_diff;

/*
 * Compares two open models of any formats and quantizations. Tensors are matched by canonical name,
 * or by native name if they have none. Experts that are stored separately are compared as one
 * tensor, and a tied output as the embedding. Values are compared as binary32, with rows in the
 * order of Hugging Face (see wb_hash_model). rope_layout, norm_offset and the fields of
 * quantization are not compared, because they describe the storage. If the formats differ, metadata
 * and config are compared only as far as both models specify them.
 *
 * options  NULL: defaults
 * diff     owned, release with wb_diff_free before the models are closed
 *
 * The result does not depend on the executor. Each thread uses some MiB of memory, or the size of
 * one row if that is larger. Fails with IO, MEMORY, CANCELLED or ARGUMENT, UNSUPPORTED if a tensor
 * cannot be decoded, and CHANGED if a file changed since its model was opened. Thread-safe.
 */
WB_API wb_status wb_diff_models(const wb_model *a, const wb_model *b,
                                const wb_diff_options *options, wb_diff **diff,
                                wb_error *error) WB_MUST_CHECK;

/* NULL is ignored. */
WB_API void wb_diff_free(wb_diff *diff);

/* Returns the kinds of differences found: WB_DIFF_*; 0 if there are none. */
WB_API uint32_t wb_diff_kinds(const wb_diff *diff);

/* Distance between the values of model a and model b. */
typedef struct wb_distance {
    uint64_t values;     /* values compared; complex numbers count as two */
    uint64_t different;  /* values with different bits; all NaNs are considered equal */
    uint64_t not_finite; /* different values that are NaN or infinite in a model; excluded below */
    double nmse;         /* sum of (b - a)^2 / sum of a^2; infinite if all of a is zero */
    double maximum;      /* largest |b - a| */
    double cosine;       /* cosine similarity; 1 if both are all zeros, 0 if one is */
    double snr;          /* -10 log10(nmse), in decibels; infinite if nmse is 0 */
} wb_distance;

typedef struct wb_tensor_diff {
    size_t size;      /* sizeof(wb_tensor_diff) */
    const char *name; /* canonical name if there is one; borrowed until the models are closed */
    size_t name_len;
    uint64_t a, b;     /* indices for wb_tensor_at; UINT64_MAX: not in this model */
    uint32_t differs;  /* WB_DIFF_NAMES, SHAPES, ENCODINGS, VALUES */
    uint32_t compared; /* 1: `distance` is valid */
    wb_distance distance;
} wb_tensor_diff;
#define WB_TENSOR_DIFF_INIT WB_INIT(wb_tensor_diff)

/* Returns the number of tensors in both models together. */
WB_API uint64_t wb_diff_tensor_count(const wb_diff *diff);

/*
 * Describes tensor `index` < wb_diff_tensor_count, worst first: tensors in one model only,
 * different shapes, values that are not finite, then by NMSE; equal ones by name. NOT_FOUND for
 * other numbers.
 */
WB_API wb_status wb_diff_tensor_at(const wb_diff *diff, uint64_t index,
                                   wb_tensor_diff *tensor) WB_MUST_CHECK;

/* Returns the distance of all compared values together. */
WB_API void wb_diff_distance(const wb_diff *diff, wb_distance *distance);

/* Returns the fields of wb_config that differ: bits 1 << wb_config_field. */
WB_API uint64_t wb_diff_config(const wb_diff *diff);

typedef struct wb_meta_diff {
    size_t size;     /* sizeof(wb_meta_diff) */
    const char *key; /* borrowed until the models are closed */
    size_t key_len;
    uint64_t a, b; /* indices for wb_meta_at; UINT64_MAX: not in this model */
} wb_meta_diff;
#define WB_META_DIFF_INIT WB_INIT(wb_meta_diff)

/* The metadata entries that differ. */
WB_API uint64_t wb_diff_meta_count(const wb_diff *diff);
WB_API wb_status wb_diff_meta_at(const wb_diff *diff, uint64_t index,
                                 wb_meta_diff *meta) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
