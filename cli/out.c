#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit.h"
#include "messages.h"
#include "report.h"

struct out {
    wb_sink *sink; /* NULL: standard output */
    const char *path;
    bool was_used;  /* a write was attempted */
    bool broken;    /* a write failed; later writes are ignored */
    int os_error;   /* errno of the failed write */
    wb_error error; /* error of the sink */
    size_t used;
    char buffer[1 << 16];
};

static out standard_output;

out *out_stdout(void)
{
    return &standard_output;
}

out *out_file(const char *path)
{
    out *o = need_memory(NULL, 1, sizeof *o);
    memset(o, 0, sizeof *o);
    o->path = path;
    if (wb_sink_open(path, 0, NULL, &o->sink, &o->error) != WB_OK) {
        report_error(path, &o->error);
        free(o);
        return NULL;
    }
    return o;
}

static void write_through(out *o, const char *bytes, size_t n)
{
    if (o->sink != NULL) {
        if (wb_sink_write(o->sink, bytes, n, &o->error) != WB_OK) {
            o->broken = true;
            o->os_error = (int)o->error.os_error;
        }
        return;
    }
    while (n > 0 && !o->broken) {
        ssize_t done = write(STDOUT_FILENO, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            o->broken = true;
            o->os_error = errno;
            return;
        }
        bytes += done;
        n -= (size_t)done;
    }
}

void out_flush(out *o)
{
    size_t n = o->used;
    o->used = 0;
    if (n > 0 && !o->broken)
        write_through(o, o->buffer, n);
}

void out_write(out *o, const char *bytes, size_t n)
{
    o->was_used = o->was_used || n > 0;
    if (n > sizeof o->buffer - o->used)
        out_flush(o);
    if (o->broken)
        return;
    if (n > sizeof o->buffer) {
        write_through(o, bytes, n);
    } else if (n > 0) {
        memcpy(o->buffer + o->used, bytes, n);
        o->used += n;
    }
}

void out_puts(out *o, const char *string)
{
    out_write(o, string, strlen(string));
}

void out_text(out *o, const text *t)
{
    out_write(o, t->ptr, t->len);
}

void out_content(out *o, const char *bytes, size_t n)
{
    if (o->sink != NULL || !isatty(STDOUT_FILENO)) {
        out_write(o, bytes, n);
        return;
    }
    text shown = {0};
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(bytes + at, '\n', n - at);
        size_t end = newline == NULL ? n : (size_t)(newline - bytes);
        text_add_shown(&shown, bytes + at, end - at);
        text_adds(&shown, newline == NULL ? "" : "\n");
        at = newline == NULL ? n : end + 1;
    }
    out_text(o, &shown);
    text_free(&shown);
}

void out_printf(out *o, const char *format, ...)
{
    char small[512];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small) {
        out_write(o, small, (size_t)n);
        return;
    }
    char *large = need_memory(NULL, (size_t)n + 1, 1);
    va_start(list, format);
    (void)vsnprintf(large, (size_t)n + 1, format, list);
    va_end(list);
    out_write(o, large, (size_t)n);
    free(large);
}

void out_pad(out *o, size_t spaces)
{
    static const char blank[] = "                                ";
    while (spaces > 0) {
        size_t n = spaces < sizeof blank - 1 ? spaces : sizeof blank - 1;
        out_write(o, blank, n);
        spaces -= n;
    }
}

static int write_json(void *ctx, const char *bytes, size_t n)
{
    out *o = ctx;
    out_write(o, bytes, n);
    return o->broken;
}

wb_json out_json(out *o)
{
    return (wb_json){.size = sizeof(wb_json), .write = write_json, .ctx = o};
}

void out_json_end(wb_json *json)
{
    out_write(json->ctx, "\n", 1);
    json->after_value = 0;
}

bool out_closed(const out *o)
{
    return o->broken;
}

bool out_was_used(const out *o)
{
    return o->was_used;
}

int out_finish(out *o, int code)
{
    out_flush(o);
    if (!o->broken || o->os_error == EPIPE)
        return code;
    report_line(MSG_STDOUT_WRITE, strerror(o->os_error));
    return EXIT_IO;
}

int out_commit(out *o, int code)
{
    out_flush(o);
    if (o->broken || code != EXIT_CLEAN)
        wb_sink_discard(o->sink);
    else if (wb_sink_commit(o->sink, &o->error) != WB_OK)
        o->broken = true;
    /* EPIPE: the reader closed the pipe, which is not an error. */
    if (o->broken && o->error.os_error != EPIPE) {
        report_error(o->path, &o->error);
        code = EXIT_IO;
    }
    free(o);
    return code;
}
