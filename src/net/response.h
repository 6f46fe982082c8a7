/*
 * net/response.h: the header of an HTTP response.
 *
 * wb__response_line takes the header line by line, as libcurl delivers it, and keeps the fields of
 * net/response.def. Of a field that is repeated, the first value counts, except that Link values
 * are joined. The other functions parse single fields. None of them trusts its input.
 */
#ifndef WB_NET_RESPONSE_H
#define WB_NET_RESPONSE_H

#include "core/core.h"

#define WB__FIELD(id, name) WB__FIELD_##id,
typedef enum wb__field {
#include "net/response.def"
    WB__FIELD_COUNT
} wb__field;
#undef WB__FIELD

#define WB__RESPONSE_MAX ((size_t)64 << 10) /* maximum total size of the kept values, in bytes */

typedef struct wb__response {
    wb_allocator allocator;
    unsigned status;            /* 0: no status line yet */
    char *text;                 /* the kept values, each followed by NUL */
    size_t bytes, capacity;     /* bytes of `text` in use, and allocated */
    size_t at[WB__FIELD_COUNT]; /* offset of a value in `text`, plus 1; 0: no such field */
    bool too_large, out_of_memory;
} wb__response;

void wb__response_init(wb__response *response, const wb_allocator *allocator);
void wb__response_free(wb__response *response);

/* Takes one line of a header, with or without its line break. A status line begins a new header. */
void wb__response_line(wb__response *response, const char *line, size_t n);

/* Returns the value of a field without spaces around it, or NULL. Borrowed until the next line. */
const char *wb__response_get(const wb__response *response, wb__field field);

/* Returns true if the body is a web page by its Content-Type. */
bool wb__response_is_page(const wb__response *response);

/* Returns true if the body has a Content-Encoding other than "identity". */
bool wb__response_is_encoded(const wb__response *response);

/* Parses a text that consists of 1 to 19 decimal digits. */
bool wb__parse_decimal(wb__str text, uint64_t *number);

/* Parses "bytes first-last/total". Sets *end to last + 1, and *total to UINT64_MAX if the text
 * has '*' in place of the total. Returns false unless first <= last < total. */
bool wb__parse_content_range(const char *value, uint64_t *first, uint64_t *end, uint64_t *total);

/* Parses "bytes * /total" (without the space), as in a response with status 416. */
bool wb__parse_unsatisfied_range(const char *value, uint64_t *total);

/* Finds the target of the link with rel="REL" in a Link field; an empty string if there is none. */
wb__str wb__parse_link(const char *value, const char *rel);

/*
 * Returns the number of seconds that the client shall wait: from RateLimit (r=0;t=SECONDS), else
 * from Retry-After (seconds, or an HTTP date minus `now`, which is in seconds since 1970). Returns
 * UINT64_MAX if the response asks for no wait.
 */
uint64_t wb__response_wait(const wb__response *response, int64_t now);

/* Parses a date such as "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7). */
bool wb__parse_http_date(const char *value, int64_t *seconds);

/* Returns true if the ETag is strong, so that it may be used in If-Range. */
bool wb__is_strong_etag(const char *value);

#endif
