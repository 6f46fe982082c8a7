/* Writes JSON into a buffer of limited size. */
#include "convert/emit/deliver.h"

static bool add(void *ctx, const char *text, size_t n)
{
    wb__buffer *buffer = ctx;
    wb__buffer_add(buffer, text, n);
    return !wb__buffer_failed(buffer);
}

wb__json_writer wb__emit_json(wb__buffer *to)
{
    return (wb__json_writer){.write = add, .ctx = to};
}

void wb__emit_json_text(wb__buffer *to, wb__str text)
{
    wb__json_writer writer = wb__emit_json(to);
    wb__json_write_str(&writer, text);
}
