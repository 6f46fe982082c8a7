/*
 * formats: one folder a container format, one row a format in registry.c.
 *
 * Bytes in, model out: a reader sees a cursor, never a file or a path. It goes through three steps,
 * each of which assumes only what those before it established:
 *   peek     the fixed part at the front, which says how long the header is
 *   decode   the header, once, from front to back, checking its grammar as it goes
 *   verify   what the parts of the header say of one another and of the length of the file
 * A format shows one function for all three, `read`, since what decode hands to verify is its own
 * affair. Writing is the way back: tensors and metadata in, the bytes of the header and the place of
 * every tensor out; whoever asked puts them into a file.
 *
 * To add a format: a folder with a reader, a row in registry.c, tests, a page in docs/format.
 */
#ifndef WB_FORMATS_FORMAT_H
#define WB_FORMATS_FORMAT_H

#include "core/core.h"
#include "formats/output_layout.h"
#include "model/catalog.h"

#define WB__BID_SURE 50                      /* a lower bid gives way to the file's extension */
#define WB__HEAD_BYTES 4096                  /* what a bid may look at */
#define WB__WINDOW_BYTES ((size_t)256 << 10) /* what a header passes through: stays in cache */

/* The beginning of a file. */
typedef struct wb__head {
    const uint8_t *bytes;
    size_t n;            /* the whole file, or WB__HEAD_BYTES of it */
    uint64_t file_bytes; /* length of the file */
} wb__head;

typedef struct wb__format {
    const char *name;
    const char *extension; /* with its dot; chooses the reader where nobody bids */
    /* How sure the format is that this is one of its files: 0 not at all, 100 beyond doubt. */
    int (*bid)(const wb__head *head);
    /* The cursor that `read` gets keeps what it reads, which then belongs to the file in hand. */
    bool keeps_header;
    /*
     * Reads the header of the file in hand of `model` (wb__catalog_begin_file was called; the reader
     * calls wb__catalog_end_file). The cursor stands at offset 0 and may be read to the end of the
     * file, or to the limit for headers of formats that keep them.
     */
    wb_status (*read)(wb__context *context, wb__cursor *cursor, wb__catalog *model);
    /* In the place of `read` for a format that has to be read from its end. */
    wb_status (*read_anywhere)(wb__context *context, const wb__bytes *bytes, wb__catalog *model);
    /* A file of the format can be the weights of a folder that has no better ones. */
    bool is_weights;
    /* Lays out one file; NULL: the format is only read. */
    wb_status (*write)(wb__context *context, wb__out_file *file);
} wb__format;

extern const wb__format wb__format_safetensors;
extern const wb__format wb__format_gguf;
extern const wb__format wb__format_npy;
extern const wb__format wb__format_npz;

/*
 * The format that bids highest, *by_content; that of the file name's extension, whose reader can
 * then explain what is wrong, where none bids or the highest bid is below WB__BID_SURE; or NULL.
 */
const wb__format *wb__format_choose(const wb__head *head, const char *path, bool *by_content);

/* The format whose extension the name has, or NULL. */
const wb__format *wb__format_of_extension(wb__str name);

/* The format of that name, or NULL. */
const wb__format *wb__format_named(wb__str name);

/*
 * If the first bytes leave no doubt that the file is something else (a web page, a Git LFS
 * pointer), fills context->error with that and returns true. To be shown in place of what a reader
 * finds fault with: of a web page named model.safetensors nobody wants to hear that its header is
 * too large.
 */
bool wb__explain_foreign(wb__context *context, const wb__head *head);

/* Fails with what the file is instead, as far as its first bytes tell, and with what to do. */
wb_status wb__fail_foreign(wb__context *context, const wb__head *head);

#endif
