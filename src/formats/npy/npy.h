/*
 * formats/npy: a single array in NumPy's file format.
 *
 *   offset  bytes  content
 *   0       6      \x93NUMPY
 *   6       1      major version: 1, 2 or 3
 *   7       1      minor version: 0
 *   8       2      version 1: n, the length of the header, little-endian
 *   8       4      versions 2 and 3: n
 *   10/12   n      the header: the text of a Python dict, padded with spaces and ended by a newline
 *   …       rest   the elements, without gaps
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html; docs/format/npy.md lists
 * all checks. NumPy evaluates the dict as Python; here npy_literal.c parses the small subset of
 * Python that writers use, and rejects everything else. npy_descr.c interprets descr. A .npz file
 * is a zip archive of such files, and its reader (formats/npz) uses this reader for each member.
 */
#ifndef WB_FORMATS_NPY_NPY_H
#define WB_FORMATS_NPY_NPY_H

#include "formats/format.h"

/* number of bytes needed to determine the header length */
#define WB__NPY_PREFIX 12
/* maximum header length even if a caller sets a higher limit: the header must fit in the cursor's
 * window (WB__WINDOW_BYTES) */
#define WB__NPY_HEADER_MAX ((uint32_t)128 << 10)

typedef struct wb__npy {
    wb__context *context;
    wb__str name; /* name of the array, for messages */
    uint64_t at;  /* start of the array in the file */
    /* The array is compressed, so its bytes have no offsets in the file. Errors in its header are
     * therefore reported at `at`, the start of the compressed data. */
    bool is_packed;
    uint32_t version; /* major version */
    uint32_t text_at; /* start of the header text, relative to the magic number */
    uint32_t data_at; /* start of the elements, relative to the magic number */
    const wb__dtype *dtype;
    bool big_endian;
    bool columns; /* column-major, and the order matters for this shape */
    uint64_t *shape;
    size_t rank;
    size_t shape_capacity;
    wb__kind kind; /* kind.shape points to `shape` */
} wb__npy;

/*
 * Parses the start of an .npy file of `total` bytes. `bytes` has the first n bytes of the file; n
 * must be the smaller of WB__NPY_PREFIX and `total`. Sets version, text_at and data_at, and checks
 * data_at against `total` and the limits.
 */
wb_status wb__npy_peek(wb__npy *npy, const uint8_t *bytes, size_t n, uint64_t total);

/* Parses the header text, which starts at text_at and has data_at - text_at bytes. */
wb_status wb__npy_header(wb__npy *npy, const uint8_t *text);

/*
 * Appends the array to the current file of `model`, with its elements at `begin`. The tensor table
 * must have space for it. `where` is the offset of the array's entry in the directory of an
 * archive, or 0. Sets big_endian and columns of `storing`; the caller sets its other members.
 */
wb_status wb__npy_add(wb__npy *npy, wb__catalog *model, uint64_t begin, uint32_t where,
                      wb__storing *storing);

void wb__npy_free(wb__npy *npy);

/* Maximum header length that NumPy reads by default, in bytes. */
#define WB__NPY_HEADER_READ 10000

/*
 * npy_write.c: appends the header of an array to `out`, formatted as by NumPy. The header is padded
 * so that, if it is at file offset `at`, the elements start at a multiple of `alignment`. If
 * alignment is 0, the length of the header is a multiple of 64, as in NumPy.
 */
wb_status wb__npy_put_header(wb__context *context, wb__buffer *out, const wb__out_tensor *tensor,
                             uint64_t at, uint64_t alignment);

/* ---- internal functions of this module ---- */

/* Reports an error at an offset relative to the magic number. */
wb_status wb__npy_fail(wb__npy *npy, wb__finding_id id, uint64_t at, const char *what);

/* npy_literal.c: parses the dict. */
wb_status wb__npy_literal(wb__npy *npy, const uint8_t *text);

/*
 * npy_descr.c: writes the descr of a dtype to `descr`. Returns false if neither NumPy nor MLX can
 * read the dtype.
 */
bool wb__npy_descr_of(int32_t dtype, char descr[4]);

/* npy_descr.c: sets dtype and big_endian from descr. `at` is the offset of descr relative to the
 * magic number, for messages. */
wb_status wb__npy_descr(wb__npy *npy, wb__str descr, uint64_t at);

#endif
