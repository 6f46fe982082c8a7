#include "formats/formats_messages.h"
#include "formats/npz/npz.h"

/* Many file types are zip archives. An archive is an .npz if its first member is an array. */
static int bid(const wb__head *head)
{
    if (head->n < WB__ZIP_LOCAL || wb__load_le32(head->bytes) != UINT32_C(0x04034B50))
        return 0;
    size_t name = wb__load_le16(head->bytes + 26);
    if (name < 4 || name > head->n - WB__ZIP_LOCAL)
        return 0;
    return memcmp(head->bytes + WB__ZIP_LOCAL + name - 4, ".npy", 4) == 0 ? 90 : 0;
}

static wb_status repeated(void *ctx, size_t first, size_t second)
{
    wb__npz *npz = ctx;
    const wb__table *table = &npz->model->table;
    (void)first;
    return wb__npz_fail(npz, WB__FINDING_NPZ_DUPLICATE,
                        npz->directory_at + wb__record_at(table, second)->where,
                        wb__table_name(table, second), WB__MSG_NPZ_NAME_TWICE);
}

static wb_status read_directory(wb__npz *npz)
{
    wb__context *context = npz->context;
    const wb_allocator *allocator = &context->allocator;
    size_t bytes;
    wb_status status =
        wb__table_reserve(&npz->model->table, context, npz->directory_bytes + 1, npz->count);
    if (status != WB_OK)
        return status;
    if (!wb__to_size(npz->directory_bytes, &bytes) || npz->count > SIZE_MAX / sizeof *npz->extents)
        return wb__fail_memory(context);
    npz->extents = wb__alloc(allocator, (size_t)npz->count * sizeof *npz->extents);
    npz->directory = wb__alloc(allocator, bytes);
    if (npz->directory == NULL || npz->extents == NULL)
        return wb__fail_memory(context);
    return npz->bytes->read(npz->bytes->ctx, context, npz->directory_at, npz->directory, bytes);
}

static wb_status read_members(wb__npz *npz)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < npz->count; i++) {
        wb__npz_member member;
        wb_status status = wb__npz_entry(npz, &at, &member);
        if (status == WB_OK)
            status = wb__npz_read_member(npz, &member, &npz->extents[i]);
        if (status != WB_OK)
            return status;
    }
    if (at < npz->directory_bytes)
        return wb__npz_fail(npz, WB__FINDING_NPZ_ENTRY, npz->directory_at + at, WB__STR(""),
                            WB__MSG_NPZ_DIRECTORY_REST);
    return WB_OK;
}

static wb_status read_archive(wb__npz *npz)
{
    wb__catalog_file *file = wb__catalog_file_in_hand(npz->model);
    wb_status status = wb__npz_find(npz);
    if (status == WB_OK)
        status = read_directory(npz);
    if (status != WB_OK)
        return status;
    file->header_begin = npz->directory_at;
    status = read_members(npz);
    if (status == WB_OK)
        status = wb__npz_check_extents(npz);
    if (status == WB_OK && npz->left_out > 0)
        status = wb__note(npz->context, WB_INFO, WB__FINDING_NPZ_MEMBER, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_NPZ_OTHER_MEMBERS, (unsigned long long)npz->left_out);
    return status == WB_OK ? wb__catalog_end_file(npz->model, npz->context, repeated, npz) : status;
}

static wb_status read_npz(wb__context *context, const wb__bytes *bytes, wb__catalog *model)
{
    const wb_allocator *allocator = &context->allocator;
    wb__npz npz = {.context = context, .bytes = bytes, .model = model, .npy = {.context = context}};
    wb__crc32_init(&npz.crc32);
    wb_status status = read_archive(&npz);
    wb__inflater_free(npz.inflater);
    wb__npy_free(&npz.npy);
    wb__free(allocator, npz.piece, npz.piece_capacity);
    wb__free(allocator, npz.unpacked, npz.unpacked_capacity);
    wb__free(allocator, npz.extents, (size_t)npz.count * sizeof *npz.extents);
    wb__free(allocator, npz.directory, (size_t)npz.directory_bytes);
    return status;
}

const wb__format wb__format_npz = {
    .name = "npz",
    .extension = ".npz",
    .bid = bid,
    .read_anywhere = read_npz,
    .is_weights = true,
    .write = wb__npz_write,
};
