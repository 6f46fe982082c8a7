/*
 * Computes the digest of a file and the digests of its chunks (1 MiB each, see hash.h). The file is
 * read in pieces. Each piece is added to two SHA-256 messages in parallel: the file and the current
 * chunk. The 64-byte SHA-256 blocks of the file are counted from the start of the file, and the
 * blocks of a chunk from the start of the chunk.
 */
#include "hash/hash.h"

#define PIECE_BYTES ((size_t)256 << 10) /* bytes per read, a multiple of the SHA-256 block size */

typedef struct file_worker {
    wb__hash_job *job;
    wb__context *context;
    wb__file_hash *file;
    uint8_t *piece;
    size_t bytes; /* number of bytes in `piece` */
    wb__sha256_lane whole;
    size_t whole_at; /* offset in `piece` of the next block that is added to `whole` */
    wb__sha256_lane chunk;
    uint8_t rest[WB__SHA256_BLOCK]; /* bytes of the chunk that do not fill a block yet */
    size_t rest_bytes;
    size_t part, number; /* index of the next part, and index of the current chunk */
    uint64_t part_left,  /* number of bytes of the current part after the current chunk */
        chunk_left;      /* number of bytes of the current chunk that are not hashed yet */
} file_worker;

static void next_chunk(file_worker *w)
{
    while (w->part_left == 0 && w->part < w->file->part_count)
        w->part_left = w->file->parts[w->part++].bytes;
    w->chunk_left = w->part_left < WB__CHUNK_BYTES ? w->part_left : WB__CHUNK_BYTES;
    w->part_left -= w->chunk_left;
    w->rest_bytes = 0;
    wb__sha256_lane_start(&w->chunk);
}

/*
 * Adds n bytes of the piece to the digest of the current chunk. In parallel, adds up to the same
 * number of blocks of the piece to the digest of the file. hash_pieces later adds the blocks of the
 * piece that the digest of the file still lacks.
 */
static void add_to_chunk(file_worker *w, const uint8_t *bytes, size_t n)
{
    if (w->rest_bytes > 0) { /* complete the partial block */
        size_t room = WB__SHA256_BLOCK - w->rest_bytes;
        size_t taken = n < room ? n : room;
        memcpy(w->rest + w->rest_bytes, bytes, taken);
        w->rest_bytes += taken;
        bytes += taken;
        n -= taken;
        if (w->rest_bytes < WB__SHA256_BLOCK)
            return;
        wb__sha256_lane_add(&w->chunk, w->rest, 1);
    }
    size_t blocks = n / WB__SHA256_BLOCK;
    size_t whole = (w->bytes - w->whole_at) / WB__SHA256_BLOCK;
    size_t both = blocks < whole ? blocks : whole;
    wb__sha256_lanes_add(&w->whole, w->piece + w->whole_at, &w->chunk, bytes, both);
    wb__sha256_lane_add(&w->chunk, bytes + both * WB__SHA256_BLOCK, blocks - both);
    w->whole_at += both * WB__SHA256_BLOCK;
    w->rest_bytes = n % WB__SHA256_BLOCK;
    memcpy(w->rest, bytes + blocks * WB__SHA256_BLOCK, w->rest_bytes);
}

static void hash_chunks(file_worker *w)
{
    for (size_t at = 0; at < w->bytes;) {
        if (w->chunk_left == 0)
            next_chunk(w);
        size_t n = w->bytes - at < w->chunk_left ? w->bytes - at : (size_t)w->chunk_left;
        add_to_chunk(w, w->piece + at, n);
        w->chunk_left -= n;
        at += n;
        if (w->chunk_left == 0)
            wb__sha256_lane_finish(&w->chunk, w->rest, w->rest_bytes,
                                   w->file->chunks[w->number++].bytes);
    }
}

static wb_status hash_pieces(file_worker *w, const wb__source *source)
{
    uint64_t bytes = wb__source_bytes(source);
    wb__source_expect(source, 0, bytes);
    for (uint64_t at = 0; at < bytes; at += w->bytes) {
        w->bytes = bytes - at < PIECE_BYTES ? (size_t)(bytes - at) : PIECE_BYTES;
        w->whole_at = 0;
        wb_status status = wb__source_read(source, w->context, at, w->piece, w->bytes);
        if (status != WB_OK)
            return status;
        if (w->file->chunks != NULL)
            hash_chunks(w);
        size_t blocks = (w->bytes - w->whole_at) / WB__SHA256_BLOCK;
        wb__sha256_lane_add(&w->whole, w->piece + w->whole_at, blocks);
        w->whole_at += blocks * WB__SHA256_BLOCK;
        if (!wb__hash_advance(w->job, w->bytes))
            return WB_OK;
    }
    /* Only the last piece can end with a partial block. */
    wb__sha256_lane_finish(&w->whole, w->piece + w->whole_at, w->bytes - w->whole_at,
                           w->file->digest.bytes);
    return WB_OK;
}

wb_status wb__hash_file_work(wb__hash_job *job, wb__context *context, size_t i)
{
    const wb_model *model = job->hashes->model;
    file_worker w = {.job = job, .context = context, .file = &job->hashes->files[i]};
    context->file = model->catalog.files[i].path;
    w.piece = wb__alloc(&context->allocator, PIECE_BYTES);
    wb_status status = w.piece == NULL ? wb__fail_memory(context) : WB_OK;
    if (status == WB_OK)
        status = wb__sha256_lane_open(&w.whole, context);
    if (status == WB_OK)
        status = wb__sha256_lane_open(&w.chunk, context);
    if (status == WB_OK)
        status = hash_pieces(&w, model->sources[i]);
    wb__sha256_lane_close(&w.whole);
    wb__sha256_lane_close(&w.chunk);
    wb__free(&context->allocator, w.piece, PIECE_BYTES);
    return status;
}
