#include "formats/formats_messages.h"
#include "formats/npz/npz.h"

#define END 22
#define COMMENT_MAX 65535
#define LOCATOR 20
#define END64 56
/* maximum total size of the end records, the comment and the locator: the last bytes of the file */
#define TAIL (END + COMMENT_MAX + LOCATOR + END64)

static bool is(const uint8_t *bytes, char third, char fourth)
{
    return bytes[0] == 'P' && bytes[1] == 'K' && bytes[2] == (uint8_t)third &&
           bytes[3] == (uint8_t)fourth;
}

static wb_status fail(const wb__npz *npz, wb__finding_id id, uint64_t at, const char *what)
{
    return wb__npz_fail(npz, id, at, WB__STR(""), what);
}

/*
 * Finds the end record in the last n bytes of the file. Fails if there are two, because they would
 * describe two different archives.
 */
static wb_status find_end(const wb__npz *npz, const uint8_t *tail, size_t n, size_t *out)
{
    uint64_t tail_at = npz->bytes->count - n;
    bool found = false;
    for (size_t i = n >= END ? n - END + 1 : 0; i-- > 0;) {
        if (!is(tail + i, 5, 6) || wb__load_le16(tail + i + 20) != n - i - END)
            continue;
        if (found)
            return fail(npz, WB__FINDING_NPZ_END, tail_at + i, WB__MSG_NPZ_TWO_ENDS);
        found = true;
        *out = i;
    }
    return found ? WB_OK : fail(npz, WB__FINDING_NPZ_END, npz->bytes->count, WB__MSG_NPZ_NO_END);
}

/*
 * Reads the zip64 end record. Three records follow each other without gap: the zip64 end record,
 * the zip64 locator, which contains the offset of the zip64 end record, and the end record at
 * tail + end. The two end records must agree.
 */
static wb_status read_end64(wb__npz *npz, const uint8_t *tail, size_t end)
{
    uint64_t tail_at = npz->bytes->count - (npz->bytes->count < TAIL ? npz->bytes->count : TAIL);
    const uint8_t *locator = tail + end - LOCATOR;
    uint64_t at = wb__load_le64(locator + 8);
    uint64_t locator_at = tail_at + end - LOCATOR;
    if (wb__load_le32(locator + 4) != 0 || wb__load_le32(locator + 16) > 1)
        return fail(npz, WB__FINDING_NPZ_SPLIT, locator_at, WB__MSG_NPZ_MULTIPART);
    if (end < LOCATOR + END64 || at != locator_at - END64 || !is(locator - END64, 6, 6) ||
        wb__load_le64(locator - END64 + 4) != END64 - 12)
        return fail(npz, WB__FINDING_NPZ_END, locator_at, WB__MSG_NPZ_END64);
    const uint8_t *end64 = locator - END64;
    uint64_t entries = wb__load_le64(end64 + 32);
    if (wb__load_le64(end64 + 16) != 0 || wb__load_le64(end64 + 24) != entries)
        return fail(npz, WB__FINDING_NPZ_SPLIT, at, WB__MSG_NPZ_MULTIPART);
    uint64_t bytes = wb__load_le64(end64 + 40);
    uint64_t directory_at = wb__load_le64(end64 + 48);
    if ((npz->count != UINT16_MAX && npz->count != entries) ||
        (npz->directory_bytes != UINT32_MAX && npz->directory_bytes != bytes) ||
        (npz->directory_at != UINT32_MAX && npz->directory_at != directory_at))
        return fail(npz, WB__FINDING_NPZ_END, at, WB__MSG_NPZ_ENDS_DIFFER);
    npz->count = entries;
    npz->directory_bytes = bytes;
    npz->directory_at = directory_at;
    return WB_OK;
}

static wb_status check_directory(const wb__npz *npz, uint64_t end_at)
{
    uint64_t limit = npz->context->limits.npz_directory;
    if (limit > UINT32_MAX - 1)
        limit = UINT32_MAX - 1;
    if (!wb__in_range(npz->directory_at, npz->directory_bytes, end_at) ||
        npz->directory_at + npz->directory_bytes != end_at)
        return fail(npz, WB__FINDING_NPZ_END, end_at, WB__MSG_NPZ_DIRECTORY_END);
    if (npz->directory_bytes > limit)
        return wb__fail(npz->context, WB_ERROR_LIMIT, WB__FINDING_NPZ_DIRECTORY_LIMIT,
                        npz->directory_at, WB__STR(""), WB__MSG_NPZ_DIRECTORY_LIMIT,
                        (unsigned long long)npz->directory_bytes, (unsigned long long)limit);
    if (npz->count > npz->directory_bytes / WB__ZIP_ENTRY)
        return fail(npz, WB__FINDING_NPZ_ENTRY, end_at, WB__MSG_NPZ_ENTRY_COUNT);
    return WB_OK;
}

static wb_status read_end(wb__npz *npz, const uint8_t *tail, size_t n)
{
    size_t end = 0;
    wb_status status = find_end(npz, tail, n, &end);
    if (status != WB_OK)
        return status;
    const uint8_t *p = tail + end;
    uint64_t end_at = npz->bytes->count - n + end;
    npz->count = wb__load_le16(p + 10);
    npz->directory_bytes = wb__load_le32(p + 12);
    npz->directory_at = wb__load_le32(p + 16);
    if (wb__load_le16(p + 8) != npz->count || wb__load_le32(p + 4) != 0)
        return fail(npz, WB__FINDING_NPZ_SPLIT, end_at, WB__MSG_NPZ_MULTIPART);
    if (end >= LOCATOR && is(p - LOCATOR, 6, 7)) {
        status = read_end64(npz, tail, end);
        end_at -= LOCATOR + END64;
    }
    return status == WB_OK ? check_directory(npz, end_at) : status;
}

wb_status wb__npz_find(wb__npz *npz)
{
    size_t n = npz->bytes->count < TAIL ? (size_t)npz->bytes->count : TAIL;
    const wb_allocator *allocator = &npz->context->allocator;
    uint8_t *tail = wb__alloc(allocator, n);
    if (tail == NULL)
        return wb__fail_memory(npz->context);
    wb_status status =
        npz->bytes->read(npz->bytes->ctx, npz->context, npz->bytes->count - n, tail, n);
    if (status == WB_OK)
        status = read_end(npz, tail, n);
    wb__free(allocator, tail, n);
    return status;
}
