#include "formats/formats_messages.h"
#include "formats/npz/npz.h"

#define PIECE 1024 /* read size in bytes; holds the headers of nearly every array */

static wb_status fail(const wb__npz *npz, const wb__npz_member *member, wb__finding_id id,
                      uint64_t at, const char *what)
{
    return wb__npz_fail(npz, id, at, member->name, what);
}

/*
 * Makes the n bytes at file offset `at` available. If n is less than PIECE, makes PIECE bytes
 * available, but none beyond the start of the directory. Bytes that are already in the buffer are
 * not read again. The caller guarantees that the file contains the n bytes.
 */
static wb_status fetch(wb__npz *npz, uint64_t at, size_t n, const uint8_t **bytes)
{
    uint64_t end = npz->piece_at + npz->piece_bytes;
    size_t kept = at >= npz->piece_at && at <= end ? (size_t)(end - at) : 0;
    if (kept < n) {
        uint64_t left = npz->directory_at - at;
        size_t wanted = n > PIECE ? n : left < PIECE ? (size_t)left : PIECE;
        if (kept > 0)
            memmove(npz->piece, npz->piece + (at - npz->piece_at), kept);
        if (!wb__grow(&npz->context->allocator, (void **)&npz->piece, &npz->piece_capacity, 1,
                      wanted, SIZE_MAX))
            return wb__fail_memory(npz->context);
        npz->piece_at = at;
        npz->piece_bytes = kept;
        wb_status status = npz->bytes->read(npz->bytes->ctx, npz->context, at + kept,
                                            npz->piece + kept, wanted - kept);
        if (status != WB_OK)
            return status;
        npz->piece_bytes = wanted;
    }
    *bytes = npz->piece + (at - npz->piece_at);
    return WB_OK;
}

/* ---- the local header ---- */

/*
 * Returns true if a size or checksum in the local header equals the one in the directory entry. The
 * value in the local header may also be zero if a data descriptor follows the member.
 */
static bool agrees(const wb__npz_member *member, uint64_t local, uint64_t said)
{
    return local == said || (local == 0 && (member->flags & WB__ZIP_DESCRIPTOR) != 0);
}

static bool is_same(const wb__npz_member *member, const uint8_t *p, size_t extra)
{
    uint64_t bytes = wb__load_le32(p + 22), packed = wb__load_le32(p + 18);
    uint64_t wide[2];
    size_t found = wb__npz_zip64(p + WB__ZIP_LOCAL + member->name.len, extra, wide, 2);
    if (found == SIZE_MAX || found == 1)
        return false;
    /* A zip64 field must contain both sizes. Each 32-bit size must then be UINT32_MAX or equal
     * the 64-bit size. */
    if (found == 2) {
        if (bytes != UINT32_MAX && !agrees(member, bytes, wide[0]))
            return false;
        if (packed != UINT32_MAX && !agrees(member, packed, wide[1]))
            return false;
        bytes = wide[0];
        packed = wide[1];
    }
    return wb__load_le16(p + 6) == member->flags && wb__load_le16(p + 8) == member->method &&
           agrees(member, wb__load_le32(p + 14), member->crc) &&
           agrees(member, packed, member->packed_bytes) && agrees(member, bytes, member->bytes);
}

/* Checks the local header. Sets *data_at to the file offset of the member's data. */
static wb_status read_local(wb__npz *npz, const wb__npz_member *member, uint64_t *data_at)
{
    const uint8_t *p = NULL;
    uint64_t at = member->local_at;
    wb_status status = fetch(npz, at, WB__ZIP_LOCAL, &p);
    if (status != WB_OK)
        return status;
    if (wb__load_le32(p) != UINT32_C(0x04034B50))
        return fail(npz, member, WB__FINDING_NPZ_LOCAL, at, WB__MSG_NPZ_NO_LOCAL);
    size_t name = wb__load_le16(p + 26), extra = wb__load_le16(p + 28);
    if (!wb__in_range(at, WB__ZIP_LOCAL + name + extra, npz->directory_at))
        return fail(npz, member, WB__FINDING_NPZ_EXTENT, at, WB__MSG_NPZ_LOCAL_EXTENT);
    status = fetch(npz, at, WB__ZIP_LOCAL + name + extra, &p);
    if (status != WB_OK)
        return status;
    if (name != member->name.len || memcmp(p + WB__ZIP_LOCAL, member->name.ptr, name) != 0)
        return fail(npz, member, WB__FINDING_NPZ_LOCAL, at, WB__MSG_NPZ_LOCAL_NAME);
    if (!is_same(member, p, extra))
        return fail(npz, member, WB__FINDING_NPZ_LOCAL, at, WB__MSG_NPZ_LOCAL_DIFFERS);
    *data_at = at + WB__ZIP_LOCAL + name + extra;
    return WB_OK;
}

/* Checks the data descriptor. It may start with PK\7\8 and may have sizes of 4 or 8 bytes. */
static wb_status check_descriptor(wb__npz *npz, const wb__npz_member *member, uint64_t at,
                                  uint64_t *end)
{
    uint8_t forms[4][24];
    static const size_t lengths[4] = {16, 24, 12, 20};
    for (int form = 0; form < 4; form++) {
        uint8_t *to = forms[form];
        if (form < 2) {
            memcpy(to, "PK\7\10", 4);
            to += 4;
        }
        wb__store_le32(to, member->crc);
        if (form % 2 == 0) {
            wb__store_le32(to + 4, (uint32_t)member->packed_bytes);
            wb__store_le32(to + 8, (uint32_t)member->bytes);
        } else {
            wb__store_le64(to + 4, member->packed_bytes);
            wb__store_le64(to + 12, member->bytes);
        }
    }
    uint64_t left = npz->directory_at - at;
    size_t n = left < sizeof forms[0] ? (size_t)left : sizeof forms[0];
    const uint8_t *p = NULL;
    wb_status status = fetch(npz, at, n, &p);
    if (status != WB_OK)
        return status;
    for (int form = 0; form < 4; form++) {
        if (lengths[form] <= n && memcmp(p, forms[form], lengths[form]) == 0) {
            *end = at + lengths[form];
            return WB_OK;
        }
    }
    return fail(npz, member, WB__FINDING_NPZ_LOCAL, at, WB__MSG_NPZ_DESCRIPTOR);
}

/* ---- the array ---- */

/* Decompresses an array up to byte n. The bytes before step->out are already decompressed. */
static wb_status unpack(wb__npz *npz, const wb__npz_member *member, wb__inflate_step *step,
                        uint64_t *in_at, size_t n)
{
    wb__npy *npy = &npz->npy;
    uint64_t in_end = npy->at + member->packed_bytes;
    size_t done = step->out == NULL ? 0 : (size_t)(step->out - npz->unpacked);
    if (!wb__grow(&npz->context->allocator, (void **)&npz->unpacked, &npz->unpacked_capacity, 1, n,
                  SIZE_MAX))
        return wb__fail_memory(npz->context);
    step->out = done > 0 ? npz->unpacked + done : npz->unpacked; /* NULL + 0 is undefined */
    step->out_bytes = n - done;
    while (step->out_bytes > 0) {
        if (step->in_bytes == 0 && *in_at < in_end) {
            size_t piece = in_end - *in_at < PIECE ? (size_t)(in_end - *in_at) : PIECE;
            wb_status status = fetch(npz, *in_at, piece, &step->in);
            if (status != WB_OK)
                return status;
            step->in_bytes = piece;
            *in_at += piece;
        }
        size_t room = step->out_bytes;
        wb__inflated state = wb__inflater_run(npz->inflater, step);
        if (state == WB__INFLATED_NO_MEMORY)
            return wb__fail_memory(npz->context);
        bool stuck = step->in_bytes == 0 && *in_at == in_end && step->out_bytes == room;
        if (state == WB__INFLATED_BROKEN || (state == WB__INFLATED_END && step->out_bytes > 0) ||
            stuck)
            return fail(npz, member, WB__FINDING_DEFLATE, npy->at, WB__MSG_NPZ_DEFLATE);
    }
    return WB_OK;
}

static wb_status read_deflated(wb__npz *npz, const wb__npz_member *member)
{
    wb__npy *npy = &npz->npy;
    wb__inflate_step step = {.in = NULL};
    uint64_t in_at = npy->at;
    wb_status status = WB_OK;
    if (npz->inflater == NULL)
        status = wb__inflater_new(npz->context, &npz->inflater);
    if (status != WB_OK)
        return status;
    wb__inflater_start(npz->inflater);
    size_t prefix = member->bytes < WB__NPY_PREFIX ? (size_t)member->bytes : WB__NPY_PREFIX;
    status = unpack(npz, member, &step, &in_at, prefix);
    if (status == WB_OK)
        status = wb__npy_peek(npy, npz->unpacked, prefix, member->bytes);
    if (status == WB_OK && npy->data_at > prefix)
        status = unpack(npz, member, &step, &in_at, npy->data_at);
    return status == WB_OK ? wb__npy_header(npy, npz->unpacked + npy->text_at) : status;
}

static wb_status read_stored(wb__npz *npz, const wb__npz_member *member, const uint8_t **header)
{
    wb__npy *npy = &npz->npy;
    size_t prefix = member->bytes < WB__NPY_PREFIX ? (size_t)member->bytes : WB__NPY_PREFIX;
    const uint8_t *p = NULL;
    wb_status status = fetch(npz, npy->at, prefix, &p);
    if (status == WB_OK)
        status = wb__npy_peek(npy, p, prefix, member->bytes);
    if (status == WB_OK)
        status = fetch(npz, npy->at, npy->data_at, &p);
    *header = p;
    return status == WB_OK ? wb__npy_header(npy, p + npy->text_at) : status;
}

/*
 * Checks that a member does not declare more data than deflate can produce. Bytes beyond the usual
 * compression ratio are added up over all members, and their sum is limited as well.
 */
static wb_status check_expansion(wb__npz *npz, const wb__npz_member *member)
{
    uint64_t most, usual, beyond = 0;
    if (!wb__mul(member->packed_bytes, WB__INFLATE_RATIO, &most) || member->bytes > most)
        return fail(npz, member, WB__FINDING_NPZ_EXPANSION, member->entry_at, WB__MSG_NPZ_RATIO);
    if (wb__mul(member->packed_bytes, WB__INFLATE_USUAL_RATIO, &usual) && member->bytes > usual)
        beyond = member->bytes - usual;
    if (!wb__add(npz->inflated, beyond, &npz->inflated) ||
        npz->inflated > npz->context->limits.inflated)
        return wb__fail(npz->context, WB_ERROR_LIMIT, WB__FINDING_NPZ_EXPANSION, member->entry_at,
                        member->name, WB__MSG_NPZ_INFLATED_LIMIT,
                        (unsigned long long)npz->context->limits.inflated);
    return WB_OK;
}

static wb_status read_array(wb__npz *npz, const wb__npz_member *member, uint64_t data_at)
{
    wb__npy *npy = &npz->npy;
    bool deflated = member->method == WB__ZIP_DEFLATED;
    const uint8_t *header = NULL;
    npy->at = data_at;
    npy->is_packed = deflated;
    npy->name = (wb__str){member->name.ptr, member->name.len - 4};
    wb_status status = deflated ? check_expansion(npz, member) : WB_OK;
    if (status == WB_OK)
        status = deflated ? read_deflated(npz, member) : read_stored(npz, member, &header);
    if (status != WB_OK)
        return status;
    if (deflated)
        header = npz->unpacked;
    if (npy->kind.bytes != member->bytes - npy->data_at)
        return wb__fail(npz->context, WB_ERROR_FORMAT, WB__FINDING_NPY_EXTENT, data_at, npy->name,
                        WB__MSG_NPZ_EXTENT, (unsigned long long)npy->kind.bytes,
                        (unsigned long long)(member->bytes - npy->data_at));
    wb__storing storing = {.deflated = deflated,
                           .has_crc = true,
                           .crc = member->crc,
                           .crc_before = wb__crc32_add(&npz->crc32, 0, header, npy->data_at),
                           .before = npy->data_at,
                           .packed_bytes = member->packed_bytes};
    return wb__npy_add(npy, npz->model, deflated ? data_at : data_at + npy->data_at,
                       (uint32_t)(member->entry_at - npz->directory_at), &storing);
}

wb_status wb__npz_read_member(wb__npz *npz, const wb__npz_member *member, wb__npz_extent *extent)
{
    uint64_t data_at = 0;
    *extent = (wb__npz_extent){.begin = member->local_at, .entry_at = member->entry_at};
    wb_status status = read_local(npz, member, &data_at);
    if (status != WB_OK)
        return status;
    if (!wb__in_range(data_at, member->packed_bytes, npz->directory_at))
        return fail(npz, member, WB__FINDING_NPZ_EXTENT, member->entry_at,
                    WB__MSG_NPZ_MEMBER_EXTENT);
    extent->end = data_at + member->packed_bytes;
    if (wb__str_ends_with(member->name, WB__STR(".npy")))
        status = read_array(npz, member, data_at);
    else
        npz->left_out += member->name.ptr[member->name.len - 1] != '/' || member->bytes > 0;
    if (status == WB_OK && (member->flags & WB__ZIP_DESCRIPTOR) != 0)
        status = check_descriptor(npz, member, extent->end, &extent->end);
    return status;
}
