/* wb convert: existing files that the output replaces. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert.h"
#include "messages.h"
#include "report.h"

void print_replaced(next_path *next, const void *of)
{
    const char *path;
    text line = {0};
    for (uint64_t i = 0; (path = next(of, i)) != NULL; i++) {
        text_adds(&line, "replaces ");
        text_add_shown(&line, path, strlen(path));
        text_adds(&line, "\n");
    }
    if (line.len > 0)
        out_text(out_stdout(), &line);
    text_free(&line);
}

void json_replaced(wb_json *json, next_path *next, const void *of)
{
    const char *path;
    wb_json_key(json, "replaces", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; (path = next(of, i)) != NULL; i++)
        wb_json_string(json, path, SIZE_MAX);
    wb_json_end(json, ']');
}

/* Reads a line from the terminal. Returns true if it is "y", "Y" or "yes". */
static bool read_yes(void)
{
    char line[16];
    if (fgets(line, sizeof line, stdin) == NULL)
        return false;
    line[strcspn(line, "\r\n")] = '\0';
    return strcmp(line, "y") == 0 || strcmp(line, "Y") == 0 || strcmp(line, "yes") == 0;
}

bool replace_agreed(const convert_job *job, const wb_error *error)
{
    if (!job->args->given[OPTION_INTERACTIVE] || job->replaces ||
        strcmp(error->code, "output-exists") != 0 || !isatty(STDIN_FILENO) ||
        !isatty(STDERR_FILENO))
        return false;
    report_question(error->file[0] == '\0' ? job->out : error->file, MSG_REPLACE_QUESTION,
                    error->message);
    return read_yes();
}
