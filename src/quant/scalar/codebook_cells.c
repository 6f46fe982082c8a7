/*
 * Computes the cells and the lists of neighbours of the codebooks (wb__codebook in codebooks.h). As
 * constants, these arrays would add 2 MiB to every copy of the library. They are computed when an
 * encoder first needs them, once per process. Until then, the operating system provides no memory
 * for them, because they are zero-initialised.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "quant/scalar/codebooks.h"

/* Number of cells: the largest possible code plus one. */
#define CELLS_2 0xAAAB /* for eight 2-bit coordinates of at most 2 */
#define CELLS_3 0x1000 /* for four 3-bit coordinates */

typedef struct cells_job {
    const uint16_t *codes;
    size_t count;
    unsigned bits;   /* bits per coordinate */
    unsigned levels; /* number of values of a coordinate */
    unsigned shells; /* number of different distances in a list of neighbours */
    uint32_t *cells;
    uint16_t *near;
} cells_job;

#define HALF_MAX 256  /* maximum number of different halves of a code */
#define DISTANCES 256 /* more than the largest squared distance, 4 · 7² */

static bool is_code(const cells_job *job, unsigned code)
{
    unsigned mask = (1u << job->bits) - 1;
    for (; code != 0; code >>= job->bits) {
        if ((code & mask) >= job->levels)
            return false;
    }
    return true;
}

/* Computes the squared distances from one half of a code to all possible halves. */
static void half_distances(unsigned bits, unsigned half, uint8_t *distances)
{
    unsigned half_bits = bits == 2 ? 8 : 6;
    int mask = (1 << bits) - 1;
    for (unsigned other = 0; other < 1u << half_bits; other++) {
        int sum = 0;
        for (unsigned at = 0; at < half_bits; at += bits) {
            int difference =
                (int)(half >> at & (unsigned)mask) - (int)(other >> at & (unsigned)mask);
            sum += difference * difference;
        }
        distances[other] = (uint8_t)sum;
    }
}

/*
 * Appends the list of neighbours of `code` to job->near, at index *used. A counting sort orders
 * them by distance, and keeps points at equal distances in the order of their numbers.
 */
static void find_near(const cells_job *job, unsigned code, size_t *used)
{
    uint8_t low[HALF_MAX], high[HALF_MAX];
    uint32_t place[DISTANCES] = {0};
    unsigned half_bits = job->bits == 2 ? 8 : 6;
    unsigned mask = (1u << half_bits) - 1;
    half_distances(job->bits, code & mask, low);
    half_distances(job->bits, code >> half_bits, high);
    for (size_t i = 0; i < job->count; i++)
        place[low[job->codes[i] & mask] + high[job->codes[i] >> half_bits]]++;
    uint32_t total = 0;
    unsigned shells = 0, reach = 0;
    for (; reach < DISTANCES && shells < job->shells; reach++) {
        uint32_t here = place[reach];
        place[reach] = total;
        total += here;
        shells += here != 0;
    }
    for (size_t i = 0; i < job->count; i++) {
        unsigned distance = low[job->codes[i] & mask] + high[job->codes[i] >> half_bits];
        if (distance < reach)
            job->near[*used + place[distance]++] = job->codes[i];
    }
    job->cells[code] = total << 20 | (uint32_t)*used;
    *used += total;
}

static void compute(const cells_job *job)
{
    unsigned codes = job->bits == 2 ? CELLS_2 : CELLS_3;
    size_t point = 0, used = 0;
    for (unsigned code = 0; code < codes; code++) {
        if (point < job->count && job->codes[point] == code)
            job->cells[code] = (uint32_t)point++;
        else if (is_code(job, code))
            find_near(job, code, &used);
    }
}

/* NEAR is the total number of neighbours of all codes. The unit tests verify it. */
#define CODEBOOK(name, BITS, LEVELS, SHELLS, NEAR)                                                 \
    static uint32_t cells_##name[(BITS) == 2 ? CELLS_2 : CELLS_3];                                 \
    static uint16_t near_##name[(NEAR) + WB__NEAR_SLACK];                                          \
    static pthread_once_t once_##name = PTHREAD_ONCE_INIT;                                         \
    static void compute_##name(void)                                                               \
    {                                                                                              \
        compute(&(const cells_job){wb__codes_##name,                                               \
                                   sizeof wb__codes_##name / sizeof wb__codes_##name[0], BITS,     \
                                   LEVELS, SHELLS, cells_##name, near_##name});                    \
    }

CODEBOOK(iq2_xxs, 2, 3, 2, 113157)
CODEBOOK(iq2_xs, 2, 3, 2, 181721)
CODEBOOK(iq2_s, 2, 3, 1, 44716)
CODEBOOK(iq1, 2, 3, 3, 327721)
CODEBOOK(iq3_xxs, 3, 8, 2, 18985)
CODEBOOK(iq3_s, 3, 8, 3, 24733)

#define ROW(name) {{wb__codes_##name, cells_##name, near_##name}, &once_##name, compute_##name}

static const struct codebook_row {
    wb__codebook book;
    pthread_once_t *once;
    void (*compute)(void);
} rows[WB__CODEBOOKS] = {
    [WB__CODEBOOK_IQ2_XXS] = ROW(iq2_xxs), [WB__CODEBOOK_IQ2_XS] = ROW(iq2_xs),
    [WB__CODEBOOK_IQ2_S] = ROW(iq2_s),     [WB__CODEBOOK_IQ1] = ROW(iq1),
    [WB__CODEBOOK_IQ3_XXS] = ROW(iq3_xxs), [WB__CODEBOOK_IQ3_S] = ROW(iq3_s),
};

const wb__codebook *wb__codebook_get(wb__codebook_id id)
{
    (void)pthread_once(rows[id].once, rows[id].compute);
    return &rows[id].book;
}
