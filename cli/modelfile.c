#define _XOPEN_SOURCE 700
#include "modelfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "report.h"
#include "values.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

typedef struct piece {
    const char *ptr;
    size_t len;
} piece;

static bool get(const wb_model *model, const char *key, piece *value)
{
    return wb_meta_get_string(model, key, SIZE_MAX, &value->ptr, &value->len, NULL) == WB_OK;
}

/* ---- quoting ----
 *
 * In a Modelfile, a value ends at the first end of a line outside quotation marks. A value in """
 * therefore ends at the first line that ends with """, for which there is no escape sequence. The
 * values come from untrusted files: without the right quotes, a value could end early and add
 * commands such as FROM. Ollama ignores characters that are not printable, also inside quotes.
 */

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Returns true for bytes that Ollama may ignore or trim: all but the visible ASCII characters. */
static bool is_ignored(char c)
{
    return c <= ' ' || c >= 0x7F;
}

/* Returns true if the first visible character is a quotation mark. */
static bool starts_with_quote(piece value)
{
    size_t i = 0;
    while (i < value.len && is_ignored(value.ptr[i]))
        i++;
    return i < value.len && value.ptr[i] == '"';
}

static bool needs_quotes(piece value)
{
    if (value.len == 0)
        return false;
    char first = value.ptr[0], last = value.ptr[value.len - 1];
    return first == ' ' || last == ' ' || first == '\t' || last == '\t' ||
           memchr(value.ptr, '\n', value.len) != NULL ||
           memchr(value.ptr, '\r', value.len) != NULL || starts_with_quote(value);
}

/* Returns the offset of the last quotation mark of a line if the line ends with three of them, or
 * `n`. */
static size_t find_end_quotes(const char *line, size_t n)
{
    size_t count = 0, last = n;
    for (size_t i = n; i > 0 && count < 3; i--) {
        if (is_ignored(line[i - 1]))
            continue;
        if (line[i - 1] != '"')
            return n;
        last = count++ == 0 ? i - 1 : last;
    }
    return count == 3 ? last : n;
}

/* Adds `value` with three quotation marks before and after it. If a line of `value` ends with three
 * quotation marks, adds a space before the last of them. Returns true if that was necessary.
 */
static bool add_triple_quoted(text *t, piece value)
{
    bool changed = false;
    text_adds(t, "\"\"\"");
    for (size_t at = 0; at < value.len;) {
        size_t n = 0;
        while (at + n < value.len && !is_line_end(value.ptr[at + n]))
            n++;
        size_t quote = at + n < value.len ? find_end_quotes(value.ptr + at, n) : n;
        text_add(t, value.ptr + at, quote);
        text_adds(t, quote < n ? " " : "");
        changed = changed || quote < n;
        n += at + n < value.len; /* include the line break, if there is one */
        text_add(t, value.ptr + at + quote, n - quote);
        at += n;
    }
    text_adds(t, "\"\"\"");
    return changed;
}

/* Quotes a string as Ollama does: not at all if it needs no quotes, else with one quotation mark on
 * each side, or with three if the string contains quotation marks.
 */
static void add_quoted(text *t, piece value)
{
    bool has_quotes = value.len > 0 && memchr(value.ptr, '"', value.len) != NULL;
    if (!needs_quotes(value)) {
        text_add(t, value.ptr, value.len);
    } else if (has_quotes) {
        if (add_triple_quoted(t, value))
            report_line(MSG_MODELFILE_QUOTES);
    } else {
        text_adds(t, "\"");
        text_add(t, value.ptr, value.len);
        text_adds(t, "\"");
    }
}

static void add_line(text *t, const char *command, piece value)
{
    text_addf(t, "%s ", command);
    add_quoted(t, value);
    text_adds(t, "\n");
}

/* Adds a line `command` VALUE for each value of `key`. If the Ollama manifest has several layers of
 * one kind, such as licenses, their contents are the metadata entries `key`, `key`.2, `key`.3, …
 */
static void add_all(text *t, const wb_model *model, const char *key, const char *command)
{
    char numbered[64];
    piece value;
    for (unsigned i = 1;; i++) {
        (void)snprintf(numbered, sizeof numbered, i == 1 ? "%s" : "%s.%u", key, i);
        if (!get(model, numbered, &value))
            return;
        add_line(t, command, value);
    }
}

/* ---- names ---- */

static void add_part(text *t, const char *part, size_t n, const char *usual)
{
    if (strlen(usual) == n && memcmp(part, usual, n) == 0)
        return;
    text_add(t, part, n);
    text_adds(t, "/");
}

/* Adds the model name host/namespace/model:tag in Ollama's short form. The name is the path after
 * the last "/manifests/" in the path of a manifest.
 */
static bool add_name_of_manifest(text *t, const char *path)
{
    static const char folder[] = "/manifests/";
    const char *last = text_last(path, folder);
    if (last == NULL)
        return false;
    const char *parts[4];
    size_t lens[4], count = 0;
    for (const char *p = last + strlen(folder); *p != '\0' && count < 4; count++) {
        parts[count] = p;
        lens[count] = strcspn(p, "/");
        p += lens[count] + (p[lens[count]] == '/');
    }
    if (count < 4)
        return false;
    add_part(t, parts[0], lens[0], "registry.ollama.ai");
    add_part(t, parts[1], lens[1], "library");
    text_add(t, parts[2], lens[2]);
    text_adds(t, ":");
    text_add(t, parts[3], lens[3]);
    return true;
}

static void add_name(text *t, const char *path)
{
    static const char scheme[] = "ollama://";
    if (strncmp(path, scheme, strlen(scheme)) == 0)
        path += strlen(scheme);
    else if (add_name_of_manifest(t, path))
        return;
    const char *slash = strrchr(path, '/');
    text_adds(t, path);
    if (strchr(slash == NULL ? path : slash, ':') == NULL)
        text_adds(t, ":latest");
}

/* ---- FROM ---- */

/* Adds an absolute path, so that the Modelfile also works in another directory. */
static void add_path(text *t, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *shown = whole == NULL ? path : whole;
    add_quoted(t, (piece){shown, strlen(shown)});
    free(whole);
}

static void add_from(text *t, const wb_model *model, const char *path)
{
    bool is_gguf = strcmp(wb_format(model), "gguf") == 0;
    if (!is_gguf) {
        text name = {0};
        add_name(&name, path);
        add_line(t, "FROM", (piece){name.ptr, name.len});
        text_free(&name);
        return;
    }
    for (uint64_t i = 0; i < wb_file_count(model); i++) {
        wb_file file = WB_FILE_INIT;
        if (wb_file_at(model, i, &file, NULL) != WB_OK)
            continue;
        text_adds(t, "FROM ");
        add_path(t, file.path);
        text_adds(t, "\n");
    }
}

static void add_beside(text *t, const wb_model *model, const char *key, const char *command)
{
    char numbered[64];
    piece value;
    for (unsigned i = 1;; i++) {
        (void)snprintf(numbered, sizeof numbered, i == 1 ? "%s" : "%s.%u", key, i);
        if (!get(model, numbered, &value))
            return;
        text_addf(t, "%s ", command);
        add_path(t, value.ptr);
        text_adds(t, "\n");
    }
}

/* ---- JSON ---- */

typedef struct reading {
    text *to;
    text key;     /* current key of the outermost object, or of an object in the outermost array */
    text role;    /* of the current message; in take_setting: the value of "renderer" */
    text content; /* of the current message; in take_setting: the value of "parser" */
    unsigned depth;
} reading;

static void add_number(text *t, const wb_json_item *item)
{
    if (item->kind == WB_JSON_UINT)
        text_addf(t, "%llu", (unsigned long long)item->number);
    else
        text_add_f64(t, item->real);
}

static void step(reading *r, const wb_json_item *item)
{
    r->depth += item->kind == WB_JSON_OBJECT || item->kind == WB_JSON_ARRAY;
    r->depth -= item->kind == WB_JSON_OBJECT_END || item->kind == WB_JSON_ARRAY_END;
}

/* Returns true if Ollama accepts the name of a parameter. */
static bool is_parameter(const char *name, size_t n)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (size_t i = 0; i < n; i++) {
        if (memchr(allowed, name[i], sizeof allowed - 1) == NULL)
            return false;
    }
    return n > 0;
}

/* Reads {"stop": ["a", "b"], "temperature": 0.7} and adds a PARAMETER line for each value. */
static int take_parameter(void *ctx, const wb_json_item *item)
{
    reading *r = ctx;
    step(r, item);
    if (item->kind == WB_JSON_KEY && r->depth == 1) {
        text_clear(&r->key);
        if (is_parameter(item->text, item->len))
            text_add(&r->key, item->text, item->len);
        else
            report_line(MSG_MODELFILE_PARAMETER);
    }
    if (item->kind < WB_JSON_STRING || item->kind == WB_JSON_NULL || r->depth > 2 ||
        r->key.len == 0)
        return 0;
    text_addf(r->to, "PARAMETER %s ", r->key.ptr);
    if (item->kind == WB_JSON_STRING)
        add_quoted(r->to, (piece){item->text, item->len});
    else if (item->kind == WB_JSON_BOOL)
        text_adds(r->to, item->number != 0 ? "true" : "false");
    else
        add_number(r->to, item);
    text_adds(r->to, "\n");
    return 0;
}

static bool is_role(const text *role)
{
    static const char *const roles[] = {"system", "user", "assistant"};
    for (size_t i = 0; role->ptr != NULL && i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(role->ptr, roles[i]) == 0)
            return true;
    }
    return false;
}

/* Adds a MESSAGE line. Skips a message with an unknown role and prints a warning: Ollama refuses
 * such a role, and a role cannot be quoted.
 */
static void add_message(reading *r)
{
    if (!is_role(&r->role)) {
        report_line(MSG_MODELFILE_ROLE);
        return;
    }
    text_addf(r->to, "MESSAGE %s ", r->role.ptr);
    add_quoted(r->to, (piece){r->content.ptr == NULL ? "" : r->content.ptr, r->content.len});
    text_adds(r->to, "\n");
}

/* Reads [{"role": "user", "content": "hi"}] and adds a MESSAGE line for each object. */
static int take_message(void *ctx, const wb_json_item *item)
{
    reading *r = ctx;
    bool is_end = item->kind == WB_JSON_OBJECT_END && r->depth == 2;
    step(r, item);
    if (item->kind == WB_JSON_KEY && r->depth == 2) {
        text_clear(&r->key);
        text_add(&r->key, item->text, item->len);
    } else if (item->kind == WB_JSON_STRING && r->depth == 2 && r->key.ptr != NULL) {
        bool is_role = strcmp(r->key.ptr, "role") == 0;
        if (is_role || strcmp(r->key.ptr, "content") == 0) {
            text *to = is_role ? &r->role : &r->content;
            text_clear(to);
            text_add(to, item->text, item->len);
        }
    } else if (is_end) {
        add_message(r);
        text_clear(&r->role);
        text_clear(&r->content);
    }
    return 0;
}

/* Reads the members "renderer" and "parser" of the config object into `role` and `content`. */
static int take_setting(void *ctx, const wb_json_item *item)
{
    reading *r = ctx;
    step(r, item);
    if (item->kind == WB_JSON_KEY && r->depth == 1) {
        text_clear(&r->key);
        text_add(&r->key, item->text, item->len);
    }
    if (item->kind != WB_JSON_STRING || r->depth != 1 || item->len == 0 || r->key.ptr == NULL)
        return 0;
    bool is_renderer = strcmp(r->key.ptr, "renderer") == 0;
    if (is_renderer || strcmp(r->key.ptr, "parser") == 0) {
        text *to = is_renderer ? &r->role : &r->content;
        text_clear(to);
        text_add(to, item->text, item->len);
    }
    return 0;
}

static void reading_free(reading *r)
{
    text_free(&r->key);
    text_free(&r->role);
    text_free(&r->content);
}

static void add_json(text *t, const wb_model *model, const char *key,
                     int (*take)(void *ctx, const wb_json_item *item))
{
    reading r = {.to = t};
    wb_error error;
    piece json;
    if (get(model, key, &json) && wb_json_walk(json.ptr, json.len, take, &r, &error) != WB_OK)
        report_error(key, &error);
    reading_free(&r);
}

static void add_settings(text *t, const wb_model *model)
{
    reading r = {.to = t};
    piece json;
    if (get(model, "ollama.config", &json) &&
        wb_json_walk(json.ptr, json.len, take_setting, &r, NULL) == WB_OK) {
        if (r.role.len > 0)
            add_line(t, "RENDERER", (piece){r.role.ptr, r.role.len});
        if (r.content.len > 0)
            add_line(t, "PARSER", (piece){r.content.ptr, r.content.len});
    }
    reading_free(&r);
}

bool text_add_modelfile(text *t, const wb_model *model, const char *path)
{
    piece config;
    if (!get(model, "ollama.config", &config))
        return false;
    text_adds(t, "# Modelfile generated by \"wb inspect --modelfile\"\n"
                 "# To build a new Modelfile based on this, replace FROM with:\n# FROM ");
    text name = {0};
    add_name(&name, path);
    text_add_shown(t, name.ptr, name.len);
    text_free(&name);
    text_adds(t, "\n\n");
    add_from(t, model, path);
    add_beside(t, model, "ollama.adapter", "ADAPTER");
    add_beside(t, model, "ollama.draft", "DRAFT");
    add_beside(t, model, "ollama.projector", "FROM");
    add_all(t, model, "ollama.template", "TEMPLATE");
    add_all(t, model, "ollama.system", "SYSTEM");
    add_settings(t, model);
    add_json(t, model, "ollama.params", take_parameter);
    add_all(t, model, "ollama.license", "LICENSE");
    add_json(t, model, "ollama.messages", take_message);
    return true;
}
