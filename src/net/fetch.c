#include "net/fetch.h"

#include "net/remote_address.h"
#include "net/retry.h"
#include "net/trust.h"

#define FIELDS_MAX ((size_t)32 << 10)

wb_status wb__fetch_begin(wb__fetch *fetch, wb_net *net, wb__context *context, const char *url,
                          size_t limit)
{
    *fetch = (wb__fetch){.reply = {.allocator = &net->allocator, .ceiling = limit}};
    wb__response_init(&fetch->response, &net->allocator);
    const char *fault = wb__url_parse(&fetch->url, &net->allocator, wb__str_from(url, SIZE_MAX));
    return fault == NULL ? wb__check_scheme(net, context, &fetch->url)
                         : wb__fail_address(context, fault);
}

void wb__fetch_free(wb__fetch *fetch)
{
    wb__url_free(&fetch->url);
    wb__buffer_free(&fetch->reply);
    wb__response_free(&fetch->response);
}

/* ---- one attempt ---- */

typedef struct attempt {
    wb_net *net;
    wb__fetch *fetch;
    wb__exchange exchange;
    wb__buffer fields; /* HTTP header fields */
    bool is_finished;  /* under the lock */
} attempt;

static bool take_data(void *owner, const uint8_t *bytes, size_t n)
{
    attempt *a = owner;
    wb__buffer_add(&a->fetch->reply, bytes, n);
    return !wb__buffer_failed(&a->fetch->reply);
}

static bool give_body(void *owner, uint64_t offset, uint8_t *to, size_t n)
{
    const attempt *a = owner;
    memcpy(to, a->fetch->body.ptr + offset, n);
    return true;
}

static void finished(void *owner)
{
    attempt *a = owner;
    wb__net_lock(a->net);
    a->is_finished = true;
    a->net->received += a->fetch->reply.n;
    wb__net_signal(a->net);
    wb__net_unlock(a->net);
}

static void add_field(wb__buffer *fields, const char *name, const char *value)
{
    wb__buffer_text(fields, name);
    wb__buffer_text(fields, value);
    wb__buffer_add(fields, "", 1);
}

static wb_status make_fields(attempt *a, wb__context *context)
{
    a->fields = (wb__buffer){.allocator = &a->net->allocator, .ceiling = FIELDS_MAX};
    wb__trust_add_token(&a->fields, &a->net->settings, &a->fetch->url);
    if (a->fetch->type != NULL) {
        add_field(&a->fields, "Content-Type: ", a->fetch->type);
        if (strcmp(a->fetch->type, WB__TYPE_LFS) == 0) /* the API of git LFS demands this */
            add_field(&a->fields, "Accept: ", a->fetch->type);
    }
    wb__buffer_add(&a->fields, "", 1);
    return wb__buffer_failed(&a->fields) ? wb__fail_memory(context) : WB_OK;
}

/* Sends the request once and waits for its end. */
static wb_status try_once(attempt *a, wb__context *context)
{
    wb__fetch *fetch = a->fetch;
    wb_status status = make_fields(a, context);
    fetch->reply.n = 0;
    fetch->reply.too_large = false;
    a->is_finished = false;
    a->exchange = (wb__exchange){.url = fetch->url.text,
                                 .fields = (const char *)a->fields.bytes,
                                 .owner = a,
                                 .data = take_data,
                                 .finished = finished};
    if (fetch->type != NULL) {
        a->exchange.method = "POST";
        a->exchange.body = give_body;
        a->exchange.body_bytes = fetch->body.len;
    }
    if (status == WB_OK)
        status = wb__net_start(a->net, context, &a->exchange);
    if (status == WB_OK) {
        wb__net_lock(a->net);
        while (!a->is_finished)
            wb__net_wait(a->net);
        wb__net_unlock(a->net);
        wb__response_free(&fetch->response);
        fetch->response = a->exchange.response;
    }
    wb__buffer_free(&a->fields);
    return status;
}

/* ---- decisions ---- */

static wb_status follow(wb__fetch *fetch, wb_net *net, wb__context *context, unsigned *redirects)
{
    wb__url target;
    const char *location = wb__response_get(&fetch->response, WB__FIELD_LOCATION);
    if (++*redirects > WB__REDIRECTS_MAX)
        return wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_REDIRECT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_NET_REDIRECTS, WB__REDIRECTS_MAX);
    const char *fault = wb__trust_redirect(&net->settings, &fetch->url, location,
                                           (net->options.flags & WB_NET_PLAIN_HTTP) != 0, &target);
    if (fault == NULL) {
        wb__url_free(&fetch->url);
        fetch->url = target;
        return WB_OK;
    }
    wb__url_free(&target);
    return fault == wb__url_memory
               ? wb__fail_memory(context)
               : wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_REDIRECT, WB_NO_OFFSET, WB__STR(""),
                          WB__MSG_NET_REDIRECT, fault);
}

/* Waits before another attempt. Returns false if no other attempt shall be made. */
static bool wait_again(const attempt *a, unsigned *failures)
{
    wb_net *net = a->net;
    uint64_t until = wb__retry_time(net, a->exchange.outcome, &a->fetch->response, failures);
    wb__net_lock(net);
    while (wb__net_now_ms() < until)
        wb__net_wait_until(net, until);
    wb__net_unlock(net);
    return until != 0;
}

/* Returns true if a reply arrived completely and its status is not a temporary failure. */
static bool is_final(const attempt *a)
{
    return a->exchange.outcome == WB__OUTCOME_COMPLETE &&
           !wb__status_passes(a->fetch->response.status);
}

/* Returns true if the same request may succeed later. */
static bool may_pass(const attempt *a)
{
    wb__outcome outcome = a->exchange.outcome;
    unsigned status = a->fetch->response.status;
    if (a->fetch->once && (outcome == WB__OUTCOME_COMPLETE
                               ? status != 429 && status != 503
                               : outcome != WB__OUTCOME_RESOLVE && outcome != WB__OUTCOME_CONNECT))
        return false;
    return outcome == WB__OUTCOME_COMPLETE ? wb__status_passes(status)
                                           : wb__outcome_passes(outcome);
}

static wb_status check_reply(const attempt *a, wb__context *context)
{
    const wb__buffer *reply = &a->fetch->reply;
    if (reply->too_large)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_NET_REPLY, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_NET_REPLY_LIMIT, reply->ceiling);
    if (reply->out_of_memory)
        return wb__fail_memory(context);
    if (wb__response_is_encoded(&a->fetch->response))
        return wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_REPLY, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_NET_ENCODING);
    return a->exchange.outcome == WB__OUTCOME_COMPLETE
               ? WB_OK
               : wb__fail_exchange(context, &a->fetch->url, &a->exchange);
}

wb_status wb__fetch_run(wb__fetch *fetch, wb_net *net, wb__context *context)
{
    attempt a = {.net = net, .fetch = fetch};
    unsigned redirects = 0, failures = 0;
    for (;;) {
        wb_status status = try_once(&a, context);
        if (status != WB_OK)
            return status;
        bool moved = is_final(&a) && fetch->type == NULL &&
                     wb__status_redirects(fetch->response.status) &&
                     wb__response_get(&fetch->response, WB__FIELD_LOCATION) != NULL;
        if (moved) {
            status = follow(fetch, net, context, &redirects);
            if (status != WB_OK)
                return status;
            continue;
        }
        if (!may_pass(&a) || !wait_again(&a, &failures))
            return check_reply(&a, context);
    }
}

/* Fails if the reply is a web page: a proxy or the login page of a network may have answered in
 * place of the server. */
static wb_status check_type(const wb__fetch *fetch, wb__context *context)
{
    char host[128];
    if (!wb__response_is_page(&fetch->response))
        return WB_OK;
    wb__printable(host, sizeof host, wb__url_origin(&fetch->url));
    return wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_REPLY, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_NET_RESPONSE, host, WB__MSG_NET_WEB_PAGE);
}

wb_status wb__fetch_run_ok(wb__fetch *fetch, wb_net *net, wb__context *context)
{
    wb_status status = wb__fetch_run(fetch, net, context);
    if (status == WB_OK && fetch->response.status / 100 != 2)
        status = wb__fail_reply(net, context, &fetch->url, &fetch->response,
                                (wb__str){(const char *)fetch->reply.bytes, fetch->reply.n});
    return status == WB_OK ? check_type(fetch, context) : status;
}
