/*
 * net/net_messages.h: texts of the errors and notes of this module, grouped by source file.
 */
#ifndef WB_NET_NET_MESSAGES_H
#define WB_NET_NET_MESSAGES_H

/* ---- cached_file.c ---- */

#define WB__MSG_NET_NO_SIZE "the server does not state the size of the file"

/* ---- engine.c ---- */

#define WB__MSG_NET_LIBRARY "libcurl is not installed, or is older than version 7.68"
#define WB__MSG_NET_BUILT_WITHOUT "this build has no support for the network"
#define WB__MSG_NET_FORKED                                                                         \
    "the network was opened before this process was forked: open it again in this process"
#define WB__MSG_NET_THREAD "cannot start the thread of the network"

/* ---- failures.c: host, status, source of the token that the request carried ---- */

#define WB__MSG_NET_REPOSITORY "%s has no such repository, or it is private (status %u; token: %s)"
#define WB__MSG_NET_GATED                                                                          \
    "%s refuses access: the terms of the repository are not accepted, or the token lacks the "     \
    "permission (status %u; token: %s)"
#define WB__MSG_NET_REVISION "%s has no such revision (status %u)"
#define WB__MSG_NET_ENTRY "%s has no such file in the repository (status %u)"
#define WB__MSG_NET_DENIED "%s refuses access (status %u; token: %s)"
#define WB__MSG_NET_NOT_FOUND "%s has nothing at this address (status %u)"
#define WB__MSG_NET_RATE "%s limits the number of requests (status %u)"
#define WB__MSG_NET_STATUS "%s answers with status %u"

/* ---- failures.c: host, description of libcurl ---- */

#define WB__MSG_NET_RESOLVE "%s: the host is not known (%s)"
#define WB__MSG_NET_CONNECT "%s: no connection (%s)"
#define WB__MSG_NET_CERTIFICATE "%s: the certificate of the host is not trusted (%s)"
#define WB__MSG_NET_TLS "%s: the encrypted connection failed (%s)"
#define WB__MSG_NET_TIMEOUT "%s: no answer in time (%s)"
#define WB__MSG_NET_CUT "%s: the connection ended too early (%s)"
#define WB__MSG_NET_PROTOCOL "%s: the answer is not valid (%s)"
#define WB__MSG_NET_CANCELLED "%s: the request was cancelled"

/* ---- fetch.c, judge.c, net_public.c, remote_address.c, transfer.c ---- */

#define WB__MSG_NET_ADDRESS "the address is not valid: %s"
#define WB__MSG_NET_PLAIN_HTTP                                                                     \
    "http without encryption is allowed only to this machine, and to the host of HF_ENDPOINT "     \
    "if that address begins with http://"
#define WB__MSG_NET_REDIRECTS "the server redirects more than %u times"
#define WB__MSG_NET_REDIRECT "the server redirects to an address that is refused: %s"
#define WB__MSG_NET_REPLY_LIMIT "the answer has more than %zu bytes"
#define WB__MSG_NET_ENCODING "the server compressed the answer, although it was asked not to"

/* ---- hub.c, remote_list.c ---- */

#define WB__MSG_NET_NOT_CACHED                                                                     \
    "%s at revision %s is not in the cache, and the network is not used (HF_HUB_OFFLINE)"
#define WB__MSG_NET_NEXT_PAGE "the link to the next page of the listing is refused: %s"

/* ---- judge.c, transfer.c ---- */

#define WB__MSG_NET_RESPONSE "%s: the response is refused: %s"
#define WB__MSG_NET_OTHER_SIZE "the server states another size of the file than before"
#define WB__MSG_NET_FILE_CHANGED "the file changed while it was read"
#define WB__MSG_NET_NO_RANGES "the server sends files only from their beginning"
#define WB__MSG_NET_WEB_PAGE "the server sent a web page instead of the requested data"
#define WB__MSG_NET_STORE "the received bytes cannot be stored"

/* ---- listing.c, reply.c ---- */

#define WB__MSG_NET_REPLY "%s is not as expected: %s"
#define WB__MSG_NET_NAME "the server lists a file whose name is refused: %s"
#define WB__MSG_NET_FILES "the listing has more than %zu files"

/* ---- net.c ---- */

#define WB__MSG_NET_OFFLINE "the network is not used, because HF_HUB_OFFLINE is set"
#define WB__MSG_NET_MIRROR "the endpoint %s receives the access token in %s"

/* ---- remote_files.c, remote_list.c ---- */

#define WB__MSG_NET_NO_FILE "the repository %s has no file of this name"
#define WB__MSG_NET_CACHE_FILE "the cache contains a folder where a downloaded file should be"
#define WB__MSG_NET_NO_LISTING "the server does not list its folders, and this folder has no %s"
#define WB__MSG_NET_IS_FOLDER "the address is that of a folder"

/* ---- settings.c ---- */

#define WB__MSG_NET_VARIABLE "%s: %s"
#define WB__MSG_NET_SMALL_FILE "%s has more than %zu bytes"
#define WB__MSG_NET_AWS_PAIR                                                                       \
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY have to be set together, or neither of them"

#endif
