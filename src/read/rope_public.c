/*
 * Computes the frequencies of RoPE. Scaling for long contexts follows transformers
 * (modeling_rope_utils.py), which llama.cpp reproduces. GGUF stores the result of some scalings as
 * a tensor of factors; the frequencies are then divided by these factors.
 */
#include <float.h>
#include <math.h>

#include "arch/llama3_rope.h"
#include "handle/semantics.h"
#include "read/read_messages.h"
#include "weighbridge/tensor.h"

#define PAIRS_MAX 65536 /* maximum number of pairs of rotated elements per head */

typedef struct rope {
    const wb_model *model;
    const wb__semantics *semantics;
    wb__context *context;
    const wb_config *config;
    wb_layer layer;
    uint64_t dimensions; /* number of elements per head that are rotated */
    uint64_t pairs;
    uint64_t length; /* length of the sequences, in tokens */
    double *frequencies;
} rope;

/* Returns the number at the first of the `paths` that exists in config.json, or `otherwise`. */
static double fact_or(const rope *r, const char *paths, double otherwise)
{
    wb__fact fact = wb__fact_by_path(&r->semantics->facts, paths);
    bool is_number = fact.type == WB__FACT_UINT || fact.type == WB__FACT_REAL;
    return is_number ? fact.real : otherwise;
}

#define SCALING(name)                                                                              \
    "rope_scaling/" name "|rope_parameters/" name "|rope_parameters/full_attention/" name

static double real_or(const rope *r, wb_config_field field, double value, double otherwise)
{
    return r->config->origin[field] == WB_ORIGIN_ABSENT ? otherwise : value;
}

static double original_length(const rope *r)
{
    uint64_t original = r->config->rope_scaling_original_context_length;
    return (double)(original != 0 ? original : r->config->max_seq_len);
}

static void set_plain(const rope *r, double theta)
{
    for (uint64_t i = 0; i < r->pairs; i++)
        r->frequencies[i] = pow(theta, -2.0 * (double)i / (double)r->dimensions);
}

static wb_status fail_scaling(const rope *r)
{
    return wb__fail(r->context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                    WB__STR("rope_scaling"), WB__MSG_READ_ROPE_SCALING);
}

/* ---- factors, from a GGUF tensor or a list in config.json ---- */

/* Divides the frequencies by factors. Factors that are 0, negative or not finite are invalid. */
static wb_status divide(const rope *r, const float *factors)
{
    for (uint64_t i = 0; i < r->pairs; i++) {
        if (!(factors[i] > 0))
            return fail_scaling(r);
        r->frequencies[i] /= (double)factors[i];
    }
    return WB_OK;
}

static bool read_list(const rope *r, const char *paths, float *factors)
{
    wb__fact_list list;
    wb__fact fact;
    if (!wb__fact_list_find(&r->semantics->facts, WB__STR(""), "", paths, &list) ||
        wb__fact_list_count(&list) != r->pairs)
        return false;
    for (uint64_t i = 0; wb__fact_list_next(&list, &fact); i++) {
        bool is_number = fact.type == WB__FACT_UINT || fact.type == WB__FACT_REAL;
        factors[i] = is_number && fact.real <= FLT_MAX ? (float)fact.real : 0;
    }
    return true;
}

/* Reads the factors from the list at `paths`, or else from the tensor `name`. Sets *found to true
 * if the model has the list or the tensor, with one factor per pair, otherwise to false. */
static wb_status read_factors(const rope *r, const char *name, const char *paths, float *factors,
                              bool *found)
{
    uint64_t index;
    wb_tensor tensor = WB_TENSOR_INIT;
    *found = read_list(r, paths, factors);
    if (*found || wb_tensor_find(r->model, name, SIZE_MAX, &index) != WB_OK)
        return WB_OK;
    wb_status status = wb_tensor_at(r->model, index, &tensor, r->context->error);
    if (status != WB_OK || tensor.elements != r->pairs)
        return status;
    *found = true;
    return wb_tensor_read(r->model, index, NULL, WB_DTYPE_F32, factors,
                          (size_t)r->pairs * sizeof *factors, r->context->error);
}

/* Calls read_factors, which sets *found. If it finds factors, divides the frequencies by them. */
static wb_status divide_by(const rope *r, const char *name, const char *paths, bool *found)
{
    size_t bytes = (size_t)r->pairs * sizeof(float);
    float *factors = wb__alloc(&r->context->allocator, bytes);
    if (factors == NULL)
        return wb__fail_memory(r->context);
    wb_status status = read_factors(r, name, paths, factors, found);
    if (status == WB_OK && *found)
        status = divide(r, factors);
    wb__free(&r->context->allocator, factors, bytes);
    return status;
}

/* ---- the kinds of scaling ---- */

static wb_status scale_linear(const rope *r)
{
    double factor = real_or(r, WB_CONFIG_ROPE_SCALING_FACTOR, r->config->rope_scaling_factor, 1);
    if (!(factor > 0))
        return fail_scaling(r);
    for (uint64_t i = 0; i < r->pairs; i++)
        r->frequencies[i] /= factor;
    return WB_OK;
}

static wb_status scale_llama3(const rope *r)
{
    const wb_config *c = r->config;
    bool found;
    wb_status status = divide_by(r, "rope_freqs.weight", "", &found);
    if (status != WB_OK || found)
        return status;
    const wb__llama3 numbers = {
        real_or(r, WB_CONFIG_ROPE_SCALING_FACTOR, c->rope_scaling_factor, 8),
        real_or(r, WB_CONFIG_ROPE_SCALING_LOW_FREQ_FACTOR, c->rope_scaling_low_freq_factor, 1),
        real_or(r, WB_CONFIG_ROPE_SCALING_HIGH_FREQ_FACTOR, c->rope_scaling_high_freq_factor, 4),
        original_length(r)};
    for (uint64_t i = 0; i < r->pairs; i++)
        r->frequencies[i] /= wb__llama3_divisor(&numbers, r->layer.rope_theta, i, r->pairs);
    return WB_OK;
}

static wb_status scale_longrope(const rope *r)
{
    bool found, is_long = (double)r->length > original_length(r);
    wb_status status =
        is_long ? divide_by(r, "rope_factors_long.weight", SCALING("long_factor"), &found)
                : divide_by(r, "rope_factors_short.weight", SCALING("short_factor"), &found);
    return status == WB_OK && !found ? fail_scaling(r) : status;
}

static wb_status scale_dynamic(const rope *r)
{
    double factor = real_or(r, WB_CONFIG_ROPE_SCALING_FACTOR, r->config->rope_scaling_factor, 1);
    double longest = (double)r->config->max_seq_len, d = (double)r->dimensions;
    if (r->dimensions <= 2 || !(longest > 0) || !(factor > 0))
        return fail_scaling(r);
    double ratio = (double)r->length > longest ? (double)r->length / longest : 1;
    set_plain(r, r->layer.rope_theta * pow(factor * ratio - (factor - 1), d / (d - 2)));
    return WB_OK;
}

/* Returns the index (not rounded) of the pair of elements that RoPE rotates by `turns` full turns
 * over the original context length. */
static double pair_of(const rope *r, double turns)
{
    const double circle = 6.283185307179586476925286766559;
    return (double)r->dimensions * log(original_length(r) / (turns * circle)) /
           (2 * log(r->layer.rope_theta));
}

static double yarn_factor(const rope *r)
{
    double extended = (double)r->config->max_seq_len / original_length(r);
    return real_or(r, WB_CONFIG_ROPE_SCALING_FACTOR, r->config->rope_scaling_factor, extended);
}

/* YaRN keeps high frequencies, divides low ones by the factor, and interpolates between them. */
static wb_status scale_yarn(const rope *r)
{
    const wb_config *c = r->config;
    double factor = yarn_factor(r);
    double low = pair_of(
        r, real_or(r, WB_CONFIG_ROPE_SCALING_YARN_BETA_FAST, c->rope_scaling_yarn_beta_fast, 32));
    double high = pair_of(
        r, real_or(r, WB_CONFIG_ROPE_SCALING_YARN_BETA_SLOW, c->rope_scaling_yarn_beta_slow, 1));
    wb__fact truncate = wb__fact_by_path(&r->semantics->facts, SCALING("truncate"));
    if (!(factor > 0) || !isfinite(low) || !isfinite(high))
        return fail_scaling(r);
    if (truncate.type != WB__FACT_BOOL || truncate.number != 0) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, (double)r->dimensions - 1);
    if (low == high)
        high += 0.001;
    for (uint64_t i = 0; i < r->pairs; i++) {
        double ramp = fmin(1, fmax(0, ((double)i - low) / (high - low)));
        r->frequencies[i] *= ramp / factor + (1 - ramp);
    }
    return WB_OK;
}

static wb_status scale(const rope *r)
{
    /* Layers that use a separate theta for the sliding window are not scaled. */
    if (r->layer.sliding_window != 0 && r->config->rope_local_theta > 0)
        return WB_OK;
    switch (r->config->rope_scaling_type) {
    case WB_ROPE_SCALING_NONE: return WB_OK;
    case WB_ROPE_SCALING_LINEAR: return scale_linear(r);
    case WB_ROPE_SCALING_YARN: return scale_yarn(r);
    case WB_ROPE_SCALING_LONGROPE: return scale_longrope(r);
    case WB_ROPE_SCALING_LLAMA3: return scale_llama3(r);
    case WB_ROPE_SCALING_DYNAMIC: return scale_dynamic(r);
    default: return fail_scaling(r);
    }
}

/* ---- the attention factor ---- */

static double yarn_attention(double factor, double weight)
{
    return factor > 1 ? 0.1 * weight * log(factor) + 1 : 1;
}

static double attention_factor(const rope *r)
{
    const wb_config *c = r->config;
    double said = real_or(r, WB_CONFIG_ROPE_SCALING_ATTN_FACTOR, c->rope_scaling_attn_factor, 0);
    if (r->layer.sliding_window != 0 && c->rope_local_theta > 0)
        return 1;
    if (c->rope_scaling_type == WB_ROPE_SCALING_LONGROPE)
        return said > 0 ? said : 1;
    if (c->rope_scaling_type != WB_ROPE_SCALING_YARN)
        return 1;
    double factor = yarn_factor(r);
    double mscale = fact_or(r, SCALING("mscale"), 0),
           all = fact_or(r, SCALING("mscale_all_dim"), 0);
    if (said > 0)
        return said;
    return mscale > 0 && all > 0 ? yarn_attention(factor, mscale) / yarn_attention(factor, all)
                                 : yarn_attention(factor, 1);
}

/* ---- public function ---- */

static void set_sections(const rope *r, wb_rope *out)
{
    const wb__layers *layers = &r->semantics->layers;
    for (uint32_t i = 0; i < layers->count[WB__LAYER_SECTIONS] && i < 4; i++)
        out->sections[i] = layers->list[WB__LAYER_SECTIONS][i];
}

static wb_status fill(rope *r, wb_rope *out, size_t capacity)
{
    const wb_config *c = r->config;
    bool local = r->layer.sliding_window != 0 && c->rope_dimension_count_swa != 0;
    r->dimensions = local ? c->rope_dimension_count_swa : c->rope_dimension_count;
    r->pairs = r->layer.has_rope ? r->dimensions / 2 : 0;
    if (r->pairs > PAIRS_MAX || (r->pairs > 0 && !(r->layer.rope_theta > 0)))
        return fail_scaling(r);
    out->pairs = r->pairs;
    out->attention_factor = attention_factor(r);
    set_sections(r, out);
    if (r->pairs == 0 || (r->frequencies == NULL && capacity == 0))
        return WB_OK;
    if (capacity < r->pairs)
        return wb__fail(r->context, WB_ERROR_LIMIT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_READ_ROPE_CAPACITY, (unsigned long long)r->pairs);
    if (r->frequencies == NULL)
        return WB_OK;
    set_plain(r, r->layer.rope_theta);
    return scale(r);
}

wb_status wb_rope_get(const wb_model *model, uint64_t index, uint64_t length, wb_rope *caller,
                      double *frequencies, size_t capacity, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_rope own, *out = WB__OUT(wb_rope, caller, &own);
    rope r = {.model = model,
              .context = &context,
              .layer = WB_LAYER_INIT,
              .length = length,
              .frequencies = frequencies};
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_rope, caller);
    wb_status status = wb__semantics_of(model, &context, &r.semantics);
    if (status == WB_OK)
        status = wb_layer_get(model, index, &r.layer, context.error);
    if (status != WB_OK)
        return status;
    r.config = &r.semantics->config;
    if (length == 0)
        r.length = r.config->max_seq_len;
    status = fill(&r, out, capacity);
    if (status != WB_OK)
        *out = (wb_rope){.size = out->size};
    WB__GIVE(wb_rope, caller, out);
    return status;
}
