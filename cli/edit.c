/* wb edit and wb realign: modify the header of a file. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "convert.h"
#include "edit.h"
#include "exit.h"
#include "messages.h"
#include "options.h"
#include "paths.h"
#include "report.h"
#include "suggest.h"
#include "terminal.h"

typedef struct edit_job {
    const arguments *args;
    const char *path;
    wb_model *model; /* the model before the edits; a new value of a GGUF key gets the type that
                      * the key has here; NULL until the model is open */
    wb_edit *edits;
    edit_value *values;
    text *names; /* strings that the edits point into */
    size_t count;
} edit_job;

/* ---- edits ---- */

/* Splits "a=b": adds "a" to `front` and returns a pointer to "b", or NULL if there is no '='. */
static const char *cut(const char *word, text *front)
{
    const char *sign = strchr(word, '=');
    text_adds(front, "");
    text_add(front, word, sign == NULL ? strlen(word) : (size_t)(sign - word));
    return sign == NULL ? NULL : sign + 1;
}

/* Returns true if a preceding edit created a key with this name. */
static bool was_made(const edit_job *job, const text *name)
{
    for (size_t i = 0; i + 1 < job->count; i++) {
        const wb_edit *edit = &job->edits[i];
        bool renamed = edit->kind == WB_EDIT_RENAME_KEY;
        const char *made = renamed ? edit->to : edit->name;
        size_t n = renamed ? edit->to_len : edit->name_len;
        if ((renamed || edit->kind == WB_EDIT_SET) && n == name->len &&
            memcmp(made, name->ptr, n) == 0)
            return true;
    }
    return false;
}

/* Refuses or ignores the deletion of a key that does not exist. */
static int add_missing(edit_job *job, const char *key)
{
    if (job->args->given[OPTION_IGNORE_MISSING])
        return 0;
    text line = {0};
    text_adds(&line, "no metadata has the key \"");
    text_add_shown(&line, key, strlen(key));
    text_adds(&line, "\"");
    text_add_key_meant(&line, job->model, key, strlen(key));
    int code = report_path(EXIT_USAGE, job->path, MSG_KEY_MISSING, line.ptr);
    text_free(&line);
    return code;
}

static int add_edit(edit_job *job, option_id option, const char *word)
{
    const edit_state before = {job->model, job->edits, job->count};
    if (option == OPTION_DELETE && !edit_key_exists(&before, word, strlen(word)))
        return add_missing(job, word);
    size_t i = job->count++;
    wb_edit *edit = &job->edits[i];
    text *name = &job->names[i];
    bool whole = option == OPTION_DELETE || option == OPTION_DROP;
    *edit = (wb_edit){.size = sizeof *edit, .name = word, .name_len = strlen(word)};
    if (whole) {
        edit->kind = option == OPTION_DROP ? WB_EDIT_DROP : WB_EDIT_DELETE;
        return 0;
    }
    const char *behind = cut(word, name);
    if (behind == NULL)
        return report_usage(MSG_OPTION_NEEDS_PAIR, option_table[option].name);
    edit->name = name->ptr;
    edit->name_len = name->len;
    if (option == OPTION_RENAME) {
        uint64_t index;
        bool is_key = job->model != NULL &&
                      (was_made(job, name) ||
                       wb_meta_find(job->model, name->ptr, name->len, &index) == WB_OK) &&
                      wb_tensor_find(job->model, name->ptr, name->len, &index) != WB_OK;
        edit->kind = is_key ? WB_EDIT_RENAME_KEY : WB_EDIT_RENAME;
        edit->to = behind;
        edit->to_len = strlen(behind);
        return 0;
    }
    edit->kind = WB_EDIT_SET;
    edit->value = &job->values[i].value;
    return option == OPTION_SET ? edit_read_value(&before, name->ptr, behind, &job->values[i])
                                : edit_read_file_value(&before, name->ptr, behind, &job->values[i]);
}

/* ---- results ---- */

void edit_warn_links(const char *path, const wb_edited *edited)
{
    unsigned long long n = edited->links;
    if (n == 0 || edited->way == WB_EDIT_NOTHING)
        return;
    if (edited->way == WB_EDIT_NEW_FILE)
        (void)report_path(0, path, MSG_LINKS_KEPT, n);
    else
        (void)report_path(0, path, MSG_LINKS_CHANGED, n);
}

/* Prints what the command would do without --dry-run. */
static void answer_dry(const char *path, const wb_edited *edited)
{
    static const char *const ways[] = {"nothing to do", "the header would be overwritten in place",
                                       "blocks would be inserted before the tensor data",
                                       "a new file would replace it"};
    text line = {0};
    text_add_shown(&line, path, strlen(path));
    text_addf(&line, ": %s", ways[edited->way]);
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

/* Returns true if the edit copies only a part of the data. Such an edit is not cancelled by an
 * interrupt, because completing it takes no longer than undoing it.
 */
static bool is_short(const wb_edit *edits, size_t count, const wb_edit_options *options)
{
    bool drops = false;
    for (size_t i = 0; i < count; i++)
        drops = drops || edits[i].kind == WB_EDIT_DROP;
    return !drops && options->alignment == 0;
}

static int run(const arguments *args, const char *path, const wb_edit *edits, size_t count,
               edit_changes *changes, const wb_edit_options *options)
{
    wb_error error;
    wb_edited edited = WB_EDITED_INIT;
    interrupt_defer(is_short(edits, count, options));
    wb_status status = wb_edit_file(path, edits, count, options, &edited, &error);
    interrupt_defer(false);
    if (status != WB_OK) {
        report_error(path, &error);
        return status == WB_ERROR_NOT_FOUND && error.name[0] != '\0' ? EXIT_USAGE
                                                                     : exit_code_of(status);
    }
    edit_warn_links(path, &edited);
    if (args->given[OPTION_JSON])
        edit_answer_json(path, &edited, changes);
    else if (edited.way != WB_EDIT_NOTHING)
        edit_print_changes(path, changes);
    if (args->given[OPTION_DRY_RUN] && !args->given[OPTION_JSON])
        answer_dry(path, &edited);
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
    /* Undo an interrupted edit first, because a half-edited file may be invalid. */
    interrupt_defer(true);
    wb_status status =
        args->given[OPTION_DRY_RUN] ? WB_OK : wb_edit_recover(job->path, &undone, &error);
    interrupt_defer(false);
    if (status != WB_OK) {
        report_error(job->path, &error);
        return exit_code_of(status);
    }
    if (interrupted())
        return EXIT_INTERRUPTED;
    status = wb_open(job->path, &open, &job->model, &error);
    if (status != WB_OK) {
        report_error(job->path, &error);
        return exit_code_of_opening(status);
    }
    for (size_t i = 0; i < args->edit_count && code == 0; i++)
        code = add_edit(job, args->edits[i].option, args->edits[i].value);
    edit_changes changes;
    edit_changes_open(&changes, args->given[OPTION_JSON]);
    for (size_t i = 0; i < job->count && code == 0; i++) {
        const edit_state before = {job->model, job->edits, i};
        edit_changes_add(&changes, &before, &job->edits[i]);
    }
    if (code == 0)
        code = run(args, job->path, job->edits, job->count, &changes, &options);
    edit_changes_close(&changes);
    return code;
}

int command_edit(const arguments *args)
{
    edit_job job = {.args = args, .path = args->operands[0]};
    if (is_folder(job.path))
        return edit_config(args, job.path);
    job.edits = need_memory(NULL, args->edit_count + 1, sizeof *job.edits);
    job.values = need_memory(NULL, args->edit_count + 1, sizeof *job.values);
    job.names = need_memory(NULL, args->edit_count + 1, sizeof *job.names);
    memset(job.values, 0, (args->edit_count + 1) * sizeof *job.values);
    memset(job.names, 0, (args->edit_count + 1) * sizeof *job.names);
    int code = edit_file(&job);
    for (size_t i = 0; i < args->edit_count; i++) {
        text_free(&job.names[i]);
        edit_value_free(&job.values[i]);
    }
    wb_close(job.model);
    free(job.edits);
    free(job.values);
    free(job.names);
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
        return report_usage(MSG_ALIGNMENT_MISSING);
    int code = convert_size_of(OPTION_ALIGNMENT, typed, &options.alignment);
    edit_changes none;
    edit_changes_open(&none, args->given[OPTION_JSON]);
    if (code == 0)
        code = run(args, args->operands[0], NULL, 0, &none, &options);
    edit_changes_close(&none);
    return code;
}
