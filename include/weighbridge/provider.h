/*
 * weighbridge/provider.h: a provider of weights, which caches, fuses and slices them in buffers on
 * a device.
 */
#ifndef WEIGHBRIDGE_PROVIDER_H
#define WEIGHBRIDGE_PROVIDER_H

#include "weighbridge/device.h"
#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A provider returns the weights of a model by canonical name. Each weight is in one buffer on a
 * device, in the layout that the kernels of inference engines expect. Buffers are cached. They can
 * contain several fused tensors, or a slice of a tensor.
 */
typedef struct wb_provider wb_provider;

/*
 * The dtype to which plain tensors of F32, BF16 and F16 are converted. Other tensors are not
 * converted, unless WB_POLICY_DECODE is set.
 */
typedef enum wb_plain_policy {
    WB_PLAIN_F16 = 0,  /* F16 */
    WB_PLAIN_KEEP = 1, /* no conversion */
    WB_PLAIN_DTYPE = 2 /* wb_policy.dtype */
} wb_plain_policy;

/* Keep the dtype of the scales and biases of affine tensors; otherwise they become F16. */
#define WB_POLICY_KEEP_SCALES 1u
/*
 * Decode quantized tensors to F32, as wb_tensor_read does, and then convert them like plain F32
 * tensors. Like plain tensors, they can be fused, and be sliced at any row or column.
 * wb_slice_plan ignores this flag, because a plan describes the stored data.
 */
#define WB_POLICY_DECODE 2u
/*
 * The order of the rows of q and k in the buffers of the provider (wb_rope_layout): as stored in
 * the files (the default), half, or interleaved. The elements of the biases of q and k, and of the
 * norms of their heads, get the same order. Rows are moved without decoding. A request fails with
 * UNSUPPORTED if the architecture is unknown, or if rows that share a scale would be separated.
 * wb_slice_plan ignores these flags.
 */
#define WB_POLICY_ROPE_STORED 0u
#define WB_POLICY_ROPE_HALF 4u
#define WB_POLICY_ROPE_INTERLEAVED 8u
/*
 * Return norm weights without an offset: if the files store the weights minus 1
 * (wb_config.norm_offset), the provider adds 1 in F32. With WB_PLAIN_KEEP such a weight becomes
 * F32, because F16 and BF16 would lose the lower bits of the sum.
 */
#define WB_POLICY_NORM_PLAIN 16u

#define WB_VOCAB_MULTIPLE_MAX 65536u /* largest wb_policy.vocab_multiple */

typedef struct wb_policy {
    size_t size; /* sizeof(wb_policy) */
    wb_plain_policy plain;
    int32_t dtype;  /* for WB_PLAIN_DTYPE: F32, F16 or BF16 */
    uint32_t flags; /* WB_POLICY_* */
    wb_io io;       /* how files are read, see wb_provider_create */
    /* upper limit of the memory for buffers on the device, in bytes; 0: no limit */
    uint64_t budget;
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    const wb_executor *executor;   /* for wb_provider_prefetch; NULL: the calling thread; copied */
    /*
     * Pads token_embedding.weight, output.weight and output.bias with rows of zeros, until the
     * number of rows is a multiple of this number (for example 64) and of the number of ranks. All
     * ranks then get slices of equal size, as some engines require. wb_buffer.part_rows and
     * wb_slice_plan count only the rows in the file. 0: no padding.
     */
    uint32_t vocab_multiple;
    uint32_t reserved;
} wb_policy;
#define WB_POLICY_INIT WB_INIT(wb_policy)

/* A section of a buffer: all its bytes with the same role, such as the scales. */
typedef struct wb_section {
    const char *role; /* "values", "scales", "biases", "global_scale" or "order"; static */
    int32_t dtype;    /* wb_dtype of the elements of the section */
    uint32_t reserved;
    uint64_t offset; /* offset of the section in the buffer, in bytes */
    uint64_t bytes;  /* size of the section */
} wb_section;

#define WB_SECTIONS 5 /* maximum number of sections of a buffer */

/*
 * A buffer on the device, with one weight. A tensor of a plain or ggml type has one section: its
 * values, row after row. A quantized tensor of several parts has the sections values, scales,
 * biases and global scales, in this order, without those that its encoding does not have. Each
 * section is aligned to the size of its elements; there are no other gaps. The first three sections
 * are the arguments w, scales and biases of MLX's kernels.
 *
 * In a buffer of fused tensors, each section contains the parts of all tensors, one after the
 * other. AWQ and GPTQ tensors are stored transposed, so each row of a section contains a row of
 * each tensor, one after the other; the section "order" contains the g_idx of each tensor. Numbers
 * are little-endian. docs/provider.md shows the layouts.
 *
 * The struct may be copied; all copies count as one use of the buffer. Pointers are borrowed until
 * wb_provider_release.
 */
typedef struct wb_buffer {
    size_t size;          /* sizeof(wb_buffer) */
    void *handle;         /* value that identifies the buffer on the device, see wb_device */
    const void *contents; /* address of the bytes, if the process can access them, otherwise NULL */
    uint64_t bytes;       /* size of the buffer */
    /* type after conversion, numbered as wb_encoding.dtype: 1 is F16, 100 is affine with 4 bits */
    int32_t dtype;
    uint32_t bits;         /* bits of a value, rounded down for ggml's types */
    uint32_t group_size;   /* number of values that share a scale; 0 for plain tensors */
    uint32_t global;       /* a wb_mlx_global: meaning of the global scale */
    uint32_t rank;         /* rank of the logical shape */
    uint32_t borrowed;     /* 1: the bytes of the file are used without a copy */
    const uint64_t *shape; /* logical shape, after fusing and slicing */
    uint32_t sections;     /* number of elements of `section` that are used */
    /*
     * number of parts of the buffer: tensors that are fused, or the matrices of one stored tensor
     * (q, k and v, or gate and up)
     */
    uint32_t parts;
    wb_section section[WB_SECTIONS];
    /* length of each part along the dimension on which they are joined */
    const uint64_t *part_rows;
    uint64_t overflowed;  /* number of values that became infinite by conversion */
    uint64_t underflowed; /* number of nonzero values that became 0 by conversion */
    const void *use;      /* internal */
} wb_buffer;
#define WB_BUFFER_INIT WB_INIT(wb_buffer)

/*
 * Creates a provider. Reads nothing.
 *
 * model     borrowed until wb_provider_destroy
 * device    NULL: the memory of this process. The struct is copied; wb_provider_destroy does not
 *           close the device
 * policy    NULL: defaults
 * provider  owned, release with wb_provider_destroy
 *
 * wb_policy.io selects how bytes of files are read if they must be copied:
 *
 * WB_IO_AUTO    Ranges of at least 1 MiB that are not in the page cache are read with direct I/O
 *               while several threads load. All other bytes are read through the page cache. With a
 *               budget, all bytes are read through the page cache, so that evicted weights can be
 *               loaded again quickly.
 * WB_IO_READ    All bytes are read through the page cache.
 * WB_IO_DIRECT  Ranges of at least 1 MiB are read with direct I/O, other bytes through the page
 *               cache.
 * WB_IO_MAP     Fails with ARGUMENT. With every other value, bytes that are not copied
 *               (wb_device.borrow) are mapped.
 *
 * Fails with ARGUMENT or MEMORY.
 */
WB_API wb_status wb_provider_create(const wb_model *model, const wb_device *device,
                                    const wb_policy *policy, wb_provider **provider,
                                    wb_error *error) WB_MUST_CHECK;

/* Frees a provider with all its buffers, even those in use. NULL is ignored. */
WB_API void wb_provider_destroy(wb_provider *provider);

/*
 * Returns the buffer of a weight. The rules of this comment also apply to the functions below,
 * which are all thread-safe.
 *
 * `name` is the canonical or native name of a tensor. "a+b+c" means the tensors a, b and c fused,
 * unless a tensor has this name. Fused weights and their parts both have canonical names: if the
 * file stores q, k and v as three tensors, "layers.0.attention.qkv.weight" means q, k and v fused;
 * if it stores them as one tensor, "layers.0.attention.q.weight" means the rows of q in this
 * tensor. The same applies to ffn.gate_up, ffn.gate and ffn.up, and to biases.
 *
 * The first call for a buffer loads it, and only one thread does so if several threads call at the
 * same time. Later calls return the cached buffer in less than 100 ns. Each successful call adds a
 * use of the buffer. wb_provider_release ends the use; the buffer stays cached. With a budget, when
 * memory is needed, buffers that are not in use are evicted, least recently used first; LIMIT if
 * this is not sufficient. Without a budget buffers need not be released.
 *
 * Fails with NOT_FOUND, LIMIT, MEMORY, UNSUPPORTED (with the reason) or ARGUMENT, with the status
 * of a failed read of a file, or with the status of the device.
 */
WB_API wb_status wb_provider_get(wb_provider *provider, const char *name, size_t name_len,
                                 wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

/* A flag of wb_provider_fuse: free the buffers of the single tensors, unless they are in use. */
#define WB_FUSE_FREE_PARTS 1u

/*
 * Returns a buffer with the `n` tensors `names` fused, in this order. The rows of matrices are
 * concatenated, and so are vectors. Tensors with more than two dimensions are fused matrix by
 * matrix. After conversion all tensors must have the same type, group size and row length;
 * wb_provider_fuse_groups returns which tensors can be fused. The buffer is cached under the name
 * "a+b+c".
 *
 * name_lens  NULL: each name ends with NUL
 */
WB_API wb_status wb_provider_fuse(wb_provider *provider, const char *const *names,
                                  const size_t *name_lens, size_t n, uint32_t flags,
                                  wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

#define WB_FUSE_GROUPS_MAX 256 /* largest number of names for wb_provider_fuse_groups */

/*
 * Divides tensors into the largest groups that wb_provider_fuse can fuse: groups[i] is the number
 * of the group of tensor i. Groups are numbered from 0, in the order of their first tensors. If q
 * and k are Q4_K and v is Q6_K, groups[] becomes 0, 0, 1. Loads nothing.
 *
 * names, name_lens  `n` names, as for wb_provider_fuse
 * groups            array of n numbers
 * count             number of groups
 *
 * Fails as wb_provider_get does if the buffer of a single name cannot be created.
 */
WB_API wb_status wb_provider_fuse_groups(const wb_provider *provider, const char *const *names,
                                         const size_t *name_lens, size_t n, uint32_t *groups,
                                         uint32_t *count, wb_error *error) WB_MUST_CHECK;

/*
 * Returns a buffer with a slice of a tensor. The tensor is divided among `of` ranks along dimension
 * `axis`, and the slice is that of rank number `rank`; see wb_slice_plan. For "a+b" the slices of a
 * and b are fused.
 */
WB_API wb_status wb_provider_slice(wb_provider *provider, const char *name, size_t name_len,
                                   uint32_t axis, uint32_t rank, uint32_t of, wb_buffer *buffer,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * Ends a use of a buffer and clears the struct, except `size`. NULL and cleared structs are
 * ignored.
 */
WB_API void wb_provider_release(wb_provider *provider, wb_buffer *buffer);

/* Frees all cached buffers that are not in use. */
WB_API void wb_provider_trim(wb_provider *provider);

/*
 * Loads tensors into the cache on the threads of wb_policy.executor, without adding uses. If a
 * buffer uses the mapped bytes of a file without a copy, touches each page of these bytes, so that
 * later accesses need not wait for the disk.
 *
 * names      `n` names; NULL: all tensors with a canonical name (`n` is ignored)
 * name_lens  NULL: each name ends with NUL
 */
WB_API wb_status wb_provider_prefetch(wb_provider *provider, const char *const *names,
                                      const size_t *name_lens, size_t n,
                                      wb_error *error) WB_MUST_CHECK;

/*
 * Returns 1 if the tensor exists (for "a+b+c" all three tensors), otherwise 0. Also returns 1 for a
 * name such as "layers.0.attention.qkv.weight" that means several existing tensors, even if these
 * cannot be fused.
 */
WB_API int wb_provider_has(const wb_provider *provider, const char *name, size_t name_len);

/*
 * Returns the wb_buffer.dtype that wb_provider_get would return, or -1 if a tensor does not exist
 * or the tensors cannot be fused. Loads nothing.
 */
WB_API int32_t wb_provider_dtype(const wb_provider *provider, const char *name, size_t name_len);

/*
 * Returns the shape that wb_provider_get would return. Loads nothing.
 *
 * shape  array for the dimensions
 * rank   *rank is the length of the array before the call, and the rank of the tensor after it.
 *        ARGUMENT if the array is too short
 */
WB_API wb_status wb_provider_shape(const wb_provider *provider, const char *name, size_t name_len,
                                   uint64_t *shape, uint32_t *rank, wb_error *error) WB_MUST_CHECK;

/* Copies n bytes at byte `offset` of a buffer on any device to dst. */
WB_API wb_status wb_provider_download(const wb_provider *provider, const wb_buffer *buffer,
                                      uint64_t offset, void *dst, uint64_t n,
                                      wb_error *error) WB_MUST_CHECK;

typedef struct wb_cache_stats {
    size_t size;           /* sizeof(wb_cache_stats) */
    uint64_t buffers;      /* number of cached buffers, including borrowed ones */
    uint64_t bytes;        /* bytes of cached buffers on the device */
    uint64_t peak_bytes;   /* maximum of `bytes` so far */
    uint64_t budget;       /* wb_policy.budget; 0: no limit */
    uint64_t borrowed;     /* number of buffers that use the bytes of a file without a copy */
    uint64_t in_use;       /* number of buffers that are not released */
    uint64_t hits;         /* number of calls that returned a cached buffer */
    uint64_t loads;        /* number of buffers that were filled or borrowed so far */
    uint64_t shared;       /* number of buffers that another process filled (wb_device.claim) */
    uint64_t loaded_bytes; /* bytes of all buffers that were filled so far */
    /* number of buffers freed: for lack of memory, by wb_provider_trim or by WB_FUSE_FREE_PARTS */
    uint64_t evictions;
    uint64_t overflowed;  /* sum of wb_buffer.overflowed of all filled buffers */
    uint64_t underflowed; /* sum of wb_buffer.underflowed of all filled buffers */
} wb_cache_stats;
#define WB_CACHE_STATS_INIT WB_INIT(wb_cache_stats)

/* Returns statistics of the cache. */
WB_API wb_status wb_provider_stats(const wb_provider *provider, wb_cache_stats *stats,
                                   wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
