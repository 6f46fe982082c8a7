/*
 * Builds the hash table of a large number of names at once, with the caller's executor.
 *
 * The slots are divided into parts of equal size. First, the tensors are sorted by the part that
 * their hash selects. Then each part is filled by one task, so that no two threads write to the
 * same slots, and the slots of a part stay in the cache. A tensor whose probe would leave its part
 * is put off until all parts are filled:
 *
 *     slots    |  part 0  |  part 1  | ...
 *                        x -> slot of the next part: inserted at the end, by one thread
 *
 * The hash table then has the same property as one that was filled in the order of the tensors: all
 * slots from the one that a hash selects to the one that contains the tensor are occupied. Repeated
 * names are not reported here, because their order matters: the caller then fills the slots again,
 * in the order of the tensors.
 */
#include "model/tensor_table.h"

#define PART_SLOTS 4096 /* a power of two */
#define PART_SHIFT 12   /* PART_SLOTS is 1 << PART_SHIFT */
#define PARTS_MAX 1024
#define CHUNK 8192     /* number of tensors that a task sorts */
#define PUT_OFF_MAX 64 /* maximum number of tensors that do not fit into their part */

typedef struct entry {
    uint32_t hash;
    uint32_t tensor;
} entry;

typedef struct part {
    bool failed; /* a name is repeated, or `list` would need more than PUT_OFF_MAX tensors */
    size_t put_off;
    uint32_t list[PUT_OFF_MAX]; /* the tensors that are inserted only at the end */
} part;

typedef struct build {
    wb__table *table;
    size_t part_count;
    size_t chunk_count;
    entry *entries;   /* the tensors of each chunk, sorted by part */
    uint32_t *starts; /* for each chunk and part, the index of its first entry */
    part *parts;
} build;

static size_t part_of(const build *b, uint32_t hash)
{
    return hash >> PART_SHIFT & (b->part_count - 1);
}

/* Sorts the tensors of a chunk by the part of the hash table to which they belong. */
static void sort_chunk(void *arg, size_t number)
{
    const build *b = arg;
    const wb__table *table = b->table;
    uint32_t *starts = b->starts + number * b->part_count, next[PARTS_MAX] = {0};
    size_t from = number * CHUNK;
    size_t to = table->count - from < CHUNK ? table->count : from + CHUNK;
    for (size_t i = from; i < to; i++)
        next[part_of(b, wb__record_at(table, i)->hash)]++;
    uint32_t start = (uint32_t)from;
    for (size_t p = 0; p < b->part_count; p++) {
        uint32_t n = next[p];
        next[p] = starts[p] = start;
        start += n;
    }
    for (size_t i = from; i < to; i++) {
        uint32_t hash = wb__record_at(table, i)->hash;
        b->entries[next[part_of(b, hash)]++] = (entry){hash, (uint32_t)i};
    }
}

/* Returns the end (in b->entries) of the entries of a chunk that belong to part `number`. */
static size_t end_of(const build *b, size_t chunk, size_t number)
{
    size_t next = chunk * b->part_count + number + 1;
    return next < b->chunk_count * b->part_count ? b->starts[next] : b->table->count;
}

static bool same_name(const wb__table *table, size_t a, size_t b)
{
    return wb__str_equal(wb__table_name(table, a), wb__table_name(table, b));
}

/* State of a task that fills one part of the slots. */
typedef struct filling {
    const wb__table *table;
    part *part;
    uint32_t *slots;
    uint32_t hashes[PART_SLOTS]; /* hash of the tensor in each slot, kept here because reading
                                  * records is slow */
} filling;

/* Inserts a tensor. If the part has no free slot for it, puts the tensor off: adds it to the list
 * of tensors to insert later. Returns false if another tensor has the same name, or the list is
 * full. */
static bool insert(filling *f, const entry *e)
{
    size_t slot = e->hash & (PART_SLOTS - 1);
    for (; slot < PART_SLOTS && f->slots[slot] != 0; slot++) {
        if (f->hashes[slot] == e->hash && same_name(f->table, f->slots[slot] - 1, e->tensor))
            return false;
    }
    if (slot < PART_SLOTS) {
        f->slots[slot] = e->tensor + 1;
        f->hashes[slot] = e->hash;
        return true;
    }
    if (f->part->put_off == PUT_OFF_MAX)
        return false;
    f->part->list[f->part->put_off++] = e->tensor;
    return true;
}

static void fill_part(void *arg, size_t number)
{
    const build *b = arg;
    filling f;
    f.table = b->table;
    f.part = &b->parts[number];
    f.slots = b->table->slots + number * PART_SLOTS;
    memset(f.slots, 0, PART_SLOTS * sizeof *f.slots);
    for (size_t c = 0; c < b->chunk_count && !f.part->failed; c++) {
        size_t end = end_of(b, c, number);
        for (size_t i = b->starts[c * b->part_count + number]; i < end && !f.part->failed; i++)
            f.part->failed = !insert(&f, &b->entries[i]);
    }
}

/* Inserts the tensors that were put off. */
static bool insert_put_off(const build *b, const part *p)
{
    for (size_t i = 0; i < p->put_off; i++) {
        size_t slot = wb__table_slot_for(b->table, p->list[i]);
        if (b->table->slots[slot] != 0)
            return false;
        b->table->slots[slot] = p->list[i] + 1;
    }
    return true;
}

static bool fill(build *b, const wb_executor *executor)
{
    bool complete = true;
    executor->parallel_for(executor->ctx, b->chunk_count, sort_chunk, b);
    executor->parallel_for(executor->ctx, b->part_count, fill_part, b);
    for (size_t p = 0; p < b->part_count; p++)
        complete = complete && !b->parts[p].failed;
    for (size_t p = 0; p < b->part_count && complete; p++)
        complete = insert_put_off(b, &b->parts[p]);
    return complete;
}

bool wb__table_fill_slots(wb__table *table, const wb_executor *executor)
{
    const wb_allocator *a = table->allocator;
    build b = {.table = table,
               .part_count = table->slot_count / PART_SLOTS,
               .chunk_count = table->count / CHUNK + (table->count % CHUNK != 0)};
    if (b.part_count == 0 || b.part_count > PARTS_MAX)
        return false;
    size_t starts = b.chunk_count * b.part_count;
    b.entries = wb__alloc(a, table->count * sizeof *b.entries);
    b.starts = wb__alloc(a, starts * sizeof *b.starts);
    b.parts = wb__alloc_zeroed(a, b.part_count * sizeof *b.parts);
    bool complete = b.entries != NULL && b.starts != NULL && b.parts != NULL && fill(&b, executor);
    wb__free(a, b.entries, table->count * sizeof *b.entries);
    wb__free(a, b.starts, starts * sizeof *b.starts);
    wb__free(a, b.parts, b.part_count * sizeof *b.parts);
    return complete;
}
