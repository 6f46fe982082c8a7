/*
 * model/packed.h: tensors that consist of several stored ones.
 *
 * A quantized weight is stored as its packed values and companions beside it: scales, biases, zero
 * points. wb__packed_join finds the companions by name, works out how the values are packed from
 * the shapes, and from what the files around the weights say of it, and makes one tensor of them:
 * it has the name and place of the packed values, and the shape of what they stand for. What does
 * not fit stays the tensors it is stored as, with a finding.
 *
 *     who writes it          packed values              companions
 *     MLX                    x.weight           U32     x.scales, x.biases
 *     Ollama                 x                  U32     x.scale, x.bias, x.global_scale
 *     block FP8              x.weight           E4M3    x.weight_scale_inv
 *     ModelOpt NVFP4         x.weight           U8      x.weight_scale, x.weight_scale_2
 *     compressed-tensors     x.weight_packed    U8      x.weight_scale, x.weight_global_scale
 *     AWQ, GPTQ              x.qweight          I32     x.scales, x.qzeros, x.g_idx
 *     llama.cpp              x.weight           NVFP4   x.scale
 *
 * The last has its scales in its blocks, and is none of the schemes: it stays of its dtype.
 */
#ifndef WB_MODEL_PACKED_H
#define WB_MODEL_PACKED_H

#include "model/tensor_table.h"

typedef enum wb__scheme {
#define WB__SCHEME(NAME, name, bits, group) WB__SCHEME_##NAME,
#include "model/encoding.def"
#undef WB__SCHEME
    WB__SCHEME_COUNT
} wb__scheme;

const char *wb__scheme_name(wb__scheme scheme);
uint32_t wb__scheme_bits(wb__scheme scheme);  /* 0: several */
uint32_t wb__scheme_group(wb__scheme scheme); /* 0: several */

typedef enum wb__part {
    WB__PART_VALUES,
    WB__PART_SCALES,
    WB__PART_BIASES, /* affine: added; AWQ, GPTQ: the packed zero points */
    WB__PART_GLOBAL_SCALE,
    WB__PART_ORDER, /* GPTQ: the group of each input */
    WB__PARTS
} wb__part;

const char *wb__part_name(wb__part part);

/* What the global scale is. */
typedef enum wb__global {
    WB__GLOBAL_NONE,
    WB__GLOBAL_MAXIMUM, /* the largest magnitude of the tensor, 2688 times the factor (MLX) */
    WB__GLOBAL_LAST,    /* multiplied after the scale of the group (Ollama) */
    WB__GLOBAL_FACTOR,  /* multiplies the scale of the group (ModelOpt, llama.cpp) */
    WB__GLOBAL_DIVISOR  /* its reciprocal does (compressed-tensors) */
} wb__global;

typedef struct wb__packed {
    uint32_t parts[WB__PARTS]; /* numbers of stored tensors, WB__NO_TENSOR for what there is not */
    wb__kind kind;             /* of the whole: logical shape and elements, bytes of all parts */
    wb__scheme scheme;         /* PLAIN: blocks of kind.dtype, with a global scale beside them */
    wb__global global;
    uint32_t bits;
    uint32_t group;   /* elements along the last dimension that share a scale */
    uint32_t rows;    /* fp8_block: of those, rows that share it */
    bool plain_zeros; /* gptq: zero points are stored as they are, not less one */
} wb__packed;

/* What the files around the weights say of a tensor; 0 for what they do not say. */
typedef struct wb__packing_hint {
    wb__scheme scheme; /* PLAIN: nothing is said */
    uint32_t bits;
    uint32_t group;
    uint32_t rows;
    bool plain_zeros;
    bool named; /* said of this very tensor, not of all */
} wb__packing_hint;

typedef struct wb__packing_hints {
    void *ctx;
    /* What is said of the module (the name without ".weight") in a file of the model. May be NULL.
     */
    wb__packing_hint (*of)(void *ctx, wb__str module, size_t file);
    /* Whether a layer of the model may have that many inputs, 0 if no sizes are known. May be NULL.
     */
    int (*has_size)(void *ctx, uint64_t inputs);
} wb__packing_hints;

/*
 * The stored tensors as a caller sees them. Numbers below `count` are tensors as the model has
 * them; where some have several parts, count + n is stored tensor n by itself.
 */
typedef struct wb__tensors {
    const wb_allocator *allocator;
    size_t count;
    uint32_t *stored; /* the stored tensor of each, NULL where both are the same */
    uint32_t
        *seen_as; /* the number of each stored tensor, count + n for a companion; NULL likewise */
    wb__packed *packed; /* in the order of their values */
    size_t packed_count;
    size_t packed_capacity;
    size_t stored_count;
    wb__arena shapes;
} wb__tensors;

void wb__tensors_init(wb__tensors *tensors, const wb_allocator *allocator);
void wb__tensors_free(wb__tensors *tensors);

/* Joins the tensors of a sealed table. `file_of` gives the number of the file of a stored tensor.
 */
wb_status wb__packed_join(wb__tensors *tensors, wb__context *context, const wb__table *table,
                          const wb__packing_hints *hints,
                          size_t (*file_of)(const void *ctx, size_t stored), const void *ctx);

/* Whether a table has anything that could be packed values of which hints may say more; most have not. */
bool wb__packed_needs_hints(const wb__table *table);

/* How many numbers there are: parts have some only where a tensor has several. */
static inline uint64_t wb__tensors_numbers(const wb__tensors *tensors)
{
    return tensors->stored == NULL ? tensors->count
                                   : (uint64_t)tensors->count + tensors->stored_count;
}

/* A number below wb__tensors_numbers taken apart: the stored tensor, and the packing if it has
 * one. */
size_t wb__tensors_stored(const wb__tensors *tensors, uint64_t number, const wb__packed **packed);

/* The number of a stored tensor. */
uint64_t wb__tensors_number(const wb__tensors *tensors, size_t stored);

/* ---- packing.c: from shapes and hints to bits and group size ---- */

/*
 * Works out scheme, bits, group, global and kind (but for kind.shape, which goes to `shape`, with
 * room for the rank of the values and at least 2) of a packed tensor whose parts are known. False
 * where the shapes do not fit together; *doubt says what is not certain, NULL if nothing.
 */
bool wb__packing_solve(const wb__table *table, wb__packed *packed, const wb__packing_hint *hint,
                       const wb__packing_hints *hints, uint64_t *shape, const char **doubt);

#endif
