#include "net/address.h"

#include "core/buffer.h"
#include "net/names.h"
#include "net/percent.h"
#include "net/url.h"

#define TEXT_MAX ((size_t)8 << 10) /* maximum length of a decoded part of an address */

/* ---- schemes ---- */

typedef struct scheme {
    const char *text;
    wb__address_kind kind;
} scheme;

static const scheme schemes[] = {{"http://", WB__ADDRESS_WEB},
                                 {"https://", WB__ADDRESS_WEB},
                                 {"hf://", WB__ADDRESS_HUB},
                                 {"s3://", WB__ADDRESS_S3},
                                 {"gs://", WB__ADDRESS_GS}};

static const scheme *scheme_of(const char *text)
{
    wb__str all = wb__str_from(text, SIZE_MAX);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t n = strlen(schemes[i].text);
        wb__str head = {all.ptr, all.len < n ? all.len : n};
        if (wb__str_equal_nocase(head, wb__str_from(schemes[i].text, SIZE_MAX)))
            return &schemes[i];
    }
    return NULL;
}

wb__address_kind wb__address_kind_of(const char *text)
{
    const scheme *found = scheme_of(text);
    return found == NULL ? WB__ADDRESS_NONE : found->kind;
}

/* ---- repositories ---- */

typedef struct type_row {
    wb__repo_type type;
    const char *plural;
    const char *prefix; /* of web addresses */
} type_row;

static const type_row types[] = {{WB__REPO_MODEL, "models", ""},
                                 {WB__REPO_DATASET, "datasets", "datasets/"},
                                 {WB__REPO_SPACE, "spaces", "spaces/"}};

const char *wb__repo_prefix(wb__repo_type type)
{
    return types[type].prefix;
}

const char *wb__repo_plural(wb__repo_type type)
{
    return types[type].plural;
}

bool wb__is_commit(const char *text)
{
    return strlen(text) == 40 && wb__is_hex(wb__str_from(text, 40));
}

static size_t segment(wb__str text)
{
    const char *slash = text.len == 0 ? NULL : memchr(text.ptr, '/', text.len);
    return slash == NULL ? text.len : (size_t)(slash - text.ptr);
}

static wb__str skip(wb__str text, size_t n)
{
    return (wb__str){text.ptr + n, text.len - n};
}

/* Removes "models/", "datasets/" or "spaces/" from the start of *rest and sets *type. If only one
 * segment follows ("models/NAME"), the word is the name of an owner and stays. */
static void take_type(wb__str *rest, wb__repo_type *type)
{
    *type = WB__REPO_MODEL;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t n = segment(*rest);
        wb__str word = {rest->ptr, n};
        if (n == rest->len || !wb__str_equal(word, wb__str_from(types[i].plural, SIZE_MAX)))
            continue;
        wb__str after = skip(*rest, n + 1);
        if (segment(after) == after.len)
            return;
        *type = types[i].type;
        *rest = after;
        return;
    }
}

/* Returns the number of bytes of a revision at the front of the text. */
static size_t revision_span(wb__str text)
{
    static const wb__str special[] = {{"refs/pr/", 8}, {"refs/convert/", 13}};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (wb__str_starts_with(text, special[i]))
            return special[i].len + segment(skip(text, special[i].len));
    }
    return segment(text);
}

/* Stores a percent-decoded copy in the arena. */
static const char *decode(wb__arena *arena, wb__str text, const char **out)
{
    wb__buffer decoded = {.allocator = arena->allocator, .ceiling = TEXT_MAX};
    const char *fault = NULL;
    if (!wb__percent_decode(&decoded, text))
        fault = "a '%' in it is not followed by two hexadecimal digits";
    else if (decoded.too_large)
        fault = "it is too long";
    *out = fault != NULL || decoded.out_of_memory
               ? NULL
               : wb__arena_copy(arena, (char *)decoded.bytes, decoded.n);
    if (fault == NULL && *out == NULL)
        fault = wb__url_memory;
    wb__buffer_free(&decoded);
    return fault;
}

static const char *copy(wb__arena *arena, wb__str text, const char **out)
{
    *out = wb__arena_copy(arena, text.ptr, text.len);
    return *out == NULL ? wb__url_memory : NULL;
}

static const char *take_revision(wb__address *address, wb__arena *arena, wb__str *rest)
{
    address->revision = "main";
    if (rest->len == 0 || rest->ptr[0] != '@')
        return NULL;
    *rest = skip(*rest, 1);
    size_t n = revision_span(*rest);
    wb__str text = {rest->ptr, n};
    *rest = skip(*rest, n);
    const char *fault = decode(arena, text, &address->revision);
    if (fault != NULL)
        return fault;
    return wb__revision_fault(address->revision);
}

/* Stores `rest`, which is "/PATH" or empty, as the path of the address. Returns NULL, or the reason
 * why the path is not valid. */
static const char *take_path(wb__address *address, wb__arena *arena, wb__str rest)
{
    address->path = "";
    while (rest.len > 0 && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    if (rest.len == 0)
        return NULL;
    const char *fault = copy(arena, skip(rest, 1), &address->path);
    return fault != NULL ? fault : wb__path_fault(wb__str_from(address->path, SIZE_MAX));
}

/* Parses owner/name[@revision][/path]. */
static const char *parse_repo(wb__address *address, wb__arena *arena, wb__str rest)
{
    size_t owner = segment(rest);
    if (owner == rest.len)
        return "it has no repository: owner/name";
    wb__str after = skip(rest, owner + 1);
    size_t name = 0;
    while (name < after.len && after.ptr[name] != '/' && after.ptr[name] != '@')
        name++;
    wb__str repo = {rest.ptr, owner + 1 + name};
    const char *fault = wb__repo_fault(repo);
    if (fault == NULL)
        fault = copy(arena, repo, &address->repo);
    rest = skip(rest, repo.len);
    if (fault == NULL)
        fault = take_revision(address, arena, &rest);
    return fault != NULL ? fault : take_path(address, arena, rest);
}

/* ---- buckets ---- */

static bool is_bucket(wb__str bucket)
{
    for (size_t i = 0; i < bucket.len; i++) {
        char c = bucket.ptr[i];
        bool good = wb__is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
        if (!good || (c == '.' && i + 1 < bucket.len && bucket.ptr[i + 1] == '.'))
            return false;
    }
    return bucket.len >= 3 && bucket.len <= 63 && bucket.ptr[0] != '.' && bucket.ptr[0] != '-' &&
           bucket.ptr[bucket.len - 1] != '.';
}

static const char *parse_bucket(wb__address *address, wb__arena *arena, wb__str rest)
{
    size_t n = segment(rest);
    wb__str bucket = {rest.ptr, n};
    if (!is_bucket(bucket))
        return "its bucket is not valid";
    const char *fault = copy(arena, bucket, &address->repo);
    rest = skip(rest, n < rest.len ? n + 1 : n);
    if (fault == NULL)
        fault = copy(arena, rest, &address->path);
    return fault != NULL || rest.len <= 1024 ? fault : "its key is longer than 1,024 bytes";
}

/* ---- all addresses ---- */

const char *wb__address_parse(wb__address *address, wb__arena *arena, const char *text)
{
    const scheme *found = scheme_of(text);
    *address = (wb__address){.kind = WB__ADDRESS_NONE, .repo = "", .revision = "", .path = ""};
    if (found == NULL)
        return "it begins with no known scheme";
    wb__str rest = wb__str_from(text + strlen(found->text), SIZE_MAX);
    address->kind = found->kind;
    if (found->kind == WB__ADDRESS_WEB)
        return copy(arena, wb__str_from(text, SIZE_MAX), &address->path);
    if (found->kind == WB__ADDRESS_HUB) {
        take_type(&rest, &address->type);
        return parse_repo(address, arena, rest);
    }
    return parse_bucket(address, arena, rest);
}

/* ---- pages of a hub ---- */

/* Removes "/blob/REVISION" (or raw, resolve, tree) from the start of *rest and stores the revision.
 * Returns false if *rest begins otherwise. */
static bool take_view(wb__str *rest, wb__str *revision)
{
    static const wb__str views[] = {{"/blob/", 6}, {"/raw/", 5}, {"/resolve/", 9}, {"/tree/", 6}};
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        if (!wb__str_starts_with(*rest, views[i]))
            continue;
        *rest = skip(*rest, views[i].len);
        size_t n = revision_span(*rest);
        *revision = (wb__str){rest->ptr, n};
        *rest = skip(*rest, n);
        return n > 0;
    }
    return false;
}

/* Sets the address to the file or repository that a web page of a hub shows. `repo`, `revision` and
 * `path` are parts of the URL of the page. Returns NULL, or a text that names the invalid part. */
static const char *fill_page(wb__address *address, wb__arena *arena, wb__str repo, wb__str revision,
                             wb__str path)
{
    const char *decoded = "";
    const char *fault = copy(arena, repo, &address->repo);
    if (fault == NULL)
        fault = decode(arena, revision, &address->revision);
    if (fault == NULL)
        fault = wb__revision_fault(address->revision);
    if (fault == NULL)
        fault = decode(arena, path, &decoded);
    return fault != NULL ? fault : take_path(address, arena, wb__str_from(decoded, SIZE_MAX));
}

const char *wb__address_of_page(wb__address *address, wb__arena *arena, const char *url,
                                const char *endpoint, bool *is_page)
{
    wb__str rest = wb__str_from(url, SIZE_MAX), revision = WB__STR("main");
    wb__str base = wb__str_from(endpoint, SIZE_MAX);
    *is_page = false;
    if (!wb__str_starts_with(rest, base) || rest.len == base.len || rest.ptr[base.len] != '/')
        return NULL;
    rest = skip(rest, base.len + 1);
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] == '?' || rest.ptr[i] == '#')
            rest.len = i;
    }
    *address = (wb__address){.kind = WB__ADDRESS_HUB, .repo = "", .revision = "main", .path = ""};
    take_type(&rest, &address->type);
    size_t owner = segment(rest);
    size_t name = owner == rest.len ? 0 : segment(skip(rest, owner + 1));
    wb__str repo = {rest.ptr, owner + 1 + name};
    if (name == 0 || wb__repo_fault(repo) != NULL)
        return NULL;
    rest = skip(rest, repo.len);
    if (rest.len > 1 && !take_view(&rest, &revision))
        return NULL;
    *is_page = true;
    return fill_page(address, arena, repo, revision, rest);
}
