/* Appends members to a JSON object of the output. */
#include "convert/emit/deliver.h"

void wb__emit_member(wb__buffer *out, wb__str key)
{
    wb__buffer_text(out, out->n <= 1 ? "\n    " : ",\n    ");
    wb__emit_json_text(out, key);
    wb__buffer_text(out, ": ");
}

void wb__emit_raw_member(wb__buffer *out, wb__str key, wb__str raw)
{
    wb__emit_member(out, key);
    wb__buffer_add(out, raw.ptr, raw.len);
}
