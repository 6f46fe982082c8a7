/*
 * provider/direct_read.h: reads runs that need no decoding directly from their file.
 *
 * A run is divided into windows. Windows in the page cache are copied from it, and all others are
 * read with direct I/O (io/direct.h), as in wb_load. io_uring reads the next windows while one is
 * copied or converted. wb_tensor_read reads compressed, byte-swapped and short runs, and files for
 * which direct I/O has no advantage.
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
    wb_io io; /* without WB_IO_MAP */
    wb__staging *rooms;
} wb__files;

/* A contiguous piece of a run. */
typedef struct wb__window_of_run {
    uint64_t offset; /* file offset */
    size_t n;
    uint8_t *dst;    /* destination of the caller; NULL: none */
    uint8_t *bytes;  /* address of the window's bytes after the read */
    bool past;       /* the window is read with direct I/O */
    bool is_reading; /* io_uring is reading it into its slot */
    int64_t result;  /* result of io_uring; negative: not read */
} wb__window_of_run;

/* State of one thread. */
typedef struct wb__direct_pieces {
    const wb__files *files;
    wb__context *context;
    wb__staging_buffer *room; /* staging buffer; NULL: not needed yet */
    const wb__source *source; /* the file that is open for direct I/O; NULL: none */
    wb__direct direct;
    const wb__run *run; /* the current run */
    uint8_t *dst;       /* destination of the whole run; NULL: none */
    uint64_t step;      /* largest size of a window in bytes */
    uint64_t next;      /* number of stored bytes of the run that are assigned to windows */
    uint64_t end;
    unsigned first, count; /* index of the first current window, and number of current windows */
    bool given;
    wb__window_of_run windows[WB__SLOTS];
} wb__direct_pieces;

/* The caller must call wb__direct_pieces_close, which waits for reads in progress. */
void wb__direct_pieces_open(wb__direct_pieces *s, wb__context *context, const wb__files *files);
void wb__direct_pieces_close(wb__direct_pieces *s);

/* Returns slot 0 of the staging buffer, for reads without windows; NULL if memory is out. */
uint8_t *wb__direct_pieces_room(wb__direct_pieces *s);

/* Largest size of a window and of a read by wb__direct_pieces_read. */
#define WB__DIRECT_BYTES (WB__SLOT_BYTES - WB__DIRECT_ROOM(0))

/* Selects a run. Returns false if wb_tensor_read has to read it. */
bool wb__direct_pieces_turn(wb__direct_pieces *s, const wb_model *model, const wb__run *run);

/*
 * Begins reading the run in windows of `step` bytes; the last window of each piece may be shorter.
 * `dst` is the destination of the whole run, or NULL if it is converted. Returns false if memory is
 * out.
 */
bool wb__direct_pieces_begin(wb__direct_pieces *s, uint64_t step, uint8_t *dst);

/*
 * Returns the next window: n bytes, valid until the next call. They are in dst already if alignment
 * permits, otherwise in the staging buffer. An error ends the run.
 */
wb_status wb__direct_pieces_next(wb__direct_pieces *s, uint8_t **bytes, size_t *n);

/*
 * Reads n bytes at offset `at` of the stored bytes of the run into `room`, which has
 * WB__DIRECT_ROOM(n) bytes. *bytes is their address in it, or NULL if they are not contiguous in
 * the file.
 */
wb_status wb__direct_pieces_read(const wb__direct_pieces *s, uint64_t at, uint8_t *room, size_t n,
                                 uint8_t **bytes);

#endif
