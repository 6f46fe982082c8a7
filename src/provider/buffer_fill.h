/*
 * provider/buffer_fill.h: fills a buffer from files, according to its layout.
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
 * Converts n values between F32, F16 and BF16, through F32. Counts finite values that become
 * infinite and non-zero values that become 0. src is aligned for its dtype.
 */
void wb__convert_floats(int32_t from, const void *src, uint64_t n, int32_t to, void *dst,
                        wb__lost *lost);

/* Fills a buffer of layout->bytes bytes. */
wb_status wb__fill(wb__context *context, const wb_model *model, const wb__files *files,
                   const wb__layout *layout, const wb_device *device, void *handle, wb__lost *lost);

/*
 * Returns the mapped bytes of a layout if the buffer can use them: contiguous, unchanged, mapped,
 * and aligned for their dtype. Otherwise returns NULL.
 */
const void *wb__bytes_in_place(const wb_model *model, const wb__layout *layout);

#endif
