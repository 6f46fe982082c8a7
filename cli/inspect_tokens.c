/* wb inspect: the tokens section, and strings that are printed alone (metadata value, template,
 * Modelfile).
 */
#include <string.h>

#include "exit.h"
#include "inspect.h"
#include "metadata.h"
#include "modelfile.h"
#include "report.h"
#include "suggest.h"
#include "table.h"
#include "values.h"

/* ---- tokens ---- */

typedef struct tokens {
    wb_meta_array texts, types, scores; /* types and scores may be shorter than texts, or missing */
} tokens;

static const char *type_name(int64_t type)
{
    static const char *const names[] = {"",     "normal", "unknown", "control",
                                        "user", "unused", "byte"};
    return type < 0 || type >= (int64_t)(sizeof names / sizeof names[0]) ? "" : names[type];
}

static bool get_tokens(const wb_model *model, tokens *t)
{
    *t = (tokens){.texts = {.size = sizeof t->texts},
                  .types = {.size = sizeof t->types},
                  .scores = {.size = sizeof t->scores}};
    if (wb_meta_get_array(model, "tokenizer.ggml.token_type", SIZE_MAX, WB_META_INT, &t->types,
                          NULL) != WB_OK)
        t->types.count = 0;
    if (wb_meta_get_array(model, "tokenizer.ggml.scores", SIZE_MAX, WB_META_FLOAT, &t->scores,
                          NULL) != WB_OK)
        t->scores.count = 0;
    return wb_meta_get_array(model, "tokenizer.ggml.tokens", SIZE_MAX, WB_META_STRING, &t->texts,
                             NULL) == WB_OK;
}

static const char *type_of(const tokens *t, uint64_t index)
{
    int64_t type = 0;
    if (index >= t->types.count || wb_meta_ints(&t->types, index, 1, &type) != WB_OK)
        return "";
    return type_name(type);
}

static bool score_of(const tokens *t, uint64_t index, double *score)
{
    return index < t->scores.count && wb_meta_floats(&t->scores, index, 1, score) == WB_OK;
}

static bool token_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const tokens *t = ctx;
    const char *string;
    size_t n;
    double score;
    if (wb_meta_string_at(&t->texts, index, &string, &n) != WB_OK)
        return false;
    text_addf(&cells[0], "%llu", (unsigned long long)index);
    text_adds(&cells[1], type_of(t, index));
    if (score_of(t, index, &score))
        text_add_f32(&cells[2], (float)score);
    text_adds(&cells[3], "\"");
    text_add_shown(&cells[3], string, n);
    text_adds(&cells[3], "\"");
    return true;
}

void print_tokens(out *o, const inspection *in)
{
    tokens t;
    print_title(o, "Tokens");
    if (!get_tokens(in->model, &t)) {
        out_puts(o, "  none are known\n");
        return;
    }
    table_print(o, &(table){.columns = 4,
                            .titles = {"id", "type", "score", "token"},
                            .align = "rlrl",
                            .rows = t.texts.count,
                            .row = token_row,
                            .ctx = &t});
}

void json_tokens(wb_json *json, const inspection *in)
{
    tokens t;
    wb_json_key(json, "tokens", SIZE_MAX);
    if (!get_tokens(in->model, &t)) {
        wb_json_null(json);
        return;
    }
    wb_json_begin(json, '[');
    for (uint64_t i = 0; i < t.texts.count && !json->failed; i++) {
        const char *string;
        size_t n;
        double score;
        if (wb_meta_string_at(&t.texts, i, &string, &n) != WB_OK)
            continue;
        wb_json_begin(json, '{');
        json_number(json, "id", i);
        wb_json_key(json, "text", SIZE_MAX);
        wb_json_string(json, string, n);
        json_optional(json, "type", type_of(&t, i));
        wb_json_key(json, "score", SIZE_MAX);
        if (score_of(&t, i, &score))
            wb_json_double(json, score);
        else
            wb_json_null(json);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

/* ---- strings printed alone ---- */

bool find_template(const wb_model *model, const char **string, size_t *len)
{
    return wb_meta_get_string(model, "tokenizer.chat_template", SIZE_MAX, string, len, NULL) ==
               WB_OK ||
           wb_meta_get_string(model, "ollama.template", SIZE_MAX, string, len, NULL) == WB_OK;
}

static int fail(const inspection *in, const char *what, int code)
{
    text line = {0};
    text_add_shown(&line, in->label, strlen(in->label));
    text_adds(&line, what);
    report_line("%.900s", line.ptr);
    text_free(&line);
    return code;
}

bool inspection_key(const inspection *in, wb_meta *meta)
{
    uint64_t index;
    return wb_meta_find(in->model, in->key, SIZE_MAX, &index) == WB_OK &&
           wb_meta_at(in->model, index, meta, NULL) == WB_OK;
}

int tell_key_missing(const inspection *in)
{
    text t = {0};
    text_adds(&t, "no metadata has the key \"");
    text_add_shown(&t, in->key, strlen(in->key));
    text_adds(&t, "\"");
    text_add_key_meant(&t, in->model, in->key, strlen(in->key));
    int code = report_path(EXIT_USAGE, in->label, "%s", t.ptr);
    text_free(&t);
    return code;
}

static int print_value(const inspection *in)
{
    out *o = out_stdout();
    wb_meta meta = WB_META_INIT;
    text t = {0};
    if (!inspection_key(in, &meta))
        return tell_key_missing(in);
    const char *string;
    size_t n;
    if (meta.type == WB_META_STRING &&
        wb_meta_get_string(in->model, meta.key, meta.key_len, &string, &n, NULL) == WB_OK)
        out_content(o, string, n);
    else
        text_add_meta(&t, in->model, &meta, true);
    out_text(o, &t);
    out_puts(o, "\n");
    text_free(&t);
    return EXIT_CLEAN;
}

static int print_template(const inspection *in)
{
    const char *string;
    size_t n;
    if (!find_template(in->model, &string, &n))
        return fail(in, ": the model has no chat template", EXIT_UNSUPPORTED);
    out_content(out_stdout(), string, n);
    if (n > 0 && string[n - 1] != '\n')
        out_puts(out_stdout(), "\n");
    return EXIT_CLEAN;
}

static int print_modelfile(const inspection *in)
{
    text t = {0};
    if (!text_add_modelfile(&t, in->model, in->path))
        return fail(in, ": only models of an Ollama store have a Modelfile", EXIT_UNSUPPORTED);
    out_content(out_stdout(), t.ptr, t.len);
    text_free(&t);
    return EXIT_CLEAN;
}

int print_texts(const inspection *in)
{
    int code = EXIT_CLEAN;
    if (in->key != NULL)
        code = worse(code, print_value(in));
    if (in->sections & SECTION_TEMPLATE)
        code = worse(code, print_template(in));
    if (in->sections & SECTION_MODELFILE)
        code = worse(code, print_modelfile(in));
    return code;
}
