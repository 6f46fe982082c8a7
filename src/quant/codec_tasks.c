#include "quant/codec_tasks.h"

typedef struct cut {
    uint64_t total;
    uint64_t piece;
    void (*body)(void *arg, uint64_t first, uint64_t n);
    void *arg;
} cut;

static void run_piece(void *arg, size_t i)
{
    const cut *c = arg;
    uint64_t first = i * c->piece, left = c->total - first;
    c->body(c->arg, first, left < c->piece ? left : c->piece);
}

void wb__tasks_run(const wb__context *context, uint64_t total, uint64_t piece,
                   void (*body)(void *arg, uint64_t first, uint64_t n), void *arg)
{
    uint64_t pieces = total / piece + (total % piece != 0);
    cut c = {total, piece, body, arg};
    if (context->executor.parallel_for != NULL && pieces > 1 && pieces <= SIZE_MAX) {
        context->executor.parallel_for(context->executor.ctx, (size_t)pieces, run_piece, &c);
    } else {
        for (uint64_t first = 0; first < total; first += piece)
            body(arg, first, total - first < piece ? total - first : piece);
    }
}
