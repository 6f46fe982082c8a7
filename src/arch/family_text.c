/* Parses the statements of family tables. Each kind of statement is a row of `statements`. */
#include <stdio.h>

#include "arch/family_parser.h"
#include "weighbridge/config.h"

typedef struct table {
    wb__family_parser p;
    const wb__family_set *set;
    wb__family *family;
    wb__rule *rules;
    wb__fused *fused;
    wb__value_row *values;
    wb__key_row *keys;
    wb__limit *limits;
    char *words[WB__TABLE_WORD_LISTS]; /* memory of the lists of words, made by the first word */
} table;

/* ---- lists of words ---- */

/* The lists of words, which are strings with the separator '|', as offsets of their pointers in the
 * family. */
static const size_t word_lists[WB__TABLE_WORD_LISTS] = {
    offsetof(wb__family, gguf),     offsetof(wb__family, types),
    offsetof(wb__family, classes),  offsetof(wb__family, signature),
    offsetof(wb__family, wrappers), offsetof(wb__family, tokenizer)};

static const char **word_list(wb__family *family, size_t i)
{
    return (const char **)(void *)((char *)family + word_lists[i]);
}

/* Appends the words of the statement to list number i of the family. */
static bool read_words(table *t, size_t i)
{
    wb__family_parser *p = &t->p;
    const char **list = word_list(t->family, i);
    size_t n = *list == NULL ? 0 : strlen(*list);
    wb__str word;
    if (t->words[i] == NULL) {
        size_t text = n + 1 + p->lexer.n, most = WB__TABLE_LIST + 1;
        t->words[i] = wb__parser_alloc(p, text < most ? text : most);
        if (t->words[i] == NULL)
            return false;
        if (n > 0)
            memcpy(t->words[i], *list, n);
        *list = t->words[i];
    }
    do {
        if (!wb__parser_word(p, &word))
            return false;
        if (n + (n > 0) + word.len > WB__TABLE_LIST)
            return wb__parser_fail(p, WB__MSG_FAMILY_LONG);
        if (n > 0)
            t->words[i][n++] = '|';
        memcpy(t->words[i] + n, word.ptr, word.len);
        n += word.len;
        t->words[i][n] = '\0';
    } while (p->lexer.token.kind == WB__TOKEN_WORD);
    return true;
}

/* ---- settings ---- */

static bool read_layer_prefix(table *t, size_t unused)
{
    (void)unused;
    wb__str word;
    if (!wb__parser_word(&t->p, &word))
        return false;
    if (word.len >= sizeof t->p.layer || !wb__str_has(word, WB__STR("{n}")))
        return wb__parser_fail(&t->p, WB__MSG_FAMILY_NAME);
    memcpy(t->p.layer, word.ptr, word.len);
    t->p.layer[word.len] = '\0';
    return true;
}

static bool read_rope(table *t, size_t unused)
{
    (void)unused;
    static const wb__choice choices[] = {{"no", WB__ROPE_NO},
                                         {"halves", WB__ROPE_HALVES},
                                         {"permuted", WB__ROPE_PERMUTED},
                                         {"adjacent", WB__ROPE_ADJACENT},
                                         {NULL, 0}};
    uint32_t value = 0;
    bool ok = wb__parser_choice(&t->p, choices, &value);
    t->family->rope = (uint8_t)value;
    return ok;
}

static bool read_norm(table *t, size_t unused)
{
    (void)unused;
    t->family->has_norm_sides = 1;
    return wb__lexer_take(&t->p.lexer, "plain") || wb__parser_sides(&t->p, &t->family->norm_sides);
}

static bool read_flag(table *t, size_t unused)
{
    (void)unused;
    static const wb__choice choices[] = {{"no-head", WB__FAMILY_NO_HEAD},
                                         {"encoder", WB__FAMILY_ENCODER},
                                         {"scales", WB__FAMILY_FACTORS},
                                         {"router-8", WB__FAMILY_ROUTER_8},
                                         {"not-llama-cpp", WB__FAMILY_NOT_LLAMA_CPP},
                                         {NULL, 0}};
    do {
        uint32_t value;
        if (!wb__parser_choice(&t->p, choices, &value))
            return false;
        t->family->flags |= value;
    } while (t->p.lexer.token.kind == WB__TOKEN_WORD);
    return true;
}

static bool read_when(table *t, size_t unused)
{
    (void)unused;
    return wb__parser_expr(&t->p, &t->family->when);
}

static bool read_need(table *t, size_t unused)
{
    (void)unused;
    static const wb__choice kinds[] = {
        {"attention", WB_LAYER_ATTENTION}, {"recurrent", WB_LAYER_RECURRENT},
        {"conv", WB_LAYER_CONV},           {"none", WB_LAYER_NONE},
        {"both", WB_LAYER_BOTH},           {NULL, 0}};
    uint32_t *needs = &t->family->needs, kind;
    wb__lexer before = t->p.lexer;
    wb__lexer_next(&t->p.lexer);
    bool has_kind = wb__lexer_is(&t->p.lexer, ":");
    t->p.lexer = before;
    if (has_kind) {
        if (!wb__parser_choice(&t->p, kinds, &kind) || !wb__parser_expect(&t->p, ":"))
            return false;
        needs = &t->family->kind_needs[kind];
    }
    return wb__parser_roles(&t->p, needs);
}

/* ---- values ---- */

static bool read_value(table *t, size_t where)
{
    if (!wb__parser_value(&t->p, (wb__value_where)where, &t->values[t->family->value_count]))
        return false;
    t->family->value_count++;
    return true;
}

/* ---- keys ---- */

static bool read_key(table *t, size_t place)
{
    if (!wb__parser_key(&t->p, (wb__key_place)place, &t->keys[t->family->key_count]))
        return false;
    t->family->key_count++;
    return true;
}

/* ---- limits ---- */

static bool read_limit(table *t, size_t is_refused)
{
    if (!wb__parser_limit(&t->p, is_refused != 0, &t->limits[t->family->limit_count]))
        return false;
    t->family->limit_count++;
    return true;
}

/* ---- tensors ---- */

static bool read_tensor(table *t, size_t unused)
{
    (void)unused;
    wb__rule *rule = &t->rules[t->family->rule_count];
    *rule = (wb__rule){.canonical = NULL};
    if (!wb__parser_tensor(&t->p, rule))
        return false;
    t->family->rule_count++;
    return true;
}

static bool read_parts(table *t, size_t unused)
{
    (void)unused;
    if (!wb__parser_fused(&t->p, &t->fused[t->family->fused_count]))
        return false;
    t->family->fused_count++;
    return true;
}

/* Reads the rest of a `drop` statement: the name of an inherited tensor to remove. */
static bool read_drop(table *t, size_t unused)
{
    (void)unused;
    wb__rule *rule = &t->rules[t->family->rule_count];
    wb__str name, short_form = WB__STR("L.");
    char text[WB__TABLE_NAME + sizeof "layers.{n}."];
    if (!wb__parser_word(&t->p, &name))
        return false;
    if (name.len > WB__TABLE_NAME)
        return wb__parser_fail(&t->p, WB__MSG_FAMILY_NAME);
    bool is_short = wb__str_starts_with(name, short_form);
    size_t skipped = is_short ? short_form.len : 0;
    int n = snprintf(text, sizeof text, "%s%.*s", is_short ? "layers.{n}." : "",
                     (int)(name.len - skipped), name.ptr + skipped);
    *rule = (wb__rule){.is_dropped = true, .suffix = WB__SUFFIX_SAME};
    rule->canonical = wb__parser_copy(&t->p, (wb__str){text, (size_t)n});
    t->family->rule_count += rule->canonical != NULL;
    return rule->canonical != NULL;
}

/* ---- statements ---- */

static const struct {
    const char *keyword;
    bool (*read)(table *t, size_t argument);
    size_t argument;
} statements[] = {
    {"gguf", read_words, 0},
    {"type", read_words, 1},
    {"class", read_words, 2},
    {"wrapper", read_words, 4},
    {"signature", read_words, 3},
    {"token", read_words, 5},
    {"set", read_value, WB__VALUE_SET},
    {"default", read_value, WB__VALUE_DEFAULT},
    {"implied", read_value, WB__VALUE_IMPLIED},
    {"missing", read_value, WB__VALUE_BOTH},
    {"always", read_value, WB__VALUE_ALWAYS},
    {"let", read_value, WB__VALUE_LET},
    {"key", read_key, WB__KEYS_GGUF},
    {"json", read_key, WB__KEYS_JSON},
    {"mlx", read_key, WB__KEYS_MLX},
    {"when", read_when, 0},
    {"rope", read_rope, 0},
    {"norm", read_norm, 0},
    {"flag", read_flag, 0},
    {"need", read_need, 0},
    {"layer-prefix", read_layer_prefix, 0},
    {"warn", read_limit, false},
    {"refuse", read_limit, true},
    {"tensor", read_tensor, 0},
    {"parts", read_parts, 0},
    {"drop", read_drop, 0},
};

static bool read_statement(table *t)
{
    wb__lexer *lexer = &t->p.lexer;
    bool is_word = lexer->token.kind == WB__TOKEN_WORD;
    t->p.statement = is_word ? lexer->token.text : WB__STR("?"); /* only words are printable */
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (!wb__lexer_take(lexer, statements[i].keyword))
            continue;
        if (!statements[i].read(t, statements[i].argument))
            return false;
        return lexer->token.kind == WB__TOKEN_END || wb__parser_fail(&t->p, WB__MSG_FAMILY_REST);
    }
    return wb__parser_fail(&t->p, WB__MSG_FAMILY_STATEMENT);
}

/* Sets the base. A table with the name of its base replaces the base: what identifies models of the
 * base also identifies those of the table. */
static bool take_base(table *t, wb__str name)
{
    const wb__family *base = wb__family_named(t->set, name);
    size_t tables = 1;
    t->family->base = base;
    if (base == NULL)
        return wb__parser_fail(&t->p, WB__MSG_FAMILY_BASE);
    for (; base != NULL; base = base->base)
        tables++;
    if (tables > WB__FAMILY_CHAIN_MAX)
        return wb__parser_fail(&t->p, WB__MSG_FAMILY_CHAIN);
    base = t->family->base;
    if (strcmp(base->name, t->family->name) == 0) {
        for (size_t i = 0; i < WB__TABLE_IDENTIFIERS; i++)
            *word_list(t->family, i) = *word_list((wb__family *)(uintptr_t)base, i);
        t->family->when = base->when;
    }
    return true;
}

/* Reads "family NAME : BASE", which must be the first statement. */
static bool read_head(table *t)
{
    wb__family_parser *p = &t->p;
    wb__str name, base;
    p->statement = WB__STR("family");
    if (!wb__parser_expect(p, "family") || !wb__parser_word(p, &name) ||
        (t->family->name = wb__parser_copy(p, name)) == NULL)
        return false;
    if (wb__lexer_take(&p->lexer, ":")) {
        if (!wb__parser_word(p, &base) || !take_base(t, base))
            return false;
    }
    return p->lexer.token.kind == WB__TOKEN_END || wb__parser_fail(p, WB__MSG_FAMILY_REST);
}

static bool at_end(const wb__lexer *lexer)
{
    return lexer->token.kind == WB__TOKEN_END && lexer->next >= lexer->n;
}

/* Returns the number of statements, which limits the number of rows. */
static size_t count_statements(const char *text, size_t n)
{
    size_t count = 0;
    wb__lexer lexer;
    for (wb__lexer_start(&lexer, text, n); !at_end(&lexer); wb__lexer_next_statement(&lexer))
        count++;
    return count;
}

static bool make_rows(table *t, size_t count)
{
    t->rules = wb__parser_alloc(&t->p, count * sizeof *t->rules);
    t->fused = wb__parser_alloc(&t->p, count * sizeof *t->fused);
    t->values = wb__parser_alloc(&t->p, count * sizeof *t->values);
    t->keys = wb__parser_alloc(&t->p, count * sizeof *t->keys);
    t->limits = wb__parser_alloc(&t->p, count * sizeof *t->limits);
    t->family->rules = t->rules;
    t->family->fused = t->fused;
    t->family->values = t->values;
    t->family->keys = t->keys;
    t->family->limits = t->limits;
    return t->p.status == WB_OK;
}

static bool read_table(table *t, wb__str text)
{
    size_t count = count_statements(text.ptr, text.len);
    wb__lexer *lexer = &t->p.lexer;
    wb__lexer_start(lexer, text.ptr, text.len);
    if (count > WB__TABLE_STATEMENTS)
        return wb__parser_fail(&t->p, WB__MSG_FAMILY_LONG);
    if (!make_rows(t, count) || !read_head(t))
        return false;
    for (wb__lexer_next_statement(lexer); !at_end(lexer); wb__lexer_next_statement(lexer)) {
        if (!read_statement(t))
            return false;
    }
    return true;
}

wb_status wb__family_read(wb__context *context, wb__arena *arena, const char *label, wb__str text,
                          const wb__family_set *set, const wb__family **family)
{
    table t = {.p = {.context = context, .arena = arena, .status = WB_OK}, .set = set};
    const char *file = context->file;
    context->file = label;
    *family = NULL;
    (void)snprintf(t.p.layer, sizeof t.p.layer, "model.layers.{n}.");
    t.family = wb__parser_alloc(&t.p, sizeof *t.family);
    if (t.family != NULL) {
        memset(t.family, 0, sizeof *t.family);
        if (text.len > WB__TABLE_BYTES)
            (void)wb__parser_fail(&t.p, WB__MSG_FAMILY_LONG);
        else if (read_table(&t, text))
            *family = t.family;
    }
    context->file = file;
    return t.p.status;
}

void wb__family_head(wb__str text, wb__str *name, wb__str *base)
{
    wb__lexer lexer;
    *name = *base = WB__STR("");
    wb__lexer_start(&lexer, text.ptr, text.len);
    if (!wb__lexer_take(&lexer, "family") || lexer.token.kind != WB__TOKEN_WORD)
        return;
    *name = lexer.token.text;
    wb__lexer_next(&lexer);
    if (wb__lexer_take(&lexer, ":") && lexer.token.kind == WB__TOKEN_WORD)
        *base = lexer.token.text;
}
