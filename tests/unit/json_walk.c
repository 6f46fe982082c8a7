/* Tests wb_json_walk, with which the wb command reads JSON. */
#include "weighbridge.h"
#include "weighbridge/experimental.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

typedef struct notes {
    char text[512];
    size_t len;
    unsigned most; /* stops after this number of items */
} notes;

static int note(void *ctx, const wb_json_item *item)
{
    notes *n = ctx;
    char *at = n->text + n->len;
    size_t room = sizeof n->text - n->len;
    int wrote = 0;
    switch (item->kind) {
    case WB_JSON_OBJECT: wrote = snprintf(at, room, "{"); break;
    case WB_JSON_OBJECT_END: wrote = snprintf(at, room, "}"); break;
    case WB_JSON_ARRAY: wrote = snprintf(at, room, "["); break;
    case WB_JSON_ARRAY_END: wrote = snprintf(at, room, "]"); break;
    case WB_JSON_KEY: wrote = snprintf(at, room, "%.*s=", (int)item->len, item->text); break;
    case WB_JSON_STRING: wrote = snprintf(at, room, "'%.*s'", (int)item->len, item->text); break;
    case WB_JSON_UINT:
        wrote = snprintf(at, room, "u%llu ", (unsigned long long)item->number);
        break;
    case WB_JSON_NUMBER: wrote = snprintf(at, room, "n%g ", item->real); break;
    case WB_JSON_BOOL: wrote = snprintf(at, room, "b%u ", (unsigned)item->number); break;
    case WB_JSON_NULL: wrote = snprintf(at, room, "null "); break;
    }
    n->len += (size_t)wrote;
    return n->most != 0 && --n->most == 0;
}

static void in_order(void **state)
{
    static const char text[] =
        " {\"a\": [1, -2.5, \"x\\n\\u00e9\"], \"b\": {\"c\": null, \"d\": true}, "
        "\"e\": false, \"f\": 18446744073709551615} ";
    notes n = {.len = 0};
    wb_error error;
    (void)state;
    assert_int_equal(wb_json_walk(text, strlen(text), note, &n, &error), WB_OK);
    assert_string_equal(n.text, "{a=[u1 n-2.5 'x\n\xc3\xa9']b={c=null d=b1 }e=b0 "
                                "f=u18446744073709551615 }");
}

static void stops(void **state)
{
    static const char text[] = "[1, 2, 3]";
    notes n = {.most = 3};
    wb_error error;
    (void)state;
    assert_int_equal(wb_json_walk(text, strlen(text), note, &n, &error), WB_ERROR_CANCELLED);
    assert_string_equal(n.text, "[u1 u2 ");
}

static int note_whole(void *ctx, const wb_json_item *item)
{
    notes *n = ctx;
    if (item->kind == WB_JSON_UINT || item->kind == WB_JSON_NUMBER)
        n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len, "%d:%llu ",
                                   item->whole, (unsigned long long)item->number);
    return 0;
}

/* Integers must be exact, even those that a double cannot represent. */
static void whole_numbers(void **state)
{
    static const char text[] =
        "[7, -9007199254740993, 2.0, 1e3, -1.50e1, 0.0, -0, -18446744073709551615,"
        " -18446744073709551616, 1.5, 1e20, -0.99999999999999999999, 0e9999, 1e-1]";
    notes n = {.len = 0};
    wb_error error;
    (void)state;
    assert_int_equal(wb_json_walk(text, strlen(text), note_whole, &n, &error), WB_OK);
    assert_string_equal(n.text, "1:7 1:9007199254740993 1:2 1:1000 1:15 1:0 1:0 "
                                "1:18446744073709551615 0:0 0:0 0:0 0:0 1:0 0:0 ");
}

static void refuses(void **state)
{
    static const struct {
        const char *text;
        uint64_t offset;
    } rows[] = {{"", 0},   {"{\"a\":1,}", 7}, {"[1 2]", 3},  {"\"\\x\"", 1},  {"{\"a\"", 4},
                {"7B", 1}, {"[1] [2]", 4},    {"{} \n}", 4}, {"1,\"b\":2", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        notes n = {.len = 0};
        wb_error error;
        assert_int_equal(wb_json_walk(rows[i].text, strlen(rows[i].text), note, &n, &error),
                         WB_ERROR_FORMAT);
        assert_true(error.offset == rows[i].offset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order), cmocka_unit_test(stops),
                                       cmocka_unit_test(whole_numbers), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
