#define _FILE_OFFSET_BITS 64
#include "net/settings.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "io/io.h"
#include "net/net_messages.h"
#include "net/percent.h"
#include "net/response.h"

#define DEFAULT_ENDPOINT "https://huggingface.co"
#define PATH_BYTES ((size_t)8 << 10)

static const char *get_variable(void *ctx, const char *name)
{
    (void)ctx;
    return getenv(name);
}

wb__environment wb__process_environment(void)
{
    return (wb__environment){.get = get_variable};
}

const char *wb__variable(const wb__environment *environment, const char *name)
{
    const char *value = environment->get(environment->ctx, name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static wb_status fail_variable(wb__context *context, const char *name, const char *fault)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NET_SETTING, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_NET_VARIABLE, name, fault);
}

/* ---- paths ---- */

static bool is_name_byte(char c)
{
    return wb__is_letter_or_digit(c) || c == '_';
}

/* Appends the value of the variable whose name begins at `text`, after its '$'. Returns the number
 * of bytes of the name; 0 if there is no name or no such variable, as Python's expandvars. */
static size_t add_variable(wb__buffer *out, const wb__environment *environment, const char *text)
{
    char name[128];
    bool braces = text[0] == '{';
    size_t n = 0;
    while (n + 1 < sizeof name && is_name_byte(text[braces + n])) {
        name[n] = text[braces + n];
        n++;
    }
    name[n] = '\0';
    if (n == 0 || (braces && text[1 + n] != '}'))
        return 0;
    const char *value = environment->get(environment->ctx, name);
    if (value == NULL)
        return 0;
    wb__buffer_text(out, value);
    return n + 2 * (size_t)braces;
}

/* Appends a path with "~" at its front and variables replaced, as os.path.expanduser and
 * os.path.expandvars do. */
static void add_path(wb__buffer *out, const wb__environment *environment, const char *path)
{
    const char *home = wb__variable(environment, "HOME");
    size_t i = 0;
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && home != NULL) {
        wb__buffer_text(out, home);
        i = 1;
    }
    while (path[i] != '\0') {
        size_t n = path[i] == '$' ? add_variable(out, environment, path + i + 1) : 0;
        if (n == 0)
            wb__buffer_add(out, path + i, 1);
        i += n + 1;
    }
}

wb_status wb__settings_path(wb__settings *settings, wb__context *context,
                            const wb__environment *environment, const char *folder,
                            const char *name, const char **out)
{
    wb__buffer text = {.allocator = &context->allocator, .ceiling = PATH_BYTES};
    wb_status status = WB_OK;
    add_path(&text, environment, folder);
    if (name != NULL && text.n > 0 && text.bytes[text.n - 1] != '/')
        wb__buffer_text(&text, "/");
    if (name != NULL)
        wb__buffer_text(&text, name);
    *out = wb__buffer_failed(&text)
               ? NULL
               : wb__arena_copy(&settings->arena, (const char *)text.bytes, text.n);
    if (*out == NULL)
        status = wb__fail_memory(context);
    wb__buffer_free(&text);
    return status;
}

/* Sets *home to HF_HOME or its default. */
static wb_status find_home(wb__settings *settings, wb__context *context,
                           const wb__environment *environment, const char **home)
{
    const char *value = wb__variable(environment, "XDG_CACHE_HOME");
    const char *cache = value != NULL ? value : "~/.cache";
    wb_status status =
        wb__settings_path(settings, context, environment, cache, NULL, &settings->cache_home);
    if (status != WB_OK)
        return status;
    value = wb__variable(environment, "HF_HOME");
    if (value != NULL)
        return wb__settings_path(settings, context, environment, value, NULL, home);
    return wb__settings_path(settings, context, environment, cache, "huggingface", home);
}

static wb_status find_cache(wb__settings *settings, wb__context *context,
                            const wb__environment *environment, const char *home)
{
    const char *cache = wb__variable(environment, "HF_HUB_CACHE");
    if (cache == NULL)
        cache = wb__variable(environment, "HUGGINGFACE_HUB_CACHE");
    return wb__settings_path(settings, context, environment, cache != NULL ? cache : home,
                             cache != NULL ? NULL : "hub", &settings->hub_cache);
}

/* ---- the token ---- */

wb_status wb__read_small_file(wb__context *context, wb__arena *arena, const char *path,
                              size_t limit, const char **text)
{
    wb__source *source;
    bool is_folder;
    const char *file = context->file;
    *text = NULL;
    context->file = path;
    wb_status status = wb__source_open(context, path, WB_ACCESS_READ, &source, &is_folder);
    context->file = file;
    if (status == WB_ERROR_NOT_FOUND || (status == WB_OK && is_folder)) {
        (void)wb__error_reset(context->error, context->error);
        return WB_OK;
    }
    if (status != WB_OK)
        return status;
    uint64_t n = wb__source_bytes(source);
    char *bytes = n > limit ? NULL : wb__arena_text(arena, (size_t)n + 1);
    if (n > limit)
        status = wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_NET_SETTING, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_NET_SMALL_FILE, path, limit);
    else
        status = bytes == NULL ? wb__fail_memory(context)
                               : wb__source_read(source, context, 0, bytes, (size_t)n);
    if (status == WB_OK) {
        bytes[n] = '\0';
        *text = bytes;
    }
    wb__source_close(source);
    return status;
}

/* Removes blanks and line breaks at both ends of a token, and stores it. Fails if the rest has
 * other characters than printable ASCII, because the token becomes part of a header field. */
static wb_status take_token(wb__settings *settings, wb__context *context, const char *text,
                            const char *from)
{
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL)
        n--;
    while (n > 0 && strchr(" \t\r\n", text[0]) != NULL)
        text++, n--;
    if (n == 0)
        return WB_OK;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '!' || text[i] > '~')
            return fail_variable(context, from, "a token has printable ASCII characters only");
    }
    if (n > WB__TOKEN_MAX)
        return fail_variable(context, from, "the token is too long");
    settings->token = wb__arena_copy(&settings->arena, text, n);
    settings->token_source = from;
    return settings->token == NULL ? wb__fail_memory(context) : WB_OK;
}

static bool is_true(const char *value)
{
    static const char *const words[] = {"1", "ON", "YES", "TRUE"};
    for (size_t i = 0; value != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (wb__str_equal_nocase(wb__str_from(value, SIZE_MAX), wb__str_from(words[i], SIZE_MAX)))
            return true;
    }
    return false;
}

static wb_status find_token(wb__settings *settings, wb__context *context,
                            const wb__environment *environment, const char *home)
{
    static const char *const names[] = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"};
    const char *path, *text;
    if (is_true(wb__variable(environment, "HF_HUB_DISABLE_IMPLICIT_TOKEN")))
        return WB_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && settings->token == NULL; i++) {
        const char *value = wb__variable(environment, names[i]);
        wb_status status = value == NULL ? WB_OK : take_token(settings, context, value, names[i]);
        if (status != WB_OK)
            return status;
    }
    if (settings->token != NULL)
        return WB_OK;
    const char *named = wb__variable(environment, "HF_TOKEN_PATH");
    wb_status status =
        wb__settings_path(settings, context, environment, named != NULL ? named : home,
                          named != NULL ? NULL : "token", &path);
    if (status == WB_OK)
        status = wb__read_small_file(context, &settings->arena, path, 2 * WB__TOKEN_MAX, &text);
    if (status == WB_ERROR_IO) { /* not readable, maybe another user's: go on without a token */
        (void)wb__error_reset(context->error, context->error);
        return WB_OK;
    }
    return status != WB_OK || text == NULL ? status : take_token(settings, context, text, path);
}

/* ---- the endpoint, limits and certificates ---- */

static wb_status find_endpoint(wb__settings *settings, wb__context *context,
                               const wb__environment *environment, const char *given)
{
    const char *text = given != NULL ? given : wb__variable(environment, "HF_ENDPOINT");
    wb__str trimmed = wb__str_from(text != NULL ? text : DEFAULT_ENDPOINT, SIZE_MAX);
    while (trimmed.len > 0 && trimmed.ptr[trimmed.len - 1] == '/')
        trimmed.len--;
    const char *fault = wb__url_parse(&settings->endpoint, &context->allocator, trimmed);
    if (fault == wb__url_memory)
        return wb__fail_memory(context);
    if (fault != NULL)
        return fail_variable(context, given != NULL ? "wb_net_options.endpoint" : "HF_ENDPOINT",
                             fault);
    wb__str whole = {settings->endpoint.text, settings->endpoint.len};
    while (whole.len > 0 && whole.ptr[whole.len - 1] == '/')
        whole.len--;
    settings->endpoint_text = wb__arena_copy(&settings->arena, whole.ptr, whole.len);
    if (settings->endpoint_text == NULL)
        return wb__fail_memory(context);
    settings->is_default_endpoint = strcmp(settings->endpoint_text, DEFAULT_ENDPOINT) == 0;
    return WB_OK;
}

/* Reads a number of seconds. Fractions are rounded up. */
static wb_status read_seconds(wb__context *context, const wb__environment *environment,
                              const char *name, uint32_t *seconds)
{
    uint64_t whole = 0, fraction = 0;
    const char *value = wb__variable(environment, name);
    if (value == NULL)
        return WB_OK;
    wb__str text = wb__str_from(value, SIZE_MAX);
    size_t dot = wb__str_find(text, WB__STR("."));
    wb__str rest =
        dot == SIZE_MAX ? WB__STR("0") : (wb__str){text.ptr + dot + 1, text.len - dot - 1};
    bool good = wb__parse_decimal((wb__str){text.ptr, dot == SIZE_MAX ? text.len : dot}, &whole) &&
                wb__parse_decimal(rest, &fraction) && whole <= 86400 && whole + fraction > 0;
    if (!good)
        return fail_variable(context, name, "a number of seconds from 1 to 86400 is expected");
    *seconds = (uint32_t)(whole + (fraction > 0));
    return WB_OK;
}

static const char *first_of(const wb__environment *environment, const char *const *names, size_t n)
{
    const char *value = NULL;
    for (size_t i = 0; i < n && value == NULL; i++)
        value = wb__variable(environment, names[i]);
    return value;
}

/* Finds the CA certificates. The Python package `requests` uses the first two variables, OpenSSL
 * the others. */
static wb_status find_certificates(wb__settings *settings, wb__context *context,
                                   const wb__environment *environment)
{
    static const char *const files[] = {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    const char *file = first_of(environment, files, sizeof files / sizeof files[0]);
    const char *folder = wb__variable(environment, "SSL_CERT_DIR");
    wb_status status = WB_OK;
    if (file != NULL)
        status = wb__settings_path(settings, context, environment, file, NULL, &settings->ca_file);
    if (status == WB_OK && folder != NULL)
        status =
            wb__settings_path(settings, context, environment, folder, NULL, &settings->ca_folder);
    return status;
}

wb_status wb__settings_read(wb__settings *settings, wb__context *context,
                            const wb__environment *environment, const char *endpoint,
                            const char *token)
{
    const char *home;
    *settings = (wb__settings){.connect_timeout = 10, .stall_timeout = 10};
    settings->arena.allocator = &context->allocator;
    settings->offline = is_true(wb__variable(environment, "HF_HUB_OFFLINE")) ||
                        is_true(wb__variable(environment, "TRANSFORMERS_OFFLINE"));
    wb_status status = find_endpoint(settings, context, environment, endpoint);
    if (status == WB_OK)
        status = find_home(settings, context, environment, &home);
    if (status == WB_OK)
        status = find_cache(settings, context, environment, home);
    if (status == WB_OK && token != NULL)
        status = take_token(settings, context, token, "wb_net_options.token");
    else if (status == WB_OK)
        status = find_token(settings, context, environment, home);
    if (status == WB_OK)
        status =
            read_seconds(context, environment, "HF_HUB_ETAG_TIMEOUT", &settings->connect_timeout);
    if (status == WB_OK)
        status =
            read_seconds(context, environment, "HF_HUB_DOWNLOAD_TIMEOUT", &settings->stall_timeout);
    return status == WB_OK ? find_certificates(settings, context, environment) : status;
}

void wb__settings_free(wb__settings *settings)
{
    wb__url_free(&settings->endpoint);
    if (settings->arena.allocator != NULL)
        wb__arena_free(&settings->arena);
}
