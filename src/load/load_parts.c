/*
 * Computes which tensors a piece of a file overlaps, and whether the bytes of the piece are needed.
 */
#include "load/load_parts.h"

bool wb__load_is_converted(const wb__load *load, const wb__dtype *from)
{
    return load->dtype != NULL && load->dtype != from && wb__dtype_is_float(from) &&
           from->block_bits % 8 == 0;
}

bool wb__load_is_apart(const wb_model *model, size_t tensor)
{
    const wb__storing *storing = wb__catalog_storing_of(&model->catalog, tensor);
    return wb__catalog_is_swapped(&model->catalog, tensor) ||
           (storing != NULL && (storing->deflated || storing->columns));
}

/* Describes the part of a tensor that is in the piece; `i` is an index in the file's order of
 * tensors. Returns false if the tensor begins after the piece. */
bool wb__load_part_of(const wb__load *load, const wb__load_piece *in, size_t i, wb__load_part *out)
{
    const wb_model *model = load->model;
    const wb__table *table = &model->catalog.table;
    uint64_t data_begin = model->catalog.files[in->number].data_begin;
    if (i >= in->file->order.count)
        return false;
    out->tensor = wb__order_at(&in->file->order, i);
    out->dtype = wb__table_kind_of(table, out->tensor)->dtype;
    out->tensor_at = data_begin + wb__tensor_begin(table, out->tensor);
    uint64_t end = data_begin + wb__tensor_end(table, out->tensor);
    out->begin = out->tensor_at > in->begin ? out->tensor_at : in->begin;
    out->end = end < in->end ? end : in->end;
    out->apart = wb__load_is_apart(model, out->tensor);
    return out->tensor_at < in->end;
}

bool wb__load_needs_bytes(const wb__load *load, const wb__load_piece *in)
{
    bool has_apart = false;
    wb__load_part p;
    if ((load->options->consume == NULL && load->options->device == NULL) ||
        load->options->place != NULL || (load->options->flags & WB_LOAD_DIGEST))
        return true;
    for (size_t i = in->first_tensor; wb__load_part_of(load, in, i, &p); i++) {
        if (!p.apart && p.begin < p.end)
            return true;
        has_apart |= p.apart;
    }
    return !has_apart;
}
