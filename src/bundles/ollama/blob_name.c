/*
 * Parses "sha256-" followed by 64 hexadecimal digits.
 */
#include "bundles/ollama/blob_name.h"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool wb__digest_of_name(const char *path, uint8_t digest[WB__BLOB_DIGEST_BYTES])
{
    static const char prefix[] = "sha256-";
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    if (strlen(name) != sizeof prefix - 1 + (size_t)2 * WB__BLOB_DIGEST_BYTES ||
        memcmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    name += sizeof prefix - 1;
    for (size_t i = 0; i < WB__BLOB_DIGEST_BYTES; i++) {
        int high = digit_of(name[2 * i]);
        int low = digit_of(name[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
