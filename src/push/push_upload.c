/*
 * Sends the contents of large files. Objects are taken in groups, for which one request finds the
 * addresses. All parts of a group are sent in parallel, one on each connection.
 *
 * An address may expire before its part is sent. Then the group ends early, and the addresses of
 * the objects that are missing are asked for again.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <unistd.h>

#include "io/sink.h"
#include "net/fetch.h"
#include "net/remote_address.h"
#include "net/retry.h"
#include "push/push.h"
#include "push/push_messages.h"

#define GROUP 32u   /* objects of a group */
#define RENEWALS 2u /* how often in a row the addresses of a group are renewed without progress */

typedef enum part_state { PART_WAITS, PART_RUNS, PART_SENT } part_state;

typedef struct part {
    wb__push_object *object;
    const char *href;
    uint64_t offset, bytes;
    part_state state;
    wb__push_etag etag;
} part;

/* A connection that sends a part. */
typedef struct slot {
    wb_net *net;
    part *part; /* NULL: free */
    int fd;
    wb__url url;
    wb__exchange exchange;
    bool is_ended, failed_to_read; /* under the lock, as `sent` */
    uint64_t sent;
    unsigned failures;
    uint64_t not_before; /* time of the next attempt; 0: an attempt is running */
} slot;

typedef struct upload {
    wb_push *push;
    wb__context *context;
    const wb_progress *progress;
    wb__push_object objects[GROUP];
    size_t count;
    part *parts;
    size_t part_count;
    slot *slots;
    size_t slot_count;
    bool has_expired; /* an address was refused, so that no further part is started */
    unsigned refusal; /* the status of the refusal */
    uint64_t wake;
} upload;

/* ---- one part, on the thread of the engine ---- */

static bool give_body(void *owner, uint64_t offset, uint8_t *to, size_t n)
{
    slot *s = owner;
    bool good = wb__read_back(s->fd, s->part->offset + offset, to, n) == n;
    wb__net_lock(s->net);
    s->sent = offset + n;
    s->failed_to_read |= !good;
    wb__net_signal(s->net);
    wb__net_unlock(s->net);
    return good;
}

static bool ignore_data(void *owner, const uint8_t *bytes, size_t n)
{
    (void)owner;
    (void)bytes;
    (void)n;
    return true;
}

static void finished(void *owner)
{
    slot *s = owner;
    wb__net_lock(s->net);
    s->is_ended = true;
    wb__net_signal(s->net);
    wb__net_unlock(s->net);
}

/* ---- starting ---- */

static wb_status start(slot *s, wb__context *context)
{
    static const char no_fields[1];
    wb__exchange_clear(&s->exchange);
    s->sent = s->not_before = 0;
    s->is_ended = false;
    s->exchange = (wb__exchange){.url = s->url.text,
                                 .fields = no_fields,
                                 .bulk = true,
                                 .method = "PUT",
                                 .body_bytes = s->part->bytes,
                                 .body = give_body,
                                 .owner = s,
                                 .data = ignore_data,
                                 .finished = finished};
    wb_status status = wb__net_start(s->net, context, &s->exchange);
    if (status != WB_OK) /* otherwise the thread of the engine may have set it already */
        s->is_ended = true;
    return status;
}

static void release(slot *s)
{
    if (s->part == NULL)
        return;
    wb__exchange_clear(&s->exchange);
    wb__url_free(&s->url);
    (void)close(s->fd);
    if (s->part->state == PART_RUNS)
        s->part->state = PART_WAITS;
    s->part = NULL;
}

static wb_status begin(upload *u, slot *s, part *p)
{
    wb_net *net = u->push->net;
    *s = (slot){.net = net, .fd = -1};
    wb_status status = wb__push_open_file(p->object->item, u->context, &s->fd);
    if (status != WB_OK)
        return status;
    s->part = p;
    s->is_ended = true;
    p->state = PART_RUNS;
    const char *fault = wb__url_parse(&s->url, &net->allocator, wb__str_from(p->href, SIZE_MAX));
    status = fault == NULL ? wb__check_scheme(net, u->context, &s->url)
                           : wb__fail_address(u->context, fault);
    return status == WB_OK ? start(s, u->context) : status;
}

/* ---- judging ---- */

static bool is_refusal(unsigned status)
{
    return status == 400 || status == 401 || status == 403 || status == 404 || status == 410;
}

/* Schedules another attempt. Returns false if there were too many. */
static bool again_later(slot *s)
{
    s->not_before =
        wb__retry_time(s->net, s->exchange.outcome, &s->exchange.response, &s->failures);
    return s->not_before != 0;
}

static wb_status fail_part(const slot *s, wb__context *context)
{
    context->file = s->part->object->item->local;
    if (s->failed_to_read)
        return wb__fail(context, WB_ERROR_CHANGED, WB__FINDING_FILE_CHANGED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_PUSH_CHANGED);
    return s->exchange.outcome == WB__OUTCOME_COMPLETE
               ? wb__fail_reply(s->net, context, &s->url, &s->exchange.response, WB__STR(""))
               : wb__fail_exchange(context, &s->url, &s->exchange);
}

static void keep_etag(part *p, const wb__response *response)
{
    const char *etag = wb__response_get(response, WB__FIELD_ETAG);
    if (etag != NULL && strlen(etag) < sizeof p->etag.text)
        memcpy(p->etag.text, etag, strlen(etag) + 1);
}

/* Decides how to go on after an attempt. Frees the slot unless there will be another attempt. */
static wb_status judge(upload *u, slot *s)
{
    unsigned status = s->exchange.response.status;
    bool complete = s->exchange.outcome == WB__OUTCOME_COMPLETE;
    if (complete && status / 100 == 2) {
        s->part->state = PART_SENT;
        u->push->sent += s->part->bytes;
        keep_etag(s->part, &s->exchange.response);
        release(s);
        return WB_OK;
    }
    if (complete && is_refusal(status)) {
        u->has_expired = true;
        u->refusal = status;
        release(s);
        return WB_OK;
    }
    bool passes = complete ? wb__status_passes(status) : wb__outcome_passes(s->exchange.outcome);
    return !s->failed_to_read && passes && again_later(s) ? WB_OK : fail_part(s, u->context);
}

static bool has_ended(const slot *s)
{
    wb__net_lock(s->net);
    bool ended = s->is_ended;
    wb__net_unlock(s->net);
    return ended;
}

/* Advances a slot that is in use. */
static wb_status advance(upload *u, slot *s)
{
    if (s->not_before != 0) {
        if (wb__net_now_ms() >= s->not_before)
            return start(s, u->context);
        u->wake = s->not_before < u->wake ? s->not_before : u->wake;
        return WB_OK;
    }
    if (!has_ended(s))
        return WB_OK;
    wb_status status = judge(u, s);
    if (status == WB_OK && s->part != NULL && s->not_before < u->wake)
        u->wake = s->not_before;
    return status;
}

/* ---- a group ---- */

static part *next_part(const upload *u)
{
    for (size_t i = 0; i < u->part_count && !u->has_expired; i++) {
        if (u->parts[i].state == PART_WAITS)
            return &u->parts[i];
    }
    return NULL;
}

/* Completes an object whose parts have all been sent. */
static wb_status complete(upload *u, wb__push_object *object)
{
    const wb_allocator *allocator = &u->push->net->allocator;
    size_t n = object->part_bytes == 0 ? 1 : object->part_count, first = 0;
    while (u->parts[first].object != object)
        first++;
    for (size_t i = 0; i < n; i++) {
        if (u->parts[first + i].state != PART_SENT)
            return WB_OK;
    }
    wb__push_etag *etags = wb__alloc(allocator, n * sizeof *etags);
    if (etags == NULL)
        return wb__fail_memory(u->context);
    for (size_t i = 0; i < n; i++)
        etags[i] = u->parts[first + i].etag;
    u->context->file = object->item->local;
    wb_status status = wb__push_complete(u->push, u->context, object, etags);
    wb__free(allocator, etags, n * sizeof *etags);
    if (status == WB_OK)
        object->item->state = WB__PUSH_STORED;
    return status;
}

static wb_status complete_all(upload *u)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < u->count && status == WB_OK; i++) {
        if (u->objects[i].item->state == WB__PUSH_NEW)
            status = complete(u, &u->objects[i]);
    }
    return status;
}

static wb_status report(const upload *u)
{
    uint64_t sent = u->push->sent;
    if (u->progress == NULL || u->progress->report == NULL)
        return WB_OK;
    for (size_t i = 0; i < u->slot_count; i++) {
        const slot *s = &u->slots[i];
        if (s->part == NULL)
            continue;
        wb__net_lock(s->net);
        sent += s->sent;
        wb__net_unlock(s->net);
    }
    if (u->progress->report(u->progress->ctx, sent, u->push->total) == 0)
        return WB_OK;
    return wb__fail(u->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_PUSH_CANCELLED);
}

/* Advances all slots once. Returns the number of slots in use in *busy. */
static wb_status step(upload *u, size_t *busy)
{
    wb_status status = WB_OK;
    *busy = 0;
    u->wake = UINT64_MAX;
    for (size_t i = 0; i < u->slot_count && status == WB_OK; i++) {
        slot *s = &u->slots[i];
        if (s->part != NULL)
            status = advance(u, s);
        part *p = s->part == NULL && status == WB_OK ? next_part(u) : NULL;
        if (p != NULL)
            status = begin(u, s, p);
        *busy += s->part != NULL;
    }
    return status == WB_OK ? report(u) : status;
}

static void stop(upload *u)
{
    for (size_t i = 0; i < u->slot_count; i++) {
        slot *s = &u->slots[i];
        if (s->part == NULL)
            continue;
        if (s->not_before == 0 && !has_ended(s)) {
            wb__engine_cancel(&s->exchange);
            wb__net_lock(s->net);
            while (!s->is_ended)
                wb__net_wait(s->net);
            wb__net_unlock(s->net);
        }
        release(s);
    }
}

static wb_status send_parts(upload *u)
{
    size_t busy = 1;
    wb_status status = WB_OK;
    while (status == WB_OK && busy > 0) {
        uint64_t seen = wb__net_changes(u->push->net);
        status = step(u, &busy);
        if (status == WB_OK)
            status = complete_all(u);
        if (status == WB_OK && busy > 0)
            (void)wb__net_wait_change(u->push->net, seen, u->wake);
    }
    stop(u);
    return status;
}

static void add_parts(upload *u, wb__push_object *object)
{
    size_t n = object->part_bytes == 0 ? 1 : object->part_count;
    for (size_t i = 0; i < n; i++) {
        uint64_t offset = i * object->part_bytes, left = object->item->size - offset;
        bool is_last = object->part_bytes == 0 || left < object->part_bytes;
        u->parts[u->part_count++] =
            (part){.object = object,
                   .href = object->part_bytes == 0 ? object->href : object->parts[i],
                   .offset = offset,
                   .bytes = is_last ? left : object->part_bytes};
    }
}

/* Sends the objects of which the hub does not have the contents. */
static wb_status send_group(upload *u)
{
    const wb_allocator *allocator = &u->push->net->allocator;
    size_t n = 0;
    wb_status status = wb__push_batch(u->push, u->context, u->objects, u->count);
    for (size_t i = 0; i < u->count && status == WB_OK; i++)
        n += u->objects[i].part_bytes == 0 ? 1 : u->objects[i].part_count;
    u->has_expired = false;
    u->part_count = 0;
    if (status != WB_OK || n == 0)
        return status;
    u->parts = wb__alloc(allocator, n * sizeof *u->parts);
    if (u->parts == NULL)
        return wb__fail_memory(u->context);
    for (size_t i = 0; i < u->count; i++) {
        if (u->objects[i].item->state == WB__PUSH_NEW)
            add_parts(u, &u->objects[i]);
        else
            u->push->sent += u->objects[i].item->size;
    }
    status = u->part_count == 0 ? WB_OK : send_parts(u);
    wb__free(allocator, u->parts, n * sizeof *u->parts);
    u->parts = NULL;
    return status;
}

/* Returns true if an object of the group has the contents of the item. */
static bool is_in_group(const upload *u, const wb__push_item *item)
{
    for (size_t i = 0; i < u->count; i++) {
        if (strcmp(u->objects[i].item->sha256, item->sha256) == 0)
            return true;
    }
    return false;
}

/* Takes the next items that must be sent. Of items with the same contents, takes only one. */
static wb_status take_group(upload *u, size_t *next)
{
    wb_status status = WB_OK;
    u->count = 0;
    for (; *next < u->push->count && u->count < GROUP && status == WB_OK; ++*next) {
        wb__push_item *item = &u->push->items[*next];
        if (item->state != WB__PUSH_NEW || !item->is_lfs)
            continue;
        if (item->sha256[0] == '\0')
            status = wb__push_hash(u->push, u->context, item);
        if (status == WB_OK && !is_in_group(u, item))
            u->objects[u->count++] = (wb__push_object){.item = item};
    }
    return status;
}

/* Marks the items before `end` whose contents were sent for another item. */
static void mark_twins(const upload *u, size_t end)
{
    for (size_t i = 0; i < end; i++) {
        wb__push_item *item = &u->push->items[i];
        if (item->state == WB__PUSH_NEW && item->is_lfs) {
            item->state = WB__PUSH_STORED;
            u->push->sent += item->size;
        }
    }
}

/* Keeps the objects of the group that are still missing. Returns false if there are none. */
static bool keep_missing(upload *u)
{
    size_t n = 0;
    for (size_t i = 0; i < u->count; i++) {
        if (u->objects[i].item->state == WB__PUSH_NEW)
            u->objects[n++] = (wb__push_object){.item = u->objects[i].item};
    }
    u->count = n;
    return n > 0;
}

static wb_status send_all(upload *u)
{
    wb_status status = WB_OK;
    for (size_t next = 0; next < u->push->count && status == WB_OK;) {
        status = take_group(u, &next);
        for (unsigned renewals = 0; status == WB_OK && keep_missing(u); renewals++) {
            if (renewals > RENEWALS)
                return wb__fail(u->context, WB_ERROR_IO, WB__FINDING_NET_STATUS, WB_NO_OFFSET,
                                WB__STR(""), WB__MSG_PUSH_EXPIRED, u->refusal);
            status = send_group(u);
        }
        if (status == WB_OK)
            mark_twins(u, next);
    }
    return status;
}

wb_status wb__push_upload(wb_push *push, wb__context *context, const wb_progress *progress)
{
    const wb_allocator *allocator = &push->net->allocator;
    upload *u = wb__alloc_zeroed(allocator, sizeof *u);
    if (u == NULL)
        return wb__fail_memory(context);
    u->push = push;
    u->context = context;
    u->progress = progress;
    u->slot_count = push->net->options.connections;
    u->slots = wb__alloc_zeroed(allocator, u->slot_count * sizeof *u->slots);
    wb_status status = u->slots == NULL ? wb__fail_memory(context) : send_all(u);
    wb__free(allocator, u->slots, u->slot_count * sizeof *u->slots);
    wb__free(allocator, u, sizeof *u);
    return status;
}
