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
#define WB_STORED_COLUMNS 2u    /* column-major: elements along the first dimension are adjacent */
#define WB_STORED_DEFLATED 4u   /* compressed; wb_tensor.offset is that of the compressed bytes */

typedef struct wb_tensor {
    size_t size;      /* sizeof(wb_tensor) */
    const char *name; /* name in the file; borrowed until wb_close */
    size_t name_len;  /* length of the name, in bytes */
    wb_dtype dtype;
    uint32_t rank;         /* number of dimensions; 0: a scalar */
    const uint64_t *shape; /* `rank` dimensions, outermost first; borrowed until wb_close */
    uint64_t elements;     /* number of elements */
    uint64_t bytes;        /* stored size; for a compressed tensor, the size after decompression */
    uint64_t file;         /* index of the file for wb_file_at */
    uint64_t offset;       /* offset of the first byte in that file */
    uint32_t storing;      /* WB_STORED_*; 0: row-major, little-endian, uncompressed */
} wb_tensor;
#define WB_TENSOR_INIT WB_INIT(wb_tensor)

/*
 * Returns the number of tensors. A quantized weight that is stored as several tensors (packed
 * values, scales, biases) counts as one tensor of several parts. Its shape is the logical shape of
 * the weight. Its dtype, file and offset are those of the packed values; its size is that of all
 * parts. wb_tensor_find also finds each part by the name of the part. The indices of parts start at
 * wb_tensor_count; the functions for tensors accept them.
 */
WB_API uint64_t wb_tensor_count(const wb_model *model);

/* Describes the tensor at `index`, or a stored part of a packed tensor, such as its scales, if
 * `index` is at least wb_tensor_count. The tensors are in the order of the files. */
WB_API wb_status wb_tensor_at(const wb_model *model, uint64_t index, wb_tensor *tensor,
                              wb_error *error) WB_MUST_CHECK;

/*
 * Looks up the index of the tensor with this native or canonical name. NOT_FOUND if there is none.
 * Takes constant time, except that the first call with a name that is not a native one computes all
 * canonical names. This call can fail with MEMORY.
 */
WB_API wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len,
                                uint64_t *index) WB_MUST_CHECK;

/* Returns 1 if there is a tensor with this native or canonical name, else 0. */
WB_API int wb_tensor_has(const wb_model *model, const char *name, size_t name_len);

/* How the values of a tensor are encoded. */
typedef struct wb_encoding {
    size_t size; /* sizeof(wb_encoding) */
    /*
     * "plain", the name of a ggml type, "affine", "mxfp4", "mxfp8", "nvfp4", "int4", "int8",
     * "fp8_block", "awq" or "gptq"; static
     */
    const char *type;
    uint32_t bits;       /* bits of a value, rounded down for ggml's types */
    uint32_t group_size; /* number of values in a row that share a scale; 0 for plain */
    /*
     * number of the type: a wb_dtype, or one of the numbers that engines use for MLX's types:
     * 97, 98, 99, 100: affine with 1, 2, 3, 4 bits; 101: affine with 8 bits; 102: with 6 bits;
     * 103: with 5 bits; 104: mxfp4; 105: mxfp8; 106: nvfp4
     */
    int32_t dtype;
    uint32_t parts;  /* number of stored tensors that make up this tensor */
    uint32_t global; /* a wb_mlx_global: meaning of the global scale, if there is one */
} wb_encoding;
#define WB_ENCODING_INIT WB_INIT(wb_encoding)

/* Describes the encoding of a tensor. */
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

/* Returns wb_encoding.group_size of the tensor with this name; 0 if it does not exist. */
WB_API uint32_t wb_quant_group_size(const wb_model *model, const char *name, size_t name_len);

typedef enum wb_names_kind {
    WB_NAMES_NATIVE = 0, /* names in the files */
    /*
     * canonical names; empty for a tensor without one. Experts that are stored separately all have
     * the name of the tensor of all experts
     */
    WB_NAMES_CANONICAL = 1
} wb_names_kind;

/*
 * Returns the names of all tensors at once. The name of tensor i < wb_tensor_count begins at
 * (*bytes)[(*offsets)[i]] and ends with NUL, which is the last byte before the next name. There are
 * wb_tensor_count + 1 offsets; the last one is the end of the last name. Both arrays are borrowed
 * until wb_close.
 */
WB_API wb_status wb_tensor_names(const wb_model *model, wb_names_kind kind, const char **bytes,
                                 const uint64_t **offsets, wb_error *error) WB_MUST_CHECK;

/*
 * Returns the address of the stored bytes of a tensor, without a copy. The address may be unaligned
 * for the dtype. Borrowed until wb_close. UNSUPPORTED if the model was opened with WB_ACCESS_READ,
 * for sources that cannot be mapped, for tensors whose `storing` is not 0 (use wb_tensor_read), and
 * for tensors of several parts (call it for each part).
 */
WB_API wb_status wb_tensor_data(const wb_model *model, uint64_t index, const void **bytes,
                                wb_error *error) WB_MUST_CHECK;

/* A selection of `count` indices of one dimension: start, start + step, start + 2 * step, … */
typedef struct wb_axis {
    uint64_t start;
    uint64_t count;
    int64_t step;  /* not 0; negative for reverse order; ignored if count is at most 1 */
    uint32_t drop; /* 1: count is 1, and the result does not have this dimension */
    uint32_t reserved;
} wb_axis;

/*
 * The elements of a tensor to read: those that `axes` select, or a range of them (`first` and
 * `count`).
 */
typedef struct wb_slice {
    size_t size;         /* sizeof(wb_slice) */
    uint32_t rank;       /* rank of the tensor; 0: all elements are selected */
    const wb_axis *axes; /* one wb_axis for each of the `rank` dimensions */
    uint64_t first;      /* number of selected elements to skip, in row-major order */
    uint64_t count;      /* number of elements to read; UINT64_MAX: all after `first` */
} wb_slice;
#define WB_SLICE_INIT WB_INIT(wb_slice)

/*
 * Parses a slice in NumPy's notation ("0:4,:,::2", "-1", "..., 3") for a tensor of this shape. See
 * https://numpy.org/doc/stable/user/basics.indexing.html.
 *
 * axes  array of `rank` axes, filled in
 *
 * ARGUMENT, with a message, if the text is not a slice or an index is outside the shape.
 */
WB_API wb_status wb_slice_parse(const char *text, size_t len, const uint64_t *shape, uint32_t rank,
                                wb_axis *axes, wb_error *error) WB_MUST_CHECK;

/*
 * Computes the number of elements and of bytes that wb_tensor_read stores for the same `slice` and
 * `dtype`. UNSUPPORTED if the dtype has less than 8 bits and the result would not fill its last
 * byte.
 */
WB_API wb_status wb_tensor_read_size(const wb_model *model, uint64_t index, const wb_slice *slice,
                                     int32_t dtype, uint64_t *elements, uint64_t *bytes,
                                     wb_error *error) WB_MUST_CHECK;

/*
 * Reads a tensor, or a slice of it, into the caller's memory, converted to `dtype`, row-major and
 * little-endian.
 *
 * slice  NULL: the whole tensor
 * dtype  a wb_dtype, or -1 for the stored dtype. Conversions round to nearest, ties to even. Values
 *        outside the range of a floating-point dtype become infinity, or NaN if the dtype has no
 *        infinity. Values outside the range of an integer or boolean become the nearest value in
 *        the range, and NaN becomes 0. Quantized values are first decoded to F32. With -1,
 *        quantized values are returned as stored, and a slice must consist of whole blocks
 *        (UNSUPPORTED otherwise)
 * dst    `size` bytes, at least the number from wb_tensor_read_size; may be unaligned
 *
 * IO, with the offset, if a file ends early. It is safe if another program truncates a file during
 * the call, unless the model was opened with WB_ACCESS_MAP (see wb_access).
 *
 * Uses at most 3 MiB of memory in addition to dst, except for tensors that are read into memory as
 * a whole: tensors stored column-major or transposed (AWQ, GPTQ), and compressed tensors that are
 * read backwards. Transposed and compressed tensors stay in a cache until others replace them or
 * the model is closed. Compressed data is decompressed in order, from the position where the
 * previous call stopped. FORMAT if compressed data is damaged; its checksum is verified when its
 * end is reached.
 */
WB_API wb_status wb_tensor_read(const wb_model *model, uint64_t index, const wb_slice *slice,
                                int32_t dtype, void *dst, uint64_t size,
                                wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
