/*
 * wb edit, wb realign: the header of a file, changed.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "convert.h"
#include "edit.h"
#include "exit.h"
#include "options.h"
#include "paths.h"
#include "report.h"

typedef struct edit_job {
    const arguments *args;
    const char *path;
    wb_model *model; /* as it is, for types and names; NULL: it cannot be opened as a whole */
    wb_edit *edits;
    wb_value *values;
    text *texts; /* that the edits point into */
    size_t count;
} edit_job;

/* ---- values ---- */

static const struct type_row {
    const char *name;
    wb_meta_type type;
    uint32_t bits;
} types[] = {
    {"u8", WB_META_UINT, 8},    {"i8", WB_META_INT, 8},    {"u16", WB_META_UINT, 16},
    {"i16", WB_META_INT, 16},   {"u32", WB_META_UINT, 32}, {"i32", WB_META_INT, 32},
    {"u64", WB_META_UINT, 64},  {"i64", WB_META_INT, 64},  {"f32", WB_META_FLOAT, 32},
    {"f64", WB_META_FLOAT, 64}, {"bool", WB_META_BOOL, 0}, {"str", WB_META_STRING, 0},
};

static bool fits(uint64_t magnitude, bool negative, const wb_value *value)
{
    uint32_t bits = value->bits == 0 ? 64 : value->bits;
    uint64_t most =
        value->type == WB_META_INT ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    if (value->type == WB_META_UINT)
        return !negative && magnitude <= most;
    return magnitude <= most + (negative ? 1 : 0);
}

/* False if the text is no value of that type. */
static bool parse_as(const char *typed, wb_value *value)
{
    char *end;
    errno = 0;
    switch (value->type) {
    case WB_META_STRING:
        value->text = typed;
        value->text_len = strlen(typed);
        return true;
    case WB_META_BOOL:
        value->number = strcmp(typed, "true") == 0;
        return value->number == 1 || strcmp(typed, "false") == 0;
    case WB_META_FLOAT:
        value->real = strtod(typed, &end);
        return end != typed && *end == '\0' && (errno == 0 || fabs(value->real) < 1);
    case WB_META_INT:
    case WB_META_UINT: {
        bool negative = typed[0] == '-';
        if (typed[negative] < '0' || typed[negative] > '9')
            return false;
        unsigned long long magnitude = strtoull(typed + negative, &end, 10);
        value->number = negative ? 0 - (uint64_t)magnitude : magnitude;
        return *end == '\0' && errno == 0 && fits(magnitude, negative, value);
    }
    default: return false;
    }
}

/* The type of a new key, by the look of the value. */
static void guess(const char *typed, wb_value *value)
{
    static const size_t order[] = {10, 4, 5, 6, 7, 8, 11}; /* bool u32 i32 u64 i64 f32 str */
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        value->type = types[order[i]].type;
        value->bits = types[order[i]].bits;
        if (parse_as(typed, value))
            return;
    }
}

static int fail_value(const char *key, const char *typed)
{
    text line = {0};
    text_add_shown(&line, typed, strlen(typed));
    text_adds(&line, "' is no value for ");
    text_add_shown(&line, key, strlen(key));
    int code = report_usage("'%.600s", line.ptr);
    text_free(&line);
    return code;
}

static int read_value(const edit_job *job, const char *key, const char *typed, wb_value *value)
{
    uint64_t index;
    wb_meta meta = {.size = sizeof meta};
    *value = (wb_value){.size = sizeof *value};
    if (job->model == NULL || strcmp(wb_format(job->model), "gguf") != 0) {
        value->type = WB_META_STRING;
        return parse_as(typed, value) ? 0 : fail_value(key, typed);
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t n = strlen(types[i].name);
        if (strncmp(typed, types[i].name, n) == 0 && typed[n] == ':') {
            value->type = types[i].type;
            value->bits = types[i].bits;
            return parse_as(typed + n + 1, value) ? 0 : fail_value(key, typed);
        }
    }
    if (wb_meta_find(job->model, key, SIZE_MAX, &index) != WB_OK ||
        wb_meta_at(job->model, index, &meta, NULL) != WB_OK || meta.file == WB_NO_FILE) {
        guess(typed, value);
        return 0;
    }
    value->type = meta.type;
    value->bits = meta.type == WB_META_BOOL ? 0 : meta.bits;
    if (meta.type == WB_META_ARRAY)
        return report_usage("%.200s is an array, which cannot be set from the command line", key);
    return parse_as(typed, value) ? 0 : fail_value(key, typed);
}

/* ---- edits ---- */

int edit_read_text(const char *path, text *to)
{
    char chunk[16384];
    size_t n;
    FILE *file = path == NULL ? NULL : fopen(path, "rb");
    if (file == NULL) {
        report_line("%s: %s", path, strerror(errno));
        return EXIT_IO;
    }
    text_adds(to, "");
    do {
        n = fread(chunk, 1, sizeof chunk, file);
        text_add(to, chunk, n);
    } while (n == sizeof chunk);
    bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed)
        report_line("%s: cannot read the file", path);
    return failed ? EXIT_IO : 0;
}

/* Cuts "a=b" in two; what is behind the sign, or NULL. */
static const char *cut(const char *word, text *front)
{
    const char *sign = strchr(word, '=');
    text_adds(front, "");
    text_add(front, word, sign == NULL ? strlen(word) : (size_t)(sign - word));
    return sign == NULL ? NULL : sign + 1;
}

static int add_edit(edit_job *job, option_id option, const char *word)
{
    size_t i = job->count++;
    wb_edit *edit = &job->edits[i];
    text *name = &job->texts[2 * i], *more = &job->texts[2 * i + 1];
    bool whole = option == OPTION_DELETE || option == OPTION_DROP;
    *edit = (wb_edit){.size = sizeof *edit, .name = word, .name_len = strlen(word)};
    if (whole) {
        edit->kind = option == OPTION_DROP ? WB_EDIT_DROP : WB_EDIT_DELETE;
        return 0;
    }
    const char *behind = cut(word, name);
    if (behind == NULL)
        return report_usage("--%s takes two words with '=' between them",
                            option_table[option].name);
    edit->name = name->ptr;
    edit->name_len = name->len;
    if (option == OPTION_RENAME) {
        uint64_t index;
        bool is_key = job->model != NULL &&
                      wb_meta_find(job->model, name->ptr, name->len, &index) == WB_OK &&
                      wb_tensor_find(job->model, name->ptr, name->len, &index) != WB_OK;
        edit->kind = is_key ? WB_EDIT_RENAME_KEY : WB_EDIT_RENAME;
        edit->to = behind;
        edit->to_len = strlen(behind);
        return 0;
    }
    edit->kind = WB_EDIT_SET;
    edit->value = &job->values[i];
    if (option == OPTION_SET)
        return read_value(job, name->ptr, behind, &job->values[i]);
    int code = edit_read_text(behind, more);
    job->values[i] =
        (wb_value){.size = sizeof(wb_value), .type = WB_META_STRING, .text = more->ptr};
    job->values[i].text_len = more->len;
    return code;
}

/* ---- answers ---- */

static void answer(const arguments *args, const char *path, const wb_edited *edited)
{
    static const char *const ways[] = {"nothing", "header", "insert", "new file"};
    static const char *const dry[] = {"nothing to do", "the header would be written over",
                                      "room would be made in front of the data",
                                      "a new file would take its place"};
    static const char *const done[] = {"nothing to do", "the header was written over",
                                       "room was made in front of the data",
                                       "a new file has taken its place"};
    if (args->given[OPTION_JSON]) {
        wb_json json = out_json(out_stdout());
        wb_json_begin(&json, '{');
        json_text(&json, "path", path);
        json_text(&json, "way", ways[edited->way]);
        json_number(&json, "header_bytes", edited->header_bytes);
        json_number(&json, "inserted", edited->inserted);
        json_number(&json, "bytes", edited->bytes);
        wb_json_end(&json, '}');
        out_json_end(&json);
        return;
    }
    if (!args->given[OPTION_DRY_RUN])
        return;
    text line = {0};
    text_add_shown(&line, path, strlen(path));
    text_addf(&line, ": %s", (args->given[OPTION_DRY_RUN] ? dry : done)[edited->way]);
    if (edited->way != WB_EDIT_NOTHING) {
        text_adds(&line, ", ");
        text_add_size(&line, edited->header_bytes);
        text_adds(&line, " of header");
    }
    text_adds(&line, "\n");
    out_text(out_stdout(), &line);
    text_free(&line);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int run(const arguments *args, const char *path, const wb_edit *edits, size_t count,
               const wb_edit_options *options)
{
    wb_error error;
    wb_edited edited = {.size = sizeof edited};
    wb_status status = wb_edit_file(path, edits, count, options, &edited, &error);
    if (status != WB_OK) {
        report_error(path, &error);
        return status == WB_ERROR_NOT_FOUND && error.name[0] != '\0' ? EXIT_USAGE
                                                                     : exit_code_of(status);
    }
    answer(args, path, &edited);
    return EXIT_CLEAN;
}

static int edit_file(edit_job *job)
{
    const arguments *args = job->args;
    wb_error error;
    int undone, code = 0;
    wb_open_options open = {.size = sizeof open, .access = WB_ACCESS_READ};
    const wb_edit_options options = {.size = sizeof options,
                                     .flags =
                                         (args->given[OPTION_DRY_RUN] ? WB_EDIT_DRY_RUN : 0) |
                                         (args->given[OPTION_IN_PLACE] ? WB_EDIT_IN_PLACE : 0)};
    /* First of all, since a file that is half done may not open. */
    wb_status status =
        args->given[OPTION_DRY_RUN] ? WB_OK : wb_edit_recover(job->path, &undone, &error);
    if (status != WB_OK) {
        report_error(job->path, &error);
        return exit_code_of(status);
    }
    status = wb_open(job->path, &open, &job->model, &error);
    if (status != WB_OK) {
        report_error(job->path, &error);
        return exit_code_of_opening(status);
    }
    for (size_t i = 0; i < args->edit_count && code == 0; i++)
        code = add_edit(job, args->edits[i].option, args->edits[i].value);
    return code != 0 ? code : run(args, job->path, job->edits, job->count, &options);
}

int command_edit(const arguments *args)
{
    edit_job job = {.args = args, .path = args->operands[0]};
    if (is_folder(job.path))
        return edit_config(args, job.path);
    job.edits = need_memory(NULL, args->edit_count + 1, sizeof *job.edits);
    job.values = need_memory(NULL, args->edit_count + 1, sizeof *job.values);
    job.texts = need_memory(NULL, 2 * args->edit_count + 1, sizeof *job.texts);
    memset(job.texts, 0, (2 * args->edit_count + 1) * sizeof *job.texts);
    int code = edit_file(&job);
    for (size_t i = 0; i < 2 * args->edit_count; i++)
        text_free(&job.texts[i]);
    wb_close(job.model);
    free(job.edits);
    free(job.values);
    free(job.texts);
    return code;
}

int command_realign(const arguments *args)
{
    wb_edit_options options = {.size = sizeof options,
                               .flags =
                                   (args->given[OPTION_DRY_RUN] ? WB_EDIT_DRY_RUN : 0) |
                                   (args->given[OPTION_ALIGN_TENSORS] ? WB_EDIT_ALIGN_TENSORS : 0)};
    const char *typed = args->value[OPTION_ALIGNMENT];
    if (typed == NULL)
        return report_usage("--alignment is missing");
    int code = convert_size_of(OPTION_ALIGNMENT, typed, &options.alignment);
    return code != 0 ? code : run(args, args->operands[0], NULL, 0, &options);
}
