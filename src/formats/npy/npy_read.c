#include "formats/formats_messages.h"
#include "formats/npy/npy.h"

#define NAME "array" /* name of the tensor; an .npy file does not name its array */

static int bid(const wb__head *head)
{
    return head->n >= 8 && memcmp(head->bytes, "\x93NUMPY", 6) == 0 ? 95 : 0;
}

static wb_status no_repeat(void *ctx, size_t first, size_t second)
{
    (void)ctx, (void)first, (void)second;
    return WB_OK; /* never called, because there is only one tensor */
}

/*
 * Bytes after the array cause only a warning: np.save can append several arrays to a file, of which
 * NumPy reads only the first.
 */
static wb_status check_extent(wb__npy *npy, uint64_t file_bytes)
{
    uint64_t left = file_bytes - npy->data_at;
    if (npy->kind.bytes > left)
        return wb__fail(npy->context, WB_ERROR_FORMAT, WB__FINDING_NPY_EXTENT, npy->data_at,
                        npy->name, WB__MSG_NPY_EXTENT, (unsigned long long)npy->kind.bytes,
                        (unsigned long long)left);
    if (npy->kind.bytes < left)
        return wb__note(npy->context, WB_WARNING, WB__FINDING_NPY_TRAILING,
                        npy->data_at + npy->kind.bytes, npy->name, WB__MSG_NPY_TRAILING,
                        (unsigned long long)(left - npy->kind.bytes));
    return WB_OK;
}

static wb_status read_array(wb__npy *npy, wb__cursor *cursor, wb__catalog *model)
{
    wb__context *context = npy->context;
    uint64_t file_bytes = cursor->limit;
    size_t prefix = file_bytes < WB__NPY_PREFIX ? (size_t)file_bytes : WB__NPY_PREFIX;
    if (!wb__cursor_want(cursor, prefix))
        return context->error->status;
    wb_status status = wb__npy_peek(npy, cursor->p, prefix, file_bytes);
    if (status != WB_OK)
        return status;
    if (!wb__cursor_want(cursor, npy->data_at))
        return context->error->status;
    status = wb__npy_header(npy, cursor->p + npy->text_at);
    if (status == WB_OK)
        status = check_extent(npy, file_bytes);
    if (status == WB_OK)
        status = wb__table_reserve(&model->table, context, sizeof NAME, 1);
    if (status != WB_OK)
        return status;
    wb__catalog_file *file = wb__catalog_file_in_hand(model);
    file->version = npy->version;
    file->data_begin = npy->data_at;
    file->big_endian = npy->big_endian;
    status = wb__npy_add(npy, model, 0, 0, &(wb__storing){.deflated = false});
    return status == WB_OK ? wb__catalog_end_file(model, context, no_repeat, NULL) : status;
}

static wb_status read_npy(wb__context *context, wb__cursor *cursor, wb__catalog *model)
{
    wb__npy npy = {.context = context, .name = WB__STR(NAME)};
    wb_status status = read_array(&npy, cursor, model);
    wb__npy_free(&npy);
    return status;
}

const wb__format wb__format_npy = {
    .name = "npy",
    .extension = ".npy",
    .bid = bid,
    .read = read_npy,
};
