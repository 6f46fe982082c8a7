#include "net/transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "net/names.h"
#include "net/retry.h"
#include "net/trust.h"

#define FIELDS_MAX ((size_t)16 << 10)
/* Maximum length of a body that is read to its end although it is not the requested range, so
 * that the connection can be used again. */
#define IGNORED_MAX ((uint64_t)64 << 10)

void wb__transfer_init(wb__transfer *transfer, wb__remote *remote, uint64_t begin, uint64_t end)
{
    *transfer = (wb__transfer){.remote = remote, .begin = begin, .end = end};
    transfer->fields = (wb__buffer){.allocator = &remote->net->allocator, .ceiling = FIELDS_MAX};
}

void wb__transfer_free(wb__transfer *transfer)
{
    wb__transfer_stop(transfer);
    wb__url_free(&transfer->url);
    wb__buffer_free(&transfer->fields);
    wb__exchange_clear(&transfer->exchange);
}

wb_status wb__transfer_fail(const wb__transfer *transfer, wb__context *context)
{
    const char *file = context->error->file;
    char name[sizeof context->error->file];
    memcpy(name, file, sizeof name);
    *context->error = transfer->error;
    memcpy(context->error->file, name, sizeof name);
    return transfer->error.status;
}

/* ---- the response, on the engine's thread ---- */

static const char *set_fault(wb__transfer *t, wb__transfer_fault kind, const char *message)
{
    t->fault_kind = kind;
    return message;
}

/* Returns true if the response belongs to another version of the file than the bytes received so
 * far. The request contains If-Range to prevent this, but a server may ignore If-Range. */
static bool has_other_etag(const wb__remote *remote, const wb__response *response)
{
    const char *etag = wb__response_get(response, WB__FIELD_ETAG);
    return remote->etag[0] != '\0' && etag != NULL && wb__is_strong_etag(etag) &&
           strcmp(etag, remote->etag) != 0;
}

static const char *check_partial(wb__transfer *t, const wb__response *response, uint64_t *total)
{
    const wb__remote *remote = t->remote;
    const char *value = wb__response_get(response, WB__FIELD_CONTENT_RANGE);
    uint64_t first, end;
    if (value == NULL || !wb__parse_content_range(value, &first, &end, total))
        return "its Content-Range is missing or not valid";
    if (first != t->begin + t->received || end > t->end)
        return "it has other bytes than those that were asked for";
    if (remote->size_known && *total != UINT64_MAX && *total != remote->size)
        return set_fault(t, WB__FAULT_SIZE, WB__MSG_NET_OTHER_SIZE);
    if (has_other_etag(remote, response))
        return set_fault(t, WB__FAULT_CHANGED, WB__MSG_NET_FILE_CHANGED);
    t->stated_end = end;
    return NULL;
}

/* Checks a response with the whole file, from a server that ignores Range. The response can be used
 * only if the next byte of the transfer is the first byte of the file. */
static const char *check_whole(wb__transfer *t, const wb__response *response, uint64_t *total)
{
    wb__remote *remote = t->remote;
    const char *length = wb__response_get(response, WB__FIELD_CONTENT_LENGTH);
    *total = UINT64_MAX;
    if (length != NULL && !wb__parse_decimal(wb__str_from(length, SIZE_MAX), total))
        return "its Content-Length is not valid";
    bool other_size = remote->size_known && *total != UINT64_MAX && *total != remote->size;
    if (wb__response_is_page(response) && (other_size || remote->digest[0] != '\0'))
        return WB__MSG_NET_WEB_PAGE;
    if (other_size)
        return set_fault(t, WB__FAULT_SIZE, WB__MSG_NET_OTHER_SIZE);
    if (t->begin + t->received != 0 && remote->etag[0] != '\0' && !remote->ignores_ranges)
        return set_fault(t, WB__FAULT_CHANGED, WB__MSG_NET_FILE_CHANGED);
    if (t->begin + t->received != 0)
        return set_fault(t, WB__FAULT_NO_RANGES, WB__MSG_NET_NO_RANGES);
    remote->ignores_ranges = true;
    t->stated_end = *total;
    return NULL;
}

static void keep_etag(wb__remote *remote, const wb__response *response)
{
    const char *etag = wb__response_get(response, WB__FIELD_ETAG);
    if (remote->etag[0] == '\0' && etag != NULL && wb__is_strong_etag(etag) &&
        strlen(etag) < sizeof remote->etag)
        memcpy(remote->etag, etag, strlen(etag) + 1);
}

/* Checks a response with bytes of the file, and stores the size and the ETag that it states.
 * Returns NULL, or what is wrong. The lock is held. */
static const char *accept(wb__transfer *t, const wb__response *response)
{
    wb__remote *remote = t->remote;
    uint64_t total;
    if (wb__response_is_encoded(response))
        return WB__MSG_NET_ENCODING;
    const char *fault = response->status == 206 ? check_partial(t, response, &total)
                                                : check_whole(t, response, &total);
    if (fault != NULL)
        return fault;
    if (!remote->size_known && total != UINT64_MAX)
        wb__remote_set_size(remote, total);
    if (remote->size_known && t->end > remote->size)
        t->end = remote->size;
    keep_etag(remote, response);
    return NULL;
}

static bool on_begin(void *owner, const wb__response *response)
{
    wb__transfer *t = owner;
    wb_net *net = t->remote->net;
    bool has_bytes = response->status == 206 || response->status == 200;
    wb__net_lock(net);
    if (has_bytes) {
        t->fault = accept(t, response);
        t->accepted = t->fault == NULL;
    }
    if (t->accepted && t->is_resolver) {
        wb__url content;
        wb__transfer_disclaim(t);
        if (!t->is_content && wb__url_copy(&content, &t->url))
            wb__remote_set_content(t->remote, &content);
        t->generation = t->remote->generation;
    }
    wb__net_signal(net);
    wb__net_unlock(net);
    return t->fault == NULL;
}

/* Returns the number of bytes up to `end` that have not arrived. */
static uint64_t left(const wb__transfer *t, uint64_t end)
{
    uint64_t wanted = end > t->begin ? end - t->begin : 0;
    return t->received < wanted ? wanted - t->received : 0;
}

static bool on_data(void *owner, const uint8_t *bytes, size_t n)
{
    wb__transfer *t = owner;
    wb_net *net = t->remote->net;
    if (!t->accepted) {
        t->ignored += n;
        return t->ignored <= IGNORED_MAX;
    }
    wb__net_lock(net);
    uint64_t wanted = left(t, t->end < t->stated_end ? t->end : t->stated_end);
    wb__net_unlock(net);
    size_t taken = wanted < n ? (size_t)wanted : n;
    if (taken > 0 && !t->put(t->owner, t->begin + t->received, bytes, taken)) {
        t->refused_bytes = true;
        return false;
    }
    wb__net_lock(net);
    t->received += taken;
    net->received += taken;
    wb__net_signal(net);
    wb__net_unlock(net);
    return taken == n;
}

static void on_finished(void *owner)
{
    wb__transfer *t = owner;
    wb_net *net = t->remote->net;
    wb__net_lock(net);
    t->state = WB__TRANSFER_ENDED;
    wb__net_signal(net);
    wb__net_unlock(net);
}

/* ---- starting ---- */

/* Prepares the request. The lock is held. Returns false if memory runs out. */
static bool make_request(wb__transfer *t)
{
    wb__remote *remote = t->remote;
    char range[64];
    wb__url_free(&t->url);
    if (!wb__remote_address(remote, &t->url, &t->is_content))
        return false;
    t->generation = remote->generation;
    t->fields.n = 0;
    wb__trust_add_token(&t->fields, &remote->net->settings, &t->url);
    uint64_t from = t->begin + t->received;
    (void)snprintf(range, sizeof range, "Range: bytes=%" PRIu64 "-%" PRIu64, from, t->end - 1);
    wb__buffer_add(&t->fields, range, strlen(range) + 1);
    if (remote->etag[0] != '\0' && t->is_content && from > 0) {
        wb__buffer_text(&t->fields, "If-Range: ");
        wb__buffer_text(&t->fields, remote->etag);
        wb__buffer_add(&t->fields, "", 1);
    }
    wb__buffer_add(&t->fields, "", 1);
    return !wb__buffer_failed(&t->fields);
}

void wb__transfer_disclaim(wb__transfer *t)
{
    if (!t->is_resolver)
        return;
    t->remote->resolving = t->is_resolver = false;
    wb__net_signal(t->remote->net);
}

static void set_failed(wb__transfer *t, wb__context *context)
{
    wb_net *net = t->remote->net;
    wb__net_lock(net);
    wb__transfer_disclaim(t);
    t->error = *context->error;
    t->state = WB__TRANSFER_FAILED;
    wb__net_signal(net);
    wb__net_unlock(net);
}

/* If the content address (net/remote.h) is not known and no transfer asks for it, makes this
 * transfer the one that asks. The lock is held. Returns false if the transfer has to wait. */
static bool may_start(wb__transfer *t)
{
    wb__remote *remote = t->remote;
    if (t->is_resolver || remote->content.text != NULL)
        return true;
    if (remote->resolving || t->background)
        return false;
    remote->resolving = t->is_resolver = true;
    return true;
}

void wb__transfer_start(wb__transfer *t)
{
    wb_net *net = t->remote->net;
    wb_error error;
    wb__context context = wb__net_context(net, wb__error_reset(&error, &error));
    wb__net_lock(net);
    if (left(t, t->end) == 0)
        t->state = WB__TRANSFER_DONE;
    bool starts = t->state == WB__TRANSFER_IDLE && may_start(t);
    bool good = !starts || make_request(t);
    if (starts && good)
        t->state = WB__TRANSFER_RUNNING;
    wb__net_unlock(net);
    if (!starts)
        return;
    wb__exchange_clear(&t->exchange);
    t->accepted = t->refused_bytes = false;
    t->fault = NULL;
    t->fault_kind = WB__FAULT_REPLY;
    t->ignored = 0;
    t->received_before = t->received;
    t->exchange = (wb__exchange){.url = t->url.text,
                                 .fields = (const char *)t->fields.bytes,
                                 .bulk = true,
                                 .owner = t,
                                 .begin = on_begin,
                                 .data = on_data,
                                 .finished = on_finished};
    wb_status status =
        good ? wb__net_start(net, &context, &t->exchange) : wb__fail_memory(&context);
    if (status != WB_OK)
        set_failed(t, &context);
}

void wb__transfer_stop(wb__transfer *t)
{
    wb_net *net = t->remote->net;
    wb__net_lock(net);
    if (t->state == WB__TRANSFER_RUNNING)
        wb__engine_cancel(&t->exchange);
    while (t->state == WB__TRANSFER_RUNNING || t->state == WB__TRANSFER_JUDGING)
        wb__net_wait(net);
    wb__transfer_disclaim(t);
    wb__net_unlock(net);
}
