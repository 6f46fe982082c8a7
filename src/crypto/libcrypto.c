#include "crypto/libcrypto.h"

#include <dlfcn.h>

/*
 * libcrypto is not compiled with MemorySanitizer. MemorySanitizer does not see what libcrypto
 * writes, and reports digests as uninitialised. Builds with MemorySanitizer therefore do not use
 * libcrypto.
 */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define UNDER_MSAN 1
#endif
#endif
#ifndef UNDER_MSAN
#define UNDER_MSAN 0
#endif

/*
 * The part of libcrypto's API that OpenSSL 1.1 and 3 have in common: its types are opaque, and its
 * functions have the same signatures in both versions.
 */
struct wb__libcrypto_sha256 {
    wb_allocator allocator;
    void *library;
    void *state; /* an EVP_MD_CTX */
    void *(*state_new)(void);
    void (*state_free)(void *state);
    const void *(*sha256)(void);
    int (*init)(void *state, const void *type, void *engine);
    int (*update)(void *state, const void *bytes, size_t n);
    int (*final)(void *state, unsigned char *digest, unsigned int *n);
};

/*
 * Looks up a symbol. ISO C has no conversion from an object pointer to a function pointer; POSIX
 * guarantees that copying the bytes works.
 */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void *open_library(void)
{
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.3.dylib"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL && !UNDER_MSAN; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

void wb__libcrypto_sha256_free(wb__libcrypto_sha256 *hash)
{
    if (hash == NULL)
        return;
    if (hash->state != NULL)
        hash->state_free(hash->state);
    /* The library stays loaded, because it may have registered handlers that run at exit. */
    wb_allocator allocator = hash->allocator;
    wb__free(&allocator, hash, sizeof *hash);
}

wb_status wb__libcrypto_sha256_new(wb__context *context, wb__libcrypto_sha256 **out)
{
    *out = NULL;
    wb__libcrypto_sha256 *hash = wb__alloc_zeroed(&context->allocator, sizeof *hash);
    if (hash == NULL)
        return wb__fail_memory(context);
    hash->allocator = context->allocator;
    hash->library = open_library();
    bool found = hash->library != NULL && find(hash->library, "EVP_MD_CTX_new", &hash->state_new) &&
                 find(hash->library, "EVP_MD_CTX_free", &hash->state_free) &&
                 find(hash->library, "EVP_sha256", &hash->sha256) &&
                 find(hash->library, "EVP_DigestInit_ex", &hash->init) &&
                 find(hash->library, "EVP_DigestUpdate", &hash->update) &&
                 find(hash->library, "EVP_DigestFinal_ex", &hash->final);
    if (!found) {
        wb__libcrypto_sha256_free(hash);
        return WB_OK;
    }
    hash->state = hash->state_new();
    if (hash->state == NULL || hash->init(hash->state, hash->sha256(), NULL) != 1) {
        wb__libcrypto_sha256_free(hash);
        return wb__fail_memory(context);
    }
    *out = hash;
    return WB_OK;
}

bool wb__libcrypto_sha256_add(wb__libcrypto_sha256 *hash, const void *bytes, size_t n)
{
    return hash->update(hash->state, bytes, n) == 1;
}

bool wb__libcrypto_sha256_finish(wb__libcrypto_sha256 *hash, uint8_t digest[WB__SHA256_BYTES])
{
    unsigned int n = 0;
    memset(digest, 0, WB__SHA256_BYTES);
    bool good = hash->final(hash->state, digest, &n) == 1 &&
                hash->init(hash->state, hash->sha256(), NULL) == 1;
    return good;
}
