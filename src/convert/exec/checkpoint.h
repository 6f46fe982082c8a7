/*
 * convert/exec/checkpoint.h: the journal that lets the next run resume an interrupted conversion.
 *
 * The file ".NAME.wb-resume" in the directory of the output lists the data already written. The
 * writer keeps the data itself (WB_WRITE_KEEP). For a model in an Ollama store the journal is
 * ".blobs.wb-resume" in the writer's partial directory, next to the data, and is removed with that
 * directory. It is not in blobs/ because other programs remove unknown files there.
 *
 *     offset  bytes
 *     0       8      "wbresum1"
 *     8       8      digest of the plan: all rows, identity of the source files, library version
 *     16      8      digest of the 16 bytes before
 *     24      56 n   one record for each tile written, in plan order: digest of the tile's bytes,
 *                    error statistics, digest of the record
 *
 * The scheduler writes a round of tiles first and then their records, so the records always
 * describe the first tiles of the plan. Nothing has to reach the disk in a particular order: a
 * record is trusted only if the data, read back, have its digest. The first invalid record ends the
 * list. The digests detect damage by a crash, not deliberate manipulation: a process that can write
 * these files can also write the output. A passthrough copy has no records; its partial data are
 * compared with the source.
 *
 * The file is locked while it is open. A second conversion to the same path fails. */
#ifndef WB_CONVERT_EXEC_CHECKPOINT_H
#define WB_CONVERT_EXEC_CHECKPOINT_H

#include "convert/convert.h"

typedef struct wb__checkpoint wb__checkpoint;

typedef struct wb__checkpoint_record {
    uint64_t digest;
    wb__error_stats error_stats;
} wb__checkpoint_record;

/* Returns the digest of more bytes, chained to `digest`. Start with 0. */
uint64_t wb__digest_add(uint64_t digest, const void *bytes, size_t n);

/* Opens the journal of a conversion to `path`. Returns WB_OK with *journal NULL if the path
 * allows no journal (name too long). The caller frees it with wb__checkpoint_close. */
wb_status wb__checkpoint_open(wb__context *context, const wb_conversion *conversion,
                              const char *path, wb__checkpoint **journal);

/* Reads the record of the next tile that an earlier run wrote. Returns false if there are no
 * more. */
bool wb__checkpoint_next(wb__checkpoint *journal, wb__checkpoint_record *record);

/* Appends records of the next tiles. */
wb_status wb__checkpoint_append(wb__context *context, wb__checkpoint *journal,
                                const wb__checkpoint_record *records, size_t n);

/* Returns true if an earlier run created the journal for the same plan and unchanged source
 * files. */
bool wb__checkpoint_is_known(const wb__checkpoint *journal);

/* Returns true if the journal is NULL, or is new and has no records. */
bool wb__checkpoint_is_empty(const wb__checkpoint *journal);

/* Closes the journal. Removes the file if `finished`. Ignores NULL. */
void wb__checkpoint_close(wb__checkpoint *journal, bool finished);

#endif
