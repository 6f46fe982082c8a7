/*
 * load/load_stages.h: the buffers that pieces wait in on their way to a device.
 */
#ifndef WB_LOAD_LOAD_STAGES_H
#define WB_LOAD_LOAD_STAGES_H

#include "device/device.h"
#include "load/load.h"

#define WB__STAGE_EVENTS                                                                           \
    32u /* of a buffer; with so many small tensors in one it waits for all of them */

struct wb__stage {
    uint8_t *memory; /* aligned for direct reading */
    size_t bytes;
    size_t used; /* by copies of what lies elsewhere */
    void *block;
    size_t block_bytes;
    bool is_device_s;
    void *events[WB__STAGE_EVENTS];
    unsigned count;
};

typedef struct wb__stage stage;

/* Allocates the memory of a stage, of the device if it offers any. Returns false if memory is out. */
bool wb__stage_make(wb__lane *lane, stage *s, size_t bytes);
void wb__stage_free(const wb__load *load, stage *s);

/* Returns the stage that belongs to the slot of a piece. */
stage *wb__stage_of(const wb__load *load, const wb__load_piece *piece);

#endif
