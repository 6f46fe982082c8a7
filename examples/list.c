/* Opens a model and lists its tensors: list PATH
 *
 * PATH is a model file, any shard of a sharded model, or a directory. Only the headers are read, so
 * the time does not depend on the model size.
 */
#include <inttypes.h>
#include <stdio.h>
#include <weighbridge.h>

static int list(const wb_model *model)
{
    wb_error error;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = WB_TENSOR_INIT;
        if (wb_tensor_at(model, i, &tensor, &error) != WB_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        printf("%-50.*s %-6s [", (int)tensor.name_len, tensor.name, wb_dtype_name(tensor.dtype));
        for (uint32_t d = 0; d < tensor.rank; d++)
            printf("%s%" PRIu64, d > 0 ? ", " : "", tensor.shape[d]);
        printf("] %" PRIu64 " bytes\n", tensor.bytes);
    }
    return 0;
}

int main(int argc, char **argv)
{
    wb_model *model;
    wb_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: %s PATH\n", argv[0]);
        return 2;
    }
    if (wb_open(argv[1], NULL, &model, &error) != WB_OK) {
        fprintf(stderr, "%s: %s\n%s\n", error.file, error.message, error.advice);
        return 1;
    }
    int result = list(model);
    wb_close(model);
    return result;
}
