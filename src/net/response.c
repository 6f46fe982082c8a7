#include "net/response.h"

static const char *const names[] = {
#define WB__FIELD(id, name) name,
#include "net/response.def"
#undef WB__FIELD
};

void wb__response_init(wb__response *response, const wb_allocator *allocator)
{
    *response = (wb__response){.allocator = *allocator};
}

void wb__response_free(wb__response *response)
{
    wb__free(&response->allocator, response->text, response->capacity);
    response->text = NULL;
    response->bytes = response->capacity = 0;
}

/* ---- collecting ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static wb__str trim(wb__str text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL)
        text.len--;
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text.ptr++, text.len--;
    return text;
}

/* Parses "HTTP/1.1 206 Partial Content". Returns 0 for any other line. */
static unsigned status_of(wb__str line)
{
    unsigned status = 0;
    if (!wb__str_starts_with(line, WB__STR("HTTP/")))
        return 0;
    size_t at = wb__str_find(line, WB__STR(" "));
    for (size_t i = 1; i <= 3; i++) {
        if (at >= line.len - i || !is_digit(line.ptr[at + i]))
            return 0;
        status = status * 10 + (unsigned)(line.ptr[at + i] - '0');
    }
    return status;
}

/* Begins a new header and discards the previous one. The headers of proxies and of responses
 * with status 100 precede the header of the response itself. */
static void restart(wb__response *response, unsigned status)
{
    memset(response->at, 0, sizeof response->at);
    response->bytes = 0;
    response->status = status;
    response->too_large = false;
}

static bool reserve(wb__response *response, size_t n)
{
    response->too_large |= n > WB__RESPONSE_MAX - response->bytes;
    if (response->too_large)
        return false;
    if (!wb__grow(&response->allocator, (void **)&response->text, &response->capacity, 1,
                  response->bytes + n, WB__RESPONSE_MAX))
        response->out_of_memory = true;
    return !response->out_of_memory;
}

/* Appends a value. Cuts the value off before its first control byte other than a tab: in the fields
 * that are kept, a valid value contains no such byte. */
static void keep(wb__response *response, wb__field field, wb__str value)
{
    size_t n = 0;
    while (n < value.len && ((unsigned char)value.ptr[n] >= 0x20 || value.ptr[n] == '\t'))
        n++;
    if (!reserve(response, n + 1))
        return;
    response->at[field] = response->bytes + 1;
    if (n > 0)
        memcpy(response->text + response->bytes, value.ptr, n);
    response->text[response->bytes + n] = '\0';
    response->bytes += n + 1;
}

/* Appends ", " and another value to the kept Link value. */
static void join_link(wb__response *response, wb__str value)
{
    const char *old = wb__response_get(response, WB__FIELD_LINK);
    size_t before = strlen(old), after = value.len;
    if (!reserve(response, before + 2 + after + 1))
        return;
    old = response->text + response->at[WB__FIELD_LINK] - 1; /* reserve may have moved it */
    char *to = response->text + response->bytes;
    memcpy(to, old, before);
    memcpy(to + before, ", ", 2);
    for (size_t i = 0; i < after; i++)
        to[before + 2 + i] = value.ptr[i] == '\0' ? ' ' : value.ptr[i];
    to[before + 2 + after] = '\0';
    response->at[WB__FIELD_LINK] = response->bytes + 1;
    response->bytes += before + 2 + after + 1;
}

void wb__response_line(wb__response *response, const char *bytes, size_t n)
{
    wb__str line = trim((wb__str){bytes, n});
    unsigned status = status_of(line);
    if (status != 0) {
        restart(response, status);
        return;
    }
    const char *colon = line.len == 0 ? NULL : memchr(line.ptr, ':', line.len);
    if (colon == NULL || response->status == 0)
        return;
    wb__str name = {line.ptr, (size_t)(colon - line.ptr)};
    wb__str value = trim((wb__str){colon + 1, line.len - name.len - 1});
    for (size_t i = 0; i < WB__FIELD_COUNT; i++) {
        if (!wb__str_equal_nocase(name, wb__str_from(names[i], SIZE_MAX)))
            continue;
        if (response->at[i] == 0)
            keep(response, (wb__field)i, value);
        else if (i == WB__FIELD_LINK)
            join_link(response, value);
    }
}

const char *wb__response_get(const wb__response *response, wb__field field)
{
    return response->at[field] == 0 ? NULL : response->text + response->at[field] - 1;
}

bool wb__response_is_page(const wb__response *response)
{
    const char *type = wb__response_get(response, WB__FIELD_CONTENT_TYPE);
    return type != NULL && wb__str_starts_with(wb__str_from(type, SIZE_MAX), WB__STR("text/html"));
}

bool wb__response_is_encoded(const wb__response *response)
{
    const char *encoding = wb__response_get(response, WB__FIELD_CONTENT_ENCODING);
    return encoding != NULL && strcmp(encoding, "identity") != 0;
}

/* ---- numbers and ranges ---- */

bool wb__parse_decimal(wb__str text, uint64_t *number)
{
    uint64_t value = 0;
    if (text.len == 0 || text.len > 19)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.ptr[i]))
            return false;
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *number = value;
    return true;
}

/* Takes digits off the front of the text. */
static bool take_decimal(wb__str *text, uint64_t *number)
{
    size_t n = 0;
    while (n < text->len && is_digit(text->ptr[n]))
        n++;
    if (!wb__parse_decimal((wb__str){text->ptr, n}, number))
        return false;
    *text = (wb__str){text->ptr + n, text->len - n};
    return true;
}

static bool take_word(wb__str *text, wb__str word)
{
    if (text->len < word.len || !wb__str_equal_nocase((wb__str){text->ptr, word.len}, word))
        return false;
    *text = (wb__str){text->ptr + word.len, text->len - word.len};
    return true;
}

bool wb__parse_content_range(const char *value, uint64_t *first, uint64_t *end, uint64_t *total)
{
    wb__str text = wb__str_from(value, SIZE_MAX);
    uint64_t last;
    if (!take_word(&text, WB__STR("bytes ")) || !take_decimal(&text, first) ||
        !take_word(&text, WB__STR("-")) || !take_decimal(&text, &last) ||
        !take_word(&text, WB__STR("/")))
        return false;
    if (wb__str_equal(text, WB__STR("*")))
        *total = UINT64_MAX;
    else if (!wb__parse_decimal(text, total))
        return false;
    *end = last + 1;
    return *first <= last && last < *total;
}

bool wb__parse_unsatisfied_range(const char *value, uint64_t *total)
{
    wb__str text = wb__str_from(value, SIZE_MAX);
    return take_word(&text, WB__STR("bytes */")) && wb__parse_decimal(text, total);
}

/* ---- links ---- */

/* Takes a quoted string or a token off the front of the text. */
static wb__str take_value(wb__str *text)
{
    size_t n = 0;
    if (text->len > 0 && text->ptr[0] == '"') {
        for (n = 1; n < text->len && text->ptr[n] != '"'; n++) {
        }
        wb__str inside = {text->ptr + 1, n - 1};
        n += n < text->len;
        *text = (wb__str){text->ptr + n, text->len - n};
        return inside;
    }
    while (n < text->len && strchr(",; \t", text->ptr[n]) == NULL)
        n++;
    wb__str token = {text->ptr, n};
    *text = (wb__str){text->ptr + n, text->len - n};
    return token;
}

/* Removes the name of a parameter, and the '=' after it, from the start of *text. Returns true if
 * the parameter has the name `name`. */
static bool take_name(wb__str *text, wb__str name)
{
    size_t n = 0;
    while (n < text->len && strchr("=,; \t", text->ptr[n]) == NULL)
        n++;
    bool same = wb__str_equal_nocase((wb__str){text->ptr, n}, name);
    n += n < text->len && text->ptr[n] == '=';
    *text = (wb__str){text->ptr + n, text->len - n};
    return same;
}

/* Removes the parameters of one link from the start of *text, up to the comma after the link.
 * Returns true if one of them is rel="REL". */
static bool take_parameters(wb__str *text, wb__str rel)
{
    bool found = false;
    for (;;) {
        *text = trim(*text);
        if (text->len == 0 || text->ptr[0] == ',')
            return found;
        if (!take_word(text, WB__STR(";"))) {
            text->ptr++, text->len--;
            continue;
        }
        *text = trim(*text);
        bool is_rel = take_name(text, WB__STR("rel"));
        wb__str value = take_value(text);
        found |= is_rel && wb__str_equal_nocase(value, rel);
    }
}

wb__str wb__parse_link(const char *value, const char *rel)
{
    wb__str text = wb__str_from(value, SIZE_MAX);
    for (;;) {
        const char *begin = text.len == 0 ? NULL : memchr(text.ptr, '<', text.len);
        if (begin == NULL)
            return WB__STR("");
        text = (wb__str){begin + 1, text.len - (size_t)(begin - text.ptr) - 1};
        const char *end = text.len == 0 ? NULL : memchr(text.ptr, '>', text.len);
        if (end == NULL)
            return WB__STR("");
        wb__str target = {text.ptr, (size_t)(end - text.ptr)};
        text = (wb__str){end + 1, text.len - target.len - 1};
        if (take_parameters(&text, wb__str_from(rel, SIZE_MAX)))
            return target;
    }
}

bool wb__is_strong_etag(const char *value)
{
    size_t n = strlen(value);
    return n >= 2 && n <= 256 && value[0] == '"' && value[n - 1] == '"';
}

/* ---- dates ---- */

/* Returns the number of days from 1970-01-01 to a date of the Gregorian calendar (H. Hinnant,
 * "chrono-compatible low-level date algorithms", days_from_civil). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t month_of(const char *text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (size_t i = 0; i < 12; i++) {
        if (memcmp(months + 3 * i, text, 3) == 0)
            return (int64_t)i + 1;
    }
    return 0;
}

static int64_t digits_at(const char *text, size_t n)
{
    uint64_t value;
    return wb__parse_decimal((wb__str){text, n}, &value) ? (int64_t)value : -1;
}

/*      0         1         2
 *      0123456789012345678901234567
 *      Sun, 06 Nov 1994 08:49:37 GMT */
bool wb__parse_http_date(const char *value, int64_t *seconds)
{
    if (strlen(value) != 29 || memcmp(value + 25, " GMT", 4) != 0)
        return false;
    int64_t day = digits_at(value + 5, 2), month = month_of(value + 8);
    int64_t year = digits_at(value + 12, 4), hour = digits_at(value + 17, 2);
    int64_t minute = digits_at(value + 20, 2), second = digits_at(value + 23, 2);
    bool good = day >= 1 && day <= 31 && month != 0 && year >= 1970 && hour >= 0 && hour < 24 &&
                minute >= 0 && minute < 60 && second >= 0 && second <= 60;
    if (good)
        *seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return good;
}

/* ---- waiting ---- */

/* Returns the number after `key` (";t=") in a RateLimit value. */
static bool rate_number(const char *value, const char *key, uint64_t *number)
{
    wb__str text = wb__str_from(value, SIZE_MAX);
    size_t at = wb__str_find(text, wb__str_from(key, SIZE_MAX));
    if (at == SIZE_MAX)
        return false;
    at += strlen(key);
    text = (wb__str){text.ptr + at, text.len - at};
    return take_decimal(&text, number);
}

uint64_t wb__response_wait(const wb__response *response, int64_t now)
{
    const char *rate = wb__response_get(response, WB__FIELD_RATE_LIMIT);
    const char *after = wb__response_get(response, WB__FIELD_RETRY_AFTER);
    uint64_t left, seconds;
    int64_t then;
    if (rate != NULL && rate_number(rate, ";r=", &left) && left == 0 &&
        rate_number(rate, ";t=", &seconds))
        return seconds + 1;
    if (after == NULL)
        return UINT64_MAX;
    if (wb__parse_decimal(wb__str_from(after, SIZE_MAX), &seconds))
        return seconds;
    if (!wb__parse_http_date(after, &then))
        return UINT64_MAX;
    return then <= now ? 0 : (uint64_t)(then - now);
}
