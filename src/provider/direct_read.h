/*
 * provider/direct_read.h: runs that lie in their file as they are wanted, or nearly, read straight from it.
 *
 * A run is cut into windows. Those that the page cache has are copied out of it, the others read past it
 * (io/direct.h), as wb_load does and for its reasons; a ring reads the next ones while one is copied or
 * converted. Runs that are compressed, swapped or in short pieces, and files that nothing is gained with, are
 * left to wb_tensor_read.
 */
#ifndef WB_PROVIDER_DIRECT_READ_H
#define WB_PROVIDER_DIRECT_READ_H

#include "io/direct.h"
#include "provider/buffer_request.h"
#include "provider/staging.h"

/* The files of a model, and how they are to be read. */
typedef struct wb__files {
    wb__source *const *sources; /* one for each file of the model, which keeps them */
    size_t count;
    wb_io io; /* without WB_IO_MAP */
    wb__staging *rooms;
} wb__files;

/* Bytes of a run that lie in one place. */
typedef struct wb__window_of_run {
    uint64_t offset; /* in the file */
    size_t n;
    uint8_t *dst;    /* its bytes', of the caller; NULL: there is none */
    uint8_t *bytes;  /* where they are */
    bool past;       /* the page cache, that is */
    bool is_reading; /* the ring is, into its slot */
    int64_t result;  /* of the ring; below 0: it did not read it */
} wb__window_of_run;

/* One thread's own. */
typedef struct wb__direct_pieces {
    const wb__files *files;
    wb__context *context;
    wb__staging_buffer *room; /* NULL: none was needed yet */
    const wb__source *source; /* the file that is open; NULL: none */
    wb__direct direct;
    const wb__run *run; /* the one turned to */
    uint8_t *dst;       /* where all of it goes; NULL: nowhere in particular */
    uint64_t step;      /* bytes of a window, at most */
    uint64_t next;      /* stored bytes of the run that are in windows */
    uint64_t end;
    unsigned first, count; /* windows in hand; of these the first was given, or is to be */
    bool given;
    wb__window_of_run windows[WB__SLOTS];
} wb__direct_pieces;

/* Release with wb__direct_pieces_close, which waits for what is under way. */
void wb__direct_pieces_open(wb__direct_pieces *s, wb__context *context, const wb__files *files);
void wb__direct_pieces_close(wb__direct_pieces *s);

/* Slot 0 of the room, for those who do not go through windows; NULL: memory is out. */
uint8_t *wb__direct_pieces_room(wb__direct_pieces *s);

/* The most that a window has, or is read at once by wb__direct_pieces_read. */
#define WB__DIRECT_BYTES (WB__SLOT_BYTES - WB__DIRECT_ROOM(0))

/* Turns to a run, all of it; false if wb_tensor_read has to read it. */
bool wb__direct_pieces_turn(wb__direct_pieces *s, const wb_model *model, const wb__run *run);

/*
 * From now on windows have `step` bytes, but for the last of each piece. `dst` is where all bytes of the run are
 * to go in the end, NULL where they are converted; false: memory is out.
 */
bool wb__direct_pieces_begin(wb__direct_pieces *s, uint64_t step, uint8_t *dst);

/*
 * The next window: n bytes, until the next call. They are at their place in dst already where nothing had to be
 * aligned, and somewhere else otherwise. An error ends the run.
 */
wb_status wb__direct_pieces_next(wb__direct_pieces *s, uint8_t **bytes, size_t *n);

/*
 * Reads n bytes, from byte `at` of the stored bytes of the run on, into `room`, which has
 * WB__DIRECT_ROOM(n) bytes; *bytes is where they begin in it, or NULL if they lie in several places.
 */
wb_status wb__direct_pieces_read(const wb__direct_pieces *s, uint64_t at, uint8_t *room, size_t n,
                                 uint8_t **bytes);

#endif
