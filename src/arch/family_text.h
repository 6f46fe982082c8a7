/*
 * arch/family_text.h: reads family tables as text (docs/dev/adding-a-family.md).
 *
 * The text may be hostile. Reading takes time in proportion to its length, and memory in proportion
 * to it up to a fixed limit.
 */
#ifndef WB_ARCH_FAMILY_TEXT_H
#define WB_ARCH_FAMILY_TEXT_H

#include "arch/family.h"

#define WB__TABLE_BYTES ((size_t)1 << 20) /* maximum size of a table's text, in bytes */

/*
 * Reads a table. `label` is the file name for messages. If the table names a base table, the base
 * is searched in `set`, which may be NULL, then among the compiled tables. *family is allocated in
 * the arena. Fails with FORMAT for an invalid table, and with LIMIT for one that is too long:
 * context->error has the offset, the line and the statement, and says what is wrong.
 */
wb_status wb__family_read(wb__context *context, wb__arena *arena, const char *label, wb__str text,
                          const wb__family_set *set, const wb__family **family);

/* Finds the name of a table and the name of its base in its first statement. Does not check the
 * rest. A missing name becomes empty. The names point into the text. */
void wb__family_head(wb__str text, wb__str *name, wb__str *base);

#endif
