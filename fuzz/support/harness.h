/*
 * fuzz/support/harness.h: helpers of targets that open complete models. They count memory, provide
 * a source that returns a few bytes per read, and check every error and finding.
 */
#ifndef WB_FUZZ_HARNESS_H
#define WB_FUZZ_HARNESS_H

#include "support/fuzz.h"
#include "weighbridge.h"

/* ---- counted memory; each block must be freed with its allocated size ---- */

#define GUARD 16

typedef struct heap {
    size_t live, peak;
} heap;

static inline void *heap_alloc(void *ctx, size_t bytes)
{
    heap *h = ctx;
    uint8_t *block = malloc(bytes + GUARD);
    if (block == NULL)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    h->live += bytes;
    h->peak = h->live > h->peak ? h->live : h->peak;
    return block + GUARD;
}

static inline void heap_free(void *ctx, void *memory, size_t bytes)
{
    heap *h = ctx;
    uint8_t *block = (uint8_t *)memory - GUARD;
    CHECK(memcmp(block, &bytes, sizeof bytes) == 0);
    h->live -= bytes;
    free(block);
}

/* ---- a source that returns fewer bytes than requested ---- */

typedef struct dribble {
    const uint8_t *bytes;
    size_t size;
    size_t most; /* maximum number of bytes per read */
    int closed;
} dribble;

static inline wb_status dribble_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    dribble *d = ctx;
    size_t left = offset < d->size ? d->size - (size_t)offset : 0;
    *got = n < d->most ? n : d->most;
    *got = *got < left ? *got : left;
    if (*got > 0)
        memcpy(dst, d->bytes + offset, *got);
    return WB_OK;
}

static inline void dribble_close(void *ctx)
{
    dribble *d = ctx;
    d->closed++;
}

/* ---- what must hold ---- */

static inline void check_text(const char *text, size_t capacity)
{
    CHECK(memchr(text, '\0', capacity) != NULL);
    for (const char *p = text; *p != '\0'; p++)
        CHECK((unsigned char)*p >= 0x20 && *p != 0x7F);
}

static inline void check_error(const wb_error *error, wb_status status, size_t size)
{
    CHECK(error->status == status);
    CHECK(error->code != NULL && error->code[0] != '\0');
    CHECK(error->message[0] != '\0');
    CHECK(error->offset == WB_NO_OFFSET || error->offset <= size);
    check_text(error->file, sizeof error->file);
    check_text(error->name, sizeof error->name);
    check_text(error->message, sizeof error->message);
    check_text(error->advice, sizeof error->advice);
}

static inline void check_findings(const wb_findings *findings, size_t size)
{
    wb_finding finding = {.size = sizeof finding};
    uint64_t count = wb_findings_count(findings);
    int verdict = 0;
    for (uint64_t i = 0; i < count; i++) {
        CHECK(wb_findings_at(findings, i, &finding) == WB_OK);
        CHECK(finding.code[0] != '\0' && finding.message[0] != '\0');
        CHECK(finding.offset == WB_NO_OFFSET || finding.offset <= size);
        CHECK(finding.severity != WB_FATAL);
        check_text(finding.name, SIZE_MAX / 2);
        check_text(finding.message, SIZE_MAX / 2);
        verdict |= finding.severity > WB_INFO;
    }
    CHECK(wb_findings_at(findings, count, &finding) == WB_ERROR_NOT_FOUND);
    CHECK(wb_findings_verdict(findings) == verdict);
}

#endif
