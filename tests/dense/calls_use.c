/* Operations that read tensors: values, digests, differences, buffers. */
#include "dense.h"

#define MOST 2000 /* maximum number of tensors whose values an operation reads one by one */

/* Bytes of the staging buffers (provider/staging.h) of a thread that fills a provider buffer. */
#define STAGING_MEMORY ((uint64_t)8 << 20)
#define LOAD_MEMORY ((uint64_t)4 << 20) /* memory limit for the buffers of wb_load */

static volatile uint64_t sum;

static uint64_t some(const wb_model *model)
{
    uint64_t count = wb_tensor_count(model);
    return count < MOST ? count : MOST;
}

static wb_status read_one(subject *s, const wb_model *model, uint64_t i)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    uint64_t elements, bytes;
    const void *data;
    wb_axis axes[64];
    char values[8192];
    wb_status status = wb_tensor_at(model, i, &tensor, &s->error);
    if (status == WB_OK)
        status = wb_tensor_read_size(model, i, NULL, WB_DTYPE_F32, &elements, &bytes, &s->error);
    if (status == WB_OK && bytes <= sizeof values)
        status = wb_tensor_read(model, i, NULL, WB_DTYPE_F32, values, sizeof values, &s->error);
    if (wb_tensor_data(model, i, &data, NULL) == WB_OK)
        sum += (uintptr_t)data;
    if (tensor.rank <= 64 &&
        wb_slice_parse("...", 3, tensor.shape, tensor.rank, axes, NULL) == WB_OK)
        sum += axes[0].count;
    return status;
}

static wb_status run_read(subject *s)
{
    wb_model *model;
    wb_status status = open_it(s, &model);
    for (uint64_t i = 0; status == WB_OK && i < some(model); i++)
        status = read_one(s, model, i);
    wb_close(model);
    return status;
}

static int ignore_text(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    sum += (uint64_t)text[0] + n;
    return 0;
}

static wb_status run_hash(subject *s)
{
    wb_hash_options options = WB_HASH_OPTIONS_INIT;
    wb_model *model;
    wb_hashes *hashes = NULL;
    uint8_t digest[WB_DIGEST_BYTES];
    options.flags = WB_HASH_FILES | WB_HASH_VALUES | WB_HASH_CHUNKS;
    wb_status status = open_it(s, &model);
    if (status == WB_OK)
        status = wb_hash_model(model, &options, &hashes, &s->error);
    if (status == WB_OK) {
        wb_tensor_hash hash = WB_TENSOR_HASH_INIT;
        for (uint64_t i = 0; status == WB_OK && i < wb_hash_tensor_count(hashes); i++)
            status = wb_hash_tensor_at(hashes, i, &hash);
        if (wb_hash_values(hashes, digest) == WB_OK && wb_hash_file(hashes, 0, digest) == WB_OK)
            sum += digest[0];
        if (status == WB_OK)
            status = wb_hash_manifest(hashes, ignore_text, NULL, &s->error);
    }
    wb_hashes_free(hashes);
    wb_close(model);
    return status;
}

static wb_status query_diff(const wb_diff *diff)
{
    wb_tensor_diff tensor = WB_TENSOR_DIFF_INIT;
    wb_meta_diff meta = WB_META_DIFF_INIT;
    wb_distance distance;
    wb_status status = WB_OK;
    for (uint64_t i = 0; status == WB_OK && i < wb_diff_tensor_count(diff); i++)
        status = wb_diff_tensor_at(diff, i, &tensor);
    for (uint64_t i = 0; status == WB_OK && i < wb_diff_meta_count(diff); i++)
        status = wb_diff_meta_at(diff, i, &meta);
    wb_diff_distance(diff, &distance);
    sum += distance.values + wb_diff_kinds(diff);
    for (uint32_t field = 0; field < WB_CONFIG_FIELDS; field++)
        sum += (uint64_t)wb_diff_config(diff, field);
    return status;
}

/* Compares two models opened from the same path. */
static wb_status run_diff(subject *s)
{
    wb_model *a, *b = NULL;
    wb_diff *diff = NULL;
    wb_status status = open_it(s, &a);
    if (status == WB_OK)
        status = open_it(s, &b);
    if (status == WB_OK)
        status = wb_diff_models(a, b, NULL, &diff, &s->error);
    if (status == WB_OK)
        status = query_diff(diff);
    wb_diff_free(diff);
    wb_close(a);
    wb_close(b);
    return status;
}

/* Compares the model with a small one, so that everything differs. */
static wb_status run_diff_other(subject *s)
{
    wb_model *a, *b = NULL;
    wb_diff *diff = NULL;
    write_small_model(s->scratch);
    wb_status status = open_it(s, &a);
    if (status == WB_OK)
        status = wb_open(s->scratch, &s->options, &b, &s->error);
    if (status == WB_OK)
        status = wb_diff_models(a, b, NULL, &diff, &s->error);
    if (status == WB_OK)
        status = query_diff(diff);
    wb_diff_free(diff);
    wb_close(a);
    wb_close(b);
    return status;
}

static wb_status run_load(subject *s)
{
    wb_load_options options = WB_LOAD_OPTIONS_INIT;
    wb_load_report report = WB_LOAD_REPORT_INIT;
    wb_model *model;
    options.io = WB_IO_READ;
    options.memory = LOAD_MEMORY;
    options.flags = WB_LOAD_DIGEST;
    wb_status status = open_it(s, &model);
    if (status == WB_OK)
        status = wb_load(model, &options, &report, &s->error);
    wb_close(model);
    return status;
}

/* ---- provider ---- */

static wb_status use_buffer(subject *s, wb_provider *provider, const wb_tensor *tensor)
{
    const char *names[] = {tensor->name, tensor->name};
    const size_t lens[] = {tensor->name_len, tensor->name_len};
    wb_buffer buffer = WB_BUFFER_INIT;
    uint64_t shape[64];
    uint32_t rank = 64;
    char byte;
    wb_status status =
        wb_provider_get(provider, tensor->name, tensor->name_len, &buffer, &s->error);
    if (status != WB_OK)
        return status;
    if (buffer.bytes > 0 && wb_provider_download(provider, &buffer, 0, &byte, 1, NULL) == WB_OK)
        sum += (uint64_t)byte;
    wb_provider_release(provider, &buffer);
    sum += (uint64_t)wb_provider_has(provider, tensor->name, tensor->name_len);
    sum += (uint64_t)wb_provider_dtype(provider, tensor->name, tensor->name_len);
    if (tensor->rank <= 64 &&
        wb_provider_shape(provider, tensor->name, tensor->name_len, shape, &rank, NULL) == WB_OK)
        sum += rank;
    if (wb_provider_slice(provider, tensor->name, tensor->name_len, 0, 0, 2, &buffer, NULL) ==
        WB_OK)
        wb_provider_release(provider, &buffer);
    if (wb_provider_fuse(provider, names, lens, 2, 0, &buffer, NULL) == WB_OK)
        wb_provider_release(provider, &buffer);
    return WB_OK;
}

static wb_status use_all(subject *s, const wb_model *model, wb_provider *provider)
{
    wb_cache_stats stats = WB_CACHE_STATS_INIT;
    wb_status status = WB_OK;
    uint64_t count = some(model);
    const char **names = malloc((size_t)(count + 1) * sizeof *names);
    size_t *lens = malloc((size_t)(count + 1) * sizeof *lens);
    if (names == NULL || lens == NULL)
        abort();
    for (uint64_t i = 0; status == WB_OK && i < count; i++) {
        wb_tensor tensor = WB_TENSOR_INIT;
        status = wb_tensor_at(model, i, &tensor, &s->error);
        if (status == WB_OK)
            status = use_buffer(s, provider, &tensor);
        names[i] = tensor.name;
        lens[i] = tensor.name_len;
    }
    if (status == WB_OK)
        status = wb_provider_prefetch(provider, names, lens, (size_t)count, &s->error);
    if (status == WB_OK)
        status = wb_provider_stats(provider, &stats, &s->error);
    wb_provider_trim(provider);
    free(names);
    free(lens);
    return status;
}

static wb_status run_provider(subject *s)
{
    wb_policy policy = WB_POLICY_INIT;
    wb_host_options host = WB_HOST_OPTIONS_INIT;
    wb_device device = WB_DEVICE_INIT;
    wb_provider *provider = NULL;
    wb_model *model;
    policy.allocator = host.allocator = &s->allocator;
    policy.io = WB_IO_READ;
    wb_status status = open_it(s, &model);
    if (status == WB_OK)
        status = wb_device_host(&host, &device, &s->error);
    if (status == WB_OK)
        status = wb_provider_create(model, &device, &policy, &provider, &s->error);
    if (status == WB_OK)
        status = use_all(s, model, provider);
    wb_provider_destroy(provider);
    wb_device_close(&device);
    wb_close(model);
    return status;
}

static wb_status query_plan(const wb_plan *plan)
{
    wb_plan_info info = WB_PLAN_INFO_INIT;
    wb_plan_cut cut = WB_PLAN_CUT_INIT;
    wb_plan_range range = WB_PLAN_RANGE_INIT;
    wb_status status = wb_plan_describe(plan, &info);
    for (uint64_t i = 0; status == WB_OK && i < info.cuts; i++)
        status = wb_plan_cut_at(plan, i, &cut);
    for (uint64_t i = 0; status == WB_OK && i < info.ranges; i++)
        status = wb_plan_range_at(plan, i, &range);
    return status;
}

/* Plans a slice of the stacked experts of layer 0, because this tensor has the most parts. If the
 * model has no experts, plans a slice of the first tensor. */
static wb_status run_slice_plan(subject *s)
{
    wb_model *model;
    wb_tensor tensor = WB_TENSOR_INIT;
    wb_plan *plan = NULL;
    wb_status status = open_it(s, &model);
    if (status == WB_OK && wb_tensor_count(model) > 0) {
        status = wb_slice_plan(model, "layers.0.ffn.experts.up.weight", SIZE_MAX, 0, 0, 1, &plan,
                               &s->error);
        if (status != WB_OK && wb_tensor_at(model, 0, &tensor, NULL) == WB_OK)
            status = wb_slice_plan(model, tensor.name, tensor.name_len, 0, 0, 1, &plan, &s->error);
        if (status == WB_OK)
            status = query_plan(plan);
    }
    wb_plan_free(plan);
    wb_close(model);
    return status;
}

/* Bounds that the public header promises: bytes of memory for each byte of the files. */
enum { HASH_FACTOR = 20, DIFF_FACTOR = 16 };

const operation use_operations[] = {
    {"read values", run_read, 0, 3 << 20},
    {"hash", run_hash, HASH_FACTOR, 0},
    {"diff with itself", run_diff, DIFF_FACTOR, 0},
    {"diff with another", run_diff_other, DIFF_FACTOR, 0},
    {"load", run_load, 0, LOAD_MEMORY},
    {"provider", run_provider, 0, STAGING_MEMORY},
    {"plan a slice", run_slice_plan, 0, 0},
    {NULL, NULL, 0, 0},
};
