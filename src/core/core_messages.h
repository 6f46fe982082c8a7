/*
 * Texts of the errors and findings of this module, grouped by the source file that reports them.
 */
#ifndef WB_CORE_CORE_MESSAGES_H
#define WB_CORE_CORE_MESSAGES_H

/* ---- context.c ---- */

#define WB__MSG_OUT_OF_MEMORY "out of memory"

#endif
