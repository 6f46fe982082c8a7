#include "formats/format.h"

static const wb__format *const formats[] = {
    &wb__format_safetensors,
    &wb__format_gguf,
};

#define COUNT (sizeof formats / sizeof formats[0])

const wb__format *wb__format_by_content(const wb__head *head)
{
    const wb__format *best = NULL;
    int best_bid = 0;
    for (size_t i = 0; i < COUNT; i++) {
        int bid = formats[i]->bid(head);
        if (bid > best_bid) {
            best = formats[i];
            best_bid = bid;
        }
    }
    return best;
}

const wb__format *wb__format_by_extension(const char *path)
{
    wb__str name = wb__str_from(path, SIZE_MAX);
    for (size_t i = 0; i < COUNT; i++) {
        if (wb__str_ends_with(name, wb__str_from(formats[i]->extension, SIZE_MAX)))
            return formats[i];
    }
    return NULL;
}
