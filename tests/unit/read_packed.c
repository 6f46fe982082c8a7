/*
 * Tests reading a few rows at a time of quantized tensors. The values must be those of the complete
 * tensor. For FP8 with blocks, only the requested rows may be read from the file. AWQ and GPTQ
 * tensors must be read completely, but not more often than necessary.
 *
 * wraps: pread64
 */
#include "support.h"
#include "weights.h"

#include <sys/types.h>

static uint64_t bytes_read;

ssize_t __real_pread64(int fd, void *to, size_t n, off_t offset);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t offset);

ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t offset)
{
    ssize_t got = __real_pread64(fd, to, n, offset);
    bytes_read += got > 0 ? (uint64_t)got : 0;
    return got;
}

#define CONFIG "{\"model_type\":\"llama\",\"quantization_config\":"

static void add_fp8(weights *w, const char *name, const uint64_t *shape, int rank, uint64_t rows,
                    uint64_t columns)
{
    char scale[160];
    uint64_t scales[4];
    memcpy(scales, shape, (size_t)rank * sizeof *shape);
    scales[rank - 2] = (shape[rank - 2] + rows - 1) / rows;
    scales[rank - 1] = (shape[rank - 1] + columns - 1) / columns;
    size_t n = elements_of(shape, rank);
    unsigned char *codes = weights_add(w, name, "F8_E4M3", shape, rank, n);
    for (size_t i = 0; i < n; i++) /* no NaN */
        codes[i] = (unsigned char)(next_random(&w->random) >> 32 & 0xBF);
    (void)snprintf(scale, sizeof scale, "%s_scale_inv", name);
    weights_floats(w, scale, "F32", scales, rank);
}

typedef struct subject {
    uint64_t index, rows, columns, bytes;
    float *whole;
} subject;

static subject look_at(const wb_model *model, const char *name)
{
    subject s = {0};
    wb_tensor tensor = {.size = sizeof tensor};
    assert_int_equal(wb_tensor_find(model, name, SIZE_MAX, &s.index), WB_OK);
    assert_int_equal(wb_tensor_at(model, s.index, &tensor, NULL), WB_OK);
    s.columns = tensor.shape[tensor.rank - 1];
    s.rows = tensor.elements / s.columns;
    s.bytes = tensor.bytes;
    s.whole = malloc((size_t)tensor.elements * sizeof(float));
    assert_non_null(s.whole);
    assert_int_equal(wb_tensor_read(model, s.index, NULL, WB_DTYPE_F32, s.whole,
                                    tensor.elements * sizeof(float), NULL),
                     WB_OK);
    return s;
}

static void check_rows(const wb_model *model, const subject *s, uint64_t first, uint64_t count)
{
    size_t n = (size_t)(count * s->columns);
    float *got = malloc(n * sizeof *got);
    wb_slice slice = {.size = sizeof slice, .first = first * s->columns, .count = n};
    assert_non_null(got);
    assert_int_equal(
        wb_tensor_read(model, s->index, &slice, WB_DTYPE_F32, got, n * sizeof *got, NULL), WB_OK);
    assert_memory_equal(got, s->whole + first * s->columns, n * sizeof *got);
    free(got);
}

static void fp8_rows(void **state)
{
    (void)state;
    static const uint64_t blocks[][2] = {{32, 16}, {128, 128}, {1, 32}, {7, 5}};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        counter c = {0};
        wb_allocator allocator = counter_allocator(&c);
        char *config =
            text_of(CONFIG "{\"quant_method\":\"fp8\",\"weight_block_size\":[%llu,%llu]}}",
                    (unsigned long long)blocks[i][0], (unsigned long long)blocks[i][1]);
        weights *w = weights_new(config);
        free(config);
        add_fp8(w, "one.weight", (uint64_t[]){131, 264}, 2, blocks[i][0], blocks[i][1]);
        add_fp8(w, "stack.weight", (uint64_t[]){3, 37, 264}, 3, blocks[i][0], blocks[i][1]);
        const wb_model *model = weights_open_as(w, WB_ACCESS_READ, &allocator);
        for (int of = 0; of < 2; of++) {
            subject s = look_at(model, of == 0 ? "one.weight" : "stack.weight");
            for (uint64_t count = 1; count < 50; count += 12) {
                bytes_read = 0;
                for (uint64_t row = 0; row < s.rows; row += count)
                    check_rows(model, &s, row, row + count < s.rows ? count : s.rows - row);
                /* For each row, at most the row itself and one row of scales may be read. */
                uint64_t scale_row = (264 + blocks[i][1] - 1) / blocks[i][1] * 4;
                assert_true(bytes_read <= s.rows * (264 + scale_row));
            }
            free(s.whole);
        }
        weights_free(w);
        assert_clean(&c);
    }
}

/* Alternates between rows of two tensors, as threads do at the end of one tensor and the beginning
 * of the next. */
static void int4_rows(void **state)
{
    (void)state;
    for (int awq = 0; awq < 2; awq++) {
        counter c = {0};
        wb_allocator allocator = counter_allocator(&c);
        char *config = text_of(CONFIG "{\"quant_method\":\"%s\",\"bits\":4,\"group_size\":16}}",
                               awq ? "awq" : "gptq");
        weights *w = weights_new(config);
        free(config);
        for (int i = 0; i < 3; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "m%d", i);
            weights_int4(w, awq != 0, name, 64, 128, 16);
        }
        const wb_model *model = weights_open_as(w, WB_ACCESS_READ, &allocator);
        subject s[3];
        for (int i = 0; i < 3; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "m%d.qweight", i);
            s[i] = look_at(model, name);
        }
        bytes_read = 0;
        for (int i = 0; i < 2; i++) {
            for (uint64_t row = 0; row < 64; row++) {
                check_rows(model, &s[i], row, 1);
                check_rows(model, &s[i + 1], 63 - row, 1);
            }
        }
        /* Each of the three tensors may be read once. */
        assert_true(s[0].bytes <= bytes_read && bytes_read <= 3 * s[0].bytes);
        for (int i = 0; i < 3; i++)
            free(s[i].whole);
        weights_free(w);
        assert_clean(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fp8_rows), cmocka_unit_test(int4_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
