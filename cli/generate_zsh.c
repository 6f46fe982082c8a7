/* Generates zsh completion; see zshcompsys(1). */
#include <string.h>

#include "generate.h"

/* Writes text for a single-quoted completion specification. */
static void put(out *o, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\'')
            out_puts(o, "'\\''");
        else if (strchr(":[]\\", s[i]) != NULL)
            out_printf(o, "\\%c", s[i]);
        else
            out_write(o, s + i, 1);
    }
}

static void put_option(out *o, option_id option, command_id command)
{
    const option_row *row = &option_table[option];
    const char *help = option_help(option, command);
    out_puts(o, "                ");
    if (row->letter != 0)
        out_printf(o, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
                   option_needs_argument(row) ? "+" : "", row->name,
                   option_needs_argument(row) ? "=" : "");
    else
        out_printf(o, "'--%s%s[", row->name,
                   option_needs_argument(row) ? "="
                   : row->argument != NULL    ? "=-"
                                              : "");
    put(o, help, strlen(help));
    out_puts(o, "]");
    bool is_pair;
    const char *kind = generate_kind_of(option, &is_pair);
    if (row->argument != NULL && (option_needs_argument(row) || kind != NULL)) {
        out_puts(o, option_needs_argument(row) ? ":" : "::");
        put(o, row->argument, strlen(row->argument));
        out_puts(o, ":");
        if (kind != NULL) {
            out_printf(o, " _wb_names %s%s", kind, is_pair ? " -S =" : "");
        } else if (row->values != NULL) {
            const char *list = row->values;
            const char *word;
            size_t n;
            out_puts(o, "(");
            while ((word = next_word(&list, &n)) != NULL) {
                put(o, word, n);
                out_puts(o, list == NULL ? ")" : " ");
            }
        } else if (option_takes_path(row)) {
            out_puts(o, "_files");
        } else {
            out_puts(o, " ");
        }
    }
    out_puts(o, "' \\\n");
}

static void put_operands(out *o, int command)
{
    out_puts(o, "                ");
    switch (command) {
    case COMMAND_EXPORT: out_puts(o, "'1:PATH:_files' '2:TENSOR: _wb_names tensors'\n"); break;
    case COMMAND_GET: out_puts(o, "'1:PATH:_files' '*:NAME: _wb_names tensors'\n"); break;
    case COMMAND_CODEC: out_puts(o, "'1:what:(list encode decode)' '*:FILE:_files'\n"); break;
    case COMMAND_LIST: out_puts(o, "\n"); break;
    case COMMAND_HELP: out_puts(o, "'1:COMMAND:_wb_commands'\n"); break;
    default: out_puts(o, "'*:PATH:_files'\n"); break;
    }
}

void generate_zsh(out *o)
{
    out_puts(o,
             "#compdef wb weighbridge\n"
             "# Completion of wb for zsh. Generated from cli/options.def by 'wb --generate zsh'; "
             "do not edit.\n"
             "_wb_commands() {\n"
             "    local -a commands=(\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        out_printf(o, "        '%s:", command_table[i].name);
        put(o, command_table[i].summary, strlen(command_table[i].summary));
        out_puts(o, "'\n");
    }
    out_puts(o, "    )\n"
                "    _describe command commands\n"
                "}\n"
                "_wb_names() {\n"
                "    local word file=.\n"
                "    for word in ${words[2,-1]}; do\n"
                "        word=${(Q)word/#\\~/$HOME}\n"
                "        [[ $word != -* && -e $word ]] && file=$word && break\n"
                "    done\n"
                "    local -a names=(${(f)\"$(_call_program names wb --generate $1 ${(q)file} "
                "2>/dev/null)\"})\n"
                "    compadd \"${@[2,-1]}\" -a names\n"
                "}\n"
                "_wb() {\n"
                "    local context state state_descr\n"
                "    local -a line\n"
                "    local -A opt_args\n"
                "    _arguments -C '(- *)'{-h,--help}'[explain a command]' \\\n"
                "        '(- *)--version[print the version]' \\\n"
                "        '1:command:_wb_commands' '*::argument:->arguments'\n"
                "    [[ $state == arguments ]] || return\n"
                "    case $line[1] in\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        out_printf(o, "        %s)\n            _arguments \\\n", command_table[i].name);
        for (int k = 0; k < OPTION_COUNT; k++) {
            if (option_table[k].help != NULL && option_is_in((option_id)k, (command_id)i))
                put_option(o, (option_id)k, (command_id)i);
        }
        put_operands(o, i);
        out_puts(o, "            ;;\n");
    }
    out_puts(o, "    esac\n}\n_wb \"$@\"\n");
}
