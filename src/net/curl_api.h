/*
 * net/curl_api.h: libcurl, loaded at run time.
 *
 * A program that links libweighbridge-net therefore starts as fast as before and needs libcurl only
 * if it uses the network.
 */
#ifndef WB_NET_CURL_API_H
#define WB_NET_CURL_API_H

#define CURL_DISABLE_DEPRECATION /* CURLOPT_PROTOCOLS works with every version */
#define CURL_DISABLE_TYPECHECK   /* would replace the functions by macros */
#include <curl/curl.h>

typedef struct wb__curl {
#define X(name) __typeof__(curl_##name) *(name);
#include "net/curl_api.def"
#undef X
} wb__curl;

/* Returns the functions, or NULL if libcurl is missing or older than 7.68. Thread-safe. */
const wb__curl *wb__curl_load(void);

#endif
