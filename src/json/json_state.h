/*
 * json/json_state.h: the states of the pull parser, used only inside this module.
 */
#ifndef WB_JSON_JSON_STATE_H
#define WB_JSON_JSON_STATE_H

#include "json/json.h"

enum wb__json_state {
    EXPECT_VALUE,          /* at the start */
    EXPECT_KEY_OR_END,     /* after '{' */
    EXPECT_KEY,            /* after a comma in an object */
    EXPECT_COLON,          /* after a key */
    EXPECT_ELEMENT_OR_END, /* after '[' */
    EXPECT_ELEMENT,        /* after a comma in an array */
    EXPECT_COMMA_OR_END,   /* after a value inside brackets */
    AT_END,
    AT_FAULT
};

static inline void wb__json_value_is_complete(wb__json *json)
{
    json->state = json->depth == 0 ? AT_END : EXPECT_COMMA_OR_END;
}

/* Reads a word such as "true" and makes `token` the current token. Returns the current token. */
wb__json_token wb__json_read_word(wb__json *json, const char *word, wb__json_token token);

#endif
