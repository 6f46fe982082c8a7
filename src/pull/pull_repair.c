#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "pull/pull_repair.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"
#include "pull/below.h"
#include "pull/content_hash.h"
#include "pull/pull_messages.h"

#define SMALL ((uint64_t)4 << 20) /* no journal is kept for a smaller file whose digest is known */
#define JOURNAL_MAX ((uint64_t)256 << 20)

/* ---- the kept journal ---- */

/* Opens the directory weighbridge/pieces in the user's cache, which contains the kept journals.
 * Returns a descriptor, or a negative number. */
static int open_kept(const wb_pull *pull, bool create)
{
    const char *home = pull->net->settings.cache_home;
    if (create)
        (void)mkdir(home, 0700);
    int fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int kept = wb__below_folder(fd, "weighbridge/pieces", create);
    (void)close(fd);
    return kept;
}

static int open_kept_journal(const wb_pull *pull, const wb__pull_item *item)
{
    int kept = open_kept(pull, false);
    int fd = kept < 0 ? -1 : wb__below_open(kept, wb__repo_file_blob(item->file));
    if (kept >= 0)
        (void)close(kept);
    return fd;
}

wb_status wb__pull_compare(const wb_pull *pull, wb__context *context, int fd,
                           const wb__pull_item *item, bool *same, bool *known)
{
    const wb__repo_file *file = item->file;
    const char *digest = wb__repo_file_blob(file);
    *known = true;
    if (pull->has_digest)
        return wb__content_hash_file(context, fd, digest, file->size, pull->scratch, WB__PIECE,
                                     same);
    int journal = open_kept_journal(pull, item);
    *same = *known = false;
    if (journal < 0)
        return WB_OK;
    wb_status status =
        wb__pull_partial_compare(context, fd, journal, digest, file->size, same, known);
    (void)close(journal);
    return status;
}

wb_status wb__pull_check(wb_pull *pull, wb__context *context, wb__pull_item *item)
{
    bool same, known;
    const wb__repo_file *file = item->file;
    context->file = file->path;
    int fd = pull->layout->open(pull, item);
    if (fd < 0)
        return wb__fail_os(context, errno, WB__MSG_PULL_STORE);
    wb_status status = wb__pull_compare(pull, context, fd, item, &same, &known);
    (void)close(fd);
    if (status == WB_OK && !same) {
        item->state = WB__ITEM_MISSING;
        item->is_damaged = true;
    }
    return status;
}

/* Reads a whole file. Returns NULL if it is empty, too large, or cannot be read. */
static uint8_t *read_all(const wb_allocator *allocator, int fd, size_t *n)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size <= 0 || (uint64_t)st.st_size > JOURNAL_MAX)
        return NULL;
    *n = (size_t)st.st_size;
    uint8_t *bytes = wb__alloc(allocator, *n);
    if (bytes != NULL && wb__read_back(fd, 0, bytes, *n) != *n) {
        wb__free(allocator, bytes, *n);
        return NULL;
    }
    return bytes;
}

void wb__pull_keep_journal(const wb_pull *pull, const wb__pull_item *item,
                           const wb__pull_partial *partial)
{
    size_t n;
    if (pull->has_digest && item->file->size < SMALL)
        return;
    int kept = open_kept(pull, true);
    uint8_t *bytes = kept < 0 ? NULL : read_all(&partial->allocator, partial->journal, &n);
    if (bytes != NULL) {
        (void)wb__below_write(kept, wb__repo_file_blob(item->file), bytes, n);
        wb__free(&partial->allocator, bytes, n);
    }
    if (kept >= 0)
        (void)close(kept);
}

/* ---- making a partial file ---- */

static bool copy_data(int from, int store, const char *name, uint64_t size)
{
    uint64_t done = 0, part;
    int to = openat(store, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (to < 0)
        return false;
    while (done < size && wb__write_range(to, done, from, done, size - done, &part) == 0 &&
           part > 0)
        done += part;
    (void)close(to);
    return done == size;
}

/* Copies the kept journal of the item to the file `name` in the store. */
static bool copy_journal(const wb_pull *pull, const wb__pull_item *item, const char *name)
{
    size_t n = 0;
    const wb_allocator *allocator = &pull->net->allocator;
    int fd = open_kept_journal(pull, item);
    uint8_t *bytes = fd < 0 ? NULL : read_all(allocator, fd, &n);
    bool copied = bytes != NULL && wb__below_write(pull->store, name, bytes, n) == 0;
    wb__free(allocator, bytes, n);
    if (fd >= 0)
        (void)close(fd);
    return copied;
}

void wb__pull_reuse(wb_pull *pull, const wb__pull_item *item)
{
    struct stat st;
    char name[WB__PARTIAL_NAME], data[WB__PARTIAL_NAME], journal[WB__PARTIAL_NAME];
    pull->layout->partial_name(item, name);
    wb__pull_partial_file(data, name, WB__PARTIAL_DATA);
    wb__pull_partial_file(journal, name, WB__PARTIAL_JOURNAL);
    if (fstatat(pull->store, data, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return; /* the partial file exists, because an earlier run was interrupted */
    int fd = pull->layout->open(pull, item);
    if (fd < 0)
        return;
    if (copy_journal(pull, item, journal) && !copy_data(fd, pull->store, data, item->file->size))
        (void)unlinkat(pull->store, journal, 0);
    (void)close(fd);
}
