/*
 * ggml open|decode|encode TIMES ARGUMENTS…: a worker of the benchmarks, as bench/bench.h describes
 * them, around the exported functions of libggml-base. Decoding and encoding are in rows of 4096
 * values; they tell the checksum of what came out.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define COLUMNS 4096
#define TYPES 43

/* What the library exports, as far as it is used here. */
typedef void (*to_float)(const void *blocks, float *values, int64_t n);
struct type_traits {
    const char *name;
    int64_t block, interleave;
    size_t bytes;
    bool is_quantized;
    to_float decode;
};
struct init_params {
    bool no_alloc;
    void **ctx;
};
const char *ggml_version(void);
const struct type_traits *ggml_get_type_traits(int type);
bool ggml_quantize_requires_imatrix(int type);
size_t ggml_quantize_chunk(int type, const float *values, void *blocks, int64_t start, int64_t rows,
                           int64_t columns, const float *importance);
void quantize_row_q8_1_ref(const float *values, void *blocks, int64_t n);
void quantize_row_q8_K_ref(const float *values, void *blocks, int64_t n);
void dequantize_row_q8_K(const void *blocks, float *values, int64_t n);
void *gguf_init_from_file(const char *path, struct init_params params);
int64_t gguf_get_n_tensors(const void *gguf);
void gguf_free(void *gguf);
void ggml_free(void *ctx);

enum { Q8_1 = 9, Q8_K = 15 };

static const char *path;
static int type;
static to_float decode_row;
static size_t row_bytes;
static int64_t rows;
static size_t from_bytes;
static void *from, *to;
static const float *importance;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "ggml: %s: %s\n", what, why);
    exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* As zlib has it. */
static uint32_t crc32_of(const void *bytes, size_t n)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < n; i++) {
        crc ^= ((const uint8_t *)bytes)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static void *room(size_t n)
{
    void *bytes = malloc(n);
    if (bytes == NULL)
        die("memory", "none left");
    return memset(bytes, 1, n);
}

static void read_input(void)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        die(path, "cannot read it");
    from_bytes = (size_t)ftell(file);
    from = room(from_bytes);
    rewind(file);
    if (fread(from, 1, from_bytes, file) != from_bytes)
        die(path, "cannot read it");
    fclose(file);
}

static void find_type(const char *name)
{
    for (type = 0; type < TYPES; type++) {
        const struct type_traits *traits = ggml_get_type_traits(type);
        if (traits->name == NULL || strcasecmp(traits->name, name) != 0)
            continue;
        decode_row = type == Q8_K ? dequantize_row_q8_K : traits->decode;
        row_bytes = COLUMNS / (size_t)traits->block * traits->bytes;
        return;
    }
    die(name, "no such type");
}

/* ---- the operations ---- */

static uint64_t open_gguf(unsigned long times)
{
    uint64_t sum = 0;
    for (unsigned long i = 0; i < times; i++) {
        void *ctx = NULL;
        uint64_t begin = now();
        void *gguf = gguf_init_from_file(path, (struct init_params){true, &ctx});
        sum += now() - begin;
        if (gguf == NULL)
            die(path, "cannot open it");
        rows = gguf_get_n_tensors(gguf);
        gguf_free(gguf);
        ggml_free(ctx);
    }
    return sum;
}

static uint64_t decode(unsigned long times)
{
    uint64_t begin = now();
    for (unsigned long i = 0; i < times; i++)
        decode_row(from, to, rows * COLUMNS);
    return now() - begin;
}

static uint64_t encode(unsigned long times)
{
    uint64_t begin = now();
    for (unsigned long i = 0; i < times; i++) {
        if (type == Q8_1)
            quantize_row_q8_1_ref(from, to, rows * COLUMNS);
        else if (type == Q8_K)
            quantize_row_q8_K_ref(from, to, rows * COLUMNS);
        else
            ggml_quantize_chunk(type, from, to, 0, rows, COLUMNS, importance);
    }
    return now() - begin;
}

static void start_open(char **arguments)
{
    path = arguments[0];
    open_gguf(1);
    printf("work %" PRId64 " tensors\n", rows);
}

static void start_decode(char **arguments)
{
    find_type(arguments[0]);
    if (decode_row == NULL)
        die(arguments[0], "cannot be decoded");
    path = arguments[1];
    read_input();
    rows = (int64_t)(from_bytes / row_bytes);
    size_t to_bytes = (size_t)rows * COLUMNS * sizeof(float);
    to = room(to_bytes);
    decode(1);
    printf("work %" PRId64 " values, checksum %08" PRIx32 "\n", rows * COLUMNS,
           crc32_of(to, to_bytes));
}

static void start_encode(char **arguments)
{
    find_type(arguments[0]);
    path = arguments[1];
    read_input();
    rows = (int64_t)(from_bytes / (COLUMNS * sizeof(float)));
    to = room((size_t)rows * row_bytes);
    static float ones[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        ones[i] = 1;
    importance = ggml_quantize_requires_imatrix(type) ? ones : NULL;
    encode(1);
    printf("work %" PRId64 " values", rows * COLUMNS);
    if (arguments[2] == NULL)
        printf(", checksum %08" PRIx32, crc32_of(to, (size_t)rows * row_bytes));
    putchar('\n');
}

static const struct operation {
    const char *name;
    int arguments;
    void (*start)(char **arguments);
    uint64_t (*run)(unsigned long times);
} operations[] = {
    {"open", 1, start_open, open_gguf},
    {"decode", 2, start_decode, decode},
    {"encode", 2, start_encode, encode},
};

int main(int argc, char **argv)
{
    char line[16];
    const struct operation *operation = NULL;
    unsigned long times = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (times > 0 && strcmp(operations[i].name, argv[1]) == 0 &&
            argc >= 3 + operations[i].arguments)
            operation = &operations[i];
    }
    if (operation == NULL) {
        fputs("usage: ggml open TIMES FILE | decode|encode TIMES TYPE FILE [other-bytes]\n",
              stderr);
        return 4;
    }
    printf("name ggml %s\n", ggml_version());
    operation->start(argv + 3);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        operation->run(1);
        printf("%.1f\n", (double)operation->run(times) / (double)times);
        fflush(stdout);
    }
    return 0;
}
