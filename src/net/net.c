#define _POSIX_C_SOURCE 200809L
#include "net/net.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "core/clock.h"

/* ---- lock and changes ---- */

void wb__net_lock(wb_net *net)
{
    (void)pthread_mutex_lock(&net->lock);
}

void wb__net_unlock(wb_net *net)
{
    (void)pthread_mutex_unlock(&net->lock);
}

void wb__net_signal(wb_net *net)
{
    net->changes++;
    if (net->waiting > 0)
        (void)pthread_cond_broadcast(&net->changed);
}

void wb__net_wait(wb_net *net)
{
    net->waiting++;
    (void)pthread_cond_wait(&net->changed, &net->lock);
    net->waiting--;
}

void wb__net_wait_until(wb_net *net, uint64_t ms)
{
    struct timespec until = {.tv_sec = (time_t)(ms / 1000),
                             .tv_nsec = (long)(ms % 1000) * 1000000L};
    net->waiting++;
    (void)pthread_cond_timedwait(&net->changed, &net->lock, &until);
    net->waiting--;
}

uint64_t wb__net_changes(wb_net *net)
{
    wb__net_lock(net);
    uint64_t changes = net->changes;
    wb__net_unlock(net);
    return changes;
}

uint64_t wb__net_wait_change(wb_net *net, uint64_t seen, uint64_t ms)
{
    wb__net_lock(net);
    while (net->changes == seen && wb__net_now_ms() < ms) {
        if (ms == UINT64_MAX)
            wb__net_wait(net);
        else
            wb__net_wait_until(net, ms);
    }
    uint64_t changes = net->changes;
    wb__net_unlock(net);
    return changes;
}

uint64_t wb__net_now_ms(void)
{
    return wb__now() / 1000000;
}

/* xorshift64*: Vigna, 2014 */
uint64_t wb__net_random(wb_net *net)
{
    net->random ^= net->random >> 12;
    net->random ^= net->random << 25;
    net->random ^= net->random >> 27;
    return net->random * UINT64_C(0x2545F4914F6CDD1D);
}

wb__context wb__net_context(const wb_net *net, wb_error *error)
{
    wb__context context = {.allocator = net->allocator, .file = "", .error = error};
    wb_limits_default(&context.limits);
    return context;
}

void wb__net_note(const wb_net *net, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    if (net->options.note == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    net->options.note(net->options.note_ctx, message);
}

/* ---- requests ---- */

/* Returns true, but only once, if the token is sent to an endpoint that is neither the default
 * one nor this machine: the user should know this. The lock is held. */
static bool must_warn(wb_net *net)
{
    const wb__settings *settings = &net->settings;
    bool warn = settings->token != NULL && !settings->is_default_endpoint &&
                !wb__url_is_loopback(&settings->endpoint) && !net->warned_mirror;
    net->warned_mirror |= warn;
    return warn;
}

static wb_status need_engine(wb_net *net, wb__context *context, bool *warn)
{
    const wb__settings *settings = &net->settings;
    const wb__engine_options options = {.connect_timeout = settings->connect_timeout,
                                        .stall_timeout = settings->stall_timeout,
                                        .ca_file = settings->ca_file,
                                        .ca_folder = settings->ca_folder,
                                        .connections = net->options.connections,
                                        .netrc = (net->options.flags & WB_NET_NETRC) != 0};
    wb_status status = WB_OK;
    wb__net_lock(net);
    if (net->engine == NULL)
        status = wb__engine_new(&net->engine, context, &options);
    net->requests += status == WB_OK;
    *warn = must_warn(net);
    wb__net_unlock(net);
    return status;
}

wb_status wb__net_start(wb_net *net, wb__context *context, wb__exchange *exchange)
{
    bool warn = false;
    if (net->settings.offline)
        return wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_OFFLINE, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_NET_OFFLINE);
    wb_status status = need_engine(net, context, &warn);
    if (status != WB_OK)
        return status;
    if (warn)
        wb__net_note(net, WB__MSG_NET_MIRROR, net->settings.endpoint_text,
                     net->settings.token_source);
    return wb__engine_start(net->engine, context, exchange);
}
