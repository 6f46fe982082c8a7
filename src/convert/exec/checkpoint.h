/*
 * convert/exec/checkpoint.h: the journal with which a later run resumes an interrupted conversion.
 *
 * The journal of an output NAME is the file ".NAME.wb-resume" in the same directory. The journal
 * lists the tiles whose data are already written. The data themselves are in the partial output of
 * the writer (WB_WRITE_KEEP). For a model in an Ollama store, the journal is ".blobs.wb-resume" in
 * the partial directory of the writer, and is removed with that directory. The journal is not
 * stored directly in blobs/, because other programs remove unknown files there.
 *
 *     offset  bytes
 *     0       8      "wbresum1"
 *     8       8      digest of the plan: all rows, identity of the source files, library version
 *     16      8      digest of the first 16 bytes of the journal
 *     24      56 n   n records, one for each tile written, in plan order: digest of the bytes of
 *                    the tile (8 bytes), error statistics (40), digest of the record (8)
 *
 * The scheduler processes the tiles in rounds (scheduler.c). It writes the tiles of a round first
 * and then their records, so the records always describe the first tiles of the plan. The order in
 * which data reach the disk does not matter, because a record is used only if the data that are
 * read back have its digest. The first invalid record ends the list. The digests detect damage by a
 * crash. They do not protect against manipulation, because a process that can write these files can
 * also write the output. If a file is copied unchanged, the journal has no records, and a later run
 * compares the partial output with the source file.
 *
 * The journal is locked while it is open. A second conversion to the same path fails.
 */
#ifndef WB_CONVERT_EXEC_CHECKPOINT_H
#define WB_CONVERT_EXEC_CHECKPOINT_H

#include "convert/convert.h"

typedef struct wb__checkpoint wb__checkpoint;

typedef struct wb__checkpoint_record {
    uint64_t digest; /* digest of the bytes of the tile in the output */
    wb__error_stats error_stats;
} wb__checkpoint_record;

/* Returns the digest of the data that `digest` covers, followed by n more bytes. `digest` is 0 for
 * the first bytes. */
uint64_t wb__digest_add(uint64_t digest, const void *bytes, size_t n);

/* Opens the journal of a conversion to `path`. Sets *journal to NULL and returns WB_OK if the
 * file name of the journal would be too long. The caller frees *journal with
 * wb__checkpoint_close. */
wb_status wb__checkpoint_open(wb__context *context, const wb_conversion *conversion,
                              const char *path, wb__checkpoint **journal);

/* Reads the next record of an earlier run. Returns false if the journal contains no more
 * records. */
bool wb__checkpoint_next(wb__checkpoint *journal, wb__checkpoint_record *record);

/* Appends the records of n tiles. In plan order, these tiles follow directly after the tiles that
 * the journal already contains. */
wb_status wb__checkpoint_append(wb__context *context, wb__checkpoint *journal,
                                const wb__checkpoint_record *records, size_t n);

/* Returns true if an earlier run created the journal, with the same plan and with source files
 * that have not changed since. */
bool wb__checkpoint_is_known(const wb__checkpoint *journal);

/* Returns true if `journal` is NULL, or if this run created it and it has no records. */
bool wb__checkpoint_is_empty(const wb__checkpoint *journal);

/* Closes the journal, and removes its file if `finished` is true. Ignores NULL. */
void wb__checkpoint_close(wb__checkpoint *journal, bool finished);

#endif
