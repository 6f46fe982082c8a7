#include "read/raw_bytes.h"
#include "handle/inflate_stream.h"

void wb__raw_bytes_open(wb__raw_bytes *stored, const wb_model *model, wb__context *context,
                        size_t tensor)
{
    const wb__catalog *catalog = &model->catalog;
    *stored = (wb__raw_bytes){.model = model,
                              .context = context,
                              .source = model->sources[wb__catalog_file_of(catalog, tensor)],
                              .storing = wb__catalog_storing_of(catalog, tensor),
                              .kind = wb__table_kind_of(&catalog->table, tensor),
                              .tensor = tensor,
                              .at = wb__catalog_offset_of(catalog, tensor)};
    stored->in_order = stored->storing != NULL && stored->storing->columns;
    if (stored->storing == NULL)
        wb__source_expect(stored->source, stored->at, stored->kind->bytes);
}

void wb__raw_bytes_any_order(wb__raw_bytes *stored)
{
    stored->in_order = false;
}

/* Returns the stream to the cache, from which another reader may take it and continue. */
static void put_back(wb__raw_bytes *stored)
{
    if (stored->packed != NULL && wb__inflate_stream_is_sound(stored->packed))
        wb__decode_cache_put_stream(stored->model->decode_cache, stored->packed);
    else
        wb__inflate_stream_free(stored->packed);
    stored->packed = NULL;
}

void wb__raw_bytes_close(wb__raw_bytes *stored)
{
    put_back(stored);
    if (stored->whole != NULL)
        wb__decode_cache_release_tensor(stored->model->decode_cache, stored->whole);
    stored->whole = NULL;
}

static wb_status find_unpacker(wb__raw_bytes *stored, uint64_t at)
{
    stored->packed = wb__decode_cache_take_stream(stored->model->decode_cache, stored->tensor, at);
    if (stored->packed == NULL)
        return wb__inflate_stream_new(
            stored->context, stored->source, stored->storing, stored->at, stored->kind->bytes,
            wb__table_name(&stored->model->catalog.table, stored->tensor), &stored->packed);
    wb__inflate_stream_use(stored->packed, stored->context);
    return WB_OK;
}

/* Reads n bytes at offset `at` of the tensor. The bytes have the order of the file, which may be
 * column-major. */
static wb_status read_on(wb__raw_bytes *stored, uint64_t at, uint8_t *dst, size_t n)
{
    wb_status status = WB_OK;
    if (stored->storing == NULL || !stored->storing->deflated)
        return wb__source_read(stored->source, stored->context, stored->at + at, dst, n);
    if (stored->packed == NULL)
        status = find_unpacker(stored, at);
    return status == WB_OK ? wb__inflate_stream_read(stored->packed, at, dst, n) : status;
}

static wb_status load_whole(void *ctx, uint8_t *dst)
{
    wb__raw_bytes *stored = ctx;
    wb_status status = WB_OK;
    if (stored->storing == NULL || !stored->storing->deflated)
        return read_on(stored, 0, dst, (size_t)stored->kind->bytes);
    /* The decode cache is locked during this call, so it cannot provide or take a stream. */
    wb__inflate_stream *stream = NULL;
    status = wb__inflate_stream_new(
        stored->context, stored->source, stored->storing, stored->at, stored->kind->bytes,
        wb__table_name(&stored->model->catalog.table, stored->tensor), &stream);
    if (status == WB_OK)
        status = wb__inflate_stream_read(stream, 0, dst, (size_t)stored->kind->bytes);
    wb__inflate_stream_free(stream);
    return status;
}

static wb_status read_whole(wb__raw_bytes *stored)
{
    size_t bytes;
    put_back(stored);
    if (!wb__to_size(stored->kind->bytes, &bytes))
        return wb__fail_memory(stored->context);
    return wb__decode_cache_get_tensor(stored->model->decode_cache, stored->context, stored->tensor,
                                       bytes, load_whole, stored, &stored->whole);
}

/* Returns the column-major index of the first element of a row. */
static uint64_t place_of_row(const wb__kind *kind, uint64_t row)
{
    uint64_t place = 0;
    uint64_t stride = kind->elements / kind->shape[kind->rank - 1];
    for (uint32_t i = kind->rank - 1; i-- > 0;) {
        stride /= kind->shape[i];
        place += row % kind->shape[i] * stride;
        row /= kind->shape[i];
    }
    return place;
}

/* Copies one element. Its size in bytes is a power of two. */
static void copy_element(uint8_t *to, const uint8_t *from, size_t size)
{
    switch (size) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
    }
}

/* Gathers elements in row-major order. The tensor has at least one dimension and one element. */
static void gather(const wb__raw_bytes *stored, uint64_t at, uint8_t *dst, size_t n)
{
    const wb__kind *kind = stored->kind;
    size_t size = kind->dtype->block_bits / 8;
    uint64_t columns = kind->shape[kind->rank - 1];
    size_t stride =
        (size_t)(kind->elements / columns) * size; /* distance between neighbors in a row */
    uint64_t first = at / size;
    uint64_t left = n / size;
    while (left > 0) {
        uint64_t column = first % columns;
        uint64_t in_row = columns - column < left ? columns - column : left;
        const uint8_t *from = stored->whole->data +
                              (size_t)place_of_row(kind, first / columns) * size +
                              (size_t)column * stride;
        for (uint64_t i = 0; i < in_row; i++, from += stride, dst += size)
            copy_element(dst, from, size);
        first += in_row;
        left -= in_row;
    }
}

wb_status wb__raw_bytes_read(wb__raw_bytes *stored, uint64_t at, void *dst, size_t n)
{
    bool goes_back = stored->packed != NULL && !wb__inflate_stream_reaches(stored->packed, at);
    if (n == 0)
        return WB_OK;
    if (stored->whole == NULL && (stored->in_order || goes_back)) {
        wb_status status = read_whole(stored);
        if (status != WB_OK)
            return status;
    }
    if (stored->whole == NULL)
        return read_on(stored, at, dst, n);
    if (stored->in_order)
        gather(stored, at, dst, n);
    else
        memcpy(dst, stored->whole->data + at, n);
    return WB_OK;
}
