/*
 * json: a pull parser and a writer for JSON.
 *
 * The parser follows RFC 8259 strictly and is built for untrusted input. It reads a cursor once
 * from start to end, never recurses, limits the nesting depth, keeps integers up to 2^64 - 1 exact,
 * and reports the byte offset of every error. A string without escapes that is completely in the
 * window of the cursor is returned in place; all other strings are assembled in a scratch buffer.
 *
 *     wb__json json;
 *     wb__json_start(&json, &cursor, &allocator);
 *     while (wb__json_next(&json) > WB__JSON_END) ...
 *     wb__json_stop(&json);
 *
 * The caller reads `json.token`; after WB__JSON_FAULT it reads `json.fault` and `json.at`.
 */
#ifndef WB_JSON_JSON_H
#define WB_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"
#include "json/json_messages.h"

typedef enum wb__json_token {
    WB__JSON_FAULT = 0,
    WB__JSON_END, /* one complete value was read; the parser does not look at the bytes after it */
    WB__JSON_OBJECT,
    WB__JSON_OBJECT_END,
    WB__JSON_ARRAY,
    WB__JSON_ARRAY_END,
    WB__JSON_KEY,
    WB__JSON_STRING,
    WB__JSON_UINT, /* an integer from 0 to 2^64 - 1, written without sign, fraction and exponent */
    WB__JSON_REAL, /* every other number, including -1 */
    WB__JSON_TRUE,
    WB__JSON_FALSE,
    WB__JSON_NULL
} wb__json_token;

typedef enum wb__json_fault {
#define X(name, text) WB__JSON_FAULT_##name,
    WB__JSON_FAULTS(X)
#undef X
} wb__json_fault;

/* Returns the message of a fault, a static string. */
const char *wb__json_fault_text(wb__json_fault fault);

/* Same limit as serde_json, which the official reader of safetensors uses. */
#define WB__JSON_MAX_DEPTH 127u
/* After 769 digits, the rounding depends only on whether a nonzero digit follows. */
#define WB__JSON_DIGITS 800

/* A decimal number 0.d1 d2 d3 … · 10^exponent, without leading zeros. */
typedef struct wb__decimal {
    uint8_t digits[WB__JSON_DIGITS]; /* values 0 to 9 */
    size_t count;
    bool more; /* nonzero digits were dropped */
    bool negative;
    int64_t exponent;
} wb__decimal;

typedef struct wb__json {
    wb__cursor *cursor;
    wb_allocator allocator;
    size_t max_string; /* maximum string length in bytes; SIZE_MAX unless the caller lowers it */
    bool discard;      /* strings are checked but not stored: `text` stays empty */
    /* NaN, Infinity and -Infinity are accepted as numbers, as in Python's json module */
    bool nonfinite;

    wb__json_token token;
    uint64_t at;  /* offset of the first byte of the token, or of the error */
    wb__str text; /* value of KEY and STRING: borrowed until the next call, not NUL-terminated */
    uint64_t uint;
    wb__decimal decimal; /* set for UINT and REAL */
    /* for REAL: the bits of the double if it is NaN or infinite, otherwise 0 */
    uint64_t special;
    wb__json_fault fault;

    unsigned depth;
    unsigned state;
    uint64_t is_object[2]; /* one bit per open bracket: 1 for an object, 0 for an array */
    char *scratch;
    size_t scratch_len;
    size_t scratch_capacity;
} wb__json;

void wb__json_start(wb__json *json, wb__cursor *cursor, const wb_allocator *allocator);
void wb__json_stop(wb__json *json);

/* Advances to the next token and returns it. After END or FAULT, returns the same token again. */
wb__json_token wb__json_next(wb__json *json);

/*
 * Skips the rest of the value that the current token begins, and checks its syntax. After a key,
 * skips the value of the key; after an opening bracket, everything up to the closing bracket; after
 * a scalar, nothing. Returns false on a fault.
 */
bool wb__json_skip(wb__json *json);

/*
 * Precondition: a member of an object may begin at the cursor. Skips the comma and white space
 * before the member. Returns true if the cursor is now at the opening quote of a key; then the
 * caller may parse whole members from the text without the functions of this file, and must call
 * wb__json_took_members after them. If the function returns false, continue with wb__json_next.
 */
bool wb__json_reach_key(wb__json *json);
void wb__json_took_members(wb__json *json);

/*
 * Like wb__json_reach_key, but in an array: returns true if the cursor is at the first byte of an
 * element. The caller may then parse elements without the functions of this file, and must call
 * wb__json_took_members afterwards.
 */
bool wb__json_reach_element(wb__json *json);

/* Returns the bits of the double that is nearest to the number of the current token. */
uint64_t wb__json_real_bits(const wb__json *json);

/* ---- internal functions of the parser (string.c, number.c, decimal.c) ---- */

/* Reads a string into `text`. Its opening quote must be the next byte. Returns false on a fault. */
bool wb__json_read_string(wb__json *json);

/* Reads a number; sets token, uint and decimal. Returns false on a fault. */
bool wb__json_read_number(wb__json *json);

/*
 * Reads NaN or Infinity. If `negative`, a minus sign was already consumed, and only Infinity is
 * valid. Returns the token.
 */
wb__json_token wb__json_read_nonfinite(wb__json *json, bool negative);

/* Sets the fault and its offset. Always returns false. */
bool wb__json_fail(wb__json *json, wb__json_fault fault, uint64_t at);

/* Sets WB__JSON_FAULT_READ if the cursor failed, else WB__JSON_FAULT_ENDS. Always returns false. */
bool wb__json_fail_at_end(wb__json *json);

/* Returns the bits of the nearest double, ties to even; infinity if the number is too large. */
uint64_t wb__decimal_to_double(const wb__decimal *decimal);

/* Returns true if the nearest double is infinite. Cheaper than the conversion. */
bool wb__decimal_overflows(const wb__decimal *decimal);

/* ---- duplicate key detection ---- */

/*
 * Detects duplicate keys within an object when the keys themselves are not stored. The set contains
 * keyed 64-bit hashes, so two different keys are mistaken for duplicates with probability 2^-64.
 */
typedef struct wb__key_set {
    wb_allocator allocator;
    wb__hash_key key;
    uint64_t *slots; /* hashes; 0 is a free slot */
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} wb__key_set;

void wb__key_set_start(wb__key_set *set, const wb_allocator *allocator);
void wb__key_set_stop(wb__key_set *set);

/*
 * Adds a key of an object. `object` is a number that the caller chooses for each object. Sets
 * *repeated to true if the object already had this key, else to false. Returns false if out of
 * memory.
 */
bool wb__key_set_add(wb__key_set *set, uint64_t object, wb__str key, bool *repeated);

/* ---- writer ---- */

/*
 * Writes compact JSON through `write`, and inserts commas and colons automatically. In strings that
 * are not valid UTF-8, each invalid byte is replaced by U+FFFD. After a failed write, all further
 * calls are ignored. With `for_display`, all characters that are not printable are escaped
 * (core/text.h); without it, only those that JSON requires, and DEL.
 */
typedef struct wb__json_writer {
    bool (*write)(void *ctx, const char *text, size_t n);
    void *ctx;
    bool for_display;
    bool failed;
    bool after_value; /* the next value or key must be preceded by a comma */
    bool after_key;
} wb__json_writer;

void wb__json_write_begin(wb__json_writer *writer, char bracket); /* '{' or '[' */
void wb__json_write_end(wb__json_writer *writer, char bracket);   /* '}' or ']' */
void wb__json_write_key(wb__json_writer *writer, const char *key);
void wb__json_write_key_str(wb__json_writer *writer, wb__str key);
void wb__json_write_str(wb__json_writer *writer, wb__str text);
void wb__json_write_uint(wb__json_writer *writer, uint64_t value);
void wb__json_write_int(wb__json_writer *writer, int64_t value);
/* Writes null if the value is not finite. */
void wb__json_write_double(wb__json_writer *writer, double value);
/* As wb__json_write_double, but a whole number has a point: Python reads 5 as an int and 5.0 as a
 * float, and transformers refuses an int where it expects a float. */
void wb__json_write_real(wb__json_writer *writer, double value);
void wb__json_write_bool(wb__json_writer *writer, bool value);
void wb__json_write_null(wb__json_writer *writer);

#endif
