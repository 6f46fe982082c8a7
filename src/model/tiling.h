/* model/tiling.h: fast check that the tensors of a file cover its data without gap and overlap. */
#ifndef WB_MODEL_TILING_H
#define WB_MODEL_TILING_H

#include "model/catalog.h"

/*
 * Returns true if the tensors of a file, sorted by offset, cover the data from its beginning to
 * *data_bytes without gap and overlap, and the shape and size of each tensor are valid
 * (wb__kind.fault). Returns false if they do not, if the check would need keys of more than 64
 * bits, or if memory runs out. The caller then uses wb__order_make to find the reason.
 */
bool wb__tiling_check(const wb__table *table, const wb__catalog_file *file,
                      const wb_allocator *allocator, uint64_t *data_bytes);

#endif
