#include "formats/formats_messages.h"
#include "formats/npy/npy.h"

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static wb_status fail_short(wb__npy *npy, uint64_t total)
{
    return wb__npy_fail(npy, WB__FINDING_NPY_TRUNCATED, total, WB__MSG_NPY_SHORT);
}

wb_status wb__npy_peek(wb__npy *npy, const uint8_t *bytes, size_t n, uint64_t total)
{
    size_t same = n < sizeof magic ? n : sizeof magic;
    /* memcmp must not get a NULL pointer, even for zero bytes */
    if (same > 0 && memcmp(bytes, magic, same) != 0)
        return wb__npy_fail(npy, WB__FINDING_NPY_MAGIC, 0, WB__MSG_NPY_MAGIC);
    if (n < 8)
        return fail_short(npy, total);
    npy->version = bytes[6];
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return wb__fail(npy->context, WB_ERROR_FORMAT, WB__FINDING_NPY_VERSION,
                        npy->at + (npy->is_packed ? 0 : 6), npy->name, WB__MSG_NPY_VERSION,
                        bytes[6], bytes[7]);
    npy->text_at = npy->version == 1 ? 10 : 12;
    if (n < npy->text_at)
        return fail_short(npy, total);
    uint64_t length = npy->version == 1 ? wb__load_le16(bytes + 8) : wb__load_le32(bytes + 8);
    uint64_t limit = npy->context->limits.npy_header;
    if (limit > WB__NPY_HEADER_MAX)
        limit = WB__NPY_HEADER_MAX;
    if (length > limit)
        return wb__fail(npy->context, WB_ERROR_LIMIT, WB__FINDING_NPY_HEADER_LIMIT,
                        npy->at + (npy->is_packed ? 0 : 8), npy->name, WB__MSG_NPY_HEADER_LIMIT,
                        (unsigned long long)length, (unsigned long long)limit);
    if (!wb__in_range(npy->text_at, length, total))
        return fail_short(npy, total);
    npy->data_at = npy->text_at + (uint32_t)length;
    return WB_OK;
}

/* With at most one dimension longer than 1, row-major and column-major order are identical. */
static bool order_matters(const wb__kind *kind)
{
    uint32_t longer = 0;
    for (uint32_t i = 0; i < kind->rank; i++)
        longer += kind->shape[i] > 1;
    return longer > 1 && kind->elements > 0;
}

wb_status wb__npy_header(wb__npy *npy, const uint8_t *text)
{
    wb_status status = wb__npy_literal(npy, text);
    if (status != WB_OK)
        return status;
    npy->kind = (wb__kind){.shape = npy->shape, .dtype = npy->dtype, .rank = (uint32_t)npy->rank};
    wb__kind_measure(&npy->kind);
    if (npy->kind.fault != WB__KIND_SOUND)
        return wb__npy_fail(npy, WB__FINDING_NPY_OVERFLOW, npy->text_at, WB__MSG_NPY_OVERFLOW);
    npy->columns = npy->columns && order_matters(&npy->kind);
    return WB_OK;
}

wb_status wb__npy_add(wb__npy *npy, wb__catalog *model, uint64_t begin, uint32_t where,
                      wb__storing *storing)
{
    uint32_t kind;
    if (!wb__table_kind(&model->table, &npy->kind, &kind))
        return wb__fail_memory(npy->context);
    wb__table_add(&model->table, npy->name, kind, begin, where);
    storing->big_endian = npy->big_endian;
    storing->columns = npy->columns;
    bool is_plain = !npy->big_endian && !npy->columns && !storing->deflated && !storing->has_crc;
    return is_plain || wb__catalog_store(model, storing) ? WB_OK : wb__fail_memory(npy->context);
}

void wb__npy_free(wb__npy *npy)
{
    wb__free(&npy->context->allocator, npy->shape, npy->shape_capacity * sizeof *npy->shape);
    npy->shape = NULL;
    npy->shape_capacity = 0;
}
