/*
 * A case is a file of lines "key: value"; '#' begins a comment.
 *
 *   unit     s, ms, us or ns; or MiB, if the workers report memory instead of time
 *   prepare  a command that creates the input, run in the data directory
 *   ours     the command of our worker
 *   peer     the command of a peer; its first word is the peer's directory in peers/
 *   floor    the command that measures the limit of the machine
 *   samples  the default number of samples
 *   each     a list of words; only in a template, which is a file whose name ends in ".@"
 *
 * A template defines one case for each word in `each`. The word replaces '@' in the commands and in
 * the name of the file; the resulting name is the name of the case. If a file with that name
 * exists, it is used instead of the template.
 *
 * "Our worker" is a program of this project that runs the operation to measure; a peer is another
 * program that does the same. PATH contains our worker and the programs that create inputs.
 */
#include "bench.h"

#include <stddef.h>
#include <string.h>

static const struct key_row {
    const char *key;
    size_t offset, capacity;
} keys[] = {
#define ROW(member) {#member, offsetof(bench_case, member), sizeof(((bench_case *)0)->member)}
    ROW(unit), ROW(prepare), ROW(ours), ROW(peer), ROW(floor), ROW(samples), ROW(each),
#undef ROW
};

static const struct unit_row {
    const char *name;
    double ns;
} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"MiB", 1}};

/* Copies a value and replaces each '@' with `word`, the last part of the name of the case. */
static bool put_value(char *out, size_t capacity, const char *value, const char *word)
{
    size_t at = 0;
    for (; *value != '\0'; value++) {
        size_t n = *value == '@' ? strlen(word) : 1;
        if (capacity - at <= n)
            return false;
        memcpy(out + at, *value == '@' ? word : value, n);
        at += n;
    }
    out[at] = '\0';
    return true;
}

static bool take_line(bench_case *out, char *line)
{
    const char *dot = strrchr(out->name, '.');
    line[strcspn(line, "#\n")] = '\0';
    if (line[strspn(line, " ")] == '\0')
        return true;
    char *value = strchr(line, ':');
    if (value == NULL)
        return false;
    *value++ = '\0';
    value += strspn(value, " ");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i].key, line) != 0)
            continue;
        return put_value((char *)out + keys[i].offset, keys[i].capacity, value,
                         dot == NULL ? "" : dot + 1);
    }
    return false;
}

static bool read_lines(FILE *file, const char *path, bench_case *out)
{
    char line[600];
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        if (!take_line(out, line)) {
            fprintf(stderr, "bench: %s:%d: not a line of a case\n", path, number);
            return false;
        }
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].name, out->unit) == 0)
            out->unit_ns = units[i].ns;
    }
    if (out->unit_ns == 0 || out->ours[0] == '\0' || out->floor[0] == '\0') {
        fprintf(stderr, "bench: %s: a case needs a unit, ours and a floor\n", path);
        return false;
    }
    return true;
}

/* Opens the file of a case, or its template, whose name ends in ".@". */
static FILE *open_case(const char *folder, const char *name, char *path, size_t capacity)
{
    const char *dot = strrchr(name, '.');
    int stem = dot == NULL ? 0 : (int)(dot - name);
    int n = snprintf(path, capacity, "%s/%s", folder, name);
    FILE *file = n < 0 || (size_t)n >= capacity ? NULL : fopen(path, "r");
    if (file != NULL || dot == NULL)
        return file;
    n = snprintf(path, capacity, "%s/%.*s.@", folder, stem, name);
    return n < 0 || (size_t)n >= capacity ? NULL : fopen(path, "r");
}

bool bench_case_read(const char *folder, const char *name, bench_case *out)
{
    char path[4096];
    memset(out, 0, sizeof *out);
    int n = snprintf(out->name, sizeof out->name, "%s", name);
    if (n < 0 || (size_t)n >= sizeof out->name) {
        fprintf(stderr, "bench: %s: too long a name\n", name);
        return false;
    }
    FILE *file = open_case(folder, name, path, sizeof path);
    if (file == NULL) {
        fprintf(stderr, "bench: there is no case %s in %s\n", name, folder);
        return false;
    }
    bool sound = read_lines(file, path, out);
    (void)fclose(file);
    return sound;
}
