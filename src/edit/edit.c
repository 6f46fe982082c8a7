#define _GNU_SOURCE /* statfs */
#define _FILE_OFFSET_BITS 64
#include "edit/edit.h"
#include "bundles/ollama/blob_name.h"
#include "bundles/ollama/ollama.h"
#include "edit/edit_messages.h"
#include "model/file_order.h"
#include "open/open.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define PADDING_KEY "weighbridge.padding"
/* size of the GGUF entry PADDING_KEY with an empty string as value, in bytes */
#define PADDING_MIN (8 + sizeof PADDING_KEY - 1 + 4 + 8)
/* Files with at most this number of data bytes are rewritten instead of edited in place. */
#define SMALL ((uint64_t)64 << 20)
#define BLOCK 4096u

/* ---- apply the edits ---- */

static wb_status fail_edit(const wb__edit_job *job, wb_status status, wb__finding_id id,
                           wb__str name, const char *what)
{
    job->context->file = job->path;
    return wb__fail(job->context, status, id, WB_NO_OFFSET, name, "%s", what);
}

/*
 * Applies the renames and drops in order to the tensor name *to. Returns false if an edit drops the
 * tensor. Sets hits[i] to the number of tensors that edit i has matched so far: 0, 1, or 2 for more
 * than one.
 */
static bool rename_tensor(const wb_edit *edits, uint64_t count, uint8_t *hits, wb__str *to)
{
    bool dropped = false;
    for (uint64_t i = 0; i < count && !dropped; i++) {
        bool renames = edits[i].kind == WB_EDIT_RENAME;
        if ((!renames && edits[i].kind != WB_EDIT_DROP) ||
            !wb__str_equal(wb__str_from(edits[i].name, edits[i].name_len), *to))
            continue;
        hits[i] = hits[i] == 0 ? 1 : 2;
        dropped = !renames;
        if (renames)
            *to = wb__str_from(edits[i].to, edits[i].to_len);
    }
    return !dropped;
}

static bool is_padding(const wb__edit_job *job, wb__str name)
{
    return job->writer->format == &wb__format_gguf && wb__str_equal(name, WB__STR(PADDING_KEY));
}

/* A metadata key to which edits are being applied. */
typedef struct entry {
    wb__str name;
    const wb__meta *meta;  /* value in the file; NULL: an edit added the key */
    const wb_value *value; /* value of the last edit that set the key; NULL: no edit set it */
    bool deleted;
} entry;

typedef struct entries {
    entry *list;
    size_t count;
} entries;

static entry *find_entry(const entries *all, wb__str name)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!all->list[i].deleted && wb__str_equal(all->list[i].name, name))
            return &all->list[i];
    }
    return NULL;
}

/* The padding key is reserved. If callers could set it, the header could contain the key twice,
 * and readers refuse such a header. */
static wb_status fail_padding(const wb__edit_job *job)
{
    return fail_edit(job, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB__STR(PADDING_KEY),
                     WB__MSG_EDIT_KEY_RESERVED);
}

static wb_status rename_key(const wb__edit_job *job, const entries *all, entry *found,
                            const wb_edit *edit)
{
    wb__str to = wb__str_from(edit->to, edit->to_len);
    const entry *other = find_entry(all, to);
    if (is_padding(job, to))
        return fail_padding(job);
    if (found == NULL)
        return fail_edit(job, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND,
                         wb__str_from(edit->name, edit->name_len), WB__MSG_EDIT_NO_KEY);
    if (other != NULL && other != found)
        return fail_edit(job, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_TWICE, to,
                         WB__MSG_EDIT_KEY_EXISTS);
    found->name = to;
    return WB_OK;
}

/* Applies one edit to the list of keys. Precondition: the list has space for one more entry. */
static wb_status edit_key(const wb__edit_job *job, entries *all, const wb_edit *edit)
{
    wb__str name = wb__str_from(edit->name, edit->name_len);
    entry *found = find_entry(all, name);
    if (edit->kind == WB_EDIT_RENAME_KEY)
        return rename_key(job, all, found, edit);
    if (edit->kind == WB_EDIT_SET && is_padding(job, name))
        return fail_padding(job);
    if (edit->kind == WB_EDIT_DELETE && found != NULL)
        found->deleted = true;
    else if (edit->kind == WB_EDIT_SET && found != NULL)
        found->value = edit->value;
    else if (edit->kind == WB_EDIT_SET)
        all->list[all->count++] = (entry){.name = name, .value = edit->value};
    return WB_OK;
}

static wb_status add_metas(wb__edit_job *job, const wb_edit *edits, uint64_t count)
{
    const wb__catalog *in = &job->model->catalog;
    entries all = {.count = 0};
    wb_status status = WB_OK;
    all.list = wb__arena_alloc(&job->writer->arena,
                               (in->metas.count + (size_t)count + 1) * sizeof *all.list);
    if (all.list == NULL)
        return wb__fail_memory(job->context);
    for (size_t i = 0; i < in->metas.count; i++) {
        const wb__meta *meta = wb__list_at(&in->metas, i);
        if (!is_padding(job, wb__meta_key(in, meta)))
            all.list[all.count++] = (entry){.name = wb__meta_key(in, meta), .meta = meta};
    }
    for (uint64_t i = 0; i < count && status == WB_OK; i++)
        status = edit_key(job, &all, &edits[i]);
    for (size_t i = 0; i < all.count && status == WB_OK; i++) {
        const entry *e = &all.list[i];
        if (e->deleted)
            continue;
        /* If the writer already has this key, the file contains the key twice. */
        if (e->meta != NULL && wb__name_map_find(&job->writer->meta_names, e->name) != UINT32_MAX)
            return fail_edit(job, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_TWICE, e->name,
                             WB__MSG_EDIT_KEY_EXISTS);
        if (e->meta != NULL)
            status = wb__writer_copy_meta_as(job->context, job->writer, in, e->meta, e->name);
        if (status == WB_OK && e->value != NULL)
            status = wb__writer_set(job->context, job->writer, e->name, e->value);
    }
    return status;
}

static wb_status add_tensors(wb__edit_job *job, const wb_edit *edits, uint64_t count)
{
    const wb__catalog *in = &job->model->catalog;
    wb__order order;
    uint8_t *hits = wb__arena_alloc(&job->writer->arena, (size_t)count + 1);
    if (hits == NULL)
        return wb__fail_memory(job->context);
    memset(hits, 0, (size_t)count + 1);
    wb_status status = wb__order_make(&order, job->context, &in->table, &in->files[0]);
    for (size_t k = 0; k < in->table.count && status == WB_OK; k++) {
        size_t i = wb__order_at(&order, k);
        const wb__kind *kind = wb__table_kind_of(&in->table, i);
        wb__str name = wb__table_name(&in->table, i);
        uint64_t index;
        if (!rename_tensor(edits, count, hits, &name)) {
            job->data_stays = false;
            continue;
        }
        status = wb__writer_add(job->context, job->writer, name, kind->dtype->id, kind->shape,
                                kind->rank, &index);
        if (status == WB_OK)
            wb__writer_tensor(job->writer, index)->from = (uint32_t)i;
    }
    wb__order_free(&order);
    for (uint64_t i = 0; i < count && status == WB_OK; i++) {
        wb__str name = wb__str_from(edits[i].name, edits[i].name_len);
        bool of_tensor = edits[i].kind == WB_EDIT_RENAME || edits[i].kind == WB_EDIT_DROP;
        if (of_tensor && hits[i] == 0)
            status = fail_edit(job, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, name,
                               WB__MSG_EDIT_NO_TENSOR);
        else if (of_tensor && hits[i] > 1) /* an earlier edit renamed another tensor to this name */
            status = fail_edit(job, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_TWICE, name,
                               WB__MSG_EDIT_TENSOR_EXISTS);
    }
    return status;
}

static wb_status lay_out(wb__edit_job *job)
{
    wb__output *output = wb__edit_output(job);
    output->layout.header.n = 0;
    output->layout.header.too_large = false;
    return job->writer->format->write(job->context, &output->layout);
}

/* Returns true if the edit keeps the offset of each tensor in the data section. */
static bool data_lies_still(const wb__edit_job *job)
{
    const wb__catalog *in = &job->model->catalog;
    const wb__out_file *layout = &wb__edit_output(job)->layout;
    for (size_t i = 0; i < job->writer->tensors.count; i++) {
        const wb__outgoing *tensor = wb__writer_tensor(job->writer, i);
        if (tensor->out.begin - layout->header.n != wb__tensor_begin(&in->table, tensor->from))
            return false;
    }
    /* The old data section may be up to `alignment` - 1 bytes shorter than the new one, because
     * some GGUF writers do not pad the last tensor. */
    uint64_t ours = layout->bytes - layout->header.n;
    uint64_t theirs = wb__source_bytes(job->model->sources[0]) - job->data_begin;
    return theirs <= ours && ours - theirs < layout->alignment;
}

/* ---- choose the start of the data section ---- */

/* Returns the size of the new header in bytes. The header can end with up to 7 bytes of padding,
 * which are not counted. */
static uint64_t header_end(const wb__edit_job *job)
{
    const wb__buffer *header = &wb__edit_output(job)->layout.header;
    size_t n = header->n;
    uint8_t filler = job->writer->format == &wb__format_gguf ? 0 : ' ';
    /* In a GGUF header, trailing zeros may belong to a value. The result is then up to 7 bytes too
     * small, which is harmless. */
    size_t least = n > 8 ? n - 7 : n;
    while (n > least && header->bytes[n - 1] == filler)
        n--;
    return n;
}

/* Pads a GGUF header so that data begins at `target`. Sets *fits to false if that is impossible. */
static wb_status pad_gguf(wb__edit_job *job, uint64_t target, bool *fits)
{
    wb__output *output = wb__edit_output(job);
    const wb__out_file *layout = &output->layout;
    *fits = layout->header.n == target;
    if (*fits || layout->header.n > target)
        return WB_OK;
    uint64_t gap = target - layout->header.n;
    if (gap < PADDING_MIN || target % layout->alignment != 0)
        return WB_OK;
    /* Add a padding entry of exactly `gap` bytes to the metadata. */
    wb__out_meta *meta = wb__arena_alloc(&job->writer->arena, sizeof *meta);
    size_t n = (size_t)(gap - PADDING_MIN);
    uint8_t *value = wb__arena_alloc(&job->writer->arena, 8 + n);
    const wb__out_meta **list =
        wb__arena_alloc(&job->writer->arena, (layout->meta_count + 1) * sizeof(*list));
    if (meta == NULL || value == NULL || list == NULL)
        return wb__fail_memory(job->context);
    wb__store_le64(value, n);
    memset(value + 8, ' ', n);
    *meta = (wb__out_meta){
        .key = WB__STR(PADDING_KEY), .tag = WB__TAG_STRING, .value = value, .bytes = 8 + n};
    if (layout->meta_count != 0)
        memcpy(list, layout->metas, layout->meta_count * sizeof(*list));
    list[layout->meta_count] = meta;
    output->layout.metas = list;
    output->layout.meta_count++;
    wb_status status = lay_out(job);
    *fits = layout->header.n == target;
    return status;
}

/* Pads a safetensors header with spaces so that data begins at `target`. Sets *fits to false if
 * that is impossible. */
static wb_status pad_safetensors(wb__edit_job *job, uint64_t target, bool *fits)
{
    wb__buffer *header = &wb__edit_output(job)->layout.header;
    uint64_t end = header_end(job);
    *fits = end <= target && target <= header->ceiling;
    if (!*fits)
        return WB_OK;
    uint64_t data = wb__edit_output(job)->layout.bytes - header->n;
    if (header->n > target)
        header->n = (size_t)target;
    else
        wb__buffer_fill(header, ' ', (size_t)target - header->n);
    if (wb__buffer_failed(header))
        return wb__out_check(job->context, &wb__edit_output(job)->layout);
    wb__store_le64(header->bytes, target - 8);
    wb__edit_output(job)->layout.bytes = data + target;
    return WB_OK;
}

/*
 * Chooses the offset of the data section after the edit and stores it in job->target. The header
 * grows by as few blocks as possible, or by none if it fits into the old space. Clears
 * job->data_stays if the header cannot be padded to any of the tried offsets.
 */
static wb_status find_target(wb__edit_job *job)
{
    bool is_gguf = job->writer->format == &wb__format_gguf;
    const wb__out_file *layout = &wb__edit_output(job)->layout;
    uint64_t step = layout->alignment > BLOCK ? layout->alignment : BLOCK;
    uint64_t end = is_gguf ? layout->header.n : header_end(job);
    uint64_t target = job->data_begin;
    bool fits = false;
    wb_status status = WB_OK;
    if (end > target)
        target += (end - target + step - 1) / step * step;
    for (int tries = 0; tries < 3 && !fits && status == WB_OK; tries++) {
        status = is_gguf ? pad_gguf(job, target, &fits) : pad_safetensors(job, target, &fits);
        if (!fits)
            target += step;
        else
            job->target = target;
    }
    job->data_stays = job->data_stays && fits;
    return status;
}

/* ---- choose in-place edit or new file ---- */

/* Returns true if files can share blocks on this file system, so that a new file needs no copy. */
static bool shares_data(const char *path)
{
    struct statfs fs;
    /* The magic numbers of btrfs, xfs and bcachefs, from linux/magic.h. */
    return statfs(path, &fs) == 0 &&
           ((unsigned long)fs.f_type == 0x9123683EUL || (unsigned long)fs.f_type == 0x58465342UL ||
            (unsigned long)fs.f_type == 0xCA451A4EUL);
}

/* Sets *same to true if the edit changes no byte of the file. Returns false if the header cannot
 * be read. */
static bool is_unchanged(const wb__edit_job *job, bool *same)
{
    const wb__buffer *header = &wb__edit_output(job)->layout.header;
    wb__source *source = job->model->sources[0];
    *same = false;
    if (!job->data_stays || header->n != job->data_begin)
        return true;
    uint8_t *now = wb__alloc(&job->context->allocator, header->n);
    bool read = now != NULL && wb__source_read(source, job->context, 0, now, header->n) == WB_OK;
    *same = read && memcmp(now, header->bytes, header->n) == 0;
    wb__free(&job->context->allocator, now, header->n);
    return read;
}

/* Refuses to edit a file of an Ollama store. The file name is the digest of its bytes, so the
 * bytes must not change. */
static wb_status fail_store(const wb__edit_job *job, const char *what)
{
    return fail_edit(job, WB_ERROR_UNSUPPORTED, WB__FINDING_EDIT_STORE, WB__STR(""), what);
}

/* Returns true if the path ends with blobs/ and a file name that is a digest. */
static bool is_blob(const char *path)
{
    static const char folder[] = "blobs/";
    const size_t n = sizeof folder - 1;
    const char *slash = strrchr(path, '/');
    size_t before = slash == NULL ? 0 : (size_t)(slash + 1 - path);
    uint8_t digest[WB__SHA256_BYTES];
    return wb__digest_of_name(path, digest) && before >= n &&
           memcmp(path + before - n, folder, n) == 0 &&
           (before == n || path[before - n - 1] == '/');
}

/* Returns the number of hard links to the file besides `path`. */
static uint64_t other_links(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_nlink > 1 ? (uint64_t)st.st_nlink - 1 : 0;
}

static wb_status carry_out(wb__edit_job *job)
{
    bool same, done = false, dry = (job->options->flags & WB_EDIT_DRY_RUN) != 0;
    const wb__out_file *layout = &wb__edit_output(job)->layout;
    wb_edited *edited = &job->edited;
    if (!is_unchanged(job, &same))
        return job->context->error->status == WB_OK ? wb__fail_memory(job->context)
                                                    : job->context->error->status;
    edited->bytes = layout->bytes;
    if (same)
        return WB_OK;
    if (is_blob(job->path))
        return fail_store(job, WB__MSG_EDIT_STORE_BLOB);
    edited->header_bytes = layout->header.n;
    edited->links = other_links(job->path);
    bool in_place =
        job->data_stays && ((job->options->flags & WB_EDIT_IN_PLACE) ||
                            (layout->bytes - layout->header.n > SMALL && !shares_data(job->path)));
    edited->way = WB_EDIT_NEW_FILE;
    if (in_place) {
        edited->inserted = job->target - job->data_begin;
        edited->way = edited->inserted != 0 ? WB_EDIT_INSERT : WB_EDIT_HEADER;
    }
    if (dry)
        return WB_OK;
    wb_status status = in_place ? wb__edit_in_place(job, &done) : WB_OK;
    if (status != WB_OK || done)
        return status;
    edited->way = WB_EDIT_NEW_FILE;
    edited->inserted = 0;
    return wb__edit_new_file(job);
}

/* ---- run the edit ---- */

static wb_status open_file(wb__edit_job *job)
{
    job->model = wb__model_new(job->context, WB_ACCESS_READ);
    if (job->model == NULL)
        return wb__fail_memory(job->context);
    wb_status status = wb__open_file(job->model, job->context, NULL, job->path);
    if (status == WB_OK)
        job->data_begin = job->model->catalog.files[0].data_begin;
    return status;
}

static wb_status make_writer(wb__edit_job *job)
{
    const wb__catalog_file *file = &job->model->catalog.files[0];
    if (strcmp(file->format, "gguf") != 0 && strcmp(file->format, "safetensors") != 0)
        return fail_edit(job, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB__STR(""),
                         WB__MSG_EDIT_FORMAT);
    const wb_writer_options options = {
        .size = sizeof options,
        .format = file->format,
        .flags = WB_WRITE_FORCE | (file->big_endian ? WB_WRITE_BIG_ENDIAN : 0) |
                 (job->options->flags & WB_EDIT_ALIGN_TENSORS ? WB_WRITE_ALIGN_TENSORS : 0),
        .alignment = job->options->alignment};
    wb_status status = wb__writer_make(job->context, &options, &job->writer);
    if (status == WB_OK)
        job->writer->is_edit = true;
    return status;
}

static wb_status edit(wb__edit_job *job, const wb_edit *edits, uint64_t count)
{
    wb_status status = open_file(job);
    if (status == WB_OK)
        status = make_writer(job);
    if (status == WB_OK)
        status = add_metas(job, edits, count);
    if (status == WB_OK)
        status = add_tensors(job, edits, count);
    if (status == WB_OK)
        status = wb__writer_plan(job->context, job->writer, job->path);
    if (status == WB_OK)
        status = wb__edit_set_plan(job);
    if (status != WB_OK)
        return status;
    job->data_stays = job->data_stays && job->options->alignment == 0 && data_lies_still(job);
    if (job->data_stays)
        status = find_target(job);
    return status == WB_OK ? carry_out(job) : status;
}

wb_status wb__edit_file(wb__context *context, const char *path, const wb_edit *edits,
                        uint64_t count, const wb_edit_options *options, wb_edited *edited)
{
    /*
     * The path with all symbolic links resolved, because the journal must be in the directory of
     * the real file.
     */
    char resolved[PATH_MAX];
    wb__edit_job job = {
        .context = context, .path = path, .options = options, .data_stays = true, .set.lock = -1};
    bool undone, dry = (options->flags & WB_EDIT_DRY_RUN) != 0;
    int lock = -1;
    if (realpath(path, resolved) != NULL)
        path = job.path = resolved;
    else if (strncmp(path, WB__OLLAMA_SCHEME, sizeof WB__OLLAMA_SCHEME - 1) == 0)
        return fail_store(&job, WB__MSG_EDIT_STORE_MODEL);
    job.edited.size = sizeof job.edited;
    wb_status status = dry ? WB_OK : wb__edit_lock(context, path, &lock);
    if (status == WB_OK && !dry)
        status = wb__edit_undo(context, path, &undone);
    if (status == WB_OK)
        status = edit(&job, edits, count);
    wb__edit_set_free(&job.set);
    if (job.writer != NULL)
        wb__writer_delete(job.writer);
    if (job.model != NULL)
        wb__model_delete(job.model);
    wb__edit_unlock(lock);
    if (status == WB_OK && edited != NULL)
        *edited = job.edited;
    return status;
}
