/* Assigns pieces of the files to slots, and slots to workers. A slot is taken and freed under the
 * lock. In between it belongs to one worker. */
#define _GNU_SOURCE
#include "load/load.h"

#include <sys/mman.h>

#define FIRST_BYTES ((uint64_t)1 << 20)

static bool digests(const wb__load *load)
{
    return (load->options->flags & WB_LOAD_DIGEST) != 0;
}

bool wb__load_only_converts(const wb__load *load)
{
    return (load->options->flags & WB_LOAD_CONVERT) && !digests(load) &&
           load->options->device == NULL;
}

/* Returns true if only one file is digested. The load is then limited by the speed of this
 * digest, otherwise by the disk. */
static bool is_one_chain(const wb__load *load)
{
    return digests(load) && load->file_count == 1;
}

/* Chooses the file of the next piece. If digests are computed, pieces are taken from several files
 * in turn, so that these files are digested in parallel. The lock is held. */
static size_t next_file(wb__load *load)
{
    size_t side_by_side = digests(load) ? load->options->lanes * load->hand : 1;
    size_t best = load->file_count;
    while (load->first_file < load->file_count &&
           load->files[load->first_file].taken == load->files[load->first_file].end)
        load->first_file++;
    for (size_t i = load->first_file; i < load->file_count && side_by_side > 0; i++) {
        const wb__load_file *file = &load->files[i];
        if (file->taken == file->end)
            continue;
        side_by_side--;
        if (best == load->file_count ||
            file->taken - file->begin < load->files[best].taken - load->files[best].begin)
            best = i;
    }
    return best;
}

static uint64_t first_bytes(const wb__load *load)
{
    return digests(load) && FIRST_BYTES < load->piece_bytes ? FIRST_BYTES : load->piece_bytes;
}

/*
 * Returns the size of the next piece. With digests, which take longer than reading, the first
 * pieces are small, so that digesting begins early. Later pieces grow: a piece has at most half as
 * many bytes as all pieces before it, so that digests do not wait for it.
 */
static uint64_t next_bytes(const wb__load *load)
{
    uint64_t n = first_bytes(load);
    while (n < load->piece_bytes && 4 * n <= load->taken)
        n *= 2;
    return n < load->piece_bytes ? n : load->piece_bytes;
}

/* Assigns the next piece to a slot. Returns false if no piece is left or its file cannot be opened.
 * The lock is held. */
static bool take_piece(wb__load *load, wb__load_piece *piece)
{
    size_t number = next_file(load);
    if (number == load->file_count)
        return false;
    wb__load_file *file = &load->files[number];
    wb_status status = file->is_open ? WB_OK : wb__load_open_file(load, number);
    if (status != WB_OK) {
        wb__load_fail_at(load, load->context->error, number, file->taken);
        return false;
    }
    /* Pieces begin and end at multiples of the alignment, except the end of a file's last piece. */
    uint64_t left = file->end - file->taken;
    uint64_t n = next_bytes(load) - file->taken % WB__DIRECT_ALIGNMENT;
    const wb__catalog_file *in = &load->model->catalog.files[number];
    const wb__table *table = &load->model->catalog.table;
    while (file->next_tensor < file->order.count &&
           in->data_begin + wb__tensor_end(table, wb__order_at(&file->order, file->next_tensor)) <=
               file->taken)
        file->next_tensor++;
    *piece = (wb__load_piece){.is_taken = true,
                              .buffer = piece->buffer,
                              .number = number,
                              .file = file,
                              .begin = file->taken,
                              .end = file->taken + (left < n ? left : n),
                              .first_tensor = file->next_tensor};
    load->taken += piece->end - piece->begin;
    file->taken = piece->end;
    file->in_hand++;
    return true;
}

/* Submits a piece to the worker's ring (io_uring). Returns false if the worker has no ring or
 * the piece does not use direct I/O. The worker then reads the piece itself. */
static bool begin_reading(wb__lane *lane, wb__load_piece *piece)
{
    wb__load *load = lane->load;
    size_t n = (size_t)(piece->end - piece->begin);
    if (piece->io != WB_IO_DIRECT || piece->file->direct.fd < 0 ||
        wb__source_memory(piece->file->source) != NULL)
        return false;
    if (load->stages != NULL && !wb__stage_ready(lane, piece))
        return false; /* out of memory: the worker tries again when it reads the piece itself */
    if (!lane->ring_tried)
        lane->ring =
            wb__ring_open(&lane->context.allocator, (unsigned)load->slot_count, is_one_chain(load));
    lane->ring_tried = true;
    if (lane->ring == NULL ||
        !wb__ring_begin(lane->ring, &piece->file->direct, piece->begin,
                        wb__load_direct_to(piece, piece->buffer),
                        n + (0 - n) % WB__DIRECT_ALIGNMENT, (unsigned)(piece - load->slots)))
        return false;
    piece->is_reading = true;
    return true;
}

static wb__load_piece *find_free(const wb__load *load)
{
    for (size_t i = 0; i < load->slot_count; i++) {
        if (!load->slots[i].is_taken)
            return &load->slots[i];
    }
    return NULL;
}

/*
 * Returns the number of slots that a worker may use for read-ahead. If only one file is digested,
 * the first piece is read alone: some disks complete all concurrent reads at the same time, so the
 * digest would start only after all of them.
 */
static size_t share_of(const wb__load *load, const wb__lane *lane)
{
    if (is_one_chain(load) && load->taken <= first_bytes(load))
        return 1;
    size_t share = load->slot_count / (load->readers + !lane->is_reader);
    return share == 0 ? 1 : share;
}

/*
 * Takes pieces for a worker: as many as its ring may read ahead, or one piece if the worker has no
 * ring. Returns false if no pieces are left. If no slot is free, returns true without taking a
 * piece.
 */
static bool fill(wb__lane *lane)
{
    wb__load *load = lane->load;
    const wb_load_options *options = load->options;
    while (lane->queued == 0 || (load->ahead && lane->queued < share_of(load, lane))) {
        wb__load_piece *piece = find_free(load);
        if (piece == NULL)
            return true;
        if (load->failed || !take_piece(load, piece))
            return false;
        load->ahead = false;
        if (wb__load_needs_bytes(load, piece)) {
            size_t n = (size_t)(piece->end - piece->begin);
            piece->io = wb__load_choose(load, piece);
            if (options->place != NULL)
                piece->place = options->place(options->ctx, piece->number, piece->begin, n);
            load->ahead = begin_reading(lane, piece);
            load->readers += load->ahead && !lane->is_reader;
            lane->is_reader = lane->is_reader || load->ahead;
        }
        lane->queue[lane->queued++] = piece;
    }
    return true;
}

/* Removes the oldest piece from the list `passed` and returns it, or NULL if the list is empty. The
 * lock is held. */
static wb__load_piece *take_passed(wb__load *load)
{
    wb__load_piece *piece = load->passed;
    if (piece == NULL)
        return NULL;
    load->passed = piece->next;
    load->passed_count--;
    return piece;
}

bool wb__slots_pass_on(wb__lane *lane, wb__load_piece *piece)
{
    wb__load *load = lane->load;
    if (!lane->is_reader || !digests(load))
        return false;
    (void)pthread_mutex_lock(&load->lock);
    bool passes = load->sleepers > load->passed_count;
    if (passes) {
        wb__load_piece **last = &load->passed;
        while (*last != NULL)
            last = &(*last)->next;
        *last = piece;
        piece->next = NULL;
        piece->is_digested = true;
        load->passed_count++;
        (void)pthread_cond_signal(&load->more);
    }
    (void)pthread_mutex_unlock(&load->lock);
    return passes;
}

/* Makes the kernel allocate the pages of the slot buffers. Otherwise the kernel clears each page at
 * its first access, which takes as long as a read from a fast disk. An idle worker calls this while
 * another worker reads ahead; the contents of the pages do not change. The caller holds the lock,
 * which is released during the allocation. */
static void populate(wb__load *load)
{
    load->is_populated = true;
#ifdef MADV_POPULATE_WRITE
    size_t n = load->memory_bytes < load->total ? load->memory_bytes : (size_t)load->total;
    uintptr_t page = WB__DIRECT_ALIGNMENT;
    uint8_t *begin = load->slots[0].buffer;
    (void)pthread_mutex_unlock(&load->lock);
    if (n > page)
        (void)madvise(begin, (n - page) / page * page, MADV_POPULATE_WRITE);
    (void)pthread_mutex_lock(&load->lock);
#endif
}

/*
 * Takes new pieces for a worker that has none, or that has no ring. If `waits` is set and another
 * worker has passed on a piece (list load->passed), returns that piece instead. If `waits` is set,
 * the worker sleeps while no slot is free or the read-ahead of other workers is sufficient.
 */
static wb__load_piece *queue_up(wb__lane *lane, bool waits)
{
    wb__load *load = lane->load;
    wb__load_piece *passed = NULL;
    bool more = true;
    (void)pthread_mutex_lock(&load->lock);
    load->readers -= lane->is_reader && lane->queued == 0;
    lane->is_reader = lane->is_reader && lane->queued != 0;
    for (;;) {
        if (waits && lane->queued == 0 && (passed = take_passed(load)) != NULL)
            break;
        bool crowded = load->ahead && load->readers >= load->wanted;
        if (lane->queued != 0 || !crowded)
            more = fill(lane);
        if (lane->queued != 0 || !more || !waits)
            break;
        if (crowded && !load->is_populated) {
            populate(load);
            continue;
        }
        load->sleepers++;
        (void)pthread_cond_wait(&load->more, &load->lock);
        load->sleepers--;
    }
    if (load->sleepers != 0 && !more)
        (void)pthread_cond_broadcast(&load->more);
    else if (load->sleepers != 0 && !load->ahead)
        (void)pthread_cond_signal(&load->more);
    (void)pthread_mutex_unlock(&load->lock);
    return passed;
}

/*
 * Returns the number of readers (workers that read with a ring) above which more readers do not
 * help. A worker digests `hand` files at once. If digests are computed, the limit is therefore the
 * number of remaining files divided by `hand`; otherwise there is no limit. The lock is held.
 */
static size_t most_readers(const wb__load *load)
{
    size_t chains = load->file_count - load->first_file;
    return digests(load) ? (chains + load->hand - 1) / load->hand : SIZE_MAX;
}

/* Wakes another worker, which then also reads with a ring. Called if this worker has processed many
 * pieces in a row without waiting for its ring, that is, if the disk is faster than the worker. */
static void wake_another(wb__lane *lane)
{
    wb__load *load = lane->load;
    (void)pthread_mutex_lock(&load->lock);
    if (load->wanted < most_readers(load)) {
        load->wanted++;
        (void)pthread_cond_signal(&load->more);
    }
    (void)pthread_mutex_unlock(&load->lock);
    lane->behind = 0;
}

/* Submits more pieces to the ring of a worker that reads ahead, if slots are free. The lock is
 * held. */
static void begin_more(wb__lane *lane)
{
    wb__load *load = lane->load;
    if (!lane->is_reader || !load->ahead)
        return;
    (void)fill(lane);
    if (!load->ahead && load->sleepers != 0)
        (void)pthread_cond_signal(&load->more);
}

/*
 * Waits until the ring has read the piece. Without digests, first submits more pieces to the ring.
 * With digests, submits none: some disks complete all concurrent reads at the same time, so the
 * digest of this piece would have to wait for the other pieces.
 */
static void wait_for(wb__lane *lane, const wb__load_piece *piece)
{
    enum { MOST = 16, AT_ONCE = 10000 };
    wb__load *load = lane->load;
    wb__ring_done done[MOST];
    uint64_t start = wb__now();
    if (piece->is_reading && !digests(load)) {
        (void)pthread_mutex_lock(&load->lock);
        begin_more(lane);
        (void)pthread_mutex_unlock(&load->lock);
    }
    while (piece->is_reading) {
        size_t n = wb__ring_take(lane->ring, done, MOST);
        for (size_t i = 0; i < n; i++) {
            wb__load_piece *read = &load->slots[done[i].tag];
            /* If the read failed, is_read stays false, and the piece is read again, which reports
             * the error. */
            read->is_read =
                done[i].result >= 0 && (uint64_t)done[i].result >= read->end - read->begin;
            read->is_reading = false;
        }
    }
    uint64_t waited = wb__now() - start;
    lane->spent.read_ns += waited;
    lane->behind = waited > AT_ONCE ? 0 : lane->behind + 1;
    if (lane->behind > load->slot_count)
        wake_another(lane);
}

/*
 * Submits more pieces to the ring before the worker processes this one. Returns false if this piece
 * need not be processed. After a failure, only the pieces before the failed one are processed: one
 * of them may also fail, and the earliest error is reported.
 */
static bool read_on(wb__lane *lane, wb__load_piece *piece)
{
    wb__load *load = lane->load;
    (void)pthread_mutex_lock(&load->lock);
    bool wanted = !load->failed || piece->number < load->failed_file ||
                  (piece->number == load->failed_file && piece->begin < load->failed_at);
    if (!wanted) {
        piece->file->in_hand--;
        piece->is_taken = false;
    } else {
        begin_more(lane);
    }
    (void)pthread_mutex_unlock(&load->lock);
    return wanted;
}

wb__load_piece *wb__slots_take(wb__lane *lane, bool waits)
{
    for (;;) {
        wb__load_piece *passed = NULL;
        if (lane->queued == 0 || !lane->is_reader)
            passed = queue_up(lane, waits);
        if (passed != NULL)
            return passed;
        if (lane->queued == 0)
            return NULL;
        wb__load_piece *piece = lane->queue[0];
        if (lane->is_reader)
            wait_for(lane, piece);
        lane->queued--;
        memmove(lane->queue, lane->queue + 1, lane->queued * sizeof *lane->queue);
        if (read_on(lane, piece))
            return piece;
    }
}

void wb__slots_give_back(wb__load *load, wb__load_piece *piece)
{
    piece->is_taken = false;
    /* If enough workers read ahead already, sleeping workers do not need the slot. */
    if (load->sleepers != 0 && load->readers < load->wanted)
        (void)pthread_cond_broadcast(&load->more);
}

wb_status wb__slots_open(wb__load *load, size_t count)
{
    const wb_allocator *allocator = &load->context->allocator;
    load->slots = wb__alloc_zeroed(allocator, count * sizeof *load->slots);
    if (load->slots == NULL)
        return wb__fail_memory(load->context);
    load->slot_count = count;
    load->wanted = wb__load_only_converts(load) ? (load->options->lanes + 2) / 2 : 1;
    load->is_populated = load->options->device != NULL || load->options->place != NULL;
    if (load->options->device != NULL)
        return wb__stages_open(load);
    load->memory_bytes = count * load->piece_bytes + WB__DIRECT_ALIGNMENT;
    load->memory = wb__alloc(allocator, load->memory_bytes);
    if (load->memory == NULL)
        return wb__fail_memory(load->context);
    size_t past = (uintptr_t)load->memory % WB__DIRECT_ALIGNMENT;
    uint8_t *buffers = (uint8_t *)load->memory + (past == 0 ? 0 : WB__DIRECT_ALIGNMENT - past);
    for (size_t i = 0; i < count; i++)
        load->slots[i].buffer = buffers + i * load->piece_bytes;
    return WB_OK;
}

void wb__slots_close(wb__load *load)
{
    const wb_allocator *allocator = &load->context->allocator;
    wb__stages_close(load);
    wb__free(allocator, load->memory, load->memory_bytes);
    wb__free(allocator, load->slots, load->slot_count * sizeof *load->slots);
}
