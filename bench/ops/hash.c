/*
 * hash: digests of all values of a model, on one thread per processor. Its two floors run
 * libcrypto's SHA-256 on as many threads. The floor sha256 hashes as many bytes as the values
 * occupy in F32; the floor sha256-files hashes as many bytes as the files contain. Each thread
 * hashes the same 64 KiB in its cache repeatedly.
 */
#define _GNU_SOURCE
#include "../worker.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"

enum { PIECE = 64 << 10 };

static wb_error error;
static wb_model *model;
static uint64_t value_bytes;

static void open_model(const char *path)
{
    wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    if (wb_open(path, &options, &model, &error) != WB_OK)
        bench_die(path, error.message);
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        if (wb_tensor_at(model, i, &tensor, &error) != WB_OK)
            bench_die(path, error.message);
        value_bytes += tensor.elements * sizeof(float);
    }
}

static uint64_t run(unsigned long times)
{
    wb_hash_options options = {
        .size = sizeof options, .flags = WB_HASH_VALUES, .executor = &crew_executor};
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++) {
        wb_hashes *hashes;
        if (wb_hash_model(model, &options, &hashes, &error) != WB_OK)
            bench_die("hash", error.message);
        wb_hashes_free(hashes);
    }
    return bench_now() - begin;
}

static void start(char **arguments)
{
    open_model(arguments[0]);
    (void)run(1);
    printf("name weighbridge %s\nwork %" PRIu64 " bytes of values\n", wb_version(), value_bytes);
}

/* ---- the floor ---- */

static struct {
    void *(*state_new)(void);
    void (*state_free)(void *state);
    const void *(*sha256)(void);
    int (*init)(void *state, const void *type, void *engine);
    int (*update)(void *state, const void *bytes, size_t n);
    int (*final)(void *state, unsigned char *digest, unsigned int *n);
} crypto;

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    if (found == NULL)
        bench_die("libcrypto", name);
    memcpy(function, &found, sizeof found);
}

static void start_floor(char **arguments)
{
    void *library = dlopen("libcrypto.so.3", RTLD_NOW);
    if (library == NULL)
        bench_die("libcrypto.so.3", "is not there");
    find(library, "EVP_MD_CTX_new", &crypto.state_new);
    find(library, "EVP_MD_CTX_free", &crypto.state_free);
    find(library, "EVP_sha256", &crypto.sha256);
    find(library, "EVP_DigestInit_ex", &crypto.init);
    find(library, "EVP_DigestUpdate", &crypto.update);
    find(library, "EVP_DigestFinal_ex", &crypto.final);
    open_model(arguments[0]);
    printf("name libcrypto\nwork %" PRIu64 " bytes of values\n", value_bytes);
}

static void start_files(char **arguments)
{
    wb_file file = {.size = sizeof file};
    start_floor(arguments);
    value_bytes = 0;
    for (uint64_t i = 0; i < wb_file_count(model); i++) {
        if (wb_file_at(model, i, &file, &error) != WB_OK)
            bench_die(arguments[0], error.message);
        value_bytes += file.bytes;
    }
}

static void hash_share(void *arg, size_t i)
{
    static const unsigned char piece[PIECE];
    unsigned char digest[64];
    unsigned int n;
    uint64_t share = value_bytes / *(const size_t *)arg;
    void *state = crypto.state_new();
    (void)i;
    crypto.init(state, crypto.sha256(), NULL);
    for (uint64_t at = 0; at < share; at += PIECE)
        crypto.update(state, piece, PIECE);
    crypto.final(state, digest, &n);
    crypto.state_free(state);
}

static uint64_t run_floor(unsigned long times)
{
    size_t threads = crew_count();
    uint64_t begin = bench_now(), cpu = bench_cpu_now();
    for (unsigned long i = 0; i < times; i++)
        crew_executor.parallel_for(crew_executor.ctx, threads, hash_share, &threads);
    bench_cpu += bench_cpu_now() - cpu;
    return bench_now() - begin;
}

const bench_operation bench_hash = {"hash", "MODEL", start, run};
const bench_operation bench_sha256_files = {"sha256-files", "MODEL", start_files, run_floor};
const bench_operation bench_sha256 = {"sha256", "MODEL", start_floor, run_floor};
