/* Calls the functions of docs/provider.md: provider MODEL */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <weighbridge.h>

#include "provider.h"

int main(int argc, char **argv)
{
    wb_model *model;
    wb_error error;
    assert(argc >= 2);
    assert(wb_open(argv[1], NULL, &model, &error) == WB_OK);
    assert(get_weights(model, &error) == WB_OK);
    wb_close(model);
    return 0;
}
