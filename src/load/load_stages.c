/* Allocates and frees stages, the buffers into which pieces are read for a device. */
#include "load/load_stages.h"

bool wb__stage_make(wb__lane *lane, stage *s, size_t bytes)
{
    const wb_device *device = lane->load->options->device;
    s->bytes = bytes;
    s->block_bytes = bytes + WB__DIRECT_ALIGNMENT;
    if (device->stage != NULL)
        s->block = device->stage(device->ctx, s->block_bytes);
    s->is_device_s = s->block != NULL;
    if (!s->is_device_s)
        s->block = wb__alloc(&lane->context.allocator, s->block_bytes);
    if (s->block == NULL)
        return false;
    size_t past = (uintptr_t)s->block % WB__DIRECT_ALIGNMENT;
    s->memory = (uint8_t *)s->block + (past == 0 ? 0 : WB__DIRECT_ALIGNMENT - past);
    return true;
}

void wb__stage_free(const wb__load *load, stage *s)
{
    const wb_device *device = load->options->device;
    if (s->is_device_s)
        device->unstage(device->ctx, s->block, s->block_bytes);
    else
        wb__free(&load->context->allocator, s->block, s->block_bytes);
}

stage *wb__stage_of(const wb__load *load, const wb__load_piece *piece)
{
    return &load->stages[piece - load->slots];
}

wb_status wb__stages_open(wb__load *load)
{
    load->stages =
        wb__alloc_zeroed(&load->context->allocator, load->slot_count * sizeof *load->stages);
    return load->stages != NULL ? WB_OK : wb__fail_memory(load->context);
}

void wb__stages_close(wb__load *load)
{
    for (size_t i = 0; load->stages != NULL && i < load->slot_count; i++)
        wb__stage_free(load, &load->stages[i]);
    wb__free(&load->context->allocator, load->stages, load->slot_count * sizeof *load->stages);
}

bool wb__stage_ready(wb__lane *lane, wb__load_piece *piece)
{
    stage *s = wb__stage_of(lane->load, piece);
    if (s->memory == NULL && !wb__stage_make(lane, s, lane->load->piece_bytes))
        return false;
    piece->buffer = s->memory;
    return true;
}
