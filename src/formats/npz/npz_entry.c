#include "formats/formats_messages.h"
#include "formats/npz/npz.h"

#define EXTRA_ZIP64 0x0001
#define EXTRA_UNICODE_PATH 0x7075
#define FLAG_ENCRYPTED 0x0001u
#define FLAG_UTF8 0x0800u
/* 0x0006: compression level of deflate */
#define FLAGS_KNOWN (0x0006u | WB__ZIP_DESCRIPTOR | FLAG_UTF8)

static wb_status fail(const wb__npz *npz, const wb__npz_member *member, wb__finding_id id,
                      const char *what)
{
    return wb__npz_fail(npz, id, member->entry_at, member->name, what);
}

size_t wb__npz_zip64(const uint8_t *extra, size_t n, uint64_t *values, size_t count)
{
    size_t found = 0;
    while (n >= 4) {
        size_t id = wb__load_le16(extra);
        size_t len = wb__load_le16(extra + 2);
        extra += 4;
        n -= 4;
        if (len > n || id == EXTRA_UNICODE_PATH)
            return SIZE_MAX;
        if (id == EXTRA_ZIP64) {
            if (found > 0 || len % 8 != 0 || len / 8 > count || len == 0)
                return SIZE_MAX;
            for (found = 0; found < len / 8; found++)
                values[found] = wb__load_le64(extra + 8 * found);
        }
        extra += len;
        n -= len;
    }
    /* The rest is too short for a field. It may be zeros, which programs add to align data. */
    for (; n > 0; n--) {
        if (*extra++ != 0)
            return SIZE_MAX;
    }
    return found;
}

static wb_status check_name(const wb__npz *npz, const wb__npz_member *member)
{
    const uint8_t *name = (const uint8_t *)member->name.ptr;
    size_t n = member->name.len;
    bool ascii = true;
    if (n == 0 || memchr(name, 0, n) != NULL)
        return fail(npz, member, WB__FINDING_NPZ_NAME,
                    n == 0 ? WB__MSG_NPZ_NAME_EMPTY : WB__MSG_NPZ_NAME_NUL);
    for (size_t i = 0; i < n; i++)
        ascii = ascii && name[i] < 0x80;
    if (!ascii && ((member->flags & FLAG_UTF8) == 0 || wb__utf8_valid_prefix(name, n) < n))
        return fail(npz, member, WB__FINDING_NPZ_NAME, WB__MSG_NPZ_NAME_ENCODING);
    return WB_OK;
}

static wb_status check_flags(const wb__npz *npz, const wb__npz_member *member)
{
    if ((member->flags & FLAG_ENCRYPTED) != 0)
        return fail(npz, member, WB__FINDING_NPZ_FLAGS, WB__MSG_NPZ_ENCRYPTED);
    if ((member->flags & ~FLAGS_KNOWN) != 0)
        return fail(npz, member, WB__FINDING_NPZ_FLAGS, WB__MSG_NPZ_FLAGS);
    if (member->method == WB__ZIP_STORED && member->packed_bytes != member->bytes)
        return fail(npz, member, WB__FINDING_NPZ_ENTRY, WB__MSG_NPZ_STORED_SIZES);
    if (member->method != WB__ZIP_STORED && member->method != WB__ZIP_DEFLATED)
        return wb__fail(npz->context, WB_ERROR_UNSUPPORTED, WB__FINDING_NPZ_METHOD,
                        member->entry_at, member->name, WB__MSG_NPZ_METHOD, member->method);
    return WB_OK;
}

/*
 * Reads the values that do not fit in 32 bits from the zip64 field, which has them in the order of
 * `fields`. The zip64 field must not contain values that fit in 32 bits.
 */
static wb_status read_wide(const wb__npz *npz, wb__npz_member *member, const uint8_t *extra,
                           size_t n)
{
    uint64_t *const fields[] = {&member->bytes, &member->packed_bytes, &member->local_at};
    uint64_t values[3];
    size_t used = 0;
    size_t found = wb__npz_zip64(extra, n, values, 3);
    if (found == SIZE_MAX)
        return fail(npz, member, WB__FINDING_NPZ_ENTRY, WB__MSG_NPZ_EXTRA);
    for (size_t i = 0; i < 3; i++) {
        if (*fields[i] == UINT32_MAX && used < found)
            *fields[i] = values[used++];
    }
    return used == found ? WB_OK
                         : fail(npz, member, WB__FINDING_NPZ_ENTRY, WB__MSG_NPZ_ZIP64_UNUSED);
}

wb_status wb__npz_entry(wb__npz *npz, uint64_t *at, wb__npz_member *member)
{
    const uint8_t *p = npz->directory + *at;
    uint64_t left = npz->directory_bytes - *at;
    *member = (wb__npz_member){.entry_at = npz->directory_at + *at, .name = WB__STR("")};
    if (left < WB__ZIP_ENTRY || wb__load_le32(p) != UINT32_C(0x02014B50))
        return fail(npz, member, WB__FINDING_NPZ_ENTRY, WB__MSG_NPZ_ENTRY);
    size_t name = wb__load_le16(p + 28), extra = wb__load_le16(p + 30);
    uint64_t bytes = WB__ZIP_ENTRY + name + extra + wb__load_le16(p + 32);
    if (bytes > left)
        return fail(npz, member, WB__FINDING_NPZ_ENTRY, WB__MSG_NPZ_ENTRY_PAST_END);
    member->flags = wb__load_le16(p + 8);
    member->method = wb__load_le16(p + 10);
    member->crc = wb__load_le32(p + 16);
    member->packed_bytes = wb__load_le32(p + 20);
    member->bytes = wb__load_le32(p + 24);
    member->local_at = wb__load_le32(p + 42);
    member->name = (wb__str){(const char *)p + WB__ZIP_ENTRY, name};
    *at += bytes;
    wb_status status = read_wide(npz, member, p + WB__ZIP_ENTRY + name, extra);
    if (status == WB_OK && wb__load_le16(p + 34) != 0)
        status = fail(npz, member, WB__FINDING_NPZ_SPLIT, WB__MSG_NPZ_OTHER_PART);
    if (status == WB_OK)
        status = check_name(npz, member);
    if (status == WB_OK)
        status = check_flags(npz, member);
    if (status == WB_OK && !wb__in_range(member->local_at, WB__ZIP_LOCAL, npz->directory_at))
        status = fail(npz, member, WB__FINDING_NPZ_EXTENT, WB__MSG_NPZ_MEMBER_START);
    return status;
}
