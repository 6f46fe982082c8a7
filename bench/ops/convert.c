/*
 * Conversion of a BF16 model directory to a GGUF file.
 *
 *   convert        converts on all processors, from the page cache to the disk. The work line
 *                  contains a checksum of all tensors of the output.
 *   convert_cold   the same, but reads from the disk
 *   stages         the floor of convert: the time of the slowest of three stages, each run alone on
 *                  all processors: reading the input, encoding values that are in the processor
 *                  cache, writing the output
 *   peak           the peak memory of a process that converts, in MiB. Its floor, with the argument
 *                  "open", is the peak memory of a process that only opens the model.
 *   plan           writes the encoding of each tensor to a file, for peers that must use the same
 *                  encodings
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../worker.h"
#include "cold.h"
#include "crc.h"
#include "crew.h"
#include "file.h"

enum { PIECE = 1 << 20, PRIMED = 1280 << 20, COLUMNS = 2048, ROWS = 64, MOST = 1024 };

static wb_error error;
static const char *quant, *path;
static char result[4096];
static bool opens_only;
static unsigned cold; /* percentage of the model that is not in the page cache */

static wb_model *open_model(void)
{
    wb_model *model;
    const wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .executor = &crew_executor};
    if (wb_open(path, &options, &model, &error) != WB_OK)
        bench_die(path, error.message);
    return model;
}

static wb_conversion *plan_of(const wb_model *model)
{
    wb_conversion *conversion;
    const wb_convert_policy policy = {.size = sizeof policy,
                                      .quant = quant,
                                      .flags = WB_CONVERT_FORCE,
                                      .executor = &crew_executor};
    if (wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error) != WB_OK)
        bench_die(path, error.message);
    return conversion;
}

static void convert(void)
{
    wb_model *model = open_model();
    if (!opens_only) {
        wb_conversion *conversion = plan_of(model);
        if (wb_convert(conversion, result, NULL, &error) != WB_OK)
            bench_die(result, error.message);
        wb_conversion_free(conversion);
    }
    wb_close(model);
}

static void take_arguments(char **arguments)
{
    quant = arguments[0];
    path = arguments[1];
    (void)snprintf(result, sizeof result, "%s.%s.gguf", path, quant);
    opens_only = strcmp(quant, "open") == 0;
}

/* ---- the conversion ---- */

/* Returns the checksum of all tensors in file order. */
static uint32_t checksum(uint64_t *values)
{
    wb_model *model;
    uint32_t crc = 0;
    if (wb_open(result, NULL, &model, &error) != WB_OK)
        bench_die(result, error.message);
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        const void *data;
        if (wb_tensor_at(model, i, &tensor, &error) != WB_OK ||
            wb_tensor_data(model, i, &data, &error) != WB_OK)
            bench_die(result, error.message);
        *values += tensor.elements;
        crc = bench_crc(crc, data, (size_t)tensor.bytes);
    }
    wb_close(model);
    return crc;
}

static void start_convert(char **arguments)
{
    uint64_t values = 0;
    take_arguments(arguments);
    convert();
    uint32_t crc = checksum(&values);
    printf("name weighbridge %s\nwork %" PRIu64 " values, checksum %08" PRIx32 "\n", wb_version(),
           values, crc);
}

static void start_convert_cold(char **arguments)
{
    start_convert(arguments);
    cold = 100;
}

static uint64_t run_convert(unsigned long times)
{
    uint64_t sum = 0;
    for (unsigned long i = 0; i < times; i++) {
        (void)bench_prepare(path, cold);
        (void)unlink(result); /* deletion takes long; the floor does not measure it either */
        bench_prime(PRIMED);
        uint64_t begin = bench_now(), cpu = bench_cpu_now();
        convert();
        sum += bench_now() - begin;
        bench_cpu += bench_cpu_now() - cpu;
    }
    return sum;
}

/* ---- memory ---- */

static void start_peak(char **arguments)
{
    take_arguments(arguments);
    printf("name weighbridge %s\nwork 1 conversion\n", wb_version());
}

/* Returns the sum of the peak memory of all runs, in MiB. The caller divides it by the number of
 * runs, as it does with times. The case has the unit MiB, so the driver prints the mean as MiB. */
static uint64_t run_peak(unsigned long times)
{
    uint64_t most = 0;
    for (unsigned long i = 0; i < times; i++) {
        struct rusage usage;
        int ended;
        pid_t child = fork();
        if (child == 0) {
            convert();
            _exit(0);
        }
        if (child < 0 || wait4(child, &ended, 0, &usage) != child || ended != 0)
            bench_die("peak", "the process failed");
        most += ((uint64_t)usage.ru_maxrss + 1023) / 1024;
    }
    return most;
}

/* ---- the stages ---- */

static struct part {
    int32_t dtype;
    uint64_t values;
} parts[MOST];

static size_t part_count;
static uint64_t in_bytes, out_bytes;
static int in_file, out_file;
static atomic_size_t next;
static atomic_bool failed;
static float *normal;

static void measure_parts(void)
{
    wb_model *model = open_model();
    wb_conversion *conversion = plan_of(model);
    for (uint64_t i = 0; i < wb_conversion_count(conversion) && i < MOST; i++) {
        wb_converted row = {.size = sizeof row};
        uint64_t values = 1;
        if (wb_conversion_at(conversion, i, &row, &error) != WB_OK)
            bench_die(path, error.message);
        for (uint32_t k = 0; k < row.rank; k++)
            values *= row.shape[k];
        out_bytes += row.bytes;
        if (row.rank > 1)
            parts[part_count++] = (struct part){wb_dtype_find(row.to, SIZE_MAX), values};
    }
    wb_conversion_free(conversion);
    wb_file file = {.size = sizeof file};
    if (wb_file_at(model, 0, &file, &error) != WB_OK)
        bench_die(path, error.message);
    in_bytes = file.bytes;
    in_file = open(file.path, O_RDONLY | O_CLOEXEC);
    wb_close(model);
}

static void start_stages(char **arguments)
{
    take_arguments(arguments);
    measure_parts();
    (void)strcat(result, ".stages");
    normal = bench_room((size_t)ROWS * COLUMNS * sizeof *normal);
    if (in_file < 0 || pread(in_file, normal, (size_t)ROWS * COLUMNS * 2, PIECE) <= 0)
        bench_die(path, "cannot be read");
    /* The BF16 values fill the first half of `normal`. The last value is converted first, so that
     * no value is overwritten before it is read. */
    uint16_t *narrow = (uint16_t *)normal;
    for (size_t i = (size_t)ROWS * COLUMNS; i-- > 0;) {
        uint32_t bits = (uint32_t)narrow[i] << 16;
        memcpy(&normal[i], &bits, sizeof bits);
    }
    puts("name the slowest of reading, encoding, writing\nwork 1 conversion");
}

static void read_pieces(void *arg, size_t worker)
{
    size_t at;
    void *room = bench_room(PIECE);
    (void)arg;
    (void)worker;
    while ((at = atomic_fetch_add(&next, PIECE)) < in_bytes)
        if (pread(in_file, room, PIECE, (off_t)at) <= 0)
            atomic_store(&failed, true);
    free(room);
}

/* For each tensor of the plan, encodes the same number of values to the same type. The values are
 * not those of the tensor: the same ROWS rows are encoded again and again. */
static void encode_pieces(void *arg, size_t worker)
{
    static const uint64_t step = (uint64_t)ROWS * COLUMNS;
    size_t room_bytes = (size_t)step * sizeof(float);
    void *room = bench_room(room_bytes);
    (void)arg;
    (void)worker;
    for (;;) {
        uint64_t piece = atomic_fetch_add(&next, 1);
        size_t i = 0;
        for (; i < part_count && piece >= parts[i].values / step; i++)
            piece -= parts[i].values / step;
        if (i == part_count)
            break;
        if (wb_quantize(parts[i].dtype, normal, ROWS, COLUMNS, NULL, room, room_bytes, NULL,
                        NULL) != WB_OK)
            atomic_store(&failed, true);
    }
    free(room);
}

static void write_pieces(void *arg, size_t worker)
{
    size_t at;
    void *room = bench_room(PIECE);
    (void)arg;
    (void)worker;
    while ((at = atomic_fetch_add(&next, PIECE)) < out_bytes)
        if (pwrite(out_file, room, PIECE, (off_t)at) != PIECE)
            atomic_store(&failed, true);
    free(room);
}

typedef struct cost {
    uint64_t wall, cpu;
} cost;

static cost stage(void (*body)(void *arg, size_t worker))
{
    uint64_t begin = bench_now(), cpu = bench_cpu_now();
    atomic_store(&next, 0);
    crew_executor.parallel_for(crew_executor.ctx, crew_count(), body, NULL);
    if (body == write_pieces && (fsync(out_file) != 0 || close(out_file) != 0))
        atomic_store(&failed, true);
    return (cost){bench_now() - begin, bench_cpu_now() - cpu};
}

static cost slower(cost a, cost b)
{
    return a.wall > b.wall ? a : b;
}

static uint64_t run_stages(unsigned long times)
{
    uint64_t sum = 0;
    for (unsigned long i = 0; i < times; i++) {
        (void)bench_prepare(path, 0);
        cost slowest = stage(read_pieces);
        slowest = slower(slowest, stage(encode_pieces));
        (void)unlink(result);
        bench_prime(PRIMED);
        out_file = open(result, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        slowest = slower(slowest, stage(write_pieces));
        if (atomic_load(&failed))
            bench_die(result, "a stage failed");
        sum += slowest.wall;
        bench_cpu += slowest.cpu;
    }
    (void)unlink(result);
    return sum;
}

/* ---- the plan, for peers ---- */

/* Writes a line per tensor: file offset, rows and columns, and target type. */
static void write_plan(void)
{
    wb_model *model = open_model();
    wb_conversion *conversion = plan_of(model);
    FILE *file = fopen(result, "w");
    for (uint64_t i = 0; file != NULL && i < wb_conversion_count(conversion); i++) {
        wb_converted row = {.size = sizeof row};
        wb_tensor tensor = {.size = sizeof tensor};
        uint64_t index;
        if (wb_conversion_at(conversion, i, &row, &error) != WB_OK ||
            wb_tensor_find(model, row.source, SIZE_MAX, &index) != WB_OK ||
            wb_tensor_at(model, index, &tensor, &error) != WB_OK)
            bench_die(path, error.message);
        uint64_t columns = tensor.shape[tensor.rank - 1];
        fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", tensor.offset,
                tensor.elements / columns, columns, row.to);
    }
    if (file == NULL || fclose(file) != 0)
        bench_die(result, "cannot be written");
    wb_conversion_free(conversion);
    wb_close(model);
}

static void start_plan(char **arguments)
{
    take_arguments(arguments);
    (void)snprintf(result, sizeof result, "%s.%s.plan", path, quant);
    write_plan();
    puts("name weighbridge\nwork 1 plan");
}

static uint64_t run_plan(unsigned long times)
{
    uint64_t begin = bench_now();
    for (unsigned long i = 0; i < times; i++)
        write_plan();
    return bench_now() - begin;
}

const bench_operation bench_convert = {"convert", "QUANT FOLDER", start_convert, run_convert};
const bench_operation bench_convert_cold = {"convert_cold", "QUANT FOLDER", start_convert_cold,
                                            run_convert};
const bench_operation bench_peak = {"peak", "QUANT|open FOLDER", start_peak, run_peak};
const bench_operation bench_stages = {"stages", "QUANT FOLDER", start_stages, run_stages};
const bench_operation bench_plan = {"plan", "QUANT FOLDER", start_plan, run_plan};
