/*
 * tokens: gets the tokens of a model directory for the first time, which reads tokenizer.json.
 * Opening and closing the model are not measured. The floor is the operation "read", which reads
 * the file into memory that was touched before.
 */
#define _POSIX_C_SOURCE 200809L
#include "../worker.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weighbridge.h"

static const char *folder;

static uint64_t ask_once(uint64_t *tokens)
{
    wb_model *model;
    wb_error error;
    wb_meta_array array = {.size = sizeof array};
    if (wb_open(folder, NULL, &model, &error) != WB_OK)
        bench_die(folder, error.message);
    uint64_t begin = bench_now();
    wb_status status =
        wb_meta_get_array(model, "tokenizer.ggml.tokens", SIZE_MAX, WB_META_STRING, &array, &error);
    uint64_t end = bench_now();
    if (status != WB_OK)
        bench_die(folder, error.message);
    *tokens = array.count;
    wb_close(model);
    return end - begin;
}

static void start_asking(char **arguments)
{
    uint64_t tokens;
    folder = arguments[0];
    (void)ask_once(&tokens);
    printf("name weighbridge %s\nwork %" PRIu64 " tokens\n", wb_version(), tokens);
}

static uint64_t ask(unsigned long times)
{
    uint64_t sum = 0, tokens;
    for (unsigned long i = 0; i < times; i++)
        sum += ask_once(&tokens);
    return sum;
}

/* ---- the floor ---- */

static int fd;
static size_t bytes;
static char *memory;

static void read_once(void)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pread(fd, memory + done, bytes - done, (off_t)done);
        if (n <= 0)
            bench_die("reading", "failed");
        done += (size_t)n;
    }
}

static void start_reading(char **arguments)
{
    struct stat st;
    fd = open(arguments[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        bench_die(arguments[0], "cannot open it");
    bytes = (size_t)st.st_size;
    memory = malloc(bytes);
    if (memory == NULL)
        bench_die(arguments[0], "no memory");
    read_once();
    printf("name reading\nwork %zu bytes\n", bytes);
}

static uint64_t read_file(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++)
        read_once();
    return bench_now() - begin;
}

const bench_operation bench_tokens = {"tokens", "FOLDER", start_asking, ask};
const bench_operation bench_reading = {"read", "FILE", start_reading, read_file};
