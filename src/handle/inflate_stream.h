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

/* Return the index of the stream's tensor, and the number of bytes decompressed so far. */
size_t wb__inflate_stream_tensor(const wb__inflate_stream *stream);
uint64_t wb__inflate_stream_done(const wb__inflate_stream *stream);

/* Sets the context to which later errors are reported. */
void wb__inflate_stream_use(wb__inflate_stream *stream, wb__context *context);

/* Returns false after a failed read. Such a stream cannot be used again. */
bool wb__inflate_stream_is_sound(const wb__inflate_stream *stream);

/* Returns true if the decompressed byte at `at` can be read without restarting the stream. */
bool wb__inflate_stream_reaches(const wb__inflate_stream *stream, uint64_t at);

wb_status wb__inflate_stream_read(wb__inflate_stream *stream, uint64_t at, uint8_t *dst, size_t n);

#endif
