/*
 * Tests the pull parser with the files of data/json. A file y_… is a valid JSON text; n_atN_… is
 * invalid at byte N. Parsing a text that is read in parts of any size must give the same tokens as
 * parsing from memory. Further tests: values, skipping, limits, and the set of keys.
 */
#include "support.h"

#include <dirent.h>

#include "json/json.h"

#define FOLDER TEST_DATA "/json"

/* ---- a text that is read a few bytes at a time ---- */

typedef struct window {
    const unsigned char *bytes;
    uint8_t buffer[512];
} window;

static bool fill(wb__cursor *c)
{
    window *w = c->fill_ctx;
    size_t kept = wb__cursor_at_hand(c);
    size_t n = c->reach - kept;
    if (n > c->limit - c->end_at)
        n = (size_t)(c->limit - c->end_at);
    if (n == 0)
        return false;
    memmove(w->buffer, c->p, kept);
    memcpy(w->buffer + kept, w->bytes + c->end_at, n);
    c->p = w->buffer;
    c->end = w->buffer + kept + n;
    c->end_at += n;
    return true;
}

static wb__cursor cursor_of(window *w, const unsigned char *bytes, size_t n, size_t reach)
{
    w->bytes = bytes;
    if (reach == 0)
        return wb__cursor_over(bytes, n);
    return (wb__cursor){
        .p = w->buffer, .end = w->buffer, .limit = n, .fill = fill, .fill_ctx = w, .reach = reach};
}

/* ---- the tokens of a parser, as text ---- */

typedef struct transcript {
    char *text;
    size_t len, capacity;
} transcript;

static void say(transcript *t, const void *bytes, size_t n)
{
    if (t->capacity - t->len < n + 1) {
        t->capacity = (t->capacity + n) * 2 + 100;
        t->text = realloc(t->text, t->capacity);
        assert_non_null(t->text);
    }
    if (n != 0)
        memcpy(t->text + t->len, bytes, n);
    t->len += n;
    t->text[t->len] = '\0';
}

static void say_number(transcript *t, uint64_t v)
{
    char text[24];
    say(t, text, (size_t)snprintf(text, sizeof text, "%llu ", (unsigned long long)v));
}

static void say_token(transcript *t, const wb__json *json)
{
    say_number(t, json->token);
    say_number(t, json->at);
    switch (json->token) {
    case WB__JSON_KEY:
    case WB__JSON_STRING: say(t, json->text.ptr, json->text.len); break;
    case WB__JSON_UINT: say_number(t, json->uint); break;
    case WB__JSON_REAL: say_number(t, wb__json_real_bits(json)); break;
    case WB__JSON_FAULT: say_number(t, json->fault); break;
    default: break;
    }
    say(t, "\n", 1);
}

/* Parses a text. Returns the offset of an error or of data after the value; UINT64_MAX: neither. */
static uint64_t parse(const unsigned char *bytes, size_t n, size_t reach, transcript *t)
{
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    window w;
    wb__cursor cursor = cursor_of(&w, bytes, n, reach);
    wb__json json;
    uint64_t at = UINT64_MAX;
    wb__json_start(&json, &cursor, &allocator);
    while (wb__json_next(&json) > WB__JSON_END)
        say_token(t, &json);
    say_token(t, &json);
    assert_int_equal(wb__json_next(&json),
                     json.token); /* the parser does not advance after an error */
    if (json.token == WB__JSON_FAULT) {
        assert_true(wb__json_fault_text(json.fault)[0] != '\0');
        at = json.at;
    } else {
        int c;
        while ((c = wb__cursor_peek(&cursor)) == ' ' || c == '\n' || c == '\r' || c == '\t')
            cursor.p++;
        if (c >= 0)
            at = wb__cursor_at(&cursor);
    }
    wb__json_stop(&json);
    assert_clean(&memory);
    return at;
}

static void run_file(const char *name)
{
    static const size_t reaches[] = {16, 17, 19, 23, 31, 64, 257};
    char *path = text_of(FOLDER "/%s", name);
    size_t n;
    unsigned char *bytes = read_file(path, &n);
    transcript whole = {NULL, 0, 0};
    uint64_t at = parse(bytes, n, 0, &whole);
    uint64_t expected = name[0] == 'y' ? UINT64_MAX : strtoull(name + 4, NULL, 10);
    if (at != expected)
        fail_msg("%s: %lld, expected %lld\n", name, (long long)at, (long long)expected);
    for (size_t i = 0; i < sizeof reaches / sizeof reaches[0]; i++) {
        transcript through = {NULL, 0, 0};
        assert_true(parse(bytes, n, reaches[i], &through) == at);
        if (through.len != whole.len || memcmp(through.text, whole.text, whole.len) != 0)
            fail_msg("%s: other tokens through a window of %zu bytes\n", name, reaches[i]);
        free(through.text);
    }
    free(whole.text);
    free(bytes);
    free(path);
}

static void files(void **state)
{
    (void)state;
    size_t count = 0;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, "y_", 2) != 0 && strncmp(entry->d_name, "n_at", 4) != 0)
            continue;
        run_file(entry->d_name);
        count++;
    }
    (void)closedir(folder);
    assert_true(count >= 190);
}

/* ---- values ---- */

typedef struct fixture {
    counter memory;
    wb_allocator allocator;
    wb__cursor cursor;
    wb__json json;
} fixture;

static void begin(fixture *f, const char *text)
{
    f->memory = (counter){0};
    f->allocator = counter_allocator(&f->memory);
    f->cursor = wb__cursor_over(text, strlen(text));
    wb__json_start(&f->json, &f->cursor, &f->allocator);
}

static void end(fixture *f)
{
    wb__json_stop(&f->json);
    assert_clean(&f->memory);
}

static void assert_text(const fixture *f, const char *expected, size_t n)
{
    assert_int_equal(f->json.text.len, n);
    assert_memory_equal(f->json.text.ptr, expected, n);
}

static void gives_values(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "{\"a\":18446744073709551615,\"b\":[-0,0,1e2,\"\\u0000\\ud83d\\ude00\"],\"\":null}");
    assert_int_equal(wb__json_next(&f.json), WB__JSON_OBJECT);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_KEY);
    assert_text(&f, "a", 1);
    assert_int_equal(f.json.at, 1);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_UINT);
    assert_true(f.json.uint == UINT64_MAX);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_KEY);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_ARRAY);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_REAL); /* -0 is not an unsigned integer */
    assert_true(wb__json_real_bits(&f.json) == UINT64_C(1) << 63);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_UINT);
    assert_true(f.json.uint == 0 && wb__json_real_bits(&f.json) == 0);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_REAL);
    assert_true(wb__json_real_bits(&f.json) == UINT64_C(0x4059000000000000));
    assert_int_equal(wb__json_next(&f.json), WB__JSON_STRING);
    assert_text(&f, "\0\xF0\x9F\x98\x80", 5);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_ARRAY_END);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_KEY);
    assert_text(&f, "", 0);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_NULL);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_OBJECT_END);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_END);
    end(&f);
}

static void skips(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "[{\"a\":[1,{\"\\n\":[]}],\"b\":2},3,\"\\n\",4]");
    (void)wb__json_next(&f.json);
    assert_true(wb__json_skip(&f.json)); /* skips the array */
    assert_int_equal(wb__json_next(&f.json), WB__JSON_END);
    end(&f);

    begin(&f, "[{\"a\":[1,{\"\\n\":[]}],\"b\":2},3,\"\\n\",4]");
    (void)wb__json_next(&f.json);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_OBJECT);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_KEY);
    assert_true(wb__json_skip(&f.json)); /* skips the value of "a" */
    assert_int_equal(f.memory.calls, 0); /* no string was unescaped into memory */
    assert_int_equal(wb__json_next(&f.json), WB__JSON_KEY);
    assert_text(&f, "b", 1);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_UINT);
    assert_true(wb__json_skip(&f.json)); /* does nothing: a scalar is already consumed */
    assert_int_equal(wb__json_next(&f.json), WB__JSON_OBJECT_END);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_UINT);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_STRING);
    assert_text(&f, "\n", 1); /* after skipping, strings are unescaped again */
    end(&f);

    begin(&f, "{\"a\":[1,{\"b\":\"\\ud800\"}]}");
    (void)wb__json_next(&f.json);
    (void)wb__json_next(&f.json);
    assert_false(wb__json_skip(&f.json));
    assert_int_equal(f.json.fault, WB__JSON_FAULT_SURROGATE);
    assert_int_equal(f.json.at, 14);
    assert_false(wb__json_skip(&f.json));
    end(&f);
}

static void stores_no_discarded_string(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "\"text\"");
    f.json.discard = true;
    assert_int_equal(wb__json_next(&f.json), WB__JSON_STRING);
    assert_int_equal(f.json.text.len, 0);
    end(&f);
}

/* A NUL byte is a wrong byte, and not the end of the text. */
static void refuses_nul(void **state)
{
    (void)state;
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb__cursor cursor = wb__cursor_over("{\0", 2);
    wb__json json;
    wb__json_start(&json, &cursor, &allocator);
    assert_int_equal(wb__json_next(&json), WB__JSON_OBJECT);
    assert_int_equal(wb__json_next(&json), WB__JSON_FAULT);
    assert_int_equal(json.fault, WB__JSON_FAULT_KEY);
    wb__json_stop(&json);
}

static void limits_strings(void **state)
{
    (void)state;
    static const char *const texts[] = {"[\"12345\",\"123456\"]", "[\"1234\\n\",\"12345\\n\"]"};
    for (int i = 0; i < 2; i++) {
        fixture f;
        begin(&f, texts[i]);
        f.json.max_string = 5;
        (void)wb__json_next(&f.json);
        assert_int_equal(wb__json_next(&f.json), WB__JSON_STRING);
        assert_int_equal(f.json.text.len, 5);
        assert_int_equal(wb__json_next(&f.json), WB__JSON_FAULT);
        assert_int_equal(f.json.fault, WB__JSON_FAULT_STRING_LENGTH);
        end(&f);
    }
}

static void runs_out_of_memory(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "[\"\\n\"]");
    f.memory.fail_at = 1;
    (void)wb__json_next(&f.json);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_FAULT);
    assert_int_equal(f.json.fault, WB__JSON_FAULT_MEMORY);
    end(&f);
}

static bool no_more(wb__cursor *c)
{
    (void)c;
    return false;
}

static void says_that_reading_failed(void **state)
{
    (void)state;
    static const char text[] = "{\"abc\":[1,2,true,\"x\\u00e9\xC3\xA9\"]}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        fixture f;
        begin(&f, "");
        f.cursor = (wb__cursor){.p = (const uint8_t *)text,
                                .end = (const uint8_t *)text + n,
                                .end_at = n,
                                .limit = sizeof text - 1,
                                .fill = no_more,
                                .reach = 64};
        while (wb__json_next(&f.json) > WB__JSON_END) {
        }
        assert_int_equal(f.json.fault, WB__JSON_FAULT_READ);
        end(&f);
    }
}

/* Another parser may consume members at the cursor, as the fast safetensors parser does. */
static void lets_others_take_members(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "{ \"a\":1 , \"b\":2,\"c\":3}");
    assert_false(wb__json_reach_key(&f.json)); /* not in an object yet */
    (void)wb__json_next(&f.json);
    assert_true(wb__json_reach_key(&f.json));
    assert_int_equal(wb__cursor_at(&f.cursor), 2);
    f.cursor.p += 5;
    wb__json_took_members(&f.json);
    assert_true(wb__json_reach_key(&f.json));
    assert_int_equal(wb__cursor_at(&f.cursor), 10);
    assert_int_equal(wb__json_next(&f.json), WB__JSON_KEY);
    assert_text(&f, "b", 1);
    assert_false(wb__json_reach_key(&f.json)); /* at a value, not at a key */
    assert_int_equal(wb__json_next(&f.json), WB__JSON_UINT);
    assert_true(wb__json_reach_key(&f.json));
    f.cursor.p += 5;
    wb__json_took_members(&f.json);
    assert_false(wb__json_reach_key(&f.json));
    assert_int_equal(wb__json_next(&f.json), WB__JSON_OBJECT_END);
    end(&f);

    begin(&f, "{\"a\":1,}");
    (void)wb__json_next(&f.json);
    (void)wb__json_next(&f.json);
    (void)wb__json_next(&f.json);
    assert_false(wb__json_reach_key(&f.json));
    assert_int_equal(wb__json_next(&f.json), WB__JSON_FAULT);
    assert_int_equal(f.json.fault, WB__JSON_FAULT_TRAILING_COMMA);
    assert_int_equal(f.json.at, 7);
    end(&f);
}

static void knows_repeated_keys(void **state)
{
    (void)state;
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb__key_set set;
    bool repeated;
    wb__key_set_start(&set, &allocator);
    for (int round = 0; round < 2; round++) {
        for (uint64_t object = 0; object < 3; object++) {
            for (int i = 0; i < 2000; i++) {
                char key[16];
                int n = snprintf(key, sizeof key, "%d", i);
                assert_true(wb__key_set_add(&set, object, (wb__str){key, (size_t)n}, &repeated));
                assert_int_equal(repeated, round);
            }
        }
    }
    assert_true(wb__key_set_add(&set, 0, WB__STR(""), &repeated));
    assert_false(repeated);
    assert_true(wb__key_set_add(&set, 0, (wb__str){"1\0", 2}, &repeated));
    assert_false(repeated);
    memory.fail_at = memory.calls + 1;
    int i = 0;
    char key[16];
    do {
        (void)snprintf(key, sizeof key, "x%d", i++);
    } while (wb__key_set_add(&set, 0, wb__str_from(key, SIZE_MAX), &repeated));
    memory.fail_at = 0;
    assert_true(wb__key_set_add(&set, 0, WB__STR("7"), &repeated));
    assert_true(repeated); /* the key was in the set */
    wb__key_set_stop(&set);
    assert_clean(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files),
                                       cmocka_unit_test(gives_values),
                                       cmocka_unit_test(skips),
                                       cmocka_unit_test(limits_strings),
                                       cmocka_unit_test(stores_no_discarded_string),
                                       cmocka_unit_test(refuses_nul),
                                       cmocka_unit_test(runs_out_of_memory),
                                       cmocka_unit_test(says_that_reading_failed),
                                       cmocka_unit_test(lets_others_take_members),
                                       cmocka_unit_test(knows_repeated_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
