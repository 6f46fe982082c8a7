/*
 * quant/lanes/decode_iq.h: vectorized decoding of the codebook types.
 *
 * The coordinates and signs of an octet (eight values) are combined in one word, which is copied to
 * eight lanes. Each lane shifts the word right by the position of its coordinate; the lowest bits
 * then select from the table of magnitudes times scale. Each lane also shifts the word left, so
 * that its sign is the top bit. scalar/codebooks.h defines the terms.
 *
 * Included once per instruction set, which must define load_f16 and the following:
 *     codes_table                     a table of eight floats
 *     codes_table_of(values, scale)   returns the table of eight values times the scale
 *     put_iq2(out, word, table)       decodes 2-bit coordinates in bits 0 to 15 of the word, with
 *                                     signs in bits 16 to 23
 *     put_iq3(out, word, table)       decodes 3-bit coordinates in bits 0 to 23, with signs in bits
 *                                     24 to 31
 *     put_codes(out, word, table)     as put_iq2, without signs
 */

static const float magnitudes_iq2[8] = {8, 25, 43, 0, 8, 25, 43, 0};

KERNEL static inline codes_table table_iq2(float scale)
{
    return codes_table_of(magnitudes_iq2, scale);
}

KERNEL static inline uint32_t word_iq2(uint32_t code, uint32_t signs)
{
    return code | signs << 16;
}

KERNEL static void decode_iq2_xxs(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 66) {
        float d = load_f16(p);
        for (size_t g = 0; g < 8; g++) {
            const uint8_t *numbers = p + 2 + 8 * g;
            uint32_t rest = wb__load_le32(numbers + 4);
            codes_table table = table_iq2(d * (0.5f + (float)(rest >> 28)) * 0.25f);
            for (size_t o = 0; o < 4; o++, out += 8, rest >>= 7)
                put_iq2(out, word_iq2(wb__codes_iq2_xxs[numbers[o]], wb__with_parity(rest & 127)),
                        table);
        }
    }
}

/* Computes the tables for the two 4-bit scales in a byte. */
KERNEL static inline void tables_iq2(uint8_t scales, float d, codes_table tables[2])
{
    tables[0] = table_iq2(d * (0.5f + (float)(scales & 0xF)) * 0.25f);
    tables[1] = table_iq2(d * (0.5f + (float)(scales >> 4)) * 0.25f);
}

KERNEL static void decode_iq2_xs(const uint8_t *p, float *out, size_t n)
{
    codes_table tables[2];
    for (; n > 0; n--, p += 74) {
        float d = load_f16(p);
        for (size_t g = 0; g < 8; g++) {
            tables_iq2(p[66 + g], d, tables);
            for (size_t o = 0; o < 4; o++, out += 8) {
                uint32_t q = wb__load_le16(p + 2 + 8 * g + 2 * o);
                put_iq2(out, word_iq2(wb__codes_iq2_xs[q & 511], wb__with_parity(q >> 9)),
                        tables[o / 2]);
            }
        }
    }
}

KERNEL static void decode_iq2_s(const uint8_t *p, float *out, size_t n)
{
    codes_table tables[2];
    for (; n > 0; n--, p += 82) {
        float d = load_f16(p);
        for (size_t g = 0; g < 8; g++) {
            uint32_t high = (uint32_t)p[66 + g] << 8;
            tables_iq2(p[74 + g], d, tables);
            for (size_t o = 0; o < 4; o++, out += 8, high >>= 2)
                put_iq2(
                    out,
                    word_iq2(wb__codes_iq2_s[p[2 + 4 * g + o] | (high & 0x300)], p[34 + 4 * g + o]),
                    tables[o / 2]);
        }
    }
}

KERNEL static void decode_iq3_xxs(const uint8_t *p, float *out, size_t n)
{
    static const float magnitudes[8] = {4, 12, 20, 28, 36, 44, 52, 62};
    for (; n > 0; n--, p += 98) {
        float d = load_f16(p);
        for (size_t g = 0; g < 8; g++) {
            const uint8_t *numbers = p + 2 + 8 * g;
            uint32_t rest = wb__load_le32(p + 66 + 4 * g);
            float scale = d * (0.5f + (float)(rest >> 28)) * 0.5f;
            codes_table table = codes_table_of(magnitudes, scale);
            for (size_t o = 0; o < 4; o++, out += 8, rest >>= 7)
                put_iq3(out,
                        wb__codes_iq3_xxs[numbers[2 * o]] |
                            (uint32_t)wb__codes_iq3_xxs[numbers[2 * o + 1]] << 12 |
                            (uint32_t)wb__with_parity(rest & 127) << 24,
                        table);
        }
    }
}

KERNEL static void decode_iq3_s(const uint8_t *p, float *out, size_t n)
{
    static const float magnitudes[8] = {1, 3, 5, 7, 9, 11, 13, 15};
    for (; n > 0; n--, p += 110) {
        float d = load_f16(p);
        for (size_t g = 0; g < 8; g++) {
            const uint8_t *numbers = p + 2 + 8 * g;
            uint32_t high = (uint32_t)p[66 + g] << 8;
            float scale = d * (float)(1 + 2 * (p[106 + g / 2] >> g % 2 * 4 & 0xF));
            codes_table table = codes_table_of(magnitudes, scale);
            for (size_t o = 0; o < 4; o++, out += 8, high >>= 2)
                put_iq3(out,
                        wb__codes_iq3_s[numbers[2 * o] | (high & 0x100)] |
                            (uint32_t)wb__codes_iq3_s[numbers[2 * o + 1] | (high >> 1 & 0x100)]
                                << 12 |
                            (uint32_t)p[74 + 4 * g + o] << 24,
                        table);
        }
    }
}

/*
 * The values -1, 0 and 1 of the coordinates 0, 1 and 2 of IQ1: plus 1/8 in row 0 (shifted up),
 * minus 1/8 in row 1 (shifted down). Entry 3 is unused. Entries 4 to 7 repeat entries 0 to 3, for
 * lookups that use three bits (a coordinate has two).
 */
static const float levels_iq1[2][8] = {{-0.875f, 0.125f, 1.125f, 0, -0.875f, 0.125f, 1.125f, 0},
                                       {-1.125f, -0.125f, 0.875f, 0, -1.125f, -0.125f, 0.875f, 0}};

KERNEL static inline void put_iq1(float *out, uint32_t number, bool down, float scale)
{
    put_codes(out, wb__codes_iq1[number], codes_table_of(levels_iq1[down], scale));
}

KERNEL static void decode_iq1_s(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 50) {
        float d = load_f16(p);
        for (size_t g = 0; g < 8; g++) {
            uint32_t rest = wb__load_le16(p + 34 + 2 * g);
            float scale = d * (float)(2 * (rest >> 12 & 7) + 1);
            for (size_t o = 0; o < 4; o++, out += 8)
                put_iq1(out, p[2 + 4 * g + o] | (rest >> 3 * o & 7) << 8, rest >> 15, scale);
        }
    }
}

KERNEL static void decode_iq1_m(const uint8_t *p, float *out, size_t n)
{
    for (; n > 0; n--, p += 56) {
        uint32_t bits = 0;
        for (size_t i = 0; i < 4; i++)
            bits |= (uint32_t)(wb__load_le16(p + 48 + 2 * i) >> 12) << 4 * i;
        float d = wb__float_of_bits(wb__f16_to_f32((uint16_t)bits));
        for (size_t g = 0; g < 16; g++, out += 16) {
            uint32_t rest = p[32 + g];
            uint32_t s = wb__load_le16(p + 48 + g / 4 * 2) >> g % 4 * 3 & 7;
            float scale = d * (float)(2 * s + 1);
            put_iq1(out, p[2 * g] | (rest & 7) << 8, rest >> 3 & 1, scale);
            put_iq1(out + 8, p[2 * g + 1] | (rest & 0x70) << 4, rest >> 7, scale);
        }
    }
}

static const wb__kernel kernels[] = {
    {.dtype = WB_DTYPE_IQ2_XXS, .decode = decode_iq2_xxs},
    {.dtype = WB_DTYPE_IQ2_XS, .decode = decode_iq2_xs},
    {.dtype = WB_DTYPE_IQ2_S, .decode = decode_iq2_s},
    {.dtype = WB_DTYPE_IQ3_XXS, .decode = decode_iq3_xxs},
    {.dtype = WB_DTYPE_IQ3_S, .decode = decode_iq3_s},
    {.dtype = WB_DTYPE_IQ1_S, .decode = decode_iq1_s},
    {.dtype = WB_DTYPE_IQ1_M, .decode = decode_iq1_m},
};
