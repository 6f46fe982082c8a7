/*
 * net/engine.h: HTTP requests through libcurl, many at a time, on one thread of their own.
 *
 * An exchange is one request and its response. wb__engine_start hands it to the engine's
 * thread, which calls `begin` when the header is complete, `data` for each piece of the body, and
 * `finished` once at the end; these functions must not block for long. Until `finished`, the
 * exchange and all memory that it borrows belong to the engine. Redirects are not followed, nothing
 * is decompressed, and nothing is sent again: the callers decide (net/fetch.h, net/transfer.h).
 *
 * libcurl is loaded at run time, when the first engine is created.
 */
#ifndef WB_NET_ENGINE_H
#define WB_NET_ENGINE_H

#include <stdatomic.h>

#include "core/core.h"
#include "net/response.h"

typedef struct wb__engine wb__engine;

/* How an exchange ended. */
typedef enum wb__outcome {
    WB__OUTCOME_COMPLETE = 0, /* the response arrived completely, whatever its status */
    WB__OUTCOME_STOPPED,      /* `begin` or `data` returned false */
    WB__OUTCOME_CANCELLED,    /* wb__engine_cancel was called */
    WB__OUTCOME_RESOLVE,      /* the name of the host is not known */
    WB__OUTCOME_CONNECT,      /* no connection to the host */
    WB__OUTCOME_CERTIFICATE,  /* the certificate of the host is not trusted */
    WB__OUTCOME_TLS,          /* TLS failed otherwise */
    WB__OUTCOME_TIMEOUT,      /* no connection or no byte within the time limit */
    WB__OUTCOME_CUT,          /* the connection ended before the end of the reply */
    WB__OUTCOME_MEMORY,       /* memory ran out */
    WB__OUTCOME_PROTOCOL      /* the reply was not HTTP, or anything else failed */
} wb__outcome;

typedef struct wb__exchange wb__exchange;

struct wb__exchange {
    /* ---- the request ---- */
    const char *url;    /* canonical text of a wb__url */
    const char *fields; /* header fields, each followed by NUL, and a NUL at the end; may be NULL */
    bool bulk;          /* large bodies: HTTP/1.1, large buffers */
    const char *method; /* "POST" or "PUT", with a body; NULL: GET */
    uint64_t body_bytes; /* length of the body of the request */
    /* Copies n bytes of the body of the request to `to`. Returns false on failure. */
    bool (*body)(void *owner, uint64_t offset, uint8_t *to, size_t n);

    void *owner;
    bool (*begin)(void *owner, const wb__response *response); /* may be NULL */
    bool (*data)(void *owner, const uint8_t *bytes, size_t n);
    void (*finished)(void *owner);

    /* ---- the result, valid when `finished` is called ---- */
    wb__response response;
    wb__outcome outcome;
    uint32_t os_error;
    char detail[256]; /* libcurl's description of a failure */

    /* ---- internal ---- */
    wb__engine *engine;
    wb__exchange *previous, *next;
    void *easy, *list;
    bool begun, stopped;
    uint64_t body_sent; /* bytes of the body that libcurl has taken */
    atomic_bool cancelled;
};

typedef struct wb__engine_options {
    uint32_t connect_timeout, stall_timeout; /* seconds */
    const char *ca_file, *ca_folder;         /* NULL: the defaults of libcurl */
    uint32_t connections;                    /* maximum number per host */
    bool netrc;                              /* read ~/.netrc */
} wb__engine_options;

/* Creates an engine; its thread starts with the first exchange. The strings of the options are
 * borrowed. Fails with UNSUPPORTED if libcurl is missing. Release with wb__engine_free. */
wb_status wb__engine_new(wb__engine **engine, wb__context *context,
                         const wb__engine_options *options);

/* Cancels all exchanges, ends the thread and frees the engine. NULL is ignored. */
void wb__engine_free(wb__engine *engine);

/* Starts an exchange. On failure (MEMORY, IO), `finished` is not called. */
wb_status wb__engine_start(wb__engine *engine, wb__context *context, wb__exchange *exchange);

/* Cancels an exchange that has not ended yet. It ends soon after the call, and `finished` is called
 * then. */
void wb__engine_cancel(wb__exchange *exchange);

/* Frees the members that the engine allocated. Call after `finished`, before a new start. */
void wb__exchange_clear(wb__exchange *exchange);

#endif
