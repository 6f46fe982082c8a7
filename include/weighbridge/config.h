/*
 * weighbridge/config.h: the canonical names of tensors, and the config (hyperparameters) of a
 * model.
 */
#ifndef WEIGHBRIDGE_CONFIG_H
#define WEIGHBRIDGE_CONFIG_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The native name of a tensor is its name in the file. The canonical name
 * ("layers.0.attention.q.weight") is the same in every format. docs/format/names.md lists the
 * canonical names and the supported architectures. A model whose files name no architecture also
 * has canonical names if its native names are common ones.
 *
 * Experts that are stored as separate tensors form one canonical tensor [experts, outputs, inputs].
 * wb_tensor_find returns an index for this tensor that is larger than those of all stored tensors.
 * The functions for tensors accept this index. If output and embedding are tied, "output.weight" is
 * the canonical name of the embedding, too.
 */

/*
 * Looks up the canonical name of the tensor with the native name `name`. For an expert that is
 * stored separately, this is the name of the tensor of all experts. *canonical is borrowed until
 * wb_close; canonical_len may be NULL. NOT_FOUND if the tensor does not exist or has no canonical
 * name.
 */
WB_API wb_status wb_canonical_name(const wb_model *model, const char *name, size_t name_len,
                                   const char **canonical, size_t *canonical_len,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * Looks up the native name of the tensor with the canonical name `canonical`. For experts that are
 * stored separately, this is the name of the first expert. *name is borrowed until wb_close.
 * NOT_FOUND if the tensor does not exist.
 */
WB_API wb_status wb_native_name(const wb_model *model, const char *canonical, size_t canonical_len,
                                const char **name, size_t *name_len, wb_error *error) WB_MUST_CHECK;

/* The source of a field of the config. */
typedef enum wb_origin {
    WB_ORIGIN_ABSENT = 0,  /* unknown: the field is 0 or NULL */
    WB_ORIGIN_FILE = 1,    /* specified by a file */
    WB_ORIGIN_DEFAULT = 2, /* default of the architecture, because no file specifies the field */
    WB_ORIGIN_DERIVED = 3  /* derived from other fields or from the tensors */
} wb_origin;

/* The numbers of the fields of wb_config. */
typedef enum wb_config_field {
    WB_CONFIG_ARCHITECTURE = 0,
    WB_CONFIG_DIM = 1,
    WB_CONFIG_N_LAYERS = 2,
    WB_CONFIG_N_HEADS = 3,
    WB_CONFIG_N_KV_HEADS = 4,
    WB_CONFIG_HEAD_DIM = 5,
    WB_CONFIG_Q_DIM = 6,
    WB_CONFIG_KV_DIM = 7,
    WB_CONFIG_FFN_DIM = 8,
    WB_CONFIG_VOCAB_SIZE = 9,
    WB_CONFIG_MAX_SEQ_LEN = 10,
    WB_CONFIG_NORM_EPS = 11,
    WB_CONFIG_ROPE_THETA = 12,
    WB_CONFIG_SLIDING_WINDOW = 13,
    WB_CONFIG_SLIDING_WINDOW_PATTERN = 14,
    WB_CONFIG_ROPE_LOCAL_THETA = 15,
    WB_CONFIG_N_EXPERTS = 16,
    WB_CONFIG_N_EXPERTS_USED = 17,
    WB_CONFIG_EXPERT_FFN_DIM = 18,
    WB_CONFIG_TIE_EMBEDDINGS = 19,
    WB_CONFIG_ROPE_LAYOUT = 20,
    WB_CONFIG_NORM_OFFSET = 21,
    WB_CONFIG_ENC_N_LAYERS = 22,
    WB_CONFIG_ENC_N_HEADS = 23,
    WB_CONFIG_ENC_DIM = 24,
    WB_CONFIG_ENC_FFN_DIM = 25,
    WB_CONFIG_N_MELS = 26,
    WB_CONFIG_ENC_MAX_SEQ_LEN = 27,
    WB_CONFIG_QUANT_BITS = 28,
    WB_CONFIG_QUANT_GROUP_SIZE = 29
} wb_config_field;

#define WB_CONFIG_FIELDS 30 /* in this version; later versions append fields */

/*
 * The order of the rows of the q and k weights. RoPE rotates the outputs of two rows of a head
 * together; the layout says which two. Row numbers count from the first row of the head.
 */
typedef enum wb_rope_layout {
    WB_ROPE_NONE = 0,       /* no RoPE, or unknown if the origin is WB_ORIGIN_ABSENT */
    WB_ROPE_HALF = 1,       /* rows i and i + head_dim / 2: Hugging Face, MLX, most GGUF files */
    WB_ROPE_INTERLEAVED = 2 /* rows 2 i and 2 i + 1: GGUF files of the Llama family */
} wb_rope_layout;

/* The hyperparameters of a model. Dimensions are in elements, lengths of sequences in tokens. */
typedef struct wb_config {
    size_t size; /* sizeof(wb_config) */
    /*
     * llama.cpp's name of the architecture ("llama", "qwen3moe"), or the name in the files if
     * llama.cpp has none; borrowed until wb_close
     */
    const char *architecture;
    uint64_t dim; /* width of the hidden state */
    uint64_t n_layers;
    uint64_t n_heads;
    uint64_t n_kv_heads;
    uint64_t head_dim;
    uint64_t q_dim;  /* n_heads * head_dim */
    uint64_t kv_dim; /* n_kv_heads * head_dim */
    uint64_t ffn_dim;
    uint64_t vocab_size;
    uint64_t max_seq_len;
    double norm_eps;
    double rope_theta;
    uint64_t sliding_window; /* in tokens; 0: no layer has a sliding window */
    /* n: every n-th layer has full attention instead of the sliding window */
    uint64_t sliding_window_pattern;
    double rope_local_theta; /* RoPE theta of layers with a sliding window, if different */
    uint64_t n_experts;      /* 0: the model is dense */
    uint64_t n_experts_used;
    uint64_t expert_ffn_dim;
    uint32_t tie_embeddings; /* 1: the output matrix is the embedding */
    wb_rope_layout rope_layout;
    uint32_t norm_offset;  /* 1: the files store the norm weights minus 1 */
    uint64_t enc_n_layers; /* layers of the encoder (Whisper); 0: no encoder */
    uint64_t enc_n_heads;
    uint64_t enc_dim;
    uint64_t enc_ffn_dim;
    uint64_t n_mels;
    uint64_t enc_max_seq_len;
    uint64_t quant_bits; /* bits of most quantized values; 0: none are quantized */
    uint64_t quant_group_size;
    uint8_t origin[64]; /* the wb_origin of each wb_config_field; the other bytes are reserved */
} wb_config;
#define WB_CONFIG_INIT WB_INIT(wb_config)

/*
 * Returns the config of a model, from GGUF key-values or config.json (including "text_config"). It
 * is the same for the same model in any format. Therefore each binary32 number of a GGUF file
 * becomes the shortest decimal number that rounds to it: an epsilon of 1e-5 is 1e-5 in every
 * format.
 *
 * Invalid or missing data in the files is no failure: fields whose value remains unknown have the
 * origin WB_ORIGIN_ABSENT. The first call reads config.json if it exists. Fails with MEMORY, or
 * with ARGUMENT for an invalid config->size.
 */
WB_API wb_status wb_config_get(const wb_model *model, wb_config *config,
                               wb_error *error) WB_MUST_CHECK;

/* A field of a config by its number, for programs that list all fields. */
typedef struct wb_config_value {
    size_t size;      /* sizeof(wb_config_value) */
    const char *name; /* "n_layers"; static */
    wb_origin origin;
    uint32_t is_float; /* 1: `real` is the value */
    uint64_t number;   /* value of an integer field, otherwise 0 */
    double real;       /* value of a floating-point field, or `number` as double */
    /* value of the fields architecture and rope_layout, otherwise NULL; borrowed until wb_close */
    const char *text;
} wb_config_value;
#define WB_CONFIG_VALUE_INIT WB_INIT(wb_config_value)

/*
 * Describes a field of a config that wb_config_get filled in. `field` is a wb_config_field;
 * NOT_FOUND for other numbers.
 */
WB_API wb_status wb_config_at(const wb_config *config, uint32_t field,
                              wb_config_value *value) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
