/* edit_values.c: parses metadata values from the command line or from a file. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "edit.h"
#include "exit.h"
#include "messages.h"
#include "report.h"

/* maximum size in bytes of a file that contains a value; the limit of safetensors headers */
#define TEXT_MAX 100000000

static const struct type_row {
    const char *name;
    wb_meta_type type;
    uint32_t bits;
} types[] = {
    {"u8", WB_META_UINT, 8},    {"i8", WB_META_INT, 8},    {"u16", WB_META_UINT, 16},
    {"i16", WB_META_INT, 16},   {"u32", WB_META_UINT, 32}, {"i32", WB_META_INT, 32},
    {"u64", WB_META_UINT, 64},  {"i64", WB_META_INT, 64},  {"f32", WB_META_FLOAT, 32},
    {"f64", WB_META_FLOAT, 64}, {"bool", WB_META_BOOL, 0}, {"str", WB_META_STRING, 0},
};

static bool fits(uint64_t magnitude, bool negative, const wb_value *value)
{
    uint32_t bits = value->bits == 0 ? 64 : value->bits;
    uint64_t most =
        value->type == WB_META_INT ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    if (value->type == WB_META_UINT)
        return !negative && magnitude <= most;
    return magnitude <= most + (negative ? 1 : 0);
}

bool edit_fits_float(double real, uint32_t bits)
{
    float single = (float)real;
    return bits != 32 || !isfinite(real) || (isfinite(single) && (single != 0 || real == 0));
}

/* Parses text as the type in value->type. Returns false if the text is not a value of that type. */
static bool parse_as(const char *typed, wb_value *value)
{
    char *end;
    errno = 0;
    switch (value->type) {
    case WB_META_STRING:
        value->text = typed;
        value->text_len = strlen(typed);
        return true;
    case WB_META_BOOL:
        value->number = strcmp(typed, "true") == 0;
        return value->number == 1 || strcmp(typed, "false") == 0;
    case WB_META_FLOAT:
        value->real = strtod(typed, &end);
        /* errno is ERANGE if the result is infinite, 0 or subnormal. Accept subnormal results. */
        return end != typed && *end == '\0' &&
               (errno == 0 || (isfinite(value->real) && value->real != 0)) &&
               edit_fits_float(value->real, value->bits);
    case WB_META_INT:
    case WB_META_UINT: {
        bool negative = typed[0] == '-';
        if (typed[negative] < '0' || typed[negative] > '9')
            return false;
        unsigned long long magnitude = strtoull(typed + negative, &end, 10);
        value->number = negative ? 0 - (uint64_t)magnitude : magnitude;
        return *end == '\0' && errno == 0 && fits(magnitude, negative, value);
    }
    default: return false;
    }
}

/* Returns true for decimal numbers with optional point and exponent. Other input of strtod, such as
 * "Infinity" or hexadecimal digits, is rejected.
 */
static bool is_number(const char *typed)
{
    char *end;
    size_t n = strlen(typed);
    if (typed[0] == '+' || strspn(typed, "0123456789+-.eE") != n)
        return false;
    (void)strtod(typed, &end);
    return end != typed && end == typed + n;
}

/* Guesses the type of a new key from its value. Integers do not become floats, which would lose
 * digits. Returns false for a number that no type can represent; such a number does not become a
 * string either.
 */
static bool guess(const char *typed, wb_value *value)
{
    /* indices in `types`: bool u32 i32 u64 i64 f32 str */
    static const size_t order[] = {10, 4, 5, 6, 7, 8, 11};
    bool number = is_number(typed), has_point = strpbrk(typed, ".eE") != NULL;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        value->type = types[order[i]].type;
        value->bits = types[order[i]].bits;
        if (value->type == WB_META_FLOAT ? !number || !has_point
                                         : value->type == WB_META_STRING && number)
            continue;
        if (parse_as(typed, value))
            return true;
    }
    return false;
}

static int fail_value(const char *key, const char *typed)
{
    text line = {0};
    text_add_shown(&line, typed, strlen(typed));
    text_adds(&line, "' is not a valid value for ");
    text_add_shown(&line, key, strlen(key));
    int code = report_usage("'%.600s", line.ptr);
    text_free(&line);
    return code;
}

static int fail_guess(const char *key, const char *typed)
{
    text line = {0};
    text_add_shown(&line, typed, strlen(typed));
    text_adds(&line, "' for ");
    text_add_shown(&line, key, strlen(key));
    int code = report_usage(
        "'%.600s: the value fits no default type of a new key; add a type: f64:, f64[]: or str:",
        line.ptr);
    text_free(&line);
    return code;
}

/* Parses a type prefix, "TYPE:" or "TYPE[]:". If there is one, sets the type and sets *rest to the
 * start of the value.
 */
static bool is_typed(const char *typed, wb_value *value, const char **rest)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t n = strlen(types[i].name);
        if (strncmp(typed, types[i].name, n) != 0)
            continue;
        bool is_array = strncmp(typed + n, "[]", 2) == 0;
        n += is_array ? 2 : 0;
        if (typed[n] != ':')
            continue;
        value->type = is_array ? WB_META_ARRAY : types[i].type;
        if (is_array)
            value->element = types[i].type;
        value->bits = types[i].bits;
        *rest = typed + n + 1;
        return true;
    }
    return false;
}

static int read_array(const char *key, const char *json, size_t n, edit_value *to)
{
    const char *fault = edit_read_array(json, n, to);
    if (fault == NULL)
        return 0;
    text line = {0};
    text_add_shown(&line, key, strlen(key));
    int code = report_usage("'%.600s': the value is not valid: %s", line.ptr, fault);
    text_free(&line);
    return code;
}

/* Stores the type that the key has in the file. Returns false if the file does not contain the key.
 */
static bool find_in_file(const wb_model *model, const char *key, size_t n, wb_value *value)
{
    uint64_t index;
    wb_meta meta = WB_META_INIT;
    wb_meta_array array = WB_META_ARRAY_INIT;
    if (wb_meta_find(model, key, n, &index) != WB_OK ||
        wb_meta_at(model, index, &meta, NULL) != WB_OK || meta.file == WB_NO_FILE)
        return false;
    value->type = meta.type;
    value->bits = meta.type == WB_META_BOOL ? 0 : meta.bits;
    if (meta.type == WB_META_ARRAY &&
        wb_meta_get_array(model, key, n, WB_META_ANY, &array, NULL) == WB_OK) {
        value->element = array.element;
        value->bits = array.bits;
    }
    return true;
}

static bool is_name(const char *name, size_t n, const char *wanted, size_t wanted_len)
{
    return n == wanted_len && memcmp(name, wanted, n) == 0;
}

/* Stores the type that the key has after all edits. Returns false if the key will not exist. Walks
 * from the last edit to the first: if the key was renamed, continues with its previous name until
 * an edit that sets the key, or until the key in the file.
 */
static bool find_type(const edit_state *state, const char *key, wb_value *value)
{
    size_t n = strlen(key);
    for (size_t i = state->count; i-- > 0;) {
        const wb_edit *edit = &state->edits[i];
        bool renames = edit->kind == WB_EDIT_RENAME_KEY;
        if (renames && is_name(edit->to, edit->to_len, key, n)) {
            key = edit->name;
            n = edit->name_len;
        } else if (is_name(edit->name, edit->name_len, key, n)) {
            if (edit->kind == WB_EDIT_SET) {
                value->type = edit->value->type;
                value->element = edit->value->element;
                value->bits = edit->value->bits;
            }
            if (renames || edit->kind == WB_EDIT_SET || edit->kind == WB_EDIT_DELETE)
                return edit->kind == WB_EDIT_SET;
        }
    }
    return find_in_file(state->model, key, n, value);
}

static bool is_gguf(const wb_model *model)
{
    return model != NULL && strcmp(wb_format(model), "gguf") == 0;
}

int edit_read_value(const edit_state *state, const char *key, const char *typed, edit_value *to)
{
    wb_value *value = &to->value;
    *value = (wb_value){.size = sizeof *value, .type = WB_META_STRING};
    if (is_gguf(state->model) && !is_typed(typed, value, &typed) && !find_type(state, key, value)) {
        value->type = WB_META_ARRAY; /* the element type is guessed when the JSON is parsed */
        if (typed[0] == '[' && edit_read_array(typed, strlen(typed), to) == NULL)
            return 0;
        return !to->of_numbers && guess(typed, value) ? 0 : fail_guess(key, typed);
    }
    if (value->type == WB_META_ARRAY)
        return read_array(key, typed, strlen(typed), to);
    return parse_as(typed, value) ? 0 : fail_value(key, typed);
}

static int read_from(FILE *file, const char *path, text *to)
{
    char chunk[16384];
    size_t n = sizeof chunk;
    bool failed = file == NULL;
    text_adds(to, "");
    while (!failed && n == sizeof chunk && to->len <= TEXT_MAX) {
        n = fread(chunk, 1, sizeof chunk, file);
        failed = ferror(file) != 0;
        text_add(to, chunk, n);
    }
    int os_error = errno;
    if (file != NULL)
        (void)fclose(file);
    if (failed)
        return report_path(EXIT_IO, path, MSG_CANNOT_READ_FILE, strerror(os_error));
    return to->len > TEXT_MAX
               ? report_path(EXIT_BAD_INPUT, path, "the file has more than %d bytes", TEXT_MAX)
               : 0;
}

int edit_read_text(const char *path, text *to)
{
    return read_from(fopen(path, "rb"), path, to);
}

int edit_read_config(const char *path, text *to)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (fd < 0 || regular)
        return read_from(fd < 0 ? NULL : fdopen(fd, "rb"), path, to);
    (void)close(fd);
    return report_path(EXIT_BAD_INPUT, path, MSG_NOT_REGULAR_FILE);
}

int edit_read_file_value(const edit_state *state, const char *key, const char *path, edit_value *to)
{
    wb_value *value = &to->value;
    int code = edit_read_text(path, &to->strings);
    *value = (wb_value){.size = sizeof *value};
    if (code != 0)
        return code;
    if (is_gguf(state->model) && find_type(state, key, value) && value->type == WB_META_ARRAY) {
        text json = to->strings;
        to->strings = (text){0};
        code = read_array(key, json.ptr, json.len, to);
        text_free(&json);
        return code;
    }
    *value = (wb_value){.size = sizeof *value,
                        .type = WB_META_STRING,
                        .text = to->strings.ptr,
                        .text_len = to->strings.len};
    return 0;
}

void edit_value_free(edit_value *value)
{
    text_free(&value->strings);
    free(value->items);
    free(value->lens);
}
