/*
 * Conversions that end while they are committed: the process is killed in the place of each call from the last byte of a
 * tensor on, or halfway through it, or the call fails. The next run ends it, gives the same files, leaves nothing
 * else, and writes not one byte of a tensor again.
 *
 *     fault_resume [STEP]
 *
 * tries each STEPth of these only.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "world.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 4096

static layer_call kinds[CALLS];
static uint64_t step = 1, number, tried, ended, failed;

/* What a run does that nothing happens to. */
typedef struct whole {
    tree old, now;
    uint64_t calls, given_at, put, bytes;
} whole;

static wb_status run(const scene *s, wb_error *error)
{
    *error = (wb_error){.code = ""};
    layer.mask = LAYER_SYSTEM;
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

static void learn(const scene *s, whole *w)
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
    w->given_at = all_given_at;
    w->bytes = bytes_given;
    if (status != WB_OK || w->calls > CALLS || w->given_at >= w->calls || w->bytes == 0 ||
        w->put < w->bytes) {
        fprintf(stderr, "%s: %s\n", s->name, error.message);
        broken("learning", s->name);
    }
}

static void fail(const scene *s, const layer_fault *f, const char *what, const wb_error *error)
{
    if (++failed > 4)
        return;
    fprintf(stderr, "%s: %s, after call %llu (%s) %s: %s\n", s->name, what,
            (unsigned long long)f->at, layer_names[kinds[f->at - 1]],
            f->kind == LAYER_ERRNO ? strerror(f->error) : "was the last", error->message);
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
    without_temporaries(&seen);
    bool is_done = same(&seen, &w->now); /* then it may do all again, or be refused */
    ended += is_done;
    layer_reset();
    wb_status status = run(s, &error);
    bool repeated = layer.put + w->bytes > w->put;
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
    learn(s, &w);
    for (uint64_t at = w.given_at + 1; at <= w.calls; at++) {
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
            layer_fault fault = faults[i];
            fault.at = at;
            if (number++ % step == 0)
                attempt(s, &w, fault);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        step = strtoull(argv[1], NULL, 10) | 1; /* odd, so that every fault has its turn */
    world_begin();
    scenes_begin();
    for (size_t i = 0; i < scene_count; i++) {
        if (strstr(scenes[i].name, "resumable") != NULL)
            attempt_all(&scenes[i]);
    }
    world_end();
    printf("%llu runs broken off, %llu of them when all was done, %llu failed\n",
           (unsigned long long)tried, (unsigned long long)ended, (unsigned long long)failed);
    return failed != 0;
}
