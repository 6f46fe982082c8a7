#include "core/text.h"
#include "weighbridge/experimental.h"

size_t wb_text_printable(const char *text, size_t n, uint32_t flags, char *out, size_t capacity)
{
    return wb__printable_length(wb__str_from(text, n), (flags & WB_PRINTABLE_MESSAGE) != 0, out,
                                capacity);
}
