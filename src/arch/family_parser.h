/*
 * arch/family_parser.h: shared by all parts of the parser of family tables.
 *
 * The first error stops the parser: context->error says what is wrong and where. Every list has a
 * limit, so that the memory of a table is limited whatever it contains.
 */
#ifndef WB_ARCH_FAMILY_PARSER_H
#define WB_ARCH_FAMILY_PARSER_H

#include "arch/arch_messages.h"
#include "arch/family_lexer.h"
#include "arch/family_text.h"

#define WB__TABLE_STATEMENTS 1024
#define WB__TABLE_SPELLINGS 12 /* per tensor */
#define WB__TABLE_TRANSFORMS 6 /* per spelling */
#define WB__TABLE_LIST 4096    /* maximum length, in bytes, of a list of words such as `type` */
#define WB__TABLE_AXES 5
#define WB__TABLE_NESTING 24
#define WB__TABLE_NAME 96 /* maximum length of a tensor name */

/* The lists of words of a family (family_text.c). The first four identify models. */
#define WB__TABLE_WORD_LISTS 6
#define WB__TABLE_IDENTIFIERS 4

typedef struct wb__family_parser {
    wb__lexer lexer;
    wb__context *context;
    wb__arena *arena;
    wb_status status;
    wb__str statement; /* first word of the current statement, for messages */
    unsigned nesting;
    wb__op ops[WB__EXPR_MAX + 1]; /* the expression that is being parsed */
    size_t op_count;
    char layer[64]; /* text that the prefix "L." stands for in names other than GGUF names */
} wb__family_parser;

/* Records an error at the current token, or about the whole table if no statement has begun.
 * Returns false. */
bool wb__parser_fail(wb__family_parser *parser, const char *message);

/* Allocates memory in the arena. If that fails, records an error and returns NULL. */
void *wb__parser_alloc(wb__family_parser *parser, size_t bytes);

/* Returns a NUL-terminated copy of a text. If that fails, records an error and returns NULL. */
const char *wb__parser_copy(wb__family_parser *parser, wb__str text);

/* Consumes a symbol or keyword. Records an error and returns false if the current token is
 * another one. */
bool wb__parser_expect(wb__family_parser *parser, const char *text);

/* Consumes a word. *word points into the table. */
bool wb__parser_word(wb__family_parser *parser, wb__str *word);

/* A keyword and its value. In the last element of an array, `word` is NULL. */
typedef struct wb__choice {
    const char *word;
    uint32_t value;
} wb__choice;

/* Consumes one of the keywords in `choices`, and sets *value to its value. */
bool wb__parser_choice(wb__family_parser *parser, const wb__choice *choices, uint32_t *value);

/* Reads an expression up to a token that cannot belong to it (family_expr.c). */
bool wb__parser_expr(wb__family_parser *parser, wb__expr *expr);

/* Reads the rest of a tensor statement (family_tensor.c). */
bool wb__parser_tensor(wb__family_parser *parser, wb__rule *rule);

/* Reads the rest of a statement that lists the parts of a fused tensor (family_tensor.c). */
bool wb__parser_fused(wb__family_parser *parser, wb__fused *fused);

/* Read the rest of a statement that defines a value; a GGUF key or a member of config.json; or a
 * limit (family_rows.c). */
bool wb__parser_value(wb__family_parser *parser, wb__value_where where, wb__value_row *row);
bool wb__parser_key(wb__family_parser *parser, wb__key_place place, wb__key_row *row);
bool wb__parser_limit(wb__family_parser *parser, bool is_refused, wb__limit *limit);

/* Reads the names of roles up to the end of the statement or a ';' (family_tensor.c). */
bool wb__parser_roles(wb__family_parser *parser, uint32_t *roles);

/* Reads the names of formats, separated by commas, as WB__SIDE_* flags (family_tensor.c). */
bool wb__parser_sides(wb__family_parser *parser, uint8_t *sides);

#endif
