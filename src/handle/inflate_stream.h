/*
 * handle/inflate_stream.h: a compressed tensor, decompressed from front to back.
 */
#ifndef WB_HANDLE_INFLATE_STREAM_H
#define WB_HANDLE_INFLATE_STREAM_H

#include "io/io.h"
#include "model/catalog.h"

typedef struct wb__inflate_stream wb__inflate_stream;

wb_status wb__inflate_stream_new(wb__context *context, const wb__source *source,
                                 const wb__storing *storing, uint64_t stream_at, uint64_t bytes,
                                 wb__str name, wb__inflate_stream **stream);
void wb__inflate_stream_free(wb__inflate_stream *stream); /* NULL is ignored */

/* What it unpacks, and how far it has come. */
size_t wb__inflate_stream_tensor(const wb__inflate_stream *stream);
uint64_t wb__inflate_stream_done(const wb__inflate_stream *stream);

/* From now on this context is told what is wrong. */
void wb__inflate_stream_use(wb__inflate_stream *stream, wb__context *context);

/* False once a read has failed: then it gives nothing any more. */
bool wb__inflate_stream_is_sound(const wb__inflate_stream *stream);

/* Whether the byte at `at` can be had without beginning anew. */
bool wb__inflate_stream_reaches(const wb__inflate_stream *stream, uint64_t at);

wb_status wb__inflate_stream_read(wb__inflate_stream *stream, uint64_t at, uint8_t *dst, size_t n);

#endif
