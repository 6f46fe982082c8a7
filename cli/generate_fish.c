/* Generates fish completion; see complete(1) of fish. */
#include <string.h>

#include "generate.h"

/* Writes text for use inside single quotes. */
static void put(out *o, const char *s)
{
    for (; *s != '\0'; s++) {
        if (*s == '\'' || *s == '\\')
            out_puts(o, "\\");
        out_write(o, s, 1);
    }
}

static bool has_help(option_id option, int command, const char *help)
{
    return option_is_in(option, (command_id)command) &&
           strcmp(option_help(option, (command_id)command), help) == 0;
}

/* Writes the completion of an option in all commands that have this help text. */
static void put_option(out *o, option_id option, const char *help)
{
    const option_row *row = &option_table[option];
    bool is_pair;
    const char *kind = generate_kind_of(option, &is_pair);
    out_puts(o, "complete -c wb -n '__fish_seen_subcommand_from");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (has_help(option, i, help))
            out_printf(o, " %s", command_table[i].name);
    }
    out_printf(o, "' -l %s", row->name);
    if (row->letter != 0)
        out_printf(o, " -s %c", row->letter);
    if (row->values != NULL) {
        const char *list = row->values;
        const char *word;
        size_t n;
        out_puts(o, " -x -a '");
        while ((word = next_word(&list, &n)) != NULL) {
            out_write(o, word, n);
            out_puts(o, list == NULL ? "'" : " ");
        }
    } else if (kind != NULL) {
        out_printf(o, "%s -a '(__wb_names %s%s)'", option_needs_argument(row) ? " -x" : "", kind,
                   is_pair ? " =" : "");
    } else if (option_needs_argument(row)) {
        out_puts(o, option_takes_path(row) ? " -r -F" : " -x");
    }
    out_puts(o, " -d '");
    put(o, help);
    out_puts(o, "'\n");
}

static void put_texts(out *o, option_id option)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!option_is_in(option, (command_id)i))
            continue;
        const char *help = option_help(option, (command_id)i);
        int first = 0;
        while (!has_help(option, first, help))
            first++;
        if (first == i)
            put_option(o, option, help);
    }
}

void generate_fish(out *o)
{
    out_puts(o,
             "# Completion of wb for fish. Generated from cli/options.def by 'wb --generate fish'; "
             "do not edit.\n"
             "function __wb_first_operand\n"
             "    set -l words (commandline -poc)\n"
             "    for word in $words[3..-1]\n"
             "        if not string match -q -- '-*' $word\n"
             "            echo $word\n"
             "            return\n"
             "        end\n"
             "    end\n"
             "    return 1\n"
             "end\n"
             "function __wb_names\n"
             "    set -l file .\n"
             "    for word in (commandline -poc)[2..-1]\n"
             "        set word (string replace -r '^~' $HOME -- $word)\n"
             "        if not string match -q -- '-*' $word; and test -e $word\n"
             "            set file $word\n"
             "            break\n"
             "        end\n"
             "    end\n"
             "    wb --generate $argv[1] $file 2>/dev/null | string replace -r '$' \"$argv[2]\"\n"
             "end\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        out_printf(o, "complete -c wb -n __fish_use_subcommand -f -a %s -d '",
                   command_table[i].name);
        put(o, command_table[i].summary);
        out_puts(o, "'\n");
    }
    out_puts(o, "complete -c wb -n __fish_use_subcommand -l version -d 'print the version'\n"
                "complete -c wb -n __fish_use_subcommand -l help -s h -d 'explain a command'\n"
                "complete -c wb -n '__fish_seen_subcommand_from help' -f -a '");
    for (int i = 0; i < COMMAND_COUNT; i++)
        out_printf(o, "%s%s", i == 0 ? "" : " ", command_table[i].name);
    out_puts(o, "'\n"
                "complete -c wb -n '__fish_seen_subcommand_from export get; and "
                "__wb_first_operand "
                ">/dev/null' -a '(__wb_names tensors)' -d tensor\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_table[i].help != NULL && option_table[i].commands != 0)
            put_texts(o, (option_id)i);
    }
    out_puts(o, "complete -c weighbridge -w wb\n");
}
