/*
 * Tests the cache of the weight provider. Any number of threads must load each tensor once, the
 * budget must never be exceeded, and there must be no I/O after all tensors are loaded. Also tests
 * devices of the caller, a segment that processes share, and failures of memory and devices.
 */
#include "support.h"
#include "weights.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define TENSORS 24
#define THREADS 64

static char names[TENSORS][48];
static size_t sizes[TENSORS]; /* size of each buffer in bytes, with floats as F16 */

/* Makes a model whose tensors are in turn F32, BF16 and quantized. */
static weights *make_weights(void)
{
    weights *w = weights_new("{\"model_type\":\"llama\",\"quantization\":{\"group_size\":32,"
                             "\"bits\":4}}");
    for (unsigned i = 0; i < TENSORS; i++) {
        const uint64_t shape[2] = {16 + i, 64};
        char module[48];
        static const char *const leaves[] = {"self_attn.q_proj", "self_attn.k_proj",
                                             "mlp.down_proj"};
        static const char *const canonical[] = {"attention.q", "attention.k", "ffn.down"};
        (void)snprintf(module, sizeof module, "model.layers.%u.%s", i / 3, leaves[i % 3]);
        (void)snprintf(names[i], sizeof names[i], "layers.%u.%s.weight", i / 3, canonical[i % 3]);
        sizes[i] = (16 + i) * 64 * 2;
        if (i % 3 == 2) {
            weights_mlx(w, module, "affine", 4, 32, shape, 2, "BF16");
            sizes[i] = (16 + i) * (32 + 4 + 4);
        } else {
            char name[64];
            (void)snprintf(name, sizeof name, "%s.weight", module);
            weights_floats(w, name, i % 3 == 0 ? "F32" : "BF16", shape, 2);
        }
    }
    return w;
}

/* ---- a device of the caller ---- */

/* The device has no memory that the host can access. It executes most uploads only when the caller
 * waits for them. */
typedef struct own_device {
    atomic_size_t live, most, buffers, allocs, uploads;
    size_t fail_alloc, /* number of the allocation that fails, counted from 1; 0: none */
        fail_upload;   /* number of the upload that fails, counted from 1; 0: none */
} own_device;

typedef struct own_event {
    void *to;
    const void *from;
    size_t n;
} own_event;

static wb_status own_alloc(void *ctx, uint64_t bytes, void **handle)
{
    own_device *d = ctx;
    if (atomic_fetch_add(&d->allocs, 1) + 1 == d->fail_alloc)
        return WB_ERROR_MEMORY;
    *handle = malloc((size_t)bytes + 1);
    assert_non_null(*handle);
    size_t live = atomic_fetch_add(&d->live, (size_t)bytes) + (size_t)bytes;
    size_t most = atomic_load(&d->most);
    while (live > most && !atomic_compare_exchange_weak(&d->most, &most, live))
        ;
    atomic_fetch_add(&d->buffers, 1);
    return WB_OK;
}

static void own_free(void *ctx, void *handle, uint64_t bytes)
{
    own_device *d = ctx;
    atomic_fetch_sub(&d->live, (size_t)bytes);
    atomic_fetch_sub(&d->buffers, 1);
    free(handle);
}

static wb_status own_upload(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                            void **event)
{
    own_device *d = ctx;
    size_t number = atomic_fetch_add(&d->uploads, 1) + 1;
    if (number == d->fail_upload)
        return WB_ERROR_IO;
    if (number % 3 == 0) { /* some uploads are executed at once */
        memcpy((char *)handle + offset, src, (size_t)n);
        return WB_OK;
    }
    own_event *e = malloc(sizeof *e);
    assert_non_null(e);
    *e = (own_event){(char *)handle + offset, src, (size_t)n};
    *event = e;
    return WB_OK;
}

static wb_status own_wait(void *ctx, void *event)
{
    own_event *e = event;
    (void)ctx;
    memcpy(e->to, e->from, e->n);
    free(e);
    return WB_OK;
}

static wb_status own_download(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n)
{
    (void)ctx;
    memcpy(dst, (char *)handle + offset, (size_t)n);
    return WB_OK;
}

static wb_device own_table(own_device *d)
{
    return (wb_device){.size = sizeof(wb_device),
                       .ctx = d,
                       .alloc = own_alloc,
                       .free = own_free,
                       .upload = own_upload,
                       .download = own_download,
                       .wait = own_wait};
}

static void assert_given_back(own_device *d)
{
    assert_int_equal(atomic_load(&d->live), 0);
    assert_int_equal(atomic_load(&d->buffers), 0);
}

static wb_provider *make_provider(const wb_model *model, const wb_device *device,
                                  const wb_policy *policy)
{
    wb_provider *provider;
    wb_error error;
    if (wb_provider_create(model, device, policy, &provider, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return provider;
}

static wb_cache_stats stats_of(const wb_provider *provider)
{
    wb_cache_stats stats = {.size = sizeof stats};
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    return stats;
}

/* The device must get the same bytes as host memory, also for a tensor that is uploaded in several
 * pieces. */
static void own(void **state)
{
    (void)state;
    own_device d = {.fail_alloc = 0};
    wb_device table = own_table(&d);
    const uint64_t big[2] = {1500, 1024}, none[2] = {0, 8};
    weights *w = make_weights();
    weights_floats(w, "big", "F32", big, 2);
    weights_floats(w, "none", "F32", none, 2);
    const wb_model *model = weights_open(w);
    wb_provider *here = make_provider(model, NULL, NULL);
    wb_provider *there = make_provider(model, &table, NULL);
    const char *pair[] = {names[0], names[1]};
    for (unsigned i = 0; i < TENSORS + 3; i++) {
        wb_buffer a = {.size = sizeof a}, b = {.size = sizeof b};
        if (i == TENSORS + 1) {
            assert_int_equal(wb_provider_fuse(here, pair, NULL, 2, 0, &a, NULL), WB_OK);
            assert_int_equal(wb_provider_fuse(there, pair, NULL, 2, 0, &b, NULL), WB_OK);
        } else {
            const char *name = i < TENSORS ? names[i] : i == TENSORS ? "big" : "none";
            assert_int_equal(wb_provider_get(here, name, SIZE_MAX, &a, NULL), WB_OK);
            assert_int_equal(wb_provider_get(there, name, SIZE_MAX, &b, NULL), WB_OK);
        }
        assert_null(b.contents);
        assert_int_equal(a.bytes, b.bytes);
        assert_int_equal(b.bytes == 0, i == TENSORS + 2);
        unsigned char *copy = malloc((size_t)b.bytes + 1);
        assert_non_null(copy);
        assert_int_equal(wb_provider_download(there, &b, 0, copy, b.bytes, NULL), WB_OK);
        assert_memory_equal(copy, a.contents, (size_t)b.bytes);
        free(copy);
    }
    assert_int_equal(stats_of(there).bytes, atomic_load(&d.live));
    wb_provider_destroy(here);
    wb_provider_destroy(there);
    assert_given_back(&d);
    weights_free(w);
}

/* ---- threads ---- */

typedef struct worker {
    pthread_t thread;
    wb_provider *provider;
    unsigned seed;
    bool may_be_full;
    unsigned refused;
    const char *complaint;
} worker;

#define EXPECT(w, condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (w)->complaint = #condition;                                                           \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

static void *work(void *arg)
{
    worker *w = arg;
    uint64_t random = 77 + w->seed;
    for (unsigned round = 0; round < (is_slow() ? 6u : 60u); round++) {
        unsigned first = (unsigned)(next_random(&random) >> 33) % TENSORS;
        bool fused = round % 5 == 4;
        unsigned i = round == 0 ? 0
                     : fused    ? first / 3 * 3
                                : first; /* all threads begin with the same tensor */
        const char *pair[2] = {names[i], names[(i + 1) % TENSORS]};
        wb_buffer b = {.size = sizeof b};
        wb_error error;
        unsigned char bytes[64];
        wb_status status = fused ? wb_provider_fuse(w->provider, pair, NULL, 2, 0, &b, &error)
                                 : wb_provider_get(w->provider, names[i], SIZE_MAX, &b, &error);
        if (status == WB_ERROR_LIMIT && w->may_be_full) {
            EXPECT(w, b.handle == NULL && b.bytes == 0 && b.use == NULL);
            w->refused++;
            continue;
        }
        EXPECT(w, status == WB_OK);
        EXPECT(w, b.bytes == (fused ? sizes[i] + sizes[i + 1] : sizes[i]));
        EXPECT(w, wb_provider_download(w->provider, &b, b.bytes - 64, bytes, 64, &error) == WB_OK);
        wb_provider_release(w->provider, &b);
        EXPECT(w, b.use == NULL);
    }
    return NULL;
}

static unsigned run_threads(wb_provider *provider, bool may_be_full)
{
    static worker workers[THREADS];
    unsigned refused = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.provider = provider, .seed = i, .may_be_full = may_be_full};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        if (workers[i].complaint != NULL)
            fail_msg("thread %u: not %s\n", i, workers[i].complaint);
        refused += workers[i].refused;
    }
    return refused;
}

static void threads(void **state)
{
    (void)state;
    weights *w = make_weights();
    own_device d = {.fail_alloc = 0};
    wb_device table = own_table(&d);
    wb_provider *provider = make_provider(weights_open(w), &table, NULL);
    (void)run_threads(provider, false);
    wb_cache_stats stats = stats_of(provider);
    assert_true(stats.loads == stats.buffers); /* each loaded once */
    assert_int_equal(atomic_load(&d.allocs), stats.buffers);
    assert_true(stats.buffers <= TENSORS + TENSORS / 3);
    assert_int_equal(stats.in_use, 0);
    assert_int_equal(stats.evictions, 0);
    wb_provider_destroy(provider);
    assert_given_back(&d);
    weights_free(w);
}

/* ---- a budget ---- */

static void budget(void **state)
{
    (void)state;
    weights *w = make_weights();
    own_device d = {.fail_alloc = 0};
    wb_device table = own_table(&d);
    wb_policy policy = {.size = sizeof policy, .budget = 30000};
    wb_provider *provider = make_provider(weights_open(w), &table, &policy);
    (void)run_threads(provider, true);
    wb_cache_stats stats = stats_of(provider);
    assert_true(atomic_load(&d.most) <= policy.budget);
    assert_true(stats.peak_bytes <= policy.budget);
    assert_true(stats.peak_bytes > policy.budget / 2);
    assert_true(stats.evictions > 0);
    assert_int_equal(stats.bytes, atomic_load(&d.live));
    assert_int_equal(stats.buffers, atomic_load(&d.buffers));
    assert_int_equal(stats.in_use, 0);
    wb_provider_trim(provider);
    assert_int_equal(stats_of(provider).bytes, 0);
    wb_provider_destroy(provider);
    assert_given_back(&d);
    weights_free(w);
}

static bool is_cached(wb_provider *provider, unsigned i)
{
    wb_buffer b = {.size = sizeof b};
    uint64_t loads = stats_of(provider).loads;
    assert_int_equal(wb_provider_get(provider, names[i], SIZE_MAX, &b, NULL), WB_OK);
    wb_provider_release(provider, &b);
    return stats_of(provider).loads == loads;
}

/* The least recently used buffer must be evicted, but no buffer in use. */
static void oldest_goes(void **state)
{
    (void)state;
    weights *w = make_weights();
    wb_policy policy = {.size = sizeof policy, .budget = sizes[0] + sizes[1] + sizes[3]};
    wb_provider *provider = make_provider(weights_open(w), NULL, &policy);
    wb_buffer b = {.size = sizeof b}, held = {.size = sizeof held}, zero = {.size = sizeof zero};
    wb_error error;
    assert_false(is_cached(provider, 0));
    assert_false(is_cached(provider, 1));
    assert_false(is_cached(provider, 3));
    assert_true(is_cached(provider, 0));
    assert_false(is_cached(provider, 2)); /* loads buffer 2, which evicts 1, the least recent */
    assert_true(is_cached(provider, 0));
    assert_true(is_cached(provider, 3));
    assert_int_equal(wb_provider_get(provider, names[0], SIZE_MAX, &held, NULL), WB_OK);
    assert_int_equal(wb_provider_get(provider, names[3], SIZE_MAX, &b, NULL), WB_OK);
    b = zero; /* buffer 3 is not released, so it stays in use */
    assert_int_equal(wb_provider_get(provider, names[22], SIZE_MAX, &b, &error), WB_ERROR_LIMIT);
    assert_string_equal(error.code, "budget");
    assert_memory_equal(&b, &zero, sizeof b);
    assert_true(is_cached(provider, 0));
    wb_provider_release(provider, &held);
    assert_true(is_cached(provider, 3));
    policy.budget = 100;
    wb_provider *small = make_provider(w->model, NULL, &policy);
    assert_int_equal(wb_provider_get(small, names[0], SIZE_MAX, &b, &error), WB_ERROR_LIMIT);
    wb_provider_destroy(small);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* With WB_FUSE_FREE_PARTS, the buffers of the single tensors must be evicted, unless in use. */
static void parts_go(void **state)
{
    (void)state;
    weights *w = make_weights();
    wb_provider *provider = make_provider(weights_open(w), NULL, NULL);
    const char *pair[] = {names[0], names[1]};
    wb_buffer a = {.size = sizeof a}, b = {.size = sizeof b}, all = {.size = sizeof all};
    assert_int_equal(wb_provider_get(provider, names[0], SIZE_MAX, &a, NULL), WB_OK);
    assert_int_equal(wb_provider_get(provider, names[1], SIZE_MAX, &b, NULL), WB_OK);
    wb_provider_release(provider, &b);
    assert_int_equal(wb_provider_fuse(provider, pair, NULL, 2, WB_FUSE_FREE_PARTS, &all, NULL),
                     WB_OK);
    assert_int_equal(stats_of(provider).buffers, 2);
    assert_int_equal(stats_of(provider).evictions, 1);
    assert_memory_equal(all.contents, a.contents, (size_t)a.bytes);
    assert_true(is_cached(provider, 0));
    assert_false(is_cached(provider, 1));
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- host memory ---- */

static void host_options(void **state)
{
    (void)state;
    const uint64_t big[2] = {1100, 1024}, odd[1] = {3}, matrix[2] = {6, 4};
    weights *w = make_weights();
    weights_raw(w, "big", "I32", big, 2, 4);
    weights_raw(w, "odd", "U8", odd, 1, 1);
    weights_raw(w, "unaligned", "I32", matrix, 2, 4);
    const wb_model *model = weights_open(w);
    static const struct {
        uint32_t flags, alignment;
    } rows[] = {{0, 0},
                {WB_HOST_COPY, 1},
                {WB_HOST_COPY, 4096},
                {WB_HOST_COPY | WB_HOST_HUGE_PAGES, 64},
                {WB_HOST_COPY, 2 << 20}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        counter c = {.calls = 0};
        wb_allocator allocator = counter_allocator(&c);
        wb_host_options options = {.size = sizeof options,
                                   .flags = rows[i].flags,
                                   .alignment = rows[i].alignment,
                                   .allocator = &allocator};
        wb_device device;
        wb_error error;
        assert_int_equal(wb_device_host(&options, &device, &error), WB_OK);
        wb_provider *provider = make_provider(model, &device, NULL);
        static const char *const wanted[] = {"big", "odd", "unaligned"};
        for (size_t k = 0; k < 3; k++) {
            wb_buffer b = {.size = sizeof b};
            size_t n;
            assert_int_equal(wb_provider_get(provider, wanted[k], SIZE_MAX, &b, NULL), WB_OK);
            const unsigned char *bytes = weights_bytes(w, wanted[k], &n);
            assert_int_equal(b.bytes, n);
            assert_memory_equal(b.contents, bytes, n);
            /* Mapped bytes must be used without a copy if they are aligned for their dtype. */
            assert_int_equal(b.borrowed, (rows[i].flags & WB_HOST_COPY) == 0 && k != 2);
            if (!b.borrowed)
                assert_int_equal((uintptr_t)b.contents % device.alignment, 0);
            /* The same holds for a slice of whole rows, which are contiguous. */
            assert_int_equal(wb_provider_slice(provider, wanted[k], SIZE_MAX, 0, 1, 3, &b, NULL),
                             WB_OK);
            assert_int_equal(b.borrowed, (rows[i].flags & WB_HOST_COPY) == 0 && k != 2);
        }
        wb_provider_destroy(provider);
        wb_device_close(&device);
        assert_null(device.close);
        assert_clean(&c);
    }
    weights_free(w);
}

static void prefetch(void **state)
{
    (void)state;
    weights *w = make_weights();
    wb_provider *provider = make_provider(weights_open(w), NULL, NULL);
    const char *some[] = {names[3], names[5]}, *wrong[] = {names[4], "nothing"};
    wb_error error;
    assert_int_equal(wb_provider_prefetch(provider, some, NULL, 2, &error), WB_OK);
    assert_int_equal(stats_of(provider).loads, 2);
    assert_int_equal(wb_provider_prefetch(provider, wrong, NULL, 2, &error), WB_ERROR_NOT_FOUND);
    assert_string_equal(error.name, "nothing");
    assert_int_equal(wb_provider_prefetch(provider, NULL, NULL, 0, &error), WB_OK);
    wb_cache_stats stats = stats_of(provider);
    assert_int_equal(stats.loads, TENSORS);
    assert_int_equal(stats.in_use, 0);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- no I/O after all is loaded ---- */

static bool input_so_far(uint64_t *bytes, uint64_t *calls)
{
    char text[1024];
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *rchar = strstr(text, "rchar: "), *syscr = strstr(text, "syscr: "),
               *disk = strstr(text, "read_bytes: ");
    if (rchar == NULL || syscr == NULL || disk == NULL)
        return false;
    *bytes = strtoull(rchar + 7, NULL, 10) + strtoull(disk + 12, NULL, 10);
    *calls = strtoull(syscr + 7, NULL, 10);
    return true;
}

static void no_input(void **state)
{
    (void)state;
    uint64_t before[2], none[2], after[2];
    if (is_slow() || !input_so_far(&before[0], &before[1]))
        skip();
    weights *w = make_weights();
    wb_provider *provider = make_provider(weights_open_as(w, WB_ACCESS_READ, NULL), NULL, NULL);
    const char *pair[] = {names[0], names[1]};
    wb_buffer b = {.size = sizeof b};
    assert_int_equal(wb_provider_prefetch(provider, NULL, NULL, 0, NULL), WB_OK);
    assert_int_equal(wb_provider_fuse(provider, pair, NULL, 2, 0, &b, NULL), WB_OK);
    /* Measures the input of the process twice in a row: the difference is the input that the
     * measurement itself causes. */
    assert_true(input_so_far(&before[0], &before[1]));
    assert_true(input_so_far(&none[0], &none[1]));
    for (unsigned i = 0; i < TENSORS * 10; i++) {
        assert_int_equal(wb_provider_get(provider, names[i % TENSORS], SIZE_MAX, &b, NULL), WB_OK);
        assert_int_equal(wb_provider_fuse(provider, pair, NULL, 2, 0, &b, NULL), WB_OK);
    }
    assert_true(input_so_far(&after[0], &after[1]));
    assert_int_equal(after[1] - none[1], none[1] - before[1]);
    assert_true(after[0] - none[0] <= none[0] - before[0] + 8); /* 8: more digits */
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- processes ---- */

/* Gets all tensors in buffers in a shared segment. Returns the number of tensors that this process
 * loaded itself, or 255 on an error. */
static int use_segment(const wb_model *model, const char *segment, wb_provider *plain)
{
    wb_host_options options = {.size = sizeof options,
                               .flags = WB_HOST_COPY,
                               .segment = segment,
                               .segment_bytes = 1 << 20};
    wb_device device;
    wb_provider *provider;
    if (wb_device_host(&options, &device, NULL) != WB_OK ||
        wb_provider_create(model, &device, NULL, &provider, NULL) != WB_OK)
        return 255;
    for (unsigned i = 0; i < TENSORS; i++) {
        wb_buffer a = {.size = sizeof a}, b = {.size = sizeof b};
        if (wb_provider_get(provider, names[i], SIZE_MAX, &a, NULL) != WB_OK ||
            wb_provider_get(plain, names[i], SIZE_MAX, &b, NULL) != WB_OK || a.bytes != b.bytes ||
            memcmp(a.contents, b.contents, (size_t)a.bytes) != 0)
            return 255;
    }
    wb_cache_stats stats = stats_of(provider);
    wb_provider_destroy(provider);
    wb_device_close(&device);
    return stats.loads + stats.shared == TENSORS ? (int)stats.loads : 255;
}

static int wait_for(pid_t child)
{
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static void processes(void **state)
{
    (void)state;
    enum { CHILDREN = 4 };
    if (is_slow()) /* valgrind would report leaks in the child processes, which end with _exit */
        skip();
    weights *w = make_weights();
    const wb_model *model = weights_open(w);
    wb_provider *plain = make_provider(model, NULL, NULL);
    assert_int_equal(wb_provider_prefetch(plain, NULL, NULL, 0, NULL), WB_OK);
    char *segment = text_of("%s/segment", w->folder);
    pid_t children[CHILDREN];
    int filled = 0;
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(use_segment(model, segment, plain));
        assert_true(children[i] > 0);
    }
    for (int i = 0; i < CHILDREN; i++)
        filled += wait_for(children[i]);
    assert_int_equal(filled, TENSORS); /* each tensor must be loaded by one process only */
    assert_int_equal(use_segment(model, segment, plain), 0);
    wb_provider_destroy(plain);
    free(segment);
    weights_free(w);
}

/* If a process ends before it has filled a buffer, the next process must fill the buffer. */
static void left_half_filled(void **state)
{
    (void)state;
    if (is_slow())
        skip();
    char *folder = scratch_make(), *segment = text_of("%s/segment", folder);
    wb_host_options options = {.size = sizeof options, .segment = segment, .segment_bytes = 100000};
    wb_device device;
    void *handle, *other;
    int filled = 7;
    unsigned char key[32] = {1, 2, 3}, key2[32] = {1, 2, 3, 4};
    assert_int_equal(wb_device_host(&options, &device, NULL), WB_OK);
    pid_t child = fork();
    if (child == 0)
        _exit(device.claim(device.ctx, key, 1000, &handle, &filled) == WB_OK && filled == 0 ? 3
                                                                                            : 4);
    assert_int_equal(wait_for(child), 3);
    assert_int_equal(device.claim(device.ctx, key, 1000, &handle, &filled), WB_OK);
    assert_int_equal(filled, 0);
    memset(handle, 5, 1000);
    device.publish(device.ctx, handle, WB_ERROR_IO); /* publishing a failure */
    assert_int_equal(device.claim(device.ctx, key, 1000, &handle, &filled), WB_OK);
    assert_int_equal(filled, 0);
    memset(handle, 6, 1000);
    device.publish(device.ctx, handle, WB_OK);
    assert_int_equal(device.claim(device.ctx, key, 1000, &other, &filled), WB_OK);
    assert_int_equal(filled, 1);
    assert_ptr_equal(other, handle);
    assert_int_equal(device.claim(device.ctx, key, 1001, &other, &filled), WB_ERROR_FORMAT);
    assert_null(other);
    assert_int_equal(device.claim(device.ctx, key2, 200000, &other, &filled), WB_ERROR_LIMIT);
    assert_int_equal(device.claim(device.ctx, key2, 20000, &other, &filled), WB_OK);
    device.publish(device.ctx, other, WB_OK);
    child = fork(); /* another process maps the same segment */
    if (child == 0) {
        wb_device same;
        _exit(wb_device_host(&options, &same, NULL) == WB_OK &&
                      same.claim(same.ctx, key, 1000, &handle, &filled) == WB_OK && filled == 1 &&
                      ((unsigned char *)handle)[999] == 6
                  ? 0
                  : 1);
    }
    assert_int_equal(wait_for(child), 0);
    wb_device_close(&device);
    /* A file that is not a segment must be refused. */
    wb_error error;
    write_file(segment, "not a segment", 13);
    assert_int_equal(wb_device_host(&options, &device, &error), WB_ERROR_FORMAT);
    assert_int_equal(truncate(segment, 5 << 20), 0);
    assert_int_equal(wb_device_host(&options, &device, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "segment");
    options.segment = "/nowhere/segment";
    assert_int_equal(wb_device_host(&options, &device, &error), WB_ERROR_NOT_FOUND);
    assert_null(device.alloc);
    options.segment = ""; /* an anonymous segment, which only forked processes share */
    assert_int_equal(wb_device_host(&options, &device, &error), WB_OK);
    wb_device_close(&device);
    free(segment);
    scratch_remove(folder);
}

/* ---- failures ---- */

static wb_status run_once(const wb_model *model, const wb_allocator *allocator,
                          const wb_device *device, wb_error *error)
{
    wb_policy policy = {.size = sizeof policy, .budget = 100000, .allocator = allocator};
    const wb_buffer zero = {.size = sizeof zero};
    const char *pair[] = {names[0], names[1]};
    wb_provider *provider;
    wb_plan *plan = NULL;
    wb_status status = wb_provider_create(model, device, &policy, &provider, error);
    if (status != WB_OK) {
        assert_null(provider);
        return status;
    }
    for (int step = 0; step < 7 && status == WB_OK; step++) {
        wb_buffer b = zero;
        uint64_t shape[2];
        uint32_t rank = 2;
        switch (step) {
        case 0: status = wb_provider_get(provider, names[2], SIZE_MAX, &b, error); break;
        case 1: status = wb_provider_get(provider, names[0], SIZE_MAX, &b, error); break;
        case 2: status = wb_provider_fuse(provider, pair, NULL, 2, 0, &b, error); break;
        case 3: status = wb_provider_slice(provider, names[2], SIZE_MAX, 1, 1, 2, &b, error); break;
        case 4: status = wb_slice_plan(model, names[2], SIZE_MAX, 1, 1, 2, &plan, error); break;
        case 5:
            status = wb_provider_shape(provider, names[2], SIZE_MAX, shape, &rank, error);
            break;
        default: status = wb_provider_prefetch(provider, NULL, NULL, 0, error); break;
        }
        if (status != WB_OK) {
            assert_int_equal(error->status, status);
            assert_memory_equal(&b, &zero, sizeof b);
            assert_null(plan);
            if (step == 5)
                assert_int_equal(rank + shape[0] + shape[1], 0);
        }
        if (step == 4)
            wb_plan_free(plan);
        plan = NULL;
        if (step != 1) /* the buffer of step 1 stays in use */
            wb_provider_release(provider, &b);
    }
    assert_true(stats_of(provider).peak_bytes <= policy.budget);
    wb_provider_destroy(provider);
    return status;
}

/* Repeats run_once. In each run, another allocation of the model, provider or device fails. */
static void allocations(void **state)
{
    (void)state;
    weights *w = make_weights();
    weights_write(w);
    size_t calls = 1;
    for (size_t fail_at = 0; fail_at <= calls; fail_at += is_slow() && fail_at > 40 ? 5 : 1) {
        counter c = {.calls = 0};
        wb_allocator allocator = counter_allocator(&c);
        wb_host_options options = {.size = sizeof options, .allocator = &allocator};
        wb_device device;
        wb_error error;
        const wb_model *model = weights_open_as(w, WB_ACCESS_READ, &allocator);
        c.calls = 0;
        c.fail_at = fail_at;
        wb_status status = wb_device_host(&options, &device, &error);
        if (status == WB_OK)
            status = run_once(model, &allocator, &device, &error);
        wb_device_close(&device);
        assert_int_equal(status, c.failed ? WB_ERROR_MEMORY : WB_OK);
        if (fail_at == 0)
            calls = c.calls;
        wb_close(w->model);
        w->model = NULL;
        assert_clean(&c);
    }
    assert_true(calls > 50);
    weights_free(w);
}

/* Repeats run_once with each device allocation and each upload failing once. */
static void devices_that_fail(void **state)
{
    (void)state;
    weights *w = make_weights();
    const wb_model *model = weights_open(w);
    own_device sound = {.fail_alloc = 0};
    wb_device table = own_table(&sound);
    wb_error error;
    assert_int_equal(run_once(model, NULL, &table, &error), WB_OK);
    for (size_t i = 1; i <= atomic_load(&sound.allocs) + atomic_load(&sound.uploads); i++) {
        bool alloc = i <= atomic_load(&sound.allocs);
        own_device d = {.fail_alloc = alloc ? i : 0,
                        .fail_upload = alloc ? 0 : i - atomic_load(&sound.allocs)};
        table = own_table(&d);
        assert_int_equal(run_once(model, NULL, &table, &error),
                         alloc ? WB_ERROR_MEMORY : WB_ERROR_IO);
        assert_string_equal(error.code, "device");
        assert_given_back(&d);
    }
    weights_free(w);
}

/* A truncated file must give an error, and nothing may be cached. */
static void files_that_fail(void **state)
{
    (void)state;
    weights *w = make_weights();
    wb_provider *provider = make_provider(weights_open_as(w, WB_ACCESS_READ, NULL), NULL, NULL);
    char *path = text_of("%s/model.safetensors", w->folder);
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    assert_int_equal(truncate(path, (off_t)(w->begin + 100)), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wb_provider_get(provider, names[1], SIZE_MAX, &b, &error), WB_ERROR_IO);
        assert_string_equal(error.code, "file-ends-early");
        assert_null(b.handle);
        assert_int_equal(stats_of(provider).bytes, 0);
    }
    free(path);
    wb_provider_destroy(provider);
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own),
                                       cmocka_unit_test(threads),
                                       cmocka_unit_test(budget),
                                       cmocka_unit_test(oldest_goes),
                                       cmocka_unit_test(parts_go),
                                       cmocka_unit_test(host_options),
                                       cmocka_unit_test(prefetch),
                                       cmocka_unit_test(no_input),
                                       cmocka_unit_test(processes),
                                       cmocka_unit_test(left_half_filled),
                                       cmocka_unit_test(allocations),
                                       cmocka_unit_test(devices_that_fail),
                                       cmocka_unit_test(files_that_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
