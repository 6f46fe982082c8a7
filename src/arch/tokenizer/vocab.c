/* Reads the vocabulary of tokenizer.json: an object that maps strings to ids. */
#include "arch/tokenizer/plain.h"
#include "arch/tokenizer/tokenizer_reader.h"

/*
 * Parses a member `"text": number` with up to nine digits; returns the position after it, or NULL.
 */
static inline const uint8_t *take_member(const uint8_t *p, const uint8_t *end, wb__str *text,
                                         uint32_t *number)
{
    p = wb__plain_string(p, end, text);
    if (p == NULL)
        return NULL;
    p = wb__plain_space(p, end);
    if (p == end || *p != ':')
        return NULL;
    p = wb__plain_space(p + 1, end);
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

/*
 * Parses members up to the first one that is not in plain notation (plain.h). The cursor must be at
 * a key. Returns false if out of memory.
 */
static bool take_members(wb__token_reader *r)
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
        if (!wb__token_add(r->file, number, (uint32_t)(text.ptr - r->file->text),
                           (uint32_t)text.len))
            return wb__token_fail_memory(r);
        took = true;
        r->cursor.p = after;
        p = wb__plain_next(after, end, '"');
    }
    if (took)
        wb__json_took_members(&r->json);
    return true;
}

bool wb__token_read_vocab(wb__token_reader *r)
{
    wb__json *json = &r->json;
    for (;;) {
        if (wb__json_reach_key(json) && !take_members(r))
            return false;
        if (wb__json_next(json) == WB__JSON_OBJECT_END)
            return true;
        if (json->token != WB__JSON_KEY)
            return wb__token_fail(r);
        uint32_t at = wb__token_keep(r);
        uint32_t len = (uint32_t)json->text.len;
        if (wb__json_next(json) == WB__JSON_UINT && !wb__token_add(r->file, json->uint, at, len))
            return wb__token_fail_memory(r);
        if (!wb__json_skip(json))
            return wb__token_fail(r);
    }
}
