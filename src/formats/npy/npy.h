/*
 * formats/npy: one array, as NumPy saves it.
 *
 *   offset  bytes  what
 *   0       6      \x93NUMPY
 *   6       1      major version: 1, 2 or 3
 *   7       1      minor version: 0
 *   8       2      version 1: n, the length of the header, little-endian
 *   8       4      versions 2 and 3: the same
 *   10, 12  n      the header: the text of a Python dict, padded with spaces to a newline
 *   …       rest   the elements, without gaps
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html; docs/format/npy.md has all
 * that is checked. NumPy evaluates the dict as Python; here literal.c reads the little of Python that
 * writers use, and refuses all else. What a descr means stands in descr.c. A .npz file is a zip archive
 * of such files, and its reader (formats/npz) uses this one for each.
 */
#ifndef WB_FORMATS_NPY_NPY_H
#define WB_FORMATS_NPY_NPY_H

#include "formats/format.h"

#define WB__NPY_PREFIX 12                        /* bytes that tell how long a header is */
#define WB__NPY_HEADER_MAX ((uint32_t)128 << 10) /* whatever the limits say: the window holds it */

typedef struct wb__npy {
    wb__context *context;
    wb__str name;     /* of the array, for messages */
    uint64_t at;      /* where it begins in the file */
    bool is_packed;   /* it is compressed: no byte of it but the first has an offset */
    uint32_t version; /* the major one */
    uint32_t text_at; /* where the header's text begins, from the magic number on */
    uint32_t data_at; /* where the elements do */
    const wb__dtype *dtype;
    bool big_endian;
    bool columns; /* column-major, and that makes a difference */
    uint64_t *shape;
    size_t rank;
    size_t shape_capacity;
    wb__kind kind; /* its shape is `shape` */
} wb__npy;

/*
 * Reads the first bytes of an array, WB__NPY_PREFIX of them or all of its `total`: sets version,
 * text_at and data_at, the latter within `total` and the limits.
 */
wb_status wb__npy_peek(wb__npy *npy, const uint8_t *bytes, size_t n, uint64_t total);

/* Reads the header's text, which begins at text_at and has data_at - text_at bytes. */
wb_status wb__npy_header(wb__npy *npy, const uint8_t *text);

/* Appends the array to the file in hand, its elements at `begin`; there is room in the table. */
wb_status wb__npy_add(wb__npy *npy, wb__catalog *model, uint64_t begin, uint32_t where,
                      wb__storing *storing);

void wb__npy_free(wb__npy *npy);

/* What NumPy reads of a header unless it is told otherwise. */
#define WB__NPY_HEADER_READ 10000

/*
 * write.c: appends the header of an array, as NumPy writes it, to `out`. Its elements come to lie at a
 * multiple of `alignment` if the header stands at `at`; 0: of 64 from its own beginning, as NumPy has it.
 */
wb_status wb__npy_put_header(wb__context *context, wb__buffer *out, const wb__out_tensor *tensor,
                             uint64_t at, uint64_t alignment);

/* ---- for the files of this room ---- */

/* Fails, at an offset from the magic number on. */
wb_status wb__npy_fail(wb__npy *npy, wb__finding_id id, uint64_t at, const char *what);

/* literal.c: the dict. */
wb_status wb__npy_literal(wb__npy *npy, const uint8_t *text);

/* descr.c: the descr of a dtype, of which NumPy or MLX knows how to read it; false: there is none. */
bool wb__npy_descr_of(int32_t dtype, char descr[4]);

/* descr.c: sets dtype and big_endian. `at` is where the text stands. */
wb_status wb__npy_descr(wb__npy *npy, wb__str descr, uint64_t at);

#endif
