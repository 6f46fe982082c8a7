/*
 * Tests conversions of tensors with very long rows: the memory that they need does not depend on
 * the length of a row, and the result is the same as from short rows.
 */
#include "convert.h"
#include "weights.h"

#include "core/crc32.h"

static char *scratch;

/* ---- a compressed array ---- */

/* The elements of the array repeat after PERIOD bytes. */
enum { PERIOD = 64, HEADER = 128, LONGEST = 258 };

typedef struct stream {
    uint8_t *bytes;
    size_t n;
    uint64_t bits; /* bits that do not fill a byte yet */
    unsigned count;
} stream;

/* Appends bits, beginning with the lowest. */
static void put(stream *s, uint64_t bits, unsigned count)
{
    s->bits |= bits << s->count;
    for (s->count += count; s->count >= 8; s->count -= 8, s->bits >>= 8)
        s->bytes[s->n++] = (uint8_t)s->bits;
}

/* Appends a code of Huffman's algorithm, beginning with the highest bit. */
static void put_code(stream *s, unsigned code, unsigned count)
{
    for (unsigned i = count; i-- > 0;)
        put(s, code >> i & 1, 1);
}

/* Appends a byte, with the fixed codes of RFC 1951. */
static void put_byte(stream *s, uint8_t byte)
{
    if (byte < 144)
        put_code(s, 0x30u + byte, 8);
    else
        put_code(s, 0x190u + byte - 144u, 9);
}

static void put_number(uint8_t *to, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

#define NAME "a.weight.npy"
enum { NAME_LENGTH = sizeof NAME - 1 };

/* Writes an array of 1 x `columns` F32 elements. The first HEADER + PERIOD bytes are stored as
 * literals. The number of the other bytes is a multiple of LONGEST, the length of a match. */
static void make_archive(const char *path, uint32_t columns)
{
    uint8_t head[HEADER + PERIOD], entry[46] = "PK\1\2", local[30] = "PK\3\4", end[22] = "PK\5\6";
    uint32_t bytes = HEADER + columns * 4;
    wb__crc32 crc32;
    wb__crc32_init(&crc32);
    stream s = {.bytes = malloc(bytes / 100 + 1000)};
    assert_non_null(s.bytes);
    memset(head, ' ', HEADER);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    int n = snprintf((char *)head + 10, HEADER - 10,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (1, %lu), }",
                     (unsigned long)columns);
    head[10 + n] = ' ';
    head[HEADER - 1] = '\n';
    for (int i = 0; i < PERIOD / 4; i++) {
        float value = (float)(i + 1) / 8;
        memcpy(head + HEADER + 4 * i, &value, 4);
    }
    put(&s, 3, 3); /* the last block, with the fixed codes */
    for (size_t i = 0; i < sizeof head; i++)
        put_byte(&s, head[i]);
    for (uint32_t at = sizeof head; at < bytes; at += LONGEST) {
        put_code(&s, 0xC5, 8); /* length code: a match of 258 bytes */
        put_code(&s, 11, 5);   /* distance code: 49 to 64 bytes */
        put(&s, 15, 4);        /* extra bits of the distance: 49 + 15 = 64 bytes */
    }
    put_code(&s, 0, 7); /* the end of the block */
    put(&s, 0, 7);
    uint32_t crc = wb__crc32_add(&crc32, 0, head, HEADER);
    for (uint32_t at = HEADER; at < bytes; at += PERIOD)
        crc = wb__crc32_add(&crc32, crc, head + HEADER, bytes - at < PERIOD ? bytes - at : PERIOD);
    put_number(local + 8, 8, 2);
    put_number(local + 14, crc, 4);
    put_number(local + 18, s.n, 4);
    put_number(local + 22, bytes, 4);
    put_number(local + 26, NAME_LENGTH, 2);
    memcpy(entry + 10, local + 8, 18);
    put_number(entry + 28, NAME_LENGTH, 2);
    put_number(end + 8, 1, 2);
    put_number(end + 10, 1, 2);
    put_number(end + 12, sizeof entry + NAME_LENGTH, 4);
    put_number(end + 16, sizeof local + NAME_LENGTH + s.n, 4);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(local, 1, sizeof local, file), sizeof local);
    assert_int_equal(fwrite(NAME, 1, NAME_LENGTH, file), NAME_LENGTH);
    assert_int_equal(fwrite(s.bytes, 1, s.n, file), s.n);
    assert_int_equal(fwrite(entry, 1, sizeof entry, file), sizeof entry);
    assert_int_equal(fwrite(NAME, 1, NAME_LENGTH, file), NAME_LENGTH);
    assert_int_equal(fwrite(end, 1, sizeof end, file), sizeof end);
    assert_int_equal(fclose(file), 0);
    free(s.bytes);
}

/* ---- memory ---- */

/* The row has 32 MiB. The number satisfies the precondition of make_archive, and is a multiple of
 * all block sizes. */
enum { COLUMNS = 16 + 129 * 65520 };

static void check_values(const char *path)
{
    float values[3];
    wb_model *model = open_model(path);
    const wb_slice slice = {.size = sizeof slice, .first = COLUMNS - 3, .count = 3};
    assert_int_equal(wb_tensor_read(model, 0, &slice, WB_DTYPE_F32, values, sizeof values, NULL),
                     WB_OK);
    for (int i = 0; i < 3; i++) { /* Q8_0 is not exact */
        float difference = values[i] - (float)((COLUMNS - 3 + i) % 16 + 1) / 8;
        assert_true(difference > -0.01F && difference < 0.01F);
    }
    wb_close(model);
}

/* Converts an archive of 280 KB whose only row has 32 MiB. */
static void memory_is_limited(void **state)
{
    (void)state;
    static const char *const quants[] = {NULL, "F16", "Q8_0"};
    const uint64_t limit = (uint64_t)4 << 20;
    char *from = text_of("%s/long.npz", scratch), *to = text_of("%s/long.gguf", scratch);
    make_archive(from, COLUMNS);
    for (size_t i = 0; i < sizeof quants / sizeof *quants; i++) {
        counter c = {0};
        wb_error error;
        wb_model *model;
        wb_conversion *conversion;
        const wb_allocator allocator = counter_allocator(&c);
        const wb_open_options options = {.size = sizeof options, .allocator = &allocator};
        const wb_convert_policy policy = {
            .size = sizeof policy, .quant = quants[i], .max_memory = limit};
        wb_status status = wb_open(from, &options, &model, &error);
        if (status == WB_ERROR_UNSUPPORTED) { /* zlib is not installed */
            free(from);
            free(to);
            skip();
        }
        if (status != WB_OK)
            fail_msg("%s", error.message);
        status = wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error);
        if (status == WB_OK)
            status = wb_convert(conversion, to, NULL, &error);
        if (status != WB_OK)
            fail_msg("%s", error.message);
        wb_conversion_free(conversion);
        wb_close(model);
        assert_clean(&c);
        if (c.peak > limit + (2 << 20))
            fail_msg("%s: %zu bytes\n", quants[i] == NULL ? "unchanged" : quants[i], c.peak);
        check_values(to);
        assert_int_equal(unlink(to), 0);
    }
    free(from);
    free(to);
}

/* ---- the same result ---- */

enum { LONG = 256 * 300, ROWS = 3 };

/* Writes the same values as ROWS long rows or as many short rows of 256 values. */
static weights *make(const char *dtype, bool is_long)
{
    const uint64_t shape[2] = {is_long ? ROWS : ROWS * (LONG / 256), is_long ? LONG : 256};
    weights *w = weights_new("{}");
    weights_floats(w, "a.weight", dtype, shape, 2);
    (void)weights_open(w);
    return w;
}

/* Converts both models, and compares the bytes of all parts of the tensor. */
static void compare(const char *dtype, wb_target target, const char *quant, uint64_t max_memory)
{
    const wb_convert_policy policy = {
        .size = sizeof policy, .quant = quant, .max_memory = max_memory};
    char *paths[2];
    wb_model *models[2];
    for (int i = 0; i < 2; i++) {
        weights *w = make(dtype, i == 0);
        char *from = text_of("%s/model.safetensors", w->folder);
        paths[i] = text_of("%s/%d", scratch, i);
        convert(from, target, &policy, paths[i]);
        models[i] = open_model(paths[i]);
        free(from);
        weights_free(w);
    }
    wb_tensor tensor = {.size = sizeof tensor};
    wb_encoding encoding = {.size = sizeof encoding};
    assert_int_equal(wb_tensor_at(models[0], 0, &tensor, NULL), WB_OK);
    if (target == WB_TARGET_GGUF)
        assert_string_equal(wb_dtype_name((int32_t)tensor.dtype), quant == NULL ? dtype : quant);
    assert_int_equal(wb_tensor_encoding(models[0], 0, &encoding, NULL), WB_OK);
    for (uint32_t part = 0; part < encoding.parts; part++) {
        uint64_t n, m;
        wb_part parts[2] = {{.size = sizeof parts[0]}, {.size = sizeof parts[1]}};
        for (int i = 0; i < 2; i++)
            assert_int_equal(wb_tensor_part(models[i], 0, part, &parts[i], NULL), WB_OK);
        void *x = bytes_of(models[0], parts[0].index, &n);
        void *y = bytes_of(models[1], parts[1].index, &m);
        if (n != m || memcmp(x, y, (size_t)n) != 0)
            fail_msg("%s to %s: part %u differs\n", dtype, quant == NULL ? "itself" : quant, part);
        free(x);
        free(y);
    }
    for (int i = 0; i < 2; i++) {
        wb_close(models[i]);
        scratch_remove(paths[i]);
    }
}

static void the_result_is_the_same(void **state)
{
    (void)state;
    static const char *const quants[] = {NULL,   "F32",  "F16",  "BF16",
                                         "Q8_0", "Q4_0", "Q4_K", "Q2_K"};
    static const char *const mlx[] = {"affine4:64", "affine3:32", "mxfp4", "nvfp4"};
    for (size_t i = 0; i < sizeof quants / sizeof *quants; i++) {
        compare("F32", WB_TARGET_GGUF, quants[i], 0);
        compare("BF16", WB_TARGET_GGUF, quants[i], 1);
    }
    for (size_t i = 0; i < sizeof mlx / sizeof *mlx; i++)
        compare("BF16", WB_TARGET_MLX, mlx[i], 0);
}

int main(void)
{
    scratch = scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(the_result_is_the_same),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    return failed;
}
