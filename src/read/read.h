/*
 * read: reads the values that a slice of a tensor selects into memory, decoded and converted.
 */
#ifndef WB_READ_READ_H
#define WB_READ_READ_H

#include "arch/canonical_names.h"
#include "handle/handle.h"
#include "weighbridge/tensor.h"

/* The elements that a slice selects, and their size. Filled in by wb__selection_make. */
typedef struct wb__selection {
    size_t stored;            /* index of the stored tensor */
    const wb__packed *packed; /* NULL: the tensor is not packed */
    bool decode;              /* the values have to be decoded (decoder.h) */
    const wb__dtype *from;    /* dtype before the conversion to `to` */
    const wb__kind *kind;
    const wb__dtype *to;
    const wb_axis *axes; /* NULL: the whole tensor */
    uint64_t
        first; /* index of the first element to read, among the selected ones in row-major order */
    uint64_t count;
    uint64_t bytes; /* size of the result */
} wb__selection;

wb_status wb__selection_make(const wb_model *model, wb__context *context, uint64_t tensor,
                             const wb_slice *slice, int32_t dtype, wb__selection *selection);

wb_status wb__read_selection(const wb_model *model, wb__context *context,
                             const wb__selection *selection, void *dst);

/* Implement wb_tensor_read_size and wb_tensor_read for expert views. */
wb_status wb__expert_view_size(const wb_model *model, wb__context *context,
                               const wb__expert_view *view, const wb_slice *slice, int32_t dtype,
                               uint64_t *elements, uint64_t *bytes);
wb_status wb__expert_view_read(const wb_model *model, wb__context *context,
                               const wb__expert_view *view, const wb_slice *slice, int32_t dtype,
                               void *dst);

#endif
