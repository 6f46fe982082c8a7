#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "paths.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit.h"
#include "families.h"
#include "messages.h"
#include "remote.h"
#include "report.h"

typedef struct file_id {
    dev_t dev;
    ino_t ino;
} file_id;

struct paths {
    int (*one)(void *ctx, paths *seen, const char *path);
    void *ctx;
    bool in_json; /* every path gets a JSON object, also if it does not exist */
    int code;
    file_id *covered; /* sorted array of files to skip */
    size_t count;
};

/* ---- shards already processed ---- */

static int compare_ids(const void *a, const void *b)
{
    const file_id *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static bool id_of(const char *path, file_id *id)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    *id = (file_id){st.st_dev, st.st_ino};
    return true;
}

void paths_cover(paths *seen, const wb_model *model)
{
    uint64_t files = wb_file_count(model);
    if (files < 2) /* a single-file model named twice is processed twice, as requested */
        return;
    seen->covered = need_memory(seen->covered, seen->count + (size_t)files, sizeof *seen->covered);
    for (uint64_t i = 0; i < files; i++) {
        wb_file file = WB_FILE_INIT;
        if (wb_file_at(model, i, &file, NULL) == WB_OK &&
            id_of(file.path, &seen->covered[seen->count]))
            seen->count++;
    }
    qsort(seen->covered, seen->count, sizeof *seen->covered, compare_ids);
}

static bool is_covered(const paths *seen, const char *path)
{
    file_id id;
    return seen->count > 0 && id_of(path, &id) &&
           bsearch(&id, seen->covered, seen->count, sizeof id, compare_ids) != NULL;
}

/* ---- pattern expansion ---- */

static void visit(paths *seen, const char *path)
{
    if (strcmp(path, STDIN_PATH) != 0 && is_covered(seen, path))
        return;
    seen->code = worse(seen->code, seen->one(seen->ctx, seen, path));
    out_flush(out_stdout());
}

/* Returns true if the path must be expanded as a pattern: it contains wildcards and does not exist.
 */
static bool is_pattern(const char *path)
{
    struct stat st;
    return strpbrk(path, "*?[") != NULL && !wb_net_owns(path) && lstat(path, &st) != 0 &&
           errno == ENOENT;
}

/* Expands a pattern. The caller frees *found with globfree. Returns 0, or an exit code after
 * reporting that no file matches.
 */
static int match(const char *pattern, glob_t *found)
{
    memset(found, 0, sizeof *found);
    int result = glob(pattern, 0, NULL, found);
    if (result == GLOB_NOSPACE)
        die_of_memory();
    return result == 0 ? 0 : report_path(EXIT_IO, pattern, MSG_NO_FILE_MATCHES);
}

/* Prefixes a matching file named "-" with "./", so that it is not mistaken for standard input. */
static const char *match_at(const glob_t *found, size_t i)
{
    const char *path = found->gl_pathv[i];
    return strcmp(path, STDIN_PATH) == 0 ? "./" STDIN_PATH : path;
}

static void visit_matches(paths *seen, const char *pattern)
{
    glob_t found;
    int code = match(pattern, &found);
    seen->code = worse(seen->code, code);
    if (code != 0 && seen->in_json)
        report_last_as_json();
    for (size_t i = 0; code == 0 && i < found.gl_pathc && !out_closed(out_stdout()); i++)
        visit(seen, match_at(&found, i));
    globfree(&found);
}

int paths_each(const arguments *args, int (*one)(void *ctx, paths *seen, const char *path),
               void *ctx)
{
    paths seen = {.one = one, .ctx = ctx, .in_json = args->given[OPTION_JSON]};
    for (size_t i = 0; i < args->count && !out_closed(out_stdout()); i++) {
        if (is_pattern(args->operands[i]))
            visit_matches(&seen, args->operands[i]);
        else
            visit(&seen, args->operands[i]);
    }
    free(seen.covered);
    return seen.code;
}

/* ---- commands for one model ---- */

/* Returns true if all matches are files of the model that the first match belongs to. Also returns
 * true if the first match cannot be opened; the command then reports the error.
 */
static bool are_one_model(const glob_t *found, const wb_open_options *options)
{
    paths seen = {0};
    wb_model *model;
    if (found->gl_pathc == 1 || wb_open(found->gl_pathv[0], options, &model, NULL) != WB_OK)
        return true;
    paths_cover(&seen, model);
    wb_close(model);
    bool all = true;
    for (size_t i = 0; i < found->gl_pathc && all; i++)
        all = is_covered(&seen, found->gl_pathv[i]);
    free(seen.covered);
    return all;
}

/* Returns true for commands that modify a single file. If a pattern matches several shards of a
 * model, the file to modify is ambiguous.
 */
static bool is_file_to_change(command_id command)
{
    return command == COMMAND_EDIT || command == COMMAND_REALIGN;
}

/* Replaces a pattern operand with the path that it matches. The caller frees *matched. */
static int settle(command_id command, const wb_open_options *options, char **operand,
                  char **matched)
{
    glob_t found;
    int code = match(*operand, &found);
    if (code == 0 && is_file_to_change(command) && found.gl_pathc > 1)
        code = report_path(EXIT_USAGE, *operand, MSG_PATHS_ONE_TO_CHANGE, found.gl_pathc);
    else if (code == 0 && !are_one_model(&found, options))
        code = report_path(EXIT_USAGE, *operand, MSG_PATHS_NOT_ONE_MODEL, found.gl_pathc);
    if (code == 0) {
        const char *path = match_at(&found, 0);
        size_t n = strlen(path) + 1;
        *matched = need_memory(NULL, n, 1);
        memcpy(*matched, path, n);
        *operand = *matched;
    }
    globfree(&found);
    return code;
}

static bool is_word(const char *word, size_t n, const char *wanted)
{
    return strlen(wanted) == n && memcmp(word, wanted, n) == 0;
}

/* Returns true if the operand with this name in the command table is a model. With --manifest,
 * PATH... is a single model, because a manifest describes one model.
 */
static bool is_model(const arguments *args, const char *word, size_t n)
{
    static const char *const models[] = {"PATH", "[IN", "IN", "A", "B"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (is_word(word, n, models[i]))
            return true;
    }
    return args->given[OPTION_MANIFEST] && is_word(word, n, "PATH...");
}

int paths_settle(arguments *args)
{
    wb_limits limits;
    wb_open_options options;
    int code = open_options_of(args, &options, &limits);
    const char *word = command_table[args->command].operands;
    for (size_t i = 0; i < args->count && *word != '\0' && code == 0; i++) {
        size_t n = strcspn(word, " ");
        if (is_model(args, word, n) && is_pattern(args->operands[i]))
            code = settle(args->command, &options, &args->operands[i], &args->matched[i]);
        word += n + (word[n] == ' ');
    }
    return code;
}

/* ---- opening ---- */

const char *path_label(const char *path)
{
    return strcmp(path, STDIN_PATH) == 0 ? STDIN_LABEL : path;
}

wb_status open_path(const char *path, const wb_open_options *options, wb_model **model,
                    wb_error *error)
{
    wb_open_options own = *options;
    own.files = remote_files();
    own.families = families_opened();
    if (strcmp(path, STDIN_PATH) == 0)
        return wb_open_fd(STDIN_FILENO, STDIN_LABEL, &own, model, error);
    return wb_open(path, &own, model, error);
}

bool is_same_file(const char *a, const char *b)
{
    file_id x, y;
    return id_of(a, &x) && id_of(b, &y) && compare_ids(&x, &y) == 0;
}

bool replaces_model(const char *output, const wb_model *model)
{
    int reads;
    if (wb_model_reads(model, output, &reads, NULL) != WB_OK)
        die_of_memory();
    return reads != 0;
}
