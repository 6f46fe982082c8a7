/* table.h: prints text in columns. Each row is requested twice, once to measure and once to print,
 * so memory use does not depend on the number of rows.
 *
 * On a terminal, long names are shortened in the middle, so that a row fits into a line. Elsewhere,
 * and with --wide, every cell is complete.
 */
#ifndef WB_CLI_TABLE_H
#define WB_CLI_TABLE_H

#include "out.h"

#define TABLE_COLUMNS 8

typedef struct table {
    size_t columns;
    const char *titles[TABLE_COLUMNS];
    const char
        *align; /* one letter per column: 'l' left, 'L' left and may be shortened, 'r' right */
    uint64_t rows;
    /* Fills the cells, which are empty on entry. Returns false to omit the row. */
    bool (*row)(void *ctx, uint64_t index, text cells[TABLE_COLUMNS]);
    void *ctx;
} table;

/* Prints the table, indented by two spaces. Prints the titles only if there are rows. */
void table_print(out *o, const table *t);

#endif
