/*
 * weighbridge/slicing.h: tensor-parallel parts: how a tensor is divided among ranks.
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
    size_t size; /* sizeof(wb_plan_info) */
    uint32_t axis, rank, of;
    uint32_t dims;         /* rank of the slice's shape */
    const uint64_t *shape; /* logical shape of the slice; borrowed until wb_plan_free */
    uint64_t unit;         /* boundaries are multiples of this number of indices */
    uint64_t bytes;        /* stored bytes of all ranges */
    uint64_t cuts;
    uint64_t ranges;
    uint32_t uneven;     /* 1: the slices of the ranks differ in size */
    uint32_t replicated; /* number of ranks that get the same slice */
    /* 1: divided independently of its layer, which cannot be divided among this number of ranks */
    uint32_t alone;
    uint32_t reserved;
} wb_plan_info;
#define WB_PLAN_INFO_INIT WB_INIT(wb_plan_info)

/* Indices start to start + count - 1 of the axis. One cut, or one for each fused part. */
typedef struct wb_plan_cut {
    size_t size;     /* sizeof(wb_plan_cut) */
    uint32_t tensor; /* index of the tensor among the names joined with '+' */
    uint32_t reserved;
    uint64_t start;
    uint64_t count;
} wb_plan_cut;
#define WB_PLAN_CUT_INIT WB_INIT(wb_plan_cut)

/*
 * `count` runs of `bytes` bytes at distances of `stride` bytes. For a tensor that is compressed or
 * column-major (wb_tensor.storing) the offsets are those of the same tensor stored uncompressed and
 * row-major.
 */
typedef struct wb_plan_range {
    size_t size;      /* sizeof(wb_plan_range) */
    const char *role; /* as in wb_part; static */
    uint64_t tensor;  /* index of the stored tensor for wb_tensor_at */
    uint64_t file;    /* for wb_file_at */
    uint64_t offset;  /* file offset of the first run */
    uint64_t bytes;
    uint64_t count;
    uint64_t stride;
} wb_plan_range;
#define WB_PLAN_RANGE_INIT WB_INIT(wb_plan_range)

/*
 * Divides dimension `axis` of a tensor among `of` ranks and returns where the slice of `rank` is
 * stored. Reads no files. The slices of all ranks, in order, are the whole tensor.
 *
 * Boundaries are chosen so that the encoding permits them: between rows; along the last dimension
 * between blocks or groups, together with their scales and biases; for GPTQ with g_idx between
 * words, and all ranks get all scales. The slices of tensors in the same layer also fit each other:
 *   - gate and up of a feed-forward network are divided like the inputs of down: down with 11008
 *     inputs in blocks of 256 gives 5632 and 5376 inputs to two ranks, and so many rows of gate and
 *     up
 *   - q, k, v and the output of attention are divided between heads, query heads on the same rank
 *     as their key-value head. If there are more ranks than key-value heads, several ranks get the
 *     same key-value head and divide its query heads
 *   - q, k and v, or gate and up, stored as one tensor are divided separately
 *
 * If the number of units is not a multiple of the number of ranks, each of the first ranks gets one
 * more unit. If a layer has fewer units than ranks, down and the output of attention are refused,
 * and the other tensors of the layer are divided independently (`alone`): the slices form the
 * tensor, but not a layer.
 *
 * name  canonical or native name, or several names joined with '+'
 * plan  owned, release with wb_plan_free
 *
 * UNSUPPORTED, with the reason, if the tensor cannot be divided in this way; ARGUMENT for an
 * invalid axis or rank; NOT_FOUND; MEMORY.
 */
WB_API wb_status wb_slice_plan(const wb_model *model, const char *name, size_t name_len,
                               uint32_t axis, uint32_t rank, uint32_t of, wb_plan **plan,
                               wb_error *error) WB_MUST_CHECK;
WB_API void wb_plan_free(wb_plan *plan);

WB_API wb_status wb_plan_describe(const wb_plan *plan, wb_plan_info *info) WB_MUST_CHECK;
/* Returns a cut or a range of the plan. NOT_FOUND past the last one. Ranges are in the order of the
 * bytes of the slice's buffer. */
WB_API wb_status wb_plan_cut_at(const wb_plan *plan, uint64_t index,
                                wb_plan_cut *cut) WB_MUST_CHECK;
WB_API wb_status wb_plan_range_at(const wb_plan *plan, uint64_t index,
                                  wb_plan_range *range) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
