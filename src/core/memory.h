/*
 * core/memory.h: the caller's allocator, and arenas on top of it.
 *
 * Blocks are freed with the size they were allocated with, so that the default allocator can give
 * large ones straight from the kernel, on huge pages, and hand them back the same way.
 */
#ifndef WB_CORE_MEMORY_H
#define WB_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "weighbridge/base.h"

/* malloc below 1 MiB, anonymous mappings advised to use huge pages above. */
extern const wb_allocator wb__default_allocator;

static inline void *wb__alloc(const wb_allocator *a, size_t bytes)
{
    return a->alloc(a->ctx, bytes == 0 ? 1 : bytes);
}

/* As wb__alloc, cleared; does not touch what the kernel has just cleared. */
void *wb__alloc_zeroed(const wb_allocator *a, size_t bytes);

static inline void wb__free(const wb_allocator *a, void *memory, size_t bytes)
{
    if (memory != NULL)
        a->free(a->ctx, memory, bytes == 0 ? 1 : bytes);
}

/*
 * Makes *items hold at least `need` items of `item_size` bytes, at least doubling *capacity, and
 * never more than `ceiling` items. False if that is impossible or memory is out; *items is then
 * unchanged. New memory is not cleared.
 */
bool wb__grow(const wb_allocator *a, void **items, size_t *capacity, size_t item_size, size_t need,
              size_t ceiling);

/*
 * Many small blocks with one lifetime. Chunks double from 4 KiB to 1 MiB, and what would leave much of
 * one unused gets its own, so that an arena takes little more than was asked of it, beside the newest
 * chunk. Zeroed is empty and valid once `allocator` is set.
 */
typedef struct wb__arena {
    const wb_allocator *allocator;
    struct wb__arena_chunk *chunks;
    uint8_t *next;
    size_t left;
    size_t chunk_bytes; /* of the newest that is not a single block's */
} wb__arena;

/* `bytes` aligned to 8, not cleared; NULL when memory is out. */
void *wb__arena_alloc(wb__arena *arena, size_t bytes);

/* `bytes` without alignment, taken from the other end of the chunk, so that texts lie close. */
char *wb__arena_text(wb__arena *arena, size_t bytes);

/* A copy of n bytes followed by a NUL. */
char *wb__arena_copy(wb__arena *arena, const char *text, size_t n);

void wb__arena_free(wb__arena *arena);

/*
 * A list whose items never move: chunks of them in an arena, and a directory of the chunks. Growing
 * it never holds two copies, which matters where a stranger decides how many items there are.
 */
typedef struct wb__list {
    wb__arena *arena;
    uint8_t **chunks;
    size_t chunk_capacity;
    size_t item_size;
    size_t count;
} wb__list;

#define WB__LIST_CHUNK 256 /* items */

/* Appends an uninitialised item and returns it; NULL when memory is out. */
void *wb__list_append(wb__list *list);
void wb__list_free(wb__list *list); /* the directory; the items go with the arena */

static inline void *wb__list_at(const wb__list *list, size_t i)
{
    return list->chunks[i / WB__LIST_CHUNK] + i % WB__LIST_CHUNK * list->item_size;
}

/*
 * For memory that others write: a library that was not compiled with this one, or the kernel without a call.
 * MemorySanitizer does not see that, and has to be told.
 */
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
