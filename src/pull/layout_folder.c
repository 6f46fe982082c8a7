/*
 * A plain folder, with the files in place, in the layout of huggingface_hub (its local_dir):
 *
 *     DIR/PATH                                            the file
 *     DIR/.cache/huggingface/download/PATH.metadata       three lines: commit, digest, Unix time
 *     DIR/.cache/huggingface/download/PATH.lock           flock, while the file is written
 *     DIR/.cache/huggingface/download/DIGEST.ID.wb-…      the partial file; ID is derived from PATH
 *     DIR/.cache/huggingface/trees/COMMIT.json            the listing of a commit
 *
 * The metadata is valid if the file was not modified after the time in the metadata. If a file has
 * no valid metadata, its digest is computed. If the digest is right, the file is kept as if it had
 * been downloaded. Otherwise it is replaced only with WB_PULL_FORCE.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/sink.h"
#include "net/names.h"
#include "pull/below.h"
#include "pull/content_hash.h"
#include "pull/pull.h"
#include "pull/pull_messages.h"

#define HIDDEN ".cache/huggingface"
#define METADATA_MAX 256

typedef struct metadata {
    char commit[WB__HEX_COMMIT + 1];
    char digest[WB__HEX_SHA256 + 1];
    int64_t seconds;
} metadata;

/* ---- metadata ---- */

/* Takes a line of lower-case hexadecimal digits. Returns its end, or NULL. */
static const char *take_line(const char *text, char *out, size_t capacity)
{
    size_t n = strcspn(text, "\r\n");
    if (n >= capacity || !wb__is_hex((wb__str){text, n}))
        return NULL;
    memcpy(out, text, n);
    out[n] = '\0';
    return text + n + strspn(text + n, "\r\n");
}

static bool parse_metadata(const char *text, metadata *data)
{
    const char *next = take_line(text, data->commit, sizeof data->commit);
    if (next != NULL)
        next = take_line(next, data->digest, sizeof data->digest);
    if (next == NULL || *next < '0' || *next > '9')
        return false;
    data->seconds = strtoll(next, NULL, 10);
    return true;
}

/* Sets *name to `folder`, `path` and `end` in this order, NUL-terminated. The caller frees *name,
 * also after a failure. Returns false if memory runs out. */
static bool make_name(wb__buffer *name, const wb_pull *pull, const char *folder, const char *path,
                      const char *end)
{
    *name = (wb__buffer){.allocator = &pull->net->allocator, .ceiling = (size_t)64 << 10};
    wb__buffer_text(name, folder);
    wb__buffer_text(name, path);
    wb__buffer_text(name, end);
    wb__buffer_add(name, "", 1);
    return !wb__buffer_failed(name);
}

static bool read_metadata(const wb_pull *pull, int root, const wb__repo_file *file, metadata *data)
{
    char text[METADATA_MAX];
    wb__buffer name;
    bool found = make_name(&name, pull, HIDDEN "/download/", file->path, ".metadata") &&
                 wb__below_read(root, (const char *)name.bytes, text, sizeof text) > 0 &&
                 parse_metadata(text, data);
    wb__buffer_free(&name);
    return found;
}

static int write_metadata(const wb_pull *pull, const wb__repo_file *file)
{
    char text[METADATA_MAX];
    wb__buffer name;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int n = snprintf(text, sizeof text, "%s\n%s\n%" PRId64 ".%06ld\n", pull->repo->commit,
                     wb__repo_file_blob(file), (int64_t)now.tv_sec, now.tv_nsec / 1000);
    int os_error = make_name(&name, pull, "", file->path, ".metadata")
                       ? wb__below_write(pull->store, (const char *)name.bytes, text, (size_t)n)
                       : ENOMEM;
    wb__buffer_free(&name);
    return os_error;
}

/* ---- what is there ---- */

/* Sets item->state to WB__ITEM_HERE if the existing file `fd` has the size and the digest of the
 * repository's file. Fails if it differs and the metadata do not record that a pull wrote it. */
static wb_status look_inside(wb_pull *pull, wb__context *context, int fd, wb__pull_item *item)
{
    struct stat st;
    metadata data;
    bool same = false;
    const wb__repo_file *file = item->file;
    const char *digest = wb__repo_file_blob(file);
    if (fstat(fd, &st) != 0)
        return wb__fail_os(context, errno, WB__MSG_PULL_STORE);
    bool recorded = S_ISREG(st.st_mode) && read_metadata(pull, pull->root, file, &data) &&
                    (int64_t)st.st_mtim.tv_sec - 1 <= data.seconds;
    bool fits = S_ISREG(st.st_mode) && (uint64_t)st.st_size == file->size;
    if (recorded && strcmp(data.digest, digest) == 0 && fits) {
        item->state = WB__ITEM_HERE;
        return WB_OK;
    }
    wb_status status = WB_OK;
    if (fits)
        status =
            wb__content_hash_file(context, fd, digest, file->size, pull->scratch, WB__PIECE, &same);
    if (same)
        item->state = WB__ITEM_HERE;
    if (status == WB_OK && !same && !recorded)
        status = wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_EXISTS, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_PULL_OTHER_FILE);
    return status;
}

static wb_status look(wb_pull *pull, wb__context *context, wb__pull_item *item)
{
    context->file = item->file->path;
    int fd = wb__pull_open_plain(pull, item);
    if (fd < 0)
        return errno == ENOENT ? WB_OK : wb__fail_os(context, errno, WB__MSG_PULL_STORE);
    wb_status status = look_inside(pull, context, fd, item);
    (void)close(fd);
    return status;
}

/* ---- storing ---- */

static wb_status begin(wb_pull *pull, wb__context *context)
{
    wb__buffer below;
    if (!make_name(&below, pull, pull->folder, "/", "")) {
        wb__buffer_free(&below);
        return wb__fail_memory(context);
    }
    wb_status status = wb__directories_make(context, (const char *)below.bytes);
    wb__buffer_free(&below);
    if (status != WB_OK)
        return status;
    int hidden = wb__pull_open_root(pull) < 0 ? -1 : wb__below_folder(pull->root, HIDDEN, true);
    if (hidden < 0)
        return wb__pull_fail_path(pull, context, "", errno);
    int os_error = wb__pull_write_tag(hidden);
    if (os_error == 0)
        os_error = wb__below_write(hidden, ".gitignore", "*", 1);
    if (os_error == 0) {
        pull->store = wb__below_folder(hidden, "download", true);
        os_error = pull->store < 0 ? errno : 0;
    }
    status = os_error != 0 ? wb__pull_fail_path(pull, context, "", os_error)
                           : wb__pull_write_tree(pull, context, hidden);
    (void)close(hidden);
    return status;
}

static int take_lock(wb_pull *pull, const wb__pull_item *item, int *fd)
{
    const char *name;
    wb__buffer path;
    int parent = -1;
    int os_error = make_name(&path, pull, "", item->file->path, ".lock") ? 0 : ENOMEM;
    if (os_error == 0) {
        parent = wb__below_parent(pull->store, (const char *)path.bytes, true, &name);
        os_error = parent < 0 ? errno : wb__pull_take_lock(parent, name, fd);
    }
    if (parent >= 0)
        (void)close(parent);
    wb__buffer_free(&path);
    return os_error;
}

static void partial_name(const wb__pull_item *item, char name[WB__PARTIAL_NAME])
{
    const char *path = item->file->path;
    (void)snprintf(name, WB__PARTIAL_NAME, "%s.%016" PRIx64, wb__repo_file_blob(item->file),
                   wb__piece_sum_of(path, strlen(path)));
}

static int publish(wb_pull *pull, const wb__pull_item *item, const wb__pull_partial *partial)
{
    const char *name;
    metadata data;
    const wb__repo_file *file = item->file;
    if (partial == NULL && read_metadata(pull, pull->root, file, &data) &&
        strcmp(data.commit, pull->repo->commit) == 0 &&
        strcmp(data.digest, wb__repo_file_blob(file)) == 0)
        return 0;
    if (partial != NULL) {
        int parent = wb__below_parent(pull->root, file->path, true, &name);
        if (parent < 0)
            return errno;
        int os_error = wb__pull_move(partial, parent, name);
        (void)close(parent);
        if (os_error != 0)
            return os_error;
    }
    return write_metadata(pull, file);
}

static void distrust(wb_pull *pull)
{
    wb__pull_remove_tree(pull, pull->root, HIDDEN "/");
}

static int end(wb_pull *pull)
{
    int os_error = wb__write_sync(pull->root);
    return os_error == EINVAL ? 0 : os_error;
}

const wb__pull_layout wb__layout_folder = {.store = HIDDEN "/download",
                                           .look = look,
                                           .open = wb__pull_open_plain,
                                           .begin = begin,
                                           .lock = take_lock,
                                           .partial_name = partial_name,
                                           .publish = publish,
                                           .distrust = distrust,
                                           .end = end};
