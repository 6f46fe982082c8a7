#define _GNU_SOURCE /* for MAP_ANONYMOUS and MADV_HUGEPAGE */
#include "core/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "core/checked.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/*
 * Opening a model with a 12 MB header touches about 8 MB of fresh memory. The kernel needs 3 ms to
 * provide it in pages of 4 KiB, but 0.2 ms in huge pages (measured). Parsing the header takes 1 ms.
 * Allocations smaller than LARGE come from malloc, which can usually reuse mapped pages.
 *
 * Sanitizers only track memory from malloc, so sanitizer builds use malloc for all sizes.
 */
#define LARGE ((size_t)1 << 20)
#define HUGE_PAGE ((size_t)1 << 21)

/* Rounds up to a multiple of the huge-page size. Otherwise the last part of the block would consist
 * of 4 KiB pages. */
static size_t whole_pages(size_t bytes)
{
    return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

static void *map_large(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    /* Maps one extra huge page and unmaps both ends, so that the start is aligned to a huge page.
     * Kernels before 6.7 do not align such mappings themselves. */
    size_t padded = whole_pages(bytes) + HUGE_PAGE;
    uint8_t *base = mmap(NULL, padded, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    size_t head = (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
    size_t tail = head + whole_pages(bytes);
    if (head != 0)
        (void)munmap(base, head);
    (void)munmap(base + tail, padded - tail);
#ifdef MADV_HUGEPAGE
    (void)madvise(base + head, whole_pages(bytes), MADV_HUGEPAGE); /* only a hint, may fail */
#endif
    return base + head;
}

static void *default_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    if (!SANITIZED && bytes >= LARGE)
        return map_large(bytes);
    return malloc(bytes);
}

static void default_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    if (!SANITIZED && bytes >= LARGE)
        (void)munmap(memory, whole_pages(bytes));
    else
        free(memory);
}

const wb_allocator wb__default_allocator = {NULL, default_alloc, default_free};

void *wb__alloc_zeroed(const wb_allocator *a, size_t bytes)
{
    void *memory = wb__alloc(a, bytes);
    bool fresh = a->alloc == default_alloc && !SANITIZED && bytes >= LARGE;
    if (memory != NULL && !fresh)
        memset(memory, 0, bytes);
    return memory;
}

void wb__prefault(void *memory, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t page = 4096;
    uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (!SANITIZED && begin < end)
        (void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE); /* only a hint, may fail */
#else
    (void)memory;
    (void)bytes;
#endif
}

bool wb__grow(const wb_allocator *a, void **items, size_t *capacity, size_t item_size, size_t need,
              size_t ceiling)
{
    if (need <= *capacity)
        return true;
    if (need > ceiling)
        return false;
    size_t wanted = *capacity < 4 ? 8 : *capacity;
    /* The old and the new block exist at the same time. Large blocks grow by half: both blocks
     * together then need at most 2.5 times the bytes in use, instead of 3 times with doubling. */
    size_t more = wanted >= LARGE / item_size ? wanted / 2 : wanted;
    wanted = wanted <= ceiling && more <= ceiling - wanted ? wanted + more : ceiling;
    if (wanted < need)
        wanted = need;
    if (wanted > SIZE_MAX / item_size)
        return false;
    void *bigger = wb__alloc(a, wanted * item_size);
    if (bigger == NULL)
        return false;
    if (*items != NULL) {
        memcpy(bigger, *items, *capacity * item_size);
        wb__free(a, *items, *capacity * item_size);
    }
    *items = bigger;
    *capacity = wanted;
    return true;
}

struct wb__arena_chunk {
    struct wb__arena_chunk *older;
    size_t bytes; /* size of the chunk, including this header */
};

#define CHUNK_FIRST ((size_t)4096)
#define CHUNK_LAST ((size_t)1 << 20)

/* An allocation that does not fit in the newest chunk and is larger than 1/CHUNK_PARTS of the size
 * of the next chunk gets a chunk of its own size. */
#define CHUNK_PARTS 4

static struct wb__arena_chunk *new_chunk(wb__arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    struct wb__arena_chunk *chunk = wb__alloc(arena->allocator, sizeof *chunk + bytes);
    if (chunk != NULL)
        chunk->bytes = sizeof *chunk + bytes;
    return chunk;
}

/* Allocates a separate chunk for one block. Links it behind the newest chunk, so that the arena
 * still allocates from the newest chunk. */
static uint8_t *take_alone(wb__arena *arena, size_t bytes)
{
    struct wb__arena_chunk *chunk = new_chunk(arena, bytes);
    if (chunk == NULL)
        return NULL;
    struct wb__arena_chunk **place = arena->chunks == NULL ? &arena->chunks : &arena->chunks->older;
    chunk->older = *place;
    *place = chunk;
    return (uint8_t *)(chunk + 1);
}

static bool add_chunk(wb__arena *arena, size_t bytes)
{
    struct wb__arena_chunk *chunk = new_chunk(arena, bytes - sizeof *chunk);
    if (chunk == NULL)
        return false;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    arena->next = (uint8_t *)(chunk + 1);
    arena->left = bytes - sizeof *chunk;
    arena->chunk_bytes = bytes;
    return true;
}

/* Takes a block from the end of the free space of the newest chunk if `at_end`, otherwise from its
 * start. Adds a chunk if necessary. */
static uint8_t *take(wb__arena *arena, size_t bytes, bool at_end)
{
    if (arena->next == NULL || bytes > arena->left) {
        size_t chunk = arena->chunk_bytes == 0 ? CHUNK_FIRST : arena->chunk_bytes * 2;
        if (chunk > CHUNK_LAST)
            chunk = CHUNK_LAST;
        if (bytes > chunk / CHUNK_PARTS)
            return take_alone(arena, bytes);
        if (!add_chunk(arena, chunk))
            return NULL;
    }
    arena->left -= bytes;
    if (at_end)
        return arena->next + arena->left;
    arena->next += bytes;
    return arena->next - bytes;
}

void *wb__arena_alloc(wb__arena *arena, size_t bytes)
{
    /* Allocate at least 8 bytes, so that NULL always means failure. */
    size_t rounded = bytes == 0 ? 8 : (bytes + 7) & ~(size_t)7;
    return rounded < bytes ? NULL : take(arena, rounded, false);
}

char *wb__arena_text(wb__arena *arena, size_t bytes)
{
    return (char *)take(arena, bytes, true);
}

char *wb__arena_copy(wb__arena *arena, const char *text, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *copy = wb__arena_text(arena, n + 1);
    if (copy == NULL)
        return NULL;
    if (n != 0)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

void wb__arena_free(wb__arena *arena)
{
    while (arena->chunks != NULL) {
        struct wb__arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->older;
        wb__free(arena->allocator, chunk, chunk->bytes);
    }
    arena->next = NULL;
    arena->left = arena->chunk_bytes = 0;
}

void *wb__list_append(wb__list *list)
{
    if (list->count % WB__LIST_CHUNK == 0) {
        size_t chunk = list->count / WB__LIST_CHUNK;
        if (!wb__grow(list->arena->allocator, (void **)&list->chunks, &list->chunk_capacity,
                      sizeof *list->chunks, chunk + 1, SIZE_MAX))
            return NULL;
        list->chunks[chunk] = wb__arena_alloc(list->arena, WB__LIST_CHUNK * list->item_size);
        if (list->chunks[chunk] == NULL)
            return NULL;
    }
    return wb__list_at(list, list->count++);
}

void wb__list_free(wb__list *list)
{
    wb__free(list->arena->allocator, list->chunks, list->chunk_capacity * sizeof *list->chunks);
    list->chunks = NULL;
    list->chunk_capacity = 0;
}
