/*
 * weighbridge/convert.h: converting a model to another format or quantization.
 */
#ifndef WEIGHBRIDGE_CONVERT_H
#define WEIGHBRIDGE_CONVERT_H

#include "weighbridge/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From any model to files of another kind: planned first, from headers alone, then streamed tensor by
 * tensor within the memory allowed.
 *
 *     wb_convert_policy policy = {.size = sizeof policy, .quant = "Q4_K_M"};
 *     wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error);
 *     wb_convert(conversion, "model.gguf", NULL, &error);
 *     for (i = 0; i < wb_conversion_count(conversion); i++)
 *         wb_conversion_at(conversion, i, &row, &error);    what became of each tensor
 *     wb_conversion_free(conversion);
 */
typedef struct wb_conversion wb_conversion;

typedef enum wb_target {
    WB_TARGET_GGUF = 1,        /* a file, or several, as llama.cpp reads them */
    WB_TARGET_SAFETENSORS = 2, /* a folder as Hugging Face has them; of an unknown model a file */
    WB_TARGET_MLX = 3,         /* a folder as mlx-lm has them */
    WB_TARGET_OLLAMA = 4, /* a model in a store, as Ollama makes it of a folder of safetensors */
    WB_TARGET_NPZ = 5 /* a file of plain arrays, as numpy.savez writes it, named as safetensors */
} wb_target;

/* A type for the tensors whose names match; in blocks only where tensors of the kind ever are. */
typedef struct wb_convert_rule {
    const char
        *pattern;     /* a POSIX extended regular expression, for the name in the result or in the
                            model; anywhere in it, unless it says ^ and $ */
    const char *type; /* as wb_convert_policy.quant, but no recipe */
} wb_convert_rule;

/* An adapter, merged into the weights: of PEFT or mlx-lm, a folder or its .safetensors, or of llama.cpp, GGUF. */
typedef struct wb_convert_lora {
    const char *path;
    double scale; /* multiplies the adapter's own */
} wb_convert_lora;

/* Fail where a type does not fit a tensor, rather than to fall back on another. */
#define WB_CONVERT_STRICT 1u
/* Write over a folder that is there, or a model that a store has. */
#define WB_CONVERT_FORCE 2u
/* Ollama: blobs as they were first published, in February 2026. */
#define WB_CONVERT_FEB2026 4u
/*
 * A conversion that is killed, cancelled or runs out of room leaves ".NAME.wb-partial" and a journal,
 * ".NAME.wb-resume", beside the result that was to be, or both in a folder of the store's blobs/; the same
 * conversion of the same files goes on from there, once it has verified what is there. Another one begins anew. Of a
 * GGUF file that goes over as it is, what is there is compared with it.
 */
#define WB_CONVERT_RESUME 8u

typedef struct wb_convert_policy {
    size_t size; /* sizeof(wb_convert_policy) */
    /*
     * What weights are quantized to, in any case. NULL: as they are, packed ones without loss where
     * the target has such blocks, and as F16 or BF16 otherwise.
     *   F32, F16, BF16      all of them
     *   a llama.cpp file type, "Q4_K_M": to GGUF, each tensor as llama-quantize has it
     *   a GGML type, "Q4_K": to GGUF, for all tensors that llama-quantize quantizes
     *   "affine4:64" (bits and group), "mxfp4", "mxfp8", "nvfp4": to MLX; mxfp4, nvfp4 to GGUF, too
     *   "mixed_3_6", "mixed_2_6", "mixed_3_4", "mixed_4_6": to MLX, mlx-lm's recipes
     *   "int4", "int8", "mxfp4", "mxfp8", "nvfp4": to Ollama, each tensor as that has it
     */
    const char *quant;
    const wb_convert_rule *rules; /* stand above `quant`; of several that match the last counts */
    uint64_t rule_count;
    const char *importance;      /* path of an importance matrix, llama.cpp's .dat or GGUF; NULL */
    uint64_t max_memory;         /* bytes for tensors on their way, 0: 256 MiB */
    uint64_t max_file_bytes;     /* of tensors in one file, 0: no end */
    uint32_t flags;              /* WB_CONVERT_* */
    const wb_executor *executor; /* NULL: that of the model; copied */
    const char
        *store; /* Ollama: the folder with manifests and blobs, NULL: that of the environment */
    const wb_convert_lora
        *loras; /* low-rank adapters; weights are decoded, changed, encoded again */
    uint64_t lora_count;
} wb_convert_policy;
#define WB_CONVERT_POLICY_INIT WB_INIT(wb_convert_policy)

/*
 * Plans a conversion. Reads headers, the files beside the weights, adapters, which stay in memory, and factors of
 * whole tensors, and nothing else.
 *
 * model       borrowed until wb_conversion_free; READ access is safest
 * policy      NULL: as it is; read during the call
 * conversion  owned, release with wb_conversion_free
 *
 * ARGUMENT for a policy that makes no sense; UNSUPPORTED for a tensor that the target has no place or
 * no type for, and for what WB_CONVERT_STRICT forbids. One thread at a time may use a conversion.
 */
WB_API wb_status wb_convert_plan(const wb_model *model, wb_target target,
                                 const wb_convert_policy *policy, wb_conversion **conversion,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Works out the files of the result to their last byte, and looks whether they may be written to `path`, which is that of
 * wb_convert: what the format has no room for, and a path that cannot be, are refused as wb_convert refuses them, and
 * nothing is written. What has no place in the files beside the weights is among the findings afterwards.
 */
WB_API wb_status wb_convert_check(wb_conversion *conversion, const char *path,
                                  wb_error *error) WB_MUST_CHECK;

/*
 * Does what was planned. The result appears whole or not at all, and does not depend on the executor.
 *
 * path      of a file (GGUF), or of a folder that does not exist yet, unless WB_CONVERT_FORCE says so; no pipe or
 *           device, no file that was read for the plan, and no folder that one is in (ARGUMENT);
 *           Ollama: the name of the model
 * progress  bytes of the result, and again all of them while these are put on the disk, until the first
 *           file has its name; NULL: none
 *
 * CHANGED where a file of the model is no longer what it was.
 */
WB_API wb_status wb_convert(wb_conversion *conversion, const char *path,
                            const wb_progress *progress, wb_error *error) WB_MUST_CHECK;

/*
 * What becomes of the values of a tensor. Nothing that is repacked is encoded anew: what the result's own programs make
 * of it may still differ where they have no -0 of four bits, which then is 0, or multiply a factor for all
 * values (NVFP4) in another order, which moves the last bit of F32.
 */
typedef enum wb_fidelity {
    WB_FIDELITY_UNKNOWN = 0,  /* encoded, which only wb_convert tells how well */
    WB_FIDELITY_EXACT = 1,    /* the same values */
    WB_FIDELITY_REPACKED = 2, /* the same codes and scales in other blocks */
    WB_FIDELITY_LOSSY = 3
} wb_fidelity;

/* A tensor of the result. Strings and shape are borrowed until wb_conversion_free. */
typedef struct wb_converted {
    size_t size; /* sizeof(wb_converted) */
    const char *name;
    const char *source; /* what the model calls it; empty for a tensor that is computed */
    uint32_t rank;
    const uint64_t *shape; /* of the values */
    uint64_t bytes;        /* of all parts */
    char from[32];         /* how the values are stored in the model: "BF16", "affine4:64" … */
    char to[32];           /* … and in the result */
    char wanted[32];       /* what `to` is in place of, since that does not fit; else empty */
    wb_fidelity fidelity;
    double nmse;      /* sum of squared errors over sum of squares */
    double max_error; /* the largest error */
    double cosine;    /* of both, taken as vectors; 1 where nothing was lost */
    uint64_t
        overflowed; /* values that left the range of their type, NaNs that it has not among them */
} wb_converted;
#define WB_CONVERTED_INIT WB_INIT(wb_converted)

/* The tensors of the result, in its order. */
WB_API uint64_t wb_conversion_count(const wb_conversion *conversion);
WB_API wb_status wb_conversion_at(const wb_conversion *conversion, uint64_t index,
                                  wb_converted *converted, wb_error *error) WB_MUST_CHECK;

/* What has no place in the result, and what is doubtful. Borrowed until wb_conversion_free. */
WB_API const wb_findings *wb_conversion_findings(const wb_conversion *conversion);

/* NULL is ignored. */
WB_API void wb_conversion_free(wb_conversion *conversion);

#ifdef __cplusplus
}
#endif

#endif
