/* Refuses the conversion, or adds a warning, for each limit in the family's table that the config
 * exceeds. Programs that read the target would compute wrong results with such a config. */
#include "convert/convert.h"
#include "convert/convert_messages.h"

#include <stdio.h>

/* Returns true if an expression depends on the number of the layer. */
static bool is_per_layer(wb__expr expr)
{
    for (; expr->code != WB__OP_END; expr++) {
        if (expr->code == WB__OP_NAME && strcmp(expr->text, "i") == 0)
            return true;
    }
    return false;
}

/* Returns true if `condition` holds, which means that the config is outside the limit. A condition
 * that depends on the layer number holds if it holds for at least one layer. */
static bool is_outside(const wb__semantics *semantics, wb__expr condition)
{
    wb__family_scope scope = wb__semantics_scope(semantics);
    wb__scope names = wb__family_names(&scope);
    uint64_t layers = is_per_layer(condition) ? semantics->config.n_layers : 1;
    for (; names.index < layers && names.index < WB__EXPR_LAYERS; names.index++) {
        if (wb__expr_holds(condition, &names, false))
            return true;
    }
    return false;
}

static wb_status report(wb_conversion *conversion, wb__context *context, bool is_refused,
                        const char *member, const char *text)
{
    wb__str name = wb__str_from(member, SIZE_MAX);
    if (is_refused && !conversion->lossy)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_GRANTED, WB_NO_OFFSET,
                        name, WB__MSG_CONVERT_REFUSED, text);
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_GRANTED, name, text);
}

static wb_status check(wb_conversion *conversion, wb__context *context, const wb__limit *limit)
{
    if ((limit->sides & wb__plan_side(conversion)) == 0 ||
        !is_outside(conversion->semantics, limit->condition))
        return WB_OK;
    return report(conversion, context, limit->is_refused, limit->member, limit->text);
}

/* ---- settings without a GGUF key: llama.cpp uses the value that the family implies ---- */

static const struct {
    wb_config_field field;
    const char *member;
} implied[] = {
    {WB_CONFIG_ACTIVATION, "hidden_act"},
    {WB_CONFIG_ATTENTION_CAUSAL, "is_causal"},
    {WB_CONFIG_EMBEDDING_SCALE, "embedding_multiplier"},
    {WB_CONFIG_RESIDUAL_SCALE, "residual_multiplier"},
    {WB_CONFIG_EXPERT_WEIGHTS_SCALE, "routed_scaling_factor"},
};

static bool has_key(const wb__family *family, wb_config_field field)
{
    const char *rest = wb__config_rows[field].keys;
    wb__str key;
    while (wb__spelling_next(&rest, &key)) {
        char text[96];
        (void)snprintf(text, sizeof text, "%.*s", (int)key.len, key.ptr);
        const wb__key_row *row = wb__family_key(family, WB__KEYS_GGUF, text);
        if (row != NULL && row->expr[0].code != WB__OP_NULL)
            return true;
    }
    return false;
}

/* Returns true if two activations are forms of GELU, whose values differ by less than 0.001. */
static bool is_gelu(const wb__fact *a, const wb__fact *b)
{
    return a->type == WB__FACT_TEXT && b->type == WB__FACT_TEXT &&
           wb__str_starts_with(a->text, WB__STR("gelu")) &&
           wb__str_starts_with(b->text, WB__STR("gelu"));
}

/* Writes the message about a setting in config.json that llama.cpp ignores: it always uses the
 * value `usual`. */
static void describe(char *text, size_t size, const wb__fact *usual)
{
    wb__str word = usual->text;
    if (usual->type == WB__FACT_BOOL)
        word = usual->number != 0 ? WB__STR("true") : WB__STR("false");
    if (usual->type == WB__FACT_TEXT || usual->type == WB__FACT_BOOL)
        (void)snprintf(text, size, WB__MSG_CONVERT_IMPLIED_WORD, (int)word.len, word.ptr);
    else
        (void)snprintf(text, size, WB__MSG_CONVERT_IMPLIED_NUMBER, usual->real);
}

/* Compares the value of a config field in config.json with the value that llama.cpp uses, because
 * GGUF has no key for the field. */
static wb_status check_implied(wb_conversion *conversion, wb__context *context, size_t i)
{
    char text[192];
    const wb__semantics *semantics = conversion->semantics;
    wb_config_field field = implied[i].field;
    wb__family_scope scope = wb__semantics_scope(semantics);
    const wb__scope names = wb__family_names(&scope);
    const wb__value_row *row = wb__family_value(
        semantics->family, 1u << WB__VALUE_IMPLIED | 1u << WB__VALUE_BOTH, (int)field, NULL);
    wb__fact value = wb__config_fact(&semantics->config, (int)field);
    if (row == NULL || has_key(semantics->family, field))
        return WB_OK;
    wb__fact usual = wb__expr_eval(row->expr, &names);
    if (semantics->config.origin[field] == WB_ORIGIN_FILE) {
        if (wb__fact_equal(&value, &usual))
            return WB_OK;
    } else if (wb__fact_by_path(&semantics->facts, wb__config_rows[field].paths).type !=
               WB__FACT_TEXT) {
        /* config.json has no value. (A text would be a value that the config cannot represent.) */
        return WB_OK;
    }
    describe(text, sizeof text, &usual);
    return report(conversion, context, !is_gelu(&value, &usual), implied[i].member, text);
}

wb_status wb__plan_limits(wb_conversion *conversion, wb__context *context)
{
    const wb__semantics *semantics = conversion->semantics;
    wb_status status = WB_OK;
    if (semantics->by_key || !semantics->is_family || semantics->facts.config == NULL)
        return WB_OK;
    for (const wb__family *f = semantics->family; f != NULL && status == WB_OK; f = f->base) {
        for (size_t i = 0; i < f->limit_count && status == WB_OK; i++)
            status = check(conversion, context, &f->limits[i]);
    }
    bool to_gguf = conversion->target == WB_TARGET_GGUF &&
                   (wb__family_flags(semantics->family) & WB__FAMILY_NOT_LLAMA_CPP) == 0;
    for (size_t i = 0; to_gguf && i < sizeof implied / sizeof implied[0] && status == WB_OK; i++)
        status = check_implied(conversion, context, i);
    return status;
}
