/*
 * net/address.h: the addresses that users write in place of a path.
 *
 *     http://host/path, https://host/path          a file, or with a '/' at the end a directory
 *     hf://[models/|datasets/|spaces/]owner/name[@revision][/path]
 *     s3://bucket/key, gs://bucket/key             an object, or the objects below a prefix
 *
 * The revision of hf:// is "main" if it is missing. "refs/pr/N" and "refs/convert/X" are complete
 * revisions; any other '/' in a revision is written as %2F. The path of an address may be empty:
 * the address is then that of the whole repository or bucket.
 */
#ifndef WB_NET_ADDRESS_H
#define WB_NET_ADDRESS_H

#include "core/core.h"

typedef enum wb__address_kind {
    WB__ADDRESS_NONE = 0, /* no address, but a path of this machine */
    WB__ADDRESS_WEB,
    WB__ADDRESS_HUB,
    WB__ADDRESS_S3,
    WB__ADDRESS_GS
} wb__address_kind;

typedef enum wb__repo_type { WB__REPO_MODEL, WB__REPO_DATASET, WB__REPO_SPACE } wb__repo_type;

/* All strings are borrowed from the arena, or static, and end with NUL. */
typedef struct wb__address {
    wb__address_kind kind;
    wb__repo_type type;   /* HUB */
    const char *repo;     /* HUB: "owner/name"; S3 and GS: the bucket */
    const char *revision; /* HUB: decoded */
    const char *path;     /* HUB: path in the repository; S3, GS: key; WEB: the URL as written */
} wb__address;

/* Returns the kind of an address by its scheme, whether or not the rest is valid. */
wb__address_kind wb__address_kind_of(const char *text);

/* Parses an address. Returns NULL, or the reason why it is not valid (a static string, or
 * wb__url_memory of net/url.h). */
const char *wb__address_parse(wb__address *address, wb__arena *arena, const char *text);

/*
 * Recognizes the URL of a repository or of one of its files on the hub, such as
 * ENDPOINT/owner/name/blob/main/model.gguf. The component after the name may be blob, raw, resolve
 * or tree. For such a URL, sets *is_page to true and *address to the equivalent of an hf://
 * address. Returns NULL, or the reason why the address is not valid.
 */
const char *wb__address_of_page(wb__address *address, wb__arena *arena, const char *url,
                                const char *endpoint, bool *is_page);

/* wb__repo_prefix returns "", "datasets/" or "spaces/". wb__repo_plural returns "models",
 * "datasets" or "spaces". */
const char *wb__repo_prefix(wb__repo_type type);
const char *wb__repo_plural(wb__repo_type type);

/* Returns true for 40 lower-case hexadecimal digits. */
bool wb__is_commit(const char *text);

#endif
