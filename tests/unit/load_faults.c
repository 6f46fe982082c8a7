/*
 * Tests wb_load with injected faults.
 *
 * Each read in turn is interrupted, returns fewer bytes, fails, or finds the end of the file, in
 * every I/O mode, with one thread and with four. After a recoverable fault, the same bytes must be
 * delivered. Any other fault must give an error with the file and the exact offset. No descriptor
 * or memory may leak, and no thread may wait forever (an alarm ends the test).
 *
 * The test replaces two parts of the system. Its io_uring completes reads in another order and can
 * fail; the real one is used in one test. Its page cache does not depend on what the kernel evicts.
 *
 * wraps: pread64 mmap64 open64 fstatfs64 wb__source_cached wb__ring_open wb__ring_begin
 * wb__ring_take wb__ring_close
 */
#include "descriptors.h"
#include "executor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "io/direct.h"
#include "io/ring.h"

enum { FILES = 3, LANES = 4, PIECE = 64 << 10, CALLS_MAX = 64, UNDER_WAY = 64, EXT4 = 0xEF53 };

static char *folder;
static char *paths[FILES];

/* Writes files with unaligned sizes. wb_load reads a file in pieces; some elements begin in one
 * piece and end in the next. */
static void make_files(void)
{
    static const char header[] =
        "{\"%d.a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
        "\"%d.b\":{\"dtype\":\"BF16\",\"shape\":[60001],\"data_offsets\":[3,120005]},"
        "\"%d.c\":{\"dtype\":\"F32\",\"shape\":[20000],\"data_offsets\":[120005,200005]}}";
    folder = scratch_make();
    for (int f = 0; f < FILES; f++) {
        char *text = text_of(header, f, f, f);
        paths[f] = text_of("%s/model-0000%d-of-0000%d.safetensors", folder, f + 1, FILES);
        st_write(paths[f], text, 200005);
        free(text);
    }
}

/* ---- faults ---- */

typedef enum fault_kind { INTERRUPTED, LESS, FAILS } fault_kind;

#define ENDED (-1) /* as os_error: the read returns 0, as at the end of the file */

typedef struct fault {
    const char *name;
    fault_kind kind;
    int os_error;   /* errno with which the affected calls fail; 0: none fails. If `kind` is
                     * LESS, the first affected call returns fewer bytes instead of failing */
    size_t less;    /* if `kind` is LESS: maximum number of bytes returned */
    unsigned times; /* number of consecutive affected calls */
} fault;

typedef enum ring_kind {
    NO_RING,
    REAL_RING,
    OUR_RING,
    RING_THAT_BREAKS,
    RING_THAT_BEGINS_LITTLE
} ring_kind;

static struct {
    const fault *what;
    unsigned at;                 /* number of the first affected call, counted from 1 */
    _Atomic unsigned calls;      /* number of reads so far */
    _Atomic unsigned misaligned; /* number of misaligned direct reads */
    _Atomic unsigned maps;
    _Atomic unsigned befallen;
    _Atomic uint64_t offsets[CALLS_MAX]; /* offsets of the reads that failed */
    uint32_t medium; /* f_type reported for every file system; 0: the real one */
    bool no_maps;
    bool cold; /* true: nothing is in the page cache; false: everything is */
    ring_kind ring;
    _Atomic unsigned rung; /* number of reads started with io_uring */
} world;

static void world_reset(const fault *what, unsigned at)
{
    world.what = what;
    world.at = at;
    world.calls = world.misaligned = world.maps = world.befallen = 0;
    world.medium = 0;
    world.no_maps = world.cold = false;
    world.ring = NO_RING;
    world.rung = 0;
}

ssize_t __real_pread64(int fd, void *dst, size_t n, off_t offset);
ssize_t __wrap_pread64(int fd, void *dst, size_t n, off_t offset);
void *__real_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
int __real_fstatfs64(int fd, struct statfs *fs);
int __wrap_fstatfs64(int fd, struct statfs *fs);

/* Destination buffers of pending reads, which no other thread may use. */
static struct {
    pthread_mutex_t lock;
    struct {
        const unsigned char *dst;
        size_t n;
    } reads[UNDER_WAY];
} under_way = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void check_not_under_way(const void *dst, size_t n)
{
    const unsigned char *at = dst;
    (void)pthread_mutex_lock(&under_way.lock);
    for (size_t i = 0; i < UNDER_WAY; i++)
        assert_false(under_way.reads[i].dst != NULL &&
                     at < under_way.reads[i].dst + under_way.reads[i].n &&
                     under_way.reads[i].dst < at + n);
    (void)pthread_mutex_unlock(&under_way.lock);
}

static void note_under_way(const void *dst, size_t n, const void *instead_of)
{
    bool noted = false;
    (void)pthread_mutex_lock(&under_way.lock);
    for (size_t i = 0; i < UNDER_WAY && !noted; i++) {
        noted = under_way.reads[i].dst == instead_of;
        if (noted) {
            under_way.reads[i].dst = dst;
            under_way.reads[i].n = n;
        }
    }
    (void)pthread_mutex_unlock(&under_way.lock);
    assert_true(noted);
}

static ssize_t read_or_fail(int fd, void *dst, size_t n, off_t offset)
{
    unsigned call = atomic_fetch_add(&world.calls, 1) + 1;
    bool direct = is_direct(fd);
    if (direct && ((uintptr_t)dst % 4096 != 0 || n % 4096 != 0 || offset % 4096 != 0))
        world.misaligned++;
    if (world.what == NULL || call < world.at || call >= world.at + world.what->times)
        return __real_pread64(fd, dst, n, offset);
    const fault *what = world.what;
    if (what->kind == LESS && (what->os_error == 0 || call == world.at))
        return __real_pread64(fd, dst, what->less < n ? what->less : n, offset);
    unsigned befallen = atomic_fetch_add(&world.befallen, 1);
    if (befallen < CALLS_MAX)
        world.offsets[befallen] = (uint64_t)offset;
    errno = what->os_error;
    return what->os_error == ENDED ? 0 : -1;
}

ssize_t __wrap_pread64(int fd, void *dst, size_t n, off_t offset)
{
    check_not_under_way(dst, n);
    return read_or_fail(fd, dst, n, offset);
}

void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (fd >= 0 && flags & MAP_PRIVATE) { /* mappings for mincore are shared: not counted */
        world.maps++;
        if (world.no_maps) {
            errno = ENOMEM;
            return MAP_FAILED;
        }
    }
    return __real_mmap64(at, n, protection, flags, fd, offset);
}

int __wrap_fstatfs64(int fd, struct statfs *fs)
{
    int result = __real_fstatfs64(fd, fs);
    if (world.medium != 0)
        memcpy(&fs->f_type, &(long){(long)world.medium}, sizeof fs->f_type);
    return result;
}

bool __wrap_wb__source_cached(const wb__source *source, uint64_t offset, uint64_t n,
                              uint64_t *cached);

bool __wrap_wb__source_cached(const wb__source *source, uint64_t offset, uint64_t n,
                              uint64_t *cached)
{
    (void)source, (void)offset;
    *cached = world.cold ? 0 : n;
    return true;
}

/* ---- a ring ---- */

enum { RING_MOST = 128 };

struct wb__ring {
    wb_allocator allocator;
    struct {
        int fd;
        uint64_t offset;
        void *dst;
        size_t n;
        unsigned tag;
    } reads[RING_MOST];
    size_t n;
    unsigned begun, taken;
};

wb__ring *__real_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
void __real_wb__ring_close(wb__ring *ring);
void __wrap_wb__ring_close(wb__ring *ring);
bool __real_wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst,
                           size_t n, unsigned tag);
bool __wrap_wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst,
                           size_t n, unsigned tag);
size_t __real_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);
size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);

wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote)
{
    if (world.ring == NO_RING)
        return NULL;
    if (world.ring == REAL_RING)
        return __real_wb__ring_open(allocator, depth, remote);
    assert_true(depth > 0 && depth <= RING_MOST);
    wb__ring *ring = wb__alloc_zeroed(allocator, sizeof *ring);
    assert_non_null(ring);
    ring->allocator = *allocator;
    return ring;
}

void __wrap_wb__ring_close(wb__ring *ring)
{
    if (world.ring == REAL_RING || ring == NULL) {
        __real_wb__ring_close(ring);
        return;
    }
    assert_true(ring->n == 0); /* no read may be pending */
    wb_allocator allocator = ring->allocator;
    wb__free(&allocator, ring, sizeof *ring);
}

bool __wrap_wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst,
                           size_t n, unsigned tag)
{
    world.rung++;
    if (world.ring == REAL_RING)
        return __real_wb__ring_begin(ring, direct, offset, dst, n, tag);
    if ((world.ring == RING_THAT_BEGINS_LITTLE && ring->begun >= 3) ||
        (world.ring == RING_THAT_BREAKS && ring->taken > 2))
        return false;
    ring->begun++;
    assert_true(ring->n < RING_MOST);
    check_not_under_way(dst, n);
    note_under_way(dst, n, NULL);
    ring->reads[ring->n].fd = direct->fd;
    ring->reads[ring->n].offset = offset;
    ring->reads[ring->n].dst = dst;
    ring->reads[ring->n].n = n;
    ring->reads[ring->n++].tag = tag;
    return true;
}

/*
 * Completes two reads, the last one first. No other thread may use the buffer of a read until this
 * function has reported the read, even if the read failed.
 */
size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    size_t n = 0;
    if (world.ring == REAL_RING)
        return __real_wb__ring_take(ring, done, most);
    assert_true(ring->n > 0 && most > 1);
    ring->taken++;
    for (; ring->n > 0 && n < 2; n++) {
        ring->n--;
        uint8_t *dst = ring->reads[ring->n].dst;
        ssize_t got = -1;
        errno = EBADF;
        if (world.ring != RING_THAT_BREAKS || ring->taken <= 2)
            got = read_or_fail(ring->reads[ring->n].fd, dst, ring->reads[ring->n].n,
                               (off_t)ring->reads[ring->n].offset);
        done[n] = (wb__ring_done){ring->reads[ring->n].tag, got < 0 ? -errno : got};
        if (got < 0)
            memset(dst, 0xEE, ring->reads[ring->n].n);
        note_under_way(NULL, 0, dst);
    }
    return n;
}

/* ---- counted resources ---- */

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void *shared_alloc(void *ctx, size_t bytes)
{
    (void)pthread_mutex_lock(&counting);
    void *memory = counter_alloc(ctx, bytes);
    (void)pthread_mutex_unlock(&counting);
    return memory;
}

static void shared_free(void *ctx, void *memory, size_t bytes)
{
    (void)pthread_mutex_lock(&counting);
    counter_free(ctx, memory, bytes);
    (void)pthread_mutex_unlock(&counting);
}

/* ---- threads ---- */

static size_t thread_count = LANES;
static const wb_executor threads = {&thread_count, crew_run};

/* ---- loading ---- */

/* Options of a load, chosen so that different code paths are tested. */
typedef struct manner {
    wb_access access;
    wb_io io;
    uint32_t flags;
    bool in_threads;
    bool in_place; /* pieces are read into the caller's memory, at odd addresses */
    ring_kind ring;
    bool on_device; /* the pieces are also uploaded to a device */
    bool cold;      /* the files are on a local disk and not in the page cache */
} manner;

typedef struct arrival {
    _Atomic uint64_t bytes, hash; /* of all pieces; the hash does not depend on their order */
    _Atomic unsigned digests;
    unsigned char *room;
} arrival;

static uint64_t hash_of(uint64_t hash, const unsigned char *at, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static int consume(void *ctx, const wb_piece *piece)
{
    arrival *a = ctx;
    a->hash += hash_of(piece->tensor * 1000003 + piece->at, piece->data, piece->bytes);
    a->bytes += piece->bytes;
    return 0;
}

static void *place(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes)
{
    arrival *a = ctx;
    (void)bytes;
    return a->room + file * (1 << 19) + offset + 1;
}

static void take_digest(void *ctx, uint64_t file, const uint8_t sha256[32])
{
    arrival *a = ctx;
    (void)file;
    (void)sha256;
    a->digests++;
}

/* ---- a device that copies as late as possible ---- */

static _Atomic unsigned going_up;
static _Atomic uint64_t taken_up;

typedef struct upload {
    const void *src;
    uint64_t n, hash;
} upload;

static wb_status take_later(void *ctx, void *handle, uint64_t offset, const void *src, uint64_t n,
                            void **event)
{
    upload *u = malloc(sizeof *u);
    (void)ctx, (void)handle, (void)offset;
    assert_non_null(u);
    *u = (upload){src, n, hash_of(0, src, n)};
    *event = u;
    going_up++;
    return WB_OK;
}

/* Completes an upload. Its source must not have changed since the upload began. */
static wb_status take_now(void *ctx, void *event)
{
    upload *u = event;
    (void)ctx;
    assert_int_equal(hash_of(0, u->src, u->n), u->hash);
    taken_up += u->n;
    going_up--;
    free(u);
    return WB_OK;
}

static void *target(void *ctx, const wb_piece *piece, uint64_t *offset)
{
    *offset = piece->at;
    return ctx;
}

static const wb_device device = {.size = sizeof device, .upload = take_later, .wait = take_now};

static wb_status load(const wb_model *model, const manner *how, arrival *a, wb_load_report *told,
                      wb_error *error)
{
    wb_load_options options = {.size = sizeof options,
                               .io = how->io,
                               .flags = how->flags,
                               .dtype = WB_DTYPE_F16,
                               .lanes = LANES,
                               .memory = LANES * PIECE,
                               .executor = how->in_threads ? &threads : NULL,
                               .ctx = a,
                               .consume = consume,
                               .place = how->in_place ? place : NULL,
                               .digest = take_digest,
                               .device = how->on_device ? &device : NULL,
                               .target = target};
    taken_up = 0;
    *told = (wb_load_report){.size = sizeof *told};
    a->bytes = a->hash = a->digests = 0;
    return wb_load(model, &options, told, error);
}

static void check_failure(const fault *what, wb_status status, const wb_error *error)
{
    assert_int_equal(status, WB_ERROR_IO);
    assert_string_equal(error->code, what->os_error == ENDED ? "file-ends-early" : "io");
    bool told_of = false; /* if several threads met a fault, any of these faults may be reported */
    for (unsigned i = 0; i < world.befallen && i < CALLS_MAX; i++)
        told_of |= error->offset == world.offsets[i];
    assert_true(told_of);
    assert_true(strstr(error->file, ".safetensors") != NULL);
}

/* Loads with a fault at the nth read, and checks the result. Returns false if there are fewer
 * reads. */
static bool try_fault(const manner *how, const fault *what, unsigned nth, arrival *a,
                      const arrival *expected)
{
    counter c = {0};
    const wb_allocator allocator = {&c, shared_alloc, shared_free};
    const wb_open_options open = {
        .size = sizeof open, .access = how->access, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    wb_load_report told;
    unsigned descriptors = open_descriptors();
    assert_int_equal(wb_open(folder, &open, &model, &error), WB_OK);
    world_reset(what, nth);
    world.ring = how->ring;
    world.cold = how->cold;
    world.medium = how->cold ? EXT4 : 0;
    wb_status status = load(model, how, a, &told, &error);
    bool befell = world.calls >= nth;
    unsigned rung = world.rung;
    /* EINVAL from a direct read only means that direct I/O is not supported, so the load must
     * succeed. */
    bool gone_on = world.befallen == 0 || what->kind == INTERRUPTED ||
                   (what->os_error == EINVAL && (how->io == WB_IO_DIRECT || how->cold));
    if (gone_on && status != WB_OK && what->os_error == EINVAL)
        gone_on = false; /* The failed read was not a direct read, so the load may fail. An element
                          * that two pieces share is read through the page cache. */
    /* A read that failed in io_uring is repeated with pread, so the load may succeed. */
    if (rung > 0 && what->times < 1000)
        gone_on = status == WB_OK;
    if (gone_on) {
        assert_int_equal(status, WB_OK);
        assert_int_equal(a->bytes, expected->bytes);
        assert_int_equal(a->hash, expected->hash);
        assert_int_equal(a->digests, expected->digests);
        assert_int_equal(told.bytes, told.mapped + told.copied + told.direct);
        assert_int_equal(told.uploaded, how->on_device ? a->bytes : 0);
        assert_int_equal(taken_up, told.uploaded);
    } else {
        check_failure(what, status, &error);
        assert_true(a->digests <= FILES);
    }
    assert_int_equal(world.misaligned, 0);
    assert_int_equal(going_up, 0);
    assert_true((rung > 0) == (how->ring != NO_RING));
    world_reset(NULL, 0);
    wb_close(model);
    assert_clean(&c);
    assert_int_equal(open_descriptors(), descriptors);
    return befell;
}

static const fault faults[] = {
    {"interrupted", INTERRUPTED, EINTR, 0, 3},
    {"one byte", LESS, 0, 1, 2},
    {"a sector", LESS, 0, 512, 1},
    {"less than asked", LESS, 0, 8192, 4},
    {"a sector, then EIO", LESS, EIO, 512, 2},
    {"pages, then EIO", LESS, EIO, 8192, 2},
    {"EIO", FAILS, EIO, 0, 1},
    {"EIO from then on", FAILS, EIO, 0, 1000000},
    {"ENXIO", FAILS, ENXIO, 0, 1},
    {"EINVAL", FAILS, EINVAL, 0, 1},
    {"a page, then the end", LESS, ENDED, 4096, 2},
    {"the end", FAILS, ENDED, 0, 1},
    {"the end from then on", FAILS, ENDED, 0, 1000000},
};

static void every_read_may_fail(void **state)
{
    static const manner manners[] = {
        {WB_ACCESS_READ, WB_IO_READ, 0, false, false, NO_RING, false, false},
        {WB_ACCESS_READ, WB_IO_READ, WB_LOAD_DIGEST | WB_LOAD_CONVERT, true, true, NO_RING, false,
         false},
        {WB_ACCESS_READ, WB_IO_DIRECT, WB_LOAD_CONVERT, false, false, NO_RING, false, false},
        {WB_ACCESS_READ, WB_IO_DIRECT, WB_LOAD_DIGEST, true, true, NO_RING, false, false},
        {WB_ACCESS_READ, WB_IO_AUTO, WB_LOAD_DIGEST | WB_LOAD_CONVERT, true, false, NO_RING, false,
         false},
        {WB_ACCESS_MAP, WB_IO_MAP, WB_LOAD_CONVERT, false, false, NO_RING, false, false},
        {WB_ACCESS_READ, WB_IO_DIRECT, 0, false, false, OUR_RING, false, false},
        {WB_ACCESS_READ, WB_IO_DIRECT, WB_LOAD_DIGEST, true, true, OUR_RING, false, false},
        {WB_ACCESS_MAP, WB_IO_DIRECT, WB_LOAD_CONVERT, true, false, RING_THAT_BREAKS, false, false},
        {WB_ACCESS_READ, WB_IO_DIRECT, WB_LOAD_DIGEST, false, false, RING_THAT_BEGINS_LITTLE, false,
         false},
        {WB_ACCESS_READ, WB_IO_DIRECT, 0, false, false, OUR_RING, true, false},
        {WB_ACCESS_READ, WB_IO_DIRECT, WB_LOAD_DIGEST, true, false, OUR_RING, true, false},
        {WB_ACCESS_READ, WB_IO_DIRECT, WB_LOAD_CONVERT, true, false, RING_THAT_BREAKS, true, false},
        {WB_ACCESS_READ, WB_IO_READ, 0, true, false, NO_RING, true, false},
        {WB_ACCESS_READ, WB_IO_AUTO, WB_LOAD_DIGEST, true, true, NO_RING, false, true},
        {WB_ACCESS_MAP, WB_IO_AUTO, WB_LOAD_CONVERT, true, false, OUR_RING, true, true},
    };
    arrival a = {0}, expected;
    a.room = malloc(FILES * (1 << 19) + 8192);
    (void)state;
    for (size_t m = 0; m < sizeof manners / sizeof *manners; m++) {
        unsigned tried = 0;
        assert_false(try_fault(&manners[m], &faults[0], 1000, &a, &a));
        expected = a;
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
            unsigned nth = 1;
            while (try_fault(&manners[m], &faults[f], nth, &a, &expected)) {
                nth += is_slow() ? 5 : 1;
                tried++;
            }
            assert_true(nth > 1);
        }
        assert_true(tried > 10);
    }
    free(a.room);
}

/* Tests the real io_uring, if it is available, with one thread and with four. */
static void a_ring_reads_the_same(void **state)
{
    static const uint32_t flags[] = {0, WB_LOAD_DIGEST, WB_LOAD_CONVERT};
    arrival a = {0}, expected;
    wb__ring *ring = is_slow() ? NULL : __real_wb__ring_open(&wb__default_allocator, 4, true);
    (void)state;
    if (ring == NULL)
        skip(); /* valgrind does not track writes by io_uring */
    __real_wb__ring_close(ring);
    a.room = malloc(FILES * (1 << 19) + 8192);
    for (unsigned round = 0; round < 24; round++) {
        manner how = {WB_ACCESS_READ,     WB_IO_DIRECT, flags[round % 3], round / 3 % 2 != 0,
                      round / 6 % 2 != 0, NO_RING,      round / 12 != 0,  false};
        assert_false(try_fault(&how, &faults[0], 1000, &a, &a));
        expected = a;
        how.ring = REAL_RING;
        assert_false(try_fault(&how, &faults[0], 1000, &a, &expected));
        assert_int_equal(a.hash, expected.hash);
    }
    free(a.room);
}

/* If mmap fails, the file must be read instead, unless WB_IO_MAP was requested. */
static void what_cannot_be_mapped_is_read(void **state)
{
    static const manner by_itself = {WB_ACCESS_MAP, WB_IO_AUTO, 0,     true,
                                     false,         NO_RING,    false, false};
    static const manner mapped = {WB_ACCESS_MAP, WB_IO_MAP, WB_LOAD_DIGEST, true,
                                  false,         NO_RING,   false,          false};
    const wb_open_options open = {.size = sizeof open, .access = WB_ACCESS_MAP};
    arrival a = {0};
    wb_model *model;
    wb_error error;
    wb_load_report told;
    (void)state;
    world_reset(NULL, 0);
    assert_int_equal(wb_open(folder, &open, &model, &error), WB_OK);
    world.no_maps = true;
    assert_int_equal(load(model, &mapped, &a, &told, &error), WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.file, paths[0]);
    assert_int_equal(load(model, &by_itself, &a, &told, &error), WB_OK);
    assert_int_equal(told.mapped, 0);
    wb_close(model);
}

/* Files on network file systems must not be mapped or read with direct I/O, unless requested. */
static void files_of_other_machines_are_read(void **state)
{
    static const uint32_t networks[] = {0x6969,     0xff534d42, 0xfe534d42, 0x65735546,
                                        0x0bd00bd0, 0x01021997, 0x00c36400};
    static const manner by_itself = {WB_ACCESS_MAP, WB_IO_AUTO, 0,     true,
                                     false,         NO_RING,    false, false};
    static const manner mapped = {WB_ACCESS_MAP, WB_IO_MAP, 0, false, false, NO_RING, false, false};
    const wb_open_options open = {.size = sizeof open, .access = WB_ACCESS_MAP};
    arrival a = {0};
    wb_model *model;
    wb_error error;
    wb_load_report told;
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        world_reset(NULL, 0);
        assert_int_equal(wb_open(folder, &open, &model, &error), WB_OK);
        world.medium = networks[i];
        assert_int_equal(load(model, &by_itself, &a, &told, &error), WB_OK);
        assert_int_equal(told.copied, told.bytes);
        assert_int_equal(world.maps, 0);
        assert_int_equal(load(model, &mapped, &a, &told, &error), WB_OK);
        assert_int_equal(told.mapped, told.bytes);
        wb_close(model);
    }
    world_reset(NULL, 0);
}

/* ---- a source of the caller ---- */

typedef struct stingy {
    const unsigned char *bytes;
    uint64_t n;
    unsigned calls, fail_at;
    uint64_t failed_at;
    uint64_t random;
} stingy;

/* Gives fewer bytes than requested. Call number `fail_at` fails. */
static wb_status stingy_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    stingy *s = ctx;
    size_t most = (size_t)(next_random(&s->random) % 50000) + 1;
    if (++s->calls == s->fail_at) {
        s->failed_at = offset;
        return WB_ERROR_IO;
    }
    *got = n < most ? n : most;
    memcpy(dst, s->bytes + offset, *got);
    return WB_OK;
}

static void sources_may_give_less(void **state)
{
    static const manner how = {WB_ACCESS_READ, WB_IO_AUTO, WB_LOAD_DIGEST, false,
                               false,          NO_RING,    false,          false};
    size_t n;
    unsigned char *bytes = read_file(paths[1], &n);
    uint64_t expected = 0;
    bool befell = true;
    (void)state;
    for (unsigned nth = 0; befell; nth++) {
        stingy s = {.bytes = bytes, .n = n, .random = 7};
        const wb_source source = {
            .size = sizeof source, .ctx = &s, .bytes = n, .read = stingy_read};
        arrival a = {0};
        wb_model *model;
        wb_error error;
        wb_load_report told;
        assert_int_equal(wb_open_source(&source, "stingy", NULL, &model, &error), WB_OK);
        s.calls = 0;
        s.fail_at = nth;
        wb_status status = load(model, &how, &a, &told, &error);
        befell = nth == 0 || s.calls >= nth;
        if (nth == 0)
            expected = a.hash;
        if (nth == 0 || !befell) {
            assert_int_equal(status, WB_OK);
            assert_int_equal(a.hash, expected);
        } else {
            assert_int_equal(status, WB_ERROR_IO);
            assert_int_equal(error.offset, s.failed_at);
        }
        wb_close(model);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_read_may_fail),
        cmocka_unit_test(a_ring_reads_the_same),
        cmocka_unit_test(what_cannot_be_mapped_is_read),
        cmocka_unit_test(files_of_other_machines_are_read),
        cmocka_unit_test(sources_may_give_less),
    };
    (void)alarm(is_slow() ? 850 : 280);
    make_files();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int f = 0; f < FILES; f++)
        free(paths[f]);
    scratch_remove(folder);
    return failed;
}
