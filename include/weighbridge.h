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
 * Rules for the whole interface
 *
 * Status.    A function that can fail returns a wb_status, which must be checked, and takes an
 *            optional wb_error, which it fills on failure. A failed call sets its outputs to zero.
 *            Comments omit the prefix of a status: "ARGUMENT if X" means that the function returns
 *            WB_ERROR_ARGUMENT if X is true.
 * Ownership. "Borrowed until X" means that the library owns the memory and frees it at X; "owned,
 *            release with Y" means that the caller owns it; "static" means that the memory is never
 *            freed. The library reads inputs only during the call, unless a function specifies
 *            otherwise. If a struct is "copied", the caller may free it after the call.
 * Threads.   An open model never changes: any number of threads may use it at the same time, except
 *            that wb_close must be the last call. Different models are independent.
 * Effects.   The library does not print, exit, abort, install signal handlers or start threads, and
 *            has no global state that is visible to callers.
 * Names.     Names and keys in files may contain any byte, including NUL, so each is passed as a
 *            pointer and a length. If a caller passes SIZE_MAX as a length, the library uses
 *            strlen. Strings returned by the library also end with a NUL, which the length does not
 *            include.
 * Structs.   The first member of most structs is `size`. The caller sets it to the sizeof of the
 *            struct, by hand or with an initialiser such as WB_TENSOR_INIT, so that the struct can
 *            grow in later versions. weighbridge/base.h has the rules. Structs are always passed by
 *            pointer.
 * Shapes.    A shape lists the dimensions in elements, outermost first. Values are in row-major
 *            order.
 *
 * Everything is available since version 0.1.0 unless noted otherwise. This header includes the
 * headers of all topics, each of which can also be included alone:
 *
 *   weighbridge/base.h      version, status and error, allocator, executor, limits, progress
 *   weighbridge/model.h     opening and closing models; the files of a model; Ollama stores
 *   weighbridge/families.h  tables of further model families
 *   weighbridge/tensor.h    tensors: descriptions, encodings, bytes and values
 *   weighbridge/config.h    canonical names of tensors, and the config
 *   weighbridge/metadata.h  metadata
 *   weighbridge/verify.h    findings, and verifying models
 *   weighbridge/dtypes.h    the numbers of the element types
 *   weighbridge/codec.h     element types, encoding and decoding in memory
 *   weighbridge/device.h    memory for weights: of the process, OpenCL, CUDA or the caller
 *   weighbridge/provider.h  weights in buffers on a device: cached, fused and sliced
 *   weighbridge/slicing.h   tensor-parallel slices
 *   weighbridge/weights.h   all weights of a layer at once
 *   weighbridge/load.h      reading all weights once
 *   weighbridge/writer.h    writing models
 *   weighbridge/edit.h      editing the header of a file
 *   weighbridge/convert.h   converting a model to another format or quantization
 *   weighbridge/hash.h      digests of files and values
 *   weighbridge/diff.h      differences between two models
 */
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
#include "weighbridge/families.h"
#include "weighbridge/hash.h"
#include "weighbridge/load.h"
#include "weighbridge/metadata.h"
#include "weighbridge/model.h"
#include "weighbridge/provider.h"
#include "weighbridge/slicing.h"
#include "weighbridge/tensor.h"
#include "weighbridge/verify.h"
#include "weighbridge/weights.h"
#include "weighbridge/writer.h"

#endif
