#include "provider/buffer_fill.h"

#include "dtype/dtype_block.h"

/* Maximum number of stored bytes that are read at once. wb_tensor_read reads so many bytes directly
 * into the destination. */
#define CHUNK_BYTES WB__DIRECT_BYTES

/* Size of a staging buffer for uploads: two chunks, because BF16 values may become F32. */
#define READY_BYTES (2 * CHUNK_BYTES)

/* Number of values decoded per call. It is large, because for AWQ and GPTQ each call reads and
 * transposes the complete tensor. */
#define DECODED_VALUES ((uint64_t)8 << 20)

typedef struct filler {
    wb__context *context;
    const wb_model *model;
    const wb_device *device;
    void *handle;
    uint8_t *mapped; /* NULL: use wb_device.upload */
    wb__direct_pieces straight;
    uint8_t *ready[2]; /* staging buffers, used in turn */
    bool staged[2];    /* the staging buffer comes from wb_device.stage */
    void *event[2];
    bool pending[2]; /* event[i] is an upload that may be in progress */
    unsigned turn;   /* index of the staging buffer to use next */
    wb__lost *lost;
} filler;

/* ---- upload ---- */

static wb_status wait_for(filler *f, unsigned turn)
{
    wb_status status = WB_OK;
    if (f->pending[turn] && f->device->wait != NULL)
        status = f->device->wait(f->device->ctx, f->event[turn]);
    f->pending[turn] = false;
    return status == WB_OK ? WB_OK : wb__fail_device(f->context, status, "wait for", CHUNK_BYTES);
}

static wb_status upload(filler *f, const uint8_t *bytes, uint64_t dst, size_t n)
{
    f->event[f->turn] = NULL;
    wb_status status =
        f->device->upload(f->device->ctx, f->handle, dst, bytes, n, &f->event[f->turn]);
    if (status != WB_OK)
        return wb__fail_device(f->context, status, "take", n);
    f->pending[f->turn] = f->event[f->turn] != NULL;
    f->turn ^= 1;
    return WB_OK;
}

/* ---- a run ---- */

/* Returns the number of elements of a chunk. It is a multiple of 8 blocks, so that elements of less
 * than a byte also fill whole bytes. */
static uint64_t chunk_elements(const wb__run *run)
{
    const wb__dtype *dtype = wb__dtype_get(run->from);
    uint64_t unit = (uint64_t)dtype->block_size * 8;
    return (uint64_t)CHUNK_BYTES * 8 / dtype->block_bits * dtype->block_size / unit * unit;
}

static wb_status read_elements(const filler *f, const wb__run *run, uint64_t first, uint64_t n,
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
static wb_status read_chunk(filler *f, const wb__run *run, uint64_t first, uint64_t n, uint8_t *dst,
                            size_t bytes, uint8_t **chunk)
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

/* Converts n values. If their address is unaligned, first moves them to the aligned address before
 * it. */
static void convert(const filler *f, const wb__run *run, uint8_t *values, uint64_t n, uint8_t *dst)
{
    const wb__dtype *from = wb__dtype_get(run->from);
    size_t odd = (uintptr_t)values % (from->block_bits / 8);
    if (odd != 0)
        memmove(values - odd, values, (size_t)wb__dtype_bytes(from, n));
    wb__convert_floats(run->from, values - odd, n, run->to, dst, f->lost);
}

static wb_status fill_chunk(filler *f, const wb__run *run, uint64_t first, uint64_t n)
{
    size_t from = (size_t)wb__dtype_bytes(wb__dtype_get(run->from), n);
    size_t to = (size_t)wb__dtype_bytes(wb__dtype_get(run->to), n);
    uint64_t at = run->dst + wb__dtype_bytes(wb__dtype_get(run->to), first);
    uint8_t *dst = f->mapped != NULL ? f->mapped + at : f->ready[f->turn];
    bool converts = run->from != run->to;
    uint8_t *room = converts ? wb__direct_pieces_room(&f->straight) : dst;
    uint8_t *chunk = NULL;
    wb_status status = f->mapped != NULL ? WB_OK : wait_for(f, f->turn);
    if (status == WB_OK && room == NULL)
        status = wb__fail_memory(f->context);
    if (status == WB_OK)
        status = read_chunk(f, run, first, n, room, from, &chunk);
    if (status != WB_OK)
        return status;
    if (converts)
        convert(f, run, chunk, n, dst);
    return f->mapped != NULL ? WB_OK : upload(f, converts ? dst : chunk, at, to);
}

static wb_status fill_chunks(filler *f, const wb__run *run)
{
    uint64_t most = chunk_elements(run);
    wb_status status = WB_OK;
    for (uint64_t first = 0; first < run->elements && status == WB_OK; first += most) {
        uint64_t left = run->elements - first;
        status = fill_chunk(f, run, first, left < most ? left : most);
    }
    return status;
}

/* Reads a run in windows (direct_read.h), and copies or converts them to the mapped buffer. */
static wb_status fill_windows(filler *f, const wb__run *run)
{
    const wb__dtype *from = wb__dtype_get(run->from), *to = wb__dtype_get(run->to);
    bool converts = run->from != run->to;
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < run->elements && status == WB_OK;) {
        uint8_t *dst = f->mapped + run->dst + wb__dtype_bytes(to, done), *bytes;
        size_t n;
        status = wb__direct_pieces_next(&f->straight, &bytes, &n);
        uint64_t elements = wb__dtype_elements(from, n);
        if (status == WB_OK && converts)
            convert(f, run, bytes, elements, dst);
        else if (status == WB_OK && bytes != dst)
            memcpy(dst, bytes, n);
        done += elements;
    }
    return status;
}

/* Converts decoded values to the dtype of the buffer and writes them to the buffer. `first` is the
 * index of the first value in the run. */
static wb_status put_values(filler *f, const wb__run *run, const float *values, uint64_t first,
                            uint64_t n)
{
    uint64_t size = wb__dtype_bytes(wb__dtype_get(run->to), 1);
    uint64_t at = run->dst + first * size, most = READY_BYTES / size;
    if (f->mapped != NULL) {
        wb__convert_floats(run->from, values, n, run->to, f->mapped + at, f->lost);
        return WB_OK;
    }
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK; done += most) {
        uint64_t piece = n - done < most ? n - done : most;
        status = wait_for(f, f->turn);
        if (status != WB_OK)
            return status;
        uint8_t *ready = f->ready[f->turn];
        wb__convert_floats(run->from, values + done, piece, run->to, ready, f->lost);
        status = upload(f, ready, at + done * size, (size_t)(piece * size));
    }
    return status;
}

static wb_status fill_decoded(filler *f, const wb__run *run)
{
    uint64_t most = run->elements < DECODED_VALUES ? run->elements : DECODED_VALUES;
    size_t bytes = (size_t)most * sizeof(float);
    float *values = wb__alloc(&f->context->allocator, bytes);
    if (values == NULL)
        return wb__fail_memory(f->context);
    wb_status status = WB_OK;
    for (uint64_t first = 0; first < run->elements && status == WB_OK; first += most) {
        uint64_t left = run->elements - first, n = left < most ? left : most;
        status = read_elements(f, run, first, n, (uint8_t *)values, n * sizeof(float));
        if (status == WB_OK)
            status = put_values(f, run, values, first, n);
    }
    wb__free(&f->context->allocator, values, bytes);
    return status;
}

static wb_status fill_zeros(filler *f, uint64_t dst, uint64_t bytes)
{
    wb_status status = WB_OK;
    if (f->mapped != NULL)
        memset(f->mapped + dst, 0, (size_t)bytes);
    for (uint64_t done = 0; f->mapped == NULL && done < bytes && status == WB_OK;) {
        uint64_t left = bytes - done, n = left < READY_BYTES ? left : READY_BYTES;
        status = wait_for(f, f->turn);
        if (status != WB_OK)
            return status;
        memset(f->ready[f->turn], 0, (size_t)n);
        status = upload(f, f->ready[f->turn], dst + done, (size_t)n);
        done += n;
    }
    return status;
}

static wb_status fill_run(filler *f, const wb__run *run)
{
    if (run->elements == 0)
        return WB_OK;
    if (run->part == WB__NO_PART)
        return fill_zeros(f, run->dst, run->bytes);
    uint64_t step = wb__dtype_bytes(wb__dtype_get(run->from), chunk_elements(run));
    if (f->mapped != NULL && wb__direct_pieces_turn(&f->straight, f->model, run) &&
        wb__direct_pieces_begin(&f->straight, step,
                                run->from == run->to ? f->mapped + run->dst : NULL))
        return fill_windows(f, run);
    if (f->mapped != NULL && run->from == run->to)
        return read_elements(f, run, 0, run->elements, f->mapped + run->dst, run->bytes);
    return run->is_decoded ? fill_decoded(f, run) : fill_chunks(f, run);
}

/* Writes rows `first` to first + n - 1 of an interleaved run. `dst` is the first of these rows in
 * the buffer. */
static wb_status scatter(filler *f, const wb__run *run, uint64_t first, uint64_t n, uint8_t *dst)
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
        memcpy(dst + row * run->pitch, room + row * bytes, bytes);
    return status;
}

/* Fills the interleaved runs that begin with run `index`, as many rows at a time as fit into a
 * chunk. */
static wb_status fill_interleaved(filler *f, const wb__list *runs, size_t index)
{
    const wb__run *run = wb__list_at(runs, index);
    uint64_t most = CHUNK_BYTES / run->pitch;
    wb_status status = WB_OK;
    for (uint64_t first = 0; first < run->rows && status == WB_OK; first += most) {
        uint64_t left = run->rows - first, n = left < most ? left : most;
        uint64_t at = run->dst + first * run->pitch;
        uint8_t *dst = f->mapped != NULL ? f->mapped + at : f->ready[f->turn];
        if (f->mapped == NULL)
            status = wait_for(f, f->turn);
        for (uint32_t i = 0; i < run->interleaved_runs && status == WB_OK; i++) {
            const wb__run *one = wb__list_at(runs, index + i);
            status = scatter(f, one, first, n, dst + (one->dst - run->dst));
        }
        if (status == WB_OK && f->mapped == NULL)
            status = upload(f, dst, at, (size_t)(n * run->pitch));
    }
    return status;
}

/* Zeroes the bytes between sections. */
static wb_status fill_gaps(filler *f, const wb__layout *layout)
{
    wb_status status = WB_OK;
    for (uint32_t i = 1; i < layout->section_count && status == WB_OK; i++) {
        const wb_section *before = &layout->sections[i - 1];
        uint64_t at = before->offset + before->bytes;
        status = fill_zeros(f, at, layout->sections[i].offset - at);
    }
    return status;
}

static wb_status fill_all(filler *f, const wb__layout *layout)
{
    wb_status status = fill_gaps(f, layout);
    for (size_t i = 0; i < layout->runs.count && status == WB_OK;) {
        const wb__run *run = wb__list_at(&layout->runs, i);
        status =
            run->interleaved_runs > 1 ? fill_interleaved(f, &layout->runs, i) : fill_run(f, run);
        i += run->interleaved_runs;
    }
    /* Wait even after a failure: the device may still read the staging buffers, which will be
     * freed. */
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

/* ---- memory ---- */

/* Allocates a staging buffer, from the device if it offers one. */
static bool make_ready(filler *f, unsigned turn)
{
    const wb_device *device = f->device;
    if (device->stage != NULL)
        f->ready[turn] = device->stage(device->ctx, READY_BYTES);
    f->staged[turn] = f->ready[turn] != NULL;
    if (!f->staged[turn])
        f->ready[turn] = wb__alloc(&f->context->allocator, READY_BYTES);
    return f->ready[turn] != NULL;
}

static void free_ready(filler *f, unsigned turn)
{
    if (f->staged[turn])
        f->device->unstage(f->device->ctx, f->ready[turn], READY_BYTES);
    else
        wb__free(&f->context->allocator, f->ready[turn], READY_BYTES);
}

wb_status wb__fill(wb__context *context, const wb_model *model, const wb__files *files,
                   const wb__layout *layout, const wb_device *device, void *handle, wb__lost *lost)
{
    filler f = {.context = context,
                .model = model,
                .device = device,
                .handle = handle,
                .mapped = device->map == NULL ? NULL : device->map(device->ctx, handle),
                .lost = lost};
    bool enough = true;
    if (f.mapped == NULL && device->upload == NULL)
        return wb__fail_device(context, WB_ERROR_UNSUPPORTED, "map", layout->bytes);
    if (f.mapped == NULL)
        enough = make_ready(&f, 0) && make_ready(&f, 1);
    wb__direct_pieces_open(&f.straight, context, files);
    wb_status status = enough ? fill_all(&f, layout) : wb__fail_memory(context);
    wb__direct_pieces_close(&f.straight);
    for (unsigned turn = 0; turn < 2; turn++)
        free_ready(&f, turn);
    return status;
}

const void *wb__bytes_in_place(const wb_model *model, const wb__layout *layout)
{
    const void *bytes;
    wb_error ignored;
    wb_tensor part = {.size = sizeof part};
    if (layout->runs.count != 1)
        return NULL;
    const wb__run *run = wb__list_at(&layout->runs, 0);
    if (run->from != run->to || run->is_decoded || run->range.count != 1 || run->bytes == 0 ||
        wb_tensor_at(model, run->part, &part, &ignored) != WB_OK ||
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
