#define _POSIX_C_SOURCE 200809L
#include "bundles/bundle.h"

#include <stdio.h>

#define MAX_DIGITS 9

/* The digits that end the text, at most MAX_DIGITS; moves *len in front of them. */
static bool take_number(const char *text, size_t *len, uint32_t *number, unsigned *digits)
{
    uint32_t scale = 1;
    *number = 0;
    *digits = 0;
    while (*len > 0 && text[*len - 1] >= '0' && text[*len - 1] <= '9') {
        if (*digits == MAX_DIGITS)
            return false;
        *number += (uint32_t)(text[*len - 1] - '0') * scale;
        scale *= 10;
        ++*digits;
        --*len;
    }
    return *digits > 0;
}

static bool take_end(const char *text, size_t *len, wb__str end)
{
    if (!wb__str_ends_with((wb__str){text, *len}, end))
        return false;
    *len -= end.len;
    return true;
}

bool wb__shard_parse(wb__str name, wb__shard_name *shard)
{
    size_t len = name.len;
    unsigned digits;
    if (!take_end(name.ptr, &len, WB__STR(".safetensors")) ||
        !take_number(name.ptr, &len, &shard->of, &shard->digits) ||
        !take_end(name.ptr, &len, WB__STR("-of-")) ||
        !take_number(name.ptr, &len, &shard->number, &digits) || digits != shard->digits ||
        !take_end(name.ptr, &len, WB__STR("-")))
        return false;
    shard->prefix = (wb__str){name.ptr, len};
    return shard->number >= 1 && shard->number <= shard->of;
}

void wb__shard_print(const wb__shard_name *shard, uint32_t number, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%.*s-%0*u-of-%0*u.safetensors", (int)shard->prefix.len,
                   shard->prefix.ptr, (int)shard->digits, number, (int)shard->digits, shard->of);
}
