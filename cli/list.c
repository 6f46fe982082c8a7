/* wb list: lists the models in an Ollama store. */
#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "options.h"
#include "out.h"
#include "report.h"
#include "table.h"

typedef struct row {
    char *name;
    uint64_t bytes, layers;
} row;

typedef struct listing {
    bool is_json;
    row *rows; /* stored, because the table reads each row twice (to measure and to print) */
    size_t count, capacity;
    text damaged; /* findings, printed after the table */
    bool has_damaged;
} listing;

static char *copy(const char *string)
{
    size_t n = strlen(string) + 1;
    return memcpy(need_memory(NULL, n, 1), string, n);
}

static void answer(const wb_store_entry *entry)
{
    wb_json json = out_json(out_stdout());
    json_answer(&json, "list");
    json_text(&json, "name", entry->name);
    json_text(&json, "path", entry->path);
    json_number(&json, "bytes", entry->bytes);
    json_number(&json, "layers", entry->layers);
    json_number(&json, "tensors", entry->tensors);
    wb_json_key(&json, "error", SIZE_MAX);
    if (entry->error == NULL) {
        wb_json_null(&json);
    } else {
        wb_finding finding = finding_of(entry->error);
        json_finding(&json, &finding);
    }
    wb_json_end(&json, '}');
    out_json_end(&json);
}

static int take(void *ctx, const wb_store_entry *entry)
{
    listing *l = ctx;
    l->has_damaged |= entry->error != NULL;
    if (l->is_json) {
        answer(entry);
    } else if (entry->error != NULL) {
        wb_finding finding = finding_of(entry->error);
        text_add_finding_line(&l->damaged, entry->path, &finding);
    } else {
        if (l->count == l->capacity) {
            l->capacity = l->capacity * 2 + 16;
            l->rows = need_memory(l->rows, l->capacity, sizeof *l->rows);
        }
        l->rows[l->count++] = (row){copy(entry->name), entry->bytes, entry->layers};
    }
    return out_closed(out_stdout());
}

static bool list_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const listing *l = ctx;
    const row *r = &l->rows[index];
    text_add_shown(&cells[0], r->name, strlen(r->name));
    text_add_size(&cells[1], r->bytes);
    text_add_count(&cells[2], r->layers);
    return true;
}

static void show(listing *l)
{
    out *o = out_stdout();
    table_print(o, &(table){.columns = 3,
                            .titles = {"name", "size", "layers"},
                            .align = "lrr",
                            .rows = l->count,
                            .row = list_row,
                            .ctx = l});
    if (l->count > 0 && l->damaged.len > 0)
        out_puts(o, "\n");
    if (l->damaged.len > 0)
        out_text(o, &l->damaged);
    for (size_t i = 0; i < l->count; i++)
        free(l->rows[i].name);
    free(l->rows);
    text_free(&l->damaged);
}

int command_list(const arguments *args)
{
    listing l = {.is_json = args->given[OPTION_JSON]};
    wb_open_options options;
    wb_limits limits;
    wb_error error;
    int code = open_options_of(args, &options, &limits);
    if (code != 0)
        return code;
    wb_status status = wb_store_list(options.store, &options, take, &l, &error);
    show(&l);
    if (status == WB_OK)
        return l.has_damaged ? EXIT_FINDINGS : EXIT_CLEAN;
    if (status == WB_ERROR_CANCELLED) /* the reader closed the output pipe */
        return EXIT_CLEAN;
    report_error(options.store == NULL ? "the store" : options.store, &error);
    return exit_code_of(status);
}
