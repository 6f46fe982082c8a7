/*
 * weighbridge/tensor.h: the tensors of a model: descriptions, encodings, bytes and values.
 */
#ifndef WEIGHBRIDGE_TENSOR_H
#define WEIGHBRIDGE_TENSOR_H

#include "weighbridge/dtypes.h"
#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Flags of wb_tensor.storing: how the bytes in the file differ from the bytes that wb_tensor_read
 * returns.
 */
#define WB_STORED_BIG_ENDIAN 1u /* numbers are stored most significant byte first */
#define WB_STORED_COLUMNS 2u    /* column-major: the first index is contiguous */
#define WB_STORED_DEFLATED 4u   /* compressed; `offset` is that of the compressed bytes */

typedef struct wb_tensor {
    size_t size;      /* sizeof(wb_tensor) */
    const char *name; /* name in the file; borrowed until wb_close */
    size_t name_len;  /* bytes */
    wb_dtype dtype;
    uint32_t rank;         /* number of dimensions; 0 is a scalar */
    const uint64_t *shape; /* `rank` dimensions, outermost first; borrowed until wb_close */
    uint64_t elements;
    uint64_t bytes;   /* stored size; for compressed tensors the uncompressed size */
    uint64_t file;    /* index for wb_file_at */
    uint64_t offset;  /* offset of the first byte in that file */
    uint32_t storing; /* WB_STORED_*; 0: row-major, little-endian, uncompressed */
} wb_tensor;
#define WB_TENSOR_INIT WB_INIT(wb_tensor)

/*
 * Returns the number of tensors. A quantized weight that is stored as several tensors (values,
 * scales, biases) counts as one tensor of several parts: its shape is that of the values; its
 * dtype, file and offset are those of the packed values; its bytes are those of all parts. The
 * parts can be found by their own names. They have the indices from wb_tensor_count on, which all
 * functions accept.
 */
WB_API uint64_t wb_tensor_count(const wb_model *model);

/* Describes a tensor, or a part of one. Tensors are in the order of the files. */
WB_API wb_status wb_tensor_at(const wb_model *model, uint64_t index, wb_tensor *tensor,
                              wb_error *error) WB_MUST_CHECK;

/*
 * Stores the index of the tensor with this native or canonical name, or returns WB_ERROR_NOT_FOUND.
 * Takes constant time, except for the first name that is not a native one: this call computes all
 * canonical names and can therefore fail with MEMORY.
 */
WB_API wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len,
                                uint64_t *index) WB_MUST_CHECK;

/* Returns 1 if wb_tensor_find finds a tensor of this name, else 0. */
WB_API int wb_tensor_has(const wb_model *model, const char *name, size_t name_len);

/* How the values of a tensor are encoded. */
typedef struct wb_encoding {
    size_t size;         /* sizeof(wb_encoding) */
    const char *type;    /* "plain", the name of a ggml type, "affine", "mxfp4", "mxfp8", "nvfp4",
                            "int4", "int8", "fp8_block", "awq" or "gptq"; static */
    uint32_t bits;       /* bits of a value, rounded down for ggml's types */
    uint32_t group_size; /* values along the last dimension that share a scale; 0 for plain */
    /*
     * type number used by engines: a wb_dtype, or for MLX's types 97 to 106: affine with 1, 2, 3,
     * 4, 5, 6, 8 bits is 97, 98, 99, 100, 103, 102, 101; mxfp4 104, mxfp8 105, nvfp4 106
     */
    int32_t dtype;
    uint32_t parts;  /* number of parts; 1 for a tensor stored as one */
    uint32_t global; /* a wb_mlx_global: meaning of the global scale, if any */
} wb_encoding;
#define WB_ENCODING_INIT WB_INIT(wb_encoding)

WB_API wb_status wb_tensor_encoding(const wb_model *model, uint64_t index, wb_encoding *encoding,
                                    wb_error *error) WB_MUST_CHECK;

/* One of the stored tensors that make up a tensor. */
typedef struct wb_part {
    size_t size; /* sizeof(wb_part) */
    /*
     * "values", "scales", "biases", "global_scale" or "order", or "expert" for experts that are
     * stored as separate tensors; static
     */
    const char *role;
    uint64_t index; /* for wb_tensor_at, wb_tensor_data and wb_tensor_read */
} wb_part;
#define WB_PART_INIT WB_INIT(wb_part)

/* Describes part `number` < wb_encoding.parts. Part 0 is the packed values. */
WB_API wb_status wb_tensor_part(const wb_model *model, uint64_t index, uint32_t number,
                                wb_part *part, wb_error *error) WB_MUST_CHECK;

/* Returns wb_encoding.dtype of the tensor with this name, or -1 if it does not exist. */
WB_API int32_t wb_tensor_dtype(const wb_model *model, const char *name, size_t name_len);

/* Returns wb_encoding.bits of a quantized tensor; 0 if the tensor is plain or does not exist. */
WB_API uint32_t wb_quant_bits(const wb_model *model, const char *name, size_t name_len);

/* Returns wb_encoding.group_size of the tensor with this name, or 0. */
WB_API uint32_t wb_quant_group_size(const wb_model *model, const char *name, size_t name_len);

typedef enum wb_names_kind {
    WB_NAMES_NATIVE = 0, /* names in the files */
    /* empty for tensors without one; all experts of a layer share one name */
    WB_NAMES_CANONICAL = 1
} wb_names_kind;

/*
 * Returns the names of all tensors at once: the name of tensor i < wb_tensor_count is the
 * `offsets[i + 1] - offsets[i] - 1` bytes at bytes + offsets[i], followed by a NUL. There are
 * wb_tensor_count + 1 offsets. Borrowed until wb_close.
 */
WB_API wb_status wb_tensor_names(const wb_model *model, wb_names_kind kind, const char **bytes,
                                 const uint64_t **offsets, wb_error *error) WB_MUST_CHECK;

/*
 * Returns the stored bytes of a tensor without a copy. The address may be unaligned for the dtype.
 * Borrowed until wb_close. UNSUPPORTED in READ mode, for sources that cannot be mapped, for tensors
 * whose `storing` is not 0 (use wb_tensor_read), and for tensors of several parts (use the parts).
 */
WB_API wb_status wb_tensor_data(const wb_model *model, uint64_t index, const void **bytes,
                                wb_error *error) WB_MUST_CHECK;

/* The indices start, start + step, … of one dimension, `count` of them. */
typedef struct wb_axis {
    uint64_t start;
    uint64_t count;
    int64_t step;  /* not 0, negative for reverse order; ignored if count is at most 1 */
    uint32_t drop; /* 1: a single index, and the result does not have this dimension */
    uint32_t reserved;
} wb_axis;

/* The part of a tensor to read. */
typedef struct wb_slice {
    size_t size;         /* sizeof(wb_slice) */
    uint32_t rank;       /* rank of the tensor; 0: no axes, the whole tensor */
    const wb_axis *axes; /* `rank` axes */
    uint64_t first;      /* first element to read, in row-major order of the selected elements */
    uint64_t count;      /* number of elements to read; UINT64_MAX: all that remain */
} wb_slice;
#define WB_SLICE_INIT WB_INIT(wb_slice)

/*
 * Parses a slice in NumPy's notation ("0:4,:,::2", "-1", "..., 3") for a tensor of this shape.
 *
 * axes  array of `rank` axes, filled in
 *
 * ARGUMENT, with a message, if the text is not a slice or exceeds the shape.
 * https://numpy.org/doc/stable/user/basics.indexing.html
 */
WB_API wb_status wb_slice_parse(const char *text, size_t len, const uint64_t *shape, uint32_t rank,
                                wb_axis *axes, wb_error *error) WB_MUST_CHECK;

/*
 * Computes the number of elements and bytes of the result of wb_tensor_read. `bytes` counts whole
 * bytes; UNSUPPORTED if the dtype has less than 8 bits and the result would not fill its last byte.
 */
WB_API wb_status wb_tensor_read_size(const wb_model *model, uint64_t index, const wb_slice *slice,
                                     int32_t dtype, uint64_t *elements, uint64_t *bytes,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Reads a tensor, or a slice of it, into the caller's memory, converted to `dtype` and to
 * little-endian. Slices of block types (wb_dtype_info.block_size) must consist of whole blocks.
 *
 * slice  NULL: the whole tensor
 * dtype  a wb_dtype, or -1 for the stored one. Conversions round to nearest, ties to even. Values
 *        beyond the range of a float become infinity, or NaN if the type has no infinity; integers
 *        and booleans saturate, and NaN becomes 0. Quantized values are decoded to F32 first. With
 *        -1 quantized values are returned as stored, in whole blocks only (UNSUPPORTED otherwise)
 * dst    `size` bytes, at least the number from wb_tensor_read_size; may be unaligned
 *
 * If a file ends early, WB_ERROR_IO has the offset. Safe on a file that changes, except in MAP
 * mode. Uses at most 3 MiB of memory in addition to dst, with two exceptions that are read into
 * memory whole: tensors stored column-major or transposed (AWQ, GPTQ), and compressed tensors that
 * are read backwards. Transposed and compressed tensors are cached until others replace them or the
 * model is closed. Compressed data is decompressed in order, continuing from the end of the
 * previous call; its checksum is verified at the end, and damage is reported as WB_ERROR_FORMAT.
 */
WB_API wb_status wb_tensor_read(const wb_model *model, uint64_t index, const wb_slice *slice,
                                int32_t dtype, void *dst, uint64_t size,
                                wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
