/*
 * pull/pull_partial.h: a file that is being fetched, with a temporary name, and the journal of its
 * pieces.
 *
 * A file consists of pieces of 1 MiB, the last one may be shorter. When all bytes of a piece have
 * been written, a record with the checksum of the received bytes is appended to the journal. If the
 * process is killed, the next one compares the bytes on the disk with the records and keeps the
 * pieces that are equal. A piece without a record, or with other bytes, is fetched again. The
 * journal is therefore never synced to the disk: if a record is lost or damaged, its piece is only
 * fetched once more.
 *
 *     NAME.wb-partial     the bytes, at their final offsets
 *     NAME.wb-pieces      the journal: a header of 96 bytes, then records of 24 bytes
 */
#ifndef WB_PULL_PULL_PARTIAL_H
#define WB_PULL_PULL_PARTIAL_H

#include <stdatomic.h>

#include "core/core.h"
#include "pull/piece_sum.h"

#define WB__PIECE ((uint64_t)1 << 20)
#define WB__PARTIAL_NAME 128 /* maximum length of a name with NUL, in bytes */

/* States of a piece. A piece in the state DOUBTED is on the disk, but the digest of the file is
 * wrong: if the piece is fetched again, its new checksum is compared with the old one. */
enum { WB__PIECE_MISSING = 0, WB__PIECE_CLAIMED, WB__PIECE_HERE, WB__PIECE_DOUBTED };

typedef struct wb__pull_partial {
    wb_allocator allocator;
    int folder;    /* descriptor of the directory: borrowed */
    int data;      /* descriptor of NAME.wb-partial */
    int journal;   /* descriptor of NAME.wb-pieces */
    uint64_t size; /* of the file in bytes */
    uint64_t seal; /* makes the records of this journal differ from those of others */
    size_t count;  /* number of pieces */
    atomic_uchar *piece;
    uint64_t *sum;         /* checksum of each piece that arrived */
    bool compares;         /* pieces are fetched for the second time (wb__pull_partial_doubt) */
    atomic_bool has_other; /* a piece that was fetched again has another checksum */
    atomic_size_t here;    /* number of pieces in the state WB__PIECE_HERE */
    atomic_int os_error;   /* errno of the first write that failed, or 0 */
    char data_name[WB__PARTIAL_NAME], journal_name[WB__PARTIAL_NAME];
} wb__pull_partial;

#define WB__PARTIAL_DATA ".wb-partial"
#define WB__PARTIAL_JOURNAL ".wb-pieces"

/* Makes the name of one of the two files: NAME and `end`. */
void wb__pull_partial_file(char file[WB__PARTIAL_NAME], const char *name, const char *end);

/*
 * Opens or creates the files in the directory. Keeps the pieces of an earlier run. `digest` is that
 * of the complete file: a journal for another digest or size is discarded. Release with
 * wb__pull_partial_close, also after a failure.
 */
wb_status wb__pull_partial_open(wb__pull_partial *partial, wb__context *context, int folder,
                                const char *name, const char *digest, uint64_t size);

/* Sets *same to whether the file `data` has the size and all checksums of a journal. Both are
 * descriptors, which stay open. Sets *known to false if the journal is not one for `digest`. */
wb_status wb__pull_partial_compare(wb__context *context, int data, int journal, const char *digest,
                                   uint64_t size, bool *same, bool *known);

/* Closes the files; they stay on the disk. */
void wb__pull_partial_close(wb__pull_partial *partial);

/* Removes the files. */
void wb__pull_partial_remove(wb__pull_partial *partial);

/* Forgets all pieces. */
wb_status wb__pull_partial_restart(wb__pull_partial *partial, wb__context *context,
                                   const char *digest);

/* Compares the pieces on the disk with their checksums. Returns the number of pieces that differ,
 * which become MISSING. No range may be in use. */
size_t wb__pull_partial_recheck(wb__pull_partial *partial, uint8_t *scratch);

/* Marks all pieces as DOUBTED, so that they can be fetched again and compared. */
void wb__pull_partial_doubt(wb__pull_partial *partial);

static inline int wb__pull_partial_state(const wb__pull_partial *partial, size_t piece)
{
    return atomic_load_explicit(&partial->piece[piece], memory_order_acquire);
}

/* Sets the state to MISSING, CLAIMED or DOUBTED. */
static inline void wb__pull_partial_set_state(wb__pull_partial *partial, size_t piece, int state)
{
    atomic_store_explicit(&partial->piece[piece], (unsigned char)state, memory_order_release);
}

/* Returns the number of bytes of a piece. */
size_t wb__pull_partial_piece_bytes(const wb__pull_partial *partial, size_t piece);

/* Returns the number of bytes in all pieces that are here (WB__PIECE_HERE). The last piece, which
 * may be shorter, is counted as a full piece, but the result is never larger than the file. While
 * other pieces are missing, it can thus be too large by less than 1 MiB. */
uint64_t wb__pull_partial_bytes(const wb__pull_partial *partial);

/*
 * Writes n bytes of a range. The range begins at the start of a piece, and its bytes are passed in
 * order. `sum` is the state of the checksum of the current piece; it is zero before the first call.
 * When a piece is complete, adds its record to the journal and sets its state to WB__PIECE_HERE. If
 * writing fails, returns false and sets os_error.
 */
bool wb__pull_partial_write(wb__pull_partial *partial, wb__piece_sum *sum, uint64_t offset,
                            const uint8_t *bytes, size_t n);

/* Reads a piece whose state is WB__PIECE_HERE into `to`, a buffer of WB__PIECE bytes. Returns false
 * on failure. */
bool wb__pull_partial_read(const wb__pull_partial *partial, size_t piece, uint8_t *to);

#endif
