/*
 * Whisper: an audio encoder and a decoder with cross attention. The GGUF column contains OpenAI's
 * names, which GGUF files of this family retain, and the names mlp1 and mlp2 of MLX. The key
 * projections have no biases. The defaults are those of transformers' WhisperConfig.
 */
#include "arch/family.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

#define L "layers.{n}."
#define EL "enc.layers.{n}."
#define EB "encoder.blocks.{n}."
#define DB "decoder.blocks.{n}."
#define EH "encoder.layers.{n}."
#define DH "decoder.layers.{n}."

static const wb__rule rules[] = {
    {"enc.conv1", "encoder.conv1", "encoder.conv1", NULL, 0},
    {"enc.conv2", "encoder.conv2", "encoder.conv2", NULL, 0},
    {"enc.positional_embedding", "encoder.positional_embedding", "encoder.embed_positions", "LD",
     WB__RULE_BARE},
    {EL "attn_norm", EB "attn_ln", EH "self_attn_layer_norm", "D", WB__NEED_NORM},
    {EL "attn.q", EB "attn.query", EH "self_attn.q_proj", "DD", WB__NEED_Q},
    {EL "attn.k", EB "attn.key", EH "self_attn.k_proj", "DD", WB__NEED_K},
    {EL "attn.v", EB "attn.value", EH "self_attn.v_proj", "DD", WB__NEED_V},
    {EL "attn.output", EB "attn.out", EH "self_attn.out_proj", "DD", WB__NEED_OUTPUT},
    {EL "ffn_norm", EB "mlp_ln", EH "final_layer_norm", "D", WB__NEED_FFN_NORM},
    {EL "ffn.up", EB "mlp.0|" EB "mlp1", EH "fc1", "FD", WB__NEED_UP},
    {EL "ffn.down", EB "mlp.2|" EB "mlp2", EH "fc2", "DF", WB__NEED_DOWN},
    {"enc.output_norm", "encoder.ln_post", "encoder.layer_norm", "D", 0},

    {"token_embedding", "decoder.token_embedding", "decoder.embed_tokens", "vd",
     WB__NEED_EMBEDDING},
    {"positional_embedding", "decoder.positional_embedding", "decoder.embed_positions", "ld",
     WB__RULE_BARE},
    {L "attention_norm", DB "attn_ln", DH "self_attn_layer_norm", "d", WB__NEED_NORM},
    {L "attention.q", DB "attn.query", DH "self_attn.q_proj", "qd", WB__NEED_Q},
    {L "attention.k", DB "attn.key", DH "self_attn.k_proj", "kd", WB__NEED_K},
    {L "attention.v", DB "attn.value", DH "self_attn.v_proj", "kd", WB__NEED_V},
    {L "attention.output", DB "attn.out", DH "self_attn.out_proj", "dq", WB__NEED_OUTPUT},
    {L "cross_attn_norm", DB "cross_attn_ln", DH "encoder_attn_layer_norm", "d", 0},
    {L "cross_attn.q", DB "cross_attn.query", DH "encoder_attn.q_proj", "qd", WB__NEED_CROSS},
    {L "cross_attn.k", DB "cross_attn.key", DH "encoder_attn.k_proj", "kD", 0},
    {L "cross_attn.v", DB "cross_attn.value", DH "encoder_attn.v_proj", "kD", 0},
    {L "cross_attn.output", DB "cross_attn.out", DH "encoder_attn.out_proj", "dq", 0},
    {L "ffn_norm", DB "mlp_ln", DH "final_layer_norm", "d", WB__NEED_FFN_NORM},
    {L "ffn.up", DB "mlp.0|" DB "mlp1", DH "fc1", "fd", WB__NEED_UP},
    {L "ffn.down", DB "mlp.2|" DB "mlp2", DH "fc2", "df", WB__NEED_DOWN},
    {"output_norm", "decoder.ln", "decoder.layer_norm", "d", WB__NEED_LAST_NORM},
    {"output", "decoder.proj_out", "proj_out", "vd", 0},
    {NULL, "alignment_heads", "", NULL, 0},
    {0},
};

static const wb__config_default defaults[] = {
    {WB_CONFIG_NORM_EPS, WB__EVERYWHERE, 1e-5}, /* no file of this family specifies the epsilon */
    {WB_CONFIG_TIE_EMBEDDINGS, WB__IN_FOLDERS, 1},
    {0},
};

const wb__family wb__family_whisper = {
    .name = "whisper",
    .model_types = "whisper",
    .signature = DB "cross_attn.query|" DH "encoder_attn.q_proj",
    .rules = {rules},
    .defaults = defaults,
    .activation = "gelu",
    .flags = WB__FAMILY_NO_ROPE | WB__FAMILY_ENCODER,
    .needs = WB__NEEDS_ATTENTION | WB__NEEDS_FFN | WB__NEED_CROSS | WB__NEED_EMBEDDING |
             WB__NEED_LAST_NORM,
};
