/*
 * Tests the restrictions of wb --sandbox. A child process enters the sandbox and attempts one
 * operation; it must end with the expected status. Children end with _exit, so that sanitizers do
 * not check for leaks, which is not possible in the sandbox.
 */
#include "support.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../cli/sandbox.c"

void report_line(const char *format, ...)
{
    (void)format;
}

#ifdef ARCHITECTURE

static char *scratch;
static char *file;

enum { FINE = 0, FORBIDDEN_TO_IT = 1, MISSING = 2, OTHER = 3, NO_SANDBOX = 4 };

/* Returns the exit status for the result of a call, which is -1 with errno if it failed. */
static int verdict(long result)
{
    return result >= 0       ? FINE
           : errno == EPERM  ? FORBIDDEN_TO_IT
           : errno == ENOSYS ? MISSING
                             : OTHER;
}

static int reads(void)
{
    char byte;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    return fd < 0 || pread(fd, &byte, 1, 0) != 1 ? OTHER : FINE;
}

static int maps(void)
{
    int fd = open(file, O_RDONLY);
    return mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? OTHER : FINE;
}

static int opens_to_write(void)
{
    return verdict(open(file, O_WRONLY));
}

static int creates(void)
{
    return verdict(openat(AT_FDCWD, "new", O_RDONLY | O_CREAT, 0600));
}

static int makes_a_folder(void)
{
    return verdict(mkdir("new", 0700));
}

static int removes(void)
{
    return verdict(unlink(file));
}

static int renames(void)
{
    return verdict(rename(file, "other"));
}

static int changes_mode(void)
{
    return verdict(chmod(file, 0777));
}

static int kills_another(void)
{
    return verdict(kill(getppid(), 0));
}

static int kills_itself(void)
{
    return verdict(kill(getpid(), 0));
}

static int prints_to_terminal(void)
{
    return verdict(ioctl(1, TIOCSTI, "x"));
}

static int starts_a_program(void)
{
    char *const arguments[] = {file, NULL};
    return verdict(execve(file, arguments, NULL));
}

static int forks(void)
{
    return verdict(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}

static int connects(void)
{
    return verdict(socket(AF_INET, SOCK_STREAM, 0));
}

typedef struct try_row {
    const char *name;
    int (*run)(void);
    int expected; /* exit status; -1: the process is killed */
} try_row;

static const try_row tries[] = {
    {"read", reads, FINE},
    {"map", maps, FINE},
    {"open to write", opens_to_write, FORBIDDEN_TO_IT},
    {"create", creates, FORBIDDEN_TO_IT},
    {"mkdir", makes_a_folder, MISSING},
    {"unlink", removes, MISSING},
    {"rename", renames, MISSING},
    {"chmod", changes_mode, MISSING},
    {"kill another", kills_another, FORBIDDEN_TO_IT},
    {"kill itself", kills_itself, FINE},
    {"type into the terminal", prints_to_terminal, FORBIDDEN_TO_IT},
    {"execve", starts_a_program, -1},
    {"fork", forks, -1},
    {"socket", connects, -1},
};

static void leaves_reading_alone(void **state)
{
    (void)state;
    scratch = scratch_make();
    file = text_of("%s/file", scratch);
    write_file(file, "#!/bin/true\n", 12);
    assert_int_equal(chmod(file, 0755), 0);
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(chdir(scratch) == 0 && sandbox_enter() == EXIT_CLEAN ? tries[i].run()
                                                                       : NO_SANDBOX);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        int got = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (got == NO_SANDBOX)
            break; /* seccomp is not available: an old kernel, a container, or valgrind */
        if (got != tries[i].expected || (got == -1 && WTERMSIG(status) != SIGSYS))
            fail_msg("%s: %d, expected %d\n", tries[i].name, got, tries[i].expected);
    }
    size_t n;
    unsigned char *bytes = read_file(file, &n);
    assert_int_equal(n, 12);
    free(bytes);
    free(file);
    scratch_remove(scratch);
}

#else

static void leaves_reading_alone(void **state)
{
    (void)state;
    assert_int_equal(sandbox_enter(), EXIT_UNSUPPORTED);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(leaves_reading_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
