/*
 * quant/arm/bytes_neon.h: vectors of 16 and 32 bytes for the templates. quant/lanes/words.h
 * documents the functions.
 */

typedef uint8x16_t bytes_16;

typedef struct bytes_32 {
    uint8x16_t low, high;
} bytes_32;

/* ---- 16 bytes ---- */

static inline bytes_16 h_load(const uint8_t *p)
{
    return vld1q_u8(p);
}

static inline void h_store(uint8_t *p, bytes_16 v)
{
    vst1q_u8(p, v);
}

static inline bytes_16 h_set(int value)
{
    return vdupq_n_u8((uint8_t)value);
}

static inline bytes_16 h_words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t words[4] = {a, b, c, d};
    return vreinterpretq_u8_u32(vld1q_u32(words));
}

static inline bytes_16 h_or(bytes_16 a, bytes_16 b)
{
    return vorrq_u8(a, b);
}

static inline bytes_16 h_sub(bytes_16 a, bytes_16 b)
{
    return vsubq_u8(a, b);
}

static inline bytes_16 h_left(bytes_16 v, int shift)
{
    return vshlq_u8(v, vdupq_n_s8((int8_t)shift));
}

static inline bytes_16 h_zip_low(bytes_16 a, bytes_16 b)
{
    return vzip1q_u8(a, b);
}

static inline bytes_16 h_zip_high(bytes_16 a, bytes_16 b)
{
    return vzip2q_u8(a, b);
}

static inline bytes_16 h_firsts(bytes_16 a, bytes_16 b)
{
    return vcombine_u8(vget_low_u8(a), vget_low_u8(b));
}

static inline bytes_16 h_seconds(bytes_16 a, bytes_16 b)
{
    return vcombine_u8(vget_high_u8(a), vget_high_u8(b));
}

/* ---- 32 bytes ---- */

static inline bytes_32 b_load(const uint8_t *p)
{
    return (bytes_32){vld1q_u8(p), vld1q_u8(p + 16)};
}

static inline void b_store(uint8_t *p, bytes_32 v)
{
    vst1q_u8(p, v.low);
    vst1q_u8(p + 16, v.high);
}

static inline bytes_32 b_set(int value)
{
    return (bytes_32){h_set(value), h_set(value)};
}

static inline bytes_32 b_join(bytes_16 low, bytes_16 high)
{
    return (bytes_32){low, high};
}

static inline bytes_16 b_low(bytes_32 v)
{
    return v.low;
}

static inline bytes_16 b_high(bytes_32 v)
{
    return v.high;
}

static inline bytes_32 b_and(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vandq_u8(a.low, b.low), vandq_u8(a.high, b.high)};
}

static inline bytes_32 b_or(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vorrq_u8(a.low, b.low), vorrq_u8(a.high, b.high)};
}

static inline bytes_32 b_without(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vbicq_u8(a.low, b.low), vbicq_u8(a.high, b.high)};
}

static inline bytes_32 b_add(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vaddq_u8(a.low, b.low), vaddq_u8(a.high, b.high)};
}

static inline bytes_32 b_sub(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vsubq_u8(a.low, b.low), vsubq_u8(a.high, b.high)};
}

static inline bytes_32 b_min(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vminq_u8(a.low, b.low), vminq_u8(a.high, b.high)};
}

static inline bytes_32 b_equal(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vceqq_u8(a.low, b.low), vceqq_u8(a.high, b.high)};
}

static inline bytes_32 b_at_least(bytes_32 a, bytes_32 b)
{
    return (bytes_32){vcgeq_u8(a.low, b.low), vcgeq_u8(a.high, b.high)};
}

static inline bytes_32 b_left(bytes_32 v, int shift)
{
    return (bytes_32){h_left(v.low, shift), h_left(v.high, shift)};
}

static inline bytes_32 b_field(bytes_32 v, int shift, int mask)
{
    return b_and(b_left(v, -shift), b_set(mask)); /* a negative count shifts right */
}

static inline bytes_32 b_nibbles(const uint8_t *p)
{
    bytes_16 packed = h_load(p);
    return (bytes_32){vandq_u8(packed, h_set(0xF)), vshrq_n_u8(packed, 4)};
}

static inline bytes_32 b_look_up(const int8_t *sixteen, bytes_32 indices)
{
    uint8x16_t table = vreinterpretq_u8_s8(vld1q_s8(sixteen));
    return (bytes_32){vqtbl1q_u8(table, indices.low), vqtbl1q_u8(table, indices.high)};
}

/* Returns the bytes 1, 2, 4 … 128, twice. */
static inline uint8x16_t places_of_bits(void)
{
    return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
}

static inline uint32_t tops_of_16(uint8x16_t v)
{
    uint8x16_t bits = vandq_u8(vcltzq_s8(vreinterpretq_s8_u8(v)), places_of_bits());
    return (uint32_t)vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

static inline uint32_t b_tops(bytes_32 v)
{
    return tops_of_16(v.low) | tops_of_16(v.high) << 16;
}

static inline void b_sums(bytes_32 v, int *low, int *high)
{
    *low = vaddlvq_s8(vreinterpretq_s8_u8(v.low));
    *high = vaddlvq_s8(vreinterpretq_s8_u8(v.high));
}

static inline bytes_32 b_spread(uint32_t word)
{
    uint8x16_t bytes = vreinterpretq_u8_u32(vdupq_n_u32(word));
    uint8x16_t low = vcombine_u8(vdup_laneq_u8(bytes, 0), vdup_laneq_u8(bytes, 1));
    uint8x16_t high = vcombine_u8(vdup_laneq_u8(bytes, 2), vdup_laneq_u8(bytes, 3));
    return (bytes_32){vtstq_u8(low, places_of_bits()), vtstq_u8(high, places_of_bits())};
}
