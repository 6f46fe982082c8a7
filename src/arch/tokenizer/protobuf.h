/*
 * arch/tokenizer/protobuf.h: reads the fields of a protocol buffer message.
 *
 * A message is a sequence of fields: a varint (field number times 8 plus wire type), then the
 * value. Wire types are 0 (varint), 1 (8 bytes), 2 (length and bytes) and 5 (4 bytes). Groups (3,
 * 4) are not supported.
 *
 * scripts/prove.sh proves the ACSL contracts: no read accesses bytes outside the message, a field
 * of bytes is inside its message, and the message becomes shorter with each field.
 *
 * https://protobuf.dev/programming-guides/encoding
 */
#ifndef WB_ARCH_TOKENIZER_PROTOBUF_H
#define WB_ARCH_TOKENIZER_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WB__FIELD_VARINT = 0, WB__FIELD_8_BYTES = 1, WB__FIELD_BYTES = 2, WB__FIELD_4_BYTES = 5 };

/* The bytes of a message that are not read yet. */
typedef struct wb__message {
    const uint8_t *p, *end;
    bool bad; /* a field is invalid; `p` is its first byte */
} wb__message;

typedef struct wb__field {
    uint64_t number;
    unsigned type;                    /* WB__FIELD_* */
    uint64_t value;                   /* for a number */
    const uint8_t *bytes, *bytes_end; /* for WB__FIELD_BYTES; otherwise NULL */
} wb__field;

/*@ predicate message_sound(wb__message *m) =
      \valid(m) && \base_addr(m->p) == \base_addr(m->end) && 0 <= m->end - m->p <= SIZE_MAX &&
      \valid_read(m->p + (0 .. m->end - m->p - 1)) &&
      \separated(m, m->p + (0 .. m->end - m->p - 1)) && (m->bad == 0 || m->bad == 1);
    predicate inside(uint8_t *p, uint8_t *begin, uint8_t *end) =
      \base_addr(p) == \base_addr(end) && begin - end <= p - end <= 0; */

/* Reads the next field. Returns false at the end, or with m->bad set on an error. */
/*@ requires message_sound(m) && \valid(field) && \separated(m, field) &&
             \separated(field, m->p + (0 .. m->end - m->p - 1));
    assigns m->p, m->bad, *field;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end);
    ensures \result == 1 ==> m->end - m->p < \old(m->end - m->p) && m->bad == 0;
    ensures \result == 0 ==> m->p == \old(m->p);
    ensures \result == 1 && field->type == WB__FIELD_BYTES ==>
              inside(field->bytes, \old(m->p), m->end) &&
              inside(field->bytes_end, field->bytes, m->end); */
bool wb__message_next(wb__message *m, wb__field *field);

#endif
