#include "arch/tokenizer_json.h"

/* What is left out of the rest. */
typedef struct span {
    size_t from, to;
} span;

#define MAX_SPANS 8

typedef struct reader {
    wb__tokenizer_json *file;
    wb__json json;
    wb__cursor cursor;
    span spans[MAX_SPANS];
    size_t span_count;
} reader;

static bool fail(reader *r)
{
    r->file->fault = r->json.fault;
    r->file->fault_at = r->json.at;
    return false;
}

static bool fail_memory(reader *r)
{
    r->file->fault = WB__JSON_FAULT_MEMORY;
    return false;
}

/* ---- tokens by number ---- */

/* Tokens may come in any order, but their numbers must not need more memory than the file takes. */
static bool reserve_token(wb__tokenizer_json *file, uint64_t number, bool *fits)
{
    *fits = number < file->entries + (uint64_t)WB__TOKENS_SPARE ||
            number < file->bytes / 8; /* a token with so high a number takes more bytes than that */
    if (!*fits || number < file->token_count)
        return true;
    if (!wb__grow(&file->allocator, (void **)&file->tokens, &file->token_capacity,
                  sizeof *file->tokens, (size_t)number + 1, SIZE_MAX))
        return false;
    while (file->token_count <= number)
        file->tokens[file->token_count++] = (wb__token_at){0, WB__TOKEN_NONE};
    return true;
}

static inline bool add_token(wb__tokenizer_json *file, uint64_t number, uint32_t at, uint32_t len)
{
    bool fits = true;
    file->entries++;
    if (number >= file->token_count && !reserve_token(file, number, &fits))
        return false;
    if (fits)
        file->tokens[number] = (wb__token_at){at, len};
    else
        file->scattered++;
    return true;
}

bool wb__tokenizer_json_add(wb__tokenizer_json *file, uint64_t number, wb__str text)
{
    return add_token(file, number, (uint32_t)(text.ptr - file->rest),
                     (uint32_t)text.len | WB__TOKEN_REST);
}

wb__str wb__tokenizer_json_token(const wb__tokenizer_json *file, size_t number, bool *is_token)
{
    const wb__token_at *token = &file->tokens[number];
    *is_token = token->len != WB__TOKEN_NONE;
    if (!*is_token)
        return WB__STR("");
    const char *base = token->len & WB__TOKEN_REST ? file->rest : file->text;
    return (wb__str){base + token->at, token->len & ~WB__TOKEN_REST};
}

/* ---- what the big parts are made of, read in place where it is in the plainest form ---- */

static inline const uint8_t *skip_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Sequences of two bytes, as byte-level tokens have them everywhere, are looked at right here. */
static inline bool is_utf8(const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        if (*p < 0x80) {
            p++;
        } else if (*p >= 0xC2 && *p <= 0xDF && end - p >= 2 && wb__utf8_is_continuation(p[1])) {
            p += 2;
        } else {
            unsigned n = wb__utf8_sequence(p, (size_t)(end - p));
            if (n == 0)
                return false;
            p += n;
        }
    }
    return true;
}

/*
 * The string whose opening quote p stands at, if it has no escapes and is valid UTF-8; returns what
 * follows its closing quote, or NULL. A word at a time: the lowest high bit set is that of the
 * first byte that is a quote, a backslash or a control character (higher ones may be wrong).
 */
static inline const uint8_t *take_string(const uint8_t *p, const uint8_t *end, wb__str *text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    const uint8_t *begin = ++p;
    uint64_t beyond_ascii = 0;
    for (; end - p >= 8; p += 8) {
        uint64_t word = wb__load_le64(p);
        uint64_t quote = word ^ ones * '"';
        uint64_t backslash = word ^ ones * '\\';
        uint64_t stop = ((word - ones * 0x20) | (quote - ones) | (backslash - ones)) & highs;
        stop &= ~word; /* bytes past ASCII stop nothing */
        if (stop == 0) {
            beyond_ascii |= word;
            continue;
        }
        unsigned bytes = (unsigned)__builtin_ctzll(stop) / 8;
        beyond_ascii |= bytes == 0 ? 0 : word << (64 - 8 * bytes);
        p += bytes;
        break;
    }
    while (p < end && *p >= 0x20 && *p != '"' && *p != '\\')
        beyond_ascii |= *p++;
    if (p == end || *p != '"')
        return NULL;
    *text = (wb__str){(const char *)begin, (size_t)(p - begin)};
    if ((beyond_ascii & highs) != 0 && !is_utf8(begin, p))
        return NULL;
    return p + 1;
}

/* Steps over the comma to the next member or element that begins with `first`; NULL: not so plain.
 */
static inline const uint8_t *next_item(const uint8_t *p, const uint8_t *end, uint8_t first)
{
    p = skip_space(p, end);
    if (p == end || *p != ',')
        return NULL;
    p = skip_space(p + 1, end);
    return p < end && *p == first ? p : NULL;
}

/* ---- the vocabulary: text to number ---- */

/* A member `"text": number`; returns what follows, or NULL. Numbers of up to nine digits. */
static inline const uint8_t *take_member(const uint8_t *p, const uint8_t *end, wb__str *text,
                                         uint32_t *number)
{
    p = take_string(p, end, text);
    if (p == NULL)
        return NULL;
    p = skip_space(p, end);
    if (p == end || *p != ':')
        return NULL;
    p = skip_space(p + 1, end);
    const uint8_t *digits = p;
    uint32_t value = 0;
    while (p < end && *p >= '0' && *p <= '9' && p - digits < 9)
        value = value * 10 + (uint32_t)(*p++ - '0');
    if (p == digits || (*digits == '0' && p - digits > 1) || p == end ||
        (*p != ',' && *p != '}' && *p != '\n' && *p != ' '))
        return NULL;
    *number = value;
    return p;
}

/* Takes members for as long as they are plain; the cursor stands at a key. False: memory. */
static bool take_members(reader *r)
{
    const uint8_t *p = r->cursor.p;
    const uint8_t *end = r->cursor.end;
    bool took = false;
    while (p != NULL) {
        wb__str text;
        uint32_t number;
        const uint8_t *after = take_member(p, end, &text, &number);
        if (after == NULL)
            break;
        if (!add_token(r->file, number, (uint32_t)(text.ptr - r->file->text), (uint32_t)text.len))
            return fail_memory(r);
        took = true;
        r->cursor.p = after;
        p = next_item(after, end, '"');
    }
    if (took)
        wb__json_took_members(&r->json);
    return true;
}

/* Puts an unescaped string back over its escapes; the offset where it then stands. */
static uint32_t keep_string(reader *r)
{
    char *to = r->file->text + r->json.at + 1;
    if (r->json.text.ptr != to)
        memcpy(to, r->json.text.ptr, r->json.text.len);
    return (uint32_t)(to - r->file->text);
}

static bool read_vocab_object(reader *r)
{
    wb__json *json = &r->json;
    for (;;) {
        if (wb__json_reach_key(json) && !take_members(r))
            return false;
        if (wb__json_next(json) == WB__JSON_OBJECT_END)
            return true;
        if (json->token != WB__JSON_KEY)
            return fail(r);
        uint32_t at = keep_string(r);
        uint32_t len = (uint32_t)json->text.len;
        if (wb__json_next(json) == WB__JSON_UINT && !add_token(r->file, json->uint, at, len))
            return fail_memory(r);
        if (!wb__json_skip(json))
            return fail(r);
    }
}

/* ---- the vocabulary of Unigram: a list of texts and scores ---- */

static inline bool keep_score(wb__tokenizer_json *file, size_t number, float score)
{
    if (number >= file->score_capacity &&
        !wb__grow(&file->allocator, (void **)&file->scores, &file->score_capacity,
                  sizeof *file->scores, number + 1, SIZE_MAX))
        return false;
    file->scores[number] = score;
    return true;
}

/* Reads an entry `["text", score]`. False on a fault; *good tells whether it was one. */
static bool read_scored(reader *r, uint32_t *at, uint32_t *len, uint64_t *score, bool *good)
{
    wb__json *json = &r->json;
    size_t element = 0;
    bool text = false, number = false;
    if (json->token != WB__JSON_ARRAY)
        return wb__json_skip(json) || fail(r);
    for (; wb__json_next(json) != WB__JSON_ARRAY_END; element++) {
        if (element == 0 && json->token == WB__JSON_STRING) {
            *at = keep_string(r);
            *len = (uint32_t)json->text.len;
            text = true;
        } else if (element == 1 && (json->token == WB__JSON_UINT || json->token == WB__JSON_REAL)) {
            *score = wb__json_real_bits(json);
            number = true;
        }
        if (!wb__json_skip(json))
            return fail(r);
    }
    *good = text && number;
    return true;
}

/*
 * A score of up to 19 digits without exponent, as float32; returns what follows, or NULL. Digits and
 * power of ten are rounded once each to double, and so the quotient is off by less than two units in
 * its last place: that matters where it lies so close to the middle of two float32, and nowhere else.
 */
static inline const uint8_t *take_score(const uint8_t *p, const uint8_t *end, float *score)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    bool negative = p < end && *p == '-';
    const uint8_t *begin = p += negative;
    const uint8_t *point = NULL;
    uint64_t value = 0;
    for (; p < end && p - begin < 20; p++) {
        if (*p >= '0' && *p <= '9')
            value = value * 10 + (uint64_t)(*p - '0');
        else if (*p == '.' && point == NULL && p > begin)
            point = p;
        else
            break;
    }
    ptrdiff_t whole = (point == NULL ? p : point) - begin;
    ptrdiff_t decimals = point == NULL ? 0 : p - point - 1;
    if (whole == 0 || whole + decimals > 19 || (*begin == '0' && whole > 1) ||
        (point != NULL && decimals == 0) || p == end || (*p != ']' && *p != '\n' && *p != ' '))
        return NULL;
    double quotient = (double)value / tens[decimals];
    uint64_t bits;
    memcpy(&bits, &quotient, sizeof bits);
    uint64_t below = bits & ((UINT64_C(1) << 29) - 1); /* what float32 has no room for */
    if (below - ((UINT64_C(1) << 28) - 2) <= 4)
        return NULL;
    *score = (float)(negative ? -quotient : quotient);
    return p;
}

/* An element `["text", score]`; returns what follows, or NULL. */
static inline const uint8_t *take_scored(const uint8_t *p, const uint8_t *end, wb__str *text,
                                         float *score)
{
    p = skip_space(p + 1, end);
    if (p == end || *p != '"' || (p = take_string(p, end, text)) == NULL)
        return NULL;
    p = skip_space(p, end);
    if (p == end || *p != ',' || (p = take_score(skip_space(p + 1, end), end, score)) == NULL)
        return NULL;
    p = skip_space(p, end);
    return p < end && *p == ']' ? p + 1 : NULL;
}

/* Takes elements for as long as they are plain; the cursor stands at one. False: memory. */
static bool take_scored_list(reader *r, size_t *number)
{
    const uint8_t *p = r->cursor.p;
    const uint8_t *end = r->cursor.end;
    bool took = false;
    if (*p != '[' || r->file->bad_vocab)
        return true;
    while (p != NULL) {
        wb__str text;
        float score;
        const uint8_t *after = take_scored(p, end, &text, &score);
        if (after == NULL)
            break;
        if (!add_token(r->file, *number, (uint32_t)(text.ptr - r->file->text),
                       (uint32_t)text.len) ||
            !keep_score(r->file, *number, score))
            return fail_memory(r);
        took = true;
        ++*number;
        r->cursor.p = after;
        p = next_item(after, end, '[');
    }
    if (took)
        wb__json_took_members(&r->json);
    return true;
}

static bool read_vocab_array(reader *r)
{
    wb__json *json = &r->json;
    for (size_t number = 0;; number++) {
        if (wb__json_reach_element(json) && !take_scored_list(r, &number))
            return false;
        if (wb__json_next(json) == WB__JSON_ARRAY_END)
            return true;
        uint64_t bits = 0;
        uint32_t at = 0, len = 0;
        bool good = false;
        if (!read_scored(r, &at, &len, &bits, &good))
            return false;
        r->file->bad_vocab |= !good;
        double score;
        memcpy(&score, &bits, sizeof score);
        if (good && !r->file->bad_vocab &&
            (!add_token(r->file, number, at, len) || !keep_score(r->file, number, (float)score)))
            return fail_memory(r);
    }
}

/* ---- merges ---- */

/* As llama.cpp has them: parted by a space, and a space within a part as U+0120, "Ġ". */
static bool add_pair(wb__strings *merges, wb__str a, wb__str b)
{
    size_t spaces = 0;
    for (size_t i = 0; i < a.len; i++)
        spaces += a.ptr[i] == ' ';
    for (size_t i = 0; i < b.len; i++)
        spaces += b.ptr[i] == ' ';
    char *to = wb__strings_append(merges, a.len + 1 + b.len + spaces);
    if (to == NULL)
        return false;
    if (spaces == 0) {
        memcpy(to, a.ptr, a.len);
        to[a.len] = ' ';
        memcpy(to + a.len + 1, b.ptr, b.len);
        return true;
    }
    const wb__str parts[] = {a, b};
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < parts[part].len; i++) {
            if (parts[part].ptr[i] == ' ') {
                *to++ = (char)0xC4;
                *to++ = (char)0xA0;
            } else {
                *to++ = parts[part].ptr[i];
            }
        }
        if (part == 0)
            *to++ = ' ';
    }
    return true;
}

/* An element `["a", "b"]`; returns what follows, or NULL. */
static inline const uint8_t *take_pair(const uint8_t *p, const uint8_t *end, wb__str *a, wb__str *b)
{
    p = skip_space(p + 1, end);
    if (p == end || *p != '"' || (p = take_string(p, end, a)) == NULL ||
        (p = next_item(p, end, '"')) == NULL || (p = take_string(p, end, b)) == NULL)
        return NULL;
    p = skip_space(p, end);
    return p < end && *p == ']' ? p + 1 : NULL;
}

/* Takes elements for as long as they are plain; the cursor stands at one. False: memory. */
static bool take_merges(reader *r)
{
    const uint8_t *p = r->cursor.p;
    const uint8_t *end = r->cursor.end;
    const uint8_t first = *p;
    bool took = false;
    if (first != '"' && first != '[')
        return true;
    while (p != NULL) {
        wb__str a, b;
        const uint8_t *after = first == '"' ? take_string(p, end, &a) : take_pair(p, end, &a, &b);
        if (after == NULL)
            break;
        if (!(first == '"' ? wb__strings_add(&r->file->merges, a)
                           : add_pair(&r->file->merges, a, b)))
            return fail_memory(r);
        took = true;
        r->cursor.p = after;
        p = next_item(after, end, first);
    }
    if (took)
        wb__json_took_members(&r->json);
    return true;
}

static bool read_pair(reader *r)
{
    wb__json *json = &r->json;
    wb__str part[2] = {{NULL, 0}, {NULL, 0}};
    size_t count = 0;
    for (; wb__json_next(json) != WB__JSON_ARRAY_END; count++) {
        if (json->token == WB__JSON_STRING && count < 2)
            part[count] = (wb__str){r->file->text + keep_string(r), json->text.len};
        if (!wb__json_skip(json))
            return fail(r);
    }
    if (count != 2 || part[0].ptr == NULL || part[1].ptr == NULL)
        r->file->bad_merges++;
    else if (!add_pair(&r->file->merges, part[0], part[1]))
        return fail_memory(r);
    return true;
}

static bool read_merges(reader *r)
{
    wb__json *json = &r->json;
    for (;;) {
        if (wb__json_reach_element(json) && !take_merges(r))
            return false;
        switch (wb__json_next(json)) {
        case WB__JSON_ARRAY_END: return true;
        case WB__JSON_ARRAY:
            if (!read_pair(r))
                return false;
            break;
        case WB__JSON_STRING:
            if (!wb__strings_add(&r->file->merges, json->text))
                return fail_memory(r);
            break;
        default:
            r->file->bad_merges++;
            if (!wb__json_skip(json))
                return fail(r);
        }
    }
}

/* ---- the whole ---- */

/* The value of a key that is not wanted here stays in the rest; what was read is left out of it. */
static bool leave_out(reader *r, size_t from)
{
    size_t to = (size_t)wb__cursor_at(&r->cursor);
    if (r->span_count == MAX_SPANS) { /* nobody has so many: let the last swallow all between */
        r->spans[MAX_SPANS - 1].to = to;
        return true;
    }
    r->spans[r->span_count++] = (span){from, to};
    return true;
}

static bool read_model(reader *r)
{
    wb__json *json = &r->json;
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_vocab = wb__str_equal(json->text, WB__STR("vocab"));
        bool is_merges = wb__str_equal(json->text, WB__STR("merges"));
        wb__json_token token = wb__json_next(json);
        size_t from = (size_t)json->at;
        bool big = r->span_count < MAX_SPANS;
        if (is_vocab && token == WB__JSON_OBJECT && big) {
            if (!read_vocab_object(r) || !leave_out(r, from))
                return false;
        } else if (is_vocab && token == WB__JSON_ARRAY && big) {
            if (!read_vocab_array(r) || !leave_out(r, from))
                return false;
        } else if (is_merges && token == WB__JSON_ARRAY && big) {
            if (!read_merges(r) || !leave_out(r, from))
                return false;
        } else if (!wb__json_skip(json)) {
            return fail(r);
        }
    }
    return json->token == WB__JSON_OBJECT_END || fail(r);
}

static bool read_top(reader *r)
{
    wb__json *json = &r->json;
    if (wb__json_next(json) != WB__JSON_OBJECT)
        return json->token == WB__JSON_FAULT ? fail(r) : true;
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_model = wb__str_equal(json->text, WB__STR("model"));
        if (is_model && wb__json_next(json) == WB__JSON_OBJECT) {
            if (!read_model(r))
                return false;
        } else if (!wb__json_skip(json)) {
            return fail(r);
        }
    }
    return json->token == WB__JSON_OBJECT_END || fail(r);
}

/* The file with 0 in the place of what was read, as a tree. */
static bool read_rest(reader *r)
{
    wb__tokenizer_json *file = r->file;
    file->rest_bytes = file->bytes;
    for (size_t i = 0; i < r->span_count; i++)
        file->rest_bytes -= r->spans[i].to - r->spans[i].from - 1;
    file->rest = wb__alloc(&file->allocator, file->rest_bytes + 1);
    if (file->rest == NULL)
        return fail_memory(r);
    size_t from = 0, n = 0;
    for (size_t i = 0; i < r->span_count; i++) {
        memcpy(file->rest + n, file->text + from, r->spans[i].from - from);
        n += r->spans[i].from - from;
        file->rest[n++] = '0';
        from = r->spans[i].to;
    }
    memcpy(file->rest + n, file->text + from, file->bytes - from);
    file->rest[file->rest_bytes] = '\0';
    if (wb__tree_parse(&file->tree, file->rest, file->rest_bytes, &file->allocator))
        return true;
    file->fault = file->tree.fault;
    file->fault_at = file->tree.fault_at;
    for (size_t i = 0; i < r->span_count && file->fault_at > r->spans[i].from; i++)
        file->fault_at += r->spans[i].to - r->spans[i].from - 1;
    return false;
}

bool wb__tokenizer_json_read(wb__tokenizer_json *file, char *text, size_t bytes,
                             const wb_allocator *allocator)
{
    reader r = {.file = file};
    *file = (wb__tokenizer_json){.allocator = *allocator, .text = text, .bytes = bytes};
    file->merges.allocator = *allocator;
    if (bytes >= WB__TOKEN_REST) {
        file->fault = WB__JSON_FAULT_STRING_LENGTH;
        return false;
    }
    r.cursor = wb__cursor_over(text, bytes);
    wb__json_start(&r.json, &r.cursor, allocator);
    r.json.nonfinite = true;
    bool read = read_top(&r);
    wb__json_stop(&r.json);
    return read && read_rest(&r);
}

void wb__tokenizer_json_free(wb__tokenizer_json *file)
{
    const wb_allocator *a = &file->allocator;
    if (a->free == NULL)
        return;
    wb__free(a, file->tokens, file->token_capacity * sizeof *file->tokens);
    wb__free(a, file->scores, file->score_capacity * sizeof *file->scores);
    wb__strings_free(&file->merges);
    wb__tree_free(&file->tree);
    wb__free(a, file->rest, file->rest_bytes + 1);
    *file = (wb__tokenizer_json){0};
}
