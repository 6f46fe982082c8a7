/*
 * Checks that the tensors of a file cover its data without gap and overlap. MLX writes the data of
 * tensors in another order than their entries, so the tensors (100,000 in a large file) must be
 * sorted by offset. This code sorts 64-bit keys that contain the offset and the kind (index of the
 * tensor's dtype, shape and size). This takes a quarter of the time of sorting tensor indices,
 * because it reads no tensor records in random order:
 *
 *     key = (offset >> zeros) << kind_bits | kind
 *
 * Offsets are multiples of a power of two in most files, so the radix sort needs only two or three
 * passes.
 */
#include "model/tiling.h"
#include "core/checked.h"

#define DIGIT_BITS_MAX 11
#define DIGITS_MAX (1u << DIGIT_BITS_MAX)
#define PASSES_MAX ((64 + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX)

typedef struct keys {
    uint64_t *list, *spare; /* buffers of `count` keys */
    uint32_t *counts;       /* for each pass: DIGITS_MAX counts of keys, one per digit value */
    size_t count;
    unsigned zeros;       /* number of low bits that are 0 in all offsets */
    unsigned offset_bits; /* number of bits of the largest offset, without the low `zeros` bits */
    unsigned kind_bits;
    unsigned passes;
    unsigned shifts[PASSES_MAX + 1]; /* lowest bit of each digit; the last entry is the end */
} keys;

/* Returns the number of bits that a value needs. */
static unsigned bits_of(uint64_t value)
{
    unsigned bits = 0;
    for (; value != 0; value >>= 1)
        bits++;
    return bits;
}

static void measure(keys *k, const wb__table *table, const wb__catalog_file *file)
{
    uint64_t all = 0;
    for (size_t i = 0; i < k->count; i++)
        all |= wb__record_at(table, file->first_tensor + i)->begin;
    k->zeros = 0;
    while (all != 0 && (all >> k->zeros & 1) == 0)
        k->zeros++;
    k->offset_bits = bits_of(all >> k->zeros);
    k->kind_bits = bits_of(table->kinds.count);
    k->passes = (k->offset_bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    for (unsigned i = 0; i <= k->passes; i++)
        k->shifts[i] = k->kind_bits + (k->passes == 0 ? 0 : k->offset_bits * i / k->passes);
}

static size_t digit_of(const keys *k, unsigned pass, uint64_t key)
{
    uint64_t mask = (UINT64_C(1) << (k->shifts[pass + 1] - k->shifts[pass])) - 1;
    return (size_t)(key >> k->shifts[pass] & mask);
}

/* Makes the keys and counts their digits. */
static void fill(keys *k, const wb__table *table, const wb__catalog_file *file)
{
    memset(k->counts, 0, k->passes * DIGITS_MAX * sizeof *k->counts);
    for (size_t i = 0; i < k->count; i++) {
        const wb__record *record = wb__record_at(table, file->first_tensor + i);
        uint64_t key = record->begin >> k->zeros << k->kind_bits | record->kind;
        k->list[i] = key;
        for (unsigned pass = 0; pass < k->passes; pass++)
            k->counts[pass * DIGITS_MAX + digit_of(k, pass, key)]++;
    }
}

/* One pass of a stable radix sort. */
static void sort_pass(keys *k, unsigned pass)
{
    uint32_t *starts = k->counts + pass * DIGITS_MAX, sum = 0;
    for (size_t digit = 0; digit < DIGITS_MAX; digit++) {
        uint32_t count = starts[digit];
        starts[digit] = sum;
        sum += count;
    }
    for (size_t i = 0; i < k->count; i++)
        k->spare[starts[digit_of(k, pass, k->list[i])]++] = k->list[i];
    uint64_t *swapped = k->list;
    k->list = k->spare;
    k->spare = swapped;
}

static bool is_tiled(const keys *k, const wb__table *table, uint64_t *data_bytes)
{
    const uint64_t kind_mask = (UINT64_C(1) << k->kind_bits) - 1;
    uint64_t expected = 0;
    for (size_t i = 0; i < k->count; i++) {
        const wb__kind *kind = wb__list_at(&table->kinds, (size_t)(k->list[i] & kind_mask));
        if (k->list[i] >> k->kind_bits << k->zeros != expected || kind->fault != WB__KIND_SOUND ||
            !wb__add(expected, kind->bytes, &expected))
            return false;
    }
    *data_bytes = expected;
    return true;
}

bool wb__tiling_check(const wb__table *table, const wb__catalog_file *file,
                      const wb_allocator *allocator, uint64_t *data_bytes)
{
    keys k = {.count = file->tensor_count};
    measure(&k, table, file);
    if (k.offset_bits + k.kind_bits > 64)
        return false;
    /* Cannot overflow, because a table has at most WB__RECORDS_MAX records. */
    size_t bytes = 2 * k.count * sizeof *k.list + k.passes * DIGITS_MAX * sizeof *k.counts;
    uint64_t *memory = wb__alloc(allocator, bytes);
    if (memory == NULL)
        return false;
    k.list = memory;
    k.spare = memory + k.count;
    k.counts = (uint32_t *)(void *)(k.spare + k.count);
    fill(&k, table, file);
    for (unsigned pass = 0; pass < k.passes; pass++)
        sort_pass(&k, pass);
    bool tiled = is_tiled(&k, table, data_bytes);
    wb__free(allocator, memory, bytes);
    return tiled;
}
