/*
 * weighbridge/net.h: models on the network. Part of libweighbridge-net, which needs libcurl at run
 * time; the library weighbridge itself has no network code.
 *
 *     wb_net *net;
 *     wb_files files = WB_FILES_INIT;
 *     wb_open_options options = WB_OPEN_OPTIONS_INIT;
 *     wb_net_open(NULL, &net, &error);
 *     wb_net_files(net, &files);
 *     options.files = &files;
 *     options.access = WB_ACCESS_READ;
 *     wb_open("hf://owner/name", &options, &model, &error);
 *
 * Addresses
 *
 *     http://HOST/PATH, https://HOST/PATH                   a file; with '/' at the end a directory
 *     hf://[models/|datasets/|spaces/]OWNER/NAME[@REVISION][/PATH]     a model hub
 *     s3://BUCKET/KEY, gs://BUCKET/KEY                      an object store; with '/' at the end a
 *                                                           directory
 *
 * Only the headers of the files and the tensors that are read are fetched. Many files are opened in
 * parallel, and long tensors are fetched ahead of the reader, in a cache of limited size.
 *
 * The environment variables of huggingface_hub, curl and the AWS tools apply (docs/net.md lists
 * them). A token is sent only to the endpoint that it belongs to, with the scheme, host and port of
 * this endpoint, and never to another host to which a server redirects. http without TLS is refused
 * except to this machine and to an endpoint whose own URL begins with http://.
 */
#ifndef WEIGHBRIDGE_NET_H
#define WEIGHBRIDGE_NET_H

#include "weighbridge/base.h"
#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state of the network: settings, connections, cache. Thread-safe. */
typedef struct wb_net wb_net;

#define WB_NET_PLAIN_HTTP 1u /* allow http without TLS to every host */
#define WB_NET_NETRC 2u      /* use user names and passwords of ~/.netrc */

typedef struct wb_net_options {
    size_t size;          /* sizeof(wb_net_options) */
    uint32_t flags;       /* WB_NET_* */
    uint32_t connections; /* maximum number of connections to a host; 0: 8 */
    /* limit of retries in a row without new bytes; 0: 5; UINT32_MAX: no retries */
    uint32_t retries;
    const char *endpoint; /* base URL of the hub; NULL: HF_ENDPOINT or https://huggingface.co */
    const char *token;    /* token for the hub; NULL: HF_TOKEN or the token file */
    uint64_t cache_bytes; /* memory for fetched bytes; 0: 64 MiB */
    const wb_allocator *allocator; /* NULL: malloc; copied; must be thread-safe */
    /* Receives messages for the user, each a line without a line break at its end. Called from any
     * thread. NULL: none. */
    void (*note)(void *ctx, const char *message);
    void *note_ctx;
} wb_net_options;
#define WB_NET_OPTIONS_INIT WB_INIT(wb_net_options)

/*
 * Reads the settings. Connects to nothing yet; the first request loads libcurl and starts a thread,
 * which transfers the data and ends with wb_net_close.
 *
 * options  NULL: defaults; read during the call
 * net      owned, release with wb_net_close; after a fork, only the parent can fetch with it
 *
 * Fails with ARGUMENT for an invalid setting, IO, or MEMORY.
 */
WB_API wb_status wb_net_open(const wb_net_options *options, wb_net **net,
                             wb_error *error) WB_MUST_CHECK;

/* Closes all connections. Models that were opened through `net` must be closed before. NULL is
 * ignored. */
WB_API void wb_net_close(wb_net *net);

/* Returns 1 if a path is an address, whether or not it is valid, else 0. */
WB_API int wb_net_owns(const char *path);

/* Fills in *files for use as wb_open_options.files. It is valid until wb_net_close. */
WB_API wb_status wb_net_files(wb_net *net, wb_files *files, wb_error *error) WB_MUST_CHECK;

/*
 * Opens the file at an address as a source, for wb_open_source or other use. The caller owns the
 * source and releases it by calling source->close, if that is not NULL, before wb_net_close. Fails
 * with NOT_FOUND, IO, ARGUMENT, UNSUPPORTED (libcurl is missing, or the address is a directory) or
 * MEMORY.
 */
WB_API wb_status wb_net_source(wb_net *net, const char *address, wb_source *source,
                               wb_error *error) WB_MUST_CHECK;

/* Statistics since wb_net_open. */
typedef struct wb_net_stats {
    size_t size;       /* sizeof(wb_net_stats) */
    uint64_t requests; /* number of HTTP requests */
    uint64_t received; /* bytes of response bodies */
} wb_net_stats;
#define WB_NET_STATS_INIT WB_INIT(wb_net_stats)

WB_API wb_status wb_net_statistics(wb_net *net, wb_net_stats *stats, wb_error *error) WB_MUST_CHECK;

/* ---- pull: files onto the disk ---- */

/*
 * The files of a repository of a hub at one commit, or some of them, or one file of a web server or
 * an object store, to be fetched onto the disk. Not thread-safe.
 *
 *     wb_pull_open(net, "hf://owner/name", NULL, &pull, &error);     what is missing
 *     wb_pull_run(pull, NULL, &error);                               fetch it
 *     printf("%s\n", wb_pull_path(pull));
 *     wb_pull_close(pull);
 *
 * By default the files of a hub are stored in the cache of the Python package huggingface_hub, which
 * then finds them. Every byte is checked with the SHA-256 or git digest that the hub states before a
 * file gets its name. If the process is killed, the next wb_pull_run continues: pieces of 1 MiB
 * that had arrived are not fetched again. If another process has locked a file, wb_pull_run waits
 * for it.
 */
typedef struct wb_pull wb_pull;

#define WB_PULL_FORCE                                                                              \
    1u /* fetch files even if they are stored already; replace files that were not downloaded */
#define WB_PULL_REPAIR                                                                             \
    2u /* compute the digests of files that are stored already, and fetch damaged pieces */

typedef struct wb_pull_options {
    size_t size;    /* sizeof(wb_pull_options) */
    uint32_t flags; /* WB_PULL_* */
    /* Store the files in this directory; NULL: in the cache of the hub. For an address that is not
     * that of a hub: the directory, or the path of the file; NULL: the current directory. */
    const char *directory;
    /* Patterns of paths, with *, ? and [a-z]; * also matches '/', and a '/' at the end means all
     * files below. Files that match one of `include` are fetched (NULL: all), except those that
     * match one of `exclude`. */
    const char *const *include;
    size_t include_count;
    const char *const *exclude;
    size_t exclude_count;
    /* The SHA-256 that the file must have: 64 hexadecimal digits in lower case. Only for addresses
     * that are not those of a hub. NULL: not known. */
    const char *sha256;
} wb_pull_options;
#define WB_PULL_OPTIONS_INIT WB_INIT(wb_pull_options)

/* A file of a pull. */
typedef struct wb_pull_file {
    size_t size;      /* sizeof(wb_pull_file) */
    const char *path; /* in the repository; valid until wb_pull_close */
    /* SHA-256 (64 hexadecimal digits) or git id (40 digits); empty if it is not known; valid as
     * `path` */
    const char *digest;
    uint64_t bytes;
    int is_here; /* the file is stored; with WB_PULL_REPAIR: and its bytes are right */
} wb_pull_file;
#define WB_PULL_FILE_INIT WB_INIT(wb_pull_file)

/*
 * Lists the repository and finds out which files are missing. Changes nothing on the disk.
 *
 * address  hf://OWNER/NAME[@REVISION][/PATH], where PATH is a file or a directory; or the address of
 *          one file: https://HOST/PATH, s3://BUCKET/KEY, gs://BUCKET/KEY
 * options  NULL: defaults; read during the call
 * pull     owned, release with wb_pull_close before wb_net_close
 *
 * Fails with ARGUMENT (also if the directory has another file of the same name that was not
 * downloaded), NOT_FOUND, FORMAT (a reply of the hub is invalid, or a name is dangerous), IO, LIMIT
 * or MEMORY.
 */
WB_API wb_status wb_pull_open(wb_net *net, const char *address, const wb_pull_options *options,
                              wb_pull **pull, wb_error *error) WB_MUST_CHECK;

/* NULL is ignored. */
WB_API void wb_pull_close(wb_pull *pull);

/* Returns the path of the directory that has the files, or will have them; if the address is not that
 * of a hub, the path of the file. Valid until wb_pull_close. */
WB_API const char *wb_pull_path(const wb_pull *pull);

/* Returns the commit of the revision: 40 hexadecimal digits; empty if the address is not that of a
 * hub. Valid until wb_pull_close. */
WB_API const char *wb_pull_commit(const wb_pull *pull);

WB_API uint64_t wb_pull_count(const wb_pull *pull);

/* Describes file i, in byte order of the paths. Fails with ARGUMENT if there is no such file. */
WB_API wb_status wb_pull_file_at(const wb_pull *pull, uint64_t i, wb_pull_file *file,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Fetches what is missing. The first failure ends the call; what has arrived is kept for the next
 * one.
 *
 * progress  NULL: none; counts the bytes of all files of the pull, including files already stored
 *
 * Fails with FORMAT (the bytes do not have the stated digest, or the server contradicts itself), IO
 * (network, disk, no space), CHANGED, CANCELLED, LIMIT or MEMORY.
 */
WB_API wb_status wb_pull_run(wb_pull *pull, const wb_progress *progress,
                             wb_error *error) WB_MUST_CHECK;

/* ---- push: files from the disk to a hub ---- */

/*
 * Files that are sent to a repository of a hub, in one commit. Not thread-safe.
 *
 *     const char *paths[] = {"model/"};
 *     wb_push_open(net, "hf://owner/name", paths, 1, NULL, &push, &error);     what is missing
 *     wb_push_run(push, NULL, &error);                                         send it
 *     wb_push_close(push);
 *
 * Files that the repository has already are not sent. If the process is killed, the next
 * wb_push_run does not send those large files again whose contents the hub had received completely.
 * No file is deleted in the repository.
 */
typedef struct wb_push wb_push;

typedef struct wb_push_options {
    size_t size;          /* sizeof(wb_push_options) */
    uint32_t flags;       /* must be 0 */
    const char *message;  /* of the commit: a line, and a description below; NULL: a default */
    const char *revision; /* branch, in place of the revision in the address; NULL: that one */
} wb_push_options;
#define WB_PUSH_OPTIONS_INIT WB_INIT(wb_push_options)

/* A file of a push. */
typedef struct wb_push_file {
    size_t size;       /* sizeof(wb_push_file) */
    const char *path;  /* in the repository; valid until wb_push_close */
    const char *local; /* on this machine; valid as `path` */
    uint64_t bytes;
    int is_there;   /* the repository had the file with the same contents */
    int is_ignored; /* after wb_push_run: the hub does not accept the file (.gitignore) */
} wb_push_file;
#define WB_PUSH_FILE_INIT WB_INIT(wb_push_file)

/*
 * Lists the files and the repository, and compares them. Sends no file.
 *
 * address  hf://OWNER/NAME[@BRANCH][/FOLDER]; the repository must exist; FOLDER is the directory in
 *          the repository that receives the files
 * paths    files, and directories, whose files are sent with their relative paths. Directories with
 *          the names .git and .cache, and files of interrupted downloads, are omitted. Symbolic
 *          links in a directory must not lead outside it.
 * options  NULL: defaults; read during the call
 * push     owned, release with wb_push_close before wb_net_close
 *
 * Fails with ARGUMENT, NOT_FOUND, FORMAT (an answer of the hub is not valid), IO, CHANGED, LIMIT or
 * MEMORY.
 */
WB_API wb_status wb_push_open(wb_net *net, const char *address, const char *const *paths,
                              size_t count, const wb_push_options *options, wb_push **push,
                              wb_error *error) WB_MUST_CHECK;

/* NULL is ignored. */
WB_API void wb_push_close(wb_push *push);

/* Returns the commit of the branch: after wb_push_run the new one, else the one with which the files
 * were compared. 40 hexadecimal digits, valid until wb_push_close. */
WB_API const char *wb_push_commit(const wb_push *push);

WB_API uint64_t wb_push_count(const wb_push *push);

/* Describes file i, in byte order of the paths. Fails with ARGUMENT if there is no such file. */
WB_API wb_status wb_push_file_at(const wb_push *push, uint64_t i, wb_push_file *file,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Sends the files that are missing and makes the commit. Makes no commit if none is missing.
 *
 * progress  NULL: none; counts the bytes of the large files (git LFS)
 *
 * Fails with IO (network, no permission, another commit was made since wb_push_open), CHANGED (a
 * file on the disk), FORMAT, CANCELLED, LIMIT or MEMORY.
 */
WB_API wb_status wb_push_run(wb_push *push, const wb_progress *progress,
                             wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
