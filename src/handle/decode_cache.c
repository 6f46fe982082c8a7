#include "handle/decode_cache.h"

#include <pthread.h>

#include "read/raw_bytes.h"

#define IDLE 8

struct wb__holder {
    wb_allocator allocator;
    pthread_mutex_t lock;
    wb__held *held[WB__HELD]; /* stay, used or not; the one asked for last comes first */
    wb__unpacker *idle[IDLE];
    size_t next; /* the place whose unpacker gives way */
};

wb__holder *wb__holder_new(const wb_allocator *allocator)
{
    wb__holder *holder = wb__alloc_zeroed(allocator, sizeof *holder);
    if (holder == NULL)
        return NULL;
    holder->allocator = *allocator;
    if (pthread_mutex_init(&holder->lock, NULL) != 0) {
        wb__free(allocator, holder, sizeof *holder);
        return NULL;
    }
    return holder;
}

static void free_held(wb__holder *holder, wb__held *held)
{
    if (held != NULL)
        wb__free(&holder->allocator, held, sizeof *held + held->bytes);
}

/* Has the one at `place` come first, and those before it one place later. */
static void put_first(wb__holder *holder, size_t place)
{
    wb__held *held = holder->held[place];
    for (; place > 0; place--)
        holder->held[place] = holder->held[place - 1];
    holder->held[0] = held;
}

void wb__holder_clear(wb__holder *holder)
{
    for (size_t i = 0; i < IDLE; i++) {
        wb__unpacker_free(holder->idle[i]);
        holder->idle[i] = NULL;
    }
    for (size_t i = 0; i < WB__HELD; i++) {
        free_held(holder, holder->held[i]);
        holder->held[i] = NULL;
    }
}

void wb__holder_free(wb__holder *holder)
{
    if (holder == NULL)
        return;
    wb__holder_clear(holder);
    (void)pthread_mutex_destroy(&holder->lock);
    wb_allocator allocator = holder->allocator;
    wb__free(&allocator, holder, sizeof *holder);
}

/* ---- whole tensors ---- */

/* In the last place, whose tensor gives way. */
static wb_status load_held(wb__holder *holder, wb__context *context, size_t tensor, size_t n,
                           wb_status (*load)(void *ctx, uint8_t *dst), void *ctx)
{
    wb__held **place = &holder->held[WB__HELD - 1];
    if (*place != NULL && (*place)->users == 0)
        free_held(holder, *place);
    *place = NULL; /* whoever uses it still frees it */
    wb__held *held = n > SIZE_MAX / 2 ? NULL : wb__alloc(&holder->allocator, sizeof *held + n);
    if (held == NULL)
        return wb__fail_memory(context);
    *held = (wb__held){.tensor = tensor, .bytes = n};
    wb_status status = load(ctx, held->data);
    if (status != WB_OK) {
        free_held(holder, held);
        return status;
    }
    *place = held;
    return WB_OK;
}

wb_status wb__holder_hold(wb__holder *holder, wb__context *context, size_t tensor, size_t n,
                          wb_status (*load)(void *ctx, uint8_t *dst), void *ctx, wb__held **held)
{
    wb_status status = WB_OK;
    size_t place = 0;
    (void)pthread_mutex_lock(&holder->lock);
    while (place < WB__HELD &&
           (holder->held[place] == NULL || holder->held[place]->tensor != tensor))
        place++;
    if (place == WB__HELD)
        status = load_held(holder, context, tensor, n, load, ctx);
    if (status == WB_OK) {
        put_first(holder, place == WB__HELD ? WB__HELD - 1 : place);
        *held = holder->held[0];
        (*held)->users++;
    }
    (void)pthread_mutex_unlock(&holder->lock);
    return status;
}

static bool is_held(const wb__holder *holder, const wb__held *held)
{
    bool is = false;
    for (size_t i = 0; i < WB__HELD && !is; i++)
        is = holder->held[i] == held;
    return is;
}

void wb__holder_release(wb__holder *holder, wb__held *held)
{
    if (held == NULL)
        return;
    (void)pthread_mutex_lock(&holder->lock);
    if (--held->users == 0 && !is_held(holder, held))
        free_held(holder, held);
    (void)pthread_mutex_unlock(&holder->lock);
}

/* ---- unpackers ---- */

wb__unpacker *wb__holder_take(wb__holder *holder, size_t tensor, uint64_t at)
{
    wb__unpacker *found = NULL;
    size_t place = 0;
    (void)pthread_mutex_lock(&holder->lock);
    for (size_t i = 0; i < IDLE; i++) { /* the one that has come furthest */
        wb__unpacker *unpacker = holder->idle[i];
        if (unpacker != NULL && wb__unpacker_tensor(unpacker) == tensor &&
            wb__unpacker_reaches(unpacker, at) &&
            (found == NULL || wb__unpacker_done(unpacker) > wb__unpacker_done(found))) {
            found = unpacker;
            place = i;
        }
    }
    if (found != NULL)
        holder->idle[place] = NULL;
    (void)pthread_mutex_unlock(&holder->lock);
    return found;
}

void wb__holder_give(wb__holder *holder, wb__unpacker *unpacker)
{
    (void)pthread_mutex_lock(&holder->lock);
    size_t place = 0;
    while (place < IDLE && holder->idle[place] != NULL)
        place++;
    if (place == IDLE) {
        place = holder->next;
        holder->next = (holder->next + 1) % IDLE;
    }
    wb__unpacker *old = holder->idle[place];
    holder->idle[place] = unpacker;
    (void)pthread_mutex_unlock(&holder->lock);
    wb__unpacker_free(old);
}
