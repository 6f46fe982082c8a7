/*
 * Reads the JSON of a hub: a page of a listing, a cached listing, a commit, an error. For each
 * listing that the reader accepts, checks that every path can name a file below a directory, that
 * digests are hexadecimal, that each file is found by its path, and that the listing, printed and
 * read again, has the same files.
 */
#include "net/listing.h"
#include "net/names.h"
#include "support/fuzz.h"
#include "support/model.h"

static void check_file(const wb__listing *listing, size_t i)
{
    const wb__repo_file *file = wb__listing_at(listing, i);
    wb__str path = wb__str_from(file->path, SIZE_MAX);
    CHECK(wb__path_fault(path) == NULL);
    CHECK(wb__listing_find(listing, path) == file);
    CHECK(strlen(file->oid) == WB__HEX_COMMIT && wb__is_hex(wb__str_from(file->oid, SIZE_MAX)));
    CHECK(file->sha256[0] == '\0' || (strlen(file->sha256) == WB__HEX_SHA256 &&
                                      wb__is_hex(wb__str_from(file->sha256, SIZE_MAX))));
    CHECK(i == 0 || strcmp(wb__listing_at(listing, i - 1)->path, file->path) < 0);
}

static void check_copy(const wb__listing *listing, wb__context *context)
{
    wb__listing copy;
    wb__buffer text = {.allocator = &context->allocator, .ceiling = (size_t)1 << 30};
    wb__listing_print(listing, &text);
    CHECK(!wb__buffer_failed(&text));
    wb__listing_init(&copy, &context->allocator);
    CHECK(wb__listing_add_cached(&copy, context, (const char *)text.bytes, text.n) == WB_OK);
    CHECK(wb__listing_finish(&copy, context) == WB_OK);
    CHECK(wb__listing_count(&copy) == wb__listing_count(listing));
    for (size_t i = 0; i < wb__listing_count(&copy); i++) {
        const wb__repo_file *a = wb__listing_at(listing, i), *b = wb__listing_at(&copy, i);
        CHECK(strcmp(a->path, b->path) == 0 && a->size == b->size);
        CHECK(strcmp(a->oid, b->oid) == 0 && strcmp(a->sha256, b->sha256) == 0);
    }
    wb__listing_free(&copy);
    wb__buffer_free(&text);
}

static wb_status read_listing(wb__context *context, const char *text, size_t n, bool cached,
                              fuzz_heap *heap)
{
    wb__listing listing;
    wb__listing_init(&listing, &context->allocator);
    wb_status status = cached ? wb__listing_add_cached(&listing, context, text, n)
                              : wb__listing_add_page(&listing, context, text, n);
    if (status == WB_OK)
        status = wb__listing_finish(&listing, context);
    CHECK(heap->peak <= 8 * n + (1u << 20));
    for (size_t i = 0; status == WB_OK && i < wb__listing_count(&listing); i++)
        check_file(&listing, i);
    if (status == WB_OK)
        check_copy(&listing, context);
    wb__listing_free(&listing);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_heap heap = {0};
    wb_error error;
    char commit[WB__HEX_COMMIT + 1], message[64];
    wb__context context = {.allocator = fuzz_allocator(&heap), .file = ""};
    wb_limits_default(&context.limits);
    context.error = wb__error_reset(NULL, &error);
    if (size == 0)
        return 0;
    size_t n = size - 1;
    char *text = malloc(n + 1);
    CHECK(text != NULL);
    memcpy(text, data + 1, n);
    text[n] = '\0';
    wb_status status = WB_OK;
    switch (data[0]) {
    case 'p':
    case 'c': status = read_listing(&context, text, n, data[0] == 'c', &heap); break;
    case 's':
        status = wb__read_commit(&context, text, n, commit);
        CHECK(status != WB_OK ||
              (strlen(commit) == WB__HEX_COMMIT && wb__is_hex(wb__str_from(commit, SIZE_MAX))));
        break;
    default:
        wb__read_error(&context.allocator, text, n, message, sizeof message);
        CHECK(memchr(message, '\0', sizeof message) != NULL);
        for (const char *c = message; *c != '\0'; c++)
            CHECK((unsigned char)*c >= ' ' && *c != 0x7F);
    }
    CHECK(status == WB_OK || status == WB_ERROR_FORMAT || status == WB_ERROR_LIMIT);
    CHECK(status == WB_OK || error.message[0] != '\0');
    CHECK(heap.live == 0);
    free(text);
    return 0;
}
