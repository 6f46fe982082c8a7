/*
 * convert/recipe/llama_ftype.h: chooses the dtype of each tensor for a llama.cpp file type.
 *
 * A file type such as "Q4_K_M" is a recipe, not a dtype. Most tensors get the base type of the file
 * type. More sensitive tensors get a larger type. If the row length of a tensor is not a multiple
 * of the block size of its type, the tensor gets a type with smaller blocks. The recipe is a table
 * of rules (llama_ftype.c), of which the first matching rule applies. The choice depends on the
 * GGUF name of the tensor and on the number of earlier tensors of the same kind. The caller must
 * therefore choose the types in the order of llama.cpp (wb__recipe_before).
 *
 *     wb__recipe recipe = {.file_type = ..., .layers = 32, ...};
 *     for each tensor: wb__recipe_count(&recipe, name);
 *     for each tensor, in order: wb__recipe_choose(&recipe, &tensor, &choice);
 *
 * The functions depend only on their arguments and do not allocate memory.
 */
#ifndef WB_CONVERT_RECIPE_LLAMA_FTYPE_H
#define WB_CONVERT_RECIPE_LLAMA_FTYPE_H

#include "core/core.h"

/* A file type of llama.cpp: its name, its number in general.file_type, and its base type. */
typedef struct wb__file_type {
    const char *name;
    uint32_t number;
    int32_t dtype; /* base type (wb_dtype) */
} wb__file_type;

#define WB__FILE_TYPES 42      /* all file type numbers are smaller than this number */
#define WB__FILE_TYPE_NVFP4 39 /* file type number of NVFP4, which has no recipe */

/* Returns the file type with this name, compared case-insensitively, or NULL if the name is
 * unknown. */
const wb__file_type *wb__file_type_named(wb__str name);

/* Returns the file type with this number in general.file_type, or NULL if the number is unknown. */
const wb__file_type *wb__file_type_numbered(uint64_t number);

/* Returns the file type that has the same name as the dtype, and the dtype as its base type.
 * Returns NULL if no such file type exists. */
const wb__file_type *wb__file_type_of(int32_t dtype);

typedef struct wb__recipe {
    const wb__file_type *file_type;
    /* llama.cpp treats the model as one with 70 billion parameters. The k/v matrices of such a
     * model are more sensitive than those of other models, because more query heads share each k/v
     * head. */
    bool is_70b;
    bool other_types; /* llama.cpp has rules of its own for the family of the model */
    uint64_t layers;  /* number of layers of the model */
    uint64_t heads;   /* number of query heads */
    uint64_t kv_heads;
    uint64_t experts; /* number of experts per layer; 0: the model has none */
    bool matrix;      /* the caller has an importance matrix */
    /* The following fields are set by wb__recipe_count and wb__recipe_choose. */
    bool has_output; /* the model has an output matrix that is not the embedding */
    /* number of attention value tensors in the model, including combined q, k and v tensors */
    uint64_t values;
    /* number of tensors of each kind for which wb__recipe_choose was called so far */
    uint64_t values_met, down_met, gate_met, up_met;
} wb__recipe;

typedef struct wb__recipe_tensor {
    wb__str name;     /* name of the tensor in GGUF */
    uint32_t rank;    /* number of dimensions, without leading dimensions of size 1 (as in ggml) */
    uint64_t columns; /* size of the last dimension, in elements */
    /* size of the third-last dimension, which is the number of experts; 1 if the tensor has
     * fewer than three dimensions */
    uint64_t stack;
} wb__recipe_tensor;

typedef struct wb__recipe_choice {
    int32_t wanted; /* dtype that the recipe specifies */
    /* dtype to use: `wanted`, or a fallback if the row length is not a multiple of its block
     * size; -1: no dtype fits */
    int32_t dtype;
} wb__recipe_choice;

/* Counts a tensor of the model. Must be called for all tensors before the first
 * wb__recipe_choose. */
void wb__recipe_count(wb__recipe *recipe, wb__str name);

/* Returns true if llama.cpp quantizes the tensor. Other tensors keep their dtype or become F32. */
bool wb__recipe_applies(const wb__recipe_tensor *tensor);

/* Chooses the dtype of a tensor. Precondition: wb__recipe_applies is true for the tensor, and
 * wb__recipe_choose was called before for all earlier tensors, in the order of llama.cpp. */
void wb__recipe_choose(wb__recipe *recipe, const wb__recipe_tensor *tensor,
                       wb__recipe_choice *choice);

/* Returns `dtype` if `columns` is a multiple of its block size. Otherwise returns a fallback with
 * smaller blocks if it fits, or else F16. Returns -1 for Q1_0, which has no fallback. */
int32_t wb__recipe_fallback(int32_t dtype, uint64_t columns);

/* Compares two tensor names by the order of llama.cpp. Returns a negative number if a comes
 * before b. Tensors outside layers come first. Tensors of layers are ordered by layer number,
 * then by name. */
int wb__recipe_before(wb__str a, wb__str b);

#endif
