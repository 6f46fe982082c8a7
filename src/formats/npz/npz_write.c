/*
 * Writes an archive byte for byte as numpy.savez does (NumPy 2, Python's zipfile): uncompressed
 * members in the given order, local headers with a zip64 field, the earliest zip time stamp.
 *
 * A local header contains the checksum of the data that follows it. In a file, the local headers
 * are therefore written last. In a stream, data descriptors after the data contain the checksums,
 * as in zipfile.
 */
#include "core/crc32.h"
#include "formats/formats_messages.h"
#include "formats/npz/npz.h"

#define VERSION 45       /* minimum zip version with zip64 */
#define UNIX 3           /* code of the operating system that created the archive */
#define DATE 33          /* 1 January 1980 */
#define PERMISSIONS 0600 /* file permissions of a member */
#define FLAG_UTF8 0x0800u
#define NARROW_MAX INT32_MAX /* for larger numbers, Python's zipfile uses zip64 */
#define ENTRIES_MAX UINT16_MAX
#define DESCRIPTOR 24

typedef struct archive {
    wb__context *context;
    wb__out_file *file;
    wb__crc32 crc32;
    uint64_t *locals; /* file offset of each tensor's local header */
    wb__out_piece *pieces;
    uint64_t at; /* file offset at which the next part of the archive begins */
} archive;

static void put16(wb__buffer *out, uint32_t value)
{
    const uint8_t bytes[2] = {(uint8_t)(value & 0xFF), (uint8_t)(value >> 8 & 0xFF)};
    wb__buffer_add(out, bytes, sizeof bytes);
}

static void put32(wb__buffer *out, uint32_t value)
{
    uint8_t bytes[4];
    wb__store_le32(bytes, value);
    wb__buffer_add(out, bytes, sizeof bytes);
}

static void put64(wb__buffer *out, uint64_t value)
{
    uint8_t bytes[8];
    wb__store_le64(bytes, value);
    wb__buffer_add(out, bytes, sizeof bytes);
}

static wb_status fail(const archive *a, wb_status status, wb__finding_id id, wb__str name,
                      const char *what)
{
    return wb__fail(a->context, status, id, WB_NO_OFFSET, name, "%s", what);
}

/*
 * Checks a tensor name. Rejects names that end in .npy, because they are ambiguous: for the name
 * "x.npy", NumPy first looks for the member x.npy, which contains the array "x", and then for
 * x.npy.npy.
 */
static wb_status check_name(const archive *a, wb__str name)
{
    if (name.len > UINT16_MAX - 4)
        return fail(a, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_NAME, name,
                    WB__MSG_NPZ_WRITE_NAME_LENGTH);
    if (memchr(name.ptr, 0, name.len) != NULL || wb__str_ends_with(name, WB__STR(".npy")))
        return fail(a, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_NAME, name, WB__MSG_NPZ_WRITE_NAME);
    if (wb__utf8_valid_prefix((const unsigned char *)name.ptr, name.len) != name.len)
        return fail(a, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_TEXT, name, WB__MSG_NPZ_WRITE_UTF8);
    return WB_OK;
}

static uint32_t flags_of(const archive *a, wb__str name)
{
    uint32_t flags = a->file->is_stream ? WB__ZIP_DESCRIPTOR : 0;
    for (size_t i = 0; i < name.len; i++)
        flags |= (unsigned char)name.ptr[i] >= 0x80 ? FLAG_UTF8 : 0;
    return flags;
}

/* Writes the flags, compression method, time and date. Local headers and directory entries both
 * have these fields before the checksum. */
static void put_common(const archive *a, wb__str name)
{
    wb__buffer *out = &a->file->header;
    put16(out, flags_of(a, name));
    put16(out, WB__ZIP_STORED);
    put16(out, 0);
    put16(out, DATE);
}

static wb_status put_local(archive *a, wb__out_tensor *tensor)
{
    wb__buffer *out = &a->file->header;
    bool is_stream = a->file->is_stream;
    wb__str name = tensor->name;
    put32(out, UINT32_C(0x04034B50));
    put16(out, VERSION);
    put_common(a, name);
    tensor->crc_at[0] = out->n;
    put32(out, 0);
    put32(out, UINT32_MAX);
    put32(out, UINT32_MAX);
    put16(out, (uint32_t)name.len + 4);
    put16(out, 20);
    wb__buffer_add(out, name.ptr, name.len);
    wb__buffer_text(out, ".npy");
    put16(out, 1);
    put16(out, 16);
    size_t sizes = out->n;
    put64(out, 0);
    put64(out, 0);
    size_t begin = out->n;
    uint64_t at;
    if (!wb__add(a->at, begin - a->pieces->from, &at))
        at = UINT64_MAX;
    wb_status status = wb__npy_put_header(a->context, out, tensor, at,
                                          a->file->align_tensors ? a->file->alignment : 0);
    if (status != WB_OK || wb__buffer_failed(out))
        return status;
    uint64_t member;
    if (!wb__add(tensor->bytes, out->n - begin, &member) || member > INT64_MAX)
        return fail(a, WB_ERROR_LIMIT, WB__FINDING_NPY_OVERFLOW, name,
                    WB__MSG_FORMATS_FILE_TOO_LARGE);
    tensor->crc = wb__crc32_add(&a->crc32, 0, out->bytes + begin, out->n - begin);
    if (!is_stream) {
        wb__store_le64(out->bytes + sizes, member);
        wb__store_le64(out->bytes + sizes + 8, member);
    }
    return WB_OK;
}

static uint64_t member_bytes(const archive *a, size_t i)
{
    const wb__out_tensor *tensor = a->file->tensors[i];
    return tensor->begin + tensor->bytes - a->locals[i] -
           (WB__ZIP_LOCAL + tensor->name.len + 4 + 20);
}

static void put_descriptor(archive *a, wb__out_tensor *tensor, uint64_t bytes)
{
    wb__buffer *out = &a->file->header;
    put32(out, UINT32_C(0x08074B50));
    tensor->crc_at[0] = out->n;
    put32(out, 0);
    put64(out, bytes);
    put64(out, bytes);
}

static void put_entry(const archive *a, size_t i)
{
    wb__buffer *out = &a->file->header;
    wb__out_tensor *tensor = a->file->tensors[i];
    uint64_t bytes = member_bytes(a, i), local = a->locals[i];
    bool wide = bytes > NARROW_MAX, far = local > NARROW_MAX;
    uint32_t values = (wide ? 2u : 0u) + (far ? 1u : 0u);
    put32(out, UINT32_C(0x02014B50));
    put16(out, VERSION | UNIX << 8);
    put16(out, VERSION);
    put_common(a, tensor->name);
    tensor->crc_at[1] = out->n;
    put32(out, 0);
    put32(out, wide ? UINT32_MAX : (uint32_t)bytes);
    put32(out, wide ? UINT32_MAX : (uint32_t)bytes);
    put16(out, (uint32_t)tensor->name.len + 4);
    put16(out, values == 0 ? 0 : 4 + 8 * values);
    put16(out, 0);
    put16(out, 0);
    put16(out, 0);
    put32(out, (uint32_t)PERMISSIONS << 16);
    put32(out, far ? UINT32_MAX : (uint32_t)local);
    wb__buffer_add(out, tensor->name.ptr, tensor->name.len);
    wb__buffer_text(out, ".npy");
    if (values != 0) {
        put16(out, 1);
        put16(out, 8 * values);
    }
    for (int twice = 0; twice < 2 && wide; twice++)
        put64(out, bytes);
    if (far)
        put64(out, local);
}

static void put_end(const archive *a, uint64_t directory_bytes)
{
    wb__buffer *out = &a->file->header;
    uint64_t count = a->file->tensor_count, end = a->at + directory_bytes;
    if (count > ENTRIES_MAX || a->at > NARROW_MAX || directory_bytes > NARROW_MAX) {
        put32(out, UINT32_C(0x06064B50));
        put64(out, 44);
        put16(out, VERSION);
        put16(out, VERSION);
        put64(out, 0);
        put64(out, count);
        put64(out, count);
        put64(out, directory_bytes);
        put64(out, a->at);
        put32(out, UINT32_C(0x07064B50));
        put32(out, 0);
        put64(out, end);
        put32(out, 1);
    }
    uint32_t narrow = count < ENTRIES_MAX ? (uint32_t)count : ENTRIES_MAX;
    put32(out, UINT32_C(0x06054B50));
    put32(out, 0);
    put16(out, narrow);
    put16(out, narrow);
    put32(out, directory_bytes < UINT32_MAX ? (uint32_t)directory_bytes : UINT32_MAX);
    put32(out, a->at < UINT32_MAX ? (uint32_t)a->at : UINT32_MAX);
    put16(out, 0);
}

static wb_status put_members(archive *a)
{
    wb__out_file *file = a->file;
    wb__buffer *out = &file->header;
    wb__out_tensor *before = NULL;
    for (size_t i = 0; i < file->tensor_count; i++, a->pieces++) {
        wb__out_tensor *tensor = file->tensors[i];
        wb_status status = check_name(a, tensor->name);
        if (status != WB_OK)
            return status;
        *a->pieces = (wb__out_piece){.at = a->at, .from = out->n};
        if (file->is_stream && before != NULL)
            put_descriptor(a, before, member_bytes(a, i - 1));
        a->locals[i] = a->at + (out->n - a->pieces->from);
        status = put_local(a, tensor);
        if (status == WB_OK)
            status = wb__out_check(a->context, file);
        if (status != WB_OK)
            return status;
        a->pieces->n = out->n - a->pieces->from;
        if (!wb__add(a->at, a->pieces->n, &tensor->begin) ||
            !wb__add(tensor->begin, tensor->bytes, &a->at) || a->at > INT64_MAX)
            return fail(a, WB_ERROR_LIMIT, WB__FINDING_NPY_OVERFLOW, tensor->name,
                        WB__MSG_FORMATS_FILE_TOO_LARGE);
        before = tensor;
    }
    return WB_OK;
}

static wb_status put_directory(archive *a)
{
    wb__out_file *file = a->file;
    wb__buffer *out = &file->header;
    size_t count = file->tensor_count;
    *a->pieces = (wb__out_piece){.at = a->at, .from = out->n};
    if (file->is_stream && count != 0) {
        put_descriptor(a, file->tensors[count - 1], member_bytes(a, count - 1));
        a->at += DESCRIPTOR;
    }
    size_t begin = out->n;
    for (size_t i = 0; i < count; i++)
        put_entry(a, i);
    size_t bytes = out->n - begin;
    if (bytes > a->context->limits.npz_directory)
        return fail(a, WB_ERROR_LIMIT, WB__FINDING_NPZ_DIRECTORY_LIMIT, WB__STR(""),
                    WB__MSG_NPZ_WRITE_DIRECTORY);
    put_end(a, bytes);
    a->pieces->n = out->n - a->pieces->from;
    file->bytes = a->pieces->at + a->pieces->n;
    for (size_t i = 0; i < count && !wb__buffer_failed(out); i++)
        wb__out_seal(file, file->tensors[i]);
    return wb__out_check(a->context, file);
}

wb_status wb__npz_write(wb__context *context, wb__out_file *file)
{
    archive a = {.context = context, .file = file};
    size_t count = file->tensor_count;
    if (file->big_endian)
        return fail(&a, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB__STR(""),
                    WB__MSG_NPZ_WRITE_BIG_ENDIAN);
    if (file->meta_count != 0)
        return fail(&a, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_META, file->metas[0]->key,
                    WB__MSG_NPZ_WRITE_META);
    file->header.ceiling = SIZE_MAX / 2;
    a.pieces = wb__arena_alloc(file->arena, (count + 1) * sizeof *a.pieces);
    a.locals = wb__arena_alloc(file->arena, (count + 1) * sizeof *a.locals);
    if (a.pieces == NULL || a.locals == NULL)
        return wb__fail_memory(context);
    wb__crc32_init(&a.crc32);
    file->pieces = a.pieces;
    file->piece_count = count + 1;
    file->has_checksums = true;
    wb_status status = put_members(&a);
    return status == WB_OK ? put_directory(&a) : status;
}
