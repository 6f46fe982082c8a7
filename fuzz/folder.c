/*
 * Opens a model directory with config.json, shard indices, shards and tokenizers by its path
 * (support/folder.h).
 */
#include "support/folder.h"
#include "support/fuzz.h"
#include "support/model.h"
#include "support/scratch.h"
#include "weighbridge.h"

static void open_it(const char *path, size_t total, uint32_t random)
{
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    if (random % 2 == 0)
        options.access = WB_ACCESS_READ;
    wb_status status = wb_open(path, &options, &model, &error);
    CHECK(heap.peak <= 8 * total + (1u << 20));
    CHECK(status != WB_ERROR_IO && status != WB_ERROR_MEMORY && status != WB_ERROR_ARGUMENT);
    if (status != WB_OK)
        fuzz_check_error(&error, status, SIZE_MAX);
    else
        fuzz_check_model(model, random);
    wb_close(model);
    CHECK(heap.live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t total = fuzz_folder(data, size);
    open_it(fuzz_scratch(), total, (uint32_t)(size * 31 + total));
    return 0;
}
