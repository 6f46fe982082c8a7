/* Generates bash completion, loaded by bash-completion(8) or with `source`. */
#include <string.h>

#include "generate.h"

static void put_words(out *o, const char *list)
{
    const char *word;
    size_t n;
    while ((word = next_word(&list, &n)) != NULL) {
        out_write(o, word, n);
        out_puts(o, list == NULL ? "" : " ");
    }
}

/* Writes the names of an option as a `case` pattern: --name or --name|-n. */
static void put_pattern(out *o, const option_row *row)
{
    out_printf(o, "--%s", row->name);
    if (row->letter != 0)
        out_printf(o, "|-%c", row->letter);
}

static bool is_shown(int option)
{
    return option_table[option].help != NULL;
}

/* Writes a `case` pattern for all options that take the next word as their argument. */
static void put_options_with_argument(out *o)
{
    bool is_first = true;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!is_shown(i) || !option_needs_argument(&option_table[i]))
            continue;
        out_puts(o, is_first ? "" : "|");
        put_pattern(o, &option_table[i]);
        is_first = false;
    }
}

/* Completes the argument of an option with names of the model. */
static void put_names(out *o, const char *kind, bool is_pair)
{
    out_printf(o, "        COMPREPLY=($(compgen %s-W \"$(_wb_names %s)\" -- \"$cur\"))\n%s",
               is_pair ? "-S = " : "", kind,
               is_pair ? "        compopt -o nospace 2>/dev/null\n" : "");
}

static void put_arguments(out *o)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        bool is_pair;
        const char *kind = generate_kind_of((option_id)i, &is_pair);
        if (!is_shown(i) || (kind == NULL && !option_needs_argument(row)))
            continue;
        out_puts(o, "    ");
        put_pattern(o, row);
        out_puts(o, ")\n");
        if (row->values != NULL) {
            out_puts(o, "        COMPREPLY=($(compgen -W '");
            put_words(o, row->values);
            out_puts(o, "' -- \"$cur\"))\n");
        } else if (kind != NULL) {
            put_names(o, kind, is_pair);
        } else if (!option_takes_path(row)) {
            out_puts(o, "        compopt +o default +o bashdefault 2>/dev/null\n");
        }
        /* The next word may also be a path if the argument is optional. */
        out_puts(o, option_needs_argument(row)
                        ? "        return\n        ;;\n"
                        : "        ((${#COMPREPLY[@]})) && return\n        ;;\n");
    }
}

static void put_options(out *o, int command)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (is_shown(i) && option_is_in((option_id)i, (command_id)command))
            out_printf(o, " --%s", option_table[i].name);
    }
}

void generate_bash(out *o)
{
    out_puts(o,
             "# Completion of wb for bash. Generated from cli/options.def by 'wb --generate bash'; "
             "do not edit.\n"
             "_wb_names() {\n"
             "    [[ -n $path || $1 == quants ]] &&\n"
             "        wb --generate \"$1\" \"${path/#\\~/$HOME}\" 2>/dev/null\n"
             "}\n"
             "_wb() {\n"
             "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
             "    local command= path= operands=0 i\n"
             "    COMPREPLY=()\n"
             "    # Bash takes --name=value apart into three words.\n"
             "    if [[ $cur == = ]]; then\n"
             "        cur=\n"
             "    elif [[ $prev == = ]] && ((COMP_CWORD >= 2)); then\n"
             "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
             "    fi\n"
             "    for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do\n"
             "        ((i == COMP_CWORD)) && continue\n"
             "        case ${COMP_WORDS[i]} in\n"
             "        =) ((i++)) ;;\n"
             "        ");
    put_options_with_argument(o);
    out_puts(o, ")\n"
                "            [[ ${COMP_WORDS[i+1]} == = ]] || ((i++)) ;;\n"
                "        -?*) ;;\n"
                "        *)\n"
                "            if [[ -z $command ]]; then\n"
                "                command=${COMP_WORDS[i]}\n"
                "            else\n"
                "                [[ -z $path && -e ${COMP_WORDS[i]/#\\~/$HOME} ]] && "
                "path=${COMP_WORDS[i]}\n"
                "                ((i < COMP_CWORD && operands++))\n"
                "            fi\n"
                "            ;;\n"
                "        esac\n"
                "    done\n"
                "    case $prev in\n");
    put_arguments(o);
    out_puts(o, "    esac\n"
                "    case $command in\n"
                "    '')\n"
                "        COMPREPLY=($(compgen -W '");
    for (int i = 0; i < COMMAND_COUNT; i++)
        out_printf(o, "%s ", command_table[i].name);
    out_puts(o, "--help --version' -- \"$cur\"))\n        ;;\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        out_printf(
            o, "    %s)\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W '",
            command_table[i].name);
        put_options(o, i);
        out_puts(o, "' -- \"$cur\"))\n");
        if (i == COMMAND_EXPORT || i == COMMAND_GET) {
            out_printf(o, "        elif [[ $operands %s ]]; then\n",
                       i == COMMAND_GET ? "!= 0" : "== 1");
            out_puts(o, "            COMPREPLY=($(compgen -W \"$(_wb_names tensors)\" -- "
                        "\"$cur\"))\n");
        }
        if (i == COMMAND_CODEC)
            out_puts(o, "        elif [[ $operands == 0 ]]; then\n"
                        "            COMPREPLY=($(compgen -W 'list encode decode' -- \"$cur\"))\n");
        if (i == COMMAND_HELP) {
            out_puts(o, "        else\n            COMPREPLY=($(compgen -W '");
            for (int k = 0; k < COMMAND_COUNT; k++)
                out_printf(o, "%s%s", k == 0 ? "" : " ", command_table[k].name);
            out_puts(o, "' -- \"$cur\"))\n");
        }
        out_puts(o, "        fi\n        ;;\n");
    }
    out_puts(o, "    esac\n}\ncomplete -o default -o bashdefault -F _wb wb weighbridge\n");
}
