/*
 * reshard: splits a safetensors file into four files and an index and syncs them. It is compared
 * with the operation "ranges" (the limit of the machine), which copies as many bytes of the same
 * file with copy_file_range into four files and syncs them.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../worker.h"
#include "crew.h"
#include "weighbridge.h"

enum { PARTS = 4 };

static wb_error error;
static const char *path;
static wb_model *model;
static uint64_t bytes;

static void begin(char **arguments)
{
    wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    path = arguments[0];
    if (wb_open(path, &options, &model, &error) != WB_OK)
        bench_die(path, error.message);
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        if (wb_tensor_at(model, i, &tensor, &error) != WB_OK)
            bench_die(path, error.message);
        bytes += tensor.bytes;
    }
}

/* ---- ours ---- */

static void start(char **arguments)
{
    begin(arguments);
    printf("name weighbridge %s\nwork %" PRIu64 " bytes\n", wb_version(), bytes);
}

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != WB_OK)                                                                       \
            bench_die("reshard", error.message);                                                   \
    } while (0)

static wb_writer *writer;
/* index of the first tensor of each file, in writer order; last element: number of tensors */
static uint64_t first[PARTS + 1];

static void copy_file(void *arg, size_t file)
{
    (void)arg;
    for (uint64_t i = first[file]; i < first[file + 1]; i++) {
        uint64_t index;
        wb_error own;
        if (wb_writer_order(writer, i, &index, &own) != WB_OK ||
            wb_writer_copy(writer, index, model, index, &own) != WB_OK)
            bench_die("reshard", own.message);
    }
}

/* Writes the files in parallel, as the command does. */
static void reshard(void)
{
    const wb_writer_options options = {.size = sizeof options,
                                       .format = "safetensors",
                                       .max_file_bytes = (bytes + PARTS - 1) / PARTS,
                                       .source = model};
    MUST(wb_writer_create(&options, &writer, &error));
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        MUST(wb_tensor_at(model, i, &tensor, &error));
        MUST(wb_writer_add(writer, tensor.name, tensor.name_len, (int32_t)tensor.dtype,
                           tensor.shape, tensor.rank, NULL, &error));
    }
    MUST(wb_writer_plan(writer, "reshard.out.safetensors", &error));
    MUST(wb_writer_begin(writer, &error));
    if (wb_writer_file_count(writer) != PARTS)
        bench_die("reshard", "makes another number of files");
    for (uint64_t i = 0; i < PARTS; i++) {
        wb_file file = {.size = sizeof file};
        MUST(wb_writer_file_at(writer, i, &file, &error));
        first[i + 1] = first[i] + file.tensors;
    }
    crew_executor.parallel_for(crew_executor.ctx, PARTS, copy_file, NULL);
    MUST(wb_writer_commit(writer, &error));
    wb_writer_free(writer);
}

static void sync_folder(void)
{
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fsync(folder) != 0)
        bench_die(".", "cannot be made durable");
    (void)close(folder);
}

static void clean(const char *form)
{
    char name[64];
    for (unsigned i = 1; i <= PARTS; i++) {
        (void)snprintf(name, sizeof name, form, i, (unsigned)PARTS);
        if (unlink(name) != 0)
            bench_die(name, "was not made");
    }
    sync_folder();
}

static uint64_t run(unsigned long times)
{
    uint64_t took = 0;
    for (unsigned long i = 0; i < times; i++) {
        uint64_t begun = bench_now();
        reshard();
        took += bench_now() - begun;
        if (unlink("reshard.out.safetensors.index.json") != 0)
            bench_die("the index", "was not made");
        clean("reshard.out-%05u-of-%05u.safetensors");
    }
    return took;
}

/* ---- the floor ---- */

static void start_floor(char **arguments)
{
    begin(arguments);
    printf("name copy_file_range\nwork %" PRIu64 " bytes\n", bytes);
}

static void copy_part(int from, unsigned part)
{
    char name[64];
    off_t at = (off_t)(bytes / PARTS * (part - 1));
    (void)snprintf(name, sizeof name, "reshard.floor-%05u-of-%05u", part, (unsigned)PARTS);
    int to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (to < 0)
        bench_die(name, "cannot be made");
    for (uint64_t left = bytes / PARTS; left > 0;) {
        ssize_t n = copy_file_range(from, &at, to, NULL, (size_t)left, 0);
        if (n <= 0)
            bench_die(name, "cannot be copied to");
        left -= (uint64_t)n;
    }
    if (fsync(to) != 0 || close(to) != 0)
        bench_die(name, "cannot be made durable");
}

static uint64_t run_floor(unsigned long times)
{
    uint64_t took = 0;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        bench_die(path, "cannot be opened");
    for (unsigned long i = 0; i < times; i++) {
        uint64_t begun = bench_now();
        for (unsigned part = 1; part <= PARTS; part++)
            copy_part(from, part);
        sync_folder();
        took += bench_now() - begun;
        clean("reshard.floor-%05u-of-%05u");
    }
    (void)close(from);
    return took;
}

const bench_operation bench_reshard = {"reshard", "FILE", start, run};
const bench_operation bench_ranges = {"ranges", "FILE", start_floor, run_floor};
