/*
 * Injects every fault of a system call into every scene of scenes.c.
 *
 *   fault_writers KIND [COUNT [SEED]]
 *
 * KIND is one of
 *   errno   A call fails with each errno. Either only this call fails, or all later calls of the
 *           same function fail too, or all later calls of any function. Then pairs of such faults.
 *   alloc   An allocation fails, alone or with all later ones. Then pairs.
 *   kill    The process ends instead of a call or halfway through it. Then pairs: one call fails,
 *           and the process ends in a call shortly after it.
 *   short   Reads and writes transfer few bytes, and calls are interrupted.
 *   room    For each N, the disk is full after N bytes, or the file size is limited to N bytes.
 *
 * The test runs about COUNT cases (default: 10,000), evenly distributed over all single faults. If
 * there are fewer single faults, it adds random pairs (errno, alloc, kill). After every fault the
 * complete old or the complete new files must exist. Success may be reported only for the new
 * files. The next run must remove all temporary files. No descriptor and no memory may leak.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "world.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int errors[] = {
    EPERM,  ENOENT,  EINTR,  EIO,       EBADF,      EAGAIN, ENOMEM,  EACCES,       EBUSY,    EEXIST,
    EXDEV,  ENOTDIR, EISDIR, EINVAL,    ENFILE,     EMFILE, ETXTBSY, EFBIG,        ENOSPC,   EROFS,
    EMLINK, ENOSYS,  ELOOP,  EOVERFLOW, EOPNOTSUPP, EDQUOT, ESTALE,  ENAMETOOLONG, ENOTEMPTY};
#define ERRORS (sizeof errors / sizeof *errors)

#define CALLS 4096
#define FAILURES 4 /* number of failures printed; later ones are only counted */

typedef struct known {
    tree old, now;
    uint64_t calls, digest, written;
    layer_call kinds[CALLS];
} known;

static known *knowledge;
static uint64_t tried, failed, left_over, killed;
static uint64_t random_state = 1;

static uint64_t draw(uint64_t below)
{
    /* xorshift64*: Vigna, 2014 */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(0x2545F4914F6CDD1D) >> 16) % below;
}

/* ---- one try ---- */

typedef struct
try {
    size_t scene;
    layer_fault fault[2];
    uint64_t mask, most, room, length;
    bool has_room, has_length, interrupts;
}
try;

static const char *const kind_names[] = {
    "no fault",  "fails",       "fails for good",      "fails, and all after it",
    "does half", "is the last", "is the last, by half"};

static void fail(const try *t, const char *what, wb_status status, const wb_error *error,
                 const tree *seen)
{
    const scene *s = &scenes[t->scene];
    const known *k = &knowledge[t->scene];
    if (++failed > FAILURES)
        return;
    fprintf(stderr, "%s: %s\n", s->name, what);
    for (int i = 0; i < 2; i++) {
        const layer_fault *f = &t->fault[i];
        if (f->kind != LAYER_NONE)
            fprintf(stderr, "  call %llu (%s) %s: %s\n", (unsigned long long)f->at,
                    f->at <= k->calls && f->at > 0 ? layer_names[k->kinds[f->at - 1]] : "?",
                    kind_names[f->kind], strerror(f->error));
    }
    if (t->has_room)
        fprintf(stderr, "  room for %llu bytes\n", (unsigned long long)t->room);
    if (t->has_length)
        fprintf(stderr, "  files of at most %llu bytes\n", (unsigned long long)t->length);
    if (t->most != 0)
        fprintf(stderr, "  %llu bytes at once\n", (unsigned long long)t->most);
    fprintf(stderr, "  status %s: %s\n", wb_status_name(status),
            status == WB_OK ? "" : error->message);
    if (seen != NULL) {
        show(seen, "  is");
        show(&k->old, "  was");
        show(&k->now, "  should be");
    }
}

static void set_up(const try *t)
{
    empty_folder("out");
    scenes[t->scene].prepare();
    layer_reset();
    layer.mask = t->mask;
    layer.fault[0] = t->fault[0];
    layer.fault[1] = t->fault[1];
    layer.most = t->most;
    layer.room = t->room;
    layer.has_room = t->has_room;
    layer.interrupts = t->interrupts;
    read_digest = 0;
}

static wb_status go(const scene *s, wb_error *error)
{
    *error = (wb_error){.code = ""};
    layer.on = true;
    wb_status status = s->run(error);
    layer.on = false;
    return status;
}

/*
 * Returns true if the directory contains the complete old or the complete new files, and sets
 * *is_new if they are the new ones. First undoes an incomplete edit and updates `seen`. Ignores
 * temporary files, and files of an output whose anchor (world.h) is missing or old.
 */
static bool is_old_or_new(const try *t, tree *seen, bool *is_new)
{
    const scene *s = &scenes[t->scene];
    const known *k = &knowledge[t->scene];
    *is_new = same(seen, &k->now);
    if (*is_new || same(seen, &k->old))
        return true;
    static const char *const edited[] = {"m.gguf", "m.safetensors",
                                         "set-00002-of-00003.safetensors"};
    for (size_t i = 0; i < sizeof edited / sizeof *edited; i++) {
        char journal[64], path[64];
        (void)snprintf(journal, sizeof journal, ".%s.wb-journal", edited[i]);
        (void)snprintf(path, sizeof path, "out/%s", edited[i]);
        if (!has(seen, journal))
            continue;
        wb_error error;
        layer_call struck = layer.struck;
        layer_reset();
        layer.on = true;
        wb_status status = wb_edit_recover(at(path), NULL, &error);
        layer.on = false;
        layer.struck = struck;
        if (status != WB_OK)
            return false;
        look("out", seen);
    }
    tree rest = *seen, before = k->old;
    without_temporaries(&rest);
    without_temporaries(&before);
    *is_new = same(&rest, &k->now);
    if (*is_new || same(&rest, &before))
        return true;
    if (s->anchor == NULL || (has(&rest, s->anchor) && !has(&k->old, s->anchor)))
        return false;
    /* The anchor (the file without which the other files are unused) is missing or old, so every
     * other file may be in its old or its new state. */
    static tree either, anchor;
    either = k->now;
    for (size_t i = 0; i < before.count && either.count < ENTRIES; i++)
        either.entries[either.count++] = before.entries[i];
    anchor.count = 0;
    for (size_t i = 0; i < rest.count; i++) {
        if (strcmp(rest.entries[i].path, s->anchor) == 0)
            anchor.entries[anchor.count++] = rest.entries[i];
    }
    return within(&before, &rest) ? within(&rest, &either)
                                  : within(&anchor, &before) && within(&rest, &either);
}

/* Checks that the next run completes the interrupted work and removes temporary files. */
static void check_next(const try *t)
{
    const scene *s = &scenes[t->scene];
    const known *k = &knowledge[t->scene];
    tree seen;
    wb_error error;
    layer_reset();
    wb_status status = go(s, &error);
    look("out", &seen);
    bool there = s->repeats && status != WB_OK;
    if (!same(&seen, &k->now))
        fail(t, "the next run does not end it", status, &error, &seen);
    else if (status != WB_OK && !there)
        fail(t, "the next run fails", status, &error, &seen);
}

static void check_state(const try *t, wb_status status, const wb_error *error, bool was_killed)
{
    const scene *s = &scenes[t->scene];
    const known *k = &knowledge[t->scene];
    tree seen, first;
    bool is_new;
    look("out", &seen);
    first = seen;
    if (!is_old_or_new(t, &seen, &is_new)) {
        fail(t, "torn", status, error, &first);
        return;
    }
    if (!was_killed && status == WB_OK && !is_new) {
        fail(t, "success was told", status, error, &first);
        return;
    }
    tree named = first;
    without_temporaries(&named);
    bool clean =
        same(&first, &k->now) || same(&first, &k->old) || (s->keeps && named.count == first.count);
    if (!clean) {
        left_over++;
        /* After a single failed call, temporary files may remain only if the output is resumable or
         * complete, if undoing the edit failed, or if the call was part of the cleanup. */
        bool may = was_killed || strstr(s->name, "resumable") != NULL || status == WB_OK ||
                   strcmp(error->code, "edit-half-done") == 0 || layer.struck == LAYER_UNLINK ||
                   layer.struck == LAYER_RMDIR || layer.struck == LAYER_OPENDIR ||
                   layer.struck == LAYER_READDIR || t->fault[0].kind == LAYER_LASTING ||
                   t->fault[0].kind == LAYER_FOREVER || t->fault[1].kind != LAYER_NONE;
        if (!may)
            fail(t, "something is left", status, error, &first);
    }
    if (!clean || was_killed)
        check_next(t);
}

static void attempt(const try *t)
{
    const scene *s = &scenes[t->scene];
    const known *k = &knowledge[t->scene];
    wb_error error;
    set_up(t);
    wb_status status = go(s, &error);
    tried++;
    if (layer.descriptors != 0)
        fail(t, "descriptors are lost", status, &error, NULL);
    if (layer.blocks != 0 || layer.wrong)
        fail(t, "memory is lost", status, &error, NULL);
    if (status != error.status)
        fail(t, "the error says something else", status, &error, NULL);
    if (s->reads && status == WB_OK && read_digest != k->digest)
        fail(t, "something else was read", status, &error, NULL);
    if (!s->reads)
        check_state(t, status, &error, false);
}

/* Runs the scene in a child process, because the fault may kill it. */
static void attempt_death(const try *t)
{
    const scene *s = &scenes[t->scene];
    wb_error error;
    int how = 0;
    set_up(t);
    error = (wb_error){.code = ""};
    pid_t child = fork();
    if (child == 0)
        _exit(go(s, &error) == WB_OK ? 0 : 1);
    if (child < 0 || waitpid(child, &how, 0) != child)
        broken("forking", s->name);
    tried++;
    bool died = WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
    if (!died && !WIFEXITED(how))
        fail(t, "another signal", WB_OK, &error, NULL);
    killed += died;
    check_state(t, died || WEXITSTATUS(how) != 0 ? WB_ERROR_IO : WB_OK, &error, died);
}

/* ---- enumeration of the faults ---- */

static void learn(size_t i, uint64_t mask)
{
    known *k = &knowledge[i];
    wb_error error;
    const try t = {.scene = i, .mask = mask};
    layer.kinds = k->kinds;
    layer.capacity = CALLS;
    empty_folder("out");
    scenes[i].prepare();
    look("out", &k->old);
    set_up(&t);
    layer.has_room = true;
    layer.room = UINT64_MAX / 2;
    wb_status status = go(&scenes[i], &error);
    look("out", &k->now);
    k->calls = layer.calls;
    k->digest = read_digest;
    k->written = UINT64_MAX / 2 - layer.room;
    layer.kinds = NULL;
    if (status != WB_OK || k->calls > CALLS) {
        fprintf(stderr, "%s: %s\n", scenes[i].name, error.message);
        broken("learning", scenes[i].name);
    }
}

/* Sets `t` to fault number `n`. Returns false if n is past the last fault. */
typedef bool chooser(uint64_t n, try *t);

static bool is_skipped(const scene *s, bool deadly)
{
    return deadly && s->reads;
}

/* Faults are numbered by scene, then by call, with `per_call` faults for each call. Finds the scene
 * and the call of fault n; *rest is the number of the fault within the call. */
static bool locate(uint64_t n, uint64_t per_call, bool deadly, try *t, uint64_t *rest)
{
    for (size_t i = 0; i < scene_count; i++) {
        uint64_t all = knowledge[i].calls * per_call;
        if (is_skipped(&scenes[i], deadly))
            continue;
        if (n < all) {
            t->scene = i;
            t->fault[0].at = n / per_call + 1;
            *rest = n % per_call;
            return true;
        }
        n -= all;
    }
    return false;
}

/* Replaces errors that mean "does not exist" by EIO for calls that look up a path: the injected
 * fault must not claim that an existing file is missing. */
static int fitting(const known *k, uint64_t at, int error)
{
    static const layer_call asking[] = {LAYER_STAT, LAYER_LSTAT, LAYER_OPEN, LAYER_ACCESS,
                                        LAYER_FSTAT};
    layer_call call = at > 0 && at <= k->calls ? k->kinds[at - 1] : LAYER_CALL_COUNT;
    bool asks = false;
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        asks = asks || call == asking[i];
    return asks && (error == ENOENT || error == ENOTDIR || error == ELOOP) ? EIO : error;
}

static bool choose_errno(uint64_t n, try *t)
{
    uint64_t rest;
    if (!locate(n, ERRORS * 3, false, t, &rest))
        return false;
    int error = fitting(&knowledge[t->scene], t->fault[0].at, errors[rest % ERRORS]);
    t->mask = LAYER_SYSTEM;
    t->fault[0].error = error;
    t->fault[0].kind = (layer_kind)(LAYER_ERRNO + rest / ERRORS);
    /* The library retries after these errors, so the scene would never end if they were
     * permanent. */
    if (error == EINTR || error == EAGAIN || error == EEXIST)
        t->fault[0].kind = LAYER_ERRNO;
    return true;
}

static bool choose_alloc(uint64_t n, try *t)
{
    uint64_t rest;
    if (!locate(n, 2, false, t, &rest))
        return false;
    t->mask = LAYER_MEMORY;
    t->fault[0].error = ENOMEM;
    t->fault[0].kind = rest == 0 ? LAYER_ERRNO : LAYER_FOREVER;
    return true;
}

static bool choose_kill(uint64_t n, try *t)
{
    uint64_t rest;
    if (!locate(n, 2, true, t, &rest))
        return false;
    t->mask = LAYER_SYSTEM;
    t->fault[0].kind = rest == 0 ? LAYER_KILL : LAYER_TEAR;
    return true;
}

/* The first cases shorten the transfer of one call. The later cases limit the bytes of every call,
 * with and without EINTR. */
static bool choose_short(uint64_t n, try *t)
{
    uint64_t rest;
    t->mask = LAYER_SYSTEM;
    if (locate(n, 1, false, t, &rest)) {
        t->fault[0].kind = LAYER_SHORT;
        return true;
    }
    for (size_t i = 0; i < scene_count; i++)
        n -= knowledge[i].calls;
    const uint64_t lengths = 200;
    t->scene = (size_t)(n / (2 * lengths));
    t->interrupts = n % 2 == 0;
    t->most = 1 + (n / 2 % lengths) * (n / 2 % lengths) / 2;
    t->fault[0] = (layer_fault){LAYER_NONE, 0, 0};
    return t->scene < scene_count;
}

static bool choose_room(uint64_t n, try *t)
{
    t->mask = LAYER_SYSTEM;
    for (size_t i = 0; i < scene_count; i++) {
        uint64_t all = scenes[i].reads ? 0 : knowledge[i].written + 2;
        if (n < 2 * all) {
            t->scene = i;
            t->has_room = n < all;
            t->room = n;
            t->has_length = n >= all;
            t->length = n - all;
            return true;
        }
        n -= 2 * all;
    }
    return false;
}

/* Runs the scene with a limit of disk space or file size. If the library did not block SIGXFSZ, the
 * file size limit would end this process. */
static void attempt_room(const try *t)
{
    struct rlimit limit, before;
    if (!t->has_length) {
        attempt(t);
        return;
    }
    const scene *s = &scenes[t->scene];
    wb_error error;
    set_up(t);
    (void)getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = t->length;
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    wb_status status = go(s, &error);
    (void)setrlimit(RLIMIT_FSIZE, &before);
    tried++;
    if (layer.descriptors != 0 || layer.blocks != 0 || layer.wrong)
        fail(t, "descriptors or memory are lost", status, &error, NULL);
    check_state(t, status, &error, false);
}

typedef struct sort {
    const char *name;
    chooser *choose;
    void (*attempt)(const try *t);
    uint64_t mask;
    bool pairs; /* if there are too few single faults, pairs are tested as well */
} sort;

static const sort sorts[] = {
    {"errno", choose_errno, attempt, LAYER_SYSTEM, true},
    {"alloc", choose_alloc, attempt, LAYER_MEMORY, true},
    {"kill", choose_kill, attempt_death, LAYER_SYSTEM, true},
    {"short", choose_short, attempt, LAYER_SYSTEM, false},
    {"room", choose_room, attempt_room, LAYER_SYSTEM, false},
};

static void run(const sort *s, uint64_t wanted)
{
    uint64_t all = 0;
    try t;
    while (t = (try){0}, s->choose(all, &t))
        all++;
    /* The step varies at random, so that the sample contains every errno and every call. */
    uint64_t step = all > wanted ? all / wanted : 1;
    for (uint64_t n = step > 1 ? draw(step) : 0; n < all; n += step - (step > 2 ? draw(2) : 0)) {
        t = (try){0};
        (void)s->choose(n, &t);
        s->attempt(&t);
    }
    while (s->pairs && (s->choose == choose_kill ? killed : tried) < wanted) {
        try other = {0};
        t = (try){0};
        (void)s->choose(draw(all), &t);
        (void)s->choose(draw(all), &other);
        t.fault[1] = other.fault[0];
        t.fault[1].at = t.fault[0].at + 1 + draw(20);
        if (s->choose == choose_kill)
            t.fault[0] =
                (layer_fault){LAYER_ERRNO, t.fault[0].at,
                              fitting(&knowledge[t.scene], t.fault[0].at, errors[draw(ERRORS)])};
        s->attempt(&t);
    }
}

int main(int argc, char **argv)
{
    const sort *s = NULL;
    for (size_t i = 0; argc > 1 && i < sizeof sorts / sizeof *sorts; i++) {
        if (strcmp(argv[1], sorts[i].name) == 0)
            s = &sorts[i];
    }
    if (s == NULL) {
        fprintf(stderr, "fault_writers errno|alloc|kill|short|room [COUNT [SEED]]\n");
        return 4;
    }
    uint64_t wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    random_state = argc > 3 ? strtoull(argv[3], NULL, 10) | 1 : 88172645463325252u;
    (void)signal(SIGPIPE, SIG_DFL);
    world_begin();
    scenes_begin();
    knowledge = calloc(scene_count, sizeof *knowledge);
    if (knowledge == NULL)
        broken("remembering", "scenes");
    for (size_t i = 0; i < scene_count; i++)
        learn(i, s->mask);
    clock_t begin = clock();
    run(s, wanted);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    world_end();
    free(knowledge);
    printf("%s: %llu tried, %llu killed, %llu left something that the next run cleared up, %llu "
           "failed; "
           "%.1f s\n",
           s->name, (unsigned long long)tried, (unsigned long long)killed,
           (unsigned long long)left_over, (unsigned long long)failed, seconds);
    return failed != 0;
}
