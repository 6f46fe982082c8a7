/* Prints the largest magnitude in each BF16 and F32 tensor, read directly from the mapped file:
 * zero_copy PATH
 *
 * The weights are neither copied nor allocated. The kernel loads the pages that the loop reads, and
 * may evict them again.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <weighbridge.h>

/* Tensor data in a file may be unaligned for its dtype, so memcpy loads the values. */
static float load(const unsigned char *bytes, wb_dtype dtype, uint64_t i)
{
    uint32_t bits = 0;
    float value;
    if (dtype == WB_DTYPE_BF16) {
        uint16_t half;
        memcpy(&half, bytes + 2 * i, sizeof half);
        bits = (uint32_t)half << 16;
    } else {
        memcpy(&bits, bytes + 4 * i, sizeof bits);
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

static wb_status show_largest(const wb_model *model, uint64_t index, wb_error *error)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    const void *bytes;
    wb_status status = wb_tensor_at(model, index, &tensor, error);
    if (status != WB_OK || (tensor.dtype != WB_DTYPE_BF16 && tensor.dtype != WB_DTYPE_F32))
        return status;
    status = wb_tensor_data(model, index, &bytes, error); /* valid until wb_close */
    if (status != WB_OK)
        return status;
    float largest = 0;
    for (uint64_t i = 0; i < tensor.elements; i++)
        largest = fmaxf(largest, fabsf(load(bytes, tensor.dtype, i)));
    printf("%-50.*s %g\n", (int)tensor.name_len, tensor.name, (double)largest);
    return WB_OK;
}

int main(int argc, char **argv)
{
    wb_model *model;
    wb_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: %s PATH\n", argv[0]);
        return 2;
    }
    wb_status status = wb_open(argv[1], NULL, &model, &error);
    if (status == WB_OK) {
        for (uint64_t i = 0; i < wb_tensor_count(model) && status == WB_OK; i++)
            status = show_largest(model, i, &error);
        wb_close(model);
    }
    if (status != WB_OK)
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    return status != WB_OK;
}
