/* Writes members of config.json for which the description of the model's architecture family
 * (arch/families) has a row: those that the derived metadata cannot contain (null, empty lists, and
 * lists with one element per layer), and those that mlx-lm needs but the source does not have. */
#include "arch/family_scope.h"
#include "convert/emit/deliver.h"

typedef struct family_members {
    wb__buffer *to;
    wb__scope names;
    const wb__tree *config; /* config.json of the source; NULL for a GGUF file */
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

/* Writes a list. Writes nothing if the expression has no value for the first element, for example
 * because a key that it uses is missing. */
static void add_list(const family_members *m, const wb__key_row *row)
{
    wb__scope at = m->names;
    wb__fact fact = wb__expr_eval(row->expr, &at);
    uint64_t n = row->count != 0 ? row->count : m->layers;
    if (n == 0 || n > WB__EXPR_LAYERS || fact.type == WB__FACT_NONE)
        return;
    wb__json_writer writer = wb__emit_json(m->to);
    wb__emit_member(m->to, wb__str_from(row->name, SIZE_MAX));
    wb__json_write_begin(&writer, '[');
    for (; at.index < n; at.index++) {
        fact = wb__expr_eval(row->expr, &at);
        write_fact(&writer, &fact);
    }
    wb__json_write_end(&writer, ']');
}

/* Writes the member of config.json that a row describes, if the value of the row is a list or null.
 * Exception: a row whose expression is the word `null` writes nothing, because it cancels a row
 * that the family inherits. Only an expression that is evaluated to null writes a member with the
 * value null. */
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
    family_members m = {to, wb__family_names(&scope), NULL, conversion->semantics->config.n_layers};
    wb__family_keys(conversion->semantics->family, WB__KEYS_JSON, add_member, &m);
}

/* ---- members for mlx-lm ---- */

/* Writes a member under the name that mlx-lm reads, unless config.json already has it. This is
 * necessary because transformers 5 writes some members into the object rope_parameters or under new
 * names. */
static void add_mlx(void *ctx, const wb__key_row *row)
{
    const family_members *m = ctx;
    if (wb__tree_get(m->config, 0, row->name) != WB__NO_NODE ||
        !wb__expr_holds(row->condition, &m->names, true))
        return;
    wb__fact fact = wb__expr_eval(row->expr, &m->names);
    if (fact.type == WB__FACT_NONE || fact.type == WB__FACT_NULL)
        return;
    wb__json_writer writer = wb__emit_json(m->to);
    wb__emit_member(m->to, wb__str_from(row->name, SIZE_MAX));
    write_fact(&writer, &fact);
}

/* Writes a scalar or a list of scalars. */
static void write_node(wb__json_writer *writer, const wb__tree *config, wb__node node)
{
    wb__fact fact;
    if (wb__tree_type(config, node) != WB__JSON_ARRAY) {
        fact = wb__fact_of_node(config, node);
        write_fact(writer, &fact);
        return;
    }
    wb__json_write_begin(writer, '[');
    for (wb__node i = wb__tree_first(config, node); i != WB__NO_NODE;
         i = wb__tree_next(config, node, i)) {
        fact = wb__fact_of_node(config, i);
        write_fact(writer, &fact);
    }
    wb__json_write_end(writer, ']');
}

/* Returns the object with the scaling of RoPE, or WB__NO_NODE if there is no scaling. */
static wb__node find_scaling(const wb__tree *config)
{
    static const char *const paths[] = {"rope_parameters", "rope_parameters/full_attention"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        wb__node object = wb__tree_path(config, 0, paths[i]);
        wb__str type = wb__tree_string(
            config, object == WB__NO_NODE ? 0 : wb__tree_get(config, object, "rope_type"));
        if (type.len > 0 && !wb__str_equal(type, WB__STR("default")))
            return object;
    }
    return WB__NO_NODE;
}

static void add_scaling(const family_members *m)
{
    wb__node object = find_scaling(m->config);
    wb__json_writer writer = wb__emit_json(m->to);
    if (wb__tree_get(m->config, 0, "rope_scaling") != WB__NO_NODE)
        return;
    wb__emit_member(m->to, WB__STR("rope_scaling"));
    if (object == WB__NO_NODE) {
        wb__json_write_null(&writer);
        return;
    }
    wb__json_write_begin(&writer, '{');
    for (wb__node key = wb__tree_first_key(m->config, object); key != WB__NO_NODE;
         key = wb__tree_next(m->config, object, key + 1)) {
        wb__json_write_key_str(&writer, wb__tree_string(m->config, key));
        write_node(&writer, m->config, key + 1);
    }
    wb__json_write_end(&writer, '}');
}

void wb__emit_mlx_members(const wb_conversion *conversion, wb__buffer *to)
{
    const wb__semantics *semantics = conversion->semantics;
    wb__family_scope scope = wb__semantics_scope(semantics);
    family_members m = {to, wb__family_names(&scope), semantics->facts.config,
                        semantics->config.n_layers};
    if (conversion->target != WB_TARGET_MLX || !semantics->is_family ||
        semantics->facts.config == NULL || semantics->facts.places[0] != 0)
        return;
    wb__family_keys(semantics->family, WB__KEYS_MLX, add_mlx, &m);
    if (wb__tree_get(m.config, 0, "rope_parameters") != WB__NO_NODE)
        add_scaling(&m);
}
