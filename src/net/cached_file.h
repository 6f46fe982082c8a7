/*
 * net/cached_file.h: random access to a remote file through a bounded cache in memory.
 *
 * The cache consists of chunks: ranges that were fetched, or are being fetched, in one request
 * each. A read waits until its first byte has arrived, not for the whole chunk. How much a request
 * fetches:
 *
 *   first request              the first 100 KiB, which hold 97 % of all safetensors headers
 *   in the header              up to its end as predicted (net/extent.h), at most 16 MiB
 *   in an announced range      chunks that double from 256 KiB to 4 MiB, up to 8 of them ahead of
 *                              the reader, never past the end of the range
 *   reads of 4 MiB and more    directly into the caller's memory, in parallel pieces
 *   anywhere else              what is read, and at least 64 KiB
 *
 * All files of a wb_net share the limit of the cache (net/chunk.h).
 */
#ifndef WB_NET_CACHED_FILE_H
#define WB_NET_CACHED_FILE_H

#include "net/chunk.h"
#include "net/extent.h"

/* A range that wb_source.expect announced. */
typedef struct wb__expected {
    uint64_t begin, end;
    uint64_t fetched; /* end of the last chunk created in the range; initially `begin` */
    uint64_t window;  /* size of the next chunk */
    unsigned depth;   /* number of chunks to fetch ahead */
} wb__expected;

#define WB__EXPECTED_MAX 8
#define WB__HEAD_FETCHED UINT64_C(102400) /* bytes of the first request */

typedef struct wb__cached_file {
    wb__remote remote;
    char version[WB__HEX_SHA256 + 258];

    /* ---- under the lock of the wb_net ---- */
    wb__chunk *chunks;
    wb__extent extent;
    wb__expected expected[WB__EXPECTED_MAX];
    unsigned next_expected; /* the slot that the next range replaces */
    wb_error error;         /* the last failure of a read */
} wb__cached_file;

/* Initializes a file. Takes ownership of *url. Release with wb__cached_file_free. */
void wb__cached_file_init(wb__cached_file *file, wb_net *net, wb__url *url);
void wb__cached_file_free(wb__cached_file *file);

/* Returns the transfer of the first bytes, which wb__transfers_settle can run; NULL if memory runs
 * out, or if the file is empty. Threads that ask for the same file share the transfer. Release it
 * with wb__cached_file_release. */
wb__transfer *wb__cached_file_head(wb__cached_file *file);
void wb__cached_file_release(wb__transfer *head);

/* Fetches the first bytes. The response shows whether the file exists, and its size. */
wb_status wb__cached_file_probe(wb__cached_file *file, wb__context *context);

/* Fills in *source; its `close` stays NULL. The size of the file must be known. */
void wb__cached_file_source(wb__cached_file *file, wb_source *source);

#endif
