/*
 * weighbridge/slicing.h: tensor-parallel parts: how a tensor is divided among ranks.
 */
#ifndef WEIGHBRIDGE_SLICING_H
#define WEIGHBRIDGE_SLICING_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a tensor is shared out, and where in the files a part of it lies. */
typedef struct wb_plan wb_plan;

typedef struct wb_plan_info {
    size_t size; /* sizeof(wb_plan_info) */
    uint32_t axis, rank, of;
    uint32_t dims;         /* of the part */
    const uint64_t *shape; /* of the part, logical; borrowed until wb_plan_free */
    uint64_t unit;         /* boundaries lie at multiples of so many indices */
    uint64_t bytes;        /* of all ranges, as stored */
    uint64_t cuts;
    uint64_t ranges;
    uint32_t uneven;     /* 1: ranks get parts of different sizes */
    uint32_t replicated; /* so many ranks get the same; 1: no other does */
    uint32_t alone;      /* 1: cut by itself, what belongs to it cannot be cut for so many ranks */
    uint32_t reserved;
} wb_plan_info;
#define WB_PLAN_INFO_INIT WB_INIT(wb_plan_info)

/* Indices start to start + count - 1 of the axis: one cut, or one for each part of what is fused. */
typedef struct wb_plan_cut {
    size_t size;     /* sizeof(wb_plan_cut) */
    uint32_t tensor; /* of the names joined with '+', from 0 on */
    uint32_t reserved;
    uint64_t start;
    uint64_t count;
} wb_plan_cut;
#define WB_PLAN_CUT_INIT WB_INIT(wb_plan_cut)

/*
 * `count` runs of `bytes` bytes, each `stride` behind the beginning of the last. Of a tensor that is
 * compressed or stored by columns (wb_tensor.storing) they are counted as if it lay there row by row.
 */
typedef struct wb_plan_range {
    size_t size;      /* sizeof(wb_plan_range) */
    const char *role; /* as in wb_part; static */
    uint64_t tensor;  /* for wb_tensor_at: the stored tensor */
    uint64_t file;    /* for wb_file_at */
    uint64_t offset;  /* of the first run, from the start of that file */
    uint64_t bytes;
    uint64_t count;
    uint64_t stride;
} wb_plan_range;
#define WB_PLAN_RANGE_INIT WB_INIT(wb_plan_range)

/*
 * Shares out dimension `axis` of a tensor among `of` ranks, and says where the part of `rank` lies.
 * Reads nothing but what opening has read. The parts of all ranks, in order, are the whole.
 *
 * Boundaries lie where the encoding allows one: between rows, along the last dimension between blocks
 * or groups, whose scales and biases are cut along; of GPTQ with g_idx between words, whose scales all ranks
 * get. And they lie where layers need them, so that the
 * part of one tensor fits that of the next:
 *   - gate and up of a feed-forward are cut as down can be: down of 11008 inputs in blocks of 256 goes
 *     to two ranks as 5632 and 5376, and so do the rows of gate and up
 *   - q, k, v and the output of attention are cut between heads, with the query heads of a key-value
 *     head on the same rank. With more ranks than key-value heads each of these is given to
 *     several ranks, and their query heads are shared out among them
 *   - stored as one tensor, q, k and v, or gate and up, are cut each by itself
 * Where units do not go round evenly, the first ranks get one more. Where they do not go round at all
 * down and the output of attention are refused, and what they belong to is cut by itself (`alone`):
 * such parts make up the tensor, and no layer.
 *
 * name  canonical or as the files have it, or several joined with '+'
 * plan  owned, release with wb_plan_free
 *
 * UNSUPPORTED, with the reason, for what cannot be shared out so; ARGUMENT for an axis or rank there is
 * none of; NOT_FOUND, MEMORY.
 */
WB_API wb_status wb_slice_plan(const wb_model *model, const char *name, size_t name_len,
                               uint32_t axis, uint32_t rank, uint32_t of, wb_plan **plan,
                               wb_error *error) WB_MUST_CHECK;
WB_API void wb_plan_free(wb_plan *plan);

WB_API wb_status wb_plan_describe(const wb_plan *plan, wb_plan_info *info) WB_MUST_CHECK;
/* NOT_FOUND behind the last. Ranges stand in the order of the bytes of the part's buffer. */
WB_API wb_status wb_plan_cut_at(const wb_plan *plan, uint64_t index,
                                wb_plan_cut *cut) WB_MUST_CHECK;
WB_API wb_status wb_plan_range_at(const wb_plan *plan, uint64_t index,
                                  wb_plan_range *range) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
