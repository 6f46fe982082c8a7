#include "edit/journal.h"

#define FIXED 72
#define CHECK 8

static const char magic[] = WB__JOURNAL_MAGIC; /* without the terminating NUL */
#define MAGIC (sizeof magic - 1)

size_t wb__journal_size(const wb__journal *journal)
{
    const size_t parts[] = {journal->old_header.len, journal->new_header.len, journal->index.len,
                            journal->old_index.len, journal->new_index.len};
    uint64_t n = FIXED + CHECK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!wb__add(n, parts[i], &n) || n > WB__JOURNAL_MAX)
            return 0;
    }
    return (size_t)n;
}

static uint8_t *put(uint8_t *to, wb__str part)
{
    if (part.ptr != NULL && part.len != 0)
        memcpy(to, part.ptr, part.len);
    return to + part.len;
}

void wb__journal_put(const wb__journal *journal, uint8_t *bytes)
{
    const uint64_t numbers[] = {journal->in_place,       journal->before,
                                journal->after,          journal->old_header.len,
                                journal->new_header.len, journal->index.len,
                                journal->old_index.len,  journal->new_index.len};
    memcpy(bytes, magic, MAGIC);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        wb__store_le64(bytes + MAGIC + 8 * i, numbers[i]);
    bytes = put(bytes + FIXED, journal->old_header);
    bytes = put(bytes, journal->new_header);
    bytes = put(bytes, journal->index);
    bytes = put(bytes, journal->old_index);
    (void)put(bytes, journal->new_index);
}

uint8_t *wb__journal_old_header(uint8_t *bytes)
{
    return bytes + FIXED;
}

void wb__journal_seal(const wb__hash_key *key, uint8_t *bytes, size_t n)
{
    wb__store_le64(bytes + n - CHECK, wb__siphash(key, bytes, n - CHECK));
}

/* Takes the next n bytes of *rest. Returns false if *rest is shorter. */
static bool take(wb__str *rest, uint64_t n, wb__str *part)
{
    if (n > rest->len)
        return false;
    *part = (wb__str){rest->ptr, (size_t)n};
    *rest = (wb__str){rest->ptr + n, rest->len - (size_t)n};
    return true;
}

/* Returns true if the name is empty, or a file name without a directory. */
static bool is_plain(wb__str name)
{
    return name.len < 256 && (name.len == 0 || (memchr(name.ptr, '/', name.len) == NULL &&
                                                memchr(name.ptr, '\0', name.len) == NULL));
}

/* Returns true if the sizes and the index name in a journal meet the conditions on which recovery
 * relies. */
static bool is_valid(const wb__journal *j)
{
    uint64_t grown;
    if (j->old_header.len > j->before || j->new_header.len > j->after || j->after > INT64_MAX ||
        j->before > INT64_MAX || !is_plain(j->index))
        return false;
    return !j->in_place ||
           (j->new_header.len >= j->old_header.len &&
            wb__add(j->before, wb__journal_inserted(j), &grown) && grown == j->after);
}

bool wb__journal_parse(const wb__hash_key *key, const uint8_t *bytes, size_t n,
                       wb__journal *journal)
{
    uint64_t numbers[8];
    if (n < FIXED + CHECK || memcmp(bytes, magic, MAGIC) != 0 ||
        wb__load_le64(bytes + n - CHECK) != wb__siphash(key, bytes, n - CHECK))
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = wb__load_le64(bytes + MAGIC + 8 * i);
    wb__str rest = {(const char *)bytes + FIXED, n - FIXED - CHECK};
    *journal =
        (wb__journal){.in_place = numbers[0] == 1, .before = numbers[1], .after = numbers[2]};
    return numbers[0] <= 1 && take(&rest, numbers[3], &journal->old_header) &&
           take(&rest, numbers[4], &journal->new_header) &&
           take(&rest, numbers[5], &journal->index) &&
           take(&rest, numbers[6], &journal->old_index) &&
           take(&rest, numbers[7], &journal->new_index) && rest.len == 0 && is_valid(journal);
}
