/* Writes the members of config.json that the family's table states and that the derived metadata
 * cannot contain: null, empty lists, and lists with one element per layer. */
#include "arch/family_scope.h"
#include "convert/emit/deliver.h"

#define LAYERS_MAX 4096

typedef struct family_members {
    wb__buffer *to;
    wb__scope names;
    uint64_t layers;
} family_members;

static void write_fact(wb__json_writer *writer, const wb__fact *fact)
{
    switch (fact->type) {
    case WB__FACT_UINT: wb__json_write_uint(writer, fact->number); break;
    case WB__FACT_INT: wb__json_write_int(writer, (int64_t)fact->number); break;
    case WB__FACT_REAL: wb__json_write_real(writer, fact->real); break;
    case WB__FACT_BOOL: wb__json_write_bool(writer, fact->number != 0); break;
    case WB__FACT_TEXT: wb__json_write_str(writer, fact->text); break;
    default: wb__json_write_null(writer);
    }
}

/* Writes a list. A list of which the first element has no value is left out. */
static void add_list(const family_members *m, const wb__key_row *row)
{
    wb__scope at = m->names;
    wb__fact fact = wb__expr_eval(row->expr, &at);
    if (m->layers == 0 || m->layers > LAYERS_MAX || fact.type == WB__FACT_NONE)
        return;
    wb__json_writer writer = wb__emit_json(m->to);
    wb__emit_member(m->to, wb__str_from(row->name, SIZE_MAX));
    wb__json_write_begin(&writer, '[');
    for (; at.index < m->layers; at.index++) {
        fact = wb__expr_eval(row->expr, &at);
        write_fact(&writer, &fact);
    }
    wb__json_write_end(&writer, ']');
}

/* An expression that is only "null" removes an inherited row; another one with the value null makes
 * a member that is null. */
static void add_member(void *ctx, const wb__key_row *row)
{
    const family_members *m = ctx;
    const char *text = NULL;
    if (!wb__expr_holds(row->condition, &m->names, true))
        return;
    if (row->type == WB__KEY_LIST)
        add_list(m, row);
    else if (row->expr[0].code == WB__OP_EMPTY)
        text = "[]";
    else if (row->expr[0].code != WB__OP_NULL &&
             wb__expr_eval(row->expr, &m->names).type == WB__FACT_NULL)
        text = "null";
    if (text == NULL)
        return;
    wb__emit_member(m->to, wb__str_from(row->name, SIZE_MAX));
    wb__buffer_text(m->to, text);
}

void wb__emit_family_members(const wb_conversion *conversion, wb__buffer *to)
{
    wb__family_scope scope = wb__semantics_scope(conversion->semantics);
    family_members m = {to, wb__family_names(&scope), conversion->semantics->config.n_layers};
    wb__family_keys(conversion->semantics->family, true, add_member, &m);
}
