#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "core/call_options.h"
#include "net/address.h"
#include "net/file_table.h"
#include "net/hub.h"
#include "net/net.h"
#include "net/remote_files.h"

#define CONNECTIONS 8u
#define CONNECTIONS_MAX 64u
#define RETRIES 5u
#define CACHE_BYTES ((uint64_t)64 << 20)

static bool init_lock(wb_net *net)
{
    pthread_condattr_t attributes;
    if (pthread_mutex_init(&net->lock, NULL) != 0)
        return false;
    bool good = pthread_condattr_init(&attributes) == 0;
    bool made = good && pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&net->changed, &attributes) == 0;
    if (good)
        (void)pthread_condattr_destroy(&attributes);
    if (!made)
        (void)pthread_mutex_destroy(&net->lock);
    return made;
}

static void set_defaults(wb_net *net)
{
    wb_net_options *options = &net->options;
    uint32_t connections = options->connections == 0 ? CONNECTIONS : options->connections;
    options->connections = connections > CONNECTIONS_MAX ? CONNECTIONS_MAX : connections;
    options->retries = options->retries == 0            ? RETRIES
                       : options->retries == UINT32_MAX ? 0
                                                        : options->retries;
    if (options->cache_bytes == 0)
        options->cache_bytes = CACHE_BYTES;
    options->allocator = NULL;
    net->random = wb__hash_key_draw().word[0] | 1;
}

static wb_status check_options(wb__context *context, const wb_net_options *options)
{
    if ((options->flags & ~(WB_NET_PLAIN_HTTP | WB_NET_NETRC)) != 0)
        return wb__fail_argument(context, "wb_net_options.flags contains unknown flags");
    if (options->allocator != NULL &&
        (options->allocator->alloc == NULL || options->allocator->free == NULL))
        return wb__fail_argument(context, "wb_allocator requires alloc and free");
    return WB_OK;
}

static wb_status fill(wb_net *net, wb__context *context)
{
    wb__environment environment = wb__process_environment();
    wb_status status = wb__settings_read(&net->settings, context, &environment,
                                         net->options.endpoint, net->options.token);
    net->settings.arena.allocator = &net->allocator;
    net->options.endpoint = net->options.token = NULL; /* copied */
    return status == WB_OK ? wb__file_table_new(net, context) : status;
}

wb_status wb_net_open(const wb_net_options *options, wb_net **out, wb_error *error)
{
    wb_error spare;
    wb_net_options own = {.size = sizeof own};
    wb__context context = {.allocator = wb__default_allocator, .file = ""};
    context.error = wb__error_reset(error, &spare);
    wb_limits_default(&context.limits);
    if (out == NULL)
        return wb__fail_argument(&context, "the pointer for the result is NULL");
    *out = NULL;
    if (!WB__TAKE(wb_net_options, options, &own))
        return WB__FAIL_SIZE(&context, wb_net_options, options);
    wb_status status = check_options(&context, &own);
    if (status != WB_OK)
        return status;
    if (own.allocator != NULL)
        context.allocator = *own.allocator;
    wb_net *net = wb__alloc_zeroed(&context.allocator, sizeof *net);
    if (net == NULL)
        return wb__fail_memory(&context);
    net->allocator = context.allocator;
    net->options = own;
    if (!init_lock(net)) {
        wb__free(&context.allocator, net, sizeof *net);
        return wb__fail_memory(&context);
    }
    set_defaults(net);
    status = fill(net, &context);
    if (status == WB_OK)
        *out = net;
    else
        wb_net_close(net);
    return status;
}

void wb_net_close(wb_net *net)
{
    if (net == NULL)
        return;
    wb_allocator allocator = net->allocator;
    wb__file_table_free(net);
    wb__repos_free(net);
    wb__engine_free(net->engine);
    wb__settings_free(&net->settings);
    (void)pthread_cond_destroy(&net->changed);
    (void)pthread_mutex_destroy(&net->lock);
    wb__free(&allocator, net, sizeof *net);
}

int wb_net_owns(const char *path)
{
    return path != NULL && wb__address_kind_of(path) != WB__ADDRESS_NONE;
}

wb_status wb_net_files(wb_net *net, wb_files *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(net, wb__error_reset(error, &spare));
    wb_files own, *files = WB__OUT(wb_files, caller, &own);
    if (files == NULL)
        return WB__FAIL_SIZE(&context, wb_files, caller);
    wb__remote_files(net, files);
    WB__GIVE(wb_files, caller, files);
    return WB_OK;
}

wb_status wb_net_source(wb_net *net, const char *address, wb_source *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(net, wb__error_reset(error, &spare));
    wb_files files;
    int is_folder = 0;
    wb_source own, *source = WB__OUT(wb_source, caller, &own);
    if (source == NULL)
        return WB__FAIL_SIZE(&context, wb_source, caller);
    if (!wb_net_owns(address))
        return wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_NET_ADDRESS, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_NET_ADDRESS, "it begins with no known scheme");
    wb__remote_files(net, &files);
    wb_status status = files.open(files.ctx, address, source, &is_folder, context.error);
    if (status == WB_OK && is_folder)
        return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_NET_ADDRESS, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_NET_IS_FOLDER);
    if (status == WB_OK)
        WB__GIVE(wb_source, caller, source);
    return status;
}

wb_status wb_net_statistics(wb_net *net, wb_net_stats *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__net_context(net, wb__error_reset(error, &spare));
    wb_net_stats own, *stats = WB__OUT(wb_net_stats, caller, &own);
    if (stats == NULL)
        return WB__FAIL_SIZE(&context, wb_net_stats, caller);
    wb__net_lock(net);
    stats->requests = net->requests;
    stats->received = net->received;
    wb__net_unlock(net);
    WB__GIVE(wb_net_stats, caller, stats);
    return WB_OK;
}
