/*
 * Compiles family tables to C: families OUTPUT TABLE... (run by scripts/families.sh)
 *
 * Reads the tables in an order in which bases come first, and writes OUTPUT/NAME.c for each and
 * OUTPUT/index.c, the list of all families. The parser is that of the library.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch_messages.h"
#include "arch/family_text.h"
#include "arch/model_config.h"

#define TABLES_MAX 512

/* The generator has no compiled tables: the tables that it has read take their place. */
const wb__family *const wb__families[1] = {NULL};
const size_t wb__family_count = 0;
const wb__family wb__family_unknown = {.name = "?"};

static FILE *out;
static unsigned expr_count;

static void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "families: %s: %s\n", what, why);
    exit(1);
}

/* ---- expressions ---- */

static const char *const codes[] = {
    [WB__OP_END] = "END",       [WB__OP_NUMBER] = "NUMBER",   [WB__OP_TEXT] = "TEXT",
    [WB__OP_TRUE] = "TRUE",     [WB__OP_FALSE] = "FALSE",     [WB__OP_NULL] = "NULL",
    [WB__OP_NAME] = "NAME",     [WB__OP_ELEMENT] = "ELEMENT", [WB__OP_EMPTY] = "EMPTY",
    [WB__OP_ADD] = "ADD",       [WB__OP_SUB] = "SUB",         [WB__OP_MUL] = "MUL",
    [WB__OP_DIV] = "DIV",       [WB__OP_NEG] = "NEG",         [WB__OP_EQ] = "EQ",
    [WB__OP_NE] = "NE",         [WB__OP_LT] = "LT",           [WB__OP_LE] = "LE",
    [WB__OP_GT] = "GT",         [WB__OP_GE] = "GE",           [WB__OP_AND] = "AND",
    [WB__OP_OR] = "OR",         [WB__OP_NOT] = "NOT",         [WB__OP_ELSE] = "ELSE",
    [WB__OP_SELECT] = "SELECT", [WB__OP_CALL] = "CALL"};

static void put_text(const char *text)
{
    if (text == NULL)
        (void)fputs("NULL", out);
    else
        (void)fprintf(out, "\"%s\"", text); /* tables have no quotes and backslashes in texts */
}

/* Writes the operations of an expression as an array. Returns the number of the array, or -1 if
 * expr is NULL. */
static int put_expr(wb__expr expr)
{
    if (expr == NULL)
        return -1;
    (void)fprintf(out, "static const wb__op e%u[] = {", expr_count);
    for (const wb__op *op = expr; op->code != WB__OP_END; op++) {
        (void)fprintf(out, "{WB__OP_%s, %.17g, ", codes[op->code], op->number);
        put_text(op->text);
        (void)fputs("}, ", out);
    }
    (void)fputs("{0}};\n", out);
    return (int)expr_count++;
}

static void put_ref(int number)
{
    if (number < 0)
        (void)fputs("NULL", out);
    else
        (void)fprintf(out, "e%d", number);
}

/* Writes an array of expressions. `prefix` and `number` make its name. */
static void put_exprs(const char *prefix, unsigned number, const wb__expr *exprs, size_t count)
{
    int numbers[16];
    for (size_t i = 0; i < count; i++)
        numbers[i] = put_expr(exprs[i]);
    (void)fprintf(out, "static const wb__expr %s%u[] = {", prefix, number);
    for (size_t i = 0; i < count; i++) {
        put_ref(numbers[i]);
        (void)fputs(i + 1 < count ? ", " : "", out);
    }
    (void)fputs("};\n", out);
}

/* ---- tensors ---- */

static unsigned chain_count;

/* Writes the operations of a spelling as an array. Returns its number, or -1 if there are none. */
static int put_chain(const wb__spelling *spelling)
{
    int arguments[16];
    if (spelling->count == 0)
        return -1;
    for (size_t i = 0; i < spelling->count; i++)
        arguments[i] = put_expr(spelling->chain[i].argument);
    (void)fprintf(out, "static const wb__transform c%u[] = {", chain_count);
    for (size_t i = 0; i < spelling->count; i++) {
        (void)fprintf(out, "{%u, ", spelling->chain[i].kind);
        put_ref(arguments[i]);
        (void)fputs("}, ", out);
    }
    (void)fputs("};\n", out);
    return (int)chain_count++;
}

static void put_spellings(const wb__rule *rule, unsigned number)
{
    int chains[32];
    for (size_t i = 0; i < rule->spelling_count; i++)
        chains[i] = put_chain(&rule->spellings[i]);
    (void)fprintf(out, "static const wb__spelling s%u[] = {\n", number);
    for (size_t i = 0; i < rule->spelling_count; i++) {
        const wb__spelling *s = &rule->spellings[i];
        (void)fprintf(out, "    {\"%s\", %u, %u, %s, %u, ", s->name, s->sides, s->suffix,
                      s->is_read ? "true" : "false", s->count);
        if (chains[i] < 0)
            (void)fputs("NULL},\n", out);
        else
            (void)fprintf(out, "c%d},\n", chains[i]);
    }
    (void)fputs("};\n", out);
}

static void put_rules(const wb__family *f)
{
    for (size_t i = 0; i < f->rule_count; i++) {
        const wb__rule *rule = &f->rules[i];
        if (rule->rank > 0)
            put_exprs("shape", (unsigned)i, rule->shape, rule->rank);
        if (rule->spelling_count > 0)
            put_spellings(rule, (unsigned)i);
    }
    if (f->rule_count == 0)
        return;
    (void)fputs("static const wb__rule rules[] = {\n", out);
    for (size_t i = 0; i < f->rule_count; i++) {
        const wb__rule *rule = &f->rules[i];
        (void)fputs("    {.canonical = ", out);
        put_text(rule->canonical);
        if (rule->spelling_count > 0)
            (void)fprintf(out, ", .spellings = s%zu, .spelling_count = %u", i,
                          rule->spelling_count);
        if (rule->rank > 0)
            (void)fprintf(out, ", .shape = shape%zu, .rank = %u", i, rule->rank);
        if (rule->provides != 0)
            (void)fprintf(out, ", .provides = %uu", rule->provides);
        (void)fprintf(out, ", .suffix = %u%s},\n", rule->suffix,
                      rule->is_dropped ? ", .is_dropped = true" : "");
    }
    (void)fputs("};\n", out);
}

static void put_fused(const wb__family *f)
{
    if (f->fused_count == 0)
        return;
    (void)fputs("static const wb__fused fused[] = {\n", out);
    for (size_t i = 0; i < f->fused_count; i++) {
        const wb__fused *row = &f->fused[i];
        (void)fprintf(out, "    {\"%s\", {", row->whole);
        for (size_t part = 0; part < row->count; part++)
            (void)fprintf(out, "\"%s\", ", row->parts[part]);
        (void)fprintf(out, "}, %u},\n", row->count);
    }
    (void)fputs("};\n", out);
}

/* ---- values, keys and limits ---- */

static void put_values(const wb__family *f)
{
    int exprs[1024];
    for (size_t i = 0; i < f->value_count; i++)
        exprs[i] = put_expr(f->values[i].expr);
    if (f->value_count == 0)
        return;
    (void)fputs("static const wb__value_row values[] = {\n", out);
    for (size_t i = 0; i < f->value_count; i++) {
        (void)fprintf(out, "    {%u, %d, \"%s\", ", f->values[i].where, f->values[i].field,
                      f->values[i].name);
        put_ref(exprs[i]);
        (void)fputs("},\n", out);
    }
    (void)fputs("};\n", out);
}

static void put_keys(const wb__family *f)
{
    int exprs[1024], conditions[1024];
    for (size_t i = 0; i < f->key_count; i++) {
        exprs[i] = put_expr(f->keys[i].expr);
        conditions[i] = put_expr(f->keys[i].condition);
    }
    if (f->key_count == 0)
        return;
    (void)fputs("static const wb__key_row keys[] = {\n", out);
    for (size_t i = 0; i < f->key_count; i++) {
        const wb__key_row *row = &f->keys[i];
        (void)fprintf(out, "    {\"%s\", %u, %u, %u, ", row->name, row->type, row->place,
                      row->count);
        put_ref(exprs[i]);
        (void)fputs(", ", out);
        put_ref(conditions[i]);
        (void)fputs("},\n", out);
    }
    (void)fputs("};\n", out);
}

static void put_limits(const wb__family *f)
{
    int exprs[1024];
    for (size_t i = 0; i < f->limit_count; i++)
        exprs[i] = put_expr(f->limits[i].condition);
    if (f->limit_count == 0)
        return;
    (void)fputs("static const wb__limit limits[] = {\n", out);
    for (size_t i = 0; i < f->limit_count; i++) {
        const wb__limit *limit = &f->limits[i];
        (void)fprintf(out, "    {%u, %u, \"%s\", e%d,\n     \"%s\"},\n", limit->sides,
                      limit->is_refused, limit->member, exprs[i], limit->text);
    }
    (void)fputs("};\n", out);
}

/* ---- the family ---- */

/* Writes the name of a C variable for a table: its name with '_' for other characters. */
static void put_variable(const char *name)
{
    (void)fputs("wb__family_", out);
    for (; *name != '\0'; name++) {
        bool fits = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9') ||
                    (*name >= 'A' && *name <= 'Z');
        (void)fputc(fits ? *name : '_', out);
    }
}

static void put_list(const char *member, const char *text)
{
    if (text != NULL)
        (void)fprintf(out, "    .%s = \"%s\",\n", member, text);
}

static void put_count(const char *member, const char *array, size_t count)
{
    if (count > 0)
        (void)fprintf(out, "    .%s = %s,\n    .%.*s_count = %zu,\n", member, array,
                      (int)strlen(member) - 1, member, count);
}

static void put_struct(const wb__family *f, int when)
{
    (void)fputs("const wb__family ", out);
    put_variable(f->name);
    (void)fprintf(out, " = {\n    .name = \"%s\",\n", f->name);
    if (f->base != NULL) {
        (void)fputs("    .base = &", out);
        put_variable(f->base->name);
        (void)fputs(",\n", out);
    }
    put_list("gguf", f->gguf);
    put_list("types", f->types);
    put_list("classes", f->classes);
    put_list("signature", f->signature);
    put_list("wrappers", f->wrappers);
    put_list("tokenizer", f->tokenizer);
    if (when >= 0)
        (void)fprintf(out, "    .when = e%d,\n", when);
    put_count("rules", "rules", f->rule_count);
    if (f->fused_count > 0)
        (void)fprintf(out, "    .fused = fused,\n    .fused_count = %zu,\n", f->fused_count);
    put_count("values", "values", f->value_count);
    put_count("keys", "keys", f->key_count);
    put_count("limits", "limits", f->limit_count);
    (void)fprintf(out, "    .rope = %u,\n    .norm_sides = %u,\n    .has_norm_sides = %u,\n",
                  f->rope, f->norm_sides, f->has_norm_sides);
    (void)fprintf(out, "    .flags = %uu,\n    .needs = %uu,\n", f->flags, f->needs);
    for (unsigned kind = 0; kind < WB__LAYER_KIND_COUNT; kind++) {
        if (f->kind_needs[kind] != 0)
            (void)fprintf(out, "    .kind_needs[%u] = %uu,\n", kind, f->kind_needs[kind]);
    }
    (void)fputs("};\n", out);
}

static void put_family(const wb__family *f)
{
    expr_count = chain_count = 0;
    (void)fprintf(out,
                  "/* Generated from %s.family by scripts/families.sh; do not edit. */\n"
                  "#include \"arch/family.h\"\n\n",
                  f->name);
    if (f->base != NULL) {
        (void)fputs("extern const wb__family ", out);
        put_variable(f->base->name);
        (void)fputs(";\n\n", out);
    }
    int when = put_expr(f->when);
    put_rules(f);
    put_fused(f);
    put_values(f);
    put_keys(f);
    put_limits(f);
    (void)fputs("extern const wb__family ", out);
    put_variable(f->name);
    (void)fputs(";\n", out);
    put_struct(f, when);
}

static void put_index(const wb__family *const *families, size_t count)
{
    (void)fputs("/* Generated by scripts/families.sh; do not edit. */\n"
                "#include \"arch/family.h\"\n\n",
                out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs("extern const wb__family ", out);
        put_variable(families[i]->name);
        (void)fputs(";\n", out);
    }
    (void)fputs("\nconst wb__family *const wb__families[] = {\n", out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs("    &", out);
        put_variable(families[i]->name);
        (void)fputs(",\n", out);
    }
    (void)fprintf(out, "};\n\nconst size_t wb__family_count = %zu;\n", count);
}

/* ---- files ---- */

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(WB__TABLE_BYTES + 1);
    if (file == NULL || text == NULL)
        die(path, "cannot be read");
    *n = fread(text, 1, WB__TABLE_BYTES + 1, file);
    (void)fclose(file);
    return text;
}

static void open_out(const char *folder, const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s.c", folder, name);
    out = fopen(path, "w");
    if (out == NULL)
        die(path, "cannot be written");
}

static void close_out(void)
{
    if (fclose(out) != 0)
        die("output", "cannot be written");
}

/* Reads a table. Returns NULL if its base has not been read yet. */
static const wb__family *read_table(wb__context *context, wb__arena *arena, const char *path,
                                    const wb__family_set *set)
{
    size_t n, line = 1;
    const wb__family *family;
    char *text = read_file(path, &n);
    wb_status status = wb__family_read(context, arena, path, (wb__str){text, n}, set, &family);
    if (status != WB_OK && strstr(context->error->message, WB__MSG_FAMILY_BASE) == NULL) {
        for (uint64_t i = 0; i < context->error->offset && i < n; i++)
            line += text[i] == '\n';
        (void)fprintf(stderr, "%s:%zu: %s: %s\n", path, line, context->error->name,
                      context->error->message);
        exit(1);
    }
    free(text);
    return family;
}

int main(int argc, char **argv)
{
    static const wb__family *families[TABLES_MAX];
    wb_error error;
    wb__context context = {.allocator = wb__default_allocator, .file = "", .error = &error};
    wb__arena arena = {.allocator = &wb__default_allocator};
    wb__family_set set = {families, 0};
    bool done[TABLES_MAX] = {false}, again = true;
    if (argc < 3 || argc - 2 > TABLES_MAX)
        die("usage", "families OUTPUT TABLE...");
    while (again) {
        again = false;
        for (int i = 2; i < argc; i++) {
            (void)wb__error_reset(&error, &error);
            if (done[i - 2])
                continue;
            const wb__family *family = read_table(&context, &arena, argv[i], &set);
            if (family == NULL)
                continue;
            families[set.count++] = family;
            done[i - 2] = again = true;
        }
    }
    if (set.count < (size_t)argc - 2)
        die("tables", "a base is missing, or tables are bases of each other");
    for (size_t i = 0; i < set.count; i++) {
        open_out(argv[1], families[i]->name);
        put_family(families[i]);
        close_out();
    }
    open_out(argv[1], "index");
    put_index(families, set.count);
    close_out();
    wb__arena_free(&arena);
    return 0;
}
