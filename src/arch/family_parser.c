/* Functions that all parts of the parser of family tables use. */
#include "arch/family_parser.h"

#include <stdio.h>

#define WORD_SHOWN 24 /* number of characters of a statement's first word in messages */

/* Returns the number of the line of the current token. */
static unsigned long line_of(const wb__lexer *lexer)
{
    unsigned long line = 1;
    for (size_t i = 0; i < lexer->token.at && i < lexer->n; i++)
        line += lexer->text[i] == '\n';
    return line;
}

bool wb__parser_fail(wb__family_parser *p, const char *message)
{
    const wb__token *token = &p->lexer.token;
    wb__str word = p->statement;
    if (p->status != WB_OK)
        return false;
    if (word.len == 0) /* the error is about the table as a whole */
        p->status = wb__fail(p->context, WB_ERROR_LIMIT, WB__FINDING_FAMILY, WB_NO_OFFSET,
                             WB__STR(""), "%s", message);
    else
        p->status =
            wb__fail(p->context, WB_ERROR_FORMAT, WB__FINDING_FAMILY, token->at, token->text,
                     WB__MSG_FAMILY_PLACE, line_of(&p->lexer),
                     (int)(word.len < WORD_SHOWN ? word.len : WORD_SHOWN), word.ptr, message);
    return false;
}

void *wb__parser_alloc(wb__family_parser *p, size_t bytes)
{
    void *memory = wb__arena_alloc(p->arena, bytes);
    if (memory == NULL && p->status == WB_OK)
        p->status = wb__fail_memory(p->context);
    return memory;
}

const char *wb__parser_copy(wb__family_parser *p, wb__str text)
{
    char *copy = wb__arena_copy(p->arena, text.ptr, text.len);
    if (copy == NULL && p->status == WB_OK)
        p->status = wb__fail_memory(p->context);
    return copy;
}

bool wb__parser_expect(wb__family_parser *p, const char *text)
{
    if (wb__lexer_take(&p->lexer, text))
        return true;
    char message[64];
    (void)snprintf(message, sizeof message, WB__MSG_FAMILY_EXPECTED, text);
    return wb__parser_fail(p, message);
}

bool wb__parser_word(wb__family_parser *p, wb__str *word)
{
    *word = p->lexer.token.text;
    if (p->lexer.token.kind != WB__TOKEN_WORD)
        return wb__parser_fail(p, WB__MSG_FAMILY_WORD);
    wb__lexer_next(&p->lexer);
    return true;
}

bool wb__parser_choice(wb__family_parser *p, const wb__choice *choices, uint32_t *value)
{
    for (; choices->word != NULL; choices++) {
        if (wb__lexer_take(&p->lexer, choices->word)) {
            *value = choices->value;
            return true;
        }
    }
    return wb__parser_fail(p, WB__MSG_FAMILY_CHOICE);
}
