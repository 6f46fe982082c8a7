/*
 * Decoding of groups in all modes. The scales of several groups are converted to floats; then a
 * loop from mlx_kernels.h decodes the elements. This loop writes directly to the result if the
 * computation uses the requested dtype.
 */
#include "quant/mlx/number.h"

#include "dtype/dtype.h"

#define CHUNK WB__MLX_CHUNK
#define CHUNK_GROUPS (CHUNK / WB__MLX_GROUP_MIN)

typedef struct decoder {
    const wb__mlx_type *type;
    const wb__mlx_parts *parts;
    wb__mlx_kernels fast;
    wb__mlx_kernels scalar;
    int32_t product_dtype; /* affine: dtype to which the product is rounded */
    int32_t dtype;         /* affine: dtype of the computed values */
    float scales[CHUNK_GROUPS];
    float biases[CHUNK_GROUPS];
} decoder;

static bool is_format(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 || dtype == WB_DTYPE_F16 || dtype == WB_DTYPE_BF16;
}

static wb__mlx_format format_of(int32_t dtype)
{
    return dtype == WB_DTYPE_F16    ? WB__MLX_F16
           : dtype == WB_DTYPE_BF16 ? WB__MLX_BF16
                                    : WB__MLX_F32;
}

static void choose_dtypes(decoder *d, bool native, int32_t asked)
{
    const wb__mlx_parts *parts = d->parts;
    d->product_dtype = d->dtype = WB_DTYPE_F32;
    if (d->type->mode != WB__MLX_AFFINE) {
        if (parts->global == WB__MLX_GLOBAL_NONE && is_format(asked))
            d->dtype = asked;
    } else if (native) {
        d->product_dtype = parts->scales_dtype;
        if (parts->scales_dtype == parts->biases_dtype)
            d->dtype = parts->scales_dtype;
    }
}

/* ---- scales ---- */

static bool widen(const decoder *d, int32_t dtype, const void *src, uint64_t first, size_t n,
                  float *floats)
{
    const uint8_t *bytes = (const uint8_t *)src + first * wb__float_size(dtype);
    return d->fast.widen[format_of(dtype)](bytes, floats, n);
}

/*
 * Converts E8M0 scales to floats. F16 represents the powers of two from 2^-24 to 2^15; smaller
 * scales become 0, larger ones infinity. F32 and BF16 represent all scales.
 */
static void load_e8m0(const decoder *d, const uint8_t *bytes, size_t n, float *scales)
{
    bool f16 = d->dtype == WB_DTYPE_F16;
    unsigned least = f16 ? 127 - 24 : 0, most = f16 ? 127 + 15 : 254;
    for (size_t i = 0; i < n; i++) {
        float scale = wb__float_from_e8m0(bytes[i] <= most ? bytes[i] : 255);
        scales[i] = bytes[i] >= least ? scale : 0;
    }
}

static void load_e4m3(const decoder *d, const uint8_t *bytes, size_t n, float *scales)
{
    const float one = 1.0f;
    float factor = 1.0f, g = d->parts->global_scale;
    if (d->parts->global == WB__MLX_GLOBAL_AMAX)
        factor = g / WB__MLX_GLOBAL_RANGE;
    else if (d->parts->global == WB__MLX_GLOBAL_FACTOR)
        factor = g;
    const wb__mlx_kernels *kernels = wb__float_is_finite(factor) ? &d->fast : &d->scalar;
    size_t even = n / 32 * 32;
    kernels->e4m3_decode[WB__MLX_F32](bytes, &one, factor, even, 1, (uint8_t *)scales);
    d->scalar.e4m3_decode[WB__MLX_F32](bytes + even, &one, factor, n - even, 1,
                                       (uint8_t *)(scales + even));
    if (d->parts->global == WB__MLX_GLOBAL_DIVISOR) {
        for (size_t i = 0; i < n; i++)
            scales[i] /= g;
    }
}

static bool all_finite(const float *floats, size_t n)
{
    uint32_t special = 0;
    for (size_t i = 0; i < n; i++)
        special |= (wb__bits_of_float(floats[i]) & WB__FLOAT_INFINITY) + 0x800000;
    return special >> 31 == 0;
}

/* ---- groups ---- */

static void affine_mixed(const decoder *d, const uint8_t *packed, size_t groups, uint8_t *dst)
{
    size_t group = d->type->group;
    for (size_t g = 0; g < groups; g++, packed += wb__mlx_group_bytes(d->type)) {
        float values[WB__MLX_GROUP_MAX];
        wb__mlx_affine_group(packed, d->type->bits, d->scales[g], d->biases[g], d->product_dtype,
                             d->dtype, group, values);
        for (size_t i = 0; i < group; i++, dst += wb__float_size(d->dtype))
            wb__float_store(d->dtype, dst, values[i]);
    }
}

static void affine(decoder *d, uint64_t first, size_t groups, const uint8_t *packed, uint8_t *dst)
{
    const wb__mlx_parts *parts = d->parts;
    bool finite = widen(d, parts->scales_dtype, parts->scales, first, groups, d->scales);
    finite &= widen(d, parts->biases_dtype, parts->biases, first, groups, d->biases);
    if (d->product_dtype != d->dtype) {
        affine_mixed(d, packed, groups, dst);
        return;
    }
    const wb__mlx_kernels *kernels = finite ? &d->fast : &d->scalar;
    kernels->affine_decode[d->type->bits][format_of(d->dtype)](packed, d->scales, d->biases,
                                                               d->type->group, groups, dst);
}

static void scaled(decoder *d, uint64_t first, size_t groups, const uint8_t *packed, uint8_t *dst)
{
    const uint8_t *bytes = (const uint8_t *)d->parts->scales + first;
    if (d->type->mode == WB__MLX_NVFP4)
        load_e4m3(d, bytes, groups, d->scales);
    else
        load_e8m0(d, bytes, groups, d->scales);
    float factor = d->parts->global == WB__MLX_GLOBAL_LAST ? d->parts->global_scale : 1.0f;
    bool finite = all_finite(d->scales, groups) && wb__float_is_finite(factor);
    const wb__mlx_kernels *kernels = finite ? &d->fast : &d->scalar;
    wb__mlx_scaled_decoder *const *loops =
        d->type->mode == WB__MLX_MXFP8 ? kernels->e4m3_decode : kernels->e2m1_decode;
    loops[format_of(d->dtype)](packed, d->scales, factor, d->type->group, groups, dst);
}

void wb__mlx_decode(uint32_t features, const wb__mlx_type *type, const wb__mlx_parts *parts,
                    bool native, uint64_t first, size_t groups, int32_t dtype, void *dst_bytes)
{
    decoder d = {.type = type, .parts = parts};
    wb__mlx_kernels_choose(features, &d.fast);
    wb__mlx_kernels_choose(0, &d.scalar);
    choose_dtypes(&d, native, dtype);

    const wb__dtype *computed = wb__dtype_get(d.dtype), *wanted = wb__dtype_get(dtype);
    size_t group_bytes = wb__mlx_group_bytes(type);
    const uint8_t *packed = (const uint8_t *)parts->weight + first * group_bytes;
    uint8_t *dst = dst_bytes;
    size_t chunk = CHUNK / type->group;
    for (size_t done = 0; done < groups; done += chunk) {
        size_t count = groups - done < chunk ? groups - done : chunk;
        uint8_t buffer[4 * CHUNK];
        uint8_t *to = computed == wanted ? dst : buffer;
        if (type->mode == WB__MLX_AFFINE)
            affine(&d, first + done, count, packed, to);
        else
            scaled(&d, first + done, count, packed, to);
        if (to == buffer)
            wb__dtype_convert(computed, buffer, 0, wanted, dst, count * type->group);
        packed += count * group_bytes;
        /* the division by 8 has no remainder, because a group fills whole bytes */
        dst += count * type->group * wanted->block_bits / 8;
    }
}
