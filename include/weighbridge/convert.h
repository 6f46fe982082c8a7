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
 * A planned conversion of a model to another format or quantization. The plan is made from the
 * headers. wb_convert then reads, converts and writes the tensors within the memory limit.
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
    /* a directory in the layout of Hugging Face, or a file if the path ends with .safetensors */
    WB_TARGET_SAFETENSORS = 2,
    WB_TARGET_MLX = 3, /* a directory in the layout of mlx-lm */
    /* a model in an Ollama store, as Ollama creates it from a directory of safetensors files */
    WB_TARGET_OLLAMA = 4,
    /* a file of plain arrays, as numpy.savez writes it; the tensors have the same names as for
     * WB_TARGET_SAFETENSORS */
    WB_TARGET_NPZ = 5
} wb_target;

/* Sets the type of the tensors whose name matches, except tensors that cannot be quantized. */
typedef struct wb_convert_rule {
    /*
     * POSIX extended regular expression, which matches any part of the name unless it is anchored
     * with ^ and $. The name is that of the tensor in the model or in the result.
     */
    const char *pattern;
    const char *type; /* a type of wb_convert_policy.quant, but no quantization recipe */
} wb_convert_rule;

/*
 * A LoRA adapter that is merged into the weights: a directory or .safetensors file of PEFT or
 * mlx-lm, or a GGUF file of llama.cpp.
 */
typedef struct wb_convert_lora {
    const char *path;
    double scale; /* factor that is applied in addition to the scale of the adapter */
} wb_convert_lora;

/* Fail if a type cannot be used for a tensor, instead of falling back on another type. */
#define WB_CONVERT_STRICT 1u
/* Replace an existing output, as WB_WRITE_FORCE does. */
#define WB_CONVERT_FORCE 2u
/* Ollama: write the blob format of February 2026, which is the first published one. */
#define WB_CONVERT_FEB2026 4u
/*
 * Keep the partial result of an interrupted conversion, and continue it. If the conversion is
 * killed, cancelled or runs out of space, it leaves a partial result ".NAME.wb-partial" and a
 * journal ".NAME.wb-resume" in the directory of the result; for Ollama, both are in a directory in
 * blobs/ of the store. The next conversion with the same files and policy verifies the partial
 * result against the digests in the journal and continues it. A different conversion starts from
 * the beginning. For an unchanged copy of a GGUF file the journal has no digests, and the partial
 * result is compared with the source.
 */
#define WB_CONVERT_RESUME 8u
/*
 * Convert a model even if programs that read the target compute something else than config.json
 * specifies, or do not load it, because the target cannot express a setting. A finding
 * (convert-granted) names each setting. Without this flag, wb_convert_plan fails with UNSUPPORTED.
 */
#define WB_CONVERT_FORCE_LOSSY 16u
/*
 * Convert a model whose architecture is unknown to another format: copy the tensors under their own
 * names and dtypes (unless `quant` or `rules` choose others), and do not translate config and
 * tokenizer. Without this flag, wb_convert_plan fails with UNSUPPORTED if the files name an unknown
 * architecture. No effect on models of known architectures.
 */
#define WB_CONVERT_RAW 32u

typedef struct wb_convert_policy {
    size_t size; /* sizeof(wb_convert_policy) */
    /*
     * Quantization of the weights; case-insensitive. NULL: plain weights stay unchanged; packed
     * weights are repacked without loss if the target has equivalent blocks, and become F16 or BF16
     * otherwise. For each target:
     *   all: "F32", "F16", "BF16", for all weights
     *   GGUF: a file type of llama.cpp ("Q4_K_M"): each tensor gets the type that llama-quantize
     *     selects for it
     *   GGUF: a GGML type ("Q4_K", also "mxfp4" and "nvfp4"), for all tensors that llama-quantize
     *     quantizes
     *   MLX: "affine4:64" (bits and group size), "mxfp4", "mxfp8", "nvfp4"
     *   MLX: "mixed_3_6", "mixed_2_6", "mixed_3_4", "mixed_4_6", the recipes of mlx-lm
     *   Ollama: "int4", "int8", "mxfp4", "mxfp8", "nvfp4": each tensor gets the type that Ollama
     *     selects for it
     */
    const char *quant;
    const wb_convert_rule *rules; /* override `quant`; the last matching rule applies */
    uint64_t rule_count;
    /* path of an importance matrix (a .dat or GGUF file of llama.cpp); NULL: none */
    const char *importance;
    uint64_t max_memory;         /* memory for tensors being converted, in bytes; 0: 256 MiB */
    uint64_t max_file_bytes;     /* limit of tensor bytes in a file; 0: no limit */
    uint32_t flags;              /* WB_CONVERT_* */
    const wb_executor *executor; /* NULL: the executor of the model; copied */
    const char *store; /* Ollama: directory with manifests and blobs; NULL: the default store */
    const wb_convert_lora
        *loras; /* adapters to merge: weights are decoded, changed and encoded again */
    uint64_t lora_count;
} wb_convert_policy;
#define WB_CONVERT_POLICY_INIT WB_INIT(wb_convert_policy)

/*
 * Plans a conversion. Reads only headers, sidecar files, adapters (which stay in memory) and
 * per-tensor scales.
 *
 * model       borrowed until wb_conversion_free; WB_ACCESS_READ is safest, because it excludes
 *             SIGBUS if a file of the model is truncated
 * policy      NULL: unchanged weights; read during the call
 * conversion  owned, release with wb_conversion_free
 *
 * ARGUMENT if the policy is invalid; UNSUPPORTED if the target cannot represent a tensor or its
 * type, or if WB_CONVERT_STRICT is set and a type cannot be used for a tensor. Only one thread at a
 * time may use a conversion.
 *
 * Model and plan together need at most 1 MiB plus 40 times the bytes of the headers and sidecar
 * files. wb_convert needs at most `max_memory` plus 60 times these bytes. Such factors are reached
 * only by models of many tensors that have names of a few bytes and almost no data.
 */
WB_API wb_status wb_convert_plan(const wb_model *model, wb_target target,
                                 const wb_convert_policy *policy, wb_conversion **conversion,
                                 wb_error *error) WB_MUST_CHECK;

/*
 * Computes the layout of all result files and checks whether wb_convert can write them to `path`.
 * Fails for the same reasons as wb_convert, such as data that the format cannot represent or an
 * invalid path, and writes nothing. Afterwards wb_conversion_findings also reports metadata that
 * the sidecar files of the result cannot represent.
 */
WB_API wb_status wb_convert_check(wb_conversion *conversion, const char *path,
                                  wb_error *error) WB_MUST_CHECK;

/*
 * Executes the planned conversion. The result appears complete or not at all, and does not depend
 * on the executor.
 *
 * path      Ollama: the name of the new model. Other targets: the path of a file or directory that
 *           does not exist yet; with WB_CONVERT_FORCE also of an existing one, if no file that the
 *           plan read would be replaced. ARGUMENT for other paths, and for pipes and devices
 * progress  reports the written bytes of the result. While the result is flushed to the disk, the
 *           callback is called with `done` = `total`; it can cancel the conversion until the first
 *           file has its final name. NULL: none
 *
 * CHANGED if a file of the model changed since it was opened.
 */
WB_API wb_status wb_convert(wb_conversion *conversion, const char *path,
                            const wb_progress *progress, wb_error *error) WB_MUST_CHECK;

/* The partial result of an interrupted conversion (WB_CONVERT_RESUME). */
typedef struct wb_partial {
    size_t size;    /* sizeof(wb_partial) */
    uint64_t files; /* number of files, including the journal; 0: there is no partial result */
    uint64_t bytes; /* disk space that these files occupy */
    char path[512]; /* printable path of the first file, or of the directory with the files */
} wb_partial;
#define WB_PARTIAL_INIT WB_INIT(wb_partial)

/*
 * Describes the partial result of a conversion, and removes it if `discard` is not 0.
 *
 * target, path, store  those of the conversion, see wb_convert and wb_convert_policy
 * partial              receives the description; if `discard` is not 0, that of the removed files
 *
 * IO if a file cannot be removed, or if another conversion to this path is running.
 */
WB_API wb_status wb_convert_partial(wb_target target, const char *path, const char *store,
                                    int discard, wb_partial *partial,
                                    wb_error *error) WB_MUST_CHECK;

/*
 * How a conversion changed the values of a tensor. Programs that read a repacked tensor can compute
 * slightly different values: formats without a 4-bit -0 read it as 0, and another order of the
 * multiplications with a global scale (NVFP4) can change the last bit of an F32 value.
 */
typedef enum wb_fidelity {
    WB_FIDELITY_UNKNOWN = 0,  /* the values will be encoded again; wb_convert computes the loss */
    WB_FIDELITY_EXACT = 1,    /* the same values */
    WB_FIDELITY_REPACKED = 2, /* the same codes and scales in another block layout */
    WB_FIDELITY_LOSSY = 3     /* some values changed: see nmse and max_error of wb_converted */
} wb_fidelity;

/* A tensor of the result. Strings and shape are borrowed until wb_conversion_free. */
typedef struct wb_converted {
    size_t size; /* sizeof(wb_converted) */
    const char *name;
    const char *source; /* native name in the model; empty for a computed tensor */
    uint32_t rank;
    const uint64_t *shape; /* logical shape */
    uint64_t bytes;        /* size of all parts in the result */
    char from[32];         /* encoding in the model: "BF16", "affine4:64" … */
    char to[32];           /* encoding in the result */
    char wanted[32];       /* requested encoding if it could not be used, otherwise empty */
    wb_fidelity fidelity;
    double nmse;      /* sum of the squared errors / sum of the squared source values */
    double max_error; /* largest absolute error */
    double cosine;    /* cosine similarity with the source; 1 without loss */
    /* number of values outside the range of the type, including NaNs if the type has none */
    uint64_t overflowed;
} wb_converted;
#define WB_CONVERTED_INIT WB_INIT(wb_converted)

/* Return the number of tensors of the result, and describe the tensor at `index`. */
WB_API uint64_t wb_conversion_count(const wb_conversion *conversion);
WB_API wb_status wb_conversion_at(const wb_conversion *conversion, uint64_t index,
                                  wb_converted *converted, wb_error *error) WB_MUST_CHECK;

/*
 * Returns the path of file number `index` among the existing files that the result replaces or
 * removes (WB_CONVERT_FORCE); NULL if `index` is not below the number of such files. Known after
 * wb_convert_check or wb_convert. Borrowed until wb_conversion_free.
 */
WB_API const char *wb_conversion_replaces(const wb_conversion *conversion, uint64_t index);

/*
 * Returns the findings of the conversion: data of the model that the result cannot represent, and
 * doubtful data. Borrowed until wb_conversion_free.
 */
WB_API const wb_findings *wb_conversion_findings(const wb_conversion *conversion);

/* Frees a conversion. NULL is ignored. */
WB_API void wb_conversion_free(wb_conversion *conversion);

#ifdef __cplusplus
}
#endif

#endif
