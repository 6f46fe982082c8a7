/* Tests the next run after a conversion was killed, was cancelled, ran out of disk space, or after
 * its partial files were damaged. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convert.h"
#include "unit.h"

#define TENSORS 70
#define ROWS 8
#define COLUMNS 64

static char *scratch;
static char *source;

/* Input and output of a conversion. */
typedef struct job {
    const char *name;
    wb_target target;
    const char *quant;
    uint64_t shard;
    const char *last; /* file that gets its final name last, which completes the model */
    bool is_several;  /* the output has several files */
    const char *partial, *resume; /* paths of a partial file and of the journal */
} job;

#define MANIFEST "manifests/registry.ollama.ai/library/m/latest"
#define IN_STORE "blobs/.registry.ollama.ai+library+m+latest.wb-partial"

enum { A_FILE, ANOTHER, A_STORE, A_FOLDER, SPLITS, SHARDS, JOBS };

static const job jobs[JOBS] = {
    {"a.gguf", WB_TARGET_GGUF, "Q8_0", 0, "a.gguf", false, ".a.gguf.wb-partial",
     ".a.gguf.wb-resume"},
    {"b.safetensors", WB_TARGET_SAFETENSORS, "F16", 0, "b.safetensors", false,
     ".b.safetensors.wb-partial", ".b.safetensors.wb-resume"},
    {"m", WB_TARGET_OLLAMA, "BF16", 0, MANIFEST, false, IN_STORE "/.00007.wb-partial",
     IN_STORE "/.blobs.wb-resume"},
    {"c", WB_TARGET_SAFETENSORS, "BF16", 20000, "c", true,
     ".c.wb-partial/.model-00001-of-00004.safetensors.wb-partial", ".c.wb-resume"},
    {"d.gguf", WB_TARGET_GGUF, "F16", 20000, "d-00001-of-00004.gguf", true,
     ".d-00001-of-00004.gguf.wb-partial", ".d.gguf.wb-resume"},
    {"e.safetensors", WB_TARGET_SAFETENSORS, "F16", 20000, "e.safetensors.index.json", true,
     ".e-00001-of-00004.safetensors.wb-partial", ".e.safetensors.wb-resume"}};

static void make_source(uint64_t seed)
{
    wb_writer *writer;
    wb_error error;
    const wb_writer_options options = {
        .size = sizeof options, .format = "safetensors", .flags = WB_WRITE_FORCE};
    static float values[ROWS * COLUMNS];
    assert_int_equal(wb_writer_create(&options, &writer, &error), WB_OK);
    for (int i = 0; i < TENSORS; i++) {
        const uint64_t shape[] = {ROWS, COLUMNS};
        char name[32];
        (void)snprintf(name, sizeof name, "t.%03d.weight", i);
        assert_int_equal(
            wb_writer_add(writer, name, SIZE_MAX, WB_DTYPE_F32, shape, 2, NULL, &error), WB_OK);
    }
    assert_int_equal(wb_writer_plan(writer, source, &error), WB_OK);
    assert_int_equal(wb_writer_begin(writer, &error), WB_OK);
    for (uint64_t i = 0; i < TENSORS; i++) {
        for (size_t k = 0; k < ROWS * COLUMNS; k++)
            values[k] = (float)((double)(next_random(&seed) >> 40) / (1 << 20) - 8);
        assert_int_equal(wb_writer_put(writer, i, 0, values, sizeof values, &error), WB_OK);
    }
    assert_int_equal(wb_writer_commit(writer, &error), WB_OK);
    wb_writer_free(writer);
}

typedef struct ending {
    int reports; /* index of the progress report at which the run ends; -1: never */
    bool kills;  /* true: the process is killed; false: the run is cancelled */
    /* NULL: `reports` counts all reports. Otherwise it counts only the reports after all tensors
     * are written, and no file with this path may exist at a report. */
    const char *last;
} ending;

static int report(void *ctx, uint64_t done, uint64_t total)
{
    ending *e = ctx;
    if (e->last != NULL && access(e->last, F_OK) == 0)
        fail_msg("%s is there, and going on is asked for\n", e->last);
    if (e->last != NULL && done < total)
        return 0;
    if (e->reports < 0 || e->reports-- > 0)
        return 0;
    if (e->kills)
        (void)raise(SIGKILL);
    return 1;
}

/* Returns the output of a job: the model name for an Ollama store, otherwise a path. */
static char *path_of(const job *j, const char *folder)
{
    return j->target == WB_TARGET_OLLAMA ? text_of("%s", j->name)
                                         : text_of("%s/%s/%s", scratch, folder, j->name);
}

static bool is_there(const char *folder, const char *name)
{
    char *path = text_of("%s/%s/%s", scratch, folder, name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

/* Runs a conversion. Sets *resumed if it reused partial files, and *nmse to the sum of the errors
 * that it reports for the tensors. */
static wb_status run(const job *j, const char *folder, ending end, bool *resumed, double *nmse)
{
    wb_conversion *conversion;
    wb_error error;
    wb_model *model = open_model(source);
    char *store = text_of("%s/%s", scratch, folder);
    const wb_convert_policy policy = {
        .size = sizeof policy,
        .quant = j->quant,
        .max_file_bytes = j->shard,
        .store = store,
        .flags = WB_CONVERT_RESUME | (j->target == WB_TARGET_OLLAMA ? WB_CONVERT_FORCE : 0)};
    const wb_progress progress = {&end, report};
    char *to = path_of(j, folder);
    *resumed = false;
    *nmse = 0;
    assert_int_equal(wb_convert_plan(model, j->target, &policy, &conversion, &error), WB_OK);
    wb_status status = wb_convert(conversion, to, &progress, &error);
    if (status != WB_OK && status != WB_ERROR_CANCELLED && status != WB_ERROR_IO &&
        strcmp(error.code, "output-exists") != 0)
        fail_msg("%s: %s: %s\n", to, error.name, error.message);
    const wb_findings *findings = wb_conversion_findings(conversion);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        *resumed |= strcmp(finding.code, "convert-resumed") == 0;
    }
    for (uint64_t i = 0; i < wb_conversion_count(conversion); i++) {
        wb_converted row = {.size = sizeof row};
        assert_int_equal(wb_conversion_at(conversion, i, &row, &error), WB_OK);
        *nmse += row.nmse + row.max_error;
    }
    wb_conversion_free(conversion);
    wb_close(model);
    free(store);
    free(to);
    return status;
}

static const ending never = {-1, false, NULL};

/* Runs a conversion in a child process, and kills it after delay_us microseconds (< 0: never).
 * Returns the wait status. */
static int run_apart(const job *j, const char *folder, ending end, int delay_us)
{
    int status;
    bool resumed;
    double nmse;
    pid_t child = fork();
    if (child == 0)
        _exit(run(j, folder, end, &resumed, &nmse) == WB_OK ? 0 : 1);
    if (delay_us >= 0) {
        (void)usleep((useconds_t)delay_us);
        (void)kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static unsigned entries(const char *folder)
{
    char *command = text_of("ls -A %s/%s | wc -l", scratch, folder);
    FILE *pipe = popen(command, "r");
    unsigned n = 0;
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%u", &n), 1);
    (void)pclose(pipe);
    free(command);
    return n;
}

static void fresh(const char *folder)
{
    char *command = text_of("rm -rf %s/%s && mkdir %s/%s", scratch, folder, scratch, folder);
    assert_int_equal(system(command), 0);
    free(command);
}

/* Checks that the directory contains the same files as after an uninterrupted run, and no others.
 * Sets *nmse to the error of the uninterrupted run. */
static void compare_trees(const job *j, const char *folder, double *nmse)
{
    bool resumed;
    fresh("want");
    assert_int_equal(run(j, "want", never, &resumed, nmse), WB_OK);
    assert_false(resumed);
    char *command = text_of("diff -r %s/want %s/%s", scratch, scratch, folder);
    if (system(command) != 0)
        fail_msg("%s: another result\n", j->name);
    free(command);
}

static void compare(const job *j, const char *folder, double nmse)
{
    double want;
    compare_trees(j, folder, &want);
    assert_true(nmse == want);
}

/* Checks that the next run completes the output. If the output is complete already, the run may be
 * refused. */
static void finish(const job *j, const char *folder, bool resumes)
{
    bool resumed, is_done = j->target != WB_TARGET_OLLAMA && is_there(folder, j->last);
    double nmse, want;
    wb_status status = run(j, folder, never, &resumed, &nmse);
    if (is_done) {
        assert_int_equal(status, WB_ERROR_ARGUMENT);
        compare_trees(j, folder, &want);
        return;
    }
    assert_int_equal(status, WB_OK);
    if (resumes)
        assert_true(resumed);
    compare(j, folder, nmse);
}

/* Each run resumes the previous one, is killed at a later progress report, and gets one round
 * (scheduler.c) further. */
static void killed_between_rounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        int round = 0;
        fresh("out");
        while (WIFSIGNALED(run_apart(&jobs[i], "out", (ending){round, true, NULL}, -1)))
            assert_true(++round < 20);
        assert_true(round >= 4);
        /* Starts again without partial files, and kills the run at the second report after all
         * tensors are written. The number of earlier reports depends on the speed of the run. */
        fresh("out");
        char *last = text_of("%s/out/%s", scratch, jobs[i].last);
        assert_true(WIFSIGNALED(run_apart(&jobs[i], "out", (ending){1, true, last}, -1)));
        free(last);
        assert_true(entries("out") >= 2);
        finish(&jobs[i], "out", true);
    }
}

static void killed_at_any_time(void **state)
{
    uint64_t seed = 99;
    (void)state;
    for (int turn = 0; turn < (is_slow() ? 2 : 24); turn++) {
        const job *j = &jobs[(size_t)turn % JOBS];
        fresh("out");
        int limit = 4000;
        /* Repeats until the output has its final name. */
        for (int times = 0; times < 4 && !is_there("out", j->last); times++)
            (void)run_apart(j, "out", never, (int)(next_random(&seed) % (uint64_t)limit));
        finish(j, "out", false);
    }
}

/* Damaged partial files must not damage the result. */
static void damaged(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int turn = 0; turn < (is_slow() ? 3 : 15); turn++) {
        const job *j = &jobs[turn / 3 % 3];
        size_t n;
        fresh("out");
        assert_true(WIFSIGNALED(run_apart(j, "out", (ending){2, true, NULL}, -1)));
        char *path = text_of("%s/out/%s", scratch, turn % 3 == 0 ? j->resume : j->partial);
        unsigned char *bytes = read_file(path, &n);
        size_t at = (size_t)(next_random(&seed) % n);
        if (turn % 3 == 2)
            n = at; /* truncated */
        else
            bytes[at] ^= (unsigned char)(1 << turn % 8);
        write_file(path, bytes, n);
        free(bytes);
        free(path);
        finish(j, "out", false);
    }
}

static void journal_cut_anywhere(void **state)
{
    (void)state;
    const job *j = &jobs[0];
    for (size_t cut = 0; cut < 24 + 3 * 56; cut += is_slow() ? 47 : 13) {
        size_t n;
        fresh("out");
        assert_true(WIFSIGNALED(run_apart(j, "out", (ending){1, true, NULL}, -1)));
        char *path = text_of("%s/out/%s", scratch, j->resume);
        unsigned char *bytes = read_file(path, &n);
        assert_true(n >= 24 + 3 * 56);
        write_file(path, bytes, cut);
        free(bytes);
        free(path);
        finish(j, "out", cut >= 24 + 56);
    }
}

/* A run with another source or another quantization must reuse nothing. */
static void changed(void **state)
{
    static const int some[] = {A_FILE, A_STORE};
    (void)state;
    bool resumed;
    double nmse;
    for (size_t i = 0; i < 2; i++) {
        const job *j = &jobs[some[i]];
        fresh("out");
        assert_true(WIFSIGNALED(run_apart(j, "out", (ending){2, true, NULL}, -1)));
        make_source(2 + i);
        assert_int_equal(run(j, "out", never, &resumed, &nmse), WB_OK);
        assert_false(resumed);
        compare(j, "out", nmse);
        job other = *j;
        other.quant = i == 0 ? "Q4_0" : "F16";
        fresh("out");
        assert_true(WIFSIGNALED(run_apart(j, "out", (ending){2, true, NULL}, -1)));
        assert_int_equal(run(&other, "out", never, &resumed, &nmse), WB_OK);
        assert_false(resumed);
        compare(&other, "out", nmse);
    }
    /* If the next run writes fewer shards, or a single file, no shard of the previous run may
     * remain. */
    for (int i = A_FOLDER; i < JOBS; i++) {
        for (uint64_t shard = 0; shard < 80000; shard += 40000) {
            job few = jobs[i];
            few.shard = shard;
            fresh("out");
            assert_true(WIFSIGNALED(run_apart(&jobs[i], "out", (ending){3, true, NULL}, -1)));
            assert_true(is_there("out", jobs[i].partial));
            assert_int_equal(run(&few, "out", never, &resumed, &nmse), WB_OK);
            compare(&few, "out", nmse);
        }
    }
    /* The first run writes one file, the next one writes shards. A partial file that is named like
     * a shard, but has its own journal, belongs to another conversion and must not be removed. */
    job whole = jobs[SPLITS];
    whole.shard = 0;
    fresh("out");
    assert_true(WIFSIGNALED(run_apart(&whole, "out", (ending){3, true, NULL}, -1)));
    assert_int_equal(run(&jobs[SPLITS], "out", never, &resumed, &nmse), WB_OK);
    compare(&jobs[SPLITS], "out", nmse);
    job like = whole;
    like.name = "d-00009-of-00009.gguf";
    fresh("out");
    assert_true(WIFSIGNALED(run_apart(&like, "out", (ending){3, true, NULL}, -1)));
    assert_int_equal(run(&jobs[SPLITS], "out", never, &resumed, &nmse), WB_OK);
    assert_int_equal(run(&like, "out", never, &resumed, &nmse), WB_OK);
    assert_true(resumed);
}

/* Two interrupted conversions into one store must each resume their own files. Partial files and
 * journals must be in subdirectories of blobs/, because Ollama deletes all files in blobs/ itself
 * that are not blobs. */
static void two_in_a_store(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    job other = jobs[A_STORE];
    other.name = "other/m:1";
    other.quant = "F16";
    fresh("out");
    assert_true(WIFSIGNALED(run_apart(&jobs[A_STORE], "out", (ending){2, true, NULL}, -1)));
    assert_true(WIFSIGNALED(run_apart(&other, "out", (ending){3, true, NULL}, -1)));
    char *command = text_of("find %s/out/blobs -maxdepth 1 -type f -delete", scratch);
    assert_int_equal(system(command), 0);
    free(command);
    assert_int_equal(run(&jobs[A_STORE], "out", never, &resumed, &nmse), WB_OK);
    assert_true(resumed);
    assert_int_equal(run(&other, "out", never, &resumed, &nmse), WB_OK);
    assert_true(resumed);
    fresh("want");
    assert_int_equal(run(&jobs[A_STORE], "want", never, &resumed, &nmse), WB_OK);
    assert_int_equal(run(&other, "want", never, &resumed, &nmse), WB_OK);
    command = text_of("diff -r %s/want %s/out", scratch, scratch);
    assert_int_equal(system(command), 0);
    free(command);
}

/* If the source changes during the conversion, the run must fail and leave no output. */
typedef struct change {
    bool cuts; /* truncates the source, so that a read fails; otherwise overwrites it */
    bool happened;
} change;

static int change_report(void *ctx, uint64_t done, uint64_t total)
{
    change *c = ctx;
    if (done < total / 2 || c->happened)
        return 0;
    c->happened = true;
    if (c->cuts)
        assert_int_equal(truncate(source, 20000), 0);
    else
        make_source(3);
    return 0;
}

static void changes_on_the_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * JOBS; i++) {
        const job *j = &jobs[i / 2];
        wb_conversion *conversion;
        wb_error error;
        change c = {i % 2 == 0, false};
        make_source(1);
        fresh("out");
        wb_model *model = open_model(source);
        char *store = text_of("%s/out", scratch);
        const wb_convert_policy policy = {.size = sizeof policy,
                                          .quant = j->quant,
                                          .max_file_bytes = j->shard,
                                          .store = store,
                                          .flags = WB_CONVERT_RESUME};
        const wb_progress progress = {&c, change_report};
        char *to = path_of(j, "out");
        assert_int_equal(wb_convert_plan(model, j->target, &policy, &conversion, &error), WB_OK);
        assert_int_equal(wb_convert(conversion, to, &progress, &error), WB_ERROR_CHANGED);
        wb_conversion_free(conversion);
        wb_close(model);
        free(to);
        char *command =
            text_of("! find %s -type f | grep . && ! find %s -name '*.wb*' | grep .", store, store);
        if (system(command) != 0)
            fail_msg("%s: something is left\n", j->name);
        free(command);
        free(store);
    }
    make_source(1);
}

static void cancelled(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    for (size_t j = 0; j < JOBS; j++) {
        fresh("out");
        for (int i = 0; i < 3; i++) {
            assert_int_equal(run(&jobs[j], "out", (ending){i, false, NULL}, &resumed, &nmse),
                             WB_ERROR_CANCELLED);
            assert_true(is_there("out", jobs[j].resume));
            assert_true(jobs[j].is_several || is_there("out", jobs[j].partial));
        }
        finish(&jobs[j], "out", true);
    }
}

/* A run must be cancellable while the complete files are synced, until the first gets its final
 * name. Nothing may be lost. */
static void cancelled_at_the_end(void **state)
{
    (void)state;
    for (size_t j = 0; j < JOBS; j++) {
        char *last = text_of("%s/out/%s", scratch, jobs[j].last);
        for (int times = 0;; times++) {
            bool resumed;
            double nmse;
            fresh("out");
            if (run(&jobs[j], "out", (ending){times, false, last}, &resumed, &nmse) == WB_OK) {
                assert_true(times >= 2); /* there are at least two progress calls after the last
                                            tensor is written */
                break;
            }
            assert_false(is_there("out", jobs[j].last));
            assert_true(is_there("out", jobs[j].resume));
            finish(&jobs[j], "out", true);
        }
        compare_trees(&jobs[j], "out", &(double){0});
        free(last);
    }
}

/* The second of two concurrent runs must fail and must not damage the files of the first. */
static void locked(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    for (size_t i = 0; i < JOBS; i++) {
        fresh("out");
        assert_int_equal(run(&jobs[i], "out", (ending){2, false, NULL}, &resumed, &nmse),
                         WB_ERROR_CANCELLED);
        char *path = text_of("%s/out/%s", scratch, jobs[i].resume);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
        assert_int_equal(run(&jobs[i], "out", never, &resumed, &nmse), WB_ERROR_IO);
        (void)close(fd);
        free(path);
        finish(&jobs[i], "out", true);
    }
}

/* A journal with a second hard link may belong to another user, so a run must neither use it nor
 * write to it. */
static void by_a_second_name(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    fresh("out");
    assert_int_equal(run(&jobs[0], "out", (ending){2, false, NULL}, &resumed, &nmse),
                     WB_ERROR_CANCELLED);
    char *path = text_of("%s/out/%s", scratch, jobs[0].resume),
         *other = text_of("%s/other", scratch);
    char *command =
        text_of("cp -p %s %s/before && cmp %s %s/before", path, scratch, other, scratch);
    assert_int_equal(link(path, other), 0);
    assert_int_equal(system(command), 0);
    assert_int_equal(run(&jobs[0], "out", never, &resumed, &nmse), WB_OK);
    assert_false(resumed);
    assert_int_equal(system(strstr(command, "cmp ")), 0);
    assert_int_equal(unlink(other), 0);
    free(command);
    free(other);
    free(path);
    compare(&jobs[0], "out", nmse);
}

/* If a run fails because the disk is full, the next run must reuse the data that were written. */
static void out_of_room(void **state)
{
    (void)state;
    int status;
    fresh("out");
    const job *j = &jobs[A_FOLDER]; /* an output of several files; the space for each file is
                                     * allocated only when the file is created */
    assert_true(WIFSIGNALED(run_apart(j, "out", (ending){1, true, NULL}, -1)));
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {512, 512};
        bool resumed;
        double nmse;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        _exit(run(j, "out", never, &resumed, &nmse) == WB_ERROR_IO ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    finish(j, "out", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_between_rounds),
        cmocka_unit_test(killed_at_any_time),
        cmocka_unit_test(damaged),
        cmocka_unit_test(journal_cut_anywhere),
        cmocka_unit_test(changed),
        cmocka_unit_test(two_in_a_store),
        cmocka_unit_test(changes_on_the_way),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(cancelled_at_the_end),
        cmocka_unit_test(locked),
        cmocka_unit_test(by_a_second_name),
        cmocka_unit_test(out_of_room),
    };
    /* Uses a file system in memory if available: with a disk, syncing takes 100 s. */
    if (getenv("TMPDIR") == NULL && access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 1);
    scratch = scratch_make();
    source = text_of("%s/source.safetensors", scratch);
    make_source(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(source);
    scratch_remove(scratch);
    return failed;
}
