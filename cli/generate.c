/* wb --generate KIND DIR: generates man pages and completion files when weighbridge is built. Other
 * kinds, used by shell completion, list names (generate_names.c).
 */
#include "generate.h"

#include <string.h>

#include "exit.h"
#include "messages.h"
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
    return generate_names(kind, path);
}
