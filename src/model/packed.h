/*
 * model/packed.h: tensors that consist of several stored tensors.
 *
 * A quantized weight is stored as packed values and companion tensors: scales, biases, zero points.
 * wb__packed_join finds the companions by name, derives the packing from the shapes and from hints
 * in config files, and joins them to one tensor. The joined tensor has the name and position of the
 * packed values, and the shape of the unpacked weight. Tensors that do not fit together stay
 * separate and are reported.
 *
 *     writer                 packed values              companions
 *     MLX                    x.weight           U32     x.scales, x.biases
 *     Ollama                 x                  U32     x.scale, x.bias, x.global_scale
 *     block FP8              x.weight           E4M3    x.weight_scale_inv
 *     ModelOpt NVFP4         x.weight           U8      x.weight_scale, x.weight_scale_2
 *     compressed-tensors     x.weight_packed    U8      x.weight_scale, x.weight_global_scale
 *     AWQ, GPTQ              x.qweight          I32     x.scales, x.qzeros, x.g_idx
 *     llama.cpp              x.weight           NVFP4   x.scale
 *
 * The NVFP4 blocks of llama.cpp contain their group scales. The joined tensor keeps this dtype, and
 * its scheme is PLAIN.
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
/* Return the number of bits per element and the number of elements per group, or 0 if the scheme
 * does not determine the number. */
uint32_t wb__scheme_bits(wb__scheme scheme);
uint32_t wb__scheme_group(wb__scheme scheme);

typedef enum wb__part {
    WB__PART_VALUES,
    WB__PART_SCALES,
    WB__PART_BIASES, /* affine: added bias; AWQ, GPTQ: the packed zero points */
    WB__PART_GLOBAL_SCALE,
    WB__PART_ORDER, /* GPTQ: the group of each input (g_idx) */
    WB__PARTS
} wb__part;

const char *wb__part_name(wb__part part);

/* Meaning of the global scale G. A tensor, or each expert of a tensor, has one G in addition to the
 * scale S of each group. A value is computed from its code as follows. */
typedef enum wb__global {
    WB__GLOBAL_NONE,
    WB__GLOBAL_MAXIMUM, /* code · (S · (G / 2688)); G: largest magnitude of the values (MLX) */
    WB__GLOBAL_LAST,    /* (code · S) · G (Ollama) */
    WB__GLOBAL_FACTOR,  /* code · (S · G) (ModelOpt, llama.cpp) */
    WB__GLOBAL_DIVISOR  /* code · (S / G) (compressed-tensors) */
} wb__global;

/*
 * How the parts of a quantized tensor (values, scales, zero points) form one logical tensor. Two
 * tensors share a packing if each part of the one has the shape and the dtype of the same part of
 * the other.
 */
typedef struct wb__packing {
    /* the joined tensor: logical shape and elements, total bytes of all parts */
    wb__kind kind;
    wb__scheme scheme; /* PLAIN: blocks of kind.dtype with a per-tensor scale */
    wb__global global;
    uint32_t bits;
    uint32_t group;   /* number of elements along the last dimension that share a scale */
    uint32_t rows;    /* fp8_block: number of rows that share a scale */
    bool plain_zeros; /* gptq: the stored zero points are not reduced by one */
} wb__packing;

typedef struct wb__packed {
    uint32_t parts[WB__PARTS]; /* indices of stored tensors; WB__NO_TENSOR for absent parts */
    const wb__packing *packing;
} wb__packed;

/* Packing of a tensor according to config files; 0 for unspecified fields. */
typedef struct wb__packing_hint {
    wb__scheme scheme; /* PLAIN: unspecified */
    uint32_t bits;
    uint32_t group;
    uint32_t rows;
    bool plain_zeros;
    bool named; /* the hint names this tensor; false for a model-wide default */
} wb__packing_hint;

typedef struct wb__packing_hints {
    void *ctx;
    /* If `of` is NULL: the hint for every module. NULL: there is no such hint. */
    const wb__packing_hint *all;
    /* Returns the hint for a module (the tensor name without ".weight") in a file. May be NULL. */
    wb__packing_hint (*of)(void *ctx, wb__str module, size_t file);
    /* Returns 1 if a layer of the model may have `inputs` inputs, otherwise 0. Returns 0 if the
     * layer sizes are unknown. May be NULL. */
    int (*has_size)(void *ctx, uint64_t inputs);
} wb__packing_hints;

/*
 * The tensor numbers that the public functions use. A number below `count` is a joined tensor, or a
 * stored tensor that is not part of a joined tensor. If any tensor was joined, number count + n is
 * stored tensor n itself.
 */
typedef struct wb__tensors {
    const wb_allocator *allocator;
    size_t count;
    size_t stored_count;
    wb__packed *packed; /* sorted by the index of their packed values */
    size_t packed_count;
    size_t packed_capacity;
    /* The following three are NULL if no tensor was joined. The public number of each tensor is
     * then the index of the stored tensor. */
    uint32_t *stored;  /* for each tensor number: index of the stored tensor */
    uint32_t *seen_as; /* number that public functions use for stored tensor i; count + i for a
                        * companion */
    uint8_t *roles;    /* role of each stored tensor (wb__role) */
    void *block;       /* memory of packed, stored, seen_as and roles */
    size_t block_bytes;
    wb__arena packings;
} wb__tensors;

typedef enum wb__role { WB__ROLE_NONE, WB__ROLE_VALUES, WB__ROLE_COMPANION } wb__role;

void wb__tensors_init(wb__tensors *tensors, const wb_allocator *allocator);
void wb__tensors_free(wb__tensors *tensors);

/*
 * Joins the tensors of a sealed table. `file_of` returns the index of the file that contains a
 * stored tensor.
 */
wb_status wb__packed_join(wb__tensors *tensors, wb__context *context, const wb__table *table,
                          const wb__packing_hints *hints,
                          size_t (*file_of)(const void *ctx, size_t stored), const void *ctx);

/* Returns true if a table may contain packed values that need hints; most tables do not. */
bool wb__packed_needs_hints(const wb__table *table);

/* Returns the number of valid tensor numbers: `count`, or if any tensor was joined, count +
 * stored_count. */
static inline uint64_t wb__tensors_numbers(const wb__tensors *tensors)
{
    return tensors->stored == NULL ? tensors->count
                                   : (uint64_t)tensors->count + tensors->stored_count;
}

/* Returns the stored tensor of a number below wb__tensors_numbers. For a joined tensor, returns its
 * packed values and sets *packed to its packing. Otherwise sets *packed to NULL. */
size_t wb__tensors_stored(const wb__tensors *tensors, uint64_t number, const wb__packed **packed);

/* Returns the tensor number of a stored tensor. */
uint64_t wb__tensors_number(const wb__tensors *tensors, size_t stored);

/* ---- packing.c: derives bits and group size from shapes and hints ---- */

/*
 * Derives kind (except kind.shape), scheme, bits, group, rows and plain_zeros of a packed tensor
 * from its parts. Writes its shape to `shape`, which must have space for as many dimensions as the
 * values have, but at least 2. Sets a part that the packing does not use to WB__NO_TENSOR. Returns
 * false if the shapes do not fit together, and sets *doubt to the reason. Otherwise sets *doubt to
 * a description of an uncertainty, or to NULL.
 */
bool wb__packing_solve(const wb__table *table, uint32_t parts[WB__PARTS],
                       const wb__packing_hint *hint, const wb__packing_hints *hints,
                       wb__packing *packing, uint64_t *shape, const char **doubt);

#endif
