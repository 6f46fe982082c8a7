/*
 * prefetch: loads all tensors of a model from the disk into host buffers, with the weight
 * provider. Its arguments are the wb_io mode, whether the values stay unchanged or are converted to
 * F16, and the minimum number of threads.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../worker.h"
#include "cold.h"
#include "crew.h"

static const char *path;
static uint64_t bytes; /* total size of the files */
static wb_error error;
static wb_device host;
static wb_policy policy = {.size = sizeof policy};
static const char *names; /* names of all tensors */
static const uint64_t *offsets;

static void load_all(const wb_model *model, wb_provider **provider)
{
    static const char *list[65536];
    uint64_t n = wb_tensor_count(model);
    if (n > sizeof list / sizeof *list ||
        wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, &error) != WB_OK)
        bench_die(path, "too many tensors");
    for (uint64_t i = 0; i < n; i++)
        list[i] = names + offsets[i];
    if (wb_provider_create(model, &host, &policy, provider, &error) != WB_OK ||
        wb_provider_prefetch(*provider, list, NULL, (size_t)n, &error) != WB_OK)
        bench_die(path, error.message);
}

static uint64_t sum_of(wb_provider *provider, const wb_model *model)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_buffer buffer = {.size = sizeof buffer};
        if (wb_provider_get(provider, names + offsets[i], SIZE_MAX, &buffer, &error) != WB_OK)
            bench_die(path, error.message);
        const unsigned char *at = buffer.contents;
        for (uint64_t k = 0; k + 8 <= buffer.bytes; k += 8) {
            uint64_t word;
            memcpy(&word, at + k, sizeof word);
            sum = sum * 31 + word;
        }
    }
    return sum;
}

/* Loads all tensors, after their files were evicted from the page cache. Returns the sum of their
 * bytes if adds_up is set. */
static uint64_t load_cold(uint64_t *took, uint64_t *cpu, bool adds_up)
{
    wb_model *model;
    wb_provider *provider;
    bench_prepare(path, 100);
    /* memory for the buffers, the page cache, and 64 MiB of staging memory */
    bench_prime(2 * (size_t)bytes + ((size_t)64 << 20));
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        bench_die(path, error.message);
    uint64_t begin = bench_now(), busy = bench_cpu_now();
    load_all(model, &provider);
    *took += bench_now() - begin;
    *cpu += bench_cpu_now() - busy;
    uint64_t sum = adds_up ? sum_of(provider, model) : 0;
    wb_provider_destroy(provider);
    wb_close(model);
    return sum;
}

static void start(char **arguments)
{
    static const wb_host_options options = {.size = sizeof options, .flags = WB_HOST_COPY};
    uint64_t unused = 0;
    policy.io = strcmp(arguments[0], "read") == 0     ? WB_IO_READ
                : strcmp(arguments[0], "direct") == 0 ? WB_IO_DIRECT
                                                      : WB_IO_AUTO;
    policy.plain = strcmp(arguments[1], "f16") == 0 ? WB_PLAIN_F16 : WB_PLAIN_KEEP;
    policy.executor = strcmp(arguments[2], "1") == 0 ? NULL : &crew_of_four;
    path = arguments[3];
    bytes = bench_prepare(path, 100);
    if (wb_device_host(&options, &host, &error) != WB_OK)
        bench_die("host", error.message);
    uint64_t sum = load_cold(&unused, &unused, true);
    printf("name weighbridge %s, %s\nwork %" PRIu64 " bytes, sum %016" PRIx64 "\n", wb_version(),
           arguments[0], bytes, sum);
}

static uint64_t run(unsigned long times)
{
    uint64_t took = 0;
    for (unsigned long i = 0; i < times; i++)
        (void)load_cold(&took, &bench_cpu, false);
    return took;
}

const bench_operation bench_prefetch = {"prefetch", "auto|read|direct keep|f16 1|4 MODEL", start,
                                        run};
