/*
 * quant/arm/eights_neon.h: eight consecutive binary32 values, for lanes/encode_blocks.h. On NEON
 * they have the same type as lanes. quant/lanes/words.h documents the functions.
 */

typedef lanes eight;

typedef struct eight_integers {
    int32x4_t a, b;
} eight_integers;

static inline eight e_load(const float *p)
{
    return f_load(p);
}

static inline eight e_set(float v)
{
    return f_set(v);
}

static inline eight e_add(eight x, eight y)
{
    return f_add(x, y);
}

static inline eight e_sub(eight x, eight y)
{
    return f_sub(x, y);
}

static inline eight e_mul(eight x, eight y)
{
    return f_mul(x, y);
}

static inline eight e_min(eight x, eight y)
{
    return f_min(x, y);
}

static inline eight e_max(eight x, eight y)
{
    return f_max(x, y);
}

static inline eight e_abs(eight v)
{
    return f_abs(v);
}

static inline eight e_negate(eight v)
{
    return f_negate(v);
}

static inline eight e_with_sign(eight magnitude, eight v)
{
    const uint32x4_t sign = vdupq_n_u32(0x80000000);
    return (eight){vbslq_f32(sign, v.a, magnitude.a), vbslq_f32(sign, v.b, magnitude.b)};
}

static inline float e_greatest(eight v)
{
    return vmaxvq_f32(vbslq_f32(vcgtq_f32(v.a, v.b), v.a, v.b));
}

static inline uint32_t e_where_equal(eight x, eight y)
{
    return m_bits(f_equal(x, y));
}

/*
 * Truncates. NaN and values out of range become INT32_MIN, as on x86. FCVTZS alone would give 0 for
 * NaN and INT32_MAX for large values.
 */
static inline int32x4_t truncate_4(float32x4_t v)
{
    uint32x4_t fits = vcltq_f32(v, vdupq_n_f32(0x1p31f));
    return vbslq_s32(fits, vcvtq_s32_f32(v), vdupq_n_s32(INT32_MIN));
}

static inline eight_integers e_truncate(eight v)
{
    return (eight_integers){truncate_4(v.a), truncate_4(v.b)};
}

static inline int32x4_t round_even_4(float32x4_t v, int top)
{
    uint32x4_t bits = vreinterpretq_u32_f32(vaddq_f32(v, vdupq_n_f32(12582912.0f)));
    int32x4_t i = vreinterpretq_s32_u32(vandq_u32(bits, vdupq_n_u32(0x7FFFFF)));
    return vminq_s32(vsubq_s32(i, vdupq_n_s32(0x400000)), vdupq_n_s32(top));
}

static inline eight_integers e_round_even(eight v, int top)
{
    return (eight_integers){round_even_4(v.a, top), round_even_4(v.b, top)};
}

static inline int32x4_t f4_of_4(float32x4_t x, const float *bounds)
{
    float32x4_t magnitude = vabsq_f32(x);
    uint32x4_t q = vdupq_n_u32(0);
    for (size_t i = 0; i < 7; i++)
        q = vsubq_u32(q, vcgtq_f32(magnitude, vdupq_n_f32(bounds[i])));
    uint32x4_t sign = vandq_u32(vshrq_n_u32(vreinterpretq_u32_f32(x), 28), vdupq_n_u32(8));
    return vreinterpretq_s32_u32(vorrq_u32(q, vbicq_u32(sign, vceqzq_u32(q))));
}

static inline eight_integers e_f4_of(eight x, const float *bounds)
{
    return (eight_integers){f4_of_4(x.a, bounds), f4_of_4(x.b, bounds)};
}

static inline bytes_16 bytes_of_16(eight_integers x, eight_integers y)
{
    int16x8_t low = vcombine_s16(vmovn_s32(x.a), vmovn_s32(x.b));
    int16x8_t high = vcombine_s16(vmovn_s32(y.a), vmovn_s32(y.b));
    return vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

static inline bytes_32 b_of_integers(const eight_integers v[4])
{
    return (bytes_32){bytes_of_16(v[0], v[1]), bytes_of_16(v[2], v[3])};
}

/* ---- binary16 and bfloat16 ---- */

static inline void e_store_f16(uint8_t *p, eight v)
{
    float16x8_t halves = vcombine_f16(vcvt_f16_f32(v.a), vcvt_f16_f32(v.b));
    vst1q_u8(p, vreinterpretq_u8_f16(halves));
}

static inline uint16x4_t rounded_bf16(float32x4_t v)
{
    uint32x4_t bits = vreinterpretq_u32_f32(v);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    uint32x4_t up = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
    uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    return vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), up, quiet), 16);
}

static inline bytes_32 e_bf16_of(eight x, eight y)
{
    uint16x8_t low = vcombine_u16(rounded_bf16(x.a), rounded_bf16(x.b));
    uint16x8_t high = vcombine_u16(rounded_bf16(y.a), rounded_bf16(y.b));
    return (bytes_32){vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)};
}
