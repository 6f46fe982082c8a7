/*
 * Derives the config fields that describe the computation: activation, scales, RoPE and the routing
 * of experts. A field that no file specifies gets the family's default; then it is derived from
 * other fields. Neutral values, such as a scale of 1, are set only if the family is known, because
 * other families may have other constants that no file specifies.
 */
#include <float.h>
#include <math.h>

#include "arch/config_maker.h"
#include "arch/config_words.h"

/* ---- fields that files specify in several ways ---- */

/* An explicit null in config.json disables a soft cap. */
static void read_caps(const wb__config_maker *m)
{
    static const int caps[] = {WB_CONFIG_ATTN_LOGIT_SOFTCAPPING, WB_CONFIG_FINAL_LOGIT_SOFTCAPPING};
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        wb__fact fact = wb__fact_by_path(m->facts, wb__config_rows[caps[i]].paths);
        if (!m->by_key && fact.type == WB__FACT_NULL)
            wb__config_set_real(m, caps[i], 0, WB_ORIGIN_FILE);
    }
}

/* Two members of config.json mean the same: is_causal, and use_bidirectional_attention of Gemma. */
static void read_causal(const wb__config_maker *m)
{
    wb__fact both = wb__fact_by_path(m->facts, "use_bidirectional_attention");
    if (!m->by_key && both.type == WB__FACT_BOOL && both.number != 0)
        wb__config_set_word(m, WB_CONFIG_ATTENTION_CAUSAL, 0, WB_ORIGIN_FILE);
}

/* GGUF has no word for some scalings; tensors with factors replace it. */
static void read_scaling(const wb__config_maker *m)
{
    static const struct {
        const char *tensor;
        wb_rope_scaling scaling;
    } signs[] = {{"rope_freqs.weight", WB_ROPE_SCALING_LLAMA3},
                 {"rope_factors_long.weight", WB_ROPE_SCALING_LONGROPE}};
    const int field = WB_CONFIG_ROPE_SCALING_TYPE;
    if (!m->by_key || m->names == NULL || wb__config_is_known(m, field))
        return;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        wb__str name = wb__str_from(signs[i].tensor, SIZE_MAX);
        if (wb__table_find(m->names->table, name) != WB__NO_TENSOR)
            wb__config_set_word(m, field, signs[i].scaling, WB_ORIGIN_DERIVED);
    }
}

/* ---- derived fields ---- */

static void derive_real(const wb__config_maker *m, int field, double value)
{
    if (!wb__config_is_known(m, field) && value > 0 && value <= DBL_MAX)
        wb__config_set_real(m, field, value, WB_ORIGIN_DERIVED);
}

uint64_t wb__config_query_scalar(const wb_config *config, const wb__family *family)
{
    if (family == NULL || !(family->flags & WB__FAMILY_QUERY) || config->n_heads == 0)
        return 0;
    return family->query_layers != 0 && config->n_layers == family->query_layers
               ? config->dim / config->n_heads
               : config->head_dim;
}

/* Attention scores are divided by the square root of head_dim unless the files or the family
 * specify another number. */
static void derive_attention_scale(const wb__config_maker *m)
{
    double divisor = (double)m->config->head_dim;
    uint64_t implied = wb__config_query_scalar(m->config, m->family);
    wb__fact scalar = wb__fact_by_path(m->facts, "query_pre_attn_scalar");
    if (m->by_key && implied != 0)
        divisor = (double)implied;
    else if (implied != 0 && (scalar.type == WB__FACT_UINT || scalar.type == WB__FACT_REAL))
        divisor = scalar.real;
    if (divisor > 0)
        derive_real(m, WB_CONFIG_ATTENTION_SCALE, 1 / sqrt(divisor));
}

/* Returns the number of dimensions per head that RoPE rotates. A fraction in config.json that gives
 * 0 dimensions is ignored. */
static uint64_t rotated(const wb__config_maker *m)
{
    uint64_t all = m->config->head_dim;
    wb__fact part =
        wb__fact_by_path(m->facts, "partial_rotary_factor|rope_parameters/partial_rotary_factor");
    if (m->family->flags & WB__FAMILY_NO_ROPE)
        return 0;
    if (!(m->family->flags & WB__FAMILY_PARTIAL_ROPE) || part.type != WB__FACT_REAL ||
        !(part.real > 0 && part.real < 1))
        return all;
    uint64_t dimensions = (uint64_t)(part.real * (double)all);
    return dimensions == 0 ? all : dimensions;
}

/* The attention factor of LongRoPE follows from the two context lengths. It is rounded as GGUF
 * stores it, so that it is the same in every format. */
static void derive_longrope(const wb__config_maker *m)
{
    const wb_config *c = m->config;
    double original = (double)c->rope_scaling_original_context_length;
    double extended = (double)c->max_seq_len;
    if (c->rope_scaling_type != WB_ROPE_SCALING_LONGROPE || original <= 1)
        return;
    double factor = extended > original ? sqrt(1 + log(extended / original) / log(original)) : 1;
    derive_real(m, WB_CONFIG_ROPE_SCALING_ATTN_FACTOR, wb__shortest_of_float(factor));
}

static void derive_lengths(const wb__config_maker *m)
{
    if (!wb__config_is_known(m, WB_CONFIG_VALUE_LENGTH) &&
        wb__config_is_known(m, WB_CONFIG_HEAD_DIM))
        wb__config_set_count(m, WB_CONFIG_VALUE_LENGTH, m->config->head_dim, WB_ORIGIN_DERIVED);
    if (m->family != NULL && !wb__config_is_known(m, WB_CONFIG_ROPE_DIMENSION_COUNT) &&
        wb__config_is_known(m, WB_CONFIG_HEAD_DIM))
        wb__config_set_count(m, WB_CONFIG_ROPE_DIMENSION_COUNT, rotated(m), WB_ORIGIN_DERIVED);
}

/* ---- defaults ---- */

static void default_word(const wb__config_maker *m, int field, uint32_t value)
{
    if (!wb__config_is_known(m, field))
        wb__config_set_word(m, field, value, WB_ORIGIN_DEFAULT);
}

static void set_activation(const wb__config_maker *m)
{
    uint32_t value = 0;
    const wb__fact fact = {.type = WB__FACT_TEXT,
                           .text = wb__str_from(m->family->activation, SIZE_MAX)};
    if (wb__config_choice(WB__CONFIG_KIND_ACTIVATION, &fact, &value))
        default_word(m, WB_CONFIG_ACTIVATION, value);
}

/* Sets the values that leave the computation unchanged. */
static void set_neutral(const wb__config_maker *m)
{
    static const struct {
        int field;
        double value;
        bool for_experts;
    } neutral[] = {
        {WB_CONFIG_EMBEDDING_SCALE, 1, false},
        {WB_CONFIG_RESIDUAL_SCALE, 1, false},
        {WB_CONFIG_LOGIT_SCALE, 1, false},
        {WB_CONFIG_ATTN_LOGIT_SOFTCAPPING, 0, false},
        {WB_CONFIG_FINAL_LOGIT_SOFTCAPPING, 0, false},
        {WB_CONFIG_EXPERT_WEIGHTS_SCALE, 1, true},
    };
    for (size_t i = 0; i < sizeof neutral / sizeof neutral[0]; i++) {
        if (!wb__config_is_known(m, neutral[i].field) &&
            (!neutral[i].for_experts || m->config->n_experts != 0))
            wb__config_set_real(m, neutral[i].field, neutral[i].value, WB_ORIGIN_DEFAULT);
    }
}

static void set_defaults(const wb__config_maker *m)
{
    uint32_t flags = m->family->flags;
    set_activation(m);
    default_word(m, WB_CONFIG_NORM_TYPE, flags & WB__FAMILY_NO_ROPE ? WB_NORM_LAYER : WB_NORM_RMS);
    default_word(m, WB_CONFIG_ATTENTION_CAUSAL, !(flags & WB__FAMILY_NO_HEAD));
    default_word(m, WB_CONFIG_PARALLEL_RESIDUAL, 0);
    default_word(m, WB_CONFIG_ROPE_SCALING_TYPE, WB_ROPE_SCALING_NONE);
    if (m->config->n_experts != 0) {
        default_word(m, WB_CONFIG_EXPERT_GATING_FUNC, WB_EXPERT_GATING_SOFTMAX);
        default_word(m, WB_CONFIG_EXPERT_WEIGHTS_NORM, 0);
    }
    if (flags & WB__FAMILY_SCALED)
        derive_real(m, WB_CONFIG_EMBEDDING_SCALE, sqrt((double)m->config->dim));
    set_neutral(m);
}

void wb__config_details(const wb__config_maker *m)
{
    read_caps(m);
    read_causal(m);
    read_scaling(m);
    wb__config_family_defaults(m, true);
    derive_lengths(m);
    derive_longrope(m);
    if (m->config->origin[WB_CONFIG_ARCHITECTURE] != WB_ORIGIN_FILE || m->family == NULL)
        return;
    derive_attention_scale(m);
    set_defaults(m);
}
