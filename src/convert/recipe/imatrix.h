/*
 * convert/recipe/imatrix.h: importance matrices, which say how much an error in each column of a weight
 * costs. llama.cpp's two kinds of file, for the names of GGUF:
 *
 *   .dat   i32 entries; of each i32 n, name, i32 calls, i32 n, f32 values[n], which are sums
 *   GGUF   tensors "NAME.in_sum2" [experts, columns] and "NAME.counts" [experts, 1], F32
 */
#ifndef WB_CONVERT_RECIPE_IMATRIX_H
#define WB_CONVERT_RECIPE_IMATRIX_H

#include "convert/convert.h"

typedef struct wb__imatrix wb__imatrix;

/* Owned, release with wb__imatrix_free. */
wb_status wb__imatrix_read(wb__context *context, const char *path, wb__imatrix **matrix);
void wb__imatrix_free(wb__imatrix *matrix);

/* Gives a row what the matrix (NULL: there is none) has for it. ARGUMENT where that does not fit. */
wb_status wb__imatrix_take(const wb__imatrix *matrix, wb__context *context,
                           wb__planned_tensor *row);

#endif
