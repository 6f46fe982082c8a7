/*
 * bundles: determines which files form a model.
 *
 * The user names a directory, a file or one shard. The bundle is the resulting list of files in
 * reading order. After the files are read, their tensors are compared with the index
 * (model.safetensors.index.json). For split GGUF files, the shard information in the files is
 * compared with the list of files. A file name in an index must be a plain name in the same
 * directory; otherwise the bundle is rejected.
 *
 * Inconsistencies are reported as findings; nothing is guessed. The rules are described in
 * model_directory.c and splits.c.
 */
#ifndef WB_BUNDLES_BUNDLE_H
#define WB_BUNDLES_BUNDLE_H

#include "core/core.h"
#include "io/io.h"
#include "model/catalog.h"
#include "json/json.h"

typedef struct wb__bundle {
    wb_allocator allocator;
    wb__arena arena;
    char *folder;
    char **names; /* names of the model's files, in the order in which they are read */
    size_t count;
    size_t capacity;
    char *index_path;  /* NULL if there is no index */
    wb__source *index; /* the open index file */
    const char *index_text;
    size_t index_bytes;
    void *index_copy; /* buffer of index_text, owned by the bundle; NULL if not allocated */
} wb__bundle;

void wb__bundle_init(wb__bundle *bundle, const wb_allocator *allocator);
void wb__bundle_free(wb__bundle *bundle);

/* Determines the files of the model in a directory. */
wb_status wb__bundle_of_folder(wb__context *context, const char *folder, wb__bundle *bundle);

/*
 * Determines the files of the model that the shard `path` belongs to. The bundle stays empty if the
 * file name is not a shard name.
 */
wb_status wb__bundle_of_shard(wb__context *context, const char *path, wb__bundle *bundle);

/*
 * Compares the index of the shards with the model, after all files are read. Differences are
 * reported as findings. Fails only if reporting fails or the index is unreadable.
 */
wb_status wb__bundle_check(wb__context *context, const wb__bundle *bundle,
                           const wb__catalog *model);

/* Compares the shard information in the GGUF files of a model with the files that were read. */
wb_status wb__split_check(wb__context *context, const wb__catalog *model);

/* ---- internal functions of this module ---- */

/* Appends a file. All files of a bundle are in the same directory. */
wb_status wb__bundle_add(wb__context *context, wb__bundle *bundle, const char *folder,
                         wb__str name);

/*
 * Reads the index `path` of a directory into the bundle. Calls `each` once for every distinct file
 * name in the index, in the order in which the names first occur.
 */
wb_status wb__index_read(wb__context *context, wb__bundle *bundle, const char *folder,
                         const char *path, wb_status (*each)(void *ctx, wb__str file), void *ctx);

/*
 * The parts of a shard name such as prefix-00001-of-00003.safetensors or
 * prefix-00001-of-00003.gguf.
 */
typedef struct wb__shard_name {
    wb__str prefix;
    const char *extension; /* ".safetensors" or ".gguf" */
    unsigned digits;       /* number of digits that the name uses for each of the two numbers */
    uint32_t number;       /* number of the shard, from 1 */
    uint32_t of;
} wb__shard_name;

/* Parses a shard name; returns false if the name does not have this form. */
bool wb__shard_parse(wb__str name, wb__shard_name *shard);

/* Returns true if both names are shards of the same set; they may be identical. */
bool wb__shard_same_set(const wb__shard_name *a, const wb__shard_name *b);

/* Adds all shards of the split GGUF model that a shard belongs to. */
wb_status wb__bundle_of_split(wb__context *context, const char *folder, const wb__shard_name *shard,
                              wb__bundle *bundle);

/*
 * Adds the GGUF files of a directory. Fails if these are neither a single file nor one set of
 * shards. Adds nothing if the directory contains no GGUF file.
 */
wb_status wb__bundle_of_gguf_folder(wb__context *context, const char *folder, wb__bundle *bundle);

/* Writes the name of shard `number` of the set that `shard` belongs to. */
void wb__shard_print(const wb__shard_name *shard, uint32_t number, char *out, size_t capacity);

#endif
