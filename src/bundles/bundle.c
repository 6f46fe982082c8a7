#include "bundles/bundle.h"
#include "bundles/bundles_messages.h"

void wb__bundle_init(wb__bundle *bundle, const wb_allocator *allocator)
{
    memset(bundle, 0, sizeof *bundle);
    bundle->allocator = *allocator;
    bundle->arena.allocator = &bundle->allocator;
}

void wb__bundle_free(wb__bundle *bundle)
{
    wb__free(&bundle->allocator, bundle->names, bundle->capacity * sizeof *bundle->names);
    wb__free(&bundle->allocator, bundle->index_copy, bundle->index_bytes);
    wb__source_close(bundle->index);
    wb__arena_free(&bundle->arena);
}

wb_status wb__bundle_add(wb__context *context, wb__bundle *bundle, const char *folder, wb__str name)
{
    if (bundle->count >= context->limits.files)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FILES_LIMIT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_BUNDLE_TOO_MANY_FILES, (unsigned long long)context->limits.files);
    if (bundle->folder == NULL)
        bundle->folder = wb__arena_copy(&bundle->arena, folder, strlen(folder));
    /*
     * Store only the name, not the path. An untrusted index can list a file in only nine bytes, so
     * storing the path of the directory for each file could take far more memory than the index.
     */
    char *copy = wb__arena_copy(&bundle->arena, name.ptr, name.len);
    if (bundle->folder == NULL || copy == NULL ||
        !wb__grow(&bundle->allocator, (void **)&bundle->names, &bundle->capacity,
                  sizeof *bundle->names, bundle->count + 1, SIZE_MAX))
        return wb__fail_memory(context);
    bundle->names[bundle->count++] = copy;
    return WB_OK;
}
