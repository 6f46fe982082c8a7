/*
 * arch/family_lexer.h: the tokens of a family table.
 *
 * A statement begins at a line that does not begin with a blank. Lines that begin with a blank
 * continue it. '#' at the beginning of a line or after a blank begins a comment. All text is
 * printable ASCII, with tabs and line ends.
 *
 *     word      name, pattern, path or keyword: letters, digits and _ . { } !
 *               and, before a letter or digit, - and /
 *     number    begins with a digit
 *     text      "…" without escapes
 *     symbol    one of ( ) [ ] , ; : | = ? < > * + - / ~
 *               or one of the pairs == != <= >= ??
 */
#ifndef WB_ARCH_FAMILY_LEXER_H
#define WB_ARCH_FAMILY_LEXER_H

#include "core/core.h"

typedef enum wb__token_kind {
    WB__TOKEN_END, /* end of the statement */
    WB__TOKEN_WORD,
    WB__TOKEN_NUMBER,
    WB__TOKEN_TEXT,
    WB__TOKEN_SYMBOL,
    WB__TOKEN_INVALID
} wb__token_kind;

typedef struct wb__token {
    wb__token_kind kind;
    wb__str text;  /* without the quotes for WB__TOKEN_TEXT */
    double number; /* value of a WB__TOKEN_NUMBER */
    size_t at;     /* offset of the token in the table */
} wb__token;

typedef struct wb__lexer {
    const char *text;
    size_t n;
    size_t next;
    wb__token token; /* the current token */
} wb__lexer;

/* Positions the lexer at the first token of the first statement. */
void wb__lexer_start(wb__lexer *lexer, const char *text, size_t n);

/* Moves on to the next token of the statement. At the end of the statement, the token is END. */
void wb__lexer_next(wb__lexer *lexer);

/* Moves on to the first token of the next statement. The token is END at the end of the table. */
void wb__lexer_next_statement(wb__lexer *lexer);

/* Returns true if the current token is this symbol or word. */
bool wb__lexer_is(const wb__lexer *lexer, const char *text);

/* If the current token is this symbol or word, moves on and returns true. */
bool wb__lexer_take(wb__lexer *lexer, const char *text);

#endif
