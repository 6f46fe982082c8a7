#include "arch/tokenizer/protobuf.h"

#include "core/endian.h"

/* Reads a varint: at most ten bytes of seven bits each, lowest bits first. */
/*@ requires message_sound(m);
    assigns m->p, m->bad;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end);
    ensures m->bad == \old(m->bad) || m->bad == 1;
    ensures m->bad == 0 ==> m->end - m->p < \old(m->end - m->p); */
static uint64_t read_varint(wb__message *m)
{
    uint64_t value = 0;
    /*@ loop invariant message_sound(m) && inside(m->p, \at(m->p, Pre), m->end);
        loop invariant m->bad == \at(m->bad, Pre);
        loop invariant shift % 7 == 0 && shift <= 63;
        loop invariant m->end - m->p == \at(m->end - m->p, Pre) - shift / 7;
        loop assigns shift, value, m->p;
        loop variant m->end - m->p; */
    for (unsigned shift = 0; m->p != m->end; shift += 7) {
        uint8_t byte = *m->p++;
        if (shift == 63 && byte > 1) /* the tenth byte can only be 0 or 1 */
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
    m->bad = true;
    return 0;
}

/*@ requires message_sound(m) && \valid(value) && (n == 4 || n == 8) && \separated(m, value) &&
             \separated(value, m->p + (0 .. m->end - m->p - 1));
    assigns m->p, m->bad, *value;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end);
    ensures m->bad == \old(m->bad) || m->bad == 1; */
static void read_fixed(wb__message *m, size_t n, uint64_t *value)
{
    if ((size_t)(m->end - m->p) < n) {
        m->bad = true;
        return;
    }
    *value = n == 8 ? wb__load_le64(m->p) : wb__load_le32(m->p);
    m->p += n;
}

/*@ requires message_sound(m) && \valid(field) && \separated(m, field) &&
             \separated(field, m->p + (0 .. m->end - m->p - 1));
    assigns m->p, m->bad, field->bytes, field->bytes_end;
    ensures message_sound(m) && inside(m->p, \old(m->p), m->end);
    ensures m->bad == \old(m->bad) || m->bad == 1;
    ensures m->bad == 0 ==> inside(field->bytes, \old(m->p), m->end) &&
                            inside(field->bytes_end, field->bytes, m->end); */
static void read_bytes(wb__message *m, wb__field *field)
{
    uint64_t n = read_varint(m);
    if (m->bad || n > (uint64_t)(m->end - m->p)) {
        m->bad = true;
        return;
    }
    field->bytes = m->p;
    m->p += (size_t)n;
    field->bytes_end = m->p;
}

bool wb__message_next(wb__message *m, wb__field *field)
{
    const uint8_t *at = m->p;
    if (m->bad || m->p == m->end)
        return false;
    uint64_t tag = read_varint(m);
    *field = (wb__field){.number = tag >> 3, .type = (unsigned)(tag & 7)};
    if (field->number == 0) /* read_varint returns 0 if the tag is invalid */
        m->bad = true;
    else if (field->type == WB__FIELD_VARINT)
        field->value = read_varint(m);
    else if (field->type == WB__FIELD_8_BYTES || field->type == WB__FIELD_4_BYTES)
        read_fixed(m, field->type == WB__FIELD_8_BYTES ? 8 : 4, &field->value);
    else if (field->type == WB__FIELD_BYTES)
        read_bytes(m, field);
    else
        m->bad = true;
    if (m->bad)
        m->p = at;
    return !m->bad;
}
