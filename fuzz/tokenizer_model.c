/*
 * Reads any bytes as tokenizer.model. All pieces (tokens) must be inside the file, and a second
 * reading must give the same result.
 */
#include "arch/tokenizer/sentencepiece.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wb__sentencepiece model, again;
    bool read = wb__sentencepiece_read(&model, data, size, &wb__default_allocator);
    CHECK(wb__sentencepiece_read(&again, data, size, &wb__default_allocator) == read);
    CHECK(model.count == again.count && model.fault_at == again.fault_at);
    CHECK(model.fault_at <= size && model.count <= size / 2);
    CHECK(!read || model.count > 0);
    for (size_t i = 0; i < model.count; i++) {
        const wb__piece *piece = &model.pieces[i];
        const uint8_t *at = (const uint8_t *)piece->text.ptr;
        CHECK(piece->type >= 1 && piece->type <= 6);
        CHECK(piece->text.len == 0 || (at >= data && at + piece->text.len <= data + size));
        CHECK(wb__str_equal(piece->text, again.pieces[i].text));
    }
    wb__sentencepiece_free(&model);
    wb__sentencepiece_free(&again);
    return 0;
}
