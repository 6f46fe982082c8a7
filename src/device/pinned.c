#include "device/pinned.h"

/* The sizes of blocks are multiples of this number, so that more requests can reuse a block. */
#define UNIT ((uint64_t)64 << 10)

bool wb__pinned_open(wb__pinned *pinned)
{
    return pthread_mutex_init(&pinned->lock, NULL) == 0;
}

/* Frees the block that *at points to. Precondition: the block is not in use. */
static void drop(wb__pinned *pinned, wb__pinned_block **at)
{
    wb__pinned_block *block = *at;
    *at = block->next;
    pinned->bytes -= block->bytes;
    pinned->give_back(pinned->ctx, block->memory);
    wb__free(&pinned->allocator, block, sizeof *block);
}

/* Frees unused blocks until `bytes` more bytes fit within the limit, or no unused block is left. */
static void make_room(wb__pinned *pinned, uint64_t bytes)
{
    wb__pinned_block **at = &pinned->blocks;
    while (*at != NULL && pinned->bytes > pinned->most - bytes) {
        if ((*at)->in_use)
            at = &(*at)->next;
        else
            drop(pinned, at);
    }
}

void wb__pinned_close(wb__pinned *pinned)
{
    while (pinned->blocks != NULL)
        drop(pinned, &pinned->blocks);
    (void)pthread_mutex_destroy(&pinned->lock);
}

/* Returns the smallest free block that is large enough, or NULL. */
static wb__pinned_block *find(const wb__pinned *pinned, uint64_t bytes)
{
    wb__pinned_block *best = NULL;
    for (wb__pinned_block *block = pinned->blocks; block != NULL; block = block->next) {
        if (!block->in_use && block->bytes >= bytes && (best == NULL || block->bytes < best->bytes))
            best = block;
    }
    return best;
}

static wb__pinned_block *add(wb__pinned *pinned, uint64_t bytes)
{
    uint64_t rounded;
    size_t n;
    if (!wb__align_up(bytes, UNIT, &rounded) || rounded > pinned->most || !wb__to_size(rounded, &n))
        return NULL;
    make_room(pinned, rounded);
    if (pinned->bytes > pinned->most - rounded)
        return NULL;
    wb__pinned_block *block = wb__alloc(&pinned->allocator, sizeof *block);
    if (block == NULL)
        return NULL;
    *block = (wb__pinned_block){
        .next = pinned->blocks, .memory = pinned->get(pinned->ctx, n), .bytes = n};
    if (block->memory == NULL) {
        wb__free(&pinned->allocator, block, sizeof *block);
        return NULL;
    }
    pinned->blocks = block;
    pinned->bytes += n;
    return block;
}

void *wb__pinned_take(wb__pinned *pinned, uint64_t bytes)
{
    (void)pthread_mutex_lock(&pinned->lock);
    wb__pinned_block *block = find(pinned, bytes);
    if (block == NULL)
        block = add(pinned, bytes);
    if (block != NULL)
        block->in_use = true;
    (void)pthread_mutex_unlock(&pinned->lock);
    return block == NULL ? NULL : block->memory;
}

void wb__pinned_return(wb__pinned *pinned, const void *memory)
{
    (void)pthread_mutex_lock(&pinned->lock);
    for (wb__pinned_block *block = pinned->blocks; block != NULL; block = block->next) {
        if (block->memory == memory)
            block->in_use = false;
    }
    (void)pthread_mutex_unlock(&pinned->lock);
}
