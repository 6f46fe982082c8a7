/*
 * provider/buffer_request.h: resolves a request before any weight is loaded.
 *
 * Names become operands: tensors with their encoding and stored parts. An axis split gives the
 * range of a dimension that a rank gets. A layout lists the sections of the buffer, and the runs of
 * stored bytes that fill them. All of this is computed from the headers of the files; only
 * buffer_fill.c reads weights. Tensors are queried through the public interface.
 */
#ifndef WB_PROVIDER_BUFFER_REQUEST_H
#define WB_PROVIDER_BUFFER_REQUEST_H

#include "core/core.h"
#include "model/packed.h"
#include "provider/tensor_role.h"
#include "weighbridge/config.h"
#include "weighbridge/provider.h"
#include "weighbridge/slicing.h"
#include "weighbridge/tensor.h"

#define WB__OPERANDS_MAX 4096 /* largest number of names fused in one buffer */

/* The members of wb_policy that determine how values are converted. */
typedef struct wb__target_type {
    int32_t plain;        /* dtype for plain F32, F16 and BF16; -1: unchanged */
    bool converts_scales; /* converts affine scales and biases to F16 */
    bool decodes;         /* decodes quantized tensors to F32, to which `plain` then applies */
    bool adds_offset;     /* WB_POLICY_NORM_PLAIN */
    wb_rope_layout rope;  /* order of the rows of q and k; WB_ROPE_NONE: as stored */
    uint32_t vocab_multiple;
} wb__target_type;

/*
 * How the policy changes the rows and the values of an operand. RoPE rotates the first `rotated`
 * rows of each head. A model stores them in one of two layouts, interleaved or half:
 *
 *     row in the interleaved layout:   0  1  2  3  …  rotated - 1
 *     same row in the half layout:     0  h  1  h + 1 … 2 h - 1       with h = rotated / 2
 */
typedef struct wb__row_change {
    uint64_t head_rows; /* number of rows of a head; 0: the rows are not permuted */
    uint64_t rotated;   /* an even number */
    bool to_half;       /* true: from the interleaved to the half layout; false: the reverse */
    float adds;         /* number to add to each value */
} wb__row_change;

typedef struct wb__operand {
    uint64_t number;
    wb_tensor tensor;
    wb_encoding encoding; /* encoding of the tensor, or of one expert if `members` is not 0 */
    uint64_t members;     /* number of experts, if each is a stored tensor; 0: one stored tensor */
    const char *canonical;
    size_t canonical_len; /* length of the canonical name; 0: none */
    wb__layer_role role;  /* role of the operand, which may be a part of the tensor */
    uint32_t part;      /* the operand is part `part` - 1 of the tensor (wb__leaf_parts); 0: all of
                             the tensor */
    uint64_t first_row; /* number of rows of the tensor before those of the operand */
    uint64_t part_rows; /* number of rows of the operand, if `part` is not 0 */
    bool is_decoded;    /* the tensor is quantized, but read as plain F32; `tensor` and `encoding`
                             describe the F32 tensor */
    wb__row_change change;
} wb__operand;

typedef struct wb__operands {
    wb_allocator allocator;
    bool decodes;                   /* quantized tensors are decoded (wb__operand.is_decoded) */
    const wb__target_type *becomes; /* NULL: rows and norm weights stay as stored */
    wb__operand *list;
    size_t count;
    size_t capacity;
} wb__operands;

/* The key of an operand consists of the index of the tensor and, in the highest bits, of
 * wb__operand.part. */
#define WB__KEY_PART_SHIFT 60

static inline uint64_t wb__operand_key(const wb__operand *operand)
{
    return operand->number | (uint64_t)operand->part << WB__KEY_PART_SHIFT;
}

/*
 * Adds the tensor whose name is `text`. If there is none, or `joined` is set, `text` is a list of
 * names joined with '+', and all these tensors are added. If the model stores a named tensor in
 * another way, such as q, k and v instead of qkv, adds the stored tensors or the part of a stored
 * tensor that correspond to it (virtual_names.c). Fails with WB_ERROR_NOT_FOUND if a tensor does
 * not exist. The caller must call wb__operands_free, also after a failure.
 */
wb_status wb__operands_add(wb__operands *operands, wb__context *context, const wb_model *model,
                           wb__str text, bool joined);

/* Adds the operand with this key (wb__operand_key). The key of a complete tensor is its index. */
wb_status wb__operands_add_key(wb__operands *operands, wb__context *context, const wb_model *model,
                               uint64_t key);

/*
 * For a canonical name that no tensor has, sets keys[] to the operands that correspond to it. For
 * the name qkv these are q, k and v; for gate_up, they are gate and up; for q, k, v, gate or up, it
 * is a part of a stored qkv or gate_up.
 * Fails with WB_ERROR_NOT_FOUND, without a message, if the model does not have these tensors.
 */
wb_status wb__virtual_keys(wb__context *context, const wb_model *model, wb__str name,
                           uint64_t keys[WB__FUSED_MAX], size_t *n);
void wb__operands_free(wb__operands *operands);

/* Returns true if the values are stored transposed (AWQ, GPTQ). */
static inline bool wb__is_transposed(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "awq") == 0 ||
           strcmp(operand->encoding.type, "gptq") == 0;
}

/* Returns true if the tensor has a g_idx, which assigns inputs to groups in any order. */
static inline bool wb__has_order(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "gptq") == 0 && operand->encoding.parts > 3;
}

/* Returns true if the first dimension is the index of a matrix or expert. */
static inline bool wb__is_stack(const wb__operand *operand)
{
    return operand->tensor.rank > 2 || operand->members != 0;
}

/* Returns the dimension along which tensors are joined: rows, or elements of a vector. */
static inline uint32_t wb__joint_of(const wb__operand *operand)
{
    /* number of dimensions of the tensor, or of one expert */
    uint32_t own = operand->tensor.rank - (operand->members != 0);
    return operand->tensor.rank < 2 ? 0 : operand->tensor.rank - (own < 2 ? 1 : 2);
}

/* Returns the length of a dimension of the operand, which may be a part of a tensor. */
static inline uint64_t wb__operand_length(const wb__operand *operand, uint32_t axis)
{
    return operand->part != 0 && axis == wb__joint_of(operand) ? operand->part_rows
                                                               : operand->tensor.shape[axis];
}

static inline bool wb__is_common_float(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 || dtype == WB_DTYPE_F16 || dtype == WB_DTYPE_BF16;
}

/* Returns the dtype that the values of an operand have in a buffer. */
int32_t wb__target_dtype(const wb__target_type *becomes, const wb__operand *operand);

/* Sets parts[role] to the index of the stored tensor of each role, or to WB__NO_PART. If experts
 * are stored one by one, these are the tensors of expert `member`. */
wb_status wb__operand_parts(wb__context *context, const wb_model *model, const wb__operand *operand,
                            uint64_t member, uint64_t parts[WB__PARTS]);

#define WB__NO_PART UINT64_MAX

/* ---- stored_parts.c ---- */

/* q, kv: numbers of query heads and of key-value heads; dim: number of rows of a head; q_rows,
 * kv_rows: numbers of rows of all query heads, and of all key heads (or all value heads). All are 0
 * if the config does not specify valid numbers. */
typedef struct wb__head_counts {
    uint64_t q, kv, dim;
    uint64_t q_rows, kv_rows;
} wb__head_counts;

wb_status wb__head_counts_of(wb__context *context, const wb_model *model,
                             const wb__layer_role *role, wb__head_counts *counts);

/* Returns the number of rows of q, k, v or qkv, or the number of inputs of the attention output. */
uint64_t wb__head_rows(const wb__head_counts *counts, wb__leaf leaf);

/* Sets rows[] to the numbers of rows of the parts of a tensor (wb__leaf_parts). Returns the number
 * of parts; 0 if the tensor has no parts, or their rows are unknown. */
size_t wb__rows_of_parts(wb__context *context, const wb_model *model, const wb__operand *operand,
                         uint64_t rows[WB__FUSED_MAX]);

/* Changes an operand from a complete tensor to part `part` - 1 of this tensor. */
wb_status wb__operand_take_part(wb__context *context, const wb_model *model, wb__operand *operand,
                                uint32_t part);

/* ---- row_change.c ---- */

/* Computes how the policy changes the rows and values of an operand. */
wb_status wb__row_change_of(wb__context *context, const wb_model *model,
                            const wb__target_type *becomes, const wb__operand *operand,
                            wb__row_change *change);

/* Returns the row of the buffer for stored row `row`. */
static inline uint64_t wb__row_change_to(const wb__row_change *change, uint64_t row)
{
    uint64_t within = row % change->head_rows, half = change->rotated / 2;
    if (within >= change->rotated)
        return row;
    uint64_t to = change->to_half ? within / 2 + within % 2 * half
                  : within < half ? 2 * within
                                  : 2 * (within - half) + 1;
    return row - within + to;
}

/* ---- shard.c ---- */

/* A range of indices along an axis. */
typedef struct wb__cut {
    uint64_t start, count;
} wb__cut;

#define WB__CUTS_MAX WB__FUSED_MAX /* a fused tensor qkv has three ranges: of q, of k and of v */

/* The ranges of an axis that one rank gets. */
typedef struct wb__axis_split {
    wb__cut cuts[WB__CUTS_MAX];
    uint32_t count;      /* number of `cuts` */
    uint64_t padding;    /* number of zero rows after the last row */
    uint32_t replicated; /* number of ranks that get the same ranges */
    uint64_t unit;       /* boundaries between the ranges of ranks are multiples of this number */
    bool uneven;         /* the ranks do not get the same number of indices */
    bool alone; /* the axis is divided independently of the other tensors of the group (shard.c),
                 * because the group cannot be divided among so many ranks */
    /* number of parts, and number of indices in each part, for wb_buffer.part_rows. A complete
     * tensor qkv has three parts (q, k and v), although it is one range in `cuts`. */
    uint32_t parts;
    uint64_t part_rows[WB__CUTS_MAX];
} wb__axis_split;

/* Dimension `axis` is divided among `of` ranks, and this is the rank number `rank`. If `of` is 0,
 * the tensor is not divided. */
typedef struct wb__rank {
    uint32_t axis, rank, of;
} wb__rank;

/*
 * Computes the ranges of an axis that a rank gets. Vocabulary rows are padded to a multiple of
 * `vocab_multiple` (0: no padding), and all ranks get the same number of rows. Fails with
 * UNSUPPORTED if the axis cannot be partitioned.
 */
wb_status wb__axis_split_make(wb__context *context, const wb_model *model,
                              const wb__operand *operand, const wb__rank *rank,
                              uint32_t vocab_multiple, wb__axis_split *share);

/* ---- buffer_layout.c ---- */

/* A range of a stored tensor and its destination in the buffer. */
typedef struct wb__run {
    uint64_t part; /* index of the stored tensor; WB__NO_PART: zeros */
    wb_slice slice;
    int32_t from, to; /* dtype as stored or decoded, and dtype in the buffer */
    bool is_decoded;
    uint32_t section;
    uint64_t elements;
    uint64_t dst;        /* offset in the buffer in bytes */
    uint64_t bytes;      /* size in the buffer in bytes */
    wb_plan_range range; /* byte range in the file */
    /*
     * Number of consecutive runs that are interleaved row by row, including this one: row r of this
     * run is at dst + r * pitch. 1: the bytes of the run are contiguous in the buffer.
     */
    uint32_t interleaved_runs;
    uint64_t pitch; /* distance between rows in bytes; 0: the run is not written row by row */
    uint64_t rows;  /* number of rows to read, if `pitch` or change.head_rows is not 0 */
    /*
     * If change.head_rows is not 0, the rows are permuted. The first row to read is row `first_row`
     * of the stored tensor, and the buffer gets the rows `to_rows` of the permuted tensor.
     */
    wb__row_change change;
    uint64_t first_row;
    wb__cut to_rows;
    bool is_inner; /* the elements of each row are permuted, because the tensor is transposed */
    bool is_awq;   /* the elements are packed in words in the order of AWQ */
    uint32_t inner_bits;  /* size of a permuted element in bits; 0: size of the dtype */
    float adds;           /* number to add to each value */
    bool converts;        /* the bytes in the buffer differ from those in the file */
    uint64_t first_range; /* index of the first range of the plan that belongs to the run, or to the
                             runs with which it is interleaved */
} wb__run;

/* Maximum wb__run.pitch, in bytes. */
#define WB__PITCH_MAX ((uint64_t)1 << 20)

typedef struct wb__layout {
    wb__arena arena;
    wb_section sections[WB_SECTIONS];
    uint32_t section_count;
    uint64_t bytes;
    uint32_t rank;
    uint64_t *shape;
    uint32_t parts;
    uint64_t *part_rows;
    wb__list runs;   /* list of wb__run, in the order of the buffer */
    uint64_t ranges; /* number of ranges of the plan: one for each run, or one for each row of an
                        interleaved run */
    wb__axis_split *shares; /* the axis split of each operand */
    int32_t dtype;          /* wb_buffer.dtype */
} wb__layout;

/* Computes the layout of a buffer. The caller must call wb__layout_free, also after a failure. */
wb_status wb__layout_make(wb__layout *layout, wb__context *context, const wb_model *model,
                          const wb__operands *operands, const wb__rank *rank,
                          const wb__target_type *becomes);
void wb__layout_free(wb__layout *layout);

#endif
