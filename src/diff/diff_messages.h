/*
 * diff/diff_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_DIFF_DIFF_MESSAGES_H
#define WB_DIFF_DIFF_MESSAGES_H

/* ---- diff_public.c ---- */

#define WB__MSG_DIFF_OPTIONS_KINDS "wb_diff_options.kinds contains unknown flags"

/* ---- diff_values.c ---- */

#define WB__MSG_DIFF_CANCELLED "cancelled by the progress callback"

#endif
