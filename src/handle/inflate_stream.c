/*
 * Decompresses a tensor from front to back. The last decompressed bytes are kept, because
 * consecutive reads by read/read_slice.c overlap. Without the kept bytes, each read would restart
 * the stream.
 */
#include "handle/inflate_stream.h"
#include "handle/handle_messages.h"
#include "inflate/inflate.h"

#define IN_BYTES ((size_t)32 << 10)
#define TAIL_BYTES ((size_t)64 << 10)

struct wb__inflate_stream {
    wb_allocator allocator;
    wb__context *context; /* context of the current caller */
    const wb__source *source;
    const wb__storing *storing;
    wb__inflater *inflater;
    wb__str name;
    bool broken;
    uint64_t stream_at; /* offset of the stream in the file */
    uint64_t in_done;   /* compressed bytes read so far */
    uint64_t bytes;     /* size of the tensor */
    uint64_t done;      /* decompressed bytes so far */
    size_t tail_bytes;  /* number of bytes in `tail`: the last decompressed ones */
    wb__inflate_step step;
    wb__crc32 crc32;
    uint32_t crc; /* checksum of the bytes decompressed so far */
    uint8_t in[IN_BYTES];
    uint8_t tail[TAIL_BYTES];
    uint8_t skipped[TAIL_BYTES];
};

void wb__inflate_stream_free(wb__inflate_stream *stream)
{
    if (stream == NULL)
        return;
    wb__inflater_free(stream->inflater);
    wb_allocator allocator = stream->allocator;
    wb__free(&allocator, stream, sizeof *stream);
}

static wb_status fail(wb__inflate_stream *stream, wb__finding_id id, const char *what)
{
    return wb__fail(stream->context, WB_ERROR_FORMAT, id, stream->stream_at, stream->name, "%s",
                    what);
}

/* Runs the inflater once. Reads more compressed bytes if the input buffer is empty and the tensor
 * has more. Sets *stuck if all input was consumed and no output was produced. */
static wb_status run(wb__inflate_stream *stream, wb__inflated *state, bool *stuck)
{
    wb__inflate_step *step = &stream->step;
    uint64_t left = stream->storing->packed_bytes - stream->in_done;
    size_t room = step->out_bytes;
    if (step->in_bytes == 0 && left > 0) {
        size_t piece = left < IN_BYTES ? (size_t)left : IN_BYTES;
        wb_status status = wb__source_read(stream->source, stream->context,
                                           stream->stream_at + stream->in_done, stream->in, piece);
        if (status != WB_OK)
            return status;
        stream->in_done += piece;
        step->in = stream->in;
        step->in_bytes = piece;
        left -= piece;
    }
    *state = wb__inflater_run(stream->inflater, step);
    *stuck =
        *state == WB__INFLATED_MORE && step->in_bytes == 0 && left == 0 && step->out_bytes == room;
    if (*state == WB__INFLATED_NO_MEMORY)
        return wb__fail_memory(stream->context);
    if (*state == WB__INFLATED_BROKEN)
        return fail(stream, WB__FINDING_DEFLATE, WB__MSG_HANDLE_DEFLATE);
    return WB_OK;
}

/* Decompresses the next n bytes. Fails if the stream has fewer. */
static wb_status unpack(wb__inflate_stream *stream, uint8_t *dst, size_t n)
{
    wb__inflate_step *step = &stream->step;
    step->out = dst;
    step->out_bytes = n;
    while (step->out_bytes > 0) {
        wb__inflated state;
        bool stuck;
        wb_status status = run(stream, &state, &stuck);
        if (status != WB_OK)
            return status;
        if (stuck || (state == WB__INFLATED_END && step->out_bytes > 0))
            return fail(stream, WB__FINDING_DEFLATE, WB__MSG_HANDLE_DEFLATE_SHORT);
    }
    stream->crc = wb__crc32_add(&stream->crc32, stream->crc, dst, n);
    return WB_OK;
}

static wb_status begin(wb__inflate_stream *stream)
{
    uint32_t left = stream->storing->before;
    wb__inflater_start(stream->inflater);
    stream->step = (wb__inflate_step){.in = stream->in};
    stream->in_done = stream->done = stream->crc = 0;
    stream->tail_bytes = 0;
    while (left > 0) {
        size_t n = left < TAIL_BYTES ? left : TAIL_BYTES;
        wb_status status = unpack(stream, stream->skipped, n);
        if (status != WB_OK)
            return status;
        left -= (uint32_t)n;
    }
    return WB_OK;
}

wb_status wb__inflate_stream_new(wb__context *context, const wb__source *source,
                                 const wb__storing *storing, uint64_t stream_at, uint64_t bytes,
                                 wb__str name, wb__inflate_stream **out)
{
    *out = NULL;
    wb__inflate_stream *stream = wb__alloc(&context->allocator, sizeof *stream);
    if (stream == NULL)
        return wb__fail_memory(context);
    memset(stream, 0, offsetof(wb__inflate_stream, crc32));
    stream->allocator = context->allocator;
    stream->context = context;
    stream->source = source;
    stream->storing = storing;
    stream->stream_at = stream_at;
    stream->bytes = bytes;
    stream->name = name;
    wb__crc32_init(&stream->crc32);
    wb_status status = wb__inflater_new(context, &stream->inflater);
    if (status == WB_OK)
        status = begin(stream);
    if (status == WB_OK)
        *out = stream;
    else
        wb__inflate_stream_free(stream);
    return status;
}

size_t wb__inflate_stream_tensor(const wb__inflate_stream *stream)
{
    return stream->storing->tensor;
}

uint64_t wb__inflate_stream_done(const wb__inflate_stream *stream)
{
    return stream->done;
}

void wb__inflate_stream_use(wb__inflate_stream *stream, wb__context *context)
{
    stream->context = context;
}

bool wb__inflate_stream_is_sound(const wb__inflate_stream *stream)
{
    return !stream->broken;
}

bool wb__inflate_stream_reaches(const wb__inflate_stream *stream, uint64_t at)
{
    return at >= stream->done - stream->tail_bytes;
}

/* Adds the n bytes that were decompressed last to `tail`, which keeps the last TAIL_BYTES bytes. */
static void keep_tail(wb__inflate_stream *stream, const uint8_t *bytes, size_t n)
{
    if (n >= TAIL_BYTES) {
        memcpy(stream->tail, bytes + (n - TAIL_BYTES), TAIL_BYTES);
        stream->tail_bytes = TAIL_BYTES;
        return;
    }
    size_t stays = stream->tail_bytes < TAIL_BYTES - n ? stream->tail_bytes : TAIL_BYTES - n;
    memmove(stream->tail, stream->tail + (stream->tail_bytes - stays), stays);
    memcpy(stream->tail + stays, bytes, n);
    stream->tail_bytes = stays + n;
}

/* Checks that no data follows the tensor in the stream, and verifies the checksum of the tensor. */
static wb_status check_end(wb__inflate_stream *stream)
{
    uint8_t more;
    wb__inflate_step *step = &stream->step;
    wb__inflated state = WB__INFLATED_MORE;
    bool stuck = false;
    step->out = &more;
    step->out_bytes = 1;
    while (state == WB__INFLATED_MORE && step->out_bytes == 1 && !stuck) {
        wb_status status = run(stream, &state, &stuck);
        if (status != WB_OK)
            return status;
    }
    if (step->out_bytes == 0)
        return fail(stream, WB__FINDING_DEFLATE, WB__MSG_HANDLE_DEFLATE_LONG);
    if (state != WB__INFLATED_END)
        return fail(stream, WB__FINDING_DEFLATE, WB__MSG_HANDLE_DEFLATE_END);
    if (step->in_bytes > 0 || stream->in_done < stream->storing->packed_bytes)
        return fail(stream, WB__FINDING_DEFLATE, WB__MSG_HANDLE_DEFLATE_TRAILING);
    if (stream->storing->has_crc && stream->crc != stream->storing->crc)
        return fail(stream, WB__FINDING_CHECKSUM, WB__MSG_HANDLE_CHECKSUM);
    return WB_OK;
}

static wb_status advance(wb__inflate_stream *stream, uint8_t *dst, size_t n)
{
    wb_status status = unpack(stream, dst, n);
    if (status != WB_OK)
        return status;
    stream->done += n;
    keep_tail(stream, dst, n);
    return stream->done == stream->bytes ? check_end(stream) : WB_OK;
}

static wb_status read_at(wb__inflate_stream *stream, uint64_t at, uint8_t *dst, size_t n)
{
    wb_status status = WB_OK;
    while (stream->done < at && status == WB_OK) {
        uint64_t left = at - stream->done;
        status = advance(stream, stream->skipped, left < TAIL_BYTES ? (size_t)left : TAIL_BYTES);
    }
    if (status != WB_OK)
        return status;
    uint64_t kept = stream->done - at;
    size_t from_tail = kept < n ? (size_t)kept : n;
    if (from_tail > 0)
        memcpy(dst, stream->tail + (stream->tail_bytes - (size_t)kept), from_tail);
    return from_tail == n ? WB_OK : advance(stream, dst + from_tail, n - from_tail);
}

wb_status wb__inflate_stream_read(wb__inflate_stream *stream, uint64_t at, uint8_t *dst, size_t n)
{
    wb_status status = read_at(stream, at, dst, n);
    stream->broken |= status != WB_OK;
    return status;
}
