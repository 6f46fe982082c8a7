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
 * canonical names and the supported architectures. If the files of a model do not state the
 * architecture, tensors with the native names of a supported architecture have canonical names.
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
    WB_CONFIG_QUANT_GROUP_SIZE = 29,
    WB_CONFIG_ACTIVATION = 30,
    WB_CONFIG_NORM_TYPE = 31,
    WB_CONFIG_ATTENTION_CAUSAL = 32,
    WB_CONFIG_PARALLEL_RESIDUAL = 33,
    WB_CONFIG_EMBEDDING_SCALE = 34,
    WB_CONFIG_RESIDUAL_SCALE = 35,
    WB_CONFIG_ATTENTION_SCALE = 36,
    WB_CONFIG_LOGIT_SCALE = 37,
    WB_CONFIG_ATTN_LOGIT_SOFTCAPPING = 38,
    WB_CONFIG_FINAL_LOGIT_SOFTCAPPING = 39,
    WB_CONFIG_ATTENTION_CLAMP_KQV = 40,
    WB_CONFIG_ATTENTION_MAX_ALIBI_BIAS = 41,
    WB_CONFIG_ATTENTION_TEMPERATURE_SCALE = 42,
    WB_CONFIG_VALUE_LENGTH = 43,
    WB_CONFIG_Q_LORA_RANK = 44,
    WB_CONFIG_KV_LORA_RANK = 45,
    WB_CONFIG_KEY_LENGTH_MLA = 46,
    WB_CONFIG_VALUE_LENGTH_MLA = 47,
    WB_CONFIG_ROPE_DIMENSION_COUNT = 48,
    WB_CONFIG_ROPE_SCALING_TYPE = 49,
    WB_CONFIG_ROPE_SCALING_FACTOR = 50,
    WB_CONFIG_ROPE_SCALING_ORIGINAL_CONTEXT_LENGTH = 51,
    WB_CONFIG_ROPE_SCALING_ATTN_FACTOR = 52,
    WB_CONFIG_ROPE_SCALING_YARN_BETA_FAST = 53,
    WB_CONFIG_ROPE_SCALING_YARN_BETA_SLOW = 54,
    WB_CONFIG_ROPE_SCALING_YARN_EXT_FACTOR = 55,
    WB_CONFIG_ROPE_SCALING_YARN_LOG_MULTIPLIER = 56,
    WB_CONFIG_ROPE_SCALING_LOW_FREQ_FACTOR = 57,
    WB_CONFIG_ROPE_SCALING_HIGH_FREQ_FACTOR = 58,
    WB_CONFIG_EXPERT_GROUP_COUNT = 59,
    WB_CONFIG_EXPERT_GROUP_USED_COUNT = 60,
    WB_CONFIG_EXPERT_GATING_FUNC = 61,
    WB_CONFIG_EXPERT_WEIGHTS_SCALE = 62,
    WB_CONFIG_EXPERT_WEIGHTS_NORM = 63,
    WB_CONFIG_EXPERT_SHARED_COUNT = 64,
    WB_CONFIG_EXPERT_SHARED_FEED_FORWARD_LENGTH = 65,
    WB_CONFIG_LEADING_DENSE_BLOCK_COUNT = 66,
    WB_CONFIG_INTERLEAVE_MOE_LAYER_STEP = 67,
    WB_CONFIG_NEXTN_PREDICT_LAYERS = 68,
    WB_CONFIG_FULL_ATTENTION_INTERVAL = 69,
    WB_CONFIG_SSM_CONV_KERNEL = 70,
    WB_CONFIG_SSM_INNER_SIZE = 71,
    WB_CONFIG_SSM_STATE_SIZE = 72,
    WB_CONFIG_SSM_TIME_STEP_RANK = 73,
    WB_CONFIG_SSM_GROUP_COUNT = 74,
    WB_CONFIG_SHORTCONV_L_CACHE = 75,
    WB_CONFIG_KDA_HEAD_DIM = 76,
    WB_CONFIG_KEY_LENGTH_SWA = 77,
    WB_CONFIG_VALUE_LENGTH_SWA = 78,
    WB_CONFIG_ROPE_DIMENSION_COUNT_SWA = 79,
    WB_CONFIG_SHARED_KV_LAYERS = 80,
    WB_CONFIG_EMBEDDING_LENGTH_PER_LAYER_INPUT = 81,
    WB_CONFIG_ALTUP_NUM_INPUTS = 82,
    WB_CONFIG_ALTUP_ACTIVE_IDX = 83,
    WB_CONFIG_RELATIVE_BUCKETS_COUNT = 84,
    WB_CONFIG_DECODER_START_TOKEN_ID = 85
} wb_config_field;

#define WB_CONFIG_FIELDS 86 /* in this version; later versions append fields */

/*
 * The order of the rows of the q and k weights. RoPE rotates the outputs of two rows of a head
 * together; the layout says which two. Row numbers count from the first row of the head.
 */
typedef enum wb_rope_layout {
    WB_ROPE_NONE = 0,       /* no RoPE; or unknown, if the field's origin is WB_ORIGIN_ABSENT */
    WB_ROPE_HALF = 1,       /* rows i and i + head_dim / 2: Hugging Face, MLX, most GGUF files */
    WB_ROPE_INTERLEAVED = 2 /* rows 2 i and 2 i + 1: GGUF files of the Llama family */
} wb_rope_layout;

/* The activation function of the feed-forward network, f in f(gate x) * (up x) or f(up x). */
typedef enum wb_activation {
    WB_ACTIVATION_UNKNOWN = 0,
    WB_ACTIVATION_SILU = 1,       /* x * sigmoid(x) */
    WB_ACTIVATION_GELU = 2,       /* x * Phi(x); ggml computes GELU_TANH in its place */
    WB_ACTIVATION_GELU_TANH = 3,  /* GELU, approximated with tanh */
    WB_ACTIVATION_GELU_QUICK = 4, /* x * sigmoid(1.702 x) */
    WB_ACTIVATION_RELU = 5,
    WB_ACTIVATION_RELU_SQUARED = 6,
    WB_ACTIVATION_XIELU = 7 /* with separate parameters for each layer */
} wb_activation;

typedef enum wb_norm_type {
    WB_NORM_UNKNOWN = 0,
    WB_NORM_RMS = 1,  /* root mean square */
    WB_NORM_LAYER = 2 /* mean and variance (LayerNorm) */
} wb_norm_type;

/* How RoPE frequencies are changed for long contexts. wb_rope_get applies the change. */
typedef enum wb_rope_scaling {
    WB_ROPE_SCALING_UNKNOWN = 0,
    WB_ROPE_SCALING_NONE = 1,
    WB_ROPE_SCALING_LINEAR = 2,
    WB_ROPE_SCALING_YARN = 3,
    WB_ROPE_SCALING_LONGROPE = 4, /* lists of factors for short and for long contexts */
    WB_ROPE_SCALING_LLAMA3 = 5,
    WB_ROPE_SCALING_DYNAMIC = 6,     /* theta grows with the context */
    WB_ROPE_SCALING_PROPORTIONAL = 7 /* the last pairs of a head are not rotated (Gemma 4) */
} wb_rope_scaling;

/* How the router turns scores into weights of experts. The numbers are those of GGUF. */
typedef enum wb_expert_gating {
    WB_EXPERT_GATING_UNKNOWN = 0,
    WB_EXPERT_GATING_SOFTMAX = 1,
    WB_EXPERT_GATING_SIGMOID = 2,
    WB_EXPERT_GATING_SOFTMAX_CHOSEN = 3, /* softmax of the scores of the selected experts */
    WB_EXPERT_GATING_SQRT_SOFTPLUS = 4
} wb_expert_gating;

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
    uint8_t origin[192]; /* the wb_origin of each wb_config_field; the other bytes are reserved */

    /* The names of the following members are GGUF's keys with '_' in place of '.'. */
    wb_activation activation;
    wb_norm_type norm_type;
    uint32_t attention_causal; /* 1: a token attends only to itself and earlier tokens */
    /* 1: attention and feed-forward network of a layer have the same input */
    uint32_t parallel_residual;
    double embedding_scale; /* multiplies the token embeddings */
    double residual_scale;  /* multiplies the outputs of attention and feed-forward network */
    double attention_scale; /* multiplies the attention scores q k; often 1 / sqrt(head_dim) */
    double logit_scale;     /* multiplies the logits, even if GGUF stores a divisor instead */
    /* A cap c replaces a score or logit x by c * tanh(x / c). 0: no cap. */
    double attn_logit_softcapping;
    double final_logit_softcapping;
    double attention_clamp_kqv;         /* x: q, k and v are limited to [-x, x]; 0: no limit */
    double attention_max_alibi_bias;    /* 0: no ALiBi */
    double attention_temperature_scale; /* raises scores at late positions (Llama 4, Mistral 3) */
    uint64_t value_length;              /* length of v per head */
    uint64_t q_lora_rank;               /* multi-head latent attention: rank of q; 0: full rank */
    uint64_t kv_lora_rank;              /* rank of k and v; 0: no latent attention */
    uint64_t key_length_mla;            /* length of q and k per head after decompression */
    uint64_t value_length_mla;          /* length of v per head after decompression */
    uint64_t rope_dimension_count;      /* elements of a head that RoPE rotates; 0: no RoPE */
    wb_rope_scaling rope_scaling_type;
    double rope_scaling_factor;
    uint64_t rope_scaling_original_context_length;
    /* as in GGUF or config.json; wb_rope.attention_factor is the factor that applies to a layer */
    double rope_scaling_attn_factor;
    double rope_scaling_yarn_beta_fast;
    double rope_scaling_yarn_beta_slow;
    double rope_scaling_yarn_ext_factor;
    double rope_scaling_yarn_log_multiplier;
    double rope_scaling_low_freq_factor;
    double rope_scaling_high_freq_factor;
    uint64_t expert_group_count; /* groups of experts, of which a token uses only some */
    uint64_t expert_group_used_count;
    wb_expert_gating expert_gating_func;
    double expert_weights_scale;  /* factor of the weights of the selected experts */
    uint32_t expert_weights_norm; /* 1: weights of selected experts are divided by their sum */
    uint64_t expert_shared_count;
    uint64_t expert_shared_feed_forward_length; /* total width of all shared experts */
    uint64_t leading_dense_block_count;         /* layers without experts at the start */
    uint64_t interleave_moe_layer_step;         /* n: every n-th layer has experts */
    /* layers for multi-token prediction; they follow the n_layers layers of the model */
    uint64_t nextn_predict_layers;
    uint64_t full_attention_interval; /* n: every n-th layer has attention, others are recurrent */
    uint64_t ssm_conv_kernel;
    uint64_t ssm_inner_size;
    uint64_t ssm_state_size;
    uint64_t ssm_time_step_rank;
    uint64_t ssm_group_count;
    uint64_t shortconv_l_cache;
    uint64_t kda_head_dim;
    /* head lengths in layers with a sliding window, if they differ from those of other layers */
    uint64_t key_length_swa;
    uint64_t value_length_swa;
    uint64_t rope_dimension_count_swa;
    uint64_t shared_kv_layers; /* number n: the last n layers use k and v of earlier layers */
    uint64_t embedding_length_per_layer_input;
    uint64_t altup_num_inputs;
    uint64_t altup_active_idx;
    uint64_t relative_buckets_count; /* relative position bias (T5) */
    uint64_t decoder_start_token_id;
} wb_config;
#define WB_CONFIG_INIT WB_INIT(wb_config)

/*
 * Returns the config of a model, from GGUF key-values or config.json (including "text_config"). The
 * config of a model is the same in every format. Therefore each binary32 number of a GGUF file
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
    /*
     * value of the architecture, or the name of an enumerated value ("silu", "interleaved");
     * otherwise NULL. Borrowed until wb_close.
     */
    const char *text;
    uint32_t is_flag; /* 1: `number` is 0 for false or 1 for true */
} wb_config_value;
#define WB_CONFIG_VALUE_INIT WB_INIT(wb_config_value)

/*
 * Describes a field of a config that wb_config_get filled in. `field` is a wb_config_field;
 * NOT_FOUND for other numbers.
 */
WB_API wb_status wb_config_at(const wb_config *config, uint32_t field,
                              wb_config_value *value) WB_MUST_CHECK;

/* ---- single layers ---- */

/* The kind of a layer: the block that precedes its feed-forward network. */
typedef enum wb_layer_kind {
    WB_LAYER_UNKNOWN = 0,
    WB_LAYER_ATTENTION = 1,
    WB_LAYER_RECURRENT = 2, /* state-space model or linear attention */
    WB_LAYER_CONV = 3,      /* short convolution */
    WB_LAYER_NONE = 4,      /* only a feed-forward network */
    WB_LAYER_BOTH = 5       /* attention and a state-space model in parallel */
} wb_layer_kind;

/*
 * The properties of one layer. If the model has an encoder and a decoder, it is a layer of the
 * decoder.
 */
typedef struct wb_layer {
    size_t size; /* sizeof(wb_layer) */
    wb_layer_kind kind;
    uint32_t has_rope; /* 1: RoPE rotates q and k of this layer */
    uint64_t n_heads;  /* 0: no attention */
    uint64_t n_kv_heads;
    uint64_t head_dim;       /* length of q and k per head */
    uint64_t value_length;   /* length of v per head */
    uint64_t sliding_window; /* in tokens, the token itself included; 0: full attention */
    uint64_t n_experts;      /* 0: the feed-forward network is dense */
    uint64_t ffn_dim;        /* width of the dense network, or of one expert; 0: none */
    double rope_theta;
} wb_layer;
#define WB_LAYER_INIT WB_INIT(wb_layer)

/*
 * Describes layer `index` of a model, based on the config and on metadata that lists one value per
 * layer. NOT_FOUND if index is not below n_layers. Thread-safe. *layer is cleared on failure.
 */
WB_API wb_status wb_layer_get(const wb_model *model, uint64_t index, wb_layer *layer,
                              wb_error *error) WB_MUST_CHECK;

/*
 * The RoPE of a layer. Pair i of a head is rotated by the angle position * frequencies[i];
 * rope_layout of the config says which two elements of a head form a pair. cos and sin are
 * multiplied by `attention_factor`.
 */
typedef struct wb_rope {
    size_t size;    /* sizeof(wb_rope) */
    uint64_t pairs; /* number of pairs per head; 0: the layer has no RoPE */
    double attention_factor;
    /*
     * For multimodal RoPE, a token has up to four positions: time, height, width and a fourth.
     * sections[j] is the number of pairs that rotate by position j. All 0: a token has one
     * position.
     */
    uint64_t sections[4];
} wb_rope;
#define WB_ROPE_INIT WB_INIT(wb_rope)

/*
 * Computes the RoPE of layer `index` for sequences of at most `context` tokens: the frequencies
 * after scaling (linear, YaRN, LongRoPE, Llama 3, dynamic, and the factors in GGUF tensors).
 * `context` affects only LongRoPE and dynamic scaling; 0 means max_seq_len.
 *
 * Writes rope->pairs numbers in radians per token to `frequencies`, an array of `capacity` numbers.
 * With NULL and capacity 0, only *rope is filled in. LIMIT if capacity is too small. NOT_FOUND if
 * index is not below n_layers, UNSUPPORTED if the scaling is unknown or incomplete. Reads tensors
 * of frequency factors if the model has them. Thread-safe.
 */
WB_API wb_status wb_rope_get(const wb_model *model, uint64_t index, uint64_t context, wb_rope *rope,
                             double *frequencies, size_t capacity, wb_error *error) WB_MUST_CHECK;

/* ---- special tokens ---- */

#define WB_STOP_TOKENS 16
#define WB_NO_TOKEN (-1)

/* The ids of special tokens; WB_NO_TOKEN: none. */
typedef struct wb_special_tokens {
    size_t size; /* sizeof(wb_special_tokens) */
    int64_t bos; /* beginning of a sequence */
    int64_t eos; /* end of a sequence */
    int64_t eot; /* end of a turn */
    int64_t eom; /* end of a message that contains a tool call */
    int64_t unknown;
    int64_t separator;
    int64_t padding;
    int64_t cls;
    int64_t mask;
    uint32_t add_bos; /* 1: a sequence begins with bos */
    uint32_t add_eos; /* 1: a sequence ends with eos */
    /* tokens that end a generation: eos, eot, eom, and further ones in the files; each once */
    uint64_t stop_count;
    int64_t stop[WB_STOP_TOKENS];
} wb_special_tokens;
#define WB_SPECIAL_TOKENS_INIT WB_INIT(wb_special_tokens)

/*
 * Returns the special tokens of a model from its GGUF key-values, or from config.json,
 * generation_config.json and the tokenizer files. The first call reads these files, if they exist.
 */
WB_API wb_status wb_special_tokens_get(const wb_model *model, wb_special_tokens *tokens,
                                       wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
