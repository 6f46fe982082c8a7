/*
 * Tests io_uring reads if the kernel begins to refuse io_uring calls, as it does when a process
 * enters a sandbox. All pending reads must complete before their buffers can be reused, and no
 * further read may start.
 */
#define _GNU_SOURCE
#include "support.h"

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "io/ring.h"

enum { READS = 8, ROUNDS = 4 };

#define READ_BYTES ((size_t)256 << 10)

static char *path;
static unsigned char *expected, *memory;

/* Makes io_uring_enter fail with errno `how` in the calling thread, which cannot be undone. */
static bool refuse_rings(int how)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 426 /* io_uring_enter, on every architecture */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)how),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

typedef struct trial {
    int refuses; /* errno of refused calls; 0: none are refused */
    unsigned taken_before;
    bool only_closes;
    bool remote;
    bool skipped;
} trial;

static unsigned take(wb__ring *ring, bool *seen)
{
    wb__ring_done done[3];
    size_t n = wb__ring_take(ring, done, 3);
    for (size_t i = 0; i < n; i++) {
        assert_true(done[i].tag < READS && !seen[done[i].tag]);
        seen[done[i].tag] = true;
        assert_int_equal(done[i].result, READ_BYTES);
        assert_memory_equal(memory + done[i].tag * READ_BYTES, expected + done[i].tag * READ_BYTES,
                            READ_BYTES);
    }
    return (unsigned)n;
}

static void *attempt(void *arg)
{
    trial *t = arg;
    wb__direct direct = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT)};
    wb__ring *ring = direct.fd < 0 ? NULL : wb__ring_open(&wb__default_allocator, READS, t->remote);
    bool seen[READS] = {false};
    unsigned taken = 0;
    t->skipped = ring == NULL;
    if (ring == NULL) {
        wb__direct_close(&direct);
        return NULL;
    }
    memset(memory, 0, READS * READ_BYTES);
    wb__ring_done none;
    assert_int_equal(wb__ring_take(ring, &none, 1), 0);
    for (unsigned i = 0; i < READS; i++)
        assert_true(
            wb__ring_begin(ring, &direct, i * READ_BYTES, memory + i * READ_BYTES, READ_BYTES, i));
    assert_false(wb__ring_begin(ring, &direct, 0, memory, READ_BYTES, 0)); /* the ring is full */
    while (taken < t->taken_before)
        taken += take(ring, seen);
    t->skipped = t->refuses != 0 && !refuse_rings(t->refuses);
    if (!t->only_closes) {
        while (taken < READS)
            taken += take(ring, seen);
        assert_int_equal(taken, READS);
        assert_int_equal(wb__ring_take(ring, &none, 1), 0);
        assert_true(wb__ring_begin(ring, &direct, 0, memory, READ_BYTES, 0) == (t->refuses == 0));
    }
    wb__ring_close(ring);
    /* wb__ring_close must have waited for all reads. */
    if (t->only_closes)
        assert_memory_equal(memory, expected, READS * READ_BYTES);
    wb__direct_close(&direct);
    return NULL;
}

static void what_was_begun_is_given_back(void **state)
{
    static const trial trials[] = {
        {.taken_before = 0},
        {.refuses = EPERM},
        {.refuses = EPERM, .taken_before = 1},
        {.refuses = ENOSYS, .only_closes = true},
        {.refuses = EBADF, .taken_before = 5, .only_closes = true},
        {.refuses = EINVAL},
        {.refuses = EBUSY, .taken_before = READS},
    };
    (void)state;
    for (size_t i = 0; i < ROUNDS * sizeof trials / sizeof *trials; i++) {
        trial t = trials[i / ROUNDS];
        t.remote = i % 2 != 0;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, attempt, &t), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (t.skipped)
            skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_begun_is_given_back)};
    (void)alarm(280);
    if (is_slow())
        return 77; /* valgrind does not track writes by io_uring */
    char *folder = scratch_make();
    path = text_of("%s/bytes", folder);
    expected = malloc(READS * READ_BYTES);
    assert_non_null(expected);
    assert_int_equal(posix_memalign((void **)&memory, WB__DIRECT_ALIGNMENT, READS * READ_BYTES), 0);
    uint64_t random = 5;
    for (size_t i = 0; i < READS * READ_BYTES; i++)
        expected[i] = (unsigned char)next_random(&random);
    write_file(path, expected, READS * READ_BYTES);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    free(path);
    free(expected);
    free(memory);
    return failed;
}

#else

int main(void)
{
    return 77;
}

#endif
