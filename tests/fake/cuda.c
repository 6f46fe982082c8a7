/* A fake CUDA driver (libcuda.so.1). Its device memory is allocated with malloc. */
#include "fake.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_OF_MEMORY = 2, INVALID_VALUE = 1, NO_CONTEXT = 201, INVALID_DEVICE = 101, DEPTH = 8 };

FAKE fake_state *fake_state_of(void);
static fake_state the_state;
fake_state *const fake_it = &the_state;

fake_state *fake_state_of(void)
{
    return fake_it;
}

typedef struct block {
    struct block *next;
    unsigned char *memory;
    size_t bytes;
} block;

typedef struct stream stream;

typedef struct copy {
    struct copy *next; /* next copy on the same stream */
    unsigned char *to;
    const unsigned char *from;
    size_t n;
    size_t number;
} copy;

struct stream {
    copy *first, **end;
    size_t number; /* number of the last copy queued on this stream */
    unsigned index;
    bool is_live;
};

typedef struct event {
    stream *on;
    size_t number; /* number of the copy that this event follows */
} event;

static block *device_blocks, *pinned_blocks;
static stream streams[64];
static int context; /* its address is the context handle */
static _Thread_local void *current[DEPTH];
static _Thread_local int depth;

__attribute__((destructor)) static void tell(void)
{
    if (fake_it->objects != 0 || fake_it->wrong != 0)
        fprintf(stderr, "fake cuda: %zu not given back, %u wrong: %s\n", fake_it->objects,
                fake_it->wrong, fake_it->complaint == NULL ? "" : fake_it->complaint);
}

static bool in_context(void)
{
    bool is_there = depth > 0 && current[depth - 1] == &context;
    if (!is_there)
        fake_complain("no context is current");
    return is_there;
}

static bool holds(const block *list, const unsigned char *memory, size_t n)
{
    for (; list != NULL; list = list->next) {
        if (memory >= list->memory && memory + n <= list->memory + list->bytes)
            return true;
    }
    return false;
}

static block *add_block(block **list, size_t bytes)
{
    block *b = malloc(sizeof *b);
    unsigned char *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (b == NULL || memory == NULL)
        abort();
    if (list == &device_blocks) /* pinned memory is not filled: that would take too long */
        memset(memory, 0xA5, bytes);
    *b = (block){*list, memory, bytes};
    *list = b;
    fake_it->objects++;
    return b;
}

static bool remove_block(block **list, const void *memory, size_t *bytes)
{
    for (; *list != NULL; list = &(*list)->next) {
        block *b = *list;
        if (b->memory != memory)
            continue;
        *bytes = b->bytes;
        *list = b->next;
        free(b->memory);
        free(b);
        fake_it->objects--;
        return true;
    }
    fake_complain("memory is freed that is not there");
    return false;
}

/* Executes the queued copies of a stream up to and including copy `number`. */
static void advance(stream *s, size_t number)
{
    while (s->first != NULL && s->first->number <= number) {
        copy *c = s->first;
        memcpy(c->to, c->from, c->n);
        s->first = c->next;
        if (s->first == NULL)
            s->end = &s->first;
        free(c);
        fake_it->pending--;
    }
}

static void complain_of_pending(const unsigned char *memory, size_t bytes)
{
    for (unsigned i = 0; i < 64; i++) {
        for (const copy *c = streams[i].is_live ? streams[i].first : NULL; c != NULL; c = c->next) {
            if ((c->to >= memory && c->to < memory + bytes) ||
                (c->from >= memory && c->from < memory + bytes))
                fake_complain("memory is freed that is being copied");
        }
    }
}

static void put_copy(stream *s, void *to, const void *from, size_t n)
{
    copy *c = malloc(sizeof *c);
    if (c == NULL)
        abort();
    *c = (copy){NULL, to, from, n, ++s->number};
    *s->end = c;
    s->end = &c->next;
    if (++fake_it->pending > fake_it->most_pending)
        fake_it->most_pending = fake_it->pending;
    fake_it->streams_used |= (uint64_t)1 << s->index;
}

/* ---- functions that the library calls ---- */

FAKE int cuInit(unsigned flags);
FAKE int cuGetErrorName(int code, const char **name);
FAKE int cuDeviceGet(int *device, int ordinal);
FAKE int cuDevicePrimaryCtxRetain(void **out, int device);
FAKE int cuDevicePrimaryCtxRelease_v2(int device);
FAKE int cuCtxPushCurrent_v2(void *which);
FAKE int cuCtxPopCurrent_v2(void **out);
FAKE int cuMemAlloc_v2(uintptr_t *out, size_t bytes);
FAKE int cuMemFree_v2(uintptr_t memory);
FAKE int cuMemHostAlloc(void **out, size_t bytes, unsigned flags);
FAKE int cuMemFreeHost(void *memory);
FAKE int cuStreamCreate(void **out, unsigned flags);
FAKE int cuStreamDestroy_v2(void *which);
FAKE int cuStreamSynchronize(void *which);
FAKE int cuEventCreate(void **out, unsigned flags);
FAKE int cuEventDestroy_v2(void *which);
FAKE int cuEventRecord(void *which, void *on);
FAKE int cuEventSynchronize(void *which);
FAKE int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t n, void *on);
FAKE int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t n, void *on);

int cuInit(unsigned flags)
{
    (void)flags;
    return fake_leave(fake_enter("cuInit"));
}

int cuGetErrorName(int code, const char **name)
{
    int mine = fake_enter("cuGetErrorName");
    *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_A_FAKE";
    return fake_leave(mine);
}

int cuDeviceGet(int *device, int ordinal)
{
    int code = fake_enter("cuDeviceGet");
    *device = 7;
    return fake_leave(code != 0 ? code : ordinal == 0 ? 0 : INVALID_DEVICE);
}

int cuDevicePrimaryCtxRetain(void **out, int device)
{
    int code = fake_enter("cuDevicePrimaryCtxRetain");
    if (device != 7)
        fake_complain("no such device");
    if (code == 0) {
        *out = &context;
        fake_it->objects++;
    }
    return fake_leave(code);
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    int code = fake_enter("cuDevicePrimaryCtxRelease");
    if (device != 7)
        fake_complain("no such device");
    fake_it->objects--;
    return fake_leave(code);
}

int cuCtxPushCurrent_v2(void *which)
{
    int code = fake_enter("cuCtxPushCurrent");
    if (which != &context || depth == DEPTH)
        fake_complain("what is pushed is no context");
    else if (code == 0)
        current[depth++] = which;
    return fake_leave(code);
}

int cuCtxPopCurrent_v2(void **out)
{
    int code = fake_enter("cuCtxPopCurrent");
    if (depth == 0)
        fake_complain("more is popped than was pushed");
    else
        *out = current[--depth];
    return fake_leave(code);
}

int cuMemAlloc_v2(uintptr_t *out, size_t bytes)
{
    int code = fake_enter("cuMemAlloc");
    if (code == 0 && (!in_context() || bytes == 0))
        code = INVALID_VALUE;
    if (code == 0 && fake_it->room != 0 && fake_it->bytes + bytes > fake_it->room)
        code = OUT_OF_MEMORY;
    if (code == 0) {
        *out = (uintptr_t)add_block(&device_blocks, bytes)->memory;
        fake_it->buffers++;
        fake_it->bytes += bytes;
    }
    return fake_leave(code);
}

int cuMemFree_v2(uintptr_t memory)
{
    int code = fake_enter("cuMemFree");
    size_t bytes = 0;
    for (const block *b = device_blocks; b != NULL; b = b->next) {
        if (b->memory == (unsigned char *)memory)
            complain_of_pending(b->memory, b->bytes);
    }
    if (remove_block(&device_blocks, (void *)memory, &bytes)) {
        fake_it->buffers--;
        fake_it->bytes -= bytes;
    }
    return fake_leave(code);
}

int cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    int code = fake_enter("cuMemHostAlloc");
    if (code == 0 && (!in_context() || bytes == 0 || flags != 1))
        code = INVALID_VALUE;
    if (code == 0) {
        *out = add_block(&pinned_blocks, bytes)->memory;
        fake_it->pinned++;
    }
    return fake_leave(code);
}

int cuMemFreeHost(void *memory)
{
    int code = fake_enter("cuMemFreeHost");
    size_t bytes = 0;
    for (const block *b = pinned_blocks; b != NULL; b = b->next) {
        if (b->memory == memory)
            complain_of_pending(b->memory, b->bytes);
    }
    if (remove_block(&pinned_blocks, memory, &bytes))
        fake_it->pinned--;
    return fake_leave(code);
}

int cuStreamCreate(void **out, unsigned flags)
{
    int code = fake_enter("cuStreamCreate");
    unsigned i = 0;
    while (i < 63 && streams[i].is_live)
        i++;
    if (code == 0 && (!in_context() || flags != 1 || streams[i].is_live))
        code = INVALID_VALUE;
    if (code == 0) {
        streams[i] = (stream){.end = &streams[i].first, .index = i, .is_live = true};
        *out = &streams[i];
        fake_it->objects++;
    }
    return fake_leave(code);
}

int cuStreamDestroy_v2(void *which)
{
    int code = fake_enter("cuStreamDestroy");
    stream *s = which;
    if (!s->is_live)
        fake_complain("a stream is destroyed that is none");
    if (s->first != NULL)
        fake_complain("a stream is destroyed before its copies are done");
    advance(s, SIZE_MAX);
    s->is_live = false;
    fake_it->objects--;
    return fake_leave(code);
}

int cuStreamSynchronize(void *which)
{
    int code = fake_enter("cuStreamSynchronize");
    advance(which, SIZE_MAX);
    return fake_leave(code);
}

int cuEventCreate(void **out, unsigned flags)
{
    int code = fake_enter("cuEventCreate");
    if (code == 0 && (!in_context() || (flags & 2) == 0))
        code = INVALID_VALUE;
    if (code == 0) {
        *out = calloc(1, sizeof(event));
        if (*out == NULL)
            abort();
        fake_it->objects++;
    }
    return fake_leave(code);
}

int cuEventDestroy_v2(void *which)
{
    int code = fake_enter("cuEventDestroy");
    free(which);
    fake_it->objects--;
    return fake_leave(code);
}

int cuEventRecord(void *which, void *on)
{
    int code = fake_enter("cuEventRecord");
    event *e = which;
    stream *s = on;
    if (code == 0 && !in_context())
        code = NO_CONTEXT;
    if (code == 0)
        *e = (event){s, s->number};
    return fake_leave(code);
}

/* Completes the copies even if this call is set to fail (fail_at): the caller may free the memory
 * after a failure, so no copy may be pending then. */
int cuEventSynchronize(void *which)
{
    int code = fake_enter("cuEventSynchronize");
    event *e = which;
    if (e->on == NULL)
        fake_complain("what is waited for was not recorded");
    else
        advance(e->on, e->number);
    return fake_leave(code);
}

int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t n, void *on)
{
    int code = fake_enter("cuMemcpyHtoDAsync");
    if (code == 0 && !in_context())
        code = NO_CONTEXT;
    if (!holds(device_blocks, (unsigned char *)to, n)) {
        fake_complain("a copy goes past its buffer");
        code = INVALID_VALUE;
    }
    if (code != 0)
        return fake_leave(code);
    stream *s = on;
    fake_it->copied += n;
    put_copy(s, (void *)to, from, n);
    if (!holds(pinned_blocks, from,
               n)) { /* the driver copies from pageable memory before it returns */
        advance(s, SIZE_MAX);
        fake_it->from_elsewhere++;
    }
    return fake_leave(0);
}

int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t n, void *on)
{
    int code = fake_enter("cuMemcpyDtoHAsync");
    if (code == 0 && !in_context())
        code = NO_CONTEXT;
    if (!holds(device_blocks, (unsigned char *)from, n)) {
        fake_complain("a copy goes past its buffer");
        code = INVALID_VALUE;
    }
    if (code == 0)
        put_copy(on, to, (void *)from, n);
    return fake_leave(code);
}
