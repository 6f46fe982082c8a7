/*
 * formats: one directory per container format, one row per format in registry.c.
 *
 * A reader converts bytes to a model: its input is a cursor, never a file or a path. Reading has
 * three steps, each of which relies only on checks of the previous steps:
 *   peek     reads the fixed part at the start, which contains the length of the header
 *   decode   parses the header once, from front to back, and checks its syntax
 *   verify   checks the fields of the header against each other and against the file length
 * A format exports a single function `read` for all three. A writer converts tensors and metadata
 * to the bytes of the header and the offset of every tensor; the caller writes them to a file.
 *
 * A new format needs a directory with a reader, a row in registry.c, tests, and a page in
 * docs/format.
 */
#ifndef WB_FORMATS_FORMAT_H
#define WB_FORMATS_FORMAT_H

#include "core/core.h"
#include "formats/output_layout.h"
#include "model/catalog.h"

/*
 * A bid is a number from 0 to 100: how certain it is that a file has the format. If the highest bid
 * is below WB__BID_SURE, the file name extension determines the format.
 */
#define WB__BID_SURE 50
#define WB__HEAD_BYTES 4096 /* number of bytes that a bid may inspect */
/* size of the read buffer for headers; small enough for the processor's cache */
#define WB__WINDOW_BYTES ((size_t)256 << 10)

/* The first bytes of a file. */
typedef struct wb__head {
    const uint8_t *bytes;
    size_t n;            /* length of the file or WB__HEAD_BYTES, whichever is smaller */
    uint64_t file_bytes; /* length of the file, in bytes */
} wb__head;

typedef struct wb__format {
    const char *name;
    /* file name extension with its dot; selects the reader if no format recognizes the content */
    const char *extension;
    /* Returns the confidence that the file has this format: 0 for none, 100 for certain. */
    int (*bid)(const wb__head *head);
    /*
     * If true, the bytes of the header stay in memory after `read`, because metadata entries refer
     * to them. They are freed with the catalog (wb__catalog_file.header_memory).
     */
    bool keeps_header;
    /*
     * Reads the header of the current file of `model`, after wb__catalog_begin_file. The reader
     * calls wb__catalog_end_file. The cursor starts at offset 0 and can be read to the end of the
     * file, or to the header limit for formats that retain their header.
     */
    wb_status (*read)(wb__context *context, wb__cursor *cursor, wb__catalog *model);
    /* Used instead of `read` if the format has its directory at the end of the file (.npz). */
    wb_status (*read_anywhere)(wb__context *context, const wb__bytes *bytes, wb__catalog *model);
    /* A file of this format can be the model of a directory (bundles/model_directory.c, rule 8). */
    bool is_weights;
    /* Computes the header and the tensor offsets of one output file; NULL: read-only format. */
    wb_status (*write)(wb__context *context, wb__out_file *file);
} wb__format;

extern const wb__format wb__format_safetensors;
extern const wb__format wb__format_gguf;
extern const wb__format wb__format_npy;
extern const wb__format wb__format_npz;

/*
 * Returns the format with the highest bid. If the highest bid is below WB__BID_SURE, returns the
 * format of the file name extension, if there is one, because the reader of that format can explain
 * the error. Returns NULL if neither is found. Sets *by_content to true if the result has the
 * highest bid, and to false if the result follows only from the extension or is NULL.
 */
const wb__format *wb__format_choose(const wb__head *head, const char *path, bool *by_content);

/* Returns the format for the file name's extension, or NULL. */
const wb__format *wb__format_of_extension(wb__str name);

/* Returns the format with this name, or NULL. */
const wb__format *wb__format_named(wb__str name);

/*
 * If the first bytes clearly belong to another file type (a web page, a Git LFS pointer), sets
 * context->error accordingly and returns true. This error replaces the reader's error, because
 * "header too large" does not help a user whose model.safetensors is a web page.
 */
bool wb__explain_foreign(wb__context *context, const wb__head *head);

/* Fails with an error that names the file type, if the first bytes show it, and gives advice. */
wb_status wb__fail_foreign(wb__context *context, const wb__head *head);

#endif
