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
 * Converts a model to another format or quantization. A conversion is planned from headers; then
 * tensors are streamed one by one within the memory limit.
 *
 *     wb_convert_policy policy = {.size = sizeof policy, .quant = "Q4_K_M"};
 *     wb_convert_plan(model, WB_TARGET_GGUF, &policy, &conversion, &error);
 *     wb_convert(conversion, "model.gguf", NULL, &error);
 *     for (i = 0; i < wb_conversion_count(conversion); i++)
 *         wb_conversion_at(conversion, i, &row, &error);    the result for each tensor
 *     wb_conversion_free(conversion);
 */
typedef struct wb_conversion wb_conversion;

typedef enum wb_target {
    WB_TARGET_GGUF = 1, /* one or several files for llama.cpp */
    /* a directory in the layout of Hugging Face; one file if the architecture is unknown */
    WB_TARGET_SAFETENSORS = 2,
    WB_TARGET_MLX = 3, /* a directory in the layout of mlx-lm */
    /* a model in a store, as Ollama creates it from a safetensors directory */
    WB_TARGET_OLLAMA = 4,
    WB_TARGET_NPZ = 5 /* a file of plain arrays, as by numpy.savez, with the names of safetensors */
} wb_target;

/* The type of tensors with matching names. Applies only to tensors that can be quantized. */
typedef struct wb_convert_rule {
    /*
     * POSIX extended regular expression, matched anywhere in the name of the result or of the model
     * unless anchored with ^ and $
     */
    const char *pattern;
    const char *type; /* as wb_convert_policy.quant, except quantization recipes */
} wb_convert_rule;

/*
 * A LoRA adapter that is merged into the weights: of PEFT or mlx-lm (directory or .safetensors
 * file), or of llama.cpp (GGUF).
 */
typedef struct wb_convert_lora {
    const char *path;
    double scale; /* multiplied with the scale of the adapter */
} wb_convert_lora;

/* Fail if a type cannot be used for a tensor, instead of falling back on another type. */
#define WB_CONVERT_STRICT 1u
/* Replace an existing directory, or an existing model of a store. */
#define WB_CONVERT_FORCE 2u
/* Ollama: the first published blob format, of February 2026. */
#define WB_CONVERT_FEB2026 4u
/*
 * If a conversion is killed, cancelled or runs out of space, it leaves a partial result
 * ".NAME.wb-partial" and a journal ".NAME.wb-resume" in the directory of the result, or both in a
 * directory in blobs/ of the store. The same conversion of the same files verifies the partial
 * result and continues it; a different conversion starts from the beginning. For an unchanged copy
 * of a GGUF file the partial result is compared with the source.
 */
#define WB_CONVERT_RESUME 8u

typedef struct wb_convert_policy {
    size_t size; /* sizeof(wb_convert_policy) */
    /*
     * Quantization of the weights; case-insensitive. NULL: unchanged; packed weights are repacked
     * without loss if the target has equivalent blocks, and become F16 or BF16 otherwise.
     *   F32, F16, BF16: all weights
     *   a llama.cpp file type ("Q4_K_M"): to GGUF, with the types llama-quantize selects for each
     *     tensor
     *   a GGML type ("Q4_K"): to GGUF, for all tensors that llama-quantize quantizes
     *   "affine4:64" (bits and group size), "mxfp4", "mxfp8", "nvfp4": to MLX; mxfp4 and nvfp4 also
     *     to GGUF
     *   "mixed_3_6", "mixed_2_6", "mixed_3_4", "mixed_4_6": to MLX, recipes of mlx-lm
     *   "int4", "int8", "mxfp4", "mxfp8", "nvfp4": to Ollama, with Ollama's type for each tensor
     */
    const char *quant;
    const wb_convert_rule *rules; /* override `quant`; the last matching rule applies */
    uint64_t rule_count;
    /* path of an importance matrix, llama.cpp's .dat or GGUF; NULL: none */
    const char *importance;
    uint64_t max_memory;         /* memory for tensors being converted, in bytes; 0: 256 MiB */
    uint64_t max_file_bytes;     /* limit of tensor bytes in a file; 0: no limit */
    uint32_t flags;              /* WB_CONVERT_* */
    const wb_executor *executor; /* NULL: that of the model; copied */
    const char *store; /* Ollama: directory with manifests and blobs, NULL: the default store */
    const wb_convert_lora
        *loras; /* low-rank adapters; the weights are decoded, changed and encoded again */
    uint64_t lora_count;
} wb_convert_policy;
#define WB_CONVERT_POLICY_INIT WB_INIT(wb_convert_policy)

/*
 * Plans a conversion. Reads only headers, sidecar files, adapters (which stay in memory), and
 * per-tensor scales.
 *
 * model       borrowed until wb_conversion_free; READ access is safest
 * policy      NULL: unchanged weights; read during the call
 * conversion  owned, release with wb_conversion_free
 *
 * ARGUMENT if the policy is invalid; UNSUPPORTED if the target cannot represent a tensor or its
 * type, and for what WB_CONVERT_STRICT forbids. Only one thread at a time may use a conversion.
 */
WB_API wb_status wb_convert_plan(const wb_model *model, wb_target target,
                                 const wb_convert_policy *policy, wb_conversion **conversion,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Computes the layout of all result files and checks whether they can be written to `path`, which
 * is that of wb_convert. Fails for the same reasons as wb_convert, such as data that the format
 * cannot represent or an invalid path, and writes nothing. Afterwards the findings include the
 * metadata that the sidecar files cannot represent.
 */
WB_API wb_status wb_convert_check(wb_conversion *conversion, const char *path,
                                  wb_error *error) WB_MUST_CHECK;

/*
 * Executes the planned conversion. The result appears complete or not at all, and does not depend
 * on the executor.
 *
 * path      path of a file (GGUF), or of a directory that does not exist yet, unless
 *           WB_CONVERT_FORCE is set; no pipe or device, no file that was read for the plan, and no
 *           directory that contains one (ARGUMENT); Ollama: the name of the model
 * progress  bytes of the result while they are written, and then again while they are flushed to
 *           the disk, until the first file has its final name; NULL: none
 *
 * CHANGED if a file of the model changed since it was opened.
 */
WB_API wb_status wb_convert(wb_conversion *conversion, const char *path,
                            const wb_progress *progress, wb_error *error) WB_MUST_CHECK;

/*
 * Loss of the values of a tensor. Repacked values are not encoded again. Programs that read the
 * result can still compute slightly different values: formats without a 4-bit -0 read it as 0, and
 * a global scale (NVFP4) multiplied in another order changes the last bit of F32.
 */
typedef enum wb_fidelity {
    WB_FIDELITY_UNKNOWN = 0,  /* encoded; the loss is known after wb_convert */
    WB_FIDELITY_EXACT = 1,    /* the same values */
    WB_FIDELITY_REPACKED = 2, /* the same codes and scales in another block layout */
    WB_FIDELITY_LOSSY = 3
} wb_fidelity;

/* A tensor of the result. Strings and shape are borrowed until wb_conversion_free. */
typedef struct wb_converted {
    size_t size; /* sizeof(wb_converted) */
    const char *name;
    const char *source; /* native name in the model; empty for a computed tensor */
    uint32_t rank;
    const uint64_t *shape; /* logical shape */
    uint64_t bytes;        /* stored size of all parts */
    char from[32];         /* encoding in the model: "BF16", "affine4:64" … */
    char to[32];           /* encoding in the result */
    char wanted[32];       /* requested encoding if it could not be used, else empty */
    wb_fidelity fidelity;
    double nmse;      /* sum of squared errors / sum of squares */
    double max_error; /* largest absolute error */
    double cosine;    /* cosine similarity with the source; 1 without loss */
    /* values that exceeded the range of the type, including NaNs if the type has none */
    uint64_t overflowed;
} wb_converted;
#define WB_CONVERTED_INIT WB_INIT(wb_converted)

/* The tensors of the result, in their order. */
WB_API uint64_t wb_conversion_count(const wb_conversion *conversion);
WB_API wb_status wb_conversion_at(const wb_conversion *conversion, uint64_t index,
                                  wb_converted *converted, wb_error *error) WB_MUST_CHECK;

/*
 * Returns the findings: data that the result cannot represent, and doubtful data. Borrowed until
 * wb_conversion_free.
 */
WB_API const wb_findings *wb_conversion_findings(const wb_conversion *conversion);

/* NULL is ignored. */
WB_API void wb_conversion_free(wb_conversion *conversion);

#ifdef __cplusplus
}
#endif

#endif
