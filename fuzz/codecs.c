/*
 * Decodes any bytes and encodes any floats. No memory error may occur, and every instruction set
 * must give the results of the scalar kernels.
 *
 *   byte 0   the operation: decode or encode; GGML types, MLX types or types of other toolkits
 *   byte 1   the type
 *   byte 2   the number of blocks and the kind of values
 *   rest     blocks or floats, repeated from the start if too short
 */
#include "cpu/cpu.h"
#include "quant/mlx/mlx.h"
#include "quant/quant.h"
#include "support/fuzz.h"
#include "support/model.h"
#include "weighbridge.h"

typedef struct input {
    const uint8_t *p;
    size_t n, at;
} input;

static uint8_t take(input *in)
{
    return in->n == 0 ? 0 : in->p[in->at++ % in->n];
}

/* Allocates exactly n bytes, so that a sanitizer detects any access past the end. */
static void *room(size_t n)
{
    void *p = malloc(n == 0 ? 1 : n);
    CHECK(p != NULL);
    memset(p, 0xA5, n);
    return p;
}

static uint8_t *take_bytes(input *in, size_t n)
{
    uint8_t *p = room(n);
    for (size_t i = 0; i < n; i++)
        p[i] = take(in);
    return p;
}

/* Returns n floats: arbitrary bits, or values in the range of weights, as selected by `how`. */
static float *take_floats(input *in, size_t n, unsigned how)
{
    float *p = room(n * sizeof *p);
    for (size_t i = 0; i < n; i++) {
        if (how % 4 == 0) {
            uint8_t bytes[4] = {take(in), take(in), take(in), take(in)};
            memcpy(&p[i], bytes, sizeof bytes);
        } else {
            static const float factors[] = {1.0f, 0x1p-9f, 0x1p20f};
            p[i] = (float)(int8_t)take(in) * factors[how % 4 - 1];
            if (how & 4)
                p[i] *= 1.0f + (float)(i * 7 % 13) / 16;
        }
    }
    return p;
}

/* Returns true if all values are so small that sums of squares do not overflow, and, if `positive`,
 * no value is negative. After an overflow the result of an encoder is unspecified. */
static bool all_moderate(const float *p, size_t n, bool positive)
{
    for (size_t i = 0; i < n; i++) {
        if (!(p[i] < 0x1p31f && p[i] > -0x1p31f) || (positive && p[i] < 0))
            return false;
    }
    return true;
}

/* Checks that values are equal; any NaN equals any NaN. */
static void check_same_floats(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK(memcmp(&a[i], &b[i], sizeof *a) == 0 || (a[i] != a[i] && b[i] != b[i]));
}

/* Instruction sets compared with the scalar kernels; this processor may lack some. */
static const uint32_t sets[] = {WB__CPU_AVX2,
                                WB__CPU_AVX2 | WB__CPU_AES | WB__CPU_AVX512 | WB__CPU_VAES};

#define SETS (sizeof sets / sizeof *sets)

/* ---- ggml's types ---- */

static const uint8_t dtypes[] = {
#define WB__DTYPE(NAME, number, elements, bits, class, E, M, bias, text) number,
#include "dtype/dtypes.def"
#undef WB__DTYPE
};

static int32_t choose_dtype(uint8_t byte)
{
    return dtypes[byte % (sizeof dtypes / sizeof *dtypes)];
}

static void decode_ggml(input *in, uint8_t type, uint8_t how)
{
    wb__codec scalar, other;
    int32_t dtype = choose_dtype(type);
    if (!wb__codec_get(dtype, 0, &scalar) || scalar.decode == NULL)
        return;
    size_t blocks = 1 + how % 9, n = blocks * scalar.dtype->block_size;
    size_t bytes = (size_t)wb__codec_bytes(&scalar, n);
    uint8_t *src = take_bytes(in, bytes);
    float *expected = room(n * sizeof *expected);
    scalar.decode(src, expected, blocks);
    for (size_t i = 0; i < SETS; i++) {
        float *got = room(n * sizeof *got);
        CHECK(wb__codec_get(dtype, sets[i] & wb__cpu_features(), &other));
        other.decode(src, got, blocks);
        check_same_floats(expected, got, n);
        free(got);
    }
    free(expected);
    free(src);
}

static void encode_ggml(input *in, uint8_t type, uint8_t how)
{
    wb__codec scalar, other;
    int32_t dtype = choose_dtype(type);
    if (!wb__codec_get(dtype, 0, &scalar) || scalar.encode == NULL)
        return;
    /* Encoders of blocks of 256 values take milliseconds: run one in eight, so that other cases are
     * tested, too. */
    if (scalar.dtype->block_size == 256 && how % 8 != 0)
        return;
    size_t blocks = 1 + how / 8 % 2, n = blocks * scalar.dtype->block_size;
    size_t bytes = (size_t)wb__codec_bytes(&scalar, n);
    float *values = take_floats(in, n, how / 2);
    float *importance = NULL;
    if (scalar.importance == WB_IMPORTANCE_REQUIRED ||
        (scalar.importance == WB_IMPORTANCE_OPTIONAL && how & 64)) {
        importance = take_floats(in, n, how / 2 + 1);
        for (size_t i = 0; i < n && how & 128; i++)
            importance[i] = importance[i] < 0 ? -importance[i] : importance[i];
    }
    bool good =
        all_moderate(values, n, false) && (importance == NULL || all_moderate(importance, n, true));
    uint8_t *expected = room(bytes);
    scalar.encode(values, importance, expected, n);
    for (size_t i = 0; i < SETS; i++) {
        uint8_t *got = room(bytes);
        CHECK(wb__codec_get(dtype, sets[i] & wb__cpu_features(), &other));
        other.encode(values, importance, got, n);
        CHECK(!good || memcmp(expected, got, bytes) == 0);
        free(got);
    }
    float *back = room(n * sizeof *back); /* decoding the encoded blocks must not fail either */
    if (scalar.decode != NULL)
        scalar.decode(expected, back, blocks);
    free(back);
    free(expected);
    free(importance);
    free(values);
}

/* ---- MLX's modes ---- */

static wb__mlx_type choose_mlx(uint8_t type)
{
    static const uint8_t bits[] = {1, 2, 3, 4, 5, 6, 8};
    static const uint8_t groups[] = {32, 64, 128};
    static const wb__mlx_type scaled[] = {
        {WB__MLX_MXFP4, 4, 32}, {WB__MLX_MXFP8, 8, 32}, {WB__MLX_NVFP4, 4, 16}};
    if (type % 2 == 0)
        return scaled[type / 2 % 3];
    return (wb__mlx_type){WB__MLX_AFFINE, bits[type / 2 % 7], groups[type / 14 % 3]};
}

static const int32_t floats[] = {WB_DTYPE_F32, WB_DTYPE_F16, WB_DTYPE_BF16};

static size_t float_bytes(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 ? 4 : 2;
}

/* Checks that the numbers are equal or both NaN. */
static void check_same_numbers(int32_t dtype, const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t width = float_bytes(dtype);
    unsigned mantissa = dtype == WB_DTYPE_F32 ? 23 : dtype == WB_DTYPE_F16 ? 10 : 7;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = 0, y = 0;
        memcpy(&x, a + i * width, width);
        memcpy(&y, b + i * width, width);
        uint32_t magnitude = width == 4 ? 0x7FFFFFFF : 0x7FFF;
        uint32_t infinity = magnitude >> mantissa << mantissa;
        CHECK(x == y || ((x & magnitude) > infinity && (y & magnitude) > infinity));
    }
}

static void decode_mlx(input *in, uint8_t type, uint8_t how)
{
    wb__mlx_type t = choose_mlx(type);
    int32_t dtype = floats[how % 3], scales_dtype = floats[how / 3 % 3];
    int32_t biases_dtype = floats[how / 9 % 3];
    size_t groups = 1 + take(in) % 9, n = groups * t.group;
    bool affine = t.mode == WB__MLX_AFFINE;
    uint8_t *weight = take_bytes(in, groups * wb__mlx_group_bytes(&t));
    uint8_t *scales = take_bytes(in, affine ? groups * float_bytes(scales_dtype) : groups);
    uint8_t *biases = affine ? take_bytes(in, groups * float_bytes(biases_dtype)) : NULL;
    float *factor = take_floats(in, 1, take(in));
    wb__mlx_parts parts = {.weight = weight,
                           .scales = scales,
                           .biases = biases,
                           .scales_dtype = scales_dtype,
                           .biases_dtype = biases_dtype};
    if (!affine && how & 128) {
        parts.global =
            t.mode == WB__MLX_NVFP4 ? (wb__mlx_global)(how / 32 % 5) : WB__MLX_GLOBAL_LAST;
        parts.global_scale = *factor;
    }
    bool native = how & 64;
    size_t bytes = n * float_bytes(dtype);
    uint8_t *expected = room(bytes);
    wb__mlx_decode(0, &t, &parts, native, 0, groups, dtype, expected);
    for (size_t i = 0; i < SETS; i++) {
        uint8_t *got = room(bytes);
        wb__mlx_decode(sets[i] & wb__cpu_features(), &t, &parts, native, 0, groups, dtype, got);
        check_same_numbers(dtype, expected, got, n);
        free(got);
    }
    free(expected);
    free(factor);
    free(biases);
    free(scales);
    free(weight);
}

typedef struct encoded {
    uint8_t *weight, *scales, *biases;
} encoded;

static encoded encode_with(uint32_t features, const wb__mlx_type *t,
                           const wb__mlx_encoding *encoding, int32_t dtype, const void *src,
                           size_t groups)
{
    size_t scale = t->mode == WB__MLX_AFFINE ? float_bytes(dtype) : 1;
    encoded e = {room(groups * wb__mlx_group_bytes(t)), room(groups * scale), room(groups * scale)};
    wb__mlx_encoded out = {e.weight, e.scales, e.biases};
    wb__mlx_encode(features, t, encoding, dtype, src, 0, groups, &out);
    return e;
}

static void free_encoded(encoded e)
{
    free(e.weight);
    free(e.scales);
    free(e.biases);
}

static bool numbers_finite(int32_t dtype, const uint8_t *p, size_t n)
{
    size_t width = float_bytes(dtype);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = 0;
        memcpy(&x, p + i * width, width);
        uint32_t infinity = dtype == WB_DTYPE_F32   ? 0x7F800000
                            : dtype == WB_DTYPE_F16 ? 0x7C00
                                                    : 0x7F80;
        if ((x & infinity) == infinity)
            return false;
    }
    return true;
}

static void encode_mlx(input *in, uint8_t type, uint8_t how)
{
    wb__mlx_type t = choose_mlx(type);
    int32_t dtype = floats[how % 3];
    size_t groups = 1 + take(in) % 9, n = groups * t.group;
    uint8_t *src =
        dtype == WB_DTYPE_F32 ? (uint8_t *)take_floats(in, n, take(in)) : take_bytes(in, n * 2);
    wb__mlx_encoding encoding = {.e8m0 = how & 64 ? WB__MLX_E8M0_NEAREST : WB__MLX_E8M0_UP};
    float amax = wb__mlx_amax(0, dtype, src, n);
    for (size_t i = 0; i < SETS; i++) {
        float other = wb__mlx_amax(sets[i] & wb__cpu_features(), dtype, src, n);
        check_same_floats(&amax, &other, 1);
    }
    if (t.mode == WB__MLX_NVFP4 && how & 32) {
        encoding.has_global = true;
        encoding.global_scale = amax;
    }
    bool good = numbers_finite(dtype, src, n);
    encoded expected = encode_with(0, &t, &encoding, dtype, src, groups);
    size_t scale = t.mode == WB__MLX_AFFINE ? float_bytes(dtype) : 1;
    for (size_t i = 0; i < SETS; i++) {
        encoded got = encode_with(sets[i] & wb__cpu_features(), &t, &encoding, dtype, src, groups);
        if (good) {
            CHECK(memcmp(expected.weight, got.weight, groups * wb__mlx_group_bytes(&t)) == 0);
            CHECK(memcmp(expected.scales, got.scales, groups * scale) == 0);
            CHECK(memcmp(expected.biases, got.biases, groups * scale) == 0);
        }
        free_encoded(got);
    }
    free_encoded(expected);
    free(src);
}

/* ---- formats of other toolkits, through the public interface ---- */

static void decode_fp8(input *in, uint8_t type, uint8_t how)
{
    static const int32_t weights[] = {WB_DTYPE_F8_E4M3, WB_DTYPE_F8_E5M2, WB_DTYPE_F8_E4M3FNUZ,
                                      WB_DTYPE_F8_E5M2FNUZ, WB_DTYPE_U8};
    uint32_t block_rows = 1 + type % 5, block_columns = 1 + type / 5 % 5;
    size_t rows = how % 16, columns = how / 16;
    size_t blocks =
        ((rows + block_rows - 1) / block_rows) * ((columns + block_columns - 1) / block_columns);
    int32_t dtype = floats[take(in) % 3];
    uint8_t *weight = take_bytes(in, rows * columns);
    uint8_t *scales = take_bytes(in, blocks * float_bytes(dtype));
    float *values = room(rows * columns * sizeof *values);
    wb_fp8_block tensor = {.size = sizeof tensor,
                           .weight = weight,
                           .scales = scales,
                           .weight_bytes = rows * columns,
                           .scales_bytes =
                               blocks * float_bytes(dtype) - (take(in) % 2 != 0 && blocks > 0),
                           .weight_dtype = weights[type / 25 % 5],
                           .scales_dtype = dtype,
                           .rows = rows,
                           .columns = columns,
                           .block_rows = block_rows,
                           .block_columns = block_columns};
    wb_error error;
    wb_status status =
        wb_fp8_dequantize(&tensor, values, rows * columns * sizeof *values, NULL, &error);
    if (status != WB_OK)
        fuzz_check_error(&error, status, SIZE_MAX);
    free(values);
    free(scales);
    free(weight);
}

static void decode_int4(input *in, uint8_t type, uint8_t how)
{
    bool awq = type % 2 == 0;
    size_t out = 8 * (1 + how % 4u), inputs = 8 * (1 + how / 4 % 4u);
    size_t group = how & 16 ? 8u : how & 32 ? inputs : 1 + take(in) % 32u;
    size_t groups = (inputs + group - 1) / group, words = out * inputs / 8;
    int32_t dtype = floats[take(in) % 3];
    uint8_t *weight = take_bytes(in, words * 4);
    uint8_t *zeros = take_bytes(in, groups * out / 2);
    uint8_t *scales = take_bytes(in, groups * out * float_bytes(dtype));
    uint8_t *order = take_bytes(in, inputs * 4);
    for (size_t i = 0; i < inputs && type & 4; i++) { /* existing groups only */
        uint8_t number[4] = {(uint8_t)(order[4 * i] % groups), 0, 0, 0};
        memcpy(order + 4 * i, number, 4);
    }
    float *values = room(out * inputs * sizeof *values);
    wb_int4_tensor tensor = {.size = sizeof tensor,
                             .packing = awq ? WB_INT4_AWQ : WB_INT4_GPTQ,
                             .qweight = weight,
                             .qzeros = zeros,
                             .scales = scales,
                             .g_idx = awq || type & 2 ? NULL : order,
                             .qweight_bytes = words * 4,
                             .qzeros_bytes = groups * out / 2,
                             .scales_bytes = groups * out * float_bytes(dtype),
                             .g_idx_bytes = inputs * 4,
                             .scales_dtype = dtype,
                             .out = out,
                             .in = inputs,
                             .group_size = how & 32 ? 0 : group,
                             .plain_zeros = how / 64 % 2};
    wb_error error;
    wb_status status =
        wb_int4_dequantize(&tensor, values, out * inputs * sizeof *values, NULL, &error);
    if (status != WB_OK)
        fuzz_check_error(&error, status, SIZE_MAX);
    free(values);
    free(order);
    free(scales);
    free(zeros);
    free(weight);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tasks[])(input *, uint8_t, uint8_t) = {
        decode_ggml, encode_ggml, decode_mlx, encode_mlx, decode_fp8, decode_int4};
    if (size < 3)
        return 0;
    input in = {data + 3, size - 3, 0};
    tasks[data[0] % (sizeof tasks / sizeof *tasks)](&in, data[1], data[2]);
    return 0;
}
