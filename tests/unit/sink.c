/* Tests io/sink.h: output must appear completely or not at all, and no signal may be raised. */
#define _GNU_SOURCE
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char folder[] = "/tmp/wb-sink-XXXXXX";

static const char *in(const char *name)
{
    static char path[2][256];
    static int turn;
    turn = !turn;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    (void)fclose(f);
}

static void expect(const char *path, const char *text)
{
    char got[64] = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(got, 1, sizeof got - 1, f);
    (void)fclose(f);
    assert_int_equal(n, strlen(text));
    assert_string_equal(got, text);
}

/* Checks that the directory contains exactly `count` files, and so no temporary files. */
static void expect_count(int count)
{
    char command[300];
    (void)snprintf(command, sizeof command, "test $(ls -A %s | wc -l) -eq %d", folder, count);
    assert_int_equal(system(command), 0);
}

static void empty_folder(void)
{
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf %s && mkdir %s", folder, folder);
    assert_int_equal(system(command), 0);
}

static wb_status write_file(const char *path, const char *text, uint64_t expected, wb_error *error)
{
    wb_sink *sink;
    wb_status status = wb_sink_open(path, expected, NULL, &sink, error);
    if (status != WB_OK) {
        assert_null(sink);
        return status;
    }
    status = wb_sink_write(sink, text, strlen(text), error);
    if (status != WB_OK) {
        /* Later writes and the commit must fail with the same error. */
        assert_int_equal(wb_sink_write(sink, "x", 1, NULL), status);
        assert_int_equal(wb_sink_commit(sink, NULL), status);
        return status;
    }
    return wb_sink_commit(sink, error);
}

static void creates_and_replaces(void **state)
{
    (void)state;
    wb_error error;
    empty_folder();
    assert_int_equal(write_file(in("a"), "new", 0, &error), WB_OK);
    expect(in("a"), "new");
    /* If fewer bytes are written than announced, the file must not occupy the announced space. */
    assert_int_equal(write_file(in("a"), "newer", 1 << 20, &error), WB_OK);
    expect(in("a"), "newer");
    struct stat st;
    assert_int_equal(stat(in("a"), &st), 0);
    assert_true(st.st_blocks <= 16);
    expect_count(1);
}

static void writes_at_offsets(void **state)
{
    (void)state;
    wb_sink *sink;
    wb_error error;
    int ends[2];
    empty_folder();
    put(in("a"), "older and longer");
    assert_int_equal(wb_sink_open(in("a"), 64, NULL, &sink, NULL), WB_OK);
    assert_int_equal(wb_sink_write_at(sink, 4, "ef", 2, NULL), WB_OK);
    assert_int_equal(wb_sink_write_at(sink, 0, "abcd", 4, NULL), WB_OK);
    assert_int_equal(wb_sink_commit(sink, NULL), WB_OK);
    expect(in("a"), "abcdef");
    assert_int_equal(wb_sink_open(in("a"), 0, NULL, &sink, NULL), WB_OK);
    assert_int_equal(wb_sink_write_at(sink, UINT64_MAX, "x", 1, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, EFBIG);
    assert_int_equal(wb_sink_write_at(sink, 0, "x", 1, NULL), WB_ERROR_IO); /* fails again */
    wb_sink_discard(sink);
    expect(in("a"), "abcdef");
    expect_count(1);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(wb_sink_open_fd(ends[1], "pipe", NULL, &sink, NULL), WB_OK);
    assert_int_equal(wb_sink_write_at(sink, 0, "x", 1, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, ESPIPE);
    wb_sink_discard(sink);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void discards(void **state)
{
    (void)state;
    wb_sink *sink;
    empty_folder();
    put(in("a"), "old");
    assert_int_equal(wb_sink_open(in("a"), 0, NULL, &sink, NULL), WB_OK);
    assert_int_equal(wb_sink_write(sink, "new", 3, NULL), WB_OK);
    expect(in("a"), "old");
    wb_sink_discard(sink);
    wb_sink_discard(NULL);
    expect(in("a"), "old");
    expect_count(1);
}

static void keeps_permissions(void **state)
{
    (void)state;
    struct stat st;
    empty_folder();
    put(in("a"), "old");
    assert_int_equal(chmod(in("a"), 0640), 0);
    assert_int_equal(write_file(in("a"), "new", 0, NULL), WB_OK);
    assert_int_equal(stat(in("a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    /* The new file must not have the setuid and setgid bits of the old file. */
    assert_int_equal(chmod(in("a"), 06755), 0);
    assert_int_equal(write_file(in("a"), "new", 0, NULL), WB_OK);
    assert_int_equal(stat(in("a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    mode_t mask = umask(027);
    assert_int_equal(write_file(in("b"), "new", 0, NULL), WB_OK);
    (void)umask(mask);
    assert_int_equal(stat(in("b"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

static void follows_links(void **state)
{
    (void)state;
    struct stat st;
    wb_error error;
    empty_folder();
    assert_int_equal(mkdir(in("sub"), 0777), 0);
    put(in("sub/target"), "old");
    assert_int_equal(symlink("sub/middle", in("link")), 0);
    assert_int_equal(symlink("target", in("sub/middle")), 0);
    assert_int_equal(write_file(in("link"), "new", 0, NULL), WB_OK);
    expect(in("sub/target"), "new");
    assert_int_equal(lstat(in("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    /* If the target of a link does not exist, writing must create it. */
    assert_int_equal(symlink(in("sub/none"), in("dangling")), 0);
    assert_int_equal(write_file(in("dangling"), "new", 0, NULL), WB_OK);
    expect(in("sub/none"), "new");
    assert_int_equal(symlink("loop", in("loop")), 0);
    assert_int_equal(write_file(in("loop"), "new", 0, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, ELOOP);
}

static void refuses(void **state)
{
    (void)state;
    wb_error error;
    empty_folder();
    assert_int_equal(write_file(folder, "new", 0, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, EISDIR);
    assert_int_equal(write_file(in("none/"), "new", 0, &error), WB_ERROR_IO);
    assert_int_equal(write_file(in("none/a"), "new", 0, &error), WB_ERROR_NOT_FOUND);
    assert_int_equal(error.os_error, ENOENT);
    assert_true(strstr(error.file, "none/a") != NULL);
    /* The announced size exceeds the maximum file size. */
    assert_int_equal(write_file(in("a"), "new", UINT64_MAX, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, EFBIG);
    if (geteuid() != 0) { /* root may write everywhere */
        put(in("read-only"), "old");
        assert_int_equal(chmod(in("read-only"), 0444), 0);
        assert_int_equal(write_file(in("read-only"), "new", 0, &error), WB_ERROR_IO);
        assert_int_equal(error.os_error, EACCES);
        expect_count(1);
    } else {
        expect_count(0);
    }
}

static void writes_devices_at_once(void **state)
{
    (void)state;
    wb_error error;
    assert_int_equal(write_file("/dev/null", "new", 0, NULL), WB_OK);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(write_file("/dev/full", "new", 0, &error), WB_ERROR_IO);
        assert_int_equal(error.os_error, ENOSPC);
    }
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

/* If SIGPIPE or SIGXFSZ were raised, it would end the test process. No signal may be pending
 * afterwards. */
static void raises_no_signal(void **state)
{
    (void)state;
    wb_error error;
    wb_sink *sink;
    int ends[2];
    sigset_t waiting;
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(wb_sink_open_fd(ends[1], "pipe", NULL, &sink, &error), WB_OK);
    assert_int_equal(wb_sink_write(sink, "x", 1, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, EPIPE);
    assert_string_equal(error.file, "pipe");
    wb_sink_discard(sink);
    assert_int_equal(close(ends[1]), 0); /* succeeds only if the sink has not closed it */

    empty_folder();
    put(in("a"), "old");
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {10, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    wb_status status = write_file(in("a"), "more than ten bytes", 0, &error);
    uint32_t os_error = error.os_error;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, WB_ERROR_IO);
    assert_int_equal(os_error, EFBIG);
    expect(in("a"), "old");
    expect_count(1);

    assert_int_equal(sigpending(&waiting), 0);
    assert_int_equal(sigismember(&waiting, SIGPIPE), 0);
    assert_int_equal(sigismember(&waiting, SIGXFSZ), 0);
}

/* If a non-blocking descriptor is full, writing must wait until it accepts more bytes. */
static void waits_for_a_full_pipe(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    static const char block[200000];
    pid_t reader = fork();
    if (reader == 0) {
        char bytes[4096];
        size_t total = 0;
        (void)close(ends[1]);
        (void)fcntl(ends[0], F_SETFL, 0);
        usleep(20000);
        for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
            total += (size_t)n;
        _exit(total == sizeof block ? 0 : 1);
    }
    (void)close(ends[0]);
    assert_int_equal(wb__write_all(ends[1], block, sizeof block), 0);
    (void)close(ends[1]);
    int result = -1;
    assert_int_equal(waitpid(reader, &result, 0), reader);
    assert_int_equal(result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creates_and_replaces),
        cmocka_unit_test(writes_at_offsets),
        cmocka_unit_test(discards),
        cmocka_unit_test(keeps_permissions),
        cmocka_unit_test(follows_links),
        cmocka_unit_test(refuses),
        cmocka_unit_test(writes_devices_at_once),
        cmocka_unit_test(raises_no_signal),
        cmocka_unit_test(waits_for_a_full_pipe),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed != 0 || system(command) != 0;
}
