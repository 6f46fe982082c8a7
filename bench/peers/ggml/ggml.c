/*
 * ggml open|decode|encode|convert|peak TIMES ARGUMENTS…: a benchmark worker (see bench/bench.h)
 * for the exported functions of libggml-base. Decoding and encoding use rows of 4096 values and
 * report a checksum of the result. Converting takes the tensors of a BF16 model directory one by
 * one, as llama-quantize does: it reads a whole tensor, converts it to F32 and encodes it with one
 * thread per processor, and writes it. FOLDER.QUANT.plan lists the type of each tensor. peak
 * measures the memory of a process that converts.
 */
#define _GNU_SOURCE /* wait4 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COLUMNS 4096
#define TYPES 43

/* The types and functions of libggml-base that are used here. */
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
void ggml_bf16_to_fp32_row(const void *from, float *to, int64_t n);
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

/* CRC-32 as in zlib. */
static uint32_t crc32_add(uint32_t crc, const void *bytes, size_t n)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
    }
    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ table[(crc ^ ((const uint8_t *)bytes)[i]) & 255];
    return ~crc;
}

static uint32_t crc32_of(const void *bytes, size_t n)
{
    return crc32_add(0, bytes, n);
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

/* ---- converting ---- */

#define THREADS_MAX 64

static char plan_path[4096], in_path[4096], out_path[4096];
static uint32_t crc;
static uint64_t value_count;
static bool tells_checksum;

struct share {
    int type;
    const uint16_t *from;
    float *values;
    uint8_t *to;
    int64_t rows, columns;
    size_t row_bytes;
};

static void *do_share(void *arg)
{
    struct share *s = arg;
    ggml_bf16_to_fp32_row(s->from, s->values, s->rows * s->columns);
    if (s->type != 0)
        ggml_quantize_chunk(s->type, s->values, s->to, 0, s->rows, s->columns, NULL);
    return NULL;
}

/* Splits the rows among one thread per processor. */
static void do_tensor(struct share whole)
{
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t ids[THREADS_MAX];
    struct share shares[THREADS_MAX];
    threads = threads > THREADS_MAX ? THREADS_MAX : threads < 1 ? 1 : threads;
    for (long i = 0; i < threads; i++) {
        int64_t begin = whole.rows * i / threads, end = whole.rows * (i + 1) / threads;
        shares[i] = whole;
        shares[i].rows = end - begin;
        shares[i].from += begin * whole.columns;
        shares[i].values += begin * whole.columns;
        shares[i].to += (size_t)begin * whole.row_bytes;
        if (pthread_create(&ids[i], NULL, do_share, &shares[i]) != 0)
            die("threads", "cannot be started");
    }
    for (long i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static void convert_tensor(FILE *in, FILE *out, long offset, int64_t tensor_rows, int64_t columns)
{
    const struct type_traits *traits = ggml_get_type_traits(type);
    size_t n = (size_t)(tensor_rows * columns);
    struct share whole = {.type = type, .rows = tensor_rows, .columns = columns};
    whole.row_bytes = (size_t)(columns / traits->block) * traits->bytes;
    size_t out_bytes = whole.row_bytes * (size_t)tensor_rows;
    uint16_t *raw = malloc(n * sizeof *raw);
    whole.values = malloc(n * sizeof(float));
    whole.to = malloc(out_bytes);
    whole.from = raw;
    if (raw == NULL || whole.values == NULL || whole.to == NULL)
        die("memory", "none left");
    if (fseek(in, offset, SEEK_SET) != 0 || fread(raw, sizeof *raw, n, in) != n)
        die(in_path, "cannot read it");
    do_tensor(whole);
    const void *bytes = type == 0 ? (const void *)whole.values : whole.to;
    if (fwrite(bytes, 1, out_bytes, out) != out_bytes)
        die(out_path, "cannot write it");
    if (tells_checksum)
        crc = crc32_add(crc, bytes, out_bytes);
    value_count += n;
    free(raw);
    free(whole.values);
    free(whole.to);
}

static void convert_all(void)
{
    char name[32];
    long offset;
    long long tensor_rows, columns;
    FILE *plan = fopen(plan_path, "r"), *in = fopen(in_path, "rb"), *out = fopen(out_path, "wb");
    if (plan == NULL || in == NULL || out == NULL)
        die(plan_path, "cannot be opened, or the model or the result cannot");
    crc = 0;
    value_count = 0;
    while (fscanf(plan, "%ld %lld %lld %31s", &offset, &tensor_rows, &columns, name) == 4) {
        for (type = 0; type < TYPES; type++) {
            const struct type_traits *traits = ggml_get_type_traits(type);
            if (traits->name != NULL && strcasecmp(traits->name, name) == 0)
                break;
        }
        if (type == TYPES)
            die(name, "no such type");
        convert_tensor(in, out, offset, tensor_rows, columns);
    }
    if (fclose(out) != 0)
        die(out_path, "cannot write it");
    fclose(in);
    fclose(plan);
}

static void take_paths(char **arguments)
{
    snprintf(plan_path, sizeof plan_path, "%s.%s.plan", arguments[1], arguments[0]);
    snprintf(in_path, sizeof in_path, "%s/model.safetensors", arguments[1]);
    snprintf(out_path, sizeof out_path, "%s.%s.ggml", arguments[1], arguments[0]);
}

static void start_convert(char **arguments)
{
    take_paths(arguments);
    tells_checksum = true;
    convert_all();
    tells_checksum = false;
    printf("work %" PRIu64 " values, checksum %08" PRIx32 "\n", value_count, crc);
}

/* Each sample begins with an unmeasured run (bench/bench.h), so every second call is measured. The
 * others are skipped: a conversion takes so long that startup costs do not matter. */
static uint64_t convert(unsigned long times)
{
    static unsigned long calls;
    uint64_t begin = now();
    if (calls++ % 2 == 0)
        return 1;
    for (unsigned long i = 0; i < times; i++)
        convert_all();
    return now() - begin;
}

static void start_peak(char **arguments)
{
    take_paths(arguments);
    puts("work 1 conversion");
}

/* Returns MiB. */
static uint64_t peak(unsigned long times)
{
    static unsigned long calls;
    struct rusage usage;
    int ended;
    (void)times;
    if (calls++ % 2 == 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        convert_all();
        _exit(0);
    }
    if (child < 0 || wait4(child, &ended, 0, &usage) != child || ended != 0)
        die("peak", "the process failed");
    return ((uint64_t)usage.ru_maxrss + 1023) / 1024;
}

static const struct operation {
    const char *name;
    int arguments;
    void (*start)(char **arguments);
    uint64_t (*run)(unsigned long times);
} operations[] = {
    {"open", 1, start_open, open_gguf},  {"decode", 2, start_decode, decode},
    {"encode", 2, start_encode, encode}, {"convert", 2, start_convert, convert},
    {"peak", 2, start_peak, peak},
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
        fputs("usage: ggml open TIMES FILE | decode|encode TIMES TYPE FILE [other-bytes] | "
              "convert|peak 1 QUANT FOLDER\n",
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
