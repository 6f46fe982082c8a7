/*
 * hash: digests of files and of values, and the manifests made of them.
 *
 *   sha256.h          two messages at a time
 *   hash.c            all digests of a model, spread over an executor
 *   value_worker.c    tensors, two at a time
 *   file_worker.c     a file, and chunks of it beside
 *   parts.c           which chunks there are
 *   manifest_write.c  what is written of them; manifest_read.c, manifest_check.c the way back
 *
 * docs/hash.md says what is hashed, to the letter.
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

/* In 64 hexadecimal digits, small letters, and a NUL; and back, false if it is not that. */
#define WB__DIGEST_TEXT (2 * WB__SHA256_BYTES + 1)
void wb__digest_write(const wb__digest *digest, char text[WB__DIGEST_TEXT]);
bool wb__digest_read(wb__digest *digest, wb__str text);

/* What stands behind the last '/' of a path. */
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
 * A file is cut into parts: a tensor, or what lies between two of them. A part is cut into chunks of
 * WB__CHUNK_BYTES, the last of which may be shorter, each with a digest.
 */
typedef struct wb__file_part {
    uint64_t bytes; /* not 0; a part begins where the one before ends */
    wb__str tensor; /* its name; ptr is NULL between tensors */
    const wb__digest *chunks;
} wb__file_part;

static inline uint64_t wb__chunks_of(uint64_t bytes)
{
    return bytes / WB__CHUNK_BYTES + (bytes % WB__CHUNK_BYTES != 0);
}

typedef struct wb__file_hash {
    wb__digest digest;
    wb__file_part *parts; /* NULL: they are not wanted */
    size_t part_count, part_capacity;
    wb__digest *chunks; /* of all parts */
    size_t chunk_count;
} wb__file_hash;

struct wb_hashes {
    wb_allocator allocator;
    const wb_model *model;
    uint32_t flags;
    wb__comparables subjects;
    wb__value_hash *values; /* of each subject */
    wb__file_hash *files;
    size_t file_count;
    wb__digest all_values;
};

/* ---- the work, spread over threads ---- */

#define WB__HASH_SLOTS 64 /* the most threads that hash tensors at the same time */

typedef struct wb__hash_job {
    wb_hashes *hashes;
    wb__context *context; /* the caller's; each thread has its own copy */
    const wb_progress *progress;
    const void *home;   /* tells the calling thread from others */
    uint64_t total;     /* bytes to hash */
    atomic_size_t done; /* KiB */
    atomic_bool stop;
    atomic_bool cancelled;
    uint32_t *queue; /* subjects, the largest first */
    atomic_size_t next;
    wb_error *errors;   /* of the files, and of the threads that hash tensors */
    wb_status *results; /* likewise */
} wb__hash_job;

/* Fills the hashes, whose flags and model are set. */
wb_status wb__hash_all(wb_hashes *hashes, wb__context *context, const wb_progress *progress);

/* Whether subject i is part of the digest of all values. */
bool wb__hash_counts(const wb_hashes *hashes, size_t i);

/* Notes that bytes were hashed and tells the caller, if this is its thread. False: stop. */
bool wb__hash_advance(wb__hash_job *job, size_t bytes);

/* Hashes subjects of the queue until there are none left. */
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

/* Cuts file `i` into parts, and makes room for their digests. */
wb_status wb__file_parts_make(wb__file_hash *file, const wb_model *model, wb__context *context,
                              size_t i);
void wb__file_parts_free(wb__file_hash *file, const wb_allocator *allocator);

/* False where `write` failed. */
bool wb__manifest_write(const wb_hashes *hashes,
                        int (*write)(void *ctx, const char *text, size_t n), void *ctx);

/*
 * Reads a manifest, from a text of less than 4 GiB, which it changes, and from a file. Release with
 * wb__manifest_free, also after a failure.
 */
wb_status wb__manifest_parse(wb__manifest *manifest, wb__context *context, char *text,
                             size_t bytes);
wb_status wb__manifest_read(wb__manifest *manifest, wb__context *context, const char *path);
void wb__manifest_free(wb__manifest *manifest);

/*
 * Compares files with the manifest at `path` and adds what differs to context->findings. `model` is
 * NULL where it could not be opened; the files then lie where `model_path` is.
 */
wb_status wb__manifest_check(const wb_model *model, wb__context *context, const char *path,
                             const char *model_path, const wb_progress *progress);

#endif
