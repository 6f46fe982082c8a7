/* wb edit: describes each change before it is made. */
#include <string.h>

#include "edit.h"
#include "metadata.h"
#include "out.h"
#include "suggest.h"
#include "values.h"

#define STRING_BYTES 60 /* only this many bytes of a longer new string are displayed */

/* Adds a new value in the format of text_add_meta. */
static void add_value(text *t, const wb_value *value)
{
    size_t shown = value->text_len;
    switch (value->type) {
    case WB_META_STRING:
        if (shown > STRING_BYTES) {
            shown = STRING_BYTES;
            while (shown > 0 && ((unsigned char)value->text[shown] & 0xC0) == 0x80)
                shown--; /* truncate at a UTF-8 character boundary */
        }
        text_add_shown(t, value->text, shown);
        if (shown < value->text_len) {
            text_adds(t, "... (");
            text_add_size(t, value->text_len);
            text_adds(t, ")");
        }
        break;
    case WB_META_UINT: text_addf(t, "%llu", (unsigned long long)value->number); break;
    case WB_META_INT: text_addf(t, "%lld", (long long)(int64_t)value->number); break;
    case WB_META_BOOL: text_adds(t, value->number != 0 ? "true" : "false"); break;
    case WB_META_FLOAT:
        if (value->bits == 64)
            text_add_f64(t, value->real);
        else
            text_add_f32(t, (float)value->real);
        break;
    default: text_addf(t, "[%llu elements]", (unsigned long long)value->count);
    }
}

static bool is_named(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

edit_origin edit_find_old(const edit_state *before, const char *key, size_t len)
{
    edit_origin old = {.meta = WB_META_INIT};
    uint64_t index;
    for (size_t i = before->count; i-- > 0;) {
        const wb_edit *edit = &before->edits[i];
        bool has_name = is_named(edit->name, edit->name_len, key, len);
        if (edit->kind == WB_EDIT_RENAME_KEY && is_named(edit->to, edit->to_len, key, len)) {
            const edit_state earlier = {before->model, before->edits, i};
            return edit_find_old(&earlier, edit->name, edit->name_len);
        }
        if (has_name && edit->kind == WB_EDIT_SET) {
            old.exists = true;
            old.value = edit->value;
            return old;
        }
        if (has_name && (edit->kind == WB_EDIT_DELETE || edit->kind == WB_EDIT_RENAME_KEY))
            return old;
    }
    /* An entry with WB_NO_FILE is derived from sidecar files: the edited file lacks it. */
    old.exists = before->model != NULL && wb_meta_find(before->model, key, len, &index) == WB_OK &&
                 wb_meta_at(before->model, index, &old.meta, NULL) == WB_OK &&
                 old.meta.file != WB_NO_FILE;
    return old;
}

bool edit_key_exists(const edit_state *before, const char *key, size_t len)
{
    return edit_find_old(before, key, len).exists;
}

/* Adds the value of a key after the preceding edits. */
static void add_old(text *t, const edit_state *before, const edit_origin *old)
{
    if (old->value != NULL)
        add_value(t, old->value);
    else if (old->exists)
        text_add_meta(t, before->model, &old->meta, false);
}

static void add_edit(text *t, const edit_state *before, const wb_edit *edit)
{
    const edit_origin old = edit_find_old(before, edit->name, edit->name_len);
    text_adds(t, "  ");
    text_add_shown(t, edit->name, edit->name_len);
    text_adds(t, ": ");
    switch (edit->kind) {
    case WB_EDIT_SET:
        add_old(t, before, &old);
        text_adds(t, old.exists ? " -> " : "new key, ");
        add_value(t, edit->value);
        if (!old.exists)
            text_add_key_meant(t, before->model, edit->name, edit->name_len);
        break;
    case WB_EDIT_DELETE:
        add_old(t, before, &old);
        text_adds(t, " -> removed");
        break;
    case WB_EDIT_DROP: text_adds(t, "tensor removed"); break;
    case WB_EDIT_RENAME_KEY:
    case WB_EDIT_RENAME:
        text_adds(t, edit->kind == WB_EDIT_RENAME ? "tensor renamed to " : "renamed to ");
        text_add_shown(t, edit->to, edit->to_len);
        break;
    }
    text_adds(t, "\n");
}

void edit_changes_add(edit_changes *changes, const edit_state *before, const wb_edit *edit)
{
    if (changes->is_json)
        json_edit(&changes->json, before, edit);
    else
        add_edit(&changes->shown, before, edit);
}

void edit_print_changes(const char *path, const edit_changes *changes)
{
    text line = {0};
    if (changes->shown.len == 0)
        return;
    text_add_shown(&line, path, strlen(path));
    text_adds(&line, "\n");
    text_add(&line, changes->shown.ptr, changes->shown.len);
    out_text(out_stdout(), &line);
    text_free(&line);
}
