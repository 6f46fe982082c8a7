/*
 * edit: changes one key of an 8 GiB GGUF file on the file system of the bench directory, or adds
 * a chat template of 1 MiB. The operation `rewrite` measures the time that the file system needs at
 * least (the floor, bench/case.c): it inserts about as many bytes into the file, writes a header of
 * the same size and syncs it. It knows the header in advance and uses no journal.
 *
 * The tensor data of the file is allocated, but was never written. Neither operation reads or
 * writes it; an edit that moves tensor data ends the measurement.
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
#include "weighbridge.h"

#ifndef FALLOC_FL_INSERT_RANGE
#define FALLOC_FL_INSERT_RANGE 0x20
#endif
#ifndef FALLOC_FL_COLLAPSE_RANGE
#define FALLOC_FL_COLLAPSE_RANGE 0x08
#endif

#define LAYERS 128
#define ROWS 8192
#define COLUMNS 4096
#define TOKENS 32000
#define TEMPLATE ((size_t)1 << 20)
#define BLOCK 4096

static wb_error error;
static const char *path;
static int fd = -1;
static int with_template;
static unsigned char *header; /* original header */
static size_t header_bytes;
static uint64_t file_bytes;

/* ---- the file ---- */

static void put(FILE *file, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        (void)fputc((int)(value >> 8 * i & 0xFF), file);
}

static void put_text(FILE *file, const char *text)
{
    put(file, strlen(text), 8);
    (void)fputs(text, file);
}

static void put_string(FILE *file, const char *key, const char *value)
{
    put_text(file, key);
    put(file, 8, 4);
    put_text(file, value);
}

/* Writes a file with 128 tensors of 64 MiB each and 32,000 tokens. */
static void make_file(void)
{
    char text[64];
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        bench_die(path, "cannot be made");
    (void)fputs("GGUF", file);
    put(file, 3, 4);
    put(file, LAYERS, 8);
    put(file, 3, 8);
    put_string(file, "general.architecture", "llama");
    put_string(file, "general.name", "aaaaaaaa");
    put_text(file, "tokenizer.ggml.tokens");
    put(file, 9, 4);
    put(file, 8, 4);
    put(file, TOKENS, 8);
    for (unsigned i = 0; i < TOKENS; i++) {
        (void)snprintf(text, sizeof text, "token-%u", i);
        put_text(file, text);
    }
    const uint64_t bytes = (uint64_t)ROWS * COLUMNS * 2;
    for (unsigned i = 0; i < LAYERS; i++) {
        (void)snprintf(text, sizeof text, "blk.%u.ffn_up.weight", i);
        put_text(file, text);
        put(file, 2, 4);
        put(file, COLUMNS, 8);
        put(file, ROWS, 8);
        put(file, 1, 4);
        put(file, i * bytes, 8);
    }
    while (ftell(file) % 32 != 0)
        put(file, 0, 1);
    off_t end = (off_t)ftell(file) + (off_t)(LAYERS * bytes);
    if (fflush(file) != 0 || posix_fallocate(fileno(file), 0, end) != 0 ||
        fsync(fileno(file)) != 0 || fclose(file) != 0)
        bench_die(path, "has no room for 8 GiB");
}

static void begin(char **arguments)
{
    struct stat st;
    wb_model *model;
    wb_file file = {.size = sizeof file};
    with_template = strcmp(arguments[0], "template") == 0;
    path = arguments[1];
    if (stat(path, &st) != 0)
        make_file();
    if (wb_open(path, NULL, &model, &error) != WB_OK ||
        wb_file_at(model, 0, &file, &error) != WB_OK)
        bench_die(path, error.message);
    header_bytes = (size_t)file.data_offset;
    file_bytes = file.bytes;
    wb_close(model);
    fd = open(path, O_RDWR | O_CLOEXEC);
    header = malloc(header_bytes);
    if (fd < 0 || header == NULL || pread(fd, header, header_bytes, 0) != (ssize_t)header_bytes)
        bench_die(path, "cannot be read");
}

/* Removes the inserted bytes and writes the original header. */
static void restore(uint64_t inserted)
{
    if ((inserted != 0 && fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, (off_t)inserted) != 0) ||
        pwrite(fd, header, header_bytes, 0) != (ssize_t)header_bytes || fsync(fd) != 0)
        bench_die(path, "cannot be put back");
}

static uint64_t blocks_of(void)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        bench_die(path, "cannot be looked at");
    return (uint64_t)st.st_blocks * 512;
}

/* ---- ours ---- */

static void start(char **arguments)
{
    begin(arguments);
    printf("name weighbridge %s\nwork an edit of %" PRIu64 " bytes\n", wb_version(), file_bytes);
}

static uint64_t run(unsigned long times)
{
    static char text[TEMPLATE];
    static unsigned turn;
    uint64_t took = 0;
    memset(text, 'x', sizeof text);
    for (unsigned long i = 0; i < times; i++) {
        const char *name = turn++ % 2 == 0 ? "bbbbbbbb" : "cccccccc";
        const wb_value value = {.size = sizeof value,
                                .type = WB_META_STRING,
                                .text = with_template ? text : name,
                                .text_len = with_template ? TEMPLATE : 8};
        const char *key = with_template ? "tokenizer.chat_template" : "general.name";
        const wb_edit edit = {.size = sizeof edit,
                              .kind = WB_EDIT_SET,
                              .name = key,
                              .name_len = strlen(key),
                              .value = &value};
        wb_edited edited = {.size = sizeof edited};
        uint64_t before = blocks_of();
        uint64_t begun = bench_now();
        if (wb_edit_file(path, &edit, 1, NULL, &edited, &error) != WB_OK)
            bench_die("edit", error.message);
        took += bench_now() - begun;
        if (edited.way != (with_template ? WB_EDIT_INSERT : WB_EDIT_HEADER) ||
            blocks_of() > before + 2 * TEMPLATE)
            bench_die("edit", "the data was copied");
        restore(edited.inserted);
    }
    return took;
}

/* ---- the floor ---- */

static void start_floor(char **arguments)
{
    begin(arguments);
    printf("name pwrite and fsync\nwork an edit of %" PRIu64 " bytes\n", file_bytes);
}

static uint64_t run_floor(unsigned long times)
{
    uint64_t took = 0, more = with_template ? TEMPLATE + BLOCK : 0;
    unsigned char *bytes = calloc(1, header_bytes + (size_t)more);
    if (bytes == NULL)
        bench_die("edit", "out of memory");
    memcpy(bytes, header, header_bytes);
    for (unsigned long i = 0; i < times; i++) {
        ssize_t n = (ssize_t)(header_bytes + (size_t)more);
        uint64_t begun = bench_now();
        if ((more != 0 && fallocate(fd, FALLOC_FL_INSERT_RANGE, 0, (off_t)more) != 0) ||
            pwrite(fd, bytes, (size_t)n, 0) != n || fsync(fd) != 0)
            bench_die(path, "cannot be edited");
        took += bench_now() - begun;
        restore(more);
    }
    free(bytes);
    return took;
}

const bench_operation bench_edit = {"edit", "key|template FILE", start, run};
const bench_operation bench_rewrite = {"rewrite", "key|template FILE", start_floor, run_floor};
