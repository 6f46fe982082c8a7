/*
 * table.h: text in columns. The rows are asked for twice, to measure and to print, so that a table
 * of any length takes no memory.
 */
#ifndef WB_CLI_TABLE_H
#define WB_CLI_TABLE_H

#include "out.h"

#define TABLE_COLUMNS 8

typedef struct table {
    size_t columns;
    const char *titles[TABLE_COLUMNS];
    const char *align; /* a letter a column: 'l' or 'r' */
    uint64_t rows;
    /* Fills the cells, which come empty; false to leave the row out. */
    bool (*row)(void *ctx, uint64_t index, text cells[TABLE_COLUMNS]);
    void *ctx;
} table;

/* Prints the table indented by two spaces, with its titles if it has any rows. */
void table_print(out *o, const table *t);

#endif
