/*
 * Opens the files of a load, and chooses the error that the load reports.
 */
#include "load/load.h"

/*
 * If several pieces fail, reports the error of the earliest piece. Pieces are taken in order, and
 * after an error all earlier pieces are still processed, so the reported offset does not depend on
 * the timing of workers. The lock is held.
 */
void wb__load_fail_at(wb__load *load, const wb_error *error, size_t number, uint64_t begin)
{
    if (!load->failed || number < load->failed_file ||
        (number == load->failed_file && begin < load->failed_at)) {
        if (error != load->context->error)
            *load->context->error = *error;
        load->failed_file = number;
        load->failed_at = begin;
    }
    load->failed = true;
    (void)pthread_cond_broadcast(&load->turn);
}

wb_status wb__load_open_file(wb__load *load, size_t number)
{
    wb__context *context = load->context;
    wb__load_file *file = &load->files[number];
    const wb__catalog *catalog = &load->model->catalog;
    wb_status status = WB_OK;
    file->is_open = true;
    file->medium = wb__source_medium(file->source);
    file->direct.fd = -1;
    if (load->options->io == WB_IO_DIRECT ||
        (load->options->io == WB_IO_AUTO && file->medium == WB__MEDIUM_DISK))
        wb__direct_open(file->source, &file->direct);
    if (load->options->flags & WB_LOAD_DIGEST)
        status = wb__sha256_lane_open(&file->sha256, context);
    if (status == WB_OK)
        status = wb__order_make(&file->order, context, &catalog->table, &catalog->files[number]);
    return status;
}
