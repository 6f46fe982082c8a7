/*
 * Compressed tensors, from front to back. What was unpacked last is kept, so that a reader whose
 * pieces overlap, as those of read.c do, need not begin anew.
 */
#include "inflate/inflate.h"
#include "read/raw_bytes.h"

#define IN_BYTES ((size_t)32 << 10)
#define TAIL_BYTES ((size_t)64 << 10)

struct wb__unpacker {
    wb_allocator allocator;
    wb__context *context; /* of whoever uses it */
    const wb__source *source;
    const wb__storing *storing;
    wb__inflater *inflater;
    wb__str name;
    bool broken;
    uint64_t stream_at; /* where the stream begins in the file */
    uint64_t in_done;   /* bytes of the stream that were fetched */
    uint64_t bytes;     /* of the tensor */
    uint64_t done;      /* of these, unpacked */
    size_t tail_bytes;  /* the last of them, which `tail` holds */
    wb__inflate_step step;
    wb__crc32 crc32;
    uint32_t crc; /* of all that was unpacked */
    uint8_t in[IN_BYTES];
    uint8_t tail[TAIL_BYTES];
    uint8_t skipped[TAIL_BYTES];
};

void wb__unpacker_free(wb__unpacker *unpacker)
{
    if (unpacker == NULL)
        return;
    wb__inflater_free(unpacker->inflater);
    wb_allocator allocator = unpacker->allocator;
    wb__free(&allocator, unpacker, sizeof *unpacker);
}

static wb_status fail(wb__unpacker *unpacker, wb__finding_id id, const char *what)
{
    return wb__fail(unpacker->context, WB_ERROR_FORMAT, id, unpacker->stream_at, unpacker->name,
                    "%s", what);
}

/*
 * One step of the inflater, with something to read as long as there is something. *stuck is set when
 * all was read and nothing came of it.
 */
static wb_status run(wb__unpacker *unpacker, wb__inflated *state, bool *stuck)
{
    wb__inflate_step *step = &unpacker->step;
    uint64_t left = unpacker->storing->packed_bytes - unpacker->in_done;
    size_t room = step->out_bytes;
    if (step->in_bytes == 0 && left > 0) {
        size_t piece = left < IN_BYTES ? (size_t)left : IN_BYTES;
        wb_status status =
            wb__source_read(unpacker->source, unpacker->context,
                            unpacker->stream_at + unpacker->in_done, unpacker->in, piece);
        if (status != WB_OK)
            return status;
        unpacker->in_done += piece;
        step->in = unpacker->in;
        step->in_bytes = piece;
        left -= piece;
    }
    *state = wb__inflater_run(unpacker->inflater, step);
    *stuck =
        *state == WB__INFLATED_MORE && step->in_bytes == 0 && left == 0 && step->out_bytes == room;
    if (*state == WB__INFLATED_NO_MEMORY)
        return wb__fail_memory(unpacker->context);
    if (*state == WB__INFLATED_BROKEN)
        return fail(unpacker, WB__FINDING_DEFLATE, "its compressed bytes are damaged");
    return WB_OK;
}

/* Unpacks the next bytes, which the stream is expected to have. */
static wb_status unpack(wb__unpacker *unpacker, uint8_t *dst, size_t n)
{
    wb__inflate_step *step = &unpacker->step;
    step->out = dst;
    step->out_bytes = n;
    while (step->out_bytes > 0) {
        wb__inflated state;
        bool stuck;
        wb_status status = run(unpacker, &state, &stuck);
        if (status != WB_OK)
            return status;
        if (stuck || (state == WB__INFLATED_END && step->out_bytes > 0))
            return fail(unpacker, WB__FINDING_DEFLATE,
                        "its compressed bytes hold less than its shape needs");
    }
    unpacker->crc = wb__crc32_add(&unpacker->crc32, unpacker->crc, dst, n);
    return WB_OK;
}

static wb_status begin(wb__unpacker *unpacker)
{
    uint32_t left = unpacker->storing->before;
    wb__inflater_start(unpacker->inflater);
    unpacker->step = (wb__inflate_step){.in = unpacker->in};
    unpacker->in_done = unpacker->done = unpacker->crc = 0;
    unpacker->tail_bytes = 0;
    while (left > 0) {
        size_t n = left < TAIL_BYTES ? left : TAIL_BYTES;
        wb_status status = unpack(unpacker, unpacker->skipped, n);
        if (status != WB_OK)
            return status;
        left -= (uint32_t)n;
    }
    return WB_OK;
}

wb_status wb__unpacker_new(wb__context *context, const wb__source *source,
                           const wb__storing *storing, uint64_t stream_at, uint64_t bytes,
                           wb__str name, wb__unpacker **out)
{
    *out = NULL;
    wb__unpacker *unpacker = wb__alloc(&context->allocator, sizeof *unpacker);
    if (unpacker == NULL)
        return wb__fail_memory(context);
    memset(unpacker, 0, offsetof(wb__unpacker, crc32));
    unpacker->allocator = context->allocator;
    unpacker->context = context;
    unpacker->source = source;
    unpacker->storing = storing;
    unpacker->stream_at = stream_at;
    unpacker->bytes = bytes;
    unpacker->name = name;
    wb__crc32_init(&unpacker->crc32);
    wb_status status = wb__inflater_new(context, &unpacker->inflater);
    if (status == WB_OK)
        status = begin(unpacker);
    if (status == WB_OK)
        *out = unpacker;
    else
        wb__unpacker_free(unpacker);
    return status;
}

size_t wb__unpacker_tensor(const wb__unpacker *unpacker)
{
    return unpacker->storing->tensor;
}

uint64_t wb__unpacker_done(const wb__unpacker *unpacker)
{
    return unpacker->done;
}

void wb__unpacker_use(wb__unpacker *unpacker, wb__context *context)
{
    unpacker->context = context;
}

bool wb__unpacker_is_sound(const wb__unpacker *unpacker)
{
    return !unpacker->broken;
}

bool wb__unpacker_reaches(const wb__unpacker *unpacker, uint64_t at)
{
    return at >= unpacker->done - unpacker->tail_bytes;
}

/* Keeps the last of n bytes that were just unpacked. */
static void keep_tail(wb__unpacker *unpacker, const uint8_t *bytes, size_t n)
{
    if (n >= TAIL_BYTES) {
        memcpy(unpacker->tail, bytes + (n - TAIL_BYTES), TAIL_BYTES);
        unpacker->tail_bytes = TAIL_BYTES;
        return;
    }
    size_t stays = unpacker->tail_bytes < TAIL_BYTES - n ? unpacker->tail_bytes : TAIL_BYTES - n;
    memmove(unpacker->tail, unpacker->tail + (unpacker->tail_bytes - stays), stays);
    memcpy(unpacker->tail + stays, bytes, n);
    unpacker->tail_bytes = stays + n;
}

/* At the end of the tensor there is the end of the stream, and its checksum. */
static wb_status check_end(wb__unpacker *unpacker)
{
    uint8_t more;
    wb__inflate_step *step = &unpacker->step;
    wb__inflated state = WB__INFLATED_MORE;
    bool stuck = false;
    step->out = &more;
    step->out_bytes = 1;
    while (state == WB__INFLATED_MORE && step->out_bytes == 1 && !stuck) {
        wb_status status = run(unpacker, &state, &stuck);
        if (status != WB_OK)
            return status;
    }
    if (step->out_bytes == 0)
        return fail(unpacker, WB__FINDING_DEFLATE,
                    "its compressed bytes hold more than its shape needs");
    if (state != WB__INFLATED_END)
        return fail(unpacker, WB__FINDING_DEFLATE, "its compressed bytes do not end properly");
    if (step->in_bytes > 0 || unpacker->in_done < unpacker->storing->packed_bytes)
        return fail(unpacker, WB__FINDING_DEFLATE, "something follows its compressed bytes");
    if (unpacker->storing->has_crc && unpacker->crc != unpacker->storing->crc)
        return fail(unpacker, WB__FINDING_CHECKSUM, "its bytes do not have their checksum");
    return WB_OK;
}

static wb_status advance(wb__unpacker *unpacker, uint8_t *dst, size_t n)
{
    wb_status status = unpack(unpacker, dst, n);
    if (status != WB_OK)
        return status;
    unpacker->done += n;
    keep_tail(unpacker, dst, n);
    return unpacker->done == unpacker->bytes ? check_end(unpacker) : WB_OK;
}

static wb_status read_at(wb__unpacker *unpacker, uint64_t at, uint8_t *dst, size_t n)
{
    wb_status status = WB_OK;
    while (unpacker->done < at && status == WB_OK) {
        uint64_t left = at - unpacker->done;
        status =
            advance(unpacker, unpacker->skipped, left < TAIL_BYTES ? (size_t)left : TAIL_BYTES);
    }
    if (status != WB_OK)
        return status;
    uint64_t kept = unpacker->done - at;
    size_t from_tail = kept < n ? (size_t)kept : n;
    if (from_tail > 0)
        memcpy(dst, unpacker->tail + (unpacker->tail_bytes - (size_t)kept), from_tail);
    return from_tail == n ? WB_OK : advance(unpacker, dst + from_tail, n - from_tail);
}

wb_status wb__unpacker_read(wb__unpacker *unpacker, uint64_t at, uint8_t *dst, size_t n)
{
    wb_status status = read_at(unpacker, at, dst, n);
    unpacker->broken |= status != WB_OK;
    return status;
}
