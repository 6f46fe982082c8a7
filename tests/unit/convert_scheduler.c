/*
 * Tests that conversions report progress often enough. A tensor is converted in tiles (blocks of
 * rows). A round is a number of tiles, and a report follows each round (scheduler.c). So the slower
 * the tiles are, the fewer must be in a round. The test simulates the clock.
 *
 * wraps: clock_gettime
 */
#include "convert.h"

#include <time.h>

static char *scratch;

static struct {
    uint64_t milliseconds; /* simulated time */
    uint64_t step;         /* time added by every clock query */
} world;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    world.milliseconds += world.step;
    *now = (struct timespec){.tv_sec = (time_t)(world.milliseconds / 1000),
                             .tv_nsec = (long)(world.milliseconds % 1000 * 1000000)};
    return 0;
}

typedef struct heard {
    unsigned times;
    uint64_t most, last; /* maximum bytes between two reports; bytes at the last report */
} heard;

static int hear(void *ctx, uint64_t done, uint64_t total)
{
    heard *h = ctx;
    (void)total;
    h->times++;
    h->most = done - h->last > h->most && done > h->last ? done - h->last : h->most;
    h->last = done;
    return 0;
}

/* Runs a conversion with one thread in which each round takes `milliseconds` of simulated time. */
static heard convert_in(uint64_t milliseconds)
{
    heard h = {0};
    wb_error error;
    const wb_progress progress = {&h, hear};
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "F16"};
    char *from = text_of("%s/in.safetensors", scratch), *to = text_of("%s/out", scratch);
    wb_conversion *conversion;
    world.milliseconds = 0;
    world.step = milliseconds;
    wb_model *model = open_model(from);
    assert_int_equal(wb_convert_plan(model, WB_TARGET_SAFETENSORS, &policy, &conversion, &error),
                     WB_OK);
    assert_int_equal(wb_convert(conversion, to, &progress, &error), WB_OK);
    wb_conversion_free(conversion);
    wb_close(model);
    scratch_remove(to);
    free(from);
    return h;
}

static void rounds_fit(void **state)
{
    (void)state;
    static const char header[] =
        "{\"a.weight\":{\"dtype\":\"F32\",\"shape\":[4096,2048],\"data_offsets\":[0,33554432]}}";
    char *from = text_of("%s/in.safetensors", scratch);
    st_write(from, header, 33554432); /* 128 tiles */
    heard slow = convert_in(5000), steady = convert_in(200), fast = convert_in(0);
    assert_true(slow.times > 2 * steady.times);
    assert_true(steady.times > fast.times);
    assert_true(slow.most <= steady.most && steady.most < fast.most);
    free(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_fit),
    };
    scratch = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    return failed;
}
