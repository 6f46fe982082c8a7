/* Reads the input as an .npy file in memory and queries everything from the open model. */
#include "support/fuzz.h"
#include "support/whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_check_whole(data, size, "x.npy");
    return 0;
}
