#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "pull/pull_partial.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"
#include "pull/pull_messages.h"

#define MAGIC "WBPIECE1"
#define HEADER ((size_t)96)
#define RECORD ((size_t)24)
#define DIGEST_AT 24 /* offset of the digest in the header; its maximum length is 64 */

/* ---- pieces ---- */

size_t wb__pull_partial_piece_bytes(const wb__pull_partial *partial, size_t piece)
{
    uint64_t begin = piece * WB__PIECE, left = partial->size - begin;
    return (size_t)(left < WB__PIECE ? left : WB__PIECE);
}

uint64_t wb__pull_partial_bytes(const wb__pull_partial *partial)
{
    uint64_t bytes =
        (uint64_t)atomic_load_explicit(&partial->here, memory_order_relaxed) * WB__PIECE;
    return bytes < partial->size ? bytes : partial->size;
}

static void set_here(wb__pull_partial *partial, size_t piece, uint64_t sum)
{
    partial->sum[piece] = sum;
    if (wb__pull_partial_state(partial, piece) != WB__PIECE_HERE)
        atomic_fetch_add_explicit(&partial->here, 1, memory_order_relaxed);
    wb__pull_partial_set_state(partial, piece, WB__PIECE_HERE);
}

bool wb__pull_partial_read(const wb__pull_partial *partial, size_t piece, uint8_t *to)
{
    size_t n = wb__pull_partial_piece_bytes(partial, piece);
    return wb__read_back(partial->data, piece * WB__PIECE, to, n) == n;
}

/* ---- the journal ---- */

static void make_header(uint8_t header[HEADER], const wb__pull_partial *partial, const char *digest)
{
    memset(header, 0, HEADER);
    memcpy(header, MAGIC, 8);
    wb__store_le64(header + 8, WB__PIECE);
    wb__store_le64(header + 16, partial->size);
    memcpy(header + DIGEST_AT, digest, strlen(digest));
    wb__store_le64(header + HEADER - 8, wb__piece_sum_of(header, HEADER - 8));
}

static void make_record(const wb__pull_partial *partial, uint8_t record[RECORD], uint64_t piece,
                        uint64_t sum)
{
    wb__store_le64(record, piece);
    wb__store_le64(record + 8, sum);
    wb__store_le64(record + 16, wb__piece_sum_of(record, 16) ^ partial->seal);
}

/* Returns true if the bytes of a piece on the disk have this checksum. */
static bool has_sum(const wb__pull_partial *partial, size_t piece, uint64_t sum, uint8_t *scratch)
{
    return wb__pull_partial_read(partial, piece, scratch) &&
           wb__piece_sum_of(scratch, wb__pull_partial_piece_bytes(partial, piece)) == sum;
}

size_t wb__pull_partial_recheck(wb__pull_partial *partial, uint8_t *scratch)
{
    size_t damaged = 0;
    for (size_t i = 0; i < partial->count; i++) {
        if (has_sum(partial, i, partial->sum[i], scratch))
            continue;
        wb__pull_partial_set_state(partial, i, WB__PIECE_MISSING);
        atomic_fetch_sub_explicit(&partial->here, 1, memory_order_relaxed);
        damaged++;
    }
    return damaged;
}

void wb__pull_partial_doubt(wb__pull_partial *partial)
{
    for (size_t i = 0; i < partial->count; i++)
        wb__pull_partial_set_state(partial, i, WB__PIECE_DOUBTED);
    atomic_store(&partial->here, 0);
    atomic_store(&partial->has_other, false);
    partial->compares = true;
}

/* Marks the piece of a record as here if its bytes on the disk are those that arrived. */
static void take_record(wb__pull_partial *partial, const uint8_t *record, uint8_t *scratch)
{
    uint8_t expected[RECORD];
    uint64_t piece = wb__load_le64(record), sum = wb__load_le64(record + 8);
    make_record(partial, expected, piece, sum);
    if (memcmp(expected, record, RECORD) != 0 || piece >= partial->count)
        return;
    if (has_sum(partial, (size_t)piece, sum, scratch))
        set_here(partial, (size_t)piece, sum);
}

/* Takes all records. Returns the end of the last complete one. */
static uint64_t take_records(wb__pull_partial *partial, uint8_t *scratch)
{
    uint8_t records[RECORD * 256];
    uint64_t at = HEADER;
    size_t n;
    do {
        n = wb__read_back(partial->journal, at, records, sizeof records) / RECORD;
        for (size_t i = 0; i < n; i++)
            take_record(partial, records + i * RECORD, scratch);
        at += n * RECORD;
    } while (n > 0);
    return at;
}

static bool has_header(const wb__pull_partial *partial, const uint8_t header[HEADER])
{
    uint8_t found[HEADER];
    return wb__read_back(partial->journal, 0, found, HEADER) == HEADER &&
           memcmp(found, header, HEADER) == 0;
}

static wb_status fail_partial(wb__context *context, int os_error)
{
    return wb__fail_os(context, os_error, WB__MSG_PULL_PARTIAL);
}

wb_status wb__pull_partial_restart(wb__pull_partial *partial, wb__context *context,
                                   const char *digest)
{
    uint8_t header[HEADER];
    make_header(header, partial, digest);
    for (size_t i = 0; i < partial->count; i++)
        wb__pull_partial_set_state(partial, i, WB__PIECE_MISSING);
    atomic_store(&partial->here, 0);
    partial->compares = false;
    if (ftruncate(partial->journal, 0) != 0)
        return fail_partial(context, errno);
    int os_error = wb__write_at(partial->journal, 0, header, HEADER);
    if (os_error == 0 && lseek(partial->journal, 0, SEEK_END) < 0)
        os_error = errno;
    return os_error == 0 ? WB_OK : fail_partial(context, os_error);
}

/* Takes all records of the journal if its header is right; *end is then the end of the last complete
 * record, else 0. */
static wb_status take_journal(wb__pull_partial *partial, wb__context *context, const char *digest,
                              uint64_t *end)
{
    uint8_t header[HEADER];
    make_header(header, partial, digest);
    partial->seal = wb__load_le64(header + HEADER - 8);
    *end = 0;
    if (!has_header(partial, header))
        return WB_OK;
    uint8_t *scratch = wb__alloc(&partial->allocator, WB__PIECE);
    if (scratch == NULL)
        return wb__fail_memory(context);
    *end = take_records(partial, scratch);
    wb__free(&partial->allocator, scratch, WB__PIECE);
    return WB_OK;
}

static wb_status load(wb__pull_partial *partial, wb__context *context, const char *digest)
{
    uint64_t end;
    wb_status status = take_journal(partial, context, digest, &end);
    if (status != WB_OK)
        return status;
    if (end == 0)
        return wb__pull_partial_restart(partial, context, digest);
    return lseek(partial->journal, (off_t)end, SEEK_SET) < 0 ? fail_partial(context, errno) : WB_OK;
}

/* ---- files ---- */

void wb__pull_partial_file(char file[WB__PARTIAL_NAME], const char *name, const char *end)
{
    (void)snprintf(file, WB__PARTIAL_NAME, "%s%s", name, end);
}

static int take_up(wb__pull_partial *partial, const char *name)
{
    wb__pull_partial_file(partial->data_name, name, WB__PARTIAL_DATA);
    wb__pull_partial_file(partial->journal_name, name, WB__PARTIAL_JOURNAL);
    int os_error = wb__file_take_up(partial->folder, partial->data_name, 0666, &partial->data);
    if (os_error == 0)
        os_error =
            wb__file_take_up(partial->folder, partial->journal_name, 0666, &partial->journal);
    if (os_error == 0 && ftruncate(partial->data, (off_t)partial->size) != 0)
        os_error = errno;
    return os_error;
}

/* Sets the members of a partial file without files. */
static wb_status init(wb__pull_partial *partial, wb__context *context, int folder, uint64_t size)
{
    *partial = (wb__pull_partial){
        .allocator = context->allocator, .folder = folder, .data = -1, .journal = -1, .size = size};
    uint64_t count = size / WB__PIECE + (size % WB__PIECE != 0);
    size_t sums; /* less than `size`, so the product does not overflow */
    if (!wb__to_size(count * sizeof *partial->sum, &sums))
        return wb__fail_memory(context);
    partial->count = (size_t)count;
    partial->piece = wb__alloc_zeroed(&partial->allocator, partial->count);
    partial->sum = wb__alloc(&partial->allocator, sums);
    return partial->piece == NULL || partial->sum == NULL ? wb__fail_memory(context) : WB_OK;
}

wb_status wb__pull_partial_open(wb__pull_partial *partial, wb__context *context, int folder,
                                const char *name, const char *digest, uint64_t size)
{
    wb_status status = init(partial, context, folder, size);
    if (status != WB_OK)
        return status;
    int os_error = take_up(partial, name);
    return os_error == 0 ? load(partial, context, digest) : fail_partial(context, os_error);
}

wb_status wb__pull_partial_compare(wb__context *context, int data, int journal, const char *digest,
                                   uint64_t size, bool *same, bool *known)
{
    struct stat st;
    uint64_t end;
    wb__pull_partial partial;
    wb_status status = init(&partial, context, -1, size);
    partial.data = data;
    partial.journal = journal;
    *same = *known = false;
    if (status == WB_OK)
        status = take_journal(&partial, context, digest, &end);
    if (status == WB_OK) {
        *known = end > 0;
        *same = *known && atomic_load(&partial.here) == partial.count && fstat(data, &st) == 0 &&
                (uint64_t)st.st_size == size;
    }
    partial.data = partial.journal = -1;
    wb__pull_partial_close(&partial);
    return status;
}

void wb__pull_partial_close(wb__pull_partial *partial)
{
    if (partial->data >= 0)
        (void)close(partial->data);
    if (partial->journal >= 0)
        (void)close(partial->journal);
    partial->data = partial->journal = -1;
    wb__free(&partial->allocator, partial->piece, partial->count);
    wb__free(&partial->allocator, partial->sum, partial->count * sizeof *partial->sum);
    partial->piece = NULL;
    partial->sum = NULL;
}

void wb__pull_partial_remove(wb__pull_partial *partial)
{
    (void)unlinkat(partial->folder, partial->journal_name, 0);
    (void)unlinkat(partial->folder, partial->data_name, 0);
}

/* ---- writing ---- */

/* Appends the record of a complete piece. */
static int finish_piece(wb__pull_partial *partial, uint64_t piece, uint64_t sum)
{
    uint8_t record[RECORD];
    make_record(partial, record, piece, sum);
    int os_error = wb__write_all(partial->journal, record, RECORD);
    if (partial->compares && partial->sum[piece] != sum)
        atomic_store(&partial->has_other, true);
    if (os_error == 0)
        set_here(partial, (size_t)piece, sum);
    return os_error;
}

/* Adds bytes to the sums of the pieces that they belong to. Returns errno. */
static int add_sums(wb__pull_partial *partial, wb__piece_sum *sum, uint64_t offset,
                    const uint8_t *bytes, size_t n)
{
    int os_error = 0;
    while (n > 0 && os_error == 0) {
        uint64_t piece = offset / WB__PIECE;
        uint64_t end = piece * WB__PIECE + wb__pull_partial_piece_bytes(partial, (size_t)piece);
        size_t taken = end - offset < n ? (size_t)(end - offset) : n;
        if (offset % WB__PIECE == 0)
            wb__piece_sum_start(sum);
        wb__piece_sum_add(sum, bytes, taken);
        offset += taken;
        bytes += taken;
        n -= taken;
        if (offset == end)
            os_error = finish_piece(partial, piece, wb__piece_sum_finish(sum));
    }
    return os_error;
}

bool wb__pull_partial_write(wb__pull_partial *partial, wb__piece_sum *sum, uint64_t offset,
                            const uint8_t *bytes, size_t n)
{
    int os_error = wb__in_range(offset, n, partial->size)
                       ? wb__write_at(partial->data, offset, bytes, n)
                       : EFBIG;
    if (os_error == 0)
        os_error = add_sums(partial, sum, offset, bytes, n);
    if (os_error != 0)
        atomic_store(&partial->os_error, os_error);
    return os_error == 0;
}
