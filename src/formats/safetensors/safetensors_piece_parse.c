/*
 * Parses a piece of a large header (pieces.h).
 */
#include "formats/safetensors/pieces.h"

/* ---- memory ---- */

/*
 * Returns the maximum number of bytes that the parser of a piece gets: those of the piece, and
 * WB__ST_FAST_MARGIN - 1 bytes after it. The fast parser begins no member where fewer than
 * WB__ST_FAST_MARGIN bytes are left. It therefore begins no member after the end of the piece.
 */
static size_t reach(const wb__st_job *job)
{
    return job->reader->division.bytes + WB__ST_FAST_MARGIN - 1;
}

static size_t text_max(const wb__st_job *job)
{
    return WB__ST_LEAD + reach(job);
}

static size_t records_max(const wb__st_job *job)
{
    return text_max(job) / WB__ST_ENTRY_MIN + 1;
}

static size_t piece_bytes(const wb__st_job *job)
{
    return sizeof(wb__st_piece) + records_max(job) * sizeof(wb__record) + text_max(job) +
           WB__NAMES_SLACK;
}

wb__st_piece *wb__st_piece_new(const wb__st_job *job)
{
    wb__st_piece *piece = wb__alloc(&job->reader->context->allocator, piece_bytes(job));
    if (piece == NULL)
        return NULL;
    piece->records_end = piece->records + records_max(job);
    piece->names = (char *)piece->records_end;
    return piece;
}

void wb__st_piece_free(const wb__st_job *job, wb__st_piece *piece)
{
    wb__free(&job->reader->context->allocator, piece, piece_bytes(job));
}

/* Size of a cache line. Text is copied to an address whose offset in its cache line equals the
 * offset of the text in the file modulo LINE: see io/window.c. */
#define LINE 64

wb__st_parser *wb__st_parser_new(const wb__st_job *job)
{
    const wb_allocator *a = &job->reader->context->allocator;
    wb__st_parser *parser = wb__alloc(a, sizeof *parser);
    if (parser == NULL)
        return NULL;
    memset(parser, 0, offsetof(wb__st_parser, reader) + offsetof(wb__st_reader, frames));
    parser->table.allocator = a;
    parser->table.shapes.allocator = a;
    parser->table.kinds = (wb__list){.arena = &parser->table.shapes, .item_size = sizeof(wb__kind)};
    parser->table.hasher = job->reader->table->hasher;
    parser->reader.context = job->reader->context;
    parser->reader.table = &parser->table;
    parser->reader.fast = job->reader->fast;
    parser->reader.kinds_max = WB__ST_KINDS;
    wb__st_forget_frames(&parser->reader);
    if (job->reader->cursor->read_at == NULL)
        return parser;
    parser->text_bytes = text_max(job) + LINE;
    parser->text = wb__alloc(a, parser->text_bytes);
    if (parser->text != NULL)
        return parser;
    wb__free(a, parser, sizeof *parser);
    return NULL;
}

void wb__st_parser_free(const wb__st_job *job, wb__st_parser *parser)
{
    const wb_allocator *a = &job->reader->context->allocator;
    if (parser == NULL)
        return;
    while (parser->spare != NULL) {
        wb__st_piece *next = parser->spare->next;
        wb__st_piece_free(job, parser->spare);
        parser->spare = next;
    }
    wb__list_free(&parser->table.kinds);
    wb__arena_free(&parser->table.shapes);
    wb__free(a, parser->text, parser->text_bytes);
    wb__free(a, parser, sizeof *parser);
}

/* ---- parsing ---- */

/* Returns n bytes of the header at an offset, or NULL if they cannot be read. */
static const uint8_t *text_at(const wb__st_job *job, const wb__st_parser *parser, uint64_t offset,
                              size_t n)
{
    const wb__cursor *cursor = job->reader->cursor;
    if (cursor->read_at == NULL) /* all bytes are in memory */
        return cursor->end - (size_t)(cursor->end_at - offset);
    uint8_t *text = parser->text + ((offset - (uintptr_t)parser->text) & (LINE - 1));
    return cursor->read_at(cursor->fill_ctx, offset, text, n) ? text : NULL;
}

/*
 * Returns the first quote from `first` on that follows a closing brace and a comma, or NULL. It is
 * probably the beginning of a key, but may also be in a string. At least WB__ST_LEAD bytes before
 * `first` and WB__ST_FAST_MARGIN bytes after it can be read.
 */
static const uint8_t *guess_key(const uint8_t *first)
{
    const uint8_t *last = first + WB__ST_FAST_MARGIN - WB__ST_SPACES - 2;
    const uint8_t *p = first - WB__ST_LEAD;
    while ((p = memchr(p, '}', (size_t)(last - p))) != NULL) {
        const uint8_t *key = wb__st_next_key(++p);
        if (key != NULL && key >= first)
            return key;
    }
    return NULL;
}

static void use_memory_of(wb__table *table, const wb__st_piece *piece)
{
    table->names = piece->names;
    table->names_used = 0;
    table->records_end = piece->records_end;
    table->count = 0;
}

/*
 * Parses the members from `key` to `end`. The first one is parsed alone, because the reader does
 * not know the end of the tensor before it.
 */
static const uint8_t *parse_members(wb__st_reader *reader, wb__st_piece *piece, const uint8_t *key,
                                    const uint8_t *end, uint32_t where)
{
    const uint8_t *taken = reader->fast(reader, key, key + WB__ST_FAST_MARGIN, where);
    if (taken == key)
        return key;
    piece->first_begin = wb__record_at(reader->table, 0)->begin;
    reader->irregular = false;
    const uint8_t *next = wb__st_next_key(taken);
    if (next == NULL)
        return taken;
    const uint8_t *last = reader->fast(reader, next, end, where + (uint32_t)(next - key));
    return last == next ? taken : last;
}

/* Parses the members from `key` on, where n bytes can be read, and describes them in `piece`. */
static void parse_text(wb__st_piece *piece, const uint8_t *key, size_t n)
{
    wb__st_parser *parser = piece->parser;
    wb__st_reader *reader = &parser->reader;
    const uint8_t *taken =
        parse_members(reader, piece, key, key + n, (uint32_t)(piece->begin - WB__ST_LENGTH_BYTES));
    piece->tensors = parser->table.count;
    piece->names_used = parser->table.names_used;
    piece->kinds = parser->table.kinds.count;
    piece->expected = reader->expected;
    piece->irregular = reader->irregular;
    piece->taken = piece->begin + (uint64_t)(taken - key);
    const uint8_t *next = piece->tensors == 0 ? NULL : wb__st_next_key(taken);
    piece->key = next == NULL ? 0 : piece->begin + (uint64_t)(next - key);
}

bool wb__st_piece_parse(const wb__st_job *job, wb__st_piece *piece)
{
    size_t bytes = job->reader->division.bytes;
    uint64_t begin = job->begin + (uint64_t)piece->index * bytes;
    uint64_t left = job->reader->cursor->limit - begin;
    size_t n = left < reach(job) ? (size_t)left : reach(job);
    size_t lead = piece->index == 0 ? 0 : WB__ST_LEAD;
    piece->tensors = 0;
    piece->complete = false;
    use_memory_of(&piece->parser->table, piece);
    if (n < WB__ST_FAST_MARGIN)
        return true;
    const uint8_t *text = text_at(job, piece->parser, begin - lead, lead + n);
    if (text == NULL)
        return false;
    const uint8_t *first = text + lead;
    const uint8_t *key = piece->index == 0 ? first : guess_key(first);
    if (key == NULL || n - (size_t)(key - first) < WB__ST_FAST_MARGIN)
        return true;
    piece->begin = begin + (uint64_t)(key - first);
    parse_text(piece, key, n - (size_t)(key - first));
    piece->complete = piece->key >= begin + bytes;
    return true;
}
