/*
 * Parses expressions by precedence climbing. The result is in postfix order: each operator
 * follows its operands.
 *
 *     select ?:   lowest precedence, groups to the right
 *     ??   or   and   not   == != < <= > >=   + -   * /   unary -   highest precedence
 */
#include "arch/family_parser.h"

static const struct operator
{
    const char *text;
    uint8_t code;
    uint8_t level;
}
operators[] = {
    {"??", WB__OP_ELSE, 1}, {"or", WB__OP_OR, 2}, {"and", WB__OP_AND, 3}, {"==", WB__OP_EQ, 4},
    {"!=", WB__OP_NE, 4},   {"<", WB__OP_LT, 4},  {"<=", WB__OP_LE, 4},   {">", WB__OP_GT, 4},
    {">=", WB__OP_GE, 4},   {"+", WB__OP_ADD, 5}, {"-", WB__OP_SUB, 5},   {"*", WB__OP_MUL, 6},
    {"/", WB__OP_DIV, 6},
};

#define COMPARISONS 4 /* precedence level of == and the other comparisons */

#define OPERATORS (sizeof operators / sizeof operators[0])

static bool add(wb__family_parser *p, uint8_t code, double number, const char *text)
{
    if (p->op_count == WB__EXPR_MAX)
        return wb__parser_fail(p, WB__MSG_FAMILY_EXPR_LONG);
    p->ops[p->op_count++] = (wb__op){code, number, text};
    return true;
}

static bool parse_select(wb__family_parser *p);

static bool nested(wb__family_parser *p)
{
    if (p->nesting == WB__TABLE_NESTING)
        return wb__parser_fail(p, WB__MSG_FAMILY_EXPR_NESTING);
    p->nesting++;
    bool ok = parse_select(p);
    p->nesting--;
    return ok;
}

/* Reads the arguments of a function. The first argument of a function with takes_name is a name,
 * which is not evaluated but stored in the call operation. */
static bool parse_call(wb__family_parser *p, const char *name)
{
    size_t id = 0;
    const char *text = NULL;
    while (id < WB__FUNCTIONS && strcmp(wb__functions[id].name, name) != 0)
        id++;
    if (id == WB__FUNCTIONS)
        return wb__parser_fail(p, WB__MSG_FAMILY_FUNCTION);
    for (unsigned i = 0; i < wb__functions[id].arguments; i++) {
        wb__str word;
        if (i > 0 && !wb__parser_expect(p, ","))
            return false;
        if (i == 0 && wb__functions[id].takes_name) {
            if (!wb__parser_word(p, &word) || (text = wb__parser_copy(p, word)) == NULL)
                return false;
        } else if (!nested(p)) {
            return false;
        }
    }
    return wb__parser_expect(p, ")") && add(p, WB__OP_CALL, (double)id, text);
}

static bool parse_name(wb__family_parser *p)
{
    static const struct {
        const char *text;
        uint8_t code;
    } words[] = {{"true", WB__OP_TRUE}, {"false", WB__OP_FALSE}, {"null", WB__OP_NULL}};
    wb__str word = p->lexer.token.text;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (wb__lexer_take(&p->lexer, words[i].text))
            return add(p, words[i].code, 0, NULL);
    }
    if (wb__lexer_is(&p->lexer, "if") || wb__lexer_is(&p->lexer, "and") ||
        wb__lexer_is(&p->lexer, "or"))
        return wb__parser_fail(p, WB__MSG_FAMILY_EXPR);
    const char *name = wb__parser_copy(p, word);
    wb__lexer_next(&p->lexer);
    if (name == NULL)
        return false;
    if (wb__lexer_take(&p->lexer, "("))
        return parse_call(p, name);
    if (!wb__lexer_take(&p->lexer, "["))
        return add(p, WB__OP_NAME, 0, name);
    return nested(p) && wb__parser_expect(p, "]") && add(p, WB__OP_ELEMENT, 0, name);
}

static bool parse_operand(wb__family_parser *p)
{
    const wb__token token = p->lexer.token;
    switch (token.kind) {
    case WB__TOKEN_NUMBER:
        wb__lexer_next(&p->lexer);
        return add(p, WB__OP_NUMBER, token.number, NULL);
    case WB__TOKEN_TEXT: {
        const char *text = wb__parser_copy(p, token.text);
        wb__lexer_next(&p->lexer);
        return text != NULL && add(p, WB__OP_TEXT, 0, text);
    }
    case WB__TOKEN_WORD: return parse_name(p);
    default: break;
    }
    if (wb__lexer_take(&p->lexer, "("))
        return nested(p) && wb__parser_expect(p, ")");
    if (wb__lexer_take(&p->lexer, "["))
        return wb__parser_expect(p, "]") && add(p, WB__OP_EMPTY, 0, NULL);
    return wb__parser_fail(p, WB__MSG_FAMILY_EXPR);
}

static bool parse_level(wb__family_parser *p, uint8_t level);

/* Reads an operand with its prefix operators (- and not). "not a == b" means "not (a == b)". */
static bool parse_prefix(wb__family_parser *p)
{
    bool minus = wb__lexer_is(&p->lexer, "-");
    if (!minus && !wb__lexer_is(&p->lexer, "not"))
        return parse_operand(p);
    if (p->nesting == WB__TABLE_NESTING)
        return wb__parser_fail(p, WB__MSG_FAMILY_EXPR_NESTING);
    wb__lexer_next(&p->lexer);
    p->nesting++;
    bool ok = minus ? parse_prefix(p) : parse_level(p, COMPARISONS);
    p->nesting--;
    return ok && add(p, minus ? WB__OP_NEG : WB__OP_NOT, 0, NULL);
}

static const struct operator* operator_at(const wb__family_parser *p)
{
    for (size_t i = 0; i < OPERATORS; i++) {
        if (wb__lexer_is(&p->lexer, operators[i].text))
            return &operators[i];
    }
    return NULL;
}

/* Reads operands and the binary operators between them whose level is at least `level`. The
 * recursion is at most as deep as there are levels. */
static bool parse_level(wb__family_parser *p, uint8_t level)
{
    const struct operator* next;
    if (!parse_prefix(p))
        return false;
    while ((next = operator_at(p)) != NULL && next->level >= level) {
        wb__lexer_next(&p->lexer);
        if (!parse_level(p, (uint8_t)(next->level + 1)) || !add(p, next->code, 0, NULL))
            return false;
    }
    return true;
}

static bool parse_select(wb__family_parser *p)
{
    if (!parse_level(p, 1))
        return false;
    if (!wb__lexer_take(&p->lexer, "?"))
        return true;
    return nested(p) && wb__parser_expect(p, ":") && nested(p) && add(p, WB__OP_SELECT, 0, NULL);
}

bool wb__parser_expr(wb__family_parser *p, wb__expr *expr)
{
    p->op_count = 0;
    *expr = NULL;
    if (!parse_select(p))
        return false;
    size_t bytes = (p->op_count + 1) * sizeof *p->ops;
    wb__op *copy = wb__parser_alloc(p, bytes);
    if (copy == NULL)
        return false;
    p->ops[p->op_count] = (wb__op){WB__OP_END, 0, NULL};
    memcpy(copy, p->ops, bytes);
    *expr = copy;
    return true;
}
