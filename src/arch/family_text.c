/* Parses the statements of family tables. Each kind of statement is a row of `statements`. */
#include <stdio.h>

#include "arch/family_parser.h"
#include "weighbridge/config.h"

typedef struct table {
    wb__family_parser p;
    const wb__family_set *set;
    wb__family *family;
    wb__rule *rules;
    wb__value_row *values;
    wb__key_row *keys;
    wb__limit *limits;
} table;

/* ---- lists of words ---- */

/* Appends the words of the statement to a list of the family. The list is a string with the
 * separator '|', or NULL. `member` is the offset of the pointer to the string in the family. */
static bool read_words(table *t, size_t member)
{
    wb__family_parser *p = &t->p;
    const char **list = (const char **)(void *)((char *)t->family + member);
    size_t before = *list == NULL ? 0 : strlen(*list) + 1, n = before;
    wb__lexer start = p->lexer;
    wb__str word;
    do {
        if (!wb__parser_word(p, &word))
            return false;
        n += word.len + 1;
    } while (p->lexer.token.kind == WB__TOKEN_WORD);
    if (n > WB__TABLE_LIST)
        return wb__parser_fail(p, WB__MSG_FAMILY_LONG);
    char *text = wb__parser_alloc(p, n + 1);
    if (text == NULL)
        return false;
    if (before > 0) {
        memcpy(text, *list, before - 1);
        text[before - 1] = '|';
    }
    n = before;
    p->lexer = start;
    do {
        (void)wb__parser_word(p, &word);
        memcpy(text + n, word.ptr, word.len);
        n += word.len;
        text[n++] = '|';
    } while (p->lexer.token.kind == WB__TOKEN_WORD);
    text[n - 1] = '\0';
    *list = text;
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
    {"gguf", read_words, offsetof(wb__family, gguf)},
    {"type", read_words, offsetof(wb__family, types)},
    {"class", read_words, offsetof(wb__family, classes)},
    {"wrapper", read_words, offsetof(wb__family, wrappers)},
    {"signature", read_words, offsetof(wb__family, signature)},
    {"token", read_words, offsetof(wb__family, tokenizer)},
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
    {"drop", read_drop, 0},
};

static bool read_statement(table *t)
{
    wb__lexer *lexer = &t->p.lexer;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (!wb__lexer_take(lexer, statements[i].keyword))
            continue;
        if (!statements[i].read(t, statements[i].argument))
            return false;
        return lexer->token.kind == WB__TOKEN_END || wb__parser_fail(&t->p, WB__MSG_FAMILY_REST);
    }
    return wb__parser_fail(&t->p, WB__MSG_FAMILY_STATEMENT);
}

/* Reads "family NAME : BASE", which must be the first statement. */
static bool read_head(table *t)
{
    wb__family_parser *p = &t->p;
    wb__str name, base;
    if (!wb__parser_expect(p, "family") || !wb__parser_word(p, &name) ||
        (t->family->name = wb__parser_copy(p, name)) == NULL)
        return false;
    if (wb__lexer_take(&p->lexer, ":")) {
        if (!wb__parser_word(p, &base))
            return false;
        t->family->base = wb__family_named(t->set, base);
        if (t->family->base == NULL)
            return wb__parser_fail(p, WB__MSG_FAMILY_BASE);
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
    t->values = wb__parser_alloc(&t->p, count * sizeof *t->values);
    t->keys = wb__parser_alloc(&t->p, count * sizeof *t->keys);
    t->limits = wb__parser_alloc(&t->p, count * sizeof *t->limits);
    t->family->rules = t->rules;
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
