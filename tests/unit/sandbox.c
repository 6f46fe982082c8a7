/*
 * Tests the restrictions of wb --sandbox: tries every way out. A child process enters the sandbox
 * and attempts one operation; it must end with the expected status. Children end with _exit, so
 * that sanitizers do not check for leaks, which is not possible in the sandbox.
 */
#include "support.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../cli/output.c"
#include "../../cli/sandbox.c"
#include "../../cli/sandbox_files.c"
#include "../../cli/text.c"

static bool is_unrestricted; /* the kernel has no Landlock, so all files are readable */

void report_line(const char *format, ...)
{
    is_unrestricted = is_unrestricted || strcmp(format, MSG_SANDBOX_ALL_READABLE) == 0 ||
                      strcmp(format, MSG_SANDBOX_ALL_WRITABLE) == 0;
}

_Noreturn void die_of_memory(void)
{
    abort();
}

#ifdef ARCHITECTURE

static char *scratch;
static char *file;  /* the model */
static char *other; /* another file, which must not be readable in the sandbox */

/* Further descriptors that the child has when it enters the sandbox: INHERITED is the file `other`,
 * NAMED is the model. Descriptors 0 and 1 are also `other`. */
enum { INHERITED = 9, NAMED = 10 };

enum {
    FINE = 0,
    FORBIDDEN_TO_IT = 1,
    MISSING = 2,
    CLOSED = 3,
    UNREADABLE = 4,
    OTHER = 5,
    NO_SANDBOX = 6,
    NO_LANDLOCK = 7
};

/* Returns the exit status for the result of a call, which is -1 with errno if it failed. */
static int verdict(long result)
{
    return result >= 0       ? FINE
           : errno == EPERM  ? FORBIDDEN_TO_IT
           : errno == ENOSYS ? MISSING
           : errno == EBADF  ? CLOSED
           : errno == EACCES ? UNREADABLE
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
    char *const words[] = {file, NULL};
    return verdict(execve(file, words, NULL));
}

static int forks(void)
{
    return verdict(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}

static int connects(void)
{
    return verdict(socket(AF_INET, SOCK_STREAM, 0));
}

/* ---- descriptors ---- */

static int uses_inherited(void)
{
    return verdict(write(INHERITED, "x", 1));
}

static int reads_named(void)
{
    char byte;
    return verdict(read(NAMED, &byte, 1));
}

static int writes_named(void)
{
    return verdict(pwrite(NAMED, "x", 1, 0));
}

static int writes_input(void)
{
    return verdict(write(STDIN_FILENO, "x", 1));
}

static int truncates_input(void)
{
    return verdict(ftruncate(STDIN_FILENO, 0));
}

static int writes_copy_of_input(void)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    return fd < 0 ? OTHER : verdict(write(fd, "x", 1));
}

static int truncates_output(void)
{
    return verdict(ftruncate(STDOUT_FILENO, 0));
}

static int overwrites_output(void)
{
    return verdict(pwrite(STDOUT_FILENO, "x", 1, 0));
}

static int copies_output(void)
{
    return verdict(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
}

static int copies_output_as_dup(void)
{
    return verdict(syscall(SYS_dup, STDOUT_FILENO));
}

static int stops_appending(void)
{
    return verdict(fcntl(STDOUT_FILENO, F_SETFL, 0));
}

static int reopens_output(void)
{
    return verdict(open("/proc/self/fd/1", O_RDWR));
}

static int sets_owner(void)
{
    return verdict(fcntl(STDIN_FILENO, F_SETOWN, getppid()));
}

static int sets_signal(void)
{
    return verdict(fcntl(STDIN_FILENO, F_SETSIG, SIGKILL));
}

static int uses_memory_file(void)
{
    int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd < 0 || ftruncate(fd, 1) != 0 || pwrite(fd, "x", 1, 0) != 1 ||
                   fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) != 0
               ? OTHER
               : FINE;
}

/* ---- memory and processes ---- */

static int maps_executable(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return verdict(at == MAP_FAILED ? -1 : 0);
}

static int maps_writable_executable(void)
{
    void *at =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return verdict(at == MAP_FAILED ? -1 : 0);
}

static int makes_executable(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? OTHER : verdict(mprotect(at, 4096, PROT_READ | PROT_EXEC));
}

static int limits_another(void)
{
    const struct rlimit none = {0, 0};
    return verdict(syscall(SYS_prlimit64, getppid(), RLIMIT_FSIZE, &none, NULL));
}

static int reads_own_limits(void)
{
    struct rlimit now;
    return verdict(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &now));
}

/* ---- other files ---- */

static int reads_other(void)
{
    return verdict(open(other, O_RDONLY));
}

static int reads_by_link(void)
{
    return verdict(open("link.json", O_RDONLY));
}

static int reads_beside(void)
{
    return verdict(open("config.json", O_RDONLY));
}

static int reads_hidden(void)
{
    return verdict(open(".secret.json", O_RDONLY));
}

static int reads_below(void)
{
    return verdict(open("below/config.json", O_RDONLY));
}

static int lists_root(void)
{
    return verdict(open("/", O_RDONLY | O_DIRECTORY));
}

static int reads_passwords(void)
{
    return verdict(open("/etc/passwd", O_RDONLY));
}

static int reads_own_memory(void)
{
    return verdict(open("/proc/self/mem", O_RDONLY));
}

static int reads_environment_of_another(void)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    return open(path, O_RDONLY) < 0 ? UNREADABLE : FINE;
}

/* ---- the output ---- */

/* In the tests of a command that writes, its output is out/new. */

static int creates_output(void)
{
    return verdict(open("out/new", O_RDWR | O_CREAT | O_EXCL, 0600));
}

static int creates_unnamed_output(void)
{
    char self[32];
    int fd = open("out", O_TMPFILE | O_RDWR, 0600);
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return fd < 0 ? OTHER : verdict(linkat(AT_FDCWD, self, AT_FDCWD, "out/new", AT_SYMLINK_FOLLOW));
}

static int replaces_output(void)
{
    int fd = open("out/temporary", O_RDWR | O_CREAT | O_EXCL, 0600);
    return fd < 0 || pwrite(fd, "x", 1, 0) != 1 || fallocate(fd, 0, 0, 4096) != 0 ||
                   ftruncate(fd, 1) != 0 || fsync(fd) != 0 || fchmod(fd, 0644) != 0
               ? OTHER
               : verdict(rename("out/temporary", "out/old"));
}

static int replaces_output_folder(void)
{
    return mkdir("out/temporary", 0777) != 0 || link("out/old", "out/temporary/old") != 0
               ? OTHER
               : verdict(rename("out/temporary", "out/new"));
}

static int removes_output(void)
{
    return verdict(unlink("out/old"));
}

static int creates_elsewhere(void)
{
    return verdict(open("new", O_RDWR | O_CREAT | O_EXCL, 0600));
}

static int creates_unnamed_elsewhere(void)
{
    return verdict(open(".", O_TMPFILE | O_RDWR, 0600));
}

static int truncates_elsewhere(void)
{
    return verdict(open(other, O_WRONLY | O_TRUNC));
}

static int truncates_by_reading(void)
{
    return verdict(open(file, O_RDONLY | O_TRUNC));
}

static int truncates_by_path(void)
{
    return verdict(truncate(file, 0));
}

/* Landlock reports EXDEV if it allows a rename or link in only one of the two directories. */
static int verdict_of_move(long result)
{
    return result < 0 && errno == EXDEV ? UNREADABLE : verdict(result);
}

static int moves_out(void)
{
    return verdict_of_move(rename("out/old", "new"));
}

static int moves_in(void)
{
    return verdict_of_move(rename(other, "out/new"));
}

static int links_out(void)
{
    return verdict_of_move(link("out/old", "new"));
}

static int links_in(void)
{
    return verdict_of_move(link(other, "out/new"));
}

static int exchanges(void)
{
    return verdict_of_move(renameat2(AT_FDCWD, "out/old", AT_FDCWD, other, RENAME_EXCHANGE));
}

static int makes_a_link(void)
{
    return verdict(symlink(other, "out/new"));
}

static int makes_a_pipe(void)
{
    return verdict(mkfifo("out/new", 0600));
}

static int removes_folder(void)
{
    return verdict(rmdir("below"));
}

static int sets_setuid(void)
{
    int fd = open("out/new", O_RDWR | O_CREAT | O_EXCL, 0600);
    return fd < 0 ? OTHER : verdict(fchmod(fd, 04755));
}

static int lets_others_write(void)
{
    int fd = open(file, O_RDONLY);
    return fd < 0 ? OTHER : verdict(fchmod(fd, 0666));
}

static int changes_mode_of_input(void)
{
    return verdict(fchmod(STDIN_FILENO, 0600));
}

static int changes_owner(void)
{
    int fd = open(file, O_RDONLY);
    return fd < 0 ? OTHER : verdict(fchown(fd, geteuid(), (gid_t)-1));
}

static int changes_times(void)
{
    int fd = open(file, O_RDONLY);
    return fd < 0 ? OTHER : verdict(futimens(fd, NULL));
}

static int copies_to_output(void)
{
    int fd = open(file, O_RDONLY);
    return fd < 0 ? OTHER : verdict(copy_file_range(fd, NULL, STDOUT_FILENO, NULL, 1, 0));
}

/* On x86-64, newer kernels exempt uretprobe and uprobe from every filter. These calls end a process
 * that is not being traced. */
static bool is_of_uprobes(long number)
{
#ifdef __x86_64__
    return number == 335 || number == 336;
#else
    return number < 0;
#endif
}

static bool writes; /* the command has an output */

/* Every system call that is not in the table `calls` must fail with ENOSYS, and so must all system
 * call numbers of the x32 ABI. */
static int makes_other_calls(void)
{
    static const long first[] = {0, 0x40000000};
    for (size_t abi = 0; abi < 2; abi++) {
        for (long number = 0; number < 1024; number++) {
            bool known = is_of_uprobes(number);
            for (size_t i = 0; i < CALLS; i++)
                known = known || (abi == 0 && calls[i].number == number);
            for (size_t i = 0; i < WRITING_CALLS && writes; i++)
                known = known || (abi == 0 && writing_calls[i].number == number);
            errno = 0;
            if (!known && (syscall(first[abi] + number, -1L, -1L, -1L, -1L, -1L, -1L) != -1 ||
                           errno != ENOSYS))
                return OTHER;
        }
    }
    return FINE;
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
    {"write to an inherited descriptor", uses_inherited, CLOSED},
    {"read a descriptor of the command line", reads_named, FINE},
    {"write to a descriptor of the command line", writes_named, CLOSED},
    {"write to standard input", writes_input, FORBIDDEN_TO_IT},
    {"truncate standard input", truncates_input, FORBIDDEN_TO_IT},
    {"write to a copy of standard input", writes_copy_of_input, CLOSED},
    {"truncate standard output", truncates_output, FORBIDDEN_TO_IT},
    {"overwrite standard output", overwrites_output, FORBIDDEN_TO_IT},
    {"copy standard output", copies_output, FORBIDDEN_TO_IT},
    {"copy standard output by dup", copies_output_as_dup, MISSING},
    {"stop appending", stops_appending, FORBIDDEN_TO_IT},
    {"open standard output again", reopens_output, FORBIDDEN_TO_IT},
    {"set the owner of a descriptor", sets_owner, FORBIDDEN_TO_IT},
    {"set the signal of a descriptor", sets_signal, FORBIDDEN_TO_IT},
    {"memory file", uses_memory_file, FINE},
    {"map executable memory", maps_executable, FORBIDDEN_TO_IT},
    {"map writable and executable memory", maps_writable_executable, FORBIDDEN_TO_IT},
    {"make memory executable", makes_executable, FORBIDDEN_TO_IT},
    {"limit another process", limits_another, FORBIDDEN_TO_IT},
    {"read own limits", reads_own_limits, FINE},
    {"read a file beside the model", reads_beside, FINE},
    {"read another file", reads_other, UNREADABLE},
    {"read another file by a link of the model", reads_by_link, UNREADABLE},
    {"read a hidden file", reads_hidden, UNREADABLE},
    {"read a file in a subfolder", reads_below, UNREADABLE},
    {"list the root folder", lists_root, UNREADABLE},
    {"read /etc/passwd", reads_passwords, UNREADABLE},
    {"read /proc/self/mem", reads_own_memory, UNREADABLE},
    {"read the environment of another process", reads_environment_of_another, UNREADABLE},
    {"all other system calls", makes_other_calls, FINE},
};

/* Attempts of a command that writes. All other attempts have the same results as for a command that
 * only reads. */
static const try_row writing_tries[] = {
    {"create the output", creates_output, FINE},
    {"create an output without a name", creates_unnamed_output, FINE},
    {"replace the output", replaces_output, FINE},
    {"replace the folder of the output", replaces_output_folder, FINE},
    {"remove the output", removes_output, FINE},
    {"open to write", opens_to_write, UNREADABLE},
    {"create", creates, FORBIDDEN_TO_IT},
    {"create elsewhere", creates_elsewhere, UNREADABLE},
    {"create elsewhere without a name", creates_unnamed_elsewhere, UNREADABLE},
    {"mkdir", makes_a_folder, UNREADABLE},
    {"unlink", removes, UNREADABLE},
    {"rmdir", removes_folder, UNREADABLE},
    {"rename", renames, UNREADABLE},
    {"move out", moves_out, UNREADABLE},
    {"move in", moves_in, UNREADABLE},
    {"link out", links_out, UNREADABLE},
    {"link in", links_in, UNREADABLE},
    {"exchange", exchanges, UNREADABLE},
    {"truncate a file", truncates_elsewhere, UNREADABLE},
    {"truncate a file that is opened to read", truncates_by_reading, FORBIDDEN_TO_IT},
    {"truncate a path", truncates_by_path, MISSING},
    {"symlink", makes_a_link, MISSING},
    {"mkfifo", makes_a_pipe, MISSING},
    {"chmod", changes_mode, MISSING},
    {"setuid", sets_setuid, FORBIDDEN_TO_IT},
    {"let other users write", lets_others_write, FORBIDDEN_TO_IT},
    {"change the mode of standard input", changes_mode_of_input, FORBIDDEN_TO_IT},
    {"change the owner", changes_owner, MISSING},
    {"change the times", changes_times, MISSING},
    {"copy to standard output in the kernel", copies_to_output, FORBIDDEN_TO_IT},
    {"open standard output again", reopens_output, UNREADABLE},
};

/* Gives the child its descriptors and enters the sandbox. The second operand is the descriptor
 * NAMED, or the output of a command that writes. */
static int enter(void)
{
    char named[32], output[] = "out/new";
    char *operands[] = {file, writes ? output : named};
    const arguments args = {
        .command = writes ? COMMAND_CONVERT : COMMAND_INSPECT, .operands = operands, .count = 2};
    int user = open(other, O_RDWR);
    (void)snprintf(named, sizeof named, "/dev/fd/%d", NAMED);
    if (chdir(scratch) != 0 || dup2(user, STDIN_FILENO) < 0 || dup2(user, STDOUT_FILENO) < 0 ||
        dup2(user, INHERITED) < 0 || dup2(open(file, O_RDWR), NAMED) < 0)
        return OTHER;
    return sandbox_enter(&args) == EXIT_CLEAN ? FINE : NO_SANDBOX;
}

/* Returns the exit status of a child that enters the sandbox and makes the attempt. */
static int attempt(const try_row *row)
{
    int result = enter();
    if (result == FINE)
        result = row->run();
    return row->expected == UNREADABLE && is_unrestricted ? NO_LANDLOCK : result;
}

/* Makes the attempt in a child. Returns false if there is no sandbox: in an old kernel, a
 * container, or valgrind. */
static bool run_try(const try_row *row)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(attempt(row));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    int got = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    bool expected = got == row->expected && (got != -1 || WTERMSIG(status) == SIGSYS);
    if (got != NO_SANDBOX && got != NO_LANDLOCK && !expected)
        fail_msg("%s: %d, expected %d\n", row->name, got, row->expected);
    return got != NO_SANDBOX;
}

static void write_contents(void)
{
    static const char *const contents[] = {"file",         "other",   "config.json",
                                           ".secret.json", "out/old", "below/config.json"};
    char *below = text_of("%s/below", scratch), *folder = text_of("%s/out", scratch);
    assert_int_equal(mkdir(below, 0700), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        char *path = text_of("%s/%s", scratch, contents[i]);
        write_file(path, "#!/bin/true\n", 12);
        free(path);
    }
    free(below);
    free(folder);
}

/* Runs the attempts `rows` in a new directory. Afterwards, the model and the other file must be
 * unchanged. */
static void run_tries(const try_row *rows, size_t count)
{
    scratch = scratch_make();
    write_contents();
    char *link = text_of("%s/link.json", scratch);
    file = text_of("%s/file", scratch);
    other = text_of("%s/other", scratch);
    assert_int_equal(symlink(other, link), 0);
    assert_int_equal(chmod(file, 0755), 0);
    for (size_t i = 0; i < count && run_try(&rows[i]); i++)
        continue;
    const char *const kept[] = {file, other};
    for (size_t i = 0; i < 2; i++) {
        size_t n;
        unsigned char *bytes = read_file(kept[i], &n);
        assert_int_equal(n, 12);
        free(bytes);
    }
    free(file);
    free(other);
    free(link);
    scratch_remove(scratch);
}

static void leaves_reading_alone(void **state)
{
    (void)state;
    writes = false;
    run_tries(tries, sizeof tries / sizeof tries[0]);
}

/* Returns true if the result of the attempt depends on whether the command reads or writes. */
static bool is_replaced(const try_row *row)
{
    for (size_t i = 0; i < sizeof writing_tries / sizeof writing_tries[0]; i++) {
        if (strcmp(writing_tries[i].name, row->name) == 0)
            return true;
    }
    return strstr(row->name, "of the command line") != NULL;
}

static void leaves_writing_to_the_output(void **state)
{
    (void)state;
    writes = true;
    for (size_t i = 0; i < sizeof writing_tries / sizeof writing_tries[0]; i++)
        run_tries(&writing_tries[i], 1);
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        if (!is_replaced(&tries[i]))
            run_tries(&tries[i], 1);
    }
}

#else

static void leaves_reading_alone(void **state)
{
    (void)state;
    const arguments none = {.count = 0};
    assert_int_equal(sandbox_enter(&none), EXIT_UNSUPPORTED);
}

#endif

int main(void)
{
    if (is_slow())
        return 77; /* valgrind makes system calls of its own, and reports the invalid calls of this test */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_reading_alone),
#ifdef ARCHITECTURE
        cmocka_unit_test(leaves_writing_to_the_output),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
