/*
 * Gemma 1 to 3. The output matrix is always tied to the embedding. Hugging Face and MLX store norm
 * weights minus 1, GGUF stores the weights themselves. Gemma 2 and 3 have norms before and after
 * both halves of a layer (attention, feed-forward), so Hugging Face's post_attention_layernorm is a
 * different norm than in other families.
 *
 * The defaults are those of transformers' GemmaConfig, Gemma2Config and Gemma3TextConfig. The
 * published config.json files of Gemma 3 omit fields that have these defaults. For Gemma 3, the 8
 * heads, 4 key/value heads and context length of 131072 are defaults of llama.cpp's converter.
 */
#include "arch/family.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

#define L "layers.{n}."
#define B "blk.{n}."

#define NEEDS                                                                                      \
    (WB__NEEDS_ATTENTION | WB__NEEDS_FFN | WB__NEED_GATE | WB__NEED_EMBEDDING | WB__NEED_LAST_NORM)

static const wb__rule four_norms[] = {
    {L "post_attention_norm", B "post_attention_norm", L "post_attention_layernorm", "d",
     WB__RULE_NORM},
    {L "ffn_norm", B "ffn_norm", L "pre_feedforward_layernorm", "d",
     WB__NEED_FFN_NORM | WB__RULE_NORM},
    {L "post_ffn_norm", B "post_ffw_norm", L "post_feedforward_layernorm", "d", WB__RULE_NORM},
    {0},
};

static const wb__config_default defaults_1[] = {
    {WB_CONFIG_HEAD_DIM, WB__IN_FOLDERS, 256},
    {WB_CONFIG_ROPE_THETA, WB__IN_FOLDERS, 10000},
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-6},
    {WB_CONFIG_TIE_EMBEDDINGS, WB__IN_FOLDERS, 1},
    {0},
};

const wb__family wb__family_gemma = {
    .name = "gemma",
    .model_types = "gemma",
    .rules = {wb__rules_decoder, wb__rules_known},
    .defaults = defaults_1,
    .activation = "gelu_pytorch_tanh",
    .flags = WB__FAMILY_NORM_OFFSET | WB__FAMILY_SCALED,
    .needs = NEEDS,
};

static const wb__config_default defaults_2[] = {
    {WB_CONFIG_HEAD_DIM, WB__IN_FOLDERS, 256},
    {WB_CONFIG_ROPE_THETA, WB__IN_FOLDERS, 10000},
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-6},
    {WB_CONFIG_TIE_EMBEDDINGS, WB__IN_FOLDERS, 1},
    {WB_CONFIG_SLIDING_WINDOW, WB__EVERYWHERE, 4096},
    {WB_CONFIG_SLIDING_WINDOW_PATTERN, WB__EVERYWHERE, 2},
    {WB_CONFIG_ATTN_LOGIT_SOFTCAPPING, WB__EVERYWHERE, 50},
    {WB_CONFIG_FINAL_LOGIT_SOFTCAPPING, WB__EVERYWHERE, 30},
    {0},
};

const wb__family wb__family_gemma2 = {
    .name = "gemma2",
    .model_types = "gemma2",
    .rules = {four_norms, wb__rules_decoder, wb__rules_known},
    .defaults = defaults_2,
    .activation = "gelu_pytorch_tanh",
    .flags = WB__FAMILY_NORM_OFFSET | WB__FAMILY_SCALED | WB__FAMILY_QUERY,
    .query_layers = 46,
    .needs = NEEDS,
};

static const wb__config_default defaults_3[] = {
    {WB_CONFIG_N_HEADS, WB__IN_FOLDERS, 8},
    {WB_CONFIG_N_KV_HEADS, WB__IN_FOLDERS, 4},
    {WB_CONFIG_HEAD_DIM, WB__IN_FOLDERS, 256},
    {WB_CONFIG_MAX_SEQ_LEN, WB__IN_FOLDERS, 131072},
    {WB_CONFIG_ROPE_THETA, WB__IN_FOLDERS, 1000000},
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-6},
    {WB_CONFIG_TIE_EMBEDDINGS, WB__IN_FOLDERS, 1},
    {WB_CONFIG_SLIDING_WINDOW_PATTERN, WB__EVERYWHERE, 6},
    {WB_CONFIG_ROPE_LOCAL_THETA, WB__EVERYWHERE, 10000},
    {0},
};

const wb__family wb__family_gemma3 = {
    .name = "gemma3",
    .model_types = "gemma3_text|gemma3",
    .signature = L "pre_feedforward_layernorm",
    .rules = {four_norms, wb__rules_decoder, wb__rules_known},
    .defaults = defaults_3,
    .activation = "gelu_pytorch_tanh",
    .flags = WB__FAMILY_NORM_OFFSET | WB__FAMILY_SCALED | WB__FAMILY_QUERY,
    .query_layers = 62,
    .needs = NEEDS,
};
