/*
 * Tests that safetensors headers that are parsed in pieces, on several threads, give the same
 * result as headers that are parsed token by token: the same tensors, metadata, findings and
 * errors. Also tests the memory limit, failed allocations and failed reads.
 */
#include "support.h"

#include <dirent.h>

#include "../../fuzz/support/reading.h"
#include "executor.h"

static size_t threads = 3;

/* ---- small pieces ---- */

static atomic_size_t in_pieces; /* number of tensors that were parsed in pieces */

static const uint8_t *count_members(wb__st_reader *reader, const uint8_t *p, const uint8_t *end,
                                    uint32_t where)
{
    size_t before = reader->table->count;
    const uint8_t *to = wb__st_fast_portable(reader, p, end, where);
    if (reader->kinds_max != SIZE_MAX)
        atomic_fetch_add(&in_pieces, reader->table->count - before);
    return to;
}

static void compare_ways(const uint8_t *text, size_t size, uint64_t file_bytes)
{
    static const size_t pieces[] = {WB__ST_PIECE_MIN, 131, 200, 1024, 5000};
    for (int compatible = 0; compatible < 2; compatible++) {
        reading expected, found;
        read_header(&expected, text, size, file_bytes, &(way){.compatible = compatible});
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            way how = {.fast = count_members,
                       .window = i % 2 * (WB__ST_FAST_MARGIN + 700 * i),
                       .executor = crew_executor(&threads),
                       .piece = pieces[i],
                       .compatible = compatible};
            read_header(&found, text, size, file_bytes, &how);
            compare_readings(&expected, &found);
            end_reading(&found);
        }
        end_reading(&expected);
    }
}

/* Compares the ways of reading (compare_ways) for a file, and for the same file with padding after
 * its header. With this padding, the fast parser reaches the last members. */
static void compare_file(const uint8_t *file, size_t size)
{
    const size_t padding = WB__ST_FAST_MARGIN;
    compare_ways(file, size, size);
    uint64_t header = size < WB__ST_LENGTH_BYTES ? UINT64_MAX : wb__load_le64(file);
    if (header > size - WB__ST_LENGTH_BYTES)
        return;
    size_t begin = WB__ST_LENGTH_BYTES + (size_t)header;
    uint8_t *padded = malloc(size + padding);
    assert_non_null(padded);
    memcpy(padded, file, begin);
    memset(padded + begin, ' ', padding);
    memcpy(padded + begin + padding, file + begin, size - begin);
    wb__store_le64(padded, header + padding);
    compare_ways(padded, size + padding, size + padding);
    free(padded);
}

static void malformed_files(void **state)
{
    (void)state;
    DIR *folder = opendir(TEST_DATA "/bad/safetensors");
    assert_non_null(folder);
    size_t files = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t n;
        if (entry->d_name[0] == '.' || (is_slow() && files++ % 8 != 0))
            continue;
        char *path = text_of("%s/%s", TEST_DATA "/bad/safetensors", entry->d_name);
        unsigned char *bytes = read_file(path, &n);
        compare_file(bytes, n);
        free(bytes);
        free(path);
    }
    assert_int_equal(closedir(folder), 0);
}

/* ---- headers with unusual members at random places ---- */

static uint64_t random_state = 1;

static unsigned below(unsigned n)
{
    return (unsigned)(next_random(&random_state) % n);
}

typedef struct text {
    char *bytes;
    size_t n;
    unsigned long long data;
} text;

#define MEMBERS 300

/* Text before and after the digits of the name of a member. Some names look like the end of a
 * member. Others contain characters that only the JSON parser handles, not the fast parser. */
static const struct name {
    const char *before, *after;
} names[] = {
    {"layers.", ".weight"},     {"a},", "},"}, {"{\\\"b\\\":{}},\\\"", ""}, {"\xC3\xA9", "\\u00e9"},
    {"}", ",\xF0\x9F\x98\x80"}, {"x", "\x01"}, {"broken\xFF", ".weight"},   {"},\\n", ""},
};

static void add_member(text *t, unsigned i, unsigned odd)
{
    static const char *const spaces[] = {"", " ", "\n  "};
    const struct name *name = &names[odd < sizeof names / sizeof *names ? odd : 0];
    unsigned rows = odd == 10 ? i + 1 : 3 + below(3);
    unsigned long long begin = t->data, end = begin + 4ull * rows;
    t->data = end;
    if (odd == 11)
        t->n += (size_t)sprintf(t->bytes + t->n, ",\"__metadata__\":{\"a},\":\"},\",\"b\":\"{\"}");
    t->n += (size_t)sprintf(t->bytes + t->n, "%s%s%*s\"%s%u%s", i == 0 ? "{" : ",",
                            spaces[below(3)], odd == 9 ? 90 : 0, "", name->before,
                            odd == 12 && i > 5 ? i - 5 : i, name->after);
    if (odd == 13) { /* a name that is longer than the pieces */
        memset(t->bytes + t->n, '}', 3000);
        t->n += 3000;
    }
    const char *form = odd == 14 ? "\":[\"F32\",[%u],[%llu,%llu]]"
                       : odd == 15
                           ? "\":{\"dtype\":\"F32\",\"x\":{\"y\":{}},\"shape\":[%u],"
                             "\"data_offsets\":[%llu,%llu]}"
                           : "\":{\"dtype\":\"F32\",\"shape\":[%u],\"data_offsets\":[%llu,%llu]}";
    end += odd == 16;
    begin -= odd == 17 && begin > 0;
    t->n += (size_t)sprintf(t->bytes + t->n, form, rows, begin, end);
    if (odd == 18)
        t->n += (size_t)sprintf(t->bytes + t->n, "]");
}

#define KINDS_OF_MEMBERS 19

static void unusual_members(void **state)
{
    (void)state;
    text t = {.bytes = malloc(MEMBERS * 4096)};
    assert_non_null(t.bytes);
    for (unsigned round = 0; round < (is_slow() ? 20u : 200u); round++) {
        unsigned odd = round % KINDS_OF_MEMBERS, rare = 1 + below(40);
        t.n = WB__ST_LENGTH_BYTES;
        t.data = 0;
        for (unsigned i = 0; i < MEMBERS; i++)
            add_member(&t, i, odd == 10 || below(MEMBERS) < rare ? odd : 0);
        t.bytes[t.n++] = '}';
        memset(t.bytes + t.n, ' ', WB__ST_FAST_MARGIN);
        if (round % 2 == 0)
            t.n += WB__ST_FAST_MARGIN;
        wb__store_le64((uint8_t *)t.bytes, t.n - WB__ST_LENGTH_BYTES);
        compare_ways((uint8_t *)t.bytes, t.n, t.n + t.data);
    }
    free(t.bytes);
}

static void pieces_are_used(void **state)
{
    (void)state;
    text t = {.bytes = malloc(MEMBERS * 4096), .n = WB__ST_LENGTH_BYTES};
    assert_non_null(t.bytes);
    for (unsigned i = 0; i < MEMBERS; i++)
        add_member(&t, i, 0);
    t.n += (size_t)sprintf(t.bytes + t.n, "}%*s", WB__ST_FAST_MARGIN, "");
    wb__store_le64((uint8_t *)t.bytes, t.n - WB__ST_LENGTH_BYTES);
    reading r;
    way how = {.fast = count_members, .executor = crew_executor(&threads), .piece = 300};
    atomic_store(&in_pieces, 0);
    read_header(&r, (uint8_t *)t.bytes, t.n, t.n + t.data, &how);
    assert_int_equal(r.status, WB_OK);
    assert_int_equal(r.model.table.count, MEMBERS);
    assert_true(atomic_load(&in_pieces) > MEMBERS - 10);
    end_reading(&r);
    free(t.bytes);
}

/* ---- large headers, with the public functions ---- */

#define LARGE 90000 /* number of tensors; the header has 5 MB */

/* Makes a file with LARGE tensors of one byte. number(i) is the number in the name of tensor i. */
static text large_file(unsigned (*number)(unsigned i))
{
    text t = {.bytes = malloc((size_t)LARGE * 80), .n = WB__ST_LENGTH_BYTES};
    assert_non_null(t.bytes);
    for (unsigned i = 0; i < LARGE; i++)
        t.n += (size_t)sprintf(t.bytes + t.n,
                               "%c\"%u\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%u,%u]}",
                               i == 0 ? '{' : ',', number(i), i, i + 1);
    t.bytes[t.n++] = '}';
    wb__store_le64((uint8_t *)t.bytes, t.n - WB__ST_LENGTH_BYTES);
    memset(t.bytes + t.n, 0, LARGE);
    t.n += LARGE;
    return t;
}

/* A source whose reads return at most `most` bytes, and fail if they contain a byte from offset
 * `bad` on. */
typedef struct bytes_source {
    const text *file;
    uint64_t bad;
    size_t most;
} bytes_source;

static wb_status source_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const bytes_source *source = ctx;
    if (offset + n > source->bad)
        return WB_ERROR_IO;
    *got = n < source->most ? n : source->most;
    memcpy(dst, source->file->bytes + offset, *got);
    return WB_OK;
}

static wb_status open_text(const text *t, uint64_t bad, wb_open_options *options, wb_model **model,
                           wb_error *error)
{
    bytes_source bytes = {t, bad, 300000};
    wb_source source = {.size = sizeof source, .ctx = &bytes, .bytes = t->n, .read = source_read};
    return wb_open_source(&source, "x.safetensors", options, model, error);
}

static void same_error(const wb_error *a, const wb_error *b)
{
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->code, b->code);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->message, b->message);
    assert_true(a->offset == b->offset);
}

static void same_model(const wb_model *a, const wb_model *b)
{
    assert_int_equal(wb_tensor_count(a), wb_tensor_count(b));
    for (uint64_t i = 0; i < wb_tensor_count(a); i++) {
        wb_tensor x = {.size = sizeof x}, y = {.size = sizeof y};
        uint64_t found;
        assert_int_equal(wb_tensor_at(a, i, &x, NULL), WB_OK);
        assert_int_equal(wb_tensor_at(b, i, &y, NULL), WB_OK);
        if (x.name_len != y.name_len || memcmp(x.name, y.name, x.name_len) != 0 ||
            x.dtype != y.dtype || x.rank != y.rank || x.offset != y.offset || x.bytes != y.bytes)
            fail_msg("tensor %llu differs\n", (unsigned long long)i);
        if (wb_tensor_find(b, x.name, x.name_len, &found) != WB_OK || found != i)
            fail_msg("tensor %llu is not found\n", (unsigned long long)i);
    }
    assert_int_equal(wb_findings_count(wb_model_findings(a)),
                     wb_findings_count(wb_model_findings(b)));
}

/* Opens a file with and without an executor, and compares the results. Returns the status. */
static wb_status compare_opens(const text *t, uint64_t bad, uint32_t flags)
{
    wb_model *serial, *parallel;
    wb_error expected, found;
    wb_executor executor = crew_executor(&threads);
    wb_open_options options = {.size = sizeof options, .flags = flags};
    wb_status status = open_text(t, bad, &options, &serial, &expected);
    options.executor = &executor;
    assert_int_equal(open_text(t, bad, &options, &parallel, &found), status);
    if (status == WB_OK)
        same_model(serial, parallel);
    else
        same_error(&expected, &found);
    wb_close(serial);
    wb_close(parallel);
    return status;
}

static unsigned distinct(unsigned i)
{
    return i * 7919 % LARGE;
}

/* Returns the number in the name of tensor i. For one tensor in 20000, the number is that of an
 * earlier tensor, so that the name occurs twice. */
static unsigned repeated(unsigned i)
{
    return i % 20000 == 19999 ? i / 2 : i;
}

static void large_headers(void **state)
{
    (void)state;
    text t = large_file(distinct);
    for (threads = 1; threads <= 8; threads += threads)
        assert_int_equal(compare_opens(&t, UINT64_MAX, 0), WB_OK);
    threads = 3;
    free(t.bytes);
    t = large_file(repeated);
    assert_int_equal(compare_opens(&t, UINT64_MAX, 0), WB_ERROR_FORMAT);
    assert_int_equal(compare_opens(&t, UINT64_MAX, WB_OPEN_COMPATIBLE), WB_ERROR_FORMAT);
    free(t.bytes);
}

/* The first error in the file is reported, wherever the pieces begin. */
static void first_error(void **state)
{
    static const char bad[] = "\x01\xFF}{\"\\,:0A";
    (void)state;
    text t = large_file(distinct);
    for (unsigned i = 0; i < (is_slow() ? 3u : 30u); i++) {
        size_t at[3];
        char was[3];
        for (size_t k = 0; k < 3; k++) {
            at[k] = WB__ST_LENGTH_BYTES + below((unsigned)t.n - LARGE - WB__ST_LENGTH_BYTES);
            was[k] = t.bytes[at[k]];
            t.bytes[at[k]] = bad[below(sizeof bad - 1)];
        }
        (void)compare_opens(&t, UINT64_MAX, i % 2 * WB_OPEN_COMPATIBLE);
        for (size_t k = 3; k-- > 0;)
            t.bytes[at[k]] = was[k];
    }
    free(t.bytes);
}

static void failed_reads(void **state)
{
    (void)state;
    text t = large_file(distinct);
    uint64_t step = is_slow() ? 2000000 : 300000;
    for (uint64_t bad = 1; bad < t.n - LARGE; bad += step)
        assert_int_equal(compare_opens(&t, bad, 0), WB_ERROR_IO);
    free(t.bytes);
}

/* ---- memory ---- */

typedef struct locked_counter {
    pthread_mutex_t lock;
    counter counter;
} locked_counter;

static void *locked_alloc(void *ctx, size_t bytes)
{
    locked_counter *c = ctx;
    (void)pthread_mutex_lock(&c->lock);
    void *memory = counter_alloc(&c->counter, bytes);
    (void)pthread_mutex_unlock(&c->lock);
    return memory;
}

static void locked_free(void *ctx, void *memory, size_t bytes)
{
    locked_counter *c = ctx;
    (void)pthread_mutex_lock(&c->lock);
    counter_free(&c->counter, memory, bytes);
    (void)pthread_mutex_unlock(&c->lock);
}

static wb_status open_counted(const text *t, locked_counter *c, wb_error *error)
{
    wb_model *model;
    wb_allocator allocator = {c, locked_alloc, locked_free};
    wb_executor executor = crew_executor(&threads);
    wb_open_options options = {
        .size = sizeof options, .allocator = &allocator, .executor = &executor};
    wb_status status = open_text(t, UINT64_MAX, &options, &model, error);
    if (status == WB_OK)
        assert_int_equal(wb_tensor_count(model), LARGE);
    wb_close(model);
    assert_clean(&c->counter);
    return status;
}

static void memory_limit(void **state)
{
    (void)state;
    text t = large_file(distinct);
    wb_error error;
    threads = 8;
    locked_counter c = {.lock = PTHREAD_MUTEX_INITIALIZER};
    assert_int_equal(open_counted(&t, &c, &error), WB_OK);
    assert_true(c.counter.peak <= 8 * t.n + (1 << 20));
    threads = 3;
    free(t.bytes);
}

static void failed_allocations(void **state)
{
    (void)state;
    text t = large_file(distinct);
    size_t succeeded = 0;
    bool failed = true;
    for (size_t fail_at = 1; failed; fail_at += is_slow() ? 3 : 1) {
        wb_error error;
        locked_counter c = {.lock = PTHREAD_MUTEX_INITIALIZER, .counter = {.fail_at = fail_at}};
        c.counter.for_good = fail_at % 2 == 0;
        wb_status status = open_counted(&t, &c, &error);
        assert_true(status == WB_OK || status == WB_ERROR_MEMORY);
        failed = c.counter.failed;
        succeeded += status == WB_OK && failed;
    }
    assert_true(succeeded > 0); /* without the memory for pieces, the header is read serially */
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_files), cmocka_unit_test(unusual_members),
        cmocka_unit_test(pieces_are_used), cmocka_unit_test(large_headers),
        cmocka_unit_test(first_error),     cmocka_unit_test(failed_reads),
        cmocka_unit_test(memory_limit),    cmocka_unit_test(failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
