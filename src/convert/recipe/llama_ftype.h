/*
 * convert/recipe/llama_ftype.h: which type each tensor of a llama.cpp file type gets.
 *
 * "Q4_K_M" is no type but a recipe: most tensors get its base type, those that matter more a larger
 * one, and what no whole number of blocks fits in gets one of smaller blocks. The recipe is a table
 * (mixes.c) that is read from the top; it goes by the names of GGUF, and by how many tensors of a
 * kind came before, so that tensors have to be asked for in llama.cpp's order (wb__recipe_before).
 *
 *     wb__recipe mix = {.file_type = ..., .layers = 32, ...};
 *     for each tensor: wb__recipe_count(&mix, name);
 *     for each tensor, in order: wb__recipe_choose(&mix, &tensor, &choice);
 *
 * Pure functions of their arguments; nothing here allocates.
 */
#ifndef WB_CONVERT_RECIPE_LLAMA_FTYPE_H
#define WB_CONVERT_RECIPE_LLAMA_FTYPE_H

#include "core/core.h"

/* A file type of llama.cpp: the recipe's name, its number in general.file_type, its base type. */
typedef struct wb__file_type {
    const char *name;
    uint32_t number;
    int32_t dtype; /* wb_dtype */
} wb__file_type;

#define WB__FILE_TYPES 42      /* their numbers are below */
#define WB__FILE_TYPE_NVFP4 39 /* that of no recipe */

/* The file type of that name, in any case; NULL if there is none. */
const wb__file_type *wb__file_type_named(wb__str name);

/* That of a number in general.file_type; NULL if there is none. */
const wb__file_type *wb__file_type_numbered(uint64_t number);

/* The one whose base type a dtype is, and that is named as it; NULL if there is none. */
const wb__file_type *wb__file_type_of(int32_t dtype);

typedef struct wb__recipe {
    const wb__file_type *file_type;
    const char *architecture; /* as llama.cpp calls it */
    uint64_t layers;
    uint64_t heads;
    uint64_t kv_heads;
    uint64_t experts;
    bool matrix; /* there is an importance matrix */
    /* filled by wb__recipe_count, and by wb__recipe_choose while it goes */
    bool has_output;
    uint64_t values; /* tensors that make values of attention */
    uint64_t values_met, down_met, gate_met, up_met;
} wb__recipe;

typedef struct wb__recipe_tensor {
    wb__str name; /* as GGUF has it */
    uint32_t rank;
    uint64_t columns; /* the last dimension */
    uint64_t stack;   /* the one before the last but one; 1 where there is none */
} wb__recipe_tensor;

typedef struct wb__recipe_choice {
    int32_t wanted; /* what the recipe says */
    int32_t
        dtype; /* the same, or what it falls back on since blocks do not fit; -1: nothing fits */
} wb__recipe_choice;

/* Notes that the model has a tensor of that name. */
void wb__recipe_count(wb__recipe *recipe, wb__str name);

/* Whether llama.cpp ever quantizes a tensor; what it does not stays as it is, or F32. */
bool wb__recipe_applies(const wb__recipe_tensor *tensor);

/* The type of a tensor that wb__recipe_applies, and which follows those chosen for before. */
void wb__recipe_choose(wb__recipe *recipe, const wb__recipe_tensor *tensor,
                       wb__recipe_choice *choice);

/* What a type falls back on where a row is no whole number of its blocks; -1: nothing fits. */
int32_t wb__recipe_fallback(int32_t dtype, uint64_t columns);

/* Less than 0 where a comes before b: what is in no layer first, then by layers, then by names. */
int wb__recipe_before(wb__str a, wb__str b);

#endif
