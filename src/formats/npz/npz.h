/*
 * formats/npz: arrays in a zip archive, as written by numpy.savez and MLX. The archive has one
 * member NAME.npy per array. These are its parts, in file order:
 *
 *   offset  bytes  local header, before the data of each member
 *   0       4      PK\3\4
 *   4       2      version, ignored
 *   6       20     the fields from flags to unpacked size, as in the directory entry
 *   26      2      n, length of the name
 *   28      2      m, length of the extra fields
 *   30      n      name
 *   30 + n  m      extra fields
 *
 *   offset  bytes  directory entry, one per member
 *   0       4      PK\1\2
 *   4       4      versions, ignored
 *   8       2      flags
 *   10      2      method: 0 stored, 8 deflated
 *   12      4      time, ignored
 *   16      4      CRC-32 of the unpacked data
 *   20      4      packed size in bytes
 *   24      4      unpacked size in bytes
 *   28      2      n, length of the name
 *   30      2      m, length of the extra fields
 *   32      2      k, length of the comment
 *   34      2      disk: 0
 *   36      6      attributes, ignored
 *   42      4      offset of the local header
 *   46      n      name, then m bytes of extra fields and k bytes of comment
 *
 *   offset  bytes  zip64 end record, only in large archives
 *   0       4      PK\6\6
 *   4       8      number of bytes that follow: 44
 *   12      4      versions, ignored
 *   16      4      number of this disk: 0
 *   20      4      disk of the directory: 0
 *   24      8      number of entries on this disk
 *   32      8      number of entries
 *   40      8      size of the directory in bytes
 *   48      8      offset of the directory
 *
 *   offset  bytes  zip64 locator, only after a zip64 end record
 *   0       4      PK\6\7
 *   4       4      disk: 0
 *   8       8      offset of the zip64 end record
 *   16      4      number of disks: 1
 *
 *   offset  bytes  end record, at the end of the file
 *   0       4      PK\5\6
 *   4       2      number of this disk: 0
 *   6       2      disk of the directory: 0
 *   8       2      number of entries on this disk
 *   10      2      number of entries
 *   12      4      size of the directory in bytes
 *   16      4      offset of the directory
 *   20      2      n, length of the comment
 *   22      n      comment
 *
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT. If these parts contradict each
 * other, programs differ in which part they trust. An archive can thus show one content to a
 * scanner and another to a loader. Therefore all parts must agree; docs/format/npy.md lists the
 * rules.
 *
 * npz_end.c finds the directory. npz_entry.c reads an entry. npz_member.c compares the entry with
 * the local header and reads the array's header. npz_extents.c checks that members do not overlap.
 * npz_write.c writes archives.
 */
#ifndef WB_FORMATS_NPZ_NPZ_H
#define WB_FORMATS_NPZ_NPZ_H

#include "formats/npy/npy.h"
#include "inflate/inflate.h"

#define WB__ZIP_ENTRY 46
#define WB__ZIP_LOCAL 30
#define WB__ZIP_STORED 0
#define WB__ZIP_DEFLATED 8
#define WB__ZIP_DESCRIPTOR 8u /* flag: sizes and checksum follow the member in a data descriptor */

/* A member as described by its directory entry. */
typedef struct wb__npz_member {
    wb__str name; /* with the suffix .npy; points into the directory */
    uint64_t entry_at;
    uint64_t local_at;
    uint64_t packed_bytes;
    uint64_t bytes;
    uint32_t crc;
    uint16_t flags;
    uint16_t method;
} wb__npz_member;

/* File range of a member: local header, data, data descriptor. */
typedef struct wb__npz_extent {
    uint64_t begin, end, entry_at;
} wb__npz_extent;

typedef struct wb__npz {
    wb__context *context;
    const wb__bytes *bytes;
    wb__catalog *model;
    uint64_t directory_at;
    uint64_t directory_bytes;
    uint64_t count; /* number of entries */
    uint8_t *directory;
    wb__npz_extent *extents; /* array of `count` extents */
    uint8_t *piece;          /* read buffer: piece_bytes bytes of the file from offset piece_at */
    size_t piece_capacity;
    size_t piece_bytes;
    uint64_t piece_at;
    uint8_t *unpacked; /* the start of a compressed member, decompressed */
    size_t unpacked_capacity;
    wb__inflater *inflater; /* NULL until a compressed member is read */
    wb__npy npy;            /* header of the current member */
    wb__crc32 crc32;
    /* number of unpacked bytes beyond WB__INFLATE_USUAL_RATIO times the packed size, summed over
     * all members: a large sum indicates a zip bomb */
    uint64_t inflated;
    uint64_t left_out; /* number of members that are not arrays */
} wb__npz;

/* npz_end.c: finds the directory; sets directory_at, directory_bytes and count. */
wb_status wb__npz_find(wb__npz *npz);

/* npz_entry.c: reads the entry at *at in the directory, and advances *at to the next. */
wb_status wb__npz_entry(wb__npz *npz, uint64_t *at, wb__npz_member *member);

/*
 * Reads the zip64 values in the extra fields, at most `count`, into `values`. Returns the number of
 * values; 0 if there is no zip64 field, SIZE_MAX if the fields are malformed.
 */
size_t wb__npz_zip64(const uint8_t *extra, size_t n, uint64_t *values, size_t count);

/* npz_member.c: reads a member's header, and appends a tensor if the member is an array. */
wb_status wb__npz_read_member(wb__npz *npz, const wb__npz_member *member, wb__npz_extent *extent);

/* npz_extents.c: fails if members overlap; warns of bytes that belong to no member. */
wb_status wb__npz_check_extents(wb__npz *npz);

/* npz_write.c */
wb_status wb__npz_write(wb__context *context, wb__out_file *file);

static inline wb_status wb__npz_fail(const wb__npz *npz, wb__finding_id id, uint64_t at,
                                     wb__str name, const char *what)
{
    return wb__fail(npz->context, WB_ERROR_FORMAT, id, at, name, "%s", what);
}

#endif
