/*
 * The state machine of the pull parser. Each call of wb__json_next reads one complete token.
 * Between calls, `state` records what may come next, and is_object records for each open bracket
 * whether it is an object.
 */
#include "json/json_state.h"

void wb__json_start(wb__json *json, wb__cursor *cursor, const wb_allocator *allocator)
{
    /* Set the members one by one: clearing the digits of `decimal` as well would take longer than
     * parsing a small header. */
    json->cursor = cursor;
    json->allocator = *allocator;
    json->max_string = SIZE_MAX;
    json->discard = false;
    json->nonfinite = false;
    json->special = 0;
    json->token = WB__JSON_FAULT;
    json->at = 0;
    json->text = WB__STR("");
    json->uint = 0;
    json->decimal.count = 0;
    json->fault = WB__JSON_FAULT_NONE;
    json->depth = 0;
    json->state = EXPECT_VALUE;
    json->is_object[0] = json->is_object[1] = 0;
    json->scratch = NULL;
    json->scratch_len = json->scratch_capacity = 0;
}

void wb__json_stop(wb__json *json)
{
    wb__free(&json->allocator, json->scratch, json->scratch_capacity);
    json->scratch = NULL;
    json->scratch_capacity = 0;
}

/* Returns the next byte that is not white space, without consuming it, or -1 at the end. */
static int next_byte(wb__json *json)
{
    wb__cursor *cursor = json->cursor;
    for (;;) {
        int c = wb__cursor_peek(cursor);
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return c;
        cursor->p++;
    }
}

static bool innermost_is_object(const wb__json *json)
{
    unsigned bit = json->depth - 1;
    return json->is_object[bit / 64] >> bit % 64 & 1;
}

static wb__json_token open_bracket(wb__json *json, bool is_object)
{
    if (json->depth == WB__JSON_MAX_DEPTH) {
        (void)wb__json_fail(json, WB__JSON_FAULT_DEPTH, json->at);
        return json->token;
    }
    uint64_t bit = UINT64_C(1) << json->depth % 64;
    if (is_object)
        json->is_object[json->depth / 64] |= bit;
    else
        json->is_object[json->depth / 64] &= ~bit;
    json->depth++;
    json->cursor->p++;
    json->state = is_object ? EXPECT_KEY_OR_END : EXPECT_ELEMENT_OR_END;
    return json->token = is_object ? WB__JSON_OBJECT : WB__JSON_ARRAY;
}

static wb__json_token close_bracket(wb__json *json)
{
    json->token = innermost_is_object(json) ? WB__JSON_OBJECT_END : WB__JSON_ARRAY_END;
    json->depth--;
    json->cursor->p++;
    wb__json_value_is_complete(json);
    return json->token;
}

static wb__json_token read_value(wb__json *json, int c)
{
    json->at = wb__cursor_at(json->cursor);
    switch (c) {
    case '{': return open_bracket(json, true);
    case '[': return open_bracket(json, false);
    case '"':
        if (!wb__json_read_string(json))
            return json->token;
        wb__json_value_is_complete(json);
        return json->token = WB__JSON_STRING;
    case 't': return wb__json_read_word(json, "true", WB__JSON_TRUE);
    case 'f': return wb__json_read_word(json, "false", WB__JSON_FALSE);
    case 'n': return wb__json_read_word(json, "null", WB__JSON_NULL);
    case -1: (void)wb__json_fail_at_end(json); return json->token;
    case 'N':
    case 'I':
        if (json->nonfinite)
            return wb__json_read_nonfinite(json, false);
        break;
    default: break;
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        if (wb__json_read_number(json))
            wb__json_value_is_complete(json);
        return json->token;
    }
    (void)wb__json_fail(json, WB__JSON_FAULT_VALUE, json->at);
    return json->token;
}

static wb__json_token read_key(wb__json *json, int c)
{
    json->at = wb__cursor_at(json->cursor);
    if (c != '"') {
        if (c < 0)
            (void)wb__json_fail_at_end(json);
        else
            (void)wb__json_fail(json, c == '}' ? WB__JSON_FAULT_TRAILING_COMMA : WB__JSON_FAULT_KEY,
                                json->at);
        return json->token;
    }
    if (!wb__json_read_string(json))
        return json->token;
    json->state = EXPECT_COLON;
    return json->token = WB__JSON_KEY;
}

wb__json_token wb__json_next(wb__json *json)
{
    int c;
    if (json->state == AT_FAULT)
        return WB__JSON_FAULT;
    if (json->state == AT_END)
        return json->token = WB__JSON_END;
    c = next_byte(json);
    switch (json->state) {
    case EXPECT_COLON:
        if (c != ':') {
            if (c < 0)
                (void)wb__json_fail_at_end(json);
            else
                (void)wb__json_fail(json, WB__JSON_FAULT_COLON, wb__cursor_at(json->cursor));
            return json->token;
        }
        json->cursor->p++;
        return read_value(json, next_byte(json));

    case EXPECT_KEY_OR_END:
        if (c == '}') {
            json->at = wb__cursor_at(json->cursor);
            return close_bracket(json);
        }
        return read_key(json, c);

    case EXPECT_KEY: return read_key(json, c);

    case EXPECT_ELEMENT_OR_END:
        if (c == ']') {
            json->at = wb__cursor_at(json->cursor);
            return close_bracket(json);
        }
        return read_value(json, c);

    case EXPECT_COMMA_OR_END: {
        bool in_object = innermost_is_object(json);
        json->at = wb__cursor_at(json->cursor);
        if (c == (in_object ? '}' : ']'))
            return close_bracket(json);
        if (c != ',') {
            if (c < 0)
                (void)wb__json_fail_at_end(json);
            else
                (void)wb__json_fail(json,
                                    in_object ? WB__JSON_FAULT_COMMA_OR_BRACE
                                              : WB__JSON_FAULT_COMMA_OR_BRACKET,
                                    json->at);
            return json->token;
        }
        json->cursor->p++;
        json->state = in_object ? EXPECT_KEY : EXPECT_ELEMENT;
        c = next_byte(json);
        if (in_object)
            return read_key(json, c);
        break;
    }
    default: break;
    }
    if (json->state == EXPECT_ELEMENT && c == ']') {
        (void)wb__json_fail(json, WB__JSON_FAULT_TRAILING_COMMA, wb__cursor_at(json->cursor));
        return json->token;
    }
    return read_value(json, c);
}

bool wb__json_skip(wb__json *json)
{
    if (json->token == WB__JSON_KEY)
        (void)wb__json_next(json);
    if (json->token != WB__JSON_OBJECT && json->token != WB__JSON_ARRAY)
        return json->token != WB__JSON_FAULT;
    unsigned outside = json->depth - 1;
    bool discard = json->discard;
    json->discard = true;
    while (json->depth > outside && wb__json_next(json) != WB__JSON_FAULT) {
    }
    json->discard = discard;
    return json->token != WB__JSON_FAULT;
}

bool wb__json_reach_key(wb__json *json)
{
    if (json->state == EXPECT_COMMA_OR_END && innermost_is_object(json) && next_byte(json) == ',') {
        json->cursor->p++;
        json->state = EXPECT_KEY;
    }
    if (json->state != EXPECT_KEY && json->state != EXPECT_KEY_OR_END)
        return false;
    return next_byte(json) == '"';
}

bool wb__json_reach_element(wb__json *json)
{
    if (json->state == EXPECT_COMMA_OR_END && !innermost_is_object(json) &&
        next_byte(json) == ',') {
        json->cursor->p++;
        json->state = EXPECT_ELEMENT;
    }
    if (json->state != EXPECT_ELEMENT && json->state != EXPECT_ELEMENT_OR_END)
        return false;
    int c = next_byte(json);
    return c >= 0 && c != ']';
}

void wb__json_took_members(wb__json *json)
{
    wb__json_value_is_complete(json);
}

uint64_t wb__json_real_bits(const wb__json *json)
{
    return json->special != 0 ? json->special : wb__decimal_to_double(&json->decimal);
}
