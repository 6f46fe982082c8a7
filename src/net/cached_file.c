#include "net/cached_file.h"

#include <stdio.h>

#define LEAST_BYTES ((uint64_t)64 << 10)
#define WINDOW_FIRST ((uint64_t)256 << 10)
#define WINDOW_LAST ((uint64_t)4 << 20)
#define SMALL_RANGE ((uint64_t)1 << 20)  /* ranges up to this size are fetched in one request */
#define HEADER_LAST ((uint64_t)16 << 20) /* maximum size of a request for header bytes */
#define DEPTH_MAX 8u
#define DIRECT_BYTES ((size_t)4 << 20)
#define DIRECT_PIECES 8u

/* Passes the new bytes of a chunk to the prediction of the header's length (net/extent.h), if they
 * directly follow the bytes that were passed before. The lock is held. */
static void feed_extent(wb__cached_file *file, wb__chunk *chunk)
{
    wb__extent *extent = &file->extent;
    uint64_t begin = chunk->transfer.begin, end = begin + chunk->transfer.received;
    if (extent->kind == WB__EXTENT_OTHER || extent->fed < begin || extent->fed >= end ||
        (extent->fed == 0 && chunk->transfer.received < 9 &&
         chunk->transfer.received < chunk->size))
        return;
    size_t from = (size_t)(extent->fed - begin);
    wb__extent_feed(extent, chunk->bytes + from, (size_t)(end - begin) - from);
}

/* ---- how much to fetch ---- */

static wb__expected *find_expected(wb__cached_file *file, uint64_t offset)
{
    for (size_t i = 0; i < WB__EXPECTED_MAX; i++) {
        wb__expected *range = &file->expected[i];
        if (range->begin <= offset && offset < range->end)
            return range;
    }
    return NULL;
}

/* Returns the end of the chunk to fetch at `offset` of an announced range. Doubles the size for the
 * chunk after it, up to WINDOW_LAST. */
static uint64_t next_window(wb__expected *range, uint64_t offset)
{
    uint64_t left = range->end - offset;
    uint64_t n = range->end - range->begin <= SMALL_RANGE ? left : range->window;
    range->window = range->window * 2 > WINDOW_LAST ? WINDOW_LAST : range->window * 2;
    if (range->depth < DEPTH_MAX)
        range->depth++;
    /* If less than n / 4 bytes of the range would follow the chunk, extend the chunk to the end of
     * the range. It then has at least LEAST_BYTES bytes, because the bytes after a small range are
     * often read next. */
    if (left < n + n / 4)
        n = left < LEAST_BYTES ? LEAST_BYTES : left;
    return offset + n;
}

static uint64_t plan_end(wb__cached_file *file, uint64_t offset, size_t n)
{
    uint64_t size = file->remote.size, end = offset + (n > LEAST_BYTES ? n : LEAST_BYTES);
    wb__expected *range = find_expected(file, offset);
    if (range != NULL) {
        end = next_window(range, offset);
        if (end < offset + n && offset + n <= range->end)
            end = offset + n;
        range->fetched = end > range->fetched ? end : range->fetched;
    } else if (offset == file->extent.fed && offset < file->extent.end) {
        end = file->extent.end - offset > HEADER_LAST ? offset + HEADER_LAST : file->extent.end;
    } else if (offset == file->extent.fed && end < offset + offset / 2) {
        end = offset / 2 < WINDOW_LAST ? offset + offset / 2 : offset + WINDOW_LAST;
    }
    return wb__chunk_clip(file, offset, end < size ? end : size);
}

/* Creates the chunks ahead of a reader at `offset`. Returns their number. The caller starts their
 * transfers after it has released the lock. */
static size_t plan_ahead(wb__cached_file *file, uint64_t offset, wb__chunk **chunks)
{
    wb__expected *range = find_expected(file, offset);
    uint64_t limit = file->remote.net->options.cache_bytes / 2;
    size_t count = 0;
    if (range == NULL || range->depth < 2)
        return 0;
    while (count < DEPTH_MAX && range->fetched < range->end &&
           range->fetched < offset + range->depth * range->window &&
           range->fetched < offset + limit) {
        uint64_t from = range->fetched, end = next_window(range, from);
        end = wb__chunk_clip(file, from, end < file->remote.size ? end : file->remote.size);
        range->fetched = end;
        if (wb__chunk_find(file, from) != NULL)
            continue;
        wb__chunk *chunk = wb__chunk_new(file, from, end);
        if (chunk == NULL)
            break;
        chunk->users++;
        chunk->transfer.background = true;
        chunks[count++] = chunk;
    }
    return count;
}

/* ---- reading ---- */

static wb_status keep_error(wb__cached_file *file, const wb_error *error)
{
    wb_net *net = file->remote.net;
    wb__net_lock(net);
    file->error = *error;
    wb__net_unlock(net);
    return error->status;
}

/* Waits until the byte at `offset` has arrived. */
static wb_status await_byte(wb__chunk *chunk, uint64_t offset, uint64_t *arrived)
{
    wb__transfer *t = &chunk->transfer;
    wb_net *net = t->remote->net;
    uint64_t wake, seen = wb__net_changes(net);
    for (;;) {
        wb__transfer_state state = wb__transfer_advance(t, &wake);
        wb__net_lock(net);
        *arrived = t->begin + t->received;
        feed_extent(chunk->file, chunk);
        wb__net_unlock(net);
        if (*arrived > offset || state == WB__TRANSFER_DONE)
            return WB_OK;
        if (state == WB__TRANSFER_FAILED)
            return keep_error(chunk->file, &t->error);
        seen = wb__net_wait_change(net, seen, wake);
    }
}

/* Ends the use of a chunk. If the chunk has no other user, nobody advances its transfer any more.
 * If that transfer was to ask for the content address (net/remote.h), another transfer must ask in
 * its place (wb__transfer_disclaim). */
static void leave(wb__chunk *chunk)
{
    wb_net *net = chunk->file->remote.net;
    wb__net_lock(net);
    bool last = --chunk->users == 0;
    bool failed = last && chunk->transfer.state == WB__TRANSFER_FAILED;
    if (last)
        wb__transfer_disclaim(&chunk->transfer);
    if (failed)
        wb__chunk_detach(chunk); /* a later read tries again */
    wb__net_unlock(net);
    if (failed)
        wb__chunk_free(chunk);
}

/* Finds or creates the chunk for a read, and creates the chunks that are fetched ahead of the
 * read. */
static wb__chunk *enter(wb__cached_file *file, uint64_t offset, size_t n, wb__chunk **ahead,
                        size_t *ahead_count)
{
    wb__net_lock(file->remote.net);
    wb__chunk *chunk = wb__chunk_find(file, offset);
    if (chunk == NULL)
        chunk = wb__chunk_new(file, offset, plan_end(file, offset, n));
    *ahead_count = 0;
    if (chunk != NULL) {
        chunk->users++;
        chunk->transfer.background = false;
        wb__chunk_use(chunk);
        *ahead_count = plan_ahead(file, offset, ahead);
    }
    wb__net_unlock(file->remote.net);
    return chunk;
}

static wb_status read_chunk(wb__cached_file *file, uint64_t offset, void *dst, size_t n,
                            size_t *got)
{
    wb__chunk *ahead[DEPTH_MAX];
    size_t ahead_count;
    uint64_t arrived = 0;
    wb__chunk *chunk = enter(file, offset, n, ahead, &ahead_count);
    if (chunk == NULL) {
        wb_error error;
        wb__context context = wb__net_context(file->remote.net, wb__error_reset(&error, &error));
        (void)wb__fail_memory(&context);
        return keep_error(file, &error);
    }
    (void)wb__transfer_advance(&chunk->transfer, &arrived);
    for (size_t i = 0; i < ahead_count; i++)
        (void)wb__transfer_advance(&ahead[i]->transfer, &arrived);
    wb_status status = await_byte(chunk, offset, &arrived);
    if (status == WB_OK && arrived > offset) {
        uint64_t available = arrived - offset;
        *got = available < n ? (size_t)available : n;
        memcpy(dst, chunk->bytes + (size_t)(offset - chunk->transfer.begin), *got);
    }
    leave(chunk);
    for (size_t i = 0; i < ahead_count; i++)
        leave(ahead[i]);
    return status;
}

/* ---- large reads ---- */

typedef struct direct_read {
    uint8_t *dst;
    uint64_t offset;
} direct_read;

static bool put_direct(void *owner, uint64_t offset, const uint8_t *bytes, size_t n)
{
    direct_read *read = owner;
    memcpy(read->dst + (size_t)(offset - read->offset), bytes, n);
    return true;
}

static wb_status read_direct(wb__cached_file *file, uint64_t offset, void *dst, size_t n)
{
    wb_net *net = file->remote.net;
    wb_error error;
    wb__context context = wb__net_context(net, wb__error_reset(&error, &error));
    direct_read read = {dst, offset};
    wb__transfer transfers[DIRECT_PIECES], *list[DIRECT_PIECES];
    size_t pieces = n / (DIRECT_BYTES / 2);
    pieces = pieces > DIRECT_PIECES ? DIRECT_PIECES : pieces;
    for (size_t i = 0; i < pieces; i++) {
        uint64_t begin = offset + n / pieces * i;
        uint64_t end = i + 1 == pieces ? offset + n : offset + n / pieces * (i + 1);
        wb__transfer_init(&transfers[i], &file->remote, begin, end);
        transfers[i].put = put_direct;
        transfers[i].owner = &read;
        list[i] = &transfers[i];
    }
    wb_status status = wb__transfers_run(net, &context, list, pieces, pieces);
    for (size_t i = 0; i < pieces; i++)
        wb__transfer_free(&transfers[i]);
    return status == WB_OK ? WB_OK : keep_error(file, &error);
}

static wb_status read_file(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    wb__cached_file *file = ctx;
    *got = 0;
    if (offset >= file->remote.size || n == 0)
        return WB_OK;
    if (n > file->remote.size - offset)
        n = (size_t)(file->remote.size - offset);
    wb__net_lock(file->remote.net);
    bool direct = n >= DIRECT_BYTES && wb__chunk_find(file, offset) == NULL;
    wb__net_unlock(file->remote.net);
    if (!direct)
        return read_chunk(file, offset, dst, n, got);
    wb_status status = read_direct(file, offset, dst, n);
    *got = status == WB_OK ? n : 0;
    return status;
}

static void expect(void *ctx, uint64_t offset, uint64_t n)
{
    wb__cached_file *file = ctx;
    wb__net_lock(file->remote.net);
    const wb__expected *known = find_expected(file, offset);
    if (wb__in_range(offset, n, file->remote.size) &&
        (known == NULL || known->begin != offset || known->end != offset + n)) {
        wb__expected *range = &file->expected[file->next_expected++ % WB__EXPECTED_MAX];
        *range = (wb__expected){
            .begin = offset, .end = offset + n, .fetched = offset, .window = WINDOW_FIRST};
    }
    wb__net_unlock(file->remote.net);
}

static void explain(void *ctx, wb_error *error)
{
    wb__cached_file *file = ctx;
    wb__net_lock(file->remote.net);
    error->code = file->error.code;
    error->os_error = file->error.os_error;
    memcpy(error->message, file->error.message, sizeof error->message);
    memcpy(error->advice, file->error.advice, sizeof error->advice);
    wb__net_unlock(file->remote.net);
}

/* ---- the interface ---- */

void wb__cached_file_init(wb__cached_file *file, wb_net *net, wb__url *url)
{
    memset(file, 0, sizeof *file);
    wb__remote_init(&file->remote, net, url);
}

void wb__cached_file_free(wb__cached_file *file)
{
    wb_net *net = file->remote.net;
    wb__net_lock(net);
    while (file->chunks != NULL) {
        wb__chunk *chunk = file->chunks;
        wb__chunk_detach(chunk);
        wb__net_unlock(net);
        wb__chunk_free(chunk);
        wb__net_lock(net);
    }
    wb__net_unlock(net);
    wb__remote_free(&file->remote);
}

wb__transfer *wb__cached_file_head(wb__cached_file *file)
{
    wb__remote *remote = &file->remote;
    wb__net_lock(remote->net);
    uint64_t end =
        remote->size_known && remote->size < WB__HEAD_FETCHED ? remote->size : WB__HEAD_FETCHED;
    wb__chunk *chunk = wb__chunk_find(file, 0);
    if (chunk == NULL && end > 0)
        chunk = wb__chunk_new(file, 0, wb__chunk_clip(file, 0, end));
    if (chunk != NULL) {
        chunk->users++;
        chunk->transfer.background = false;
    }
    wb__net_unlock(remote->net);
    return chunk == NULL ? NULL : &chunk->transfer;
}

void wb__cached_file_release(wb__transfer *head)
{
    leave(head->owner);
}

wb_status wb__cached_file_probe(wb__cached_file *file, wb__context *context)
{
    wb_net *net = file->remote.net;
    wb__transfer *head = wb__cached_file_head(file);
    if (head == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__transfers_run(net, context, &head, 1, 1);
    wb__cached_file_release(head);
    wb__net_lock(net);
    bool size_known = file->remote.size_known;
    wb__net_unlock(net);
    if (status == WB_OK && !size_known)
        status = wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_NET_REPLY, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_NET_NO_SIZE);
    return status;
}

/* Returns a version: equal versions mean equal bytes. It is the digest or the ETag of the file. If
 * there is neither, another run cannot know whether the bytes are the same, so the version is
 * random. */
static const char *version_of(wb__cached_file *file)
{
    const wb__remote *remote = &file->remote;
    wb__net_lock(remote->net);
    const char *mark = remote->digest[0] != '\0' ? remote->digest : remote->etag;
    if (file->version[0] == '\0' && mark[0] != '\0')
        (void)snprintf(file->version, sizeof file->version, "%s", mark);
    else if (file->version[0] == '\0')
        (void)snprintf(file->version, sizeof file->version, "unknown-%016llx",
                       (unsigned long long)wb__net_random(remote->net));
    wb__net_unlock(remote->net);
    return file->version;
}

void wb__cached_file_source(wb__cached_file *file, wb_source *source)
{
    const wb__remote *remote = &file->remote;
    *source = (wb_source){.size = sizeof *source,
                          .ctx = file,
                          .bytes = remote->size,
                          .read = read_file,
                          .expect = expect,
                          .explain = explain,
                          .version = version_of(file),
                          .digest = remote->digest[0] != '\0' ? remote->digest : NULL};
}
