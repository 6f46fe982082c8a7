#include "inflate/inflate.h"

#include <dlfcn.h>
#include <limits.h>

#include "core/memory.h"
#include "inflate/inflate_messages.h"

/* z_stream, unchanged since zlib 1.0 (https://www.zlib.net/manual.html). */
typedef struct stream {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *opaque, unsigned int items, unsigned int size);
    void (*zfree)(void *opaque, void *address);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} stream;

#define Z_OK 0
#define Z_STREAM_END 1
#define Z_MEM_ERROR (-4)
#define Z_BUF_ERROR (-5)
#define NO_HEADER (-15) /* window of 2^15 bytes; negative: raw deflate, no header or checksum */

struct wb__inflater {
    wb_allocator allocator;
    void *library;
    bool begun; /* `stream` was initialised and needs inflateEnd */
    stream stream;
    int (*init)(stream *stream, int window_bits, const char *version, int stream_size);
    int (*run)(stream *stream, int flush);
    int (*reset)(stream *stream);
    int (*end)(stream *stream);
};

/* zlib frees memory without passing its size, so the size is stored in front of each allocation. */
typedef union block {
    size_t bytes;
    uint8_t aligned[16];
} block;

static void *allocate(void *opaque, unsigned int items, unsigned int size)
{
    const wb__inflater *inflater = opaque;
    uint64_t bytes = (uint64_t)items * size + sizeof(block);
    block *memory = bytes > SIZE_MAX ? NULL : wb__alloc(&inflater->allocator, (size_t)bytes);
    if (memory == NULL)
        return NULL;
    memory->bytes = (size_t)bytes;
    return memory + 1;
}

static void release(void *opaque, void *address)
{
    const wb__inflater *inflater = opaque;
    block *memory = (block *)address - 1;
    WB__INITIALISED(memory, sizeof *memory);
    wb__free(&inflater->allocator, memory, memory->bytes);
}

/*
 * Looks up a symbol. ISO C has no conversion from an object pointer to a function pointer; POSIX
 * guarantees that copying the bytes works.
 */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void *open_library(void)
{
    static const char *const names[] = {"libz.so.1", "libz.1.dylib"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

void wb__inflater_free(wb__inflater *inflater)
{
    if (inflater == NULL)
        return;
    if (inflater->begun)
        (void)inflater->end(&inflater->stream);
    /* The library stays loaded: other code may use it, and loading it again would be slow. */
    wb_allocator allocator = inflater->allocator;
    wb__free(&allocator, inflater, sizeof *inflater);
}

wb_status wb__inflater_new(wb__context *context, wb__inflater **out)
{
    *out = NULL;
    wb__inflater *inflater = wb__alloc_zeroed(&context->allocator, sizeof *inflater);
    if (inflater == NULL)
        return wb__fail_memory(context);
    inflater->allocator = context->allocator;
    inflater->library = open_library();
    bool found = inflater->library != NULL &&
                 find(inflater->library, "inflateInit2_", &inflater->init) &&
                 find(inflater->library, "inflate", &inflater->run) &&
                 find(inflater->library, "inflateReset", &inflater->reset) &&
                 find(inflater->library, "inflateEnd", &inflater->end);
    if (!found) {
        wb__inflater_free(inflater);
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_NO_ZLIB, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_NO_ZLIB);
    }
    inflater->stream.zalloc = allocate;
    inflater->stream.zfree = release;
    inflater->stream.opaque = inflater;
    inflater->begun =
        inflater->init(&inflater->stream, NO_HEADER, "1", (int)sizeof inflater->stream) == Z_OK;
    WB__INITIALISED(&inflater->stream, sizeof inflater->stream);
    if (!inflater->begun) {
        wb__inflater_free(inflater);
        return wb__fail_memory(context);
    }
    *out = inflater;
    return WB_OK;
}

void wb__inflater_start(wb__inflater *inflater)
{
    (void)inflater->reset(&inflater->stream);
    WB__INITIALISED(&inflater->stream, sizeof inflater->stream);
}

static unsigned int at_most(size_t n)
{
    return n > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned int)n;
}

wb__inflated wb__inflater_run(wb__inflater *inflater, wb__inflate_step *step)
{
    stream *s = &inflater->stream;
    for (;;) {
        unsigned int in = at_most(step->in_bytes);
        unsigned int out = at_most(step->out_bytes);
        s->next_in = step->in;
        s->avail_in = in;
        s->next_out = step->out;
        s->avail_out = out;
        int result = inflater->run(s, 0);
        WB__INITIALISED(s, sizeof *s);
        WB__INITIALISED(step->out, out - s->avail_out);
        step->in += in - s->avail_in;
        step->in_bytes -= in - s->avail_in;
        step->out += out - s->avail_out;
        step->out_bytes -= out - s->avail_out;
        if (result == Z_STREAM_END)
            return WB__INFLATED_END;
        if (result == Z_MEM_ERROR)
            return WB__INFLATED_NO_MEMORY;
        if (result != Z_OK && result != Z_BUF_ERROR)
            return WB__INFLATED_BROKEN;
        /* Return if the input is used up, the output buffer is full, or zlib made no progress
         * (Z_BUF_ERROR). Otherwise a buffer was too long for one call of zlib: call zlib again. */
        if (step->in_bytes == 0 || step->out_bytes == 0 || result == Z_BUF_ERROR)
            return WB__INFLATED_MORE;
    }
}
