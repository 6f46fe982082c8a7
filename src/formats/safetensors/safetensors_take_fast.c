/*
 * Runs the fast parsers on the members at the cursor, until they meet a member that they do not
 * handle. safetensors_decode.c parses such members.
 */
#include "formats/safetensors/safetensors_reader.h"

/* Runs the fast parser on `text`, the bytes at the cursor. Returns the number of bytes parsed. */
static size_t take_members(wb__st_reader *reader, const uint8_t *text, size_t n)
{
    uint32_t where = (uint32_t)(wb__cursor_at(reader->cursor) - WB__ST_LENGTH_BYTES);
    size_t taken = (size_t)(reader->fast(reader, text, text + n, where) - text);
    reader->cursor->p += taken;
    if (taken != 0)
        wb__json_took_members(&reader->json);
    return taken;
}

/*
 * Runs the fast parser on a copy of the last members, because the parser may read beyond the end of
 * the header. The copy is padded with zeros, which no member can contain.
 */
static void take_last(wb__st_reader *reader)
{
    uint8_t copy[2 * WB__ST_FAST_MARGIN] = {0};
    size_t n = (size_t)wb__cursor_left(reader->cursor);
    if (!wb__cursor_want(reader->cursor, n))
        return;
    memcpy(copy, reader->cursor->p, n);
    (void)take_members(reader, copy, n + WB__ST_FAST_MARGIN);
}

/*
 * Runs the fast parser on the members at the cursor. In a large header, first runs it on a few
 * bytes only. If it has parsed a member there, parses the rest of the header in pieces. Otherwise
 * does not, because dividing a header into pieces is expensive.
 */
void wb__st_take_fast(wb__st_reader *reader)
{
    wb__cursor *cursor = reader->cursor;
    while (wb__json_reach_key(&reader->json)) {
        if (wb__cursor_left(cursor) < WB__ST_FAST_MARGIN) {
            take_last(reader);
            return;
        }
        if (!wb__cursor_want(cursor, WB__ST_FAST_MARGIN))
            return;
        bool in_pieces = wb__st_pieces_pay(reader);
        size_t n = in_pieces ? WB__ST_FAST_MARGIN : wb__cursor_at_hand(cursor);
        if (take_members(reader, cursor->p, n) == 0)
            return;
        if (in_pieces && wb__json_reach_key(&reader->json) && wb__st_take_pieces(reader))
            wb__json_took_members(&reader->json);
    }
}
