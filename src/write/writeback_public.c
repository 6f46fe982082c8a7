/*
 * Public write-back functions. They check their arguments.
 */
#include "weighbridge/experimental.h"
#include "write/write.h"

wb_status wb_writeback_open(wb_writer *writer, uint32_t slots, wb_writeback **behind,
                            wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writeback_open(&context, writer, slots, behind);
}

wb_status wb_writeback_put(wb_writeback *behind, uint32_t slot, uint64_t index, uint64_t offset,
                           const void *bytes, size_t n, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writeback_context(behind, wb__error_reset(error, &spare));
    const wb__put put = {index, offset, bytes, n};
    return wb__writeback_put(&context, behind, slot, &put);
}

wb_status wb_writeback_wait(wb_writeback *behind, uint32_t slot, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writeback_context(behind, wb__error_reset(error, &spare));
    return wb__writeback_wait(&context, behind, slot);
}

int wb_writeback_is_busy(wb_writeback *behind, uint32_t slot)
{
    return wb__writeback_is_busy(behind, slot);
}

void wb_writeback_free(wb_writeback *behind)
{
    wb__writeback_free(behind);
}
