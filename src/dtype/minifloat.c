#include "dtype/minifloat.h"

#define DOUBLE_MANTISSA 52
#define DOUBLE_BIAS 1023
#define DOUBLE_INFINITY UINT64_C(0x7FF0000000000000)
#define DOUBLE_NAN UINT64_C(0x7FF8000000000000)
#define DOUBLE_SIGN (UINT64_C(1) << 63)

static uint64_t low_bits(int count)
{
    return (UINT64_C(1) << count) - 1;
}

/*
 * Returns the bits of the double m * 2^exponent. Preconditions: 0 < m < 2^53, and the result is a
 * normal double or exact.
 */
static uint64_t double_from(uint64_t m, int exponent)
{
    int up = __builtin_clzll(m) - (63 - DOUBLE_MANTISSA);
    int most = exponent - (1 - DOUBLE_BIAS - DOUBLE_MANTISSA);
    up = up < most ? up : most < 0 ? 0 : most;
    m <<= up;
    exponent -= up;
    if (m < (UINT64_C(1) << DOUBLE_MANTISSA))
        return m; /* a subnormal double; only possible for the type F64 itself */
    return ((uint64_t)(exponent + DOUBLE_BIAS + DOUBLE_MANTISSA) << DOUBLE_MANTISSA) +
           (m - (UINT64_C(1) << DOUBLE_MANTISSA));
}

uint64_t wb__minifloat_decode(const wb__dtype *dtype, uint64_t bits)
{
    int exponent_bits = dtype->exponent_bits, mantissa_bits = dtype->mantissa_bits;
    uint64_t mantissa = bits & low_bits(mantissa_bits);
    uint64_t exponent = bits >> mantissa_bits & low_bits(exponent_bits);
    uint64_t negative = bits >> (mantissa_bits + exponent_bits) & 1;
    uint64_t sign = negative ? DOUBLE_SIGN : 0;
    bool all_ones = exponent == low_bits(exponent_bits);

    switch (dtype->kind) {
    case WB__CLASS_IEEE:
        if (all_ones)
            return sign | (mantissa != 0 ? DOUBLE_NAN : DOUBLE_INFINITY);
        break;
    case WB__CLASS_FN:
        if (all_ones && mantissa == low_bits(mantissa_bits))
            return sign | DOUBLE_NAN;
        break;
    case WB__CLASS_FNUZ:
        if (negative && exponent == 0 && mantissa == 0)
            return DOUBLE_NAN;
        break;
    case WB__CLASS_SCALE:
        return all_ones ? DOUBLE_NAN : double_from(1, (int)exponent - dtype->bias);
    default: break;
    }
    if (exponent == 0) {
        if (mantissa == 0)
            return sign;
        return sign | double_from(mantissa, 1 - dtype->bias - mantissa_bits);
    }
    return sign | double_from(mantissa | UINT64_C(1) << mantissa_bits,
                              (int)exponent - dtype->bias - mantissa_bits);
}

/* Returns m / 2^shift rounded to the nearest integer, ties to even. Precondition: m < 2^63. */
static uint64_t shift_rounded(uint64_t m, int shift)
{
    if (shift <= 0)
        return m << -shift;
    if (shift > 63)
        return 0;
    uint64_t whole = m >> shift;
    uint64_t rest = m & low_bits(shift);
    uint64_t half = UINT64_C(1) << (shift - 1);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

/* Returns the code (without sign) for a NaN if was_nan, otherwise for a value that is too large. */
static uint64_t overflow_code(const wb__dtype *dtype, bool was_nan)
{
    int mantissa_bits = dtype->mantissa_bits, exponent_bits = dtype->exponent_bits;
    uint64_t infinity = low_bits(exponent_bits) << mantissa_bits;
    switch (dtype->kind) {
    case WB__CLASS_IEEE: return was_nan ? infinity | UINT64_C(1) << (mantissa_bits - 1) : infinity;
    case WB__CLASS_FN:
    case WB__CLASS_SCALE: return low_bits(exponent_bits + mantissa_bits);
    case WB__CLASS_FNUZ: return UINT64_C(1) << (exponent_bits + mantissa_bits);
    default: /* FINITE */
        return was_nan ? UINT64_C(1) << (exponent_bits + mantissa_bits)
                       : low_bits(exponent_bits + mantissa_bits);
    }
}

/* Returns the greatest code of a finite value, without the sign. */
static uint64_t greatest_finite(const wb__dtype *dtype)
{
    uint64_t all = low_bits(dtype->exponent_bits + dtype->mantissa_bits);
    switch (dtype->kind) {
    case WB__CLASS_IEEE: return all - (UINT64_C(1) << dtype->mantissa_bits);
    case WB__CLASS_FN:
    case WB__CLASS_SCALE: return all - 1;
    default: return all;
    }
}

uint64_t wb__minifloat_encode(const wb__dtype *dtype, uint64_t double_bits)
{
    int mantissa_bits = dtype->mantissa_bits;
    bool negative = double_bits >> 63;
    uint64_t sign = (uint64_t)negative << (mantissa_bits + dtype->exponent_bits);
    uint64_t magnitude = double_bits & ~DOUBLE_SIGN;

    if (dtype->kind == WB__CLASS_SCALE) {
        sign = 0;
        if (negative || magnitude == 0)
            magnitude = DOUBLE_NAN;
    }
    if (magnitude > DOUBLE_INFINITY) {
        uint64_t nan = overflow_code(dtype, true);
        return dtype->kind == WB__CLASS_FINITE || dtype->kind == WB__CLASS_FNUZ ? nan : sign | nan;
    }

    /* The value is m * 2^(exponent - 52). It is rounded to a multiple of the last mantissa bit of
     * the result, which is 2^(binade - mantissa_bits). `binade` is the exponent of the value if the
     * result is normal, and the lowest exponent if the result is subnormal. */
    uint64_t m = magnitude & low_bits(DOUBLE_MANTISSA);
    int exponent = (int)(magnitude >> DOUBLE_MANTISSA);
    if (exponent == 0)
        exponent = 1;
    else
        m |= UINT64_C(1) << DOUBLE_MANTISSA;
    exponent -= DOUBLE_BIAS;
    int lowest = dtype->kind == WB__CLASS_SCALE ? -dtype->bias : 1 - dtype->bias;
    int binade = exponent > lowest ? exponent : lowest;
    uint64_t units = shift_rounded(m, DOUBLE_MANTISSA - mantissa_bits + binade - exponent);

    /* Codes of one sign are consecutive integers in the order of their values. A mantissa that
     * rounds up to the next binade therefore carries into the exponent correctly. */
    uint64_t code = ((uint64_t)(binade - lowest) << mantissa_bits) + units;
    if (dtype->kind == WB__CLASS_SCALE) /* a scale cannot be 0: code 0 means one unit */
        code = units == 0 ? 0 : code - 1;
    if (code > greatest_finite(dtype)) {
        uint64_t over = overflow_code(dtype, false);
        return dtype->kind == WB__CLASS_FNUZ ? over : sign | over;
    }
    if (dtype->kind == WB__CLASS_FNUZ && code == 0)
        return 0;
    return sign | code;
}
