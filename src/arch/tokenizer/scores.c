/* Reads the Unigram vocabulary of tokenizer.json: a list of strings and scores. */
#include "arch/tokenizer/plain.h"
#include "arch/tokenizer/tokenizer_reader.h"

static inline bool keep_score(wb__tokenizer_json *file, size_t number, float score)
{
    if (number >= file->score_capacity &&
        !wb__grow(&file->allocator, (void **)&file->scores, &file->score_capacity,
                  sizeof *file->scores, number + 1, SIZE_MAX))
        return false;
    file->scores[number] = score;
    return true;
}

/*
 * Reads an entry `["text", score]`. Sets *good if the entry is a string and a number. Returns false
 * on a JSON error.
 */
static bool read_scored(wb__token_reader *r, uint32_t *at, uint32_t *len, uint64_t *score,
                        bool *good)
{
    wb__json *json = &r->json;
    size_t element = 0;
    bool text = false, number = false;
    if (json->token != WB__JSON_ARRAY) {
        if (!wb__json_skip(json))
            return wb__token_fail(r);
        return true;
    }
    for (; wb__json_next(json) != WB__JSON_ARRAY_END; element++) {
        if (element == 0 && json->token == WB__JSON_STRING) {
            *at = wb__token_keep(r);
            *len = (uint32_t)json->text.len;
            text = true;
        } else if (element == 1 && (json->token == WB__JSON_UINT || json->token == WB__JSON_REAL)) {
            *score = wb__json_real_bits(json);
            number = true;
        }
        if (!wb__json_skip(json))
            return wb__token_fail(r);
    }
    *good = text && number;
    return true;
}

/*
 * Parses a score of up to 19 digits without exponent as float32. Returns the position after it, or
 * NULL. Digits and power of ten are each rounded once to double, so the quotient has an error below
 * two units in the last place. This error can change the float32 only if the quotient is very close
 * to the midpoint of two float32 values. For such a score the function returns NULL.
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
    /*
     * If the quotient is too close to the midpoint of two float32 values, rounding it a second
     * time, to float32, can give the wrong value. Then this function returns NULL, and the JSON
     * parser parses the score. `below` is the part of the mantissa that float32 drops.
     */
    uint64_t below = bits & ((UINT64_C(1) << 29) - 1);
    if (below - ((UINT64_C(1) << 28) - 2) <= 4)
        return NULL;
    *score = (float)(negative ? -quotient : quotient);
    return p;
}

/* Parses an element `["text", score]`; returns the position after it, or NULL. */
static inline const uint8_t *take_scored(const uint8_t *p, const uint8_t *end, wb__str *text,
                                         float *score)
{
    p = wb__plain_space(p + 1, end);
    if (p == end || *p != '"' || (p = wb__plain_string(p, end, text)) == NULL)
        return NULL;
    p = wb__plain_space(p, end);
    if (p == end || *p != ',' || (p = take_score(wb__plain_space(p + 1, end), end, score)) == NULL)
        return NULL;
    p = wb__plain_space(p, end);
    return p < end && *p == ']' ? p + 1 : NULL;
}

/*
 * Parses elements up to the first one that is not in plain notation (plain.h). The cursor must be
 * at an element. Returns false if out of memory.
 */
static bool take_scored_list(wb__token_reader *r, size_t *number)
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
        if (!wb__token_add(r->file, *number, (uint32_t)(text.ptr - r->file->text),
                           (uint32_t)text.len) ||
            !keep_score(r->file, *number, score))
            return wb__token_fail_memory(r);
        took = true;
        ++*number;
        r->cursor.p = after;
        p = wb__plain_next(after, end, '[');
    }
    if (took)
        wb__json_took_members(&r->json);
    return true;
}

bool wb__token_read_scores(wb__token_reader *r)
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
            (!wb__token_add(r->file, number, at, len) ||
             !keep_score(r->file, number, (float)score)))
            return wb__token_fail_memory(r);
    }
}
