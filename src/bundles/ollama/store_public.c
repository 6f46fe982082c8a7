#include "bundles/bundles_messages.h"
#include "bundles/ollama/ollama.h"
#include "core/call_options.h"

typedef struct store_walk {
    wb__context *context;
    int (*each)(void *ctx, const wb_store_entry *entry);
    void *ctx;
} store_walk;

/* Prints the name of a model. Omits "host/" and "namespace/" if they are Ollama's defaults. */
static void print_name(const wb__store_entry *entry, char *out, size_t capacity)
{
    bool own_host = wb__str_equal(entry->host, WB__STR("registry.ollama.ai"));
    bool own_space = own_host && wb__str_equal(entry->space, WB__STR("library"));
    const wb__str parts[] = {own_host ? WB__STR("") : entry->host,
                             own_host ? WB__STR("") : WB__STR("/"),
                             own_space ? WB__STR("") : entry->space,
                             own_space ? WB__STR("") : WB__STR("/"),
                             entry->model,
                             WB__STR(":"),
                             entry->tag};
    size_t at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t n = parts[i].len < capacity - 1 - at ? parts[i].len : capacity - 1 - at;
        memcpy(out + at, parts[i].ptr, n);
        at += n;
    }
    out[at] = '\0';
}

static wb_status hand_out(void *ctx, const wb__store_entry *entry)
{
    const store_walk *walk = ctx;
    char name[4 * 256];
    print_name(entry, name, sizeof name);
    const wb_store_entry out = {.size = sizeof out,
                                .name = name,
                                .path = entry->path,
                                .bytes = entry->bytes,
                                .layers = entry->layers,
                                .tensors = entry->tensors,
                                .error = entry->error};
    if (walk->each(walk->ctx, &out) == 0)
        return WB_OK;
    return wb__fail(walk->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_OLLAMA_CANCELLED);
}

wb_status wb_store_list(const char *store, const wb_open_options *options,
                        int (*each)(void *ctx, const wb_store_entry *entry), void *ctx,
                        wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_status status = wb__context_init(&context, options, wb__error_reset(error, &spare));
    if (status != WB_OK)
        return status;
    if (each == NULL)
        return wb__fail_argument(&context, WB__MSG_OLLAMA_EACH_NULL);
    store_walk walk = {&context, each, ctx};
    char *own = NULL;
    if (store == NULL)
        status = wb__ollama_default_store(&context, &own);
    if (status != WB_OK)
        return status;
    status = wb__ollama_list(&context, store == NULL ? own : store, hand_out, &walk);
    if (own != NULL)
        wb__free(&context.allocator, own, strlen(own) + 1);
    return status;
}
