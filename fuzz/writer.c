/*
 * Tests the writers. The input declares metadata and tensors in any format and layout, and writes
 * their bytes in any order. A committed file must contain exactly the declared contents; a rejected
 * write must leave no files.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <unistd.h>

#include "support/scratch.h"
#include "support/written.h"
#include "weighbridge.h"

static const char *const formats[] = {"safetensors", "gguf", "npz"};
static const char *const names[] = {"m.safetensors", "m.gguf", "m.npz"};

/* Empties the scratch directory. Fails if it contains files and must_be_empty is set. */
static void sweep(bool must_be_empty)
{
    char path[600];
    DIR *folder = opendir(fuzz_scratch());
    CHECK(folder != NULL);
    for (struct dirent *d; (d = readdir(folder)) != NULL;) {
        if (d->d_name[0] == '.' && d->d_name[1] != 'w')
            continue;
        CHECK(!must_be_empty && d->d_name[0] != '.');
        (void)snprintf(path, sizeof path, "%s/%s", fuzz_scratch(), d->d_name);
        CHECK(unlink(path) == 0);
    }
    (void)closedir(folder);
}

/* Returns true for the keys that describe a split GGUF file. The writer derives their values and
 * ignores values that the caller sets. */
static bool is_left_out(const written_meta *m, const char *format)
{
    static const char *const keys[] = {"split.no", "split.count", "split.tensors.count"};
    for (size_t i = 0; i < 3 && strcmp(format, "gguf") == 0; i++) {
        if (strlen(keys[i]) == m->key_len && memcmp(keys[i], m->key, m->key_len) == 0)
            return true;
    }
    return false;
}

static wb_status declare(fuzz_tape *tape, wb_writer *writer, written *w, const char *format)
{
    bool is_npz = strcmp(format, "npz") == 0;
    wb_error error;
    wb_status status = WB_OK;
    uint32_t count = fuzz_choose(tape, 24);
    for (uint32_t i = 0; i < count && status == WB_OK; i++) {
        if (fuzz_choose(tape, 4) == 0 && !is_npz) {
            written_meta *m = &w->metas[w->meta_count];
            m->key_len = fuzz_text(tape, m->key, sizeof m->key - 1);
            m->text_len = fuzz_text(tape, m->text, sizeof m->text - 1);
            for (size_t k = 0; k < w->meta_count; k++) {
                /* A key that is set again keeps its position. */
                if (w->metas[k].key_len == m->key_len &&
                    memcmp(w->metas[k].key, m->key, m->key_len) == 0) {
                    w->metas[k] = *m;
                    m = &w->metas[k];
                }
            }
            status = wb_writer_set_string(writer, m->key, m->key_len, m->text, m->text_len, &error);
            w->meta_count += m == &w->metas[w->meta_count] && !is_left_out(m, format);
        } else {
            written_tensor *t = &w->tensors[w->tensor_count];
            uint64_t index;
            if (!written_draw(tape, t))
                continue;
            status = wb_writer_add(writer, t->name, t->name_len, t->dtype, t->shape, t->rank,
                                   &index, &error);
            CHECK(status != WB_OK || index == w->tensor_count);
            w->tensor_count += status == WB_OK;
        }
        if (status != WB_OK)
            fuzz_check_error(&error, status, SIZE_MAX);
        CHECK(status == WB_OK || status == WB_ERROR_ARGUMENT || status == WB_ERROR_UNSUPPORTED);
        /* After a rejected value, continue sometimes: the value must not appear in the file. */
        if (status == WB_ERROR_ARGUMENT && fuzz_choose(tape, 2) == 0)
            status = WB_OK;
    }
    return status;
}

/* Writes pieces of the tensors in a random order. If `whole` is set, writes complete tensors, which
 * is required if the writer changes the byte order. */
static void give(wb_writer *writer, const written *w, bool whole, uint32_t *state, bool *complete)
{
    uint64_t done[WRITTEN_TENSORS] = {0};
    size_t left = w->tensor_count;
    bool backwards = fuzz_draw(state) % 2 == 0;
    for (size_t i = 0; i < w->tensor_count; i++)
        left -= w->tensors[i].bytes == 0;
    *complete = fuzz_draw(state) % 16 != 0;
    while (left > (*complete ? 0u : 1u)) {
        size_t i = fuzz_draw(state) % w->tensor_count;
        const written_tensor *t = &w->tensors[i];
        uint64_t n = t->bytes - done[i];
        if (n == 0)
            continue;
        if (!whole && fuzz_draw(state) % 2 == 0)
            n = 1 + fuzz_draw(state) % n;
        uint64_t at = backwards ? t->bytes - done[i] - n : done[i];
        CHECK(wb_writer_put(writer, i, at, t->data + at, (size_t)n, NULL) == WB_OK);
        /* Writing the same bytes twice is an error. */
        CHECK(fuzz_draw(state) % 8 != 0 ||
              wb_writer_put(writer, i, at, t->data + at, (size_t)n, NULL) == WB_ERROR_ARGUMENT);
        done[i] += n;
        left -= done[i] == t->bytes;
    }
    *complete = left == 0;
}

static void write_it(fuzz_tape *tape, wb_writer *writer, written *w,
                     const wb_writer_options *options, char *path)
{
    wb_error error;
    wb_file file = {.size = sizeof file};
    bool complete;
    wb_status status = declare(tape, writer, w, options->format);
    uint32_t state = fuzz_seed((uint32_t)tape->size * 31 + fuzz_choose(tape, 256));
    if (status == WB_OK)
        status = wb_writer_plan(writer, path, &error);
    if (status != WB_OK)
        return;
    status = wb_writer_begin(writer, &error);
    CHECK(status == WB_OK);
    give(writer, w, (options->flags & WB_WRITE_BIG_ENDIAN) != 0, &state, &complete);
    status = wb_writer_commit(writer, &error);
    CHECK(status == (complete ? WB_OK : WB_ERROR_ARGUMENT));
    path[0] = '\0';
    if (complete && wb_writer_file_count(writer) > 0) {
        CHECK(wb_writer_file_at(writer, 0, &file, NULL) == WB_OK);
        CHECK(snprintf(path, 600, "%s", file.path) < 600);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static written w;
    char path[600];
    fuzz_tape tape = {data, size, 0};
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    size_t format = fuzz_choose(&tape, 3);
    uint32_t how = fuzz_choose(&tape, 256);
    const wb_writer_options options = {
        .size = sizeof options,
        .format = formats[format],
        .flags = (format == 1 && how & 1 ? WB_WRITE_BIG_ENDIAN : 0) |
                 (format == 0 && how & 1 ? WB_WRITE_ALIGN_TENSORS : 0),
        .alignment = how & 2 ? UINT64_C(8) << (how >> 2) % 8 : 0,
        .max_file_tensors = format != 2 && how & 32 ? 1 + how % 3 : 0,
        .max_file_bytes = format != 2 && how & 64 ? how * 10 : 0,
        .allocator = &allocator};
    wb_writer *writer;
    wb_error error;
    w.tensor_count = w.meta_count = 0;
    (void)snprintf(path, sizeof path, "%s/%s", fuzz_scratch(), names[format]);
    wb_status status = wb_writer_create(&options, &writer, &error);
    if (status != WB_OK) {
        fuzz_check_error(&error, status, SIZE_MAX);
        return 0;
    }
    char whole[600];
    memcpy(whole, path, sizeof whole);
    write_it(&tape, writer, &w, &options, path);
    wb_writer_free(writer);
    CHECK(heap.live == 0);
    if (strcmp(path, whole) == 0 || path[0] == '\0')
        sweep(access(whole, F_OK) != 0 && path[0] == '\0');
    if (path[0] != '\0' && access(path, F_OK) == 0) {
        written_check(&w, path, format != 2);
        sweep(false);
    }
    return 0;
}
