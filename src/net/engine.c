#define _POSIX_C_SOURCE 200809L
#ifdef WB_NET_HAVE_CURL
#include "net/engine.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "net/curl_api.h"
#include "net/net_messages.h"

#define BULK_BUFFER (512L << 10) /* the largest buffer that libcurl 7.88 permits */
#define POLL_MS 1000
/* Minimum time limit in seconds for a response to a request with a body: the server may first have
 * to process what it has received. */
#define BODY_STALL 120L
#define IDLE_CONNECTIONS 64L

struct wb__engine {
    wb_allocator allocator;
    const wb__curl *api;
    CURLM *multi;
    wb__engine_options options;
    pthread_mutex_t lock;
    pthread_t thread;
    pid_t process;          /* process in which `thread` runs; a forked child has no such thread */
    bool running, stop;     /* under the lock */
    wb__exchange *incoming; /* exchanges that the thread has not seen yet, oldest first; under
                             * the lock */
    wb__exchange **incoming_end;
    wb__exchange *active; /* of the thread */
};

/* ---- outcomes ---- */

static wb__outcome outcome_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK: return WB__OUTCOME_COMPLETE;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return WB__OUTCOME_RESOLVE;
    case CURLE_COULDNT_CONNECT: return WB__OUTCOME_CONNECT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return WB__OUTCOME_CERTIFICATE;
    case CURLE_SSL_CONNECT_ERROR: return WB__OUTCOME_TLS;
    case CURLE_OPERATION_TIMEDOUT: return WB__OUTCOME_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return WB__OUTCOME_CUT;
    case CURLE_OUT_OF_MEMORY: return WB__OUTCOME_MEMORY;
    default: return WB__OUTCOME_PROTOCOL;
    }
}

/* ---- callbacks of libcurl ---- */

/* Calls exchange->begin if it was not called yet: before the first byte of the body, or at the end
 * if there is no body. Returns false if a callback has stopped the exchange. */
static bool begin(wb__exchange *exchange)
{
    if (exchange->begun)
        return !exchange->stopped;
    exchange->begun = true;
    if (exchange->begin != NULL && !exchange->begin(exchange->owner, &exchange->response))
        exchange->stopped = true;
    return !exchange->stopped;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    wb__exchange *exchange = ctx;
    if (!exchange->begun) /* later lines are trailers */
        wb__response_line(&exchange->response, bytes, size * n);
    return exchange->response.out_of_memory ? 0 : size * n;
}

static size_t on_data(char *bytes, size_t size, size_t n, void *ctx)
{
    wb__exchange *exchange = ctx;
    if (atomic_load(&exchange->cancelled) || !begin(exchange))
        return 0;
    if (!exchange->data(exchange->owner, (const uint8_t *)bytes, size * n))
        exchange->stopped = true;
    return exchange->stopped ? 0 : size * n;
}

static size_t on_read(char *to, size_t size, size_t n, void *ctx)
{
    wb__exchange *exchange = ctx;
    uint64_t left = exchange->body_bytes - exchange->body_sent;
    size_t taken = left < size * n ? (size_t)left : size * n;
    if (atomic_load(&exchange->cancelled))
        return CURL_READFUNC_ABORT;
    if (taken > 0 && !exchange->body(exchange->owner, exchange->body_sent, (uint8_t *)to, taken)) {
        exchange->stopped = true;
        return CURL_READFUNC_ABORT;
    }
    exchange->body_sent += taken;
    return taken;
}

/* Called if the body must be sent again, because the server had closed an idle connection. */
static int on_seek(void *ctx, curl_off_t offset, int origin)
{
    wb__exchange *exchange = ctx;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > exchange->body_bytes)
        return CURL_SEEKFUNC_FAIL;
    exchange->body_sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* ---- one exchange ---- */

/* Sets an option and records a failure in `good`. */
#define SET(option, value) (good = api->easy_setopt(easy, option, value) == CURLE_OK && good)

static bool set_transport(wb__engine *engine, CURL *easy, const wb__exchange *exchange)
{
    const wb__curl *api = engine->api;
    const wb__engine_options *options = &engine->options;
    bool good = true;
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_CONNECTTIMEOUT, (long)options->connect_timeout);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, (long)options->stall_timeout);
    SET(CURLOPT_HTTP_VERSION,
        exchange->bulk ? (long)CURL_HTTP_VERSION_1_1 : (long)CURL_HTTP_VERSION_2TLS);
    if (exchange->bulk)
        (void)api->easy_setopt(easy, CURLOPT_BUFFERSIZE, BULK_BUFFER);
    else
        SET(CURLOPT_PIPEWAIT, 1L);
    if (options->ca_file != NULL)
        SET(CURLOPT_CAINFO, options->ca_file);
    if (options->ca_folder != NULL)
        SET(CURLOPT_CAPATH, options->ca_folder);
    if (options->netrc)
        SET(CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    return good;
}

static bool set_body(wb__engine *engine, CURL *easy, wb__exchange *exchange)
{
    const wb__curl *api = engine->api;
    long stall = (long)engine->options.stall_timeout;
    bool good = true;
    if (exchange->method == NULL)
        return true;
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_CUSTOMREQUEST, exchange->method);
    SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->body_bytes);
    SET(CURLOPT_READFUNCTION, on_read);
    SET(CURLOPT_READDATA, (void *)exchange);
    SET(CURLOPT_SEEKFUNCTION, on_seek);
    SET(CURLOPT_SEEKDATA, (void *)exchange);
    SET(CURLOPT_LOW_SPEED_TIME, stall < BODY_STALL ? BODY_STALL : stall);
    if (exchange->bulk)
        (void)api->easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, BULK_BUFFER);
    return good;
}

static bool set_fields(wb__engine *engine, wb__exchange *exchange)
{
    const char *fields = exchange->fields == NULL ? "" : exchange->fields;
    struct curl_slist *list = engine->api->slist_append(NULL, "Accept-Encoding: identity");
    exchange->list = list;
    if (list != NULL && exchange->method != NULL) /* do not wait for "100 Continue" */
        list = engine->api->slist_append(list, "Expect:");
    for (; list != NULL && *fields != '\0'; fields += strlen(fields) + 1)
        list = engine->api->slist_append(list, fields);
    return list != NULL;
}

static bool prepare(wb__engine *engine, wb__exchange *exchange)
{
    const wb__curl *api = engine->api;
    CURL *easy = api->easy_init();
    bool good = easy != NULL;
    char agent[64];
    (void)snprintf(agent, sizeof agent, "weighbridge/%s", wb_version());
    exchange->easy = easy;
    if (!good || !set_fields(engine, exchange))
        return false;
    SET(CURLOPT_URL, exchange->url);
    SET(CURLOPT_HTTPHEADER, exchange->list);
    SET(CURLOPT_USERAGENT, agent);
    SET(CURLOPT_PRIVATE, (void *)exchange);
    SET(CURLOPT_ERRORBUFFER, exchange->detail);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, (void *)exchange);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, (void *)exchange);
    return set_transport(engine, easy, exchange) && set_body(engine, easy, exchange) && good;
}

static void link_active(wb__engine *engine, wb__exchange *exchange)
{
    exchange->previous = NULL;
    exchange->next = engine->active;
    if (engine->active != NULL)
        engine->active->previous = exchange;
    engine->active = exchange;
}

static void unlink_active(wb__engine *engine, wb__exchange *exchange)
{
    if (exchange->previous != NULL)
        exchange->previous->next = exchange->next;
    else
        engine->active = exchange->next;
    if (exchange->next != NULL)
        exchange->next->previous = exchange->previous;
}

static void release(wb__engine *engine, wb__exchange *exchange)
{
    if (exchange->easy != NULL)
        engine->api->easy_cleanup(exchange->easy);
    engine->api->slist_free_all(exchange->list);
    exchange->easy = exchange->list = NULL;
}

/* Ends an exchange whose handle was not added to libcurl, or was removed from it. */
static void finish(wb__engine *engine, wb__exchange *exchange, wb__outcome outcome)
{
    exchange->outcome = outcome;
    release(engine, exchange);
    exchange->finished(exchange->owner);
}

static void add(wb__engine *engine, wb__exchange *exchange)
{
    if (atomic_load(&exchange->cancelled)) {
        finish(engine, exchange, WB__OUTCOME_CANCELLED);
    } else if (!prepare(engine, exchange) ||
               engine->api->multi_add_handle(engine->multi, exchange->easy) != CURLM_OK) {
        finish(engine, exchange, WB__OUTCOME_MEMORY);
    } else {
        link_active(engine, exchange);
    }
}

static void complete(wb__engine *engine, CURL *easy, CURLcode code)
{
    const wb__curl *api = engine->api;
    void *private = NULL;
    long os_error = 0;
    (void)api->easy_getinfo(easy, CURLINFO_PRIVATE, &private);
    (void)api->easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_error);
    wb__exchange *exchange = private;
    wb__outcome outcome = outcome_of(code);
    if (outcome == WB__OUTCOME_COMPLETE)
        (void)begin(exchange);
    if (exchange->stopped)
        outcome = WB__OUTCOME_STOPPED;
    else if (atomic_load(&exchange->cancelled))
        outcome = WB__OUTCOME_CANCELLED;
    else if (exchange->response.out_of_memory)
        outcome = WB__OUTCOME_MEMORY;
    exchange->os_error = outcome == WB__OUTCOME_COMPLETE ? 0 : (uint32_t)os_error;
    if (exchange->detail[0] == '\0' && code != CURLE_OK)
        wb__printable(exchange->detail, sizeof exchange->detail,
                      wb__str_from(api->easy_strerror(code), SIZE_MAX));
    (void)api->multi_remove_handle(engine->multi, easy);
    unlink_active(engine, exchange);
    finish(engine, exchange, outcome);
}

/* ---- the thread ---- */

/* Takes the new exchanges. Returns false if the engine is to stop. */
static bool take_incoming(wb__engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    wb__exchange *list = engine->incoming;
    bool stop = engine->stop;
    engine->incoming = NULL;
    engine->incoming_end = &engine->incoming;
    (void)pthread_mutex_unlock(&engine->lock);
    for (wb__exchange *next; list != NULL; list = next) {
        next = list->next;
        add(engine, list);
    }
    return !stop;
}

static void end_cancelled(wb__engine *engine, bool all)
{
    for (wb__exchange *exchange = engine->active, *next; exchange != NULL; exchange = next) {
        next = exchange->next;
        if (!all && !atomic_load(&exchange->cancelled))
            continue;
        (void)engine->api->multi_remove_handle(engine->multi, exchange->easy);
        unlink_active(engine, exchange);
        finish(engine, exchange, WB__OUTCOME_CANCELLED);
    }
}

static void *run(void *ctx)
{
    wb__engine *engine = ctx;
    const wb__curl *api = engine->api;
    while (take_incoming(engine)) {
        int busy = 0, left = 0;
        const CURLMsg *message;
        end_cancelled(engine, false);
        (void)api->multi_perform(engine->multi, &busy);
        while ((message = api->multi_info_read(engine->multi, &left)) != NULL) {
            if (message->msg == CURLMSG_DONE)
                complete(engine, message->easy_handle, message->data.result);
        }
        (void)api->multi_poll(engine->multi, NULL, 0, POLL_MS, NULL);
    }
    end_cancelled(engine, true);
    return NULL;
}

/* Starts the thread with all signals blocked, so that they go to the threads of the application. */
static int start_thread(wb__engine *engine)
{
    sigset_t all, old;
    (void)sigfillset(&all);
    int os_error = pthread_sigmask(SIG_SETMASK, &all, &old);
    if (os_error != 0)
        return os_error;
    os_error = pthread_create(&engine->thread, NULL, run, engine);
    engine->running = os_error == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return os_error;
}

/* ---- the interface ---- */

wb_status wb__engine_new(wb__engine **out, wb__context *context, const wb__engine_options *options)
{
    const wb__curl *api = wb__curl_load();
    *out = NULL;
    if (api == NULL)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_NET_LIBRARY, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_NET_LIBRARY);
    wb__engine *engine = wb__alloc_zeroed(&context->allocator, sizeof *engine);
    if (engine == NULL)
        return wb__fail_memory(context);
    *engine = (wb__engine){.allocator = context->allocator, .api = api, .options = *options};
    engine->process = getpid();
    engine->incoming_end = &engine->incoming;
    engine->multi = api->multi_init();
    if (engine->multi == NULL || pthread_mutex_init(&engine->lock, NULL) != 0) {
        if (engine->multi != NULL)
            (void)api->multi_cleanup(engine->multi);
        wb__free(&context->allocator, engine, sizeof *engine);
        return wb__fail_memory(context);
    }
    (void)api->multi_setopt(engine->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                            (long)options->connections);
    (void)api->multi_setopt(engine->multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
    *out = engine;
    return WB_OK;
}

static void stop(wb__engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    engine->stop = true;
    bool running = engine->running;
    (void)pthread_mutex_unlock(&engine->lock);
    if (running) {
        (void)engine->api->multi_wakeup(engine->multi);
        (void)pthread_join(engine->thread, NULL);
    }
    (void)engine->api->multi_cleanup(engine->multi);
    (void)pthread_mutex_destroy(&engine->lock);
}

void wb__engine_free(wb__engine *engine)
{
    if (engine == NULL)
        return;
    if (engine->process == getpid()) /* a forked process must not close its parent's connections */
        stop(engine);
    wb_allocator allocator = engine->allocator;
    wb__free(&allocator, engine, sizeof *engine);
}

wb_status wb__engine_start(wb__engine *engine, wb__context *context, wb__exchange *exchange)
{
    int os_error = 0;
    if (engine->process != getpid())
        return wb__fail(context, WB_ERROR_IO, WB__FINDING_NET_CONNECTION, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_NET_FORKED);
    wb__response_init(&exchange->response, &engine->allocator);
    exchange->engine = engine;
    exchange->begun = exchange->stopped = false;
    exchange->body_sent = 0;
    exchange->detail[0] = '\0';
    exchange->os_error = 0;
    atomic_store(&exchange->cancelled, false);
    (void)pthread_mutex_lock(&engine->lock);
    if (!engine->running)
        os_error = start_thread(engine);
    if (os_error == 0) {
        exchange->next = NULL;
        *engine->incoming_end = exchange;
        engine->incoming_end = &exchange->next;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (os_error != 0)
        return wb__fail_os(context, os_error, WB__MSG_NET_THREAD);
    (void)engine->api->multi_wakeup(engine->multi);
    return WB_OK;
}

void wb__engine_cancel(wb__exchange *exchange)
{
    wb__engine *engine = exchange->engine;
    atomic_store(&exchange->cancelled, true);
    (void)engine->api->multi_wakeup(engine->multi);
}

void wb__exchange_clear(wb__exchange *exchange)
{
    wb__response_free(&exchange->response);
}
#else
typedef int wb__no_engine; /* an empty file is not valid C; see net/engine_none.c */
#endif
