#include "convert/recipe/repack.h"

#include "core/endian.h"
#include "dtype/dtype.h"
#include "dtype/half.h"
#include "weighbridge/dtypes.h"

/* A group of 32 elements. The value of element i is codes[i] * scale + bias. */
typedef struct group {
    uint8_t codes[32];
    float scale, bias;
} group;

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float half_at(const uint8_t *bytes)
{
    return float_of(wb__f16_to_f32(wb__load_le16(bytes)));
}

/* ---- GGML blocks ---- */

static void take_q4_0(const uint8_t *block, size_t part, group *g)
{
    (void)part;
    g->scale = half_at(block);
    g->bias = -8.0f * g->scale;
    for (size_t i = 0; i < 16; i++) {
        g->codes[i] = block[2 + i] & 15;
        g->codes[i + 16] = block[2 + i] >> 4;
    }
}

static void take_q4_1(const uint8_t *block, size_t part, group *g)
{
    take_q4_0(block + 2, part, g);
    g->scale = half_at(block);
    g->bias = half_at(block + 2);
}

static void take_q5(const uint8_t *high, const uint8_t *low, group *g)
{
    uint32_t fifth = wb__load_le32(high);
    for (size_t i = 0; i < 16; i++) {
        g->codes[i] = (uint8_t)((low[i] & 15) | (fifth >> i & 1) << 4);
        g->codes[i + 16] = (uint8_t)(low[i] >> 4 | (fifth >> (i + 16) & 1) << 4);
    }
}

static void take_q5_0(const uint8_t *block, size_t part, group *g)
{
    (void)part;
    take_q5(block + 2, block + 6, g);
    g->scale = half_at(block);
    g->bias = -16.0f * g->scale;
}

static void take_q5_1(const uint8_t *block, size_t part, group *g)
{
    (void)part;
    take_q5(block + 4, block + 8, g);
    g->scale = half_at(block);
    g->bias = half_at(block + 2);
}

static void take_q8_0(const uint8_t *block, size_t part, group *g)
{
    (void)part;
    g->scale = half_at(block);
    g->bias = -128.0f * g->scale;
    for (size_t i = 0; i < 32; i++)
        g->codes[i] = block[2 + i] ^ 0x80;
}

/* Unpacks the 6-bit scale and the 6-bit minimum of part number `part` of a K-quant block. Scales
 * and minimums of all parts are packed in 12 bytes. */
static void k_scale(const uint8_t *packed, size_t part, unsigned *scale, unsigned *minimum)
{
    if (part < 4) {
        *scale = packed[part] & 63;
        *minimum = packed[part + 4] & 63;
    } else {
        unsigned low = packed[part + 4], of_scale = packed[part - 4], of_minimum = packed[part];
        *scale = (low & 15) | of_scale >> 6 << 4;
        *minimum = low >> 4 | of_minimum >> 6 << 4;
    }
}

static void k_head(const uint8_t *block, size_t part, group *g)
{
    unsigned scale, minimum;
    k_scale(block + 4, part, &scale, &minimum);
    g->scale = half_at(block) * (float)scale;
    g->bias = -(half_at(block + 2) * (float)minimum);
}

static void take_q4_k(const uint8_t *block, size_t part, group *g)
{
    const uint8_t *low = block + 16 + part / 2 * 32;
    k_head(block, part, g);
    for (size_t i = 0; i < 32; i++)
        g->codes[i] = part % 2 == 0 ? low[i] & 15 : low[i] >> 4;
}

static void take_q5_k(const uint8_t *block, size_t part, group *g)
{
    const uint8_t *low = block + 48 + part / 2 * 32;
    k_head(block, part, g);
    for (size_t i = 0; i < 32; i++)
        g->codes[i] = (uint8_t)((part % 2 == 0 ? low[i] & 15 : low[i] >> 4) |
                                (block[16 + i] >> part & 1) << 4);
}

static const struct taker {
    int32_t dtype;
    uint32_t bits;
    int32_t scales; /* dtype that can represent the scales and biases exactly */
    void (*take)(const uint8_t *block, size_t part, group *g);
} takers[] = {
    {WB_DTYPE_Q4_0, 4, WB_DTYPE_F16, take_q4_0}, {WB_DTYPE_Q4_1, 4, WB_DTYPE_F16, take_q4_1},
    {WB_DTYPE_Q5_0, 5, WB_DTYPE_F16, take_q5_0}, {WB_DTYPE_Q5_1, 5, WB_DTYPE_F16, take_q5_1},
    {WB_DTYPE_Q8_0, 8, WB_DTYPE_F16, take_q8_0}, {WB_DTYPE_Q4_K, 4, WB_DTYPE_F32, take_q4_k},
    {WB_DTYPE_Q5_K, 5, WB_DTYPE_F32, take_q5_k},
};

static const struct taker *taker_of(const wb__encoding_spec *spec)
{
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++) {
        if (spec->scheme == WB__SCHEME_PLAIN && takers[i].dtype == spec->dtype)
            return &takers[i];
    }
    return NULL;
}

/* ---- MLX groups ---- */

static float number_at(const uint8_t *bytes, int32_t dtype, size_t i)
{
    switch (dtype) {
    case WB_DTYPE_F16: return half_at(bytes + 2 * i);
    case WB_DTYPE_BF16: return float_of((uint32_t)wb__load_le16(bytes + 2 * i) << 16);
    default: return float_of(wb__load_le32(bytes + 4 * i));
    }
}

static void put_number(uint8_t *bytes, int32_t dtype, size_t i, float value)
{
    const wb__dtype *f32 = wb__dtype_get(WB_DTYPE_F32);
    size_t width = dtype == WB_DTYPE_F32 ? 4 : 2;
    uint8_t number[4];
    wb__store_le32(number, bits_of(value));
    wb__dtype_convert(f32, number, 0, wb__dtype_get(dtype), bytes + width * i, 1);
}

/* Reads the 32 elements from element 32 · at on. A group of the MLX encoding has 32 elements or a
 * multiple of 32, so they have the same scale and bias. */
static void take_affine(const wb__encoding_spec *spec, const uint8_t *const in[WB__PARTS],
                        size_t at, group *g)
{
    const uint8_t *codes = in[WB__PART_VALUES] + at * 4 * spec->bits;
    size_t of = at * 32 / spec->group;
    g->scale = number_at(in[WB__PART_SCALES], spec->dtype, of);
    g->bias = number_at(in[WB__PART_BIASES], spec->dtype, of);
    uint32_t stream = 0, held = 0;
    for (size_t i = 0; i < 32; i++) {
        for (; held < spec->bits; held += 8)
            stream |= (uint32_t)*codes++ << held;
        g->codes[i] = (uint8_t)(stream & ((1u << spec->bits) - 1));
        stream >>= spec->bits;
        held -= spec->bits;
    }
}

static void put_affine(const wb__encoding_spec *spec, const group *g, uint8_t *const out[WB__PARTS],
                       size_t at)
{
    uint8_t *codes = out[WB__PART_VALUES] + at * 4 * spec->bits;
    uint32_t stream = 0, held = 0;
    put_number(out[WB__PART_SCALES], spec->dtype, at, g->scale);
    put_number(out[WB__PART_BIASES], spec->dtype, at, g->bias);
    for (size_t i = 0; i < 32; i++) {
        stream |= (uint32_t)g->codes[i] << held;
        for (held += spec->bits; held >= 8; held -= 8) {
            *codes++ = (uint8_t)stream;
            stream >>= 8;
        }
    }
}

static void put_block(int32_t dtype, const group *g, uint8_t *out, size_t at)
{
    bool five = dtype == WB_DTYPE_Q5_1;
    uint8_t *block = out + at * (five ? 24 : 20);
    uint8_t *low = block + (five ? 8 : 4);
    uint32_t fifth = 0;
    put_number(block, WB_DTYPE_F16, 0, g->scale);
    put_number(block, WB_DTYPE_F16, 1, g->bias);
    for (size_t i = 0; i < 16; i++) {
        low[i] = (uint8_t)((g->codes[i] & 15) | (g->codes[i + 16] & 15) << 4);
        fifth |= (uint32_t)(g->codes[i] >> 4) << i | (uint32_t)(g->codes[i + 16] >> 4) << (i + 16);
    }
    if (five)
        wb__store_le32(block + 4, fifth);
}

/* ---- microscaling ---- */

/* Reorders 4-bit codes from sequential order to the order of GGML. A group has 2 * half elements:
 * 32 for MXFP4 and 16 for NVFP4. In GGML, byte i of a group contains element i in its low 4 bits
 * and element i + half in its high 4 bits. A GGML block contains `scales` scales of one byte each,
 * and then the codes of `scales` groups. */
static void weave(const uint8_t *plain, const uint8_t *scale, uint8_t *blocks, size_t half,
                  size_t scales, size_t n_blocks)
{
    for (size_t b = 0; b < n_blocks; b++) {
        uint8_t *block = blocks + b * scales * (1 + half);
        memcpy(block, scale + b * scales, scales);
        for (size_t s = 0; s < scales; s++) {
            const uint8_t *in = plain + (b * scales + s) * half;
            uint8_t *out = block + scales + s * half;
            for (size_t i = 0; i < half; i++) {
                uint8_t low = in[i / 2] >> (i % 2 * 4) & 15;
                uint8_t high = in[(i + half) / 2] >> (i % 2 * 4) & 15;
                out[i] = (uint8_t)(low | high << 4);
            }
        }
    }
}

static void unweave(const uint8_t *blocks, uint8_t *plain, uint8_t *scale, size_t half,
                    size_t scales, size_t n_blocks)
{
    for (size_t b = 0; b < n_blocks; b++) {
        const uint8_t *block = blocks + b * scales * (1 + half);
        memcpy(scale + b * scales, block, scales);
        for (size_t s = 0; s < scales; s++) {
            const uint8_t *in = block + scales + s * half;
            uint8_t *out = plain + (b * scales + s) * half;
            for (size_t i = 0; i < half; i += 2) {
                out[i / 2] = (uint8_t)((in[i] & 15) | (in[i + 1] & 15) << 4);
                out[(i + half) / 2] = (uint8_t)(in[i] >> 4 | (in[i + 1] & 0xF0));
            }
        }
    }
}

static const struct twin {
    wb__scheme scheme;
    int32_t dtype;
    size_t half, scales;
    uint32_t group;
} twins[] = {
    {WB__SCHEME_MXFP4, WB_DTYPE_MXFP4, 16, 1, 32},
    {WB__SCHEME_NVFP4, WB_DTYPE_NVFP4, 8, 4, 16},
};

static const struct twin *twin_of(const wb__encoding_spec *packed, const wb__encoding_spec *plain)
{
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        if (packed->scheme == twins[i].scheme && plain->scheme == WB__SCHEME_PLAIN &&
            plain->dtype == twins[i].dtype)
            return &twins[i];
    }
    return NULL;
}

/* ---- choice of the equivalent encoding, and repacking ---- */

bool wb__repack_to_mlx(const wb__encoding_spec *from, wb__encoding_spec *to)
{
    const struct taker *taker = taker_of(from);
    if (taker != NULL) {
        *to = (wb__encoding_spec){WB__SCHEME_AFFINE, taker->scales, taker->bits, 32};
        return true;
    }
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        if (from->scheme == WB__SCHEME_PLAIN && from->dtype == twins[i].dtype) {
            *to = (wb__encoding_spec){twins[i].scheme, WB_DTYPE_F16, 4, twins[i].group};
            return true;
        }
    }
    return false;
}

static bool is_affine(const wb__encoding_spec *spec)
{
    return spec->scheme == WB__SCHEME_AFFINE || spec->scheme == WB__SCHEME_INT4;
}

bool wb__repack_to_ggml(const wb__encoding_spec *from, wb__encoding_spec *to)
{
    *to = (wb__encoding_spec){.scheme = WB__SCHEME_PLAIN, .dtype = -1};
    if (is_affine(from) && from->bits <= 5)
        to->dtype = from->bits == 5 ? WB_DTYPE_Q5_1 : WB_DTYPE_Q4_1;
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        if (from->scheme == twins[i].scheme)
            to->dtype = twins[i].dtype;
    }
    return to->dtype >= 0;
}

bool wb__repack_can(const wb__encoding_spec *from, const wb__encoding_spec *to)
{
    wb__encoding_spec best;
    if (from->scheme == WB__SCHEME_PLAIN)
        return wb__repack_to_mlx(from, &best) && best.scheme == to->scheme &&
               best.bits == to->bits && best.group == to->group &&
               (!is_affine(to) || best.dtype == to->dtype || to->dtype == WB_DTYPE_F32);
    return wb__repack_to_ggml(from, &best) && wb__encoding_spec_equal(&best, to);
}

void wb__repack(const wb__encoding_spec *from, const uint8_t *const in[WB__PARTS],
                const wb__encoding_spec *to, uint8_t *const out[WB__PARTS], size_t n)
{
    group g;
    const struct twin *twin = twin_of(from, to);
    if (twin != NULL) {
        weave(in[WB__PART_VALUES], in[WB__PART_SCALES], out[WB__PART_VALUES], twin->half,
              twin->scales, n / (twin->half * 2 * twin->scales));
        return;
    }
    twin = twin_of(to, from);
    if (twin != NULL) {
        unweave(in[WB__PART_VALUES], out[WB__PART_VALUES], out[WB__PART_SCALES], twin->half,
                twin->scales, n / (twin->half * 2 * twin->scales));
        return;
    }
    const struct taker *taker = taker_of(from);
    for (size_t at = 0; at < n / 32; at++) {
        if (taker != NULL) {
            const wb__dtype *dtype = wb__dtype_get(from->dtype);
            size_t parts = dtype->block_size / 32;
            taker->take(in[WB__PART_VALUES] + at / parts * (dtype->block_bits / 8), at % parts, &g);
            put_affine(to, &g, out, at);
        } else {
            take_affine(from, in, at, &g);
            put_block(to->dtype, &g, out[WB__PART_VALUES], at);
        }
    }
}
