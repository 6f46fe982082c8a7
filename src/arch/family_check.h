/*
 * arch/family_check.h: limits of the work that a family table can cause.
 *
 * The parser limits each statement and each expression of a table (arch/family_parser.h). An
 * expression can use definitions (`let`) and rows of other tables, so the work of a table depends
 * on the whole chain of bases. This check limits that work before a model uses the table.
 */
#ifndef WB_ARCH_FAMILY_CHECK_H
#define WB_ARCH_FAMILY_CHECK_H

#include "arch/family.h"

#define WB__FAMILY_ROWS_MAX 1024 /* maximum number of rows in a chain of tables */
#define WB__FAMILY_STEPS_MAX 512 /* maximum number of steps of an expression */
/* Maximum number of steps of all expressions. Some are evaluated for each layer or tensor. */
#define WB__FAMILY_STEPS_TOTAL_MAX 8192

/*
 * Fails with LIMIT if a family exceeds a limit above, or if it and its bases have more tensor names
 * than a table of spellings can hold. context->error has the name of the row. Takes time in
 * proportion to the limits, whatever the tables contain. `context` also gives the memory.
 */
wb_status wb__family_check(wb__context *context, const wb__family *family);

#endif
