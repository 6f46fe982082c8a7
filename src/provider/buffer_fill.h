/*
 * provider/buffer_fill.h: bytes from files into a buffer, as its layout says.
 */
#ifndef WB_PROVIDER_BUFFER_FILL_H
#define WB_PROVIDER_BUFFER_FILL_H

#include "device/device.h"
#include "provider/buffer_request.h"
#include "provider/direct_read.h"

/* Values that a conversion lost. */
typedef struct wb__lost {
    uint64_t overflowed, underflowed;
} wb__lost;

/*
 * Converts n values from one of F32, F16 and BF16 to another, through F32; counts what was finite and
 * is not, or was not 0 and is. src is aligned for its dtype.
 */
void wb__convert_floats(int32_t from, const void *src, uint64_t n, int32_t to, void *dst,
                        wb__lost *lost);

/* Fills a buffer of layout->bytes bytes. */
wb_status wb__fill(wb__context *context, const wb_model *model, const wb__files *files,
                   const wb__layout *layout, const wb_device *device, void *handle, wb__lost *lost);

/*
 * The bytes of a layout as they lie in the file, if they serve as they are: in one piece, unchanged,
 * in memory, aligned for their dtype. NULL if not.
 */
const void *wb__bytes_in_place(const wb_model *model, const wb__layout *layout);

#endif
