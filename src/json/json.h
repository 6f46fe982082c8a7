/*
 * json: one pull parser for every JSON we read, one writer for every JSON we write.
 *
 * The parser follows RFC 8259 to the letter, and is made for text from strangers: it reads a cursor
 * once from front to back, never recurses, bounds the nesting, takes integers up to 2^64 - 1 as they
 * are, and says of every fault at which byte it stands. Strings that lie whole in the bytes at hand
 * and have no escapes are handed out in place; all others are put together in a scratch buffer.
 *
 *     wb__json json;
 *     wb__json_start(&json, &cursor, &allocator);
 *     while (wb__json_next(&json) > WB__JSON_END) ...
 *     wb__json_stop(&json);
 *
 * The caller looks at `json.token`; after WB__JSON_FAULT at `json.fault` and `json.at`.
 */
#ifndef WB_JSON_JSON_H
#define WB_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

typedef enum wb__json_token {
    WB__JSON_FAULT = 0,
    WB__JSON_END, /* one whole value was read; what follows is the caller's */
    WB__JSON_OBJECT,
    WB__JSON_OBJECT_END,
    WB__JSON_ARRAY,
    WB__JSON_ARRAY_END,
    WB__JSON_KEY,
    WB__JSON_STRING,
    WB__JSON_UINT, /* an integer from 0 to 2^64 - 1, written in digits alone */
    WB__JSON_REAL, /* every other number, -1 included */
    WB__JSON_TRUE,
    WB__JSON_FALSE,
    WB__JSON_NULL
} wb__json_token;

/* A row each: name, and the sentence for the user. */
#define WB__JSON_FAULTS(X)                                                                         \
    X(NONE, "")                                                                                    \
    X(ENDS, "the JSON text ends too early")                                                        \
    X(VALUE, "expected a JSON value")                                                              \
    X(KEY, "expected a key in double quotes")                                                      \
    X(COLON, "expected ':' after a key")                                                           \
    X(COMMA_OR_BRACE, "expected ',' or '}'")                                                       \
    X(COMMA_OR_BRACKET, "expected ',' or ']'")                                                     \
    X(TRAILING_COMMA, "a comma before a closing bracket")                                          \
    X(CONTROL, "a control character in a string, which must be written as an escape")              \
    X(ESCAPE, "an escape that JSON does not know")                                                 \
    X(SURROGATE, "half of a surrogate pair in an escape")                                          \
    X(UTF8, "bytes that are not valid UTF-8")                                                      \
    X(NUMBER, "a number that JSON does not allow")                                                 \
    X(RANGE, "a number beyond the range of a double")                                              \
    X(DEPTH, "arrays and objects nested too deeply")                                               \
    X(STRING_LENGTH, "a string longer than the limit")                                             \
    X(MEMORY, "out of memory")                                                                     \
    X(READ, "reading failed")

typedef enum wb__json_fault {
#define X(name, text) WB__JSON_FAULT_##name,
    WB__JSON_FAULTS(X)
#undef X
} wb__json_fault;

/* The sentence of a fault. Static. */
const char *wb__json_fault_text(wb__json_fault fault);

#define WB__JSON_MAX_DEPTH 127u /* as serde_json, and so the official safetensors reader */
#define WB__JSON_DIGITS 800     /* more than these (769) cannot change how a double is rounded */

/* A decimal number 0.d1 d2 d3 … · 10^exponent, without leading zeros. */
typedef struct wb__decimal {
    uint8_t digits[WB__JSON_DIGITS]; /* 0 to 9 */
    size_t count;
    bool more; /* digits other than 0 were left out */
    bool negative;
    int64_t exponent;
} wb__decimal;

typedef struct wb__json {
    wb__cursor *cursor;
    wb_allocator allocator;
    size_t max_string; /* bytes a string may have, SIZE_MAX unless the caller lowers it */
    bool discard;      /* strings are checked but not kept: `text` is empty */
    bool nonfinite;    /* NaN, Infinity and -Infinity are numbers, as Python's json module has it */

    wb__json_token token;
    uint64_t at;  /* offset of the token's first byte, or of the fault */
    wb__str text; /* KEY, STRING: borrowed until the next call; no NUL behind it */
    uint64_t uint;
    wb__decimal decimal; /* UINT and REAL */
    uint64_t special;    /* REAL: the double's bits where it is not finite, else 0 */
    wb__json_fault fault;

    unsigned depth;
    unsigned state;
    uint64_t is_object[2]; /* a bit for each open bracket */
    char *scratch;
    size_t scratch_len;
    size_t scratch_capacity;
} wb__json;

void wb__json_start(wb__json *json, wb__cursor *cursor, const wb_allocator *allocator);
void wb__json_stop(wb__json *json);

/* Moves to the next token and returns it. After END or FAULT it stays there. */
wb__json_token wb__json_next(wb__json *json);

/*
 * Skips the rest of the value that the current token begins (nothing for a scalar, up to the closing
 * bracket for an array or object, the value for a key), checking its grammar. False on a fault.
 */
bool wb__json_skip(wb__json *json);

/*
 * Where a member of an object may begin: skips the comma and white space before it and returns true
 * if the cursor stands at the quote of a key; false, with nothing lost, for all else. A caller that
 * then consumes whole members from the cursor by itself says so with wb__json_took_members.
 */
bool wb__json_reach_key(wb__json *json);
void wb__json_took_members(wb__json *json);

/* The same for an array: the cursor then stands at the first byte of an element. The caller who took
 * elements says so with wb__json_took_members, too. */
bool wb__json_reach_element(wb__json *json);

/* The double nearest to the number read last, as its bits. */
uint64_t wb__json_real_bits(const wb__json *json);

/* ---- parts of the parser (string.c, number.c, decimal.c) ---- */

/* Reads a string whose opening quote is the next byte, into `text`. False on a fault. */
bool wb__json_read_string(wb__json *json);

/* Reads a number, sets token, uint and decimal. False on a fault. */
bool wb__json_read_number(wb__json *json);

/* Reads NaN, Infinity, or Infinity behind a minus that was consumed; returns the token. */
wb__json_token wb__json_read_nonfinite(wb__json *json, bool negative);

/* Sets the fault at an offset; always false. */
bool wb__json_fail(wb__json *json, wb__json_fault fault, uint64_t at);

/* Sets the fault that the cursor ended or failed with; always false. */
bool wb__json_fail_at_end(wb__json *json);

/* The nearest double, ties to even, as its bits; infinity where it is too large. */
uint64_t wb__decimal_to_double(const wb__decimal *decimal);

/* True if the nearest double is infinite; cheap. */
bool wb__decimal_overflows(const wb__decimal *decimal);

/* ---- the set of keys seen ---- */

/*
 * Tells whether a key was seen before in the same object, for objects whose keys are not kept. Holds
 * 64-bit keyed hashes, so that two different keys are taken for one with a chance of 2^-64.
 */
typedef struct wb__key_set {
    wb_allocator allocator;
    wb__hash_key key;
    uint64_t *slots; /* 0: free */
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} wb__key_set;

void wb__key_set_start(wb__key_set *set, const wb_allocator *allocator);
void wb__key_set_stop(wb__key_set *set);

/* Adds a key of the object number `object`; *repeated tells whether it was there. False: no memory. */
bool wb__key_set_add(wb__key_set *set, uint64_t object, wb__str key, bool *repeated);

/* ---- writer ---- */

/*
 * Writes compact JSON through `write`. Commas and colons come by themselves. Text that is not valid
 * UTF-8 is written with U+FFFD in the place of each bad byte. A failed write is remembered, and
 * everything after it ignored.
 */
typedef struct wb__json_writer {
    bool (*write)(void *ctx, const char *text, size_t n);
    void *ctx;
    bool failed;
    bool after_value; /* a comma is due before the next value or key */
    bool after_key;
} wb__json_writer;

void wb__json_write_begin(wb__json_writer *writer, char bracket); /* '{' or '[' */
void wb__json_write_end(wb__json_writer *writer, char bracket);   /* '}' or ']' */
void wb__json_write_key(wb__json_writer *writer, const char *key);
void wb__json_write_key_str(wb__json_writer *writer, wb__str key);
void wb__json_write_str(wb__json_writer *writer, wb__str text);
void wb__json_write_uint(wb__json_writer *writer, uint64_t value);
void wb__json_write_int(wb__json_writer *writer, int64_t value);
void wb__json_write_double(wb__json_writer *writer, double value); /* null where not finite */
void wb__json_write_bool(wb__json_writer *writer, bool value);
void wb__json_write_null(wb__json_writer *writer);

#endif
