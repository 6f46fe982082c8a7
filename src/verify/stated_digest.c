#define _POSIX_C_SOURCE 200809L
#include "verify/stated_digest.h"

#include <limits.h>
#include <unistd.h>

#include "bundles/ollama/blob_name.h"
#include "verify/verify_messages.h"

static int value_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses 64 or 40 lower-case hexadecimal digits, the complete text. */
static bool parse(const char *text, wb__stated_digest *digest)
{
    size_t digits = strlen(text);
    if (digits != (size_t)2 * WB__SHA256_BYTES && digits != (size_t)2 * WB__SHA1_BYTES)
        return false;
    digest->n = digits / 2;
    for (size_t i = 0; i < digest->n; i++) {
        int high = value_of(text[2 * i]), low = value_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest->bytes[i] = (uint8_t)(high << 4 | low);
    }
    digest->severity = WB_FATAL;
    digest->finding = WB__FINDING_FILE_DIGEST;
    digest->message = WB__MSG_VERIFY_STATED_DIGEST;
    return true;
}

/* Parses the digest in the name of a file, if the file is in a directory named "blobs". */
static bool parse_blob(const char *path, wb__stated_digest *digest)
{
    static const char folder[] = "blobs/";
    const char *slash = strrchr(path, '/');
    size_t n = sizeof folder - 1, before = slash == NULL ? 0 : (size_t)(slash + 1 - path);
    const char *name = path + before;
    return before >= n && memcmp(name - n, folder, n) == 0 &&
           (before == n || name[-(ptrdiff_t)n - 1] == '/') && parse(name, digest);
}

/* Reads the digest of a file in the cache of a hub. Such a file is a link to a blob, for example to
 * ../../blobs/HEX, where HEX is the digest. */
static bool parse_link(const char *path, wb__stated_digest *digest)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    return parse_blob(target, digest);
}

bool wb__digest_stated(const wb__source *source, wb__stated_digest *digest)
{
    const char *stated = wb__source_digest(source), *label = wb__source_label(source);
    if (stated != NULL)
        return parse(stated, digest);
    if (wb__digest_of_name(label, digest->bytes)) {
        digest->n = WB__SHA256_BYTES;
        digest->severity = WB_SEVERE;
        digest->finding = WB__FINDING_OLLAMA_BLOB_DIGEST;
        digest->message = WB__MSG_VERIFY_DIGEST;
        return true;
    }
    return wb__source_has_path(source) && (parse_blob(label, digest) || parse_link(label, digest));
}
