/*
 * A fake OpenCL driver (libOpenCL.so.1) with three devices: a CPU that shares host memory unless
 * `lies` is set, a discrete GPU with its own memory, and an integrated GPU that shares host memory
 * in units of whole pages.
 */
#include "fake.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEVICE_NOT_FOUND = -1,
    ALLOCATION_FAILED = -4,
    MISALIGNED = -13,
    INVALID_VALUE = -30,
    INVALID_SIZE = -61,
    BASE_ALIGN = 128,
    USE_HOST_PTR = 8
};

FAKE fake_state *fake_state_of(void);
static fake_state the_state;
fake_state *const fake_it = &the_state;

fake_state *fake_state_of(void)
{
    return fake_it;
}

typedef struct device {
    const char *name;
    uint64_t type; /* 2: CPU, 4: GPU */
    uint32_t unified;
} device;

static const device devices[] = {
    {"Fake Processor", 2, 1}, {"Fake Graphics", 4, 0}, {"Fake Integrated", 4, 1}};

typedef struct object { /* a context or a command queue */
    unsigned uses;
    const device *on;
} object;

typedef struct buffer {
    unsigned uses;
    unsigned char *memory; /* memory that kernels would access; equals `host` if it is shared */
    void *host;            /* the caller's host pointer, or NULL */
    size_t bytes;
    size_t pending;
    struct buffer *part_of;
    void (*notify)(void *, void *);
    void *notify_ctx;
} buffer;

typedef struct event {
    buffer *to;
    size_t offset, n;
    const void *from;
    bool is_done;
} event;

__attribute__((destructor)) static void tell(void)
{
    if (fake_it->objects != 0 || fake_it->wrong != 0)
        fprintf(stderr, "fake opencl: %zu not given back, %u wrong: %s\n", fake_it->objects,
                fake_it->wrong, fake_it->complaint == NULL ? "" : fake_it->complaint);
}

static void *make(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        abort();
    fake_it->objects++;
    return memory;
}

static int answer(const void *what, size_t bytes, size_t room, void *to, size_t *n)
{
    if (n != NULL)
        *n = bytes;
    if (to == NULL)
        return 0;
    if (room < bytes)
        return INVALID_VALUE;
    memcpy(to, what, bytes);
    return 0;
}

FAKE int clGetPlatformIDs(uint32_t room, void **platforms, uint32_t *n);
FAKE int clGetPlatformInfo(void *platform, uint32_t what, size_t room, void *to, size_t *n);
FAKE int clGetDeviceIDs(void *platform, uint64_t type, uint32_t room, void **out, uint32_t *n);
FAKE int clGetDeviceInfo(void *which, uint32_t what, size_t room, void *to, size_t *n);
FAKE void *clCreateContext(const intptr_t *properties, uint32_t n, void *const *on,
                           void (*notify)(const char *, const void *, size_t, void *), void *ctx,
                           int *code);
FAKE int clRetainContext(void *which);
FAKE int clReleaseContext(void *which);
FAKE void *clCreateCommandQueue(void *context, void *on, uint64_t properties, int *code);
FAKE int clRetainCommandQueue(void *which);
FAKE int clReleaseCommandQueue(void *which);
FAKE void *clCreateBuffer(void *context, uint64_t flags, size_t bytes, void *host, int *code);
FAKE void *clCreateSubBuffer(void *whole, uint64_t flags, uint32_t type, const void *info,
                             int *code);
FAKE int clSetMemObjectDestructorCallback(void *which, void (*notify)(void *, void *), void *ctx);
FAKE int clGetMemObjectInfo(void *which, uint32_t what, size_t room, void *to, size_t *n);
FAKE int clReleaseMemObject(void *which);
FAKE int clEnqueueWriteBuffer(void *queue, void *to, uint32_t blocking, size_t offset, size_t n,
                              const void *from, uint32_t waits, void *const *wait_for, void **out);
FAKE int clEnqueueReadBuffer(void *queue, void *from, uint32_t blocking, size_t offset, size_t n,
                             void *to, uint32_t waits, void *const *wait_for, void **out);
FAKE int clFlush(void *queue);
FAKE int clWaitForEvents(uint32_t n, void *const *events);
FAKE int clReleaseEvent(void *which);

int clGetPlatformIDs(uint32_t room, void **platforms, uint32_t *n)
{
    int code = fake_enter("clGetPlatformIDs");
    if (room > 0 && platforms != NULL)
        platforms[0] = (void *)(uintptr_t)devices;
    *n = 1;
    return fake_leave(code);
}

int clGetPlatformInfo(void *platform, uint32_t what, size_t room, void *to, size_t *n)
{
    int code = fake_enter("clGetPlatformInfo");
    (void)platform;
    (void)what;
    return fake_leave(code != 0 ? code : answer("Make-believe", 13, room, to, n));
}

int clGetDeviceIDs(void *platform, uint64_t type, uint32_t room, void **out, uint32_t *n)
{
    int code = fake_enter("clGetDeviceIDs");
    (void)platform;
    (void)type;
    *n = sizeof devices / sizeof *devices;
    for (uint32_t i = 0; i < *n && i < room; i++)
        out[i] = (void *)(uintptr_t)&devices[i];
    return fake_leave(code);
}

int clGetDeviceInfo(void *which, uint32_t what, size_t room, void *to, size_t *n)
{
    int code = fake_enter("clGetDeviceInfo");
    const device *d = which;
    const uint32_t align = BASE_ALIGN * 8;
    if (code == 0 && what == 0x1000)
        code = answer(&d->type, sizeof d->type, room, to, n);
    else if (code == 0 && what == 0x1019)
        code = answer(&align, sizeof align, room, to, n);
    else if (code == 0 && what == 0x1035)
        code = answer(&d->unified, sizeof d->unified, room, to, n);
    else if (code == 0 && what == 0x102B)
        code = answer(d->name, strlen(d->name) + 1, room, to, n);
    else if (code == 0)
        code = INVALID_VALUE;
    return fake_leave(code);
}

/* ---- contexts and queues ---- */

static void *make_object(const void *on, int *code)
{
    object *o = NULL;
    if (*code == 0) {
        o = make(sizeof *o);
        *o = (object){1, on};
    }
    (void)fake_leave(0);
    return o;
}

static int retain(void *which, const char *name)
{
    int code = fake_enter(name);
    object *o = which;
    o->uses += code == 0;
    return fake_leave(code);
}

static int release(void *which, const char *name)
{
    int code = fake_enter(name);
    object *o = which;
    if (--o->uses == 0) {
        free(o);
        fake_it->objects--;
    }
    return fake_leave(code);
}

void *clCreateContext(const intptr_t *properties, uint32_t n, void *const *on,
                      void (*notify)(const char *, const void *, size_t, void *), void *ctx,
                      int *code)
{
    (void)properties;
    (void)notify;
    (void)ctx;
    *code = fake_enter("clCreateContext");
    if (n != 1)
        fake_complain("a context of no device");
    return make_object(on[0], code);
}

int clRetainContext(void *which)
{
    return retain(which, "clRetainContext");
}

int clReleaseContext(void *which)
{
    return release(which, "clReleaseContext");
}

void *clCreateCommandQueue(void *context, void *on, uint64_t properties, int *code)
{
    *code = fake_enter("clCreateCommandQueue");
    if (((object *)context)->on != on || properties != 0)
        fake_complain("a queue for another device");
    return make_object(on, code);
}

int clRetainCommandQueue(void *which)
{
    return retain(which, "clRetainCommandQueue");
}

int clReleaseCommandQueue(void *which)
{
    return release(which, "clReleaseCommandQueue");
}

/* ---- buffers ---- */

void *clCreateBuffer(void *context, uint64_t flags, size_t bytes, void *host, int *code)
{
    *code = fake_enter("clCreateBuffer");
    const device *on = ((object *)context)->on;
    bool shares = on->unified != 0 && !fake_it->lies;
    buffer *b = NULL;
    if (((flags & USE_HOST_PTR) != 0) != (host != NULL) || bytes == 0)
        *code = INVALID_VALUE;
    if (*code == 0 && fake_it->room != 0 && bytes > fake_it->room)
        *code = INVALID_SIZE;
    if (*code == 0) {
        b = make(sizeof *b);
        *b = (buffer){.uses = 1, .memory = host, .host = host, .bytes = bytes};
        if (host == NULL || !shares) {
            b->memory = malloc(bytes);
            if (b->memory == NULL)
                abort();
            memset(b->memory, 0xA5, bytes);
            if ((flags & 4) != 0) /* CL_MEM_READ_ONLY: the caller has already written the data */
                memcpy(b->memory, host, bytes);
        }
        if (host != NULL && on->type == 4 && ((uintptr_t)host % 4096 != 0 || bytes % 4096 != 0))
            fake_complain("a graphics card would copy what are not whole pages");
        fake_it->borrowed += (flags & 4) != 0;
        fake_it->buffers++;
        fake_it->bytes += bytes;
    }
    (void)fake_leave(0);
    return b;
}

void *clCreateSubBuffer(void *whole, uint64_t flags, uint32_t type, const void *info, int *code)
{
    *code = fake_enter("clCreateSubBuffer");
    buffer *all = whole, *b = NULL;
    size_t region[2];
    memcpy(region, info, sizeof region);
    (void)flags;
    if (*code == 0 && region[0] % BASE_ALIGN != 0)
        *code = MISALIGNED;
    if (*code == 0 && (type != 0x1220 || region[0] + region[1] > all->bytes || region[1] == 0))
        *code = INVALID_VALUE;
    if (*code == 0) {
        b = make(sizeof *b);
        *b = (buffer){
            .uses = 1, .memory = all->memory + region[0], .bytes = region[1], .part_of = all};
        all->uses++;
    }
    (void)fake_leave(0);
    return b;
}

int clSetMemObjectDestructorCallback(void *which, void (*notify)(void *, void *), void *ctx)
{
    int code = fake_enter("clSetMemObjectDestructorCallback");
    buffer *b = which;
    if (code == 0) {
        b->notify = notify;
        b->notify_ctx = ctx;
    }
    return fake_leave(code);
}

int clGetMemObjectInfo(void *which, uint32_t what, size_t room, void *to, size_t *n)
{
    int code = fake_enter("clGetMemObjectInfo");
    const buffer *b = which;
    if (what != 0x1103)
        code = INVALID_VALUE;
    return fake_leave(code != 0 ? code : answer(&b->host, sizeof b->host, room, to, n));
}

static void drop(buffer *b)
{
    if (--b->uses != 0)
        return;
    if (b->pending != 0)
        fake_complain("a buffer is released that is being written");
    if (b->notify != NULL)
        b->notify(b, b->notify_ctx);
    if (b->part_of != NULL) {
        drop(b->part_of);
    } else {
        if (b->memory != b->host)
            free(b->memory);
        fake_it->buffers--;
        fake_it->bytes -= b->bytes;
    }
    free(b);
    fake_it->objects--;
}

int clReleaseMemObject(void *which)
{
    int code = fake_enter("clReleaseMemObject");
    drop(which);
    return fake_leave(code);
}

/* ---- copies ---- */

static void do_write(event *e)
{
    if (e->is_done)
        return;
    memcpy(e->to->memory + e->offset, e->from, e->n);
    e->is_done = true;
    e->to->pending--;
    fake_it->pending--;
}

int clEnqueueWriteBuffer(void *queue, void *to, uint32_t blocking, size_t offset, size_t n,
                         const void *from, uint32_t waits, void *const *wait_for, void **out)
{
    int code = fake_enter("clEnqueueWriteBuffer");
    buffer *b = to;
    (void)queue;
    (void)waits;
    (void)wait_for;
    if (n == 0 || offset > b->bytes || n > b->bytes - offset) {
        fake_complain("a copy goes past its buffer");
        code = INVALID_VALUE;
    }
    if (code != 0)
        return fake_leave(code);
    event *e = make(sizeof *e);
    *e = (event){b, offset, n, from, false};
    b->pending++;
    fake_it->copied += n;
    if (++fake_it->pending > fake_it->most_pending)
        fake_it->most_pending = fake_it->pending;
    if (blocking)
        do_write(e);
    if (out != NULL) {
        *out = e;
    } else {
        free(e);
        fake_it->objects--;
    }
    return fake_leave(0);
}

int clEnqueueReadBuffer(void *queue, void *from, uint32_t blocking, size_t offset, size_t n,
                        void *to, uint32_t waits, void *const *wait_for, void **out)
{
    int code = fake_enter("clEnqueueReadBuffer");
    const buffer *b = from;
    (void)queue;
    (void)waits;
    (void)wait_for;
    if (n == 0 || offset > b->bytes || n > b->bytes - offset || !blocking || out != NULL) {
        fake_complain("a copy goes past its buffer, or is not waited for");
        code = INVALID_VALUE;
    }
    if (code == 0)
        memcpy(to, b->memory + offset, n);
    return fake_leave(code);
}

int clFlush(void *queue)
{
    (void)queue;
    return fake_leave(fake_enter("clFlush"));
}

/* Completes the commands even if this call is set to fail (fail_at). */
int clWaitForEvents(uint32_t n, void *const *events)
{
    int code = fake_enter("clWaitForEvents");
    for (uint32_t i = 0; i < n; i++)
        do_write(events[i]);
    return fake_leave(code);
}

int clReleaseEvent(void *which)
{
    int code = fake_enter("clReleaseEvent");
    event *e = which;
    if (!e->is_done)
        fake_complain("an event is released before it happened");
    free(e);
    fake_it->objects--;
    return fake_leave(code);
}
