/*
 * Decoding and encoding of many rows, in tasks for the executor. The split does not affect the
 * result: blocks are independent, and data that an encoder derives from a whole row depends on that
 * row only.
 */
#include "quant/quant.h"

/* Elements per task; large enough that the cost of starting a task is negligible. */
#define TASK_ELEMENTS ((uint64_t)1 << 16)

typedef struct rows_job {
    const wb__codec *codec;
    const uint8_t *blocks; /* decoding: input */
    float *values;         /* decoding: output */
    const float *from;     /* encoding: input */
    const float *importance;
    uint8_t *to; /* encoding: output */
    uint64_t columns;
    uint64_t total;  /* number of blocks (decoding) or rows (encoding) */
    uint64_t a_task; /* number of blocks (decoding) or rows (encoding) per task */
} rows_job;

static void run(const wb__context *context, rows_job *job, void (*body)(void *arg, size_t i))
{
    uint64_t tasks = (job->total + job->a_task - 1) / job->a_task;
    if (context->executor.parallel_for != NULL && tasks > 1) {
        context->executor.parallel_for(context->executor.ctx, (size_t)tasks, body, job);
        return;
    }
    for (uint64_t i = 0; i < tasks; i++)
        body(job, (size_t)i);
}

static void decode_task(void *arg, size_t i)
{
    const rows_job *job = arg;
    uint64_t first = i * job->a_task;
    uint64_t n = job->total - first < job->a_task ? job->total - first : job->a_task;
    const wb__dtype *dtype = job->codec->dtype;
    job->codec->decode(job->blocks + first * (dtype->block_bits / 8),
                       job->values + first * dtype->block_size, (size_t)n);
}

void wb__decode_rows(const wb__context *context, const wb__codec *codec, const uint8_t *src,
                     uint64_t rows, uint64_t columns, float *dst)
{
    rows_job job = {.codec = codec,
                    .blocks = src,
                    .values = dst,
                    .total = rows * (columns / codec->dtype->block_size),
                    .a_task = TASK_ELEMENTS / codec->dtype->block_size};
    run(context, &job, decode_task);
}

static void encode_task(void *arg, size_t i)
{
    const rows_job *job = arg;
    uint64_t first = i * job->a_task;
    uint64_t last = job->total - first < job->a_task ? job->total : first + job->a_task;
    uint64_t row_bytes = wb__codec_bytes(job->codec, job->columns);
    for (uint64_t row = first; row < last; row++)
        job->codec->encode(job->from + row * job->columns, job->importance,
                           job->to + row * row_bytes, (size_t)job->columns);
}

void wb__encode_rows(const wb__context *context, const wb__codec *codec, const float *src,
                     uint64_t rows, uint64_t columns, const float *importance, uint8_t *dst)
{
    if (columns == 0)
        return;
    rows_job job = {.codec = codec,
                    .from = src,
                    .importance = importance,
                    .to = dst,
                    .columns = columns,
                    .total = rows,
                    .a_task = columns < TASK_ELEMENTS ? TASK_ELEMENTS / columns : 1};
    run(context, &job, encode_task);
}
