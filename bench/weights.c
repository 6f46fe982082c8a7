/*
 * weights BF16|F32|SMALL TENSORS FILE [FIRST]: writes a safetensors file with TENSORS tensors of
 * shape [2048, 2048]. All values are finite and the same in every run. SMALL is BF16 with the
 * magnitude of real weights, 2^-9 to 2^-5. FIRST is the number in the name of the first tensor.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 2048u

static int fail(const char *why)
{
    fprintf(stderr, "weights: %s\n", why);
    return 1;
}

/* splitmix64 */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5)
        return fail("usage: weights BF16|F32|SMALL TENSORS FILE [FIRST]");
    unsigned long first = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
    unsigned long tensors = strtoul(argv[2], NULL, 10);
    int small = strcmp(argv[1], "SMALL") == 0;
    const char *dtype = small ? "BF16" : argv[1];
    int narrow = strcmp(dtype, "BF16") == 0;
    uint64_t bytes = (uint64_t)SIDE * SIDE * (narrow ? 2 : 4);
    /* mask that clears the top exponent bit of each value, so that none is infinite or NaN */
    uint64_t finite = narrow ? 0xBFFFBFFFBFFFBFFFu : 0xBFFFFFFFBFFFFFFFu;
    FILE *file = fopen(argv[3], "wb");
    char *header = malloc(200 * (tensors + 1));
    if (file == NULL || header == NULL || tensors == 0)
        return fail("no file, no memory or no tensors");
    size_t n = 8;
    for (unsigned long i = 0; i < tensors; i++)
        n += (size_t)sprintf(header + n,
                             "%c\"layer.%lu.weight\":{\"dtype\":\"%s\",\"shape\":[%u,%u],"
                             "\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                             i == 0 ? '{' : ',', first + i, dtype, SIDE, SIDE, i * bytes,
                             (i + 1) * bytes);
    header[n++] = '}';
    while (n % 8 != 0)
        header[n++] = ' ';
    for (int i = 0; i < 8; i++)
        header[i] = (char)((n - 8) >> 8 * i);
    int good = fwrite(header, 1, n, file) == n;
    uint64_t state = 1;
    for (uint64_t at = 0; at < tensors * bytes && good; at += 8) {
        uint64_t word = random_bits(&state) & finite;
        if (small)
            word = (word & 0x81FF81FF81FF81FFu) | 0x3B003B003B003B00u;
        good = fwrite(&word, 1, sizeof word, file) == sizeof word;
    }
    if (fclose(file) != 0 || !good)
        return fail("writing failed");
    return 0;
}
