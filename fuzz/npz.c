/* Reads the input as an .npz archive in memory and queries everything from the open model. */
#include "support/fuzz.h"
#include "support/whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_check_whole(data, size, "x.npz");
    return 0;
}

#ifdef WB_FUZZ_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
    return fuzz_mutate_npz(data, size, max, seed, LLVMFuzzerMutate);
}
#endif
