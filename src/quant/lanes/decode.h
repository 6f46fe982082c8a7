/*
 * quant/lanes/decode.h: vectorized decoding of all types whose unscaled values fit into a byte. The
 * scalar code documents the layouts (quant/scalar/).
 *
 * The steps are always the same: 32 quants (the unscaled values) are unpacked into 32 bytes with
 * shifts and masks, and with a shuffle if the levels are not uniform. Then they are widened to
 * floats and multiplied by the scale of their group. If the type has minima, the minimum is added.
 * The scales of a block are computed first, into an array.
 *
 * Included once per instruction set, after the headers that define its functions (words.h).
 */

/* Stores 32 quants: the first half times d[0], the second half times d[1]. */
KERNEL static inline void put_halves(float *out, bytes_32 q, const float *d)
{
    put_16(out, b_low(q), d[0]);
    put_16(out + 16, b_high(q), d[1]);
}

/* ---- blocks of 32 ---- */

KERNEL static void decode_q4_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 18, out += 32)
        put_32(out, b_sub(b_nibbles(p + 2), b_set(8)), load_f16(p));
}

KERNEL static void decode_q4_1(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 20, out += 32)
        put_32_plus(out, b_nibbles(p + 4), load_f16(p), load_f16(p + 2));
}

KERNEL static void decode_q5_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 22, out += 32) {
        bytes_32 missing = b_without(b_set(16), b_spread(wb__load_le32(p + 2)));
        put_32(out, b_sub(b_nibbles(p + 6), missing), load_f16(p));
    }
}

KERNEL static void decode_q5_1(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 24, out += 32) {
        bytes_32 high = b_and(b_spread(wb__load_le32(p + 4)), b_set(16));
        put_32_plus(out, b_or(b_nibbles(p + 8), high), load_f16(p), load_f16(p + 2));
    }
}

KERNEL static void decode_q8_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 34, out += 32)
        put_32(out, b_load(p + 2), load_f16(p));
}

KERNEL static void decode_q8_1(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 36, out += 32)
        put_32(out, b_load(p + 4), load_f16(p));
}

static const int8_t levels_iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                      1,    13,   25,  38,  53,  69,  89,  113};

/* The values of F4 (E2M1, see scalar/fp4.c), doubled. */
static const int8_t levels_f4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

KERNEL static void decode_iq4_nl(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 18, out += 32)
        put_32(out, b_look_up(levels_iq4, b_nibbles(p + 2)), load_f16(p));
}

KERNEL static void decode_mxfp4(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 17, out += 32) {
        uint32_t e = p[0];
        float d = wb__float_of_bits(e < 2 ? UINT32_C(0x200000) << e : (e - 1) << 23);
        put_32(out, b_look_up(levels_f4, b_nibbles(p + 1)), d);
    }
}

KERNEL static void decode_nvfp4(const uint8_t *p, float *out, size_t n)
{
    float d[4];
    for (; n > 0; n--, p += 36, out += 64) {
        bytes_32 packed = b_load(p + 4);
        bytes_32 low = b_look_up(levels_f4, b_field(packed, 0, 0xF));
        bytes_32 high = b_look_up(levels_f4, b_field(packed, 4, 0xF));
        scales_nvfp4(p, d);
        put_16(out, h_firsts(b_low(low), b_low(high)), d[0]);
        put_16(out + 16, h_seconds(b_low(low), b_low(high)), d[1]);
        put_16(out + 32, h_firsts(b_high(low), b_high(high)), d[2]);
        put_16(out + 48, h_seconds(b_high(low), b_high(high)), d[3]);
    }
}

/* ---- blocks of 256 ---- */

KERNEL static void decode_q2_k(const uint8_t *p, float *out, size_t n)
{
    float scales[16], minima[16];
    for (; n > 0; n--, p += 84) {
        bytes_32 both = b_nibbles(p);
        put_16(scales, b_low(both), load_f16(p + 80));
        put_16(minima, b_high(both), -load_f16(p + 82));
        for (size_t half = 0, g = 0; half < 2; half++) {
            bytes_32 packed = b_load(p + 16 + 32 * half);
            for (int shift = 0; shift < 8; shift += 2, g += 2, out += 32) {
                bytes_32 q = b_field(packed, shift, 3);
                put_16_plus(out, b_low(q), scales[g], minima[g]);
                put_16_plus(out + 16, b_high(q), scales[g + 1], minima[g + 1]);
            }
        }
    }
}

/* Returns the 16 scales of a Q3_K block: 6-bit integers minus 32. */
KERNEL static inline bytes_16 scales_q3_k(const uint8_t *p)
{
    uint32_t a = wb__load_le32(p), b = wb__load_le32(p + 4), high = wb__load_le32(p + 8);
    const uint32_t low4 = 0x0F0F0F0F, high2 = 0x30303030;
    bytes_16 scales =
        h_words((a & low4) | (high << 4 & high2), (b & low4) | (high << 2 & high2),
                (a >> 4 & low4) | (high & high2), (b >> 4 & low4) | (high >> 2 & high2));
    return h_sub(scales, h_set(32));
}

KERNEL static void decode_q3_k(const uint8_t *p, float *out, size_t n)
{
    float scales[16];
    for (; n > 0; n--, p += 110) {
        bytes_32 high = b_load(p);
        put_16(scales, scales_q3_k(p + 96), load_f16(p + 108));
        for (size_t half = 0, g = 0; half < 2; half++) {
            bytes_32 packed = b_load(p + 32 + 32 * half);
            for (int shift = 0; shift < 8; shift += 2, g += 2, out += 32) {
                bytes_32 bit = b_and(high, b_set(1 << g / 2));
                bytes_32 missing = b_and(b_equal(bit, b_set(0)), b_set(4));
                put_halves(out, b_sub(b_field(packed, shift, 3), missing), scales + g);
            }
        }
    }
}

/* Computes the 8 scales of a Q4_K or Q5_K block, then its 8 minima, negated. */
KERNEL static inline void scales_pair(const uint8_t *p, float *scales_and_minima)
{
    uint32_t a = wb__load_le32(p + 4), b = wb__load_le32(p + 8), c = wb__load_le32(p + 12);
    const uint32_t low4 = 0x0F0F0F0F, low6 = 0x3F3F3F3F, high2 = 0x30303030;
    bytes_16 bytes = h_words(a & low6, (c & low4) | (a >> 2 & high2), b & low6,
                             (c >> 4 & low4) | (b >> 2 & high2));
    put_8_and_8(scales_and_minima, bytes, load_f16(p), -load_f16(p + 2));
}

KERNEL static void decode_q4_k(const uint8_t *p, float *out, size_t n)
{
    float s[16];
    for (; n > 0; n--, p += 144) {
        scales_pair(p, s);
        for (size_t g = 0; g < 8; g += 2, out += 64) {
            bytes_32 packed = b_load(p + 16 + 16 * g);
            put_32_plus(out, b_field(packed, 0, 0xF), s[g], s[g + 8]);
            put_32_plus(out + 32, b_field(packed, 4, 0xF), s[g + 1], s[g + 9]);
        }
    }
}

KERNEL static void decode_q5_k(const uint8_t *p, float *out, size_t n)
{
    float s[16];
    for (; n > 0; n--, p += 176) {
        bytes_32 high = b_load(p + 16);
        scales_pair(p, s);
        for (size_t g = 0; g < 8; g += 2, out += 64) {
            bytes_32 packed = b_load(p + 48 + 16 * g);
            bytes_32 bits = b_field(high, (int)g, 3); /* bit 0: fifth bit of group g; bit 1: of
                                                       * group g + 1 */
            bytes_32 low = b_left(b_and(bits, b_set(1)), 4);
            bytes_32 upper = b_left(b_and(bits, b_set(2)), 3);
            put_32_plus(out, b_or(b_field(packed, 0, 0xF), low), s[g], s[g + 8]);
            put_32_plus(out + 32, b_or(b_field(packed, 4, 0xF), upper), s[g + 1], s[g + 9]);
        }
    }
}

KERNEL static void decode_q6_k(const uint8_t *p, float *out, size_t n)
{
    float scales[16];
    for (; n > 0; n--, p += 210) {
        put_16(scales, h_load(p + 192), load_f16(p + 208));
        for (size_t half = 0; half < 2; half++) {
            bytes_32 high = b_load(p + 128 + 32 * half);
            for (size_t quarter = 0; quarter < 4; quarter++, out += 32) {
                bytes_32 packed = b_load(p + 64 * half + 32 * (quarter % 2));
                bytes_32 low = b_field(packed, quarter < 2 ? 0 : 4, 0xF);
                bytes_32 upper = b_left(b_field(high, 2 * (int)quarter, 3), 4);
                put_halves(out, b_sub(b_or(low, upper), b_set(32)),
                           scales + 8 * half + 2 * quarter);
            }
        }
    }
}

KERNEL static void decode_q8_k(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 292) {
        float d = wb__float_of_bits(wb__load_le32(p));
        for (size_t i = 0; i < 256; i += 32, out += 32)
            put_32(out, b_load(p + 4 + i), d);
    }
}

KERNEL static void decode_iq4_xs(const uint8_t *p, float *out, size_t n)
{
    float scales[8];
    for (; n > 0; n--, p += 136) {
        scales_iq4_xs(wb__load_le32(p + 4), wb__load_le16(p + 2), load_f16(p), scales);
        for (size_t g = 0; g < 8; g++, out += 32)
            put_32(out, b_look_up(levels_iq4, b_nibbles(p + 8 + 16 * g)), scales[g]);
    }
}

/* ---- one scale, values of one or two bits ---- */

KERNEL static void decode_tq2_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 66) {
        float d = load_f16(p + 64);
        for (size_t half = 0; half < 2; half++) {
            bytes_32 packed = b_load(p + 32 * half);
            for (int shift = 0; shift < 8; shift += 2, out += 32)
                put_32(out, b_sub(b_field(packed, shift, 3), b_set(1)), d);
        }
    }
}

/*
 * Returns the first trit (base-3 digit) of each of 32 bytes, minus 1. The first trit of a byte q is
 * 3 q / 256, rounded down. The low 8 bits of 3 q replace q. See scalar/ternary.c.
 */
KERNEL static inline bytes_32 next_trits(bytes_32 *q)
{
    bytes_32 trits = b_sub(b_set(-1), b_at_least(*q, b_set(86)));
    trits = b_sub(trits, b_at_least(*q, b_set(171)));
    *q = b_add(b_add(*q, *q), *q);
    return trits;
}

/* Multiplies each byte by three. */
static inline uint32_t thrice(uint32_t word)
{
    const uint32_t even = 0x00FF00FF;
    return ((word & even) * 3 & even) | ((word >> 8 & even) * 3 & even) << 8;
}

KERNEL static void decode_tq1_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 54) {
        float d = load_f16(p + 52);
        bytes_32 q = b_load(p);
        for (int k = 0; k < 5; k++, out += 32)
            put_32(out, next_trits(&q), d);
        uint32_t a = wb__load_le32(p + 48), b = thrice(a), c = thrice(b);
        q = b_join(h_load(p + 32), h_words(a, b, c, thrice(c)));
        bytes_32 trits = next_trits(&q);
        put_16(out, b_low(trits), d);
        put_16(out + 80, b_high(trits), d);
        out += 16;
        for (int k = 1; k < 5; k++, out += 16)
            put_16(out, b_low(next_trits(&q)), d);
        out += 16;
    }
}

KERNEL static void decode_q1_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 18) {
        float d = load_f16(p);
        for (size_t i = 0; i < 16; i += 4, out += 32) {
            bytes_32 two = b_and(b_spread(wb__load_le32(p + 2 + i)), b_set(2));
            put_32(out, b_sub(two, b_set(1)), d);
        }
    }
}

KERNEL static void decode_q2_0(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 18, out += 64) {
        float d = load_f16(p);
        put_twos(out, p + 2, d);
        put_twos(out + 32, p + 10, d);
    }
}

/* ---- binary16 and bfloat16 ---- */

KERNEL static void decode_f16(const uint8_t *p, float *out, size_t n)
{
    for (; n >= 8; n -= 8, p += 16, out += 8)
        put_8_f16(out, p);
    for (; n > 0; n--, p += 2, out++)
        *out = load_f16(p);
}

KERNEL static void decode_bf16(const uint8_t *p, float *out, size_t n)
{
    for (; n >= 8; n -= 8, p += 16, out += 8)
        put_8_bf16(out, p);
    for (; n > 0; n--, p += 2, out++)
        *out = wb__float_of_bits((uint32_t)wb__load_le16(p) << 16);
}

static const wb__kernel kernels[] = {
    {.dtype = WB_DTYPE_Q4_0, .decode = decode_q4_0},
    {.dtype = WB_DTYPE_Q4_1, .decode = decode_q4_1},
    {.dtype = WB_DTYPE_Q5_0, .decode = decode_q5_0},
    {.dtype = WB_DTYPE_Q5_1, .decode = decode_q5_1},
    {.dtype = WB_DTYPE_Q8_0, .decode = decode_q8_0},
    {.dtype = WB_DTYPE_Q8_1, .decode = decode_q8_1},
    {.dtype = WB_DTYPE_IQ4_NL, .decode = decode_iq4_nl},
    {.dtype = WB_DTYPE_MXFP4, .decode = decode_mxfp4},
    {.dtype = WB_DTYPE_NVFP4, .decode = decode_nvfp4},
    {.dtype = WB_DTYPE_Q2_K, .decode = decode_q2_k},
    {.dtype = WB_DTYPE_Q3_K, .decode = decode_q3_k},
    {.dtype = WB_DTYPE_Q4_K, .decode = decode_q4_k},
    {.dtype = WB_DTYPE_Q5_K, .decode = decode_q5_k},
    {.dtype = WB_DTYPE_Q6_K, .decode = decode_q6_k},
    {.dtype = WB_DTYPE_Q8_K, .decode = decode_q8_k},
    {.dtype = WB_DTYPE_IQ4_XS, .decode = decode_iq4_xs},
    {.dtype = WB_DTYPE_TQ1_0, .decode = decode_tq1_0},
    {.dtype = WB_DTYPE_TQ2_0, .decode = decode_tq2_0},
    {.dtype = WB_DTYPE_Q1_0, .decode = decode_q1_0},
    {.dtype = WB_DTYPE_Q2_0, .decode = decode_q2_0},
    {.dtype = WB_DTYPE_F16, .decode = decode_f16},
    {.dtype = WB_DTYPE_BF16, .decode = decode_bf16},
};
