/*
 * convert/recipe/imatrix.h: importance matrices, which weight the error of each column of a tensor.
 * Reads both file formats of llama.cpp. Tensor names are GGUF names.
 *
 *   .dat   i32 number of entries; per entry: i32 n, name of n bytes, i32 calls, i32 n,
 *          f32 values[n], which are sums
 *   GGUF   tensors "NAME.in_sum2" [experts, columns] and "NAME.counts" [experts, 1], F32 */
#ifndef WB_CONVERT_RECIPE_IMATRIX_H
#define WB_CONVERT_RECIPE_IMATRIX_H

#include "convert/convert.h"

typedef struct wb__imatrix wb__imatrix;

/* Reads a matrix. The caller frees it with wb__imatrix_free. */
wb_status wb__imatrix_read(wb__context *context, const char *path, wb__imatrix **matrix);
void wb__imatrix_free(wb__imatrix *matrix);

/* Sets the row's importance values. `matrix` may be NULL. Returns WB_ERROR_ARGUMENT if the
 * dimensions do not match. */
wb_status wb__imatrix_take(const wb__imatrix *matrix, wb__context *context,
                           wb__planned_tensor *row);

#endif
