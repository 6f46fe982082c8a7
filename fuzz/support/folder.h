/*
 * fuzz/support/folder.h: interprets an input as a directory of files.
 *
 * The input is split into files at each separator, which is a NUL and a letter. The letter selects
 * the name of the file that follows it ('a' is names[0] in folder.c). The text before the first
 * separator is config.json. For a safetensors file the input contains only the header; length
 * prefix and data are generated.
 */
#ifndef WB_FUZZ_FOLDER_H
#define WB_FUZZ_FOLDER_H

#include "fuzz.h"

/* Writes the files to the scratch directory (scratch.h) and returns their total size in bytes. */
size_t fuzz_folder(const uint8_t *data, size_t size);

#endif
