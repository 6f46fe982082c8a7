#include "printer.h"
#include "unicode.h"
#include <stdio.h>
#include <string.h>

static void print_first(printer *p)
{
    uint32_t c;
    char out[4];
    size_t used = (size_t)(next_char(p->pending, p->pending + p->count, &c) - p->pending);
    if ((c < ' ' && c != '\n' && c != '\t' && c != '\r') || (c >= 0x7F && c < 0xA0))
        c = 0xFFFD;
    fwrite(out, 1, put_char(c, out), stdout);
    p->count -= used;
    memmove(p->pending, p->pending + used, p->count);
}

/* Returns the number of bytes of a character by its first byte. */
static size_t bytes_from(char first)
{
    unsigned char byte = (unsigned char)first;
    return byte < 0xC2 || byte > 0xF4 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

void print_text(printer *p, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        p->pending[p->count++] = text[i];
        while (p->count > 0 && p->count >= bytes_from(p->pending[0]))
            print_first(p);
    }
    fflush(stdout);
}

void print_rest(printer *p)
{
    while (p->count > 0)
        print_first(p);
}
