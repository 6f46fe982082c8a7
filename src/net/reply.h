/*
 * net/reply.h: helpers for reading JSON replies with the pull parser.
 *
 *     wb__reply reply;
 *     wb__reply_begin(&reply, context, text, n, "the listing");
 *     if (wb__reply_open(&reply, WB__JSON_OBJECT))
 *         while (wb__reply_key(&reply))
 *             if (wb__reply_is(&reply, "sha")) … else wb__reply_skip(&reply);
 *     wb_status status = wb__reply_end(&reply);
 *
 * The first failure ends the reading: all functions return false then.
 */
#ifndef WB_NET_REPLY_H
#define WB_NET_REPLY_H

#include "core/core.h"
#include "json/json.h"

typedef struct wb__reply {
    wb__context *context;
    wb__cursor cursor;
    wb__json json;
    const char *what; /* names the reply in messages */
    wb_status status;
    char key[64]; /* the current key, truncated; no key of interest is longer */
} wb__reply;

void wb__reply_begin(wb__reply *reply, wb__context *context, const char *text, size_t n,
                     const char *what);

/* Reads the next token, which must be the opening bracket `token`. */
bool wb__reply_open(wb__reply *reply, wb__json_token token);

/* In an object: reads the next key. Returns false at the end of the object. */
bool wb__reply_key(wb__reply *reply);
bool wb__reply_is(const wb__reply *reply, const char *key);

/* In an array: reads the first token of the next element into reply->json. Returns false at the end
 * of the array. */
bool wb__reply_element(wb__reply *reply);

/* Skips the value of the current key, or the current element. */
bool wb__reply_skip(wb__reply *reply);

/* Copies the string that is the value of the current key to `text`, NUL-terminated. `text`
 * becomes empty if the value is null, contains a NUL or does not fit. */
bool wb__reply_string(wb__reply *reply, char *text, size_t capacity);

/* Reads the number that is the value of the current key. null leaves *value unchanged. */
bool wb__reply_uint(wb__reply *reply, uint64_t *value);

/* As wb__reply_uint; the number may also be in a string. */
bool wb__reply_size(wb__reply *reply, uint64_t *value);

/* Reads true or false. null leaves *value unchanged. */
bool wb__reply_bool(wb__reply *reply, bool *value);

/* Copies the string that is the value of the current key to the arena. If the value is null, *text
 * becomes empty. */
bool wb__reply_arena(wb__reply *reply, wb__arena *arena, wb__str *text);

/* Enters the object that is the value of the current key. Returns false without a failure if the
 * value is null. */
bool wb__reply_enter(wb__reply *reply);

/* Records that the reply is not as expected. Returns false. */
bool wb__reply_fail(wb__reply *reply, const char *reason);

/* Frees the parser. Returns WB_OK, or the failure with its message. */
wb_status wb__reply_end(wb__reply *reply);

#endif
