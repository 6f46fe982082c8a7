/*
 * Interrupts conversions during commit, and checks that the next run completes them. For each call
 * after the last tensor byte was written, four runs are tested: one is killed instead of the call,
 * one is killed halfway through the call, and in two the call fails. The next run must make the
 * same files, leave no other files, and write no tensor byte again. For a file that is copied
 * unchanged, this is done for all calls from its first byte on, and bytes that were already copied
 * must not be written again.
 *
 *   fault_resume [STEP]  tests every STEPth case; for operations that refuse to replace an existing
 *                        output, also every case in which the process is killed instead of a call
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "world.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 4096

static layer_call kinds[CALLS];
static uint64_t step = 1, number, tried, ended, taken, failed;
static bool shares;

#define PIECE 2000 /* bytes per copy call, so that a file needs several calls */

/* Results of running a scene without faults: contents of the directory before and after the run,
 * counts of the layer, and the values of all_given_at and bytes_given (world.h). */
typedef struct whole {
    tree old, now;
    uint64_t calls, given_at, put, copied, bytes;
} whole;

static bool is_as_it_is(const scene *s)
{
    return strstr(s->name, "as it is") != NULL;
}

static wb_status run(const scene *s, wb_error *error)
{
    *error = (wb_error){.code = ""};
    layer.mask = LAYER_SYSTEM;
    layer.most = is_as_it_is(s) ? PIECE : 0;
    layer.on = true;
    wb_status status = s->run(error);
    layer.on = false;
    return status;
}

static void set_up(const scene *s)
{
    empty_folder("out");
    s->prepare();
    layer_reset();
}

/* Runs the scene without faults and records the results in `w`. Returns false if the file system
 * shared the data of input and output (reflink), because then there is no copying to resume. */
static bool learn(const scene *s, whole *w)
{
    wb_error error;
    set_up(s);
    look("out", &w->old);
    layer.kinds = kinds;
    layer.capacity = CALLS;
    wb_status status = run(s, &error);
    layer.kinds = NULL;
    look("out", &w->now);
    w->calls = layer.calls;
    w->put = layer.put;
    w->copied = layer.copied;
    w->given_at = all_given_at;
    w->bytes = bytes_given;
    uint64_t written = is_as_it_is(s) ? w->copied : w->put;
    bool is_shared = is_as_it_is(s) && status == WB_OK && written == 0;
    if (status != WB_OK || w->calls > CALLS || w->given_at >= w->calls || w->bytes == 0 ||
        (written < w->bytes && !is_shared)) {
        fprintf(stderr, "%s: %s\n", s->name, error.message);
        broken("learning", s->name);
    }
    return !is_shared;
}

static void fail(const scene *s, const layer_fault *f, const char *what, const wb_error *error)
{
    if (++failed > 4)
        return;
    fprintf(stderr, "%s: %s, after call %llu (%s) %s: %s\n", s->name, what,
            (unsigned long long)f->at, layer_names[kinds[f->at - 1]],
            f->kind == LAYER_ERRNO ? strerror(f->error) : "was the last", error->message);
}

/* Returns how many bytes of an unchanged copy of a file the next run can reuse. If the copy is
 * complete and already has its name as a blob, returns 0: another model may use this blob, so the
 * next run may copy the source file again. */
static uint64_t left_of(const tree *t, uint64_t bytes)
{
    static const char end[] = ".wb-partial";
    uint64_t left = 0;
    for (size_t i = 0; i < t->count; i++) {
        const entry *e = &t->entries[i];
        size_t n = strlen(e->path);
        if (strstr(e->path, "blobs/sha256-") != NULL && e->size == bytes)
            return 0;
        if (!e->is_folder && n > sizeof end && strcmp(e->path + n - (sizeof end - 1), end) == 0)
            left += e->size;
    }
    return left;
}

static bool is_repeated(const scene *s, const whole *w, uint64_t left)
{
    return is_as_it_is(s) ? layer.copied + left > w->copied : layer.put + w->bytes > w->put;
}

static void attempt(const scene *s, const whole *w, layer_fault fault)
{
    wb_error error = {.message = ""};
    tree seen;
    set_up(s);
    layer.fault[0] = fault;
    pid_t child = fork();
    if (child == 0) {
        (void)run(s, &error);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        broken("forking", s->name);
    tried++;
    look("out", &seen);
    uint64_t left = is_as_it_is(s) ? left_of(&seen, w->bytes) : 0;
    taken += left > 0;
    without_temporaries(&seen);
    bool is_done = same(&seen, &w->now); /* complete: the next run may repeat the work or refuse */
    ended += is_done;
    layer_reset();
    wb_status status = run(s, &error);
    bool repeated = is_repeated(s, w, left);
    look("out", &seen);
    if (status != WB_OK && !(s->repeats && is_done))
        fail(s, &fault, "the next run fails", &error);
    if (!same(&seen, &w->now)) {
        fail(s, &fault, "the next run makes something else", &error);
        if (failed < 4) {
            show(&seen, "  is");
            show(&w->now, "  should be");
        }
    } else if (!is_done && repeated) {
        fail(s, &fault, "the next run does it all again", &error);
    }
}

static void attempt_all(const scene *s)
{
    static whole w;
    static const layer_fault faults[] = {
        {LAYER_KILL, 0, 0}, {LAYER_TEAR, 0, 0}, {LAYER_ERRNO, 0, EIO}, {LAYER_ERRNO, 0, ENOSPC}};
    if (!learn(s, &w)) {
        shares = true;
        return;
    }
    for (uint64_t at = w.given_at + 1; at <= w.calls; at++) {
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
            layer_fault fault = faults[i];
            fault.at = at;
            /* In such a scene, a kill rarely leaves complete output. So that these cases are
             * tested, no kill is skipped. */
            bool is_rare = s->repeats && fault.kind == LAYER_KILL;
            if (number++ % step == 0 || is_rare)
                attempt(s, &w, fault);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        step = strtoull(argv[1], NULL, 10) | 1; /* odd, because the four kinds of faults alternate:
                                              * an even step would skip some kinds */
    world_begin();
    scenes_begin();
    for (size_t i = 0; i < scene_count; i++) {
        if (strstr(scenes[i].name, "resumable") != NULL)
            attempt_all(&scenes[i]);
    }
    world_end();
    printf("%llu runs broken off, %llu of them when all was done, %llu with a part of a file, %llu "
           "failed\n",
           (unsigned long long)tried, (unsigned long long)ended, (unsigned long long)taken,
           (unsigned long long)failed);
    return failed != 0 || (taken == 0 && !shares);
}
