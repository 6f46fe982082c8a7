/*
 * options.h: the table of commands and options, and the command line read by it.
 *
 * Options may stand anywhere, as --name=value, --name value, -o value or -ovalue; "--" ends them
 * and
 * "-" is an operand. Their names are never abbreviated, so that scripts go on working when options
 * are added.
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
    const char *argument; /* NULL: none; "[KEY]": may be left out */
    const char *values;   /* NULL: anything */
    unsigned commands;    /* bits 1 << command_id */
    const char *help;     /* NULL: not shown */
} option_row;

typedef struct exit_row {
    int code;
    const char *when;
} exit_row;

extern const command_row command_table[COMMAND_COUNT];
extern const option_row option_table[OPTION_COUNT];
extern const exit_row exit_table[];
extern const size_t exit_table_count;

/* A command line taken apart. */
typedef struct arguments {
    command_id command; /* COMMAND_COUNT: none was named */
    bool given[OPTION_COUNT];
    const char *value[OPTION_COUNT]; /* NULL where the option takes none */
    const char **rules;              /* of every --rule */
    size_t rule_count;
    const char **loras; /* of every --lora */
    size_t lora_count;
    struct edit_word {
        option_id option;
        const char *value;
    } *edits; /* of --set, --set-file, --delete, --rename and --drop, in their order */
    size_t edit_count;
    char **operands;
    size_t count;
    char *matched[2]; /* operands that stand for a pattern (paths.h) */
} arguments;

/* 0, or the exit code after saying what is wrong. Reorders argv so that the operands lie together.
 */
int arguments_parse(arguments *args, int argc, char **argv);

/* Frees what parsing allocated, whether it succeeded or not. */
void arguments_free(arguments *args);

bool option_is_in(option_id option, command_id command);

/* Fills in what the options say about opening; `limits` must live as long as `options`. 0 or an
 * exit code. */
int open_options_of(const arguments *args, wb_open_options *options, wb_limits *limits);

/* The names of an option: "--output FILE, -o" */
void text_add_option(text *t, option_id option);

/* Whether a word behind the option is its argument, whatever it looks like. */
bool option_needs_argument(const option_row *row);

/* Whether the argument is a path, which shells complete. */
bool option_takes_path(const option_row *row);

/* Splits "a|b|c": the next word and its length, NULL at the end. */
const char *next_word(const char **list, size_t *len);

/* The commands, each in a file of its own. They return the exit code. */
#define COMMAND(id, name, ...) int command_##name(const arguments *args);
#include "options.def"
int command_generate(const arguments *args);

/* What `wb --help` and `wb help COMMAND` print. */
void print_overview(void);
void print_command_help(command_id command);

#endif
