/* System call filter for Linux (seccomp(2)): an allow list of the calls that reading needs, and of
 * those that writing needs if the command has an output. Calls that only an attacker would make end
 * the process. All other calls fail with ENOSYS. A C library that prefers newer calls (clone3,
 * openat2) then falls back to older calls, whose arguments a filter can inspect.
 *
 * The filter compares the system call number with each entry, and applies the rule of the entry:
 *
 *     if number == N:  [load an argument; compare it]  return verdict
 */
#define _GNU_SOURCE /* for CLONE_THREAD, O_TMPFILE */
#include "sandbox.h"

#include <errno.h>
#include <string.h>

#include "exit.h"
#include "messages.h"
#include "report.h"

#if defined(__linux__) && defined(__x86_64__) && defined(__LP64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__linux__) && defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum rule {
    ALLOW,
    END,         /* ends the process */
    READING,     /* allowed if the open flags (argument 1 or 2) do not request write access */
    WRITING,     /* allowed unless the open flags request truncation or creation without write
                  * access: Landlock before Linux 6.2 does not restrict this combination */
    PERMISSIONS, /* allowed for descriptors that this process has opened, if the mode (argument 1)
                  * does not let other users write, and has no setuid and setgid bits */
    THREAD,      /* allowed if the call creates a thread, not a process */
    OURSELF,     /* allowed if argument 0 is the ID of this process */
    CALLER,      /* allowed if argument 0 is 0, which means this process */
    PASSIVE,     /* allowed if the protection (argument 2) does not make memory executable */
    OUTPUT,      /* allowed for all descriptors (argument 0) but standard input */
    OWN_FILE,    /* allowed for descriptors (argument 0 or 2) that this process has opened */
    CONTROL,     /* allowed for some commands of fcntl */
    TERMINAL,    /* allowed for requests that read terminal settings and window size */
} rule;

typedef struct call {
    int number;
    rule rule;
    unsigned argument;
} call;

/* Allowed commands of fcntl: they change nothing outside the process. F_DUPFD_CLOEXEC is allowed
 * only for standard input, which the library duplicates (emit_controls). The rules compare
 * descriptor numbers, which a duplicate of another descriptor would evade.
 */
static const uint32_t controls[] = {F_GETFD, F_SETFD, F_GETFL, F_ADD_SEALS, F_GET_SEALS};
enum { CONTROLS = sizeof controls / sizeof controls[0] };

static const call calls[] = {
    /* files */
    {SYS_openat, READING, 2},
#ifdef SYS_open
    {SYS_open, READING, 1},
    {SYS_access, ALLOW, 0},
    {SYS_stat, ALLOW, 0},
    {SYS_lstat, ALLOW, 0},
    {SYS_readlink, ALLOW, 0},
#endif
    {SYS_close, ALLOW, 0},
    {SYS_read, ALLOW, 0},
    {SYS_readv, ALLOW, 0},
    {SYS_pread64, ALLOW, 0},
    {SYS_preadv, ALLOW, 0},
    {SYS_lseek, ALLOW, 0},
    {SYS_fstat, ALLOW, 0},
    {SYS_newfstatat, ALLOW, 0},
    {SYS_statx, ALLOW, 0},
    {SYS_fstatfs, ALLOW, 0},
    {SYS_faccessat, ALLOW, 0},
    {SYS_readlinkat, ALLOW, 0},
    {SYS_getdents64, ALLOW, 0},
    {SYS_getcwd, ALLOW, 0},
    {SYS_fcntl, CONTROL, 1},
    {SYS_fadvise64, ALLOW, 0},
    /* writing to open descriptors, and to memory (memfd) into which a pipe is copied */
    {SYS_write, OUTPUT, 0},
    {SYS_writev, OUTPUT, 0},
    {SYS_pwrite64, OWN_FILE, 0},
    {SYS_memfd_create, ALLOW, 0},
    {SYS_ftruncate, OWN_FILE, 0},
    {SYS_ioctl, TERMINAL, 1},
    {SYS_ppoll, ALLOW, 0},
#ifdef SYS_poll
    {SYS_poll, ALLOW, 0},
#endif
    /* memory */
    {SYS_brk, ALLOW, 0},
    {SYS_mmap, PASSIVE, 2},
    {SYS_munmap, ALLOW, 0},
    {SYS_mremap, ALLOW, 0},
    {SYS_mprotect, PASSIVE, 2},
    {SYS_madvise, ALLOW, 0},
    {SYS_mincore, ALLOW, 0},
    /* threads, time, signals, exit */
    {SYS_clone, THREAD, 0},
    {SYS_futex, ALLOW, 0},
    {SYS_set_robust_list, ALLOW, 0},
    {SYS_rseq, ALLOW, 0},
    {SYS_set_tid_address, ALLOW, 0},
    {SYS_sched_yield, ALLOW, 0},
    {SYS_sched_getaffinity, ALLOW, 0},
    {SYS_getpid, ALLOW, 0},
    {SYS_gettid, ALLOW, 0},
    {SYS_getrandom, ALLOW, 0},
    {SYS_prlimit64, CALLER, 0},
    {SYS_getrusage, ALLOW, 0},
    {SYS_sysinfo, ALLOW, 0},
    {SYS_uname, ALLOW, 0},
    {SYS_clock_gettime, ALLOW, 0},
    {SYS_clock_nanosleep, ALLOW, 0},
    {SYS_gettimeofday, ALLOW, 0},
    {SYS_rt_sigaction, ALLOW, 0},
    {SYS_rt_sigprocmask, ALLOW, 0},
    {SYS_rt_sigreturn, ALLOW, 0},
    {SYS_sigaltstack, ALLOW, 0},
    {SYS_restart_syscall, ALLOW, 0},
    {SYS_tgkill, OURSELF, 0},
    {SYS_kill, OURSELF, 0},
    {SYS_exit, ALLOW, 0},
    {SYS_exit_group, ALLOW, 0},
    /* reading a model never needs these calls, so they end the process */
    {SYS_execve, END, 0},
    {SYS_execveat, END, 0},
    {SYS_socket, END, 0},
    {SYS_connect, END, 0},
    {SYS_ptrace, END, 0},
    {SYS_process_vm_writev, END, 0},
    {SYS_bpf, END, 0},
    {SYS_mount, END, 0},
    {SYS_setuid, END, 0},
#ifdef SYS_fork
    {SYS_fork, END, 0},
    {SYS_vfork, END, 0},
#endif
};

/* Further calls of commands that have an output. The rules of these calls replace those in `calls`.
 * Landlock restricts the paths to the folder of the output.
 */
static const call writing_calls[] = {
    {SYS_openat, WRITING, 2},
    {SYS_mkdirat, ALLOW, 0},
    {SYS_unlinkat, ALLOW, 0},
    {SYS_linkat, ALLOW, 0},
    {SYS_renameat2, ALLOW, 0},
#ifdef SYS_renameat
    {SYS_renameat, ALLOW, 0},
#endif
#ifdef SYS_open
    {SYS_open, WRITING, 1},
    {SYS_mkdir, ALLOW, 0},
    {SYS_rmdir, ALLOW, 0},
    {SYS_unlink, ALLOW, 0},
    {SYS_link, ALLOW, 0},
    {SYS_rename, ALLOW, 0},
#endif
    {SYS_fchmod, PERMISSIONS, 0},
    {SYS_fallocate, OWN_FILE, 0},
    {SYS_copy_file_range, OWN_FILE, 2},
    {SYS_fsync, ALLOW, 0},
    {SYS_fdatasync, ALLOW, 0},
    {SYS_sync_file_range, ALLOW, 0},
    {SYS_flock, ALLOW, 0},
    {SYS_statfs, ALLOW, 0},
    {SYS_geteuid, ALLOW, 0},
    /* for discarding a signal that a failed write has raised (SIGPIPE, SIGXFSZ) */
    {SYS_rt_sigpending, ALLOW, 0},
    {SYS_rt_sigtimedwait, ALLOW, 0},
};

enum {
    CALLS = sizeof calls / sizeof calls[0],
    WRITING_CALLS = sizeof writing_calls / sizeof writing_calls[0],
    PER_CALL = 7,
    AROUND = 8 + 2 * CONTROLS
};

typedef struct filter {
    struct sock_filter code[(CALLS + WRITING_CALLS) * PER_CALL + AROUND];
    unsigned short n;
} filter;

static void emit(filter *f, unsigned short code, unsigned char if_true, unsigned char if_false,
                 uint32_t k)
{
    f->code[f->n++] = (struct sock_filter){code, if_true, if_false, k};
}

static void emit_return(filter *f, uint32_t verdict)
{
    emit(f, BPF_RET | BPF_K, 0, 0, verdict);
}

/* Emits a comparison: the filter returns `yes` if it holds and `no` otherwise. */
static void emit_choice(filter *f, unsigned short comparison, uint32_t with, uint32_t yes,
                        uint32_t no)
{
    emit(f, BPF_JMP | comparison | BPF_K, 0, 1, with);
    emit_return(f, yes);
    emit_return(f, no);
}

/* Emits a load of the lower 32 bits of an argument. Flags, process IDs and request numbers fit in
 * 32 bits.
 */
static void emit_argument(filter *f, unsigned argument)
{
    size_t at = offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    at += sizeof(uint32_t);
#endif
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)at);
}

#define FORBIDDEN (SECCOMP_RET_ERRNO | EPERM)

/* Emits the rule for fcntl: the commands in `controls` are allowed for all descriptors,
 * F_DUPFD_CLOEXEC only for standard input. */
static void emit_controls(filter *f, const call *c)
{
    emit_argument(f, c->argument);
    for (size_t i = 0; i < CONTROLS; i++) {
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, controls[i]);
        emit_return(f, SECCOMP_RET_ALLOW);
    }
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, F_DUPFD_CLOEXEC);
    emit_return(f, FORBIDDEN);
    emit_argument(f, 0);
    emit_choice(f, BPF_JEQ, STDIN_FILENO, SECCOMP_RET_ALLOW, FORBIDDEN);
}

static void emit_rule(filter *f, const call *c)
{
    switch (c->rule) {
    case ALLOW: emit_return(f, SECCOMP_RET_ALLOW); return;
    case END: emit_return(f, SECCOMP_RET_KILL_PROCESS); return;
    case READING:
        emit_argument(f, c->argument);
        emit_choice(f, BPF_JSET, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND, FORBIDDEN,
                    SECCOMP_RET_ALLOW);
        return;
    case WRITING:
        emit_argument(f, c->argument);
        emit(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, O_WRONLY | O_RDWR);
        emit_return(f, SECCOMP_RET_ALLOW);
        emit_choice(f, BPF_JSET, O_CREAT | O_TRUNC, FORBIDDEN, SECCOMP_RET_ALLOW);
        return;
    case PERMISSIONS:
        emit_argument(f, 1);
        emit(f, BPF_JMP | BPF_JSET | BPF_K, 2, 0, ~(uint32_t)0755);
        emit_argument(f, 0);
        emit(f, BPF_JMP | BPF_JGT | BPF_K, 1, 0, STDERR_FILENO);
        emit_return(f, FORBIDDEN);
        emit_return(f, SECCOMP_RET_ALLOW);
        return;
    case THREAD:
        emit_argument(f, c->argument);
        emit_choice(f, BPF_JSET, CLONE_THREAD, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
        return;
    case OURSELF:
        emit_argument(f, c->argument);
        emit_choice(f, BPF_JEQ, (uint32_t)getpid(), SECCOMP_RET_ALLOW, FORBIDDEN);
        return;
    case CALLER:
        emit_argument(f, c->argument);
        emit_choice(f, BPF_JEQ, 0, SECCOMP_RET_ALLOW, FORBIDDEN);
        return;
    case PASSIVE:
        emit_argument(f, c->argument);
        emit_choice(f, BPF_JSET, PROT_EXEC, FORBIDDEN, SECCOMP_RET_ALLOW);
        return;
    case OUTPUT:
        emit_argument(f, c->argument);
        emit_choice(f, BPF_JEQ, STDIN_FILENO, FORBIDDEN, SECCOMP_RET_ALLOW);
        return;
    case OWN_FILE:
        emit_argument(f, c->argument);
        emit_choice(f, BPF_JGT, STDERR_FILENO, SECCOMP_RET_ALLOW, FORBIDDEN);
        return;
    case CONTROL: emit_controls(f, c); return;
    case TERMINAL:
        emit_argument(f, c->argument);
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, TCGETS); /* if equal, skip the next comparison */
        emit_choice(f, BPF_JEQ, TIOCGWINSZ, SECCOMP_RET_ALLOW, FORBIDDEN);
        return;
    }
}

static void emit_calls(filter *f, const call *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned short comparison = f->n;
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)list[i].number);
        emit_rule(f, &list[i]);
        f->code[comparison].jf = (unsigned char)(f->n - comparison - 1);
    }
}

static void make(filter *f, bool writes)
{
    f->n = 0;
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
    emit_return(f, SECCOMP_RET_KILL_PROCESS);
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
    if (writes)
        emit_calls(f, writing_calls, WRITING_CALLS);
    emit_calls(f, calls, CALLS);
    emit_return(f, SECCOMP_RET_ERRNO | ENOSYS);
}

/* Loads the libraries that libweighbridge otherwise loads on first use. The sandbox would prevent
 * that, because it permits no new executable memory.
 */
static void load_libraries(void)
{
    static const char *const names[] = {"libz.so.1", "libcrypto.so.3", "libcrypto.so.1.1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
}

int sandbox_enter(const arguments *args)
{
    filter f;
    bool writes = sandbox_output(args) != NULL;
    make(&f, writes);
    const struct sock_fprog program = {f.n, f.code};
    load_libraries();
    sandbox_close_descriptors(args);
    bool is_locked = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    int os_error = is_locked ? sandbox_restrict_files(args) : 0;
    if (os_error != 0)
        report_line(writes ? MSG_SANDBOX_ALL_WRITABLE : MSG_SANDBOX_ALL_READABLE,
                    strerror(os_error));
    if (is_locked && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
        return EXIT_CLEAN;
    report_line(MSG_SANDBOX_UNAVAILABLE, strerror(errno));
    return EXIT_UNSUPPORTED;
}

#else

int sandbox_enter(const arguments *args)
{
    (void)args;
    report_line(MSG_SANDBOX_PLATFORM);
    return EXIT_UNSUPPORTED;
}

#endif
