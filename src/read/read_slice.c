/*
 * Reading what a selection selects: runs of elements that lie one behind another in the tensor, in
 * the order of the result. Runs are gathered into a stage of raw elements, which is converted
 * whenever it is full; a run that is large and needs no conversion is read straight into the
 * caller's memory. All of them are made of whole units (dtype/dtype_block.h): single elements as a rule,
 * blocks of quantized types.
 *
 * A buffer holds the part of the file read last. It reads ahead in the direction the runs go,
 * unless they lie so far apart that most of what is read would be thrown away.
 */
#include "dtype/dtype_block.h"
#include "read/decoder.h"
#include "read/raw_bytes.h"
#include "read/read.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define STAGE_BYTES ((size_t)32 << 10)
#define FAR_APART ((uint64_t)64 << 10) /* bytes between runs from which each is read by itself */

typedef struct tensor_reader {
    wb__context *context;
    const wb__selection *selection;
    wb__raw_bytes *stored; /* its bytes; NULL where there is a decoder */
    uint64_t tensor_bytes;
    uint64_t end;    /* tensor bytes behind it are not wanted */
    uint8_t *dst;    /* where the next converted element goes */
    uint8_t *buffer; /* of tensor bytes buffer_at to buffer_at + buffer_bytes */
    size_t buffer_capacity;
    uint64_t buffer_at;
    size_t buffer_bytes;
    uint8_t *stage;
    size_t stage_capacity; /* whole units */
    size_t staged;         /* bytes */
    wb__decoder *decoder;  /* NULL: the tensor's bytes are its elements */
    bool swap;             /* the file has its numbers most significant byte first */
    /* The runs: `run` elements each; their starts are the positions of an odometer. */
    uint32_t outer;      /* dimensions that the odometer counts */
    uint64_t run;        /* elements */
    uint64_t run_stride; /* bytes between the starts of neighbouring runs */
    bool backwards;
} tensor_reader;

static uint64_t bytes_of(const tensor_reader *reader, uint64_t elements)
{
    return wb__dtype_bytes(reader->selection->from, elements);
}

/* How many elements lie between neighbours in a dimension. */
static uint64_t stride_of(const wb__kind *kind, uint32_t dimension)
{
    uint64_t stride = 1;
    for (uint32_t i = dimension + 1; i < kind->rank; i++)
        stride *= kind->shape[i];
    return stride;
}

/* Finds the longest runs: the last dimensions as far as they are whole, and one that is contiguous.
 */
static void plan_runs(tensor_reader *reader)
{
    const wb__selection *selection = reader->selection;
    const wb__kind *kind = selection->kind;
    reader->outer = 0;
    reader->run = kind->elements;
    if (selection->axes == NULL)
        return;
    reader->outer = kind->rank;
    reader->run = 1;
    while (reader->outer > 0) {
        const wb_axis *axis = &selection->axes[reader->outer - 1];
        bool whole = axis->count == kind->shape[reader->outer - 1];
        if (axis->step != 1 && axis->count > 1)
            break;
        reader->outer--;
        reader->run *= axis->count;
        if (!whole) {
            /* Its start is the same for all runs: the odometer counts it with a single position. */
            break;
        }
    }
    if (reader->outer > 0) {
        int64_t step = selection->axes[reader->outer - 1].step;
        uint64_t distance = stride_of(kind, reader->outer - 1);
        reader->backwards = step < 0;
        reader->run_stride =
            bytes_of(reader, distance * (step < 0 ? 0 - (uint64_t)step : (uint64_t)step));
    }
}

/* The element of the tensor that run number `index` begins with. */
static uint64_t start_of_run(const tensor_reader *reader, uint64_t index)
{
    const wb__selection *selection = reader->selection;
    const wb__kind *kind = selection->kind;
    uint64_t element = 0;
    uint64_t stride = 1;
    if (selection->axes == NULL)
        return 0;
    for (uint32_t i = kind->rank; i-- > 0;) {
        const wb_axis *axis = &selection->axes[i];
        uint64_t position = 0;
        if (i < reader->outer) {
            position = index % axis->count;
            index /= axis->count;
        }
        /* Modulo 2^64, so that a negative step comes out right. */
        element += (axis->start + position * (uint64_t)axis->step) * stride;
        stride *= kind->shape[i];
    }
    return element;
}

/* Where the last of a single run ends; of several, which may go anywhere, the tensor's end. */
static uint64_t end_of_runs(const tensor_reader *reader)
{
    const wb__selection *selection = reader->selection;
    if (reader->outer > 0)
        return reader->tensor_bytes;
    return bytes_of(reader, start_of_run(reader, 0) + selection->first + selection->count);
}

/* Fills the buffer with the units that the bytes from `from` to `end` of decoded elements lie in.
 */
static wb_status decode(tensor_reader *reader, uint64_t from, uint64_t end)
{
    wb__decoder *decoder = reader->decoder;
    uint64_t unit = wb__dtype_bytes(decoder->to, decoder->unit);
    uint64_t first = from / unit;
    uint64_t units = end / unit + (end % unit != 0) - first;
    uint64_t room = reader->buffer_capacity / unit;
    if (units > room)
        units = room;
    reader->buffer_at = first * unit;
    for (uint64_t done = 0; done < units;) {
        size_t n = units - done < decoder->batch ? (size_t)(units - done) : decoder->batch;
        wb_status status = decoder->run(decoder, first + done, n, reader->buffer + done * unit);
        if (status != WB_OK)
            return status;
        done += n;
    }
    reader->buffer_bytes = (size_t)(units * unit);
    return WB_OK;
}

/* Makes the n tensor bytes at `at` available, n at most the buffer's capacity. */
static wb_status fetch(tensor_reader *reader, uint64_t at, size_t n, const uint8_t **bytes)
{
    if (at >= reader->buffer_at && at - reader->buffer_at <= reader->buffer_bytes &&
        n <= reader->buffer_bytes - (size_t)(at - reader->buffer_at)) {
        *bytes = reader->buffer + (at - reader->buffer_at);
        return WB_OK;
    }
    uint64_t from = at;
    size_t amount = n;
    if (reader->run_stride < FAR_APART) {
        amount = reader->buffer_capacity;
        if (reader->backwards)
            from = at + n < amount ? 0 : at + n - amount;
        if (amount > reader->end - from)
            amount = (size_t)(reader->end - from);
    }
    reader->buffer_bytes = 0;
    if (reader->decoder != NULL) {
        wb_status decoded = decode(reader, from, from + amount);
        *bytes = reader->buffer + (at - reader->buffer_at);
        return decoded;
    }
    wb_status status = wb__raw_bytes_read(reader->stored, from, reader->buffer, amount);
    if (status != WB_OK)
        return status;
    reader->buffer_at = from;
    reader->buffer_bytes = amount;
    *bytes = reader->buffer + (at - from);
    return WB_OK;
}

static void swap(const tensor_reader *reader, uint8_t *bytes, size_t n)
{
    const wb__dtype *dtype = reader->selection->from;
    if (reader->swap)
        wb__dtype_swap(dtype, bytes, n / wb__dtype_unit_bytes(dtype));
}

/* Converts whole units to where the result continues. */
static void emit(tensor_reader *reader, const uint8_t *units, size_t bytes)
{
    const wb__selection *selection = reader->selection;
    uint64_t n = wb__dtype_elements(selection->from, bytes);
    wb__dtype_convert(selection->from, units, 0, selection->to, reader->dst, (size_t)n);
    reader->dst += wb__dtype_bytes(selection->to, n);
}

static void flush(tensor_reader *reader)
{
    swap(reader, reader->stage, reader->staged);
    emit(reader, reader->stage, reader->staged);
    reader->staged = 0;
}

static wb_status read_run(tensor_reader *reader, uint64_t at, uint64_t n)
{
    const wb__selection *selection = reader->selection;
    bool direct =
        selection->to == selection->from && reader->staged == 0 && reader->decoder == NULL;
    if (direct && n >= BUFFER_BYTES && n <= SIZE_MAX) {
        wb_status status = wb__raw_bytes_read(reader->stored, at, reader->dst, (size_t)n);
        if (status == WB_OK)
            swap(reader, reader->dst, (size_t)n);
        reader->dst += n;
        return status;
    }
    while (n > 0) {
        const uint8_t *bytes;
        size_t piece = reader->stage_capacity - reader->staged;
        if (piece > n)
            piece = (size_t)n;
        wb_status status = fetch(reader, at, piece, &bytes);
        if (status != WB_OK)
            return status;
        if (piece == reader->stage_capacity && !reader->swap) {
            emit(reader, bytes, piece);
        } else {
            memcpy(reader->stage + reader->staged, bytes, piece);
            reader->staged += piece;
            if (reader->staged == reader->stage_capacity)
                flush(reader);
        }
        at += piece;
        n -= piece;
    }
    return WB_OK;
}

static wb_status read_runs(tensor_reader *reader)
{
    uint64_t left = reader->selection->count;
    uint64_t index = reader->selection->first / reader->run;
    uint64_t within = reader->selection->first % reader->run;
    while (left > 0) {
        uint64_t n = reader->run - within < left ? reader->run - within : left;
        uint64_t start = start_of_run(reader, index++) + within;
        wb_status status = read_run(reader, bytes_of(reader, start), bytes_of(reader, n));
        if (status != WB_OK)
            return status;
        left -= n;
        within = 0;
    }
    flush(reader);
    return WB_OK;
}

/* Reads with a buffer that holds `slack` bytes more than what is asked for at once. */
static wb_status read_into(tensor_reader *reader, uint64_t slack)
{
    const wb_allocator *allocator = &reader->context->allocator;
    uint64_t capacity =
        (reader->tensor_bytes < BUFFER_BYTES ? reader->tensor_bytes : BUFFER_BYTES) + slack;
    if (capacity > SIZE_MAX - STAGE_BYTES)
        return wb__fail_memory(reader->context);
    reader->buffer_capacity = (size_t)capacity;
    size_t bytes = reader->buffer_capacity + STAGE_BYTES;
    reader->buffer = wb__alloc(allocator, bytes);
    if (reader->buffer == NULL)
        return wb__fail_memory(reader->context);
    reader->stage = reader->buffer + reader->buffer_capacity;
    reader->stage_capacity =
        STAGE_BYTES - STAGE_BYTES % wb__dtype_unit_bytes(reader->selection->from);
    wb_status status = read_runs(reader);
    wb__free(allocator, reader->buffer, bytes);
    return status;
}

wb_status wb__read_selection(const wb_model *model, wb__context *context,
                             const wb__selection *selection, void *dst)
{
    size_t number = selection->stored;
    wb__raw_bytes stored;
    wb__decoder decoder;
    tensor_reader reader = {.context = context,
                            .selection = selection,
                            .tensor_bytes = selection->kind->bytes,
                            .swap = wb__catalog_is_swapped(&model->catalog, number),
                            .dst = dst};
    uint64_t slack = 0;
    wb_status status = WB_OK;
    if (selection->count == 0)
        return WB_OK;
    plan_runs(&reader);
    if (selection->decode) {
        status =
            wb__decoder_open(&decoder, model, context, number, selection->packed, selection->to);
        reader.decoder = &decoder;
        reader.swap = false;
        reader.tensor_bytes = wb__dtype_bytes(selection->from, selection->kind->elements);
        slack = 2 * wb__dtype_bytes(selection->from, decoder.unit); /* units that a piece cuts */
    } else {
        wb__raw_bytes_open(&stored, model, context, number);
        reader.stored = &stored;
    }
    reader.end = end_of_runs(&reader);
    if (status == WB_OK)
        status = read_into(&reader, slack);
    if (reader.decoder != NULL)
        wb__decoder_close(&decoder);
    else
        wb__raw_bytes_close(&stored);
    return status;
}
