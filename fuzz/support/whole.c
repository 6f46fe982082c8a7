#include "support/whole.h"

#include "support/fuzz.h"

typedef struct answer {
    wb_status status;
    wb_error error;
    uint64_t tensors, metadata, findings;
} answer;

/* Opens the file, from `source` if it is not NULL. Checks memory use before the queries, because
 * these also derive metadata, which the memory bound of opening does not cover. */
static answer ask(const uint8_t *data, size_t size, const char *label, fuzz_dribble *source)
{
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    answer a = {.status = WB_OK};
    wb_model *model;
    if (source != NULL) {
        wb_source described = fuzz_dribble_source(source);
        a.status = wb_open_source(&described, label, &options, &model, &a.error);
    } else {
        a.status = wb_open_memory(data, size, label, &options, &model, &a.error);
    }
    CHECK((a.status == WB_OK) == (model != NULL));
    CHECK(heap.peak <= 8 * size + (1u << 20));
    if (a.status != WB_OK) {
        fuzz_check_error(&a.error, a.status, size);
        CHECK(a.status == WB_ERROR_FORMAT || a.status == WB_ERROR_LIMIT ||
              a.status == WB_ERROR_UNSUPPORTED);
    } else {
        a.tensors = wb_tensor_count(model);
        a.findings = wb_findings_count(wb_model_findings(model));
        fuzz_check_findings(wb_model_findings(model), size);
        if (source == NULL)
            fuzz_check_model(model, (uint32_t)(size * 31 + a.tensors));
        a.metadata = wb_meta_count(model);
    }
    wb_close(model);
    CHECK(heap.live == 0);
    CHECK(source == NULL || source->closed == 1);
    return a;
}

void fuzz_check_whole(const uint8_t *data, size_t size, const char *label)
{
    answer whole = ask(data, size, label, NULL);
    fuzz_dribble source = {.bytes = data, .size = size, .most = 1 + size % 97};
    answer windowed = ask(data, size, label, &source);
    CHECK(whole.status == windowed.status);
    if (whole.status != WB_OK)
        fuzz_check_same_error(&whole.error, &windowed.error);
    CHECK(whole.tensors == windowed.tensors && whole.metadata == windowed.metadata &&
          whole.findings == windowed.findings);
}
