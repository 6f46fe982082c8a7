/*
 * Phi 3 and 4. One tensor contains q, k and v. Another one contains gate, then up; GGUF names it
 * ffn_up. The defaults are those of transformers' Phi3Config.
 */
#include "arch/family.h"
#include "weighbridge/base.h"
#include "weighbridge/config.h"

#define L "layers.{n}."
#define B "blk.{n}."

static const wb__rule rules[] = {
    {L "ffn.gate_up", B "ffn_up", L "mlp.gate_up_proj", "gd", WB__NEED_GATE | WB__NEED_UP},
    {0},
};

static const wb__config_default defaults[] = {
    {WB_CONFIG_ROPE_THETA, WB__IN_FOLDERS, 10000},
    {WB_CONFIG_NORM_EPS, WB__IN_FOLDERS, 1e-5},
    {0},
};

const wb__family wb__family_phi3 = {
    .name = "phi3",
    .model_types = "phi3",
    .signature = L "mlp.gate_up_proj",
    .rules = {rules, wb__rules_decoder, wb__rules_known},
    .defaults = defaults,
    .activation = "silu",
    .flags = WB__FAMILY_PARTIAL_ROPE,
    .needs = WB__NEEDS_ATTENTION | WB__NEEDS_FFN | WB__NEED_GATE | WB__NEED_EMBEDDING |
             WB__NEED_HEAD | WB__NEED_LAST_NORM,
};
