/*
 * devices.h: helpers for the device tests. They make a small model, run every operation on a
 * device, and read all bytes back to compare them. With the fake drivers (tests/fake), every call
 * fails once. Real drivers are tested if they are installed. Include support.h and weights.h first.
 */
#ifndef WB_TESTS_DEVICES_H
#define WB_TESTS_DEVICES_H

#include <dlfcn.h>

#include "../fake/fake.h"
#include "executor.h"

static size_t devices_crew = 4;
static const wb_executor devices_threads = {&devices_crew, crew_run};

/* ---- the model ---- */

enum { DEVICE_TENSORS = 6 };

static const char *const device_tensors[DEVICE_TENSORS] = {"matrix", "vector", "large",
                                                           "odd",    "none",   "packed.weight"};

static inline weights *devices_weights(size_t large)
{
    const uint64_t matrix[2] = {40, 64}, vector[1] = {33}, big[1] = {large}, odd[1] = {5},
                   none[2] = {0, 8};
    weights *w = weights_new("{\"model_type\":\"llama\",\"quantization\":{\"group_size\":32,"
                             "\"bits\":4}}");
    weights_floats(w, "matrix", "F32", matrix, 2);
    weights_floats(w, "large", "BF16", big, 1);
    weights_floats(w, "vector", "BF16", vector, 1);
    weights_raw(w, "odd", "U8", odd, 1, 1);
    weights_floats(w, "none", "F32", none, 2);
    weights_mlx(w, "packed", "affine", 4, 32, matrix, 2, "BF16");
    return w;
}

/* ---- through the provider ---- */

/* Gets all tensors from a provider on the device under the given policy and compares them with
 * the tensors of a provider in host memory. */
static inline wb_status devices_provide(const wb_model *model, const wb_device *device,
                                        wb_plain_policy plain, const wb_allocator *allocator,
                                        const wb_executor *executor, uint64_t *borrowed)
{
    const wb_policy policy = {
        .size = sizeof policy, .plain = plain, .allocator = allocator, .executor = executor};
    const wb_policy plainly = {.size = sizeof plainly, .plain = plain};
    wb_provider *here, *there;
    wb_error error;
    wb_status status = wb_provider_create(model, device, &policy, &there, &error);
    if (status != WB_OK)
        return status;
    assert_int_equal(wb_provider_create(model, NULL, &plainly, &here, NULL), WB_OK);
    if (executor != NULL)
        status = wb_provider_prefetch(there, device_tensors, NULL, DEVICE_TENSORS, &error);
    for (unsigned i = 0; i < DEVICE_TENSORS && status == WB_OK; i++) {
        wb_buffer a = {.size = sizeof a}, b = {.size = sizeof b};
        assert_int_equal(wb_provider_get(here, device_tensors[i], SIZE_MAX, &a, NULL), WB_OK);
        status = wb_provider_get(there, device_tensors[i], SIZE_MAX, &b, &error);
        if (status != WB_OK) {
            assert_null(b.handle);
            break;
        }
        assert_int_equal(a.bytes, b.bytes);
        unsigned char *copy = malloc((size_t)b.bytes + 1);
        assert_non_null(copy);
        status = wb_provider_download(there, &b, 0, copy, b.bytes, &error);
        if (status == WB_OK)
            assert_memory_equal(copy, a.contents, (size_t)b.bytes);
        if (status == WB_OK && b.bytes > 9) {
            status = wb_provider_download(there, &b, b.bytes - 7, copy, 7, &error);
            if (status == WB_OK)
                assert_memory_equal(copy, (const char *)a.contents + b.bytes - 7, 7);
        }
        if (b.contents !=
            NULL) { /* host memory of the buffer; the device must have the same bytes */
            assert_memory_equal(b.contents, a.contents, (size_t)b.bytes);
            memset(copy, 0, (size_t)b.bytes);
            if (status == WB_OK)
                status = device->download(device->ctx, b.handle, 0, copy, b.bytes);
            if (status == WB_OK)
                assert_memory_equal(copy, a.contents, (size_t)b.bytes);
        }
        free(copy);
        wb_provider_release(there, &b);
    }
    wb_cache_stats stats = {.size = sizeof stats};
    assert_int_equal(wb_provider_stats(there, &stats, NULL), WB_OK);
    if (borrowed != NULL)
        *borrowed = stats.borrowed;
    wb_provider_destroy(here);
    wb_provider_destroy(there);
    return status;
}

/* ---- through wb_load ---- */

enum { DEVICE_STORED = 64 }; /* number of tensors, including parts of packed tensors */

typedef struct devices_target {
    void *handles[DEVICE_STORED];
    uint64_t bytes[DEVICE_STORED];
} devices_target;

static inline void *devices_target_of(void *ctx, const wb_piece *piece, uint64_t *offset)
{
    const devices_target *t = ctx;
    *offset = piece->at;
    return piece->tensor < DEVICE_STORED ? t->handles[piece->tensor] : NULL;
}

/* Returns the size of tensor i in bytes after conversion to *dtype. If the tensor has no
 * floating-point type, it is not converted: sets *dtype to -1. */
static inline uint64_t devices_bytes(const wb_model *model, uint64_t i, int32_t *dtype)
{
    wb_tensor tensor = {.size = sizeof tensor};
    wb_dtype_info info = {.size = sizeof info};
    uint64_t elements, bytes;
    assert_int_equal(wb_tensor_at(model, i, &tensor, NULL), WB_OK);
    assert_int_equal(wb_dtype_describe((int32_t)tensor.dtype, &info), WB_OK);
    if (!info.is_float)
        *dtype = -1;
    assert_int_equal(wb_tensor_read_size(model, i, NULL, *dtype, &elements, &bytes, NULL), WB_OK);
    return bytes;
}

/* Stores the indices of the stored tensors, which for a packed tensor are its parts. Returns their
 * number. */
static inline unsigned devices_stored(const wb_model *model, uint64_t numbers[DEVICE_STORED])
{
    unsigned n = 0;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_encoding encoding = {.size = sizeof encoding};
        assert_int_equal(wb_tensor_encoding(model, i, &encoding, NULL), WB_OK);
        for (uint32_t p = 0; p < encoding.parts; p++) {
            wb_part part = {.size = sizeof part};
            assert_int_equal(wb_tensor_part(model, i, p, &part, NULL), WB_OK);
            numbers[n++] = encoding.parts == 1 ? i : part.index;
        }
    }
    return n;
}

/* Downloads a device buffer and compares it with tensor i, converted to `dtype`. */
static inline wb_status devices_compare(const wb_model *model, uint64_t i, int32_t dtype,
                                        const wb_device *device, void *handle, uint64_t bytes)
{
    unsigned char *expected = malloc((size_t)bytes);
    unsigned char *there = malloc((size_t)bytes);
    assert_non_null(expected);
    assert_non_null(there);
    assert_int_equal(wb_tensor_read(model, i, NULL, dtype, expected, bytes, NULL), WB_OK);
    wb_status status = device->download(device->ctx, handle, 0, there, bytes);
    if (status == WB_OK)
        assert_memory_equal(there, expected, (size_t)bytes);
    free(expected);
    free(there);
    return status;
}

/* Loads every stored tensor into its own device buffer, and compares the buffers. */
static inline wb_status devices_load(const wb_model *model, const wb_device *device,
                                     wb_load_options options, wb_load_report *report)
{
    devices_target t = {.handles = {NULL}};
    uint64_t numbers[DEVICE_STORED], all = 0;
    unsigned n = devices_stored(model, numbers);
    wb_error error;
    wb_status status = WB_OK;
    const int32_t wanted = options.flags & WB_LOAD_CONVERT ? options.dtype : -1;
    for (unsigned k = 0; k < n && status == WB_OK; k++) {
        uint64_t i = numbers[k];
        int32_t dtype = wanted;
        t.bytes[i] = devices_bytes(model, i, &dtype);
        if (t.bytes[i] != 0)
            status = device->alloc(device->ctx, t.bytes[i], &t.handles[i]);
        assert_true(status == WB_OK || t.handles[i] == NULL);
        all += t.bytes[i];
    }
    options.ctx = &t;
    options.device = device;
    options.target = devices_target_of;
    *report = (wb_load_report){.size = sizeof *report};
    if (status == WB_OK)
        status = wb_load(model, &options, report, &error);
    assert_true(status != WB_OK || (all > 0 && report->uploaded == all));
    for (unsigned k = 0; k < n; k++) {
        uint64_t i = numbers[k];
        int32_t dtype = wanted;
        if (t.handles[i] == NULL)
            continue;
        (void)devices_bytes(model, i, &dtype);
        if (status == WB_OK)
            status = devices_compare(model, i, dtype, device, t.handles[i], t.bytes[i]);
        device->free(device->ctx, t.handles[i], t.bytes[i]);
    }
    return status;
}

/* Runs all device operations with several options, and stops at the first failure. */
static inline wb_status devices_use(const wb_model *model, const wb_device *device,
                                    const wb_allocator *allocator)
{
    wb_load_report report;
    wb_load_options options = {.size = sizeof options, .lanes = 1, .memory = 128u << 10};
    wb_status status = devices_provide(model, device, WB_PLAIN_F16, allocator, NULL, NULL);
    if (status == WB_OK)
        status = devices_load(model, device, options, &report);
    options.flags = WB_LOAD_CONVERT;
    options.dtype = WB_DTYPE_F32;
    return status == WB_OK ? devices_load(model, device, options, &report) : status;
}

/* ---- real drivers ---- */

enum { DEVICES_SKIPPED = 77 }; /* exit code of a test without a device: SKIP_RETURN_CODE in CMake */

/* Returns true under a sanitizer or valgrind, where real drivers do not work. */
static inline bool devices_watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
    return true;
#endif
#endif
    return is_slow();
}

static inline int devices_skip(const char *why)
{
    fprintf(stderr, "skipped: %s\n", why);
    return DEVICES_SKIPPED;
}

/* Opens the first real device. Returns 0, or the exit code that the test must end with. */
static inline int devices_begin(wb_status (*open)(wb_device *device, wb_error *error),
                                wb_device *device)
{
    wb_error error;
    if (devices_watched())
        return devices_skip("a driver is not made for being watched");
    wb_status status = open(device, &error);
    if (status == WB_ERROR_UNSUPPORTED || status == WB_ERROR_NOT_FOUND)
        return devices_skip(error.message);
    if (status != WB_OK)
        fail_msg("%s\n", error.message);
    return 0;
}

/* ---- fake drivers ---- */

static inline fake_state *fake_find(const char *path)
{
    fake_state *(*state_of)(void);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail_msg("%s\n", dlerror());
    void *found = dlsym(library, "fake_state_of");
    assert_non_null(found);
    memcpy(&state_of, &found, sizeof found);
    return state_of();
}

static inline void fake_assert_clean(const fake_state *fake)
{
    if (fake->wrong != 0 || fake->objects != 0)
        fail_msg("call %zu, %s, failed: %zu left, %s\n", fake->fail_at,
                 fake->failed == NULL ? "none" : fake->failed, fake->objects,
                 fake->complaint == NULL ? "nothing wrong" : fake->complaint);
    assert_int_equal(fake->buffers, 0);
    assert_int_equal(fake->bytes, 0);
    assert_int_equal(fake->pinned, 0);
    assert_int_equal(fake->pending, 0);
}

static inline void fake_reset(fake_state *fake)
{
    fake_assert_clean(fake);
    memset(fake, 0, sizeof *fake);
}

typedef wb_status (*fake_opener)(const wb_allocator *allocator, wb_device *device, wb_error *error);

/* Runs all device operations with driver call number `fail_at` failing with `code`. The status must
 * be `expected`, or WB_OK if the function is in the list `may_fail`. Returns false if there were
 * fewer calls. */
static inline bool fake_fail(fake_state *fake, const wb_model *model, fake_opener open,
                             size_t fail_at, int code, wb_status expected,
                             const char *const *may_fail)
{
    counter c = {0};
    wb_allocator allocator = counter_allocator(&c);
    wb_device device;
    wb_error error;
    fake->fail_at = fail_at;
    fake->fail_code = code;
    wb_status status = open(&allocator, &device, &error);
    if (status == WB_OK)
        status = devices_use(model, &device, &allocator);
    else
        assert_null(device.ctx);
    wb_device_close(&device);
    const char *failed = fake->failed;
    bool is_harmless = failed == NULL;
    for (; *may_fail != NULL && failed != NULL; may_fail++)
        is_harmless |= strcmp(*may_fail, failed) == 0;
    /* If the driver fails to report the type or the name of a device, opening may fail with
     * WB_ERROR_NOT_FOUND. */
    bool is_unasked = failed != NULL && strstr(failed, "Info") != NULL;
    is_unasked = is_unasked && status == WB_ERROR_NOT_FOUND;
    if (status != expected && !(is_harmless && status == WB_OK) && !is_unasked)
        fail_msg("call %zu, %s: %s\n", fail_at, failed == NULL ? "none" : failed,
                 wb_status_name(status));
    assert_clean(&c);
    fake->fail_at = 0;
    fake_reset(fake);
    return failed != NULL;
}

static inline void fake_fail_all(fake_state *fake, const wb_model *model, fake_opener open,
                                 int code, wb_status expected, const char *const *may_fail)
{
    size_t n = 1;
    while (fake_fail(fake, model, open, n, code, expected, may_fail))
        n += is_slow() ? 29 : devices_watched() ? 3 : 1;
    assert_true(n > 60);
}

/* Runs all device operations again and again, with each allocation failing once. */
static inline void fake_starve(fake_state *fake, const wb_model *model, fake_opener open)
{
    bool done = false;
    for (size_t fail_at = 1; !done; fail_at += is_slow() ? 11 : devices_watched() ? 3 : 1) {
        counter c = {.fail_at = fail_at};
        wb_allocator allocator = counter_allocator(&c);
        wb_device device;
        wb_error error;
        wb_status status = open(&allocator, &device, &error);
        if (status == WB_OK)
            status = devices_use(model, &device, &allocator);
        wb_device_close(&device);
        assert_true(status == WB_OK || (c.failed && status == WB_ERROR_MEMORY));
        done = !c.failed;
        assert_clean(&c);
        fake_reset(fake);
    }
}

#endif
