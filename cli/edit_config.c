/* wb edit on a directory: edits members of config.json. All other bytes of the file stay unchanged.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "edit.h"
#include "exit.h"
#include "messages.h"
#include "report.h"

/* A member of an object in the JSON text. Its text begins at offset `key`, the opening quote of the
 * key, and ends before offset `end`, the end of the value.
 */
typedef struct member {
    bool found;
    size_t key, key_end, value, end;
    size_t object,
        object_end;   /* offsets of the braces of the object that has or will have the member */
    bool is_empty;    /* the object has no members */
    const char *name; /* name of the member, without escape sequences */
    size_t len;
} member;

static size_t skip_space(const char *json, size_t at)
{
    while (json[at] == ' ' || json[at] == '\n' || json[at] == '\t' || json[at] == '\r')
        at++;
    return at;
}

/* Returns the offset after the string that begins at `at`. Precondition: the text is valid JSON. */
static size_t skip_string(const char *json, size_t at)
{
    for (at++; json[at] != '"'; at++)
        at += json[at] == '\\';
    return at + 1;
}

static size_t skip_value(const char *json, size_t at)
{
    size_t depth = 0;
    do {
        char c = json[at];
        if (c == '"') {
            at = skip_string(json, at);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= depth != 0 && (c == '}' || c == ']');
        at++;
    } while (depth != 0 || strchr(",}] \n\t\r", json[at]) == NULL || json[at - 1] == ',');
    return at;
}

/* Advances to the first member of the object, or to the next member. Returns false at the end of
 * the object.
 */
static bool step(const char *json, member *m)
{
    bool is_first = m->end == 0;
    size_t at = skip_space(json, is_first ? m->object + 1 : m->end);
    if (!is_first && json[at] == ',')
        at = skip_space(json, at + 1);
    if (json[at] == '}') {
        m->object_end = at;
        m->is_empty = is_first;
        return false;
    }
    m->key = at;
    m->key_end = skip_string(json, at);
    m->value = skip_space(json, skip_space(json, m->key_end) + 1);
    m->end = skip_value(json, m->value);
    return true;
}

static int compare_key(void *ctx, const wb_json_item *item)
{
    member *m = ctx;
    m->found = item->len == m->len && memcmp(item->text, m->name, m->len) == 0;
    return 0;
}

/* Returns true if the key equals the name. Escape sequences are decoded before the comparison,
 * because JSON can write the same character in several ways.
 */
static bool has_name(const char *json, const member *at, const char *name, size_t len)
{
    const char *key = json + at->key;
    size_t n = at->key_end - at->key;
    member wanted = {.name = name, .len = len};
    if (memchr(key, '\\', n) == NULL)
        return n - 2 == len && memcmp(key + 1, name, len) == 0;
    return wb_json_walk(key, n, compare_key, &wanted, NULL) == WB_OK && wanted.found;
}

/* Finds a member of the object that begins at `at`. If several members have the name, returns the
 * last, which is the member that most JSON parsers use.
 */
static member find_member(const char *json, size_t at, const char *name, size_t len)
{
    member m = {.object = at, .name = name, .len = len}, i = {.object = at};
    while (step(json, &i)) {
        if (!has_name(json, &i, name, len))
            continue;
        m.found = true;
        m.key = i.key;
        m.key_end = i.key_end;
        m.value = i.value;
        m.end = i.end;
    }
    m.object_end = i.object_end;
    m.is_empty = i.is_empty;
    return m;
}

/* Finds the member that a path names. Tries the whole path as a key first, because keys may contain
 * dots, and then splits the path at its dots.
 */
static bool find_path(const char *json, const char *path, member *m)
{
    size_t at = skip_space(json, 0);
    *m = find_member(json, at, path, strlen(path));
    for (const char *dot = strchr(path, '.'); !m->found && dot != NULL; dot = strchr(path, '.')) {
        member outer = find_member(json, at, path, (size_t)(dot - path));
        if (!outer.found || json[outer.value] != '{')
            return false;
        at = outer.value;
        path = dot + 1;
        *m = find_member(json, at, path, strlen(path));
    }
    return true;
}

static void replace(text *t, size_t from, size_t to, const char *with, size_t n)
{
    text result = {0};
    text_add(&result, t->ptr, from);
    text_add(&result, with, n);
    text_add(&result, t->ptr + to, t->len - to);
    text_free(t);
    *t = result;
}

static int collect(void *ctx, const char *bytes, size_t n)
{
    text_add(ctx, bytes, n);
    return 0;
}

static void add_string(text *t, const char *bytes, size_t n)
{
    wb_json json = {.size = sizeof json, .write = collect, .ctx = t};
    wb_json_string(&json, bytes, n);
}

static int nothing(void *ctx, const wb_json_item *item)
{
    (void)ctx;
    (void)item;
    return 0;
}

/* Deletes all members of m's object that have m's name. If keeps_last is true, keeps m, which is
 * the last of them.
 */
static void delete(text *t, const member *m, bool keeps_last)
{
    text result = {0};
    size_t done = 0; /* bytes of the text already copied or deleted */
    member i = {.object = m->object};
    while (step(t->ptr, &i)) {
        if (!has_name(t->ptr, &i, m->name, m->len) || (keeps_last && i.key == m->key))
            continue;
        text_add(&result, t->ptr + done, i.key - done);
        done = skip_space(t->ptr, i.end);
        if (t->ptr[done] == ',') {
            done = skip_space(t->ptr, done + 1);
            continue;
        }
        done = i.end; /* last member: also delete the comma before it */
        while (result.len > m->object + 1 && strchr(" \n\t\r", result.ptr[result.len - 1]) != NULL)
            result.len--;
        result.len -= result.ptr[result.len - 1] == ',';
    }
    text_add(&result, t->ptr + done, t->len - done);
    text_free(t);
    *t = result;
}

static void set(text *t, const member *m, const text *value)
{
    if (m->found) {
        replace(t, m->value, m->end, value->ptr, value->len);
        delete (t, m, true);
        return;
    }
    /* Insert before the white space that precedes the closing brace, and repeat the white space
     * that precedes the first key.
     */
    size_t end = m->object_end;
    while (end > m->object + 1 && strchr(" \n\t\r", t->ptr[end - 1]) != NULL)
        end--;
    size_t first = skip_space(t->ptr, m->object + 1);
    text line = {0};
    if (!m->is_empty)
        text_adds(&line, ",");
    text_add(&line, t->ptr + m->object + 1, m->is_empty ? 0 : first - m->object - 1);
    add_string(&line, m->name, m->len);
    text_adds(&line, ": ");
    text_add(&line, value->ptr, value->len);
    replace(t, end, end, line.ptr, line.len);
    text_free(&line);
}

static int fail_key(const char *key, const char *what)
{
    text line = {0};
    text_add_shown(&line, key, strlen(key));
    int code = report_usage("config.json: '%.600s' %s", line.ptr, what);
    text_free(&line);
    return code;
}

/* Appends a JSON string. Returns 0, or an exit code after reporting bytes that are not UTF-8. */
static int take_string(text *to, const char *key, const char *bytes, size_t n)
{
    text line = {0};
    if (text_is_utf8(bytes, n)) {
        add_string(to, bytes, n);
        return 0;
    }
    text_add_shown(&line, key, strlen(key));
    report_line(MSG_CONFIG_NOT_UTF8, line.ptr);
    text_free(&line);
    return EXIT_UNSUPPORTED;
}

static int rename_member(text *config, const member *m, const char *key, const char *to)
{
    text name = {0};
    if (!m->found)
        return fail_key(key, "does not exist");
    if (find_member(config->ptr, m->object, to, strlen(to)).found)
        return fail_key(key, "cannot be renamed to an existing name");
    int code = take_string(&name, key, to, strlen(to));
    if (code == 0) {
        delete (config, m, true);
        member now = find_member(config->ptr, m->object, m->name, m->len);
        replace(config, now.key, now.key_end, name.ptr, name.len);
    }
    text_free(&name);
    return code;
}

#define SHOWN_BYTES 60 /* longer values are truncated in the report of changes */

/* Adds JSON text of a value, on one line. */
static void add_json(text *t, const char *json, size_t n)
{
    size_t shown = n < SHOWN_BYTES ? n : SHOWN_BYTES;
    while (shown < n && shown > 0 && ((unsigned char)json[shown] & 0xC0) == 0x80)
        shown--; /* truncate at a UTF-8 character boundary */
    text_add_shown(t, json, shown);
    if (shown < n)
        text_adds(t, "...");
}

/* Describes the change of a member, before it is made. `to` is the new value as JSON text, the new
 * name if the member is renamed, or empty if the member is removed.
 */
static void add_change(edit_changes *changes, const text *config, const member *m, option_id option,
                       const char *key, const text *to)
{
    bool is_rename = option == OPTION_RENAME;
    text *t = &changes->shown;
    json_bytes old = {config->ptr + m->value, m->found && !is_rename ? m->end - m->value : 0};
    if (changes->is_json) {
        text name = {0};
        if (is_rename)
            add_string(&name, to->ptr, to->len);
        const text *new = is_rename ? &name : to;
        json_config_edit(&changes->json,
                         is_rename                 ? "rename-key"
                         : option == OPTION_DELETE ? "delete"
                                                   : "set",
                         key, old, (json_bytes){new->ptr, new->len});
        text_free(&name);
        return;
    }
    text_adds(t, "  ");
    text_add_shown(t, key, strlen(key));
    text_adds(t, is_rename ? ": renamed to " : m->found ? ": " : ": new key, ");
    add_json(t, old.ptr, old.n);
    text_adds(t, old.n > 0 ? " -> " : "");
    if (option == OPTION_DELETE)
        text_adds(t, "removed");
    else
        add_json(t, to->ptr, to->len);
    text_adds(t, "\n");
}

static int apply(const arguments *args, text *config, edit_changes *changes, option_id option,
                 const char *word)
{
    member m = {0};
    text key = {0}, value = {0};
    const char *sign = strchr(word, '=');
    int code = 0;
    text_adds(&key, "");
    const char *behind = sign == NULL ? "" : sign + 1;
    text_add(&key, word,
             sign == NULL || option == OPTION_DELETE ? strlen(word) : (size_t)(sign - word));
    if (option == OPTION_DROP)
        code = report_usage("--drop works on files: name the file that contains the tensor");
    else if (sign == NULL && option != OPTION_DELETE)
        code = report_usage(MSG_OPTION_NEEDS_PAIR, option_table[option].name);
    else if (!text_is_utf8(key.ptr, key.len))
        code = take_string(&value, key.ptr, key.ptr, key.len);
    else if (!find_path(config->ptr, key.ptr, &m))
        code = fail_key(key.ptr,
                        "contains a name that is not an object; --set NAME={...} creates one");
    if (code == 0 && option == OPTION_SET_FILE) {
        text file = {0};
        code = edit_read_text(behind, &file);
        if (code == 0)
            code = take_string(&value, key.ptr, file.ptr, file.len);
        text_free(&file);
    } else if (code == 0 && option == OPTION_SET) {
        if (wb_json_walk(behind, strlen(behind), nothing, NULL, NULL) == WB_OK)
            text_adds(&value, behind);
        else
            code = take_string(&value, key.ptr, behind, strlen(behind));
    }
    if (code == 0 && (option == OPTION_SET || option == OPTION_SET_FILE)) {
        add_change(changes, config, &m, option, key.ptr, &value);
        set(config, &m, &value);
    } else if (code == 0 && option == OPTION_DELETE && m.found) {
        add_change(changes, config, &m, option, key.ptr, &value);
        delete (config, &m, false);
    } else if (code == 0 && option == OPTION_DELETE && !args->given[OPTION_IGNORE_MISSING]) {
        code = fail_key(key.ptr, "does not exist; --ignore-missing accepts this");
    } else if (code == 0 && option == OPTION_RENAME) {
        text_adds(&value, behind);
        add_change(changes, config, &m, option, key.ptr, &value);
        code = rename_member(config, &m, key.ptr, behind);
    }
    text_free(&key);
    text_free(&value);
    return code;
}

/* Replaces the file at `path` by a file with the new text. */
static int write_config(const char *path, const text *config)
{
    out *file = out_file(path);
    if (file == NULL)
        return EXIT_IO;
    out_write(file, config->ptr, config->len);
    return out_commit(file, 0);
}

/* Returns the number of other hard links of the file. */
static uint64_t other_links(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_nlink > 1 ? (uint64_t)st.st_nlink - 1 : 0;
}

/* Writes the edited text and reports the result. */
static int finish(const arguments *args, const char *path, const text *was, const text *config,
                  edit_changes *changes)
{
    bool same = was->len == config->len && memcmp(was->ptr, config->ptr, was->len) == 0;
    const wb_edited edited = {.size = sizeof edited,
                              .way = same ? WB_EDIT_NOTHING : WB_EDIT_NEW_FILE,
                              .bytes = config->len,
                              .links = other_links(path)};
    int code = same || args->given[OPTION_DRY_RUN] ? 0 : write_config(path, config);
    if (code == 0)
        edit_warn_links(path, &edited);
    if (code == 0 && args->given[OPTION_JSON])
        edit_answer_json(path, &edited, changes);
    else if (code == 0)
        edit_print_changes(path, changes);
    return code;
}

/* Returns true if config.json is a link to a file outside the folder. Such a file is not part of
 * the model, and a folder from a stranger could make the command modify any file of the user.
 */
static bool is_outside(const char *folder, const char *path)
{
    char *inner = realpath(folder, NULL), *file = realpath(path, NULL);
    size_t n = inner == NULL ? 0 : strlen(inner);
    bool is_below = inner != NULL && file != NULL && strncmp(file, inner, n) == 0 &&
                    (file[n] == '/' || strcmp(inner, "/") == 0);
    bool outside = file != NULL && !is_below;
    free(inner);
    free(file);
    return outside;
}

int edit_config(const arguments *args, const char *folder)
{
    text path = {0}, was = {0}, config = {0};
    edit_changes changes;
    wb_error error;
    edit_changes_open(&changes, args->given[OPTION_JSON]);
    text_adds(&path, folder);
    text_adds(&path, "/config.json");
    int code = !args->given[OPTION_FOLLOW_LINKS] && is_outside(folder, path.ptr)
                   ? report_path(EXIT_BAD_INPUT, path.ptr, MSG_CONFIG_OUTSIDE)
                   : edit_read_config(path.ptr, &was);
    wb_status status = code == 0 ? wb_json_walk(was.ptr, was.len, nothing, NULL, &error) : WB_OK;
    if (status != WB_OK) {
        report_error(path.ptr, &error);
        code = exit_code_of(status);
    } else if (code == 0 && was.ptr[skip_space(was.ptr, 0)] != '{') {
        code = report_path(EXIT_BAD_INPUT, path.ptr, MSG_CONFIG_NOT_OBJECT);
    }
    text_add(&config, was.ptr, code == 0 ? was.len : 0);
    for (size_t i = 0; i < args->edit_count && code == 0; i++)
        code = apply(args, &config, &changes, args->edits[i].option, args->edits[i].value);
    if (code == 0)
        code = finish(args, path.ptr, &was, &config, &changes);
    edit_changes_close(&changes);
    text_free(&path);
    text_free(&was);
    text_free(&config);
    return code;
}
