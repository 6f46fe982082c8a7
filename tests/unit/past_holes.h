/*
 * past_holes.h: the record of past holes. For each hole that was found in a program that reads these
 * formats, a file that would have gone through it, and the refusal expected of us; docs/past-holes.md
 * tells the stories, by the names given here.
 *
 * Files are made in memory and opened from there with an allocator that counts: a refusal costs at
 * most eight times the bytes present and 1 MiB, whatever they claim.
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
