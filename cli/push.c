/* wb push: sends files to a repository of a hub. */
#include <string.h>

#include "exit.h"
#include "messages.h"
#include "options.h"
#include "out.h"
#include "remote.h"
#include "report.h"
#include "table.h"
#include "terminal.h"

static wb_push_file file_at(const wb_push *push, uint64_t i)
{
    wb_push_file file = WB_PUSH_FILE_INIT;
    if (wb_push_file_at(push, i, &file, NULL) != WB_OK)
        file.path = file.local = "";
    return file;
}

/* ---- the list of --dry-run ---- */

static bool file_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    wb_push_file file = file_at(ctx, index);
    text_add_shown(&cells[0], file.path, strlen(file.path));
    text_add_size(&cells[1], file.bytes);
    text_adds(&cells[2], file.is_there ? "is there" : "would be sent");
    return true;
}

static void show(const wb_push *push)
{
    table_print(out_stdout(), &(table){.columns = 3,
                                       .titles = {"file", "size", "state"},
                                       .align = "lrl",
                                       .rows = wb_push_count(push),
                                       .row = file_row,
                                       .ctx = (void *)(uintptr_t)push});
}

/* ---- the answer ---- */

static bool is_sent(const wb_push_file *file)
{
    return !file->is_there && !file->is_ignored;
}

static void answer(const char *address, const wb_push *push)
{
    uint64_t bytes = 0;
    wb_json json = out_json(out_stdout());
    json_answer(&json, "push");
    json_text(&json, "address", address);
    json_text(&json, "commit", wb_push_commit(push));
    wb_json_key(&json, "files", SIZE_MAX);
    wb_json_begin(&json, '[');
    for (uint64_t i = 0; i < wb_push_count(push); i++) {
        wb_push_file file = file_at(push, i);
        bytes += is_sent(&file) ? file.bytes : 0;
        wb_json_begin(&json, '{');
        json_text(&json, "path", file.path);
        json_text(&json, "local", file.local);
        json_number(&json, "bytes", file.bytes);
        wb_json_key(&json, "is_there", SIZE_MAX);
        wb_json_bool(&json, file.is_there);
        wb_json_key(&json, "is_ignored", SIZE_MAX);
        wb_json_bool(&json, file.is_ignored);
        wb_json_end(&json, '}');
    }
    wb_json_end(&json, ']');
    json_number(&json, "sent", bytes);
    wb_json_end(&json, '}');
    out_json_end(&json);
}

static void print(const arguments *args, const wb_push *push)
{
    if (args->given[OPTION_JSON])
        answer(args->operands[0], push);
    else if (args->given[OPTION_DRY_RUN])
        show(push);
    else
        out_printf(out_stdout(), "%s\n", wb_push_commit(push));
}

/* ---- the command ---- */

static wb_status push_files(const arguments *args, wb_net *net, wb_error *error)
{
    wb_push *push;
    wb_push_options options = WB_PUSH_OPTIONS_INIT;
    options.message = args->value[OPTION_MESSAGE];
    options.revision = args->value[OPTION_REVISION];
    wb_status status = wb_push_open(net, args->operands[0], (const char *const *)args->operands + 1,
                                    args->count - 1, &options, &push, error);
    if (status != WB_OK)
        return status;
    wb_progress progress = progress_of(args->operands[0]);
    if (!args->given[OPTION_DRY_RUN])
        status = wb_push_run(push, &progress, error);
    progress_clear();
    if (status == WB_OK)
        print(args, push);
    wb_push_close(push);
    return status;
}

int command_push(const arguments *args)
{
    return remote_run(args, push_files);
}
