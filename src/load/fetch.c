#include "load/load.h"

/* What AUTO comes down to for a piece. */
static wb_io choose(const wb__lane *lane, const wb__load_piece *piece)
{
    const wb__load *load = lane->load;
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
    /* Reading past the page cache fetches again what was there: worth it only for the smaller part. */
    return cached > n / 2 ? WB_IO_READ : WB_IO_DIRECT;
}

static wb_status read_piece(wb__lane *lane, wb__load_piece *piece, wb_io io, uint8_t *place)
{
    wb__load_file *file = piece->file;
    size_t n = (size_t)(piece->end - piece->begin);
    bool aligned =
        (uintptr_t)place % WB__DIRECT_ALIGNMENT == 0 && piece->begin % WB__DIRECT_ALIGNMENT == 0;
    wb_status status;
    piece->data = place;
    if (io == WB_IO_DIRECT && file->direct.fd >= 0 && !aligned) {
        /* Beside its place, then. */
        status = wb__direct_read(file->source, &file->direct, &lane->context, piece->begin,
                                 lane->buffer, n);
        if (status == WB_OK)
            memcpy(place, lane->buffer, n);
        lane->spent.direct += n;
        return status;
    }
    if (io == WB_IO_DIRECT && file->direct.fd >= 0) {
        lane->spent.direct += n;
        return wb__direct_read(file->source, &file->direct, &lane->context, piece->begin, place, n);
    }
    lane->spent.copied += n;
    return wb__source_read(file->source, &lane->context, piece->begin, place, n);
}

/* Bytes that are in memory without fetching; NULL: they have to be read. */
static wb_status find_in_memory(wb__lane *lane, wb__load_piece *piece, wb_io io, const void **bytes)
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
    if (io != WB_IO_MAP)
        return WB_OK;
    wb_status status = wb__source_map(file->source, &lane->context, piece->begin, n, bytes);
    if (status == WB_ERROR_UNSUPPORTED && lane->load->options->io == WB_IO_AUTO)
        return WB_OK; /* the caller's source cannot, or address space is short */
    if (status == WB_OK)
        lane->spent.mapped += n;
    return status;
}

wb_status wb__load_fetch(wb__lane *lane, wb__load_piece *piece)
{
    const wb_load_options *options = lane->load->options;
    size_t n = (size_t)(piece->end - piece->begin);
    const void *bytes;
    uint8_t *place = NULL;
    wb_io io = choose(lane, piece);
    if (options->place != NULL)
        place = options->place(options->ctx, piece->number, piece->begin, n);
    wb_status status = find_in_memory(lane, piece, io, &bytes);
    if (status != WB_OK)
        return status;
    if (bytes == NULL)
        return read_piece(lane, piece, io, place != NULL ? place : lane->buffer);
    piece->data = bytes;
    piece->lasting = place == NULL;
    if (place != NULL) {
        memcpy(place, bytes, n);
        piece->data = place;
    }
    return WB_OK;
}
