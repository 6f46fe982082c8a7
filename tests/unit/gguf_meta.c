/*
 * Tests GGUF metadata with the public functions, in both byte orders: every value type, arrays of
 * every type, extreme values, and queries of the wrong type. Strings must be NUL-terminated at
 * every position in the header.
 */
#include "support.h"

#include "gguf_build.h"

#define MANY 1001 /* number of strings: several times WB__STRING_STEP, and not a multiple of it */

static void add_numbers(gguf *g)
{
    gguf_number(g, "n.u8", U8, 255, 1);
    gguf_number(g, "n.i8", I8, (uint64_t)-128, 1);
    gguf_number(g, "n.u16", U16, 65535, 2);
    gguf_number(g, "n.i16", I16, (uint64_t)-32768, 2);
    gguf_number(g, "n.u32", U32, UINT32_MAX, 4);
    gguf_number(g, "n.i32", I32, (uint64_t)INT32_MIN, 4);
    gguf_number(g, "n.u64", U64, UINT64_MAX, 8);
    gguf_number(g, "n.i64", I64, (uint64_t)INT64_MIN, 8);
    gguf_number(g, "n.f32", F32, 0x3FC00000, 4);                   /* 1.5 */
    gguf_number(g, "n.f64", F64, UINT64_C(0xC004000000000000), 8); /* -2.5 */
    gguf_number(g, "n.true", BOOL, 1, 1);
    gguf_number(g, "n.false", BOOL, 0, 1);
    gguf_number(g, "n.2p53", U64, UINT64_C(1) << 53, 8);
    gguf_number(g, "n.2p53p1", U64, (UINT64_C(1) << 53) + 1, 8);
}

static void add_number_array(gguf *g, const char *key, uint32_t type, const uint64_t *values,
                             size_t n, unsigned width)
{
    gguf_key(g, key, ARR);
    gguf_array(g, type, n);
    for (size_t i = 0; i < n; i++)
        gguf_uint(g, values[i], width);
}

static const uint64_t bits_u8[] = {0, 1, 255};
static const uint64_t bits_i16[] = {0, (uint64_t)-1, (uint64_t)-32768, 32767};
static const uint64_t bits_u64[] = {0, UINT64_MAX, 1};
static const uint64_t bits_i64[] = {0, (uint64_t)-1, (uint64_t)INT64_MIN};
static const uint64_t bits_f32[] = {0x3FC00000, 0xFF800000, 0};
static const uint64_t bits_f64[] = {UINT64_C(0x3FF0000000000000)};
static const uint64_t bits_bool[] = {1, 0, 1};

static char *many_text(size_t i)
{
    return i % 7 == 0 ? text_of("%s", "")
                      : text_of("%.*s%zu", (int)(i % 23), "Ġtokentokentokentoken", i);
}

static void add_arrays(gguf *g)
{
    add_number_array(g, "a.u8", U8, bits_u8, 3, 1);
    add_number_array(g, "a.i16", I16, bits_i16, 4, 2);
    add_number_array(g, "a.u64", U64, bits_u64, 3, 8);
    add_number_array(g, "a.i64", I64, bits_i64, 3, 8);
    add_number_array(g, "a.f32", F32, bits_f32, 3, 4);
    add_number_array(g, "a.f64", F64, bits_f64, 1, 8);
    add_number_array(g, "a.bool", BOOL, bits_bool, 3, 1);
    gguf_key(g, "a.none", ARR);
    gguf_array(g, STR, 0);
    gguf_key(g, "a.many", ARR);
    gguf_array(g, STR, MANY);
    for (size_t i = 0; i < MANY; i++) {
        char *text = many_text(i);
        gguf_string(g, text);
        free(text);
    }
}

/* Adds the nested array [[1, -2], [], ["x", ""], [[3], [[]]]]. */
static void add_nested(gguf *g)
{
    gguf_key(g, "a.nested", ARR);
    gguf_array(g, ARR, 4);
    gguf_array(g, I32, 2);
    gguf_uint(g, 1, 4);
    gguf_uint(g, (uint64_t)-2, 4);
    gguf_array(g, ARR, 0);
    gguf_array(g, STR, 2);
    gguf_string(g, "x");
    gguf_string(g, "");
    gguf_array(g, ARR, 2);
    gguf_array(g, U8, 1);
    gguf_uint(g, 3, 1);
    gguf_array(g, ARR, 1);
    gguf_array(g, F32, 0);
}

static gguf make_file(bool big)
{
    gguf g;
    gguf_start(&g, big, 0, 28);
    gguf_key(&g, "s.text", STR);
    gguf_string(&g, "h\xC3\xA9llo");
    gguf_key(&g, "s.nul", STR);
    gguf_text(&g, "a\0b", 3);
    gguf_key(&g, "s.empty", STR);
    gguf_string(&g, "");
    add_numbers(&g);
    add_arrays(&g);
    add_nested(&g);
    gguf_key(&g, "s.last", STR); /* the last entry of the header */
    gguf_string(&g, "end");
    return g;
}

static wb_model *open_bytes(const void *bytes, size_t n)
{
    wb_model *model;
    wb_error error;
    if (wb_open_memory(bytes, n, "test.gguf", NULL, &model, &error) != WB_OK)
        fail_msg("%s at %lld: %s\n", error.code, (long long)error.offset, error.message);
    return model;
}

static void check_string(const wb_model *model, const char *key, const char *expected, size_t len)
{
    const char *value;
    size_t value_len;
    assert_int_equal(wb_meta_get_string(model, key, SIZE_MAX, &value, &value_len, NULL), WB_OK);
    assert_int_equal(value_len, len);
    assert_memory_equal(value, expected, len + 1); /* includes the NUL */
}

static void check_numbers(const wb_model *m)
{
    static const struct {
        const char *key;
        int64_t value;
    } ints[] = {{"n.u8", 255},         {"n.i8", -128},
                {"n.u16", 65535},      {"n.i16", -32768},
                {"n.u32", UINT32_MAX}, {"n.i32", INT32_MIN},
                {"n.i64", INT64_MIN},  {"n.2p53", INT64_C(1) << 53}};
    int64_t i;
    uint64_t u;
    double d;
    int b;
    for (size_t k = 0; k < sizeof ints / sizeof ints[0]; k++) {
        assert_int_equal(wb_meta_get_int(m, ints[k].key, SIZE_MAX, &i, NULL), WB_OK);
        assert_true(i == ints[k].value);
        wb_status status = wb_meta_get_uint(m, ints[k].key, SIZE_MAX, &u, NULL);
        assert_int_equal(status, ints[k].value < 0 ? WB_ERROR_TYPE : WB_OK);
        assert_true(u == (ints[k].value < 0 ? 0 : (uint64_t)ints[k].value));
    }
    i = 7;
    assert_int_equal(wb_meta_get_int(m, "n.u64", SIZE_MAX, &i, NULL), WB_ERROR_TYPE);
    assert_true(i == 0);
    assert_int_equal(wb_meta_get_uint(m, "n.u64", SIZE_MAX, &u, NULL), WB_OK);
    assert_true(u == UINT64_MAX);
    assert_int_equal(wb_meta_get_float(m, "n.f32", SIZE_MAX, &d, NULL), WB_OK);
    assert_true(d == 1.5);
    assert_int_equal(wb_meta_get_float(m, "n.f64", SIZE_MAX, &d, NULL), WB_OK);
    assert_true(d == -2.5);
    assert_int_equal(wb_meta_get_float(m, "n.i32", SIZE_MAX, &d, NULL), WB_OK);
    assert_true(d == -2147483648.0);
    assert_int_equal(wb_meta_get_float(m, "n.2p53", SIZE_MAX, &d, NULL), WB_OK);
    assert_true(d == 9007199254740992.0);
    assert_int_equal(wb_meta_get_float(m, "n.2p53p1", SIZE_MAX, &d, NULL), WB_ERROR_TYPE);
    assert_true(d == 0);
    assert_int_equal(wb_meta_get_bool(m, "n.true", SIZE_MAX, &b, NULL), WB_OK);
    assert_int_equal(b, 1);
    assert_int_equal(wb_meta_get_bool(m, "n.false", SIZE_MAX, &b, NULL), WB_OK);
    assert_int_equal(b, 0);
}

static void check_refusals(const wb_model *m)
{
    wb_error error;
    wb_meta_array array = {.size = sizeof array};
    int64_t i;
    double d;
    int b;
    const char *s;
    size_t n;
    assert_int_equal(wb_meta_get_int(m, "no.such", SIZE_MAX, &i, &error), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_meta_get_int(m, "n.f32", SIZE_MAX, &i, &error), WB_ERROR_TYPE);
    assert_string_equal(error.code, "metadata-type");
    assert_string_equal(error.name, "n.f32");
    assert_int_equal(wb_meta_get_int(m, "n.true", SIZE_MAX, &i, &error), WB_ERROR_TYPE);
    assert_int_equal(wb_meta_get_bool(m, "n.u8", SIZE_MAX, &b, &error), WB_ERROR_TYPE);
    assert_int_equal(wb_meta_get_float(m, "s.text", SIZE_MAX, &d, &error), WB_ERROR_TYPE);
    assert_int_equal(wb_meta_get_string(m, "a.many", SIZE_MAX, &s, &n, &error), WB_ERROR_TYPE);
    assert_null(s);
    assert_int_equal(wb_meta_get_string_array(m, "s.text", SIZE_MAX, &array, &error),
                     WB_ERROR_TYPE);
    assert_int_equal(wb_meta_get_string_array(m, "a.u8", SIZE_MAX, &array, &error), WB_ERROR_TYPE);
    assert_int_equal(wb_meta_get_int_array(m, "a.f32", SIZE_MAX, &array, &error), WB_ERROR_TYPE);
    assert_int_equal(wb_meta_get_float_array(m, "a.u8", SIZE_MAX, &array, &error), WB_ERROR_TYPE);
    assert_null(array.array);
    array.size = 1;
    assert_int_equal(wb_meta_get_array(m, "a.u8", SIZE_MAX, WB_META_ANY, &array, &error),
                     WB_ERROR_ARGUMENT);
}

/* The getters with a fallback must return the value if it fits their type, otherwise the
 * fallback. */
static void check_fallbacks(const wb_model *m)
{
    const char *own = "own";
    assert_string_equal(wb_meta_get_string_or(m, "s.text", SIZE_MAX, own), "h\xC3\xA9llo");
    assert_string_equal(wb_meta_get_string_or(m, "s.empty", SIZE_MAX, own), "");
    assert_ptr_equal(wb_meta_get_string_or(m, "no.such", SIZE_MAX, own), own);
    assert_ptr_equal(wb_meta_get_string_or(m, "n.u8", SIZE_MAX, own), own);
    assert_null(wb_meta_get_string_or(m, "a.many", SIZE_MAX, NULL));
    assert_true(wb_meta_get_int_or(m, "n.i8", SIZE_MAX, 7) == -128);
    assert_true(wb_meta_get_int_or(m, "n.i8 and more", 4, 7) == -128);
    assert_true(wb_meta_get_int_or(m, "no.such", SIZE_MAX, -7) == -7);
    assert_true(wb_meta_get_int_or(m, "n.f32", SIZE_MAX, -7) == -7);
    assert_true(wb_meta_get_int_or(m, "n.u64", SIZE_MAX, -7) == -7); /* does not fit */
    assert_true(wb_meta_get_uint_or(m, "n.u64", SIZE_MAX, 7) == UINT64_MAX);
    assert_true(wb_meta_get_uint_or(m, "n.i8", SIZE_MAX, 7) == 7);
    assert_true(wb_meta_get_uint_or(m, "no.such", SIZE_MAX, 7) == 7);
    assert_true(wb_meta_get_float_or(m, "n.f64", SIZE_MAX, 0.5) == -2.5);
    assert_true(wb_meta_get_float_or(m, "n.2p53p1", SIZE_MAX, 0.5) == 0.5);
    assert_true(wb_meta_get_float_or(m, "no.such", SIZE_MAX, 0.5) == 0.5);
    assert_int_equal(wb_meta_get_bool_or(m, "n.true", SIZE_MAX, 0), 1);
    assert_int_equal(wb_meta_get_bool_or(m, "n.false", SIZE_MAX, 1), 0);
    assert_int_equal(wb_meta_get_bool_or(m, "n.u8", SIZE_MAX, 1), 1);
    assert_int_equal(wb_meta_get_bool_or(m, "no.such", SIZE_MAX, 2), 2);
}

/* Checks which arrays wb_meta_get_array accepts for each requested element type. */
static void check_elements(const wb_model *m)
{
    static const struct {
        const char *key;
        wb_meta_type type;
    } arrays[] = {{"a.many", WB_META_STRING}, {"a.i16", WB_META_INT},
                  {"a.u8", WB_META_UINT},     {"a.f32", WB_META_FLOAT},
                  {"a.bool", WB_META_BOOL},   {"a.nested", WB_META_ARRAY}};
    wb_error error;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        for (int type = 0; type <= WB_META_ARRAY; type++) {
            wb_meta_array array = WB_META_ARRAY_INIT;
            bool both = (type == WB_META_INT || type == WB_META_UINT) &&
                        (arrays[i].type == WB_META_INT || arrays[i].type == WB_META_UINT);
            bool fits = type == 0 || type == (int)arrays[i].type || both;
            assert_int_equal(
                wb_meta_get_array(m, arrays[i].key, SIZE_MAX, (wb_meta_type)type, &array, &error),
                fits ? WB_OK : WB_ERROR_TYPE);
            assert_int_equal(array.element, fits ? arrays[i].type : 0);
        }
    }
    wb_meta_array array = WB_META_ARRAY_INIT;
    assert_int_equal(wb_meta_get_array(m, "a.u8", SIZE_MAX, (wb_meta_type)7, &array, &error),
                     WB_ERROR_ARGUMENT);
}

static void check_ints(const wb_model *m, const char *key, const uint64_t *bits, size_t n,
                       bool fits_int, bool fits_uint)
{
    wb_meta_array array = {.size = sizeof array};
    int64_t ints[8];
    uint64_t uints[8];
    assert_int_equal(wb_meta_get_array(m, key, SIZE_MAX, WB_META_ANY, &array, NULL), WB_OK);
    assert_int_equal(array.count, n);
    assert_non_null(array.data);
    assert_int_equal(wb_meta_ints(&array, 0, n, ints), fits_int ? WB_OK : WB_ERROR_TYPE);
    assert_int_equal(wb_meta_uints(&array, 0, n, uints), fits_uint ? WB_OK : WB_ERROR_TYPE);
    for (size_t i = 0; i < n; i++) {
        assert_true(!fits_int || (uint64_t)ints[i] == bits[i]);
        assert_true(!fits_uint || uints[i] == bits[i]);
    }
    assert_int_equal(wb_meta_ints(&array, n, 1, ints), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_meta_ints(&array, UINT64_MAX, 2, ints), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_meta_ints(&array, n, 0, ints), WB_OK);
}

static void check_number_arrays(const wb_model *m)
{
    check_ints(m, "a.u8", bits_u8, 3, true, true);
    check_ints(m, "a.i16", bits_i16, 4, true, false);
    check_ints(m, "a.u64", bits_u64, 3, false, true);
    check_ints(m, "a.i64", bits_i64, 3, true, false);
    check_ints(m, "a.bool", bits_bool, 3, true, true);

    wb_meta_array array = {.size = sizeof array};
    double floats[3];
    assert_int_equal(wb_meta_get_float_array(m, "a.f32", SIZE_MAX, &array, NULL), WB_OK);
    assert_int_equal(array.bits, 32);
    assert_int_equal(wb_meta_floats(&array, 0, 3, floats), WB_OK);
    assert_true(floats[0] == 1.5 && floats[1] < -1e300 && floats[2] == 0);
    assert_int_equal(wb_meta_floats(&array, 1, 3, floats), WB_ERROR_NOT_FOUND);
    assert_memory_equal(array.data, "\0\0\xC0\x3F\0\0\x80\xFF\0\0\0\0",
                        12); /* always little-endian */
    assert_int_equal(wb_meta_get_float_array(m, "a.f64", SIZE_MAX, &array, NULL), WB_OK);
    assert_int_equal(wb_meta_floats(&array, 0, 1, floats), WB_OK);
    assert_true(floats[0] == 1.0);
    assert_int_equal(wb_meta_ints(&array, 0, 1, (int64_t *)(void *)floats), WB_ERROR_ARGUMENT);
}

static void check_strings(const wb_model *m)
{
    wb_meta_array array = {.size = sizeof array};
    static const char *values[MANY];
    static size_t lens[MANY];
    assert_int_equal(wb_meta_get_string_array(m, "a.none", SIZE_MAX, &array, NULL), WB_OK);
    assert_int_equal(array.count, 0);
    assert_int_equal(wb_meta_string_at(&array, 0, values, lens), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_meta_get_string_array(m, "a.many", SIZE_MAX, &array, NULL), WB_OK);
    assert_int_equal(array.count, MANY);
    assert_int_equal(wb_meta_strings(&array, 0, MANY, values, lens), WB_OK);
    for (size_t i = 0; i < MANY; i++) {
        char *text = many_text(i);
        const char *value;
        size_t len;
        assert_int_equal(wb_meta_string_at(&array, i, &value, &len), WB_OK);
        assert_ptr_equal(value, values[i]);
        assert_int_equal(len, strlen(text));
        assert_int_equal(lens[i], len);
        assert_memory_equal(value, text, len + 1);
        free(text);
    }
    assert_int_equal(wb_meta_strings(&array, 5, 20, NULL, lens), WB_OK);
    assert_int_equal(wb_meta_strings(&array, MANY - 1, 2, values, lens), WB_ERROR_NOT_FOUND);
    array.size = 0;
    assert_int_equal(wb_meta_strings(&array, 0, 1, values, lens), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_meta_strings(NULL, 0, 1, values, lens), WB_ERROR_ARGUMENT);
}

static wb_meta_array element(const wb_meta_array *array, uint64_t i, wb_meta_type type,
                             uint64_t count)
{
    wb_meta_array inner = {.size = sizeof inner};
    assert_int_equal(wb_meta_array_at(array, i, &inner), WB_OK);
    assert_int_equal(inner.element, type);
    assert_int_equal(inner.count, count);
    return inner;
}

static void check_nested(const wb_model *m)
{
    wb_meta_array array = {.size = sizeof array}, inner;
    int64_t ints[2];
    const char *text;
    size_t len;
    assert_int_equal(wb_meta_get_array(m, "a.nested", SIZE_MAX, WB_META_ANY, &array, NULL), WB_OK);
    assert_int_equal(array.element, WB_META_ARRAY);
    assert_int_equal(array.count, 4);
    assert_null(array.data);
    inner = element(&array, 0, WB_META_INT, 2);
    assert_int_equal(wb_meta_ints(&inner, 0, 2, ints), WB_OK);
    assert_true(ints[0] == 1 && ints[1] == -2);
    (void)element(&array, 1, WB_META_ARRAY, 0);
    inner = element(&array, 2, WB_META_STRING, 2);
    assert_int_equal(wb_meta_string_at(&inner, 0, &text, &len), WB_OK);
    assert_string_equal(text, "x");
    assert_int_equal(wb_meta_string_at(&inner, 1, &text, &len), WB_OK);
    assert_int_equal(len, 0);
    assert_string_equal(text, "");
    wb_meta_array last = element(&array, 3, WB_META_ARRAY, 2);
    inner = element(&last, 0, WB_META_UINT, 1);
    assert_int_equal(wb_meta_ints(&inner, 0, 1, ints), WB_OK);
    assert_true(ints[0] == 3);
    inner = element(&last, 1, WB_META_ARRAY, 1);
    (void)element(&inner, 0, WB_META_FLOAT, 0);
    assert_int_equal(wb_meta_array_at(&array, 4, &inner), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_meta_array_at(&last, 0, &inner), WB_OK);
    assert_int_equal(wb_meta_array_at(&inner, 0, &inner), WB_ERROR_ARGUMENT);
}

static void check_entries(const wb_model *m)
{
    static const struct {
        const char *key;
        wb_meta_type type, element;
        unsigned bits;
        uint64_t count;
    } expected[] = {
        {"s.text", WB_META_STRING, 0, 0, 6},
        {"n.i8", WB_META_INT, 0, 8, 1},
        {"n.f64", WB_META_FLOAT, 0, 64, 1},
        {"n.true", WB_META_BOOL, 0, 8, 1},
        {"a.u8", WB_META_ARRAY, WB_META_UINT, 8, 3},
        {"a.f32", WB_META_ARRAY, WB_META_FLOAT, 32, 3},
        {"a.many", WB_META_ARRAY, WB_META_STRING, 0, MANY},
        {"a.nested", WB_META_ARRAY, WB_META_ARRAY, 0, 4},
    };
    assert_int_equal(wb_meta_count(m), 28);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        wb_meta meta = {.size = sizeof meta};
        uint64_t index;
        assert_int_equal(wb_meta_find(m, expected[i].key, SIZE_MAX, &index), WB_OK);
        assert_int_equal(wb_meta_at(m, index, &meta, NULL), WB_OK);
        assert_string_equal(meta.key, expected[i].key);
        assert_int_equal(meta.type, expected[i].type);
        assert_int_equal(meta.element, expected[i].element);
        assert_int_equal(meta.bits, expected[i].bits);
        assert_int_equal(meta.count, expected[i].count);
    }
    for (uint64_t i = 0; i < wb_meta_count(m); i++) {
        wb_meta meta = {.size = sizeof meta};
        uint64_t index;
        assert_int_equal(wb_meta_at(m, i, &meta, NULL), WB_OK);
        assert_int_equal(strlen(meta.key), meta.key_len); /* a NUL follows */
        assert_int_equal(wb_meta_find(m, meta.key, meta.key_len, &index), WB_OK);
        assert_int_equal(index, i);
    }
    wb_meta meta = {.size = sizeof meta};
    uint64_t index;
    assert_int_equal(wb_meta_at(m, 28, &meta, NULL), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_meta_find(m, "n.u", SIZE_MAX, &index), WB_ERROR_NOT_FOUND);
}

static void check_model(const wb_model *m)
{
    check_string(m, "s.text", "h\xC3\xA9llo", 6);
    check_string(m, "s.nul", "a\0b", 3);
    check_string(m, "s.empty", "", 0);
    check_string(m, "s.last", "end", 3);
    check_numbers(m);
    check_refusals(m);
    check_fallbacks(m);
    check_elements(m);
    check_number_arrays(m);
    check_strings(m);
    check_nested(m);
    check_entries(m);
}

static void check_order(bool big)
{
    gguf g = make_file(big);
    wb_model *model = open_bytes(g.bytes, g.n);
    wb_file file = {.size = sizeof file};
    assert_string_equal(wb_format(model), "gguf");
    assert_int_equal(wb_file_at(model, 0, &file, NULL), WB_OK);
    assert_int_equal(file.version, 3);
    assert_int_equal(file.big_endian, big);
    check_model(model);
    wb_close(model);
    gguf_free(&g);
}

static void little_endian(void **state)
{
    (void)state;
    check_order(false);
}

static void big_endian(void **state)
{
    (void)state;
    check_order(true);
}

/* ---- a source that returns few bytes per read, so that fields are split between reads ---- */

typedef struct trickle {
    const gguf *g;
    size_t most;
} trickle;

static wb_status trickle_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const trickle *t = ctx;
    size_t left = t->g->n - (size_t)offset;
    *got = n < t->most ? n : t->most;
    *got = *got < left ? *got : left;
    memcpy(dst, t->g->bytes + offset, *got);
    return WB_OK;
}

/* Tests a header that is larger than the first block of memory that the library allocates for it,
 * and, except under valgrind, larger than the second block. */
static void header_that_moves(void **state)
{
    (void)state;
    gguf g;
    size_t bulk = is_slow() ? 300000 : (size_t)40 << 20;
    gguf_start(&g, false, 0, 4);
    gguf_key(&g, "first", STR);
    gguf_string(&g, "before");
    gguf_key(&g, "strings", ARR);
    gguf_array(&g, STR, 3000);
    for (unsigned i = 0; i < 3000; i++) {
        char *text = text_of("%*u", (int)(i % 97), i);
        gguf_string(&g, text);
        free(text);
    }
    gguf_key(&g, "bulk", ARR);
    gguf_array(&g, U8, bulk);
    char *zeros = calloc(bulk, 1);
    gguf_raw(&g, zeros, bulk);
    free(zeros);
    gguf_key(&g, "last", STR);
    gguf_string(&g, "after");

    trickle t = {&g, 4093};
    wb_source source = {.size = sizeof source, .ctx = &t, .bytes = g.n, .read = trickle_read};
    wb_model *model;
    wb_error error;
    if (wb_open_source(&source, "test.gguf", NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    check_string(model, "first", "before", 6);
    check_string(model, "last", "after", 5);
    wb_meta_array array = {.size = sizeof array};
    assert_int_equal(wb_meta_get_string_array(model, "strings", SIZE_MAX, &array, NULL), WB_OK);
    for (unsigned i = 0; i < 3000; i++) {
        char *text = text_of("%*u", (int)(i % 97), i);
        const char *value;
        size_t len;
        assert_int_equal(wb_meta_string_at(&array, i, &value, &len), WB_OK);
        assert_string_equal(value, text);
        free(text);
    }
    wb_close(model);
    gguf_free(&g);
}

/* The header limit that the caller sets must be observed. */
static void header_limit(void **state)
{
    (void)state;
    gguf g = make_file(false);
    wb_limits limits;
    wb_limits_default(&limits);
    for (limits.gguf_header = 0; limits.gguf_header <= g.n; limits.gguf_header += 61) {
        wb_open_options options = {.size = sizeof options, .limits = &limits};
        wb_model *model;
        wb_error error;
        wb_status status = wb_open_memory(g.bytes, g.n, "test.gguf", &options, &model, &error);
        if (limits.gguf_header < g.n) {
            assert_int_equal(status, WB_ERROR_LIMIT);
            assert_string_equal(error.code, "gguf-header-too-large");
        } else {
            assert_int_equal(status, WB_OK);
        }
        wb_close(model);
    }
    gguf_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian),
        cmocka_unit_test(big_endian),
        cmocka_unit_test(header_that_moves),
        cmocka_unit_test(header_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
