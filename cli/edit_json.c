/* wb edit --json: the old and the new value of each change. */
#include <string.h>

#include "edit.h"
#include "metadata.h"
#include "out.h"
#include "report.h"

/* ---- values ---- */

static uint64_t element_number(const wb_value *value, uint64_t i)
{
    switch (value->bits) {
    case 8: return ((const uint8_t *)value->items)[i];
    case 16: return ((const uint16_t *)value->items)[i];
    case 32: return ((const uint32_t *)value->items)[i];
    default: return ((const uint64_t *)value->items)[i];
    }
}

/* Extends the sign of a number of `bits` bits. */
static int64_t signed_number(uint64_t number, uint32_t bits)
{
    uint64_t sign = bits == 0 || bits == 64 ? 0 : (uint64_t)1 << (bits - 1);
    return (int64_t)((number ^ sign) - sign);
}

static void json_element(wb_json *json, const wb_value *value, uint64_t i)
{
    switch (value->element) {
    case WB_META_STRING:
        wb_json_string(json, ((const char *const *)value->items)[i],
                       value->lens == NULL ? SIZE_MAX : value->lens[i]);
        break;
    case WB_META_UINT: wb_json_uint(json, element_number(value, i)); break;
    case WB_META_INT:
        wb_json_int(json, signed_number(element_number(value, i), value->bits));
        break;
    case WB_META_BOOL: wb_json_bool(json, ((const uint8_t *)value->items)[i]); break;
    case WB_META_FLOAT:
        wb_json_double(json, value->bits == 64 ? ((const double *)value->items)[i]
                                               : (double)((const float *)value->items)[i]);
        break;
    default: wb_json_null(json);
    }
}

static void json_value(wb_json *json, const wb_value *value)
{
    switch (value->type) {
    case WB_META_STRING: wb_json_string(json, value->text, value->text_len); break;
    case WB_META_UINT: wb_json_uint(json, value->number); break;
    case WB_META_INT: wb_json_int(json, (int64_t)value->number); break;
    case WB_META_BOOL: wb_json_bool(json, value->number != 0); break;
    case WB_META_FLOAT: wb_json_double(json, value->real); break;
    default:
        wb_json_begin(json, '[');
        for (uint64_t i = 0; i < value->count; i++)
            json_element(json, value, i);
        wb_json_end(json, ']');
    }
}

/* Writes one event of wb_json_walk. */
static int copy_item(void *ctx, const wb_json_item *item)
{
    wb_json *json = ctx;
    switch (item->kind) {
    case WB_JSON_OBJECT: wb_json_begin(json, '{'); break;
    case WB_JSON_OBJECT_END: wb_json_end(json, '}'); break;
    case WB_JSON_ARRAY: wb_json_begin(json, '['); break;
    case WB_JSON_ARRAY_END: wb_json_end(json, ']'); break;
    case WB_JSON_KEY: wb_json_key(json, item->text, item->len); break;
    case WB_JSON_STRING: wb_json_string(json, item->text, item->len); break;
    case WB_JSON_UINT: wb_json_uint(json, item->number); break;
    case WB_JSON_BOOL: wb_json_bool(json, item->number != 0); break;
    case WB_JSON_NULL: wb_json_null(json); break;
    case WB_JSON_NUMBER:
        if (item->whole && item->real < 0 && item->number <= INT64_MAX)
            wb_json_int(json, -(int64_t)item->number);
        else
            wb_json_double(json, item->real);
        break;
    }
    return json->failed;
}

/* Writes JSON text as a value, without line breaks. Precondition: the text is valid JSON. */
static void json_copy(wb_json *json, const char *bytes, size_t n)
{
    if (wb_json_walk(bytes, n, copy_item, json, NULL) != WB_OK)
        json->failed = 1;
}

/* ---- changes ---- */

static int collect(void *ctx, const char *bytes, size_t n)
{
    text_add(ctx, bytes, n);
    return 0;
}

void edit_changes_open(edit_changes *changes, bool is_json)
{
    *changes = (edit_changes){.is_json = is_json};
    changes->json =
        (wb_json){.size = sizeof changes->json, .write = collect, .ctx = &changes->shown};
    if (is_json)
        wb_json_begin(&changes->json, '[');
}

void edit_changes_close(edit_changes *changes)
{
    text_free(&changes->shown);
}

static void json_begin_change(wb_json *json, const char *kind, const char *name, size_t len)
{
    wb_json_begin(json, '{');
    json_text(json, "edit", kind);
    wb_json_key(json, "name", SIZE_MAX);
    wb_json_string(json, name, len);
}

void json_edit(wb_json *json, const edit_state *before, const wb_edit *edit)
{
    static const char *const kinds[] = {[WB_EDIT_SET] = "set",
                                        [WB_EDIT_DELETE] = "delete",
                                        [WB_EDIT_RENAME] = "rename-tensor",
                                        [WB_EDIT_DROP] = "drop-tensor",
                                        [WB_EDIT_RENAME_KEY] = "rename-key"};
    bool is_value = edit->kind == WB_EDIT_SET || edit->kind == WB_EDIT_DELETE;
    const edit_origin old = edit_find_old(before, edit->name, edit->name_len);
    json_begin_change(json, kinds[edit->kind], edit->name, edit->name_len);
    if (is_value && old.exists) {
        wb_json_key(json, "old", SIZE_MAX);
        if (old.value != NULL)
            json_value(json, old.value);
        else
            json_meta(json, before->model, &old.meta);
    }
    if (edit->kind == WB_EDIT_SET) {
        wb_json_key(json, "new", SIZE_MAX);
        json_value(json, edit->value);
    } else if (edit->to != NULL) {
        wb_json_key(json, "new", SIZE_MAX);
        wb_json_string(json, edit->to, edit->to_len);
    }
    wb_json_end(json, '}');
}

void json_config_edit(wb_json *json, const char *kind, const char *key, json_bytes old,
                      json_bytes new)
{
    json_begin_change(json, kind, key, strlen(key));
    if (old.n > 0) {
        wb_json_key(json, "old", SIZE_MAX);
        json_copy(json, old.ptr, old.n);
    }
    if (new.n > 0) {
        wb_json_key(json, "new", SIZE_MAX);
        json_copy(json, new.ptr, new.n);
    }
    wb_json_end(json, '}');
}

void edit_answer_json(const char *path, const wb_edited *edited, edit_changes *changes)
{
    static const char *const ways[] = {"nothing", "header", "insert", "new file"};
    wb_json json = out_json(out_stdout());
    json_answer(&json, "edit");
    json_text(&json, "path", path);
    json_text(&json, "way", ways[edited->way]);
    json_number(&json, "header_bytes", edited->header_bytes);
    json_number(&json, "inserted", edited->inserted);
    json_number(&json, "bytes", edited->bytes);
    json_number(&json, "links", edited->links);
    wb_json_key(&json, "changes", SIZE_MAX);
    wb_json_end(&changes->json, ']');
    if (edited->way == WB_EDIT_NOTHING)
        json_copy(&json, "[]", 2);
    else
        json_copy(&json, changes->shown.ptr, changes->shown.len);
    wb_json_end(&json, '}');
    out_json_end(&json);
}
