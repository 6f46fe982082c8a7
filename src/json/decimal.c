/*
 * Converts a decimal number to the nearest double.
 *
 * If the integer formed by the digits is at most 2^53 and the power of ten at most 10^22, both are
 * exact doubles, and one multiplication or division rounds once (Clinger, "How to read floating
 * point numbers accurately", 1990). All other numbers use a division of big integers, bit by bit:
 * it is slow and exact, and rarely needed in the files that the library reads.
 */
#include "json/json.h"

#include <float.h>

/*
 * Maximum number of 32-bit limbs. The largest power of ten is 10^(800 + 330), for WB__JSON_DIGITS
 * digits and the exponent -330. It has 3754 bits, and the division needs 64 more.
 */
#define LIMBS 136

typedef struct big {
    uint32_t limb[LIMBS]; /* least significant first */
    size_t used;          /* number of limbs in use, without leading zeros */
} big;

static void multiply_add(big *n, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (size_t i = 0; i < n->used; i++) {
        carry += (uint64_t)n->limb[i] * factor;
        n->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0)
        n->limb[n->used++] = (uint32_t)carry;
}

static void multiply_by_power_of_ten(big *n, int64_t power)
{
    for (; power >= 9; power -= 9)
        multiply_add(n, 1000000000, 0);
    for (; power > 0; power--)
        multiply_add(n, 10, 0);
}

/* Returns the position of the highest set bit plus one. Precondition: n is not 0. */
static int bit_length(const big *n)
{
    int top = 31;
    while (!(n->limb[n->used - 1] >> top & 1))
        top--;
    return (int)(n->used - 1) * 32 + top + 1;
}

static void shift_left(big *n, int by)
{
    size_t whole = (size_t)by / 32;
    unsigned part = (unsigned)by % 32;
    if (n->used == 0 || by == 0)
        return;
    n->limb[n->used] = 0;
    for (size_t i = n->used + 1; i-- > 0;) {
        uint64_t pair = (uint64_t)n->limb[i] << 32 | (i > 0 ? n->limb[i - 1] : 0);
        n->limb[i + whole] = (uint32_t)(pair << part >> 32);
    }
    memset(n->limb, 0, whole * sizeof n->limb[0]);
    n->used += whole + 1;
    while (n->used > 0 && n->limb[n->used - 1] == 0)
        n->used--;
}

static bool at_least(const big *a, const big *b)
{
    if (a->used != b->used)
        return a->used > b->used;
    for (size_t i = a->used; i-- > 0;) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] > b->limb[i];
    }
    return true;
}

/* Computes a -= b. Precondition: a >= b. */
static void subtract(big *a, const big *b)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < a->used; i++) {
        uint64_t take = (i < b->used ? b->limb[i] : 0) + borrow;
        borrow = a->limb[i] < take;
        a->limb[i] = (uint32_t)(a->limb[i] - take);
    }
    while (a->used > 0 && a->limb[a->used - 1] == 0)
        a->used--;
}

/*
 * Rounds q * 2^(binade - 63) to a double and returns the bits of the double. The top bit of q must
 * be set. `sticky` means that the exact number is slightly larger: the division that computed q
 * left a remainder, or digits were dropped before.
 */
static uint64_t round_to_double(uint64_t q, int binade, bool sticky)
{
    int lowest = -1022;
    int shift = 11 + (binade < lowest ? lowest - binade : 0);
    uint64_t units = 0;
    if (binade > 1023)
        return UINT64_C(0x7FF0000000000000);
    if (shift <= 64) {
        uint64_t half = UINT64_C(1) << (shift - 1);
        uint64_t rest = shift == 64 ? q : q & ((half << 1) - 1);
        units = shift == 64 ? 0 : q >> shift;
        units += rest > half || (rest == half && (sticky || (units & 1)));
    }
    return ((uint64_t)((binade < lowest ? lowest : binade) - lowest) << 52) + units;
}

static uint64_t by_division(const wb__decimal *decimal)
{
    big n, d;
    n.used = 0;
    for (size_t i = 0; i < decimal->count; i++)
        multiply_add(&n, 10, decimal->digits[i]);
    d.limb[0] = 1;
    d.used = 1;
    int64_t power = decimal->exponent - (int64_t)decimal->count;
    multiply_by_power_of_ten(power >= 0 ? &n : &d, power >= 0 ? power : -power);

    /* Shift both numbers to the same bit length, so that their quotient is between 1/2 and 2. */
    int binade = bit_length(&n) - bit_length(&d);
    shift_left(binade < 0 ? &n : &d, binade < 0 ? -binade : binade);
    if (!at_least(&n, &d)) {
        shift_left(&n, 1);
        binade--;
    }
    uint64_t q = 0;
    for (int i = 0; i < 64; i++) {
        bool bit = at_least(&n, &d);
        if (bit)
            subtract(&n, &d);
        q = q << 1 | bit;
        shift_left(&n, 1);
    }
    return round_to_double(q, binade, n.used != 0 || decimal->more);
}

static bool exactly(const wb__decimal *decimal, double *value)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t mantissa = 0;
    if (FLT_EVAL_METHOD != 0 || decimal->count > 15)
        return false;
    int64_t power = decimal->exponent - (int64_t)decimal->count;
    if (power < -22 || power > 22)
        return false;
    for (size_t i = 0; i < decimal->count; i++)
        mantissa = mantissa * 10 + decimal->digits[i];
    *value = power < 0 ? (double)mantissa / tens[-power] : (double)mantissa * tens[power];
    return true;
}

uint64_t wb__decimal_to_double(const wb__decimal *decimal)
{
    uint64_t bits;
    double value;
    if (decimal->count == 0 || decimal->exponent < -330)
        bits = 0;
    else if (decimal->exponent > 310)
        bits = UINT64_C(0x7FF0000000000000);
    else if (exactly(decimal, &value))
        memcpy(&bits, &value, sizeof bits);
    else
        bits = by_division(decimal);
    return bits | (uint64_t)decimal->negative << 63;
}

bool wb__decimal_overflows(const wb__decimal *decimal)
{
    /* 2^1024 - 2^970: halfway between the largest double and 2^1024. It rounds up to infinity,
     * because the mantissa of the largest double is odd. */
    static const char threshold[] =
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649"
        "017977587207096330286416692887910946555547851940402630657488671505820681908902000708383"
        "676273854845817711531764475730270069855571366959622842914819860834936475292719074168444"
        "365510704342711559699508093042880177904174497792";
    _Static_assert(sizeof threshold - 1 == 309, "floor(1024 * log10(2)) + 1 digits");
    int64_t places = sizeof threshold - 1;
    if (decimal->count == 0 || decimal->exponent != places)
        return decimal->count != 0 && decimal->exponent > places;
    for (size_t i = 0; i < (size_t)places; i++) {
        int digit = i < decimal->count ? decimal->digits[i] : 0;
        if (digit != threshold[i] - '0')
            return digit > threshold[i] - '0';
    }
    return true;
}
