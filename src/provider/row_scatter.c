/*
 * Permutes rows while they are copied to a buffer (wb__row_change).
 *
 * AWQ and GPTQ tensors are stored transposed, so the elements within each stored row are permuted.
 * Elements of 4 bits are packed in words of eight outputs. In a GPTQ word, the first output is in
 * the lowest bits; an AWQ word has another order (WB__AWQ_NIBBLES).
 */
#include "provider/buffer_fill.h"
#include "quant/hub/tiles.h"

#include "dtype/dtype_block.h"

void wb__scatter_rows(const wb__run *run, uint64_t at, const uint8_t *bytes, uint64_t n,
                      wb__cut rows, uint8_t *to)
{
    uint64_t row_bytes = run->bytes / run->to_rows.count;
    while (n > 0) {
        uint64_t within = at % row_bytes;
        uint64_t left = row_bytes - within, piece = n < left ? n : left;
        uint64_t row = wb__row_change_to(&run->change, run->first_row + at / row_bytes);
        if (row >= rows.start && row - rows.start < rows.count)
            memcpy(to + (row - rows.start) * row_bytes + within, bytes, (size_t)piece);
        at += piece;
        bytes += piece;
        n -= piece;
    }
}

static void scatter_nibbles(const wb__run *run, const uint8_t *row, size_t n, uint8_t *to)
{
    static const uint8_t in_order[8] = {0, 1, 2, 3, 4, 5, 6, 7}, awq[8] = WB__AWQ_NIBBLES;
    const uint8_t *nibbles = run->is_awq ? awq : in_order;
    memset(to, 0, n);
    for (uint64_t i = 0; i < 2 * n; i++) {
        uint64_t k = wb__row_change_to(&run->change, i);
        unsigned from = nibbles[i % 8], into = nibbles[k % 8];
        unsigned code = (unsigned)row[i / 8 * 4 + from / 2] >> (from % 2 * 4) & 15u;
        to[k / 8 * 4 + into / 2] |= (uint8_t)(code << (into % 2 * 4));
    }
}

void wb__scatter_row(const wb__run *run, const uint8_t *row, size_t n, uint8_t *to)
{
    if (!run->is_inner) {
        memcpy(to, row, n);
    } else if (run->inner_bits != 0) {
        scatter_nibbles(run, row, n, to);
    } else {
        size_t size = (size_t)wb__dtype_bytes(wb__dtype_get(run->from), 1);
        for (uint64_t i = 0; size != 0 && i < n / size; i++)
            memcpy(to + wb__row_change_to(&run->change, i) * size, row + i * size, size);
    }
}
