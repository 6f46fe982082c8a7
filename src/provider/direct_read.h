/*
 * provider/direct_read.h: reads runs that need no decoding directly from their file.
 *
 * A run (wb__run) is divided into windows. Windows in the page cache are copied from the page
 * cache, and all others are read with direct I/O (io/direct.h), as in wb_load. While a window is
 * copied or converted, io_uring reads the next windows. Compressed, byte-swapped and short runs,
 * and files for which direct I/O has no advantage, are read with wb_tensor_read instead.
 */
#ifndef WB_PROVIDER_DIRECT_READ_H
#define WB_PROVIDER_DIRECT_READ_H

#include "io/direct.h"
#include "provider/buffer_request.h"
#include "provider/staging.h"

/* The files of a model and the method to read them. */
typedef struct wb__files {
    wb__source *const *sources; /* one source per file, owned by the model */
    size_t count;
    wb_io io; /* AUTO, READ or DIRECT */
    wb__staging *rooms;
} wb__files;

/* A window: a part of a run that is contiguous in the file and is read at once. */
typedef struct wb__window_of_run {
    uint64_t offset; /* file offset */
    size_t n;
    uint8_t *dst;    /* the caller's destination; NULL: none, use the staging buffer */
    uint8_t *bytes;  /* address of the window's bytes after the read */
    bool past;       /* the window is read with direct I/O */
    bool is_reading; /* io_uring is reading the window */
    int64_t result;  /* number of bytes that io_uring read; negative: error, or not read */
} wb__window_of_run;

/* State of one thread that reads runs. */
typedef struct wb__direct_pieces {
    const wb__files *files;
    wb__context *context;
    wb__staging_buffer *room; /* staging buffer; NULL: not needed yet */
    const wb__source *source; /* the file that is open for direct I/O; NULL: none */
    wb__direct direct;
    const wb__run *run;    /* the current run */
    uint8_t *dst;          /* destination of byte `begin` of the run; NULL: none */
    uint64_t begin;        /* offset in the run of the first byte to read */
    uint64_t step;         /* largest size of a window in bytes */
    uint64_t next;         /* offset in the run of the next window to make */
    uint64_t end;          /* end of the bytes to read, as an offset in the run */
    unsigned first, count; /* index of the oldest current window, and number of current windows */
    bool given;            /* the oldest current window was returned to the caller */
    wb__window_of_run windows[WB__SLOTS];
} wb__direct_pieces;

/* The caller must call wb__direct_pieces_close, which waits for reads in progress. */
void wb__direct_pieces_open(wb__direct_pieces *s, wb__context *context, const wb__files *files);
void wb__direct_pieces_close(wb__direct_pieces *s);

/* Returns the staging buffer (WB__SLOTS * WB__SLOT_BYTES bytes) for other reads of the caller, or
 * NULL if out of memory. First waits for reads in progress, and discards the windows. */
uint8_t *wb__direct_pieces_room(wb__direct_pieces *s);

/* Maximum size in bytes of a window, which must fit into a slot of the staging buffer, and of a
 * read by wb__direct_pieces_read. */
#define WB__DIRECT_BYTES (WB__SLOT_BYTES - WB__DIRECT_ROOM(0))

/* Selects the run to read. Returns false if the caller must read the run with wb_tensor_read. */
bool wb__direct_pieces_turn(wb__direct_pieces *s, const wb_model *model, const wb__run *run);

/*
 * Begins reading n bytes at offset `at` of the selected run in windows of `step` bytes; the last
 * window of a contiguous range may be shorter. `dst` is the destination of these bytes, or NULL if
 * they are converted. Returns false if out of memory.
 */
bool wb__direct_pieces_begin(wb__direct_pieces *s, uint64_t at, uint64_t n, uint64_t step,
                             uint8_t *dst);

/*
 * Returns the n bytes of the next window, valid until the next call. If alignment permits, the
 * bytes are already at their destination (`dst` of wb__direct_pieces_begin). Otherwise they are in
 * the staging buffer. After an error no other windows can be read.
 */
wb_status wb__direct_pieces_next(wb__direct_pieces *s, uint8_t **bytes, size_t *n);

/*
 * Reads n bytes at offset `at` of the selected run into `room`, which has WB__DIRECT_ROOM(n) bytes.
 * Sets *bytes to their address in `room`, or to NULL if they are not contiguous in the file and
 * were not read.
 */
wb_status wb__direct_pieces_read(const wb__direct_pieces *s, uint64_t at, uint8_t *room, size_t n,
                                 uint8_t **bytes);

#endif
