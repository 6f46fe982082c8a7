/*
 * get: gets a cached buffer from the weight provider, by one name or fused from several names, and
 * releases it. Every run uses the next layer. Its time is compared with that of the floor "look",
 * which does the least that a lookup by name must do: it compares the same number of names and
 * copies a wb_buffer.
 */
#define _POSIX_C_SOURCE 200809L
#include "../worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weighbridge.h"

enum { LAYERS = 32, MOST = 4 };

static const char *const leaves[MOST] = {"attention_norm", "ffn_norm", "attention_norm",
                                         "ffn_norm"};
static char names[LAYERS][MOST][64];
static const char *lists[LAYERS][MOST];
static size_t lens[LAYERS][MOST];
static size_t joined;
static wb_provider *provider;

static void make_names(char **arguments)
{
    joined = arguments[1] == NULL ? 1 : strtoul(arguments[1], NULL, 10);
    if (joined < 1 || joined > MOST)
        bench_die("names", "1 to 4 are joined");
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int i = 0; i < MOST; i++) {
            (void)snprintf(names[layer][i], sizeof names[layer][i], "layers.%d.%s.weight",
                           (layer + i / 2) % LAYERS, leaves[i]);
            lists[layer][i] = names[layer][i];
            lens[layer][i] = strlen(names[layer][i]);
        }
    }
}

static wb_status get(int layer, wb_buffer *buffer, wb_error *error)
{
    return joined == 1
               ? wb_provider_get(provider, lists[layer][0], lens[layer][0], buffer, error)
               : wb_provider_fuse(provider, lists[layer], lens[layer], joined, 0, buffer, error);
}

static void start_get(char **arguments)
{
    wb_model *model;
    wb_error error;
    wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP};
    make_names(arguments);
    if (wb_open(arguments[0], NULL, &model, &error) != WB_OK ||
        wb_provider_create(model, NULL, &policy, &provider, &error) != WB_OK)
        bench_die(arguments[0], error.message);
    for (int layer = 0; layer < LAYERS; layer++) {
        wb_buffer buffer = {.size = sizeof buffer};
        if (get(layer, &buffer, &error) != WB_OK)
            bench_die(lists[layer][0], error.message);
        wb_provider_release(provider, &buffer);
    }
    printf("name weighbridge %s\nwork %d buffers\n", wb_version(), LAYERS);
}

static uint64_t run_get(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        wb_buffer buffer = {.size = sizeof buffer};
        if (get((int)(i % LAYERS), &buffer, NULL) != WB_OK)
            bench_die("get", "it failed");
        wb_provider_release(provider, &buffer);
    }
    return bench_now() - begin;
}

/* ---- the floor ---- */

static wb_buffer buffers[LAYERS];
static char same[LAYERS][MOST][64];

/* Volatile function pointers keep the compiler from removing the calls. */
static int (*volatile compare)(const void *, const void *, size_t) = memcmp;
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

static void start_look(char **arguments)
{
    make_names(arguments);
    memcpy(same, names, sizeof same);
    printf("name memcmp and memcpy\nwork %d buffers\n", LAYERS);
}

static uint64_t run_look(unsigned long times)
{
    wb_buffer buffer;
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        int layer = (int)(i % LAYERS);
        for (size_t k = 0; k < joined; k++) {
            if (compare(names[layer][k], same[layer][k], lens[layer][k]) != 0)
                bench_die("look", "it failed");
        }
        (void)copy(&buffer, &buffers[layer], sizeof buffer);
    }
    return bench_now() - begin;
}

const bench_operation bench_get = {"get", "FILE [NAMES]", start_get, run_get};
const bench_operation bench_look = {"look", "FILE [NAMES]", start_look, run_look};
