/*
 * weighbridge/hash.h: SHA-256 digests of files and of values, and manifests.
 */
#ifndef WEIGHBRIDGE_HASH_H
#define WEIGHBRIDGE_HASH_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Size of a SHA-256 digest, in bytes. */
#define WB_DIGEST_BYTES 32

/*
 * There are two kinds of digests. The digest of a file is the SHA-256 of its bytes, as printed by
 * sha256sum. The digest of a tensor is computed from its values: SHA-256 of its rank and dimensions
 * as 64-bit integers, and of its values as binary32, all little-endian, with rows in the order of
 * Hugging Face. It does not depend on the format, on the dtype (if the dtype represents the values
 * exactly), on the division into shards, or on whether experts are stored separately. docs/hash.md
 * has the complete definition.
 */
#define WB_HASH_FILES 1u  /* compute the digests of the files */
#define WB_HASH_VALUES 2u /* compute the digests of the tensors */
#define WB_HASH_CHUNKS 4u /* with WB_HASH_FILES: also digests of each MiB of the files */

typedef struct wb_hash_options {
    size_t size;                 /* sizeof(wb_hash_options) */
    uint32_t flags;              /* WB_HASH_*; 0: WB_HASH_FILES and WB_HASH_VALUES */
    const wb_executor *executor; /* NULL: the executor of the model */
    const wb_progress *progress; /* NULL: none */
} wb_hash_options;
#define WB_HASH_OPTIONS_INIT WB_INIT(wb_hash_options)

typedef struct wb_hashes wb_hashes;

/*
 * Computes digests of an open model. The files are read once for digests of files, and once for
 * digests of values. An executor hashes several files or tensors at a time; the result does not
 * depend on it. Each thread uses some MiB of memory, or the size of one row of a tensor if that is
 * larger. Model and digests together need at most 1 MiB more than 20 times the bytes of the
 * headers.
 *
 * options  NULL: defaults
 * hashes   owned, release with wb_hashes_free before the model is closed
 *
 * Fails with IO, MEMORY, CANCELLED or ARGUMENT, with UNSUPPORTED if a tensor cannot be decoded, and
 * with CHANGED if a file changed since the model was opened. Thread-safe.
 */
WB_API wb_status wb_hash_model(const wb_model *model, const wb_hash_options *options,
                               wb_hashes **hashes, wb_error *error) WB_MUST_CHECK;

/* Frees digests. NULL is ignored. */
WB_API void wb_hashes_free(wb_hashes *hashes);

typedef struct wb_tensor_hash {
    size_t size; /* sizeof(wb_tensor_hash) */
    /* canonical name, or the native one if there is none; borrowed until wb_close */
    const char *name;
    size_t name_len;
    uint64_t tensor;       /* index for wb_tensor_at */
    uint64_t nan;          /* number of NaN values */
    uint64_t infinite;     /* number of infinite values */
    uint32_t is_canonical; /* 1: `name` is canonical */
    uint32_t counts;       /* 1: the tensor is part of the digest of all values */
    uint8_t digest[WB_DIGEST_BYTES];
} wb_tensor_hash;
#define WB_TENSOR_HASH_INIT WB_INIT(wb_tensor_hash)

/* Returns the number of tensor digests; 0 without WB_HASH_VALUES. */
WB_API uint64_t wb_hash_tensor_count(const wb_hashes *hashes);

/*
 * Returns the digest of a tensor. The tensors are sorted by name, in byte order. NOT_FOUND if
 * `index` is not below wb_hash_tensor_count.
 */
WB_API wb_status wb_hash_tensor_at(const wb_hashes *hashes, uint64_t index,
                                   wb_tensor_hash *hash) WB_MUST_CHECK;

/*
 * Returns the digest of all values, a SHA-256 digest over the tensors in byte order of their names.
 * For each tensor it covers the length of the name (64-bit integer, little-endian), the name, and
 * the digest of the tensor. Two kinds of tensors are excluded: tensors that converters drop because
 * engines compute them or do not use them (tables derived from the config, such as
 * rope_freqs.weight, and BERT's pooler), and an output.weight that equals token_embedding.weight.
 * NOT_FOUND without WB_HASH_VALUES.
 */
WB_API wb_status wb_hash_values(const wb_hashes *hashes,
                                uint8_t digest[WB_DIGEST_BYTES]) WB_MUST_CHECK;

/* Returns the digest of the file `index` of the model. NOT_FOUND without WB_HASH_FILES. */
WB_API wb_status wb_hash_file(const wb_hashes *hashes, uint64_t index,
                              uint8_t digest[WB_DIGEST_BYTES]) WB_MUST_CHECK;

/*
 * Writes a manifest, with which wb_verify can check the files later (wb_verify_options.manifest).
 * The manifest is JSON text, passed to `write` in several calls; `write` returns 0 on success.
 * docs/hash.md describes the format. ARGUMENT without WB_HASH_CHUNKS, IO if `write` fails.
 */
WB_API wb_status wb_hash_manifest(const wb_hashes *hashes,
                                  int (*write)(void *ctx, const char *text, size_t n), void *ctx,
                                  wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
