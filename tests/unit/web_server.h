/*
 * web_server.h: a web server on this machine, for tests. It answers one request per connection.
 * Requests for /m.safetensors and for paths that begin with /moved are answered by a function of
 * the test, which may break every rule of HTTP. The answer to all other requests is 404.
 */
#ifndef WB_TESTS_WEB_SERVER_H
#define WB_TESTS_WEB_SERVER_H

#include "support.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

typedef struct web_request {
    int fd;
    unsigned number; /* number of the request, counted from 0 */
    const char *text;
    bool has_range;
    uint64_t first, end; /* requested range of the file; `end` is the offset after its last byte */
    const unsigned char *file;
    size_t size;
} web_request;

typedef struct web_server {
    int listener;
    unsigned port;
    pthread_t thread;
    void (*answer)(const web_request *request);
    const unsigned char *file;
    size_t size;
    /* Results, to be read after web_stop: */
    unsigned requests; /* number of requests that `answer` got */
    bool saw_token;    /* one of the requests had the field Authorization */
} web_server;

static inline void web_send(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the client went away */
        at += sent;
        n -= (size_t)sent;
    }
}

/* Sends a header: the status, lines that each end with \r\n, and Connection: close. */
static inline void web_header(int fd, const char *status, const char *lines)
{
    char *text = text_of("HTTP/1.1 %s\r\n%sConnection: close\r\n\r\n", status, lines);
    web_send(fd, text, strlen(text));
    free(text);
}

/* Sends the header of a response with the bytes from `first` to before `end` of a file of `total`
 * bytes. The body, which the caller sends, has `length` bytes. Tests may pass wrong numbers. */
static inline void web_partial(const web_request *r, const char *etag, uint64_t first, uint64_t end,
                               uint64_t total, uint64_t length)
{
    char *lines = text_of("Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64
                          "\r\nContent-Length: %" PRIu64 "\r\nETag: %s\r\n",
                          first, end - 1, total, length, etag);
    web_header(r->fd, "206 Partial Content", lines);
    free(lines);
}

static inline void web_parse_range(web_request *r)
{
    const char *field = strcasestr(r->text, "\r\nrange: bytes=");
    r->first = 0;
    r->end = r->size;
    r->has_range =
        field != NULL && sscanf(field + 15, "%" SCNu64 "-%" SCNu64, &r->first, &r->end) == 2;
    if (r->has_range)
        r->end = r->end + 1 < r->size ? r->end + 1 : r->size;
}

static inline void web_serve(web_server *server, int fd)
{
    char text[16384];
    size_t n = 0;
    while (n + 1 < sizeof text) {
        ssize_t got = recv(fd, text + n, sizeof text - 1 - n, 0);
        if (got <= 0)
            return;
        n += (size_t)got;
        text[n] = '\0';
        if (strstr(text, "\r\n\r\n") != NULL)
            break;
    }
    if (strstr(text, "GET /m.safetensors ") == NULL && strstr(text, "GET /moved") == NULL) {
        web_header(fd, "404 Not Found", "Content-Length: 0\r\n"); /* a sidecar file */
        return;
    }
    web_request request = {.fd = fd,
                           .number = server->requests++,
                           .text = text,
                           .file = server->file,
                           .size = server->size};
    server->saw_token |= strcasestr(text, "\r\nauthorization:") != NULL;
    web_parse_range(&request);
    server->answer(&request);
}

static inline void *web_run(void *ctx)
{
    web_server *server = ctx;
    for (int fd; (fd = accept(server->listener, NULL, NULL)) >= 0;) {
        web_serve(server, fd);
        (void)shutdown(fd, SHUT_WR);
        close(fd);
    }
    return NULL;
}

static inline void web_start(web_server *server, void (*answer)(const web_request *request),
                             const void *file, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof address;
    *server = (web_server){.answer = answer, .file = file, .size = size};
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(server->listener >= 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server->listener, 64), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &n), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, web_run, server), 0);
}

static inline void web_stop(web_server *server)
{
    (void)shutdown(server->listener, SHUT_RDWR);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    close(server->listener);
}

#endif
