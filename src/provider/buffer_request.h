/*
 * provider/buffer_request.h: what is asked for, worked out before anything is loaded.
 *
 * Names become operands: tensors with their encoding and their stored parts. A share says which
 * indices of a dimension a rank gets. A layout says what the buffer consists of: its sections, and the
 * runs of stored bytes that fill them. All of it follows from what opening has read; files are first
 * touched by fill.c. What a tensor is, is asked through the public interface alone.
 */
#ifndef WB_PROVIDER_BUFFER_REQUEST_H
#define WB_PROVIDER_BUFFER_REQUEST_H

#include "core/core.h"
#include "model/packed.h"
#include "weighbridge/provider.h"
#include "weighbridge/slicing.h"
#include "weighbridge/tensor.h"

#define WB__OPERANDS_MAX 4096 /* names joined in one buffer */

typedef struct wb__operand {
    uint64_t number;
    wb_tensor tensor;
    wb_encoding encoding; /* of each expert where they are stored one by one */
    uint64_t members;     /* experts stored one by one, 0: it is stored as it is */
    const char *canonical;
    size_t canonical_len; /* 0: it has no canonical name */
    bool is_decoded; /* tensor and encoding are those of plain F32, which it is to be read as */
} wb__operand;

typedef struct wb__operands {
    wb_allocator allocator;
    bool decodes; /* what is added and not plain */
    wb__operand *list;
    size_t count;
    size_t capacity;
} wb__operands;

/*
 * Adds what a text names: a tensor, unless it is `joined`, or else several joined with '+'. NOT_FOUND
 * if there is none. Release with wb__operands_free, also after a failure.
 */
wb_status wb__operands_add(wb__operands *operands, wb__context *context, const wb_model *model,
                           wb__str text, bool joined);

/* Adds the tensor of a number. */
wb_status wb__operands_add_number(wb__operands *operands, wb__context *context,
                                  const wb_model *model, uint64_t number);
void wb__operands_free(wb__operands *operands);

/* How values of a scheme lie in its parts. */
static inline bool wb__is_transposed(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "awq") == 0 ||
           strcmp(operand->encoding.type, "gptq") == 0;
}

/* Whether its inputs are in an order of their own (g_idx): any of them may be of any group. */
static inline bool wb__has_order(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "gptq") == 0 && operand->encoding.parts > 3;
}

/* Whether its first dimension counts matrices, or experts. */
static inline bool wb__is_stack(const wb__operand *operand)
{
    return operand->tensor.rank > 2 || operand->members != 0;
}

/* The dimension that tensors are joined along: rows, or elements of a vector. */
static inline uint32_t wb__joint_of(const wb__operand *operand)
{
    uint32_t own = operand->tensor.rank - (operand->members != 0); /* of a single expert */
    return operand->tensor.rank < 2 ? 0 : operand->tensor.rank - (own < 2 ? 1 : 2);
}

/* The stored tensor of each role; those of expert `member` where they are stored one by one. */
wb_status wb__operand_parts(wb__context *context, const wb_model *model, const wb__operand *operand,
                            uint64_t member, uint64_t parts[WB__PARTS]);

#define WB__NO_PART UINT64_MAX

/* ---- share.c ---- */

/* Indices along the axis. */
typedef struct wb__cut {
    uint64_t start, count;
} wb__cut;

#define WB__CUTS_MAX 3 /* q, k and v in one */

typedef struct wb__axis_split {
    wb__cut cuts[WB__CUTS_MAX];
    uint32_t count;
    uint64_t padding; /* rows of zeros behind the last */
    uint32_t replicated;
    uint64_t unit;
    bool uneven;
    bool alone; /* what belongs to it cannot be cut for so many ranks */
} wb__axis_split;

/* Which part of an axis the wanted rank gets. UNSUPPORTED where it cannot be shared out so. */
typedef struct wb__rank {
    uint32_t axis, rank, of; /* of 0: the whole */
} wb__rank;

/* The rows of a vocabulary become a multiple of `vocab_multiple`, and for all ranks as many; 0: they do not. */
wb_status wb__axis_split_make(wb__context *context, const wb_model *model,
                              const wb__operand *operand, const wb__rank *rank,
                              uint32_t vocab_multiple, wb__axis_split *share);

/* ---- layout.c ---- */

/* What becomes of values: wb_policy without what is the cache's. */
typedef struct wb__target_type {
    int32_t plain;        /* the dtype of plain F32, F16 and BF16; -1: stays */
    bool converts_scales; /* of affine, to F16 */
    bool decodes;         /* what is not plain, to plain F32, which `plain` is for, too */
    uint32_t vocab_multiple;
} wb__target_type;

/* A piece of a stored tensor, and where it goes. */
typedef struct wb__run {
    uint64_t part; /* number of the stored tensor; WB__NO_PART: zeros */
    wb_slice slice;
    int32_t from, to; /* dtypes: stored or decoded to, in the buffer */
    bool is_decoded;
    uint32_t section;
    uint64_t elements;
    uint64_t dst; /* in the buffer */
    uint64_t bytes;
    wb_plan_range range; /* where it is stored */
    /*
     * Runs of which each row of the buffer has a piece stand one after the other, `woven` of them: row r of
     * this one lies at dst + r * pitch.
     */
    uint32_t woven; /* 1: its bytes lie one after the other */
    uint64_t rows, pitch;
    uint64_t first_range; /* of a plan, of it or of the runs it is woven with */
} wb__run;

#define WB__PITCH_MAX ((uint64_t)1 << 20) /* of woven runs */

typedef struct wb__layout {
    wb__arena arena;
    wb_section sections[WB_SECTIONS];
    uint32_t section_count;
    uint64_t bytes;
    uint32_t rank;
    uint64_t *shape;
    uint32_t parts;
    uint64_t *part_rows;
    wb__list runs;   /* of wb__run, in the order of the buffer */
    uint64_t ranges; /* of a plan: one for each run, of woven ones one for each row of each */
    wb__axis_split *shares; /* one for each operand */
    int32_t dtype;          /* wb_buffer.dtype */
} wb__layout;

/* Release with wb__layout_free, also after a failure. */
wb_status wb__layout_make(wb__layout *layout, wb__context *context, const wb_model *model,
                          const wb__operands *operands, const wb__rank *rank,
                          const wb__target_type *becomes);
void wb__layout_free(wb__layout *layout);

/* The effective dtype of an operand under a policy. */
int32_t wb__target_dtype(const wb__target_type *becomes, const wb__operand *operand);

#endif
