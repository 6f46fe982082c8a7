/*
 * A segment is a file that several processes map, and in which they share buffers. Each buffer has
 * a key that identifies its contents.
 *
 *     offset   contents
 *     0        header: magic, length, alignment, start of free space
 *     4096     directory: hash table of SLOTS entries {key, offset, bytes, state}, indexed by the
 *              first bytes of the key
 *     ...      buffers, one after the other; each is preceded by the index of its entry
 *
 * Buffers are never freed individually, because after a process has died it is unknown which
 * buffers it used. They are freed with the file.
 *
 * Processes lock single bytes of the file with fcntl. Byte 0 is locked to use the header and the
 * directory, byte n + 1 while the buffer of entry n is being filled. The kernel releases the locks
 * of a process when it ends. If an entry is locked by no process and its buffer is not complete,
 * the process that filled it died or failed, and the next process may fill it. fcntl locks do not
 * exclude threads of the same process from each other; the members `lock` and `filling` do.
 *
 * Space is reserved in the file before it is accessed, so that a full disk or lack of memory causes
 * an error instead of a signal.
 */
#define _GNU_SOURCE /* for memfd_create */
#define _FILE_OFFSET_BITS 64
#include "device/device.h"
#include "device/device_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31676573656777) /* the bytes "wgeseg1" */
#define DIRECTORY_AT 4096
#define SLOTS 16384u

enum { SLOT_FREE = 0, SLOT_FILLING = 1, SLOT_READY = 2 };

typedef struct slot {
    uint8_t key[WB__KEY_BYTES];
    uint64_t offset;
    uint64_t bytes;
    uint64_t state;
    uint64_t reserved;
} slot;

typedef struct header {
    uint64_t magic;
    uint64_t bytes;
    uint64_t alignment;
    uint64_t used;
} header;

#define DATA_AT (DIRECTORY_AT + (uint64_t)SLOTS * sizeof(slot))

struct wb__segment {
    wb_allocator allocator;
    int fd;
    uint8_t *base;
    uint64_t bytes;
    uint64_t alignment;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pid_t process;
    uint8_t filling[SLOTS / 8]; /* bit n: this process is filling the buffer of entry n */
};

static wb_status fail(wb__context *context, wb_status status, const char *what)
{
    return wb__fail(context, status, WB__FINDING_SEGMENT, WB_NO_OFFSET, WB__STR(""), "%s", what);
}

/* ---- locks on bytes of the file ---- */

/*
 * Locks a byte of the file, and waits if necessary. Repeats the call after EDEADLK, because the
 * reported deadlock may not exist. The kernel considers processes, not threads: if in each of two
 * processes one thread fills a buffer and another thread waits for the buffer of the other process,
 * the kernel reports a deadlock, although both buffers will be completed.
 */
static bool lock_byte(int fd, uint64_t at, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    const struct timespec moment = {0, 1000000};
    while (fcntl(fd, F_SETLKW, &range) != 0) {
        if (errno == EDEADLK)
            (void)nanosleep(&moment, NULL);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

static void unlock_byte(int fd, uint64_t at)
{
    (void)lock_byte(fd, at, F_UNLCK);
}

/* ---- opening ---- */

static header *head_of(const wb__segment *segment)
{
    return (header *)(void *)segment->base;
}

static slot *slot_at(const wb__segment *segment, uint32_t i)
{
    return (slot *)(void *)(segment->base + DIRECTORY_AT) + i;
}

static int open_file(const char *path)
{
    if (path[0] == '\0')
        return memfd_create("weighbridge", MFD_CLOEXEC);
    return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
}

/* Checks the file, and sets its length if it is empty. Precondition: the caller has locked byte
 * 0 of the file. */
static wb_status prepare(wb__context *context, wb__segment *segment, uint64_t room,
                         uint64_t alignment)
{
    struct stat st;
    if (fstat(segment->fd, &st) != 0)
        return wb__fail_os(context, errno, WB__MSG_SEGMENT_STAT);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return fail(context, WB_ERROR_FORMAT, WB__MSG_SEGMENT_NOT_OWNED);
    segment->bytes = (uint64_t)st.st_size;
    if (st.st_size != 0)
        return segment->bytes >= DATA_AT ? WB_OK
                                         : fail(context, WB_ERROR_FORMAT, WB__MSG_SEGMENT_INVALID);
    if (!wb__add(room, DATA_AT, &segment->bytes) || segment->bytes > INT64_MAX)
        return fail(context, WB_ERROR_LIMIT, WB__MSG_SEGMENT_TOO_LARGE);
    if (ftruncate(segment->fd, (off_t)segment->bytes) != 0)
        return wb__fail_os(context, errno, WB__MSG_SEGMENT_CREATE);
    int full = posix_fallocate(segment->fd, 0, (off_t)DATA_AT);
    if (full != 0)
        return wb__fail_os(context, full, WB__MSG_SEGMENT_CREATE);
    header made = {MAGIC, segment->bytes, alignment, DATA_AT};
    if (pwrite(segment->fd, &made, sizeof made, 0) != (ssize_t)sizeof made)
        return wb__fail_os(context, errno, WB__MSG_SEGMENT_CREATE);
    return WB_OK;
}

static wb_status map_file(wb__context *context, wb__segment *segment, uint64_t alignment)
{
    size_t length;
    if (!wb__to_size(segment->bytes, &length))
        return fail(context, WB_ERROR_LIMIT, WB__MSG_SEGMENT_ADDRESS_SPACE);
    void *base = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd, 0);
    if (base == MAP_FAILED)
        return wb__fail_os(context, errno, WB__MSG_SEGMENT_MAP);
    segment->base = base;
    const header *head = head_of(segment);
    if (head->magic != MAGIC || head->bytes != segment->bytes || head->used < DATA_AT ||
        head->used > head->bytes || head->alignment == 0)
        return fail(context, WB_ERROR_FORMAT, WB__MSG_SEGMENT_INVALID);
    segment->alignment = head->alignment;
    if (segment->alignment % alignment != 0)
        return fail(context, WB_ERROR_ARGUMENT, WB__MSG_SEGMENT_ALIGNMENT);
    return WB_OK;
}

wb_status wb__segment_open(wb__context *context, const char *path, uint64_t bytes,
                           uint64_t alignment, wb__segment **out)
{
    *out = NULL;
    wb__segment *segment = wb__alloc(&context->allocator, sizeof *segment);
    if (segment == NULL)
        return wb__fail_memory(context);
    memset(segment, 0, sizeof *segment);
    segment->allocator = context->allocator;
    segment->process = getpid();
    context->file = path;
    segment->fd = open_file(path);
    if (pthread_mutex_init(&segment->lock, NULL) != 0) {
        if (segment->fd >= 0)
            (void)close(segment->fd);
        wb__free(&segment->allocator, segment, sizeof *segment);
        return wb__fail_memory(context);
    }
    (void)pthread_cond_init(&segment->changed, NULL);
    wb_status status = segment->fd < 0 ? wb__fail_os(context, errno, WB__MSG_SEGMENT_OPEN) : WB_OK;
    if (status == WB_OK && !lock_byte(segment->fd, 0, F_WRLCK))
        status = wb__fail_os(context, errno, WB__MSG_SEGMENT_LOCK);
    if (status == WB_OK) {
        status = prepare(context, segment, bytes, alignment);
        unlock_byte(segment->fd, 0);
    }
    if (status == WB_OK)
        status = map_file(context, segment, alignment);
    if (status != WB_OK) {
        wb__segment_close(segment);
        return status;
    }
    *out = segment;
    return WB_OK;
}

void wb__segment_close(wb__segment *segment)
{
    if (segment == NULL)
        return;
    wb_allocator allocator = segment->allocator;
    if (segment->base != NULL)
        (void)munmap(segment->base, (size_t)segment->bytes);
    if (segment->fd >= 0)
        (void)close(segment->fd);
    (void)pthread_cond_destroy(&segment->changed);
    (void)pthread_mutex_destroy(&segment->lock);
    wb__free(&allocator, segment, sizeof *segment);
}

/* ---- the directory ---- */

static bool is_filling(const wb__segment *segment, uint32_t i)
{
    return (segment->filling[i / 8] >> i % 8 & 1) != 0;
}

static void set_filling(wb__segment *segment, uint32_t i, bool filling)
{
    uint8_t bit = (uint8_t)(1u << i % 8);
    segment->filling[i / 8] =
        (uint8_t)(filling ? segment->filling[i / 8] | bit : segment->filling[i / 8] & ~bit);
}

/*
 * Returns the index of the entry with this key, or of the free entry where it is to be inserted, or
 * SLOTS if there is neither.
 */
static uint32_t find(const wb__segment *segment, const uint8_t *key)
{
    uint64_t first;
    memcpy(&first, key, sizeof first);
    for (uint32_t n = 0; n < SLOTS; n++) {
        uint32_t i = (uint32_t)((first + n) % SLOTS);
        const slot *at = slot_at(segment, i);
        if (at->state == SLOT_FREE || memcmp(at->key, key, sizeof at->key) == 0)
            return i;
    }
    return SLOTS;
}

/* Reserves space in the file for a buffer, and describes it in the free directory entry with
 * index i and address `at`. */
static wb_status make_slot(wb__segment *segment, slot *at, uint32_t i, const uint8_t *key,
                           uint64_t bytes)
{
    header *head = head_of(segment);
    uint64_t offset, end;
    if (head->used < DATA_AT || !wb__add(head->used, sizeof i, &offset) ||
        !wb__align_up(offset, segment->alignment, &offset) || !wb__add(offset, bytes, &end) ||
        end > segment->bytes)
        return WB_ERROR_LIMIT;
    if (posix_fallocate(segment->fd, (off_t)head->used, (off_t)(end - head->used)) != 0)
        return WB_ERROR_MEMORY;
    head->used = end;
    *at = (slot){.offset = offset, .bytes = bytes, .state = SLOT_FILLING};
    memcpy(at->key, key, sizeof at->key);
    memcpy(segment->base + offset - sizeof i, &i, sizeof i);
    return WB_OK;
}

/*
 * Checks an entry before it is used, because another process may have written it: its size must be
 * `bytes`, and its range must be inside the file.
 */
static bool is_sound(const wb__segment *segment, const slot *at, uint64_t bytes)
{
    return at->bytes == bytes && at->offset >= DATA_AT &&
           wb__in_range(at->offset, bytes, segment->bytes);
}

/*
 * Looks up a key, and creates its entry if there is none. `owned` is true if the caller has the
 * lock for filling the buffer of this entry, a file lock on byte *found + 1. Returns WB_OK and sets
 * *filled to 1 if the buffer can be used, or to 0 if the caller must fill it. Returns
 * WB_ERROR_CHANGED if another thread or process may be filling it.
 */
static wb_status look_at(wb__segment *segment, const uint8_t *key, uint64_t bytes, bool owned,
                         uint32_t *found, int *filled)
{
    uint32_t i = *found = find(segment, key);
    if (i == SLOTS)
        return WB_ERROR_LIMIT;
    slot *at = slot_at(segment, i);
    if (at->state == SLOT_FREE) {
        wb_status status = make_slot(segment, at, i, key, bytes);
        if (status == WB_OK && !lock_byte(segment->fd, 1 + (uint64_t)i, F_WRLCK))
            status = WB_ERROR_IO;
        set_filling(segment, i, status == WB_OK);
        return status;
    }
    if (!is_sound(segment, at, bytes))
        return WB_ERROR_FORMAT;
    *filled = at->state == SLOT_READY;
    /* The caller has the lock on the entry, so no other process is filling the buffer. */
    if (owned && !is_filling(segment, i)) {
        if (*filled)
            unlock_byte(segment->fd, 1 + (uint64_t)i);
        set_filling(segment, i, !*filled);
        return WB_OK;
    }
    return *filled ? WB_OK : WB_ERROR_CHANGED;
}

wb_status wb__segment_claim(wb__segment *segment, const void *key, uint64_t bytes, void **handle,
                            int *filled)
{
    bool owned = false;
    uint32_t i = SLOTS;
    wb_status status = WB_ERROR_CHANGED;
    *handle = NULL;
    *filled = 0;
    (void)pthread_mutex_lock(&segment->lock);
    /* In the child after a fork, clear the marks of the buffers that are being filled: the parent
     * fills them, not this process. */
    if (segment->process != getpid()) {
        memset(segment->filling, 0, sizeof segment->filling);
        segment->process = getpid();
    }
    while (status == WB_ERROR_CHANGED) {
        if (!lock_byte(segment->fd, 0, F_WRLCK)) {
            status = WB_ERROR_IO;
            break;
        }
        status = look_at(segment, key, bytes, owned, &i, filled);
        unlock_byte(segment->fd, 0);
        owned = false;
        if (status != WB_ERROR_CHANGED)
            break;
        if (is_filling(segment, i)) {
            (void)pthread_cond_wait(&segment->changed, &segment->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&segment->lock);
        owned = lock_byte(segment->fd, 1 + (uint64_t)i, F_WRLCK);
        (void)pthread_mutex_lock(&segment->lock);
        if (!owned)
            status = WB_ERROR_IO;
    }
    if (status == WB_OK)
        *handle = segment->base + slot_at(segment, i)->offset;
    (void)pthread_mutex_unlock(&segment->lock);
    return status;
}

void wb__segment_publish(wb__segment *segment, void *handle, wb_status status)
{
    uint32_t i;
    memcpy(&i, (uint8_t *)handle - sizeof i, sizeof i);
    if (i >= SLOTS)
        return;
    (void)pthread_mutex_lock(&segment->lock);
    bool locked = lock_byte(segment->fd, 0, F_WRLCK);
    if (status == WB_OK && locked)
        slot_at(segment, i)->state = SLOT_READY;
    unlock_byte(segment->fd, 0);
    set_filling(segment, i, false);
    unlock_byte(segment->fd, 1 + (uint64_t)i);
    (void)pthread_cond_broadcast(&segment->changed);
    (void)pthread_mutex_unlock(&segment->lock);
}
