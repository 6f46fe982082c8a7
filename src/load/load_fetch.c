#include "load/load.h"

wb_io wb__load_choose(const wb__load *load, const wb__load_piece *piece)
{
    const wb__load_file *file = piece->file;
    wb_io cached_io = load->model->access == WB_ACCESS_MAP ? WB_IO_MAP : WB_IO_READ;
    uint64_t n = piece->end - piece->begin;
    uint64_t cached;
    if (load->options->io != WB_IO_AUTO)
        return load->options->io;
    switch (file->medium) {
    case WB__MEDIUM_MEMORY:
    case WB__MEDIUM_CALLER: return cached_io;
    case WB__MEDIUM_NETWORK: return WB_IO_READ;
    case WB__MEDIUM_DISK: break;
    }
    if (!wb__source_cached(file->source, piece->begin, n, &cached))
        return WB_IO_READ;
    if (cached == n)
        return cached_io;
    return wb__direct_pays(cached, n) ? WB_IO_DIRECT : WB_IO_READ;
}

static bool is_aligned(const void *memory)
{
    return (uintptr_t)memory % WB__DIRECT_ALIGNMENT == 0;
}

uint8_t *wb__load_direct_to(const wb__load_piece *piece, uint8_t *buffer)
{
    return piece->place != NULL && is_aligned(piece->place) ? piece->place : buffer;
}

static wb_status read_piece(wb__lane *lane, wb__load_piece *piece)
{
    wb__load_file *file = piece->file;
    size_t n = (size_t)(piece->end - piece->begin);
    uint8_t *place = piece->place != NULL ? piece->place : lane->buffer;
    wb_status status = WB_OK;
    piece->data = place;
    if (piece->io != WB_IO_DIRECT || file->direct.fd < 0) {
        lane->spent.copied += n;
        return wb__source_read(file->source, &lane->context, piece->begin, place, n);
    }
    uint8_t *to = wb__load_direct_to(piece, lane->buffer);
    lane->spent.direct += n;
    if (!piece->is_read)
        status = wb__direct_read(file->source, &file->direct, &lane->context, piece->begin, to, n);
    if (status == WB_OK && to != place) /* the caller's buffer is not aligned for direct I/O */
        memcpy(place, to, n);
    return status;
}

/* Sets *bytes to the bytes of a piece in memory or in a mapping, or to NULL if they have to be
 * read. */
static wb_status find_in_memory(wb__lane *lane, const wb__load_piece *piece, const void **bytes)
{
    wb__load_file *file = piece->file;
    uint64_t n = piece->end - piece->begin;
    const uint8_t *memory = wb__source_memory(file->source);
    *bytes = NULL;
    if (memory != NULL) {
        lane->spent.in_memory += n;
        *bytes = memory + piece->begin;
        return WB_OK;
    }
    if (piece->io != WB_IO_MAP)
        return WB_OK;
    wb_status status = wb__source_map(file->source, &lane->context, piece->begin, n, bytes);
    if (status == WB_ERROR_UNSUPPORTED && lane->load->options->io == WB_IO_AUTO)
        return WB_OK; /* *bytes is NULL: the source does not support mapping, or the address space
                         is exhausted */
    if (status == WB_OK)
        lane->spent.mapped += n;
    return status;
}

wb_status wb__load_fetch(wb__lane *lane, wb__load_piece *piece)
{
    const void *bytes;
    wb_status status = find_in_memory(lane, piece, &bytes);
    if (status != WB_OK)
        return status;
    if (bytes == NULL)
        return read_piece(lane, piece);
    piece->data = bytes;
    piece->lasting = piece->place == NULL;
    if (piece->place != NULL) {
        memcpy(piece->place, bytes, (size_t)(piece->end - piece->begin));
        piece->data = piece->place;
    }
    return WB_OK;
}
