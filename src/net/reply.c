#include "net/reply.h"

#include "net/net_messages.h"
#include "net/response.h"

void wb__reply_begin(wb__reply *reply, wb__context *context, const char *text, size_t n,
                     const char *what)
{
    *reply = (wb__reply){.context = context, .what = what, .status = WB_OK};
    reply->cursor = wb__cursor_over(text, n);
    wb__json_start(&reply->json, &reply->cursor, &context->allocator);
}

bool wb__reply_fail(wb__reply *reply, const char *reason)
{
    if (reply->status == WB_OK)
        reply->status =
            wb__fail(reply->context, WB_ERROR_FORMAT, WB__FINDING_NET_REPLY, reply->json.at,
                     WB__STR(""), WB__MSG_NET_REPLY, reply->what, reason);
    return false;
}

/* Records the failure of the parser. Returns false. */
static bool fail_json(wb__reply *reply)
{
    if (reply->json.fault == WB__JSON_FAULT_MEMORY) {
        reply->status = wb__fail_memory(reply->context);
        return false;
    }
    return wb__reply_fail(reply, wb__json_fault_text(reply->json.fault));
}

static bool next(wb__reply *reply)
{
    if (reply->status != WB_OK)
        return false;
    return wb__json_next(&reply->json) != WB__JSON_FAULT || fail_json(reply);
}

bool wb__reply_open(wb__reply *reply, wb__json_token token)
{
    if (!next(reply))
        return false;
    return reply->json.token == token ||
           wb__reply_fail(reply, token == WB__JSON_OBJECT ? "an object was expected"
                                                          : "an array was expected");
}

bool wb__reply_key(wb__reply *reply)
{
    if (!next(reply) || reply->json.token != WB__JSON_KEY)
        return false;
    wb__str text = reply->json.text;
    bool fits = text.len < sizeof reply->key && memchr(text.ptr, '\0', text.len) == NULL;
    if (fits)
        memcpy(reply->key, text.ptr, text.len);
    reply->key[fits ? text.len : 0] = '\0';
    return true;
}

bool wb__reply_is(const wb__reply *reply, const char *key)
{
    return strcmp(reply->key, key) == 0;
}

bool wb__reply_element(wb__reply *reply)
{
    return next(reply) && reply->json.token != WB__JSON_ARRAY_END;
}

bool wb__reply_skip(wb__reply *reply)
{
    if (reply->status != WB_OK)
        return false;
    return wb__json_skip(&reply->json) || fail_json(reply);
}

/* Reads a value that must be a string or null. */
static bool read_string(wb__reply *reply, wb__str *text)
{
    *text = WB__STR("");
    if (!next(reply))
        return false;
    if (reply->json.token == WB__JSON_NULL)
        return true;
    if (reply->json.token != WB__JSON_STRING)
        return wb__reply_fail(reply, "a string was expected");
    *text = reply->json.text;
    return true;
}

bool wb__reply_string(wb__reply *reply, char *text, size_t capacity)
{
    wb__str value;
    if (!read_string(reply, &value))
        return false;
    bool fits =
        value.len < capacity && (value.len == 0 || memchr(value.ptr, '\0', value.len) == NULL);
    if (fits && value.len > 0)
        memcpy(text, value.ptr, value.len);
    text[fits ? value.len : 0] = '\0';
    return true;
}

bool wb__reply_uint(wb__reply *reply, uint64_t *value)
{
    if (!next(reply))
        return false;
    if (reply->json.token == WB__JSON_NULL)
        return true;
    if (reply->json.token != WB__JSON_UINT)
        return wb__reply_fail(reply, "a number was expected");
    *value = reply->json.uint;
    return true;
}

bool wb__reply_size(wb__reply *reply, uint64_t *value)
{
    if (!next(reply))
        return false;
    if (reply->json.token == WB__JSON_UINT)
        *value = reply->json.uint;
    else if (reply->json.token != WB__JSON_NULL &&
             (reply->json.token != WB__JSON_STRING || !wb__parse_decimal(reply->json.text, value)))
        return wb__reply_fail(reply, "a number was expected");
    return true;
}

bool wb__reply_bool(wb__reply *reply, bool *value)
{
    if (!next(reply))
        return false;
    wb__json_token token = reply->json.token;
    if (token == WB__JSON_TRUE || token == WB__JSON_FALSE)
        *value = token == WB__JSON_TRUE;
    else if (token != WB__JSON_NULL)
        return wb__reply_fail(reply, "true or false was expected");
    return true;
}

bool wb__reply_arena(wb__reply *reply, wb__arena *arena, wb__str *text)
{
    wb__str value;
    if (!read_string(reply, &value))
        return false;
    const char *copy = wb__arena_copy(arena, value.ptr, value.len);
    if (copy == NULL) {
        reply->status = wb__fail_memory(reply->context);
        return false;
    }
    *text = (wb__str){copy, value.len};
    return true;
}

bool wb__reply_enter(wb__reply *reply)
{
    if (!next(reply) || reply->json.token == WB__JSON_NULL)
        return false;
    return reply->json.token == WB__JSON_OBJECT || wb__reply_fail(reply, "an object was expected");
}

wb_status wb__reply_end(wb__reply *reply)
{
    wb__json_stop(&reply->json);
    return reply->status;
}
