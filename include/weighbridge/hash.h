/*
 * weighbridge/hash.h: SHA-256 of files and of values, and manifests.
 */
#ifndef WEIGHBRIDGE_HASH_H
#define WEIGHBRIDGE_HASH_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SHA-256 of something, as bytes. */
#define WB_DIGEST_BYTES 32

/*
 * There are two kinds of digests. That of a file is of its bytes, what sha256sum prints. That of a
 * tensor is of its values: SHA-256 of its rank and dimensions, a 64-bit integer each, and then of its
 * values as binary32, all of them little-endian, rows in the order Hugging Face has them. It is the
 * same for whatever holds the same values: another format, another dtype that has room for them, one
 * file or many, experts one by one or stacked. docs/hash.md has it to the letter.
 */
#define WB_HASH_FILES 1u
#define WB_HASH_VALUES 2u
#define WB_HASH_CHUNKS 4u /* of each MiB of the files, too, which makes a manifest; with FILES */

typedef struct wb_hash_options {
    size_t size;                 /* sizeof(wb_hash_options) */
    uint32_t flags;              /* WB_HASH_*; 0: FILES and VALUES */
    const wb_executor *executor; /* NULL: that the model was opened with */
    const wb_progress *progress; /* NULL: none */
} wb_hash_options;
#define WB_HASH_OPTIONS_INIT WB_INIT(wb_hash_options)

typedef struct wb_hashes wb_hashes;

/*
 * Computes digests of an open model. Files and tensors are read once for each kind, several at a time
 * where there is an executor; the result does not depend on it. Takes some MiB for each of its
 * threads, and what a row of a tensor takes where that is more.
 *
 * options  NULL: defaults
 * hashes   owned, release with wb_hashes_free, before the model is closed
 *
 * Fails with IO, MEMORY, CANCELLED, ARGUMENT, with UNSUPPORTED for a tensor that cannot be decoded,
 * and with CHANGED if a file did meanwhile. Thread-safe.
 */
WB_API wb_status wb_hash_model(const wb_model *model, const wb_hash_options *options,
                               wb_hashes **hashes, wb_error *error) WB_MUST_CHECK;

/* NULL is ignored. */
WB_API void wb_hashes_free(wb_hashes *hashes);

typedef struct wb_tensor_hash {
    size_t size;      /* sizeof(wb_tensor_hash) */
    const char *name; /* canonical where there is such a name, else as the files have it; borrowed
                         until wb_close */
    size_t name_len;
    uint64_t tensor;       /* index for wb_tensor_at */
    uint64_t nan;          /* how many values are NaN */
    uint64_t infinite;     /* and infinite */
    uint32_t is_canonical; /* 1: the name is */
    uint32_t counts;       /* 1: it is part of the digest of the whole model */
    uint8_t digest[WB_DIGEST_BYTES];
} wb_tensor_hash;
#define WB_TENSOR_HASH_INIT WB_INIT(wb_tensor_hash)

/* The number of digests of tensors; 0 without WB_HASH_VALUES. */
WB_API uint64_t wb_hash_tensor_count(const wb_hashes *hashes);

/* Digest `index` < wb_hash_tensor_count, in byte order of the names; NOT_FOUND for other numbers. */
WB_API wb_status wb_hash_tensor_at(const wb_hashes *hashes, uint64_t index,
                                   wb_tensor_hash *hash) WB_MUST_CHECK;

/*
 * The digest of all values: SHA-256 over the tensors in byte order of their names, of each the length
 * of the name as a 64-bit integer, little-endian, the name, and the digest. Left out are tensors
 * that converters leave out, since no engine needs them (tables that follow from the config, such as
 * rope_freqs.weight, and BERT's pooler), and an output.weight that equals token_embedding.weight. NOT_FOUND without WB_HASH_VALUES.
 */
WB_API wb_status wb_hash_values(const wb_hashes *hashes,
                                uint8_t digest[WB_DIGEST_BYTES]) WB_MUST_CHECK;

/* The digest of file `index` < wb_file_count. NOT_FOUND without WB_HASH_FILES. */
WB_API wb_status wb_hash_file(const wb_hashes *hashes, uint64_t index,
                              uint8_t digest[WB_DIGEST_BYTES]) WB_MUST_CHECK;

/*
 * Writes a manifest, JSON, through `write`, which returns 0 as long as all is well: what
 * wb_verify_options.manifest takes. Needs WB_HASH_CHUNKS (ARGUMENT otherwise). docs/hash.md has the
 * format. IO where `write` failed.
 */
WB_API wb_status wb_hash_manifest(const wb_hashes *hashes,
                                  int (*write)(void *ctx, const char *text, size_t n), void *ctx,
                                  wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
