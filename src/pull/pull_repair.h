/*
 * pull/pull_repair.h: damage on the disk. When a file is complete, the journal of its pieces is
 * kept in $XDG_CACHE_HOME/weighbridge/pieces/DIGEST, outside the cache of the hub. To repair a
 * file, its bytes and this journal become a partial file, of which only the pieces with a wrong
 * checksum are fetched.
 */
#ifndef WB_PULL_PULL_REPAIR_H
#define WB_PULL_PULL_REPAIR_H

#include "pull/pull.h"

/* Sets *same to whether the file `fd` has the size and the digest of an item. If the digest is not
 * known, compares the file with the kept journal; *known is then false if there is none. */
wb_status wb__pull_compare(const wb_pull *pull, wb__context *context, int fd,
                           const wb__pull_item *item, bool *same, bool *known);

/* Computes the digest of the file of an item, whose state is WB__ITEM_HERE. If the digest is wrong,
 * sets the state to WB__ITEM_MISSING and item->is_damaged to true. */
wb_status wb__pull_check(wb_pull *pull, wb__context *context, wb__pull_item *item);

/* Makes a partial file from the file of a damaged item, unless the item has a partial file already.
 * A failure only means that more bytes are fetched. */
void wb__pull_reuse(wb_pull *pull, const wb__pull_item *item);

/* Keeps the journal of a file that is complete. A failure only means that a later repair fetches
 * more bytes. */
void wb__pull_keep_journal(const wb_pull *pull, const wb__pull_item *item,
                           const wb__pull_partial *partial);

#endif
