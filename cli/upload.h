/*
 * upload.h: devices of the command, and a model's tensors on one.
 */
#ifndef WB_CLI_UPLOAD_H
#define WB_CLI_UPLOAD_H

#include <weighbridge.h>

/* Opens the device of a word, "opencl" or "cuda". 0, or an exit code after saying why not. */
int device_open(const char *word, wb_device *device);

typedef struct upload_plan {
    const wb_device *device;
    const wb_model *model;
    struct place {
        void *handle; /* NULL: nothing goes there */
        uint64_t bytes;
        int32_t dtype; /* -1: as it is stored */
        int is_borrowed;
    } *places;               /* by the number of the tensor or part */
    uint64_t count;          /* of these */
    uint64_t buffers, bytes; /* on the device */
    uint64_t borrowed;       /* bytes that were not copied */
    uint64_t ns;             /* that making the buffers took */
} upload_plan;

/*
 * A buffer on the device for every stored tensor, as it is or, if it is a plain float, of `dtype`. With
 * `borrow` bytes that are mapped serve as they are where the device can use them. Free also after a
 * failure.
 */
wb_status uploads_make(upload_plan *to, const wb_device *device, const wb_model *model,
                       int32_t dtype, int borrow, wb_error *error);
void uploads_free(upload_plan *to);

/* For wb_load_options.target. */
void *uploads_target(const upload_plan *to, const wb_piece *piece, uint64_t *offset);

/*
 * Reads everything back and compares it with the files: 0, or an exit code after saying what is wrong.
 * `compared` are the bytes.
 */
int uploads_compare(const upload_plan *to, const char *label, uint64_t *compared);

/* Bytes a second of copies to the device, from the memory it likes best, several on their way. */
double measure_upload(const wb_device *device);

#endif
