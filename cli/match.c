/* Glob patterns and edit distance. Names may contain any byte, including NUL, so fnmatch(3) cannot
 * be used.
 */
#include <string.h>

#include "text.h"

/* Matches a set such as [a-z] at *pattern, and advances past the set. A '[' without a matching ']'
 * is an ordinary character.
 */
static bool set_matches(const char **pattern, unsigned char c)
{
    const char *p = *pattern + 1;
    bool negated = *p == '!' || *p == '^';
    bool found = false;
    p += negated;
    for (const char *first = p; *p != '\0' && (*p != ']' || p == first); p++) {
        unsigned char low = (unsigned char)*p, high = low;
        if (p[1] == '-' && p[2] != ']' && p[2] != '\0') {
            high = (unsigned char)p[2];
            p += 2;
        }
        found |= c >= low && c <= high;
    }
    if (*p == '\0') {
        ++*pattern;
        return c == '[';
    }
    *pattern = p + 1;
    return found != negated;
}

/* Matches one pattern element other than '*' against one byte, and advances past the element. */
static bool element_matches(const char **pattern, unsigned char c)
{
    switch (**pattern) {
    case '\0': return false;
    case '[': return set_matches(pattern, c);
    case '\\':
        if ((*pattern)[1] != '\0')
            ++*pattern;
        break;
    case '?': ++*pattern; return true;
    default: break;
    }
    return (unsigned char)*(*pattern)++ == c;
}

bool glob_matches(const char *pattern, const char *bytes, size_t n)
{
    const char *star = NULL; /* pattern element after the last '*' */
    size_t star_at = 0;      /* end of the bytes matched by the last '*' */
    size_t i = 0;
    while (i < n || *pattern != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            star_at = i;
            continue;
        }
        if (i < n && element_matches(&pattern, (unsigned char)bytes[i])) {
            i++;
            continue;
        }
        /* Backtrack to the last '*' only: earlier parts of the pattern have matched at the earliest
         * possible position.
         */
        if (star == NULL || star_at >= n)
            return false;
        pattern = star;
        i = ++star_at;
    }
    return true;
}

/* ---- edit distance ---- */

#define LONGEST 512 /* maximum length of names that are compared, in bytes */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit)
{
    size_t rows[3][LONGEST + 1]; /* the current row of the table and the two rows before it */
    size_t gap = a_len > b_len ? a_len - b_len : b_len - a_len;
    if (gap > limit || a_len > LONGEST || b_len > LONGEST)
        return limit + 1;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        const size_t *before = rows[(i + 1) % 3];
        size_t best = row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
            best = least(best, row[j]);
        }
        if (best > limit)
            return limit + 1;
    }
    return least(rows[a_len % 3][b_len], limit + 1);
}
