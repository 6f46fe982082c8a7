/* The output matrix of a tied model, in which the embedding is also the output matrix. Some folders
 * store both. The result then omits the output matrix, which loses values if the two differ.
 */
#include <string.h>

#include "convert/convert.h"
#include "convert/convert_messages.h"
#include "read/comparable.h"

/* Number of values that are compared at once. */
#define COMPARED ((size_t)16384)

static wb_status compare_parts(wb__reader readers[2], float *values, uint64_t floats, bool *same)
{
    wb_status status = WB_OK;
    for (uint64_t at = 0; at < floats && *same && status == WB_OK; at += COMPARED) {
        size_t n = floats - at < COMPARED ? (size_t)(floats - at) : COMPARED;
        for (size_t i = 0; i < 2 && status == WB_OK; i++)
            status = wb__reader_read(&readers[i], at, n, values + i * COMPARED);
        *same = status == WB_OK && memcmp(values, values + COMPARED, n * sizeof *values) == 0;
    }
    return status;
}

static wb_status compare_values(const wb_conversion *conversion, wb__context *context,
                                const wb__comparable *output, const wb__comparable *embedding,
                                bool *same)
{
    const wb_allocator *allocator = &conversion->allocator;
    wb__reader readers[2] = {{.model = NULL}, {.model = NULL}};
    float *values = wb__alloc(allocator, 2 * COMPARED * sizeof *values);
    wb_status status = values == NULL ? wb__fail_memory(context) : WB_OK;
    if (status == WB_OK)
        status = wb__reader_open(&readers[0], conversion->model, context, output);
    if (status == WB_OK)
        status = wb__reader_open(&readers[1], conversion->model, context, embedding);
    if (status == WB_OK)
        status = compare_parts(readers, values, output->floats, same);
    wb__reader_close(&readers[0]);
    wb__reader_close(&readers[1]);
    wb__free(allocator, values, 2 * COMPARED * sizeof *values);
    return status;
}

/* Returns the comparable of tensor i, or NULL. */
static const wb__comparable *find_tensor(const wb__comparables *all, uint64_t i)
{
    for (size_t n = 0; n < all->count; n++) {
        if (all->list[n].view == NULL && all->list[n].number == i)
            return &all->list[n];
    }
    return NULL;
}

wb_status wb__plan_omit_output(wb_conversion *conversion, wb__context *context, uint64_t i,
                               wb__str name)
{
    wb__comparables all = {.list = NULL};
    bool same = false;
    wb_status status = wb__comparables_make(&all, conversion->model, context);
    if (status == WB_OK) {
        const wb__comparable *output = find_tensor(&all, i);
        const wb__comparable *embedding =
            wb__comparables_find(&all, WB__STR("token_embedding.weight"));
        same = output != NULL && embedding != NULL && output->floats == embedding->floats;
        if (same)
            status = compare_values(conversion, context, output, embedding, &same);
    }
    wb__comparables_free(&all);
    if (status != WB_OK)
        return status;
    return wb__plan_note(conversion, context, same ? WB_INFO : WB_WARNING,
                         WB__FINDING_CONVERT_LEFT_OUT, name,
                         same ? WB__MSG_CONVERT_TIED_SAME : WB__MSG_CONVERT_TIED_OTHER);
}
