/* wb pull: downloads the files of a repository of a hub, or one file of another server. */
#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "options.h"
#include "out.h"
#include "remote.h"
#include "report.h"
#include "table.h"
#include "terminal.h"

static wb_pull_file file_at(const wb_pull *pull, uint64_t i)
{
    wb_pull_file file = WB_PULL_FILE_INIT;
    if (wb_pull_file_at(pull, i, &file, NULL) != WB_OK)
        file.path = file.digest = "";
    return file;
}

/* ---- the list of --dry-run ---- */

static bool file_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    wb_pull_file file = file_at(ctx, index);
    text_add_shown(&cells[0], file.path, strlen(file.path));
    text_add_size(&cells[1], file.bytes);
    text_adds(&cells[2], file.is_here ? "is here" : "would be fetched");
    return true;
}

static void show(const wb_pull *pull)
{
    out *o = out_stdout();
    table_print(o, &(table){.columns = 3,
                            .titles = {"file", "size", "state"},
                            .align = "lrl",
                            .rows = wb_pull_count(pull),
                            .row = file_row,
                            .ctx = (void *)(uintptr_t)pull});
}

/* ---- the answer ---- */

/* The files that were on the disk before the missing files were fetched. */
typedef struct before {
    bool *is_here;
    uint64_t bytes, missing;
} before;

static void look(const wb_pull *pull, before *b)
{
    uint64_t count = wb_pull_count(pull);
    b->is_here = need_memory(NULL, (size_t)count, sizeof *b->is_here);
    for (uint64_t i = 0; i < count; i++) {
        wb_pull_file file = file_at(pull, i);
        b->is_here[i] = file.is_here != 0;
        b->bytes += file.bytes;
        b->missing += file.is_here ? 0 : file.bytes;
    }
}

static void answer(const char *address, const wb_pull *pull, const before *b)
{
    wb_json json = out_json(out_stdout());
    json_answer(&json, "pull");
    json_text(&json, "address", address);
    json_text(&json, "path", wb_pull_path(pull));
    if (wb_pull_commit(pull)[0] != '\0')
        json_text(&json, "commit", wb_pull_commit(pull));
    json_number(&json, "bytes", b->bytes);
    json_number(&json, "fetched", b->missing);
    wb_json_key(&json, "files", SIZE_MAX);
    wb_json_begin(&json, '[');
    for (uint64_t i = 0; i < wb_pull_count(pull); i++) {
        wb_pull_file file = file_at(pull, i);
        wb_json_begin(&json, '{');
        json_text(&json, "path", file.path);
        json_number(&json, "bytes", file.bytes);
        if (file.digest[0] != '\0')
            json_text(&json, "digest", file.digest);
        wb_json_key(&json, "is_here", SIZE_MAX);
        wb_json_bool(&json, b->is_here[i]);
        wb_json_end(&json, '}');
    }
    wb_json_end(&json, ']');
    wb_json_end(&json, '}');
    out_json_end(&json);
}

static void print(const arguments *args, const wb_pull *pull, const before *b)
{
    if (args->given[OPTION_JSON])
        answer(args->operands[0], pull, b);
    else if (args->given[OPTION_DRY_RUN])
        show(pull);
    else
        out_printf(out_stdout(), "%s\n", wb_pull_path(pull));
}

/* ---- the command ---- */

static wb_status pull_files(const arguments *args, wb_net *net, wb_error *error)
{
    wb_pull *pull;
    before b = {0};
    wb_pull_options options = WB_PULL_OPTIONS_INIT;
    options.directory = args->value[OPTION_PULL_TO];
    options.sha256 = args->value[OPTION_SHA256];
    options.include = args->includes;
    options.include_count = args->include_count;
    options.exclude = args->excludes;
    options.exclude_count = args->exclude_count;
    if (args->given[OPTION_FORCE])
        options.flags |= WB_PULL_FORCE;
    if (args->given[OPTION_REPAIR])
        options.flags |= WB_PULL_REPAIR;
    wb_status status = wb_pull_open(net, args->operands[0], &options, &pull, error);
    if (status != WB_OK)
        return status;
    look(pull, &b);
    wb_progress progress = progress_of(args->operands[0]);
    if (!args->given[OPTION_DRY_RUN])
        status = wb_pull_run(pull, &progress, error);
    progress_clear();
    if (status == WB_OK)
        print(args, pull, &b);
    free(b.is_here);
    wb_pull_close(pull);
    return status;
}

int command_pull(const arguments *args)
{
    return remote_run(args, pull_files);
}
