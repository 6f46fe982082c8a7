/* Encodes floats to an MLX mode, such as "affine4" or "mxfp8", or decodes them, with one thread, in
 * rows of 4096 values. Affine modes use groups of 64 values with F32 scales and biases. */
#define _POSIX_C_SOURCE 200809L
#include "crc.h"
#include "file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weighbridge.h"

#define COLUMNS 4096u

static const struct mode_row {
    const char *name;
    wb_mlx_mode mode;
    uint32_t group;
} modes[] = {
    {"affine", WB_MLX_AFFINE, 64},
    {"mxfp4", WB_MLX_MXFP4, 32},
    {"mxfp8", WB_MLX_MXFP8, 32},
    {"nvfp4", WB_MLX_NVFP4, 16},
};

static wb_error error;
static wb_mlx_type type;
static wb_mlx_sizes sizes;
static wb_mlx_buffers parts;
static float *from, *to;
static size_t bytes;
static uint64_t rows;

static void find(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        size_t n = strlen(modes[i].name);
        if (strncmp(name, modes[i].name, n) != 0)
            continue;
        type = (wb_mlx_type){.size = sizeof type,
                             .mode = modes[i].mode,
                             .bits = (uint32_t)strtoul(name + n, NULL, 10),
                             .group_size = modes[i].group};
        return;
    }
    bench_die(name, "no such mode");
}

static uint64_t encode(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        if (wb_mlx_quantize(&type, WB_DTYPE_F32, from, rows, COLUMNS, &parts, NULL, &error) !=
            WB_OK)
            bench_die("encode", error.message);
    }
    return bench_now() - begin;
}

static uint64_t decode(unsigned long times)
{
    const wb_mlx_parts in = {.size = sizeof in,
                             .weight = parts.weight,
                             .scales = parts.scales,
                             .biases = parts.biases,
                             .weight_bytes = parts.weight_bytes,
                             .scales_bytes = parts.scales_bytes,
                             .biases_bytes = parts.biases_bytes,
                             .scales_dtype = WB_DTYPE_F32,
                             .biases_dtype = WB_DTYPE_F32};
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        if (wb_mlx_dequantize(&type, &in, rows, COLUMNS, WB_DTYPE_F32, to, bytes, NULL, &error) !=
            WB_OK)
            bench_die("decode", error.message);
    }
    return bench_now() - begin;
}

static void start(char **arguments)
{
    find(arguments[0]);
    from = bench_read(arguments[1], &bytes);
    rows = bytes / (COLUMNS * sizeof(float));
    to = bench_room(bytes);
    sizes.size = sizeof sizes;
    if (wb_mlx_measure(&type, WB_DTYPE_F32, rows, COLUMNS, &sizes, &error) != WB_OK)
        bench_die(arguments[0], error.message);
    parts = (wb_mlx_buffers){.size = sizeof parts,
                             .weight = bench_room((size_t)sizes.weight_bytes),
                             .scales = bench_room((size_t)sizes.scales_bytes),
                             .weight_bytes = sizes.weight_bytes,
                             .scales_bytes = sizes.scales_bytes,
                             .biases_bytes = sizes.biases_bytes};
    if (sizes.biases_bytes != 0)
        parts.biases = bench_room((size_t)sizes.biases_bytes);
    (void)encode(1);
    (void)decode(1);
}

static void tell(uint32_t checksum)
{
    printf("name weighbridge %s\nwork %" PRIu64 " values, checksum %08" PRIx32 "\n", wb_version(),
           rows * COLUMNS, checksum);
}

static void start_encode(char **arguments)
{
    start(arguments);
    uint32_t crc = bench_crc(0, parts.weight, (size_t)parts.weight_bytes);
    crc = bench_crc(crc, parts.scales, (size_t)parts.scales_bytes);
    tell(bench_crc(crc, parts.biases, (size_t)parts.biases_bytes));
}

static void start_decode(char **arguments)
{
    start(arguments);
    tell(bench_crc(0, to, bytes));
}

const bench_operation bench_mlx_encode = {"mlx-encode", "MODE FILE", start_encode, encode};
const bench_operation bench_mlx_decode = {"mlx-decode", "MODE FILE", start_decode, decode};
