/*
 * fuzz/support/whole.h: a whole file in memory, and everything that can be asked of an open model.
 */
#ifndef WB_FUZZ_WHOLE_H
#define WB_FUZZ_WHOLE_H

#include "support/model.h"

/*
 * Opened in memory and through a source that reads a few bytes at a time, the file must get the same
 * answer. Memory must stay below what the documentation promises. `label` has the extension of the
 * format that is meant.
 */
void fuzz_check_whole(const uint8_t *data, size_t size, const char *label);

#endif
