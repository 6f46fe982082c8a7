/*
 * Tests long string arrays. The library reads them in several lanes, which begin at guessed offsets
 * in the array (src/formats/gguf/gguf_strings.c). The test strings make the guesses right, wrong or
 * impossible, and have short and long lengths. The strings read must equal those written, in both
 * byte orders, from memory and from a source that gives few bytes per read. Also tests truncated
 * files and wrong lengths.
 */
#include "support.h"

#include "gguf_build.h"

typedef struct dribble {
    const gguf *file;
    size_t most; /* maximum number of bytes that one read returns */
} dribble;

static wb_status dribble_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const dribble *d = ctx;
    size_t left = offset < d->file->n ? d->file->n - (size_t)offset : 0;
    *got = n < d->most ? n : d->most;
    *got = *got < left ? *got : left;
    if (*got > 0)
        memcpy(dst, d->file->bytes + offset, *got);
    return WB_OK;
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Writes string i to `to`, a buffer of 70,000 bytes, and returns its length. */
typedef size_t make_text(char *to, uint64_t i, uint32_t *random);

static size_t letters(char *to, size_t n, uint32_t *random)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)('a' + draw(random) % 26);
    return n;
}

static size_t words(char *to, uint64_t i, uint32_t *random)
{
    (void)i;
    return letters(to, 1 + draw(random) % 24, random);
}

static size_t nothing(char *to, uint64_t i, uint32_t *random)
{
    (void)to;
    (void)i;
    (void)random;
    return 0;
}

/* Makes words of which some are empty. The length of an empty word consists of zeros. These zeros
 * and the letter before them look like a length too, so the library may guess an offset that is
 * wrong by one byte. */
static size_t sometimes_nothing(char *to, uint64_t i, uint32_t *random)
{
    return i % 3 == 0 ? 0 : words(to, i, random);
}

/* Makes strings of zeros, some with one other byte, which look like lengths, so that most guesses
 * are wrong. */
static size_t zeros(char *to, uint64_t i, uint32_t *random)
{
    size_t n = draw(random) % 60;
    memset(to, 0, n);
    if (i % 2 == 0 && n > 0)
        to[draw(random) % n] = (char)(1 + draw(random) % 200);
    return n;
}

static size_t any_bytes(char *to, uint64_t i, uint32_t *random)
{
    size_t n = draw(random) % 300;
    for (size_t k = 0; k < n; k++)
        to[k] = (char)(draw(random) % 5 == 0 ? draw(random) : 0);
    (void)i;
    return n;
}

/* Makes some strings that are longer than the 255 bytes that the reader accepts when it guesses the
 * start of a lane, or whose length does not fit into the 16 bits that a lane uses. */
static size_t long_ones(char *to, uint64_t i, uint32_t *random)
{
    static const size_t lengths[] = {255, 256, 257, 300, 65535, 65536, 65537, 3, 4096};
    return i % 97 == 0 ? letters(to, lengths[i / 97 % 9], random) : words(to, i, random);
}

static const struct kind {
    const char *name;
    make_text *make;
} kinds[] = {
    {"words", words}, {"nothing", nothing},     {"sometimes nothing", sometimes_nothing},
    {"zeros", zeros}, {"any bytes", any_bytes}, {"long ones", long_ones},
};

#define KINDS (sizeof kinds / sizeof kinds[0])
#define SEED 12345u

/* Builds a file with two arrays of `count` strings and a number between them. */
static gguf make_file(const struct kind *kind, uint64_t count, bool big)
{
    static char text[70000];
    gguf g;
    uint32_t random = SEED;
    gguf_start(&g, big, 0, 3);
    for (int array = 0; array < 2; array++) {
        gguf_key(&g, array == 0 ? "a" : "b", ARR);
        gguf_array(&g, STR, count);
        for (uint64_t i = 0; i < count; i++)
            gguf_text(&g, text, kind->make(text, i, &random));
        if (array == 0)
            gguf_number(&g, "n", U32, 77, 4);
    }
    gguf_pad(&g, 32);
    return g;
}

static void check_array(const wb_model *model, const struct kind *kind, const char *key,
                        uint64_t count, uint32_t *random)
{
    static char text[70000];
    wb_meta_array array = {.size = sizeof array};
    assert_int_equal(wb_meta_get_array(model, key, SIZE_MAX, WB_META_ANY, &array, NULL), WB_OK);
    assert_true(array.count == count);
    for (uint64_t i = 0; i < count; i++) {
        const char *got;
        size_t len, expected = kind->make(text, i, random);
        assert_int_equal(wb_meta_string_at(&array, i, &got, &len), WB_OK);
        if (len != expected || memcmp(got, text, len) != 0 || got[len] != '\0')
            fail_msg("%s: string %d of %s differs\n", kind->name, (int)i, key);
    }
}

static void check_file(const gguf *g, const struct kind *kind, uint64_t count, size_t most)
{
    wb_model *model;
    wb_error error;
    dribble d = {g, most};
    wb_source source = {.size = sizeof source, .ctx = &d, .bytes = g->n, .read = dribble_read};
    wb_status status = most == 0 ? wb_open_memory(g->bytes, g->n, "x.gguf", NULL, &model, &error)
                                 : wb_open_source(&source, "x.gguf", NULL, &model, &error);
    if (status != WB_OK)
        fail_msg("%s: %s\n", kind->name, error.message);
    uint32_t random = SEED;
    uint64_t number;
    check_array(model, kind, "a", count, &random);
    check_array(model, kind, "b", count, &random);
    assert_int_equal(wb_meta_get_uint(model, "n", SIZE_MAX, &number, NULL), WB_OK);
    assert_true(number == 77);
    wb_close(model);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1, 15, 16, 17, 2047, 2048, 2049, 6000, 30001};
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0] - (is_slow() ? 2 : 0); i++) {
            for (int big = 0; big < 2; big++) {
                gguf g = make_file(&kinds[k], counts[i], big);
                check_file(&g, &kinds[k], counts[i], 0);
                check_file(&g, &kinds[k], counts[i], 100 + 1777 * k);
                gguf_free(&g);
            }
        }
    }
}

static uint64_t number_at(const gguf *g, size_t at)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)g->bytes[at + (g->big ? 7 - i : i)] << 8 * i;
    return v;
}

/* Returns the offset of the first incomplete string in a file that is truncated to n bytes. The
 * reader must report the error at this offset. */
static size_t string_cut(const gguf *g, size_t n)
{
    size_t at = 24 + 8 + 1 + 4 + 4 + 8; /* file header, a one-byte key, type and count */
    while (at + 8 <= n && number_at(g, at) <= n - at - 8)
        at += 8 + (size_t)number_at(g, at);
    return at;
}

static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        gguf g;
        static char text[70000];
        uint32_t random = SEED;
        uint64_t count = 8000;
        gguf_start(&g, k % 2, 0, 1);
        gguf_key(&g, "a", ARR);
        gguf_array(&g, STR, count);
        for (uint64_t i = 0; i < count; i++)
            gguf_text(&g, text, kinds[k].make(text, i, &random));
        for (int i = 0; i < (is_slow() ? 5 : 100); i++) {
            size_t least =
                49 + 8 * (size_t)count; /* in a smaller file, the declared number of strings is
                                         * the error */
            if (g.n <= least)
                break;
            size_t n = least + draw(&random) % (g.n - least);
            wb_model *model;
            wb_error error;
            assert_int_equal(wb_open_memory(g.bytes, n, "x.gguf", NULL, &model, &error),
                             WB_ERROR_FORMAT);
            assert_int_equal(error.offset, string_cut(&g, n));
        }
        gguf_free(&g);
    }
}

/* A string in the middle of the array has a length that exceeds the file. */
static void wrong_length(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {UINT64_MAX,        UINT64_MAX - 7, (uint64_t)1 << 56,
                                       (uint64_t)1 << 32, 0x7FFFFFFF,     1000000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (int big = 0; big < 2; big++) {
            gguf g;
            gguf_start(&g, big, 0, 1);
            gguf_key(&g, "a", ARR);
            gguf_array(&g, STR, 8000);
            size_t wrong = 0;
            for (int k = 0; k < 8000; k++) {
                if (k == 1234 + 100 * (int)i)
                    wrong = g.n;
                gguf_string(&g, k % 2 ? "word" : "longer word");
            }
            for (unsigned b = 0; b < 8; b++)
                g.bytes[wrong + (big ? 7 - b : b)] = (uint8_t)(lengths[i] >> 8 * b);
            wb_model *model;
            wb_error error;
            assert_int_equal(wb_open_memory(g.bytes, g.n, "x.gguf", NULL, &model, &error),
                             WB_ERROR_FORMAT);
            assert_int_equal(error.offset, wrong);
            gguf_free(&g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(wrong_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
