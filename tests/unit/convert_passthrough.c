/* Tests copying a GGUF file unchanged into and out of an Ollama store, and merging the parts of a
 * split file into a store. Kills and cancels runs, damages partial files, and changes the source.
 * The next run must then complete the copy. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convert.h"
#include "unit.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

#define ROWS 5000 /* of 1,024 numbers, so that copying takes three steps of at most 8 MiB */
#define MANIFEST "manifests/registry.ollama.ai/library/m/latest"
#define IN_STORE "blobs/.registry.ollama.ai+library+m+latest.wb-partial"

static char *scratch;

/* A direction of the copy (into the store or out of it), with the paths of its files. */
typedef struct way {
    const char *name;
    wb_target target;
    const char *from; /* paths relative to the scratch directory */
    const char *to, *partial, *journal;
} way;

enum { IN, OUT, MERGED, WAYS };

static const way ways[WAYS] = {{"into a store", WB_TARGET_OLLAMA, "source.gguf", MANIFEST,
                                IN_STORE "/.00000.wb-partial", IN_STORE "/.blobs.wb-resume"},
                               {"out of a store", WB_TARGET_GGUF, "store", "m.gguf",
                                ".m.gguf.wb-partial", ".m.gguf.wb-resume"},
                               {"merged into a store", WB_TARGET_OLLAMA, "part-00002-of-00002.gguf",
                                MANIFEST, IN_STORE "/.00000.wb-partial",
                                IN_STORE "/.blobs.wb-resume"}};

static char *below(const char *name)
{
    return text_of("%s/%s", scratch, name);
}

static char *below_out(const char *name)
{
    return text_of("%s/out/%s", scratch, name);
}

static void run_command(char *command) /* frees the command */
{
    if (system(command) != 0)
        fail_msg("%s\n", command);
    free(command);
}

/* Writes two tensors. If `tensors` is 0, writes them to one file, otherwise to a split file with at
 * most `tensors` tensors in each part. */
static void write_source(const char *name, uint64_t tensors, uint64_t seed)
{
    wb_writer *writer;
    wb_error error;
    const wb_writer_options options = {
        .size = sizeof options, .format = "gguf", .max_file_tensors = tensors};
    const uint64_t shape[] = {ROWS / 2, 1024};
    static uint64_t values[512];
    char *path = below(name);
    assert_int_equal(wb_writer_create(&options, &writer, &error), WB_OK);
    assert_int_equal(
        wb_writer_set_string(writer, "general.architecture", SIZE_MAX, "none", SIZE_MAX, &error),
        WB_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(wb_writer_add(writer, i == 0 ? "t.weight" : "u.weight", SIZE_MAX,
                                       WB_DTYPE_F32, shape, 2, NULL, &error),
                         WB_OK);
    assert_int_equal(wb_writer_plan(writer, path, &error), WB_OK);
    assert_int_equal(wb_writer_begin(writer, &error), WB_OK);
    for (uint64_t row = 0; row < ROWS; row++) {
        for (size_t k = 0; k < 512; k++)
            values[k] = next_random(&seed);
        assert_int_equal(wb_writer_put(writer, row / (ROWS / 2), row % (ROWS / 2) * sizeof values,
                                       values, sizeof values, &error),
                         WB_OK);
    }
    assert_int_equal(wb_writer_commit(writer, &error), WB_OK);
    wb_writer_free(writer);
    free(path);
}

static void make_source(uint64_t seed)
{
    write_source("source.gguf", 0, seed);
    write_source("part.gguf", 1, seed);
}

/* ---- a run ---- */

typedef struct ending {
    int reports;           /* index of the progress report at which the run ends; -1: never */
    bool kills;            /* true: the process is killed; false: the copy is cancelled */
    const char *never;     /* a file that must not exist during a report */
    void (*happens)(void); /* called at the report instead of ending the run; NULL: none */
} ending;

static const ending none = {.reports = -1};

static int report(void *ctx, uint64_t done, uint64_t total)
{
    ending *e = ctx;
    assert_true(done <= total && total > ROWS * 4096);
    if (e->never != NULL && access(e->never, F_OK) == 0)
        fail_msg("%s is there, and going on is asked for\n", e->never);
    if (e->reports < 0 || e->reports-- > 0)
        return 0;
    if (e->happens != NULL) {
        e->happens();
        return 0;
    }
    if (e->kills)
        (void)raise(SIGKILL);
    return 1;
}

static wb_model *open_whole(const way *w)
{
    wb_model *model;
    wb_error error;
    char *from = below(w->from);
    const wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .store = w == &ways[OUT] ? from : NULL};
    if (wb_open(options.store == NULL ? from : "m", &options, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", from, error.message);
    free(from);
    return model;
}

static bool has_resumed(const wb_conversion *conversion)
{
    const wb_findings *findings = wb_conversion_findings(conversion);
    bool resumed = false;
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        resumed |= strcmp(finding.code, "convert-resumed") == 0;
    }
    return resumed;
}

static wb_status run(const way *w, ending end, bool *resumed, wb_error *error)
{
    wb_conversion *conversion;
    wb_model *model = open_whole(w);
    char *store = below("out"), *path = below_out(w->to), *last = NULL;
    const wb_convert_policy policy = {
        .size = sizeof policy, .store = store, .flags = WB_CONVERT_RESUME};
    const wb_progress progress = {&end, report};
    if (end.never != NULL)
        end.never = last = below_out(w->to);
    assert_int_equal(wb_convert_plan(model, w->target, &policy, &conversion, error), WB_OK);
    wb_status status =
        wb_convert(conversion, w->target == WB_TARGET_OLLAMA ? "m" : path, &progress, error);
    *resumed = has_resumed(conversion);
    wb_conversion_free(conversion);
    wb_close(model);
    free(last);
    free(path);
    free(store);
    return status;
}

static void run_killed(const way *w, int reports, bool *was)
{
    int how;
    pid_t child = fork();
    if (child == 0) {
        wb_error error;
        bool resumed;
        _exit(run(w, (ending){.reports = reports, .kills = true}, &resumed, &error) == WB_OK ? 0
                                                                                             : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    *was = WIFSIGNALED(how);
}

/* ---- what is there ---- */

static void fresh(void)
{
    run_command(text_of("rm -rf %s/out && mkdir %s/out", scratch, scratch));
}

static bool is_there(const char *name)
{
    char *path = below_out(name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

static uint64_t bytes_at(const char *name)
{
    struct stat st;
    char *path = below_out(name);
    uint64_t bytes = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    free(path);
    return bytes;
}

static uint64_t source_bytes(void)
{
    struct stat st;
    char *path = below("source.gguf");
    assert_int_equal(stat(path, &st), 0);
    free(path);
    return (uint64_t)st.st_size;
}

static void expect_nothing(void)
{
    run_command(text_of("! find %s/out -type f | grep . && ! find %s/out -name '.wb*' | grep .",
                        scratch, scratch));
}

/* Checks that the output equals the source file and that no other files exist. */
static void expect_result(const way *w)
{
    run_command(text_of("! find %s/out -name '.*' -mindepth 1 | grep .", scratch));
    if (w == &ways[OUT])
        run_command(text_of("cmp %s/source.gguf %s/out/m.gguf", scratch, scratch));
    else
        run_command(text_of("cd %s/out/blobs && ls | wc -l | grep -qx 2 && for b in *; do echo "
                            "\"${b#sha256-}  $b\"; done | sha256sum -c --quiet && cmp "
                            "%s/source.gguf \"$(ls -S | head -1)\"",
                            scratch, scratch));
}

/* Returns the number of bytes that this process has written, as reported by the system; 0 if the
 * system does not report it. */
static uint64_t written(void)
{
    char line[128];
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "wchar: %llu", &bytes) == 1)
            break;
    }
    if (file != NULL)
        (void)fclose(file);
    return bytes;
}

/* Checks that the next run completes the copy. If `resumes`, it must reuse the partial file and
 * write only the rest. */
static void finish(const way *w, bool resumes)
{
    bool resumed;
    wb_error error;
    uint64_t left = resumes ? bytes_at(w->partial) : 0, before = written();
    if (run(w, none, &resumed, &error) != WB_OK)
        fail_msg("%s: %s: %s\n", w->name, error.name, error.message);
    uint64_t more = written() - before;
    assert_int_equal(resumed, left > 0);
    if (before != 0 && more > source_bytes() - left + 4096)
        fail_msg("%s: %llu bytes are there, and %llu were written\n", w->name,
                 (unsigned long long)left, (unsigned long long)more);
    expect_result(w);
}

/* ---- the tests ---- */

static void killed(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        bool was = true;
        for (int reports = 0; was; reports += is_slow() ? 4 : 1) {
            fresh();
            run_killed(&ways[i], reports, &was);
            assert_true(was ||
                        reports >=
                            6); /* reports after 0, 8, 16 and 20 MiB, after sync, at the end */
            if (was && reports > 0)
                assert_true(bytes_at(ways[i].partial) >=
                            (reports < 3 ? (uint64_t)reports << 23 : source_bytes()));
            if (was)
                finish(&ways[i], true);
        }
        expect_result(&ways[i]);
    }
}

/* Each of three successive runs is killed after it has copied 8 MiB more than the previous one. The
 * fourth run must complete the copy. */
static void killed_again_and_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        bool was;
        fresh();
        for (int reports = 1; reports < 4; reports++) {
            run_killed(&ways[i], reports, &was);
            assert_true(was);
        }
        finish(&ways[i], true);
    }
}

/* A cancelled run must stop if the output does not have its final name yet. Otherwise the run must
 * succeed. */
static void cancelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        for (int reports = 0;; reports += is_slow() ? 4 : 1) {
            bool resumed;
            wb_error error;
            fresh();
            wb_status status =
                run(&ways[i], (ending){.reports = reports, .never = ways[i].to}, &resumed, &error);
            if (status == WB_OK) {
                assert_true(reports >= 6);
                break;
            }
            assert_int_equal(status, WB_ERROR_CANCELLED);
            assert_string_equal(error.code, "cancelled");
            assert_false(is_there(ways[i].to));
            assert_true(reports == 0 || (is_there(ways[i].partial) && is_there(ways[i].journal)));
            finish(&ways[i], true);
        }
        expect_result(&ways[i]);
    }
}

/* A damaged partial file must not damage the output. `leaves`: some valid bytes can be reused. */
static void damaged(void **state)
{
    (void)state;
    static const struct {
        const char *how;
        bool leaves;
    } damages[] = {{"printf x | dd of=$f bs=1 seek=5000000 conv=notrunc status=none", true},
                   {"truncate -s 10000001 $f", true},
                   {"truncate -s 60M $f", true},
                   {"truncate -s 9M $f && truncate -s 20M $f", true},
                   {"truncate -s 100 $f && truncate -s 20M $f", false},
                   {": > $f", false}};
    for (size_t i = 0; i < WAYS * (sizeof damages / sizeof *damages); i += is_slow() ? 5 : 1) {
        const way *w = &ways[i % WAYS];
        bool was, resumed;
        wb_error error;
        fresh();
        run_killed(w, 2, &was);
        run_command(text_of("f=%s/out/%s; %s", scratch, w->partial, damages[i / WAYS].how));
        assert_int_equal(run(w, none, &resumed, &error), WB_OK);
        assert_int_equal(resumed, damages[i / WAYS].leaves);
        expect_result(w);
    }
}

/* If the source file was changed between two runs, the second must reuse nothing. */
static void changed_in_between(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        bool was, resumed;
        wb_error error;
        fresh();
        run_killed(&ways[i], 2, &was);
        uint64_t before = written();
        run_command(i == OUT ? text_of("touch -d 2001-01-01 %s/store/blobs/*", scratch)
                             : text_of("touch -d 2001-01-01 %s/*.gguf", scratch));
        assert_int_equal(run(&ways[i], none, &resumed, &error), WB_OK);
        assert_false(resumed);
        assert_true(before == 0 || written() - before >= source_bytes());
        expect_result(&ways[i]);
    }
}

static void cut_source(void)
{
    char *path = below("source.gguf");
    assert_int_equal(truncate(path, 9000000), 0);
    free(path);
}

static void cut_blob(void)
{
    run_command(
        text_of("cd %s/store/blobs && truncate -s 9000000 \"$(ls -S | head -1)\"", scratch));
}

static void cut_part(void)
{
    char *path = below("part-00001-of-00002.gguf");
    assert_int_equal(truncate(path, 9000000), 0);
    free(path);
}

static void touch_part(void)
{
    run_command(text_of("touch %s/part-00002-of-00002.gguf", scratch));
}

static void touch_source(void)
{
    run_command(text_of("touch %s/source.gguf", scratch));
}

static void touch_blob(void)
{
    run_command(text_of("touch %s/store/blobs/*", scratch));
}

/* If the source changes at any time during the copy, the run must fail and leave no output. */
static void changes_on_the_way(void **state)
{
    static void (*const changes[WAYS][2])(void) = {
        {touch_source, cut_source}, {touch_blob, cut_blob}, {touch_part, cut_part}};
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        run_command(text_of("rm -rf %s/keep && mkdir %s/keep && cp -a %s/*.gguf %s/store %s/keep",
                            scratch, scratch, scratch, scratch, scratch));
        for (int reports = 0; reports < 10; reports += is_slow() ? 4 : 1) {
            bool resumed;
            wb_error error;
            fresh();
            wb_status status =
                run(&ways[i], (ending){.reports = reports % 5, .happens = changes[i][reports / 5]},
                    &resumed, &error);
            assert_int_equal(status, WB_ERROR_CHANGED);
            expect_nothing();
            run_command(
                text_of("rm -rf %s/store && cp -a %s/keep/* %s", scratch, scratch, scratch));
        }
    }
}

/* The second of two concurrent runs must fail and must not damage the files of the first. */
static void locked(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        bool was, resumed;
        wb_error error;
        fresh();
        run_killed(&ways[i], 2, &was);
        char *path = below_out(ways[i].journal);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
        assert_int_equal(run(&ways[i], none, &resumed, &error), WB_ERROR_IO);
        assert_non_null(strstr(error.message, "another conversion"));
        (void)close(fd);
        free(path);
        finish(&ways[i], true);
    }
}

/* A run that is refused must leave no files, and must not change those of an earlier run. */
static void refused(void **state)
{
    bool was, resumed;
    wb_error error;
    (void)state;
    fresh();
    assert_int_equal(run(&ways[IN], none, &resumed, &error), WB_OK);
    assert_int_equal(run(&ways[IN], none, &resumed, &error), WB_ERROR_ARGUMENT);
    expect_result(&ways[IN]);
    fresh();
    run_killed(&ways[OUT], 2, &was);
    run_command(text_of("mkdir %s/out/m.gguf", scratch));
    assert_int_equal(run(&ways[OUT], none, &resumed, &error), WB_ERROR_ARGUMENT);
    run_command(text_of("rmdir %s/out/m.gguf", scratch));
    finish(&ways[OUT], true);
}

/* ---- the writer alone ---- */

static void only_a_whole_file_once(void **state)
{
    (void)state;
    wb_writer *writer;
    wb_error error;
    uint64_t taken = 1;
    const wb_writer_options options = {.size = sizeof options, .format = "gguf"};
    const uint64_t shape[] = {4};
    wb_model *model = open_whole(&ways[IN]);
    char *path = below_out("w.gguf");
    fresh();
    for (int whole = 0; whole < 2; whole++) {
        assert_int_equal(wb_writer_create(&options, &writer, &error), WB_OK);
        assert_int_equal(whole
                             ? wb_writer_set_whole(writer, model, &error)
                             : wb_writer_add(writer, "t", 1, WB_DTYPE_F32, shape, 1, NULL, &error),
                         WB_OK);
        assert_int_equal(wb_writer_copy_whole(writer, 0, NULL, &error), WB_ERROR_ARGUMENT);
        assert_int_equal(wb_writer_plan(writer, path, &error), WB_OK);
        assert_int_equal(wb_writer_begin(writer, &error), WB_OK);
        assert_int_equal(wb_writer_copy_whole(writer, 0, &taken, &error),
                         whole ? WB_OK : WB_ERROR_ARGUMENT);
        assert_int_equal(taken, 0);
        assert_int_equal(wb_writer_copy_whole(writer, 0, &taken, &error), WB_ERROR_ARGUMENT);
        if (whole)
            assert_int_equal(wb_writer_commit(writer, &error), WB_OK);
        wb_writer_free(writer);
    }
    run_command(text_of("cmp %s/source.gguf %s", scratch, path));
    wb_close(model);
    free(path);
}

/* Calls wb_writer_set_whole for a split model, whose files are merged. In each run, another
 * allocation fails. The status must be WB_ERROR_MEMORY, and nothing may leak. */
static void merged_allocations(void **state)
{
    (void)state;
    wb_model *model = open_whole(&ways[MERGED]);
    bool done = false;
    for (size_t k = 1; !done; k++) {
        counter memory = {.fail_at = k};
        wb_allocator allocator = counter_allocator(&memory);
        const wb_writer_options options = {
            .size = sizeof options, .format = "ollama", .allocator = &allocator};
        wb_writer *writer = NULL;
        wb_error error;
        wb_status status = wb_writer_create(&options, &writer, &error);
        if (status == WB_OK)
            status = wb_writer_set_whole(writer, model, &error);
        done = !memory.failed;
        assert_int_equal(status, done ? WB_OK : WB_ERROR_MEMORY);
        wb_writer_free(writer);
        assert_clean(&memory);
    }
    wb_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),
        cmocka_unit_test(killed_again_and_again),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(damaged),
        cmocka_unit_test(locked),
        cmocka_unit_test(refused),
        cmocka_unit_test(only_a_whole_file_once),
        cmocka_unit_test(changes_on_the_way),
        cmocka_unit_test(changed_in_between),
        cmocka_unit_test(merged_allocations),
    };
    if (getenv("TMPDIR") == NULL && access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 1);
    scratch = scratch_make();
    make_source(1);
    fresh();
    bool resumed;
    wb_error error;
    int failed = run(&ways[IN], none, &resumed, &error) != WB_OK;
    run_command(text_of("mv %s/out %s/store", scratch, scratch));
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(scratch);
    return failed;
}
