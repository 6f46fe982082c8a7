/*
 * Resumes the partial files of a killed run (WB_WRITE_KEEP). When a run is killed, its files can
 * have partial names, final names or both. The next run recovers each kind of output.
 *
 * A single file is written as .NAME.wb-partial and renamed to NAME when it is complete. No recovery
 * is needed.
 *
 * The files of a set are written as .NAME.wb-partial. Commit creates the final names as hard links,
 * the name of the anchor last. Then it removes the partial names. The anchor is the index file of
 * shards or the first part of a split. Recovery: if the final name of the anchor does not exist,
 * the final names are removed; if it exists, the partial names are removed.
 *
 * The files of a directory are written in .NAME.wb-partial/. Commit renames the files one by one,
 * then the directory. Recovery: the files are renamed back to their partial names.
 *
 * The files of an Ollama store are written as .NNNNN.wb-partial in a directory of the model in
 * blobs/. Commit hard-links them to their blob names, writes the manifest into the directory,
 * publishes the manifest, and removes the directory. Recovery: a file that already has a blob name
 * is replaced by a copy, because another model may use the same blob.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write/write.h"

#define BASE_BYTES 256 /* maximum length of a file name (255 bytes) plus a NUL */
#define NUMBERS 15     /* length of a part number such as "-00001-of-00003" */

static const wb__str partial = {WB__KEPT_END, sizeof WB__KEPT_END - 1};

/* ---- paths of files being written ---- */

char *wb__path_now(const wb_allocator *allocator, const wb_writer *writer, const char *path)
{
    bool is_inside = writer->folder_at != NULL;
    const char *base = is_inside ? strrchr(path, '/') + 1 : path;
    return wb__path_join(allocator, is_inside ? writer->folder_at : "",
                         wb__str_from(base, SIZE_MAX));
}

char *wb__output_path_now(const wb_allocator *allocator, const wb_writer *writer,
                          const wb__output *output)
{
    char number[24];
    if (!writer->is_store || writer->folder_at == NULL)
        return wb__path_now(allocator, writer, output->path);
    (void)snprintf(number, sizeof number, "%05zu", (size_t)(output - writer->outputs));
    return wb__path_join(allocator, writer->folder_at, wb__str_from(number, SIZE_MAX));
}

static void free_text(const wb_allocator *allocator, char *text)
{
    if (text != NULL)
        wb__free(allocator, text, strlen(text) + 1);
}

uint64_t wb__partial_bytes(const wb_writer *writer)
{
    const wb_allocator *allocator = &writer->allocator;
    uint64_t sum = 0;
    for (size_t i = 0; (writer->flags & WB_WRITE_KEEP) && i < writer->output_count; i++) {
        const wb__output *output = &writer->outputs[i];
        char *path = wb__output_path_now(allocator, writer, output);
        uint64_t bytes = path == NULL ? 0 : wb__sink_kept_bytes(allocator, path);
        free_text(allocator, path);
        sum += bytes < output->layout.bytes ? bytes : output->layout.bytes;
    }
    return sum;
}

/* ---- stores ---- */

wb_status wb__partial_own(wb__context *context, const char *path)
{
    struct stat st;
    wb__source *source = NULL;
    wb_sink *sink = NULL;
    bool is_folder;
    char *kept = wb__partial_path(&context->allocator, path);
    if (kept == NULL)
        return wb__fail_memory(context);
    wb_status status = WB_OK;
    if (lstat(kept, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1 && st.st_uid == geteuid()) {
        uint64_t n = (uint64_t)st.st_size;
        status = wb__source_open(context, kept, WB_ACCESS_READ, &source, &is_folder);
        if (status == WB_OK)
            status = wb__sink_open(context, kept, n, &sink);
        if (status == WB_OK)
            status = wb__sink_copy(context, sink, 0, source, 0, n);
        if (status == WB_OK)
            status = wb__sink_finish(context, sink, n);
        if (status == WB_OK)
            status = wb__sink_publish(context, sink);
        wb__sink_discard(sink);
        wb__source_close(source);
    }
    free_text(&context->allocator, kept);
    return status;
}

/* ---- directories ---- */

wb_status wb__partial_rename_back(wb__context *context, const wb_writer *writer)
{
    for (size_t i = 0; i < writer->output_count; i++) {
        struct stat st;
        char *path = wb__output_path_now(&context->allocator, writer, &writer->outputs[i]);
        char *kept = path == NULL ? NULL : wb__partial_path(&context->allocator, path);
        bool failed = kept == NULL;
        /* The rename usually fails, because there is no file with the final name. */
        if (!failed && lstat(kept, &st) != 0 && errno == ENOENT)
            (void)rename(path, kept);
        free_text(&context->allocator, kept);
        free_text(&context->allocator, path);
        if (failed)
            return wb__fail_memory(context);
    }
    return WB_OK;
}

/* ---- files in an existing directory ---- */

typedef struct settling {
    const wb_writer *writer;
    /* The requested path, divided into the text before and the text after a part number. */
    wb__str stem, end;
} settling;

bool wb__partial_is_numbers(wb__str text)
{
    static const char like[] = "-ddddd-of-ddddd";
    bool is = text.len == sizeof like - 1;
    for (size_t i = 0; i < text.len && is; i++)
        is = like[i] == 'd' ? text.ptr[i] >= '0' && text.ptr[i] <= '9' : text.ptr[i] == like[i];
    return is;
}

/*
 * Returns true if `name` is .NAME.wb-partial and NAME is the requested file or a part of the
 * requested set. Sets *whole to NAME and *numbers to the part number in NAME, which is empty if
 * NAME has none.
 */
static bool is_kept(const settling *s, wb__str name, wb__str *whole, wb__str *numbers)
{
    if (name.len <= partial.len + 1 || name.ptr[0] != '.' || !wb__str_ends_with(name, partial))
        return false;
    *whole = (wb__str){name.ptr + 1, name.len - 1 - partial.len};
    if (whole->len < s->stem.len + s->end.len || !wb__str_starts_with(*whole, s->stem) ||
        !wb__str_ends_with(*whole, s->end))
        return false;
    *numbers = (wb__str){whole->ptr + s->stem.len, whole->len - s->stem.len - s->end.len};
    return numbers->len == 0 || wb__partial_is_numbers(*numbers);
}

/* Prints the file name of the set's anchor, which is the index file of shards or the first part
 * of a split. */
static void print_anchor(const settling *s, wb__str numbers, char *text, size_t n)
{
    if (s->writer->format == &wb__format_gguf)
        (void)snprintf(text, n, "%.*s-00001%.*s%.*s", (int)s->stem.len, s->stem.ptr,
                       (int)numbers.len - 6, numbers.ptr + 6, (int)s->end.len, s->end.ptr);
    else
        (void)snprintf(text, n, "%.*s%.*s.index.json", (int)s->stem.len, s->stem.ptr,
                       (int)s->end.len, s->end.ptr);
}

static bool is_of_this(const wb_writer *writer, wb__str whole)
{
    for (size_t i = 0; i < writer->output_count; i++) {
        if (wb__str_equal(wb__path_base(writer->outputs[i].path), whole))
            return true;
    }
    return false;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && S_ISREG(a->st_mode);
}

/* Returns true if a resume journal exists for the file name `whole`. An earlier run was then asked
 * to write a single file of this name. The file is no part of a set, although its name looks like
 * one. */
static bool has_journal(int folder, wb__str whole)
{
    char text[BASE_BYTES + 16];
    struct stat st;
    (void)snprintf(text, sizeof text, ".%.*s" WB__RESUME_END, (int)whole.len, whole.ptr);
    return fstatat(folder, text, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Recovers one file of a set. If it has a partial name and a final name, removes one of them, as
 * described at the top of this file. Also removes partial files that the current plan does not
 * write. Errors are ignored, because the later rename reports them.
 */
static void settle_file(const settling *s, int folder, const char *name)
{
    struct stat kept, named, other;
    wb__str whole, numbers;
    char text[BASE_BYTES], anchor[BASE_BYTES + 16];
    if (!is_kept(s, wb__str_from(name, SIZE_MAX), &whole, &numbers) || whole.len >= sizeof text ||
        fstatat(folder, name, &kept, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    memcpy(text, whole.ptr, whole.len);
    text[whole.len] = '\0';
    bool is_set = numbers.len != 0, is_complete = false;
    if (is_set && fstatat(folder, text, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_one(&kept, &named)) {
        print_anchor(s, numbers, anchor, sizeof anchor);
        is_complete = fstatat(folder, anchor, &other, AT_SYMLINK_NOFOLLOW) == 0;
        if (!is_complete)
            (void)unlinkat(folder, text, 0);
    }
    if (is_complete || (!is_of_this(s->writer, whole) && !(is_set && has_journal(folder, whole))))
        (void)unlinkat(folder, name, 0);
}

static wb_status settle_one(void *ctx, const char *name)
{
    const settling *s = ctx;
    settle_file(s, s->writer->claims[0], name);
    return WB_OK;
}

wb_status wb__partial_settle(wb__context *context, const wb_writer *writer)
{
    settling s = {.writer = writer};
    const char *first = writer->outputs[0].path;
    bool is_set = writer->output_count > 1;
    wb__str base = wb__path_base(first);
    s.end = writer->format == &wb__format_gguf ? WB__STR(".gguf") : WB__STR(".safetensors");
    if (!is_set && (base.len <= s.end.len || !wb__str_ends_with(base, s.end)))
        s.end = WB__STR("");
    s.stem = (wb__str){base.ptr, base.len - s.end.len - (is_set ? NUMBERS : 0)};
    char *folder = wb__path_join(&context->allocator, "", wb__path_folder(first));
    if (folder == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__directory_list(context, folder, settle_one, &s);
    free_text(&context->allocator, folder);
    if (status != WB_OK && status != WB_ERROR_MEMORY) {
        /* The directory cannot be listed. It may still be writable, so this is not an error. */
        (void)wb__error_reset(context->error, context->error);
        status = WB_OK;
    }
    return status;
}
