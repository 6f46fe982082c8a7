#include <math.h>
#include <string.h>

#include "diff.h"
#include "metadata.h"
#include "table.h"
#include "terminal.h"

/* ---- config and metadata ---- */

static void add_field(text *t, const comparison *c, int side, uint32_t field)
{
    wb_config config = WB_CONFIG_INIT;
    wb_config_value value = WB_CONFIG_VALUE_INIT;
    if (wb_config_get(c->model[side], &config, NULL) != WB_OK ||
        wb_config_at(&config, field, &value) != WB_OK)
        return;
    if (value.origin == WB_ORIGIN_ABSENT)
        text_adds(t, "-");
    else if (value.text != NULL)
        text_add_shown(t, value.text, strlen(value.text));
    else if (value.is_float)
        text_addf(t, "%.10g", value.real);
    else
        text_addf(t, "%llu", (unsigned long long)value.number);
}

static bool config_row(void *ctx, uint64_t field, text cells[TABLE_COLUMNS])
{
    const comparison *c = ctx;
    wb_config config = WB_CONFIG_INIT;
    wb_config_value value = WB_CONFIG_VALUE_INIT;
    if (!wb_diff_config(c->diff, (uint32_t)field) ||
        wb_config_get(c->model[0], &config, NULL) != WB_OK ||
        wb_config_at(&config, (uint32_t)field, &value) != WB_OK)
        return false;
    text_adds(&cells[0], value.name);
    add_field(&cells[1], c, 0, (uint32_t)field);
    add_field(&cells[2], c, 1, (uint32_t)field);
    return true;
}

#define ENTRY_BYTES 48 /* maximum number of bytes shown of a value */

/* Truncates text that is too wide for a column, at a UTF-8 character boundary. */
static void clip(text *t)
{
    size_t n = ENTRY_BYTES;
    if (t->len <= ENTRY_BYTES + 3)
        return;
    while (n > 0 && ((unsigned char)t->ptr[n] & 0xC0) == 0x80)
        n--;
    t->len = n;
    text_adds(t, "...");
}

static void add_entry(text *t, const wb_model *model, uint64_t index)
{
    wb_meta meta = WB_META_INIT;
    if (index != UINT64_MAX && wb_meta_at(model, index, &meta, NULL) == WB_OK) {
        text_add_meta(t, model, &meta, false);
        clip(t);
    } else {
        text_adds(t, "-");
    }
}

static bool meta_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const comparison *c = ctx;
    wb_meta_diff meta = WB_META_DIFF_INIT;
    if (wb_diff_meta_at(c->diff, index, &meta) != WB_OK)
        return false;
    text_add_shown(&cells[0], meta.key, meta.key_len);
    add_entry(&cells[1], c->model[0], meta.a);
    add_entry(&cells[2], c->model[1], meta.b);
    return true;
}

/* ---- tensors ---- */

static void add_shape_or_encoding(text *t, const wb_model *model, uint64_t index, bool with_shape)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    if (index == UINT64_MAX || wb_tensor_at(model, index, &tensor, NULL) != WB_OK) {
        text_adds(t, "-");
        return;
    }
    text_add_encoding(t, model, index);
    if (with_shape) {
        text_adds(t, " ");
        text_add_shape(t, tensor.shape, tensor.rank);
    }
}

static void add_measure(text *t, const char *format, double value)
{
    if (isinf(value))
        text_adds(t, value < 0 ? "-inf" : "inf");
    else
        text_addf(t, format, value);
}

static bool tensor_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const comparison *c = ctx;
    wb_tensor_diff tensor = WB_TENSOR_DIFF_INIT;
    if (wb_diff_tensor_at(c->diff, index, &tensor) != WB_OK || tensor.differs == 0)
        return false;
    const wb_distance *d = &tensor.distance;
    bool with_shape = (tensor.differs & WB_DIFF_SHAPES) != 0;
    text_add_shown(&cells[0], tensor.name, tensor.name_len);
    add_shape_or_encoding(&cells[1], c->model[0], tensor.a, with_shape);
    add_shape_or_encoding(&cells[2], c->model[1], tensor.b, with_shape);
    if (!tensor.compared)
        return true;
    text_add_count(&cells[3], d->different);
    if (d->not_finite > 0)
        text_addf(&cells[3], " (%llu not finite)", (unsigned long long)d->not_finite);
    if (d->different == 0)
        return true;
    add_measure(&cells[4], "%.3g", d->nmse);
    add_measure(&cells[5], "%.3g", d->maximum);
    add_measure(&cells[6], "%.6f", d->cosine);
    add_measure(&cells[7], "%.1f", d->snr);
    return true;
}

static void print_section(const comparison *c, const char *title, table *t)
{
    out *o = out_stdout();
    out_printf(o, "%s%s%s\n", style(STYLE_BOLD), title, style(STYLE_END));
    t->ctx = (void *)(uintptr_t)c;
    table_print(o, t);
}

/* ---- summary ---- */

static void add_verdict(text *t, const comparison *c)
{
    uint32_t kinds = wb_diff_kinds(c->diff);
    const char *separator = "";
    if (kinds == 0) {
        text_addf(t, "%sno differences%s", style(STYLE_GREEN), style(STYLE_END));
        return;
    }
    text_addf(t, "%sdifferent%s: ", style(STYLE_YELLOW), style(STYLE_END));
    for (size_t i = 0; i < diff_kind_count; i++) {
        if (kinds & diff_kinds[i].bit) {
            text_addf(t, "%s%s", separator, diff_kinds[i].word);
            separator = ", ";
        }
    }
}

static void add_distance(text *t, const comparison *c)
{
    wb_distance d;
    wb_diff_distance(c->diff, &d);
    if (d.values == 0)
        return;
    text_adds(t, "; ");
    text_add_count(t, d.different);
    text_adds(t, " of ");
    text_add_count(t, d.values);
    text_adds(t, " values differ");
    if (d.different == 0)
        return;
    text_adds(t, ": NMSE ");
    add_measure(t, "%.3g", d.nmse);
    text_adds(t, ", maximum ");
    add_measure(t, "%.3g", d.maximum);
    text_adds(t, ", cosine ");
    add_measure(t, "%.6f", d.cosine);
    text_adds(t, ", ");
    add_measure(t, "%.1f", d.snr);
    text_adds(t, " dB");
}

void diff_show(const comparison *c)
{
    uint32_t kinds = wb_diff_kinds(c->diff);
    text t = {0};
    if (kinds & WB_DIFF_CONFIG)
        print_section(c, "config",
                      &(table){.columns = 3,
                               .titles = {"field", "first", "second"},
                               .align = "lll",
                               .rows = WB_CONFIG_FIELDS,
                               .row = config_row});
    if (kinds & WB_DIFF_METADATA)
        print_section(c, "metadata",
                      &(table){.columns = 3,
                               .titles = {"key", "first", "second"},
                               .align = "LLL",
                               .rows = wb_diff_meta_count(c->diff),
                               .row = meta_row});
    if (kinds & ~(WB_DIFF_CONFIG | WB_DIFF_METADATA))
        print_section(c, "tensors",
                      &(table){.columns = 8,
                               .titles = {"name", "first", "second", "different", "NMSE", "maximum",
                                          "cosine", "SNR dB"},
                               .align = "Lllrrrrr",
                               .rows = wb_diff_tensor_count(c->diff),
                               .row = tensor_row});
    text_add_shown(&t, c->label[0], strlen(c->label[0]));
    text_adds(&t, " and ");
    text_add_shown(&t, c->label[1], strlen(c->label[1]));
    text_adds(&t, ": ");
    add_verdict(&t, c);
    add_distance(&t, c);
    text_adds(&t, "\n");
    out_text(out_stdout(), &t);
    text_free(&t);
}
