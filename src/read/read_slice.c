/*
 * Reads the elements of a selection (wb__selection, see read.h) as runs of consecutive elements, in
 * the order of the result. Runs are gathered in a staging buffer of raw elements, which is
 * converted when it is full. A large run that needs no conversion is read directly into the
 * caller's memory. Runs consist of whole units (dtype/dtype_block.h): single elements, or blocks of
 * quantized types.
 *
 * A second buffer holds the tensor bytes that were read last. Each read fills this buffer with the
 * requested bytes and with those that follow them (or precede them, if the runs are read
 * backwards). If the runs are so far apart that most of these bytes would be discarded, only the
 * requested bytes are read.
 */
#include "dtype/dtype_block.h"
#include "read/decoder.h"
#include "read/raw_bytes.h"
#include "read/read.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define STAGE_BYTES ((size_t)32 << 10)
/* Runs whose starts are at least this number of bytes apart are read separately. */
#define FAR_APART ((uint64_t)64 << 10)

typedef struct tensor_reader {
    wb__context *context;
    const wb__selection *selection;
    wb__raw_bytes *stored; /* bytes of the tensor; NULL if there is a decoder */
    uint64_t tensor_bytes;
    uint64_t end;    /* end of the needed tensor bytes */
    uint8_t *dst;    /* destination of the next converted element */
    uint8_t *buffer; /* holds the tensor bytes from buffer_at to buffer_at + buffer_bytes */
    size_t buffer_capacity;
    uint64_t buffer_at;
    size_t buffer_bytes;
    uint8_t *stage;
    size_t stage_capacity; /* in bytes, a whole number of units */
    size_t staged;         /* number of bytes in `stage` */
    wb__decoder *decoder;  /* NULL: the values need no decoding */
    bool swap;             /* the file is big-endian */
    /* The runs have `run` elements each. Their starts follow from the indices in the outer
     * dimensions, the last of which changes fastest. */
    uint32_t outer;      /* number of outer dimensions */
    uint64_t run;        /* elements */
    uint64_t run_stride; /* distance between the starts of neighboring runs, in bytes */
    bool backwards;
} tensor_reader;

static uint64_t bytes_of(const tensor_reader *reader, uint64_t elements)
{
    return wb__dtype_bytes(reader->selection->from, elements);
}

/* Returns the stride of a dimension, in elements. */
static uint64_t stride_of(const wb__kind *kind, uint32_t dimension)
{
    uint64_t stride = 1;
    for (uint32_t i = dimension + 1; i < kind->rank; i++)
        stride *= kind->shape[i];
    return stride;
}

/* Finds the longest runs. A run covers all last dimensions that are selected completely, and one
 * contiguous range in the dimension before them. */
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
            /* All runs begin at the same index of this dimension, so it is no outer dimension. */
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

/* Returns the index of the first element of run `index`. */
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
        /* Computed modulo 2^64, which is correct for negative steps. */
        element += (axis->start + position * (uint64_t)axis->step) * stride;
        stride *= kind->shape[i];
    }
    return element;
}

/* Returns the offset after the last tensor byte that may be needed: the end of the run if there is
 * only one, otherwise the end of the tensor, because the runs may be anywhere in it. */
static uint64_t end_of_runs(const tensor_reader *reader)
{
    const wb__selection *selection = reader->selection;
    if (reader->outer > 0)
        return reader->tensor_bytes;
    return bytes_of(reader, start_of_run(reader, 0) + selection->first + selection->count);
}

/* Decodes units into the buffer: those that contain the bytes `from` to `end` of the decoded
 * tensor. */
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

/* Sets *bytes to the n tensor bytes at offset `at`, and reads them into the buffer if necessary. n
 * is at most the capacity of the buffer. */
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

/* Converts whole units and appends them to the result. */
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

/* Reads all runs. The buffer holds up to BUFFER_BYTES bytes of the tensor, plus `slack` bytes. */
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
        slack = 2 * wb__dtype_bytes(
                        selection->from,
                        decoder.unit); /* the first and the last unit may be needed only in part */
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
