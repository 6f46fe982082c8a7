#define _DEFAULT_SOURCE /* for struct winsize */
#include "terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "exit.h"
#include "progress.h"

static bool has_colors, is_wide;
/* Atomic instead of volatile sig_atomic_t: worker threads read these variables while a handler
 * writes them.
 */
static atomic_int is_deferred, interrupted_by;

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
    if (is_deferred && interrupted_by == 0) {
        interrupted_by = signal_number;
        return;
    }
    progress_erase();
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
    progress_start(is_dumb);
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

void terminal_color(const char *when)
{
    if (strcmp(when, "always") == 0)
        has_colors = true;
    else if (strcmp(when, "never") == 0)
        has_colors = false;
}

unsigned terminal_width(int fd)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(fd))
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        return size.ws_col;
    unsigned long given = columns == NULL ? 0 : strtoul(columns, NULL, 10);
    return given > 0 && given < 10000 ? (unsigned)given : 80;
}

unsigned terminal_table_width(void)
{
    return is_wide ? 0 : terminal_width(STDOUT_FILENO);
}

void terminal_set_wide(void)
{
    is_wide = true;
}

const char *style(const char *name)
{
    return has_colors ? name : "";
}
