#include "table.h"

#include <string.h>

#include "terminal.h"

/* Maximum column width. Longer cells overflow, so that one long cell does not move all other
 * columns off screen.
 */
#define WIDEST 72

typedef struct layout {
    const table *of;
    size_t width[TABLE_COLUMNS];
    text cells[TABLE_COLUMNS];
} layout;

static bool get_row(layout *l, uint64_t index)
{
    for (size_t c = 0; c < l->of->columns; c++)
        text_clear(&l->cells[c]);
    return l->of->row(l->of->ctx, index, l->cells);
}

static size_t width_of(const text *cell)
{
    return text_width(cell->ptr, cell->len);
}

static void make_room(layout *l)
{
    for (size_t c = 0; c < l->of->columns; c++) {
        size_t width = width_of(&l->cells[c]);
        if (width > WIDEST)
            width = WIDEST;
        if (width > l->width[c])
            l->width[c] = width;
    }
}

static void print_line(out *o, layout *l, const char *name)
{
    size_t blanks =
        0; /* number of spaces that are due; written before the next text, never at a line end */
    out_puts(o, style(name));
    for (size_t c = 0; c < l->of->columns; c++) {
        size_t width = width_of(&l->cells[c]);
        size_t pad = width < l->width[c] ? l->width[c] - width : 0;
        bool is_right = l->of->align[c] == 'r';
        blanks += 2 + (is_right ? pad : 0);
        if (width > 0) {
            out_pad(o, blanks);
            out_text(o, &l->cells[c]);
            blanks = 0;
        }
        blanks += is_right ? 0 : pad;
    }
    out_puts(o, *name == '\0' ? "" : style(STYLE_END));
    out_puts(o, "\n");
}

static void set_titles(layout *l)
{
    for (size_t c = 0; c < l->of->columns; c++) {
        text_clear(&l->cells[c]);
        text_adds(&l->cells[c], l->of->titles[c]);
    }
}

void table_print(out *o, const table *t)
{
    layout l = {.of = t};
    uint64_t shown = 0;
    set_titles(&l);
    make_room(&l);
    for (uint64_t i = 0; i < t->rows; i++) {
        if (!get_row(&l, i))
            continue;
        shown++;
        make_room(&l);
    }
    if (shown > 0) {
        set_titles(&l);
        print_line(o, &l, STYLE_DIM);
    }
    for (uint64_t i = 0; i < t->rows && !out_closed(o) && shown > 0; i++) {
        if (get_row(&l, i))
            print_line(o, &l, STYLE_NONE);
    }
    for (size_t c = 0; c < t->columns; c++)
        text_free(&l.cells[c]);
}
