/* get_output.h: the output file of wb get, as a device of the weight provider. The provider uploads
 * the buffer in pieces, which are written to the file. Memory use therefore does not depend on the
 * size of the buffer.
 */
#ifndef WB_CLI_GET_OUTPUT_H
#define WB_CLI_GET_OUTPUT_H

#include <pthread.h>

#include "weighbridge.h"
#include "weighbridge/experimental.h"

typedef struct get_output {
    const char *path;
    wb_sink *sink;        /* NULL until the provider allocates the buffer */
    pthread_mutex_t lock; /* several threads upload */
    wb_status status;     /* status of the first call that failed; WB_OK: none */
    wb_error error;       /* describes `status` */
} get_output;

/* Initializes *output and returns the device that writes to it. The file is created when the
 * provider allocates its buffer, which must be the only one.
 */
wb_device get_output_open(get_output *output, const char *path);

/* Functions of a device without memory of its own: its buffers cannot be mapped, and need not be
 * freed. */
void *get_map_nothing(void *ctx, void *handle);
void get_free_nothing(void *ctx, void *handle, uint64_t bytes);

/* Gives the file its final name if `status` is WB_OK, otherwise removes it. Returns `status`, or
 * the status of a failed write, which is then described in output->error.
 */
wb_status get_output_close(get_output *output, wb_status status);

#endif
