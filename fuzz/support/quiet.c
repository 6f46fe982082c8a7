/*
 * Inputs that are choices: what they are compared with tells a fuzzer nothing, and takes half of its time. In
 * targets linked with this (--wrap, CMakeLists.txt) comparisons are not looked at.
 */
#include <stddef.h>
#include <stdint.h>

#define QUIET(name, ...)                                                                           \
    void __wrap_##name(__VA_ARGS__);                                                               \
    void __wrap_##name(__VA_ARGS__)                                                                \
    {                                                                                              \
    }

#pragma clang diagnostic ignored "-Wunused-parameter"

QUIET(__sanitizer_cov_trace_cmp1, uint8_t a, uint8_t b)
QUIET(__sanitizer_cov_trace_cmp2, uint16_t a, uint16_t b)
QUIET(__sanitizer_cov_trace_cmp4, uint32_t a, uint32_t b)
QUIET(__sanitizer_cov_trace_cmp8, uint64_t a, uint64_t b)
QUIET(__sanitizer_cov_trace_const_cmp1, uint8_t a, uint8_t b)
QUIET(__sanitizer_cov_trace_const_cmp2, uint16_t a, uint16_t b)
QUIET(__sanitizer_cov_trace_const_cmp4, uint32_t a, uint32_t b)
QUIET(__sanitizer_cov_trace_const_cmp8, uint64_t a, uint64_t b)
QUIET(__sanitizer_cov_trace_switch, uint64_t value, const uint64_t *cases)
QUIET(__sanitizer_weak_hook_memcmp, void *caller, const void *a, const void *b, size_t n, int result)
QUIET(__sanitizer_weak_hook_strcmp, void *caller, const char *a, const char *b, int result)
QUIET(__sanitizer_weak_hook_strncmp, void *caller, const char *a, const char *b, size_t n, int result)
