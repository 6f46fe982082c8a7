/*
 * Tests archives of many small members. The memory that opening needs must be bounded by the file
 * size, whatever the order of the directory and the contents and names of the members.
 */
#include "support.h"

typedef struct bytes {
    uint8_t *p;
    size_t n, capacity;
} bytes;

static void put(bytes *to, const void *from, size_t n)
{
    if (to->n + n > to->capacity) {
        to->capacity = 2 * (to->n + n);
        to->p = realloc(to->p, to->capacity);
        assert_non_null(to->p);
    }
    memcpy(to->p + to->n, from, n);
    to->n += n;
}

static void put_number(bytes *to, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        put(to, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

/* Computes CRC-32 bit by bit. */
static uint32_t crc_of(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

/* Writes the fields that a local header and a directory entry have in common, from the flags to the
 * length of the extra field. */
static void put_facts(bytes *to, const char *name, const uint8_t *data, size_t n)
{
    put_number(to, 0, 2);
    put_number(to, 0, 2);
    put_number(to, 0, 4);
    put_number(to, crc_of(data, n), 4);
    put_number(to, (uint32_t)n, 4);
    put_number(to, (uint32_t)n, 4);
    put_number(to, (uint32_t)strlen(name), 2);
    put_number(to, 0, 2);
}

static void put_entry(bytes *to, const char *name, const uint8_t *data, size_t n, uint32_t at)
{
    put(to, "PK\1\2\24\0\24\0", 8);
    put_facts(to, name, data, n);
    put_number(to, 0, 6);
    put_number(to, 0, 4);
    put_number(to, at, 4);
    put(to, name, strlen(name));
}

enum { ARRAYS, OTHERS, SAME_NAME };

/* Builds an archive of `count` members. Its directory lists them in file order or backwards. */
static bytes make(uint32_t count, int kind, bool backwards)
{
    bytes body = {0}, whole = {0};
    bytes *entries = calloc(count, sizeof *entries);
    assert_non_null(entries);
    for (uint32_t i = 0; i < count; i++) {
        char name[32], header[128], text[96];
        int n = 0, dict = snprintf(text, sizeof text,
                                   "{'descr':'|b1','fortran_order':False,'shape':(0,%u)}", i);
        (void)snprintf(name, sizeof name, kind == OTHERS ? "%u" : "%u.npy",
                       kind == SAME_NAME ? 0 : i);
        if (kind != OTHERS)
            n = snprintf(header, sizeof header, "\x93NUMPY\1%c%c%c%s", 0, dict, 0, text);
        assert_true(n < (int)sizeof header);
        uint32_t at = (uint32_t)body.n;
        put(&body, "PK\3\4\24\0", 6);
        put_facts(&body, name, (uint8_t *)header, (size_t)n);
        put(&body, name, strlen(name));
        put(&body, header, (size_t)n);
        put_entry(&entries[i], name, (uint8_t *)header, (size_t)n, at);
    }
    put(&whole, body.p, body.n);
    for (uint32_t i = 0; i < count; i++) {
        bytes *entry = &entries[backwards ? count - 1 - i : i];
        put(&whole, entry->p, entry->n);
    }
    uint32_t directory = (uint32_t)(whole.n - body.n);
    put(&whole, "PK\5\6\0\0\0\0", 8);
    put_number(&whole, count, 2);
    put_number(&whole, count, 2);
    put_number(&whole, directory, 4);
    put_number(&whole, (uint32_t)body.n, 4);
    put_number(&whole, 0, 2);
    for (uint32_t i = 0; i < count; i++)
        free(entries[i].p);
    free(entries);
    free(body.p);
    return whole;
}

static void check(uint32_t count, int kind, bool backwards)
{
    bytes file = make(count, kind, backwards);
    counter heap = {0};
    wb_allocator allocator = counter_allocator(&heap);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open_memory(file.p, file.n, "x.npz", &options, &model, &error);
    if (kind == SAME_NAME) {
        assert_int_equal(status, WB_ERROR_FORMAT);
        assert_string_equal(error.code, "npz-duplicate");
    } else {
        if (status != WB_OK)
            fail_msg("%s at %llu\n", error.message, (unsigned long long)error.offset);
        assert_int_equal(wb_tensor_count(model), kind == ARRAYS ? count : 0);
        uint64_t index;
        assert_int_equal(wb_tensor_find(model, "1", SIZE_MAX, &index),
                         kind == ARRAYS ? WB_OK : WB_ERROR_NOT_FOUND);
    }
    if (heap.peak > 8 * file.n + (1u << 20))
        fail_msg("%zu bytes of memory for %zu\n", heap.peak, file.n);
    wb_close(model);
    assert_clean(&heap);
    free(file.p);
}

static void test_many(void **state)
{
    const uint32_t count = is_slow() ? 2000 : 60000;
    (void)state;
    for (int kind = ARRAYS; kind <= SAME_NAME; kind++) {
        check(count, kind, false);
        check(count, kind, true);
    }
}

/* ---- decompression ---- */

enum { PACKED = 1 << 20, HEADER = 128 };

static void put_compressed_facts(bytes *to, uint64_t unpacked)
{
    put_number(to, 0, 2);
    put_number(to, 8, 2);
    put_number(to, 0, 4);
    put_number(to, 0, 4); /* the checksum, which is not compared when a file is opened */
    put_number(to, PACKED, 4);
    put_number(to, unpacked, 4);
    put_number(to, 5, 2);
    put_number(to, 0, 2);
}

/*
 * Builds an archive with one array of bytes, compressed to PACKED bytes. Opening decompresses only
 * the header of the array, so the data is left out.
 */
static bytes make_compressed(uint64_t unpacked)
{
    bytes file = {0};
    char text[64];
    int n = snprintf(text, sizeof text, "{'descr':'|u1','fortran_order':False,'shape':(%llu,)}",
                     (unsigned long long)(unpacked - HEADER));
    put(&file, "PK\3\4\24\0", 6);
    put_compressed_facts(&file, unpacked);
    put(&file, "a.npy", 5);
    size_t begin = file.n;
    put_number(&file, 0, 1); /* a block without compression follows */
    put_number(&file, HEADER, 2);
    put_number(&file, 0xFFFF - HEADER, 2);
    put(&file, "\x93NUMPY\1\0v\0", 10);
    put(&file, text, (size_t)n);
    while (file.n < begin + 5 + HEADER)
        put(&file, file.n < begin + 4 + HEADER ? " " : "\n", 1);
    while (file.n < begin + PACKED) /* blocks without contents */
        put(&file, "\0\0\0\xFF\xFF", begin + PACKED - file.n < 5 ? begin + PACKED - file.n : 5);
    size_t directory = file.n;
    put(&file, "PK\1\2\24\0\24\0", 8);
    put_compressed_facts(&file, unpacked);
    put_number(&file, 0, 6);
    put_number(&file, 0, 8);
    put(&file, "a.npy", 5);
    size_t end = file.n;
    put(&file, "PK\5\6\0\0\0\0\1\0\1\0", 12);
    put_number(&file, end - directory, 4);
    put_number(&file, directory, 4);
    put_number(&file, 0, 2);
    return file;
}

/* Opening must accept a file whose arrays are 256 MiB larger than 16 times the size of their
 * compressed data, and refuse a file whose arrays have one more byte. */
static void test_expansion(void **state)
{
    const uint64_t most = 16 * (uint64_t)PACKED + ((uint64_t)256 << 20);
    (void)state;
    for (uint64_t more = 0; more < 2; more++) {
        bytes file = make_compressed(most + more);
        wb_model *model;
        wb_error error;
        wb_status status = wb_open_memory(file.p, file.n, "x.npz", NULL, &model, &error);
        if (status != WB_ERROR_UNSUPPORTED) /* unsupported if zlib is not installed */
            assert_int_equal(status, more == 0 ? WB_OK : WB_ERROR_LIMIT);
        if (status == WB_ERROR_LIMIT)
            assert_string_equal(error.code, "npz-expansion");
        wb_close(model);
        free(file.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_expansion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
