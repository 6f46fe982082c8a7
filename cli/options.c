#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exit.h"
#include "report.h"
#include "text.h"

#define IN(id) (1u << COMMAND_##id)
/* The commands that take an address in place of a path. */
#define REMOTE                                                                                     \
    (IN(INSPECT) | IN(VERIFY) | IN(LOAD) | IN(DOCTOR) | IN(EXPORT) | IN(HASH) | IN(CONVERT) |      \
     IN(DIFF) | IN(GET) | IN(PULL) | IN(PUSH))
#define IN_ALL (~0u)
#define IN_NONE 0u

/* Dtypes for completion. The option accepts any name that wb_dtype_find accepts. */
#define DTYPES                                                                                     \
    "f64|f32|f16|bf16|f8_e4m3|f8_e5m2|f8_e8m0|f8_e4m3fnuz|f8_e5m2fnuz|f6_e2m3|f6_e3m2|f4|"         \
    "i8|i16|i32|i64|u8|u16|u32|u64|bool|c64"

const command_row command_table[COMMAND_COUNT] = {
#define COMMAND(id, name, ...) [COMMAND_##id] = {command_##name, #name, __VA_ARGS__},
#include "options.def"
};

const option_row option_table[OPTION_COUNT] = {
#define OPTION(id, ...) [OPTION_##id] = {__VA_ARGS__},
#include "options.def"
};

static const struct {
    option_id option;
    unsigned commands;
    const char *help;
} option_texts[] = {
#define OPTION_TEXT(id, ...) {OPTION_##id, __VA_ARGS__},
#include "options.def"
};

const exit_row exit_table[] = {
#define EXIT_ROW(...) {__VA_ARGS__},
#include "messages.h"
#include "options.def"
};

const size_t exit_table_count = sizeof exit_table / sizeof exit_table[0];

void text_add_option(text *t, option_id option)
{
    const option_row *row = &option_table[option];
    text_addf(t, "--%s", row->name);
    if (row->argument != NULL)
        text_addf(t, " %s", row->argument);
    if (row->letter != 0)
        text_addf(t, ", -%c", row->letter);
}

bool option_is_in(option_id option, command_id command)
{
    return (option_table[option].commands >> command & 1) != 0;
}

const char *option_help(option_id option, command_id command)
{
    for (size_t i = 0; i < sizeof option_texts / sizeof option_texts[0]; i++) {
        if (option_texts[i].option == option && (option_texts[i].commands >> command & 1) != 0)
            return option_texts[i].help;
    }
    return option_table[option].help;
}

bool option_needs_argument(const option_row *row)
{
    return row->argument != NULL && row->argument[0] != '[';
}

bool option_takes_path(const option_row *row)
{
    return row->argument != NULL &&
           (strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "DIR") == 0);
}

const char *next_word(const char **list, size_t *len)
{
    const char *word = *list;
    if (word == NULL)
        return NULL;
    *len = strcspn(word, "|");
    *list = word[*len] == '\0' ? NULL : word + *len + 1;
    return word;
}

bool option_number(const char *typed, uint64_t *number)
{
    char *end;
    if (typed[0] < '0' || typed[0] > '9')
        return false;
    errno = 0;
    *number = strtoull(typed, &end, 10);
    return errno == 0 && *end == '\0';
}

/* Parses a number with an optional suffix K, M or G (powers of 1024). */
static bool parse_bytes(const char *typed, uint64_t *bytes)
{
    static const char powers[] = "KMG";
    uint64_t value = 0;
    const char *p = typed;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    if (p == typed)
        return false;
    if (*p != '\0') {
        const char *power = strchr(powers, *p >= 'a' ? *p - 'a' + 'A' : *p);
        if (power == NULL || p[1] != '\0')
            return false;
        for (const char *q = powers; q <= power; q++) {
            if (value > UINT64_MAX / 1024)
                return false;
            value *= 1024;
        }
    }
    *bytes = value;
    return true;
}

int open_options_of(const arguments *args, wb_open_options *options, wb_limits *limits)
{
    memset(limits, 0, sizeof *limits);
    limits->size = sizeof *limits;
    wb_limits_default(limits);
    *options =
        (wb_open_options){.size = sizeof *options, .access = WB_ACCESS_READ, .limits = limits};
    options->store = args->value[OPTION_STORE]; /* NULL: use the environment */
    if (args->given[OPTION_COMPATIBLE])
        options->flags |= WB_OPEN_COMPATIBLE;
    if (args->given[OPTION_FOLLOW_LINKS])
        options->flags |= WB_OPEN_FOLLOW_LINKS;
    if (!args->given[OPTION_MAX_HEADER])
        return 0;
    if (!parse_bytes(args->value[OPTION_MAX_HEADER], &limits->safetensors_header) ||
        limits->safetensors_header > UINT32_MAX)
        return report_usage(MSG_MAX_HEADER_INVALID);
    limits->gguf_header = limits->safetensors_header;
    return 0;
}
