/* wb convert: partial results, which an interrupted conversion leaves and the next run continues.
 */
#include <string.h>

#include "convert.h"
#include "exit.h"
#include "messages.h"
#include "report.h"

static wb_status find(const convert_job *job, bool discards, wb_partial *partial, wb_error *error)
{
    return wb_convert_partial(convert_target(job->to), job->out, job->args->value[OPTION_STORE],
                              discards, partial, error);
}

/* Adds "PATH (1.2 MiB)". */
static void add_partial(text *t, const wb_partial *partial)
{
    text_adds(t, partial->path); /* already printable */
    text_adds(t, " (");
    text_add_size(t, partial->bytes);
    text_adds(t, ")");
}

/* Adds a word as it must be typed in a shell. */
static void add_quoted(text *t, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+:=@%,";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        text_adds(t, word);
        return;
    }
    text_adds(t, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            text_adds(t, "'\\'");
        text_add_shown(t, word, 1);
    }
    text_adds(t, "'");
}

void partial_tell(const convert_job *job)
{
    const char *store = job->args->value[OPTION_STORE];
    wb_partial partial = WB_PARTIAL_INIT;
    text line = {0}, command = {0};
    if (job->out_is_stream || find(job, false, &partial, NULL) != WB_OK || partial.bytes == 0)
        return;
    add_partial(&line, &partial);
    add_quoted(&command, job->out);
    if (job->args->value[OPTION_TO] != NULL)
        text_addf(&command, " --to %s", job->to);
    if (store != NULL) {
        text_adds(&command, " --store ");
        add_quoted(&command, store);
    }
    report_note(MSG_PARTIAL_KEPT, line.ptr, command.ptr);
    text_free(&line);
    text_free(&command);
}

static void answer_json(const convert_job *job, const wb_partial *partial)
{
    wb_json json = out_json(out_stdout());
    json_answer(&json, "partial");
    json_text(&json, "path", job->out);
    json_optional(&json, "partial", partial->path);
    json_number(&json, "files", partial->files);
    json_number(&json, "bytes", partial->bytes);
    wb_json_key(&json, "removed", SIZE_MAX);
    wb_json_bool(&json, !job->args->given[OPTION_DRY_RUN] && partial->files > 0);
    wb_json_end(&json, '}');
    out_json_end(&json);
}

static void answer(const convert_job *job, const wb_partial *partial)
{
    text line = {0};
    if (partial->files == 0) {
        text_adds(&line, "no partial result of ");
        text_add_shown(&line, job->out, strlen(job->out));
    } else {
        text_adds(&line, job->args->given[OPTION_DRY_RUN] ? "would remove " : "removed ");
        add_partial(&line, partial);
    }
    text_adds(&line, "\n");
    out_text(out_stdout(), &line);
    text_free(&line);
}

int partial_discard(const convert_job *job)
{
    wb_error error;
    wb_partial partial = WB_PARTIAL_INIT;
    wb_status status = find(job, !job->args->given[OPTION_DRY_RUN], &partial, &error);
    if (status != WB_OK) {
        report_error(job->out, &error);
        return exit_code_of(status);
    }
    if (job->args->given[OPTION_JSON])
        answer_json(job, &partial);
    else
        answer(job, &partial);
    return EXIT_CLEAN;
}
