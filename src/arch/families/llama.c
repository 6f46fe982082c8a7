/*
 * Llama 1 to 3, Mistral and Mixtral, which are one architecture in llama.cpp. The defaults are
 * those on which transformers' LlamaConfig, MistralConfig and MixtralConfig agree.
 */
#include "arch/family.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

static const wb__config_default defaults[] = {
    {WB_CONFIG_ROPE_THETA, WB__IN_FOLDERS, 10000},
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-6},
    {WB_CONFIG_EXPERT_WEIGHTS_NORM, WB__ALWAYS, 1},
    {0},
};

const wb__family wb__family_llama = {
    .name = "llama",
    .model_types = "llama|mistral|mixtral",
    .rules = {wb__rules_decoder, wb__rules_experts, wb__rules_known},
    .defaults = defaults,
    .activation = "silu",
    .flags = WB__FAMILY_INTERLEAVED | WB__FAMILY_FACTORS,
    .needs = WB__NEEDS_ATTENTION | WB__NEEDS_FFN | WB__NEED_GATE | WB__NEED_EMBEDDING |
             WB__NEED_HEAD | WB__NEED_LAST_NORM,
};
