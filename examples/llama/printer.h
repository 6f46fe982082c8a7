/* Prints the text of tokens as soon as its characters are complete. */
#ifndef LLAMA_PRINTER_H
#define LLAMA_PRINTER_H

#include <stddef.h>

typedef struct printer {
    char pending[4]; /* the first bytes of a character */
    size_t count;
} printer;

/* Prints the complete characters. Bytes that are not UTF-8, and control characters other than tab
 * and the ends of lines, are printed as U+FFFD: a model could otherwise control the terminal.
 */
void print_text(printer *p, const char *text, size_t len);

/* Prints what is left of an incomplete character. */
void print_rest(printer *p);

#endif
