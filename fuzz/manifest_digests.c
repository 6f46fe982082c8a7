/*
 * Reads any text as a digest manifest. Accepted names must stay inside the directory, the sizes of
 * the parts must add up to the file size, and every chunk must have a digest. Memory use must be
 * proportional to the input.
 */
#include "hash/hash.h"
#include "support/fuzz.h"
#include "support/model.h"

static volatile uint8_t seen; /* keeps the reads of the digests from being optimized away */

static void check_file(const wb__manifest_file *file)
{
    uint64_t sum = 0;
    CHECK(file->name.len > 0 && memchr(file->name.ptr, '/', file->name.len) == NULL);
    CHECK(strlen(file->name.ptr) == file->name.len && file->name.ptr[0] != '\0');
    CHECK(strcmp(file->name.ptr, ".") != 0 && strcmp(file->name.ptr, "..") != 0);
    for (size_t i = 0; i < file->part_count; i++) {
        const wb__file_part *part = &file->parts[i];
        uint8_t any = 0;
        CHECK(part->bytes > 0 && sum + part->bytes > sum);
        sum += part->bytes;
        for (uint64_t c = 0; c < wb__chunks_of(part->bytes); c++) /* read each digest */
            any |= part->chunks[c].bytes[WB__SHA256_BYTES - 1];
        seen = any;
    }
    CHECK(sum == file->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_heap heap = {0};
    wb_error error;
    wb__context context = {.allocator = fuzz_allocator(&heap), .file = ""};
    wb__manifest manifest;
    char *text = malloc(size + 1);
    CHECK(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    wb_limits_default(&context.limits);
    context.error = wb__error_reset(NULL, &error);
    wb_status status = wb__manifest_parse(&manifest, &context, text, size);
    if (status == WB_OK) {
        for (size_t i = 0; i < manifest.file_count; i++)
            check_file(&manifest.files[i]);
    } else {
        CHECK(status == WB_ERROR_FORMAT || status == WB_ERROR_UNSUPPORTED ||
              status == WB_ERROR_MEMORY);
        CHECK(error.message[0] != '\0' && error.code != NULL);
    }
    wb__manifest_free(&manifest);
    CHECK(heap.live == 0);
    CHECK(heap.peak <= 8 * size + (1u << 20));
    free(text);
    return 0;
}
