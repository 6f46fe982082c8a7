#include "formats/format.h"

static const wb__format *const formats[] = {
    &wb__format_safetensors,
    &wb__format_gguf,
    &wb__format_npy,
    &wb__format_npz,
};

#define COUNT (sizeof formats / sizeof formats[0])

const wb__format *wb__format_of_extension(wb__str name)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (wb__str_ends_with(name, wb__str_from(formats[i]->extension, SIZE_MAX)))
            return formats[i];
    }
    return NULL;
}

const wb__format *wb__format_choose(const wb__head *head, const char *path, bool *by_content)
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
    const wb__format *named =
        best_bid < WB__BID_SURE ? wb__format_of_extension(wb__str_from(path, SIZE_MAX)) : NULL;
    *by_content = best != NULL && (named == NULL || named == best);
    return *by_content ? best : named;
}

const wb__format *wb__format_named(wb__str name)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (wb__str_equal(name, wb__str_from(formats[i]->name, SIZE_MAX)))
            return formats[i];
    }
    return NULL;
}
