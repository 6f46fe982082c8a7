/* wb --generate tensors|keys|edit-keys|quants PATH: lists the names that shell completion offers.
 * Names that any shell would require to be quoted are omitted.
 */
#include <string.h>
#include <sys/stat.h>

#include "edit.h"
#include "exit.h"
#include "generate.h"
#include "metadata.h"
#include "paths.h"
#include "report.h"

/* Returns true if the name consists of characters that no shell requires to be quoted. */
static bool is_plain(const char *name, size_t n)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+:";
    for (size_t i = 0; i < n; i++) {
        if (name[i] == '\0' || strchr(plain, name[i]) == NULL)
            return false;
    }
    return n > 0 && name[0] != '-';
}

static void print_name(const char *name, size_t n)
{
    if (!is_plain(name, n))
        return;
    out_write(out_stdout(), name, n);
    out_puts(out_stdout(), "\n");
}

static wb_status list_tensors(const wb_model *model, wb_error *error)
{
    const char *names;
    const uint64_t *offsets;
    wb_status status = wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, error);
    for (uint64_t i = 0; status == WB_OK && i < wb_tensor_count(model); i++)
        print_name(names + offsets[i], (size_t)(offsets[i + 1] - offsets[i] - 1));
    return status;
}

/* Lists the metadata keys. Only the keys of the files can be edited. */
static wb_status list_keys(const wb_model *model, bool is_edit)
{
    uint64_t count = is_edit ? metadata_of_files(model) : wb_meta_count(model);
    for (uint64_t i = 0; i < count; i++) {
        wb_meta meta = WB_META_INIT;
        if (wb_meta_at(model, i, &meta, NULL) == WB_OK)
            print_name(meta.key, meta.key_len);
    }
    return WB_OK;
}

/* ---- config.json ---- */

#define DEEPEST 8 /* members of deeper objects are not listed */

typedef struct walker {
    text path;            /* names of the enclosing objects and of the member, joined by dots */
    size_t size[DEEPEST]; /* length of the path of the object at each depth */
    size_t depth;         /* number of open objects whose members are listed */
    size_t arrays; /* number of other open brackets: arrays, objects in arrays, deeper objects */
} walker;

static int visit(void *ctx, const wb_json_item *item)
{
    walker *w = ctx;
    bool opens = item->kind == WB_JSON_OBJECT || item->kind == WB_JSON_ARRAY;
    bool closes = item->kind == WB_JSON_OBJECT_END || item->kind == WB_JSON_ARRAY_END;
    if (opens) {
        w->arrays += item->kind == WB_JSON_ARRAY || w->arrays > 0 || w->depth == DEEPEST;
        if (w->arrays == 0)
            w->size[w->depth++] = w->path.len;
    } else if (closes && w->arrays > 0) {
        w->arrays--;
    } else if (closes) {
        w->depth--;
    } else if (item->kind == WB_JSON_KEY && w->arrays == 0) {
        w->path.len = w->size[w->depth - 1];
        text_adds(&w->path, w->path.len > 0 ? "." : "");
        text_add(&w->path, item->text, item->len);
        print_name(w->path.ptr, w->path.len);
    }
    return 0;
}

/* Lists the members of config.json, which wb edit changes in a folder. */
static int list_config(const char *folder)
{
    text path = {0}, config = {0};
    walker w = {.depth = 0};
    wb_error error;
    text_addf(&path, "%s/config.json", folder);
    int code = edit_read_config(path.ptr, &config);
    if (code == EXIT_CLEAN && wb_json_walk(config.ptr, config.len, visit, &w, &error) != WB_OK) {
        report_error(path.ptr, &error);
        code = EXIT_BAD_INPUT;
    }
    text_free(&w.path);
    text_free(&config);
    text_free(&path);
    return code;
}

int generate_names(const char *kind, const char *path)
{
    struct stat st;
    wb_model *model;
    wb_error error;
    wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    bool is_edit = strcmp(kind, "edit-keys") == 0;
    const char *quant;
    for (size_t i = 0; strcmp(kind, "quants") == 0; i++) {
        if ((quant = wb_quant_name(i)) == NULL)
            return EXIT_CLEAN;
        print_name(quant, strlen(quant));
    }
    if (is_edit && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return list_config(path);
    wb_status status = open_path(path, &options, &model, &error);
    if (status == WB_OK)
        status =
            strcmp(kind, "tensors") == 0 ? list_tensors(model, &error) : list_keys(model, is_edit);
    if (status != WB_OK)
        report_error(path, &error);
    wb_close(model);
    return status == WB_OK ? EXIT_CLEAN : exit_code_of_opening(status);
}

const char *generate_kind_of(option_id option, bool *is_pair)
{
    *is_pair = option == OPTION_SET || option == OPTION_SET_FILE || option == OPTION_RENAME;
    switch (option) {
    case OPTION_QUANT: return "quants";
    case OPTION_METADATA: return "keys";
    case OPTION_SET:
    case OPTION_SET_FILE:
    case OPTION_DELETE: return "edit-keys";
    case OPTION_RENAME:
    case OPTION_DROP: return "tensors";
    default: return NULL;
    }
}
