/*
 * weighbridge/config.h: the canonical names of tensors, and the config of a model.
 */
#ifndef WEIGHBRIDGE_CONFIG_H
#define WEIGHBRIDGE_CONFIG_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A tensor has one canonical name, "layers.0.attention.q.weight", whatever its file calls it;
 * docs/format/names.md has them all. They are known for the architectures named there, and for a
 * model that does not say what it is as far as it calls its tensors what most do.
 *
 * Experts that are stored one by one are one canonical tensor [experts, outputs, inputs] that lies in
 * several places: wb_tensor_find gives it a number behind those of all parts, by which the functions
 * of tensors take it. Where output and embedding are tied, "output.weight" is the embedding.
 */

/*
 * The canonical name of the tensor that the files call `name`, borrowed until wb_close; of an expert
 * stored by itself that of all experts. NOT_FOUND if there is no such tensor or it has no canonical
 * name. *canonical_len, which may be NULL, is its length.
 */
WB_API wb_status wb_canonical_name(const wb_model *model, const char *name, size_t name_len,
                                   const char **canonical, size_t *canonical_len,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * What the files call the tensor of that canonical name, borrowed until wb_close; of experts stored
 * one by one what they call the first. NOT_FOUND if there is no such tensor.
 */
WB_API wb_status wb_native_name(const wb_model *model, const char *canonical, size_t canonical_len,
                                const char **name, size_t *name_len, wb_error *error) WB_MUST_CHECK;

/* Where a field of the config comes from. */
typedef enum wb_origin {
    WB_ORIGIN_ABSENT = 0,  /* not known: the field is 0 or NULL */
    WB_ORIGIN_FILE = 1,    /* a file says so */
    WB_ORIGIN_DEFAULT = 2, /* what the architecture takes where files are silent */
    WB_ORIGIN_DERIVED = 3  /* follows from other fields, or from the tensors */
} wb_origin;

/* The fields of wb_config. */
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

#define WB_CONFIG_FIELDS 30 /* in this version; later ones have more, at the end */

/* How RoPE pairs the rows of q and k. */
typedef enum wb_rope_layout {
    WB_ROPE_NONE = 0,
    WB_ROPE_HALF = 1,       /* row i with row i + head_dim / 2: Hugging Face and MLX, most GGUF */
    WB_ROPE_INTERLEAVED = 2 /* row 2 i with row 2 i + 1: GGUF of the Llama family */
} wb_rope_layout;

/* The facts about a model an engine needs before it loads weights. Counts and sizes are elements. */
typedef struct wb_config {
    size_t size;              /* sizeof(wb_config) */
    const char *architecture; /* as llama.cpp calls it ("llama", "qwen3moe"), or what the files say;
                                 borrowed until wb_close */
    uint64_t dim;             /* of a hidden state */
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
    uint64_t sliding_window;         /* 0: every layer sees everything */
    uint64_t sliding_window_pattern; /* every so manieth layer sees everything */
    double rope_local_theta;         /* of layers with a sliding window, where it differs */
    uint64_t n_experts;              /* 0: dense */
    uint64_t n_experts_used;
    uint64_t expert_ffn_dim;
    uint32_t tie_embeddings; /* 1: the output is the embedding */
    wb_rope_layout rope_layout;
    uint32_t norm_offset;  /* 1: the files store the weights of norms minus 1 */
    uint64_t enc_n_layers; /* of the encoder beside the decoder, Whisper */
    uint64_t enc_n_heads;
    uint64_t enc_dim;
    uint64_t enc_ffn_dim;
    uint64_t n_mels;
    uint64_t enc_max_seq_len;
    uint64_t quant_bits; /* of most quantized values; 0: none are */
    uint64_t quant_group_size;
    uint8_t origin[WB_CONFIG_FIELDS]; /* wb_origin of each wb_config_field */
} wb_config;
#define WB_CONFIG_INIT WB_INIT(wb_config)

/*
 * The config of a model, from GGUF key-values or config.json ("text_config" included), the same for
 * the same model whatever its format. Numbers that GGUF has as float32 are given as the shortest
 * decimal of that float32, so that an epsilon of 1e-5 is 1e-5 everywhere.
 *
 * Never fails for what files say: fields nobody knows are absent. The first call reads config.json
 * where there is one; MEMORY, or ARGUMENT for config->size.
 */
WB_API wb_status wb_config_get(const wb_model *model, wb_config *config,
                               wb_error *error) WB_MUST_CHECK;

/* A field of a config by its number, for those who list them all. */
typedef struct wb_config_value {
    size_t size;      /* sizeof(wb_config_value) */
    const char *name; /* "n_layers"; static */
    wb_origin origin;
    uint32_t is_float;
    uint64_t number;  /* of a count; 0 otherwise */
    double real;      /* of a float, and of a count as far as a double holds it */
    const char *text; /* of architecture and rope_layout, else NULL; borrowed as wb_config has it */
} wb_config_value;
#define WB_CONFIG_VALUE_INIT WB_INIT(wb_config_value)

/* Describes field < WB_CONFIG_FIELDS of a config that wb_config_get filled. */
WB_API wb_status wb_config_at(const wb_config *config, uint32_t field,
                              wb_config_value *value) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
