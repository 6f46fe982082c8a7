/*
 * share: gets a tensor of the given size in MiB for the first time from the provider of an OpenCL
 * device that shares host memory, such as PoCL. Reads the tensor's last bytes back through the
 * device and compares them, which shows that the device uses the mapped file. All bytes before the
 * last bytes are a hole in the file. The benchmark compares this operation with the operation
 * "lend" as its floor: lend creates a buffer on existing memory, reads the same bytes from it and
 * releases it.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../worker.h"
#include "weighbridge.h"

enum { HEADER = 128, MARK = 64 };

static wb_device device;
static wb_model *model;
static uint64_t bytes;
static unsigned char mark[MARK];
static wb_error error;

/* Writes one U8 tensor whose last bytes are known. */
static void make_file(const char *path)
{
    unsigned char header[8 + HEADER];
    memset(header, 0, 8);
    memset(header + 8, ' ', HEADER);
    header[0] = HEADER;
    char text[HEADER];
    int n = snprintf(text, sizeof text,
                     "{\"t\":{\"dtype\":\"U8\",\"shape\":[%" PRIu64 "],\"data_offsets\":[0,%" PRIu64
                     "]}}",
                     bytes, bytes);
    memcpy(header + 8, text, (size_t)n);
    for (size_t i = 0; i < MARK; i++)
        mark[i] = (unsigned char)(i * 29 + 7);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, header, sizeof header) != (ssize_t)sizeof header ||
        pwrite(fd, mark, MARK, (off_t)(sizeof header + bytes - MARK)) != MARK || close(fd) != 0)
        bench_die(path, "cannot be written");
}

static void start(char **arguments)
{
    char path[64];
    bytes = (uint64_t)strtoul(arguments[0], NULL, 10) << 20;
    (void)snprintf(path, sizeof path, "share.%ld.safetensors", (long)getpid());
    if (bytes == 0)
        bench_die("share", "how many MiB?");
    make_file(path);
    if (wb_open(path, NULL, &model, &error) != WB_OK ||
        wb_device_opencl(NULL, &device, &error) != WB_OK)
        bench_die(path, error.message);
    (void)unlink(path);
    if (device.borrow == NULL)
        bench_die("OpenCL", "the device does not share memory");
    printf("name weighbridge %s\nwork %" PRIu64 " bytes\n", wb_version(), bytes);
}

static uint64_t run(unsigned long times)
{
    const wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP};
    uint64_t took = 0;
    for (unsigned long i = 0; i < times; i++) {
        wb_provider *provider;
        wb_buffer buffer = {.size = sizeof buffer};
        unsigned char there[MARK];
        if (wb_provider_create(model, &device, &policy, &provider, &error) != WB_OK)
            bench_die("provider", error.message);
        uint64_t begin = bench_now();
        if (wb_provider_get(provider, "t", 1, &buffer, &error) != WB_OK)
            bench_die("get", error.message);
        wb_status status = device.download(device.ctx, buffer.handle, bytes - MARK, there, MARK);
        took += bench_now() - begin;
        if (buffer.borrowed != 1 || status != WB_OK || memcmp(there, mark, MARK) != 0)
            bench_die("get", "the device does not have the file's bytes");
        wb_provider_destroy(provider);
    }
    return took;
}

static uint64_t run_lend(unsigned long times)
{
    const void *memory;
    uint64_t took = 0;
    if (wb_tensor_data(model, 0, &memory, &error) != WB_OK)
        bench_die("data", error.message);
    for (unsigned long i = 0; i < times; i++) {
        void *handle;
        uint64_t begin = bench_now();
        unsigned char there[MARK];
        if (device.borrow(device.ctx, memory, bytes, &handle) != WB_OK ||
            device.download(device.ctx, handle, bytes - MARK, there, MARK) != WB_OK)
            bench_die("lend", "the device does not take it");
        device.unborrow(device.ctx, handle);
        took += bench_now() - begin;
    }
    return took;
}

const bench_operation bench_share = {"share", "MIB", start, run};
const bench_operation bench_lend = {"lend", "MIB", start, run_lend};
