#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "out.h"
#include "report.h"
#include "terminal.h"

#define BAR_CELLS 24
#define NAME_COLUMNS 30    /* maximum width of the file name */
#define FIRST_AFTER_MS 300 /* operations shorter than this show no line */
#define EVERY_MS 100
#define JSON_EVERY_MS 200
#define SMOOTH_MS 3000 /* the rate is averaged over about this time */

static bool has_line, in_json;
static atomic_int line_is_shown;

/* The operation in progress. started_ms is 0 before its first report. */
static struct {
    uint64_t started_ms, shown_ms;
    uint64_t done; /* bytes done at shown_ms */
    double rate;   /* bytes per millisecond */
} now;

void progress_start(bool is_dumb)
{
    has_line = isatty(STDERR_FILENO) && !is_dumb;
}

void progress_mode(const char *how)
{
    in_json = strcmp(how, "json") == 0;
    if (in_json || strcmp(how, "never") == 0)
        has_line = false;
}

static uint64_t clock_ms(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void write_error(const char *bytes, size_t n)
{
    ssize_t ignored = write(STDERR_FILENO, bytes, n);
    (void)ignored;
}

/* Updates the rate with the bytes since the last report. A later report counts more than an earlier
 * one.
 */
static void measure(uint64_t done, uint64_t ms)
{
    uint64_t since = now.shown_ms == 0 ? now.started_ms : now.shown_ms;
    double span = (double)(ms - since);
    double bytes = done > now.done ? (double)(done - now.done) : 0;
    double weight = now.rate <= 0 ? 1 : span / (span + SMOOTH_MS);
    if (span > 0)
        now.rate += weight * (bytes / span - now.rate);
    now.shown_ms = ms;
    now.done = done;
}

/* Returns the time left in seconds, or -1 if it is unknown. */
static double seconds_left(uint64_t done, uint64_t total)
{
    if (now.rate <= 0)
        return -1;
    return done < total ? (double)(total - done) / now.rate / 1000 : 0;
}

/* ---- the line on a terminal ---- */

static void add_time(text *t, double seconds)
{
    if (seconds < 0 || seconds > 359999) /* 99 hours */
        return;
    unsigned whole = (unsigned)(seconds + 0.5);
    if (whole >= 3600)
        text_addf(t, "  %u:%02u:%02u left", whole / 3600, whole / 60 % 60, whole % 60);
    else
        text_addf(t, "  %u:%02u left", whole / 60, whole % 60);
}

static void add_name(text *t, const char *what)
{
    const char *slash = strrchr(what, '/');
    const char *name = slash == NULL || slash[1] == '\0' ? what : slash + 1;
    text_adds(t, "  ");
    size_t from = t->len;
    text_add_shown(t, name, strlen(name));
    t->len = from + text_prefix(t->ptr + from, t->len - from, NAME_COLUMNS);
}

static void show_line(const char *what, uint64_t done, uint64_t total)
{
    unsigned width = terminal_width(STDERR_FILENO);
    double part = done > total ? 1 : (double)done / (double)total;
    unsigned filled = (unsigned)(part * BAR_CELLS);
    text line = {0};
    text_adds(&line, "[");
    for (unsigned i = 0; i < BAR_CELLS; i++)
        text_adds(&line, i < filled ? "#" : ".");
    text_addf(&line, "] %3u%%  ", (unsigned)(part * 100));
    text_add_size(&line, done);
    text_adds(&line, " of ");
    text_add_size(&line, total);
    text_adds(&line, "  ");
    text_add_size(&line, (uint64_t)(now.rate * 1000));
    text_adds(&line, "/s");
    add_time(&line, seconds_left(done, total));
    add_name(&line, what);
    line_is_shown = true;
    write_error("\r", 1);
    /* Truncates a line that would reach the last column, because the terminal would wrap it. */
    write_error(line.ptr, text_prefix(line.ptr, line.len, width == 0 ? SIZE_MAX : width - 1));
    write_error("\033[K", 3);
    text_free(&line);
}

void progress_erase(void)
{
    if (line_is_shown)
        write_error("\r\033[K", 4);
}

/* ---- JSON ---- */

static int collect(void *ctx, const char *bytes, size_t n)
{
    text_add(ctx, bytes, n);
    return 0;
}

static void show_json(const char *what, uint64_t done, uint64_t total)
{
    text line = {0};
    double left = seconds_left(done, total);
    wb_json json = {.size = sizeof json, .write = collect, .ctx = &line};
    wb_json_begin(&json, '{');
    json_text(&json, "event", "progress");
    json_text(&json, "path", what);
    json_number(&json, "done", done);
    json_number(&json, "total", total);
    json_number(&json, "bytes_per_second", (uint64_t)(now.rate * 1000));
    json_number(&json, "seconds", (now.shown_ms - now.started_ms) / 1000);
    wb_json_key(&json, "seconds_left", SIZE_MAX);
    if (left < 0)
        wb_json_null(&json);
    else
        wb_json_uint(&json, (uint64_t)(left + 0.5));
    wb_json_end(&json, '}');
    text_adds(&line, "\n");
    write_error(line.ptr, line.len);
    text_free(&line);
}

/* ---- reports ---- */

void progress_show(const char *what, uint64_t done, uint64_t total)
{
    if ((!has_line && !in_json) || total == 0)
        return;
    uint64_t ms = clock_ms();
    bool is_first = now.started_ms == 0;
    if (is_first) {
        now.started_ms = ms == 0 ? 1 : ms;
        now.done = done; /* a resumed conversion starts with the bytes of the earlier run */
    }
    bool is_last = in_json && done >= total && now.done < total;
    uint64_t every = in_json ? JSON_EVERY_MS : EVERY_MS;
    if (!is_last && !(is_first && in_json) &&
        ((!in_json && ms - now.started_ms < FIRST_AFTER_MS) || ms - now.shown_ms < every))
        return;
    measure(done, ms);
    if (in_json)
        show_json(what, done, total);
    else
        show_line(what, done, total);
}

void progress_clear(void)
{
    progress_erase();
    line_is_shown = false;
    now.started_ms = now.shown_ms = 0;
    now.rate = 0;
}

static int report_progress(void *ctx, uint64_t done, uint64_t total)
{
    progress_show(ctx, done, total);
    return 0;
}

wb_progress progress_of(const char *what)
{
    return (wb_progress){.ctx = (void *)(uintptr_t)what, .report = report_progress};
}
