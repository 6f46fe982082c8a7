/*
 * provider/buffer_fill.h: fills buffers from files, according to their layouts.
 *
 * A filler is the state of one thread that fills buffers. A run is filled in pieces, which several
 * threads may fill at the same time.
 */
#ifndef WB_PROVIDER_BUFFER_FILL_H
#define WB_PROVIDER_BUFFER_FILL_H

#include "device/device.h"
#include "provider/buffer_request.h"
#include "provider/direct_read.h"

/* Number of values that overflowed or underflowed in a conversion. */
typedef struct wb__lost {
    uint64_t overflowed, underflowed;
} wb__lost;

/*
 * Converts n values between F32, F16 and BF16, through F32, and adds a number to each value. Counts
 * finite values that become infinite and non-zero values that become 0. src is aligned for its
 * dtype.
 */
void wb__convert_floats(int32_t from, const void *src, uint64_t n, float adds, int32_t to,
                        void *dst, wb__lost *lost);

typedef struct wb__filler {
    wb__context *context;
    const wb_model *model;
    const wb_device *device;
    const wb__layout *layout; /* layout of the current buffer */
    void *handle;             /* the current buffer */
    uint8_t *mapped;          /* address of the current buffer; NULL: use wb_device.upload */
    wb__direct_pieces straight;
    uint8_t *ready[2]; /* staging buffers for uploads, used in turn; NULL: not needed yet */
    bool staged[2];    /* the staging buffer comes from wb_device.stage */
    void *event[2];
    bool pending[2]; /* event[i] is an upload that may be in progress */
    size_t piece[2]; /* value of `current` when upload i began */
    unsigned turn;   /* index of the staging buffer to use next */
    size_t current;  /* number of the piece being filled, for wb__fill_ended */
    wb__lost *lost;
} wb__filler;

/* The caller must call wb__filler_close. */
void wb__filler_open(wb__filler *f, wb__context *context, const wb_model *model,
                     const wb__files *files, const wb_device *device);
void wb__filler_close(wb__filler *f);

/* Selects the buffer to fill, which has layout->bytes bytes. *lost counts the values that
 * conversions change to infinity or to 0. */
wb_status wb__filler_select(wb__filler *f, const wb__layout *layout, void *handle, wb__lost *lost);

/* Zeroes the bytes between the sections of the selected buffer. */
wb_status wb__fill_gaps(wb__filler *f);

/* Returns the number of elements of a piece of a run. All pieces but the last have this size. */
uint64_t wb__fill_step(const wb__run *run);

/*
 * Fills elements `first` to first + n - 1 of run `index` of the selected buffer, and of the runs
 * that are interleaved with it. Uploads may still be in progress on return.
 */
wb_status wb__fill_piece(wb__filler *f, size_t index, uint64_t first, uint64_t n);

/* Waits for the uploads in progress, even if `status` is a failure: the device may still read the
 * staging buffers. Returns `status`, or the status of the first upload that failed. */
wb_status wb__fill_wait(wb__filler *f, wb_status status);

/* Returns true if no upload of piece `number` is in progress. */
static inline bool wb__fill_ended(const wb__filler *f, size_t number)
{
    return !(f->pending[0] && f->piece[0] == number) && !(f->pending[1] && f->piece[1] == number);
}

/* Fills the complete selected buffer. On return the device has the bytes. */
wb_status wb__fill_all(wb__filler *f);

/*
 * Returns the bytes of the mapped file if the buffer can use them without a copy: they must be
 * contiguous, need no conversion, and be aligned for their dtype. Otherwise returns NULL.
 */
const void *wb__bytes_in_place(const wb_model *model, const wb__layout *layout);

/* ---- row_scatter.c ---- */

/*
 * For a run whose rows are permuted: copies n bytes to the right rows of the buffer. `bytes` are
 * already converted to the dtype of the buffer; they begin at byte `at` of the rows that the run
 * reads. Copies only the rows whose new index is in `rows`. `to` is the address of row rows.start.
 */
void wb__scatter_rows(const wb__run *run, uint64_t at, const uint8_t *bytes, uint64_t n,
                      wb__cut rows, uint8_t *to);

/* Copies a row of n bytes, and permutes its elements if run->is_inner is set. */
void wb__scatter_row(const wb__run *run, const uint8_t *row, size_t n, uint8_t *to);

#endif
