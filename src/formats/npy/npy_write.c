/*
 * Writes the header of an array, byte for byte as NumPy does (numpy.lib.format, version 1.0). After
 * the dict, there are spaces that allow the first dimension to grow to 21 digits, then 1 to 64
 * spaces and a newline, so that the length of the header is a multiple of 64 bytes.
 */
#include "formats/formats_messages.h"
#include "formats/npy/npy.h"

#define FIXED 10 /* number of bytes before the header text */
#define ALIGNMENT 64
#define GROWTH 21
#define RANK_MAX 64

static wb_status fail(wb__context *context, wb__finding_id id, const wb__out_tensor *tensor,
                      const char *what)
{
    return wb__fail(context, WB_ERROR_UNSUPPORTED, id, WB_NO_OFFSET, tensor->name, "%s", what);
}

static wb_status check(wb__context *context, const wb__out_tensor *tensor, char descr[4])
{
    if (!wb__npy_descr_of(tensor->dtype->id, descr))
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_NPY_DTYPE, WB_NO_OFFSET,
                        tensor->name, WB__MSG_NPY_WRITE_DTYPE, tensor->dtype->name);
    if (tensor->rank > RANK_MAX)
        return fail(context, WB__FINDING_RANK_LIMIT, tensor, WB__MSG_NPY_WRITE_RANK);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] > INT64_MAX)
            return fail(context, WB__FINDING_NPY_OVERFLOW, tensor, WB__MSG_NPY_WRITE_DIMENSION);
    }
    return WB_OK;
}

static void put_dict(wb__buffer *out, const wb__out_tensor *tensor, const char *descr)
{
    wb__buffer_text(out, "{'descr': '");
    wb__buffer_text(out, descr);
    wb__buffer_text(out, "', 'fortran_order': False, 'shape': (");
    size_t first = 0;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        size_t before = out->n;
        if (i != 0)
            wb__buffer_text(out, ", ");
        wb__buffer_uint(out, tensor->shape[i]);
        first = i == 0 ? out->n - before : first;
    }
    wb__buffer_text(out, tensor->rank == 1 ? ",), }" : "), }");
    if (tensor->rank != 0)
        wb__buffer_fill(out, ' ', GROWTH - first); /* check() allows at most 19 digits */
}

wb_status wb__npy_put_header(wb__context *context, wb__buffer *out, const wb__out_tensor *tensor,
                             uint64_t at, uint64_t alignment)
{
    static const uint8_t fixed[FIXED] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char descr[4];
    wb_status status = check(context, tensor, descr);
    if (status != WB_OK)
        return status;
    size_t begin = out->n;
    wb__buffer_add(out, fixed, sizeof fixed);
    put_dict(out, tensor, descr);
    if (wb__buffer_failed(out))
        return WB_OK; /* wb__out_check reports the error */
    size_t text = out->n - begin + 1;
    size_t padding = ALIGNMENT - text % ALIGNMENT;
    if (alignment != 0)
        padding = (size_t)(-(at + text) & (alignment - 1));
    size_t length = text + padding - FIXED;
    if (padding > WB__NPY_HEADER_READ || length > WB__NPY_HEADER_READ)
        return fail(context, WB__FINDING_NPY_HEADER_LIMIT, tensor, WB__MSG_NPY_WRITE_HEADER);
    wb__buffer_fill(out, ' ', padding);
    wb__buffer_text(out, "\n");
    if (!wb__buffer_failed(out)) {
        out->bytes[begin + 8] = (uint8_t)(length & 0xFF);
        out->bytes[begin + 9] = (uint8_t)(length >> 8);
    }
    return WB_OK;
}
