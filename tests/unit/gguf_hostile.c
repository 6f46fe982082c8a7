/*
 * Tests GGUF headers that are made to exhaust memory or time: many small items of each kind, and
 * wrong counts. Allocated memory must never exceed 8 times the file size plus 1 MiB, and the time
 * of opening must grow linearly with the size.
 */
#include "support.h"

#include <time.h>

#include "gguf_build.h"

/* Writes number i as a short string, for distinct keys and tensor names. */
static void put_name(gguf *g, uint64_t i)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz_";
    char text[16];
    size_t n = 0;
    do {
        text[n++] = digits[i % (sizeof digits - 1)];
        i /= sizeof digits - 1;
    } while (i > 0);
    gguf_text(g, text, n);
}

typedef struct family {
    const char *name;
    bool tensors; /* the items are tensors; otherwise metadata entries */
    void (*begin)(
        gguf *g, uint64_t n); /* writes all that precedes the n items; NULL: only the file header */
    void (*each)(gguf *g, uint64_t i);
    bool refused;
} family;

static void one_byte(gguf *g, uint64_t i)
{
    put_name(g, i);
    gguf_uint(g, U8, 4);
    gguf_uint(g, 1, 1);
}

static void one_string(gguf *g, uint64_t i)
{
    put_name(g, i);
    gguf_uint(g, STR, 4);
    gguf_text(g, "", 0);
}

static void one_empty_array(gguf *g, uint64_t i)
{
    put_name(g, i);
    gguf_uint(g, ARR, 4);
    gguf_array(g, i % 2 == 0 ? STR : ARR, 0);
}

static void one_string_array(gguf *g, uint64_t i)
{
    put_name(g, i);
    gguf_uint(g, ARR, 4);
    gguf_array(g, STR, 1);
    gguf_text(g, "", 0);
}

static void one_odd_key(gguf *g, uint64_t i)
{
    char text[24];
    (void)snprintf(text, sizeof text, "A%llu", (unsigned long long)i);
    gguf_key(g, text, BOOL);
    gguf_uint(g, 0, 1);
}

static void same_key(gguf *g, uint64_t i)
{
    (void)i;
    one_byte(g, 1);
}

static void scalar_tensor(gguf *g, uint64_t i)
{
    put_name(g, i);
    gguf_uint(g, 0, 4);
    gguf_uint(g, 24, 4); /* I8 */
    gguf_uint(g, 32 * i, 8);
}

static void empty_tensor(gguf *g, uint64_t i)
{
    put_name(g, i);
    gguf_uint(g, 1, 4);
    gguf_uint(g, 0, 8);
    gguf_uint(g, 0, 4);
    gguf_uint(g, 0, 8);
}

/* Writes an empty tensor. All shapes are distinct. */
static void shaped_tensor(gguf *g, uint64_t i)
{
    put_name(g, i);
    gguf_uint(g, 4, 4);
    gguf_uint(g, 0, 8);
    gguf_uint(g, i, 8);
    gguf_uint(g, i + 1, 8);
    gguf_uint(g, 1, 8);
    gguf_uint(g, 0, 4);
    gguf_uint(g, 0, 8);
}

static void same_tensor(gguf *g, uint64_t i)
{
    (void)i;
    empty_tensor(g, 1);
}

/* Begins a metadata entry that is an array of n elements. */
static void begin_array(gguf *g, uint32_t type, uint64_t n)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", ARR);
    gguf_array(g, type, n);
}

static void begin_strings(gguf *g, uint64_t n)
{
    begin_array(g, STR, n);
}

static void empty_element(gguf *g, uint64_t i)
{
    (void)i;
    gguf_text(g, "", 0);
}

static void begin_arrays(gguf *g, uint64_t n)
{
    begin_array(g, ARR, n);
}

static void empty_array_element(gguf *g, uint64_t i)
{
    gguf_array(g, i % 3 == 0 ? STR : i % 3 == 1 ? ARR : U8, 0);
}

/* Begins an array with one element. nest_element then begins such an array in the innermost array,
 * so that n items are nested n levels deep. */
static void begin_nest(gguf *g, uint64_t n)
{
    (void)n;
    begin_array(g, ARR, 1);
}

static void nest_element(gguf *g, uint64_t i)
{
    (void)i;
    gguf_array(g, ARR, 1);
}

/* Writes an array that declares many more elements than it contains. */
static void greedy_element(gguf *g, uint64_t i)
{
    gguf_array(g, ARR, i < 4 ? 1 : 1000);
}

static void begin_greedy(gguf *g, uint64_t n)
{
    begin_array(g, ARR, n / 2);
}

static void begin_bools(gguf *g, uint64_t n)
{
    begin_array(g, BOOL, n);
}

static void one_bool(gguf *g, uint64_t i)
{
    gguf_uint(g, i & 1, 1);
}

static const family families[] = {
    {"entries of a byte", false, NULL, one_byte, false},
    {"entries of an empty string", false, NULL, one_string, false},
    {"entries of an empty array", false, NULL, one_empty_array, false},
    {"entries of an array of a string", false, NULL, one_string_array, false},
    {"keys that earn a finding", false, NULL, one_odd_key, false},
    {"one key", false, NULL, same_key, true},
    {"scalars", true, NULL, scalar_tensor, true},
    {"empty tensors", true, NULL, empty_tensor, false},
    {"tensors of many shapes", true, NULL, shaped_tensor, false},
    {"one tensor", true, NULL, same_tensor, true},
    {"an array of empty strings", false, begin_strings, empty_element, false},
    {"an array of empty arrays", false, begin_arrays, empty_array_element, false},
    {"arrays in arrays", false, begin_nest, nest_element, false},
    {"arrays that claim the rest", false, begin_greedy, greedy_element, true},
    {"booleans", false, begin_bools, one_bool, false},
};

#define FAMILIES (sizeof families / sizeof families[0])

/* Builds a file of about `bytes` bytes with the items of the family. */
static gguf make_file(const family *f, size_t bytes)
{
    gguf g;
    uint64_t n = 0;
    gguf_start(&g, false, 0, 0);
    while (g.n < bytes) /* count the items that fit into `bytes` bytes */
        f->each(&g, n++);
    gguf_free(&g);
    if (f->begin != NULL)
        f->begin(&g, n);
    else
        gguf_start(&g, false, f->tensors ? n : 0, f->tensors ? 0 : n);
    for (uint64_t i = 0; i < n; i++)
        f->each(&g, i);
    gguf_array(&g, U8, 0); /* the innermost array */
    gguf_pad(&g, 32);
    return g;
}

/* Opens the file with an allocator that counts, checks for leaks, and returns the status. */
static wb_status open_counted(const gguf *g, counter *count)
{
    *count = (counter){0};
    wb_allocator allocator = counter_allocator(count);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open_memory(g->bytes, g->n, "test.gguf", &options, &model, &error);
    wb_close(model);
    assert_clean(count);
    return status;
}

static void memory(void **state)
{
    (void)state;
    static const size_t sizes[] = {1000, 40000, 130000, 1500000};
    for (size_t k = 0; k < FAMILIES; k++) {
        const family *f = &families[k];
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !(is_slow() && i > 2); i++) {
            counter count;
            gguf g = make_file(f, sizes[i]);
            wb_status status = open_counted(&g, &count);
            if (getenv("WB_TEST_TRACE") != NULL)
                printf("%s: %zu bytes, %zu live, %.2f\n", f->name, g.n, count.peak,
                       (double)count.peak / (double)g.n);
            if ((status != WB_OK) != f->refused)
                fail_msg("%s: status %d\n", f->name, (int)status);
            if (count.peak > 8 * g.n + (1 << 20))
                fail_msg("%s: %zu bytes take %zu\n", f->name, g.n, count.peak);
            gguf_free(&g);
        }
    }
}

/* Wrong counts must be refused before memory is allocated for them. */
static void lying_counts(void **state)
{
    (void)state;
    static const uint64_t counts[] = {
        1000,      100000,    UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 61,
        INT64_MAX, UINT64_MAX};
    static const uint32_t types[] = {U8, U16, F32, F64, BOOL, STR, ARR};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        counter count;
        gguf g;
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            begin_array(&g, types[k], counts[i]);
            gguf_raw(&g, "", 1);
            assert_int_equal(open_counted(&g, &count), WB_ERROR_FORMAT);
            assert_true(count.peak < 100000);
            gguf_free(&g);
        }
        for (int which = 0; which < 2; which++) {
            gguf_start(&g, false, which ? counts[i] : 0, which ? 0 : counts[i]);
            gguf_pad(&g, 64);
            assert_int_equal(open_counted(&g, &count), WB_ERROR_FORMAT);
            assert_true(count.peak < 100000);
            gguf_free(&g);
        }
    }
}

static double seconds_to_open(const gguf *g)
{
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        struct timespec from, to;
        wb_model *model;
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        (void)!wb_open_memory(g->bytes, g->n, "test.gguf", NULL, &model, NULL);
        wb_close(model);
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        double s = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        best = s < best ? s : best;
    }
    return best;
}

/* Four times the bytes must take less than 8 times the time. The limit lies between 4 (linear) and
 * 16 (quadratic), because other programs may disturb the measurement. */
static void time_is_linear(void **state)
{
    (void)state;
    size_t bytes = is_slow() ? 20000 : 400000;
    for (size_t k = 0; k < FAMILIES; k++) {
        const family *f = &families[k];
        gguf small = make_file(f, bytes), large = make_file(f, 4 * bytes);
        double ratio = 0;
        for (int attempt = 0; attempt < 4; attempt++) {
            ratio = seconds_to_open(&large) / (seconds_to_open(&small) + 1e-5);
            if (ratio < 8)
                break;
        }
        if (ratio >= 8)
            fail_msg("%s: four times the bytes take %.1f times the time\n", f->name, ratio);
        gguf_free(&small);
        gguf_free(&large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory),
        cmocka_unit_test(lying_counts),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
