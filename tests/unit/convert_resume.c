/* Conversions that are killed, cancelled, damaged or out of room, and the next run. */
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

/* What is converted, and to where. */
typedef struct job {
    const char *name;
    wb_target target;
    const char *quant;
    uint64_t shard;
} job;

static const job jobs[] = {{"a.gguf", WB_TARGET_GGUF, "Q8_0", 0},
                           {"b.safetensors", WB_TARGET_SAFETENSORS, "F16", 0},
                           {"c", WB_TARGET_SAFETENSORS, "BF16", 20000},
                           {"d.gguf", WB_TARGET_GGUF, "F16", 20000}};
#define JOBS (sizeof jobs / sizeof *jobs)

static void make_source(uint64_t seed)
{
    wb_writer *writer;
    wb_error error;
    const wb_writer_options options = {.size = sizeof options, .format = "safetensors"};
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
    int reports; /* until it comes; -1: never */
    bool kills;  /* or cancels */
} ending;

static int report(void *ctx, uint64_t done, uint64_t total)
{
    ending *e = ctx;
    (void)done;
    (void)total;
    if (e->reports < 0 || e->reports-- > 0)
        return 0;
    if (e->kills)
        (void)raise(SIGKILL);
    return 1;
}

static char *path_of(const job *j, const char *folder)
{
    return text_of("%s/%s/%s", scratch, folder, j->name);
}

/* Runs a conversion. *resumed: it took up what was there; *nmse: sums of all tensors. */
static wb_status run(const job *j, const char *folder, ending end, bool *resumed, double *nmse)
{
    wb_conversion *conversion;
    wb_error error;
    wb_model *model = open_model(source);
    const wb_convert_policy policy = {.size = sizeof policy,
                                      .quant = j->quant,
                                      .max_file_bytes = j->shard,
                                      .flags = WB_CONVERT_RESUME};
    const wb_progress progress = {&end, report};
    char *to = path_of(j, folder);
    *resumed = false;
    *nmse = 0;
    assert_int_equal(wb_convert_plan(model, j->target, &policy, &conversion, &error), WB_OK);
    wb_status status = wb_convert(conversion, to, &progress, &error);
    if (status != WB_OK && status != WB_ERROR_CANCELLED && status != WB_ERROR_IO)
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
    free(to);
    return status;
}

static const ending never = {-1, false};

/* The same in a process that ends with it. */
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

/* The result in `folder` is, to the byte, that of a run nothing happened to, and nothing else is there. */
static void compare(const job *j, const char *folder, double nmse)
{
    bool resumed;
    double want;
    fresh("want");
    assert_int_equal(run(j, "want", never, &resumed, &want), WB_OK);
    assert_false(resumed);
    assert_true(nmse == want);
    char *command = text_of("diff -r %s/want %s/%s", scratch, scratch, folder);
    if (system(command) != 0)
        fail_msg("%s: another result\n", j->name);
    free(command);
}

static void finish(const job *j, const char *folder, bool resumes)
{
    bool resumed;
    double nmse;
    assert_int_equal(run(j, folder, never, &resumed, &nmse), WB_OK);
    if (resumes)
        assert_true(resumed);
    compare(j, folder, nmse);
}

/* Each run gets a round further than the one before, and is killed. */
static void killed_between_rounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        int round = 0;
        fresh("out");
        while (WIFSIGNALED(run_apart(&jobs[i], "out", (ending){round, true}, -1)))
            assert_true(++round < 20);
        assert_true(round >= 4);
        /* The last of them ended; once more, killed in each round and then let go. */
        fresh("out");
        assert_true(WIFSIGNALED(run_apart(&jobs[i], "out", (ending){round - 1, true}, -1)));
        assert_true(entries("out") >= 2);
        finish(&jobs[i], "out", true);
    }
}

static void killed_at_any_time(void **state)
{
    uint64_t seed = 99;
    (void)state;
    for (int turn = 0; turn < (is_slow() ? 2 : 18); turn++) {
        /* Not a set of files, whose names come one by one: what is there is not written over. */
        const job *j = &jobs[(size_t)turn % (JOBS - 1)];
        fresh("out");
        int limit = 4000;
        char *there = path_of(j, "out");
        /* Until it was done in time, be it that the kill came after the result had its name. */
        for (int times = 0; times < 4 && access(there, F_OK) != 0; times++)
            (void)run_apart(j, "out", never, (int)(next_random(&seed) % (uint64_t)limit));
        if (access(there, F_OK) == 0)
            fresh("out"); /* a folder is not written over */
        free(there);
        finish(j, "out", false);
    }
}

static char *partial_of(const job *j, const char *end)
{
    return text_of("%s/out/.%s.wb-%s", scratch, j->name, end);
}

/* Whatever stands in what was left, the result is right. */
static void damaged(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int turn = 0; turn < (is_slow() ? 3 : 12); turn++) {
        const job *j = &jobs[turn % 2];
        size_t n;
        fresh("out");
        assert_true(WIFSIGNALED(run_apart(j, "out", (ending){2, true}, -1)));
        char *path = partial_of(j, turn % 3 == 0 ? "resume" : "partial");
        unsigned char *bytes = read_file(path, &n);
        size_t at = (size_t)(next_random(&seed) % n);
        if (turn % 3 == 2)
            n = at; /* cut off */
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
        assert_true(WIFSIGNALED(run_apart(j, "out", (ending){1, true}, -1)));
        char *path = partial_of(j, "resume");
        unsigned char *bytes = read_file(path, &n);
        assert_true(n >= 24 + 3 * 56);
        write_file(path, bytes, cut);
        free(bytes);
        free(path);
        finish(j, "out", cut >= 24 + 56);
    }
}

/* Another source, and another plan, have nothing of what was left. */
static void changed(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    const job *j = &jobs[0];
    fresh("out");
    assert_true(WIFSIGNALED(run_apart(j, "out", (ending){2, true}, -1)));
    make_source(2);
    assert_int_equal(run(j, "out", never, &resumed, &nmse), WB_OK);
    assert_false(resumed);
    compare(j, "out", nmse);
    const job other = {j->name, j->target, "Q4_0", 0};
    fresh("out");
    assert_true(WIFSIGNALED(run_apart(j, "out", (ending){2, true}, -1)));
    assert_int_equal(run(&other, "out", never, &resumed, &nmse), WB_OK);
    assert_false(resumed);
    compare(&other, "out", nmse);
    /* Fewer shards than the run before: none of the others stays in the folder. */
    const job few = {jobs[2].name, jobs[2].target, jobs[2].quant, 60000};
    fresh("out");
    assert_true(WIFSIGNALED(run_apart(&jobs[2], "out", (ending){3, true}, -1)));
    assert_int_equal(run(&few, "out", never, &resumed, &nmse), WB_OK);
    compare(&few, "out", nmse);
}

/* A source that changes on the way is an error, and nothing of it stays. */
static int change_report(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    if (done < total / 2)
        return 0;
    make_source(3);
    return 0;
}

static void changes_on_the_way(void **state)
{
    (void)state;
    wb_conversion *conversion;
    wb_error error;
    fresh("out");
    wb_model *model = open_model(source);
    const wb_convert_policy policy = {
        .size = sizeof policy, .quant = "Q8_0", .flags = WB_CONVERT_RESUME};
    const wb_progress progress = {NULL, change_report};
    char *to = path_of(&jobs[0], "out");
    assert_int_equal(wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error), WB_OK);
    assert_int_equal(wb_convert(conversion, to, &progress, &error), WB_ERROR_CHANGED);
    wb_conversion_free(conversion);
    wb_close(model);
    free(to);
    assert_int_equal(entries("out"), 0);
}

static void cancelled(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    fresh("out");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run(&jobs[0], "out", (ending){i, false}, &resumed, &nmse),
                         WB_ERROR_CANCELLED);
        assert_int_equal(entries("out"), 2);
    }
    finish(&jobs[0], "out", true);
}

/* Of two at a time the second is refused, and does no harm. */
static void locked(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    fresh("out");
    assert_int_equal(run(&jobs[0], "out", (ending){2, false}, &resumed, &nmse), WB_ERROR_CANCELLED);
    char *path = partial_of(&jobs[0], "resume");
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    assert_int_equal(run(&jobs[0], "out", never, &resumed, &nmse), WB_ERROR_IO);
    (void)close(fd);
    free(path);
    finish(&jobs[0], "out", true);
}

/* What lies there by a second name may be somebody else's: it is not believed, nor written over. */
static void by_a_second_name(void **state)
{
    (void)state;
    bool resumed;
    double nmse;
    fresh("out");
    assert_int_equal(run(&jobs[0], "out", (ending){2, false}, &resumed, &nmse), WB_ERROR_CANCELLED);
    char *path = partial_of(&jobs[0], "resume"), *other = text_of("%s/other", scratch);
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

/* Out of room in the middle: what was written is not lost. */
static void out_of_room(void **state)
{
    (void)state;
    int status;
    fresh("out");
    const job *j = &jobs[2]; /* several files, of which each needs its room when it begins */
    assert_true(WIFSIGNALED(run_apart(j, "out", (ending){1, true}, -1)));
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
        cmocka_unit_test(changes_on_the_way),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(locked),
        cmocka_unit_test(by_a_second_name),
        cmocka_unit_test(out_of_room),
    };
    scratch = scratch_make();
    source = text_of("%s/source.safetensors", scratch);
    make_source(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(source);
    scratch_remove(scratch);
    return failed;
}
