/*
 * Places parsed pieces of a large header in order, and copies them to the table of the model
 * (pieces.h).
 */
#include "formats/safetensors/pieces.h"

/* Adds the new kinds of a parser to the table of the model. Returns false if memory runs out. */
static bool number_kinds(const wb__st_job *job, wb__st_parser *parser, size_t kinds)
{
    for (; parser->numbered < kinds; parser->numbered++) {
        const wb__kind *kind = wb__list_at(&parser->table.kinds, parser->numbered);
        if (!wb__table_kind(job->reader->table, kind, &parser->numbers[parser->numbered]))
            return false;
    }
    return true;
}

/* Returns true if no member begins in the piece, because the piece is in the middle of a long
 * member. */
static bool is_skipped(const wb__st_job *job, const wb__st_piece *piece)
{
    size_t bytes = job->reader->division.bytes;
    return job->key >= job->begin + ((uint64_t)piece->index + 1) * bytes;
}

/* Determines the place of the next piece in the table. Returns false if the piece does not begin
 * where the previous piece ended. */
static bool place(wb__st_job *job, wb__st_piece *piece)
{
    piece->first_tensor = job->tensors;
    piece->first_name = job->names_used;
    if (is_skipped(job, piece)) {
        piece->tensors = piece->names_used = 0;
        piece->complete = true;
        return true;
    }
    if (piece->tensors == 0 || piece->begin != job->key ||
        !number_kinds(job, piece->parser, piece->kinds))
        return false;
    job->tensors += piece->tensors;
    job->names_used += piece->names_used;
    job->irregular |= piece->irregular || piece->first_begin != job->expected;
    job->expected = piece->expected;
    job->taken = piece->taken;
    job->key = piece->key;
    return true;
}

static void push(wb__st_piece **list, wb__st_piece *piece)
{
    piece->next = *list;
    *list = piece;
}

/* Places all parsed pieces that continue the placed ones. Each parser has a list of pieces to copy.
 * Adds a piece to the list of the parser that parsed it, or to that of `by` if that parser has
 * ended. */
static void place_pieces(wb__st_job *job, wb__st_parser *by)
{
    while (!job->stopped && job->placed < job->count && job->parsed[job->placed] != NULL) {
        wb__st_piece *piece = job->parsed[job->placed];
        if (!place(job, piece)) {
            job->stopped = true;
            return;
        }
        job->stopped = !piece->complete;
        job->parsed[job->placed++] = NULL;
        push(piece->parser->ended ? &by->placed : &piece->parser->placed, piece);
    }
}

static void copy_piece(const wb__st_job *job, const wb__st_piece *piece)
{
    wb__table *to = job->reader->table;
    const uint32_t *numbers = piece->parser->numbers;
    const wb__record *from = piece->records_end;
    wb__record *record = to->records_end - piece->first_tensor;
    uint32_t first_name = (uint32_t)piece->first_name;
    memcpy(to->names + piece->first_name, piece->names, piece->names_used);
    for (size_t i = 0; i < piece->tensors; i++) {
        *--record = *--from;
        record->name += first_name;
        record->kind = numbers[record->kind];
    }
}

/* Copies pieces, and keeps their memory for further pieces of this parser. */
static void copy_pieces(const wb__st_job *job, wb__st_parser *parser, wb__st_piece *list)
{
    while (list != NULL) {
        wb__st_piece *piece = list;
        list = piece->next;
        copy_piece(job, piece);
        push(&parser->spare, piece);
    }
}

/* ---- memory of the table ---- */

/* The next part of the table is mapped when fewer than MAP_AHEAD mapped bytes are unused. While one
 * task maps this part, the other tasks use fewer than MAP_AHEAD bytes. */
#define MAP_AHEAD ((uintptr_t)1 << 20)

/* Returns the address of the next WB__ST_MAP_BYTES bytes to map, or 0. Names grow upwards from
 * the middle of the region, and records grow downwards. */
static uintptr_t to_map(wb__st_job *job)
{
    const wb__table *table = job->reader->table;
    uintptr_t names_end = (uintptr_t)(table->names + job->names_used);
    uintptr_t records = (uintptr_t)(table->records_end - job->tensors);
    if (job->mapped_end < names_end + MAP_AHEAD) {
        job->mapped_end += WB__ST_MAP_BYTES;
        return job->mapped_end - WB__ST_MAP_BYTES;
    }
    if (job->mapped_begin > records - MAP_AHEAD) {
        job->mapped_begin -= WB__ST_MAP_BYTES;
        return job->mapped_begin;
    }
    return 0;
}

/* Maps the part of the page at address `page` that belongs to the region. Does nothing if `page` is
 * 0. */
static void map(const wb__st_job *job, uintptr_t page)
{
    const wb__table *table = job->reader->table;
    uintptr_t begin = (uintptr_t)table->region, end = begin + table->region_bytes;
    if (page > begin)
        begin = page;
    if (page + WB__ST_MAP_BYTES < end)
        end = page + WB__ST_MAP_BYTES;
    if (page != 0 && begin < end)
        wb__prefault((void *)begin, (size_t)(end - begin));
}

void wb__st_job_map(wb__st_job *job)
{
    uintptr_t page;
    do {
        (void)pthread_mutex_lock(&job->lock);
        page = to_map(job);
        (void)pthread_mutex_unlock(&job->lock);
        map(job, page);
    } while (page != 0);
}

/* ---- the work of a task ---- */

void wb__st_piece_give(wb__st_job *job, wb__st_piece *piece)
{
    wb__st_parser *parser = piece->parser;
    (void)pthread_mutex_lock(&job->lock);
    job->parsed[piece->index] = piece;
    place_pieces(job, parser);
    wb__st_piece *list = parser->placed;
    parser->placed = NULL;
    uintptr_t page = to_map(job);
    (void)pthread_mutex_unlock(&job->lock);
    map(job, page);
    copy_pieces(job, parser, list);
}

void wb__st_parser_end(wb__st_job *job, wb__st_parser *parser)
{
    (void)pthread_mutex_lock(&job->lock);
    parser->ended = true;
    wb__st_piece *list = parser->placed;
    parser->placed = NULL;
    (void)pthread_mutex_unlock(&job->lock);
    copy_pieces(job, parser, list);
}
