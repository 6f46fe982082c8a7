#define _XOPEN_SOURCE 700
#include "modelfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Quotes a string as Ollama does: no quotes, one quotation mark, or three if the string contains
 * quotation marks.
 */
static void add_quoted(text *t, piece value)
{
    bool is_odd = value.len > 0 && (memchr(value.ptr, '\n', value.len) != NULL ||
                                    value.ptr[0] == ' ' || value.ptr[value.len - 1] == ' ');
    bool has_quotes = value.len > 0 && memchr(value.ptr, '"', value.len) != NULL;
    const char *mark = !is_odd ? "" : has_quotes ? "\"\"\"" : "\"";
    text_adds(t, mark);
    text_add(t, value.ptr, value.len);
    text_adds(t, mark);
}

static void add_line(text *t, const char *command, piece value)
{
    text_addf(t, "%s ", command);
    add_quoted(t, value);
    text_adds(t, "\n");
}

/* Adds a line with `command` for each layer of a kind. Their metadata keys are `key`, `key`.2, … */
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
    const char *last = NULL;
    for (const char *p = path; (p = strstr(p, folder)) != NULL; p++)
        last = p;
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
    text_adds(t, whole == NULL ? path : whole);
    free(whole);
}

static void add_from(text *t, const wb_model *model, const char *path)
{
    bool is_gguf = strcmp(wb_format(model), "gguf") == 0;
    if (!is_gguf) {
        text_adds(t, "FROM ");
        add_name(t, path);
        text_adds(t, "\n");
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
    text key;  /* current key of the outermost object, or of an object in the outermost array */
    text role; /* role of the current message, or the renderer of the config */
    text content;
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

/* Reads {"stop": ["a", "b"], "temperature": 0.7} and adds a PARAMETER line for each value. */
static int take_parameter(void *ctx, const wb_json_item *item)
{
    reading *r = ctx;
    step(r, item);
    if (item->kind == WB_JSON_KEY && r->depth == 1) {
        text_clear(&r->key);
        text_add_shown(&r->key, item->text, item->len);
    }
    if (item->kind < WB_JSON_STRING || item->kind == WB_JSON_NULL || r->depth > 2)
        return 0;
    text_addf(r->to, "PARAMETER %s ", r->key.ptr == NULL ? "" : r->key.ptr);
    if (item->kind == WB_JSON_STRING)
        add_quoted(r->to, (piece){item->text, item->len});
    else if (item->kind == WB_JSON_BOOL)
        text_adds(r->to, item->number != 0 ? "true" : "false");
    else
        add_number(r->to, item);
    text_adds(r->to, "\n");
    return 0;
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
        text_addf(r->to, "MESSAGE %s ", r->role.ptr == NULL ? "" : r->role.ptr);
        add_quoted(r->to, (piece){r->content.ptr == NULL ? "" : r->content.ptr, r->content.len});
        text_adds(r->to, "\n");
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
    add_name(t, path);
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
