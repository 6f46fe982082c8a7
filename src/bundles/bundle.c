#include "bundles/bundle.h"

void wb__bundle_init(wb__bundle *bundle, const wb_allocator *allocator)
{
    memset(bundle, 0, sizeof *bundle);
    bundle->allocator = *allocator;
    bundle->arena.allocator = &bundle->allocator;
}

void wb__bundle_free(wb__bundle *bundle)
{
    wb__free(&bundle->allocator, bundle->paths, bundle->capacity * sizeof *bundle->paths);
    wb__free(&bundle->allocator, bundle->index_copy, bundle->index_bytes);
    wb__source_close(bundle->index);
    wb__arena_free(&bundle->arena);
}

wb_status wb__bundle_add(wb__context *context, wb__bundle *bundle, const char *folder, wb__str name)
{
    if (bundle->count >= context->limits.files)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FILES_LIMIT, WB_NO_OFFSET, WB__STR(""),
                        "the model has more than %llu files",
                        (unsigned long long)context->limits.files);
    size_t n = strlen(folder);
    bool slash = n > 0 && folder[n - 1] != '/';
    char *path = wb__arena_text(&bundle->arena, n + slash + name.len + 1);
    if (path == NULL || !wb__grow(&bundle->allocator, (void **)&bundle->paths, &bundle->capacity,
                                  sizeof *bundle->paths, bundle->count + 1, SIZE_MAX))
        return wb__fail_memory(context);
    memcpy(path, folder, n);
    if (slash)
        path[n] = '/';
    memcpy(path + n + slash, name.ptr, name.len);
    path[n + slash + name.len] = '\0';
    bundle->paths[bundle->count++] = path;
    return WB_OK;
}
