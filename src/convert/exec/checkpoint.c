#define _GNU_SOURCE /* for flock */
#define _FILE_OFFSET_BITS 64
#include "convert/exec/checkpoint.h"
#include "convert/convert_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/lora/lora.h"
#include "io/io.h"
#include "io/sink.h"

#define HEAD_BYTES 24
#define RECORD_BYTES 56
#define BATCH 1024 /* number of records per read or write */

static const char magic[] = "wbresum1";

struct wb__checkpoint {
    wb_allocator allocator;
    char *path;
    int fd;         /* descriptor of the locked journal */
    bool known;     /* an earlier run with the same plan created the journal */
    uint64_t count; /* number of valid records in the journal */
    uint64_t next;  /* index of the record that wb__checkpoint_next returns next */
    uint64_t first; /* index of the first record that `batch` contains */
    uint8_t batch[BATCH * RECORD_BYTES]; /* buffer for records that are read or written */
};

/* ---- digests ---- */

#define LANES 4

static uint64_t turn(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* Mixes one word into each lane (independent 64-bit state of the digest). The step is
 * invertible, so inputs that differ in one word give different lanes. */
static void step(uint64_t lanes[LANES], const uint64_t words[LANES])
{
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = turn(lanes[i] ^ words[i], 29) * 0xBF58476D1CE4E5B9u;
}

uint64_t wb__digest_add(uint64_t digest, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t lanes[LANES], words[LANES];
    size_t left = n;
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = digest + 0x9E3779B97F4A7C15u * (i + 1);
    for (; left >= sizeof words; left -= sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        step(lanes, words);
    }
    if (left > 0) {
        memset(words, 0, sizeof words);
        memcpy(words, at, left);
        step(lanes, words);
    }
    uint64_t all = (uint64_t)n;
    for (size_t i = 0; i < LANES; i++) {
        all = (all ^ lanes[i] ^ lanes[i] >> 32) * 0x94D049BB133111EBu;
        all ^= all >> 29;
    }
    return all;
}

static uint64_t add_number(uint64_t digest, uint64_t number)
{
    return wb__digest_add(digest, &number, sizeof number);
}

static uint64_t add_floats(uint64_t digest, const float *values, uint64_t n)
{
    return values == NULL ? add_number(digest, 0)
                          : wb__digest_add(digest, values, (size_t)n * sizeof *values);
}

static uint64_t add_form(uint64_t digest, const wb__encoding_spec *spec)
{
    const uint64_t numbers[] = {spec->scheme, (uint64_t)spec->dtype, spec->bits, spec->group};
    return wb__digest_add(digest, numbers, sizeof numbers);
}

static uint64_t add_row(uint64_t digest, const wb__planned_tensor *row)
{
    const uint64_t numbers[] = {row->source,    row->first_row,      row->rows,  row->columns,
                                row->row_order, row->head_rows,      row->route, row->by_view,
                                row->nearest,   row->bytes,          row->rank,  row->known_exact,
                                row->name.len,  row->source_name.len};
    const uint64_t more[] = {row->piece_rows, row->global, row->global_to, row->rows_a_factor};
    const float reals[] = {row->offset, row->factor};
    for (uint32_t i = 0; row->gather != NULL && i < row->gather->count; i++) {
        const wb__row_part *part = &row->gather->parts[i];
        const uint64_t rows[] = {
            part->source, part->rows,        part->source_rows,      part->first,
            part->step,   part->is_permuted, row->gather->transposed};
        digest = wb__digest_add(digest, rows, sizeof rows);
    }
    digest = wb__digest_add(digest, numbers, sizeof numbers);
    digest = wb__digest_add(digest, more, sizeof more);
    digest = wb__digest_add(digest, row->pieces, (size_t)row->piece_count * sizeof *row->pieces);
    digest = wb__digest_add(digest, reals, sizeof reals);
    digest = wb__digest_add(digest, row->name.ptr, row->name.len);
    digest = add_form(add_form(digest, &row->from), &row->to);
    digest = add_floats(digest, row->made, row->rows * row->columns);
    uint64_t factors =
        row->rows_a_factor == 0 ? 0 : (row->first_row + row->rows) / row->rows_a_factor;
    digest = add_floats(digest, row->factors, factors);
    uint64_t sets =
        row->rows_an_importance == 0 ? 0 : (row->first_row + row->rows) / row->rows_an_importance;
    digest = add_floats(digest, row->importance, sets * row->columns);
    for (const struct wb__lora *l = row->lora; l != NULL; l = l->next) {
        digest = add_floats(digest, l->a, l->rank * row->columns);
        digest = add_floats(digest, l->b, l->rank * l->rows);
        digest = add_number(digest, l->first);
        digest = add_floats(digest, &l->scale, 1);
    }
    return digest;
}

/* Returns a digest of all data that determine the bytes of the output. */
static uint64_t digest_of(const wb_conversion *conversion)
{
    const char *version = wb_version();
    uint64_t digest = wb__digest_add(0, version, strlen(version));
    digest = add_number(digest, conversion->target);
    for (size_t i = 0; i < conversion->tensors.count; i++)
        digest = add_row(digest, wb__planned_at(conversion, i));
    for (size_t i = 0; i < conversion->model->source_count; i++) {
        const wb__source *source = conversion->model->sources[i];
        wb__identity identity = wb__source_identity(source);
        const char *stated = wb__source_version(source);
        digest = wb__digest_add(digest, &identity, sizeof identity);
        if (stated != NULL)
            digest = wb__digest_add(digest, stated, strlen(stated));
    }
    return digest;
}

/* ---- records ---- */

static void store_record(uint8_t *out, const wb__checkpoint_record *record)
{
    const wb__error_stats *f = &record->error_stats;
    memcpy(out, &record->digest, 8);
    memcpy(out + 8, &f->error, 8);
    memcpy(out + 16, &f->before, 8);
    memcpy(out + 24, &f->after, 8);
    memcpy(out + 32, &f->max_error, 8);
    memcpy(out + 40, &f->overflowed, 8);
    uint64_t check = wb__digest_add(1, out, RECORD_BYTES - 8);
    memcpy(out + RECORD_BYTES - 8, &check, 8);
}

static bool load_record(const uint8_t *in, wb__checkpoint_record *record)
{
    wb__error_stats *f = &record->error_stats;
    uint64_t check;
    memcpy(&record->digest, in, 8);
    memcpy(&f->error, in + 8, 8);
    memcpy(&f->before, in + 16, 8);
    memcpy(&f->after, in + 24, 8);
    memcpy(&f->max_error, in + 32, 8);
    memcpy(&f->overflowed, in + 40, 8);
    memcpy(&check, in + RECORD_BYTES - 8, 8);
    return check == wb__digest_add(1, in, RECORD_BYTES - 8);
}

/* Reads records into `batch`, beginning with record `first`. Returns the number of complete
 * records that were read. */
static size_t fill_batch(wb__checkpoint *journal, uint64_t first)
{
    journal->first = first;
    return wb__read_back(journal->fd, HEAD_BYTES + first * RECORD_BYTES, journal->batch,
                         sizeof journal->batch) /
           RECORD_BYTES;
}

static void count_records(wb__checkpoint *journal)
{
    wb__checkpoint_record record;
    size_t got = 0, good = 0;
    do {
        got = fill_batch(journal, journal->count);
        for (good = 0; good < got && load_record(journal->batch + good * RECORD_BYTES, &record);)
            good++;
        journal->count += good;
    } while (got == BATCH && good == BATCH);
    (void)fill_batch(journal, 0);
}

bool wb__checkpoint_next(wb__checkpoint *journal, wb__checkpoint_record *record)
{
    if (journal->next >= journal->count)
        return false;
    if (journal->next - journal->first >= BATCH)
        (void)fill_batch(journal, journal->next);
    uint64_t at = journal->next++ - journal->first;
    return load_record(journal->batch + at * RECORD_BYTES, record);
}

wb_status wb__checkpoint_append(wb__context *context, wb__checkpoint *journal,
                                const wb__checkpoint_record *records, size_t n)
{
    int os_error = 0;
    for (size_t i = 0; i < n && os_error == 0;) {
        size_t piece = n - i < BATCH ? n - i : BATCH;
        for (size_t k = 0; k < piece; k++)
            store_record(journal->batch + k * RECORD_BYTES, &records[i + k]);
        os_error = wb__write_at(journal->fd, HEAD_BYTES + journal->count * RECORD_BYTES,
                                journal->batch, piece * RECORD_BYTES);
        i += piece;
        journal->count += piece;
    }
    if (n > 0) /* all records of the earlier run were used; they come before those of new tiles */
        journal->next = journal->count;
    if (os_error == 0)
        return WB_OK;
    context->file = journal->path;
    return wb__fail_os(context, os_error, WB__MSG_CONVERT_WRITE);
}

/* ---- the journal file ---- */

/* Returns the path of the journal, .NAME.wb-resume in the directory of the output. Follows
 * symbolic links in `path`. On failure, returns NULL and sets *os_error. */
static char *journal_path(const wb_allocator *allocator, const char *path, int *os_error)
{
    char *end = wb__path_follow(allocator, path, os_error);
    if (end == NULL)
        return NULL;
    char *made = wb__hidden_path(allocator, end, WB__RESUME_END);
    if (made == NULL)
        *os_error = ENOMEM;
    wb__free(allocator, end, strlen(end) + 1);
    return made;
}

/* Returns true if the path of the journal still names the open file. Another process that
 * completes a conversion to the same path may remove the file before this process locks it. */
static bool is_still_there(const wb__checkpoint *journal)
{
    struct stat open, named;
    return fstat(journal->fd, &open) == 0 && lstat(journal->path, &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino && S_ISREG(open.st_mode);
}

/* Opens the journal and locks it. Returns 0 or an errno value. */
static int lock(wb__checkpoint *journal)
{
    for (int tries = 0; tries < 100; tries++) {
        int os_error = wb__file_take_up(AT_FDCWD, journal->path, 0666, &journal->fd);
        if (os_error == EEXIST) /* another conversion has just created the file */
            continue;
        if (os_error != 0)
            return os_error;
        if (flock(journal->fd, LOCK_EX | LOCK_NB) != 0)
            return errno == EWOULDBLOCK ? EBUSY : errno;
        if (is_still_there(journal))
            return 0;
        (void)close(journal->fd);
        journal->fd = -1;
    }
    return EBUSY;
}

/* If the file is a journal of this plan, counts its valid records and removes everything after
 * them. Otherwise replaces the contents of the file by an empty journal. Returns 0 or an errno
 * value. */
static int begin(wb__checkpoint *journal, uint64_t conversion)
{
    uint8_t want[HEAD_BYTES], got[HEAD_BYTES];
    memcpy(want, magic, 8);
    memcpy(want + 8, &conversion, 8);
    uint64_t check = wb__digest_add(0, want, 16);
    memcpy(want + 16, &check, 8);
    if (wb__read_back(journal->fd, 0, got, sizeof got) == sizeof got &&
        memcmp(want, got, sizeof got) == 0) {
        journal->known = true;
        count_records(journal);
    } else {
        if (ftruncate(journal->fd, 0) != 0)
            return errno;
        return wb__write_at(journal->fd, 0, want, sizeof want);
    }
    off_t end = (off_t)(HEAD_BYTES + journal->count * RECORD_BYTES);
    return ftruncate(journal->fd, end) == 0 ? 0 : errno;
}

/* Returns true if the file name of the journal is too long. The limit of 250 bytes allows for
 * longer temporary names of other files in the same directory. */
static bool is_too_long(const wb__checkpoint *journal)
{
    return journal->path != NULL && wb__path_base(journal->path).len > 250;
}

wb_status wb__checkpoint_open(wb__context *context, const wb_conversion *conversion,
                              const char *path, wb__checkpoint **out)
{
    *out = NULL;
    wb__checkpoint *journal = wb__alloc_zeroed(&conversion->allocator, sizeof *journal);
    if (journal == NULL)
        return wb__fail_memory(context);
    journal->allocator = conversion->allocator;
    journal->fd = -1;
    int os_error = 0;
    journal->path = journal_path(&conversion->allocator, path, &os_error);
    if (is_too_long(journal)) {
        wb__checkpoint_close(journal, false);
        return WB_OK;
    }
    if (journal->path != NULL)
        os_error = lock(journal);
    bool is_ours = os_error == 0;
    if (is_ours)
        os_error = begin(journal, digest_of(conversion));
    if (os_error == 0) {
        *out = journal;
        return WB_OK;
    }
    context->file = path;
    wb_status status = os_error == ENOMEM
                           ? wb__fail_memory(context)
                           : wb__fail_os(context, os_error,
                                         os_error == EBUSY ? WB__MSG_CONVERT_OUTPUT_BUSY
                                                           : WB__MSG_CONVERT_OUTPUT_FOLDER);
    context->file = "";
    wb__checkpoint_close(journal, is_ours && wb__checkpoint_is_empty(journal));
    return status;
}

bool wb__checkpoint_is_known(const wb__checkpoint *journal)
{
    return journal != NULL && journal->known;
}

bool wb__checkpoint_is_empty(const wb__checkpoint *journal)
{
    return journal == NULL || (journal->count == 0 && !journal->known);
}

void wb__checkpoint_close(wb__checkpoint *journal, bool finished)
{
    if (journal == NULL)
        return;
    wb_allocator allocator = journal->allocator;
    if (finished && journal->fd >= 0 && is_still_there(journal))
        (void)unlink(journal->path);
    if (journal->fd >= 0)
        (void)close(journal->fd);
    if (journal->path != NULL)
        wb__free(&allocator, journal->path, strlen(journal->path) + 1);
    wb__free(&allocator, journal, sizeof *journal);
}
