/*
 * How a transfer goes on when its exchange has ended. A file has a permanent address; the server
 * may redirect it to a content address, which expires (net/remote.h).
 *
 *   the range is complete                        done
 *   redirect of the address                      ask its target, which becomes the content address
 *   400, 401, 403, 404, 410 of a content address that worked before or was just given
 *                                                it has expired: ask the address again
 *   bytes arrived, but not all                   ask for the rest
 *   a failure that can pass                      wait, ask again; up to the limit without progress
 *   anything else                                failed
 */
#include "net/transfer.h"

#include "net/names.h"
#include "net/retry.h"
#include "net/trust.h"

#define RENEWALS_MAX 2u

typedef struct judgement {
    wb__transfer *t;
    wb_net *net;
    wb__context *context;
    const wb__response *response;
} judgement;

/* ---- ways to go on ---- */

static void set_state(const judgement *j, wb__transfer_state state, uint64_t not_before)
{
    wb__transfer *t = j->t;
    wb__net_lock(j->net);
    if (state != WB__TRANSFER_IDLE)
        wb__transfer_disclaim(t);
    t->state = state;
    t->not_before = not_before;
    if (state == WB__TRANSFER_FAILED)
        t->error = *j->context->error;
    wb__net_signal(j->net);
    wb__net_unlock(j->net);
}

static void fail(const judgement *j)
{
    set_state(j, WB__TRANSFER_FAILED, 0);
}

static void fail_reply(const judgement *j)
{
    (void)wb__fail_reply(j->net, j->context, &j->t->url, j->response, WB__STR(""));
    fail(j);
}

static void fail_fault(const judgement *j, wb_status status, wb__finding_id finding,
                       const char *fault)
{
    char host[128];
    wb__printable(host, sizeof host, wb__url_origin(&j->t->url));
    (void)wb__fail(j->context, status, finding, WB_NO_OFFSET, WB__STR(""), WB__MSG_NET_RESPONSE,
                   host, fault);
    fail(j);
}

static void again(const judgement *j)
{
    set_state(j, WB__TRANSFER_IDLE, 0);
}

/* Schedules the request to be repeated after a wait. Returns false if there were too many failures
 * without progress, or if the server demands too long a wait. */
static bool again_later(const judgement *j)
{
    wb__transfer *t = j->t;
    uint64_t next = wb__retry_time(j->net, t->exchange.outcome, j->response, &t->failures);
    if (next != 0)
        set_state(j, WB__TRANSFER_IDLE, next);
    return next != 0;
}

/* ---- redirects ---- */

/* Compares the X-Linked-Size and X-Linked-Etag of a redirect with the known size and digest of the
 * file. Returns NULL, or the contradiction. */
static const char *check_linked(const judgement *j)
{
    const wb__remote *remote = j->t->remote;
    const char *etag = wb__response_get(j->response, WB__FIELD_LINKED_ETAG);
    const char *size = wb__response_get(j->response, WB__FIELD_LINKED_SIZE);
    wb__str name = etag == NULL ? WB__STR("") : wb__blob_name(wb__str_from(etag, SIZE_MAX));
    uint64_t bytes;
    if (size != NULL && !wb__parse_decimal(wb__str_from(size, SIZE_MAX), &bytes))
        return "its X-Linked-Size is not valid";
    if (size != NULL && remote->size_known && bytes != remote->size)
        return WB__MSG_NET_OTHER_SIZE;
    bool other = name.len > 0 && remote->digest[0] != '\0' &&
                 !wb__str_equal(name, wb__str_from(remote->digest, SIZE_MAX));
    return etag != NULL && remote->digest[0] != '\0' && (name.len == 0 || other)
               ? "its X-Linked-Etag is not the digest of the file in the listing"
               : NULL;
}

static void follow(const judgement *j, const char *location)
{
    wb__transfer *t = j->t;
    wb__url target;
    bool plain = (j->net->options.flags & WB_NET_PLAIN_HTTP) != 0;
    const char *linked = check_linked(j);
    if (linked != NULL) {
        fail_fault(j, WB_ERROR_FORMAT, WB__FINDING_NET_CHANGED, linked);
        return;
    }
    if (++t->redirects > WB__REDIRECTS_MAX) {
        (void)wb__fail(j->context, WB_ERROR_IO, WB__FINDING_NET_REDIRECT, WB_NO_OFFSET, WB__STR(""),
                       WB__MSG_NET_REDIRECTS, WB__REDIRECTS_MAX);
        fail(j);
        return;
    }
    const char *fault = wb__trust_redirect(&j->net->settings, &t->url, location, plain, &target);
    if (fault == NULL) {
        wb__net_lock(j->net);
        wb__remote_set_content(t->remote, &target);
        wb__net_unlock(j->net);
        again(j);
        return;
    }
    wb__url_free(&target);
    if (fault == wb__url_memory)
        (void)wb__fail_memory(j->context);
    else
        (void)wb__fail(j->context, WB_ERROR_IO, WB__FINDING_NET_REDIRECT, WB_NO_OFFSET, WB__STR(""),
                       WB__MSG_NET_REDIRECT, fault);
    fail(j);
}

/* ---- expired addresses ---- */

static bool may_have_expired(const judgement *j)
{
    unsigned status = j->response->status;
    bool is_refusal =
        status == 400 || status == 401 || status == 403 || status == 404 || status == 410;
    return is_refusal && j->t->is_content && j->t->renewals < RENEWALS_MAX;
}

static void renew(const judgement *j)
{
    wb__transfer *t = j->t;
    t->renewals++;
    wb__net_lock(j->net);
    wb__remote_expire(t->remote, t->generation);
    wb__transfer_disclaim(t);
    wb__net_unlock(j->net);
    again(j);
}

/* ---- 416 ---- */

/* A server answers a request for a range of an empty file with "bytes * /0" (without the space). */
static void judge_unsatisfied(const judgement *j)
{
    wb__transfer *t = j->t;
    const char *value = wb__response_get(j->response, WB__FIELD_CONTENT_RANGE);
    uint64_t total;
    bool known = value != NULL && wb__parse_unsatisfied_range(value, &total);
    wb__net_lock(j->net);
    bool empty = known && total == 0 && t->begin + t->received == 0 &&
                 (!t->remote->size_known || t->remote->size == 0);
    if (empty) {
        wb__remote_set_size(t->remote, 0);
        t->end = t->begin;
    }
    wb__net_unlock(j->net);
    if (empty)
        set_state(j, WB__TRANSFER_DONE, 0);
    else
        fail_fault(j, WB_ERROR_IO, WB__FINDING_NET_REPLY,
                   "the server says that the file ends before the requested bytes");
}

/* ---- all cases ---- */

/* Returns the number of bytes of the range that have not been received yet. */
static uint64_t rest(const judgement *j)
{
    const wb__transfer *t = j->t;
    wb__net_lock(j->net);
    uint64_t wanted = t->end > t->begin ? t->end - t->begin : 0;
    uint64_t n = t->received < wanted ? wanted - t->received : 0;
    wb__net_unlock(j->net);
    return n;
}

/* The response ended before the range was complete. Asks for the rest: at once if bytes arrived,
 * else after a wait. */
static void judge_short(const judgement *j)
{
    if (j->t->received > j->t->received_before)
        again(j);
    else if (!again_later(j))
        fail_fault(j, WB_ERROR_IO, WB__FINDING_NET_REPLY, "the body is empty");
}

static void judge_status(const judgement *j)
{
    unsigned status = j->response->status;
    const char *location = wb__response_get(j->response, WB__FIELD_LOCATION);
    if (wb__status_redirects(status) && location != NULL)
        follow(j, location);
    else if (status == 416)
        judge_unsatisfied(j);
    else if (may_have_expired(j))
        renew(j);
    else if (!wb__status_passes(status) || !again_later(j))
        fail_reply(j);
}

/* Handles a response that contradicts what is known about the file. The request is sent once more,
 * because a proxy or another server behind the same name may be at fault. */
static void judge_fault(const judgement *j)
{
    wb__transfer *t = j->t;
    bool changed = t->fault_kind == WB__FAULT_CHANGED, lies = t->fault_kind == WB__FAULT_SIZE;
    bool passes = t->fault_kind == WB__FAULT_REPLY || lies;
    if (passes && t->failures == 0 && again_later(j))
        return;
    fail_fault(j,
               changed ? WB_ERROR_CHANGED
               : lies  ? WB_ERROR_FORMAT
                       : WB_ERROR_IO,
               changed || lies ? WB__FINDING_NET_CHANGED : WB__FINDING_NET_REPLY, t->fault);
}

static void judge(const judgement *j)
{
    wb__transfer *t = j->t;
    wb__outcome outcome = t->exchange.outcome;
    if (t->received > t->received_before)
        t->failures = t->renewals = t->redirects = 0;
    if (t->refused_bytes) {
        (void)wb__fail(j->context, WB_ERROR_IO, WB__FINDING_IO, WB_NO_OFFSET, WB__STR(""),
                       WB__MSG_NET_STORE);
        fail(j);
    } else if (t->fault != NULL) {
        judge_fault(j);
    } else if (rest(j) == 0 && (t->accepted || t->received > 0)) {
        set_state(j, WB__TRANSFER_DONE, 0);
    } else if (t->accepted && (outcome == WB__OUTCOME_COMPLETE || outcome == WB__OUTCOME_STOPPED)) {
        judge_short(j);
    } else if (outcome == WB__OUTCOME_COMPLETE || outcome == WB__OUTCOME_STOPPED) {
        judge_status(j);
    } else if (outcome == WB__OUTCOME_CANCELLED) {
        again(j);
    } else if (!wb__outcome_passes(outcome) || !again_later(j)) {
        (void)wb__fail_exchange(j->context, &t->url, &t->exchange);
        fail(j);
    }
}

void wb__transfer_judge(wb__transfer *t)
{
    wb_error error;
    wb__context context = wb__net_context(t->remote->net, wb__error_reset(&error, &error));
    judgement j = {
        .t = t, .net = t->remote->net, .context = &context, .response = &t->exchange.response};
    wb__net_lock(j.net);
    bool ended = t->state == WB__TRANSFER_ENDED;
    if (ended)
        t->state = WB__TRANSFER_JUDGING;
    wb__net_unlock(j.net);
    if (ended)
        judge(&j);
}

/* ---- going on ---- */

static wb__transfer_state look(const wb__transfer *t, uint64_t *not_before)
{
    wb_net *net = t->remote->net;
    wb__net_lock(net);
    wb__transfer_state state = t->state;
    *not_before = t->not_before;
    wb__net_unlock(net);
    return state;
}

wb__transfer_state wb__transfer_advance(wb__transfer *t, uint64_t *wake)
{
    uint64_t not_before, now = wb__net_now_ms();
    *wake = UINT64_MAX;
    wb__transfer_judge(t);
    wb__transfer_state state = look(t, &not_before);
    if (state == WB__TRANSFER_IDLE && not_before > now) {
        *wake = not_before;
    } else if (state == WB__TRANSFER_IDLE) {
        wb__transfer_start(t);
        state = look(t, &not_before);
    }
    return state;
}

/* ---- several transfers ---- */

/* Advances the transfers. Returns 0 if each is DONE or FAILED. Sets *failed to a transfer that is
 * FAILED, if any. Sets *wake to the time of the next start. */
static size_t step(wb__transfer *const *transfers, size_t n, size_t parallel,
                   const wb__transfer **failed, uint64_t *wake)
{
    size_t running = 0, pending = 0;
    *wake = UINT64_MAX;
    for (size_t i = 0; i < n && running < parallel; i++) {
        uint64_t next;
        wb__transfer_state state = wb__transfer_advance(transfers[i], &next);
        if (state == WB__TRANSFER_FAILED)
            *failed = transfers[i];
        running += state == WB__TRANSFER_RUNNING || state == WB__TRANSFER_ENDED;
        pending += state != WB__TRANSFER_DONE && state != WB__TRANSFER_FAILED;
        *wake = next < *wake ? next : *wake;
    }
    return pending;
}

void wb__transfers_settle(wb_net *net, wb__transfer *const *transfers, size_t n, size_t parallel)
{
    const wb__transfer *failed = NULL;
    uint64_t wake, seen = wb__net_changes(net);
    while (step(transfers, n, parallel, &failed, &wake) != 0)
        seen = wb__net_wait_change(net, seen, wake);
}

wb_status wb__transfers_run(wb_net *net, wb__context *context, wb__transfer *const *transfers,
                            size_t n, size_t parallel)
{
    const wb__transfer *failed = NULL;
    uint64_t wake, seen = wb__net_changes(net);
    while (step(transfers, n, parallel, &failed, &wake) != 0 && failed == NULL)
        seen = wb__net_wait_change(net, seen, wake);
    for (size_t i = 0; i < n && failed != NULL; i++)
        wb__transfer_stop(transfers[i]);
    return failed == NULL ? WB_OK : wb__transfer_fail(failed, context);
}
