/* wb --generate KIND DIR: generates man pages and completion files when weighbridge is built. KIND
 * `tensors`, used by shell completion, lists the tensor names of a model that need no quoting in
 * any shell.
 */
#include "generate.h"

#include <string.h>

#include "exit.h"
#include "messages.h"
#include "paths.h"
#include "report.h"

static int write_file(const char *folder, const char *name, void (*generate)(out *o))
{
    text path = {0};
    text_addf(&path, "%s/%s", folder, name);
    out *o = out_file(path.ptr);
    int code = EXIT_IO;
    if (o != NULL) {
        generate(o);
        code = out_commit(o, EXIT_CLEAN);
    }
    text_free(&path);
    return code;
}

static int write_man(const char *folder)
{
    int code = EXIT_CLEAN;
    text path = {0};
    for (int i = 0; i <= COMMAND_COUNT && code == EXIT_CLEAN; i++) {
        if (i == COMMAND_HELP)
            continue;
        text_clear(&path);
        text_addf(&path, "%s/wb%s%s.1", folder, i == COMMAND_COUNT ? "" : "-",
                  i == COMMAND_COUNT ? "" : command_table[i].name);
        out *o = out_file(path.ptr);
        if (o == NULL) {
            code = EXIT_IO;
            break;
        }
        generate_man(o, (command_id)i);
        code = out_commit(o, EXIT_CLEAN);
    }
    text_free(&path);
    return code;
}

/* Returns true if the name consists of characters that no shell requires to be quoted. */
static bool is_plain(const char *name, size_t n)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+";
    for (size_t i = 0; i < n; i++) {
        if (name[i] == '\0' || strchr(plain, name[i]) == NULL)
            return false;
    }
    return n > 0 && name[0] != '-';
}

static int list_tensors(const char *path)
{
    wb_model *model;
    const char *names;
    const uint64_t *offsets;
    wb_error error;
    wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    wb_status status = open_path(path, &options, &model, &error);
    if (status == WB_OK)
        status = wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, &error);
    if (status != WB_OK) {
        report_error(path, &error);
        wb_close(model);
        return exit_code_of_opening(status);
    }
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        size_t n = (size_t)(offsets[i + 1] - offsets[i] - 1);
        if (is_plain(names + offsets[i], n)) {
            out_write(out_stdout(), names + offsets[i], n);
            out_puts(out_stdout(), "\n");
        }
    }
    wb_close(model);
    return EXIT_CLEAN;
}

int command_generate(const arguments *args)
{
    const char *kind = args->value[OPTION_GENERATE];
    if (args->count != 1)
        return report_usage(MSG_GENERATE_NEEDS_PATH, kind);
    const char *path = args->operands[0];
    if (strcmp(kind, "man") == 0)
        return write_man(path);
    if (strcmp(kind, "bash") == 0)
        return write_file(path, "wb.bash", generate_bash);
    if (strcmp(kind, "zsh") == 0)
        return write_file(path, "_wb", generate_zsh);
    if (strcmp(kind, "fish") == 0)
        return write_file(path, "wb.fish", generate_fish);
    return list_tensors(path);
}
