#include "net/url.h"

#include "net/percent.h"

const char wb__url_memory[] = "memory ran out";

/* ---- parsing ---- */

/* The parts of a URL while it is parsed. */
typedef struct parts {
    wb__str scheme, host, port, path, query;
    bool secure;
    bool is_ipv6;
} parts;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static wb__str cut(wb__str *text, size_t n)
{
    wb__str head = {text->ptr, n};
    text->ptr += n;
    text->len -= n;
    return head;
}

static size_t span_without(wb__str text, const char *stops)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] != '\0' && strchr(stops, text.ptr[n]) == NULL)
        n++;
    return n;
}

static const char *take_scheme(wb__str *rest, parts *p)
{
    size_t n = wb__str_find(*rest, WB__STR("://"));
    if (n == SIZE_MAX)
        return "it does not begin with http:// or https://";
    p->scheme = cut(rest, n);
    (void)cut(rest, 3);
    p->secure = wb__str_equal_nocase(p->scheme, WB__STR("https"));
    return p->secure || wb__str_equal_nocase(p->scheme, WB__STR("http"))
               ? NULL
               : "its scheme is neither http nor https";
}

static bool is_host(wb__str host)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        if (!wb__is_letter_or_digit(c) && c != '-' && c != '.' && c != '_')
            return false;
    }
    return host.len > 0 && host.len <= 253 && host.ptr[0] != '-' && host.ptr[0] != '.';
}

static bool is_ipv6(wb__str host)
{
    size_t colons = 0;
    for (size_t i = 0; i < host.len; i++) {
        colons += host.ptr[i] == ':';
        if (wb__hex_value(host.ptr[i]) < 0 && host.ptr[i] != ':' && host.ptr[i] != '.')
            return false;
    }
    return colons >= 2 && host.len <= 45;
}

static const char *take_authority(wb__str authority, parts *p)
{
    if (memchr(authority.ptr, '@', authority.len) != NULL)
        return "it contains a user name or a password, which other users can see in the list of "
               "processes";
    if (authority.len > 0 && authority.ptr[0] == '[') {
        size_t end = span_without(authority, "]");
        if (end == authority.len)
            return "its host is not valid";
        (void)cut(&authority, 1);
        p->host = cut(&authority, end - 1);
        (void)cut(&authority, 1);
        p->is_ipv6 = true;
    } else {
        p->host = cut(&authority, span_without(authority, ":"));
    }
    if (p->is_ipv6 ? !is_ipv6(p->host) : !is_host(p->host))
        return "its host is not valid";
    p->port = authority;
    return NULL;
}

/* Parses ":8080", ":" or the empty string. */
static bool take_port(const parts *p, uint32_t *port)
{
    uint32_t value = 0;
    *port = p->secure ? 443 : 80;
    if (p->port.len <= 1)
        return p->port.len == 0 || p->port.ptr[0] == ':';
    if (p->port.ptr[0] != ':' || p->port.len > 6)
        return false;
    for (size_t i = 1; i < p->port.len; i++) {
        if (!is_digit(p->port.ptr[i]))
            return false;
        value = value * 10 + (uint32_t)(p->port.ptr[i] - '0');
    }
    *port = value;
    return value > 0 && value <= 65535;
}

static const char *split(wb__str text, parts *p)
{
    *p = (parts){{0}, {0}, {0}, {0}, {0}, false, false};
    const char *fault = take_scheme(&text, p);
    if (fault == NULL)
        fault = take_authority(cut(&text, span_without(text, "/?#")), p);
    if (fault != NULL)
        return fault;
    p->path = cut(&text, span_without(text, "?#"));
    p->query = cut(&text, span_without(text, "#"));
    return NULL;
}

/* ---- the canonical text ---- */

/* Appends bytes of a path or query. Spaces and bytes above 127 are percent-encoded; control bytes
 * are refused. */
static bool add_bytes(wb__buffer *out, wb__str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == 0x7F)
            return false;
        if (c == ' ' || c >= 0x80)
            wb__percent_byte(out, (char)c);
        else
            wb__buffer_add(out, &text.ptr[i], 1);
    }
    return true;
}

static bool is_dots(wb__str segment, size_t n)
{
    return segment.len == n && memcmp(segment.ptr, "..", n) == 0;
}

/* Removes the last segment of the path that begins at `start` of the buffer. */
static void drop_segment(wb__buffer *out, size_t start)
{
    while (out->n > start && out->bytes[out->n - 1] != '/')
        out->n--;
    if (out->n > start)
        out->n--;
}

/* Appends a path without "." and ".." segments (RFC 3986, 5.2.4). */
static bool add_path(wb__buffer *out, wb__str path)
{
    size_t start = out->n;
    bool ended_in_dots = false;
    while (path.len > 0) {
        (void)cut(&path, path.ptr[0] == '/');
        wb__str segment = cut(&path, span_without(path, "/"));
        ended_in_dots = is_dots(segment, 1) || is_dots(segment, 2);
        if (is_dots(segment, 2))
            drop_segment(out, start);
        if (ended_in_dots)
            continue;
        wb__buffer_add(out, "/", 1);
        if (!add_bytes(out, segment))
            return false;
    }
    if (out->n == start || ended_in_dots)
        wb__buffer_add(out, "/", 1);
    return true;
}

static void add_host(wb__buffer *out, const parts *p)
{
    for (size_t i = 0; i < p->host.len; i++) {
        char c = wb__lower(p->host.ptr[i]);
        wb__buffer_add(out, &c, 1);
    }
}

/* Writes the canonical text and the offsets of its parts. */
static const char *print(wb__url *url, wb__buffer *out, const parts *p)
{
    url->secure = p->secure;
    if (!take_port(p, &url->port))
        return "its port is not valid";
    wb__buffer_text(out, p->secure ? "https://" : "http://");
    wb__buffer_text(out, p->is_ipv6 ? "[" : "");
    url->host = out->n;
    url->host_len = p->host.len;
    add_host(out, p);
    wb__buffer_text(out, p->is_ipv6 ? "]" : "");
    if (url->port != (p->secure ? 443U : 80U)) {
        wb__buffer_text(out, ":");
        wb__buffer_uint(out, url->port);
    }
    url->path = out->n;
    bool good = add_path(out, p->path);
    url->query = out->n;
    good = good && add_bytes(out, p->query);
    wb__buffer_add(out, "", 1);
    if (out->out_of_memory)
        return wb__url_memory;
    if (out->too_large)
        return "it is too long";
    return good ? NULL : "it contains a control character";
}

static const char *make(wb__url *url, const wb_allocator *allocator, const parts *p)
{
    wb__buffer out = {.allocator = allocator, .ceiling = WB__URL_MAX};
    const char *fault = print(url, &out, p);
    if (fault == NULL) {
        url->len = out.n - 1;
        url->text = wb__alloc(allocator, out.n);
        if (url->text == NULL)
            fault = wb__url_memory;
        else
            memcpy(url->text, out.bytes, out.n);
    }
    wb__buffer_free(&out);
    return fault;
}

const char *wb__url_parse(wb__url *url, const wb_allocator *allocator, wb__str text)
{
    parts p;
    *url = (wb__url){.allocator = *allocator};
    if (text.len > WB__URL_MAX)
        return "it is too long";
    if (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL)
        return "it contains a control character";
    const char *fault = split(text, &p);
    return fault != NULL ? fault : make(url, allocator, &p);
}

const char *wb__url_parse_buffer(wb__url *url, wb__buffer *text)
{
    *url = (wb__url){.allocator = *text->allocator};
    const char *fault = text->out_of_memory ? wb__url_memory
                        : text->too_large   ? "it is too long"
                                            : wb__url_parse(url, text->allocator,
                                                            (wb__str){(char *)text->bytes, text->n});
    wb__buffer_free(text);
    return fault;
}

/* ---- relative references ---- */

static bool has_scheme(wb__str text)
{
    size_t n = span_without(text, ":/?#");
    return n > 0 && n < text.len && text.ptr[n] == ':';
}

/* Appends the path of `base` up to its last '/'. */
static void add_base_folder(wb__buffer *out, const wb__url *base)
{
    wb__str path = wb__url_path(base);
    while (path.len > 0 && path.ptr[path.len - 1] != '/')
        path.len--;
    wb__buffer_add(out, path.ptr, path.len);
}

/* Appends the absolute form of the reference. */
static void add_absolute(wb__buffer *out, const wb__url *base, wb__str reference)
{
    wb__str origin = wb__url_origin(base), path = wb__url_path(base);
    char first = reference.len > 0 ? reference.ptr[0] : '\0';
    if (wb__str_starts_with(reference, WB__STR("//"))) {
        wb__buffer_text(out, base->secure ? "https:" : "http:");
    } else {
        wb__buffer_add(out, origin.ptr, origin.len);
        if (first == '?' || first == '#' || first == '\0')
            wb__buffer_add(out, path.ptr, path.len);
        else if (first != '/')
            add_base_folder(out, base);
    }
    wb__buffer_add(out, reference.ptr, reference.len);
}

const char *wb__url_resolve(wb__url *url, const wb__url *base, wb__str reference)
{
    wb_allocator allocator = base->allocator;
    if (has_scheme(reference))
        return wb__url_parse(url, &allocator, reference);
    wb__buffer text = {.allocator = &allocator, .ceiling = 2 * WB__URL_MAX};
    add_absolute(&text, base, reference);
    return wb__url_parse_buffer(url, &text);
}

/* ---- parts and comparisons ---- */

bool wb__url_copy(wb__url *copy, const wb__url *url)
{
    *copy = *url;
    if (url->text == NULL)
        return true;
    copy->text = wb__alloc(&url->allocator, url->len + 1);
    if (copy->text == NULL)
        return false;
    memcpy(copy->text, url->text, url->len + 1);
    return true;
}

void wb__url_free(wb__url *url)
{
    if (url->text != NULL)
        wb__free(&url->allocator, url->text, url->len + 1);
    url->text = NULL;
}

wb__str wb__url_host(const wb__url *url)
{
    return (wb__str){url->text + url->host, url->host_len};
}

wb__str wb__url_path(const wb__url *url)
{
    return (wb__str){url->text + url->path, url->query - url->path};
}

wb__str wb__url_origin(const wb__url *url)
{
    return (wb__str){url->text, url->path};
}

bool wb__url_same_origin(const wb__url *a, const wb__url *b)
{
    return wb__str_equal(wb__url_origin(a), wb__url_origin(b));
}

/* Returns true for 127.x.y.z with four decimal numbers, the only form that every resolver takes for
 * an address. */
static bool is_ipv4_loopback(wb__str host)
{
    size_t dots = 0, digits = 0;
    for (size_t i = 0; i < host.len; i++) {
        bool is_dot = host.ptr[i] == '.';
        if ((!is_dot && !is_digit(host.ptr[i])) || (is_dot && digits == 0))
            return false;
        dots += is_dot;
        digits = is_dot ? 0 : digits + 1;
        if (digits > 3)
            return false;
    }
    return dots == 3 && digits > 0 && wb__str_starts_with(host, WB__STR("127."));
}

bool wb__url_is_loopback(const wb__url *url)
{
    wb__str host = wb__url_host(url);
    return wb__str_equal(host, WB__STR("localhost")) ||
           wb__str_ends_with(host, WB__STR(".localhost")) || wb__str_equal(host, WB__STR("::1")) ||
           is_ipv4_loopback(host);
}
