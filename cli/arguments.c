#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit.h"
#include "messages.h"
#include "options.h"
#include "report.h"
#include "suggest.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- suggestions for misspelled options and commands ---- */

typedef struct synonym {
    const char *typed;
    const char *meant;
} synonym;

/* Names of commands in other programs, and the equivalent commands of wb. */
static const synonym command_synonyms[] = {
    {"quantize", "convert IN OUT --quant TYPE"},
    {"quantise", "convert IN OUT --quant TYPE"},
    {"quant", "convert IN OUT --quant TYPE"},
    {"split", "convert IN OUT --max-file-size SIZE"},
    {"merge", "convert IN OUT"},
    {"dump", "inspect PATH"},
    {"info", "inspect PATH"},
    {"ls", "list"},
    {"show", "inspect PATH"},
    {"stat", "inspect PATH"},
    {"view", "inspect PATH"},
    {"check", "verify PATH"},
    {"validate", "verify PATH"},
    {"extract", "export PATH TENSOR"},
    {"checksum", "hash PATH"},
    {"sha256", "hash PATH"},
    {"compare", "diff A B"},
    {"bench", "load PATH"},
    {"benchmark", "load PATH"},
    {"metadata", "inspect PATH --metadata"},
    {"rename", "edit PATH --rename OLD=NEW"},
    {"set", "edit PATH --set KEY=VALUE"},
};

/* Names of options in other programs. */
static const synonym option_synonyms[] = {
    {"dtype", "quant"},     {"format", "to"},          {"outfile", "output"}, {"outtype", "quant"},
    {"overwrite", "force"}, {"quantization", "quant"}, {"quantize", "quant"}, {"threads", "jobs"},
};

static const char *synonym_of(const synonym *list, size_t count, const char *typed, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i].typed) == len && memcmp(list[i].typed, typed, len) == 0)
            return list[i].meant;
    }
    return NULL;
}

static command_id command_named(const char *name)
{
    int id = 0;
    while (id < COMMAND_COUNT && strcmp(command_table[id].name, name) != 0)
        id++;
    return (command_id)id;
}

/* Returns the option of this command that the user probably meant. */
static const char *meant_option(const char *typed, size_t len, command_id command)
{
    suggestion s = suggest(typed, len);
    const char *other = synonym_of(option_synonyms, COUNT(option_synonyms), typed, len);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *name = option_table[i].name;
        if (option_table[i].help == NULL ||
            (command != COMMAND_COUNT && !option_is_in((option_id)i, command)))
            continue;
        if (other != NULL && strcmp(name, other) == 0)
            return name;
        suggest_consider(&s, name, strlen(name));
    }
    return s.best;
}

static int fail_option(const arguments *args, const char *typed, size_t len, const char *dashes)
{
    command_id command = args->count > 0 ? command_named(args->operands[0]) : COMMAND_COUNT;
    const char *meant = dashes[1] == '-' ? meant_option(typed, len, command) : NULL;
    text shown = {0};
    text_add_shown(&shown, typed, len);
    int code = meant == NULL
                   ? report_usage(MSG_OPTION_UNKNOWN, dashes, shown.ptr)
                   : report_usage(MSG_OPTION_UNKNOWN_SUGGESTION, dashes, shown.ptr, meant);
    text_free(&shown);
    return code;
}

int fail_command(const char *typed)
{
    suggestion s = suggest(typed, strlen(typed));
    const char *other = synonym_of(command_synonyms, COUNT(command_synonyms), typed, strlen(typed));
    for (int i = 0; i < COMMAND_COUNT; i++)
        suggest_consider(&s, command_table[i].name, strlen(command_table[i].name));
    text shown = {0};
    text_add_shown(&shown, typed, strlen(typed));
    int code;
    if (other != NULL)
        code = report_usage(MSG_COMMAND_SYNONYM, shown.ptr, other);
    else if (s.best != NULL)
        code = report_usage(MSG_COMMAND_UNKNOWN_SUGGESTION, shown.ptr, s.best);
    else
        code = report_usage(MSG_COMMAND_UNKNOWN, shown.ptr);
    text_free(&shown);
    return code;
}

/* ---- parsing ---- */

typedef struct scan {
    arguments *args;
    char **argv;
    int argc;
    int next; /* index of the next argument in argv */
} scan;

/* Returns true if the next word is the value of an option whose value is optional. The next word
 * must not look like an option, and must not be an address or an existing file, and at least one
 * other word must remain to be the path. Example: `wb inspect model.gguf --metadata general.name`
 * passes a key, and `wb inspect --metadata model.gguf` passes a path.
 */
static bool is_key(const scan *s)
{
    if (s->args->count == 0 || s->next == s->argc || s->argv[s->next][0] == '-' ||
        strstr(s->argv[s->next], "://") != NULL || access(s->argv[s->next], F_OK) == 0)
        return false;
    for (int i = s->next + 1; i < s->argc; i++) {
        if (s->argv[i][0] != '-' || s->argv[i][1] == '\0')
            return true;
    }
    return s->args->count > 1; /* a path was given: operand 0 is the command name */
}

/* Appends the value of an option that may be given several times. */
static void add_to(const char ***list, size_t *count, const char *value)
{
    *list = need_memory((void *)*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = value;
}

static int take_value(scan *s, option_id id, const char *attached)
{
    const option_row *row = &option_table[id];
    s->args->given[id] = true;
    if (row->argument == NULL) {
        if (attached != NULL)
            return report_usage(MSG_OPTION_TAKES_NO_VALUE, row->name);
        return 0;
    }
    if (attached == NULL && !option_needs_argument(row)) {
        if (is_key(s))
            s->args->value[id] = s->argv[s->next++];
        return 0;
    }
    if (attached == NULL && s->next < s->argc)
        attached = s->argv[s->next++];
    bool is_path = strncmp(row->argument, "FILE", 4) == 0 ||
                   strncmp(row->argument, "PATH", 4) == 0 || strcmp(row->argument, "DIR") == 0;
    /* Refuse an empty path, which is typically an unset shell variable. */
    if (attached == NULL || (is_path && attached[0] == '\0'))
        return report_usage(MSG_OPTION_NEEDS_VALUE, row->name, row->name, row->argument);
    s->args->value[id] = attached;
    if (id == OPTION_RULE)
        add_to(&s->args->rules, &s->args->rule_count, attached);
    if (id == OPTION_LORA)
        add_to(&s->args->loras, &s->args->lora_count, attached);
    if (id == OPTION_FAMILY)
        add_to(&s->args->families, &s->args->family_count, attached);
    if (id == OPTION_INCLUDE)
        add_to(&s->args->includes, &s->args->include_count, attached);
    if (id == OPTION_EXCLUDE)
        add_to(&s->args->excludes, &s->args->exclude_count, attached);
    if (id == OPTION_SET || id == OPTION_SET_FILE || id == OPTION_DELETE || id == OPTION_RENAME ||
        id == OPTION_DROP) {
        arguments *args = s->args;
        args->edits = need_memory(args->edits, args->edit_count + 1, sizeof *args->edits);
        args->edits[args->edit_count].option = id;
        args->edits[args->edit_count++].value = attached;
    }
    return 0;
}

static int take_long(scan *s, const char *typed)
{
    size_t len = strcspn(typed, "=");
    const char *attached = typed[len] == '=' ? typed + len + 1 : NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *name = option_table[i].name;
        if (strlen(name) == len && memcmp(name, typed, len) == 0)
            return take_value(s, (option_id)i, attached);
    }
    return fail_option(s->args, typed, len, "--");
}

/* Parses a word of short options. Options without a value may be combined in one word (-ab). If an
 * option takes a value, the rest of the word is its value.
 */
static int take_letters(scan *s, const char *typed)
{
    while (*typed != '\0') {
        int id = 0;
        while (id < OPTION_COUNT &&
               (option_table[id].letter == 0 || option_table[id].letter != *typed))
            id++;
        if (id == OPTION_COUNT)
            return fail_option(s->args, typed, strlen(typed), "-");
        typed++;
        bool has_rest = option_table[id].argument != NULL && *typed != '\0';
        int code = take_value(s, (option_id)id, has_rest ? typed : NULL);
        if (code != 0 || has_rest)
            return code;
    }
    return 0;
}

/* Parses all words. Operands are moved to the front of argv (args->operands == argv). This
 * overwrites no unread word, because args->count < s->next.
 */
static int take_all(scan *s)
{
    arguments *args = s->args;
    bool ended = false;
    while (s->next < s->argc) {
        char *word = s->argv[s->next++];
        int code = 0;
        if (ended || word[0] != '-' || word[1] == '\0')
            args->operands[args->count++] = word;
        else if (strcmp(word, "--") == 0)
            ended = true;
        else
            code = word[1] == '-' ? take_long(s, word + 2) : take_letters(s, word + 1);
        if (code != 0)
            return code;
    }
    return 0;
}

static int check_value(option_id id, const char *value)
{
    const char *list = option_table[id].values;
    const char *word;
    size_t len;
    if (list == NULL || id == OPTION_DTYPE)
        return 0;
    while ((word = next_word(&list, &len)) != NULL) {
        if (strlen(value) == len && memcmp(word, value, len) == 0)
            return 0;
    }
    word = suggest_word(value, option_table[id].values, &len);
    if (word != NULL)
        return report_usage(MSG_OPTION_VALUE_MEANT, option_table[id].name, option_table[id].values,
                            (int)len, word);
    return report_usage(MSG_OPTION_VALUE_INVALID, option_table[id].name, option_table[id].values);
}

/* If an option has different meanings in two commands, two rows of option_table have its name. The
 * parser uses the first row, because it may read the option before the name of the command. This
 * function moves the value of the option to the row that belongs to the command.
 */
static void choose_rows(arguments *args)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!args->given[i] || option_is_in((option_id)i, args->command))
            continue;
        for (int j = i + 1; j < OPTION_COUNT; j++) {
            if (strcmp(option_table[i].name, option_table[j].name) != 0 ||
                !option_is_in((option_id)j, args->command))
                continue;
            args->given[j] = true;
            args->value[j] = args->value[i];
            args->given[i] = false;
            args->value[i] = NULL;
        }
    }
}

static int check_options(const arguments *args)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!args->given[i])
            continue;
        bool fits = option_is_in((option_id)i, args->command);
        if (args->command == COMMAND_COUNT)
            fits = i == OPTION_HELP_OPTION || i == OPTION_VERSION || i == OPTION_GENERATE;
        if (!fits && args->command == COMMAND_COUNT)
            return report_usage(MSG_COMMAND_MISSING);
        if (!fits)
            return report_usage(MSG_COMMAND_HAS_NO_OPTION, command_table[args->command].name,
                                option_table[i].name);
        int code = args->value[i] == NULL ? 0 : check_value((option_id)i, args->value[i]);
        if (code != 0)
            return code;
    }
    return 0;
}

static int check_operands(const arguments *args)
{
    const command_row *row = &command_table[args->command];
    unsigned fewest = args->given[OPTION_DISCARD] ? 1 : row->fewest;
    if (args->count >= fewest && args->count <= row->most)
        return 0;
    if (args->count < fewest)
        return report_usage(MSG_OPERAND_MISSING, row->name, row->operands);
    text extra = {0};
    text_add_shown(&extra, args->operands[row->most], strlen(args->operands[row->most]));
    int code = report_usage(MSG_OPERAND_UNEXPECTED, extra.ptr, row->name, row->operands);
    text_free(&extra);
    return code;
}

/* Returns true if an invalid command line contains --json. The error is then also reported as JSON.
 */
static bool asks_for_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0)
            return true;
    }
    return false;
}

int arguments_parse(arguments *args, int argc, char **argv)
{
    scan s = {.args = args, .argv = argv, .argc = argc, .next = argc > 0 ? 1 : 0};
    memset(args, 0, sizeof *args);
    args->command = COMMAND_COUNT;
    args->operands = argv;
    int code = take_all(&s);
    if (code != 0)
        args->given[OPTION_JSON] = args->given[OPTION_JSON] || asks_for_json(argc, argv);
    bool is_plain = args->given[OPTION_VERSION] || args->given[OPTION_GENERATE];
    if (code != 0 || is_plain)
        return code != 0 ? code : check_options(args);
    if (args->count > 0) {
        args->command = command_named(args->operands[0]);
        if (args->command == COMMAND_COUNT)
            return fail_command(args->operands[0]);
        args->operands++;
        args->count--;
        choose_rows(args);
    }
    code = check_options(args);
    if (code != 0 || args->command == COMMAND_COUNT || args->given[OPTION_HELP_OPTION])
        return code;
    return check_operands(args);
}

void arguments_free(arguments *args)
{
    free((void *)args->rules);
    free((void *)args->loras);
    free((void *)args->families);
    free((void *)args->includes);
    free((void *)args->excludes);
    free(args->edits);
    free(args->matched[0]);
    free(args->matched[1]);
}
