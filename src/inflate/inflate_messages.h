/*
 * Messages of this module, grouped by the file that reports them.
 */
#ifndef WB_INFLATE_INFLATE_MESSAGES_H
#define WB_INFLATE_INFLATE_MESSAGES_H

/* ---- inflate.c ---- */

#define WB__MSG_NO_ZLIB "the file is compressed, but the zlib library was not found"

#endif
