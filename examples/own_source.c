/* Custom I/O and memory allocation: own_source FILE
 *
 * The model is read through callbacks. Here the callbacks read a FILE; they could also read from a
 * network or an archive. All allocations use an allocator that counts bytes, and the example prints
 * the counts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weighbridge.h>

/* ---- memory allocation ---- */

typedef struct counter {
    size_t live, most;
} counter;

static void *count_alloc(void *ctx, size_t bytes)
{
    counter *c = ctx;
    void *memory = malloc(bytes);
    if (memory != NULL) {
        c->live += bytes;
        c->most = c->live > c->most ? c->live : c->most;
    }
    return memory;
}

static void count_free(void *ctx, void *memory, size_t bytes)
{
    counter *c = ctx;
    c->live -= bytes; /* the library passes the size, so the allocator needs no header */
    free(memory);
}

/* ---- reading ---- */

static wb_status read_file(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    FILE *file = ctx;
    if (offset > INT32_MAX || fseek(file, (long)offset, SEEK_SET) != 0)
        return WB_ERROR_IO;
    *got = fread(dst, 1, n, file);
    return ferror(file) ? WB_ERROR_IO : WB_OK;
}

static void close_file(void *ctx)
{
    (void)fclose(ctx);
}

static int print_first_values(const wb_model *model, wb_error *error)
{
    float values[4];
    uint64_t elements, bytes;
    wb_slice first = {.size = sizeof first, .count = 4};
    if (wb_tensor_count(model) == 0)
        return 0;
    if (wb_tensor_read_size(model, 0, &first, WB_DTYPE_F32, &elements, &bytes, error) != WB_OK ||
        wb_tensor_read(model, 0, &first, WB_DTYPE_F32, values, sizeof values, error) != WB_OK)
        return 1;
    printf("first values:");
    for (uint64_t i = 0; i < elements; i++)
        printf(" %g", (double)values[i]);
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    counter memory = {0, 0};
    wb_allocator allocator = {&memory, count_alloc, count_free};
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_source source = {.size = sizeof source,
                        .ctx = file,
                        .bytes = (uint64_t)ftell(file),
                        .read = read_file,
                        .close = close_file}; /* also called if opening fails */
    wb_model *model;
    wb_error error;
    int failed = wb_open_source(&source, argv[1], &options, &model, &error) != WB_OK;
    if (!failed) {
        printf("%" PRIu64 " tensors, %zu bytes of memory\n", wb_tensor_count(model), memory.most);
        failed = print_first_values(model, &error);
        wb_close(model);
    }
    if (failed)
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    else if (memory.live != 0)
        fprintf(stderr, "%zu bytes were not given back\n", memory.live);
    return failed || memory.live != 0;
}
