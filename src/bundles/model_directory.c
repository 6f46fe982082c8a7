/*
 * Determines which files of a directory form the model. The first rule that applies is used:
 *
 *   1. There is an index and all files that it lists exist: the model consists of these files.
 *   2. There is model.safetensors, and the index, if any, does not list it: the model is this file.
 *      If there is an index, it is reported as stale.
 *   3. The index lists missing files: an error that names the first missing file.
 *   4. All .safetensors files belong to one set of shards, name-0000i-of-0000n.safetensors: the
 *      model consists of the shards. The missing index is reported. If a shard is missing, an error
 *      names the first missing shard.
 *   5. There is a single .safetensors file: the model is this file.
 *   6. There are several .safetensors files: an error, because the choice is ambiguous.
 *   7. There is no .safetensors file, but there are GGUF files: see splits.c.
 *   8. There is a single file of another format whose wb__format.is_weights is true: the model is
 *      this file.
 *
 * Additional files model*.safetensors are reported, because some loaders load them as well.
 */
#define _POSIX_C_SOURCE 200809L
#include "bundles/bundle.h"
#include "bundles/bundles_messages.h"
#include "formats/format.h"

#include <stdio.h>
#include <unistd.h>

#define INDEX_END ".safetensors.index.json"
#define WHOLE "model.safetensors"

typedef struct folder_listing {
    wb__context *context;
    wb__bundle *bundle;
    const char *folder;
    wb__arena arena;
    char **names; /* the *.safetensors files, in byte order */
    size_t count;
    size_t capacity;
    const char *index_name; /* name of the index to prefer if there are several */
    char *index;            /* the index that was found, or NULL */
    bool whole;             /* model.safetensors exists */
    char other[64];         /* a weights file in an unsupported format, for the error message */
    const char *lone;       /* first file of another format, for rule 8 at the top of this file */
    size_t lone_count;
    size_t missing; /* number of missing files or shards of the model */
    char first_missing[256];
} folder_listing;

/* Returns true if the listing contains this name. The name must not contain NUL. */
static bool has_name(const folder_listing *listing, wb__str name)
{
    size_t low = 0, high = listing->count; /* binary search, because the names are in byte order */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(listing->names[middle], name.ptr, name.len);
        if (order == 0 && listing->names[middle][name.len] == '\0')
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Records a file that is neither an index nor a .safetensors file. */
static wb_status list_other(folder_listing *listing, wb__str name)
{
    const wb__format *format = wb__format_of_extension(name);
    if (format != NULL && format->is_weights && listing->lone_count++ == 0) {
        listing->lone = wb__arena_copy(&listing->arena, name.ptr, name.len);
        if (listing->lone == NULL)
            return wb__fail_memory(listing->context);
    }
    if (wb__str_ends_with(name, WB__STR(".bin")) || wb__str_ends_with(name, WB__STR(".pt")) ||
        wb__str_ends_with(name, WB__STR(".pth")))
        wb__printable(listing->other, sizeof listing->other, name);
    return WB_OK;
}

static wb_status list_name(void *ctx, const char *entry)
{
    folder_listing *listing = ctx;
    wb__str name = wb__str_from(entry, SIZE_MAX);
    /* skip files such as "._model.safetensors", which macOS creates on foreign file systems */
    if (name.ptr[0] == '.')
        return WB_OK;
    if (wb__str_ends_with(name, WB__STR(INDEX_END))) {
        if (listing->index == NULL || strcmp(entry, listing->index_name) == 0) {
            listing->index = wb__arena_copy(&listing->arena, name.ptr, name.len);
            if (listing->index == NULL)
                return wb__fail_memory(listing->context);
        }
        return WB_OK;
    }
    if (!wb__str_ends_with(name, WB__STR(".safetensors")))
        return list_other(listing, name);
    char *copy = wb__arena_copy(&listing->arena, name.ptr, name.len);
    if (copy == NULL ||
        !wb__grow(&listing->context->allocator, (void **)&listing->names, &listing->capacity,
                  sizeof *listing->names, listing->count + 1, SIZE_MAX))
        return wb__fail_memory(listing->context);
    listing->names[listing->count++] = copy;
    listing->whole |= strcmp(entry, WHOLE) == 0;
    return WB_OK;
}

static wb_status add_indexed(void *ctx, wb__str file)
{
    folder_listing *listing = ctx;
    if (!has_name(listing, file)) {
        if (listing->missing++ == 0)
            wb__printable(listing->first_missing, sizeof listing->first_missing, file);
    }
    return wb__bundle_add(listing->context, listing->bundle, listing->folder, file);
}

static bool in_bundle(const wb__bundle *bundle, const char *name)
{
    for (size_t i = 0; i < bundle->count; i++) {
        if (strcmp(bundle->names[i], name) == 0)
            return true;
    }
    return false;
}

static wb_status note_strays(const folder_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        if (strncmp(name, "model", 5) != 0 || in_bundle(listing->bundle, name))
            continue;
        wb_status status = wb__note(listing->context, WB_WARNING, WB__FINDING_SHARD_STRAY,
                                    WB_NO_OFFSET, WB__STR(""), WB__MSG_BUNDLE_STRAY_FILE, name);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}

static wb_status fail_missing(const folder_listing *listing)
{
    return wb__fail(listing->context, WB_ERROR_FORMAT, WB__FINDING_SHARD_MISSING, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_BUNDLE_FILES_MISSING, listing->missing,
                    listing->missing == 1 ? "is" : "are", listing->first_missing);
}

/* Adds the files that the index lists, and counts the missing ones. */
static wb_status add_index(folder_listing *listing)
{
    wb__context *context = listing->context;
    char *path =
        wb__path_join(&context->allocator, listing->folder, wb__str_from(listing->index, SIZE_MAX));
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status =
        wb__index_read(context, listing->bundle, listing->folder, path, add_indexed, listing);
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

/* Applies rules 1 to 3 at the top of this file. Sets *done to whether one of them applied. */
static wb_status by_index(folder_listing *listing, bool *done)
{
    wb__context *context = listing->context;
    wb__bundle *bundle = listing->bundle;
    *done = true;
    if (listing->index != NULL) {
        wb_status status = add_index(listing);
        if (status != WB_OK || listing->missing == 0)
            return status;
        if (!listing->whole || in_bundle(bundle, WHOLE))
            return fail_missing(listing);
        bundle->count = 0;
        bundle->index_text = NULL;
        status = wb__note(context, WB_WARNING, WB__FINDING_INDEX_STALE, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_BUNDLE_STALE_INDEX, listing->index);
        if (status != WB_OK)
            return status;
    }
    if (listing->whole)
        return wb__bundle_add(context, bundle, listing->folder, WB__STR(WHOLE));
    *done = false;
    return WB_OK;
}

/*
 * Adds all shards of `set` to the bundle; fails if one is missing. The listing is in byte order, so
 * the shards are in numerical order.
 */
static wb_status add_set(folder_listing *listing, const wb__shard_name *set)
{
    uint32_t next = 1;
    for (size_t i = 0; i <= listing->count; i++) {
        wb__shard_name shard;
        bool at_end = i == listing->count;
        if (!at_end && (!wb__shard_parse(wb__str_from(listing->names[i], SIZE_MAX), &shard) ||
                        !wb__shard_same_set(&shard, set)))
            continue;
        uint32_t reached = at_end ? set->of + 1 : shard.number;
        if (reached > next) {
            if (listing->missing == 0)
                wb__shard_print(set, next, listing->first_missing, sizeof listing->first_missing);
            listing->missing += reached - next;
        }
        next = reached + 1;
        if (!at_end) {
            wb_status status = wb__bundle_add(listing->context, listing->bundle, listing->folder,
                                              wb__str_from(listing->names[i], SIZE_MAX));
            if (status != WB_OK)
                return status;
        }
    }
    if (listing->missing > 0)
        return fail_missing(listing);
    return wb__note(listing->context, WB_WARNING, WB__FINDING_INDEX_MISSING, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_BUNDLE_NO_INDEX, (unsigned long)set->of);
}

/* Applies rules 4 to 8 at the top of this file. */
static wb_status by_names(folder_listing *listing)
{
    wb__shard_name set;
    bool has_set =
        listing->count > 0 && wb__shard_parse(wb__str_from(listing->names[0], SIZE_MAX), &set);
    bool mixed = false;
    for (size_t i = 1; i < listing->count && has_set; i++) {
        wb__shard_name shard;
        mixed |= !wb__shard_parse(wb__str_from(listing->names[i], SIZE_MAX), &shard) ||
                 !wb__shard_same_set(&shard, &set);
    }
    if (has_set && !mixed)
        return add_set(listing, &set);
    if (listing->count == 1)
        return wb__bundle_add(listing->context, listing->bundle, listing->folder,
                              wb__str_from(listing->names[0], SIZE_MAX));
    if (listing->count > 1)
        return wb__fail(listing->context, WB_ERROR_FORMAT, WB__FINDING_FOLDER_AMBIGUOUS,
                        WB_NO_OFFSET, WB__STR(""), WB__MSG_BUNDLE_AMBIGUOUS_FILES, listing->count,
                        listing->names[0], listing->names[1]);
    wb_status status =
        wb__bundle_of_gguf_folder(listing->context, listing->folder, listing->bundle);
    if (status != WB_OK || listing->bundle->count > 0)
        return status;
    if (listing->lone_count == 1)
        return wb__bundle_add(listing->context, listing->bundle, listing->folder,
                              wb__str_from(listing->lone, SIZE_MAX));
    if (listing->lone_count > 1)
        return wb__fail(listing->context, WB_ERROR_FORMAT, WB__FINDING_FOLDER_AMBIGUOUS,
                        WB_NO_OFFSET, WB__STR(""), WB__MSG_BUNDLE_AMBIGUOUS_FORMAT,
                        listing->lone_count, listing->lone);
    if (listing->other[0] != '\0')
        return wb__fail(listing->context, WB_ERROR_FORMAT, WB__FINDING_FOLDER_OTHER, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_BUNDLE_OTHER_FORMAT, listing->other);
    return wb__fail(listing->context, WB_ERROR_FORMAT, WB__FINDING_FOLDER_EMPTY, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_BUNDLE_NO_WEIGHTS);
}

static wb_status start_listing(folder_listing *listing, wb__context *context, const char *folder,
                               const char *index_name, wb__bundle *bundle)
{
    memset(listing, 0, sizeof *listing);
    listing->context = context;
    listing->bundle = bundle;
    listing->folder = folder;
    listing->index_name = index_name;
    listing->arena.allocator = &context->allocator;
    return wb__directory_list(context, folder, list_name, listing);
}

static void end_listing(folder_listing *listing)
{
    wb__free(&listing->context->allocator, listing->names,
             listing->capacity * sizeof *listing->names);
    wb__arena_free(&listing->arena);
}

wb_status wb__bundle_of_folder(wb__context *context, const char *folder, wb__bundle *bundle)
{
    folder_listing listing;
    bool done = false;
    wb_status status = start_listing(&listing, context, folder, "model" INDEX_END, bundle);
    if (status == WB_OK)
        status = by_index(&listing, &done);
    if (status == WB_OK && !done)
        status = by_names(&listing);
    if (status == WB_OK)
        status = note_strays(&listing);
    end_listing(&listing);
    return status;
}

/* ---- opening a single shard ---- */

static wb_status by_shard(folder_listing *listing, const char *name, const wb__shard_name *shard)
{
    if (listing->index != NULL) {
        wb_status status = add_index(listing);
        if (status != WB_OK)
            return status;
        if (in_bundle(listing->bundle, name))
            return listing->missing == 0 ? WB_OK : fail_missing(listing);
        /* The index describes other files: discard its contents. */
        listing->missing = 0;
        listing->bundle->count = 0;
        listing->bundle->index_text = NULL;
    }
    return add_set(listing, shard);
}

wb_status wb__bundle_of_shard(wb__context *context, const char *path, wb__bundle *bundle)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    wb__shard_name shard;
    if (!wb__shard_parse(wb__str_from(name, SIZE_MAX), &shard))
        return WB_OK;
    bool is_split = strcmp(shard.extension, ".gguf") == 0;

    size_t folder_len = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    wb__arena arena = {.allocator = &context->allocator};
    char *folder = wb__arena_copy(&arena, slash == NULL ? "." : path, folder_len);
    char *index_name = wb__arena_text(&arena, shard.prefix.len + sizeof INDEX_END);
    wb_status status = WB_OK;
    if (folder == NULL || index_name == NULL) {
        status = wb__fail_memory(context);
    } else if (is_split) {
        status = wb__bundle_of_split(context, folder, &shard, bundle);
    } else {
        folder_listing listing;
        memcpy(index_name, shard.prefix.ptr, shard.prefix.len);
        memcpy(index_name + shard.prefix.len, INDEX_END, sizeof INDEX_END);
        status = start_listing(&listing, context, folder, index_name, bundle);
        if (status == WB_OK)
            status = by_shard(&listing, name, &shard);
        end_listing(&listing);
    }
    wb__arena_free(&arena);
    return status;
}
