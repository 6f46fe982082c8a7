/* Generated from exaone.family by scripts/families.sh; do not edit. */
#include "arch/family.h"

extern const wb__family wb__family_decoder;

static const wb__op e0[] = {{WB__OP_NAME, 0, "vocab_size"}, {0}};
static const wb__op e1[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape0[] = {e0, e1};
static const wb__spelling s0[] = {
    {"transformer.wte", 14, 3, false, 0, NULL},
    {"token_embd", 1, 3, false, 0, NULL},
};
static const wb__op e2[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape1[] = {e2};
static const wb__spelling s1[] = {
    {"transformer.ln_f", 14, 3, false, 0, NULL},
    {"output_norm", 1, 3, false, 0, NULL},
};
static const wb__op e3[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape2[] = {e3};
static const wb__spelling s2[] = {
    {"transformer.h.{n}.ln_1", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e4[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__op e5[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape3[] = {e4, e5};
static const wb__spelling s3[] = {
    {"transformer.h.{n}.attn.attention.q_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_q", 1, 3, false, 0, NULL},
};
static const wb__op e6[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e7[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape4[] = {e6, e7};
static const wb__spelling s4[] = {
    {"transformer.h.{n}.attn.attention.k_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_k", 1, 3, false, 0, NULL},
};
static const wb__op e8[] = {{WB__OP_NAME, 0, "kv_dim"}, {0}};
static const wb__op e9[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape5[] = {e8, e9};
static const wb__spelling s5[] = {
    {"transformer.h.{n}.attn.attention.v_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_v", 1, 3, false, 0, NULL},
};
static const wb__op e10[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e11[] = {{WB__OP_NAME, 0, "q_dim"}, {0}};
static const wb__expr shape6[] = {e10, e11};
static const wb__spelling s6[] = {
    {"transformer.h.{n}.attn.attention.out_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.attn_output", 1, 3, false, 0, NULL},
};
static const wb__op e12[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape7[] = {e12};
static const wb__spelling s7[] = {
    {"transformer.h.{n}.ln_2", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_norm", 1, 3, false, 0, NULL},
};
static const wb__op e13[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e14[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape8[] = {e13, e14};
static const wb__spelling s8[] = {
    {"transformer.h.{n}.mlp.c_fc_0", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_gate", 1, 3, false, 0, NULL},
};
static const wb__op e15[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__op e16[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__expr shape9[] = {e15, e16};
static const wb__spelling s9[] = {
    {"transformer.h.{n}.mlp.c_fc_1", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_up", 1, 3, false, 0, NULL},
};
static const wb__op e17[] = {{WB__OP_NAME, 0, "dim"}, {0}};
static const wb__op e18[] = {{WB__OP_NAME, 0, "ffn_dim"}, {0}};
static const wb__expr shape10[] = {e17, e18};
static const wb__spelling s10[] = {
    {"transformer.h.{n}.mlp.c_proj", 14, 3, false, 0, NULL},
    {"blk.{n}.ffn_down", 1, 3, false, 0, NULL},
};
static const wb__spelling s11[] = {
    {"transformer.h.{n}.attn.attention.rotary.inv_freq", 14, 3, false, 0, NULL},
    {"transformer.rotary.inv_freq", 14, 3, false, 0, NULL},
};
static const wb__rule rules[] = {
    {.canonical = "token_embedding",
     .spellings = s0,
     .spelling_count = 2,
     .shape = shape0,
     .rank = 2,
     .provides = 65536u,
     .suffix = 3},
    {.canonical = "output_norm",
     .spellings = s1,
     .spelling_count = 2,
     .shape = shape1,
     .rank = 1,
     .provides = 1074003968u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention_norm",
     .spellings = s2,
     .spelling_count = 2,
     .shape = shape2,
     .rank = 1,
     .provides = 1073741825u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.q",
     .spellings = s3,
     .spelling_count = 2,
     .shape = shape3,
     .rank = 2,
     .provides = 268435458u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.k",
     .spellings = s4,
     .spelling_count = 2,
     .shape = shape4,
     .rank = 2,
     .provides = 536870916u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.v",
     .spellings = s5,
     .spelling_count = 2,
     .shape = shape5,
     .rank = 2,
     .provides = 8u,
     .suffix = 3},
    {.canonical = "layers.{n}.attention.output",
     .spellings = s6,
     .spelling_count = 2,
     .shape = shape6,
     .rank = 2,
     .provides = 16u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn_norm",
     .spellings = s7,
     .spelling_count = 2,
     .shape = shape7,
     .rank = 1,
     .provides = 1073741856u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.gate",
     .spellings = s8,
     .spelling_count = 2,
     .shape = shape8,
     .rank = 2,
     .provides = 64u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.up",
     .spellings = s9,
     .spelling_count = 2,
     .shape = shape9,
     .rank = 2,
     .provides = 128u,
     .suffix = 3},
    {.canonical = "layers.{n}.ffn.down",
     .spellings = s10,
     .spelling_count = 2,
     .shape = shape10,
     .rank = 2,
     .provides = 256u,
     .suffix = 3},
    {.canonical = NULL, .spellings = s11, .spelling_count = 2, .suffix = 3},
};
static const wb__op e19[] = {{WB__OP_TEXT, 0, "silu"}, {0}};
static const wb__op e20[] = {{WB__OP_NUMBER, 10000, NULL}, {0}};
static const wb__op e21[] = {{WB__OP_NUMBER, 1.0000000000000001e-05, NULL}, {0}};
static const wb__op e22[] = {{WB__OP_TRUE, 0, NULL}, {0}};
static const wb__value_row values[] = {
    {3, 30, "activation", e19},
    {1, 12, "rope_theta", e20},
    {1, 11, "norm_eps", e21},
    {1, 19, "tie_embeddings", e22},
};
static const wb__op e23[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e24[] = {{WB__OP_NAME, 0, "n_layers"}, {0}};
static const wb__op e25[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e26[] = {{WB__OP_NAME, 0, "norm_eps"}, {0}};
static const wb__op e27[] = {{WB__OP_NULL, 0, NULL}, {0}};
static const wb__op e28[] = {{WB__OP_NAME, 0, "activation"}, {0}};
static const wb__key_row keys[] = {
    {"num_hidden_layers", 0, 1, 0, e23, NULL}, {"num_layers", 0, 1, 0, e24, NULL},
    {"rms_norm_eps", 0, 1, 0, e25, NULL},      {"layer_norm_epsilon", 0, 1, 0, e26, NULL},
    {"hidden_act", 0, 1, 0, e27, NULL},        {"activation_function", 0, 1, 0, e28, NULL},
};
extern const wb__family wb__family_exaone;
const wb__family wb__family_exaone = {
    .name = "exaone",
    .base = &wb__family_decoder,
    .gguf = "exaone",
    .types = "exaone",
    .classes = "ExaoneForCausalLM",
    .tokenizer = "llama3",
    .rules = rules,
    .rule_count = 12,
    .values = values,
    .value_count = 4,
    .keys = keys,
    .key_count = 6,
    .rope = 0,
    .norm_sides = 0,
    .has_norm_sides = 0,
    .flags = 0u,
    .needs = 0u,
};
