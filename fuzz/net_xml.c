/*
 * Reads listings of object stores in XML, and pages of folders of web servers in HTML. Checks that
 * texts are no longer than the document, and that a page links only to names in its own folder.
 */
#include "net/s3_list.h"
#include "support/fuzz.h"
#include "support/model.h"

typedef struct seen {
    size_t count, bytes, stop;
} seen;

static wb_status count_text(void *ctx, wb__str text)
{
    seen *s = ctx;
    s->bytes += text.len;
    return ++s->count == s->stop ? WB_ERROR_CANCELLED : WB_OK;
}

static wb_status count_name(void *ctx, wb__str name)
{
    CHECK(name.len > 0);
    for (size_t i = 0; i < name.len; i++) {
        CHECK(name.ptr[i] != '\0' && (name.ptr[i] != '/' || i + 1 == name.len));
        CHECK(name.ptr[i] != '?' && name.ptr[i] != '#');
    }
    CHECK(!wb__str_equal(name, WB__STR("..")) && !wb__str_equal(name, WB__STR("../")));
    return count_text(ctx, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"Key", "Prefix", "NextContinuationToken", "Code"};
    fuzz_heap heap = {0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb__buffer scratch = {.allocator = &allocator, .ceiling = (size_t)16 << 20};
    wb__str document = {(const char *)data, size};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        seen all = {0}, one = {.stop = 1};
        CHECK(wb__xml_each(document, names[i], &scratch, count_text, &all) == WB_OK);
        CHECK(all.bytes <= size && all.count <= size / 7 + 1);
        wb_status status = wb__xml_each(document, names[i], &scratch, count_text, &one);
        CHECK(status == (all.count > 0 ? WB_ERROR_CANCELLED : WB_OK));
        wb__buffer first = {.allocator = &allocator, .ceiling = (size_t)16 << 20};
        wb__xml_find(document, names[i], &first);
        CHECK(first.n == one.bytes);
        wb__buffer_free(&first);
    }
    seen links = {0};
    CHECK(wb__html_each_link(document, &scratch, count_name, &links) == WB_OK);
    CHECK(links.bytes <= size);
    wb__buffer_free(&scratch);
    CHECK(heap.live == 0);
    CHECK(heap.peak <= 8 * size + (1u << 20));
    return 0;
}
