/*
 * Reading what a selection selects: runs of elements that lie one behind another in the tensor, in
 * the order of the result. Runs are gathered into a stage of raw elements, which is converted
 * whenever it is full; a run that is large and needs no conversion is read straight into the
 * caller's memory.
 *
 * Quantized values are decoded first, by whole blocks, and staged as binary32. The blocks decoded
 * last are kept, since runs that are shorter than a block come back to the same one.
 *
 * A buffer holds the part of the file read last. It reads ahead in the direction the runs go,
 * unless they lie so far apart that most of what is read would be thrown away.
 */
#include "cpu/cpu.h"
#include "open/open.h"
#include "quant/quant.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define STAGE_BYTES ((size_t)32 << 10)
#define DECODED_MAX 8192               /* values kept as decoded */
#define FAR_APART ((uint64_t)64 << 10) /* bytes between runs from which each is read by itself */

typedef struct tensor_reader {
    wb__context *context;
    const wb__source *source;
    const wb__selection *selection;
    uint64_t tensor_at; /* offset of the tensor in its file */
    uint64_t tensor_bytes;
    uint8_t *dst;    /* where the next converted element goes */
    uint8_t *buffer; /* of tensor bytes buffer_at to buffer_at + buffer_bytes */
    size_t buffer_capacity;
    uint64_t buffer_at;
    size_t buffer_bytes;
    const wb__dtype *staged_as; /* what the stage holds: the tensor's dtype, or binary32 */
    uint8_t *stage;
    size_t staged;   /* bytes */
    wb__codec codec; /* of the tensor's dtype; `decode` is NULL where there is none */
    float *decoded;  /* quantized tensors: the values from decoded_at to decoded_end */
    uint64_t decoded_at;
    uint64_t decoded_end;
    /* The runs: `run` elements each; their starts are the positions of an odometer. */
    uint32_t outer;      /* dimensions that the odometer counts */
    uint64_t run;        /* elements */
    uint64_t run_stride; /* bytes between the starts of neighbouring runs */
    bool backwards;
} tensor_reader;

/* Bytes of so many elements; of quantized ones a multiple of the block, or what lies before it. */
static uint64_t bytes_of(const tensor_reader *reader, uint64_t elements)
{
    const wb__dtype *dtype = reader->selection->kind->dtype;
    return elements / dtype->block_size * dtype->block_bits / 8;
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
        if (amount > reader->tensor_bytes - from)
            amount = (size_t)(reader->tensor_bytes - from);
    }
    reader->buffer_bytes = 0;
    wb_status status = wb__source_read(reader->source, reader->context, reader->tensor_at + from,
                                       reader->buffer, amount);
    if (status != WB_OK)
        return status;
    reader->buffer_at = from;
    reader->buffer_bytes = amount;
    *bytes = reader->buffer + (at - from);
    return WB_OK;
}

static bool is_aligned(const void *p)
{
    return (uintptr_t)p % sizeof(float) == 0;
}

/* Converts n staged elements to where the result continues. */
static void emit(tensor_reader *reader, const uint8_t *elements, uint64_t n)
{
    const wb__dtype *to = reader->selection->to;
    if (reader->codec.decode != NULL && reader->decoded == NULL && to->id == WB_DTYPE_F32 &&
        is_aligned(reader->dst))
        reader->codec.decode(elements, (float *)(void *)reader->dst, (size_t)n);
    else
        wb__dtype_convert(reader->staged_as, elements, 0, to, reader->dst, (size_t)n);
    reader->dst += n / to->block_size * to->block_bits / 8;
}

static uint64_t elements_in(const wb__dtype *dtype, size_t bytes)
{
    return (uint64_t)bytes * 8 / dtype->block_bits * dtype->block_size;
}

static void flush(tensor_reader *reader)
{
    emit(reader, reader->stage, elements_in(reader->staged_as, reader->staged));
    reader->staged = 0;
}

/* ---- quantized tensors ---- */

/* Decodes the blocks from the one that holds `element` on, n elements if so many fit. */
static wb_status decode_at(tensor_reader *reader, uint64_t element, uint64_t n)
{
    const wb__dtype *dtype = reader->selection->kind->dtype;
    uint64_t first = element / dtype->block_size;
    uint64_t last = (element + n - 1) / dtype->block_size;
    uint64_t blocks = last - first + 1;
    size_t block_bytes = dtype->block_bits / 8;
    const uint8_t *bytes;
    if (blocks > DECODED_MAX / dtype->block_size)
        blocks = DECODED_MAX / dtype->block_size;
    if (blocks > reader->buffer_capacity / block_bytes)
        blocks = reader->buffer_capacity / block_bytes;
    wb_status status = fetch(reader, first * block_bytes, (size_t)blocks * block_bytes, &bytes);
    if (status != WB_OK)
        return status;
    reader->decoded_at = first * dtype->block_size;
    reader->decoded_end = reader->decoded_at + blocks * dtype->block_size;
    reader->codec.decode(bytes, reader->decoded, (size_t)blocks);
    return WB_OK;
}

/* Whole blocks, as many as are at hand, straight into the result. Returns how many elements. */
static wb_status decode_straight(tensor_reader *reader, uint64_t element, uint64_t n,
                                 uint64_t *done)
{
    const wb__dtype *dtype = reader->selection->kind->dtype;
    size_t block_bytes = dtype->block_bits / 8;
    uint64_t blocks = n / dtype->block_size;
    const uint8_t *bytes;
    if (blocks > reader->buffer_capacity / block_bytes)
        blocks = reader->buffer_capacity / block_bytes;
    *done = blocks * dtype->block_size;
    wb_status status = fetch(reader, element / dtype->block_size * block_bytes,
                             (size_t)blocks * block_bytes, &bytes);
    if (status == WB_OK)
        reader->codec.decode(bytes, (float *)(void *)reader->dst, (size_t)blocks);
    reader->dst += *done * sizeof(float);
    return status;
}

static wb_status decode_run(tensor_reader *reader, uint64_t element, uint64_t n)
{
    uint32_t block_size = reader->selection->kind->dtype->block_size;
    bool straight = reader->selection->to->id == WB_DTYPE_F32 && is_aligned(reader->dst);
    while (n > 0) {
        uint64_t piece;
        wb_status status = WB_OK;
        if (straight && reader->staged == 0 && element % block_size == 0 && n >= block_size) {
            status = decode_straight(reader, element, n, &piece);
        } else {
            if (element < reader->decoded_at || element >= reader->decoded_end)
                status = decode_at(reader, element, n);
            if (status != WB_OK)
                return status;
            piece = reader->decoded_end - element < n ? reader->decoded_end - element : n;
            uint64_t room = (STAGE_BYTES - reader->staged) / sizeof(float);
            piece = piece < room ? piece : room;
            memcpy(reader->stage + reader->staged, reader->decoded + (element - reader->decoded_at),
                   (size_t)piece * sizeof(float));
            reader->staged += (size_t)piece * sizeof(float);
            if (reader->staged == STAGE_BYTES)
                flush(reader);
        }
        if (status != WB_OK)
            return status;
        element += piece;
        n -= piece;
    }
    return WB_OK;
}

/* ---- plain tensors ---- */

static wb_status read_run(tensor_reader *reader, uint64_t at, uint64_t n)
{
    const wb__selection *selection = reader->selection;
    bool direct = selection->to == selection->kind->dtype && reader->staged == 0;
    if (direct && n >= BUFFER_BYTES && n <= SIZE_MAX) {
        wb_status status = wb__source_read(reader->source, reader->context, reader->tensor_at + at,
                                           reader->dst, (size_t)n);
        reader->dst += n;
        return status;
    }
    while (n > 0) {
        const uint8_t *bytes;
        size_t piece = STAGE_BYTES - reader->staged;
        if (piece > n)
            piece = (size_t)n;
        wb_status status = fetch(reader, at, piece, &bytes);
        if (status != WB_OK)
            return status;
        if (piece == STAGE_BYTES) {
            emit(reader, bytes, elements_in(selection->kind->dtype, piece));
        } else {
            memcpy(reader->stage + reader->staged, bytes, piece);
            reader->staged += piece;
            if (reader->staged == STAGE_BYTES)
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
        wb_status status = reader->decoded != NULL
                               ? decode_run(reader, start, n)
                               : read_run(reader, bytes_of(reader, start), bytes_of(reader, n));
        if (status != WB_OK)
            return status;
        left -= n;
        within = 0;
    }
    flush(reader);
    return WB_OK;
}

wb_status wb__read_selection(const wb_model *model, wb__context *context, uint64_t tensor,
                             const wb__selection *selection, void *dst)
{
    size_t number = (size_t)tensor;
    const wb__model *logical = &model->logical;
    tensor_reader reader = {.context = context,
                            .source = model->sources[wb__model_file_of(logical, number)],
                            .selection = selection,
                            .tensor_at = wb__model_offset_of(logical, number),
                            .tensor_bytes = selection->kind->bytes,
                            .staged_as = selection->kind->dtype,
                            .dst = dst};
    if (selection->count == 0)
        return WB_OK;
    (void)wb__codec_get(selection->kind->dtype->id, wb__cpu_features(), &reader.codec);
    bool decodes = wb__selection_decodes(selection);
    plan_runs(&reader);
    reader.buffer_capacity =
        reader.tensor_bytes < BUFFER_BYTES ? (size_t)reader.tensor_bytes : BUFFER_BYTES;
    size_t decoded_bytes = decodes ? DECODED_MAX * sizeof(float) : 0;
    size_t bytes = decoded_bytes + STAGE_BYTES + reader.buffer_capacity;
    uint8_t *memory = wb__alloc(&context->allocator, bytes);
    if (memory == NULL)
        return wb__fail_memory(context);
    if (decodes) {
        reader.decoded = (float *)(void *)memory;
        reader.staged_as = wb__dtype_get(WB_DTYPE_F32);
    }
    reader.stage = memory + decoded_bytes;
    reader.buffer = reader.stage + STAGE_BYTES;
    wb_status status = read_runs(&reader);
    wb__free(&context->allocator, memory, bytes);
    return status;
}
