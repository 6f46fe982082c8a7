/*
 * fuzz/support/folder.h: an input as a folder of files.
 *
 * The input is cut at NUL, letter, where the letter says which file (names) begins; what stands in
 * front of the first is config.json. Of safetensors only the header is there: length and data are
 * made for it.
 */
#ifndef WB_FUZZ_FOLDER_H
#define WB_FUZZ_FOLDER_H

#include "fuzz.h"

/* Writes the files to the scratch folder (scratch.h); returns how many bytes there are. */
size_t fuzz_folder(const uint8_t *data, size_t size);

#endif
