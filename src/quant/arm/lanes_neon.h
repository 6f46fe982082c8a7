/*
 * quant/arm/lanes_neon.h: eight binary32 lanes in two registers, for the encoder templates.
 * quant/lanes/words.h documents the functions. Two registers keep the pipelines of wide processors
 * busy; with a single register, each addition would wait for the previous one.
 *
 * Minimum and maximum use a comparison and a selection, because FMIN and FMAX handle NaN and signed
 * zeros differently from the scalar code.
 */
#define KERNEL
#define LANES 8

typedef struct lanes {
    float32x4_t a, b;
} lanes;

typedef struct lane_mask {
    uint32x4_t a, b;
} lane_mask;

typedef struct int_lanes {
    uint32x4_t a, b;
} int_lanes;

static inline lanes f_load(const float *p)
{
    return (lanes){vld1q_f32(p), vld1q_f32(p + 4)};
}

static inline void f_store(float *p, lanes v)
{
    vst1q_f32(p, v.a);
    vst1q_f32(p + 4, v.b);
}

static inline lanes f_set(float v)
{
    return (lanes){vdupq_n_f32(v), vdupq_n_f32(v)};
}

static inline lanes f_add(lanes x, lanes y)
{
    return (lanes){vaddq_f32(x.a, y.a), vaddq_f32(x.b, y.b)};
}

static inline lanes f_sub(lanes x, lanes y)
{
    return (lanes){vsubq_f32(x.a, y.a), vsubq_f32(x.b, y.b)};
}

static inline lanes f_mul(lanes x, lanes y)
{
    return (lanes){vmulq_f32(x.a, y.a), vmulq_f32(x.b, y.b)};
}

static inline lanes f_div(lanes x, lanes y)
{
    return (lanes){vdivq_f32(x.a, y.a), vdivq_f32(x.b, y.b)};
}

static inline float32x4_t roughly_1_over_4(float32x4_t v)
{
    float32x4_t estimate = vrecpeq_f32(v); /* relative error 2^-8; each Newton step squares it */
    return vmulq_f32(estimate, vrecpsq_f32(v, estimate));
}

static inline lanes f_roughly_1_over(lanes v)
{
    return (lanes){roughly_1_over_4(v.a), roughly_1_over_4(v.b)};
}

static inline lanes f_sqrt(lanes v)
{
    return (lanes){vsqrtq_f32(v.a), vsqrtq_f32(v.b)};
}

static inline lanes f_abs(lanes v)
{
    return (lanes){vabsq_f32(v.a), vabsq_f32(v.b)};
}

static inline lanes f_negate(lanes v)
{
    return (lanes){vnegq_f32(v.a), vnegq_f32(v.b)};
}

static inline lane_mask f_less(lanes x, lanes y)
{
    return (lane_mask){vcltq_f32(x.a, y.a), vcltq_f32(x.b, y.b)};
}

static inline lane_mask f_equal(lanes x, lanes y)
{
    return (lane_mask){vceqq_f32(x.a, y.a), vceqq_f32(x.b, y.b)};
}

static inline lane_mask f_differ(lanes x, lanes y)
{
    return (lane_mask){vmvnq_u32(vceqq_f32(x.a, y.a)), vmvnq_u32(vceqq_f32(x.b, y.b))};
}

static inline lane_mask m_and(lane_mask x, lane_mask y)
{
    return (lane_mask){vandq_u32(x.a, y.a), vandq_u32(x.b, y.b)};
}

static inline lane_mask m_or(lane_mask x, lane_mask y)
{
    return (lane_mask){vorrq_u32(x.a, y.a), vorrq_u32(x.b, y.b)};
}

static inline lane_mask m_not(lane_mask m)
{
    return (lane_mask){vmvnq_u32(m.a), vmvnq_u32(m.b)};
}

static inline bool m_any(lane_mask m)
{
    return vmaxvq_u32(vorrq_u32(m.a, m.b)) != 0;
}

static inline unsigned m_bits(lane_mask m)
{
    static const uint16_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    uint16x8_t words = vcombine_u16(vmovn_u32(m.a), vmovn_u32(m.b));
    return vaddvq_u16(vandq_u16(words, vld1q_u16(places)));
}

static inline lanes f_choose(lane_mask m, lanes yes, lanes no)
{
    return (lanes){vbslq_f32(m.a, yes.a, no.a), vbslq_f32(m.b, yes.b, no.b)};
}

static inline lanes f_min(lanes x, lanes y)
{
    return f_choose(f_less(x, y), x, y);
}

static inline lanes f_max(lanes x, lanes y)
{
    return f_choose(f_less(y, x), x, y);
}

static inline float32x4_t quant_4(float32x4_t v, int low, int high)
{
    const float32x4_t magic = vdupq_n_f32(12582912.0f);
    uint32x4_t bits = vreinterpretq_u32_f32(vaddq_f32(v, magic));
    /* wb__round_even uses only the mantissa bits. Set the exponent to that of 2^23, so that NaNs
     * and large values give the same integer, too. */
    bits = vbslq_u32(vdupq_n_u32(0x7FFFFF), bits, vdupq_n_u32(0x4B000000));
    int32x4_t i = vmaxq_s32(vreinterpretq_s32_u32(bits), vdupq_n_s32(0x4B400000 + low));
    i = vminq_s32(i, vdupq_n_s32(0x4B400000 + high));
    return vsubq_f32(vreinterpretq_f32_s32(i), magic);
}

static inline lanes f_quant(lanes v, int low, int high)
{
    return (lanes){quant_4(v.a, low, high), quant_4(v.b, low, high)};
}

static inline uint16x8_t words_of(lanes v)
{
    int16x8_t words = vcombine_s16(vmovn_s32(vcvtq_s32_f32(v.a)), vmovn_s32(vcvtq_s32_f32(v.b)));
    return vreinterpretq_u16_s16(words);
}

static inline void f_store_bytes(uint8_t *p, lanes v)
{
    vst1_u8(p, vmovn_u16(words_of(v)));
}

static inline void f_store_16(uint16_t *p, lanes v)
{
    vst1q_u16(p, words_of(v));
}

static inline int_lanes i_load_16(const uint16_t *p)
{
    uint16x8_t words = vld1q_u16(p);
    return (int_lanes){vmovl_u16(vget_low_u16(words)), vmovl_high_u16(words)};
}

static inline lanes f_load_bytes(const uint8_t *p)
{
    uint16x8_t words = vmovl_u8(vld1_u8(p));
    return (lanes){vcvtq_f32_u32(vmovl_u16(vget_low_u16(words))),
                   vcvtq_f32_u32(vmovl_high_u16(words))};
}

/* Loads four values of each of four arrays and transposes them. */
static inline void transpose_4(const float *const from[4], size_t at, float32x4_t out[4])
{
    float32x4_t r0 = vld1q_f32(from[0] + at), r1 = vld1q_f32(from[1] + at);
    float32x4_t r2 = vld1q_f32(from[2] + at), r3 = vld1q_f32(from[3] + at);
    float32x4_t a = vzip1q_f32(r0, r2), b = vzip1q_f32(r1, r3);
    float32x4_t c = vzip2q_f32(r0, r2), d = vzip2q_f32(r1, r3);
    out[0] = vzip1q_f32(a, b);
    out[1] = vzip2q_f32(a, b);
    out[2] = vzip1q_f32(c, d);
    out[3] = vzip2q_f32(c, d);
}

static inline void f_transpose(const float *const from[LANES], size_t at, lanes *out)
{
    for (size_t half = 0; half < 8; half += 4) {
        float32x4_t a[4], b[4];
        transpose_4(from, at + half, a);
        transpose_4(from + 4, at + half, b);
        for (size_t i = 0; i < 4; i++)
            out[half + i] = (lanes){a[i], b[i]};
    }
}

/* ---- tables of eight values ---- */

static inline lanes f_table(const float *eight_values)
{
    return f_load(eight_values);
}

/* Selects from the eight values in two registers by the lowest three bits of each index. */
static inline float32x4_t pick_4(uint32x4_t index, lanes table)
{
    uint8x16x2_t bytes = {{vreinterpretq_u8_f32(table.a), vreinterpretq_u8_f32(table.b)}};
    index = vandq_u32(index, vdupq_n_u32(7));
    index = vmlaq_n_u32(vdupq_n_u32(0x03020100), index, 0x04040404);
    return vreinterpretq_f32_u8(vqtbl2q_u8(bytes, vreinterpretq_u8_u32(index)));
}

static inline lanes i_pick(int_lanes v, int shift, lanes table)
{
    const int32x4_t right = vdupq_n_s32(-shift);
    return (lanes){pick_4(vshlq_u32(v.a, right), table), pick_4(vshlq_u32(v.b, right), table)};
}

static inline float f_lowest(lanes v)
{
    return vminvq_f32(vbslq_f32(vcltq_f32(v.a, v.b), v.a, v.b));
}
