/*
 * quant/codec_tasks.h: splits a range into pieces for the executor of a context, or processes it in
 * the calling thread.
 */
#ifndef WB_QUANT_CODEC_TASKS_H
#define WB_QUANT_CODEC_TASKS_H

#include "core/core.h"

/*
 * Splits the range from 0 to `total` into pieces of `piece` elements (the last may be smaller), and
 * calls body(arg, first, n) for each piece: concurrently in the executor if the context has one,
 * otherwise one after the other.
 */
void wb__tasks_run(const wb__context *context, uint64_t total, uint64_t piece,
                   void (*body)(void *arg, uint64_t first, uint64_t n), void *arg);

#endif
