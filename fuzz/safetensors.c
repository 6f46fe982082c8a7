/*
 * Reads the input as a safetensors file in memory and queries everything from the open model.
 *
 * Strict mode, compatible mode, and a source that returns a few bytes per read must give the same
 * result, except for documented differences of the modes. The results of the queries must be
 * consistent with each other and with the bytes of the file. Memory use must stay below the
 * documented bound.
 */
#include "support/fuzz.h"
#include "support/model.h"
#include "weighbridge.h"

#define READ_MAX 4096 /* maximum number of elements read per tensor */

/* Reads a tensor with the dtype and slice selected by `how`. A complete tensor that is not
 * converted must equal `stored`. */
static void read_somehow(const wb_model *model, uint64_t index, const wb_tensor *tensor,
                         uint32_t how, const uint8_t *stored)
{
    static const int32_t dtypes[] = {-1,           WB_DTYPE_F32,  WB_DTYPE_F64,     WB_DTYPE_BF16,
                                     WB_DTYPE_F16, WB_DTYPE_I64,  WB_DTYPE_F8_E4M3, WB_DTYPE_U8,
                                     WB_DTYPE_F4,  WB_DTYPE_BOOL, WB_DTYPE_F8_E8M0, WB_DTYPE_I32};
    wb_axis axes[8];
    wb_slice slice = {.size = sizeof slice, .count = UINT64_MAX};
    int32_t dtype = dtypes[how % (sizeof dtypes / sizeof *dtypes)];
    how /= sizeof dtypes / sizeof *dtypes;
    if (how % 2 == 1 && tensor->rank > 0 && tensor->rank <= 8) {
        static const char *const texts[] = {"::-1", "...,0", "1::2", "..., ::3", "-1", "0:0"};
        const char *text = texts[how / 2 % 6];
        if (wb_slice_parse(text, SIZE_MAX, tensor->shape, tensor->rank, axes, NULL) != WB_OK)
            return;
        slice.rank = tensor->rank;
        slice.axes = axes;
    }
    slice.first = how / 16 % 3;
    uint64_t elements, bytes;
    wb_error error;
    wb_status status = wb_tensor_read_size(model, index, &slice, dtype, &elements, &bytes, &error);
    if (status != WB_OK) {
        fuzz_check_error(&error, status, SIZE_MAX);
        return;
    }
    if (elements > READ_MAX)
        return;
    uint8_t *dst = malloc(bytes == 0 ? 1 : (size_t)bytes);
    CHECK(dst != NULL);
    CHECK(wb_tensor_read(model, index, &slice, dtype, dst, bytes, &error) == WB_OK);
    if (dtype == -1 && slice.rank == 0 && slice.first == 0)
        CHECK(bytes == tensor->bytes && (bytes == 0 || memcmp(dst, stored, (size_t)bytes) == 0));
    if (bytes > 0)
        CHECK(wb_tensor_read(model, index, &slice, dtype, dst, bytes - 1, &error) ==
              WB_ERROR_ARGUMENT);
    free(dst);
}

static void check_tensor(const wb_model *model, uint64_t index, const uint8_t *file, size_t size,
                         int in_memory)
{
    wb_tensor tensor = {.size = sizeof tensor};
    uint64_t found;
    CHECK(wb_tensor_at(model, index, &tensor, NULL) == WB_OK);
    CHECK(tensor.name[tensor.name_len] == '\0');
    CHECK(wb_tensor_find(model, tensor.name, tensor.name_len, &found) == WB_OK && found == index);
    CHECK(wb_tensor_dtype(model, tensor.name, tensor.name_len) == (int32_t)tensor.dtype);
    CHECK(tensor.offset <= size && tensor.bytes <= size - tensor.offset);
    uint64_t elements = 1;
    for (uint32_t i = 0; i < tensor.rank; i++)
        elements *= tensor.shape[i];
    CHECK(elements == tensor.elements);
    const void *bytes;
    wb_status status = wb_tensor_data(model, index, &bytes, NULL);
    if (tensor.bytes == 0)
        CHECK(status == WB_OK && bytes != NULL);
    else
        CHECK(in_memory ? status == WB_OK && bytes == file + tensor.offset
                        : status == WB_ERROR_UNSUPPORTED);
    uint32_t how = (uint32_t)(tensor.offset * 31 + tensor.name_len * 7 + index * 5 + size);
    read_somehow(model, index, &tensor, how, file + tensor.offset);
}

static void check_model(const wb_model *model, const uint8_t *file, size_t size, int in_memory)
{
    uint64_t count = wb_tensor_count(model), sum = 0;
    const char *names;
    const uint64_t *offsets;
    wb_file description = {.size = sizeof description};
    if (strcmp(wb_format(model), "safetensors") != 0)
        return; /* the magic of another format takes precedence over the file name */
    CHECK(wb_file_count(model) == 1);
    CHECK(wb_file_at(model, 0, &description, NULL) == WB_OK);
    CHECK(description.bytes == size && description.tensors == count);
    CHECK(wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, NULL) == WB_OK);
    for (uint64_t i = 0; i < count; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        CHECK(wb_tensor_at(model, i, &tensor, NULL) == WB_OK);
        CHECK(offsets[i + 1] - offsets[i] - 1 == tensor.name_len);
        CHECK(memcmp(names + offsets[i], tensor.name, tensor.name_len + 1) == 0);
        sum += tensor.bytes;
        if (i < 64)
            check_tensor(model, i, file, size, in_memory);
    }
    CHECK(sum == size - description.data_offset); /* no gap, no overlap, no trailing byte */
    wb_tensor none = {.size = sizeof none};
    CHECK(wb_tensor_at(model, UINT64_MAX, &none, NULL) == WB_ERROR_NOT_FOUND);
    CHECK(!wb_tensor_has(model, "no such tensor\xFF", SIZE_MAX));
    CHECK(wb_model_check(model, NULL) == WB_OK);
    fuzz_check_metadata(model);
    fuzz_check_findings(wb_model_findings(model), size);
}

static void verify(const wb_model *model, size_t size)
{
    wb_verify_options options = {.size = sizeof options, .data_budget = 1 + size / 2};
    wb_findings *findings;
    wb_error error;
    if (size % 2 == 0)
        options.flags = WB_VERIFY_DEEP;
    CHECK(wb_verify_model(model, &options, &findings, &error) == WB_OK);
    fuzz_check_findings(findings, size);
    wb_findings_free(findings);
}

/* ---- opening the file in one of the modes ---- */

typedef struct answer {
    wb_status status;
    wb_error error;
    uint64_t tensors;
    uint64_t metadata;
    uint64_t findings;
} answer;

static answer ask(const uint8_t *data, size_t size, uint32_t flags, fuzz_dribble *source)
{
    fuzz_heap h = {0, 0};
    wb_allocator allocator = fuzz_allocator(&h);
    wb_open_options options = {.size = sizeof options, .flags = flags, .allocator = &allocator};
    answer a = {.status = WB_OK};
    wb_model *model;
    if (source != NULL) {
        wb_source described = fuzz_dribble_source(source);
        a.status = wb_open_source(&described, "x.safetensors", &options, &model, &a.error);
    } else {
        a.status = wb_open_memory(data, size, "x.safetensors", &options, &model, &a.error);
    }
    CHECK((a.status == WB_OK) == (model != NULL));
    CHECK(h.peak <= 8 * size + (1u << 20));
    if (a.status != WB_OK) {
        fuzz_check_error(&a.error, a.status, size);
        CHECK(a.status == WB_ERROR_FORMAT || a.status == WB_ERROR_LIMIT ||
              a.status == WB_ERROR_UNSUPPORTED);
    } else {
        a.tensors = wb_tensor_count(model);
        a.metadata = wb_meta_count(model);
        a.findings = wb_findings_count(wb_model_findings(model));
        check_model(model, data, size, source == NULL);
        if (source == NULL && flags == 0 && size < 4096)
            verify(model, size);
    }
    wb_close(model);
    CHECK(h.live == 0);
    CHECK(source == NULL || source->closed == 1);
    return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    answer strict = ask(data, size, 0, NULL);
    answer compatible = ask(data, size, WB_OPEN_COMPATIBLE, NULL);
    fuzz_dribble source = {.bytes = data, .size = size, .most = 1 + size % 97};
    answer windowed = ask(data, size, 0, &source);

    CHECK(strict.status != WB_OK || compatible.status == WB_OK);
    if (strict.status == WB_OK)
        CHECK(strict.tensors == compatible.tensors && strict.findings == compatible.findings);
    CHECK(strict.status == windowed.status);
    if (strict.status != WB_OK)
        fuzz_check_same_error(&strict.error, &windowed.error);
    CHECK(strict.tensors == windowed.tensors && strict.metadata == windowed.metadata &&
          strict.findings == windowed.findings);
    return 0;
}

#ifdef WB_FUZZ_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
    return fuzz_mutate_safetensors(data, size, max, seed, LLVMFuzzerMutate);
}
#endif
