/*
 * Qwen 2 (with biases for q, k and v), Qwen 3 (with norms for q and k), and the mixture-of-experts
 * versions of both. The defaults are those of transformers' Qwen2Config, Qwen2MoeConfig,
 * Qwen3Config and Qwen3MoeConfig.
 */
#include "arch/family.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

#define NEEDS                                                                                      \
    (WB__NEEDS_ATTENTION | WB__NEEDS_FFN | WB__NEED_GATE | WB__NEED_EMBEDDING | WB__NEED_HEAD |    \
     WB__NEED_LAST_NORM)

static const wb__config_default defaults[] = {
    {WB_CONFIG_ROPE_THETA, WB__IN_FOLDERS, 10000},
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-6},
    {0},
};

/* llama.cpp always normalizes the weights of the experts of Qwen 3. */
static const wb__config_default defaults_3_experts[] = {
    {WB_CONFIG_ROPE_THETA, WB__IN_FOLDERS, 10000},
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-6},
    {WB_CONFIG_EXPERT_WEIGHTS_NORM, WB__IN_GGUF_FILES, 1},
    {0},
};

const wb__family wb__family_qwen2 = {
    .name = "qwen2",
    .model_types = "qwen2",
    .rules = {wb__rules_decoder, wb__rules_known},
    .defaults = defaults,
    .activation = "silu",
    .needs = NEEDS,
};

const wb__family wb__family_qwen2moe = {
    .name = "qwen2moe",
    .model_types = "qwen2_moe",
    .rules = {wb__rules_decoder, wb__rules_experts, wb__rules_known},
    .defaults = defaults,
    .activation = "silu",
    .needs = NEEDS,
};

const wb__family wb__family_qwen3 = {
    .name = "qwen3",
    .model_types = "qwen3",
    .rules = {wb__rules_decoder, wb__rules_known},
    .defaults = defaults,
    .activation = "silu",
    .flags = WB__FAMILY_FACTORS,
    .needs = NEEDS,
};

const wb__family wb__family_qwen3moe = {
    .name = "qwen3moe",
    .model_types = "qwen3_moe",
    .rules = {wb__rules_decoder, wb__rules_experts, wb__rules_known},
    .defaults = defaults_3_experts,
    .activation = "silu",
    .flags = WB__FAMILY_FACTORS,
    .needs = NEEDS,
};
