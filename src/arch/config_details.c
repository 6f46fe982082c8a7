/*
 * Derives the config fields that describe the computation. Most of them are in the tables of the
 * families; the others follow from several members of config.json or from tensors.
 */
#include <math.h>

#include "arch/config_maker.h"

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

/* config.json can disable causal attention with is_causal or, for Gemma, with
 * use_bidirectional_attention. This function reads the latter. */
static void read_causal(const wb__config_maker *m)
{
    wb__fact both = wb__fact_by_path(m->facts, "use_bidirectional_attention");
    if (!m->by_key && both.type == WB__FACT_BOOL && both.number != 0)
        wb__config_set_word(m, WB_CONFIG_ATTENTION_CAUSAL, 0, WB_ORIGIN_FILE);
}

/* GGUF has no name for some types of RoPE scaling. A tensor with the RoPE factors indicates
 * them. */
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

/* Computes the attention factor of LongRoPE from the original and the extended context length.
 * The factor is rounded to float32, as in GGUF, so that it is the same in every format. */
static void derive_longrope(const wb__config_maker *m)
{
    const wb_config *c = m->config;
    const int field = WB_CONFIG_ROPE_SCALING_ATTN_FACTOR;
    double original = (double)c->rope_scaling_original_context_length;
    double extended = (double)c->max_seq_len;
    if (c->rope_scaling_type != WB_ROPE_SCALING_LONGROPE || original <= 1 ||
        wb__config_is_known(m, field))
        return;
    double factor = extended > original ? sqrt(1 + log(extended / original) / log(original)) : 1;
    wb__config_set_real(m, field, wb__shortest_of_float(factor), WB_ORIGIN_DERIVED);
}

static void derive_value_length(const wb__config_maker *m)
{
    if (!wb__config_is_known(m, WB_CONFIG_VALUE_LENGTH) &&
        wb__config_is_known(m, WB_CONFIG_HEAD_DIM))
        wb__config_set_count(m, WB_CONFIG_VALUE_LENGTH, m->config->head_dim, WB_ORIGIN_DERIVED);
}

void wb__config_details(const wb__config_maker *m)
{
    read_caps(m);
    read_causal(m);
    read_scaling(m);
    derive_value_length(m);
    wb__config_family_values(m, true);
    derive_longrope(m);
}
