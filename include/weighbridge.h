/*
 * weighbridge.h: open, check and read files of model weights.
 *
 *     wb_model *model;
 *     wb_error error;
 *     if (wb_open("path/to/model", NULL, &model, &error) != WB_OK) {
 *         fprintf(stderr, "%s\n", error.message);
 *         return 1;
 *     }
 *     uint64_t i;
 *     if (wb_tensor_find(model, "model.norm.weight", SIZE_MAX, &i) == WB_OK) {
 *         wb_tensor tensor = WB_TENSOR_INIT;
 *         const void *bytes;
 *         wb_tensor_at(model, i, &tensor, &error);
 *         wb_tensor_data(model, i, &bytes, &error);
 *     }
 *     wb_close(model);
 *
 * The rules that hold for the whole interface
 *
 * Status.    A function that can fail returns a wb_status, which must be looked at, and takes an
 *            optional wb_error that it fills on failure. A failed call leaves its outputs zeroed.
 * Ownership. "Borrowed until X" means the library keeps the memory and frees it at X; "owned,
 *            release with Y" means the caller has it now. Inputs are read during the call only,
 *            unless a function says otherwise.
 * Threads.   An open model never changes: any number of threads may use it at the same time, except
 *            that wb_close must be the last call. Different models are independent.
 * Manners.   The library does not print, exit, abort, install signal handlers or start threads, and
 *            keeps no global state that a caller can notice.
 * Names.     Names and keys in files may hold any byte, NUL included, so each is a pointer and a
 *            length. Where a caller passes a length, SIZE_MAX means strlen. Strings handed out by
 *            the library also end with a NUL that the length does not count.
 * Structs.   The caller sets the first member of a struct, `size`, to its sizeof, by hand or with the
 *            initialiser of the struct (WB_TENSOR_INIT), so that the struct can grow in later versions;
 *            weighbridge/base.h has the rules. Everything passes through pointers.
 * Shapes.    Row-major, outermost dimension first, in elements.
 *
 * Everything here is available since version 0.1.0 unless noted otherwise.
 */                                                                                                 \
#ifndef WEIGHBRIDGE_H
#define WEIGHBRIDGE_H

#include "weighbridge/base.h"
#include "weighbridge/dtypes.h"

#include "weighbridge/codec.h"
#include "weighbridge/config.h"
#include "weighbridge/convert.h"
#include "weighbridge/device.h"
#include "weighbridge/diff.h"
#include "weighbridge/edit.h"
#include "weighbridge/hash.h"
#include "weighbridge/load.h"
#include "weighbridge/metadata.h"
#include "weighbridge/model.h"
#include "weighbridge/provider.h"
#include "weighbridge/slicing.h"
#include "weighbridge/tensor.h"
#include "weighbridge/verify.h"
#include "weighbridge/writer.h"

#endif
