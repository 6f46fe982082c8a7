/*
 * Compares the fast readers of safetensors headers with the slow reader, which defines the correct
 * result. For every header and any size of the window (the read buffer), in strict and compatible
 * mode, both must give the same status, error, findings, tensors and metadata. Some of the fast
 * readers parse the header in small pieces, on two threads or out of order.
 *
 * The input is a header without its length. The fast readers do not handle the last bytes before
 * the end of a header, so the input is padded with the spaces that the format permits. The file
 * size is set to what the tensors require, because no reader accesses tensor data.
 */
#include <pthread.h>

#include "support/reading.h"

#define AVX512 (WB__CPU_AVX512 | WB__CPU_VAES | WB__CPU_AES)

/* ---- executors ---- */

typedef struct half {
    size_t n;
    void (*body)(void *arg, size_t i);
    void *arg;
} half;

static void *run_odd(void *arg)
{
    const half *h = arg;
    for (size_t i = 1; i < h->n; i += 2)
        h->body(h->arg, i);
    return NULL;
}

static void run_on_two(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    half odd = {n, body, arg};
    pthread_t thread;
    (void)ctx;
    CHECK(pthread_create(&thread, NULL, run_odd, &odd) == 0);
    for (size_t i = 0; i < n; i += 2)
        body(arg, i);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void run_in_reverse(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    (void)ctx;
    while (n-- > 0)
        body(arg, n);
}

static const wb_executor two_threads = {NULL, run_on_two}, in_reverse = {NULL, run_in_reverse};

/* ---- the comparison ---- */

static void read_all_ways(const uint8_t *text, size_t size, uint64_t file_bytes, bool compatible)
{
    static const wb_executor none = {NULL, NULL};
    size_t window = WB__ST_FAST_MARGIN + size % 131, piece = WB__ST_PIECE_MIN + size % 89;
    const way ways[] = {
        /* Ways with `compatible` are run in compatible mode, too; the fast readers ignore the mode.
         */
        {wb__st_fast_portable, 0, 0, none, 0, true},
        {wb__st_fast_portable, 0, WB__ST_FAST_MARGIN + size % 89, none, 0, false},
        {wb__st_fast_portable, 0, 0, two_threads, piece, true},
        {wb__st_fast_portable, 0, window, in_reverse, piece, false},
#if WB__X86
        {wb__st_fast_avx2, WB__CPU_AVX2 | WB__CPU_AES, 0, none, 0, false},
        {wb__st_fast_avx512, AVX512, 0, none, 0, false},
        {wb__st_fast_avx512, AVX512, window, none, 0, false},
        {wb__st_fast_avx512, AVX512, window, two_threads, piece, false},
#endif
        {NULL, 0, 16, none, 0, true},
    };
    const way reference = {.compatible = compatible};
    uint32_t features = wb__cpu_features();
    reading slow, fast;
    read_header(&slow, text, size, file_bytes, &reference);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        way how = ways[i];
        if ((features & how.features) != how.features || (compatible && !how.compatible))
            continue;
        how.compatible = compatible;
        read_header(&fast, text, size, file_bytes, &how);
        compare_readings(&slow, &fast);
        end_reading(&fast);
    }
    end_reading(&slow);
}

/* Returns the length that a file with this header must have to end after its last tensor; 0 if
 * unknown. */
static uint64_t fitting_length(const uint8_t *text, size_t size)
{
    reading r;
    uint64_t end = 0;
    /* If the file length is UINT64_MAX and the header is valid, the only error is that bytes follow
     * the last tensor. The offset of this error is the end of the last tensor. */
    read_header(&r, text, size, UINT64_MAX, &(way){.compatible = true});
    if (r.status != WB_OK && strcmp(r.error.code, "safetensors-coverage") == 0)
        end = r.error.offset;
    end_reading(&r);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t padding = WB__ST_FAST_MARGIN;
    size_t header = size + padding;
    uint8_t *text = malloc(WB__ST_LENGTH_BYTES + header);
    CHECK(text != NULL);
    wb__store_le64(text, header);
    if (size > 0)
        memcpy(text + WB__ST_LENGTH_BYTES, data, size);
    memset(text + WB__ST_LENGTH_BYTES + size, ' ', padding);
    size_t whole = WB__ST_LENGTH_BYTES + header;

    uint64_t fitting = fitting_length(text, whole);
    if (fitting < whole)
        fitting = whole;
    read_all_ways(text, whole, fitting, false);
    read_all_ways(text, whole, fitting, true);
    /* All readers share the code that reports missing data, so one input in four suffices. */
    if (fitting != whole && size % 4 == 0)
        read_all_ways(text, whole, whole, false);
    free(text);
    return 0;
}
