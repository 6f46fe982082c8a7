#define _POSIX_C_SOURCE 200809L
#include "upload.h"

#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "load.h"
#include "messages.h"
#include "report.h"

enum {
    CHUNK_ELEMENTS = 1 << 18,          /* elements per comparison chunk; a multiple of every block
                                        * size */
    CHUNK_BYTES = 16 * CHUNK_ELEMENTS, /* the widest element has 16 bytes (complex of two F64) */
    RATE_CHUNK = 2 << 20,              /* chunk size in bytes, the same as in wb_load */
    RATE_CHUNKS = 16,                  /* chunks per round */
    RATE_BUFFERS = 4,
    RATE_ROUNDS = 4 /* number of rounds; the first includes one-time initialization */
};

int device_open(const char *word, wb_device *device)
{
    wb_error error;
    wb_status status = strcmp(word, "cuda") == 0 ? wb_device_cuda(NULL, device, &error)
                                                 : wb_device_opencl(NULL, device, &error);
    if (status == WB_OK)
        return EXIT_CLEAN;
    report_error(word, &error);
    return status == WB_ERROR_NOT_FOUND ? EXIT_UNSUPPORTED : exit_code_of(status);
}

/* ---- buffers ---- */

static struct place *place_of(upload_plan *to, uint64_t number)
{
    if (number >= to->count) {
        uint64_t count = number + number / 2 + 16;
        to->places = need_memory(to->places, (size_t)count, sizeof *to->places);
        memset(to->places + to->count, 0, (size_t)(count - to->count) * sizeof *to->places);
        to->count = count;
    }
    return &to->places[number];
}

/* Returns the dtype of a tensor after loading, or -1 for the stored dtype. wb_load converts only
 * float types with whole bytes and without blocks.
 */
static int32_t becomes(const wb_model *model, uint64_t number, int32_t dtype)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    if (wb_tensor_at(model, number, &tensor, NULL) != WB_OK ||
        wb_dtype_describe((int32_t)tensor.dtype, &info) != WB_OK)
        return -1;
    return info.is_float && info.block_size == 1 && info.block_bits % 8 == 0 ? dtype : -1;
}

static bool borrow_place(const upload_plan *to, uint64_t number, struct place *place)
{
    const void *bytes;
    const wb_device *device = to->device;
    if (device->borrow == NULL || wb_tensor_data(to->model, number, &bytes, NULL) != WB_OK ||
        device->borrow(device->ctx, bytes, place->bytes, &place->handle) != WB_OK)
        place->handle = NULL;
    place->is_borrowed = place->handle != NULL;
    return place->handle != NULL;
}

static wb_status make_place(upload_plan *to, uint64_t number, int32_t dtype, int borrow,
                            wb_error *error)
{
    struct place *place = place_of(to, number);
    uint64_t elements;
    place->dtype = becomes(to->model, number, dtype);
    wb_status status =
        wb_tensor_read_size(to->model, number, NULL, place->dtype, &elements, &place->bytes, error);
    if (status != WB_OK || place->bytes == 0)
        return status;
    if (borrow && place->dtype < 0 && borrow_place(to, number, place)) {
        to->borrowed += place->bytes;
        to->buffers++;
        return WB_OK;
    }
    status = to->device->alloc(to->device->ctx, place->bytes, &place->handle);
    if (status != WB_OK) {
        place->handle = NULL;
        *error = (wb_error){.status = status, .offset = WB_NO_OFFSET, .code = "device"};
        text t = {0};
        text_addf(&t,
                  "cannot allocate %llu bytes on the device for a tensor; %llu bytes in %llu other "
                  "buffers are in use",
                  (unsigned long long)place->bytes, (unsigned long long)to->bytes,
                  (unsigned long long)to->buffers);
        (void)memcpy(error->message, t.ptr,
                     t.len < sizeof error->message ? t.len : sizeof error->message - 1);
        text_free(&t);
        return status;
    }
    to->bytes += place->bytes;
    to->buffers++;
    return WB_OK;
}

static wb_status make_places(upload_plan *to, int32_t dtype, int borrow, wb_error *error)
{
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < wb_tensor_count(to->model) && status == WB_OK; i++) {
        wb_encoding encoding = WB_ENCODING_INIT;
        status = wb_tensor_encoding(to->model, i, &encoding, error);
        for (uint32_t p = 0; p < encoding.parts && status == WB_OK; p++) {
            wb_part part = {.size = sizeof part, .index = i};
            if (encoding.parts > 1)
                status = wb_tensor_part(to->model, i, p, &part, error);
            if (status == WB_OK)
                status = make_place(to, part.index, dtype, borrow, error);
        }
    }
    return status;
}

wb_status uploads_make(upload_plan *to, const wb_device *device, const wb_model *model,
                       int32_t dtype, int borrow, wb_error *error)
{
    *to = (upload_plan){.device = device, .model = model};
    uint64_t start = clock_ns();
    wb_status status = make_places(to, dtype, borrow, error);
    to->ns = clock_ns() - start;
    return status;
}

void uploads_free(upload_plan *to)
{
    for (uint64_t i = 0; i < to->count; i++) {
        const struct place *place = &to->places[i];
        if (place->handle == NULL)
            continue;
        if (!place->is_borrowed)
            to->device->free(to->device->ctx, place->handle, place->bytes);
        else if (to->device->unborrow != NULL)
            to->device->unborrow(to->device->ctx, place->handle);
    }
    free(to->places);
    *to = (upload_plan){.device = NULL};
}

void *uploads_target(const upload_plan *to, const wb_piece *piece, uint64_t *offset)
{
    *offset = piece->at;
    if (piece->tensor >= to->count || to->places[piece->tensor].is_borrowed)
        return NULL;
    return to->places[piece->tensor].handle;
}

/* ---- comparison ---- */

typedef struct comparison {
    const upload_plan *all;
    unsigned char *file, *there; /* CHUNK_BYTES bytes each */
    uint64_t compared;
} comparison;

/* Reads elements of a tensor from element `first` on, from the files. Stores the number of bytes in
 * *n.
 */
static wb_status read_chunk(const comparison *c, uint64_t number, uint64_t first, uint64_t *n,
                            wb_error *error)
{
    const int32_t dtype = c->all->places[number].dtype;
    wb_slice slice = {.size = sizeof slice, .first = first, .count = UINT64_MAX};
    uint64_t left;
    wb_status status = wb_tensor_read_size(c->all->model, number, &slice, dtype, &left, n, error);
    slice.count = left < CHUNK_ELEMENTS ? left : CHUNK_ELEMENTS;
    if (status == WB_OK)
        status = wb_tensor_read_size(c->all->model, number, &slice, dtype, &left, n, error);
    return status != WB_OK
               ? status
               : wb_tensor_read(c->all->model, number, &slice, dtype, c->file, *n, error);
}

static int compare_place(comparison *c, const char *label, uint64_t number)
{
    const struct place *place = &c->all->places[number];
    const wb_device *device = c->all->device;
    wb_error error;
    uint64_t at = 0, n;
    for (uint64_t first = 0; at < place->bytes; first += CHUNK_ELEMENTS, at += n) {
        wb_status status = read_chunk(c, number, first, &n, &error);
        if (status != WB_OK) {
            report_error(label, &error);
            return exit_code_of(status);
        }
        if (device->download(device->ctx, place->handle, at, c->there, n) != WB_OK ||
            memcmp(c->file, c->there, (size_t)n) != 0) {
            report_line(MSG_UPLOAD_DIFFERS, (unsigned long long)number, (unsigned long long)at);
            return EXIT_IO;
        }
    }
    c->compared += at;
    return EXIT_CLEAN;
}

int uploads_compare(const upload_plan *to, const char *label, uint64_t *compared)
{
    comparison c = {.all = to,
                    .file = need_memory(NULL, CHUNK_BYTES, 1),
                    .there = need_memory(NULL, CHUNK_BYTES, 1)};
    int code = EXIT_CLEAN;
    for (uint64_t i = 0; i < to->count && code == EXIT_CLEAN; i++) {
        if (to->places[i].handle != NULL)
            code = compare_place(&c, label, i);
    }
    *compared = c.compared;
    free(c.file);
    free(c.there);
    return code;
}

/* ---- upload rate ---- */

typedef struct rate_test {
    const wb_device *device;
    void *handle;
    unsigned char
        *mapped; /* host address of the device buffer, if the device memory can be mapped */
    void *buffers[RATE_BUFFERS];
    void *events[RATE_BUFFERS];
    bool is_staged[RATE_BUFFERS];
} rate_test;

static bool await(rate_test *t, int i)
{
    void *event = t->events[i];
    t->events[i] = NULL;
    return event == NULL || t->device->wait(t->device->ctx, event) == WB_OK;
}

/* Copies all chunks once. */
static bool copy_round(rate_test *t)
{
    bool good = true;
    for (int i = 0; i < RATE_CHUNKS && good; i++) {
        int turn = i % RATE_BUFFERS;
        uint64_t at = (uint64_t)i * RATE_CHUNK;
        good = await(t, turn);
        if (good && t->mapped != NULL)
            memcpy(t->mapped + at, t->buffers[turn], RATE_CHUNK);
        else if (good)
            good = t->device->upload(t->device->ctx, t->handle, at, t->buffers[turn], RATE_CHUNK,
                                     &t->events[turn]) == WB_OK;
    }
    for (int i = 0; i < RATE_BUFFERS;
         i++) /* also after a failure: wait once for each pending copy */
        good = await(t, i) && good;
    return good;
}

double measure_upload(const wb_device *device)
{
    const uint64_t bytes = (uint64_t)RATE_CHUNKS * RATE_CHUNK;
    rate_test t = {.device = device};
    uint64_t best = UINT64_MAX;
    bool good = device->alloc(device->ctx, bytes, &t.handle) == WB_OK;
    if (good && device->map != NULL)
        t.mapped = device->map(device->ctx, t.handle);
    for (int i = 0; i < RATE_BUFFERS; i++) {
        if (device->stage != NULL)
            t.buffers[i] = device->stage(device->ctx, RATE_CHUNK);
        t.is_staged[i] = t.buffers[i] != NULL;
        if (!t.is_staged[i])
            t.buffers[i] = need_memory(NULL, RATE_CHUNK, 1);
        memset(t.buffers[i], i, RATE_CHUNK);
    }
    for (int round = 0; round < RATE_ROUNDS && good; round++) {
        uint64_t start = clock_ns();
        good = copy_round(&t);
        uint64_t took = clock_ns() - start;
        best = took < best ? took : best;
    }
    for (int i = 0; i < RATE_BUFFERS; i++) {
        if (t.is_staged[i])
            device->unstage(device->ctx, t.buffers[i], RATE_CHUNK);
        else
            free(t.buffers[i]);
    }
    if (t.handle != NULL)
        device->free(device->ctx, t.handle, bytes);
    return !good || best == 0 ? 0 : (double)bytes * 1e9 / (double)best;
}
