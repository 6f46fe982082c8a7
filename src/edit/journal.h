/*
 * edit/journal.h: the journal from which an interrupted edit is undone or completed.
 *
 * The journal ".NAME.wb-journal" is next to the file. It is durable before the file changes, and is
 * removed when the edit is complete:
 *
 *   offset  bytes  content
 *   0       8      "WBEDIT03"
 *   8       8      1 if the file is changed in place, 0 if a new file replaces it
 *   16      8      length of the file before the edit
 *   24      8      length of the file after the edit
 *   32      8      n, size of the old header: the offset of the data section before the edit
 *   40      8      m, size of the new header
 *   48      8      p, length of the name of the index (model.safetensors.index.json); 0: no index
 *   56      8      i, size of the old index
 *   64      8      j, size of the new index
 *   72      n      the old header
 *           m      the new header
 *           p      the name of the index, a file in the same directory
 *           i      the old index
 *           j      the new index
 *           8      checksum of all bytes above, keyed by a secret of the user
 *
 * All numbers are little-endian. A journal that came with a model, in an archive for example, has a
 * wrong checksum, because its author does not know the secret (journal_key.c).
 */
#ifndef WB_EDIT_JOURNAL_H
#define WB_EDIT_JOURNAL_H

#include "core/core.h"
#include "io/io.h"

/* Maximum size of a journal, in bytes. A journal contains two headers, and the largest known
 * headers are far smaller than half of this size. */
#define WB__JOURNAL_MAX ((size_t)1 << 30)

typedef struct wb__journal {
    bool in_place;
    uint64_t before, after; /* length of the file before and after the edit, in bytes */
    wb__str old_header, new_header;
    wb__str index; /* name of the index; empty: the edit does not change it */
    wb__str old_index, new_index;
} wb__journal;

/* Returns the number of bytes that an edit in place inserts at the start of the file. */
static inline size_t wb__journal_inserted(const wb__journal *journal)
{
    return journal->new_header.len - journal->old_header.len;
}

/* Returns the size of the journal in bytes, or 0 if it would exceed WB__JOURNAL_MAX. */
size_t wb__journal_size(const wb__journal *journal);

/* Writes the journal to `bytes`, a buffer of wb__journal_size bytes. Strings whose ptr is NULL are
 * left unwritten, for the caller to fill in before wb__journal_seal. */
void wb__journal_put(const wb__journal *journal, uint8_t *bytes);

/* Returns the address of the old header in a journal that wb__journal_put has written. */
uint8_t *wb__journal_old_header(uint8_t *bytes);

/* Adds the checksum. */
void wb__journal_seal(const wb__hash_key *key, uint8_t *bytes, size_t n);

/* Parses a journal. The strings point into `bytes`. Returns false if the journal is malformed or
 * its checksum is wrong. */
bool wb__journal_parse(const wb__hash_key *key, const uint8_t *bytes, size_t n,
                       wb__journal *journal);

/*
 * Gets the secret of the user from $XDG_STATE_HOME/weighbridge/journal-key, by default
 * ~/.local/state/weighbridge/journal-key. If `create` is true, creates the file if necessary.
 * Returns 0 or an errno value: ENOENT if there is no secret, EPERM if the file is not accessible to
 * the user alone.
 */
int wb__journal_key(const wb_allocator *allocator, bool create, wb__hash_key *key);

#endif
