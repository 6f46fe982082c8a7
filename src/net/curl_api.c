#ifdef WB_NET_HAVE_CURL
#include "net/curl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define UNDER_MSAN 1 /* libcurl is not loaded: MSan would not see what it writes */
#endif
#endif
#ifndef UNDER_MSAN
#define UNDER_MSAN 0
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static wb__curl functions;
static bool loaded;

/* ISO C has no conversion from an object pointer to a function pointer; POSIX guarantees that
 * copying the bytes works. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void *open_library(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL && !UNDER_MSAN; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* libcurl stays loaded for the life of the process, because it may have registered handlers. */
static void load(void)
{
    void *library = open_library();
    loaded = library != NULL;
#define X(name) loaded = loaded && find(library, "curl_" #name, &functions.name);
#include "net/curl_api.def"
#undef X
    loaded = loaded && functions.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const wb__curl *wb__curl_load(void)
{
    (void)pthread_once(&once, load);
    return loaded ? &functions : NULL;
}
#else
typedef int wb__no_curl; /* an empty file is not valid C */
#endif
