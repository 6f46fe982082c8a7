/* Calls the functions of docs/quick-start.md: quick-start MODEL NEW_FILE */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weighbridge.h>

#include "quick-start.h"

int main(int argc, char **argv)
{
    static const uint16_t halves[3] = {0x3C00, 0x4000, 0xC000};
    static const char name[] = "model.embed_tokens.weight";
    wb_model *model, *written;
    wb_error error;
    uint64_t i, count;
    wb_tensor tensor = WB_TENSOR_INIT;
    assert(argc == 3);
    assert(wb_open(argv[1], NULL, &model, &error) == WB_OK);

    assert(wb_tensor_find(model, name, SIZE_MAX, &i) == WB_OK);
    assert(wb_tensor_at(model, i, &tensor, &error) == WB_OK);
    const unsigned char *bytes = bytes_of(model, name);
    assert(bytes != NULL && bytes_of(model, "none") == NULL);

    float *values = read_even_columns(model, i, &count, &error);
    assert(values != NULL && count == 4 * (tensor.shape[1] / 2));
    float *all = malloc(tensor.elements * sizeof *all);
    assert(all != NULL && wb_tensor_read(model, i, NULL, WB_DTYPE_F32, all,
                                         tensor.elements * sizeof *all, &error) == WB_OK);
    for (uint64_t k = 0; k < count; k++)
        assert(values[k] == all[2 * k]);
    free(all);
    free(values);
    wb_close(model);

    assert(write_matrix(argv[2], halves, 1, 3, &error) == WB_OK);
    assert(write_matrix("/none/none.gguf", halves, 1, 3, &error) != WB_OK);
    assert(wb_open(argv[2], NULL, &written, &error) == WB_OK);
    bytes = bytes_of(written, "output.weight");
    assert(bytes != NULL && memcmp(bytes, halves, sizeof halves) == 0);
    wb_close(written);
    return 0;
}
