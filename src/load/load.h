/*
 * load: going through the bytes of a model once.
 *
 * Files are cut into pieces at multiples of an alignment, and taken in order into slots, each of which has
 * a buffer: so what is in hand is bounded. Lanes, as many as the executor runs at once, each take the next
 * piece, fetch it, and do with it all that is to be done, before they go on to another: so while one waits
 * for the disk another computes. What is to be read past the page cache a lane has a ring of its own
 * (io/ring.h) read ahead, where there is one, as long as there are slots; then one lane may be enough,
 * and the others sleep until it falls behind the disk.
 *
 * Digests need the pieces of a file in order: a lane waits for the one that has the piece before. A lane
 * works on its pieces in the order in which they were taken, so of all that are in hand the first is
 * worked on, and nobody waits for ever; nor does a serial executor, which runs one lane to the end.
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

/* A file that is being gone through. Under the lock, but for what lanes read of it meanwhile. */
typedef struct wb__load_file {
    wb__source *source;
    wb__medium medium;
    wb__direct direct;
    wb__order order; /* of its tensors */
    wb__sha256_lane sha256;
    uint8_t digest[WB__SHA256_BYTES]; /* once digested == end */
    uint64_t begin, end;              /* the bytes to go through */
    uint64_t taken;                   /* up to here pieces have been taken into slots */
    uint64_t digested;                /* up to here they are in sha256 */
    size_t next_tensor;               /* in the order: those before end before `taken` */
    unsigned in_hand;                 /* pieces */
    bool is_open;
} wb__load_file;

/* A slot, and the piece in it. */
typedef struct wb__load_piece {
    bool is_taken;   /* under the lock; all else is the lane's that has taken it */
    bool is_reading; /* the lane's ring is */
    uint8_t
        *buffer;   /* the slot's, aligned for direct reading; with a device NULL until it is used */
    size_t number; /* of the file */
    wb__load_file *file;
    uint64_t begin, end;
    size_t first_tensor; /* in the order of the file, that may have bytes in it */
    wb_io io;            /* how it is fetched */
    uint8_t *place;      /* the caller's, or NULL */
    bool is_read;        /* by the ring: into place, if that is aligned, else into the buffer */
    const uint8_t *data;
    bool lasting;
    bool is_digested;            /* what is left to do is to hand it over */
    struct wb__load_piece *next; /* in wb__load.passed */
} wb__load_piece;

typedef struct wb__load {
    const wb_model *model;
    wb__context *context; /* for the error of all, once */
    const wb_load_options *options;
    wb_load_report *report;
    const wb__dtype *dtype; /* to convert to, NULL: nothing */
    size_t piece_bytes;     /* the most a piece has */
    size_t hand;            /* how many pieces a lane takes at once */
    pthread_mutex_t lock;
    pthread_cond_t turn; /* a digest went on, or something failed */
    pthread_cond_t more; /* there is more that is ready than one lane can do, or no more at all */
    wb__load_piece *slots;
    size_t slot_count;
    void *memory; /* of their buffers */
    size_t memory_bytes;
    struct wb__stage *stages; /* instead, with a device: of each slot */
    bool ahead;               /* the piece that was taken last is read by a ring */
    size_t readers;           /* lanes whose rings read */
    size_t wanted;            /* that many are enough */
    size_t sleepers;          /* lanes that wait for `more` */
    wb__load_piece *passed;   /* digested, for a sleeper to hand over; the first is the oldest */
    size_t passed_count;
    uint64_t taken;              /* bytes, in pieces */
    bool is_populated;           /* the memory of the buffers, or need not be */
    struct wb__digest_job *jobs; /* pieces that are to be digested */
    wb__load_file *files;
    size_t file_count;
    size_t first_file; /* those before have been taken whole */
    uint64_t total;    /* bytes */
    uint64_t done;
    bool failed;
    size_t failed_file; /* where the piece lies whose failure is told */
    uint64_t failed_at;
} wb__load;

/* A thread's own: its error, its buffers, what it has counted. */
typedef struct wb__lane {
    wb__load *load;
    wb_error error;
    wb__context context;
    wb__load_piece *queue[WB__SLOTS_MAX]; /* taken, in this order */
    size_t queued;
    wb__ring *ring; /* NULL: none yet, or none to be had */
    bool ring_tried;
    bool is_reader; /* the ring may have some of the queue */
    size_t behind;  /* how many pieces in a row were there already */
    void *memory;
    size_t memory_bytes;
    const wb__load_piece *at;  /* the piece that is worked on */
    uint8_t *buffer;           /* its slot's */
    uint8_t *convert;          /* WB__CONVERT_BYTES */
    struct wb__upload *upload; /* with a device; then `convert` is its own, by turns */
    wb_load_report spent;
} wb__lane;

#define WB__CONVERT_BYTES ((size_t)128 << 10)

/* ---- load.c ---- */

wb_status wb__load_model(const wb_model *model, wb__context *context,
                         const wb_load_options *options, wb_load_report *report);

/*
 * What a file needs before its first piece is taken, in the context of the whole: it may outlive the
 * lane. With the lock.
 */
wb_status wb__load_open_file(wb__load *load, size_t number);

/* Of several failures that of the earliest piece is told. With the lock. */
void wb__load_fail_at(wb__load *load, const wb_error *error, size_t number, uint64_t begin);

/* ---- slots.c ---- */

/* Whether pieces are converted, and neither digested nor uploaded: what takes part of a lane's time, and not all. */
bool wb__load_only_converts(const wb__load *load);

wb_status wb__slots_open(wb__load *load, size_t count);
void wb__slots_close(wb__load *load);

/*
 * The next piece for a lane; NULL if there are no more or, where it does not wait, none that is ready.
 */
wb__load_piece *wb__slots_take(wb__lane *lane, bool waits);

/*
 * Leaves it to a lane that has nothing to do to hand over a piece that has been digested; false if there is
 * none.
 */
bool wb__slots_pass_on(wb__lane *lane, wb__load_piece *piece);

/* Sets a piece's slot free. With the lock. */
void wb__slots_give_back(wb__load *load, wb__load_piece *piece);

/* ---- fetch.c ---- */

/* Finds out how a piece is best fetched. */
wb_io wb__load_choose(const wb__load *load, const wb__load_piece *piece);

/* Where reading it past the page cache goes. */
uint8_t *wb__load_direct_to(const wb__load_piece *piece, uint8_t *buffer);

/* Gets the bytes of a piece, unless the ring has read them. */
wb_status wb__load_fetch(wb__lane *lane, wb__load_piece *piece);

/* ---- digest.c ---- */

/* Adds pieces, up to WB__LOAD_HAND, to the digests of their files, when all before them are in. */
void wb__load_digest(wb__lane *lane, wb__load_piece *const *pieces, size_t n);

/* ---- upload.c: with wb_load_options.device ---- */

/* A buffer for each slot, which is made when the slot is first used; all are freed by close, when no lane is left. */
wb_status wb__stages_open(wb__load *load);
void wb__stages_close(wb__load *load);

/* Sees to it that a piece's slot has a buffer; false if there is no memory. The slot is the lane's. */
bool wb__stage_ready(wb__lane *lane, wb__load_piece *piece);

/* Makes what the lane needs besides. Close also after a failure. */
wb_status wb__upload_open(wb__lane *lane);

/* Waits until the device has what was in the buffer of the lane's slot, so that it can be used anew. */
wb_status wb__upload_wait(wb__lane *lane);

/* Has the device take a piece, which may lie in the buffer of the lane's slot, wb__lane.at. */
wb_status wb__upload_piece(wb__lane *lane, const wb_piece *piece);

/*
 * Gives back the slot of the piece before, once the device has taken what is in it, instead of that of `piece`, which
 * it may be taking.
 */
void wb__upload_finish(wb__lane *lane, wb__load_piece *piece);

/* Waits until it has all of them, and gives back what is left. */
void wb__upload_close(wb__lane *lane);

/* ---- tensors.c ---- */

/*
 * False if nobody wants the bytes of a piece as they are: there are only tensors in it that are compressed,
 * stored by columns or most significant byte first, which are read one by one.
 */
bool wb__load_needs_bytes(const wb__load *load, const wb__load_piece *piece);

/* Converts what the piece has of each tensor, and hands it over. */
wb_status wb__load_hand_over(wb__lane *lane, const wb__load_piece *piece);

#endif
