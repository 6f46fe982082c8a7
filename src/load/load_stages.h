/* Stages: buffers that hold pieces until a device has copied them. */
#ifndef WB_LOAD_LOAD_STAGES_H
#define WB_LOAD_LOAD_STAGES_H

#include "device/device.h"
#include "load/load.h"

/* Maximum number of transfers in progress per stage. If this number is reached, the worker waits
 * for all of them before it starts another transfer. */
#define WB__STAGE_EVENTS 32u

struct wb__stage {
    uint8_t *memory; /* the buffer, aligned for direct I/O */
    size_t bytes;
    size_t used; /* number of bytes at the start of the buffer that hold copies of mapped bytes */
    void *block; /* the allocation that contains `memory` */
    size_t block_bytes;
    bool is_device_s; /* `block` comes from wb_device.stage and is freed by wb_device.unstage */
    void *events[WB__STAGE_EVENTS]; /* transfers from the buffer that may be in progress */
    unsigned count;                 /* number of `events` */
};

typedef struct wb__stage stage;

/* Allocates the buffer of a stage with wb_device.stage if the device supports it, otherwise with
 * the allocator. Returns false if out of memory. */
bool wb__stage_make(wb__lane *lane, stage *s, size_t bytes);
void wb__stage_free(const wb__load *load, stage *s);

/* Returns the stage that belongs to the slot of a piece. */
stage *wb__stage_of(const wb__load *load, const wb__load_piece *piece);

#endif
