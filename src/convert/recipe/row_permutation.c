/*
 * Permutes the rows of attention heads between the row orders of Hugging Face and GGUF.
 */
#include "arch/row_order.h"
#include "convert/convert.h"

void wb__rows_reorder(wb__row_permutation row_order, uint64_t head_rows, uint8_t *dst,
                      const uint8_t *src, uint64_t rows, size_t bytes)
{
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t from = row_order == WB__ROWS_UNCHANGED    ? row
                        : row_order == WB__ROWS_INTERLEAVE ? wb__row_order_plain(head_rows, row)
                                                           : wb__row_order_stored(head_rows, row);
        memcpy(dst + row * bytes, src + from * bytes, bytes);
    }
}
