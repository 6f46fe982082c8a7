/*
 * convert/recipe/llama_ftype.h: chooses the dtype of each tensor for a llama.cpp file type.
 *
 * "Q4_K_M" is a recipe, not a dtype: most tensors get its base type, more sensitive tensors get a
 * larger type, and tensors whose rows are not a whole number of blocks get a type with smaller
 * blocks. The recipe is a table of rules (llama_ftype.c); the first match applies. It depends on
 * GGUF tensor names and on the number of earlier tensors of the same part, so the caller must
 * choose types in llama.cpp's order (wb__recipe_before).
 *
 *     wb__recipe recipe = {.file_type = ..., .layers = 32, ...};
 *     for each tensor: wb__recipe_count(&recipe, name);
 *     for each tensor, in order: wb__recipe_choose(&recipe, &tensor, &choice);
 *
 * The functions depend only on their arguments and do not allocate memory. */
#ifndef WB_CONVERT_RECIPE_LLAMA_FTYPE_H
#define WB_CONVERT_RECIPE_LLAMA_FTYPE_H

#include "core/core.h"

/* A file type of llama.cpp: name, number in general.file_type, and base type. */
typedef struct wb__file_type {
    const char *name;
    uint32_t number;
    int32_t dtype; /* base type, a wb_dtype */
} wb__file_type;

#define WB__FILE_TYPES 42      /* exclusive upper bound of the file type numbers */
#define WB__FILE_TYPE_NVFP4 39 /* file type number of NVFP4, which has no recipe */

/* Returns the file type with a name, case-insensitive, or NULL. */
const wb__file_type *wb__file_type_named(wb__str name);

/* Returns the file type with a number in general.file_type, or NULL. */
const wb__file_type *wb__file_type_numbered(uint64_t number);

/* Returns the file type whose name and base type are the dtype, or NULL. */
const wb__file_type *wb__file_type_of(int32_t dtype);

typedef struct wb__recipe {
    const wb__file_type *file_type;
    const char *architecture; /* architecture name in llama.cpp */
    uint64_t layers;
    uint64_t heads;
    uint64_t kv_heads;
    uint64_t experts;
    bool matrix; /* an importance matrix is present */
    /* counters, set by wb__recipe_count and wb__recipe_choose */
    bool has_output;
    uint64_t values; /* number of attention value tensors (v, or combined q, k and v) */
    uint64_t values_met, down_met, gate_met, up_met;
} wb__recipe;

typedef struct wb__recipe_tensor {
    wb__str name; /* GGUF name */
    uint32_t rank;
    uint64_t columns; /* size of the last dimension */
    uint64_t stack;   /* size of the third-last dimension (experts); 1 if there is none */
} wb__recipe_tensor;

typedef struct wb__recipe_choice {
    int32_t wanted; /* dtype that the recipe specifies */
    int32_t
        dtype; /* dtype to use: `wanted`, or a fallback if its blocks do not fit; -1: none fits */
} wb__recipe_choice;

/* Counts a tensor of the model before any choice. */
void wb__recipe_count(wb__recipe *recipe, wb__str name);

/* Returns true if llama.cpp quantizes the tensor. Other tensors stay unchanged or become F32. */
bool wb__recipe_applies(const wb__recipe_tensor *tensor);

/* Chooses the dtype of a tensor. Precondition: wb__recipe_applies, and all earlier tensors were
 * chosen in order. */
void wb__recipe_choose(wb__recipe *recipe, const wb__recipe_tensor *tensor,
                       wb__recipe_choice *choice);

/* Returns the fallback for a dtype if a row is not a whole number of its blocks, else the dtype
 * itself; -1: none fits. */
int32_t wb__recipe_fallback(int32_t dtype, uint64_t columns);

/* Returns a negative number if a comes before b. Tensors outside of layers come first, then the
 * order is by layer, then by name. */
int wb__recipe_before(wb__str a, wb__str b);

#endif
