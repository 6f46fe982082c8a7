/*
 * Conversion between the plain dtypes.
 *
 * There are three methods. Each is exact or rounds once:
 *   - Pairs of common float types have a direct loop (the table `direct`).
 *   - Integers are converted to integers through a sign and a 64-bit magnitude, and saturate.
 *   - All other pairs are converted through double, in blocks that fit into the first-level cache.
 *     A double represents every float and every integer of up to 53 bits. Longer integers are
 *     rounded to odd: the last bit of the double is set if any nonzero bit was cut off. The second
 *     rounding, to a type with at most 24 bits of precision, therefore never sees a false tie
 *     (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
 */
#include "dtype/dtype.h"
#include "dtype/half.h"
#include "dtype/halves.h"
#include "dtype/minifloat.h"
#include "weighbridge/dtypes.h"

#define BLOCK 256

/* ---- direct loops ---- */

static void convert_f16_f32(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wb__store_le32(dst + 4 * i, wb__f16_to_f32(wb__load_le16(src + 2 * i)));
}

static void convert_f32_f16(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wb__store_le16(dst + 2 * i, wb__f32_to_f16(wb__load_le32(src + 4 * i)));
}

static void convert_bf16_f32(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wb__store_le32(dst + 4 * i, (uint32_t)wb__load_le16(src + 2 * i) << 16);
}

static void convert_f32_bf16(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wb__store_le16(dst + 2 * i, wb__f32_to_bf16(wb__load_le32(src + 4 * i)));
}

/* Accepts all values, unlike the fast path in convert_bf16_f16. */
static void convert_bf16_f16_any(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wb__store_le16(dst + 2 * i, wb__f32_to_f16((uint32_t)wb__load_le16(src + 2 * i) << 16));
}

/*
 * Fast path for common values. A bfloat16 within the normal range of binary16 (2^-14 to 65280) only
 * changes its exponent bias and gains three mantissa bits; a value below 2^-25 becomes 0. Both
 * cases use 16-bit operations without branches, which compilers vectorize. Nearly all weights are
 * in these ranges. A group that contains other values is converted again with convert_bf16_f16_any.
 */
static void convert_bf16_f16(const uint8_t *src, uint8_t *dst, size_t n)
{
    enum { GROUP = 32 };
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        uint16_t others = 0;
        for (size_t k = 0; k < GROUP; k++) {
            uint16_t value = wb__load_le16(src + 2 * (i + k));
            uint16_t magnitude = value & 0x7FFF;
            uint16_t is_normal = (uint16_t)-(magnitude >= 0x3880);
            uint16_t rebiased = (uint16_t)((uint16_t)(magnitude - 0x3800) << 3);
            others |=
                (uint16_t)(((magnitude >= 0x3300) & (magnitude < 0x3880)) | (magnitude >= 0x4780));
            wb__store_le16(dst + 2 * (i + k),
                           (uint16_t)((value & 0x8000) | (rebiased & is_normal)));
        }
        if (others != 0)
            convert_bf16_f16_any(src + 2 * i, dst + 2 * i, GROUP);
    }
    convert_bf16_f16_any(src + 2 * i, dst + 2 * i, n - i);
}

static void convert_f16_bf16(const uint8_t *src, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wb__store_le16(dst + 2 * i, wb__f32_to_bf16(wb__f16_to_f32(wb__load_le16(src + 2 * i))));
}

#if WB__X86
#define AVX2(name) wb__##name##_avx2
#else
#define AVX2(name) NULL
#endif

static const struct direct {
    int32_t from, to;
    void (*loop)(const uint8_t *src, uint8_t *dst, size_t n);
    /* faster version of `loop`, which may stop early (wb__halves); NULL if there is none */
    wb__halves *avx2;
} direct[] = {
    {WB_DTYPE_F16, WB_DTYPE_F32, convert_f16_f32, AVX2(f16_f32)},
    {WB_DTYPE_F32, WB_DTYPE_F16, convert_f32_f16, AVX2(f32_f16)},
    {WB_DTYPE_BF16, WB_DTYPE_F32, convert_bf16_f32, NULL},
    {WB_DTYPE_F32, WB_DTYPE_BF16, convert_f32_bf16, NULL},
    {WB_DTYPE_BF16, WB_DTYPE_F16, convert_bf16_f16, AVX2(bf16_f16)},
    {WB_DTYPE_F16, WB_DTYPE_BF16, convert_f16_bf16, NULL},
};

static void run_direct(const struct direct *pair, const uint8_t *src, size_t src_width,
                       uint8_t *dst, size_t dst_width, size_t n)
{
    if (pair->avx2 == NULL || !(wb__cpu_features() & WB__CPU_AVX2)) {
        pair->loop(src, dst, n);
        return;
    }
    for (size_t done = 0; done < n;) {
        done += pair->avx2(src + done * src_width, dst + done * dst_width, n - done);
        size_t left = n - done < WB__HALVES_GROUP ? n - done : WB__HALVES_GROUP;
        pair->loop(src + done * src_width, dst + done * dst_width, left);
        done += left;
    }
}

/* ---- elements as raw bits ---- */

static uint64_t get_bits(const wb__dtype *dtype, const uint8_t *src, uint64_t i)
{
    switch (dtype->block_bits) {
    case 8: return src[i];
    case 16: return wb__load_le16(src + 2 * i);
    case 32: return wb__load_le32(src + 4 * i);
    case 64: return wb__load_le64(src + 8 * i);
    default: break;
    }
    /* an element of 4 or 6 bits, which spans at most two bytes */
    uint64_t at = i * dtype->block_bits;
    unsigned shift = (unsigned)(at % 8);
    unsigned word = src[at / 8];
    if (shift + dtype->block_bits > 8)
        word |= (unsigned)src[at / 8 + 1] << 8;
    return word >> shift & ((1u << dtype->block_bits) - 1);
}

/* Stores element i. Elements smaller than a byte are OR-ed in, so dst must be zeroed before. */
static void put_bits(const wb__dtype *dtype, uint8_t *dst, uint64_t i, uint64_t bits)
{
    switch (dtype->block_bits) {
    case 8: dst[i] = (uint8_t)bits; return;
    case 16: wb__store_le16(dst + 2 * i, (uint16_t)bits); return;
    case 32: wb__store_le32(dst + 4 * i, (uint32_t)bits); return;
    case 64: wb__store_le64(dst + 8 * i, bits); return;
    default: break;
    }
    uint64_t at = i * dtype->block_bits;
    unsigned shift = (unsigned)(at % 8);
    unsigned word = (unsigned)bits << shift;
    dst[at / 8] |= (uint8_t)word;
    if (shift + dtype->block_bits > 8)
        dst[at / 8 + 1] |= (uint8_t)(word >> 8);
}

/* ---- integers ---- */

typedef struct integer {
    uint64_t magnitude;
    bool negative;
} integer;

static integer get_integer(const wb__dtype *dtype, uint64_t bits)
{
    if (dtype->kind == WB__CLASS_BOOL)
        return (integer){bits != 0, false};
    uint64_t sign = UINT64_C(1) << (dtype->block_bits - 1);
    if (dtype->kind == WB__CLASS_INT && (bits & sign))
        /* for 64 bits, sign << 1 wraps to 0, and 0 - bits is still the magnitude */
        return (integer){(sign << 1) - bits, true};
    return (integer){bits, false};
}

static uint64_t put_integer(const wb__dtype *dtype, integer v)
{
    if (dtype->kind == WB__CLASS_BOOL)
        return v.magnitude != 0;
    uint64_t all = UINT64_MAX >> (64 - dtype->block_bits);
    if (dtype->kind == WB__CLASS_UINT)
        return v.negative ? 0 : v.magnitude > all ? all : v.magnitude;
    uint64_t limit = (all >> 1) + v.negative;
    uint64_t magnitude = v.magnitude > limit ? limit : v.magnitude;
    return (v.negative ? 0 - magnitude : magnitude) & all;
}

/* ---- doubles, represented by their bits ---- */

#define DOUBLE_INFINITY UINT64_C(0x7FF0000000000000)
#define DOUBLE_SIGN (UINT64_C(1) << 63)

/*
 * Returns v as the bits of a double. Rounds to odd if `to_odd`, for callers that then round to a
 * smaller type; otherwise rounds to nearest, ties to even.
 */
static uint64_t double_from_integer(integer v, bool to_odd)
{
    if (v.magnitude == 0)
        return 0;
    int top = 63 - __builtin_clzll(v.magnitude);
    uint64_t m = v.magnitude;
    if (top <= 52) {
        m <<= 52 - top;
    } else {
        int shift = top - 52;
        uint64_t rest = m & ((UINT64_C(1) << shift) - 1);
        uint64_t half = UINT64_C(1) << (shift - 1);
        m >>= shift;
        if (to_odd)
            m |= rest != 0;
        else
            m += rest > half || (rest == half && (m & 1));
    }
    /* A mantissa that rounded up to 2^53 carries into the exponent. */
    return (v.negative ? DOUBLE_SIGN : 0) + ((uint64_t)(top + 1022) << 52) + m;
}

static integer integer_from_double(uint64_t bits)
{
    integer v = {0, bits >> 63};
    uint64_t magnitude = bits & ~DOUBLE_SIGN;
    if (magnitude > DOUBLE_INFINITY)
        return (integer){0, false};
    int exponent = (int)(magnitude >> 52) - 1023;
    if (exponent < -1)
        return v;
    if (exponent > 63) {
        v.magnitude = UINT64_MAX;
        return v;
    }
    uint64_t m = (magnitude & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    if (exponent >= 52) {
        v.magnitude = m << (exponent - 52);
        return v;
    }
    int shift = 52 - exponent;
    uint64_t rest = m & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    v.magnitude = m >> shift;
    v.magnitude += rest > half || (rest == half && (v.magnitude & 1));
    return v;
}

static void to_doubles(const wb__dtype *from, const uint8_t *src, uint64_t first, bool to_odd,
                       uint64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = get_bits(from, src, first + i);
        out[i] = wb__dtype_is_float(from) ? wb__minifloat_decode(from, bits)
                                          : double_from_integer(get_integer(from, bits), to_odd);
    }
}

static void from_doubles(const uint64_t *in, const wb__dtype *to, uint8_t *dst, uint64_t first,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        if (wb__dtype_is_float(to))
            bits = wb__minifloat_encode(to, in[i]);
        else if (to->kind == WB__CLASS_BOOL)
            bits = (in[i] & ~DOUBLE_SIGN) != 0;
        else
            bits = put_integer(to, integer_from_double(in[i]));
        put_bits(to, dst, first + i, bits);
    }
}

/* ---- entry point ---- */

static size_t bytes_of(const wb__dtype *dtype, size_t n)
{
    return dtype->block_bits >= 8 ? n / dtype->block_size * (dtype->block_bits / 8)
                                  : (n * dtype->block_bits + 7) / 8;
}

void wb__dtype_convert(const wb__dtype *from, const void *src_bytes, uint64_t first,
                       const wb__dtype *to, void *dst_bytes, size_t n)
{
    const uint8_t *src = src_bytes;
    uint8_t *dst = dst_bytes;
    if (n == 0)
        return;
    if (from->block_bits >= 8) {
        src += first / from->block_size * (from->block_bits / 8);
        first = 0;
    }
    if (from == to && from->block_bits >= 8) {
        memcpy(dst, src, bytes_of(from, n));
        return;
    }
    for (size_t k = 0; k < sizeof direct / sizeof direct[0]; k++) {
        if (direct[k].from == from->id && direct[k].to == to->id) {
            run_direct(&direct[k], src, from->block_bits / 8, dst, to->block_bits / 8, n);
            return;
        }
    }
    if (to->block_bits < 8)
        memset(dst, 0, bytes_of(to, n));
    if (from == to) {
        for (size_t i = 0; i < n; i++)
            put_bits(to, dst, i, get_bits(from, src, first + i));
        return;
    }
    if (!wb__dtype_is_float(from) && !wb__dtype_is_float(to)) {
        for (size_t i = 0; i < n; i++)
            put_bits(to, dst, i,
                     put_integer(to, get_integer(from, get_bits(from, src, first + i))));
        return;
    }
    uint64_t doubles[BLOCK];
    for (size_t done = 0; done < n; done += BLOCK) {
        size_t count = n - done < BLOCK ? n - done : BLOCK;
        to_doubles(from, src, first + done, to->id != WB_DTYPE_F64, doubles, count);
        from_doubles(doubles, to, dst, done, count);
    }
}

/* ---- counting NaNs, infinities and invalid booleans ---- */

/*
 * Adds the numbers of NaNs and infinities among n floats of `bits` bits to *counts. `special`
 * counts both.
 */
#define COUNT_SPECIAL(bits, load, magnitude_mask, infinity)                                        \
    do {                                                                                           \
        uint64_t special = 0, nan = 0;                                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            uint64_t magnitude = load(bytes + (bits) / 8 * i) & (magnitude_mask);                  \
            special += magnitude >= (infinity);                                                    \
            nan += magnitude > (infinity);                                                         \
        }                                                                                          \
        counts->nan += nan;                                                                        \
        counts->infinite += special - nan;                                                         \
    } while (0)

void wb__dtype_count_odd(const wb__dtype *dtype, const void *src, size_t n,
                         wb__value_counts *counts)
{
    const uint8_t *bytes = src;
    switch (dtype->id) {
    case WB_DTYPE_F16: COUNT_SPECIAL(16, wb__load_le16, 0x7FFFu, 0x7C00u); return;
    case WB_DTYPE_BF16: COUNT_SPECIAL(16, wb__load_le16, 0x7FFFu, 0x7F80u); return;
    case WB_DTYPE_F32: COUNT_SPECIAL(32, wb__load_le32, 0x7FFFFFFFu, 0x7F800000u); return;
    case WB_DTYPE_F64: COUNT_SPECIAL(64, wb__load_le64, ~DOUBLE_SIGN, DOUBLE_INFINITY); return;
    case WB_DTYPE_C64:
        n *= 2;
        COUNT_SPECIAL(32, wb__load_le32, 0x7FFFFFFFu, 0x7F800000u);
        return;
    case WB_DTYPE_BOOL:
        for (size_t i = 0; i < n; i++)
            counts->odd_bool += bytes[i] > 1;
        return;
    default: break;
    }
    if (!wb__dtype_is_float(dtype) || dtype->kind == WB__CLASS_FINITE || dtype->block_bits != 8)
        return;
    bool is_nan[256], is_infinite[256];
    for (unsigned code = 0; code < 256; code++) {
        uint64_t magnitude = wb__minifloat_decode(dtype, code) & ~DOUBLE_SIGN;
        is_nan[code] = magnitude > DOUBLE_INFINITY;
        is_infinite[code] = magnitude == DOUBLE_INFINITY;
    }
    for (size_t i = 0; i < n; i++) {
        counts->nan += is_nan[bytes[i]];
        counts->infinite += is_infinite[bytes[i]];
    }
}
