/*
 * BERT. The canonical names are llama.cpp's names. The norms come after attention and feed-forward,
 * not before them. The pooler is needed only for training; programs that compute embeddings ignore
 * it. The defaults are those of transformers' BertConfig.
 */
#include "arch/family.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

#define B "blk.{n}."
#define E "encoder.layer.{n}."

static const wb__rule rules[] = {
    {"token_embd", "token_embd", "embeddings.word_embeddings", "vd", WB__NEED_EMBEDDING},
    {"position_embd", "position_embd", "embeddings.position_embeddings", "ld", 0},
    {"token_types", "token_types", "embeddings.token_type_embeddings", "?d", 0},
    {"token_embd_norm", "token_embd_norm", "embeddings.LayerNorm", "d", WB__NEED_LAST_NORM},
    {B "attn_q", B "attn_q", E "attention.self.query", "qd", WB__NEED_Q},
    {B "attn_k", B "attn_k", E "attention.self.key", "kd", WB__NEED_K},
    {B "attn_v", B "attn_v", E "attention.self.value", "kd", WB__NEED_V},
    {B "attn_qkv", B "attn_qkv", E "attention.self.Wqkv", "sd",
     WB__NEED_Q | WB__NEED_K | WB__NEED_V},
    {B "attn_output", B "attn_output", E "attention.output.dense", "dq", WB__NEED_OUTPUT},
    {B "attn_output_norm", B "attn_output_norm", E "attention.output.LayerNorm", "d",
     WB__NEED_NORM},
    {B "ffn_up", B "ffn_up", E "intermediate.dense", "fd", WB__NEED_UP},
    {B "ffn_down", B "ffn_down", E "output.dense", "df", WB__NEED_DOWN},
    {B "layer_output_norm", B "layer_output_norm", E "output.LayerNorm", "d", WB__NEED_FFN_NORM},
    {NULL, "", "pooler.dense|embeddings.position_ids", NULL, 0},
    {0},
};

static const wb__config_default defaults[] = {
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-12},
    {WB_CONFIG_MAX_SEQ_LEN, WB__IN_FOLDERS, 512},
    {0},
};

const wb__family wb__family_bert = {
    .name = "bert",
    .model_types = "bert",
    .signature = E "intermediate.dense",
    .rules = {rules},
    .defaults = defaults,
    .activation = "gelu",
    .flags = WB__FAMILY_NO_ROPE | WB__FAMILY_NO_HEAD,
    .needs = WB__NEEDS_ATTENTION | WB__NEEDS_FFN | WB__NEED_EMBEDDING | WB__NEED_LAST_NORM,
};
