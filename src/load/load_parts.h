/* Finds the tensors that a piece of a file overlaps. */
#ifndef WB_LOAD_LOAD_PARTS_H
#define WB_LOAD_LOAD_PARTS_H

#include "load/load.h"

typedef struct wb__load_part {
    size_t tensor;
    const wb__dtype *dtype;
    uint64_t tensor_at, begin, end; /* offsets in the file: start of the tensor; start and end of
                                     * the part of the tensor that is in the piece */
    bool apart;                     /* wb__load_is_apart */
} wb__load_part;

/* Returns true if tensors of type `from` are converted to wb_load_options.dtype. Only float types
 * whose elements fill whole bytes are converted. */
bool wb__load_is_converted(const wb__load *load, const wb__dtype *from);

/* Returns true if the tensor is read separately (read/raw_bytes.h), because it is stored compressed
 * or column-major or byte-swapped. The caller then receives other bytes than those in the file. */
bool wb__load_is_apart(const wb_model *model, size_t tensor);

/* Describes the part of a tensor that is in the piece. `i` is an index in the file's order of
 * tensors. Returns false if the tensor begins after the piece or does not exist. */
bool wb__load_part_of(const wb__load *load, const wb__load_piece *in, size_t i, wb__load_part *out);

#endif
