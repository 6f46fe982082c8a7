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

/* What is different about the bytes of a tensor in its file. */
#define WB_STORED_BIG_ENDIAN 1u /* numbers are stored most significant byte first */
#define WB_STORED_COLUMNS 2u    /* column-major: the first index runs fastest */
#define WB_STORED_DEFLATED 4u   /* compressed; `offset` is where the compressed bytes begin */

typedef struct wb_tensor {
    size_t size;      /* sizeof(wb_tensor) */
    const char *name; /* as in the file; borrowed until wb_close */
    size_t name_len;  /* bytes */
    wb_dtype dtype;
    uint32_t rank;         /* number of dimensions; 0 is a scalar */
    const uint64_t *shape; /* `rank` dimensions, outermost first; borrowed until wb_close */
    uint64_t elements;
    uint64_t bytes;   /* stored size; of compressed ones the unpacked size */
    uint64_t file;    /* index for wb_file_at */
    uint64_t offset;  /* of the first byte, from the start of that file */
    uint32_t storing; /* WB_STORED_*; 0: the elements lie at `offset`, row-major, little-endian */
} wb_tensor;
#define WB_TENSOR_INIT WB_INIT(wb_tensor)

/*
 * A quantized weight that is stored with scales and biases beside it is one tensor of several parts:
 * its shape is that of the values, its dtype, file and offset are those of the packed values, its
 * bytes those of all parts. The parts are not counted here, but can be found by their own names, and
 * have numbers of their own, from wb_tensor_count on, by which all functions take them.
 */
WB_API uint64_t wb_tensor_count(const wb_model *model);

/* Describes a tensor, or a part of one. Tensors stand in the order of the files. */
WB_API wb_status wb_tensor_at(const wb_model *model, uint64_t index, wb_tensor *tensor,
                              wb_error *error) WB_MUST_CHECK;

/*
 * Stores the index of the tensor of that name, as the files have it or canonical, or returns
 * WB_ERROR_NOT_FOUND. Constant time, but for the first name that no file has, which makes canonical
 * names be worked out and so may fail with MEMORY.
 */
WB_API wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len,
                                uint64_t *index) WB_MUST_CHECK;

/* 1 if wb_tensor_find finds a tensor of that name, else 0. */
WB_API int wb_tensor_has(const wb_model *model, const char *name, size_t name_len);

/* How the values of a tensor are stored. */
typedef struct wb_encoding {
    size_t size;         /* sizeof(wb_encoding) */
    const char *type;    /* "plain", the name of a ggml type, "affine", "mxfp4", "mxfp8", "nvfp4",
                            "int4", "int8", "fp8_block", "awq" or "gptq"; static */
    uint32_t bits;       /* of a value, rounded down for ggml's types */
    uint32_t group_size; /* values along the last dimension that share a scale; 0 for plain */
    int32_t dtype;       /* the number engines know it by: a wb_dtype, or 97 to 106 for MLX's types:
                            affine of 1, 2, 3, 4, 5, 6, 8 bits 97, 98, 99, 100, 103, 102, 101;
                            mxfp4 104, mxfp8 105, nvfp4 106 */
    uint32_t parts;      /* 1, or more for a tensor of several parts */
    uint32_t global;     /* a wb_mlx_global: what the global scale means, where there is one */
} wb_encoding;
#define WB_ENCODING_INIT WB_INIT(wb_encoding)

WB_API wb_status wb_tensor_encoding(const wb_model *model, uint64_t index, wb_encoding *encoding,
                                    wb_error *error) WB_MUST_CHECK;

/* One of the stored tensors that a tensor consists of. */
typedef struct wb_part {
    size_t size; /* sizeof(wb_part) */
    const char
        *role;      /* "values", "scales", "biases", "global_scale" or "order"; "expert" of experts
                         that are stored one by one; static */
    uint64_t index; /* for wb_tensor_at, wb_tensor_data and wb_tensor_read */
} wb_part;
#define WB_PART_INIT WB_INIT(wb_part)

/* Describes part `number` < wb_encoding.parts. Part 0 is the packed values. */
WB_API wb_status wb_tensor_part(const wb_model *model, uint64_t index, uint32_t number,
                                wb_part *part, wb_error *error) WB_MUST_CHECK;

/* wb_encoding.dtype of the tensor of that name, or -1 if there is none. */
WB_API int32_t wb_tensor_dtype(const wb_model *model, const char *name, size_t name_len);

/* wb_encoding.bits of a quantized tensor, 0 for a plain one and where there is none of that name. */
WB_API uint32_t wb_quant_bits(const wb_model *model, const char *name, size_t name_len);

/* wb_encoding.group_size of the tensor of that name, or 0. */
WB_API uint32_t wb_quant_group_size(const wb_model *model, const char *name, size_t name_len);

typedef enum wb_names_kind {
    WB_NAMES_NATIVE = 0,   /* as the files have them */
    WB_NAMES_CANONICAL = 1 /* empty where a tensor has none; of each expert that of all experts */
} wb_names_kind;

/*
 * The names of all tensors at once: name i, of tensor i < wb_tensor_count, is the
 * `offsets[i + 1] - offsets[i] - 1` bytes at bytes + offsets[i], followed by a NUL. There are
 * wb_tensor_count + 1 offsets. Borrowed until wb_close.
 */
WB_API wb_status wb_tensor_names(const wb_model *model, wb_names_kind kind, const char **bytes,
                                 const uint64_t **offsets, wb_error *error) WB_MUST_CHECK;

/*
 * The stored bytes of a tensor, without a copy. They begin where the file has them and may be
 * unaligned for their dtype. Borrowed until wb_close. UNSUPPORTED in READ mode and for sources that
 * cannot be mapped, and for tensors whose `storing` is not 0, where wb_tensor_read does; and for
 * tensors of several parts: ask for the parts.
 */
WB_API wb_status wb_tensor_data(const wb_model *model, uint64_t index, const void **bytes,
                                wb_error *error) WB_MUST_CHECK;

/* The indices start, start + step, … of one dimension, `count` of them. */
typedef struct wb_axis {
    uint64_t start;
    uint64_t count;
    int64_t step;  /* not 0; negative runs backwards; any value where count is at most 1 */
    uint32_t drop; /* 1: a single index, the dimension is not part of the result's shape */
    uint32_t reserved;
} wb_axis;

/* Which part of a tensor is read. */
typedef struct wb_slice {
    size_t size;         /* sizeof(wb_slice) */
    uint32_t rank;       /* of the tensor; 0: all of it, whatever its rank */
    const wb_axis *axes; /* `rank` of them */
    uint64_t first;      /* of the elements selected, in row-major order, begin with this one … */
    uint64_t count;      /* … and read this many; UINT64_MAX: all that remain */
} wb_slice;
#define WB_SLICE_INIT WB_INIT(wb_slice)

/*
 * Reads a slice as NumPy writes it ("0:4,:,::2", "-1", "..., 3") for a tensor of this shape.
 * axes has room for `rank` of them. ARGUMENT with a message for what is not such a slice or leaves
 * the tensor. https://numpy.org/doc/stable/user/basics.indexing.html
 */
WB_API wb_status wb_slice_parse(const char *text, size_t len, const uint64_t *shape, uint32_t rank,
                                wb_axis *axes, wb_error *error) WB_MUST_CHECK;

/*
 * The number of elements and bytes that wb_tensor_read gives. `bytes` counts whole bytes; for
 * dtypes of less than eight bits UNSUPPORTED is returned where the result would not fill its last
 * byte.
 */
WB_API wb_status wb_tensor_read_size(const wb_model *model, uint64_t index, const wb_slice *slice,
                                     int32_t dtype, uint64_t *elements, uint64_t *bytes,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Reads a tensor, or a slice of it, into the caller's memory, little-endian whatever the file is,
 * converted to `dtype`. Of types made of blocks (wb_dtype_info.block_size) slices are whole blocks.
 *
 * slice  NULL: the whole tensor
 * dtype  a wb_dtype, or -1 for the stored one. Conversions round to nearest, ties to even; what
 *        exceeds the range of a float becomes infinity, or NaN where there is none; integers and
 *        booleans saturate, and NaN becomes 0. Quantized values are decoded to F32 first; as stored
 *        they can only be had in whole blocks (UNSUPPORTED otherwise)
 * dst    `size` bytes, at least what wb_tensor_read_size says; unaligned is fine
 *
 * WB_ERROR_IO names the offset at which a file ended early. Safe on a file that changes, except in
 * MAP mode. Uses at most 3 MiB beside dst; but a tensor that is stored by columns or transposed (AWQ,
 * GPTQ), or compressed and read backwards, is read into memory whole, and the last two of them stay
 * there until others are or the model is closed.
 * What is compressed is unpacked from front to back, going on where an earlier call has come to, and
 * its checksum compared at its end; damage is a WB_ERROR_FORMAT.
 */
WB_API wb_status wb_tensor_read(const wb_model *model, uint64_t index, const wb_slice *slice,
                                int32_t dtype, void *dst, uint64_t size,
                                wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
