#include "arch/family_lexer.h"

#include "json/json.h"

static int peek(const wb__lexer *l, size_t ahead)
{
    return l->n - l->next > ahead ? (unsigned char)l->text[l->next + ahead] : -1;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns true if the next character belongs to the current word. '-' and '/' do so only before
 * a letter or digit, so that "a - b" is a difference. */
static bool continues_word(const wb__lexer *l)
{
    int c = peek(l, 0), after = peek(l, 1);
    if (is_letter(c) || is_digit(c) || c == '.' || c == '{' || c == '}' ||
        (c == '!' && after != '='))
        return true;
    return (c == '-' || c == '/') && (is_letter(after) || is_digit(after));
}

/* Skips blanks, comments and line ends within the statement. Returns false at the end of the
 * statement. */
static bool skip(wb__lexer *l)
{
    for (;;) {
        while (is_blank(peek(l, 0)))
            l->next++;
        int c = peek(l, 0);
        if (c == '#') {
            while (peek(l, 0) != '\n' && peek(l, 0) >= 0)
                l->next++;
        } else if (c == '\n' && (is_blank(peek(l, 1)) || peek(l, 1) == '\n' || peek(l, 1) == '#')) {
            l->next++;
        } else {
            return c >= 0 && c != '\n';
        }
    }
}

static void finish(wb__lexer *l, wb__token_kind kind)
{
    l->token.kind = kind;
    l->token.text = (wb__str){l->text + l->token.at, l->next - l->token.at};
}

static void read_number(wb__lexer *l)
{
    wb__json json;
    while (is_digit(peek(l, 0)) || is_letter(peek(l, 0)) || peek(l, 0) == '.' ||
           (peek(l, 0) == '-' && is_digit(peek(l, 1)) && (l->text[l->next - 1] | 0x20) == 'e'))
        l->next++;
    finish(l, WB__TOKEN_INVALID);
    wb__cursor cursor = wb__cursor_over(l->token.text.ptr, l->token.text.len);
    wb__json_start(&json, &cursor, &wb__default_allocator);
    wb__json_token token = wb__json_next(&json);
    if ((token == WB__JSON_UINT || token == WB__JSON_REAL) &&
        wb__cursor_at(&cursor) == l->token.text.len && !wb__decimal_overflows(&json.decimal)) {
        uint64_t bits = wb__json_real_bits(&json);
        memcpy(&l->token.number, &bits, sizeof bits);
        l->token.kind = WB__TOKEN_NUMBER;
    }
    wb__json_stop(&json);
}

static void read_text(wb__lexer *l)
{
    size_t begin = ++l->next;
    while (peek(l, 0) >= ' ' && peek(l, 0) <= '~' && peek(l, 0) != '"')
        l->next++;
    bool is_closed = peek(l, 0) == '"';
    l->token.kind = is_closed ? WB__TOKEN_TEXT : WB__TOKEN_INVALID;
    l->token.text = (wb__str){l->text + begin, l->next - begin};
    l->next += is_closed;
}

static void read_symbol(wb__lexer *l)
{
    static const char pairs[][3] = {"==", "!=", "<=", ">=", "??"};
    int c = peek(l, 0), after = peek(l, 1);
    size_t length = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (c == pairs[i][0] && after == pairs[i][1])
            length = 2;
    }
    l->next += length;
    finish(l, length == 2 || strchr("()[],;:|=?<>*+-/~", c) != NULL ? WB__TOKEN_SYMBOL
                                                                    : WB__TOKEN_INVALID);
}

void wb__lexer_next(wb__lexer *l)
{
    bool more = skip(l);
    int c = peek(l, 0);
    l->token = (wb__token){.kind = WB__TOKEN_END, .text = {"", 0}, .at = l->next};
    if (!more)
        return;
    if (is_digit(c)) {
        read_number(l);
    } else if (c == '"') {
        read_text(l);
    } else if (is_letter(c) || (c == '/' && is_letter(peek(l, 1)))) {
        l->next++;
        while (continues_word(l))
            l->next++;
        finish(l, WB__TOKEN_WORD);
    } else {
        read_symbol(l);
    }
}

void wb__lexer_next_statement(wb__lexer *l)
{
    while (l->token.kind != WB__TOKEN_END)
        wb__lexer_next(l);
    while (peek(l, 0) == '\n')
        l->next++;
    wb__lexer_next(l);
}

void wb__lexer_start(wb__lexer *l, const char *text, size_t n)
{
    *l = (wb__lexer){.text = text, .n = n, .token = {.kind = WB__TOKEN_END}};
    (void)skip(l);
    wb__lexer_next_statement(l);
}

bool wb__lexer_is(const wb__lexer *l, const char *text)
{
    return (l->token.kind == WB__TOKEN_WORD || l->token.kind == WB__TOKEN_SYMBOL) &&
           wb__str_equal(l->token.text, wb__str_from(text, SIZE_MAX));
}

bool wb__lexer_take(wb__lexer *l, const char *text)
{
    bool is = wb__lexer_is(l, text);
    if (is)
        wb__lexer_next(l);
    return is;
}
