#include "support/model.h"

#define TENSORS_MAX 24
#define BYTES_MAX ((uint64_t)1 << 24)

static void check_error(wb_status status, const wb_error *error)
{
    /* The request is valid; only the model may cause an error. */
    CHECK(status != WB_ERROR_ARGUMENT);
    fuzz_check_error(error, status, SIZE_MAX);
}

static void check_buffer(const wb_buffer *b)
{
    uint64_t end = 0;
    CHECK(b->sections >= 1 && b->sections <= WB_SECTIONS && b->parts >= 1);
    for (uint32_t i = 0; i < b->sections; i++) {
        CHECK(b->section[i].offset >= end && b->section[i].offset < end + 8);
        end = b->section[i].offset + b->section[i].bytes;
    }
    CHECK(end == b->bytes);
    CHECK(b->bytes == 0 || b->contents != NULL);
}

/* Checks that the buffer of a plain tensor equals its stored values. The tensor must not have been
 * converted: conversions may change the bits of a NaN. */
static void check_values(const wb_model *model, const wb_tensor *tensor, const wb_buffer *b)
{
    uint64_t index, elements, bytes;
    if (wb_tensor_find(model, tensor->name, tensor->name_len, &index) != WB_OK ||
        wb_tensor_read_size(model, index, NULL, b->section[0].dtype, &elements, &bytes, NULL) !=
            WB_OK)
        return;
    uint8_t *values = malloc((size_t)bytes + 1);
    CHECK(values != NULL);
    if (wb_tensor_read(model, index, NULL, b->section[0].dtype, values, bytes, NULL) == WB_OK)
        CHECK(bytes == b->bytes && (bytes == 0 || memcmp(values, b->contents, (size_t)bytes) == 0));
    free(values);
}

/* Checks that all ranges of a plan are inside the files. If the policy converts nothing (`keep`),
 * also checks that they have the total size of the buffer's sections. */
static void check_plan(const wb_model *model, const wb_plan *plan, const wb_buffer *b, bool keep)
{
    wb_plan_info info = {.size = sizeof info};
    uint64_t sum = 0;
    CHECK(wb_plan_describe(plan, &info) == WB_OK && info.ranges > 0 && info.cuts > 0);
    CHECK(info.dims == b->rank && memcmp(info.shape, b->shape, b->rank * sizeof *b->shape) == 0);
    for (uint64_t i = 0; i < info.ranges; i++) {
        wb_plan_range range = {.size = sizeof range};
        wb_file file = {.size = sizeof file};
        CHECK(wb_plan_range_at(plan, i, &range) == WB_OK);
        CHECK(wb_file_at(model, range.file, &file, NULL) == WB_OK);
        sum += range.bytes * range.count;
        if (range.count > 0)
            CHECK(range.offset + (range.count - 1) * range.stride + range.bytes <= file.bytes);
    }
    CHECK(sum == info.bytes);
    if (keep) {
        uint64_t held = 0;
        for (uint32_t i = 0; i < b->sections; i++)
            held += b->section[i].bytes;
        CHECK(held == sum);
    }
}

static void check_part(wb_provider *provider, const wb_model *model, const wb_tensor *tensor,
                       bool keep, uint32_t *state)
{
    uint32_t axis = fuzz_draw(state) % tensor->rank;
    uint32_t of = 1 + fuzz_draw(state) % 9, rank = fuzz_draw(state) % of;
    wb_error error, other;
    wb_plan *plan;
    wb_buffer b = {.size = sizeof b};
    wb_status status =
        wb_slice_plan(model, tensor->name, tensor->name_len, axis, rank, of, &plan, &error);
    wb_status second =
        wb_provider_slice(provider, tensor->name, tensor->name_len, axis, rank, of, &b, &other);
    if (status != WB_OK)
        check_error(status, &error);
    /* wb_slice_plan reads no data, so only wb_provider_slice detects a damaged compressed array. */
    CHECK(status == second || second == WB_ERROR_LIMIT ||
          (status == WB_OK && second == WB_ERROR_FORMAT));
    if (second == WB_OK) {
        check_buffer(&b);
        check_plan(model, plan, &b, keep);
        wb_provider_release(provider, &b);
    }
    wb_plan_free(plan);
}

static void check_fused(wb_provider *provider, const wb_tensor *a, const wb_tensor *b)
{
    const char *names[] = {a->name, b->name};
    const size_t lens[] = {a->name_len, b->name_len};
    wb_buffer buffer = {.size = sizeof buffer};
    wb_error error;
    wb_status status = wb_provider_fuse(provider, names, lens, 2, 0, &buffer, &error);
    if (status != WB_OK) {
        check_error(status, &error);
        return;
    }
    check_buffer(&buffer);
    CHECK(buffer.parts == 2);
    wb_provider_release(provider, &buffer);
}

/* Looks up the canonical name of tensor `i`, which may name a stack of experts. Returns false if
 * the tensor is not found or has more than BYTES_MAX bytes. */
static bool pick(const wb_model *model, const char *texts, const uint64_t *offsets, uint64_t i,
                 wb_tensor *tensor)
{
    uint64_t index = i;
    size_t len = (size_t)(offsets[i + 1] - offsets[i] - 1);
    *tensor = (wb_tensor){.size = sizeof *tensor};
    if (len > 0 && wb_tensor_find(model, texts + offsets[i], len, &index) != WB_OK)
        return false;
    return wb_tensor_at(model, index, tensor, NULL) == WB_OK && tensor->bytes <= BYTES_MAX;
}

void fuzz_check_provider(const wb_model *model, uint32_t *state)
{
    const char *texts;
    const uint64_t *offsets;
    wb_provider *provider;
    wb_policy policy = {.size = sizeof policy,
                        .plain = (wb_plain_policy)(fuzz_draw(state) % 2),
                        .budget = fuzz_draw(state) % 3 == 0 ? 4096 : 0};
    bool keep = policy.plain == WB_PLAIN_KEEP;
    policy.flags = keep ? WB_POLICY_KEEP_SCALES : 0;
    CHECK(wb_tensor_names(model, WB_NAMES_CANONICAL, &texts, &offsets, NULL) == WB_OK);
    CHECK(wb_provider_create(model, NULL, &policy, &provider, NULL) == WB_OK);
    wb_tensor last = {.size = sizeof last};
    for (uint64_t i = 0; i < wb_tensor_count(model) && i < TENSORS_MAX; i++) {
        wb_tensor tensor;
        wb_buffer b = {.size = sizeof b};
        wb_error error;
        if (!pick(model, texts, offsets, i, &tensor))
            continue;
        wb_status status = wb_provider_get(provider, tensor.name, tensor.name_len, &b, &error);
        if (status == WB_OK) {
            check_buffer(&b);
            CHECK(b.dtype == wb_provider_dtype(provider, tensor.name, tensor.name_len));
            if (b.sections == 1 && b.group_size == 0 && b.section[0].dtype == (int32_t)tensor.dtype)
                check_values(model, &tensor, &b);
            wb_provider_release(provider, &b);
        } else {
            check_error(status, &error);
        }
        if (tensor.rank > 0)
            check_part(provider, model, &tensor, keep, state);
        if (last.name != NULL)
            check_fused(provider, &last, &tensor);
        last = tensor;
    }
    wb_cache_stats stats = {.size = sizeof stats};
    CHECK(wb_provider_stats(provider, &stats, NULL) == WB_OK && stats.in_use == 0);
    CHECK(policy.budget == 0 || stats.peak_bytes <= policy.budget);
    wb_provider_destroy(provider);
}
