/*
 * formats/npz: arrays in a zip archive, as numpy.savez and MLX write them: a member NAME.npy each.
 *
 * end of the directory, the last bytes of the file      an entry of the directory, one a member
 *   0   4  PK\5\6                                         0   4  PK\1\2
 *   4   2  number of this disk: 0                         4   4  versions, read over
 *   6   2  disk of the directory: 0                       8   2  flags
 *   8   2  entries on this disk                           10  2  method: 0 stored, 8 deflated
 *   10  2  entries                                        12  4  time, read over
 *   12  4  bytes of the directory                         16  4  CRC-32 of the unpacked bytes
 *   16  4  offset of the directory                        20  4  packed bytes
 *   20  2  n, bytes of the comment                        24  4  unpacked bytes
 *   22  n  comment, up to the end of the file             28  2  n, bytes of the name
 *                                                         30  2  m, bytes of extra fields
 * before it, in archives beyond 4 GiB (zip64)             32  2  k, bytes of the comment
 *   0   4  PK\6\7                                         34  2  disk: 0
 *   4   4  disk: 0                                        36  6  attributes, read over
 *   8   8  offset of the zip64 end                        42  4  offset of the local header
 *   16  4  disks: 1                                       46  n  name; then m and k bytes
 * before that
 *   0   4  PK\6\6                                       a local header, before the member's bytes
 *   4   8  bytes that follow: 44                          0   4  PK\3\4
 *   12  4  versions, read over                            4   2  version, read over
 *   16  8  disks: 0, 0                                    6   20 flags to unpacked bytes, as above
 *   24  8  entries on this disk                           26  2  n, bytes of the name
 *   32  8  entries                                        28  2  m, bytes of extra fields
 *   40  8  bytes of the directory                         30  n  name; then m bytes
 *   48  8  offset of the directory
 *
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT. Programs that read such archives differ
 * in what they believe where these parts contradict each other, and that is how files are made to be
 * one thing for a scanner and another for a loader. So all parts have to agree; docs/format/npy.md has
 * the rules.
 *
 * end.c finds the directory, entry.c reads one entry, member.c compares it with the local header and
 * reads the array's own header, extents.c sees that no two members share a byte; write.c is the way back.
 */
#ifndef WB_FORMATS_NPZ_NPZ_H
#define WB_FORMATS_NPZ_NPZ_H

#include "formats/npy/npy.h"
#include "inflate/inflate.h"

#define WB__ZIP_ENTRY 46
#define WB__ZIP_LOCAL 30
#define WB__ZIP_STORED 0
#define WB__ZIP_DEFLATED 8
#define WB__ZIP_DESCRIPTOR 8u /* flag: sizes and checksum stand behind the member too */

/* What an entry of the directory says of a member. */
typedef struct wb__npz_member {
    wb__str name; /* with its .npy, in the directory */
    uint64_t entry_at;
    uint64_t local_at;
    uint64_t packed_bytes;
    uint64_t bytes;
    uint32_t crc;
    uint16_t flags;
    uint16_t method;
} wb__npz_member;

/* What a member occupies: local header, bytes, data descriptor. */
typedef struct wb__npz_extent {
    uint64_t begin, end, entry_at;
} wb__npz_extent;

typedef struct wb__npz {
    wb__context *context;
    const wb__bytes *bytes;
    wb__catalog *model;
    uint64_t directory_at;
    uint64_t directory_bytes;
    uint64_t count; /* of entries */
    uint8_t *directory;
    wb__npz_extent *extents; /* `count` of them */
    uint8_t *piece;          /* of the file, piece_bytes from piece_at on */
    size_t piece_capacity;
    size_t piece_bytes;
    uint64_t piece_at;
    uint8_t *unpacked; /* the beginning of a compressed member */
    size_t unpacked_capacity;
    wb__inflater *inflater; /* NULL until something is compressed */
    wb__npy npy;            /* of the member in hand */
    wb__crc32 crc32;
    uint64_t inflated; /* bytes that compressed members have when unpacked */
    uint64_t left_out; /* members that are no arrays */
} wb__npz;

/* end.c: sets directory_at, directory_bytes and count. */
wb_status wb__npz_find(wb__npz *npz);

/* entry.c: reads the entry at *at in the directory, and moves on to the next. */
wb_status wb__npz_entry(wb__npz *npz, uint64_t *at, wb__npz_member *member);

/*
 * The zip64 values of extra fields, `count` of them into `values`, as far as there is such a field.
 * *found tells how many there are; SIZE_MAX if the fields are malformed.
 */
size_t wb__npz_zip64(const uint8_t *extra, size_t n, uint64_t *values, size_t count);

/* member.c: reads a member's header, and appends the tensor if it is an array. */
wb_status wb__npz_read_member(wb__npz *npz, const wb__npz_member *member, wb__npz_extent *extent);

/* extents.c: no two members share a byte; a finding for bytes that belong to none. */
wb_status wb__npz_check_extents(wb__npz *npz);

/* write.c */
wb_status wb__npz_write(wb__context *context, wb__out_file *file);

static inline wb_status wb__npz_fail(const wb__npz *npz, wb__finding_id id, uint64_t at,
                                     wb__str name, const char *what)
{
    return wb__fail(npz->context, WB_ERROR_FORMAT, id, at, name, "%s", what);
}

#endif
