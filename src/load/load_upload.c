/*
 * Uploads pieces to a device. While the device still copies a piece from its slot, the worker
 * processes the next piece in another slot. Each worker therefore has two slots. After the worker
 * has processed the next piece, it waits until the copy is complete, and frees the first slot.
 * Converted data is uploaded from smaller buffers, used in turn. If the device provides memory for
 * copies (wb_device.stage), mapped bytes are copied to the slot's buffer and uploaded from there.
 * Otherwise they are uploaded directly from the mapping.
 */
#include "load/load_stages.h"

enum { CONVERTED = 4 };

struct wb__upload {
    wb__load_piece *going; /* the previous piece, which the device may still be copying */
    stage converted[CONVERTED];
    unsigned convert_turn;
};

/* ---- buffers ---- */

/* Waits until the device has copied everything from a buffer. */
static wb_status wait_for(wb__lane *lane, stage *s)
{
    const wb_device *device = lane->load->options->device;
    wb_status status = WB_OK;
    uint64_t start = s->count == 0 ? 0 : wb__now();
    /* Wait once for each transfer, even after a failure. */
    for (unsigned i = 0; i < s->count; i++) {
        wb_status waited = device->wait(device->ctx, s->events[i]);
        status = status == WB_OK ? waited : status;
    }
    if (s->count != 0)
        lane->spent.upload_ns += wb__now() - start;
    s->count = 0;
    s->used = 0;
    return status == WB_OK ? WB_OK : wb__fail_device(&lane->context, status, "wait for", s->bytes);
}

/* ---- pieces ---- */

static wb_status start_upload(wb__lane *lane, stage *s, void *handle, uint64_t offset,
                              const void *data, uint64_t n)
{
    const wb_device *device = lane->load->options->device;
    void *event = NULL;
    wb_status status = s->count == WB__STAGE_EVENTS ? wait_for(lane, s) : WB_OK;
    if (status != WB_OK)
        return status;
    status = device->upload(device->ctx, handle, offset, data, n, &event);
    if (status != WB_OK)
        return wb__fail_device(&lane->context, status, "take", n);
    if (event != NULL && device->wait != NULL)
        s->events[s->count++] = event;
    return WB_OK;
}

/* Copies the data to the stage's buffer and uploads it from there. If the buffer is full, waits for
 * earlier transfers. */
static wb_status upload_copied(wb__lane *lane, stage *s, void *handle, uint64_t offset,
                               const uint8_t *data, uint64_t n)
{
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < n && status == WB_OK;) {
        size_t room = s->bytes - s->used;
        size_t part = n - done < room ? (size_t)(n - done) : room;
        if (part == 0) {
            status = wait_for(lane, s);
            continue;
        }
        uint8_t *copy = s->memory + s->used;
        memcpy(copy, data + done, part);
        s->used += part;
        status = start_upload(lane, s, handle, offset + done, copy, part);
        done += part;
    }
    return status;
}

static wb_status upload(wb__lane *lane, const wb_piece *piece, void *handle, uint64_t offset)
{
    const wb_device *device = lane->load->options->device;
    struct wb__upload *up = lane->upload;
    stage *s = wb__stage_of(lane->load, lane->at);
    const uint8_t *data = piece->data;
    uint8_t *mapped = device->map == NULL ? NULL : device->map(device->ctx, handle);
    if (mapped != NULL) {
        memcpy(mapped + offset, data, (size_t)piece->bytes);
        return WB_OK;
    }
    if (device->upload == NULL)
        return wb__fail_device(&lane->context, WB_ERROR_UNSUPPORTED, "map", piece->bytes);
    if (data == lane->convert) {
        wb_status status = start_upload(lane, &up->converted[up->convert_turn], handle, offset,
                                        data, piece->bytes);
        up->convert_turn = (up->convert_turn + 1) % CONVERTED;
        lane->convert = up->converted[up->convert_turn].memory;
        return status == WB_OK ? wait_for(lane, &up->converted[up->convert_turn]) : status;
    }
    bool is_fetched = data >= s->memory && data < s->memory + s->bytes;
    if (is_fetched || !s->is_device_s)
        return start_upload(lane, s, handle, offset, data, piece->bytes);
    return upload_copied(lane, s, handle, offset, data, piece->bytes);
}

wb_status wb__upload_piece(wb__lane *lane, const wb_piece *piece)
{
    const wb_load_options *options = lane->load->options;
    uint64_t offset = 0;
    void *handle = options->target(options->ctx, piece, &offset);
    if (handle == NULL)
        return WB_OK;
    uint64_t start = wb__now();
    uint64_t waited = lane->spent.upload_ns;
    wb_status status = upload(lane, piece, handle, offset);
    lane->spent.upload_ns = waited + (wb__now() - start);
    lane->spent.uploaded += status == WB_OK ? piece->bytes : 0;
    return status;
}

/* ---- workers ---- */

wb_status wb__upload_wait(wb__lane *lane)
{
    return wait_for(lane, wb__stage_of(lane->load, lane->at));
}

/* Waits until the device has copied a piece, and frees its slot, even if a transfer failed. */
static void settle(wb__lane *lane, wb__load_piece *piece)
{
    wb__load *load = lane->load;
    lane->context.file = load->model->catalog.files[piece->number].path;
    wb_status status = wait_for(lane, wb__stage_of(load, piece));
    (void)pthread_mutex_lock(&load->lock);
    if (status != WB_OK)
        wb__load_fail_at(load, &lane->error, piece->number, piece->begin);
    wb__slots_give_back(load, piece);
    (void)pthread_mutex_unlock(&load->lock);
}

void wb__upload_finish(wb__lane *lane, wb__load_piece *piece)
{
    wb__load_piece *before = lane->upload->going;
    bool is_going = wb__stage_of(lane->load, piece)->count != 0;
    lane->upload->going = is_going ? piece : NULL;
    if (before != NULL)
        settle(lane, before);
    if (!is_going)
        settle(lane, piece);
}

wb_status wb__upload_open(wb__lane *lane)
{
    const wb__load *load = lane->load;
    struct wb__upload *up = wb__alloc_zeroed(&lane->context.allocator, sizeof *up);
    bool enough = up != NULL;
    lane->upload = up;
    for (unsigned i = 0; i < CONVERTED && enough && load->dtype != NULL; i++)
        enough = wb__stage_make(lane, &up->converted[i], WB__CONVERT_BYTES);
    if (!enough)
        return wb__fail_memory(&lane->context);
    lane->convert = up->converted[0].memory;
    return WB_OK;
}

void wb__upload_close(wb__lane *lane)
{
    wb__load *load = lane->load;
    struct wb__upload *up = lane->upload;
    wb_status status = WB_OK;
    if (up == NULL)
        return;
    if (up->going != NULL)
        settle(lane, up->going);
    for (unsigned i = 0; i < CONVERTED; i++) {
        wb_status waited = wait_for(lane, &up->converted[i]);
        status = status == WB_OK ? waited : status;
        wb__stage_free(load, &up->converted[i]);
    }
    if (status != WB_OK) { /* a transfer failed that was in progress after the last piece */
        (void)pthread_mutex_lock(&load->lock);
        wb__load_fail_at(load, &lane->error, load->file_count, 0);
        (void)pthread_mutex_unlock(&load->lock);
    }
    wb__free(&lane->context.allocator, up, sizeof *up);
    lane->upload = NULL;
}
