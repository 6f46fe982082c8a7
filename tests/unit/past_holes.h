/*
 * past_holes.h: tests vulnerabilities that were found in other programs that read these formats.
 * Each test has a file that triggers the vulnerability, and the error expected from weighbridge.
 * docs/past-holes.md describes each vulnerability under the name used here.
 *
 * The files are built in memory and opened with a counting allocator. To refuse a file, the library
 * may use at most 8 times the size of the file plus 1 MiB, whatever sizes the file declares.
 */
#ifndef WB_TESTS_PAST_HOLES_H
#define WB_TESTS_PAST_HOLES_H

#include "support.h"

#include "gguf_build.h"

typedef struct hole {
    const char *name;
    void (*make)(gguf *g);
    wb_status status;
    const char *code;
} hole;

static inline void check(const hole *h, wb_status status, const wb_error *error)
{
    if (status == h->status && (h->code == NULL || strcmp(error->code, h->code) == 0))
        return;
    fail_msg("%s: status %s, code %s: %s\n", h->name, wb_status_name(status),
             status == WB_OK ? "-" : error->code, status == WB_OK ? "opened" : error->message);
}

static inline void open_from_memory(const hole *h, const uint8_t *bytes, size_t n)
{
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_error error;
    wb_model *model;
    wb_status status = wb_open_memory(bytes, n, "memory", &options, &model, &error);
    check(h, status, &error);
    assert_true(memory.peak <= 8 * n + (1 << 20));
    wb_close(model);
    assert_clean(&memory);
}

#endif
