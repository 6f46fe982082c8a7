/*
 * Tests loading many buffers in one pass over the files: the order of the reads, buffers that are
 * complete before the pass ends, large buffers that several threads fill, budgets, and failures.
 */
#include "support.h"
#include "weights.h"

#include <pthread.h>

#include "executor.h"
#include "unmapped_device.h"

/* ---- a source that records its reads ---- */

enum { READS = 4096 };

typedef struct recorder {
    const unsigned char *bytes;
    size_t n;
    struct {
        uint64_t offset, n;
    } reads[READS];
    size_t count;
    uint64_t fails_at; /* a read of this byte fails; 0: none */
    void (*before)(void *ctx, uint64_t offset);
    void *ctx;
    pthread_mutex_t lock;
} recorder;

static wb_status record(void *ctx, uint64_t offset, void *dst, size_t n, size_t *done)
{
    recorder *r = ctx;
    (void)pthread_mutex_lock(&r->lock);
    assert_true(r->count < READS);
    r->reads[r->count].offset = offset;
    r->reads[r->count++].n = n;
    (void)pthread_mutex_unlock(&r->lock);
    if (r->before != NULL)
        r->before(r->ctx, offset);
    if (r->fails_at != 0 && offset <= r->fails_at && r->fails_at < offset + n)
        return WB_ERROR_IO;
    memcpy(dst, r->bytes + offset, n);
    *done = n;
    return WB_OK;
}

/* A model of three layers whose file has the tensors in another order than the buffers need. */
static const char *const modules[] = {
    "model.layers.2.mlp.down_proj",    "model.layers.0.self_attn.k_proj",
    "model.layers.1.self_attn.v_proj", "model.layers.1.self_attn.q_proj",
    "model.layers.0.self_attn.v_proj", "model.layers.0.self_attn.q_proj",
    "model.layers.1.self_attn.k_proj", "model.layers.2.mlp.gate_proj"};
#define MODULES (sizeof modules / sizeof modules[0])
enum { ROWS = 64, COLUMNS = 32, BYTES = ROWS * COLUMNS * 4 };

static const char *const wanted[] = {"layers.0.attention.qkv.weight",
                                     "layers.1.attention.qkv.weight", "layers.2.ffn.gate.weight",
                                     "layers.2.ffn.down.weight"};
#define WANTED (sizeof wanted / sizeof wanted[0])

typedef struct world {
    weights *w;
    recorder source;
    unsigned char *file;
    wb_model *model;
} world;

static void world_open(world *all)
{
    const uint64_t shape[2] = {ROWS, COLUMNS};
    memset(all, 0, sizeof *all);
    all->w = weights_new("{\"model_type\":\"llama\"}");
    for (size_t i = 0; i < MODULES; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "%s.weight", modules[i]);
        weights_floats(all->w, name, "F32", shape, 2);
    }
    (void)weights_open(all->w);
    char *path = text_of("%s/model.safetensors", all->w->folder);
    size_t n;
    all->file = read_file(path, &n);
    all->source.bytes = all->file;
    all->source.n = n;
    assert_int_equal(pthread_mutex_init(&all->source.lock, NULL), 0);
    const wb_source source = {
        .size = sizeof source, .ctx = &all->source, .bytes = n, .read = record};
    wb_error error;
    if (wb_open_source(&source, path, NULL, &all->model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    all->source.count = 0;
    free(path);
}

static void world_close(world *all)
{
    wb_close(all->model);
    (void)pthread_mutex_destroy(&all->source.lock);
    free(all->file);
    weights_free(all->w);
}

static wb_provider *provider_of(const wb_model *model, const wb_device *device,
                                const wb_policy *policy)
{
    wb_provider *provider;
    wb_error error;
    if (wb_provider_create(model, device, policy, &provider, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return provider;
}

/* Compares the buffers of a provider with those that are loaded one by one from the file. */
static void check_buffers(wb_provider *provider, const wb_model *model, const wb_policy *policy,
                          const char *const *names, size_t n)
{
    wb_policy alone = *policy;
    alone.executor = NULL;
    alone.budget = 0;
    wb_provider *other = provider_of(model, NULL, &alone);
    for (size_t i = 0; i < n; i++) {
        wb_buffer a = WB_BUFFER_INIT, b = WB_BUFFER_INIT;
        assert_int_equal(wb_provider_get(provider, names[i], SIZE_MAX, &a, NULL), WB_OK);
        assert_int_equal(wb_provider_get(other, names[i], SIZE_MAX, &b, NULL), WB_OK);
        assert_int_equal(a.bytes, b.bytes);
        unsigned char *bytes = malloc((size_t)a.bytes + 1);
        assert_non_null(bytes);
        assert_int_equal(wb_provider_download(provider, &a, 0, bytes, a.bytes, NULL), WB_OK);
        assert_memory_equal(bytes, b.contents, (size_t)a.bytes);
        assert_int_equal(a.overflowed, b.overflowed);
        assert_int_equal(a.underflowed, b.underflowed);
        free(bytes);
        wb_provider_release(provider, &a);
    }
    wb_provider_destroy(other);
}

/* ---- the order of the reads ---- */

static void test_order(void **state)
{
    world all;
    wb_error error;
    (void)state;
    world_open(&all);
    const wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP};
    wb_provider *provider = provider_of(all.model, NULL, &policy);
    assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, &error), WB_OK);
    /* The reads must be in the order of the file and read each byte once. */
    uint64_t sum = 0;
    for (size_t i = 0; i < all.source.count; i++) {
        if (i > 0)
            assert_true(all.source.reads[i].offset ==
                        all.source.reads[i - 1].offset + all.source.reads[i - 1].n);
        sum += all.source.reads[i].n;
    }
    assert_int_equal(sum, MODULES * BYTES);
    size_t reads = all.source.count;
    assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, &error), WB_OK);
    assert_int_equal(all.source.count, reads); /* everything is cached */
    check_buffers(provider, all.w->model, &policy, wanted, WANTED);
    wb_cache_stats stats = WB_CACHE_STATS_INIT;
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_int_equal(stats.loads, WANTED);
    assert_int_equal(stats.loaded_bytes, sum);
    assert_int_equal(stats.in_use, 0);
    wb_provider_destroy(provider);
    world_close(&all);
}

/* ---- buffers that are complete before the pass ends ---- */

typedef struct early {
    wb_provider *provider;
    const char *name;
    uint64_t offset;
    bool done;
    wb_status status;
} early;

static void *get_early(void *arg)
{
    early *e = arg;
    wb_buffer b = WB_BUFFER_INIT;
    e->status = wb_provider_get(e->provider, e->name, SIZE_MAX, &b, NULL);
    wb_provider_release(e->provider, &b);
    return NULL;
}

/* Before the last tensor is read, another thread gets a buffer that the pass has completed. */
static void before_last(void *ctx, uint64_t offset)
{
    early *e = ctx;
    pthread_t thread;
    if (e->done || offset < e->offset)
        return;
    e->done = true;
    assert_int_equal(pthread_create(&thread, NULL, get_early, e), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_early(void **state)
{
    world all;
    wb_error error;
    (void)state;
    world_open(&all);
    wb_provider *provider = provider_of(all.model, NULL, NULL);
    early e = {.provider = provider,
               .name = "layers.0.attention.qkv.weight",
               .offset = all.source.n - BYTES, /* the last tensor */
               .status = WB_ERROR_IO};
    all.source.before = before_last;
    all.source.ctx = &e;
    assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, &error), WB_OK);
    assert_true(e.done);
    assert_int_equal(e.status, WB_OK);
    wb_provider_destroy(provider);
    world_close(&all);
}

/* ---- large buffers ---- */

/* Several threads fill the pieces of one buffer, on devices with and without mapped memory. */
static void test_large(void **state)
{
    static const char *const names[] = {"large.weight", "packed.weight", "small.weight",
                                        "large.weight+other.weight", "empty.weight"};
    const uint64_t large[2] = {6000, 4096}, other[2] = {20, 4096}, small[1] = {7},
                   empty[2] = {0, 8};
    size_t threads = 3;
    const wb_executor executor = crew_executor(&threads);
    const wb_device *const devices[] = {NULL, far_device(), late_device()};
    wb_error error;
    (void)state;
    weights *w = weights_new("{\"model_type\":\"llama\",\"quantization\":{\"bits\":4,"
                             "\"group_size\":64}}");
    weights_floats(w, "other.weight", "BF16", other, 2);
    weights_floats(w, "large.weight", "BF16", large, 2);
    weights_floats(w, "small.weight", "F32", small, 1);
    weights_floats(w, "empty.weight", "F32", empty, 2);
    weights_mlx(w, "packed", "affine", 4, 64, other, 2, "BF16");
    (void)weights_open(w);
    for (size_t d = 0; d < 3; d++) {
        for (int converts = 0; converts < 2; converts++) {
            const wb_policy policy = {.size = sizeof policy,
                                      .plain = converts ? WB_PLAIN_F16 : WB_PLAIN_KEEP,
                                      .executor = &executor};
            wb_provider *provider = provider_of(w->model, devices[d], &policy);
            assert_int_equal(wb_provider_prefetch(provider, names, NULL, 5, &error), WB_OK);
            check_buffers(provider, w->model, &policy, names, 5);
            wb_provider_destroy(provider);
        }
    }
    weights_free(w);
}

/* ---- threads ---- */

typedef struct loader {
    wb_provider *provider;
    size_t first;
    wb_status status;
} loader;

/* Body of a thread: prefetches the buffers, each thread in another order, and then gets them. */
static void *load_all(void *arg)
{
    loader *l = arg;
    const char *names[WANTED];
    for (size_t i = 0; i < WANTED; i++)
        names[i] = wanted[(l->first + i) % WANTED];
    l->status = wb_provider_prefetch(l->provider, names, NULL, WANTED, NULL);
    for (size_t i = 0; i < WANTED && l->status == WB_OK; i++) {
        wb_buffer b = WB_BUFFER_INIT;
        l->status = wb_provider_get(l->provider, names[i], SIZE_MAX, &b, NULL);
        wb_provider_release(l->provider, &b);
    }
    return NULL;
}

static void test_threads(void **state)
{
    size_t threads = 2;
    const wb_executor executor = crew_executor(&threads);
    (void)state;
    for (int round = 0; round < 20; round++) {
        world all;
        world_open(&all);
        const wb_policy policy = {.size = sizeof policy, .executor = &executor};
        wb_provider *provider = provider_of(all.model, NULL, &policy);
        loader loaders[WANTED];
        pthread_t ids[WANTED];
        for (size_t i = 0; i < WANTED; i++) {
            loaders[i] = (loader){provider, i, WB_ERROR_IO};
            assert_int_equal(pthread_create(&ids[i], NULL, load_all, &loaders[i]), 0);
        }
        for (size_t i = 0; i < WANTED; i++) {
            assert_int_equal(pthread_join(ids[i], NULL), 0);
            assert_int_equal(loaders[i].status, WB_OK);
        }
        wb_cache_stats stats = WB_CACHE_STATS_INIT;
        assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
        assert_int_equal(stats.loads, WANTED); /* each buffer once */
        check_buffers(provider, all.w->model, &policy, wanted, WANTED);
        wb_provider_destroy(provider);
        world_close(&all);
    }
}

/* ---- budgets ---- */

static void test_budget(void **state)
{
    (void)state;
    for (uint64_t budget = 3 * BYTES; budget <= 9 * BYTES; budget += BYTES) {
        world all;
        wb_error error;
        world_open(&all);
        const wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP, .budget = budget};
        wb_provider *provider = provider_of(all.model, NULL, &policy);
        assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, &error), WB_OK);
        wb_cache_stats stats = WB_CACHE_STATS_INIT;
        assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
        assert_true(stats.peak_bytes <= budget);
        assert_int_equal(stats.loads, WANTED);
        uint64_t read = 0;
        for (size_t i = 0; i < all.source.count; i++)
            read += all.source.reads[i].n;
        assert_int_equal(read, MODULES * BYTES); /* each byte once */
        check_buffers(provider, all.w->model, &policy, wanted, WANTED);
        wb_provider_destroy(provider);
        world_close(&all);
    }
}

/* If the buffers are larger than the budget, the prefetch must fail and stay within the budget. */
static void test_small_budget(void **state)
{
    world all;
    wb_error error;
    (void)state;
    world_open(&all);
    const wb_policy policy = {
        .size = sizeof policy, .plain = WB_PLAIN_KEEP, .budget = 3 * BYTES - 1};
    wb_provider *provider = provider_of(all.model, NULL, &policy);
    assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, &error), WB_ERROR_LIMIT);
    wb_cache_stats stats = WB_CACHE_STATS_INIT;
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_true(stats.peak_bytes <= 3 * BYTES - 1);
    wb_provider_destroy(provider);
    world_close(&all);
}

/* ---- failures ---- */

/* Lets the read of each tensor fail once. Each buffer must be either complete or not loaded, and a
 * second attempt must load everything. */
static void test_failures(void **state)
{
    (void)state;
    for (size_t threads = 0; threads <= 3; threads += 3) {
        for (size_t tensor = 0; tensor < MODULES; tensor++) {
            world all;
            wb_error error;
            counter memory = {0};
            const wb_allocator allocator = counter_allocator(&memory);
            const wb_executor executor = crew_executor(&threads);
            world_open(&all);
            const wb_policy policy = {.size = sizeof policy,
                                      .plain = WB_PLAIN_KEEP,
                                      .allocator = threads == 0 ? &allocator : NULL,
                                      .executor = threads == 0 ? NULL : &executor};
            wb_provider *provider = provider_of(all.model, NULL, &policy);
            all.source.fails_at = all.w->begin + tensor * BYTES + 1;
            assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, &error),
                             WB_ERROR_IO);
            wb_cache_stats stats = WB_CACHE_STATS_INIT;
            assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
            assert_true(stats.loads < WANTED);
            assert_int_equal(stats.bytes, stats.loaded_bytes);
            all.source.fails_at = 0;
            assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, &error), WB_OK);
            check_buffers(provider, all.w->model, &policy, wanted, WANTED);
            wb_provider_destroy(provider);
            if (threads == 0)
                assert_clean(&memory);
            world_close(&all);
        }
    }
}

/* Lets each allocation fail. */
static void test_allocations(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t at = 1; failed; at++) {
        world all;
        counter memory = {0};
        const wb_allocator allocator = counter_allocator(&memory);
        const wb_policy policy = {
            .size = sizeof policy, .plain = WB_PLAIN_F16, .allocator = &allocator};
        world_open(&all);
        wb_provider *provider = provider_of(all.model, NULL, &policy);
        memory.calls = 0;
        memory.fail_at = at;
        wb_status status = wb_provider_prefetch(provider, wanted, NULL, WANTED, NULL);
        failed = memory.failed;
        assert_int_equal(status, failed ? WB_ERROR_MEMORY : WB_OK);
        memory.fail_at = 0;
        assert_int_equal(wb_provider_prefetch(provider, wanted, NULL, WANTED, NULL), WB_OK);
        check_buffers(provider, all.w->model, &policy, wanted, WANTED);
        wb_provider_destroy(provider);
        assert_clean(&memory);
        world_close(&all);
    }
}

/* A device that has no memory left, or whose uploads fail. */
typedef struct small_device {
    unsigned allocations, uploads; /* calls that succeed */
} small_device;

static wb_status small_alloc(void *ctx, uint64_t bytes, void **handle)
{
    small_device *d = ctx;
    return d->allocations-- == 0 ? WB_ERROR_MEMORY : far_alloc(NULL, bytes, handle);
}

static wb_status small_upload(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                              void **event)
{
    small_device *d = ctx;
    return d->uploads-- == 0 ? WB_ERROR_IO : late_upload(NULL, handle, offset, src, n, event);
}

static void test_device_failures(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 2 * MODULES; at++) {
        world all;
        wb_error error;
        small_device small = {.allocations = at < WANTED ? at : 1000,
                              .uploads = at < WANTED ? 1000 : at - (unsigned)WANTED};
        wb_device device = *late_device();
        device.ctx = &small;
        device.alloc = small_alloc;
        device.upload = small_upload;
        world_open(&all);
        const wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP};
        wb_provider *provider = provider_of(all.model, &device, &policy);
        wb_status status = wb_provider_prefetch(provider, wanted, NULL, WANTED, &error);
        assert_int_equal(status, at < WANTED             ? WB_ERROR_MEMORY
                                 : at - WANTED < MODULES ? WB_ERROR_IO
                                                         : WB_OK);
        small = (small_device){1000, 1000};
        check_buffers(provider, all.w->model, &policy, wanted, WANTED);
        wb_provider_destroy(provider);
        world_close(&all);
    }
}

static void test_unknown_name(void **state)
{
    static const char *const names[] = {"layers.0.attention.q.weight", "nothing"};
    world all;
    wb_error error;
    (void)state;
    world_open(&all);
    wb_provider *provider = provider_of(all.model, NULL, NULL);
    assert_int_equal(wb_provider_prefetch(provider, names, NULL, 2, &error), WB_ERROR_NOT_FOUND);
    assert_string_equal(error.name, "nothing");
    assert_int_equal(all.source.count, 0);
    assert_int_equal(wb_provider_prefetch(provider, names, NULL, 0, &error), WB_OK);
    assert_int_equal(wb_provider_prefetch(provider, NULL, NULL, 0, &error), WB_OK);
    wb_cache_stats stats = WB_CACHE_STATS_INIT;
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_int_equal(stats.loads, MODULES);
    wb_provider_destroy(provider);
    world_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),           cmocka_unit_test(test_early),
        cmocka_unit_test(test_large),           cmocka_unit_test(test_threads),
        cmocka_unit_test(test_budget),          cmocka_unit_test(test_small_budget),
        cmocka_unit_test(test_failures),        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_device_failures), cmocka_unit_test(test_unknown_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
