/*
 * load: going through the bytes of a model once.
 *
 * Files are cut into pieces at multiples of an alignment. Lanes, as many as the executor runs at
 * once, each take the next piece, fetch it, and do with it all that is to be done, before they
 * take another: so while one waits for the disk another computes, and what is in hand is bounded by
 * a buffer a lane, or two. Digests need the pieces of a file in order: a lane waits for the one that has
 * the piece before. That one runs, since pieces are taken in order; so a serial executor, which
 * runs one lane to the end, works as well.
 */
#ifndef WB_LOAD_LOAD_H
#define WB_LOAD_LOAD_H

#include <pthread.h>

#include "digest/sha256.h"
#include "io/direct.h"
#include "model/order.h"
#include "open/open.h"

/* A file that is being gone through. Under the lock, but for what lanes read of it meanwhile. */
typedef struct wb__load_file {
    wb__source *source;
    wb__medium medium;
    wb__direct direct;
    wb__order order; /* of its tensors */
    wb__sha256_lane sha256;
    uint8_t digest[WB__SHA256_BYTES]; /* once digested == end */
    uint64_t begin, end;              /* the bytes to go through */
    uint64_t taken;                   /* up to here pieces have been taken */
    uint64_t digested;                /* up to here they are in sha256 */
    size_t next_tensor;               /* in the order: those before end before `taken` */
    unsigned in_hand;                 /* pieces */
    bool is_open;
} wb__load_file;

typedef struct wb__load {
    const wb_model *model;
    wb__context *context; /* for the error of all, once */
    const wb_load_options *options;
    wb_load_report *report;
    const wb__dtype *dtype; /* to convert to, NULL: nothing */
    size_t piece_bytes;     /* the most a piece has */
    size_t hand;            /* how many pieces a lane takes at once */
    pthread_mutex_t lock;
    pthread_cond_t turn;         /* a digest went on, or something failed */
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

typedef struct wb__load_piece {
    size_t number; /* of the file */
    wb__load_file *file;
    uint64_t begin, end;
    size_t first_tensor; /* in the order of the file, that may have bytes in it */
    const uint8_t *data;
    bool lasting;
} wb__load_piece;

/* A thread's own: its error, its buffers, what it has counted. */
typedef struct wb__lane {
    wb__load *load;
    wb_error error;
    wb__context context;
    void *memory;
    size_t memory_bytes;
    uint8_t *buffers; /* wb__load.hand of them */
    uint8_t *buffer;  /* of the piece that is worked on; aligned for direct reading */
    uint8_t *convert; /* WB__CONVERT_BYTES */
    struct wb__upload
        *upload; /* with a device; then `buffer` and `convert` are its own, by turns */
    wb_load_report spent;
} wb__lane;

#define WB__LOAD_HAND ((size_t)2)
#define WB__CONVERT_BYTES ((size_t)128 << 10)

uint64_t wb__load_now(void); /* nanoseconds */

/* ---- load.c ---- */

wb_status wb__load_model(const wb_model *model, wb__context *context,
                         const wb_load_options *options, wb_load_report *report);

/* ---- fetch.c ---- */

/* Gets the bytes of a piece from where it is best. */
wb_status wb__load_fetch(wb__lane *lane, wb__load_piece *piece);

/* ---- digest.c ---- */

/* Adds pieces, up to WB__LOAD_HAND, to the digests of their files, when all before them are in. */
void wb__load_digest(wb__lane *lane, const wb__load_piece *pieces, size_t n);

/* ---- upload.c: with wb_load_options.device ---- */

/* Makes the lane's buffers. Close also after a failure. */
wb_status wb__upload_open(wb__lane *lane);

/* The next buffer to fetch into, once the device has taken what is in it. */
wb_status wb__upload_turn(wb__lane *lane);

/* Has the device take a piece, which may lie in the lane's buffers. */
wb_status wb__upload_piece(wb__lane *lane, const wb_piece *piece);

/* Waits until it has all of them, and frees the buffers. */
wb_status wb__upload_close(wb__lane *lane);

/* ---- tensors.c ---- */

/*
 * False if nobody wants the bytes of a piece as they are: there are only tensors in it that are compressed,
 * stored by columns or most significant byte first, which are read one by one.
 */
bool wb__load_needs_bytes(const wb__lane *lane, const wb__load_piece *piece);

/* Converts what the piece has of each tensor, and hands it over. */
wb_status wb__load_hand_over(wb__lane *lane, const wb__load_piece *piece);

#endif
