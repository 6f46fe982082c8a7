/*
 * convert/recipe/imatrix.h: importance matrices. An importance matrix contains a weight for each
 * column of a tensor. Quantization multiplies the error of the column by this weight, which is the
 * mean square of the input activations. Both file formats of llama.cpp can be read. They contain
 * sums of squares, which are divided by counts. Tensor names are GGUF names.
 *
 *   .dat   i32 number of entries; per entry: i32 name length in bytes, name, i32 count,
 *          i32 number of sums, f32 sums
 *   GGUF   F32 tensors "NAME.in_sum2" [experts, columns] (sums) and "NAME.counts" [experts, 1]
 */
#ifndef WB_CONVERT_RECIPE_IMATRIX_H
#define WB_CONVERT_RECIPE_IMATRIX_H

#include "convert/convert.h"

typedef struct wb__imatrix wb__imatrix;

/* Reads an importance matrix from a file. The caller frees *matrix with wb__imatrix_free. */
wb_status wb__imatrix_read(wb__context *context, const char *path, wb__imatrix **matrix);
void wb__imatrix_free(wb__imatrix *matrix);

/* Sets the importance values of a row of the plan. Does nothing if `matrix` is NULL or has no entry
 * for the tensor. Returns WB_ERROR_ARGUMENT if the number of values in the entry is not the number
 * of columns of the tensor (for stacked experts: experts times columns). */
wb_status wb__imatrix_take(const wb__imatrix *matrix, wb__context *context,
                           wb__planned_tensor *row);

#endif
