/*
 * Reads header lines of HTTP responses, as a server may send them, and parses all fields: ranges,
 * links, ETags, waits and dates. Numbers must be within their bounds, links within their field, and
 * memory within its limit.
 */
#include "net/names.h"
#include "net/response.h"
#include "support/fuzz.h"
#include "support/model.h"

static void check_range(const char *value)
{
    uint64_t first = 0, end = 0, total = 0;
    if (wb__parse_content_range(value, &first, &end, &total))
        CHECK(first < end && end <= total);
    if (wb__parse_unsatisfied_range(value, &total)) {
        CHECK(!wb__parse_content_range(value, &first, &end, &total));
        CHECK(total <= INT64_MAX || total > 0);
    }
}

static void check_link(const char *value)
{
    wb__str link = wb__parse_link(value, "next");
    CHECK(link.len == 0 || (link.ptr > value && link.ptr + link.len < value + strlen(value)));
    CHECK(link.len == 0 || (link.ptr[-1] == '<' && link.ptr[link.len] == '>'));
}

static void check_etag(const char *value)
{
    wb__str name = wb__blob_name(wb__str_from(value, SIZE_MAX));
    CHECK(name.len == 0 || ((name.len == 40 || name.len == 64) && wb__is_hex(name)));
    if (wb__is_strong_etag(value))
        CHECK(value[0] == '"' && strlen(value) >= 2 && value[strlen(value) - 1] == '"');
}

static void check_value(const char *value)
{
    int64_t seconds;
    uint64_t number;
    wb__str text = wb__str_from(value, SIZE_MAX);
    check_range(value);
    check_link(value);
    check_etag(value);
    if (wb__parse_http_date(value, &seconds))
        CHECK(text.len >= 20);
    if (wb__parse_decimal(text, &number))
        CHECK(strtoull(value, NULL, 10) == number && text.len <= 19);
}

static void read_lines(wb__response *response, const uint8_t *data, size_t size)
{
    const char *line = (const char *)data, *end = line + size;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = stop == NULL ? (size_t)(end - line) : (size_t)(stop - line) + 1;
        wb__response_line(response, line, n);
        line += n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_heap heap = {0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb__response response;
    wb__response_init(&response, &allocator);
    read_lines(&response, data, size);
    CHECK(response.status <= 999);
    for (int field = 0; field < WB__FIELD_COUNT; field++) {
        const char *value = wb__response_get(&response, (wb__field)field);
        if (value == NULL)
            continue;
        CHECK(strlen(value) < WB__RESPONSE_MAX);
        CHECK(value[0] != ' ' && value[0] != '\t');
        check_value(value);
    }
    uint64_t wait = wb__response_wait(&response, 1700000000);
    CHECK(wait == UINT64_MAX || wait <= INT64_MAX);
    wb__response_free(&response);
    CHECK(heap.live == 0);
    CHECK(heap.peak <= 8 * size + (1u << 20));
    return 0;
}
