/*
 * Tests all sources of data: files in every access mode, descriptors, streams, memory, and sources
 * of the caller. Also tests paths that are not regular files, and files that change while a model
 * is open.
 */
#include "support.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

static char *folder;

static const char header[] =
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[100],\"data_offsets\":[0,100]},"
    "\"b\":{\"dtype\":\"U8\",\"shape\":[9900],\"data_offsets\":[100,10000]},"
    "\"empty\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[10000,10000]}}";
#define DATA 10000
#define DATA_AT (8 + sizeof header - 1)

static char *make_file(const char *name)
{
    char *path = text_of("%s/%s", folder, name);
    st_write(path, header, DATA);
    return path;
}

static wb_model *open_ok(const char *path, wb_access access)
{
    wb_open_options options = {.size = sizeof options, .access = access};
    wb_model *model;
    wb_error error;
    if (wb_open(path, &options, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    return model;
}

/* Checks that the first two tensors have the bytes written by st_write. */
static void check_bytes(const wb_model *model)
{
    unsigned char bytes[9900];
    assert_int_equal(wb_tensor_count(model), 3);
    assert_int_equal(wb_tensor_read(model, 0, NULL, -1, bytes, 100, NULL), WB_OK);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(bytes[i], i);
    assert_int_equal(wb_tensor_read(model, 1, NULL, -1, bytes, 9900, NULL), WB_OK);
    for (unsigned i = 0; i < 9900; i++)
        assert_int_equal(bytes[i], (i + 100) % 256);
}

static void in_each_mode(void **state)
{
    (void)state;
    char *path = make_file("modes.safetensors");
    for (int access = WB_ACCESS_MAP; access <= WB_ACCESS_SNAPSHOT; access++) {
        wb_model *model = open_ok(path, (wb_access)access);
        const void *bytes;
        wb_error error;
        wb_file file = {.size = sizeof file};
        check_bytes(model);
        wb_status status = wb_tensor_data(model, 0, &bytes, &error);
        if (access == WB_ACCESS_READ) {
            assert_int_equal(status, WB_ERROR_UNSUPPORTED);
            assert_null(bytes);
        } else {
            assert_int_equal(status, WB_OK);
            assert_int_equal(((const unsigned char *)bytes)[99], 99);
            /* The model must own the addresses of the bytes of the file, and no others. */
            const unsigned char *start = (const unsigned char *)bytes - DATA_AT;
            assert_true(wb_owns_address(model, start));
            assert_true(wb_owns_address(model, start + DATA_AT + DATA - 1));
            assert_false(wb_owns_address(model, start - 1));
            assert_false(wb_owns_address(model, start + DATA_AT + DATA));
            assert_int_equal(wb_tensor_data(model, 2, &bytes, &error), WB_OK);
            assert_non_null(bytes); /* not NULL, although the tensor is empty */
        }
        assert_false(wb_owns_address(model, &model));
        assert_false(wb_owns_address(model, NULL));
        assert_int_equal(wb_model_check(model, NULL), WB_OK);
        assert_int_equal(wb_file_count(model), 1);
        assert_int_equal(wb_file_at(model, 0, &file, NULL), WB_OK);
        assert_string_equal(file.path, path);
        assert_string_equal(file.format, "safetensors");
        assert_string_equal(wb_format(model), "safetensors");
        assert_int_equal(file.bytes, DATA_AT + DATA);
        assert_int_equal(file.data_offset, DATA_AT);
        assert_int_equal(file.tensors, 3);
        assert_int_equal(wb_file_at(model, 1, &file, NULL), WB_ERROR_NOT_FOUND);
        assert_null(file.path);
        wb_close(model);
    }
    free(path);
}

/* With WB_OPEN_COPY_ON_WRITE the caller may change mapped bytes; the file stays unchanged. */
static void copies_on_write(void **state)
{
    (void)state;
    char *path = make_file("writable.safetensors");
    for (int access = WB_ACCESS_MAP; access <= WB_ACCESS_SNAPSHOT; access++) {
        wb_open_options options = {
            .size = sizeof options, .access = (wb_access)access, .flags = WB_OPEN_COPY_ON_WRITE};
        wb_model *model;
        const void *bytes;
        assert_int_equal(wb_open(path, &options, &model, NULL), WB_OK);
        if (access == WB_ACCESS_READ) {
            assert_int_equal(wb_tensor_data(model, 1, &bytes, NULL), WB_ERROR_UNSUPPORTED);
        } else {
            assert_int_equal(wb_tensor_data(model, 1, &bytes, NULL), WB_OK);
            memset((void *)(uintptr_t)bytes, 7, 9900);
            assert_int_equal(wb_model_check(model, NULL), WB_OK);
        }
        wb_close(model);
        model = open_ok(path, WB_ACCESS_MAP);
        check_bytes(model);
        wb_close(model);
    }
    free(path);
}

/* ---- descriptors ---- */

static void from_a_descriptor(void **state)
{
    (void)state;
    char *path = make_file("fd.safetensors");
    int fd = open(path, O_RDONLY);
    wb_model *model;
    assert_true(fd >= 0);
    assert_int_equal(lseek(fd, 77, SEEK_SET), 77); /* the file position must not matter */
    assert_int_equal(wb_open_fd(fd, "label", NULL, &model, NULL), WB_OK);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 77); /* opening must not change the file position */
    assert_int_equal(close(fd), 0);               /* the model must have its own descriptor */
    check_bytes(model);
    wb_file file = {.size = sizeof file};
    assert_int_equal(wb_file_at(model, 0, &file, NULL), WB_OK);
    assert_string_equal(file.path, "label");
    assert_int_equal(wb_model_check(model, NULL), WB_OK);
    wb_close(model);

    wb_error error;
    fd = open(folder, O_RDONLY);
    assert_int_equal(wb_open_fd(fd, "folder", NULL, &model, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(close(fd), 0);
    assert_int_equal(wb_open_fd(-1, "none", NULL, &model, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, EBADF);
    assert_string_equal(error.file, "none");
    free(path);
}

/* Writes the file into a pipe in pieces, from a child process. */
static pid_t feed(const char *path, int ends[2])
{
    size_t n;
    unsigned char *bytes = read_file(path, &n);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        for (size_t at = 0, piece = 1; at < n; at += piece, piece = piece * 3 + 1) {
            if (write(ends[1], bytes + at, piece < n - at ? piece : n - at) < 0)
                _exit(1);
        }
        _exit(0);
    }
    free(bytes);
    (void)close(ends[1]);
    return child;
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *list = opendir("/proc/self/fd");
    assert_non_null(list);
    while (readdir(list) != NULL)
        n++;
    (void)closedir(list);
    return n;
}

static void from_a_stream(void **state)
{
    (void)state;
    static const uint64_t in_memory[] = {
        0, 1, 5000, 1 << 20}; /* bytes of a stream that are buffered in memory, the rest on disk */
    static const wb_access access[] = {WB_ACCESS_MAP, WB_ACCESS_READ, WB_ACCESS_SNAPSHOT};
    char *path = make_file("stream.safetensors");
    size_t before = open_descriptors();
    for (size_t i = 0; i < 12; i++) {
        wb_limits limits;
        wb_limits_default(&limits);
        limits.spool_memory = in_memory[i % 4];
        wb_open_options options = {
            .size = sizeof options, .access = access[i / 4], .limits = &limits};
        int ends[2];
        wb_model *model;
        wb_error error;
        pid_t child = feed(path, ends);
        if (wb_open_fd(ends[0], "-", &options, &model, &error) != WB_OK)
            fail_msg("%s\n", error.message);
        (void)close(ends[0]);
        assert_int_equal(waitpid(child, NULL, 0), child);
        check_bytes(model);
        assert_int_equal(wb_model_check(model, NULL), WB_OK);
        wb_close(model);
    }
    assert_int_equal(open_descriptors(), before);
    free(path);
}

/* Programs that the application starts must not inherit the descriptors of a model. */
static void closes_on_exec(void **state)
{
    (void)state;
    char *path = make_file("exec.safetensors");
    size_t before = open_descriptors();
    int ends[2];
    wb_model *models[3], *last;
    models[0] = open_ok(path, WB_ACCESS_MAP);
    models[1] = open_ok(path, WB_ACCESS_SNAPSHOT);
    int own = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(wb_open_fd(own, "x", NULL, &models[2], NULL), WB_OK);
    assert_int_equal(close(own), 0);
    pid_t child = feed(path, ends);
    assert_int_equal(wb_open_fd(ends[0], "-", NULL, &last, NULL), WB_OK);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(open_descriptors() >= before + 4);
    for (int fd = 3; fd < 64; fd++) {
        struct stat st;
        char *name = text_of("/proc/self/fd/%d", fd);
        char target[300] = "";
        if (readlink(name, target, sizeof target - 1) > 0 && fstat(fd, &st) == 0 &&
            (strstr(target, "exec.safetensors") != NULL ||
             strstr(target, "memfd:weighbridge") != NULL))
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        free(name);
    }
    for (int i = 0; i < 3; i++)
        wb_close(models[i]);
    wb_close(last);
    assert_int_equal(open_descriptors(), before);
    free(path);
}

/* ---- paths that are not regular files ---- */

static void refuses(const char *path, wb_status status, const char *code)
{
    wb_model *model;
    wb_error error;
    wb_findings *findings;
    assert_int_equal(wb_open(path, NULL, &model, &error), status);
    assert_null(model);
    if (strcmp(error.code, code) != 0)
        fail_msg("%s: %s, expected %s\n", path, error.code, code);
    assert_string_equal(error.file, path);
    if (status == WB_ERROR_FORMAT) {
        assert_int_equal(wb_verify(path, NULL, &findings, NULL), WB_OK);
        assert_int_equal(wb_findings_verdict(findings), 2);
        wb_findings_free(findings);
    } else {
        assert_int_equal(wb_verify(path, NULL, &findings, NULL), status);
        assert_null(findings);
    }
}

static void what_is_no_file(void **state)
{
    (void)state;
    char *fifo = text_of("%s/fifo.safetensors", folder);
    char *named = text_of("%s/socket.safetensors", folder);
    char *none = text_of("%s/none.safetensors", folder);
    char *below = text_of("%s/fifo.safetensors/x", folder);
    char *locked = make_file("locked.safetensors");
    char *loop = text_of("%s/loop.safetensors", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    refuses(fifo, WB_ERROR_FORMAT, "not-a-regular-file"); /* must not wait for a writer */
    refuses("/dev/null", WB_ERROR_FORMAT, "not-a-regular-file");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(named) < sizeof address.sun_path) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        strcpy(address.sun_path, named);
        assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
        refuses(named, WB_ERROR_IO, "io"); /* open fails */
        (void)close(fd);
    }
    refuses(none, WB_ERROR_NOT_FOUND, "not-found");
    refuses(below, WB_ERROR_NOT_FOUND, "not-found");
    refuses("", WB_ERROR_NOT_FOUND, "not-found");
    assert_int_equal(symlink(loop, loop), 0);
    refuses(loop, WB_ERROR_IO, "io");
    if (geteuid() != 0) { /* root may read the file, whatever its mode */
        assert_int_equal(chmod(locked, 0), 0);
        refuses(locked, WB_ERROR_IO, "io");
    }
    free(fifo);
    free(named);
    free(none);
    free(below);
    free(locked);
    free(loop);
}

/* ---- files that change ---- */

static void check_changed(const wb_model *model, const char *path, const char *what)
{
    wb_error error;
    assert_int_equal(wb_model_check(model, &error), WB_ERROR_CHANGED);
    assert_string_equal(error.code, "file-changed");
    assert_string_equal(error.file, path);
    if (strstr(error.message, what) == NULL)
        fail_msg("%s; expected: %s\n", error.message, what);
}

static void shrinks(const char *path)
{
    assert_int_equal(truncate(path, DATA_AT + 150), 0);
}

static void grows(const char *path)
{
    assert_int_equal(truncate(path, DATA_AT + DATA + 1), 0);
}

static void is_touched(const char *path)
{
    struct timespec times[2] = {{1, 0}, {1, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void is_removed(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static void is_replaced(const char *path)
{
    char *other = make_file("other.safetensors");
    assert_int_equal(rename(other, path), 0);
    free(other);
}

static void notices_changes(void **state)
{
    (void)state;
    static const struct {
        void (*change)(const char *path);
        const char *what;
    } rows[] = {{shrinks, "size"},
                {grows, "size"},
                {is_touched, "modified"},
                {is_removed, ""},
                {is_replaced, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *path = make_file("changing.safetensors");
        wb_model *model = open_ok(path, WB_ACCESS_READ);
        wb_model *snapshot = open_ok(path, WB_ACCESS_SNAPSHOT);
        rows[i].change(path);
        check_changed(model, path, rows[i].what);
        assert_int_equal(wb_model_check(snapshot, NULL), WB_OK); /* the model has a copy */
        check_bytes(snapshot);
        wb_close(model);
        wb_close(snapshot);
        free(path);
    }
}

static void reads_past_the_end(void **state)
{
    (void)state;
    char *path = make_file("shrinking.safetensors");
    wb_model *model = open_ok(path, WB_ACCESS_READ);
    wb_model *mapped = open_ok(path, WB_ACCESS_MAP);
    unsigned char bytes[9900];
    wb_error error;
    const void *data;
    assert_int_equal(wb_tensor_data(mapped, 1, &data, NULL), WB_OK);
    shrinks(path);
    assert_int_equal(wb_tensor_read(model, 0, NULL, -1, bytes, 100, &error), WB_OK);
    memset(bytes, 1, sizeof bytes);
    assert_int_equal(wb_tensor_read(model, 1, NULL, -1, bytes, sizeof bytes, &error), WB_ERROR_IO);
    assert_string_equal(error.code, "file-ends-early");
    assert_int_equal(error.offset, DATA_AT + 150); /* the current end of the file */
    assert_string_equal(error.file, path);
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0);
    /* A SIGBUS handler calls this to find out whether the model contains the faulting address. */
    assert_true(wb_owns_address(mapped, (const unsigned char *)data + 9000));
    /* wb_tensor_read reads the file even if it is mapped, so it cannot fault. */
    assert_int_equal(wb_tensor_read(mapped, 1, NULL, -1, bytes, sizeof bytes, &error), WB_ERROR_IO);
    wb_verify_options deep = {.size = sizeof deep, .flags = WB_VERIFY_DEEP};
    wb_findings *findings;
    assert_int_equal(wb_verify_model(model, &deep, &findings, &error), WB_ERROR_IO);
    assert_null(findings);
    wb_close(model);
    wb_close(mapped);
    free(path);
}

static void snapshots_stay(void **state)
{
    (void)state;
    char *path = make_file("snapshot.safetensors");
    wb_model *model = open_ok(path, WB_ACCESS_SNAPSHOT);
    const void *data;
    assert_int_equal(wb_tensor_data(model, 0, &data, NULL), WB_OK);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "XXXX", 4, DATA_AT), 4);
    assert_int_equal(close(fd), 0);
    check_bytes(model);
    assert_memory_equal(data, "\0\1\2\3", 4);
    wb_close(model);
    free(path);
}

/* ---- memory, and sources of the caller ---- */

typedef struct own {
    const unsigned char *bytes;
    bool maps;
    unsigned maps_asked, closed;
} own;

static wb_status own_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    memcpy(dst, ((own *)ctx)->bytes + offset, n);
    *got = n;
    return WB_OK;
}

static const void *own_map(void *ctx, uint64_t offset, uint64_t n)
{
    own *o = ctx;
    (void)n;
    o->maps_asked++;
    return o->maps ? o->bytes + offset : NULL;
}

static void own_close(void *ctx)
{
    ((own *)ctx)->closed++;
}

static void from_the_caller(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = st_bytes(header, sizeof header - 1, DATA, &n);
    for (int maps = 0; maps < 3; maps++) {
        own o = {.bytes = bytes, .maps = maps == 1};
        wb_source source = {.size = sizeof source,
                            .ctx = &o,
                            .bytes = n,
                            .read = own_read,
                            .map = maps == 2 ? NULL : own_map,
                            .close = own_close};
        wb_model *model;
        const void *data;
        assert_int_equal(wb_open_source(&source, "own", NULL, &model, NULL), WB_OK);
        check_bytes(model);
        assert_int_equal(o.maps_asked, 0);
        assert_int_equal(wb_tensor_data(model, 0, &data, NULL),
                         maps == 1 ? WB_OK : WB_ERROR_UNSUPPORTED);
        assert_ptr_equal(data, maps == 1 ? bytes + DATA_AT : NULL);
        assert_int_equal(wb_model_check(model, NULL), WB_OK);
        wb_close(model);
        assert_int_equal(o.closed, 1);
    }
    own o = {.bytes = bytes}; /* the source must be closed once, even if opening fails */
    wb_source source = {.size = sizeof source, .ctx = &o, .bytes = n - 1, .read = own_read};
    source.close = own_close;
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open_source(&source, "own", NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.file, "own");
    assert_int_equal(o.closed, 1);
    source.read = NULL;
    assert_int_equal(wb_open_source(&source, "own", NULL, &model, NULL), WB_ERROR_ARGUMENT);
    assert_int_equal(o.closed, 2);
    free(bytes);
}

static void from_memory(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = st_bytes(header, sizeof header - 1, DATA, &n);
    for (int access = WB_ACCESS_MAP; access <= WB_ACCESS_SNAPSHOT; access++) {
        wb_open_options options = {.size = sizeof options, .access = (wb_access)access};
        wb_model *model;
        const void *data;
        assert_int_equal(wb_open_memory(bytes, n, "bytes", &options, &model, NULL), WB_OK);
        check_bytes(model);
        assert_int_equal(wb_tensor_data(model, 0, &data, NULL), WB_OK);
        assert_int_equal(((const unsigned char *)data)[99], 99);
        assert_int_equal(wb_model_check(model, NULL), WB_OK);
        wb_close(model);
    }
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open_memory(NULL, 0, "nothing", NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "file-empty");
    assert_int_equal(wb_open_memory(NULL, 1, "x", NULL, &model, NULL), WB_ERROR_ARGUMENT);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_each_mode),       cmocka_unit_test(from_a_descriptor),
        cmocka_unit_test(from_a_stream),      cmocka_unit_test(closes_on_exec),
        cmocka_unit_test(what_is_no_file),    cmocka_unit_test(notices_changes),
        cmocka_unit_test(reads_past_the_end), cmocka_unit_test(snapshots_stay),
        cmocka_unit_test(from_the_caller),    cmocka_unit_test(from_memory),
        cmocka_unit_test(copies_on_write)};
    folder = scratch_make();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failures;
}
