/*
 * Creates a file and edits it repeatedly, in place or by writing a new file. After every edit the
 * file must have the expected contents; after a rejected edit it must be unchanged.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <unistd.h>

#include "support/scratch.h"
#include "support/written.h"
#include "weighbridge.h"

#define EDITS 6

static void make(const written *w, bool is_gguf, uint32_t how, const char *path)
{
    const wb_writer_options options = {.size = sizeof options,
                                       .format = is_gguf ? "gguf" : "safetensors",
                                       .flags = is_gguf && how % 2 != 0 ? WB_WRITE_BIG_ENDIAN : 0,
                                       .alignment = how & 2 ? UINT64_C(8) << how / 4 % 6 : 0};
    wb_writer *writer;
    CHECK(wb_writer_create(&options, &writer, NULL) == WB_OK);
    for (size_t i = 0; i < w->meta_count; i++)
        CHECK(wb_writer_set_string(writer, w->metas[i].key, w->metas[i].key_len, w->metas[i].text,
                                   w->metas[i].text_len, NULL) == WB_OK);
    for (size_t i = 0; i < w->tensor_count; i++)
        CHECK(wb_writer_add(writer, w->tensors[i].name, w->tensors[i].name_len, w->tensors[i].dtype,
                            w->tensors[i].shape, w->tensors[i].rank, NULL, NULL) == WB_OK);
    CHECK(wb_writer_plan(writer, path, NULL) == WB_OK && wb_writer_begin(writer, NULL) == WB_OK);
    for (size_t i = 0; i < w->tensor_count; i++)
        CHECK(wb_writer_put(writer, i, 0, w->tensors[i].data, (size_t)w->tensors[i].bytes, NULL) ==
              WB_OK);
    CHECK(wb_writer_commit(writer, NULL) == WB_OK);
    wb_writer_free(writer);
}

static written_meta *meta_named(written *w, const char *key, size_t n)
{
    for (size_t i = 0; i < w->meta_count; i++) {
        if (w->metas[i].key_len == n && memcmp(w->metas[i].key, key, n) == 0)
            return &w->metas[i];
    }
    return NULL;
}

static written_tensor *tensor_named(written *w, const char *name, size_t n)
{
    for (size_t i = 0; i < w->tensor_count; i++) {
        if (w->tensors[i].name_len == n && memcmp(w->tensors[i].name, name, n) == 0)
            return &w->tensors[i];
    }
    return NULL;
}

typedef struct step {
    wb_edit edit;
    wb_value value;
    char name[WRITTEN_NAME], to[WRITTEN_NAME], text[9500];
} step;

/* Writes a name to `to`, usually that of an existing tensor or key, and returns its length. */
static size_t choose_name(fuzz_tape *tape, const written *w, bool tensor, char *to)
{
    uint32_t how = fuzz_choose(tape, 8);
    size_t count = tensor ? w->tensor_count : w->meta_count;
    if (how == 0 || count == 0)
        return fuzz_text(tape, to, WRITTEN_NAME - 1);
    size_t i = fuzz_choose(tape, (uint32_t)count);
    const char *name = tensor ? w->tensors[i].name : w->metas[i].key;
    size_t n = tensor ? w->tensors[i].name_len : w->metas[i].key_len;
    memcpy(to, name, n);
    to[n] = '\0';
    return n;
}

static void choose_step(fuzz_tape *tape, const written *w, step *s)
{
    wb_edit_kind kind = (wb_edit_kind)(1 + fuzz_choose(tape, 5));
    bool tensor = kind == WB_EDIT_RENAME || kind == WB_EDIT_DROP;
    s->edit = (wb_edit){.size = sizeof s->edit, .kind = kind, .name = s->name, .to = s->to};
    s->edit.name_len = choose_name(tape, w, tensor, s->name);
    s->edit.to_len = fuzz_text(tape, s->to, sizeof s->to - 1);
    s->value = (wb_value){.size = sizeof s->value, .type = WB_META_STRING, .text = s->text};
    s->value.text_len = fuzz_text(tape, s->text, sizeof s->text - 1);
    s->edit.value = &s->value;
}

/* Applies one step to the expected contents. Returns false if the edit must be rejected. */
static bool apply(written *w, const step *s)
{
    written_meta *m = meta_named(w, s->name, s->edit.name_len);
    written_tensor *t = tensor_named(w, s->name, s->edit.name_len);
    bool same = s->edit.name_len == s->edit.to_len && memcmp(s->name, s->to, s->edit.to_len) == 0;
    switch (s->edit.kind) {
    case WB_EDIT_SET:
        if (m == NULL) {
            if (w->meta_count == WRITTEN_METAS)
                return false;
            m = &w->metas[w->meta_count++];
            memcpy(m->key, s->name, s->edit.name_len + 1);
            m->key_len = s->edit.name_len;
        }
        memcpy(m->text, s->text, s->value.text_len + 1);
        m->text_len = s->value.text_len;
        return true;
    case WB_EDIT_DELETE:
        if (m != NULL)
            *m = w->metas[--w->meta_count];
        return true;
    case WB_EDIT_RENAME_KEY:
        if (m == NULL || (!same && meta_named(w, s->to, s->edit.to_len) != NULL))
            return false;
        memcpy(m->key, s->to, s->edit.to_len + 1);
        m->key_len = s->edit.to_len;
        return true;
    case WB_EDIT_RENAME:
        if (t == NULL || (!same && tensor_named(w, s->to, s->edit.to_len) != NULL))
            return false;
        memcpy(t->name, s->to, s->edit.to_len + 1);
        t->name_len = s->edit.to_len;
        return true;
    case WB_EDIT_DROP:
        if (t == NULL)
            return false;
        *t = w->tensors[--w->tensor_count];
        return true;
    }
    return false;
}

/* Copies the expected contents, but for speed only the used entries. */
static void copy(written *to, const written *from)
{
    memcpy(to->tensors, from->tensors, from->tensor_count * sizeof *from->tensors);
    memcpy(to->metas, from->metas, from->meta_count * sizeof *from->metas);
    to->tensor_count = from->tensor_count;
    to->meta_count = from->meta_count;
}

static bool draw_file(fuzz_tape *tape, written *w, bool is_gguf)
{
    uint32_t tensors = 1 + fuzz_choose(tape, 5), metas = fuzz_choose(tape, 5);
    w->tensor_count = w->meta_count = 0;
    for (uint32_t i = 0; i < tensors; i++) {
        written_tensor *t = &w->tensors[w->tensor_count];
        if (!written_draw(tape, t) || (!is_gguf && t->dtype >= 1000))
            continue;
        t->name_len = (size_t)snprintf(t->name, sizeof t->name, "t%u", i);
        w->tensor_count++;
    }
    for (uint32_t i = 0; i < metas; i++) {
        written_meta *m = &w->metas[w->meta_count++];
        m->key_len = (size_t)snprintf(m->key, sizeof m->key, "k%u", i);
        m->text_len = fuzz_text(tape, m->text, sizeof m->text - 1);
    }
    return w->tensor_count > 0;
}

static bool is_text(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] >= 0x80 || text[i] == '\0')
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static written w, after;
    static step s;
    char path[600];
    fuzz_tape tape = {data, size, 0};
    fuzz_state_home();
    bool is_gguf = fuzz_choose(&tape, 2) == 0;
    uint32_t how = fuzz_choose(&tape, 256);
    if (!draw_file(&tape, &w, is_gguf))
        return 0;
    for (size_t i = 0; i < w.tensor_count; i++) {
        /* Skip inputs with dtypes or strings that the format cannot store. */
        if (!is_gguf &&
            (w.tensors[i].dtype == WB_DTYPE_Q8_0 || w.tensors[i].dtype == WB_DTYPE_Q4_0))
            return 0;
        if (is_gguf && w.tensors[i].dtype == WB_DTYPE_U8)
            return 0;
    }
    for (size_t i = 0; i < w.meta_count; i++) {
        if (!is_text(w.metas[i].text, w.metas[i].text_len))
            return 0;
    }
    (void)snprintf(path, sizeof path, "%s/m.%s", fuzz_scratch(), is_gguf ? "gguf" : "safetensors");
    make(&w, is_gguf, how, path);
    for (int i = 0; i < EDITS && !fuzz_tape_ended(&tape); i++) {
        fuzz_heap heap = {0, 0};
        wb_allocator allocator = fuzz_allocator(&heap);
        uint32_t ways = fuzz_choose(&tape, 4);
        wb_error error;
        const wb_edit_options options = {.size = sizeof options,
                                         .flags = (ways & 1 ? WB_EDIT_IN_PLACE : 0) |
                                                  (ways == 2 ? WB_EDIT_DRY_RUN : 0),
                                         .allocator = &allocator};
        choose_step(&tape, &w, &s);
        copy(&after, &w);
        bool fits = apply(&after, &s);
        wb_status status = wb_edit_file(path, &s.edit, 1, &options, NULL, &error);
        CHECK(heap.live == 0);
        if (status != WB_OK) {
            fuzz_check_error(&error, status, SIZE_MAX);
            /* The format may reject names and strings, but no I/O or memory error may occur. */
            CHECK(status != WB_ERROR_IO && status != WB_ERROR_MEMORY);
        } else {
            CHECK(fits);
            if (ways != 2)
                copy(&w, &after);
        }
        written_check(&w, path, true);
    }
    CHECK(unlink(path) == 0);
    return 0;
}
