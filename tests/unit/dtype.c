/*
 * Tests element types and their conversions. Every bit pattern of up to 16 bits, converted to every
 * type, must give the result of NumPy and ml_dtypes (data/dtype/convert.tsv). Further tests: values
 * that rounding twice would change (traps.tsv), ties between all neighbouring values, sub-byte
 * elements at any offset, and the table of types with its public functions.
 */
#include "support.h"

#include <fenv.h>
#include <math.h>

#include "dtype/dtype.h"
#include "dtype/minifloat.h"

#define BLOCK 4096

static uint64_t code_at(const wb__dtype *t, const unsigned char *bytes, size_t i)
{
    uint64_t code = 0;
    for (unsigned b = 0; b < t->block_bits; b++) {
        size_t at = i * t->block_bits + b;
        code |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << b;
    }
    return code;
}

static void set_code(const wb__dtype *t, unsigned char *bytes, size_t i, uint64_t code)
{
    for (unsigned b = 0; b < t->block_bits; b++) {
        size_t at = i * t->block_bits + b;
        bytes[at / 8] &= (unsigned char)~(1u << at % 8);
        bytes[at / 8] |= (unsigned char)((code >> b & 1) << at % 8);
    }
}

static bool is_nan(const wb__dtype *t, uint64_t code)
{
    uint64_t magnitude = code & ((UINT64_C(1) << (t->block_bits - 1)) - 1);
    switch (t->id) {
    case WB_DTYPE_F64: return magnitude > UINT64_C(0x7FF0000000000000);
    case WB_DTYPE_F32: return magnitude > 0x7F800000;
    case WB_DTYPE_F16: return magnitude > 0x7C00;
    case WB_DTYPE_BF16: return magnitude > 0x7F80;
    case WB_DTYPE_F8_E5M2: return magnitude > 0x7C;
    case WB_DTYPE_F8_E4M3: return magnitude == 0x7F;
    case WB_DTYPE_F8_E4M3FNUZ:
    case WB_DTYPE_F8_E5M2FNUZ: return code == 0x80;
    case WB_DTYPE_F8_E8M0: return code == 0xFF;
    default: return false;
    }
}

/* Returns the code (bit pattern) to which the library converts a NaN. */
static uint64_t the_nan(const wb__dtype *t)
{
    unsigned char in[8], out[8] = {0};
    put_length(in, UINT64_C(0x7FF8000000000000));
    wb__dtype_convert(wb__dtype_get(WB_DTYPE_F64), in, 0, t, out, 1);
    return code_at(t, out, 0);
}

static const wb__dtype *named(const char *name)
{
    const wb__dtype *t = wb__dtype_named(wb__str_from(name, SIZE_MAX));
    if (t == NULL)
        fail_msg("no dtype %s\n", name);
    return t;
}

/* Splits the next line of a table into four columns. Returns false at the end of the text. */
static bool next_row(char **text, const char *cells[4])
{
    if (**text == '\0')
        return false;
    for (int i = 0; i < 4; i++) {
        cells[i] = *text;
        *text += strcspn(*text, "\t\n");
        *(*text)++ = '\0';
    }
    return true;
}

/* ---- every pattern ---- */

static void check_block(const wb__dtype *from, const wb__dtype *to, size_t block, uint64_t expected)
{
    static unsigned char in[BLOCK * 2], out[BLOCK * 8 + 1];
    size_t n = from->block_bits < 12 ? (size_t)1 << from->block_bits : BLOCK;
    size_t bytes = (n * to->block_bits + 7) / 8;
    memset(in, 0, sizeof in);
    for (size_t i = 0; i < n; i++)
        set_code(from, in, i, block * BLOCK + i);
    memset(out, 0xA5, sizeof out);
    wb__dtype_convert(from, in, 0, to, out, n);
    assert_int_equal(out[bytes], 0xA5);
    for (size_t i = 0; i < n && wb__dtype_is_float(to); i++) {
        if (is_nan(to, code_at(to, out, i)))
            set_code(to, out, i, the_nan(to));
    }
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ out[i]) * UINT64_C(0x100000001B3);
    if (hash != expected)
        fail_msg("%s to %s, patterns from %zu\n", from->name, to->name, block * BLOCK);
}

static void every_small_pattern(void **state)
{
    (void)state;
    size_t n, rows = 0;
    unsigned char *table = read_file(TEST_DATA "/dtype/convert.tsv", &n);
    char *text = (char *)table;
    for (const char *cells[4]; next_row(&text, cells); rows++) {
        size_t block = strtoul(cells[2], NULL, 10);
        if (is_slow() && (rows % 37 != 0 || block > 0))
            continue;
        check_block(named(cells[0]), named(cells[1]), block, strtoull(cells[3], NULL, 16));
    }
    assert_true(rows > 1500);
    free(table);
}

static void traps(void **state)
{
    (void)state;
    size_t n, rows = 0;
    unsigned char *table = read_file(TEST_DATA "/dtype/traps.tsv", &n);
    char *text = (char *)table;
    for (const char *cells[4]; next_row(&text, cells); rows++) {
        const wb__dtype *from = named(cells[0]), *to = named(cells[1]);
        unsigned char in[8], out[9] = {0};
        put_length(in, strtoull(cells[2], NULL, 16));
        wb__dtype_convert(from, in, 0, to, out, 1);
        uint64_t code = code_at(to, out, 0);
        if (code != strtoull(cells[3], NULL, 16))
            fail_msg("%s %s to %s: %llx, expected %s\n", cells[0], cells[2], cells[1],
                     (unsigned long long)code, cells[3]);
    }
    assert_true(rows > 1500);
    free(table);
}

/* ---- ties between neighbours ---- */

static double value_of(const wb__dtype *t, uint64_t code)
{
    uint64_t bits = wb__minifloat_decode(t, code);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t code_for(const wb__dtype *t, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return wb__minifloat_encode(t, bits);
}

/* The value half way between two codes must round to the even code. Values slightly to either side
 * of it must round to the nearer code. */
static void check_neighbours(const wb__dtype *t, uint64_t code)
{
    double low = value_of(t, code), high = value_of(t, code + 1);
    if (!isfinite(low) || !isfinite(high))
        return;
    double middle = low + (high - low) / 2;
    assert_true(code_for(t, low) == code);
    assert_true(code_for(t, high) == code + 1);
    assert_true(code_for(t, middle) == code + (code & 1));
    assert_true(code_for(t, nextafter(middle, -INFINITY)) == code);
    assert_true(code_for(t, nextafter(middle, INFINITY)) == code + 1);
}

static void ties(void **state)
{
    (void)state;
    static const int32_t types[] = {WB_DTYPE_F16,     WB_DTYPE_BF16,        WB_DTYPE_F8_E4M3,
                                    WB_DTYPE_F8_E5M2, WB_DTYPE_F8_E4M3FNUZ, WB_DTYPE_F8_E5M2FNUZ,
                                    WB_DTYPE_F6_E2M3, WB_DTYPE_F6_E3M2,     WB_DTYPE_F4,
                                    WB_DTYPE_F32};
    uint64_t random = 8;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const wb__dtype *t = wb__dtype_get(types[i]);
        uint64_t codes = UINT64_C(1) << (t->block_bits - 1);
        if (t->id == WB_DTYPE_F32) {
            for (int k = 0; k < (is_slow() ? 1000 : 100000); k++)
                check_neighbours(t, next_random(&random) >> 33);
            continue;
        }
        for (uint64_t code = 0; code + 1 < codes; code += is_slow() ? 61 : 1)
            check_neighbours(t, code);
    }
}

/* A special loop converts F32 to 16-bit floats. Its result must equal that of the general loop. */
static void direct_loops_agree(void **state)
{
    (void)state;
    static const int32_t types[] = {WB_DTYPE_F16, WB_DTYPE_BF16};
    const wb__dtype *f32 = wb__dtype_get(WB_DTYPE_F32);
    uint64_t random = 9;
    for (int i = 0; i < (is_slow() ? 2000 : 300000); i++) {
        uint64_t bits = next_random(&random) >> 32;
        if (i % 2 == 0) /* half of the values are in the range of F16 or near it */
            bits = (bits & 0x80000000) | (0x33000000 + bits % 0x15000000);
        if (i % 3 == 0)
            bits = (bits & ~UINT64_C(0x1FFF)) | (0x1000 + bits % 3 - 1);
        for (int k = 0; k < 2; k++) {
            const wb__dtype *t = wb__dtype_get(types[k]);
            unsigned char in[8], out[8] = {0};
            put_length(in, bits);
            wb__dtype_convert(f32, in, 0, t, out, 1);
            uint64_t code = code_at(t, out, 0);
            uint64_t expected = wb__minifloat_encode(t, wb__minifloat_decode(f32, bits));
            if (code != expected && !(is_nan(t, code) && is_nan(t, expected)))
                fail_msg("%08llx to %s: %llx, %llx\n", (unsigned long long)bits, t->name,
                         (unsigned long long)code, (unsigned long long)expected);
        }
    }
}

/* The rounding mode that the application has set must have no effect. */
static void minds_no_rounding_mode(void **state)
{
    (void)state;
    const wb__dtype *f64 = wb__dtype_get(WB_DTYPE_F64), *f32 = wb__dtype_get(WB_DTYPE_F32);
    unsigned char in[8], out[4];
    put_length(in, UINT64_C(0x3FF0000030000000)); /* 1 + 1.5 ulp of F32: a tie, rounded to even */
    (void)fesetround(FE_DOWNWARD);
    wb__dtype_convert(f64, in, 0, f32, out, 1);
    (void)fesetround(FE_TONEAREST);
    assert_int_equal(code_at(f32, out, 0), 0x3F800002);
}

/* ---- places ---- */

static void elements_at_any_place(void **state)
{
    (void)state;
    static const int32_t types[] = {WB_DTYPE_F4, WB_DTYPE_F6_E2M3, WB_DTYPE_F6_E3M2, WB_DTYPE_F16,
                                    WB_DTYPE_U8, WB_DTYPE_I64,     WB_DTYPE_F8_E4M3};
    unsigned char in[600], whole[8 * 80], part[8 * 80 + 1];
    uint64_t random = 10;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(next_random(&random) >> 56);
    for (size_t a = 0; a < 7; a++) {
        for (size_t b = 0; b < 7; b++) {
            const wb__dtype *from = wb__dtype_get(types[a]), *to = wb__dtype_get(types[b]);
            memset(whole, 0, sizeof whole);
            wb__dtype_convert(from, in, 0, to, whole, 70);
            for (size_t first = 0; first < 20; first++) {
                for (size_t n = 0; n < 20; n++) {
                    size_t bytes = (n * to->block_bits + 7) / 8;
                    memset(part, 0xA5, sizeof part);
                    wb__dtype_convert(from, in, first, to, part, n);
                    for (size_t i = 0; i < n; i++)
                        assert_true(code_at(to, part, i) == code_at(to, whole, first + i));
                    for (size_t bit = n * to->block_bits; bit < bytes * 8; bit++)
                        assert_int_equal(part[bit / 8] >> bit % 8 & 1, 0);
                    assert_int_equal(part[bytes], 0xA5);
                }
            }
        }
    }
}

static void complex_numbers_stay(void **state)
{
    (void)state;
    const wb__dtype *c64 = wb__dtype_get(WB_DTYPE_C64);
    static const unsigned char in[16] = "abcdefghijklmno";
    unsigned char out[16];
    assert_true(wb__dtype_converts(c64, c64));
    assert_false(wb__dtype_converts(c64, wb__dtype_get(WB_DTYPE_F64)));
    assert_false(wb__dtype_converts(wb__dtype_get(WB_DTYPE_F32), c64));
    wb__dtype_convert(c64, in, 0, c64, out, 2);
    assert_memory_equal(in, out, 16);
}

static void counts_what_is_odd(void **state)
{
    (void)state;
    static const int32_t types[] = {WB_DTYPE_F16,        WB_DTYPE_BF16,    WB_DTYPE_F8_E4M3,
                                    WB_DTYPE_F8_E5M2,    WB_DTYPE_F8_E8M0, WB_DTYPE_F8_E4M3FNUZ,
                                    WB_DTYPE_F8_E5M2FNUZ};
    static unsigned char codes[65536 * 2];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const wb__dtype *t = wb__dtype_get(types[i]);
        size_t n = (size_t)1 << t->block_bits;
        wb__value_counts counts = {0, 0, 0}, expected = {0, 0, 0};
        for (size_t k = 0; k < n; k++) {
            set_code(t, codes, k, k);
            expected.nan += is_nan(t, k);
            expected.infinite += isinf(value_of(t, k)) != 0;
        }
        wb__dtype_count_odd(t, codes, n, &counts);
        assert_int_equal(counts.nan, expected.nan);
        assert_int_equal(counts.infinite, expected.infinite);
        assert_int_equal(counts.odd_bool, 0);
    }
    wb__value_counts counts = {1, 1, 1};
    wb__dtype_count_odd(wb__dtype_get(WB_DTYPE_BOOL), "\0\1\2\xFF", 4, &counts);
    wb__dtype_count_odd(wb__dtype_get(WB_DTYPE_U8), "\0\1\2\xFF", 4, &counts);
    wb__dtype_count_odd(wb__dtype_get(WB_DTYPE_F4), "\0\1\2\xFF", 8, &counts);
    wb__dtype_count_odd(wb__dtype_get(WB_DTYPE_C64), "\0\0\xC0\x7F\0\0\x80\xFF", 1, &counts);
    wb__dtype_count_odd(wb__dtype_get(WB_DTYPE_F32), "\1\0\x80\xFF\0\0\x80\xFF", 2, &counts);
    wb__dtype_count_odd(wb__dtype_get(WB_DTYPE_F64), "\0\0\0\0\0\0\xF0\x7F\1\0\0\0\0\0\xF0\xFF", 2,
                        &counts);
    assert_int_equal(counts.nan, 1 + 3);
    assert_int_equal(counts.infinite, 1 + 3);
    assert_int_equal(counts.odd_bool, 1 + 2);
}

/* ---- the table ---- */

static void is_found_by_name(void **state)
{
    (void)state;
    size_t count = 0;
    for (int32_t id = -2; id < 300; id++) {
        const char *name = wb_dtype_name(id);
        wb_dtype_info info = {.size = sizeof info};
        wb_status status = wb_dtype_describe(id, &info);
        if (name == NULL) {
            assert_int_equal(status, WB_ERROR_NOT_FOUND);
            assert_null(info.name);
            continue;
        }
        char other[40];
        size_t n = strlen(name);
        count++;
        for (size_t i = 0; i <= n; i++)
            other[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' && i % 2 ? name[i] + 32 : name[i]);
        assert_int_equal(wb_dtype_find(name, SIZE_MAX), id);
        assert_int_equal(wb_dtype_find(other, n), id);
        assert_int_equal(wb_dtype_find(name, n - 1) == id, 0);
        assert_int_equal(wb_dtype_find(other, n + 1), -1); /* the NUL is not part of the name */
        assert_int_equal(status, WB_OK);
        assert_string_equal(info.name, name);
        assert_true(info.block_size >= 1 && info.block_bits >= 1 && info.description[0] != '\0');
    }
    assert_true(count >= 22);
    assert_int_equal(wb_dtype_find("", 0), -1);
    assert_int_equal(wb_dtype_find(NULL, 0), -1);
    assert_int_equal(wb_dtype_find("float32", SIZE_MAX), -1);
    wb_dtype_info small = {.size = 4};
    assert_int_equal(wb_dtype_describe(WB_DTYPE_F32, &small), WB_ERROR_ARGUMENT);
}

static void says_what_types_are(void **state)
{
    (void)state;
    static const struct {
        int32_t id;
        uint32_t bits, is_float, is_complex, is_signed;
    } rows[] = {
        {WB_DTYPE_F32, 32, 1, 0, 1},    {WB_DTYPE_BF16, 16, 1, 0, 1},   {WB_DTYPE_I8, 8, 0, 0, 1},
        {WB_DTYPE_U64, 64, 0, 0, 0},    {WB_DTYPE_BOOL, 8, 0, 0, 0},    {WB_DTYPE_C64, 64, 0, 1, 1},
        {WB_DTYPE_F8_E8M0, 8, 1, 0, 0}, {WB_DTYPE_F6_E2M3, 6, 1, 0, 1}, {WB_DTYPE_F4, 4, 1, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb_dtype_info info = {.size = sizeof info};
        assert_int_equal(wb_dtype_describe(rows[i].id, &info), WB_OK);
        assert_int_equal(info.block_bits, rows[i].bits);
        assert_int_equal(info.is_float, rows[i].is_float);
        assert_int_equal(info.is_complex, rows[i].is_complex);
        assert_int_equal(info.is_signed, rows[i].is_signed);
    }
}

/* Converting many BF16 values to F16 in one call must give the same result as one by one. */
static void groups_are_as_their_elements(void **state)
{
    const wb__dtype *from = wb__dtype_get(WB_DTYPE_BF16);
    const wb__dtype *to = wb__dtype_get(WB_DTYPE_F16);
    static uint16_t values[65536], together[65536];
    (void)state;
    for (unsigned stride = 1; stride < 65536; stride = stride * 5 + 8) {
        for (unsigned i = 0; i < 65536; i++)
            values[i] = (uint16_t)(i * (stride | 1)); /* all values, in another order */
        size_t n = 65536 - stride % 40;
        wb__dtype_convert(from, values, 0, to, together, n);
        for (size_t i = 0; i < n; i++) {
            uint16_t alone;
            wb__dtype_convert(from, &values[i], 0, to, &alone, 1);
            if (together[i] != alone)
                fail_msg("%04x: %04x, alone %04x", values[i], together[i], alone);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_small_pattern),
                                       cmocka_unit_test(traps),
                                       cmocka_unit_test(ties),
                                       cmocka_unit_test(direct_loops_agree),
                                       cmocka_unit_test(groups_are_as_their_elements),
                                       cmocka_unit_test(minds_no_rounding_mode),
                                       cmocka_unit_test(elements_at_any_place),
                                       cmocka_unit_test(complex_numbers_stay),
                                       cmocka_unit_test(counts_what_is_odd),
                                       cmocka_unit_test(is_found_by_name),
                                       cmocka_unit_test(says_what_types_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
