#include <string.h>

#include "diff.h"
#include "metadata.h"
#include "report.h"

static void put_distance(wb_json *json, const wb_distance *d)
{
    json_number(json, "values", d->values);
    json_number(json, "different", d->different);
    json_number(json, "not_finite", d->not_finite);
    wb_json_key(json, "nmse", SIZE_MAX);
    wb_json_double(json, d->nmse);
    wb_json_key(json, "maximum", SIZE_MAX);
    wb_json_double(json, d->maximum);
    wb_json_key(json, "cosine", SIZE_MAX);
    wb_json_double(json, d->cosine);
    wb_json_key(json, "snr", SIZE_MAX);
    wb_json_double(json, d->snr);
}

static void put_kinds(wb_json *json, uint32_t kinds)
{
    wb_json_key(json, "differs", SIZE_MAX);
    wb_json_begin(json, '[');
    for (size_t i = 0; i < diff_kind_count; i++) {
        if (kinds & diff_kinds[i].bit)
            wb_json_string(json, diff_kinds[i].word, SIZE_MAX);
    }
    wb_json_end(json, ']');
}

/* Writes the tensor of one model: name, shape, encoding and size. Writes null if the model does not
 * have the tensor.
 */
static void put_side(wb_json *json, const char *key, const wb_model *model, uint64_t index)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    text encoding = {0};
    wb_json_key(json, key, SIZE_MAX);
    if (index == UINT64_MAX || wb_tensor_at(model, index, &tensor, NULL) != WB_OK) {
        wb_json_null(json);
        return;
    }
    wb_json_begin(json, '{');
    wb_json_key(json, "name", SIZE_MAX);
    wb_json_string(json, tensor.name, tensor.name_len);
    wb_json_key(json, "shape", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint32_t i = 0; i < tensor.rank; i++)
        wb_json_uint(json, tensor.shape[i]);
    wb_json_end(json, ']');
    text_add_encoding(&encoding, model, index);
    json_text(json, "encoding", encoding.ptr == NULL ? "" : encoding.ptr);
    json_number(json, "bytes", tensor.bytes);
    wb_json_end(json, '}');
    text_free(&encoding);
}

static void put_tensors(wb_json *json, const comparison *c)
{
    wb_tensor_diff tensor = WB_TENSOR_DIFF_INIT;
    wb_json_key(json, "tensors", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; wb_diff_tensor_at(c->diff, i, &tensor) == WB_OK; i++) {
        wb_json_begin(json, '{');
        wb_json_key(json, "name", SIZE_MAX);
        wb_json_string(json, tensor.name, tensor.name_len);
        put_kinds(json, tensor.differs);
        put_side(json, "a", c->model[0], tensor.a);
        put_side(json, "b", c->model[1], tensor.b);
        if (tensor.compared)
            put_distance(json, &tensor.distance);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

static void put_field(wb_json *json, const char *key, const wb_config_value *value)
{
    wb_json_key(json, key, SIZE_MAX);
    if (value->origin == WB_ORIGIN_ABSENT)
        wb_json_null(json);
    else if (value->text != NULL)
        wb_json_string(json, value->text, SIZE_MAX);
    else if (value->is_float)
        wb_json_double(json, value->real);
    else
        wb_json_uint(json, value->number);
}

static void put_config(wb_json *json, const comparison *c)
{
    wb_config a = WB_CONFIG_INIT, b = WB_CONFIG_INIT;
    wb_json_key(json, "config", SIZE_MAX);
    wb_json_begin(json, '[');
    if (wb_config_get(c->model[0], &a, NULL) == WB_OK &&
        wb_config_get(c->model[1], &b, NULL) == WB_OK) {
        for (uint32_t field = 0; field < WB_CONFIG_FIELDS; field++) {
            wb_config_value x = WB_CONFIG_VALUE_INIT, y = WB_CONFIG_VALUE_INIT;
            if (!wb_diff_config(c->diff, field) || wb_config_at(&a, field, &x) != WB_OK ||
                wb_config_at(&b, field, &y) != WB_OK)
                continue;
            wb_json_begin(json, '{');
            json_text(json, "field", x.name);
            put_field(json, "a", &x);
            put_field(json, "b", &y);
            wb_json_end(json, '}');
        }
    }
    wb_json_end(json, ']');
}

static void put_entry(wb_json *json, const char *key, const wb_model *model, uint64_t index)
{
    wb_meta meta = WB_META_INIT;
    wb_json_key(json, key, SIZE_MAX);
    if (index != UINT64_MAX && wb_meta_at(model, index, &meta, NULL) == WB_OK)
        json_meta(json, model, &meta);
    else
        wb_json_null(json);
}

static void put_metadata(wb_json *json, const comparison *c)
{
    wb_meta_diff meta = WB_META_DIFF_INIT;
    wb_json_key(json, "metadata", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; wb_diff_meta_at(c->diff, i, &meta) == WB_OK; i++) {
        wb_json_begin(json, '{');
        wb_json_key(json, "key", SIZE_MAX);
        wb_json_string(json, meta.key, meta.key_len);
        put_entry(json, "a", c->model[0], meta.a);
        put_entry(json, "b", c->model[1], meta.b);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

void diff_answer(const comparison *c)
{
    wb_distance total;
    wb_json json = out_json(out_stdout());
    wb_diff_distance(c->diff, &total);
    json_answer(&json, "diff");
    json_text(&json, "a", c->path[0]);
    json_text(&json, "b", c->path[1]);
    put_kinds(&json, wb_diff_kinds(c->diff));
    put_config(&json, c);
    put_metadata(&json, c);
    put_tensors(&json, c);
    wb_json_key(&json, "totals", SIZE_MAX);
    wb_json_begin(&json, '{');
    json_number(&json, "tensors", wb_diff_tensor_count(c->diff));
    put_distance(&json, &total);
    wb_json_end(&json, '}');
    wb_json_end(&json, '}');
    out_json_end(&json);
}
