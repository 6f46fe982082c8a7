/* Tests core/cursor.h: a cursor over memory, a cursor whose fill function reads the data in
 * parts of all sizes, limits, and fill functions that fail. */
#include "support.h"

#include "core/cursor.h"

/* A source that gives at most `step` bytes per fill. */
typedef struct window {
    const uint8_t *bytes;
    size_t step;
    size_t fetched; /* total number of bytes given */
    size_t fail_at; /* a fill at this offset or after it fails; SIZE_MAX: no fill fails */
    uint8_t buffer[64];
} window;

static bool fill(wb__cursor *c)
{
    window *w = c->fill_ctx;
    size_t kept = wb__cursor_at_hand(c);
    size_t n = w->step;
    if (c->end_at >= w->fail_at)
        return false;
    if (n > c->reach - kept)
        n = c->reach - kept;
    if (n > c->limit - c->end_at)
        n = (size_t)(c->limit - c->end_at);
    assert_true(n > 0);
    memmove(w->buffer, c->p, kept);
    memcpy(w->buffer + kept, w->bytes + c->end_at, n);
    c->p = w->buffer;
    c->end = w->buffer + kept + n;
    c->end_at += n;
    w->fetched += n;
    return true;
}

static wb__cursor cursor_through(window *w, size_t bytes, size_t reach)
{
    return (wb__cursor){.p = w->buffer,
                        .end = w->buffer,
                        .limit = bytes,
                        .fill = fill,
                        .fill_ctx = w,
                        .reach = reach};
}

static void counts_in_memory(void **state)
{
    (void)state;
    uint8_t bytes[20];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i + 1);
    wb__cursor c = wb__cursor_over(bytes, sizeof bytes);
    assert_true(wb__cursor_le64(&c) == UINT64_C(0x0807060504030201));
    assert_int_equal(wb__cursor_at(&c), 8);
    assert_int_equal(wb__cursor_left(&c), 12);
    assert_int_equal(wb__cursor_peek(&c), 9);
    assert_int_equal(wb__cursor_at(&c), 8);
    assert_true(wb__cursor_le64(&c) == UINT64_C(0x100f0e0d0c0b0a09));
    assert_false(c.truncated);
    assert_true(wb__cursor_le64(&c) == 0); /* fewer than 8 bytes are left */
    assert_true(c.truncated);
    assert_false(c.failed);
    assert_int_equal(wb__cursor_at(&c), 16);
}

static void is_empty(void **state)
{
    (void)state;
    wb__cursor c = wb__cursor_over(NULL, 0);
    assert_int_equal(wb__cursor_peek(&c), -1);
    assert_false(c.truncated); /* peeking is not an error */
    assert_true(wb__cursor_want(&c, 0));
    assert_false(wb__cursor_want(&c, 1));
    assert_true(c.truncated);
    assert_int_equal(wb__cursor_left(&c), 0);
}

/* Bytes after a lowered limit must not be accessible, even if they are buffered. */
static void minds_its_limit(void **state)
{
    (void)state;
    static const uint8_t bytes[32] = "0123456789abcdefghijklmnopqrstu";
    for (uint64_t limit = 8; limit <= sizeof bytes; limit++) {
        window w = {.bytes = bytes, .step = 20, .fail_at = SIZE_MAX};
        wb__cursor cursors[2] = {wb__cursor_over(bytes, sizeof bytes),
                                 cursor_through(&w, sizeof bytes, 32)};
        for (int i = 0; i < 2; i++) {
            wb__cursor *c = &cursors[i];
            (void)wb__cursor_le64(c);
            wb__cursor_set_limit(c, limit);
            for (uint64_t at = 8; at < limit; at++) {
                assert_int_equal(wb__cursor_at(c), at);
                assert_int_equal(wb__cursor_peek(c), bytes[at]);
                c->p++;
            }
            assert_int_equal(wb__cursor_peek(c), -1);
            assert_int_equal(wb__cursor_left(c), 0);
            assert_false(wb__cursor_want(c, 1));
            assert_true(c->truncated);
            assert_false(c->failed);
        }
        assert_true(w.fetched <= sizeof bytes);
    }
}

/* With every size of the buffer and of a fill, the cursor must give the same bytes and fetch each
 * byte once. */
static void passes_through_windows(void **state)
{
    (void)state;
    uint8_t bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 3);
    for (size_t reach = 8; reach <= 64; reach += 7) {
        for (size_t step = 1; step <= 64; step += 5) {
            window w = {.bytes = bytes, .step = step, .fail_at = SIZE_MAX};
            wb__cursor c = cursor_through(&w, sizeof bytes, reach);
            for (size_t at = 0; at < sizeof bytes;) {
                size_t n = 1 + at % 8;
                if (n > sizeof bytes - at)
                    n = sizeof bytes - at;
                assert_true(wb__cursor_want(&c, n));
                assert_memory_equal(c.p, bytes + at, n);
                c.p += n;
                at += n;
                assert_int_equal(wb__cursor_at(&c), at);
            }
            assert_int_equal(wb__cursor_peek(&c), -1);
            assert_int_equal(w.fetched, sizeof bytes);
        }
    }
}

static void wants_more_than_fits(void **state)
{
    (void)state;
    static const uint8_t bytes[64] = {1};
    window w = {.bytes = bytes, .step = 64, .fail_at = SIZE_MAX};
    wb__cursor c = cursor_through(&w, sizeof bytes, 16);
    assert_false(wb__cursor_want(&c, 17));
    assert_false(c.truncated);
    assert_false(c.failed);
    assert_true(wb__cursor_want(&c, 16)); /* no byte was lost */
    assert_int_equal(*c.p, 1);
}

static void latches_failure(void **state)
{
    (void)state;
    static const uint8_t bytes[64] = {1};
    window w = {.bytes = bytes, .step = 10, .fail_at = 20};
    wb__cursor c = cursor_through(&w, sizeof bytes, 32);
    assert_true(wb__cursor_want(&c, 20));
    assert_false(wb__cursor_want(&c, 21));
    assert_true(c.failed);
    assert_false(c.truncated);
    w.fail_at = SIZE_MAX;
    assert_false(wb__cursor_want(&c, 21)); /* a failed fill is not repeated */
    assert_true(wb__cursor_want(&c, 20));
    c.p = c.end;
    assert_int_equal(wb__cursor_peek(&c), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_in_memory),     cmocka_unit_test(is_empty),
        cmocka_unit_test(minds_its_limit),      cmocka_unit_test(passes_through_windows),
        cmocka_unit_test(wants_more_than_fits), cmocka_unit_test(latches_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
