/* Generated from whisper.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

static const wb__spelling s0[] = {
    {"model.encoder.conv1", 14, 3, false, 0, NULL},
    {"encoder.conv1", 1, 3, false, 0, NULL},
};
static const wb__spelling s1[] = {
    {"model.encoder.conv2", 14, 3, false, 0, NULL},
    {"encoder.conv2", 1, 3, false, 0, NULL},
};
static const wb__op e0[] = {{WB__OP_NAME, 0, "enc_max_seq_len"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape2[] = {e0, e1};
static const wb__spelling s2[] = {
    {"model.encoder.embed_positions", 14, 1, false, 0, NULL},
    {"encoder.positional_embedding", 1, 0, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape3[] = {e2};
static const wb__spelling s3[] = {
    {"model.encoder.layers.{n}.self_attn_layer_norm", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.attn_ln", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__op e4[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape4[] = {e3, e4};
static const wb__spelling s4[] = {
    {"model.encoder.layers.{n}.self_attn.q_proj", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.attn.query", 1, 3, false, 0, NULL},
};
static const wb__op e5[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__op e6[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape5[] = {e5, e6};
static const wb__spelling s5[] = {
    {"model.encoder.layers.{n}.self_attn.k_proj", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.attn.key", 1, 3, false, 0, NULL},
};
static const wb__op e7[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__op e8[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape6[] = {e7, e8};
static const wb__spelling s6[] = {
    {"model.encoder.layers.{n}.self_attn.v_proj", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.attn.value", 1, 3, false, 0, NULL},
};
static const wb__op e9[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__op e10[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape7[] = {e9, e10};
static const wb__spelling s7[] = {
    {"model.encoder.layers.{n}.self_attn.out_proj", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.attn.out", 1, 3, false, 0, NULL},
};
static const wb__op e11[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape8[] = {e11};
static const wb__spelling s8[] = {
    {"model.encoder.layers.{n}.final_layer_norm", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.mlp_ln", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "enc_ffn_dim"}, {0}};
static const wb__op e13[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape9[] = {e12, e13};
static const wb__spelling s9[] = {
    {"model.encoder.layers.{n}.fc1", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.mlp.0", 1, 3, false, 0, NULL},
    {"encoder.blocks.{n}.mlp1", 1, 3, true, 0, NULL},
};
static const wb__op e14[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__op e15[] = {{WB__OP_NAME, 0, "enc_ffn_dim"}, {0}};
static const wb__expr shape10[] = {e14, e15};
static const wb__spelling s10[] = {
    {"model.encoder.layers.{n}.fc2", 14, 3, false, 0, NULL},
    {"encoder.blocks.{n}.mlp.2", 1, 3, false, 0, NULL},
    {"encoder.blocks.{n}.mlp2", 1, 3, true, 0, NULL},
};
static const wb__op e16[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape11[] = {e16};
static const wb__spelling s11[] = {
    {"model.encoder.layer_norm", 14, 3, false, 0, NULL},
    {"encoder.ln_post", 1, 3, false, 0, NULL},
};
static const wb__op e17[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape12[] = {e17, e18};
static const wb__spelling s12[] = {
    {"model.decoder.embed_tokens", 14, 3, false, 0, NULL},
    {"decoder.token_embedding", 1, 3, false, 0, NULL},
};
static const wb__op e19[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e20[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape13[] = {e19, e20};
static const wb__spelling s13[] = {
    {"model.decoder.embed_positions", 14, 1, false, 0, NULL},
    {"decoder.positional_embedding", 1, 0, false, 0, NULL},
};
static const wb__op e21[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape14[] = {e21};
static const wb__spelling s14[] = {
    {"model.decoder.layers.{n}.self_attn_layer_norm", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.attn_ln", 1, 3, false, 0, NULL},
};
static const wb__op e22[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e23[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape15[] = {e22, e23};
static const wb__spelling s15[] = {
    {"model.decoder.layers.{n}.self_attn.q_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.attn.query", 1, 3, false, 0, NULL},
};
static const wb__op e24[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e25[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape16[] = {e24, e25};
static const wb__spelling s16[] = {
    {"model.decoder.layers.{n}.self_attn.k_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.attn.key", 1, 3, false, 0, NULL},
};
static const wb__op e26[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e27[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape17[] = {e26, e27};
static const wb__spelling s17[] = {
    {"model.decoder.layers.{n}.self_attn.v_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.attn.value", 1, 3, false, 0, NULL},
};
static const wb__op e28[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e29[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape18[] = {e28, e29};
static const wb__spelling s18[] = {
    {"model.decoder.layers.{n}.self_attn.out_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.attn.out", 1, 3, false, 0, NULL},
};
static const wb__op e30[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape19[] = {e30};
static const wb__spelling s19[] = {
    {"model.decoder.layers.{n}.encoder_attn_layer_norm", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.cross_attn_ln", 1, 3, false, 0, NULL},
};
static const wb__op e31[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e32[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape20[] = {e31, e32};
static const wb__spelling s20[] = {
    {"model.decoder.layers.{n}.encoder_attn.q_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.cross_attn.query", 1, 3, false, 0, NULL},
};
static const wb__op e33[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e34[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape21[] = {e33, e34};
static const wb__spelling s21[] = {
    {"model.decoder.layers.{n}.encoder_attn.k_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.cross_attn.key", 1, 3, false, 0, NULL},
};
static const wb__op e35[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e36[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__expr shape22[] = {e35, e36};
static const wb__spelling s22[] = {
    {"model.decoder.layers.{n}.encoder_attn.v_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.cross_attn.value", 1, 3, false, 0, NULL},
};
static const wb__op e37[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e38[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape23[] = {e37, e38};
static const wb__spelling s23[] = {
    {"model.decoder.layers.{n}.encoder_attn.out_proj", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.cross_attn.out", 1, 3, false, 0, NULL},
};
static const wb__op e39[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape24[] = {e39};
static const wb__spelling s24[] = {
    {"model.decoder.layers.{n}.final_layer_norm", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.mlp_ln", 1, 3, false, 0, NULL},
};
static const wb__op e40[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e41[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape25[] = {e40, e41};
static const wb__spelling s25[] = {
    {"model.decoder.layers.{n}.fc1", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.mlp.0", 1, 3, false, 0, NULL},
    {"decoder.blocks.{n}.mlp1", 1, 3, true, 0, NULL},
};
static const wb__op e42[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e43[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape26[] = {e42, e43};
static const wb__spelling s26[] = {
    {"model.decoder.layers.{n}.fc2", 14, 3, false, 0, NULL},
    {"decoder.blocks.{n}.mlp.2", 1, 3, false, 0, NULL},
    {"decoder.blocks.{n}.mlp2", 1, 3, true, 0, NULL},
};
static const wb__op e44[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape27[] = {e44};
static const wb__spelling s27[] = {
    {"model.decoder.layer_norm", 14, 3, false, 0, NULL},
    {"decoder.ln", 1, 3, false, 0, NULL},
};
static const wb__op e45[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e46[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape28[] = {e45, e46};
static const wb__spelling s28[] = {
    {"proj_out", 14, 3, false, 0, NULL},
    {"decoder.proj_out", 1, 3, false, 0, NULL},
};
static const wb__spelling s29[] = {
    {"alignment_heads", 1, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "enc.conv1", .spellings = s0, .spelling_count = 2, .suffix = 3},
    {.canonical = "enc.conv2", .spellings = s1, .spelling_count = 2, .suffix = 3},
    {.canonical = "enc.positional_embedding",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 2,
     .suffix = 0},
    {.canonical = "enc.layers.{n}.attn_norm",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 1,
     .provides = 1u,
     .suffix = 3},
    {.canonical = "enc.layers.{n}.attn.q",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .provides = 2u,
     .suffix = 3},
    {.canonical = "enc.layers.{n}.attn.k",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .provides = 4u,
     .suffix = 3},
    {.canonical = "enc.layers.{n}.attn.v",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 2,
     .provides = 8u,
     .suffix = 3},
    {.canonical = "enc.layers.{n}.attn.output",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "enc.layers.{n}.ffn_norm",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 1,
     .provides = 32u,
     .suffix = 3},
    {.canonical = "enc.layers.{n}.ffn.up",
     .spellings = s9,
     .spelling_count = 3,
     .shape = shape9,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "enc.layers.{n}.ffn.down",
     .spellings = s10,
     .spelling_count = 3,
     .shape = shape10,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
    {.canonical = "enc.output_norm",
     .spellings = s11,
     .spelling_count = 2,
     .shape = shape11,
     .rank = 1,
     .suffix = 3},
    {.canonical = "token_embedding",
     .spellings = s12,
     .spelling_count = 2,
     .shape = shape12,
     .rank = 2,
     .provides = 65536u,
     .suffix = 3},
    {.canonical = "positional_embedding",
     .spellings = s13,
     .spelling_count = 2,
     .shape = shape13,
     .rank = 2,
     .suffix = 0},
    {.canonical = "layers.{n}.attention_norm",
     .spellings = s14,
     .spelling_count = 2,
     .shape = shape14,
     .rank = 1,
     .provides = 1u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.q",
     .spellings = s15,
     .spelling_count = 2,
     .shape = shape15,
     .rank = 2,
     .provides = 2u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k",
     .spellings = s16,
     .spelling_count = 2,
     .shape = shape16,
     .rank = 2,
     .provides = 4u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.v",
     .spellings = s17,
     .spelling_count = 2,
     .shape = shape17,
     .rank = 2,
     .provides = 8u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s18,
     .spelling_count = 2,
     .shape = shape18,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.cross_attn_norm",
     .spellings = s19,
     .spelling_count = 2,
     .shape = shape19,
     .rank = 1,
     .suffix = 3},
    {.canonical = "layers.{n}.cross_attn.q",
     .spellings = s20,
     .spelling_count = 2,
     .shape = shape20,
     .rank = 2,
     .provides = 512u,
     .suffix = 3},
    {.canonical = "layers.{n}.cross_attn.k",
     .spellings = s21,
     .spelling_count = 2,
     .shape = shape21,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.cross_attn.v",
     .spellings = s22,
     .spelling_count = 2,
     .shape = shape22,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.cross_attn.output",
     .spellings = s23,
     .spelling_count = 2,
     .shape = shape23,
     .rank = 2,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s24,
     .spelling_count = 2,
     .shape = shape24,
     .rank = 1,
     .provides = 32u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s25,
     .spelling_count = 3,
     .shape = shape25,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s26,
     .spelling_count = 3,
     .shape = shape26,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
    {.canonical = "output_norm",
     .spellings = s27,
     .spelling_count = 2,
     .shape = shape27,
     .rank = 1,
     .provides = 262144u,
     .suffix = 3},
    {.canonical = "output",
     .spellings = s28,
     .spelling_count = 2,
     .shape = shape28,
     .rank = 2,
     .suffix = 3},
    {.canonical = NULL, .spellings = s29, .spelling_count = 1, .suffix = 3},
};
static const wb__op e47[] = {{WB__OP_TEXT, 0, "gelu"}, {0}};
static const wb__op e48[] = {{WB__OP_TEXT, 0, "layer"}, {0}};
static const wb__op e49[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__op e50[] = {{WB__OP_FALSE, 0, NULL}, {0}};
static const wb__op e51[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e52[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e53[] = {{WB__OP_NUMBER, 1, NULL},
                             {WB__OP_NAME, 0, "head_dim"},
                             {WB__OP_CALL, 2, NULL},
                             {WB__OP_DIV, 0, NULL},
                             {0}};
static const wb__op e54[] = {{WB__OP_NUMBER, 1, NULL}, {0}};
static const wb__op e55[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e56[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e57[] = {{WB__OP_NUMBER, 0, NULL}, {0}};
static const wb__op e58[] = {{WB__OP_TEXT, 0, "none"}, {0}};
static const wb__op e59[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e60[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e47},
    {3, 31, "norm_type", e48},
    {3, 32, "attention_causal", e49},
    {3, 33, "parallel_residual", e50},
    {3, 34, "embedding_scale", e51},
    {3, 35, "residual_scale", e52},
    {3, 36, "attention_scale", e53},
    {3, 37, "logit_scale", e54},
    {3, 38, "attn_logit_softcapping", e55},
    {3, 39, "final_logit_softcapping", e56},
    {3, 48, "rope_dimension_count", e57},
    {3, 49, "rope_scaling_type", e58},
    {3, 11, "norm_eps", e59},
    {1, 19, "tie_embeddings", e60},
};
static const wb__op e61[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e62[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e63[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e64[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e65[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e66[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e67[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e68[] = {{WB__OP_NAME, 0, "enc_n_layers"}, {0}};
static const wb__op e69[] = {{WB__OP_NAME, 0, "enc_max_seq_len"}, {0}};
static const wb__op e70[] = {{WB__OP_NAME, 0, "enc_dim"}, {0}};
static const wb__op e71[] = {{WB__OP_NAME, 0, "enc_ffn_dim"}, {0}};
static const wb__op e72[] = {{WB__OP_NAME, 0, "enc_n_heads"}, {0}};
static const wb__op e73[] = {{WB__OP_NAME, 0, "n_mels"}, {0}};
static const wb__op e74[] = {{WB__OP_NAME, 0, "decoder_start_token_id"}, {0}};
static const wb__op e75[] = {{WB__OP_NAME, 0, "decoder_start_token_id"}, {0}};
static const wb__op e76[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e77[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e78[] = {{WB__OP_NAME, 0, "tie_embeddings"}, {0}};
static const wb__op e79[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e80[] = {{WB__OP_NAME, 0, "max_seq_len"}, {0}};
static const wb__op e81[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e82[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e83[] = {{WB__OP_NAME, 0, "n_heads"}, {0}};
static const wb__op e84[] = {{WB__OP_NAME, 0, "enc_n_layers"}, {0}};
static const wb__op e85[] = {{WB__OP_NAME, 0, "enc_max_seq_len"}, {0}};
static const wb__op e86[] = {{WB__OP_NAME, 0, "enc_ffn_dim"}, {0}};
static const wb__op e87[] = {{WB__OP_NAME, 0, "enc_n_heads"}, {0}};
static const wb__op e88[] = {{WB__OP_NAME, 0, "n_mels"}, {0}};
static const wb__op e89[] = {{WB__OP_NAME, 0, "activation"}, {0}};
static const wb__op e90[] = {{WB__OP_CALL, 13, "layers.0.attention.q.bias"}, {0}};
static const wb__op e91[] = {{WB__OP_CALL, 13, "layers.0.ffn.up.bias"}, {0}};
static const wb__key_row keys[] = {
    {"attention.layer_norm_epsilon", 2, 0, 0, e61, NULL},
    {"vocab_size", 1, 0, 0, e62, NULL},
    {"decoder.block_count", 1, 0, 0, e63, NULL},
    {"decoder.context_length", 1, 0, 0, e64, NULL},
    {"decoder.embedding_length", 1, 0, 0, e65, NULL},
    {"decoder.feed_forward_length", 1, 0, 0, e66, NULL},
    {"decoder.attention.head_count", 1, 0, 0, e67, NULL},
    {"encoder.block_count", 1, 0, 0, e68, NULL},
    {"encoder.context_length", 1, 0, 0, e69, NULL},
    {"encoder.embedding_length", 1, 0, 0, e70, NULL},
    {"encoder.feed_forward_length", 1, 0, 0, e71, NULL},
    {"encoder.attention.head_count", 1, 0, 0, e72, NULL},
    {"encoder.mels_count", 1, 0, 0, e73, NULL},
    {"decoder_start_token_id", 1, 0, 0, e74, NULL},
    {"decoder_start_token_id", 0, 1, 0, e75, NULL},
    {"layer_norm_eps", 0, 1, 0, e76, NULL},
    {"vocab_size", 0, 1, 0, e77, NULL},
    {"tie_word_embeddings", 0, 1, 0, e78, NULL},
    {"decoder_layers", 0, 1, 0, e79, NULL},
    {"max_target_positions", 0, 1, 0, e80, NULL},
    {"d_model", 0, 1, 0, e81, NULL},
    {"decoder_ffn_dim", 0, 1, 0, e82, NULL},
    {"decoder_attention_heads", 0, 1, 0, e83, NULL},
    {"encoder_layers", 0, 1, 0, e84, NULL},
    {"max_source_positions", 0, 1, 0, e85, NULL},
    {"encoder_ffn_dim", 0, 1, 0, e86, NULL},
    {"encoder_attention_heads", 0, 1, 0, e87, NULL},
    {"num_mel_bins", 0, 1, 0, e88, NULL},
    {"hidden_act", 0, 1, 0, e89, NULL},
    {"attention_bias", 0, 1, 0, e90, NULL},
    {"mlp_bias", 0, 1, 0, e91, NULL},
};
static const wb__op e92[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__limit limits[] = {
    {1, 0, "model_type", e92, "llama.cpp does not load models of this architecture"},
};
extern const wb__family wb__family_whisper;
const wb__family wb__family_whisper = {
    .name = "whisper",
    .gguf = "whisper",
    .types = "whisper",
    .classes = "WhisperForConditionalGeneration",
    .signature = "decoder.blocks.{n}.cross_attn.query|decoder.layers.{n}.encoder_attn.q_proj",
    .rules = rules,
    .rule_count = 30,
    .values = values,
    .value_count = 14,
    .keys = keys,
    .key_count = 31,
    .limits = limits,
    .limit_count = 1,
    .rope = 1,
    .norm_sides = 0,
    .has_norm_sides = 1,
    .flags = 80u,
    .needs = 328639u,
};
