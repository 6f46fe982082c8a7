/*
 * provider/load_pass.h: fills many buffers in one pass over the files.
 *
 * The runs of all buffers are divided into pieces, which end between elements of their tensors, and
 * the pieces are sorted by file offset. Worker threads take them in this order, so the files are
 * read from front to back, whatever the order of the tensors in the buffers. Several workers fill
 * the pieces of a large buffer at the same time. A buffer is complete as soon as its last piece is
 * filled, while other buffers are still being filled.
 */
#ifndef WB_PROVIDER_LOAD_PASS_H
#define WB_PROVIDER_LOAD_PASS_H

#include "provider/buffer_fill.h"

/* A buffer to fill. */
typedef struct wb__pass_buffer {
    const wb__layout *layout;
    void *handle;
    wb__lost lost;
    size_t left; /* number of pieces that are not filled; set by wb__pass_run */
} wb__pass_buffer;

typedef struct wb__pass {
    wb__context *context; /* receives the error; its executor runs the workers */
    const wb_model *model;
    const wb__files *files;
    const wb_device *device;
    wb__pass_buffer *buffers;
    size_t count;
    /* Called when buffer `index` is complete, by the thread that filled its last piece. The layout
     * of the buffer is not used afterwards. */
    void (*filled)(void *ctx, size_t index);
    void *ctx;
} wb__pass;

/*
 * Fills the buffers. After a failure, the buffers with left != 0 are incomplete. If there are
 * several errors, reports that of the first piece in file order.
 */
wb_status wb__pass_run(const wb__pass *pass);

#endif
