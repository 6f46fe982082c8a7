/* Writes a file through wb_sink: sink_write PATH LETTER COUNT. The exit status is 0 only if the
 * file was committed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weighbridge.h"
#include "weighbridge/experimental.h"

int main(int argc, char **argv)
{
    static char block[4096];
    wb_sink *sink;
    wb_error error;
    if (argc != 4)
        return 4;
    long count = strtol(argv[3], NULL, 10);
    memset(block, argv[2][0], sizeof block);
    wb_status status = wb_sink_open(argv[1], (uint64_t)count * sizeof block, NULL, &sink, &error);
    for (long i = 0; i < count && status == WB_OK; i++) {
        status = wb_sink_write(sink, block, sizeof block, &error);
        if (status != WB_OK)
            wb_sink_discard(sink);
    }
    if (status == WB_OK)
        status = wb_sink_commit(sink, &error);
    if (status != WB_OK)
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    return status == WB_OK ? 0 : 5;
}
