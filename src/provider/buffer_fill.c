#include "provider/buffer_fill.h"

#include "dtype/dtype_block.h"

/* Maximum number of stored bytes that are read at once. This number is large enough that
 * wb_tensor_read reads directly into the destination instead of through its own buffer. */
#define CHUNK_BYTES WB__DIRECT_BYTES

/* Size of a staging buffer for uploads: twice the size of a chunk, because BF16 values may be
 * converted to F32. */
#define READY_BYTES (2 * CHUNK_BYTES)

/* Number of values decoded per call. It is large, because for AWQ and GPTQ each call reads and
 * transposes the complete tensor. */
#define DECODED_VALUES ((uint64_t)8 << 20)

/* Maximum number of stored bytes of a piece. A run (a range of a stored tensor, wb__run) is divided
 * into pieces, which several threads may fill at the same time. */
#define PIECE_BYTES ((uint64_t)16 << 20)

/* ---- upload ---- */

static wb_status wait_for(wb__filler *f, unsigned turn)
{
    wb_status status = WB_OK;
    if (f->pending[turn] && f->device->wait != NULL)
        status = f->device->wait(f->device->ctx, f->event[turn]);
    f->pending[turn] = false;
    return status == WB_OK ? WB_OK : wb__fail_device(f->context, status, "wait for", CHUNK_BYTES);
}

static wb_status upload(wb__filler *f, const uint8_t *bytes, uint64_t dst, size_t n)
{
    f->event[f->turn] = NULL;
    wb_status status =
        f->device->upload(f->device->ctx, f->handle, dst, bytes, n, &f->event[f->turn]);
    if (status != WB_OK)
        return wb__fail_device(f->context, status, "take", n);
    f->pending[f->turn] = f->event[f->turn] != NULL;
    f->piece[f->turn] = f->current;
    f->turn ^= 1;
    return WB_OK;
}

/* Returns the staging buffer to use next, after its upload has ended, or NULL after a failure. */
static uint8_t *next_ready(wb__filler *f, wb_status *status)
{
    const wb_device *device = f->device;
    unsigned turn = f->turn;
    *status = wait_for(f, turn);
    if (*status != WB_OK)
        return NULL;
    if (f->ready[turn] == NULL && device->stage != NULL) {
        f->ready[turn] = device->stage(device->ctx, READY_BYTES);
        f->staged[turn] = f->ready[turn] != NULL;
    }
    if (f->ready[turn] == NULL)
        f->ready[turn] = wb__alloc(&f->context->allocator, READY_BYTES);
    if (f->ready[turn] == NULL)
        *status = wb__fail_memory(f->context);
    return f->ready[turn];
}

wb_status wb__fill_wait(wb__filler *f, wb_status status)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        wb_error spare, *error = f->context->error;
        if (status != WB_OK)
            f->context->error = &spare;
        wb_status waited = wait_for(f, turn);
        f->context->error = error;
        status = status != WB_OK ? status : waited;
    }
    return status;
}

/* ---- a run ---- */

/* Returns the number of elements of a chunk. The number is a multiple of 8 blocks, so that elements
 * of less than a byte also fill whole bytes. */
static uint64_t chunk_elements(const wb__run *run)
{
    const wb__dtype *dtype = wb__dtype_get(run->from);
    uint64_t unit = (uint64_t)dtype->block_size * 8;
    return (uint64_t)CHUNK_BYTES * 8 / dtype->block_bits * dtype->block_size / unit * unit;
}

static wb_status read_elements(const wb__filler *f, const wb__run *run, uint64_t first, uint64_t n,
                               uint8_t *dst, uint64_t bytes)
{
    wb_slice slice = run->slice;
    slice.first = first;
    slice.count = n;
    return wb_tensor_read(f->model, run->part, &slice, run->is_decoded ? run->from : -1, dst, bytes,
                          f->context->error);
}

/* Reads a chunk into `dst`, which has WB__DIRECT_ROOM(bytes) bytes. Sets *chunk to the address of
 * the chunk in `dst`. */
static wb_status read_chunk(wb__filler *f, const wb__run *run, uint64_t first, uint64_t n,
                            uint8_t *dst, size_t bytes, uint8_t **chunk)
{
    *chunk = NULL;
    if (wb__direct_pieces_turn(&f->straight, f->model, run)) {
        uint64_t at = wb__dtype_bytes(wb__dtype_get(run->from), first);
        wb_status status = wb__direct_pieces_read(&f->straight, at, dst, bytes, chunk);
        if (status != WB_OK || *chunk != NULL)
            return status;
    }
    *chunk = dst;
    return read_elements(f, run, first, n, dst, bytes);
}

/* Converts n values. If `values` is not aligned for the dtype, first moves the values down to the
 * preceding aligned address. */
static void convert(const wb__filler *f, const wb__run *run, uint8_t *values, uint64_t n,
                    uint8_t *dst)
{
    const wb__dtype *from = wb__dtype_get(run->from);
    size_t odd = (uintptr_t)values % (from->block_bits / 8);
    if (odd != 0)
        memmove(values - odd, values, (size_t)wb__dtype_bytes(from, n));
    wb__convert_floats(run->from, values - odd, n, run->adds, run->to, dst, f->lost);
}

static wb_status fill_chunk(wb__filler *f, const wb__run *run, uint64_t first, uint64_t n)
{
    size_t from = (size_t)wb__dtype_bytes(wb__dtype_get(run->from), n);
    size_t to = (size_t)wb__dtype_bytes(wb__dtype_get(run->to), n);
    uint64_t at = run->dst + wb__dtype_bytes(wb__dtype_get(run->to), first);
    wb_status status = WB_OK;
    uint8_t *dst = f->mapped != NULL ? f->mapped + at : next_ready(f, &status);
    uint8_t *room = run->converts && dst != NULL ? wb__direct_pieces_room(&f->straight) : dst;
    uint8_t *chunk = NULL;
    if (status == WB_OK && room == NULL)
        status = wb__fail_memory(f->context);
    if (status == WB_OK)
        status = read_chunk(f, run, first, n, room, from, &chunk);
    if (status != WB_OK)
        return status;
    if (run->converts)
        convert(f, run, chunk, n, dst);
    return f->mapped != NULL ? WB_OK : upload(f, run->converts ? dst : chunk, at, to);
}

static wb_status fill_chunks(wb__filler *f, const wb__run *run, uint64_t begin, uint64_t n)
{
    uint64_t most = chunk_elements(run);
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK; done += most)
        status = fill_chunk(f, run, begin + done, n - done < most ? n - done : most);
    return status;
}

/* Reads n elements of a run in windows (direct_read.h), and copies or converts them to the mapped
 * buffer. */
static wb_status fill_windows(wb__filler *f, const wb__run *run, uint64_t begin, uint64_t n)
{
    const wb__dtype *from = wb__dtype_get(run->from), *to = wb__dtype_get(run->to);
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK;) {
        uint8_t *dst = f->mapped + run->dst + wb__dtype_bytes(to, begin + done), *bytes;
        size_t size;
        status = wb__direct_pieces_next(&f->straight, &bytes, &size);
        uint64_t elements = wb__dtype_elements(from, size);
        if (status == WB_OK && run->converts)
            convert(f, run, bytes, elements, dst);
        else if (status == WB_OK && bytes != dst)
            memcpy(dst, bytes, size);
        done += elements;
    }
    return status;
}

/* Converts decoded values to the dtype of the buffer and writes them to the buffer. `first` is the
 * index of the first value in the run. */
static wb_status put_values(wb__filler *f, const wb__run *run, const float *values, uint64_t first,
                            uint64_t n)
{
    uint64_t size = wb__dtype_bytes(wb__dtype_get(run->to), 1);
    uint64_t at = run->dst + first * size, most = READY_BYTES / size;
    if (f->mapped != NULL) {
        wb__convert_floats(run->from, values, n, run->adds, run->to, f->mapped + at, f->lost);
        return WB_OK;
    }
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK; done += most) {
        uint64_t piece = n - done < most ? n - done : most;
        uint8_t *ready = next_ready(f, &status);
        if (ready == NULL)
            return status;
        wb__convert_floats(run->from, values + done, piece, run->adds, run->to, ready, f->lost);
        status = upload(f, ready, at + done * size, (size_t)(piece * size));
    }
    return status;
}

static wb_status fill_decoded(wb__filler *f, const wb__run *run, uint64_t begin, uint64_t n)
{
    uint64_t most = n < DECODED_VALUES ? n : DECODED_VALUES;
    size_t bytes = (size_t)most * sizeof(float);
    float *values = wb__alloc(&f->context->allocator, bytes);
    if (values == NULL)
        return wb__fail_memory(f->context);
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK; done += most) {
        uint64_t piece = n - done < most ? n - done : most;
        status =
            read_elements(f, run, begin + done, piece, (uint8_t *)values, piece * sizeof(float));
        if (status == WB_OK)
            status = put_values(f, run, values, begin + done, piece);
    }
    wb__free(&f->context->allocator, values, bytes);
    return status;
}

static wb_status fill_zeros(wb__filler *f, uint64_t dst, uint64_t bytes)
{
    wb_status status = WB_OK;
    if (f->mapped != NULL)
        memset(f->mapped + dst, 0, (size_t)bytes);
    for (uint64_t done = 0; f->mapped == NULL && done < bytes && status == WB_OK;) {
        uint64_t left = bytes - done, n = left < READY_BYTES ? left : READY_BYTES;
        uint8_t *ready = next_ready(f, &status);
        if (ready == NULL)
            return status;
        memset(ready, 0, (size_t)n);
        status = upload(f, ready, dst + done, (size_t)n);
        done += n;
    }
    return status;
}

/* Fills n elements of a run, from element `first` on. The run is contiguous in the buffer. */
static wb_status fill_run(wb__filler *f, const wb__run *run, uint64_t first, uint64_t n)
{
    const wb__dtype *from = wb__dtype_get(run->from), *to = wb__dtype_get(run->to);
    uint8_t *dst = f->mapped == NULL ? NULL : f->mapped + run->dst + wb__dtype_bytes(to, first);
    uint64_t step = wb__dtype_bytes(from, chunk_elements(run));
    if (run->part == WB__NO_PART)
        return fill_zeros(f, run->dst, run->bytes);
    if (dst != NULL && wb__direct_pieces_turn(&f->straight, f->model, run) &&
        wb__direct_pieces_begin(&f->straight, wb__dtype_bytes(from, first),
                                wb__dtype_bytes(from, n), step, run->converts ? NULL : dst))
        return fill_windows(f, run, first, n);
    if (run->is_decoded)
        return fill_decoded(f, run, first, n);
    if (dst != NULL && !run->converts)
        return read_elements(f, run, first, n, dst, wb__dtype_bytes(to, n));
    return fill_chunks(f, run, first, n);
}

/* ---- rows ---- */

/* Reads n rows of a run and writes them to `dst` at intervals of run->pitch bytes, because the
 * buffer interleaves the rows of several runs. */
static wb_status scatter(wb__filler *f, const wb__run *run, uint64_t first, uint64_t n,
                         uint8_t *dst)
{
    uint64_t elements = run->elements / run->rows;
    size_t bytes = (size_t)(run->bytes / run->rows);
    uint8_t *room = wb__direct_pieces_room(&f->straight);
    if (room == NULL)
        return wb__fail_memory(f->context);
    wb_status status = WB_OK;
    if (run->part == WB__NO_PART)
        memset(room, 0, (size_t)n * bytes);
    else
        status = read_elements(f, run, first * elements, n * elements, room, n * bytes);
    for (uint64_t row = 0; row < n && status == WB_OK; row++)
        wb__scatter_row(run, room + row * bytes, bytes, dst + row * run->pitch);
    return status;
}

/* Fills a group of interleaved runs, of which `index` is the first. Fills as many rows at a time as
 * fit into a chunk. */
static wb_status fill_interleaved(wb__filler *f, const wb__list *runs, size_t index)
{
    const wb__run *run = wb__list_at(runs, index);
    uint64_t most = CHUNK_BYTES / run->pitch;
    wb_status status = WB_OK;
    for (uint64_t first = 0; first < run->rows && status == WB_OK; first += most) {
        uint64_t left = run->rows - first, n = left < most ? left : most;
        uint64_t at = run->dst + first * run->pitch;
        uint8_t *dst = f->mapped != NULL ? f->mapped + at : next_ready(f, &status);
        for (uint32_t i = 0; i < run->interleaved_runs && status == WB_OK; i++) {
            const wb__run *one = wb__list_at(runs, index + i);
            status = scatter(f, one, first, n, dst + (one->dst - run->dst));
        }
        if (status == WB_OK && f->mapped == NULL)
            status = upload(f, dst, at, (size_t)(n * run->pitch));
    }
    return status;
}

/* The rows of the buffer to which a piece of a permuted run contributes. */
typedef struct permuted {
    const wb__run *run;
    wb__cut rows;
    uint8_t *to; /* address of the first of these rows */
} permuted;

/* Converts n elements and copies them to their rows. `bytes` is in the staging buffer. */
static wb_status permute(wb__filler *f, const permuted *p, uint8_t *bytes, uint64_t first,
                         uint64_t n)
{
    const wb__dtype *from = wb__dtype_get(p->run->from), *to = wb__dtype_get(p->run->to);
    uint64_t most = chunk_elements(p->run);
    uint8_t *room = wb__direct_pieces_room(&f->straight);
    if (room == NULL)
        return wb__fail_memory(f->context);
    for (uint64_t done = 0; done < n; done += most) {
        uint64_t piece = n - done < most ? n - done : most;
        uint8_t *values = bytes + wb__dtype_bytes(from, done);
        if (p->run->converts) {
            convert(f, p->run, values, piece, room + WB__SLOT_BYTES);
            values = room + WB__SLOT_BYTES;
        }
        wb__scatter_rows(p->run, wb__dtype_bytes(to, first + done), values,
                         wb__dtype_bytes(to, piece), p->rows, p->to);
    }
    return WB_OK;
}

/* Reads n elements, decoded or not, and copies them to their rows. */
static wb_status read_permuted(wb__filler *f, const permuted *p, uint64_t first, uint64_t n)
{
    size_t from = (size_t)wb__dtype_bytes(wb__dtype_get(p->run->from), n);
    uint8_t *chunk, *room = p->run->is_decoded ? wb__alloc(&f->context->allocator, from)
                                               : wb__direct_pieces_room(&f->straight);
    if (room == NULL)
        return wb__fail_memory(f->context);
    wb_status status = read_chunk(f, p->run, first, n, room, from, &chunk);
    if (status == WB_OK)
        status = permute(f, p, chunk, first, n);
    if (p->run->is_decoded)
        wb__free(&f->context->allocator, room, from);
    return status;
}

/* Uploads n bytes to offset `at` of the buffer, through the staging buffers. */
static wb_status upload_all(wb__filler *f, const uint8_t *bytes, uint64_t at, uint64_t n)
{
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK;) {
        size_t piece = n - done < READY_BYTES ? (size_t)(n - done) : READY_BYTES;
        uint8_t *ready = next_ready(f, &status);
        if (ready == NULL)
            return status;
        memcpy(ready, bytes + done, piece);
        status = upload(f, ready, at + done, piece);
        done += piece;
    }
    return status;
}

/* Fills n elements of a run whose rows are permuted. Rows are permuted only within an attention
 * head, and the n elements form complete heads. */
static wb_status fill_permuted(wb__filler *f, const wb__run *run, uint64_t first, uint64_t n)
{
    uint64_t row_elements = run->elements / run->rows;
    uint64_t row_bytes = run->bytes / run->to_rows.count;
    uint64_t begin = run->first_row + first / row_elements, end = begin + n / row_elements;
    uint64_t most = run->is_decoded ? DECODED_VALUES : chunk_elements(run);
    uint64_t to_end = run->to_rows.start + run->to_rows.count;
    permuted p = {.run = run};
    p.rows.start = begin > run->to_rows.start ? begin : run->to_rows.start;
    p.rows.count = (end < to_end ? end : to_end) - p.rows.start;
    uint64_t at = run->dst + (p.rows.start - run->to_rows.start) * row_bytes;
    uint64_t bytes = p.rows.count * row_bytes;
    p.to = f->mapped != NULL  ? f->mapped + at
           : bytes > SIZE_MAX ? NULL
                              : wb__alloc(&f->context->allocator, (size_t)bytes);
    wb_status status = p.to == NULL ? wb__fail_memory(f->context) : WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK; done += most)
        status = read_permuted(f, &p, first + done, n - done < most ? n - done : most);
    if (f->mapped != NULL)
        return status;
    if (status == WB_OK)
        status = upload_all(f, p.to, at, bytes);
    wb__free(&f->context->allocator, p.to, (size_t)bytes);
    return status;
}

/* ---- pieces ---- */

/* Returns the smallest number of elements that can be filled separately: all elements if the run
 * must be read at once, one head if its rows are permuted, otherwise the elements of one chunk
 * (chunk_elements). */
static uint64_t unit_of(const wb__run *run)
{
    if (run->part == WB__NO_PART || run->pitch != 0 || run->is_decoded)
        return run->elements;
    if (run->change.head_rows != 0)
        return run->elements / run->rows * run->change.head_rows;
    return chunk_elements(run);
}

uint64_t wb__fill_step(const wb__run *run)
{
    uint64_t unit = unit_of(run);
    if (unit >= run->elements)
        return run->elements;
    uint64_t bytes = wb__dtype_bytes(wb__dtype_get(run->from), unit);
    uint64_t step = bytes < PIECE_BYTES ? PIECE_BYTES / bytes * unit : unit;
    return step < run->elements ? step : run->elements;
}

wb_status wb__fill_piece(wb__filler *f, size_t index, uint64_t first, uint64_t n)
{
    const wb__run *run = wb__list_at(&f->layout->runs, index);
    wb_status status = WB_OK;
    if (run->pitch != 0)
        status = fill_interleaved(f, &f->layout->runs, index);
    else if (n != 0 && run->change.head_rows != 0)
        status = fill_permuted(f, run, first, n);
    else if (n != 0)
        status = fill_run(f, run, first, n);
    return status;
}

wb_status wb__fill_gaps(wb__filler *f)
{
    wb_status status = WB_OK;
    for (uint32_t i = 1; i < f->layout->section_count && status == WB_OK; i++) {
        const wb_section *before = &f->layout->sections[i - 1];
        uint64_t at = before->offset + before->bytes;
        status = fill_zeros(f, at, f->layout->sections[i].offset - at);
    }
    return status;
}

wb_status wb__fill_all(wb__filler *f)
{
    const wb__list *runs = &f->layout->runs;
    wb_status status = wb__fill_gaps(f);
    for (size_t i = 0; i < runs->count && status == WB_OK;) {
        const wb__run *run = wb__list_at(runs, i);
        status = wb__fill_piece(f, i, 0, run->elements);
        i += run->interleaved_runs;
    }
    return wb__fill_wait(f, status);
}

/* ---- the filler ---- */

void wb__filler_open(wb__filler *f, wb__context *context, const wb_model *model,
                     const wb__files *files, const wb_device *device)
{
    *f = (wb__filler){.context = context, .model = model, .device = device};
    wb__direct_pieces_open(&f->straight, context, files);
}

wb_status wb__filler_select(wb__filler *f, const wb__layout *layout, void *handle, wb__lost *lost)
{
    f->layout = layout;
    f->handle = handle;
    f->mapped = f->device->map == NULL ? NULL : f->device->map(f->device->ctx, handle);
    f->lost = lost;
    if (f->mapped == NULL && f->device->upload == NULL)
        return wb__fail_device(f->context, WB_ERROR_UNSUPPORTED, "map", layout->bytes);
    return WB_OK;
}

static void free_ready(wb__filler *f, unsigned turn)
{
    if (f->staged[turn])
        f->device->unstage(f->device->ctx, f->ready[turn], READY_BYTES);
    else
        wb__free(&f->context->allocator, f->ready[turn], READY_BYTES);
}

void wb__filler_close(wb__filler *f)
{
    wb__direct_pieces_close(&f->straight);
    for (unsigned turn = 0; turn < 2; turn++)
        free_ready(f, turn);
}

const void *wb__bytes_in_place(const wb_model *model, const wb__layout *layout)
{
    const void *bytes;
    wb_error ignored;
    wb_tensor part = {.size = sizeof part};
    if (layout->runs.count != 1)
        return NULL;
    const wb__run *run = wb__list_at(&layout->runs, 0);
    if (run->converts || run->is_decoded || run->change.head_rows != 0 || run->range.count != 1 ||
        run->bytes == 0 || wb_tensor_at(model, run->part, &part, &ignored) != WB_OK ||
        wb_tensor_data(model, run->part, &bytes, &ignored) != WB_OK)
        return NULL;
    const uint8_t *first = (const uint8_t *)bytes + (run->range.offset - part.offset);
    const wb__dtype *dtype = wb__dtype_get(run->from);
    /* Blocks need at most an alignment of 4 bytes: Q8_1 and Q8_K begin with a number of 4 bytes,
     * all others with binary16 or a byte. */
    uintptr_t size = !wb__dtype_is_plain(dtype)   ? 4
                     : dtype->block_bits % 8 == 0 ? dtype->block_bits / 8
                                                  : 1;
    return (uintptr_t)first % size == 0 ? first : NULL;
}
