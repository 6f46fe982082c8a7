/*
 * Copies the single file of a model, or its parts merged into one file, unchanged. If the file
 * system supports reflinks, source and output share their extents and no bytes are copied.
 * Otherwise the file is copied in pieces. If an earlier run left bytes in the output, they are
 * compared with the source, and equal bytes are not copied again. If the output becomes an Ollama
 * blob, its SHA-256 digest is computed from the bytes of the output during the copy.
 */
#include "core/call_options.h"
#include "write/ollama/store.h"
#include "write/write_messages.h"

#define PIECE ((uint64_t)8 << 20) /* piece size in bytes; progress is reported after each piece */
#define CHUNK ((size_t)1 << 20)   /* number of bytes that one step compares or hashes */

typedef struct filling {
    wb__context *context;
    wb_writer *writer;
    wb__output *output;
    const wb__source *source;
    uint64_t left;          /* length of the output before the copy, in bytes */
    uint64_t taken;         /* number of bytes of the output that were reused so far */
    bool shared;            /* the output shares the extents of the source */
    bool hashes;            /* the output becomes an Ollama blob, whose digest is computed */
    wb__sha256 hash;        /* state of the SHA-256 digest of the output up to the current offset */
    uint8_t *mine, *theirs; /* buffers of CHUNK bytes for bytes of the output and of the source */
} filling;

static size_t chunk_of(uint64_t at, uint64_t end)
{
    return end - at < CHUNK ? (size_t)(end - at) : CHUNK;
}

/* Compares output and source from offset `at` to `end` in chunks, up to the first chunk that
 * differs. Sets *same to the number of equal bytes. */
static wb_status compare(filling *f, uint64_t at, uint64_t end, uint64_t *same)
{
    wb_status status = WB_OK;
    *same = 0;
    while (at < end) {
        size_t n = chunk_of(at, end);
        status = wb__source_read(f->source, f->context, at, f->theirs, n);
        if (status != WB_OK || wb__sink_read(f->output->sink, at, f->mine, n) != 0 ||
            memcmp(f->mine, f->theirs, n) != 0)
            break;
        if (f->hashes)
            wb__sha256_add(&f->hash, f->mine, n);
        *same += n;
        at += n;
    }
    return status;
}

static wb_status hash_back(filling *f, uint64_t at, uint64_t end)
{
    while (f->hashes && at < end) {
        size_t n = chunk_of(at, end);
        int os_error = wb__sink_read(f->output->sink, at, f->mine, n);
        if (os_error != 0)
            return wb__fail_os(f->context, os_error, WB__MSG_WRITE_READ_BACK);
        wb__sha256_add(&f->hash, f->mine, n);
        at += n;
    }
    return WB_OK;
}

static wb_status fill_piece(filling *f, uint64_t at, uint64_t end)
{
    uint64_t same = 0, left = f->left < end ? f->left : end;
    wb_status status = WB_OK;
    if (!f->shared && at < left)
        status = compare(f, at, left, &same);
    f->taken += same;
    at += same;
    if (status == WB_OK && !f->shared && at < end)
        status = wb__sink_copy(f->context, f->output->sink, at, f->source, at, end - at);
    return status == WB_OK ? hash_back(f, at, end) : status;
}

static wb_status fill_all(filling *f)
{
    uint64_t bytes = f->output->layout.bytes, at = 0;
    wb_status status = wb__writer_hear(f->context, f->writer, 0);
    while (at < bytes && status == WB_OK) {
        uint64_t end = bytes - at < PIECE ? bytes : at + PIECE;
        status = fill_piece(f, at, end);
        at = end;
        if (status == WB_OK)
            status = wb__writer_hear(f->context, f->writer, at);
    }
    return status == WB_OK && f->hashes ? wb__store_end_digest(f->context, &f->hash, f->output)
                                        : status;
}

wb_status wb__copy_file_fill(wb__context *context, wb_writer *writer, bool anew, uint64_t *taken)
{
    wb__output *output = &writer->outputs[0];
    filling f = {.context = context,
                 .writer = writer,
                 .output = output,
                 .source = writer->whole_source,
                 .hashes = writer->is_store};
    const wb_allocator *allocator = &context->allocator;
    wb_status status = f.hashes ? wb__sha256_open(&f.hash, context) : WB_OK;
    f.mine = wb__alloc(allocator, CHUNK);
    f.theirs = wb__alloc(allocator, CHUNK);
    if (status == WB_OK && (f.mine == NULL || f.theirs == NULL))
        status = wb__fail_memory(context);
    if (status == WB_OK && wb__sink_is_file(output->sink)) {
        f.shared = wb__sink_share(context, output->sink, f.source);
        f.left = anew ? 0 : wb__sink_length(output->sink);
    }
    if (status == WB_OK)
        status = fill_all(&f);
    if (f.hashes)
        wb__sha256_close(&f.hash);
    wb__free(allocator, f.mine, CHUNK);
    wb__free(allocator, f.theirs, CHUNK);
    output->filled = status == WB_OK;
    *taken = f.taken;
    return status;
}

wb_status wb__writer_copy_whole(wb__context *context, wb_writer *writer, bool anew, uint64_t *taken)
{
    *taken = 0;
    if (atomic_load(&writer->state) != WB__WRITING || writer->whole == NULL ||
        writer->outputs[0].filled)
        return wb__fail_argument(context, WB__MSG_WRITE_COPY_WHOLE_STATE);
    if (writer->failure.status != WB_OK) {
        *context->error = writer->failure;
        return writer->failure.status;
    }
    wb_status status = wb__copy_file_fill(context, writer, anew, taken);
    if (status != WB_OK)
        writer->failure = *context->error;
    return status;
}
