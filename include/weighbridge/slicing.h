/*
 * weighbridge/slicing.h: slices for tensor parallelism: how a tensor is divided among ranks.
 */
#ifndef WEIGHBRIDGE_SLICING_H
#define WEIGHBRIDGE_SLICING_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a tensor is divided among ranks, and where the slice of one rank is stored. */
typedef struct wb_plan wb_plan;

typedef struct wb_plan_info {
    size_t size;             /* sizeof(wb_plan_info) */
    uint32_t axis, rank, of; /* arguments of wb_slice_plan */
    uint32_t dims;           /* number of dimensions of the slice */
    const uint64_t *shape;   /* logical shape of the slice; borrowed until wb_plan_free */
    uint64_t unit;           /* the boundaries of slices are multiples of this number of indices */
    uint64_t bytes;          /* stored bytes of all ranges */
    uint64_t cuts;           /* number of cuts, for wb_plan_cut_at */
    uint64_t ranges;         /* number of ranges, for wb_plan_range_at */
    uint32_t uneven;         /* 1: the slices of the ranks differ in size */
    uint32_t replicated;     /* number of ranks that get the same slice; 1: only this rank */
    /*
     * 1: the tensor is divided independently of the other tensors of its layer, because the layer
     * cannot be divided among this number of ranks
     */
    uint32_t alone;
    uint32_t reserved;
} wb_plan_info;
#define WB_PLAN_INFO_INIT WB_INIT(wb_plan_info)

/*
 * A range of indices along the axis that belongs to the slice, from `start` to start + count - 1. A
 * slice has one cut, or one for each fused part.
 */
typedef struct wb_plan_cut {
    size_t size; /* sizeof(wb_plan_cut) */
    /*
     * number of the tensor, counted from 0, if several names are joined with '+' or one name means
     * several tensors
     */
    uint32_t tensor;
    uint32_t reserved;
    uint64_t start;
    uint64_t count;
} wb_plan_cut;
#define WB_PLAN_CUT_INIT WB_INIT(wb_plan_cut)

/*
 * Stored bytes of a slice: `count` runs of `bytes` bytes each, which begin at distances of `stride`
 * bytes. For a tensor that is stored compressed or column-major (wb_tensor.storing), the offsets
 * are those that the tensor would have if it were stored uncompressed and row-major.
 */
typedef struct wb_plan_range {
    size_t size;      /* sizeof(wb_plan_range) */
    const char *role; /* as in wb_part; static */
    uint64_t tensor;  /* index of the stored tensor for wb_tensor_at */
    uint64_t file;    /* index of the file for wb_file_at */
    uint64_t offset;  /* file offset of the first run, in bytes */
    uint64_t bytes;   /* size of a run */
    uint64_t count;   /* number of runs */
    uint64_t stride;  /* distance from the start of a run to the start of the next, in bytes */
} wb_plan_range;
#define WB_PLAN_RANGE_INIT WB_INIT(wb_plan_range)

/*
 * Divides dimension `axis` of a tensor among `of` ranks and returns where the slice of rank number
 * `rank` is stored. Reads no files. The slices of all ranks, in order, are the whole tensor.
 *
 * A slice can only begin and end at boundaries that the encoding permits. Along the last dimension,
 * these are the boundaries between blocks or groups, because the values of a block or group share
 * scales and biases. Along the rows, a boundary is between any two rows; for AWQ and GPTQ only at
 * multiples of 8 rows, and for FP8 in blocks only between blocks. A GPTQ tensor with g_idx is cut
 * along its inputs between words of 8 inputs, and all ranks get all scales. Slices of tensors in
 * the same layer fit each other:
 *   - gate and up of a feed-forward network are divided like the inputs of down. Example: down with
 *     11008 inputs in blocks of 256 gives 5632 inputs to the first of two ranks and 5376 to the
 *     second; the ranks get the same numbers of rows of gate and up
 *   - q, k, v and the output of attention are divided between heads. A rank gets a key-value head
 *     together with its query heads. If there are more ranks than key-value heads, several ranks
 *     get the same key-value head and divide its query heads
 *   - q, k and v, or gate and up, that are stored as one tensor are divided separately
 *
 * A unit is the smallest number of indices between two permitted boundaries (wb_plan_info.unit). If
 * the number of units is not a multiple of the number of ranks, each of the first ranks gets one
 * more unit. If a layer has fewer units than ranks, down and the output of attention are refused,
 * and the other tensors are divided independently of each other (wb_plan_info.alone). The slices of
 * one tensor are then complete, but a rank cannot compute its share of the layer with them.
 *
 * name  canonical or native name, or several names joined with '+'
 * plan  owned, release with wb_plan_free
 *
 * UNSUPPORTED, with the reason, if the tensor cannot be divided in this way; ARGUMENT for an
 * invalid axis or rank; NOT_FOUND if the tensor does not exist; MEMORY.
 */
WB_API wb_status wb_slice_plan(const wb_model *model, const char *name, size_t name_len,
                               uint32_t axis, uint32_t rank, uint32_t of, wb_plan **plan,
                               wb_error *error) WB_MUST_CHECK;
/* Frees a plan. NULL is ignored. */
WB_API void wb_plan_free(wb_plan *plan);

/* Describes a plan. */
WB_API wb_status wb_plan_describe(const wb_plan *plan, wb_plan_info *info) WB_MUST_CHECK;
/*
 * Describe a cut or a range of the plan. NOT_FOUND if `index` is past the last one. The ranges, in
 * order, are the bytes that wb_provider_slice stores in its buffer.
 */
WB_API wb_status wb_plan_cut_at(const wb_plan *plan, uint64_t index,
                                wb_plan_cut *cut) WB_MUST_CHECK;
WB_API wb_status wb_plan_range_at(const wb_plan *plan, uint64_t index,
                                  wb_plan_range *range) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
