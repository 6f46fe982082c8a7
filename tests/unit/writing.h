/*
 * writing.h: helpers for the writer tests: data bytes that depend on tensor and offset, and a check
 * that a model has no serious findings.
 */
#ifndef WB_TESTS_WRITING_H
#define WB_TESTS_WRITING_H

#include "support.h"

/* Fails the test with the message of the error if the call fails. The call must pass the macro
 * E, the address of the error, as its last argument. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        wb_error error_;                                                                           \
        memset(&error_, 0, sizeof error_);                                                         \
        if ((call) != WB_OK)                                                                       \
            fail_msg("%s:%d: %s: %s %s %s\n", __FILE__, __LINE__, #call, error_.message,           \
                     error_.name, error_.file);                                                    \
    } while (0)
#define E (&error_)

static inline uint8_t byte_of(uint64_t tensor, uint64_t i)
{
    return (uint8_t)(tensor * 31 + i * 7 + (i >> 8) + 1);
}

static inline void fill(wb_writer *writer, uint64_t index, uint64_t from, uint64_t to)
{
    uint8_t bytes[4096];
    for (uint64_t at = from; at < to;) {
        size_t n = to - at < sizeof bytes ? (size_t)(to - at) : sizeof bytes;
        for (size_t i = 0; i < n; i++)
            bytes[i] = byte_of(index, at + i);
        OK(wb_writer_put(writer, index, at, bytes, n, E));
        at += n;
    }
}

/* Checks that a model has no findings above WB_INFO. Ignores findings about values, unless they are
 * WB_FATAL, because the test bytes may encode NaNs. */
static inline void expect_sound(const char *path)
{
    wb_findings *findings;
    const wb_verify_options options = {.size = sizeof options, .flags = WB_VERIFY_DEEP};
    OK(wb_verify(path, &options, &findings, E));
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        if (finding.severity == WB_FATAL || strncmp(finding.code, "values", 6) != 0)
            assert_int_equal(finding.severity, WB_INFO);
    }
    wb_findings_free(findings);
}

#endif
