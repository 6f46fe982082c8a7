/* options.h: the table of commands and options, and the command line parser.
 *
 * Options may appear anywhere, as --name=value, --name value, -o value or -ovalue. "--" ends the
 * options, and "-" is an operand. Option names cannot be abbreviated, so that new options do not
 * break existing scripts.
 */
#ifndef WB_CLI_OPTIONS_H
#define WB_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"
#include "weighbridge.h"

typedef enum command_id {
#define COMMAND(id, ...) COMMAND_##id,
#include "options.def"
    COMMAND_COUNT
} command_id;

typedef enum option_id {
#define OPTION(id, ...) OPTION_##id,
#include "options.def"
    OPTION_COUNT
} option_id;

struct arguments;

typedef struct command_row {
    int (*run)(const struct arguments *args);
    const char *name;
    const char *operands;
    unsigned fewest, most;
    const char *summary;
    const char *description;
    const char *examples;
} command_row;

typedef struct option_row {
    const char *name;
    char letter;
    const char *argument; /* NULL: no argument; "[KEY]": optional argument */
    const char *values;   /* allowed values, NULL: any */
    unsigned commands;    /* bit set of commands: 1 << command_id */
    const char *help;     /* NULL: hidden option; option_help returns the text for a command */
} option_row;

typedef struct exit_row {
    int code;
    const char *when;
} exit_row;

extern const command_row command_table[COMMAND_COUNT];
extern const option_row option_table[OPTION_COUNT];
extern const exit_row exit_table[];
extern const size_t exit_table_count;

/* A parsed command line. */
typedef struct arguments {
    command_id command; /* COMMAND_COUNT: no command given */
    bool given[OPTION_COUNT];
    const char *value[OPTION_COUNT]; /* NULL if the option has no value */
    const char **rules;              /* values of all --rule options */
    size_t rule_count;
    const char **loras; /* values of all --lora options */
    size_t lora_count;
    const char **families; /* values of all --family options */
    size_t family_count;
    const char **includes, **excludes; /* values of all --include and --exclude options */
    size_t include_count, exclude_count;
    struct edit_word {
        option_id option;
        const char *value;
    } *edits; /* --set, --set-file, --delete, --rename and --drop, in command line order */
    size_t edit_count;
    char **operands;
    size_t count;
    char *matched[2]; /* the paths that wildcard operands matched, allocated (paths.h) */
} arguments;

/* Parses the command line. Reorders argv so that all operands are adjacent. Returns 0, or an exit
 * code after reporting the error.
 */
int arguments_parse(arguments *args, int argc, char **argv);

/* Frees the memory allocated by arguments_parse, also after a failure. */
void arguments_free(arguments *args);

/* Reports that there is no such command. Returns the exit code. */
int fail_command(const char *typed);

bool option_is_in(option_id option, command_id command);

/* Returns the text that the help of a command shows for an option; NULL: the option is hidden. */
const char *option_help(option_id option, command_id command);

/* Parses a decimal number without a sign. Returns false for other text, and for a number that
 * exceeds UINT64_MAX.
 */
bool option_number(const char *typed, uint64_t *number);

/* Sets the open options from the command line. `limits` must live as long as `options`. Returns 0
 * or an exit code.
 */
int open_options_of(const arguments *args, wb_open_options *options, wb_limits *limits);

/* Adds the names of an option, such as "--output FILE, -o". */
void text_add_option(text *t, option_id option);

/* Returns true if the word after the option is always its argument. */
bool option_needs_argument(const option_row *row);

/* Returns true if the argument is a path, which shells can complete. */
bool option_takes_path(const option_row *row);

/* Splits a list "a|b|c": returns the next word and stores its length. Returns NULL at the end. */
const char *next_word(const char **list, size_t *len);

/* The commands, each in its own source file. They return the exit code. */
#define COMMAND(id, name, ...) int command_##name(const arguments *args);
#include "options.def"
int command_generate(const arguments *args);

/* Print the output of `wb --help` and `wb help COMMAND`. */
void print_overview(void);
void print_command_help(command_id command);

#endif
