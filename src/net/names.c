#include "net/names.h"

#include <stdlib.h>

#include "net/percent.h"

#define SEGMENT_MAX 255 /* maximum length of a file name in ext4, XFS, Btrfs and APFS, in bytes */
#define PATH_MAX_BYTES 4000
#define REPO_PART_MAX 96

bool wb__is_hex(wb__str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return true;
}

wb__str wb__blob_name(wb__str etag)
{
    if (wb__str_starts_with(etag, WB__STR("W/")))
        etag = (wb__str){etag.ptr + 2, etag.len - 2};
    if (etag.len >= 2 && etag.ptr[0] == '"' && etag.ptr[etag.len - 1] == '"')
        etag = (wb__str){etag.ptr + 1, etag.len - 2};
    bool good = (etag.len == 40 || etag.len == 64) && wb__is_hex(etag);
    return good ? etag : WB__STR("");
}

void wb__hex_encode(const uint8_t *bytes, size_t n, char *digits)
{
    for (size_t i = 0; i < n; i++) {
        digits[2 * i] = wb__hex_digit(bytes[i] >> 4);
        digits[2 * i + 1] = wb__hex_digit(bytes[i] & 15u);
    }
}

/* ---- paths ---- */

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7F;
}

static const char *segment_fault(wb__str segment)
{
    if (segment.len == 0)
        return "it has an empty segment";
    if (wb__str_equal(segment, WB__STR(".")) || wb__str_equal(segment, WB__STR("..")))
        return "it has a segment \".\" or \"..\", which leads to another folder";
    if (wb__str_equal_nocase(segment, WB__STR(".git")))
        return "it has a segment \".git\", which git and other programs trust";
    return segment.len > SEGMENT_MAX ? "it has a segment of more than 255 bytes" : NULL;
}

const char *wb__path_fault(wb__str path)
{
    if (path.len > PATH_MAX_BYTES)
        return "it is longer than 4,000 bytes";
    for (size_t i = 0; i < path.len; i++) {
        if (is_control((unsigned char)path.ptr[i]))
            return "it has a control character";
        if (path.ptr[i] == '\\')
            return "it has a backslash, which separates folders on Windows";
    }
    if (wb__utf8_valid_prefix((const unsigned char *)path.ptr, path.len) != path.len)
        return "it is not valid UTF-8";
    if (path.len > 1 && path.ptr[1] == ':')
        return "it begins with a drive letter";
    for (size_t at = 0; at <= path.len;) {
        size_t end = at;
        while (end < path.len && path.ptr[end] != '/')
            end++;
        const char *fault = segment_fault((wb__str){path.ptr + at, end - at});
        if (fault != NULL)
            return fault;
        at = end + 1;
    }
    return NULL;
}

/* ---- repositories and revisions ---- */

static const char *repo_part_fault(wb__str part)
{
    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (!wb__is_letter_or_digit(c) && c != '-' && c != '_' && c != '.')
            return "a repository may have letters, digits, '-', '_' and '.' only";
    }
    if (part.len == 0 || part.len > REPO_PART_MAX)
        return "owner and name of a repository have 1 to 96 characters";
    if (wb__str_has(part, WB__STR("--")) || wb__str_has(part, WB__STR("..")))
        return "a repository may not have \"--\" or \"..\"";
    char first = part.ptr[0], last = part.ptr[part.len - 1];
    bool bad = first == '.' || first == '-' || last == '.' || last == '-';
    return bad ? "owner and name of a repository may not begin or end with '.' or '-'" : NULL;
}

const char *wb__repo_fault(wb__str repo)
{
    const char *slash = repo.len == 0 ? NULL : memchr(repo.ptr, '/', repo.len);
    if (slash == NULL)
        return "it has no repository: owner/name";
    size_t owner = (size_t)(slash - repo.ptr);
    const char *fault = repo_part_fault((wb__str){repo.ptr, owner});
    return fault != NULL ? fault : repo_part_fault((wb__str){slash + 1, repo.len - owner - 1});
}

const char *wb__revision_fault(const char *revision)
{
    wb__str text = wb__str_from(revision, SIZE_MAX);
    if (text.len == 0 || text.len > SEGMENT_MAX)
        return "a revision has 1 to 255 bytes";
    const char *fault = wb__path_fault(text);
    if (fault == NULL && wb__str_has(text, WB__STR("..")))
        fault = "a revision may not have \"..\"";
    return fault;
}

/* ---- conflicts ---- */

/* Converts ASCII letters to lower case. File systems that ignore case also fold other letters, but
 * not all the same ones. A conflict that this misses ends in an error of the file system, never in
 * a file with wrong contents. */
static char *fold(const wb_allocator *allocator, const char *path)
{
    size_t n = strlen(path) + 1;
    char *folded = wb__alloc(allocator, n);
    for (size_t i = 0; folded != NULL && i < n; i++)
        folded[i] = wb__lower(path[i]);
    return folded;
}

typedef struct folded_path {
    char *folded;
    const char *path;
} folded_path;

/* Orders '/' before all other bytes, so that a directory is next to its files. */
static int compare_folded(const void *a, const void *b)
{
    const unsigned char *x = (const unsigned char *)((const folded_path *)a)->folded;
    const unsigned char *y = (const unsigned char *)((const folded_path *)b)->folded;
    while (*x == *y && *x != '\0')
        x++, y++;
    int left = *x == '/' ? 1 : *x == '\0' ? 0 : *x + 1;
    int right = *y == '/' ? 1 : *y == '\0' ? 0 : *y + 1;
    return left - right;
}

static bool conflicts(const char *a, const char *b)
{
    size_t n = strlen(a);
    return strncmp(a, b, n) == 0 && (b[n] == '\0' || b[n] == '/');
}

const char *wb__paths_conflict(const wb_allocator *allocator, const char *const *paths, size_t n,
                               bool *out_of_memory)
{
    const char *found = NULL;
    folded_path *all = wb__alloc_zeroed(allocator, n * sizeof *all);
    *out_of_memory = all == NULL;
    for (size_t i = 0; i < n && !*out_of_memory; i++) {
        all[i] = (folded_path){fold(allocator, paths[i]), paths[i]};
        *out_of_memory = all[i].folded == NULL;
    }
    if (!*out_of_memory && n > 1) {
        qsort(all, n, sizeof *all, compare_folded);
        for (size_t i = 0; i + 1 < n && found == NULL; i++) {
            if (conflicts(all[i].folded, all[i + 1].folded))
                found = all[i].path;
        }
    }
    for (size_t i = 0; all != NULL && i < n; i++) {
        if (all[i].folded != NULL)
            wb__free(allocator, all[i].folded, strlen(all[i].folded) + 1);
    }
    wb__free(allocator, all, n * sizeof *all);
    return found;
}
