/*
 * Inputs that are choices: what texts are compared with tells a fuzzer nothing, and takes an eighth of its time. In
 * targets linked with this (--wrap, CMakeLists.txt) it does not look at them. Preset fuzz-tape
 * leaves out the comparisons of numbers as well.
 */
#include <stddef.h>

#define QUIET(name, text, ...)                                                                     \
    void __wrap___sanitizer_weak_hook_##name(void *caller, text *a, text *b, __VA_ARGS__);         \
    void __wrap___sanitizer_weak_hook_##name(void *caller, text *a, text *b, __VA_ARGS__)

QUIET(memcmp, const void, size_t n, int result)
{
    (void)caller, (void)a, (void)b, (void)n, (void)result;
}

QUIET(strncmp, const char, size_t n, int result)
{
    (void)caller, (void)a, (void)b, (void)n, (void)result;
}

QUIET(strcmp, const char, int result)
{
    (void)caller, (void)a, (void)b, (void)result;
}
