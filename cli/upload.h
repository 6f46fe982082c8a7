/* upload.h: the devices that the command supports, and uploading the tensors of a model to a
 * device.
 */
#ifndef WB_CLI_UPLOAD_H
#define WB_CLI_UPLOAD_H

#include <weighbridge.h>

/* Opens the device with the given name, "opencl" or "cuda". Returns 0, or an exit code after
 * reporting the error.
 */
int device_open(const char *word, wb_device *device);

typedef struct upload_plan {
    const wb_device *device;
    const wb_model *model;
    struct place {
        void *handle; /* device buffer; NULL: the tensor is not uploaded */
        uint64_t bytes;
        int32_t dtype; /* target dtype; -1: the stored dtype */
        int is_borrowed;
    } *places;               /* indexed by tensor or part number */
    uint64_t count;          /* number of places */
    uint64_t buffers, bytes; /* number of buffers on the device, and their total size in bytes */
    uint64_t borrowed;       /* number of bytes used in place, without a copy */
    uint64_t ns;             /* time to create the buffers, in nanoseconds */
} upload_plan;

/* Creates a device buffer for each stored tensor. A tensor of plain floats is converted to `dtype`
 * (-1: no conversion); other tensors keep their encoding. If `borrow` is true, mapped bytes are
 * used in place where the device supports it. Call uploads_free also after a failure.
 */
wb_status uploads_make(upload_plan *to, const wb_device *device, const wb_model *model,
                       int32_t dtype, int borrow, wb_error *error);
void uploads_free(upload_plan *to);

/* Callback for wb_load_options.target. */
void *uploads_target(const upload_plan *to, const wb_piece *piece, uint64_t *offset);

/* Reads all buffers back and compares them with the files. Stores the number of compared bytes in
 * *compared. Returns 0, or an exit code after reporting the error.
 */
int uploads_compare(const upload_plan *to, const char *label, uint64_t *compared);

/* Returns the rate of copies to the device in bytes per second. Uses the device's preferred host
 * memory and several concurrent copies.
 */
double measure_upload(const wb_device *device);

#endif
