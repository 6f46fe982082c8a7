/*
 * Pieces on to a device, each lane its own. A lane fetches into one of two buffers while the device still
 * takes what is in the other; what is converted goes through a ring of smaller ones. Bytes that lie
 * elsewhere, in mapped files, are copied into the buffer first where the device prefers memory of its
 * own choice (wb_device.stage), and go up from where they are where it does not.
 */
#include "load/load.h"

#include "device/device.h"

#define EVENTS 32u /* of a buffer; with so many small tensors in one it waits for all of them */

typedef struct stage {
    uint8_t *memory; /* aligned for direct reading */
    size_t bytes;
    size_t used; /* by copies of what lies elsewhere */
    void *block;
    size_t block_bytes;
    bool is_device_s;
    void *events[EVENTS];
    unsigned count;
} stage;

enum { FETCHED = 2, CONVERTED = 4 };

struct wb__upload {
    stage fetched[FETCHED];
    stage converted[CONVERTED];
    unsigned fetch_turn, convert_turn;
};

/* ---- buffers ---- */

static bool make_stage(wb__lane *lane, stage *s, size_t bytes)
{
    const wb_device *device = lane->load->options->device;
    s->bytes = bytes;
    s->block_bytes = bytes + WB__DIRECT_ALIGNMENT;
    if (device->stage != NULL)
        s->block = device->stage(device->ctx, s->block_bytes);
    s->is_device_s = s->block != NULL;
    if (!s->is_device_s)
        s->block = wb__alloc(&lane->context.allocator, s->block_bytes);
    if (s->block == NULL)
        return false;
    size_t past = (uintptr_t)s->block % WB__DIRECT_ALIGNMENT;
    s->memory = (uint8_t *)s->block + (past == 0 ? 0 : WB__DIRECT_ALIGNMENT - past);
    return true;
}

static void free_stage(wb__lane *lane, stage *s)
{
    const wb_device *device = lane->load->options->device;
    if (s->is_device_s)
        device->unstage(device->ctx, s->block, s->block_bytes);
    else
        wb__free(&lane->context.allocator, s->block, s->block_bytes);
}

/* Waits until the device has all that was to go up from a buffer. */
static wb_status wait_for(wb__lane *lane, stage *s)
{
    const wb_device *device = lane->load->options->device;
    wb_status status = WB_OK;
    uint64_t start = s->count == 0 ? 0 : wb__load_now();
    for (unsigned i = 0; i < s->count; i++) { /* also after a failure: each is waited for once */
        wb_status waited = device->wait(device->ctx, s->events[i]);
        status = status == WB_OK ? waited : status;
    }
    if (s->count != 0)
        lane->spent.upload_ns += wb__load_now() - start;
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
    wb_status status = s->count == EVENTS ? wait_for(lane, s) : WB_OK;
    if (status != WB_OK)
        return status;
    status = device->upload(device->ctx, handle, offset, data, n, &event);
    if (status != WB_OK)
        return wb__fail_device(&lane->context, status, "take", n);
    if (event != NULL && device->wait != NULL)
        s->events[s->count++] = event;
    return WB_OK;
}

/* By way of the buffer, which waits for itself when it is full. */
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
    stage *s = &up->fetched[up->fetch_turn];
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
    uint64_t start = wb__load_now();
    uint64_t waited = lane->spent.upload_ns;
    wb_status status = upload(lane, piece, handle, offset);
    lane->spent.upload_ns = waited + (wb__load_now() - start);
    lane->spent.uploaded += status == WB_OK ? piece->bytes : 0;
    return status;
}

/* ---- the lane ---- */

wb_status wb__upload_turn(wb__lane *lane)
{
    struct wb__upload *up = lane->upload;
    up->fetch_turn = (up->fetch_turn + 1) % FETCHED;
    lane->buffer = up->fetched[up->fetch_turn].memory;
    return wait_for(lane, &up->fetched[up->fetch_turn]);
}

wb_status wb__upload_open(wb__lane *lane)
{
    const wb__load *load = lane->load;
    struct wb__upload *up = wb__alloc_zeroed(&lane->context.allocator, sizeof *up);
    bool enough = up != NULL;
    lane->upload = up;
    for (unsigned i = 0; i < FETCHED && enough; i++)
        enough = make_stage(lane, &up->fetched[i], load->piece_bytes);
    for (unsigned i = 0; i < CONVERTED && enough && load->dtype != NULL; i++)
        enough = make_stage(lane, &up->converted[i], WB__CONVERT_BYTES);
    if (!enough)
        return wb__fail_memory(&lane->context);
    lane->convert = up->converted[0].memory;
    return WB_OK;
}

wb_status wb__upload_close(wb__lane *lane)
{
    struct wb__upload *up = lane->upload;
    wb_status status = WB_OK;
    if (up == NULL)
        return WB_OK;
    for (unsigned i = 0; i < FETCHED + CONVERTED; i++) {
        stage *s = i < FETCHED ? &up->fetched[i] : &up->converted[i - FETCHED];
        wb_status waited = wait_for(lane, s);
        status = status == WB_OK ? waited : status;
        free_stage(lane, s);
    }
    wb__free(&lane->context.allocator, up, sizeof *up);
    lane->upload = NULL;
    return status;
}
