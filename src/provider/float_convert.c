/*
 * Converts between floating-point dtypes and counts lost values. A value is lost if its magnitude
 * is too large or too small: for binary16, 65520 and more round to infinity, 2^-25 and less round
 * to 0. Lost values are counted in a separate loop without branches, which compilers vectorize.
 */
#include "cpu/cpu.h"
#include "provider/buffer_fill.h"
#include "quant/quant.h"

#define MAGNITUDE UINT32_C(0x7FFFFFFF)
#define INFINITE UINT32_C(0x7F800000)

/* Bit patterns of two magnitudes: the smallest that overflows, and the largest that becomes 0. */
typedef struct bounds {
    uint32_t over, under;
} bounds;

static bounds bounds_of(int32_t to)
{
    switch (to) {
    case WB_DTYPE_F16: return (bounds){0x477FF000, 0x33000000};
    case WB_DTYPE_BF16: return (bounds){0x7F7F8000, 0x00008000};
    default: return (bounds){INFINITE, 0};
    }
}

static void count(const float *values, size_t n, bounds b, wb__lost *lost)
{
    uint32_t over = 0, under = 0; /* cannot overflow: n is a few thousand */
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits &= MAGNITUDE;
        over += (uint32_t)(bits >= b.over) & (uint32_t)(bits < INFINITE);
        under += (uint32_t)(bits <= b.under) & (uint32_t)(bits != 0);
    }
    lost->overflowed += over;
    lost->underflowed += under;
}

#define PIECE 4096 /* number of values that stay in the processor cache between passes */

static void add(float *values, size_t n, float adds)
{
    for (size_t i = 0; i < n; i++)
        values[i] += adds;
}

void wb__convert_floats(int32_t from, const void *src, uint64_t n, float adds, int32_t to,
                        void *dst, wb__lost *lost)
{
    float room[PIECE];
    wb__codec widen, narrow;
    const wb__dtype *f32 = wb__dtype_get(WB_DTYPE_F32);
    /* wb__codec_get returns false if there is no kernel; the loop below handles that case. */
    (void)wb__codec_get(from, wb__cpu_features(), &widen);
    (void)wb__codec_get(to, wb__cpu_features(), &narrow);
    bounds b = bounds_of(to);
    bool is_changed = adds != 0;
    const uint8_t *in = src;
    uint8_t *out = dst;
    while (n > 0) {
        size_t piece = n < PIECE ? (size_t)n : PIECE;
        const float *wide = room;
        if (from == WB_DTYPE_F32 && !is_changed)
            wide = (const float *)(const void *)in;
        else if (from == WB_DTYPE_F32)
            memcpy(room, in, piece * sizeof *room);
        else if (widen.decode != NULL)
            widen.decode(in, room, piece);
        else
            wb__dtype_convert(widen.dtype, in, 0, f32, room, piece);
        if (is_changed)
            add(room, piece, adds);
        count(wide, piece, b, lost);
        if (to == WB_DTYPE_F32)
            memcpy(out, wide, piece * sizeof *wide);
        else if (narrow.encode != NULL)
            narrow.encode(wide, NULL, out, piece);
        else
            wb__dtype_convert(f32, wide, 0, narrow.dtype, out, piece);
        in += piece * (widen.dtype->block_bits / 8);
        out += piece * (narrow.dtype->block_bits / 8);
        n -= piece;
    }
}
