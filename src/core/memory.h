/*
 * core/memory.h: the caller's allocator, and arenas on top of it.
 *
 * wb__free gets the size with which the block was allocated. The default allocator can therefore
 * map large blocks directly from the kernel, on huge pages, and unmap them.
 */
#ifndef WB_CORE_MEMORY_H
#define WB_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "weighbridge/base.h"

/* Uses malloc for blocks below 1 MiB, and anonymous mappings with huge pages for larger blocks. */
extern const wb_allocator wb__default_allocator;

static inline void *wb__alloc(const wb_allocator *a, size_t bytes)
{
    return a->alloc(a->ctx, bytes == 0 ? 1 : bytes);
}

/* As wb__alloc, but returns zeroed memory. Does not write to memory that the kernel has already
 * zeroed. */
void *wb__alloc_zeroed(const wb_allocator *a, size_t bytes);

/*
 * Makes the kernel map the pages of a range of memory now, without changing their contents. If
 * several threads write to a huge page before it is mapped, each of them clears a page, and all but
 * one of these pages are discarded.
 */
void wb__prefault(void *memory, size_t bytes);

static inline void wb__free(const wb_allocator *a, void *memory, size_t bytes)
{
    if (memory != NULL)
        a->free(a->ctx, memory, bytes == 0 ? 1 : bytes);
}

/*
 * Grows *items to at least `need` items of `item_size` bytes. *capacity doubles below 1 MiB and
 * grows by half from 1 MiB on; it grows to `need` if that is more. It never exceeds `ceiling`
 * items. Returns false and leaves *items unchanged if `need` exceeds `ceiling` or memory runs out.
 * New memory is not cleared.
 */
bool wb__grow(const wb_allocator *a, void **items, size_t *capacity, size_t item_size, size_t need,
              size_t ceiling);

/*
 * An arena allocates many small blocks that are freed together. Chunk sizes double from 4 KiB to 1
 * MiB. A block that would leave much of a chunk unused gets a chunk of its own. An arena thus uses
 * little more memory than the requested bytes plus the newest chunk. A zero-initialised arena is
 * empty and valid once `allocator` is set.
 */
typedef struct wb__arena {
    const wb_allocator *allocator;
    struct wb__arena_chunk *chunks;
    uint8_t *next;
    size_t left;
    size_t chunk_bytes; /* size of the newest chunk that holds several blocks, in bytes */
} wb__arena;

/* Returns `bytes` uninitialised bytes at an address aligned to 8, or NULL if memory runs out. */
void *wb__arena_alloc(wb__arena *arena, size_t bytes);

/* Returns `bytes` unaligned bytes, or NULL if memory runs out. Takes them from the end of the chunk
 * (wb__arena_alloc takes from its start), so that strings are stored without padding between
 * them. */
char *wb__arena_text(wb__arena *arena, size_t bytes);

/* Returns a copy of n bytes, followed by a NUL. */
char *wb__arena_copy(wb__arena *arena, const char *text, size_t n);

void wb__arena_free(wb__arena *arena);

/*
 * A list whose items never move. The arena holds chunks of items, and `chunks` is an array of
 * pointers to them. Growing the list never copies the items, which limits memory use if an
 * untrusted file determines the number of items.
 */
typedef struct wb__list {
    wb__arena *arena;
    uint8_t **chunks;
    size_t chunk_capacity;
    size_t item_size;
    size_t count;
} wb__list;

#define WB__LIST_CHUNK 256 /* items per chunk */

/* Appends an uninitialised item and returns it, or NULL if memory runs out. */
void *wb__list_append(wb__list *list);
void wb__list_free(wb__list *list); /* frees `chunks`; the items are freed with the arena */

static inline void *wb__list_at(const wb__list *list, size_t i)
{
    return list->chunks[i / WB__LIST_CHUNK] + i % WB__LIST_CHUNK * list->item_size;
}

/* Marks memory as initialised for MemorySanitizer. MemorySanitizer does not see writes by libraries
 * compiled without it, nor writes by the kernel outside of system calls. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WB__INITIALISED(address, n) __msan_unpoison(address, n)
#endif
#endif
#ifndef WB__INITIALISED
#define WB__INITIALISED(address, n) ((void)(address), (void)(n))
#endif

#endif
