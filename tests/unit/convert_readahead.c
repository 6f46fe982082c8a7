/*
 * Tests conversions of files outside the page cache, which the library reads ahead with direct I/O.
 * The output must be the same as from cached files, also if reads fail, return fewer bytes or
 * cannot be started. The test simulates the page cache.
 *
 * wraps: wb__cpu_count pread64 open64 fstatfs64 wb__source_cached wb__ring_open wb__ring_begin
 * wb__ring_take
 */
#include "convert.h"
#include "weights.h"

#include "cpu/cpu.h"
#include "executor.h"
#include "page_cache.h"

/* ---- simulated processors and reads ---- */

static struct {
    unsigned processors;   /* simulated number of processors; 0: the real number */
    int past_errno;        /* errno with which direct reads without io_uring fail; 0: none */
    _Atomic unsigned past; /* number of direct reads without io_uring */
} world;

static void world_reset(unsigned cached)
{
    memset(&world, 0, sizeof world);
    cold_reset();
    cold.cached = cached;
}

unsigned __real_wb__cpu_count(void);
unsigned __wrap_wb__cpu_count(void);
ssize_t __real_pread64(int fd, void *dst, size_t n, off_t offset);
ssize_t __wrap_pread64(int fd, void *dst, size_t n, off_t offset);

unsigned __wrap_wb__cpu_count(void)
{
    return world.processors != 0 ? world.processors : __real_wb__cpu_count();
}

ssize_t __wrap_pread64(int fd, void *dst, size_t n, off_t offset)
{
    if (!is_direct(fd))
        return __real_pread64(fd, dst, n, offset);
    world.past++;
    cold.misaligned += ((uintptr_t)dst | n | (size_t)offset) % 4096 != 0;
    if (world.past_errno == 0)
        return __real_pread64(fd, dst, n, offset);
    errno = world.past_errno;
    return -1;
}

/* ---- models ---- */

static char *scratch;

/* Writes a model whose tensors differ in size: some are smaller than a read-ahead buffer, some need
 * several. Some have odd offsets, permuted rows, or rows larger than a buffer. */
static void make(void)
{
    static const struct {
        const char *name, *dtype;
        uint64_t shape[2];
        int rank;
    } tensors[] = {{"model.embed_tokens.weight", "BF16", {4096, 512}, 2},
                   {"bytes", "F8_E4M3", {5, 50001}, 2},
                   {"model.layers.0.self_attn.q_proj.weight", "BF16", {512, 512}, 2},
                   {"model.layers.0.self_attn.k_proj.weight", "BF16", {512, 512}, 2},
                   {"model.layers.0.input_layernorm.weight", "F32", {512}, 1},
                   {"model.layers.0.mlp.up_proj.weight", "F32", {1531, 512}, 2},
                   {"wide", "F32", {2, 600000}, 2}};
    weights *w = weights_new("{\"model_type\":\"llama\"}");
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        if (tensors[i].dtype[1] == '8')
            weights_raw(w, tensors[i].name, tensors[i].dtype, tensors[i].shape, tensors[i].rank, 1);
        else
            weights_floats(w, tensors[i].name, tensors[i].dtype, tensors[i].shape, tensors[i].rank);
    }
    (void)weights_open(w);
    char *copy = text_of("%s/made.safetensors", scratch);
    char *path = text_of("%s/model.safetensors", w->folder);
    size_t n;
    unsigned char *bytes = read_file(path, &n);
    write_file(copy, bytes, n);
    free(bytes);
    free(path);
    free(copy);
    weights_free(w);
}

typedef struct job {
    const char *from; /* path in the test data; NULL: the model written by make() */
    wb_target target;
    const char *quant;
} job;

static const job jobs[] = {
    {NULL, WB_TARGET_SAFETENSORS, NULL},
    {NULL, WB_TARGET_GGUF, "Q8_0"},
    {NULL, WB_TARGET_SAFETENSORS, "F16"},
    {NULL, WB_TARGET_MLX, "affine4:64"},
    {"twins/llama", WB_TARGET_GGUF, NULL},    /* permuted rows */
    {"twins/mixtral", WB_TARGET_GGUF, "F16"}, /* tensors that are stacked from several tensors */
    {"twins/llama.gguf", WB_TARGET_SAFETENSORS, NULL}, /* the permutation is undone */
    {"twins/phi3.gguf", WB_TARGET_MLX, NULL},
    {"models/qwen3-4bit-3shards", WB_TARGET_GGUF, NULL}, /* packed tensors in several files */
    {"models/qwen3_moe-nvfp4", WB_TARGET_GGUF, "Q4_0"},
};

enum { JOBS = sizeof jobs / sizeof *jobs };

static wb_status run(const job *j, size_t threads, uint64_t max_memory, const char *to)
{
    wb_model *model;
    wb_conversion *conversion;
    wb_error error;
    char *from = j->from == NULL ? text_of("%s/made.safetensors", scratch)
                                 : text_of("%s/%s", TEST_DATA, j->from);
    const wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    const wb_executor executor = crew_executor(&threads);
    const wb_convert_policy policy = {.size = sizeof policy,
                                      .quant = j->quant,
                                      .max_memory = max_memory,
                                      .executor = threads > 1 ? &executor : NULL};
    assert_int_equal(wb_open(from, &options, &model, NULL), WB_OK);
    if (wb_convert_plan(model, j->target, &policy, &conversion, &error) != WB_OK)
        fail_msg("%s: %s\n", from, error.message);
    wb_status status = wb_convert(conversion, to, NULL, &error);
    wb_conversion_free(conversion);
    wb_close(model);
    free(from);
    assert_int_equal(cold.misaligned, 0);
    return status;
}

static void compare_models(const char *a, const char *b)
{
    wb_model *x = open_model(a), *y = open_model(b);
    compare_tensors(x, y, a);
    wb_close(x);
    wb_close(y);
}

/* Runs the conversion with one and three threads, and compares the outputs with `warm`, the output
 * of a conversion from the page cache. */
static void compare_with_cached(const job *j, const char *warm)
{
    for (size_t threads = 1; threads <= 3; threads += 2) {
        char *out = text_of("%s/cold-%zu", scratch, threads);
        assert_int_equal(run(j, threads, 0, out), WB_OK);
        compare_models(out, warm);
        scratch_remove(out);
    }
}

/* ---- the same result ---- */

static void the_result_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        char *warm = text_of("%s/warm-%zu", scratch, i);
        world_reset(100);
        assert_int_equal(run(&jobs[i], 1, 0, warm), WB_OK);
        assert_int_equal(cold.rung + world.past, 0);
        static const ring_kind kinds[] = {GOOD_RING, RING_THAT_FAILS, RING_THAT_GIVES_LESS,
                                          RING_THAT_REFUSES};
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds && has_rings(); k++) {
            world_reset(0);
            cold.ring = kinds[k];
            compare_with_cached(&jobs[i], warm);
            assert_true(cold.rung > 0);
            /* Failed and short reads must be repeated without io_uring. */
            if (kinds[k] == GOOD_RING || kinds[k] == RING_THAT_REFUSES)
                assert_int_equal(world.past, 0);
            else if (jobs[i].from == NULL)
                assert_true(world.past > 0);
        }
        free(warm);
    }
}

/* If direct reads are not supported, the file must be read through the page cache. */
static void nothing_goes_past(void **state)
{
    (void)state;
    if (!has_rings())
        skip();
    char *warm = text_of("%s/warm-1", scratch);
    world_reset(0);
    cold.ring = RING_THAT_FAILS;
    world.past_errno = EINVAL;
    compare_with_cached(&jobs[1], warm);
    assert_true(world.past > 0);
    world.past_errno = EIO; /* a disk error */
    char *none = text_of("%s/none", scratch);
    assert_int_equal(run(&jobs[1], 3, 0, none), WB_ERROR_IO);
    assert_int_equal(access(none, F_OK), -1);
    free(none);
    world_reset(0);
    opened.no_direct = true;
    compare_with_cached(&jobs[1], warm);
    assert_int_equal(cold.rung + world.past, 0);
    free(warm);
}

/* Direct reads must not be used in five cases: the file is mostly cached, the state of the cache is
 * unknown, the file system is NFS, io_uring is unavailable, or too little memory is allowed. */
static void the_page_cache_is_used(void **state)
{
    (void)state;
    char *warm = text_of("%s/warm-1", scratch);
    for (int i = 0; i < 5; i++) {
        char *out = text_of("%s/out", scratch);
        world_reset(i == 0 ? 51 : i == 1 ? 101 : 0);
        cold.medium = i == 2 ? 0x6969 : 0; /* NFS */
        cold.no_ring = i == 3;
        assert_int_equal(run(&jobs[1], 3, i == 4 ? (uint64_t)4 << 20 : 0, out), WB_OK);
        assert_int_equal(cold.rung + world.past, 0);
        compare_models(out, warm);
        scratch_remove(out);
    }
    free(warm);
}

/* ---- memory ---- */

static void *note_alloc(void *ctx, size_t n)
{
    size_t *most = ctx;
    *most = n > *most ? n : *most;
    return wb__alloc(&wb__default_allocator, n);
}

static void note_free(void *ctx, void *memory, size_t n)
{
    (void)ctx;
    wb__free(&wb__default_allocator, memory, n);
}

/* Returns the size of the largest allocation of a conversion: the buffers of one thread. */
static size_t most_memory(unsigned processors)
{
    size_t most = 0;
    char *from = text_of("%s/made.safetensors", scratch), *out = text_of("%s/out", scratch);
    const wb_allocator allocator = {&most, note_alloc, note_free};
    const wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .allocator = &allocator};
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "F32"};
    wb_model *model;
    world_reset(100);
    world.processors = processors;
    assert_int_equal(wb_open(from, &options, &model, NULL), WB_OK);
    wb_conversion_free(convert_open(model, WB_TARGET_GGUF, &policy, out));
    wb_close(model);
    scratch_remove(out);
    free(from);
    return most;
}

/* The more processors there are, the smaller the buffers of each thread must be, so that memory
 * suffices for all threads. */
static void every_processor_has_memory(void **state)
{
    (void)state;
    size_t few = most_memory(2), many = most_memory(64);
    assert_true(few > (size_t)12 << 20); /* three buffers for spans (scheduler.c) of 4 MiB each */
    assert_true(many < few - ((size_t)4 << 20)); /* 64 processors: smaller spans */
    assert_int_equal(most_memory(1), few);
    assert_int_equal(most_memory(1000), many);
}

/* ---- interrupted runs ---- */

static int stop_later(void *ctx, uint64_t done, uint64_t total)
{
    unsigned *reports = ctx;
    (void)done;
    (void)total;
    return --*reports == 0;
}

/* The second run must read only the data that the first has not written. The third run has nothing
 * to resume, so it must read more than the second. */
static void stopped_and_resumed(void **state)
{
    (void)state;
    if (!has_rings())
        skip();
    char *from = text_of("%s/made.safetensors", scratch), *to = text_of("%s/twice", scratch);
    char *warm = text_of("%s/warm-1", scratch);
    const wb_convert_policy policy = {
        .size = sizeof policy, .quant = "Q8_0", .flags = WB_CONVERT_RESUME};
    wb_error error;
    unsigned rung[3];
    for (int turn = 0; turn < 3; turn++) {
        unsigned reports = 2;
        const wb_progress progress = {&reports, stop_later};
        wb_model *model = open_model(from);
        wb_conversion *conversion;
        world_reset(0);
        assert_int_equal(wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error),
                         WB_OK);
        assert_int_equal(wb_convert(conversion, to, turn == 0 ? &progress : NULL, &error),
                         turn == 0 ? WB_ERROR_CANCELLED : WB_OK);
        wb_conversion_free(conversion);
        wb_close(model);
        rung[turn] = cold.rung;
        if (turn > 0) {
            compare_models(to, warm);
            assert_int_equal(remove(to), 0);
        }
    }
    free(to);
    assert_true(rung[0] > 0 && rung[1] > 0 && rung[1] < rung[2]);
    free(from);
    free(warm);
}

/* A truncated file must give the same error with and without the page cache. */
static void cut_short(void **state)
{
    (void)state;
    size_t n;
    char *from = text_of("%s/made.safetensors", scratch), *to = text_of("%s/short", scratch);
    unsigned char *bytes = read_file(from, &n);
    for (int warm = 0; warm < 2; warm++) {
        const wb_convert_policy policy = {.size = sizeof policy, .quant = "Q8_0"};
        wb_conversion *conversion;
        wb_error error;
        wb_model *model = open_model(from);
        world_reset(warm ? 100 : 0);
        assert_int_equal(wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error),
                         WB_OK);
        assert_int_equal(truncate(from, (off_t)n / 2), 0);
        assert_int_equal(wb_convert(conversion, to, NULL, &error), WB_ERROR_CHANGED);
        assert_non_null(strstr(error.file, "made.safetensors"));
        assert_int_equal(access(to, F_OK), -1);
        wb_conversion_free(conversion);
        wb_close(model);
        write_file(from, bytes, n);
    }
    free(bytes);
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_is_the_same), cmocka_unit_test(nothing_goes_past),
        cmocka_unit_test(the_page_cache_is_used), cmocka_unit_test(every_processor_has_memory),
        cmocka_unit_test(stopped_and_resumed),    cmocka_unit_test(cut_short),
    };
    scratch = scratch_make();
    make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    return failed;
}
