#include "arch/family_scope.h"

#include "arch/config_words.h"

/* Maximum number of definitions that are evaluated for one name. Without this limit, definitions
 * that use others several times would take exponential time. */
#define EVALUATED_MAX 1000

/* ---- fields ---- */

wb__fact wb__config_fact(const wb_config *config, int field)
{
    const wb__config_row *row = &wb__config_rows[field];
    const char *member = (const char *)config + row->offset;
    wb__fact fact = {.type = WB__FACT_NONE};
    if (config->origin[field] == WB_ORIGIN_ABSENT)
        return fact;
    switch (row->kind) {
    case WB__CONFIG_KIND_TEXT:
        fact.type = WB__FACT_TEXT;
        fact.text = wb__str_from(*(const char *const *)member, SIZE_MAX);
        break;
    case WB__CONFIG_KIND_COUNT:
        fact.type = WB__FACT_UINT;
        fact.number = *(const uint64_t *)member;
        fact.real = (double)fact.number;
        break;
    case WB__CONFIG_KIND_REAL:
        fact.type = WB__FACT_REAL;
        fact.real = *(const double *)member;
        break;
    case WB__CONFIG_KIND_FLAG:
    case WB__CONFIG_KIND_SMALL:
        fact.type = row->kind == WB__CONFIG_KIND_FLAG ? WB__FACT_BOOL : WB__FACT_UINT;
        fact.number = *(const uint32_t *)member;
        fact.real = (double)fact.number;
        break;
    default: {
        const char *word = wb__config_word(row->kind, *(const uint32_t *)member);
        if (word != NULL)
            fact = (wb__fact){.type = WB__FACT_TEXT, .text = wb__str_from(word, SIZE_MAX)};
    }
    }
    return fact;
}

/* ---- rows of keys ---- */

const wb__key_row *wb__family_key(const wb__family *family, wb__key_place place, const char *name)
{
    for (; family != NULL; family = family->base) {
        for (size_t i = 0; i < family->key_count; i++) {
            if (family->keys[i].place == place && strcmp(family->keys[i].name, name) == 0)
                return &family->keys[i];
        }
    }
    return NULL;
}

void wb__family_keys(const wb__family *family, wb__key_place place,
                     void (*each)(void *ctx, const wb__key_row *row), void *ctx)
{
    const wb__family *chain[WB__FAMILY_CHAIN_MAX];
    size_t n = 0;
    for (const wb__family *f = family; f != NULL && n < WB__FAMILY_CHAIN_MAX; f = f->base)
        chain[n++] = f;
    while (n-- > 0) {
        for (size_t i = 0; i < chain[n]->key_count; i++) {
            const wb__key_row *row = &chain[n]->keys[i];
            if (row->place == place && wb__family_key(chain[n]->base, place, row->name) == NULL)
                each(ctx, wb__family_key(family, place, row->name));
        }
    }
}

/* ---- names ---- */

static bool is_active(const wb__family_scope *s, wb__expr expr)
{
    for (unsigned i = 0; i < s->depth; i++) {
        if (s->active[i] == expr)
            return true;
    }
    return false;
}

static wb__fact eval(wb__family_scope *s, wb__expr expr)
{
    wb__fact fact = {.type = WB__FACT_NONE};
    wb__scope names = wb__family_names(s);
    if (s->depth == 0)
        s->evaluated = 0;
    if (s->depth >= WB__SCOPE_DEPTH_MAX || s->evaluated++ >= EVALUATED_MAX || is_active(s, expr))
        return fact;
    s->active[s->depth++] = expr;
    fact = wb__expr_eval(expr, &names);
    s->depth--;
    return fact;
}

/* Returns the value of a config.json member or GGUF key in the files of the model. */
static wb__fact value_of_files(const wb__family_scope *s, const char *name)
{
    if (!s->by_key)
        return wb__fact_by_path(s->facts, name);
    return wb__fact_by_key(s->facts, s->prefix, name);
}

static wb__fact value_of_row(wb__family_scope *s, const char *name)
{
    const wb__key_row *row =
        wb__family_key(s->family, s->by_key ? WB__KEYS_JSON : WB__KEYS_GGUF, name);
    return row == NULL ? (wb__fact){.type = WB__FACT_NONE} : eval(s, row->expr);
}

static wb__fact value(void *ctx, const char *name)
{
    wb__family_scope *s = ctx;
    if (name[0] == '/')
        return wb__fact_by_path(s->facts, name + 1);
    const wb__value_row *let = wb__family_value(s->family, 1u << WB__VALUE_LET, -1, name);
    if (let != NULL)
        return eval(s, let->expr);
    int field = s->config == NULL ? -1 : wb__config_field(wb__str_from(name, SIZE_MAX));
    wb__fact fact =
        field < 0 ? (wb__fact){.type = WB__FACT_NONE} : wb__config_fact(s->config, field);
    if (fact.type == WB__FACT_NONE)
        fact = value_of_files(s, name);
    return fact.type == WB__FACT_NONE ? value_of_row(s, name) : fact;
}

static bool list(void *ctx, const char *name, wb__fact_list *out)
{
    const wb__family_scope *s = ctx;
    const char *path = name[0] == '/' ? name + 1 : name;
    return wb__fact_list_find(s->facts, s->prefix, name, path, out);
}

/* Returns true if the model has the tensor. {n} in the name stands for any layer. */
static bool tensor(void *ctx, const char *name)
{
    const wb__family_scope *s = ctx;
    char text[WB__STEM_MAX * 2];
    wb__str pattern = wb__str_from(name, SIZE_MAX);
    if (s->names == NULL)
        return false;
    if (strstr(name, "{n}") == NULL)
        return wb__names_find(s->names, pattern) != NULL;
    for (uint32_t layer = 0; layer < s->names->layers && layer < WB__EXPR_LAYERS; layer++) {
        size_t n = wb__pattern_expand(pattern, layer, 0, WB__SUFFIX_NONE, text, sizeof text);
        if (wb__names_find(s->names, (wb__str){text, n}) != NULL)
            return true;
    }
    return false;
}

wb__scope wb__family_names(wb__family_scope *scope)
{
    return (wb__scope){.ctx = scope, .value = value, .list = list, .tensor = tensor};
}
