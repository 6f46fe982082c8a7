#include "net/s3_list.h"

#include "net/percent.h"
#include "net/url.h"

/* Maximum length of a link: a name of 255 bytes, each written as "%XX", and a '/'. */
#define LINK_MAX ((size_t)3 * 256)

static wb__str after(wb__str text, size_t n)
{
    return (wb__str){text.ptr + n, text.len - n};
}

/* ---- entities ---- */

typedef struct entity {
    wb__str name;
    char c;
} entity;

static const entity entities[] = {{{"amp;", 4}, '&'},
                                  {{"lt;", 3}, '<'},
                                  {{"gt;", 3}, '>'},
                                  {{"quot;", 5}, '"'},
                                  {{"apos;", 5}, '\''}};

/* Decodes "#39;" or "#x27;" at the start of `text` and appends the character to `out`. Returns the
 * number of bytes of `text` that were decoded; 0 if they are not valid. */
static size_t decode_number(wb__buffer *out, wb__str text)
{
    unsigned char bytes[4];
    uint32_t value = 0, base = text.len > 1 && text.ptr[1] == 'x' ? 16 : 10;
    size_t i = base == 16 ? 2 : 1;
    for (; i < text.len && i < 10 && text.ptr[i] != ';'; i++) {
        int digit = wb__hex_value(text.ptr[i]);
        if (digit < 0 || (uint32_t)digit >= base)
            return 0;
        value = value * base + (uint32_t)digit;
    }
    bool good = i < text.len && text.ptr[i] == ';' && value > 0 && value < 0x110000 &&
                (value < 0xD800 || value > 0xDFFF);
    if (good)
        wb__buffer_add(out, bytes, wb__utf8_encode(value, bytes));
    return good ? i + 1 : 0;
}

static size_t decode_entity(wb__buffer *out, wb__str text)
{
    if (text.len > 0 && text.ptr[0] == '#')
        return decode_number(out, text);
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (wb__str_starts_with(text, entities[i].name)) {
            wb__buffer_add(out, &entities[i].c, 1);
            return entities[i].name.len;
        }
    }
    return 0;
}

static void add_decoded(wb__buffer *out, wb__str text)
{
    while (text.len > 0) {
        size_t taken = text.ptr[0] == '&' ? decode_entity(out, after(text, 1)) : 0;
        if (taken == 0)
            wb__buffer_add(out, text.ptr, 1);
        text = after(text, 1 + taken);
    }
}

/* ---- XML ---- */

/* Finds "<NAME>". Sets *text to the text from there up to the next '<', and moves *document to this
 * '<'. Returns false if there is no such element. */
static bool next_element(wb__str *document, wb__str name, wb__str *text)
{
    for (;;) {
        size_t at = wb__str_find(*document, WB__STR("<"));
        if (at == SIZE_MAX)
            return false;
        *document = after(*document, at + 1);
        if (document->len <= name.len || !wb__str_starts_with(*document, name) ||
            document->ptr[name.len] != '>')
            continue;
        *document = after(*document, name.len + 1);
        size_t end = wb__str_find(*document, WB__STR("<"));
        *text = (wb__str){document->ptr, end == SIZE_MAX ? document->len : end};
        *document = after(*document, text->len);
        return true;
    }
}

wb_status wb__xml_each(wb__str document, const char *name, wb__buffer *scratch,
                       wb_status (*each)(void *ctx, wb__str text), void *ctx)
{
    wb__str text;
    wb_status status = WB_OK;
    while (status == WB_OK && next_element(&document, wb__str_from(name, SIZE_MAX), &text)) {
        scratch->n = 0;
        add_decoded(scratch, text);
        if (wb__buffer_failed(scratch))
            return WB_ERROR_MEMORY;
        status = each(ctx, (wb__str){(const char *)scratch->bytes, scratch->n});
    }
    return status;
}

void wb__xml_find(wb__str document, const char *name, wb__buffer *out)
{
    wb__str text;
    if (next_element(&document, wb__str_from(name, SIZE_MAX), &text))
        add_decoded(out, text);
}

/* ---- folders of web servers ---- */

static bool is_name(wb__str name)
{
    size_t n = name.len > 0 && name.ptr[name.len - 1] == '/' ? name.len - 1 : name.len;
    for (size_t i = 0; i < n; i++) {
        if (strchr("/?#:\\", name.ptr[i]) != NULL) /* strchr also finds a NUL */
            return false;
    }
    return n > 0 && !(n <= 2 && memcmp(name.ptr, "..", n) == 0);
}

wb_status wb__html_each_link(wb__str document, wb__buffer *scratch,
                             wb_status (*each)(void *ctx, wb__str name), void *ctx)
{
    wb_status status = WB_OK;
    for (size_t at;
         status == WB_OK && (at = wb__str_find(document, WB__STR("href=\""))) != SIZE_MAX;) {
        document = after(document, at + 6);
        size_t end = wb__str_find(document, WB__STR("\""));
        if (end == SIZE_MAX)
            return WB_OK;
        wb__str link = {document.ptr, end};
        document = after(document, end);
        if (link.len > LINK_MAX)
            continue;
        if (wb__str_starts_with(link, WB__STR("./")))
            link = after(link, 2);
        scratch->n = 0;
        bool good = wb__percent_decode(scratch, link);
        if (wb__buffer_failed(scratch))
            return WB_ERROR_MEMORY;
        wb__str name = {(const char *)scratch->bytes, scratch->n};
        if (good && is_name(name))
            status = each(ctx, name);
    }
    return status;
}
