/*
 * hash: digests of files and of tensor values, and manifests of these digests.
 *
 *   crypto/sha256.h   SHA-256 of two messages in parallel
 *   hash.c            computes all digests of a model, using the threads of an executor
 *   value_worker.c    hashes tensors, two at a time
 *   file_worker.c     hashes a file and its chunks
 *   manifest_parts.c  divides a file into parts and chunks
 *   manifest_write.c  writes manifests
 *   manifest_read.c   parses manifests
 *   manifest_check.c  compares files with a manifest
 *
 * docs/hash.md defines the hashed bytes exactly.
 */
#ifndef WB_HASH_HASH_H
#define WB_HASH_HASH_H

#include <stdatomic.h>

#include "crypto/sha256.h"
#include "read/comparable.h"
#include "weighbridge/hash.h"

#define WB__CHUNK_BYTES ((uint64_t)1 << 20)

typedef struct wb__digest {
    uint8_t bytes[WB__SHA256_BYTES];
} wb__digest;

/* wb__digest_write converts a digest to 64 lowercase hexadecimal digits and a NUL. wb__digest_read
 * converts such digits to a digest, and returns false if the string has another form. */
#define WB__DIGEST_TEXT (2 * WB__SHA256_BYTES + 1)
void wb__digest_write(const wb__digest *digest, char text[WB__DIGEST_TEXT]);
bool wb__digest_read(wb__digest *digest, wb__str text);

/* Returns the part of a path after the last '/'. */
static inline wb__str wb__base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return wb__str_from(slash == NULL ? path : slash + 1, SIZE_MAX);
}

typedef struct wb__value_hash {
    wb__digest digest;
    uint64_t nan, infinite;
} wb__value_hash;

/*
 * A file is divided into parts: a part is a tensor, or the bytes before, between or after tensors.
 * A part is divided into chunks of WB__CHUNK_BYTES (the last chunk may be shorter). Each chunk has
 * a digest.
 */
typedef struct wb__file_part {
    uint64_t bytes; /* size, not 0; each part begins at the end of the previous part */
    wb__str tensor; /* tensor name; ptr is NULL if the part is no tensor */
    const wb__digest *chunks;
} wb__file_part;

static inline uint64_t wb__chunks_of(uint64_t bytes)
{
    return bytes / WB__CHUNK_BYTES + (bytes % WB__CHUNK_BYTES != 0);
}

typedef struct wb__file_hash {
    wb__digest digest;
    wb__file_part *parts; /* NULL if parts were not requested */
    size_t part_count, part_capacity;
    wb__digest *chunks; /* the chunk digests of all parts */
    size_t chunk_count;
} wb__file_hash;

struct wb_hashes {
    wb_allocator allocator;
    const wb_model *model;
    uint32_t flags;
    wb__comparables subjects; /* the tensors that are hashed, see read/comparable.h */
    wb__value_hash *values;   /* one entry for each of the `subjects` */
    wb__file_hash *files;
    size_t file_count;
    wb__digest all_values;
};

/* ---- jobs for worker threads ---- */

#define WB__HASH_SLOTS 64 /* maximum number of threads that hash tensors concurrently */

typedef struct wb__hash_job {
    wb_hashes *hashes;
    wb__context *context; /* the caller's context; each thread has its own copy */
    const wb_progress *progress;
    const void *home;   /* address of errno in the calling thread, which identifies the thread */
    uint64_t total;     /* number of bytes to hash */
    atomic_size_t done; /* number of KiB hashed so far */
    atomic_bool stop;
    atomic_bool cancelled;
    uint32_t *queue; /* indices in `subjects`, sorted by size from largest to smallest */
    atomic_size_t next;
    wb_error *errors;   /* one per file, then one per thread that hashes tensors */
    wb_status *results; /* same order as errors */
} wb__hash_job;

/* Computes all digests. Precondition: hashes->flags and hashes->model are set. */
wb_status wb__hash_all(wb_hashes *hashes, wb__context *context, const wb_progress *progress);

/* Returns true if tensor i of `subjects` is included in the digest of all values. Tensors that
 * converters may omit, and output matrices that equal the embedding, are not included. */
bool wb__hash_counts(const wb_hashes *hashes, size_t i);

/* Adds `bytes` to the number of hashed bytes. Also reports progress if the current thread is the
 * thread of the caller. Returns false if the job must stop. */
bool wb__hash_advance(wb__hash_job *job, size_t bytes);

/* Hashes tensors from the queue until it is empty. */
wb_status wb__hash_values_work(wb__hash_job *job, wb__context *context);

/* Hashes file `i`. */
wb_status wb__hash_file_work(wb__hash_job *job, wb__context *context, size_t i);

/* ---- manifests ---- */

typedef struct wb__manifest_file {
    wb__str name;
    uint64_t bytes;
    wb__file_part *parts;
    size_t part_count;
} wb__manifest_file;

typedef struct wb__manifest {
    wb_allocator allocator;
    wb__arena arena;
    wb__manifest_file *files;
    size_t file_count;
} wb__manifest;

/* Divides file `i` into parts and allocates memory for their chunk digests. */
wb_status wb__file_parts_make(wb__file_hash *file, const wb_model *model, wb__context *context,
                              size_t i);
void wb__file_parts_free(wb__file_hash *file, const wb_allocator *allocator);

/* Writes the manifest as JSON text through the function `write`. Returns false if `write` failed,
 * that is, returned a number other than 0. */
bool wb__manifest_write(const wb_hashes *hashes,
                        int (*write)(void *ctx, const char *text, size_t n), void *ctx);

/*
 * wb__manifest_parse parses a manifest from a string of less than 4 GiB and modifies the string.
 * wb__manifest_read parses a manifest file, and wb__manifest_read_text a copy of a string. The
 * caller must call wb__manifest_free, also after a failure.
 */
wb_status wb__manifest_parse(wb__manifest *manifest, wb__context *context, char *text,
                             size_t bytes);
wb_status wb__manifest_read(wb__manifest *manifest, wb__context *context, const char *path);
wb_status wb__manifest_read_text(wb__manifest *manifest, wb__context *context, const char *name,
                                 const char *text, size_t bytes);
void wb__manifest_free(wb__manifest *manifest);

/* A manifest: a text, or a file if `text` is NULL. */
typedef struct wb__manifest_source {
    const char *name; /* path of the file; for a text, a name for messages */
    const char *text;
    size_t bytes;
} wb__manifest_source;

/*
 * Compares the files of a model with a manifest and adds differences to context->findings. `model` is NULL if the model could not be opened. The files are then looked up
 * in the directory `model_path`, or in its parent directory if `model_path` is a file.
 */
wb_status wb__manifest_check(const wb_model *model, wb__context *context,
                             const wb__manifest_source *source, const char *model_path,
                             const wb_progress *progress);

#endif
