/* Tests core/memory.h: the default allocator, arenas, growth of blocks, and lists. */
#include "support.h"

#include "core/memory.h"

static bool is_zero(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* Tests sizes around the thresholds of the default allocator. Blocks must be aligned and writable
 * to the last byte. */
static void default_gives_blocks(void **state)
{
    (void)state;
    static const size_t sizes[] = {
        0, 1, 4096, (1 << 20) - 1, 1 << 20, 1 << 21, (1 << 21) + 1, 5000000, (size_t)3 << 20};
    const wb_allocator *a = &wb__default_allocator;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        unsigned char *block = wb__alloc(a, n);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % sizeof(max_align_t) % 16, 0);
        memset(block, 0xA5, n);
        wb__free(a, block, n);
        block = wb__alloc_zeroed(a, n);
        assert_non_null(block);
        assert_true(is_zero(block, n));
        wb__free(a, block, n);
    }
    wb__free(a, NULL, 7);
}

static void default_refuses_the_impossible(void **state)
{
    (void)state;
    const wb_allocator *a = &wb__default_allocator;
    volatile size_t huge =
        SIZE_MAX - 4096; /* volatile, so that the compiler does not diagnose the size */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__has_feature)
    assert_null(wb__alloc(a, huge));
    assert_null(wb__alloc(a, huge / 2 + 4096));
#else
    (void)a;
    (void)huge;
#endif
}

static void grows_within_its_ceiling(void **state)
{
    (void)state;
    counter memory = {0};
    wb_allocator a = counter_allocator(&memory);
    void *items = NULL;
    size_t capacity = 0;
    assert_true(wb__grow(&a, &items, &capacity, 4, 0, 100)); /* nothing to do */
    assert_null(items);
    for (size_t need = 1; need <= 100; need++) {
        assert_true(wb__grow(&a, &items, &capacity, 4, need, 100));
        assert_true(capacity >= need && capacity <= 100);
        ((uint32_t *)items)[need - 1] = (uint32_t)need;
    }
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(((uint32_t *)items)[i], i + 1);
    assert_true(memory.calls <= 6); /* capacity doubles */
    void *before = items;
    assert_false(wb__grow(&a, &items, &capacity, 4, 101, 100));
    assert_false(wb__grow(&a, &items, &capacity, 4, SIZE_MAX, SIZE_MAX)); /* the size overflows */
    memory.fail_at = memory.calls + 1;
    assert_false(wb__grow(&a, &items, &capacity, 4, 101, 1000));
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, 100);
    wb__free(&a, items, capacity * 4);
    assert_clean(&memory);
}

static void arena_gives_blocks_and_texts(void **state)
{
    (void)state;
    counter memory = {0};
    wb_allocator a = counter_allocator(&memory);
    wb__arena arena = {.allocator = &a};
    uint64_t random = 1;
    struct block {
        unsigned char *at;
        size_t n;
    } blocks[600];
    size_t sum = 0;
    for (size_t i = 0; i < 600; i++) {
        size_t n = (size_t)(next_random(&random) >> 40) % (i % 50 == 0 ? 100000 : 200);
        bool is_text = i % 3 == 0;
        blocks[i].n = n;
        blocks[i].at =
            is_text ? (unsigned char *)wb__arena_text(&arena, n) : wb__arena_alloc(&arena, n);
        assert_non_null(blocks[i].at);
        if (!is_text)
            assert_int_equal((uintptr_t)blocks[i].at % 8, 0);
        memset(blocks[i].at, (int)(i % 251), n);
        sum += n;
    }
    for (size_t i = 0; i < 600; i++) { /* blocks must not overlap */
        for (size_t k = 0; k < blocks[i].n; k++)
            assert_int_equal(blocks[i].at[k], i % 251);
    }
    assert_true(memory.live < sum + sum / 2 + (1 << 20));
    wb__arena_free(&arena);
    assert_clean(&memory);
    wb__arena_free(&arena); /* a freed arena must be usable again */
    assert_non_null(wb__arena_alloc(&arena, 5));
    wb__arena_free(&arena);
    assert_clean(&memory);
}

static void arena_of_nothing(void **state)
{
    (void)state;
    wb__arena arena = {.allocator = &wb__default_allocator};
    assert_non_null(wb__arena_alloc(&arena, 0)); /* used for the empty shape of a scalar */
    wb__arena_free(&arena);
    assert_non_null(wb__arena_text(&arena, 0));
    wb__arena_free(&arena);
    char *copy = wb__arena_copy(&arena, NULL, 0);
    assert_string_equal(copy, "");
    assert_null(wb__arena_copy(&arena, "x", SIZE_MAX));
    assert_null(wb__arena_alloc(&arena, SIZE_MAX));
    assert_null(wb__arena_text(&arena, SIZE_MAX - 8));
    char *with_nul = wb__arena_copy(&arena, "a\0b", 3);
    assert_memory_equal(with_nul, "a\0b", 4);
    wb__arena_free(&arena);
}

/* A large allocation must not increase the size of the arena's later blocks. */
static void arena_with_large_blocks(void **state)
{
    (void)state;
    counter memory = {0};
    wb_allocator a = counter_allocator(&memory);
    wb__arena arena = {.allocator = &a};
    assert_non_null(wb__arena_alloc(&arena, (size_t)3 << 20));
    assert_non_null(wb__arena_alloc(&arena, 100));
    assert_non_null(wb__arena_alloc(&arena, (size_t)3 << 20));
    assert_non_null(wb__arena_alloc(&arena, 100));
    assert_true(memory.live < ((size_t)6 << 20) + 10000);
    assert_int_equal(memory.blocks, 3);
    memory.fail_at = memory.calls + 1;
    assert_null(wb__arena_alloc(&arena, (size_t)3 << 20));
    assert_non_null(wb__arena_alloc(&arena, 100));
    wb__arena_free(&arena);
    assert_clean(&memory);
}

static void list_keeps_its_items(void **state)
{
    (void)state;
    counter memory = {0};
    wb_allocator a = counter_allocator(&memory);
    wb__arena arena = {.allocator = &a};
    wb__list list = {.arena = &arena, .item_size = sizeof(uint64_t)};
    const uint64_t *first = NULL;
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t *item = wb__list_append(&list);
        assert_non_null(item);
        *item = i * i;
        if (i == 0)
            first = item;
    }
    assert_ptr_equal(wb__list_at(&list, 0), first); /* items must not move */
    for (size_t i = 0; i < 3000; i++)
        assert_true(*(uint64_t *)wb__list_at(&list, i) == (uint64_t)i * i);
    size_t calls = memory.calls;
    memory.fail_at = calls + 1;
    memory.for_good = true;
    size_t before = list.count;
    while (wb__list_append(&list) != NULL) {
    }
    assert_true(list.count >= before && list.count % WB__LIST_CHUNK == 0);
    wb__list_free(&list);
    wb__arena_free(&arena);
    assert_clean(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(default_gives_blocks),
                                       cmocka_unit_test(default_refuses_the_impossible),
                                       cmocka_unit_test(grows_within_its_ceiling),
                                       cmocka_unit_test(arena_gives_blocks_and_texts),
                                       cmocka_unit_test(arena_of_nothing),
                                       cmocka_unit_test(arena_with_large_blocks),
                                       cmocka_unit_test(list_keeps_its_items)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
