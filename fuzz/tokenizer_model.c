/*
 * Reads any bytes as tokenizer.model. All pieces (tokens) must be inside the file, a second reading
 * must give the same result, and the iteration over the pieces must find all pieces that are
 * counted.
 */
#include "arch/tokenizer/sentencepiece.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wb__sentencepiece model, again;
    bool read = wb__sentencepiece_read(&model, data, size);
    CHECK(wb__sentencepiece_read(&again, data, size) == read);
    CHECK(model.count == again.count && model.fault_at == again.fault_at);
    CHECK(model.fault_at <= size && model.count <= size / 2 && model.text_bytes <= size);
    if (!read)
        return 0;
    wb__message rest = wb__pieces_begin(&model);
    wb__piece piece;
    size_t count = 0, bytes = 0;
    for (; wb__pieces_next(&rest, &piece); count++, bytes += piece.text.len) {
        const uint8_t *at = (const uint8_t *)piece.text.ptr;
        CHECK(piece.type >= 1 && piece.type <= 6);
        CHECK(piece.text.len == 0 || (at >= data && at + piece.text.len <= data + size));
    }
    CHECK(count > 0 && count == model.count && bytes == model.text_bytes);
    return 0;
}
