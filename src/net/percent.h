/*
 * net/percent.h: percent-encoding of URLs (RFC 3986, 2.1), and functions for ASCII characters.
 */
#ifndef WB_NET_PERCENT_H
#define WB_NET_PERCENT_H

#include "core/buffer.h"
#include "core/core.h"

/* Appends `text` and percent-encodes all bytes except letters, digits and "-._~". If `slash` is
 * true, '/' is not encoded either. */
void wb__percent_add(wb__buffer *out, wb__str text, bool slash);

/* Appends a byte as '%' and two digits. */
void wb__percent_byte(wb__buffer *out, char c);

/* Appends `text` with its percent-encoded bytes decoded. Returns false if a '%' is not followed by
 * two hexadecimal digits, or the result has a NUL. */
bool wb__percent_decode(wb__buffer *out, wb__str text);

/* wb__hex_value returns the value of a hexadecimal digit, or -1 for any other character.
 * wb__hex_digit returns the digit of a value below 16. */
int wb__hex_value(char c);
char wb__hex_digit(unsigned value);

/* These functions regard only ASCII letters as letters, whatever the locale. */
bool wb__is_letter_or_digit(char c);
char wb__lower(char c);

#endif
