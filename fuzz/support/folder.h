/*
 * fuzz/support/folder.h: interprets an input as a directory of files.
 *
 * The input is split at each NUL followed by a letter that selects the next file (names). The
 * text before the first separator is config.json. A safetensors file is given as its header only;
 * length prefix and data are generated.
 */
#ifndef WB_FUZZ_FOLDER_H
#define WB_FUZZ_FOLDER_H

#include "fuzz.h"

/* Writes the files to the scratch directory (scratch.h) and returns their total size in bytes. */
size_t fuzz_folder(const uint8_t *data, size_t size);

#endif
