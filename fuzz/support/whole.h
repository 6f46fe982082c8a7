/*
 * fuzz/support/whole.h: checks a complete file in memory.
 */
#ifndef WB_FUZZ_WHOLE_H
#define WB_FUZZ_WHOLE_H

#include "support/model.h"

/*
 * Opens the file in memory and through a source that returns a few bytes per read; both must give
 * the same result. Memory use must stay below the documented bound. `label` is a file name with the
 * extension of the intended format.
 */
void fuzz_check_whole(const uint8_t *data, size_t size, const char *label);

#endif
