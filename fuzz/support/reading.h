/*
 * fuzz/support/reading.h: reads a safetensors header in several ways, and compares the results.
 * Used by fuzz/safetensors_fast.c and tests/unit/safetensors_pieces.c.
 */
#ifndef WB_FUZZ_READING_H
#define WB_FUZZ_READING_H

#include "core/core.h"
#include "formats/safetensors/safetensors_reader.h"
#include "fuzz.h"

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

static inline bool reading_fill(wb__cursor *cursor)
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

static inline bool reading_read_at(void *ctx, uint64_t offset, void *dst, size_t n)
{
    const small_window *window = ctx;
    memcpy(dst, window->bytes + offset, n);
    return true;
}

/* How a header is read. */
typedef struct way {
    wb__st_fast *fast;
    uint32_t features; /* processor features that `fast` needs */
    size_t window;     /* size of the read buffer in bytes; 0: the complete text is in memory */
    wb_executor executor;
    size_t piece; /* size of a piece in bytes, if there is an executor */
    bool compatible;
} way;

static inline void read_header(reading *r, const uint8_t *text, size_t size, uint64_t file_bytes,
                               const way *how)
{
    const wb__st_division division = {.header_min = 0, .bytes = how->piece};
    size_t window = how->window;
    small_window small = {.bytes = text, .capacity = window};
    wb__cursor cursor = wb__cursor_over(text, size);
    cursor.limit = file_bytes;
    if (window != 0) {
        small.buffer = malloc(window);
        CHECK(small.buffer != NULL);
        cursor = (wb__cursor){.p = small.buffer,
                              .end = small.buffer,
                              .limit = file_bytes,
                              .fill = reading_fill,
                              .read_at = reading_read_at,
                              .fill_ctx = &small,
                              .reach = window};
    }
    r->allocator = wb__default_allocator;
    wb__findings_init(&r->findings, &r->allocator);
    r->context = (wb__context){.allocator = r->allocator,
                               .executor = how->executor,
                               .compatible = how->compatible,
                               .file = "",
                               .error = &r->error,
                               .findings = &r->findings};
    wb_limits_default(&r->context.limits);
    (void)wb__error_reset(&r->error, &r->error);
    wb__catalog_init(&r->model, &r->allocator, how->features);
    r->status = wb__catalog_begin_file(&r->model, &r->context, "x", "safetensors", file_bytes);
    if (r->status == WB_OK)
        r->status = wb__st_read(&r->context, &cursor, &r->model, how->fast, &division);
    free(small.buffer);
}

static inline void end_reading(reading *r)
{
    wb__catalog_free(&r->model);
    wb__findings_clear(&r->findings);
}

/* ---- the comparison ---- */

static inline void compare_tensors(const reading *a, const reading *b)
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

static inline void compare_metadata(const reading *a, const reading *b)
{
    CHECK(a->model.metas.count == b->model.metas.count);
    for (size_t i = 0; i < a->model.metas.count; i++) {
        const wb__meta *m = wb__list_at(&a->model.metas, i), *n = wb__list_at(&b->model.metas, i);
        CHECK(wb__str_equal(wb__meta_key(&a->model, m), wb__meta_key(&b->model, n)));
        CHECK(wb__str_equal(wb__meta_text(&a->model, m), wb__meta_text(&b->model, n)));
    }
}

static inline void compare_readings(const reading *a, const reading *b)
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

#endif
