/*
 * Tests cpu/cpu.h: a detected feature must include the features that it implies, and WB_CPU_DISABLE
 * must remove features. Each query runs in a child process, because a process reads the environment
 * only once.
 */
#include "support.h"

#include <sys/wait.h>

#include "cpu/cpu.h"

/* Returns the features that a new process detects with WB_CPU_DISABLE set to `list`. */
static uint32_t features_without(const char *list)
{
    int ends[2];
    uint32_t features = 0;
    int status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (list == NULL)
            (void)unsetenv("WB_CPU_DISABLE");
        else
            (void)setenv("WB_CPU_DISABLE", list, 1);
        features = wb__cpu_features();
        bool sound = write(ends[1], &features, sizeof features) == (ssize_t)sizeof features &&
                     wb__cpu_features() == features;
        _exit(sound ? 0 : 1);
    }
    assert_int_equal(read(ends[0], &features, sizeof features), sizeof features);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return features;
}

static void includes_what_it_says(void **state)
{
    (void)state;
    uint32_t features = features_without(NULL);
    if (features & WB__CPU_AVX512)
        assert_true(features & WB__CPU_AVX2);
    if (features & WB__CPU_VAES)
        assert_true(features & WB__CPU_AVX512);
    uint32_t known = WB__ARM64
                         ? WB__CPU_NEON
                         : WB__CPU_AVX2 | WB__CPU_AES | WB__CPU_AVX512 | WB__CPU_VAES | WB__CPU_SHA;
    assert_int_equal(features & ~known, 0);
    if (WB__ARM64)
        assert_int_equal(features, WB__CPU_NEON);
}

static void can_be_taken_away(void **state)
{
    (void)state;
    uint32_t all = features_without(NULL);
    assert_int_equal(features_without(""), all);
    assert_int_equal(features_without("neon,avx"), all & ~WB__CPU_NEON);
    assert_int_equal(features_without("avx512x,xavx2"), all);
    assert_int_equal(features_without("vaes"), all & ~WB__CPU_VAES);
    assert_int_equal(features_without("avx512"), all & ~(WB__CPU_AVX512 | WB__CPU_VAES));
    assert_int_equal(features_without("avx2"), all & (WB__CPU_AES | WB__CPU_SHA | WB__CPU_NEON));
    assert_int_equal(features_without("sse9,aes"),
                     all & (WB__CPU_AVX2 | WB__CPU_AVX512 | WB__CPU_SHA | WB__CPU_NEON));
    assert_int_equal(features_without("sha"), all & ~WB__CPU_SHA);
    assert_int_equal(features_without("avx512,avx2,aes,sha,neon"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(includes_what_it_says),
                                       cmocka_unit_test(can_be_taken_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
