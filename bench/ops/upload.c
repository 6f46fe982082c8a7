/*
 * upload: copies all tensors of a model in the page cache to device buffers with wb_load. One
 * tensor is read back and compared outside the measured time. Its floor, pinned, copies as many
 * bytes to the same device from pinned memory, with four copies in flight. No program that reads a
 * file can be faster.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../worker.h"
#include "crew.h"
#include "weighbridge.h"

enum { TENSORS_MAX = 4096, CHUNK = 2 << 20, CHUNKS = 4 };

static wb_device device;
static wb_model *model;
static wb_error error;
static void *buffers[TENSORS_MAX];
static uint64_t sizes[TENSORS_MAX], bytes, checked;
static uint64_t tensors;

static void *target(void *ctx, const wb_piece *piece, uint64_t *offset)
{
    (void)ctx;
    *offset = piece->at;
    return buffers[piece->tensor];
}

static void open_all(char **arguments)
{
    wb_status status = strcmp(arguments[0], "cuda") == 0 ? wb_device_cuda(NULL, &device, &error)
                                                         : wb_device_opencl(NULL, &device, &error);
    if (status != WB_OK || wb_open(arguments[1], NULL, &model, &error) != WB_OK)
        bench_die(arguments[0], error.message);
    tensors = wb_tensor_count(model);
    for (uint64_t i = 0; i < tensors; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        if (i == TENSORS_MAX || wb_tensor_at(model, i, &tensor, &error) != WB_OK)
            bench_die(arguments[1], "too many tensors");
        sizes[i] = tensor.bytes;
        bytes += tensor.bytes;
        if (device.alloc(device.ctx, sizes[i], &buffers[i]) != WB_OK)
            bench_die(arguments[0], "the device is full");
    }
}

static void start(char **arguments)
{
    open_all(arguments);
    printf("name weighbridge %s\nwork %" PRIu64 " bytes\n", wb_version(), bytes);
}

static void check(uint64_t i)
{
    const void *there;
    unsigned char *back = malloc((size_t)sizes[i]);
    if (back == NULL || wb_tensor_data(model, i, &there, &error) != WB_OK ||
        device.download(device.ctx, buffers[i], 0, back, sizes[i]) != WB_OK ||
        memcmp(back, there, (size_t)sizes[i]) != 0)
        bench_die("upload", "the device does not have the file's bytes");
    free(back);
}

static uint64_t run(unsigned long times)
{
    const wb_load_options options = {.size = sizeof options,
                                     .executor = &crew_executor,
                                     .lanes = (uint32_t)crew_count(),
                                     .device = &device,
                                     .target = target};
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        if (wb_load(model, &options, NULL, &error) != WB_OK)
            bench_die("load", error.message);
    }
    uint64_t took = bench_now() - begin;
    check(checked++ % tensors);
    return took;
}

/* ---- the floor ---- */

static void *chunks[CHUNKS], *events[CHUNKS];

static void start_pinned(char **arguments)
{
    open_all(arguments);
    for (int i = 0; i < CHUNKS; i++) {
        chunks[i] = device.stage == NULL ? malloc(CHUNK) : device.stage(device.ctx, CHUNK);
        if (chunks[i] == NULL)
            bench_die(arguments[0], "no memory to copy from");
        memset(chunks[i], i, CHUNK);
    }
    printf("name copies alone\nwork %" PRIu64 " bytes\n", bytes);
}

static void await(size_t i)
{
    if (events[i] != NULL && device.wait(device.ctx, events[i]) != WB_OK)
        bench_die("wait", "it failed");
    events[i] = NULL;
}

static void copy(void *buffer, uint64_t at, size_t n, size_t turn)
{
    unsigned char *mapped = device.map == NULL ? NULL : device.map(device.ctx, buffer);
    await(turn);
    if (mapped != NULL)
        memcpy(mapped + at, chunks[turn], n);
    else if (device.upload(device.ctx, buffer, at, chunks[turn], n, &events[turn]) != WB_OK)
        bench_die("copy", "it failed");
}

static uint64_t run_pinned(unsigned long times)
{
    uint64_t begin = bench_now();
    size_t turn = 0;
    for (unsigned long k = 0; k < times; k++) {
        for (uint64_t i = 0; i < tensors; i++) {
            for (uint64_t at = 0; at < sizes[i]; at += CHUNK) {
                uint64_t left = sizes[i] - at;
                copy(buffers[i], at, left < CHUNK ? (size_t)left : CHUNK, turn);
                turn = (turn + 1) % CHUNKS;
            }
        }
        for (size_t i = 0; i < CHUNKS; i++)
            await(i);
    }
    return bench_now() - begin;
}

const bench_operation bench_upload = {"upload", "opencl|cuda MODEL", start, run};
const bench_operation bench_pinned = {"pinned", "opencl|cuda MODEL", start_pinned, run_pinned};
