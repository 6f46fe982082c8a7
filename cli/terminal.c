#define _POSIX_C_SOURCE 200809L
#include "terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exit.h"
#include "text.h"

#define BAR_CELLS 24
#define FIRST_AFTER_MS 300 /* operations shorter than this show no progress bar */
#define EVERY_MS 100

static bool has_colors;
static bool has_progress;
static uint64_t started_ms, shown_ms;
/* Atomic instead of volatile sig_atomic_t: worker threads read these variables while a handler
 * writes them.
 */
static atomic_int is_deferred, interrupted_by, bar_is_shown;

/* ---- SIGINT, SIGTERM and SIGHUP ---- */

/* Ends the process with the default action of the signal, so that the parent process sees which
 * signal ended it. In a signal handler, the signal takes effect when the handler returns.
 */
static void die_of(int signal_number)
{
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

static void on_interrupt(int signal_number)
{
    static const char clear[] = "\r\033[K";
    if (is_deferred && interrupted_by == 0) {
        interrupted_by = signal_number;
        return;
    }
    if (bar_is_shown) {
        ssize_t ignored = write(STDERR_FILENO, clear, sizeof clear - 1);
        (void)ignored;
    }
    if (signal_number == SIGINT)
        _exit(EXIT_INTERRUPTED);
    die_of(signal_number);
}

/* SIGTERM and SIGHUP keep their default action, except while the command has files to clean up. If
 * they were ignored at the start (nohup), they stay ignored.
 */
void interrupt_defer(bool defer)
{
    static const int others[] = {SIGTERM, SIGHUP};
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    (void)sigemptyset(&action.sa_mask);
    action.sa_handler = defer ? on_interrupt : SIG_DFL;
    is_deferred = defer;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (sigaction(others[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(others[i], &action, NULL);
    }
}

bool interrupted(void)
{
    return interrupted_by != 0;
}

int terminal_end(int code)
{
    if (code == EXIT_INTERRUPTED && interrupted_by != 0 && interrupted_by != SIGINT)
        die_of(interrupted_by);
    return code;
}

/* ---- SIGBUS ---- */

/* Access to a mapped file raises SIGBUS if another program truncates the file or the disk fails. */
static void on_fault(int signal_number)
{
    static const char said[] =
        "wb: a mapped file was shortened, or could not be read, while it was in use\n"
        "    Leave the file alone until the command ends, or read it without --io map.\n";
    (void)signal_number;
    ssize_t ignored = write(STDERR_FILENO, said, sizeof said - 1);
    (void)ignored;
    _exit(EXIT_IO);
}

/* ---- start ---- */

/* If descriptor 0, 1 or 2 is closed, the next opened file would get its number and receive printed
 * output. Fill each gap with /dev/null, opened so that its use fails.
 */
static void fill_descriptors(void)
{
    static const int refusing[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            /* open returns the lowest free descriptor, which is fd. */
            (void)open("/dev/null", refusing[fd]);
    }
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

void terminal_start(void)
{
    struct sigaction action, old;
    const char *term = getenv("TERM");
    bool is_dumb = term != NULL && strcmp(term, "dumb") == 0;
    fill_descriptors();
    has_colors = isatty(STDOUT_FILENO) && !is_dumb && !is_set("NO_COLOR");
    has_progress = isatty(STDERR_FILENO) && !is_dumb;
    memset(&action, 0, sizeof action);
    (void)sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
    /* Exceeding the file size limit becomes a write error (EFBIG). */
    (void)sigaction(SIGXFSZ, &action, NULL);
    action.sa_handler = on_fault;
    (void)sigaction(SIGBUS, &action, NULL);
    /* A shell ignores SIGINT in its background jobs; keep SIGINT ignored in that case. */
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
        action.sa_handler = on_interrupt;
        (void)sigaction(SIGINT, &action, NULL);
    }
}

const char *style(const char *name)
{
    return has_colors ? name : "";
}

/* ---- progress ---- */

static uint64_t now_ms(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void write_bar(const char *bytes, size_t n)
{
    ssize_t ignored = write(STDERR_FILENO, bytes, n);
    (void)ignored;
}

void progress_show(const char *what, uint64_t done, uint64_t total)
{
    if (!has_progress || total == 0)
        return;
    uint64_t now = now_ms();
    if (started_ms == 0)
        started_ms = now;
    if (now - started_ms < FIRST_AFTER_MS || now - shown_ms < EVERY_MS)
        return;
    shown_ms = now;
    double part = done > total ? 1 : (double)done / (double)total;
    unsigned filled = (unsigned)(part * BAR_CELLS);
    text line = {0};
    text_adds(&line, "\r[");
    for (unsigned i = 0; i < BAR_CELLS; i++)
        text_adds(&line, i < filled ? "#" : ".");
    text_addf(&line, "] %3u%%  ", (unsigned)(part * 100));
    text_add_size(&line, done);
    text_adds(&line, " of ");
    text_add_size(&line, total);
    text_adds(&line, "  ");
    const char *slash = strrchr(what, '/');
    const char *name = slash == NULL || slash[1] == '\0' ? what : slash + 1;
    text_add_shown(&line, name, strlen(name) < 30 ? strlen(name) : 30);
    text_adds(&line, "\033[K");
    bar_is_shown = true;
    write_bar(line.ptr, line.len);
    text_free(&line);
}

void progress_clear(void)
{
    if (bar_is_shown)
        write_bar("\r\033[K", 4);
    bar_is_shown = false;
    started_ms = 0;
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
