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
 * A provider hands out the weights of a model, each in one buffer on a device, by canonical name,
 * whatever files they come from: as an engine's kernels take them, cached, whole or fused or sliced.
 */
typedef struct wb_provider wb_provider;

/* What becomes of plain tensors of F32, BF16 and F16. All others stay what they are, unless WB_POLICY_DECODE. */
typedef enum wb_plain_policy {
    WB_PLAIN_F16 = 0,
    WB_PLAIN_KEEP = 1,
    WB_PLAIN_DTYPE = 2 /* wb_policy.dtype */
} wb_plain_policy;

#define WB_POLICY_KEEP_SCALES 1u /* scales and biases of affine tensors stay in their dtype */
/*
 * Quantized tensors are decoded, to F32 as wb_tensor_read has it, and that becomes what plain F32 does. They are
 * then joined and cut as plain tensors are, between any rows and inputs, whatever they were; wb_slice_plan, which
 * tells of what is stored, has other cuts.
 */
#define WB_POLICY_DECODE 2u

#define WB_VOCAB_MULTIPLE_MAX 65536u

typedef struct wb_policy {
    size_t size; /* sizeof(wb_policy) */
    wb_plain_policy plain;
    int32_t dtype;                 /* for WB_PLAIN_DTYPE: F32, F16 or BF16 */
    uint32_t flags;                /* WB_POLICY_* */
    wb_io io;                      /* how bytes are fetched that are copied; below */
    uint64_t budget;               /* bytes the buffers may take on the device; 0: any number */
    const wb_allocator *allocator; /* NULL: malloc, and mmap for large blocks; copied */
    const wb_executor *executor;   /* for wb_provider_prefetch; NULL: serial; copied */
    /*
     * The rows of token_embedding.weight, output.weight and output.bias are followed by rows of zeros up to
     * a multiple of this, and where they are shared out among ranks up to one that goes round evenly as well:
     * 64, say, as engines that gather scores from ranks have it. wb_buffer.part_rows are those that are in the
     * file; wb_slice_plan tells of these alone. 0: no rows are added.
     */
    uint32_t vocab_multiple;
    uint32_t reserved;
} wb_policy;
#define WB_POLICY_INIT WB_INIT(wb_policy)

/* A part of a buffer. */
typedef struct wb_section {
    const char *role; /* "values", "scales", "biases", "global_scale", "order"; static */
    int32_t dtype;    /* of its elements: a wb_dtype */
    uint32_t reserved;
    uint64_t offset; /* in the buffer */
    uint64_t bytes;
} wb_section;

#define WB_SECTIONS 5 /* at most, in a buffer */

/*
 * A weight on the device. A plain tensor, or one of a ggml type, is one section: its values, row
 * after row. A quantized one of several parts is [values | scales | biases | global scales], each
 * from the next multiple of the size of its elements on, without other gaps: what MLX's kernels take
 * as w, scales and biases. Of fused tensors every section holds those of all, one after the other; of AWQ
 * and GPTQ, which are stored transposed, every row of a section does, and "order" has the g_idx of each.
 * Numbers are little-endian. docs/provider.md shows the bytes.
 *
 * The struct may be copied, the copies being one use of the buffer. Pointers are borrowed until
 * wb_provider_release.
 */
typedef struct wb_buffer {
    size_t size; /* sizeof(wb_buffer) */
    void *handle;
    const void *contents; /* its bytes, where the device maps them; else NULL */
    uint64_t bytes;
    int32_t dtype; /* as wb_encoding.dtype, after the policy: 1 is F16, 100 affine of 4 bits */
    uint32_t bits; /* of a value, rounded down for ggml's types */
    uint32_t group_size;   /* values that share a scale; 0 for plain */
    uint32_t global;       /* a wb_mlx_global: what the global scale means */
    uint32_t rank;         /* of the logical shape */
    uint32_t borrowed;     /* 1: the bytes are those of the file, nothing was copied */
    const uint64_t *shape; /* logical, of what is fused or sliced as it then is */
    uint32_t sections;
    uint32_t parts; /* joined in it: the tensors fused, and of q, k, v in one the slice of each */
    wb_section section[WB_SECTIONS];
    const uint64_t *part_rows; /* of each of these, along the dimension they are joined on */
    uint64_t overflowed;       /* values that became infinite in F16 or another dtype */
    uint64_t underflowed;      /* values other than 0 that became 0 */
    const void *use;           /* the library's */
} wb_buffer;
#define WB_BUFFER_INIT WB_INIT(wb_buffer)

/*
 * Makes a provider. Reads nothing.
 *
 * model     borrowed until wb_provider_destroy
 * device    NULL: the memory of this process; otherwise copied, and not closed with the provider
 * policy    NULL: defaults
 * provider  owned, release with wb_provider_destroy
 *
 * With wb_policy.io WB_IO_AUTO what is stored in one piece of 1 MiB or more and not in the page cache is
 * read past it while several threads load, and everything else through it; all of it where there is a
 * budget, so that what made room and comes back may be there. WB_IO_READ: all through it. WB_IO_DIRECT: such
 * pieces past it, whether they are in it or not. WB_IO_MAP is refused: what is used where it is mapped
 * (wb_device.borrow) is none of io's business.
 *
 * Fails with ARGUMENT or MEMORY.
 */
WB_API wb_status wb_provider_create(const wb_model *model, const wb_device *device,
                                    const wb_policy *policy, wb_provider **provider,
                                    wb_error *error) WB_MUST_CHECK;

/* Frees every buffer through the device, whether in use or not; the last call. NULL is ignored. */
WB_API void wb_provider_destroy(wb_provider *provider);

/*
 * All of the functions below are thread-safe. A name is canonical or as the files have it. "a+b+c"
 * means a, b and c fused, wherever there is no tensor called that.
 *
 * Those that give a buffer load it when they are first asked, once, however many threads ask at the
 * same time, and give the same again afterwards, in less than 100 ns. Every buffer given is a use of
 * it, which wb_provider_release ends; it stays cached all the same. With a budget those that are not
 * in use make room, the least recently used first, and where that is not enough LIMIT is returned.
 * Without one there is no need to release anything.
 *
 * Fail with NOT_FOUND, LIMIT, MEMORY, UNSUPPORTED (with the reason), ARGUMENT, and what reading the
 * files and the device's functions fail with.
 */
WB_API wb_status wb_provider_get(wb_provider *provider, const char *name, size_t name_len,
                                 wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

/* Frees the buffers of the parts, unless they are in use. */
#define WB_FUSE_FREE_PARTS 1u

/*
 * The tensors `names`, in that order, as one: their rows one after the other, of tensors of more than
 * two dimensions those of each matrix; vectors end to end. They must be of the same type after the
 * policy, in groups of the same size, and have rows of the same length. Cached as "a+b+c".
 *
 * name_lens  NULL: each name ends with NUL
 */
WB_API wb_status wb_provider_fuse(wb_provider *provider, const char *const *names,
                                  const size_t *name_lens, size_t n, uint32_t flags,
                                  wb_buffer *buffer, wb_error *error) WB_MUST_CHECK;

/*
 * The part of a tensor that belongs to `rank` of `of` when its dimension `axis` is shared out among so
 * many; see wb_slice_plan. Of "a+b" the parts of a and b, fused.
 */
WB_API wb_status wb_provider_slice(wb_provider *provider, const char *name, size_t name_len,
                                   uint32_t axis, uint32_t rank, uint32_t of, wb_buffer *buffer,
                                   wb_error *error) WB_MUST_CHECK;

/* Ends a use, and clears the struct. NULL and cleared structs are ignored. */
WB_API void wb_provider_release(wb_provider *provider, wb_buffer *buffer);

/* Frees every buffer that is not in use. */
WB_API void wb_provider_trim(wb_provider *provider);

/*
 * Loads tensors, over the threads of wb_policy.executor, without using them; of borrowed ones it
 * touches every page.
 *
 * names  `n` of them; NULL: all that have a canonical name, each once, n being ignored
 */
WB_API wb_status wb_provider_prefetch(wb_provider *provider, const char *const *names,
                                      const size_t *name_lens, size_t n,
                                      wb_error *error) WB_MUST_CHECK;

/* 1 if there is a tensor of that name, or all of those that it joins with '+', else 0. */
WB_API int wb_provider_has(const wb_provider *provider, const char *name, size_t name_len);

/* wb_buffer.dtype of what wb_provider_get would give, or -1. Loads nothing. */
WB_API int32_t wb_provider_dtype(const wb_provider *provider, const char *name, size_t name_len);

/*
 * The shape of what wb_provider_get would give. Loads nothing.
 *
 * shape  room for *rank dimensions; *rank becomes that of the tensor. ARGUMENT if that is more
 */
WB_API wb_status wb_provider_shape(const wb_provider *provider, const char *name, size_t name_len,
                                   uint64_t *shape, uint32_t *rank, wb_error *error) WB_MUST_CHECK;

/* Copies n bytes at `offset` of a buffer to dst, whatever the device. */
WB_API wb_status wb_provider_download(const wb_provider *provider, const wb_buffer *buffer,
                                      uint64_t offset, void *dst, uint64_t n,
                                      wb_error *error) WB_MUST_CHECK;

typedef struct wb_cache_stats {
    size_t size;           /* sizeof(wb_cache_stats) */
    uint64_t buffers;      /* cached now, borrowed ones among them */
    uint64_t bytes;        /* that they take on the device now */
    uint64_t peak_bytes;   /* the most there ever were */
    uint64_t budget;       /* 0: none */
    uint64_t borrowed;     /* buffers whose bytes are those of the file */
    uint64_t in_use;       /* buffers that were given and not released */
    uint64_t hits;         /* answers from the cache */
    uint64_t loads;        /* buffers filled or borrowed */
    uint64_t shared;       /* buffers that another process had filled */
    uint64_t loaded_bytes; /* of those filled */
    uint64_t evictions;    /* buffers freed to make room, or by trim, or as parts */
    uint64_t overflowed;   /* of wb_buffer, over all that were filled */
    uint64_t underflowed;
} wb_cache_stats;
#define WB_CACHE_STATS_INIT WB_INIT(wb_cache_stats)

WB_API wb_status wb_provider_stats(const wb_provider *provider, wb_cache_stats *stats,
                                   wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
