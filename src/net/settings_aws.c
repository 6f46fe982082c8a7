/*
 * Credentials of AWS: variables first, then the section of the profile in ~/.aws/credentials and
 * ~/.aws/config, as the AWS command line tools read them. Credentials of instances (IMDS) and
 * single sign-on are not supported.
 */
#include "net/net_messages.h"
#include "net/settings.h"

#define FILE_LIMIT ((size_t)256 << 10)

static wb__str trim(wb__str text)
{
    while (text.len > 0 && strchr(" \t\r", text.ptr[text.len - 1]) != NULL)
        text.len--;
    while (text.len > 0 && strchr(" \t", text.ptr[0]) != NULL)
        text.ptr++, text.len--;
    return text;
}

static wb__str take_line(wb__str *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    wb__str line = {text->ptr, end == NULL ? text->len : (size_t)(end - text->ptr)};
    size_t taken = line.len + (end != NULL);
    *text = (wb__str){text->ptr + taken, text->len - taken};
    return line;
}

/* Returns true for "[NAME]" and "[profile NAME]". */
static bool is_section(wb__str line, wb__str name)
{
    if (line.len < 2 || line.ptr[0] != '[' || line.ptr[line.len - 1] != ']')
        return false;
    wb__str inside = trim((wb__str){line.ptr + 1, line.len - 2});
    if (wb__str_starts_with(inside, WB__STR("profile ")))
        inside = trim((wb__str){inside.ptr + 8, inside.len - 8});
    return wb__str_equal(inside, name);
}

wb__str wb__ini_find(wb__str text, const char *section, const char *key)
{
    bool inside = false;
    wb__str found = WB__STR("");
    while (text.len > 0) {
        wb__str line = trim(take_line(&text));
        if (line.len > 0 && line.ptr[0] == '[')
            inside = is_section(line, wb__str_from(section, SIZE_MAX));
        size_t equal = inside ? wb__str_find(line, WB__STR("=")) : SIZE_MAX;
        if (equal == SIZE_MAX || line.ptr[0] == '#' || line.ptr[0] == ';')
            continue;
        if (wb__str_equal(trim((wb__str){line.ptr, equal}), wb__str_from(key, SIZE_MAX)))
            found = trim((wb__str){line.ptr + equal + 1, line.len - equal - 1});
    }
    return found;
}

/* ---- settings ---- */

static wb_status keep(wb__settings *settings, wb__context *context, wb__str value, const char **out)
{
    if (value.len == 0 || *out != NULL)
        return WB_OK;
    *out = wb__arena_copy(&settings->arena, value.ptr, value.len);
    return *out == NULL ? wb__fail_memory(context) : WB_OK;
}

/* Reads the file that the variable names, else ~/.aws/NAME. *text is NULL if it does not exist. */
static wb_status read_file(wb__settings *settings, wb__context *context,
                           const wb__environment *environment, const char *variable,
                           const char *name, const char **text)
{
    const char *named = wb__variable(environment, variable), *path;
    *text = NULL;
    if (named == NULL && wb__variable(environment, "HOME") == NULL)
        return WB_OK;
    wb_status status =
        wb__settings_path(settings, context, environment, named != NULL ? named : "~/.aws",
                          named != NULL ? NULL : name, &path);
    return status == WB_OK ? wb__read_small_file(context, &settings->arena, path, FILE_LIMIT, text)
                           : status;
}

typedef struct row {
    const char *variable, *key;
    const char **out;
} row;

static wb_status read_rows(wb__settings *settings, wb__context *context, const char *text,
                           const char *profile, const row *rows, size_t n)
{
    wb_status status = WB_OK;
    for (size_t i = 0; text != NULL && i < n && status == WB_OK; i++)
        status =
            keep(settings, context,
                 wb__ini_find(wb__str_from(text, SIZE_MAX), profile, rows[i].key), rows[i].out);
    return status;
}

/* Fails if only one of the access key and its secret is set. */
static wb_status check_pair(const wb__settings *settings, wb__context *context)
{
    bool key = settings->aws_key != NULL, secret = settings->aws_secret != NULL;
    return key == secret ? WB_OK
                         : wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NET_SETTING,
                                    WB_NO_OFFSET, WB__STR(""), WB__MSG_NET_AWS_PAIR);
}

wb_status wb__settings_read_aws(wb__settings *settings, wb__context *context,
                                const wb__environment *environment)
{
    const row rows[] = {
        {"AWS_ACCESS_KEY_ID", "aws_access_key_id", &settings->aws_key},
        {"AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", &settings->aws_secret},
        {"AWS_SESSION_TOKEN", "aws_session_token", &settings->aws_token},
        {"AWS_REGION", "region", &settings->aws_region},
        {"AWS_DEFAULT_REGION", "region", &settings->aws_region},
        {"AWS_ENDPOINT_URL_S3", "endpoint_url", &settings->aws_endpoint},
        {"AWS_ENDPOINT_URL", "endpoint_url", &settings->aws_endpoint},
    };
    const size_t n = sizeof rows / sizeof rows[0];
    const char *profile = wb__variable(environment, "AWS_PROFILE"), *text;
    wb_status status = WB_OK;
    for (size_t i = 0; i < n && status == WB_OK; i++)
        status =
            keep(settings, context,
                 wb__str_from(wb__variable(environment, rows[i].variable), SIZE_MAX), rows[i].out);
    profile = profile != NULL ? profile : "default";
    bool known = settings->aws_key != NULL || settings->aws_secret != NULL;
    if (status == WB_OK && !known)
        status = read_file(settings, context, environment, "AWS_SHARED_CREDENTIALS_FILE",
                           "credentials", &text);
    if (status == WB_OK && !known)
        status = read_rows(settings, context, text, profile, rows, 3);
    known = settings->aws_key != NULL || settings->aws_secret != NULL;
    if (status == WB_OK)
        status = read_file(settings, context, environment, "AWS_CONFIG_FILE", "config", &text);
    if (status == WB_OK)
        status =
            read_rows(settings, context, text, profile, known ? rows + 3 : rows, known ? n - 3 : n);
    return status == WB_OK ? check_pair(settings, context) : status;
}
