#include "pull/content_hash.h"

#include "io/sink.h"
#include "net/listing.h"
#include "net/names.h"

wb_status wb__content_hash_open(wb__content_hash *hash, wb__context *context, const char *digest,
                                uint64_t size)
{
    hash->is_sha256 = strlen(digest) == WB__HEX_SHA256;
    if (hash->is_sha256)
        return wb__sha256_open(&hash->sha256, context);
    wb__sha1_start_blob(&hash->sha1, size);
    return WB_OK;
}

void wb__content_hash_close(wb__content_hash *hash)
{
    if (hash->is_sha256)
        wb__sha256_close(&hash->sha256);
}

void wb__content_hash_add(wb__content_hash *hash, const void *bytes, size_t n)
{
    if (hash->is_sha256)
        wb__sha256_add(&hash->sha256, bytes, n);
    else
        wb__sha1_add(&hash->sha1, bytes, n);
}

bool wb__content_hash_equals(wb__content_hash *hash, const char *digest)
{
    uint8_t bytes[WB__SHA256_BYTES];
    char digits[WB__HEX_SHA256];
    size_t n = hash->is_sha256 ? WB__SHA256_BYTES : WB__SHA1_BYTES;
    if (hash->is_sha256 && !wb__sha256_finish(&hash->sha256, bytes))
        return false;
    if (!hash->is_sha256)
        wb__sha1_finish(&hash->sha1, bytes);
    wb__hex_encode(bytes, n, digits);
    return wb__str_equal((wb__str){digits, 2 * n}, wb__str_from(digest, SIZE_MAX));
}

wb_status wb__content_hash_file(wb__context *context, int fd, const char *digest, uint64_t size,
                                uint8_t *scratch, size_t n, bool *same)
{
    wb__content_hash hash;
    uint64_t at = 0;
    size_t got = n;
    wb_status status = wb__content_hash_open(&hash, context, digest, size);
    while (status == WB_OK && got == n && at <= size) {
        got = wb__read_back(fd, at, scratch, n);
        wb__content_hash_add(&hash, scratch, got);
        at += got;
    }
    *same = status == WB_OK && at == size && wb__content_hash_equals(&hash, digest);
    wb__content_hash_close(&hash);
    return status;
}
