/* Parses the rows of a family table other than tensors: values, keys and limits. */
#include "arch/family_parser.h"
#include "arch/model_config.h"

/* ---- values ---- */

bool wb__parser_value(wb__family_parser *p, wb__value_where where, wb__value_row *row)
{
    wb__str name;
    if (!wb__parser_word(p, &name))
        return false;
    *row = (wb__value_row){.where = (uint8_t)where, .field = -1};
    if (where != WB__VALUE_LET)
        row->field = (int16_t)wb__config_field(name);
    if (where != WB__VALUE_LET && row->field < 0)
        return wb__parser_fail(p, WB__MSG_FAMILY_FIELD);
    row->name = wb__parser_copy(p, name);
    return row->name != NULL && wb__parser_expect(p, "=") && wb__parser_expr(p, &row->expr);
}

/* ---- keys ---- */

/* Reads what follows "[" in the type of a list: "N]" for N elements, "]" for one per layer. */
static bool read_count(wb__family_parser *p, wb__key_row *row)
{
    const wb__token *token = &p->lexer.token;
    if (token->kind == WB__TOKEN_NUMBER) {
        if (!(token->number >= 1 && token->number <= UINT8_MAX))
            return wb__parser_fail(p, WB__MSG_FAMILY_NUMBER);
        row->count = (uint8_t)token->number;
        wb__lexer_next(&p->lexer);
    }
    return wb__parser_expect(p, "]");
}

static bool read_key_type(wb__family_parser *p, wb__key_row *row)
{
    static const wb__choice choices[] = {{"u32", WB__KEY_U32},
                                         {"f32", WB__KEY_F32},
                                         {"bool", WB__KEY_BOOL},
                                         {"str", WB__KEY_STR},
                                         {NULL, 0}};
    static const uint8_t lists[] = {[WB__KEY_U32] = WB__KEY_U32_LIST,
                                    [WB__KEY_F32] = WB__KEY_F32_LIST,
                                    [WB__KEY_BOOL] = WB__KEY_BOOL_LIST,
                                    [WB__KEY_STR] = WB__KEY_AS_SAID};
    uint32_t value;
    if (!wb__parser_choice(p, choices, &value))
        return false;
    row->type = (uint8_t)value;
    if (!wb__lexer_take(&p->lexer, "["))
        return true;
    row->type = lists[value];
    return row->type == WB__KEY_AS_SAID ? wb__parser_fail(p, WB__MSG_FAMILY_CHOICE)
                                        : read_count(p, row);
}

bool wb__parser_key(wb__family_parser *p, wb__key_place place, wb__key_row *row)
{
    wb__str name;
    *row = (wb__key_row){.place = (uint8_t)place};
    if (!wb__parser_word(p, &name) || (row->name = wb__parser_copy(p, name)) == NULL ||
        (place == WB__KEYS_GGUF && !read_key_type(p, row)))
        return false;
    if (place != WB__KEYS_GGUF && wb__lexer_take(&p->lexer, "[")) {
        row->type = WB__KEY_LIST;
        if (!read_count(p, row))
            return false;
    }
    if (!wb__parser_expect(p, "="))
        return false;
    return wb__parser_expr(p, &row->expr) &&
           (!wb__lexer_take(&p->lexer, "if") || wb__parser_expr(p, &row->condition));
}

/* ---- limits ---- */

bool wb__parser_limit(wb__family_parser *p, bool is_refused, wb__limit *limit)
{
    wb__str member;
    *limit = (wb__limit){.is_refused = is_refused};
    if (!wb__parser_sides(p, &limit->sides) || !wb__parser_word(p, &member) ||
        (limit->member = wb__parser_copy(p, member)) == NULL || !wb__parser_expect(p, "if") ||
        !wb__parser_expr(p, &limit->condition))
        return false;
    if (p->lexer.token.kind != WB__TOKEN_TEXT)
        return wb__parser_fail(p, WB__MSG_FAMILY_TEXT);
    limit->text = wb__parser_copy(p, p->lexer.token.text);
    wb__lexer_next(&p->lexer);
    return limit->text != NULL;
}
