/* wb inspect: text output of heading, files, metadata, tensors, totals and findings. */
#include <string.h>

#include "inspect.h"
#include "metadata.h"
#include "report.h"
#include "table.h"
#include "terminal.h"

void print_title(out *o, const char *title)
{
    out_printf(o, "\n%s%s%s\n", style(STYLE_BOLD), title, style(STYLE_END));
}

/* ---- heading ---- */

static void print_count(out *o, const char *what, uint64_t value, const char *approximately)
{
    text t = {0};
    text_addf(&t, "  %-12s", what);
    text_add_count(&t, value);
    text_adds(&t, approximately);
    text_adds(&t, "\n");
    out_text(o, &t);
    text_free(&t);
}

/* Adds the rounded value in parentheses: " (2.9 M)" for 2,934,912. Adds nothing below 10,000. */
static void add_rounded(text *t, uint64_t value)
{
    static const char letters[] = "KMBT";
    double rounded = (double)value;
    size_t i = 0;
    if (value < 10000)
        return;
    do
        rounded /= 1000;
    while (rounded >= 999.95 && letters[++i + 1] != '\0');
    text_addf(t, " (%.1f %c)", rounded, letters[i]);
}

static void print_head(out *o, const inspection *in)
{
    uint64_t bytes = 0, header = 0;
    uint64_t files = wb_file_count(in->model);
    for (uint64_t i = 0; i < files; i++) {
        wb_file file = WB_FILE_INIT;
        if (wb_file_at(in->model, i, &file, NULL) == WB_OK) {
            bytes += file.bytes;
            header += file.data_offset;
        }
    }
    text t = {0};
    text_adds(&t, style(STYLE_BOLD));
    text_add_shown(&t, in->label, strlen(in->label));
    text_adds(&t, style(STYLE_END));
    text_addf(&t, "\n  %-12s%s\n  %-12s", "format", wb_format(in->model), "size");
    text_add_size(&t, bytes);
    if (bytes >= 1024) {
        text_adds(&t, " (");
        text_add_count(&t, bytes);
        text_adds(&t, " bytes)");
    }
    text_adds(&t, ", of which headers ");
    text_add_size(&t, header);
    if (files > 1)
        text_addf(&t, ", in %llu files", (unsigned long long)files);
    text_adds(&t, "\n");
    out_text(o, &t);
    if (in->filter != NULL) {
        text_clear(&t);
        text_addf(&t, " of ");
        text_add_count(&t, wb_tensor_count(in->model));
        text_adds(&t, " match ");
        text_add_shown(&t, in->filter, strlen(in->filter));
        print_count(o, "tensors", in->totals.all.tensors, t.ptr);
    } else {
        print_count(o, "tensors", in->totals.all.tensors, "");
    }
    text_clear(&t);
    add_rounded(&t, in->totals.all.parameters);
    print_count(o, "parameters", in->totals.all.parameters, t.ptr == NULL ? "" : t.ptr);
    text_clear(&t);
    text_add_quantization(&t, in);
    if (in->totals.all.parameters > 0)
        out_printf(o, "  %-12s%s, %.2f bits/weight\n", "weights", t.ptr, inspection_bits(in));
    text_free(&t);
}

/* ---- files ---- */

/* Adds the file name if the file is directly in the directory `folder`, otherwise its path. */
static void add_file(text *t, const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/');
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    bool is_inside = slash != NULL && strncmp(path, folder, n) == 0 && path[n] == '/' &&
                     strspn(path + n, "/") == (size_t)(slash - path) - n + 1;
    const char *shown = is_inside ? slash + 1 : path;
    text_add_shown(t, shown, strlen(shown));
}

static bool file_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const inspection *in = ctx;
    wb_file file = WB_FILE_INIT;
    if (wb_file_at(in->model, index, &file, NULL) != WB_OK)
        return false;
    text_add_count(&cells[0], index);
    text_add_count(&cells[1], file.tensors);
    text_add_count(&cells[2], file.bytes);
    add_file(&cells[3], file.path, in->label);
    return true;
}

static void print_files(out *o, const inspection *in)
{
    if (!(in->sections & SECTION_FILES) || wb_file_count(in->model) < 2)
        return;
    print_title(o, "Files");
    table_print(o, &(table){.columns = 4,
                            .titles = {"#", "tensors", "bytes", "file"},
                            .align = "rrrL",
                            .rows = wb_file_count(in->model),
                            .row = file_row,
                            .ctx = (void *)(uintptr_t)in});
}

/* ---- metadata ---- */

static bool metadata_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const inspection *in = ctx;
    wb_meta meta = WB_META_INIT;
    if (wb_meta_at(in->model, index, &meta, NULL) != WB_OK)
        return false;
    text_add_shown(&cells[0], meta.key, meta.key_len);
    text_add_meta(&cells[1], in->model, &meta, in->is_whole);
    return true;
}

static void print_metadata(out *o, const inspection *in)
{
    uint64_t count = in->is_whole ? wb_meta_count(in->model) : metadata_of_files(in->model);
    if (!(in->sections & SECTION_METADATA) || count == 0)
        return;
    print_title(o, "Metadata");
    table_print(o, &(table){.columns = 2,
                            .titles = {"key", "value"},
                            .align = in->is_whole ? "ll" : "LL",
                            .rows = count,
                            .row = metadata_row,
                            .ctx = (void *)(uintptr_t)in});
}

/* ---- tensors ---- */

/* Adds the names of a tensor. If canonical names are selected and the tensor has none, adds its
 * native name in parentheses.
 */
static text *add_names(text *cell, const inspection *in, uint64_t index, const wb_tensor *tensor)
{
    size_t len;
    const char *canonical = inspection_canonical(in, index, &len);
    bool is_missing = in->names == NAMES_CANONICAL && len == 0;
    if (in->names != NAMES_CANONICAL || is_missing) {
        text_adds(cell, is_missing ? "(" : "");
        text_add_shown(cell, tensor->name, tensor->name_len);
        text_adds(cell, is_missing ? ")" : "");
        cell++;
    }
    if (in->names == NAMES_BOTH || (in->names == NAMES_CANONICAL && !is_missing))
        text_add_shown(cell++, canonical, len);
    return cell;
}

static bool tensor_row(void *ctx, uint64_t row, text cells[TABLE_COLUMNS])
{
    const inspection *in = ctx;
    uint64_t index = in->listed[row];
    wb_tensor tensor;
    wb_encoding encoding;
    if (!inspection_tensor(in, index, &tensor, &encoding))
        return false;
    text_addf(&cells[0], "%llu", (unsigned long long)index);
    text *cell = add_names(&cells[1], in, index, &tensor);
    text_add_kind(cell++, (int32_t)tensor.dtype, &encoding);
    text_add_shape(cell++, tensor.shape, tensor.rank);
    text_add_count(cell++, tensor.elements);
    text_add_count(cell, tensor.bytes);
    return true;
}

static void print_tensors(out *o, const inspection *in)
{
    if (!(in->sections & SECTION_TENSORS) || in->totals.all.tensors == 0)
        return;
    print_title(o, "Tensors");
    table t = {.columns = 6,
               .titles = {"#", "name", "dtype", "shape", "elements", "bytes"},
               .align = "rLlrrr",
               .rows = in->listed_count,
               .row = tensor_row,
               .ctx = (void *)(uintptr_t)in};
    table both = t;
    if (in->names == NAMES_BOTH) {
        both.columns = 7;
        both.align = "rLLlrrr";
        both.titles[2] = "canonical name";
        memcpy(both.titles + 3, t.titles + 2, 4 * sizeof *t.titles);
    }
    table_print(o, &both);
    if (in->listed_count < in->totals.all.tensors)
        out_printf(o, "  %llu more are not shown\n",
                   (unsigned long long)(in->totals.all.tensors - in->listed_count));
}

/* ---- totals ---- */

static bool total_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const totals *sum = ctx;
    const kind_total *total = index < sum->count ? &sum->kinds[index] : &sum->all;
    if (index < sum->count)
        text_add_kind(&cells[0], total->dtype, &total->encoding);
    else
        text_adds(&cells[0], "all");
    text_add_count(&cells[1], total->tensors);
    text_add_count(&cells[2], total->parameters);
    text_add_count(&cells[3], total->bytes);
    text_add_size(&cells[4], total->bytes);
    return true;
}

static void print_totals(out *o, const totals *sum)
{
    if (sum->count == 0)
        return;
    print_title(o, "Totals");
    table_print(o, &(table){.columns = 5,
                            .titles = {"dtype", "tensors", "parameters", "bytes", ""},
                            .align = "lrrrr",
                            .rows = sum->count == 1 ? 1 : sum->count + 1,
                            .row = total_row,
                            .ctx = (void *)(uintptr_t)sum});
}

static void print_findings(out *o, const inspection *in)
{
    const wb_findings *findings = wb_model_findings(in->model);
    uint64_t count = wb_findings_count(findings);
    if (count == 0)
        return;
    print_title(o, "Findings");
    for (uint64_t i = 0; i < count; i++) {
        wb_finding finding = WB_FINDING_INIT;
        if (wb_findings_at(findings, i, &finding) == WB_OK)
            print_finding(o, in->label, &finding);
    }
}

void inspect_as_text(const inspection *in)
{
    static bool is_later;
    out *o = out_stdout();
    if (is_later)
        out_puts(o, "\n");
    is_later = true;
    print_head(o, in);
    print_files(o, in);
    if (in->sections & SECTION_CONFIG)
        print_config(o, in);
    print_metadata(o, in);
    print_tensors(o, in);
    if (in->sections & SECTION_LAYERS)
        print_layers(o, in);
    if (in->sections & SECTION_TREE)
        print_tree(o, in);
    if (in->sections & SECTION_TOKENS)
        print_tokens(o, in);
    if (in->sections & SECTION_TOTALS)
        print_totals(o, &in->totals);
    print_findings(o, in);
}
