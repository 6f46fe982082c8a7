/* Rules common to decoders. Matrices have the shape [outputs, inputs], as in torch.nn.Linear. */
#include "arch/family.h"
#include "weighbridge/base.h"

#define L "layers.{n}."
#define B "blk.{n}."

const wb__rule wb__rules_decoder[] = {
    {"token_embedding", "token_embd", "embed_tokens", "vd", WB__NEED_EMBEDDING},
    {"output_norm", "output_norm", "norm", "d", WB__NEED_LAST_NORM | WB__RULE_NORM},
    {"output", "output", "lm_head", "vd", WB__NEED_HEAD},
    {L "attention_norm", B "attn_norm", L "input_layernorm", "d", WB__NEED_NORM | WB__RULE_NORM},
    {L "attention.q", B "attn_q", L "self_attn.q_proj", "qd", WB__NEED_Q | WB__RULE_ROPE_Q},
    {L "attention.k", B "attn_k", L "self_attn.k_proj", "kd", WB__NEED_K | WB__RULE_ROPE_K},
    {L "attention.v", B "attn_v", L "self_attn.v_proj", "kd", WB__NEED_V},
    {L "attention.qkv", B "attn_qkv", L "self_attn.qkv_proj", "sd",
     WB__NEED_Q | WB__NEED_K | WB__NEED_V},
    {L "attention.output", B "attn_output", L "self_attn.o_proj", "dq", WB__NEED_OUTPUT},
    {L "attention.q_norm", B "attn_q_norm", L "self_attn.q_norm", "h", WB__RULE_NORM},
    {L "attention.k_norm", B "attn_k_norm", L "self_attn.k_norm", "h", WB__RULE_NORM},
    {L "ffn_norm", B "ffn_norm", L "post_attention_layernorm", "d",
     WB__NEED_FFN_NORM | WB__RULE_NORM},
    {L "ffn.gate", B "ffn_gate", L "mlp.gate_proj", "fd", WB__NEED_GATE},
    {L "ffn.up", B "ffn_up", L "mlp.up_proj", "fd", WB__NEED_UP},
    {L "ffn.down", B "ffn_down", L "mlp.down_proj", "df", WB__NEED_DOWN},
    {0},
};

/*
 * Mixtral's name for gate is w1, for up w3, for down w2. GGUF files of 2023 have one tensor per
 * expert.
 */
const wb__rule wb__rules_experts[] = {
    {L "ffn.router", B "ffn_gate_inp", L "mlp.gate|" L "block_sparse_moe.gate|" L "mlp.router",
     "ed", 0},
    {L "ffn.experts.gate", B "ffn_gate_exps|" B "ffn_gate.{e}",
     L "mlp.experts.{e}.gate_proj|" L "mlp.switch_mlp.gate_proj|" L "mlp.experts.gate_proj|" L
       "block_sparse_moe.experts.{e}.w1|" L "block_sparse_moe.switch_mlp.gate_proj",
     "exd", WB__NEED_GATE},
    {L "ffn.experts.up", B "ffn_up_exps|" B "ffn_up.{e}",
     L "mlp.experts.{e}.up_proj|" L "mlp.switch_mlp.up_proj|" L "mlp.experts.up_proj|" L
       "block_sparse_moe.experts.{e}.w3|" L "block_sparse_moe.switch_mlp.up_proj",
     "exd", WB__NEED_UP},
    {L "ffn.experts.down", B "ffn_down_exps|" B "ffn_down.{e}",
     L "mlp.experts.{e}.down_proj|" L "mlp.switch_mlp.down_proj|" L "mlp.experts.down_proj|" L
       "block_sparse_moe.experts.{e}.w2|" L "block_sparse_moe.switch_mlp.down_proj",
     "edx", WB__NEED_DOWN},
    {L "ffn.shared_experts.gate", B "ffn_gate_shexp",
     L "mlp.shared_expert.gate_proj|" L "mlp.shared_experts.gate_proj", "?d", 0},
    {L "ffn.shared_experts.up", B "ffn_up_shexp",
     L "mlp.shared_expert.up_proj|" L "mlp.shared_experts.up_proj", "?d", 0},
    {L "ffn.shared_experts.down", B "ffn_down_shexp",
     L "mlp.shared_expert.down_proj|" L "mlp.shared_experts.down_proj", "d?", 0},
    {L "ffn.shared_experts.router", B "ffn_gate_inp_shexp", L "mlp.shared_expert_gate", NULL, 0},
    {0},
};

/* Tables that some files store although they can be computed: RoPE frequencies, attention masks. */
const wb__rule wb__rules_known[] = {
    {NULL, "rope_freqs|rope_factors_long|rope_factors_short|" B "rope_freqs|" B "attn_rot_embd",
     L "self_attn.rotary_emb.inv_freq|rotary_emb.inv_freq|" L "attention.bias|" L
       "attention.masked_bias",
     NULL, 0},
    {0},
};

/* Rules for models of unknown architecture: the names that most families share. */
const wb__family wb__family_unknown = {
    .name = NULL,
    .rules = {wb__rules_decoder, wb__rules_experts, wb__rules_known},
};
