/*
 * Tests calls on an open model while each allocation fails, alone or with all later ones: the
 * provider and its devices, plans, digests, differences, loading, and queries. Each call must
 * report WB_ERROR_MEMORY or succeed. A call that fails must clear its outputs. Nothing may leak,
 * and the model must stay usable.
 */
#include "support.h"

typedef struct world {
    const wb_model *model, *other;
    const wb_allocator *allocator;
    uint64_t digest; /* digest of the call's result */
} world;

typedef wb_status run_call(world *w);

static void mix(world *w, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++)
        w->digest = (w->digest ^ b[i]) * UINT64_C(0x100000001B3);
}

static wb_tensor tensor_at(const world *w, uint64_t i)
{
    wb_tensor tensor = {.size = sizeof tensor};
    assert_int_equal(wb_tensor_at(w->model, i, &tensor, NULL), WB_OK);
    return tensor;
}

/* ---- provider ---- */

static void use_buffer(world *w, wb_provider *provider, wb_status status, wb_buffer *buffer)
{
    if (status == WB_OK) {
        mix(w, buffer->shape, buffer->rank * sizeof *buffer->shape);
        mix(w, buffer->contents, (size_t)buffer->bytes);
    } else {
        assert_null(buffer->handle);
    }
    wb_provider_release(provider, buffer);
}

static wb_status use_provider(world *w, wb_provider *provider)
{
    static const char *const fused[] = {"layers.0.attention.k.weight",
                                        "layers.0.attention.v.weight"};
    static const char stored[] = "layers.0.ffn.down.weight";
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    uint64_t shape[4];
    uint32_t rank = 4;
    wb_status status = wb_provider_get(provider, "output_norm.weight", SIZE_MAX, &b, &error);
    use_buffer(w, provider, status, &b);
    b = (wb_buffer){.size = sizeof b};
    if (status == WB_OK) {
        status = wb_provider_fuse(provider, fused, NULL, 2, 0, &b, &error);
        use_buffer(w, provider, status, &b);
    }
    b = (wb_buffer){.size = sizeof b};
    if (status == WB_OK) {
        status = wb_provider_slice(provider, stored, SIZE_MAX, 0, 1, 2, &b, &error);
        use_buffer(w, provider, status, &b);
    }
    b = (wb_buffer){.size = sizeof b};
    if (status == WB_OK) { /* not a stored tensor: the provider must fuse gate and up */
        status = wb_provider_get(provider, "layers.0.ffn.gate_up.weight", SIZE_MAX, &b, &error);
        use_buffer(w, provider, status, &b);
    }
    uint32_t groups[2], count;
    if (status == WB_OK)
        status = wb_provider_fuse_groups(provider, fused, NULL, 2, groups, &count, &error);
    if (status == WB_OK)
        status = wb_provider_shape(provider, stored, SIZE_MAX, shape, &rank, &error);
    if (status == WB_OK) {
        mix(w, shape, rank * sizeof *shape);
        status = wb_provider_prefetch(provider, fused, NULL, 2, &error);
    }
    return status;
}

static wb_status run_provider(world *w)
{
    const wb_policy policy = {.size = sizeof policy, .allocator = w->allocator};
    wb_provider *provider;
    wb_error error;
    wb_status status = wb_provider_create(w->model, NULL, &policy, &provider, &error);
    assert_true((status == WB_OK) == (provider != NULL));
    if (status == WB_OK)
        status = use_provider(w, provider);
    wb_provider_destroy(provider);
    return status;
}

static wb_status run_device(world *w)
{
    const wb_host_options host = {
        .size = sizeof host, .flags = WB_HOST_COPY, .allocator = w->allocator};
    const wb_policy policy = {.size = sizeof policy,
                              .plain = WB_PLAIN_KEEP,
                              .flags = WB_POLICY_KEEP_SCALES | WB_POLICY_ROPE_INTERLEAVED |
                                       WB_POLICY_NORM_PLAIN,
                              .budget = 1 << 20,
                              .allocator = w->allocator};
    wb_device device = {.size = sizeof device};
    wb_provider *provider = NULL;
    wb_error error;
    wb_status status = wb_device_host(&host, &device, &error);
    assert_true((status == WB_OK) == (device.alloc != NULL));
    if (status == WB_OK)
        status = wb_provider_create(w->model, &device, &policy, &provider, &error);
    if (status == WB_OK)
        status = use_provider(w, provider);
    wb_provider_destroy(provider);
    wb_device_close(&device);
    return status;
}

static wb_status run_plan(world *w)
{
    wb_plan *plan;
    wb_error error;
    wb_plan_info info = {.size = sizeof info};
    wb_status status =
        wb_slice_plan(w->model, "layers.0.attention.q.weight", SIZE_MAX, 0, 1, 2, &plan, &error);
    assert_true((status == WB_OK) == (plan != NULL));
    if (status == WB_OK) {
        assert_int_equal(wb_plan_describe(plan, &info), WB_OK);
        for (uint64_t i = 0; i < info.ranges; i++) {
            wb_plan_range range = {.size = sizeof range};
            assert_int_equal(wb_plan_range_at(plan, i, &range), WB_OK);
            mix(w, &range.offset, sizeof range.offset);
            mix(w, &range.bytes, sizeof range.bytes);
        }
    }
    wb_plan_free(plan);
    return status;
}

/* ---- digests and differences ---- */

static int take_text(void *ctx, const char *text, size_t n)
{
    mix(ctx, text, n);
    return 0;
}

static wb_status run_hash(world *w)
{
    const wb_hash_options options = {.size = sizeof options,
                                     .flags = WB_HASH_FILES | WB_HASH_VALUES | WB_HASH_CHUNKS};
    wb_hashes *hashes;
    wb_error error;
    uint8_t digest[WB_DIGEST_BYTES];
    wb_status status = wb_hash_model(w->model, &options, &hashes, &error);
    assert_true((status == WB_OK) == (hashes != NULL));
    if (status == WB_OK) {
        assert_int_equal(wb_hash_values(hashes, digest), WB_OK);
        mix(w, digest, sizeof digest);
        status = wb_hash_manifest(hashes, take_text, w, &error);
    }
    wb_hashes_free(hashes);
    return status;
}

static wb_status run_diff(world *w)
{
    wb_diff *diff;
    wb_error error;
    wb_status status = wb_diff_models(w->model, w->other, NULL, &diff, &error);
    assert_true((status == WB_OK) == (diff != NULL));
    if (status == WB_OK) {
        wb_distance distance;
        uint64_t counts[] = {wb_diff_tensor_count(diff), wb_diff_meta_count(diff),
                             (uint64_t)wb_diff_config(diff, WB_CONFIG_DIM), wb_diff_kinds(diff)};
        wb_diff_distance(diff, &distance);
        mix(w, counts, sizeof counts);
        mix(w, &distance.nmse, sizeof distance.nmse);
        mix(w, &distance.different, sizeof distance.different);
    }
    wb_diff_free(diff);
    return status;
}

/* ---- loading, asking ---- */

static int take_piece(void *ctx, const wb_piece *piece)
{
    world *w = ctx;
    uint64_t sum = piece->tensor * 31 + piece->at;
    for (uint64_t i = 0; i < piece->bytes; i++)
        sum = sum * 33 + ((const unsigned char *)piece->data)[i];
    w->digest += sum;
    return 0;
}

static void take_digest(void *ctx, uint64_t file, const uint8_t sha256[32])
{
    world *w = ctx;
    w->digest += file + sha256[0] + ((uint64_t)sha256[1] << 8);
}

static wb_status run_load(world *w)
{
    const wb_load_options options = {.size = sizeof options,
                                     .io = WB_IO_READ,
                                     .flags = WB_LOAD_DIGEST | WB_LOAD_CONVERT,
                                     .dtype = WB_DTYPE_F32,
                                     .ctx = w,
                                     .consume = take_piece,
                                     .digest = take_digest};
    return wb_load(w->model, &options, NULL, NULL);
}

static wb_status run_ask(world *w)
{
    const char *text;
    size_t n;
    wb_error error;
    wb_config config = {.size = sizeof config};
    wb_status status = wb_config_get(w->model, &config, &error);
    if (status == WB_OK) {
        mix(w, &config.dim, sizeof config.dim);
        status = wb_native_name(w->model, "layers.0.ffn.up.weight", SIZE_MAX, &text, &n, &error);
    }
    if (status == WB_OK) {
        mix(w, text, n);
        status = wb_canonical_name(w->model, text, n, &text, &n, &error);
    }
    if (status == WB_OK) {
        mix(w, text, n);
        status = wb_meta_get_string(w->model, "general.architecture", SIZE_MAX, &text, &n, &error);
    }
    if (status == WB_OK)
        mix(w, text, n);
    return status;
}

static wb_status run_read(world *w)
{
    static unsigned char values[1 << 18];
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < wb_tensor_count(w->model) && status == WB_OK; i++) {
        wb_tensor tensor = tensor_at(w, i);
        if (tensor.elements * 4 > sizeof values)
            continue;
        status = wb_tensor_read(w->model, i, NULL, WB_DTYPE_F32, values, sizeof values, NULL);
        if (status == WB_OK)
            mix(w, values, (size_t)tensor.elements * 4);
    }
    return status;
}

static wb_status run_verify(world *w)
{
    const wb_verify_options options = {.size = sizeof options, .flags = WB_VERIFY_DEEP};
    wb_findings *findings;
    wb_status status = wb_verify_model(w->model, &options, &findings, NULL);
    assert_true((status == WB_OK) == (findings != NULL));
    for (uint64_t i = 0; status == WB_OK && i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        mix(w, finding.code, strlen(finding.code));
    }
    wb_findings_free(findings);
    return status;
}

/* ---- all of them ---- */

static const struct call {
    const char *name;
    run_call *run;
} calls[] = {
    {"provider", run_provider}, {"device", run_device}, {"plan", run_plan},
    {"hash", run_hash},         {"diff", run_diff},     {"load", run_load},
    {"ask", run_ask},           {"read", run_read},     {"verify", run_verify},
};

static const char *const models[] = {"twins/llama", "twins/llama.gguf",
                                     "models/llama-tied-float16-4bit"};

/* Opens the model and makes the call. Allocation number `fail_at` of the call fails. */
static wb_status attempt(const struct call *call, const char *path, const wb_model *other,
                         size_t fail_at, bool for_good, counter *memory, uint64_t *digest)
{
    *memory = (counter){0};
    wb_allocator allocator = counter_allocator(memory);
    const wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    if (wb_open(path, &options, &model, &error) != WB_OK)
        fail_msg("%s: %s", path, error.message);
    memory->calls = 0;
    memory->fail_at = fail_at;
    memory->for_good = for_good;
    world w = {.model = model, .other = other, .allocator = &allocator};
    wb_status status = call->run(&w);
    *digest = w.digest;
    wb_close(model);
    assert_clean(memory);
    return status;
}

static void try_call(const struct call *call, const char *path, const wb_model *other)
{
    counter memory;
    uint64_t expected, digest;
    if (attempt(call, path, other, 0, false, &memory, &expected) != WB_OK)
        fail_msg("%s of %s does not work", call->name, path);
    size_t count = memory.calls, step = is_slow() ? 1 + count / 8 : 1 + count / 150;
    for (int for_good = 0; for_good < 2; for_good++) {
        for (size_t k = 1; k <= count; k += k < 40 && !is_slow() ? 1 : step) {
            wb_status status = attempt(call, path, other, k, for_good == 1, &memory, &digest);
            assert_true(memory.failed);
            if (status != WB_ERROR_MEMORY && (status != WB_OK || digest != expected))
                fail_msg("%s of %s: allocation %zu of %zu failed%s, status %s", call->name, path, k,
                         count, for_good ? " with all after it" : "", wb_status_name(status));
        }
    }
}

static void allocations_of_calls(void **state)
{
    (void)state;
    char *second = text_of("%s/twins/llama.gguf", TEST_DATA);
    wb_model *other;
    assert_int_equal(wb_open(second, NULL, &other, NULL), WB_OK);
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char *path = text_of("%s/%s", TEST_DATA, models[m]);
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            try_call(&calls[i], path, other);
        free(path);
    }
    wb_close(other);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_of_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
