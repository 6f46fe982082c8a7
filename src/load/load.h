/*
 * load: reads all bytes of a model once.
 *
 * The model's files are divided into pieces at multiples of an alignment. A piece is "taken" when
 * it is assigned, in file order, to one of a fixed number of slots. Each slot has one buffer, so
 * the memory in use is bounded.
 *
 * The executor runs several workers at once (wb__lane). Each worker takes the next piece, fetches
 * its bytes and completes all work on it before it takes another. So one worker computes while
 * another waits for the disk.
 *
 * For direct I/O each worker has an io_uring of its own, if available, the "ring" (io/ring.h). The
 * ring reads ahead while slots are free. One worker may then be enough; the others sleep until that
 * worker is slower than the disk.
 *
 * The pieces of a file must be digested in order, so a worker waits until the previous piece is
 * digested. There is no deadlock: a worker processes its pieces in the order in which they were
 * taken, so the earliest unfinished piece is always in progress. This also holds for a serial
 * executor, which runs one worker to the end.
 */
#ifndef WB_LOAD_LOAD_H
#define WB_LOAD_LOAD_H

#include <pthread.h>

#include "core/clock.h"
#include "crypto/sha256.h"
#include "handle/handle.h"
#include "io/ring.h"
#include "model/file_order.h"
#include "weighbridge/load.h"

#define WB__LANES_MAX 64u
#define WB__LOAD_HAND ((size_t)2)
#define WB__SLOTS_MAX (WB__LANES_MAX * WB__LOAD_HAND)

/* A file that is being loaded. wb__load.lock protects it, except for fields that workers only
 * read. */
typedef struct wb__load_file {
    wb__source *source;
    wb__medium medium;
    wb__direct direct;
    wb__order order; /* the file's tensors, sorted by offset */
    wb__sha256_lane sha256;
    uint8_t digest[WB__SHA256_BYTES]; /* SHA-256 of the file, valid once digested == end */
    uint64_t begin, end;              /* byte range of the file to load */
    uint64_t taken;                   /* end offset of the pieces assigned to slots so far */
    uint64_t digested;                /* end offset of the bytes added to sha256 so far */
    size_t next_tensor;               /* index in `order`; all earlier tensors end before `taken` */
    unsigned in_hand;                 /* number of pieces that are taken and not finished */
    bool is_open;
} wb__load_file;

/* A slot and the piece assigned to it. wb__load.lock protects `is_taken`. If `is_taken` is set, all
 * other fields belong to the worker that took the piece. */
typedef struct wb__load_piece {
    bool is_taken;
    bool is_reading; /* the worker's ring (io_uring) is reading the piece */
    uint8_t *buffer; /* the slot's buffer, aligned for direct I/O; with a device, NULL until first
                    * used */
    size_t number;   /* index of the file */
    wb__load_file *file;
    uint64_t begin, end; /* byte range in the file */
    size_t first_tensor; /* index in file->order of the first tensor that may overlap the
                          * piece */
    wb_io io;            /* the method used to fetch the piece */
    uint8_t *place;      /* destination buffer given by the caller, or NULL */
    bool is_read; /* the ring has read the piece, into `place` if it is aligned, otherwise into
                     `buffer` */
    const uint8_t *data;         /* the bytes of the piece after it was fetched */
    bool lasting;                /* `data` is valid after the load too */
    bool is_digested;            /* digested, but not yet handed over to the caller */
    struct wb__load_piece *next; /* next piece in the list wb__load.passed */
} wb__load_piece;

typedef struct wb__load {
    const wb_model *model;
    wb__context *context; /* receives the error that the load returns */
    const wb_load_options *options;
    wb_load_report *report;
    const wb__dtype *dtype; /* target type of the conversion, or NULL for no conversion */
    size_t piece_bytes;     /* maximum size of a piece, in bytes */
    size_t hand;            /* maximum number of pieces that a worker processes together */
    pthread_mutex_t lock;
    pthread_cond_t turn; /* signalled when a digest advances or an error occurs */
    pthread_cond_t more; /* idle workers wait for it; signalled when there is work for another
                          * worker, or when no pieces are left */
    wb__load_piece *slots;
    size_t slot_count;
    void *memory; /* memory of all slot buffers */
    size_t memory_bytes;
    struct wb__stage *stages; /* with a device: one stage per slot, used instead of `memory` */
    bool ahead;               /* the piece that was taken last was submitted to a ring */
    size_t readers;           /* number of workers that read with a ring */
    size_t wanted;            /* number of readers needed to process pieces as fast as the disk
                               * delivers them */
    size_t sleepers;          /* number of workers that wait for `more` */
    wb__load_piece *passed;   /* list of digested pieces that sleeping workers shall hand over to
                               * the caller, oldest first */
    size_t passed_count;
    uint64_t taken;    /* number of bytes in the pieces taken so far */
    bool is_populated; /* the memory pages of the buffers are allocated, or need not be allocated in
                          advance */
    struct wb__digest_job *jobs; /* list of pieces waiting to be digested */
    wb__load_file *files;
    size_t file_count;
    size_t first_file; /* all files before this one have been taken completely */
    uint64_t total;    /* number of bytes to load */
    uint64_t done;     /* number of bytes in the pieces finished so far */
    bool failed;
    size_t failed_file; /* index of the file with the piece whose error is reported */
    uint64_t failed_at; /* offset of that piece */
} wb__load;

/* State of one worker thread: its error, buffers and counters. */
typedef struct wb__lane {
    wb__load *load;
    wb_error error;
    wb__context context;
    wb__load_piece
        *queue[WB__SLOTS_MAX]; /* pieces of this worker, in the order in which it took them */
    size_t queued;
    wb__ring *ring; /* NULL: not created yet, or not available */
    bool ring_tried;
    bool is_reader; /* the ring may be reading pieces of `queue` */
    size_t behind;  /* number of consecutive pieces for which the worker did not have to wait for
                     * the ring */
    void *memory;
    size_t memory_bytes;
    const wb__load_piece *at;  /* the piece being processed */
    uint8_t *buffer;           /* the buffer of the slot of `at` */
    uint8_t *convert;          /* buffer of WB__CONVERT_BYTES bytes for converted elements; with a
                                * device, `upload` has several such buffers, used in turn, and this
                                * is the current one */
    struct wb__upload *upload; /* upload state; NULL without a device */
    wb_load_report spent;
} wb__lane;

#define WB__CONVERT_BYTES ((size_t)128 << 10)

/* ---- load.c ---- */

wb_status wb__load_model(const wb_model *model, wb__context *context,
                         const wb_load_options *options, wb_load_report *report);

/* Prepares a file before its first piece is taken. Uses the context of the load, because the
 * file may outlive the worker. The caller holds the lock. */
wb_status wb__load_open_file(wb__load *load, size_t number);

/* Records the error of the piece at offset `begin` of file `number`. If several pieces fail, the
 * error of the earliest piece is reported. The caller holds the lock. */
void wb__load_fail_at(wb__load *load, const wb_error *error, size_t number, uint64_t begin);

/* ---- load_slots.c ---- */

/* Returns true if pieces are converted, but neither digested nor uploaded. A worker then spends
 * part of its time waiting for the disk. */
bool wb__load_only_converts(const wb__load *load);

wb_status wb__slots_open(wb__load *load, size_t count);
void wb__slots_close(wb__load *load);

/* Returns the next piece for a worker. Returns NULL if no pieces are left. If `waits` is false,
 * also returns NULL if no piece can be taken without waiting. */
wb__load_piece *wb__slots_take(wb__lane *lane, bool waits);

/* Passes a digested piece to an idle worker, which hands it over to the caller. Returns false if
 * no worker is idle. */
bool wb__slots_pass_on(wb__lane *lane, wb__load_piece *piece);

/* Frees the slot of a piece. The caller holds the lock. */
void wb__slots_give_back(wb__load *load, wb__load_piece *piece);

/* ---- load_fetch.c ---- */

/* Chooses the method to fetch a piece: options->io or, if that is WB_IO_AUTO, the fastest. */
wb_io wb__load_choose(const wb__load *load, const wb__load_piece *piece);

/* Returns the destination of direct I/O for a piece: its `place` if that is aligned, otherwise
 * `buffer`. */
uint8_t *wb__load_direct_to(const wb__load_piece *piece, uint8_t *buffer);

/* Fetches the bytes of a piece, unless the ring has already read them. */
wb_status wb__load_fetch(wb__lane *lane, wb__load_piece *piece);

/* ---- load_digest.c ---- */

/* Adds up to WB__LOAD_HAND pieces to the digests of their files. Waits until all earlier pieces of
 * these files are added. */
void wb__load_digest(wb__lane *lane, wb__load_piece *const *pieces, size_t n);

/* ---- load_upload.c: used with wb_load_options.device ---- */

/* Open and close one stage (load_stages.h) per slot. The buffer of a stage is allocated when its
 * slot is first used. Close after all workers have ended. */
wb_status wb__stages_open(wb__load *load);
void wb__stages_close(wb__load *load);

/* Ensures that the slot of a piece has a buffer. Precondition: the slot belongs to this worker.
 * Returns false if out of memory. */
bool wb__stage_ready(wb__lane *lane, wb__load_piece *piece);

/* Creates the worker's upload state. The caller must call wb__upload_close, also after a
 * failure. */
wb_status wb__upload_open(wb__lane *lane);

/* Waits until the device has copied everything from the buffer of the current slot (wb__lane.at),
 * so that the buffer can be reused. */
wb_status wb__upload_wait(wb__lane *lane);

/* Submits a piece to the device. Its data may be in the buffer of the current slot (wb__lane.at),
 * which the device may then still read after this call. */
wb_status wb__upload_piece(wb__lane *lane, const wb_piece *piece);

/* Waits until the device has copied the previous piece, and frees the slot of that piece. The slot
 * of `piece` stays in use while the device may still read it. */
void wb__upload_finish(wb__lane *lane, wb__load_piece *piece);

/* Waits until the device has copied all pieces, and frees the remaining slots. */
void wb__upload_close(wb__lane *lane);

/* ---- load_tensors.c ---- */

/* Returns false if the bytes of a piece are not needed, because all its tensors are read separately
 * (wb__load_is_apart). */
bool wb__load_needs_bytes(const wb__load *load, const wb__load_piece *piece);

/* Converts the part of each tensor that is in the piece and hands the result to the caller. */
wb_status wb__load_hand_over(wb__lane *lane, const wb__load_piece *piece);

#endif
