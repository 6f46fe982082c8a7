/*
 * Counts the steps that the evaluation of a family's expressions can take. A step is an operation.
 * The operations of a definition count at each of its uses, as wb__expr_eval evaluates it each
 * time. Operations on lists and on all layers count as LOOP_STEPS steps.
 */
#include "arch/family_check.h"

#include "arch/arch_messages.h"
#include "arch/family_scope.h"

#define LOOP_STEPS 64

typedef struct counter {
    const wb__family *family;
    wb__key_place place; /* the rows that names stand for: those for GGUF or for config.json */
    wb__expr active[WB__SCOPE_DEPTH_MAX]; /* as in wb__family_scope */
    unsigned depth;
    uint64_t steps;   /* of the current expression */
    uint64_t total;   /* of all expressions */
    const char *name; /* name of the first row that exceeds a limit; NULL: none */
} counter;

static void count_expr(counter *c, wb__expr expr);

/* Counts the steps of a definition. */
static void count_definition(counter *c, wb__expr expr)
{
    if (c->depth == WB__SCOPE_DEPTH_MAX)
        return;
    for (unsigned i = 0; i < c->depth; i++) {
        if (c->active[i] == expr)
            return;
    }
    c->active[c->depth++] = expr;
    count_expr(c, expr);
    c->depth--;
}

/* Counts the steps of the definition or row that a name can stand for. */
static void count_name(counter *c, const char *name)
{
    const wb__value_row *let = wb__family_value(c->family, 1u << WB__VALUE_LET, -1, name);
    const wb__key_row *row = let == NULL ? wb__family_key(c->family, c->place, name) : NULL;
    if (let != NULL || row != NULL)
        count_definition(c, let != NULL ? let->expr : row->expr);
}

static bool is_loop(const wb__op *op)
{
    return op->code == WB__OP_ELEMENT || (op->code == WB__OP_CALL && op->text != NULL);
}

static void count_expr(counter *c, wb__expr expr)
{
    for (; expr->code != WB__OP_END && c->steps <= WB__FAMILY_STEPS_MAX; expr++) {
        c->steps += is_loop(expr) ? LOOP_STEPS : 1;
        if (expr->code == WB__OP_NAME || is_loop(expr))
            count_name(c, expr->text);
    }
}

/* Counts an expression of the row `name`. */
static void count(counter *c, const char *name, wb__expr expr)
{
    if (c->name != NULL || expr == NULL)
        return;
    c->steps = 0;
    count_expr(c, expr);
    c->total += c->steps;
    if (c->steps > WB__FAMILY_STEPS_MAX || c->total > WB__FAMILY_STEPS_TOTAL_MAX)
        c->name = name == NULL ? "-" : name;
}

static void count_tensor(counter *c, const wb__rule *rule)
{
    for (size_t i = 0; i < rule->rank; i++)
        count(c, rule->canonical, rule->shape[i]);
    for (size_t i = 0; i < rule->spelling_count; i++) {
        for (size_t k = 0; k < rule->spellings[i].count; k++)
            count(c, rule->canonical, rule->spellings[i].chain[k].argument);
    }
}

static void count_table(counter *c, const wb__family *table)
{
    count(c, table->name, table->when);
    for (size_t i = 0; i < table->rule_count; i++)
        count_tensor(c, &table->rules[i]);
    for (size_t i = 0; i < table->value_count; i++)
        count(c, table->values[i].name, table->values[i].expr);
    for (size_t i = 0; i < table->key_count; i++) {
        count(c, table->keys[i].name, table->keys[i].expr);
        count(c, table->keys[i].name, table->keys[i].condition);
    }
    for (size_t i = 0; i < table->limit_count; i++)
        count(c, table->limits[i].member, table->limits[i].condition);
}

static counter count_family(const wb__family *family, wb__key_place place)
{
    counter c = {.family = family, .place = place};
    for (const wb__family *table = family; table != NULL; table = table->base)
        count_table(&c, table);
    return c;
}

static size_t count_rows(const wb__family *family)
{
    size_t rows = 0;
    for (; family != NULL; family = family->base)
        rows += family->rule_count + family->value_count + family->key_count + family->limit_count;
    return rows;
}

static wb_status fail(wb__context *context, const char *name, const char *message)
{
    return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FAMILY, WB_NO_OFFSET,
                    wb__str_from(name, SIZE_MAX), "%s", message);
}

wb_status wb__family_check(wb__context *context, const wb__family *family)
{
    if (count_rows(family) > WB__FAMILY_ROWS_MAX)
        return fail(context, family->name, WB__MSG_FAMILY_ROWS);
    for (int place = WB__KEYS_GGUF; place <= WB__KEYS_JSON; place++) {
        counter c = count_family(family, (wb__key_place)place);
        if (c.name != NULL)
            return fail(context, c.name, WB__MSG_FAMILY_STEPS);
    }
    wb__rule_table *table = wb__alloc(&context->allocator, sizeof *table);
    if (table == NULL)
        return wb__fail_memory(context);
    wb__rule_table_make(table, family);
    bool is_full = table->count == WB__SPELLINGS_MAX;
    wb__free(&context->allocator, table, sizeof *table);
    return is_full ? fail(context, family->name, WB__MSG_FAMILY_NAMES) : WB_OK;
}
