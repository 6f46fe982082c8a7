/*
 * Parses command line arguments. The input is a list of words separated by NUL. No command is
 * executed.
 *
 * An accepted command line is written again with long option names, options first and then "--".
 * This second line must parse to the same result. A rejected command line must print one message
 * and return the exit code for usage errors. Then the parsers of option values are tested: parts,
 * sizes, patterns, and metadata values for a file with keys of every type.
 */
#include <stdarg.h>

#include "edit.h"
#include "exit.h"
#include "options.h"
#include "part.h"
#include "report.h"
#include "support/fuzz.h"

#define WORDS_MAX 40

/* ---- stubs: messages are counted, commands do nothing ---- */

static unsigned messages;

static void keep(const char *format, va_list list)
{
    char line[1024];
    int n = vsnprintf(line, sizeof line, format, list);
    CHECK(n > 0);
    for (const char *p = line; *p != '\0'; p++)
        CHECK((unsigned char)*p >= 0x20 && *p != 0x7F);
    messages++;
}

int report_usage(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    keep(format, list);
    va_end(list);
    return EXIT_USAGE;
}

void report_line(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    keep(format, list);
    va_end(list);
}

int report_path(int code, const char *path, const char *format, ...)
{
    va_list list;
    (void)path;
    va_start(list, format);
    keep(format, list);
    va_end(list);
    return code;
}

void die_of_memory(void)
{
    abort();
}

#define COMMAND(id, name, ...)                                                                     \
    int command_##name(const arguments *args)                                                      \
    {                                                                                              \
        (void)args;                                                                                \
        return EXIT_CLEAN;                                                                         \
    }
#include "options.def"

/* ---- the command line written out in full ---- */

typedef struct line {
    char *words[4 * WORDS_MAX + 8];
    int count;
    text room[2 * WORDS_MAX]; /* storage for generated words */
    size_t made;
} line;

static void add_option(line *l, option_id id, const char *value)
{
    text *t = &l->room[l->made++];
    text_addf(t, "--%s", option_table[id].name);
    if (value != NULL) {
        text_adds(t, "=");
        text_adds(t, value);
    }
    l->words[l->count++] = t->ptr;
}

static void write_out(const arguments *args, line *l)
{
    l->words[l->count++] = "wb";
    for (size_t i = 0; i < args->rule_count; i++)
        add_option(l, OPTION_RULE, args->rules[i]);
    for (size_t i = 0; i < args->lora_count; i++)
        add_option(l, OPTION_LORA, args->loras[i]);
    for (size_t i = 0; i < args->edit_count; i++)
        add_option(l, args->edits[i].option, args->edits[i].value);
    for (int i = 0; i < OPTION_COUNT; i++) {
        bool listed = i == OPTION_RULE || i == OPTION_LORA || i == OPTION_SET ||
                      i == OPTION_SET_FILE || i == OPTION_DELETE || i == OPTION_RENAME ||
                      i == OPTION_DROP;
        if (args->given[i] && !listed)
            add_option(l, (option_id)i, args->value[i]);
    }
    l->words[l->count++] = "--";
    if (args->command != COMMAND_COUNT)
        l->words[l->count++] = args->operands[-1];
    for (size_t i = 0; i < args->count; i++)
        l->words[l->count++] = args->operands[i];
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void check_same(const arguments *a, const arguments *b)
{
    CHECK(a->command == b->command && a->count == b->count && a->rule_count == b->rule_count &&
          a->lora_count == b->lora_count && a->edit_count == b->edit_count);
    for (int i = 0; i < OPTION_COUNT; i++)
        CHECK(a->given[i] == b->given[i] && same_text(a->value[i], b->value[i]));
    for (size_t i = 0; i < a->count; i++)
        CHECK(strcmp(a->operands[i], b->operands[i]) == 0);
    for (size_t i = 0; i < a->rule_count; i++)
        CHECK(strcmp(a->rules[i], b->rules[i]) == 0);
    for (size_t i = 0; i < a->lora_count; i++)
        CHECK(strcmp(a->loras[i], b->loras[i]) == 0);
    for (size_t i = 0; i < a->edit_count; i++)
        CHECK(a->edits[i].option == b->edits[i].option &&
              strcmp(a->edits[i].value, b->edits[i].value) == 0);
}

static void check_written_out(const arguments *args)
{
    line l = {.count = 0};
    arguments again;
    write_out(args, &l);
    CHECK(arguments_parse(&again, l.count, l.words) == 0);
    check_same(args, &again);
    arguments_free(&again);
    for (size_t i = 0; i < l.made; i++)
        text_free(&l.room[i]);
}

/* ---- values ---- */

/* Opens a GGUF file with a key of every type ("k4" is a u32) and an array of each type ("a4"). */
static const wb_model *model_with_keys(void)
{
    static const uint8_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    static uint8_t file[2048];
    static wb_model *model;
    size_t at = 24;
    if (model != NULL)
        return model;
    memcpy(file, "GGUF\3\0\0\0", 8);
    for (size_t type = 0; type < sizeof widths; type++) {
        for (int array = 0; array < 2 && type != 9; array++) {
            file[at] = 2 + (type > 9);
            at += 8;
            file[at++] = array ? 'a' : 'k';
            if (type > 9)
                file[at++] = '1';
            file[at++] = (uint8_t)('0' + type % 10);
            file[at] = array ? 9 : (uint8_t)type;
            at += 4;
            if (array) {
                file[at] = (uint8_t)type;
                at += 12; /* skip the type and the number of elements, which is 0 */
            } else {
                at += type == 8 ? 8 : widths[type];
            }
            file[16]++;
        }
    }
    CHECK(wb_open_memory(file, at, "x.gguf", NULL, &model, NULL) == WB_OK);
    return model;
}

static void check_value(const char *typed)
{
    const char *equals = strchr(typed, '=');
    char key[64];
    size_t n = equals == NULL ? 0 : (size_t)(equals - typed);
    if (n == 0 || n >= sizeof key)
        return;
    memcpy(key, typed, n);
    key[n] = '\0';
    for (int known = 0; known < 2; known++) {
        edit_value value = {.items = NULL};
        unsigned before = messages;
        const edit_state state = {.model = known ? model_with_keys() : NULL};
        int code = edit_read_value(&state, key, equals + 1, &value);
        CHECK(code == 0 ? messages == before : code == EXIT_USAGE && messages == before + 1);
        const wb_value *v = &value.value;
        if (code == 0 && v->type == WB_META_STRING)
            CHECK(v->text_len == 0 || v->text[v->text_len - 1] != '\0');
        if (code == 0 && v->type == WB_META_UINT && v->bits < 64)
            CHECK(v->number >> v->bits == 0);
        edit_value_free(&value);
    }
}

/* Checks that a pattern with every character escaped matches the unescaped string, and that "*"
 * matches every string. */
static void check_glob(const char *pattern)
{
    char literal[2 * 64 + 1];
    size_t n = strlen(pattern), at = 0;
    (void)glob_matches(pattern, "model.layers.0.weight", 21);
    (void)glob_matches("*a[!x-z]?*", pattern, n);
    CHECK(glob_matches("*", pattern, n));
    if (n > 64)
        return;
    for (size_t i = 0; i < n; i++) {
        literal[at++] = '\\';
        literal[at++] = pattern[i];
    }
    literal[at] = '\0';
    CHECK(glob_matches(literal, pattern, n));
}

static void check_values(const arguments *args)
{
    wb_open_options options;
    wb_limits limits;
    part_option part;
    unsigned before = messages;
    int code = open_options_of(args, &options, &limits);
    CHECK(code == 0 ? messages == before : code == EXIT_USAGE && messages == before + 1);
    before = messages;
    code = part_parse(args->value[OPTION_PART], &part);
    CHECK(code == 0 ? messages == before : code == EXIT_USAGE && messages == before + 1);
    CHECK(code != 0 || part.of == 0 || part.rank < part.of);
    for (size_t i = 0; i < args->edit_count; i++) {
        if (args->edits[i].option == OPTION_SET)
            check_value(args->edits[i].value);
    }
    if (args->given[OPTION_FILTER])
        check_glob(args->value[OPTION_FILTER]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[WORDS_MAX + 2] = {"wb"};
    int count = 1;
    char *room = malloc(size + 1);
    CHECK(room != NULL);
    if (size > 0)
        memcpy(room, data, size);
    room[size] = '\0';
    for (size_t at = 0; at < size && count <= WORDS_MAX; at += strlen(room + at) + 1)
        words[count++] = room + at;
    arguments args;
    messages = 0;
    int code = arguments_parse(&args, count, words);
    CHECK(code == 0 ? messages == 0 : code == EXIT_USAGE && messages == 1);
    if (code == 0) {
        CHECK(args.count < (size_t)count && args.operands >= words &&
              args.operands + args.count <= words + count);
        check_written_out(&args);
        check_values(&args);
    }
    arguments_free(&args);
    free(room);
    return 0;
}
