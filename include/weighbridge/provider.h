/*
 * weighbridge/provider.h: weights of a model in buffers on a device, cached, fused and sliced.
 */
#ifndef WEIGHBRIDGE_PROVIDER_H
#define WEIGHBRIDGE_PROVIDER_H

#include "weighbridge/device.h"
#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A provider returns the weights of a model by canonical name, each in one buffer on a device, in
 * the layout that kernels of engines expect: cached, and optionally fused or sliced.
 */
typedef struct wb_provider wb_provider;

/*
 * Conversion of plain tensors of F32, BF16 and F16. Other tensors are not converted, unless
 * WB_POLICY_DECODE is set.
 */
typedef enum wb_plain_policy {
    WB_PLAIN_F16 = 0,
    WB_PLAIN_KEEP = 1,
    WB_PLAIN_DTYPE = 2 /* wb_policy.dtype */
} wb_plain_policy;

#define WB_POLICY_KEEP_SCALES 1u /* scales and biases of affine tensors keep their dtype */
/*
 * Quantized tensors are decoded to F32, as by wb_tensor_read, and then converted like plain F32
 * tensors. They are fused and sliced like plain tensors, between any rows and columns.
 * wb_slice_plan describes the stored data and therefore gives other boundaries.
 */
#define WB_POLICY_DECODE 2u

#define WB_VOCAB_MULTIPLE_MAX 65536u

typedef struct wb_policy {
    size_t size; /* sizeof(wb_policy) */
    wb_plain_policy plain;
    int32_t dtype;  /* for WB_PLAIN_DTYPE: F32, F16 or BF16 */
    uint32_t flags; /* WB_POLICY_* */
    wb_io io;       /* how bytes that are copied are read, see wb_provider_create */
    /* upper limit of the memory for buffers on the device, in bytes; 0: no limit */
    uint64_t budget;
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    const wb_executor *executor;   /* for wb_provider_prefetch; NULL: serial; copied */
    /*
     * Pads token_embedding.weight, output.weight and output.bias with rows of zeros to a multiple
     * of this number of rows, for engines that gather scores of equal size from all ranks: for
     * example 64. Slices for several ranks are padded further, so that all have the same size.
     * wb_buffer.part_rows and wb_slice_plan count only the rows in the file. 0: no padding.
     */
    uint32_t vocab_multiple;
    uint32_t reserved;
} wb_policy;
#define WB_POLICY_INIT WB_INIT(wb_policy)

/* A part of a buffer, such as the scales. */
typedef struct wb_section {
    const char *role; /* "values", "scales", "biases", "global_scale", "order"; static */
    int32_t dtype;    /* wb_dtype of its elements */
    uint32_t reserved;
    uint64_t offset; /* offset in the buffer */
    uint64_t bytes;
} wb_section;

#define WB_SECTIONS 5 /* maximum number of sections of a buffer */

/*
 * A weight on the device. A plain tensor, or one of a ggml type, has one section: its values, row
 * after row. A quantized tensor of several parts has the sections [values | scales | biases |
 * global scales], each aligned to the size of its elements, without other gaps: MLX's kernels take
 * them as w, scales and biases. In a fused buffer each section contains the parts of all tensors,
 * one after the other. For AWQ and GPTQ, which are stored transposed, this holds for each row of a
 * section, and "order" contains the g_idx of each tensor. Numbers are little-endian.
 * docs/provider.md shows the layouts.
 *
 * The struct may be copied; all copies count as one use of the buffer. Pointers are borrowed until
 * wb_provider_release.
 */
typedef struct wb_buffer {
    size_t size; /* sizeof(wb_buffer) */
    void *handle;
    const void *contents; /* address of the bytes if the device maps them, else NULL */
    uint64_t bytes;
    int32_t dtype; /* as wb_encoding.dtype, after conversion: 1 is F16, 100 is affine with 4 bits */
    uint32_t bits; /* bits of a value, rounded down for ggml's types */
    uint32_t group_size;   /* values per scale; 0 for plain */
    uint32_t global;       /* a wb_mlx_global: meaning of the global scale */
    uint32_t rank;         /* rank of the logical shape */
    uint32_t borrowed;     /* 1: the bytes of the file are used without a copy */
    const uint64_t *shape; /* logical shape, after fusing and slicing */
    uint32_t sections;
    /*
     * number of parts that are joined: fused tensors, or the slices of q, k and v of one stored
     * tensor
     */
    uint32_t parts;
    wb_section section[WB_SECTIONS];
    /* number of rows of each part, along the dimension on which they are joined */
    const uint64_t *part_rows;
    uint64_t overflowed;  /* values that became infinite by conversion */
    uint64_t underflowed; /* nonzero values that became 0 by conversion */
    const void *use;      /* internal */
} wb_buffer;
#define WB_BUFFER_INIT WB_INIT(wb_buffer)

/*
 * Creates a provider. Reads nothing.
 *
 * model     borrowed until wb_provider_destroy
 * device    NULL: the memory of this process; otherwise copied, and not closed with the provider
 * policy    NULL: defaults
 * provider  owned, release with wb_provider_destroy
 *
 * wb_policy.io selects how bytes are read. WB_IO_AUTO: pieces of at least 1 MiB that are not in the
 * page cache use direct I/O while several threads load; everything else is read through the page
 * cache. With a budget everything is read through the page cache, so that evicted weights can be
 * loaded again quickly. WB_IO_READ: everything through the page cache. WB_IO_DIRECT: pieces of at
 * least 1 MiB always use direct I/O. WB_IO_MAP is refused, because borrowed bytes
 * (wb_device.borrow) are mapped in any mode.
 *
 * Fails with ARGUMENT or MEMORY.
 */
WB_API wb_status wb_provider_create(const wb_model *model, const wb_device *device,
                                    const wb_policy *policy, wb_provider **provider,
                                    wb_error *error) WB_MUST_CHECK;

/* Frees all buffers, even those in use. Must be the last call. NULL is ignored. */
WB_API void wb_provider_destroy(wb_provider *provider);

/*
 * All functions below are thread-safe. A name is canonical or native. "a+b+c" means a, b and c
 * fused, unless a tensor has this name.
 *
 * The functions that return a buffer load it on the first call, once even if several threads ask at
 * the same time, and return the cached buffer on later calls, in less than 100 ns. Each returned
 * buffer is one use, which wb_provider_release ends; the buffer stays cached. With a budget,
 * buffers without uses are evicted when memory is needed, least recently used first; LIMIT if this
 * is not sufficient. Without a budget buffers need not be released.
 *
 * Fail with NOT_FOUND, LIMIT, MEMORY, UNSUPPORTED (with the reason) or ARGUMENT, and with the
 * errors of reading files and of the device.
 */
WB_API wb_status wb_provider_get(wb_provider *provider, const char *name, size_t name_len,
                                 wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

/* Free the buffers of the parts, unless they are in use. */
#define WB_FUSE_FREE_PARTS 1u

/*
 * Returns the tensors `names` fused, in this order: their rows are concatenated; for tensors with
 * more than two dimensions the rows of each matrix; vectors are concatenated. After conversion all
 * must have the same type, group size and row length. Cached as "a+b+c".
 *
 * name_lens  NULL: each name ends with NUL
 */
WB_API wb_status wb_provider_fuse(wb_provider *provider, const char *const *names,
                                  const size_t *name_lens, size_t n, uint32_t flags,
                                  wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

/*
 * Returns the slice of a tensor for `rank` of `of` ranks along dimension `axis`; see wb_slice_plan.
 * For "a+b" the slices of a and b are fused.
 */
WB_API wb_status wb_provider_slice(wb_provider *provider, const char *name, size_t name_len,
                                   uint32_t axis, uint32_t rank, uint32_t of, wb_buffer *buffer,
                                   wb_error *error) WB_MUST_CHECK;

/* Ends a use and clears the struct, except `size`. NULL and cleared structs are ignored. */
WB_API void wb_provider_release(wb_provider *provider, wb_buffer *buffer);

/* Frees all buffers without uses. */
WB_API void wb_provider_trim(wb_provider *provider);

/*
 * Loads tensors on the threads of wb_policy.executor, without using them. Touches every page of
 * buffers that are borrowed from the file.
 *
 * names  `n` names; NULL: all tensors with a canonical name (`n` is ignored)
 */
WB_API wb_status wb_provider_prefetch(wb_provider *provider, const char *const *names,
                                      const size_t *name_lens, size_t n,
                                      wb_error *error) WB_MUST_CHECK;

/* Returns 1 if the tensor exists, or all tensors joined with '+', else 0. */
WB_API int wb_provider_has(const wb_provider *provider, const char *name, size_t name_len);

/* Returns the wb_buffer.dtype that wb_provider_get would return, or -1. Loads nothing. */
WB_API int32_t wb_provider_dtype(const wb_provider *provider, const char *name, size_t name_len);

/*
 * Returns the shape that wb_provider_get would return. Loads nothing.
 *
 * shape  array of *rank dimensions; *rank is set to the rank of the tensor. ARGUMENT if the array
 *        is too small
 */
WB_API wb_status wb_provider_shape(const wb_provider *provider, const char *name, size_t name_len,
                                   uint64_t *shape, uint32_t *rank, wb_error *error) WB_MUST_CHECK;

/* Copies n bytes at `offset` of a buffer to dst, on any device. */
WB_API wb_status wb_provider_download(const wb_provider *provider, const wb_buffer *buffer,
                                      uint64_t offset, void *dst, uint64_t n,
                                      wb_error *error) WB_MUST_CHECK;

typedef struct wb_cache_stats {
    size_t size;           /* sizeof(wb_cache_stats) */
    uint64_t buffers;      /* number of cached buffers, including borrowed ones */
    uint64_t bytes;        /* bytes of cached buffers on the device */
    uint64_t peak_bytes;   /* maximum of `bytes` so far */
    uint64_t budget;       /* wb_policy.budget; 0: no limit */
    uint64_t borrowed;     /* buffers that use the bytes of the file without a copy */
    uint64_t in_use;       /* buffers that are not released */
    uint64_t hits;         /* calls answered from the cache */
    uint64_t loads;        /* buffers filled or borrowed */
    uint64_t shared;       /* buffers filled by another process */
    uint64_t loaded_bytes; /* bytes of filled buffers */
    /* buffers freed for lack of memory, by wb_provider_trim, or as parts of a fused buffer */
    uint64_t evictions;
    uint64_t overflowed; /* sum of wb_buffer.overflowed over all filled buffers */
    uint64_t underflowed;
} wb_cache_stats;
#define WB_CACHE_STATS_INIT WB_INIT(wb_cache_stats)

WB_API wb_status wb_provider_stats(const wb_provider *provider, wb_cache_stats *stats,
                                   wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
