/* Calls the function of docs/devices.md: devices MODEL. Passes on machines without CUDA. */
#include <assert.h>
#include <string.h>
#include <weighbridge.h>

typedef unsigned long long CUdeviceptr;

static void launch(CUdeviceptr address, uint64_t offset)
{
    assert(address != 0 && offset == 0);
}

#include "devices.h"

int main(int argc, char **argv)
{
    wb_model *model;
    wb_error error;
    assert(argc >= 2);
    assert(wb_open(argv[1], NULL, &model, &error) == WB_OK);
    wb_status status = multiply_on_gpu(model, &error);
    assert(status == WB_OK || strcmp(error.code, "no-driver") == 0 ||
           status == WB_ERROR_UNSUPPORTED);
    wb_close(model);
    return 0;
}
