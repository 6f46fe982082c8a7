/* wb help: prints the table of commands and options. */
#include <string.h>

#include "exit.h"
#include "messages.h"
#include "options.h"
#include "report.h"
#include "terminal.h"

#define LINE_WIDTH 79

/* Prints words in lines of at most LINE_WIDTH columns, indented by `indent`. The cursor is already
 * at column `indent` in the first line.
 */
static void print_wrapped(out *o, const char *words, size_t indent)
{
    size_t column = indent;
    for (;;) {
        size_t n = strcspn(words, " \n");
        if (column > indent && column + 1 + n > LINE_WIDTH) {
            out_puts(o, "\n");
            out_pad(o, indent);
            column = indent;
        } else if (column > indent) {
            out_puts(o, " ");
            column++;
        }
        out_write(o, words, n);
        column += n;
        words += n;
        if (*words == '\0')
            break;
        if (*words++ == '\n') {
            out_puts(o, "\n");
            if (*words == '\n') {
                out_puts(o, "\n");
                words++;
            }
            out_pad(o, indent);
            column = indent;
        }
    }
    out_puts(o, "\n");
}

static void print_title(out *o, const char *title)
{
    out_printf(o, "\n%s%s%s\n", style(STYLE_BOLD), title, style(STYLE_END));
}

static void print_entry(out *o, const char *left, const char *help, size_t column)
{
    size_t n = strlen(left);
    out_puts(o, "  ");
    out_puts(o, left);
    if (n + 4 > column) {
        out_puts(o, "\n");
        out_pad(o, column);
    } else {
        out_pad(o, column - 2 - n);
    }
    print_wrapped(o, help, column);
}

void print_overview(void)
{
    out *o = out_stdout();
    out_puts(o, "weighbridge (wb): open, verify and read files of model weights\n");
    print_title(o, "Usage");
    out_puts(o, "  wb COMMAND [OPTION]... [ARGUMENT]...\n");
    print_title(o, "Commands");
    for (int i = 0; i < COMMAND_COUNT; i++)
        print_entry(o, command_table[i].name, command_table[i].summary, 12);
    print_title(o, "Options");
    print_entry(o, "--help, -h", "explain a command", 16);
    print_entry(o, "--version", option_table[OPTION_VERSION].help, 16);
    out_puts(o,
             "\nA PATH is a .safetensors, GGUF or .npz file, any shard of a model, a folder, an\n"
             "Ollama model as ollama://NAME, its manifest or a blob, a quoted pattern, or - for\n"
             "standard input. Most commands that read a model also take its address:\n"
             "https://HOST/PATH, hf://OWNER/NAME[@REVISION][/PATH], s3://BUCKET/KEY or\n"
             "gs://BUCKET/KEY. 'wb help COMMAND' explains a command.\n");
}

static void print_examples(out *o, const char *examples)
{
    while (*examples != '\0') {
        size_t command = strcspn(examples, "\t");
        size_t line = strcspn(examples, "\n");
        out_puts(o, "  ");
        out_write(o, examples, command);
        out_puts(o, "\n      ");
        out_write(o, examples + command + 1, line - command - 1);
        out_puts(o, "\n");
        examples += line + 1;
    }
}

void print_command_help(command_id command)
{
    const command_row *row = &command_table[command];
    out *o = out_stdout();
    text names = {0};
    out_printf(o, "wb %s: %s\n", row->name, row->summary);
    print_title(o, "Usage");
    out_printf(o, "  wb %s [OPTION]... %s\n\n", row->name, row->operands);
    print_wrapped(o, row->description, 0);
    print_title(o, "Options");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_table[i].help == NULL || !option_is_in((option_id)i, command))
            continue;
        text_clear(&names);
        text_add_option(&names, (option_id)i);
        print_entry(o, names.ptr, option_help((option_id)i, command), 24);
        if (option_table[i].values != NULL) {
            text_clear(&names);
            const char *list = option_table[i].values;
            const char *word;
            size_t n;
            while ((word = next_word(&list, &n)) != NULL) {
                text_add(&names, word, n);
                text_adds(&names, list == NULL ? "" : ", ");
            }
            out_pad(o, 24);
            print_wrapped(o, names.ptr, 24);
        }
    }
    print_title(o, "Exit codes");
    for (size_t i = 0; i < exit_table_count; i++) {
        text_clear(&names);
        text_addf(&names, "%d", exit_table[i].code);
        print_entry(o, names.ptr, exit_table[i].when, 8);
    }
    print_title(o, "Examples");
    print_examples(o, row->examples);
    text_free(&names);
}

int command_help(const arguments *args)
{
    if (args->count == 0) {
        print_overview();
        return EXIT_CLEAN;
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(command_table[i].name, args->operands[0]) == 0) {
            print_command_help((command_id)i);
            return EXIT_CLEAN;
        }
    }
    return fail_command(args->operands[0]);
}
