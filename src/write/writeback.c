/*
 * Write-back: writes tensor bytes while the caller computes the next bytes.
 *
 * Large pieces of a large file on a local disk are written with direct I/O through io_uring. This
 * avoids the copy to the page cache. The copy takes as much processor time as many encoders do, and
 * does not make writing faster, because the disk limits the speed in both cases. A piece can begin
 * and end with a partial block, which it shares with its neighbours. Partial blocks are written
 * through the page cache. Without io_uring, all bytes are written through the page cache.
 */
#include "core/call_options.h"
#include "io/ring.h"
#include "write/write.h"
#include "write/write_messages.h"

/* Smaller files are written through the page cache, where the next reader finds them. */
#define FILE_LEAST ((uint64_t)64 << 20)
/* Smaller pieces are written without io_uring. */
#define PIECE_LEAST ((size_t)512 << 10)
#define SLOTS_MAX 64

_Static_assert(WB_WRITEBACK_ALIGNMENT == WB__DIRECT_ALIGNMENT,
               "the public alignment is that of direct I/O");

/* A slot holds at most one write, which the caller started and has not yet waited for. */
typedef struct flight {
    wb__write_position place;
    uint64_t bytes;      /* total number of bytes of the write; 0: the slot is free */
    uint64_t at;         /* file offset of the block-aligned part, which io_uring writes */
    const uint8_t *from; /* bytes of the block-aligned part */
    size_t n;            /* number of bytes of the block-aligned part */
    bool is_flying;      /* io_uring has not completed the write */
    int64_t result;      /* result of io_uring: number of bytes written, or a negative errno */
} flight;

struct wb_writeback {
    wb_writer *writer;
    wb__ring *ring; /* NULL: io_uring is not available or no file may use direct I/O */
    uint32_t slots; /* number of elements of `flights` */
    flight flights[];
};

/* Returns true if a file may be written with direct I/O. Blobs of an Ollama store and files with
 * checksums may not, because the writer reads them back afterwards, from the page cache. */
static bool may_pass(const wb_writer *writer, const wb__output *output)
{
    return writer->has_paths && !writer->is_store && (writer->flags & WB_WRITE_BIG_ENDIAN) == 0 &&
           !output->layout.has_checksums && output->layout.bytes >= FILE_LEAST;
}

wb_status wb__writeback_open(wb__context *context, wb_writer *writer, uint32_t slots,
                             wb_writeback **out)
{
    bool any = false;
    *out = NULL;
    if (slots == 0 || slots > SLOTS_MAX)
        return wb__fail_argument(context, WB__MSG_WRITE_WRITEBACK_SLOTS);
    wb_writeback *behind =
        wb__alloc_zeroed(&writer->allocator, sizeof *behind + slots * sizeof *behind->flights);
    *out = behind;
    if (behind == NULL)
        return wb__fail_memory(context);
    behind->writer = writer;
    behind->slots = slots;
    for (size_t i = 0; i < writer->output_count && !any; i++)
        any = may_pass(writer, &writer->outputs[i]);
    if (any)
        behind->ring = wb__ring_open(&writer->allocator, slots, false);
    return WB_OK;
}

/* ---- one write ---- */

static wb__direct direct_of(wb_writer *writer, wb__output *output)
{
    (void)pthread_mutex_lock(&writer->lock);
    wb__direct direct = wb__sink_direct(output->sink, output->layout.bytes);
    (void)pthread_mutex_unlock(&writer->lock);
    return direct;
}

/* Starts to write the block-aligned part with io_uring. Returns false if direct I/O cannot be used.
 * Precondition: this part is not empty. */
static bool take_off(wb_writeback *behind, flight *f, const uint8_t *bytes)
{
    const wb__write_position *place = &f->place;
    uint64_t head = (0 - place->at) % WB__DIRECT_ALIGNMENT;
    f->at = place->at + head;
    f->from = bytes + head;
    f->n = (size_t)(f->bytes - head) / WB__DIRECT_ALIGNMENT * WB__DIRECT_ALIGNMENT;
    if (!may_pass(behind->writer, place->output) ||
        (uintptr_t)f->from % WB__DIRECT_ALIGNMENT != 0 || !wb__sink_is_file(place->output->sink))
        return false;
    wb__direct direct = direct_of(behind->writer, place->output);
    f->is_flying = direct.fd >= 0 && wb__ring_begin_write(behind->ring, &direct, f->at, f->from,
                                                          f->n, (unsigned)(f - behind->flights));
    return f->is_flying;
}

static wb_status write_edges(wb__context *context, wb_writeback *behind, const flight *f,
                             const uint8_t *bytes)
{
    const wb__write_position *place = &f->place;
    size_t head = (size_t)(f->at - place->at), behind_it = head + f->n;
    wb_status status = wb__put_bytes(context, behind->writer, place, place->at, bytes, head);
    return status == WB_OK ? wb__put_bytes(context, behind->writer, place, place->at + behind_it,
                                           bytes + behind_it, (size_t)f->bytes - behind_it)
                           : status;
}

/* Stores the results of n writes that io_uring has completed. */
static void land(wb_writeback *behind, const wb__ring_done *done, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        behind->flights[done[i].tag].result = done[i].result;
        behind->flights[done[i].tag].is_flying = false;
    }
}

/*
 * Waits for the write of a slot. If io_uring failed to write the block-aligned part, writes this
 * part again without io_uring, which also reports the error if the write is impossible.
 */
static wb_status end(wb__context *context, wb_writeback *behind, flight *f, wb_status status)
{
    uint64_t bytes = f->bytes;
    wb__ring_done done[SLOTS_MAX];
    while (f->is_flying)
        land(behind, done, wb__ring_take(behind->ring, done, SLOTS_MAX));
    if (status == WB_OK && f->result != (int64_t)f->n)
        status = wb__put_bytes(context, behind->writer, &f->place, f->at, f->from, f->n);
    f->bytes = 0;
    return wb__put_end(context, behind->writer, &f->place, bytes, status);
}

/* ---- slots ---- */

wb__context wb__writeback_context(const wb_writeback *behind, wb_error *error)
{
    return wb__writer_context(behind->writer, error);
}

wb_status wb__writeback_wait(wb__context *context, wb_writeback *behind, uint32_t slot)
{
    if (slot >= behind->slots)
        return wb__fail_argument(context, WB__MSG_WRITE_WRITEBACK_SLOT);
    flight *f = &behind->flights[slot];
    return f->bytes == 0 ? WB_OK : end(context, behind, f, WB_OK);
}

bool wb__writeback_is_busy(wb_writeback *behind, uint32_t slot)
{
    wb__ring_done done[SLOTS_MAX];
    if (slot >= behind->slots || !behind->flights[slot].is_flying)
        return false;
    land(behind, done, wb__ring_look(behind->ring, done, SLOTS_MAX));
    return behind->flights[slot].is_flying;
}

wb_status wb__writeback_put(wb__context *context, wb_writeback *behind, uint32_t slot,
                            const wb__put *put)
{
    /* wb__writeback_wait also checks the slot number. */
    wb_status status = wb__writeback_wait(context, behind, slot);
    if (status != WB_OK)
        return status;
    flight *f = &behind->flights[slot];
    if (behind->ring == NULL || put->n < PIECE_LEAST)
        return wb__writer_put(context, behind->writer, put->index, put->offset, put->bytes, put->n);
    status = wb__put_begin(context, behind->writer, put->index, put->offset, put->n, &f->place);
    if (status != WB_OK)
        return status;
    f->bytes = put->n;
    if (!take_off(behind, f, put->bytes)) {
        f->bytes = 0;
        status = wb__put_bytes(context, behind->writer, &f->place, f->place.at, put->bytes, put->n);
        return wb__put_end(context, behind->writer, &f->place, put->n, status);
    }
    status = write_edges(context, behind, f, put->bytes);
    return status == WB_OK ? WB_OK : end(context, behind, f, status);
}

void wb__writeback_free(wb_writeback *behind)
{
    if (behind == NULL)
        return;
    wb_error error;
    wb_allocator allocator = behind->writer->allocator;
    wb__context context = wb__writeback_context(behind, wb__error_reset(&error, &error));
    /* The error is ignored here, because the writer stores the first error. */
    for (uint32_t slot = 0; slot < behind->slots; slot++)
        (void)wb__writeback_wait(&context, behind, slot);
    wb__ring_close(behind->ring);
    wb__free(&allocator, behind, sizeof *behind + behind->slots * sizeof *behind->flights);
}
