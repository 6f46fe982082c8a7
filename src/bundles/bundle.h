/*
 * bundles: which files make a model.
 *
 * A person names a folder, a file or one shard of many; a bundle is the list of files that follows
 * from it, in the order they are to be read, and what is to be checked once they have been: the
 * index, model.safetensors.index.json, against the tensors; what the parts of a split GGUF file say
 * of themselves. Names read out of files are plain file names in the folder of the file they stand
 * in, or the bundle is refused.
 *
 * What is not as it should be becomes a finding; nothing is guessed. The rules for each case are in
 * folder.c and splits.c.
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
    char **names; /* of its files, in the order to be read */
    size_t count;
    size_t capacity;
    char *index_path;  /* NULL: no index */
    wb__source *index; /* its text */
    const char *index_text;
    size_t index_bytes;
    void *index_copy; /* owned, NULL where index_text lies in the source */
} wb__bundle;

void wb__bundle_init(wb__bundle *bundle, const wb_allocator *allocator);
void wb__bundle_free(wb__bundle *bundle);

/* The files of the model in a folder. */
wb_status wb__bundle_of_folder(wb__context *context, const char *folder, wb__bundle *bundle);

/* The files of the model that a shard belongs to; none for a file that is not named as a shard. */
wb_status wb__bundle_of_shard(wb__context *context, const char *path, wb__bundle *bundle);

/* Compares index and model, once all files are read. Findings, or a failure to make them. */
wb_status wb__bundle_check(wb__context *context, const wb__bundle *bundle,
                           const wb__catalog *model);

/* Compares what the GGUF files of a model say of their set with what was read. */
wb_status wb__split_check(wb__context *context, const wb__catalog *model);

/* ---- for the files of this room ---- */

/* Appends a file. The folder is that of all files of the bundle. */
wb_status wb__bundle_add(wb__context *context, wb__bundle *bundle, const char *folder,
                         wb__str name);

/* Reads an index into the bundle and calls `each` with every file name in it, once each, in order.
 */
wb_status wb__index_read(wb__context *context, wb__bundle *bundle, const char *path,
                         wb_status (*each)(void *ctx, wb__str file), void *ctx);

/* prefix-00001-of-00003.safetensors, or .gguf */
typedef struct wb__shard_name {
    wb__str prefix;
    const char *extension; /* with its dot */
    unsigned digits;       /* of each number */
    uint32_t number;       /* from 1 */
    uint32_t of;
} wb__shard_name;

/* False if the name is not of that form. */
bool wb__shard_parse(wb__str name, wb__shard_name *shard);

/* True if both are shards of one set, the same one perhaps. */
bool wb__shard_same_set(const wb__shard_name *a, const wb__shard_name *b);

/* The parts of the split GGUF file that a shard belongs to. */
wb_status wb__bundle_of_split(wb__context *context, const char *folder, const wb__shard_name *shard,
                              wb__bundle *bundle);

/* The GGUF file of a folder, or the parts of the only one; none where there are none. */
wb_status wb__bundle_of_gguf_folder(wb__context *context, const char *folder, wb__bundle *bundle);

/* Writes the name of shard `number` of the same set into `out`. */
void wb__shard_print(const wb__shard_name *shard, uint32_t number, char *out, size_t capacity);

#endif
