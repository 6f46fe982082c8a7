/*
 * net/curl_api.h: libcurl, loaded at run time.
 *
 * A program that links libweighbridge-net therefore needs libcurl only if it uses the network, and
 * otherwise starts as fast as one that does not link it.
 */
#ifndef WB_NET_CURL_API_H
#define WB_NET_CURL_API_H

#define CURL_DISABLE_DEPRECATION /* CURLOPT_PROTOCOLS is deprecated, but every version has it */
#define CURL_DISABLE_TYPECHECK   /* type checks would replace the functions by macros */
#include <curl/curl.h>

typedef struct wb__curl {
#define X(name) __typeof__(curl_##name) *(name);
#include "net/curl_api.def"
#undef X
} wb__curl;

/* Returns the functions, or NULL if libcurl is missing or older than 7.68. Thread-safe. */
const wb__curl *wb__curl_load(void);

#endif
