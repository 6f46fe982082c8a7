/*
 * convert/exec/checkpoint.h: what a conversion that is killed leaves, so that the next run can go on.
 *
 * Beside the result that is to be, ".NAME.wb-resume" says what was written of it (the bytes themselves are
 * kept by the writer, WB_WRITE_KEEP). Of a model in a store it is ".blobs.wb-resume" beside these bytes, in the
 * writer's folder, with which it goes: other programs remove files from blobs/ that are none of theirs.
 *
 *     0   8   "wbresum1"
 *     8   8   digest of the plan: every row, the files of the model, their times, this library's version
 *    16   8   digest of the 16 bytes before
 *    24       one record for each chunk that was written, in the order of the plan:
 *             digest of its bytes, what became of its values, digest of the record
 *
 * A round of chunks is written first, then its records, so that records are those of the first chunks. Nothing
 * has to reach the disk in any order: what a record says is believed only once the bytes, read back, have
 * its digest; the first record that is not sound ends the list. Digests are to find what a crash leaves,
 * not to withstand who wants to deceive: whoever can write these files can write the result. Of a file that goes
 * over as it is there are no records: what is there is compared with the source.
 *
 * The file is locked as long as it is open: of two conversions to the same path the second is refused.
 */
#ifndef WB_CONVERT_EXEC_CHECKPOINT_H
#define WB_CONVERT_EXEC_CHECKPOINT_H

#include "convert/convert.h"

typedef struct wb__checkpoint wb__checkpoint;

typedef struct wb__checkpoint_record {
    uint64_t digest;
    wb__error_stats error_stats;
} wb__checkpoint_record;

/* Goes on with bytes behind those a digest is of; 0 is that of none. */
uint64_t wb__digest_add(uint64_t digest, const void *bytes, size_t n);

/*
 * Opens the journal of a conversion to `path`. *journal is NULL, and the status OK, where there can be
 * none. Owned, release with wb__checkpoint_close.
 */
wb_status wb__checkpoint_open(wb__context *context, const wb_conversion *conversion,
                              const char *path, wb__checkpoint **journal);

/* The record of the next chunk, which a former run wrote; false if there are no more. */
bool wb__checkpoint_next(wb__checkpoint *journal, wb__checkpoint_record *record);

/* Writes the records of chunks that follow those there are. */
wb_status wb__checkpoint_append(wb__context *context, wb__checkpoint *journal,
                                const wb__checkpoint_record *records, size_t n);

/* Whether a former run of the same plan, of files that were not touched since, has begun it. */
bool wb__checkpoint_is_known(const wb__checkpoint *journal);

/* Whether it is NULL, or says nothing: no former run has begun it, and it has no records. */
bool wb__checkpoint_is_empty(const wb__checkpoint *journal);

/* `finished`: there is nothing to go on with. NULL is ignored. */
void wb__checkpoint_close(wb__checkpoint *journal, bool finished);

#endif
