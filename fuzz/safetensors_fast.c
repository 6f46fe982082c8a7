/*
 * Compares the fast readers of safetensors headers with the slow reader, which defines the correct
 * result. For every header and any size of the window (the read buffer), in strict and compatible
 * mode, both must give the same status, error, findings, tensors and metadata.
 *
 * The input is a header without its length. The fast readers do not handle the last bytes before
 * the end of a header, so the input is padded with the spaces that the format permits. The file
 * size is set to what the tensors require, because no reader accesses tensor data.
 */
#include "core/core.h"
#include "formats/safetensors/safetensors_reader.h"
#include "support/fuzz.h"

typedef struct reading {
    wb_status status;
    wb_error error;
    wb_findings findings;
    wb_allocator allocator;
    wb__context context;
    wb__catalog model;
} reading;

/* ---- a window of any size over memory ---- */

typedef struct small_window {
    const uint8_t *bytes;
    uint8_t *buffer;
    size_t capacity;
} small_window;

static bool fill(wb__cursor *cursor)
{
    small_window *window = cursor->fill_ctx;
    size_t kept = wb__cursor_at_hand(cursor);
    uint64_t left = cursor->limit - cursor->end_at;
    size_t n = window->capacity - kept;
    n = left < n ? (size_t)left : n;
    if (n == 0)
        return false;
    /* Allocates a new block each time, so that sanitizers detect pointers to the old one. */
    uint8_t *buffer = malloc(window->capacity);
    CHECK(buffer != NULL);
    memcpy(buffer, cursor->p, kept);
    memcpy(buffer + kept, window->bytes + cursor->end_at, n);
    free(window->buffer);
    window->buffer = buffer;
    cursor->p = buffer;
    cursor->end = buffer + kept + n;
    cursor->end_at += n;
    return true;
}

/* Reads a header through a read buffer of `window` bytes; 0: the complete text is in memory. */
static void read_header(reading *r, const uint8_t *text, size_t size, uint64_t file_bytes,
                        bool compatible, wb__st_fast *fast, uint32_t features, size_t window)
{
    small_window small = {.bytes = text, .capacity = window};
    wb__cursor cursor = wb__cursor_over(text, size);
    cursor.limit = file_bytes;
    if (window != 0) {
        small.buffer = malloc(window);
        CHECK(small.buffer != NULL);
        cursor = (wb__cursor){.p = small.buffer,
                              .end = small.buffer,
                              .limit = file_bytes,
                              .fill = fill,
                              .fill_ctx = &small,
                              .reach = window};
    }
    r->allocator = wb__default_allocator;
    wb__findings_init(&r->findings, &r->allocator);
    r->context = (wb__context){.allocator = r->allocator,
                               .compatible = compatible,
                               .file = "",
                               .error = &r->error,
                               .findings = &r->findings};
    wb_limits_default(&r->context.limits);
    (void)wb__error_reset(&r->error, &r->error);
    wb__catalog_init(&r->model, &r->allocator, features);
    r->status = wb__catalog_begin_file(&r->model, &r->context, "x", "safetensors", file_bytes);
    if (r->status == WB_OK)
        r->status = wb__st_read(&r->context, &cursor, &r->model, fast);
    free(small.buffer);
}

static void end_reading(reading *r)
{
    wb__catalog_free(&r->model);
    wb__findings_clear(&r->findings);
}

/* ---- the comparison ---- */

static void compare_tensors(const reading *a, const reading *b)
{
    const wb__table *s = &a->model.table, *t = &b->model.table;
    CHECK(s->count == t->count);
    for (size_t i = 0; i < s->count; i++) {
        const wb__record *x = wb__record_at(s, i), *y = wb__record_at(t, i);
        const wb__kind *k = wb__table_kind_of(s, i), *l = wb__table_kind_of(t, i);
        CHECK(wb__str_equal(wb__table_name(s, i), wb__table_name(t, i)));
        CHECK(x->begin == y->begin && x->where == y->where);
        CHECK(k->dtype == l->dtype && k->rank == l->rank && k->elements == l->elements &&
              k->bytes == l->bytes && k->fault == l->fault);
        CHECK(k->rank == 0 || memcmp(k->shape, l->shape, k->rank * sizeof *k->shape) == 0);
        CHECK(wb__table_find(t, wb__table_name(s, i)) == i);
    }
}

static void compare_metadata(const reading *a, const reading *b)
{
    CHECK(a->model.metas.count == b->model.metas.count);
    for (size_t i = 0; i < a->model.metas.count; i++) {
        const wb__meta *m = wb__list_at(&a->model.metas, i), *n = wb__list_at(&b->model.metas, i);
        CHECK(wb__str_equal(wb__meta_key(&a->model, m), wb__meta_key(&b->model, n)));
        CHECK(wb__str_equal(wb__meta_text(&a->model, m), wb__meta_text(&b->model, n)));
    }
}

static void compare(const reading *a, const reading *b)
{
    CHECK(a->status == b->status);
    CHECK(a->findings.count == b->findings.count);
    for (size_t i = 0; i < a->findings.count; i++) {
        const wb_finding *f = &a->findings.list[i], *g = &b->findings.list[i];
        CHECK(f->severity == g->severity && f->code == g->code && f->offset == g->offset);
        CHECK(strcmp(f->name, g->name) == 0 && strcmp(f->message, g->message) == 0);
    }
    if (a->status != WB_OK) {
        CHECK(a->error.code == b->error.code && a->error.offset == b->error.offset);
        CHECK(strcmp(a->error.name, b->error.name) == 0);
        CHECK(strcmp(a->error.message, b->error.message) == 0);
        return;
    }
    compare_tensors(a, b);
    compare_metadata(a, b);
}

static void read_all_ways(const uint8_t *text, size_t size, uint64_t file_bytes, bool compatible)
{
    const struct {
        wb__st_fast *fast;
        uint32_t needs;
        size_t window;
        /* The fast readers ignore the mode, so not all of them run again in compatible mode. */
        bool when_compatible;
    } ways[] = {
        {wb__st_fast_portable, 0, 0, true},
        {wb__st_fast_portable, 0, WB__ST_FAST_MARGIN + size % 89, false},
#if WB__X86
        {wb__st_fast_avx2, WB__CPU_AVX2 | WB__CPU_AES, 0, false},
        {wb__st_fast_avx512, WB__CPU_AVX512 | WB__CPU_VAES | WB__CPU_AES, 0, false},
        {wb__st_fast_avx512, WB__CPU_AVX512 | WB__CPU_VAES | WB__CPU_AES,
         WB__ST_FAST_MARGIN + size % 131, false},
#endif
        {NULL, 0, 16, true},
    };
    uint32_t features = wb__cpu_features();
    reading slow, fast;
    read_header(&slow, text, size, file_bytes, compatible, NULL, 0, 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if ((features & ways[i].needs) != ways[i].needs || (compatible && !ways[i].when_compatible))
            continue;
        read_header(&fast, text, size, file_bytes, compatible, ways[i].fast, ways[i].needs,
                    ways[i].window);
        compare(&slow, &fast);
        end_reading(&fast);
    }
    end_reading(&slow);
}

/* Returns the length that a file with this header must have to end after its last tensor; 0 if
 * unknown. */
static uint64_t fitting_length(const uint8_t *text, size_t size)
{
    reading r;
    uint64_t end = 0;
    /* If the file length is UINT64_MAX and the header is valid, the only error is that bytes follow
     * the last tensor. The offset of this error is the end of the last tensor. */
    read_header(&r, text, size, UINT64_MAX, true, NULL, 0, 0);
    if (r.status != WB_OK && strcmp(r.error.code, "safetensors-coverage") == 0)
        end = r.error.offset;
    end_reading(&r);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t padding = WB__ST_FAST_MARGIN;
    size_t header = size + padding;
    uint8_t *text = malloc(WB__ST_LENGTH_BYTES + header);
    CHECK(text != NULL);
    wb__store_le64(text, header);
    if (size > 0)
        memcpy(text + WB__ST_LENGTH_BYTES, data, size);
    memset(text + WB__ST_LENGTH_BYTES + size, ' ', padding);
    size_t whole = WB__ST_LENGTH_BYTES + header;

    uint64_t fitting = fitting_length(text, whole);
    if (fitting < whole)
        fitting = whole;
    read_all_ways(text, whole, fitting, false);
    read_all_ways(text, whole, fitting, true);
    /* All readers share the code that reports missing data, so one input in four suffices. */
    if (fitting != whole && size % 4 == 0)
        read_all_ways(text, whole, whole, false);
    free(text);
    return 0;
}
