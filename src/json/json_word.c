/*
 * Reads the words of JSON (true, false, null) and the words for non-finite numbers.
 */
#include "json/json_state.h"

/* A wrong word is reported at its first byte, not at the byte that does not match. */
wb__json_token wb__json_read_word(wb__json *json, const char *word, wb__json_token token)
{
    for (const char *w = word; *w != '\0'; w++) {
        int c = wb__cursor_peek(json->cursor);
        if (c != *w) {
            if (c < 0)
                (void)wb__json_fail_at_end(json);
            else
                (void)wb__json_fail(json, WB__JSON_FAULT_VALUE, json->at);
            return json->token;
        }
        json->cursor->p++;
    }
    wb__json_value_is_complete(json);
    return json->token = token;
}

wb__json_token wb__json_read_nonfinite(wb__json *json, bool negative)
{
    bool nan = wb__cursor_peek(json->cursor) == 'N'; /* after a minus sign only 'I' is valid */
    json->special = nan        ? UINT64_C(0x7FF8000000000000)
                    : negative ? UINT64_C(0xFFF0000000000000)
                               : UINT64_C(0x7FF0000000000000);
    return wb__json_read_word(json, nan ? "NaN" : "Infinity", WB__JSON_REAL);
}
