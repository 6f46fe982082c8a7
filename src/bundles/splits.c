/*
 * Split GGUF files: prefix-00001-of-0000N.gguf, as named by gguf-split. The first shard contains
 * the metadata. Every shard contains these keys:
 *
 *     split.no               index of the shard, from 0
 *     split.count            number of shards
 *     split.tensors.count    number of tensors in all shards
 *
 * https://github.com/ggml-org/llama.cpp/tree/master/tools/gguf-split
 *
 * The file names in one directory determine the shards. Afterwards, the shard information in the
 * files is compared with the names. If a shard is opened from memory, or has a file name that is
 * not a shard name, the other shards are not found, and only the information in the shard itself is
 * checked.
 */
#define _POSIX_C_SOURCE 200809L
#include "bundles/bundle.h"
#include "bundles/bundles_messages.h"

#include <string.h>

/* ---- listing a directory ---- */

typedef struct split_listing {
    wb__context *context;
    const wb__shard_name *set; /* NULL: list all GGUF files */
    wb__arena arena;
    char **names; /* in byte order, which is the numerical order within a set */
    size_t count;
    size_t capacity;
} split_listing;

static wb_status list_name(void *ctx, const char *entry)
{
    split_listing *listing = ctx;
    wb__str name = wb__str_from(entry, SIZE_MAX);
    wb__shard_name shard;
    if (entry[0] == '.' || !wb__str_ends_with(name, WB__STR(".gguf")))
        return WB_OK;
    if (listing->set != NULL &&
        (!wb__shard_parse(name, &shard) || !wb__shard_same_set(&shard, listing->set)))
        return WB_OK;
    char *copy = wb__arena_copy(&listing->arena, name.ptr, name.len);
    if (copy == NULL ||
        !wb__grow(&listing->context->allocator, (void **)&listing->names, &listing->capacity,
                  sizeof *listing->names, listing->count + 1, SIZE_MAX))
        return wb__fail_memory(listing->context);
    listing->names[listing->count++] = copy;
    return WB_OK;
}

static wb_status make_listing(split_listing *listing, wb__context *context, const char *folder,
                              const wb__shard_name *set)
{
    *listing = (split_listing){.context = context, .set = set};
    listing->arena.allocator = &context->allocator;
    return wb__directory_list(context, folder, list_name, listing);
}

static void free_listing(split_listing *listing)
{
    wb__free(&listing->context->allocator, listing->names,
             listing->capacity * sizeof *listing->names);
    wb__arena_free(&listing->arena);
}

/* ---- sets ---- */

static wb_status fail_missing(wb__context *context, const wb__shard_name *set, uint32_t first,
                              uint64_t missing)
{
    char name[256], shown[256];
    wb__shard_print(set, first, name, sizeof name);
    wb__printable(shown, sizeof shown, wb__str_from(name, SIZE_MAX));
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_SHARD_MISSING, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_SPLIT_PARTS_MISSING, (unsigned long)set->of,
                    (unsigned long long)missing, missing == 1 ? "is" : "are", shown);
}

/* Adds all shards of `set` to the bundle; fails if one is missing. The listing contains only shards
 * of this set. */
static wb_status add_set(split_listing *listing, const char *folder, const wb__shard_name *set,
                         wb__bundle *bundle)
{
    uint32_t next = 1, first_missing = 0;
    for (size_t i = 0; i < listing->count; i++) {
        wb__shard_name shard;
        wb__str name = wb__str_from(listing->names[i], SIZE_MAX);
        if (!wb__shard_parse(name, &shard))
            continue;
        if (shard.number != next && first_missing == 0)
            first_missing = next;
        next = shard.number + 1;
        wb_status status = wb__bundle_add(listing->context, bundle, folder, name);
        if (status != WB_OK)
            return status;
    }
    if (first_missing == 0 && next != set->of + 1)
        first_missing = next;
    return first_missing == 0 ? WB_OK
                              : fail_missing(listing->context, set, first_missing,
                                             set->of - (uint64_t)listing->count);
}

wb_status wb__bundle_of_split(wb__context *context, const char *folder, const wb__shard_name *shard,
                              wb__bundle *bundle)
{
    split_listing listing;
    wb_status status = make_listing(&listing, context, folder, shard);
    if (status == WB_OK)
        status = add_set(&listing, folder, shard, bundle);
    free_listing(&listing);
    return status;
}

/* Returns true if all files of a listing are shards of one set, and sets *set to it. */
static bool is_one_set(const split_listing *listing, wb__shard_name *set)
{
    if (!wb__shard_parse(wb__str_from(listing->names[0], SIZE_MAX), set))
        return false;
    for (size_t i = 1; i < listing->count; i++) {
        wb__shard_name shard;
        if (!wb__shard_parse(wb__str_from(listing->names[i], SIZE_MAX), &shard) ||
            !wb__shard_same_set(&shard, set))
            return false;
    }
    return true;
}

static wb_status take_listing(split_listing *listing, const char *folder, wb__bundle *bundle)
{
    wb__shard_name set;
    if (listing->count == 0)
        return WB_OK;
    if (is_one_set(listing, &set))
        return add_set(listing, folder, &set, bundle);
    if (listing->count == 1)
        return wb__bundle_add(listing->context, bundle, folder,
                              wb__str_from(listing->names[0], SIZE_MAX));
    char shown[2][96];
    for (size_t i = 0; i < 2; i++)
        wb__printable(shown[i], sizeof shown[i], wb__str_from(listing->names[i], SIZE_MAX));
    return wb__fail(listing->context, WB_ERROR_FORMAT, WB__FINDING_FOLDER_AMBIGUOUS, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_SPLIT_AMBIGUOUS, listing->count, shown[0], shown[1]);
}

wb_status wb__bundle_of_gguf_folder(wb__context *context, const char *folder, wb__bundle *bundle)
{
    split_listing listing;
    wb_status status = make_listing(&listing, context, folder, NULL);
    if (status == WB_OK)
        status = take_listing(&listing, folder, bundle);
    free_listing(&listing);
    return status;
}

/* ---- shard information in the files ---- */

/* Reports a wrong value. `message` prints the stored, then the expected value (%llu). */
static wb_status note_split(wb__context *context, const wb__catalog_file *file, uint32_t at,
                            const char *key, const char *message, uint64_t stored,
                            uint64_t expected)
{
    const char *before = context->file;
    context->file = file->path;
    wb_status status =
        wb__note(context, WB_WARNING, WB__FINDING_GGUF_SPLIT, at, wb__str_from(key, SIZE_MAX),
                 message, (unsigned long long)stored, (unsigned long long)expected);
    context->file = before;
    return status;
}

/* Checks the shard information of a file that was opened alone. */
static wb_status check_lone(wb__context *context, const wb__catalog *model)
{
    const wb__catalog_file *file = &model->files[0];
    const wb__split *split = &file->split;
    if (split->count_at == 0 || split->count == 0) /* merged files have a count of 0 */
        return WB_OK;
    if (split->number >= split->count)
        return note_split(context, file, split->number_at, "split.no", WB__MSG_SPLIT_WRONG_COUNT,
                          split->number, split->count);
    if (split->count == 1) {
        if (split->tensors_at == 0 || split->tensors == model->table.count)
            return WB_OK;
        return note_split(context, file, split->tensors_at, "split.tensors.count",
                          WB__MSG_SPLIT_WRONG_TENSOR_COUNT, split->tensors, model->table.count);
    }
    const char *before = context->file;
    context->file = file->path;
    wb_status status =
        wb__note(context, WB_WARNING, WB__FINDING_GGUF_SPLIT_LONE, split->count_at,
                 WB__STR("split.count"), WB__MSG_SPLIT_LONE_PART,
                 (unsigned long long)split->number + 1, (unsigned long long)split->count);
    context->file = before;
    return status;
}

static wb_status check_part(wb__context *context, const wb__catalog *model, size_t number)
{
    const wb__catalog_file *file = &model->files[number];
    const wb__split *split = &file->split;
    wb_status status = WB_OK;
    if (split->count_at == 0 || split->number_at == 0) {
        const char *before = context->file;
        context->file = file->path;
        status = wb__note(context, WB_WARNING, WB__FINDING_GGUF_SPLIT, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_SPLIT_NO_KEYS);
        context->file = before;
        return status;
    }
    if (split->count != model->file_count)
        status = note_split(context, file, split->count_at, "split.count",
                            WB__MSG_SPLIT_WRONG_COUNT, split->count, model->file_count);
    if (status == WB_OK && split->number != number)
        status = note_split(context, file, split->number_at, "split.no", WB__MSG_SPLIT_WRONG_NUMBER,
                            split->number, number);
    if (status == WB_OK && split->tensors_at != 0 && split->tensors != model->table.count)
        status = note_split(context, file, split->tensors_at, "split.tensors.count",
                            WB__MSG_SPLIT_WRONG_TENSOR_COUNT, split->tensors, model->table.count);
    return status;
}

wb_status wb__split_check(wb__context *context, const wb__catalog *model)
{
    if (model->file_count == 1)
        return check_lone(context, model);
    for (size_t i = 0; i < model->file_count; i++) {
        if (model->files[i].alignment == 0) /* not GGUF */
            continue;
        wb_status status = check_part(context, model, i);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}
