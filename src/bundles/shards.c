#define _POSIX_C_SOURCE 200809L
#include "bundles/bundle.h"

#include <stdio.h>

#define MAX_DIGITS 9

/*
 * Parses the number at the end of the text, which has *len bytes, and shortens *len by its digits.
 * Returns false if there are no digits or more than MAX_DIGITS.
 */
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

/* Removes an extension that shards can have, and returns it. Returns NULL for any other name. */
static const char *take_extension(const char *text, size_t *len)
{
    static const char *const extensions[] = {".safetensors", ".gguf"};
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        if (take_end(text, len, wb__str_from(extensions[i], SIZE_MAX)))
            return extensions[i];
    }
    return NULL;
}

bool wb__shard_parse(wb__str name, wb__shard_name *shard)
{
    size_t len = name.len;
    unsigned digits;
    shard->extension = take_extension(name.ptr, &len);
    if (shard->extension == NULL || !take_number(name.ptr, &len, &shard->of, &shard->digits) ||
        !take_end(name.ptr, &len, WB__STR("-of-")) ||
        !take_number(name.ptr, &len, &shard->number, &digits) || digits != shard->digits ||
        !take_end(name.ptr, &len, WB__STR("-")))
        return false;
    shard->prefix = (wb__str){name.ptr, len};
    return shard->number >= 1 && shard->number <= shard->of;
}

void wb__shard_print(const wb__shard_name *shard, uint32_t number, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%.*s-%0*u-of-%0*u%s", (int)shard->prefix.len, shard->prefix.ptr,
                   (int)shard->digits, number, (int)shard->digits, shard->of, shard->extension);
}

bool wb__shard_same_set(const wb__shard_name *a, const wb__shard_name *b)
{
    return a->of == b->of && a->digits == b->digits && a->extension == b->extension &&
           wb__str_equal(a->prefix, b->prefix);
}
