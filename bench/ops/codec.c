/*
 * Decodes blocks of a GGML type to floats, or encodes floats to blocks, with one thread, in rows
 * of 4096 values. The work line contains a checksum of the result, so that a peer with a different
 * result is rejected.
 */
#define _POSIX_C_SOURCE 200809L
#include "crc.h"
#include "file.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "weighbridge.h"

#define COLUMNS 4096u

static wb_error error;
static int32_t dtype;
static uint64_t rows;
static size_t from_bytes, to_bytes;
static void *from, *to;
static const float *importance;

/* Types that require an importance matrix get one in which all values are 1. */
static const float *ones(void)
{
    static float row[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        row[i] = 1;
    return row;
}

static wb_dtype_info find(const char *name)
{
    wb_dtype_info info = {.size = sizeof info};
    dtype = wb_dtype_find(name, SIZE_MAX);
    if (wb_dtype_describe(dtype, &info) != WB_OK)
        bench_die(name, "no such type");
    return info;
}

static uint64_t row_bytes(void)
{
    uint64_t bytes;
    if (wb_quantized_size(dtype, 1, COLUMNS, &bytes, &error) != WB_OK)
        bench_die("size", error.message);
    return bytes;
}

static uint64_t decode(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        if (wb_dequantize(dtype, from, from_bytes, rows, COLUMNS, to, NULL, &error) != WB_OK)
            bench_die("decode", error.message);
    }
    return bench_now() - begin;
}

static uint64_t encode(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        if (wb_quantize(dtype, from, rows, COLUMNS, importance, to, to_bytes, NULL, &error) !=
            WB_OK)
            bench_die("encode", error.message);
    }
    return bench_now() - begin;
}

static void start_decode(char **arguments)
{
    (void)find(arguments[0]);
    from = bench_read(arguments[1], &from_bytes);
    rows = from_bytes / row_bytes();
    to_bytes = (size_t)rows * COLUMNS * sizeof(float);
    to = bench_room(to_bytes);
    (void)decode(1);
    printf("name weighbridge %s\nwork %" PRIu64 " values, checksum %08" PRIx32 "\n", wb_version(),
           rows * COLUMNS, bench_crc(0, to, to_bytes));
}

static void start_encode(char **arguments)
{
    wb_dtype_info info = find(arguments[0]);
    bool other_bytes = arguments[2] != NULL && strcmp(arguments[2], "other-bytes") == 0;
    from = bench_read(arguments[1], &from_bytes);
    rows = from_bytes / (COLUMNS * sizeof(float));
    to_bytes = (size_t)(rows * row_bytes());
    to = bench_room(to_bytes);
    importance = info.importance == WB_IMPORTANCE_REQUIRED ? ones() : NULL;
    (void)encode(1);
    printf("name weighbridge %s\nwork %" PRIu64 " values", wb_version(), rows * COLUMNS);
    if (!other_bytes)
        printf(", checksum %08" PRIx32, bench_crc(0, to, to_bytes));
    putchar('\n');
}

const bench_operation bench_decode = {"decode", "TYPE FILE", start_decode, decode};
const bench_operation bench_encode = {"encode", "TYPE FILE [other-bytes]", start_encode, encode};
