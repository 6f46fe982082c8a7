/* Generates man pages in roff; see man(7). */
#include <string.h>

#include "generate.h"

/* Writes text with all roff control characters escaped. */
static void put(out *o, const char *s, size_t n)
{
    if (n > 0 && (s[0] == '.' || s[0] == '\''))
        out_puts(o, "\\&");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\')
            out_puts(o, "\\e");
        else if (s[i] == '-')
            out_puts(o, "\\-");
        else if (s[i] == '~')
            out_puts(o, "\\(ti");
        else if (s[i] == '\'')
            out_puts(o, "\\(aq");
        else
            out_write(o, s + i, 1);
    }
}

static void puts_escaped(out *o, const char *s)
{
    put(o, s, strlen(s));
}

static void put_paragraphs(out *o, const char *s)
{
    while (*s != '\0') {
        const char *end = strstr(s, "\n\n");
        size_t n = end == NULL ? strlen(s) : (size_t)(end - s);
        out_puts(o, ".PP\n");
        put(o, s, n);
        out_puts(o, "\n");
        s += end == NULL ? n : n + 2;
    }
}

static void put_title(out *o, const char *name, const char *summary)
{
    out_puts(o, ".\\\" Generated from cli/options.def by 'wb --generate man'; do not edit.\n");
    out_puts(o, ".TH ");
    for (const char *p = name; *p != '\0'; p++) {
        char upper = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
        put(o, &upper, 1);
    }
    out_printf(o, " 1 \"\" \"weighbridge %s\" \"User Commands\"\n.SH NAME\n", wb_version());
    puts_escaped(o, name);
    out_puts(o, " \\- ");
    puts_escaped(o, summary);
    out_puts(o, "\n");
}

static void put_option(out *o, option_id option, command_id command)
{
    text names = {0};
    const char *list = option_table[option].values;
    const char *word;
    size_t n;
    text_add_option(&names, option);
    out_puts(o, ".TP\n.B ");
    puts_escaped(o, names.ptr);
    out_puts(o, "\n");
    puts_escaped(o, option_help(option, command));
    out_puts(o, list == NULL ? ".\n" : ": ");
    while ((word = next_word(&list, &n)) != NULL) {
        put(o, word, n);
        out_puts(o, list == NULL ? ".\n" : ", ");
    }
    text_free(&names);
}

static void put_exit_codes(out *o)
{
    out_puts(o, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < exit_table_count; i++) {
        out_printf(o, ".TP\n.B %d\n", exit_table[i].code);
        puts_escaped(o, exit_table[i].when);
        out_puts(o, "\n");
    }
    out_puts(o, ".PP\nWith several paths, the exit status is the highest code.\n");
}

static void put_examples(out *o, const char *examples)
{
    out_puts(o, ".SH EXAMPLES\n");
    while (*examples != '\0') {
        size_t command = strcspn(examples, "\t");
        size_t line = strcspn(examples, "\n");
        out_puts(o, ".TP\n.B ");
        put(o, examples, command);
        out_puts(o, "\n");
        put(o, examples + command + 1, line - command - 1);
        out_puts(o, "\n");
        examples += line + 1;
    }
}

static void put_see_also(out *o, command_id except)
{
    out_puts(o, ".SH SEE ALSO\n");
    if (except != COMMAND_COUNT)
        out_puts(o, ".BR wb (1)");
    bool is_first = except == COMMAND_COUNT;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (i == (int)except || i == COMMAND_HELP)
            continue;
        out_printf(o, "%s.BR wb\\-%s (1)", is_first ? "" : ",\n", command_table[i].name);
        is_first = false;
    }
    out_puts(o, "\n");
}

static void put_wb(out *o)
{
    put_title(o, "wb", "open, verify and read files of model weights");
    out_puts(
        o,
        ".SH SYNOPSIS\n.B wb\n.I COMMAND\n[\\fIOPTION\\fR]...\n[\\fIARGUMENT\\fR]...\n"
        ".SH DESCRIPTION\n.PP\n"
        "Opens, verifies, converts and reads files of model weights. The command is also\n"
        "installed as\n.BR weighbridge .\n.PP\n"
        "A path is a .safetensors, GGUF, .npy or .npz file, any shard of a model, a folder\n"
        "with a model, a model of an Ollama store as ollama://NAME, its manifest or a blob, a\n"
        "quoted pattern such as \\(aqmodels/*\\(aq, or \\- for standard input. A shard of a model\n"
        "that an earlier path has opened is skipped. If a command takes one model, all files\n"
        "that match a pattern must belong to the same model.\n.PP\n"
        "Commands with the option \\-\\-plain\\-http also take addresses in place of paths:\n"
        "https://HOST/PATH, hf://OWNER/NAME[@REVISION][/PATH], s3://BUCKET/KEY and\n"
        "gs://BUCKET/KEY. Only the headers and the tensors that are needed are fetched. The\n"
        "page docs/net.md describes the environment variables of the network.\n.PP\n"
        "Results go to standard output, errors and progress to standard error. Options may\n"
        "appear anywhere; \\-\\- ends them. Control characters from files are shown as\n"
        "\\exNN.\n.SH COMMANDS\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        out_printf(o, ".TP\n.B wb %s ", command_table[i].name);
        puts_escaped(o, command_table[i].operands);
        out_puts(o, "\n");
        puts_escaped(o, command_table[i].summary);
        out_puts(o, "\n");
    }
    out_puts(o, ".SH OPTIONS\n");
    put_option(o, OPTION_HELP_OPTION, COMMAND_HELP);
    put_option(o, OPTION_VERSION, COMMAND_HELP);
    put_exit_codes(o);
    out_puts(o, ".SH ENVIRONMENT\n"
                ".TP\n.B NO_COLOR\nif set and not empty: no colours on a terminal.\n"
                ".TP\n.B TMPDIR\n"
                "folder for the temporary file that holds a long stream from standard input.\n"
                ".TP\n.B XDG_CONFIG_HOME\n"
                "the tables of model families are in its folder weighbridge/families, in files "
                "called NAME.family [~/.config].\n");
    put_see_also(o, COMMAND_COUNT);
}

void generate_man(out *o, command_id command)
{
    if (command == COMMAND_COUNT) {
        put_wb(o);
        return;
    }
    const command_row *row = &command_table[command];
    text name = {0};
    text_addf(&name, "wb-%s", row->name);
    put_title(o, name.ptr, row->summary);
    text_free(&name);
    out_printf(o, ".SH SYNOPSIS\n.B wb %s\n[\\fIOPTION\\fR]...\n.I ", row->name);
    puts_escaped(o, row->operands);
    out_puts(o, "\n.SH DESCRIPTION\n");
    put_paragraphs(o, row->description);
    out_puts(o, ".SH OPTIONS\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_table[i].help != NULL && option_is_in((option_id)i, command))
            put_option(o, (option_id)i, command);
    }
    put_exit_codes(o);
    put_examples(o, row->examples);
    put_see_also(o, command);
}
