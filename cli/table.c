#include "table.h"

#include <string.h>

#include "terminal.h"

/* Maximum width of a column that is not shortened to fit the terminal. A longer cell extends beyond
 * its column, so that it does not move the following columns of all other rows far to the right.
 */
#define WIDEST 72

/* Columns that may be shortened keep at least this width. */
#define NARROWEST 16

#define GAP 2          /* number of spaces before each column */
#define ELLIPSIS "..." /* replaces the middle of a shortened cell */

typedef struct layout {
    const table *of;
    size_t limit; /* number of columns of the terminal; 0: no limit */
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
        if (width > WIDEST && (l->limit == 0 || l->of->align[c] != 'L'))
            width = WIDEST;
        if (width > l->width[c])
            l->width[c] = width;
    }
}

/* Returns the widest column that may become narrower, or TABLE_COLUMNS if there is none. */
static size_t widest_of(const layout *l)
{
    size_t widest = TABLE_COLUMNS;
    for (size_t c = 0; c < l->of->columns; c++) {
        bool is_candidate = l->of->align[c] == 'L' && l->width[c] > NARROWEST;
        if (is_candidate && (widest == TABLE_COLUMNS || l->width[c] > l->width[widest]))
            widest = c;
    }
    return widest;
}

/* Makes the widest columns narrower until a row fits into the limit. */
static void fit(layout *l)
{
    size_t total = 0, widest;
    for (size_t c = 0; c < l->of->columns; c++)
        total += GAP + l->width[c];
    while (l->limit != 0 && total > l->limit && (widest = widest_of(l)) != TABLE_COLUMNS) {
        l->width[widest]--;
        total--;
    }
}

/* Replaces the middle of a cell, so that its start and its end remain in `width` columns. */
static void shorten(text *cell, size_t width)
{
    size_t had = width_of(cell), tail = (width - strlen(ELLIPSIS)) / 2;
    size_t head = width - strlen(ELLIPSIS) - tail;
    size_t from = text_prefix(cell->ptr, cell->len, head);
    size_t to = text_prefix(cell->ptr, cell->len, had - tail);
    text rest = {0};
    text_add(&rest, cell->ptr + to, cell->len - to);
    cell->len = from;
    text_adds(cell, ELLIPSIS);
    text_add(cell, rest.ptr, rest.len);
    text_free(&rest);
}

static void print_line(out *o, layout *l, const char *name)
{
    size_t blanks =
        0; /* number of spaces that are due; written before the next text, never at a line end */
    out_puts(o, style(name));
    for (size_t c = 0; c < l->of->columns; c++) {
        if (l->limit != 0 && l->of->align[c] == 'L' && width_of(&l->cells[c]) > l->width[c])
            shorten(&l->cells[c], l->width[c]);
        size_t width = width_of(&l->cells[c]);
        size_t pad = width < l->width[c] ? l->width[c] - width : 0;
        bool is_right = l->of->align[c] == 'r';
        blanks += GAP + (is_right ? pad : 0);
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
    layout l = {.of = t, .limit = terminal_table_width()};
    uint64_t shown = 0;
    set_titles(&l);
    make_room(&l);
    for (uint64_t i = 0; i < t->rows; i++) {
        if (!get_row(&l, i))
            continue;
        shown++;
        make_room(&l);
    }
    fit(&l);
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
