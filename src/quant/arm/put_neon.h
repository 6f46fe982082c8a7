/*
 * quant/arm/put_neon.h: stores decoded values, for lanes/decode.h. quant/lanes/words.h documents
 * the functions.
 */

static inline float load_f16(const uint8_t *p)
{
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(wb__load_le16(p)))), 0);
}

/* Converts 8 signed bytes to floats. */
static inline lanes widen_8(int8x8_t q)
{
    int16x8_t words = vmovl_s8(q);
    return (lanes){vcvtq_f32_s32(vmovl_s16(vget_low_s16(words))),
                   vcvtq_f32_s32(vmovl_high_s16(words))};
}

static inline void put_16(float *out, bytes_16 q, float d)
{
    int8x16_t bytes = vreinterpretq_s8_u8(q);
    lanes scale = f_set(d);
    f_store(out, f_mul(widen_8(vget_low_s8(bytes)), scale));
    f_store(out + 8, f_mul(widen_8(vget_high_s8(bytes)), scale));
}

static inline void put_32(float *out, bytes_32 q, float d)
{
    put_16(out, q.low, d);
    put_16(out + 16, q.high, d);
}

static inline void put_16_plus(float *out, bytes_16 q, float d, float m)
{
    int8x16_t bytes = vreinterpretq_s8_u8(q);
    lanes scale = f_set(d), minimum = f_set(m);
    f_store(out, f_add(f_mul(widen_8(vget_low_s8(bytes)), scale), minimum));
    f_store(out + 8, f_add(f_mul(widen_8(vget_high_s8(bytes)), scale), minimum));
}

static inline void put_32_plus(float *out, bytes_32 q, float d, float m)
{
    put_16_plus(out, q.low, d, m);
    put_16_plus(out + 16, q.high, d, m);
}

static inline void put_8_and_8(float *out, bytes_16 q, float d, float e)
{
    int8x16_t bytes = vreinterpretq_s8_u8(q);
    f_store(out, f_mul(f_set(d), widen_8(vget_low_s8(bytes))));
    f_store(out + 8, f_mul(f_set(e), widen_8(vget_high_s8(bytes))));
}

static inline void put_twos(float *out, const uint8_t *p, float d)
{
    const uint8x16_t each = vreinterpretq_u8_u64(
        vcombine_u64(vdup_n_u64(0x0101010100000000), vdup_n_u64(0x0303030302020202)));
    /* shift counts 0, -2, -4 and -6, for the four two-bit fields of a byte */
    const int8x16_t right = vreinterpretq_s8_u32(vdupq_n_u32(0xFAFCFE00));
    uint8x8_t packed = vld1_u8(p);
    uint8x16_t bytes = vcombine_u8(packed, packed);
    uint8x16_t low = vqtbl1q_u8(bytes, each);
    uint8x16_t high = vqtbl1q_u8(bytes, vaddq_u8(each, vdupq_n_u8(4)));
    bytes_32 q = b_and((bytes_32){vshlq_u8(low, right), vshlq_u8(high, right)}, b_set(3));
    put_32(out, b_sub(q, b_set(1)), d);
}

static inline void put_8_f16(float *out, const uint8_t *p)
{
    float16x8_t halves = vreinterpretq_f16_u8(vld1q_u8(p));
    vst1q_f32(out, vcvt_f32_f16(vget_low_f16(halves)));
    vst1q_f32(out + 4, vcvt_high_f32_f16(halves));
}

static inline void put_8_bf16(float *out, const uint8_t *p)
{
    uint16x8_t halves = vreinterpretq_u16_u8(vld1q_u8(p));
    vst1q_f32(out, vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(halves), 16)));
    vst1q_f32(out + 4, vreinterpretq_f32_u32(vshll_high_n_u16(halves, 16)));
}

static inline void scales_nvfp4(const uint8_t *p, float *out)
{
    uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(wb__load_le32(p)));
    uint32x4_t code = vmovl_u16(vget_low_u16(vmovl_u8(bytes)));
    uint32x4_t magnitude = vandq_u32(code, vdupq_n_u32(0x7F));
    uint32x4_t subnormal = vcltq_u32(magnitude, vdupq_n_u32(8));
    uint32x4_t zero = vceqq_u32(code, vdupq_n_u32(0x7F));
    float32x4_t small = vmulq_f32(vcvtq_f32_u32(magnitude), vdupq_n_f32(0x1p-10f));
    uint32x4_t large = vaddq_u32(vshlq_n_u32(magnitude, 20), vdupq_n_u32(119 << 23));
    uint32x4_t scale = vbslq_u32(subnormal, vreinterpretq_u32_f32(small), large);
    vst1q_f32(out, vreinterpretq_f32_u32(vbicq_u32(scale, zero)));
}

static inline int32x4_t scales_of_4(uint32_t low, uint32_t high)
{
    static const int32_t fours[4] = {0, -4, -8, -12}, twos[4] = {0, -2, -4, -6};
    uint32x4_t l = vandq_u32(vshlq_u32(vdupq_n_u32(low), vld1q_s32(fours)), vdupq_n_u32(0xF));
    uint32x4_t h = vandq_u32(vshlq_u32(vdupq_n_u32(high), vld1q_s32(twos)), vdupq_n_u32(3));
    uint32x4_t both = vorrq_u32(l, vshlq_n_u32(h, 4));
    return vsubq_s32(vreinterpretq_s32_u32(both), vdupq_n_s32(32));
}

static inline void scales_iq4_xs(uint32_t low, uint32_t high, float d, float *out)
{
    vst1q_f32(out, vmulq_n_f32(vcvtq_f32_s32(scales_of_4(low, high)), d));
    vst1q_f32(out + 4, vmulq_n_f32(vcvtq_f32_s32(scales_of_4(low >> 16, high >> 8)), d));
}
