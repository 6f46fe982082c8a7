/* Reads the merges of tokenizer.json: pairs, or strings with a space between the parts. */
#include "arch/tokenizer/plain.h"
#include "arch/tokenizer/tokenizer_reader.h"

/*
 * Adds a pair in llama.cpp's notation: "a b". A space inside a part becomes U+0120 "Ġ".
 */
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

/* Parses an element `["a", "b"]`; returns the position after it, or NULL. */
static inline const uint8_t *take_pair(const uint8_t *p, const uint8_t *end, wb__str *a, wb__str *b)
{
    p = wb__plain_space(p + 1, end);
    if (p == end || *p != '"' || (p = wb__plain_string(p, end, a)) == NULL ||
        (p = wb__plain_next(p, end, '"')) == NULL || (p = wb__plain_string(p, end, b)) == NULL)
        return NULL;
    p = wb__plain_space(p, end);
    return p < end && *p == ']' ? p + 1 : NULL;
}

/*
 * Parses elements up to the first one that is not in plain notation (plain.h). The cursor must be
 * at an element. Returns false if out of memory.
 */
static bool take_merges(wb__token_reader *r)
{
    const uint8_t *p = r->cursor.p;
    const uint8_t *end = r->cursor.end;
    const uint8_t first = *p;
    bool took = false;
    if (first != '"' && first != '[')
        return true;
    while (p != NULL) {
        wb__str a, b;
        const uint8_t *after =
            first == '"' ? wb__plain_string(p, end, &a) : take_pair(p, end, &a, &b);
        if (after == NULL)
            break;
        if (!(first == '"' ? wb__strings_add(&r->file->merges, a)
                           : add_pair(&r->file->merges, a, b)))
            return wb__token_fail_memory(r);
        took = true;
        r->cursor.p = after;
        p = wb__plain_next(after, end, first);
    }
    if (took)
        wb__json_took_members(&r->json);
    return true;
}

static bool read_pair(wb__token_reader *r)
{
    wb__json *json = &r->json;
    wb__str part[2] = {{NULL, 0}, {NULL, 0}};
    size_t count = 0;
    for (; wb__json_next(json) != WB__JSON_ARRAY_END; count++) {
        if (json->token == WB__JSON_STRING && count < 2)
            part[count] = (wb__str){r->file->text + wb__token_keep(r), json->text.len};
        if (!wb__json_skip(json))
            return wb__token_fail(r);
    }
    if (count != 2 || part[0].ptr == NULL || part[1].ptr == NULL)
        r->file->bad_merges++;
    else if (!add_pair(&r->file->merges, part[0], part[1]))
        return wb__token_fail_memory(r);
    return true;
}

bool wb__token_read_merges(wb__token_reader *r)
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
                return wb__token_fail_memory(r);
            break;
        default:
            r->file->bad_merges++;
            if (!wb__json_skip(json))
                return wb__token_fail(r);
        }
    }
}
