/* Converts the RoPE scaling of config.json to GGUF. llama.cpp represents some scaling methods by
 * keys (rope.scaling.*) and other methods by tensors. Methods that llama.cpp does not support
 * are omitted, and a note reports them. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "arch/llama3_rope.h"
#include "convert/convert.h"
#include "convert/convert_messages.h"

#define FACTORS_MAX 65536

#define WRONG WB__MSG_CONVERT_ROPE_LONG_TEXTS

typedef struct wb__rope_scaling {
    const char *said; /* name of the method in config.json */
    const char *word; /* value of rope.scaling.type in GGUF; NULL: the key is not written */
    /* NULL: GGUF needs no tensors for the method. Otherwise it needs tensors, and the method can be
     * converted only if the family's description (arch/families) has the line "token HINT". */
    const char *hint;
} rope_scaling;

static const rope_scaling stretches[] = {
    {"default", NULL, NULL},        {"linear", "linear", NULL},
    {"yarn", "yarn", NULL},         {"longrope", "longrope", "longrope"},
    {"su", "longrope", "longrope"}, {"llama3", NULL, "llama3"},
};

/* Returns true if the description of the model's family (arch/families) has the line
 * "token HINT". */
static bool has_hint(const wb_conversion *conversion, const char *hint)
{
    return wb__family_hint(conversion->semantics->family, hint);
}

/* ---- values of config.json ---- */

/* JSON objects that can contain the RoPE scaling. If the layer types have different scaling,
 * transformers 5 writes one object per layer type. */
static const char *const objects[] = {"rope_scaling", "rope_parameters",
                                      "rope_parameters.full_attention"};

#define OBJECTS (sizeof objects / sizeof objects[0])

static double real_of(const wb_conversion *conversion, const char *key, double otherwise)
{
    char full[128];
    double value;
    for (size_t i = 0; i < OBJECTS; i++) {
        (void)snprintf(full, sizeof full, "%s.%s", objects[i], key);
        if (wb_meta_get_float(conversion->model, full, SIZE_MAX, &value, NULL) == WB_OK)
            return value;
    }
    return otherwise;
}

/* Returns the name of the scaling method, or NULL if the model has none. */
static const char *type_of(const wb_conversion *conversion)
{
    char key[96];
    const char *said;
    size_t n;
    (void)snprintf(key, sizeof key, "%s.rope.scaling.type",
                   conversion->semantics->config.architecture);
    return wb_meta_get_string(conversion->model, key, SIZE_MAX, &said, &n, NULL) == WB_OK ? said
                                                                                          : NULL;
}

/* Returns the entry of `stretches` for the method, or NULL if GGUF cannot represent the method
 * for this family. */
static const rope_scaling *find_stretch(const wb_conversion *conversion, const char *said)
{
    for (size_t i = 0; i < sizeof stretches / sizeof stretches[0]; i++) {
        const rope_scaling *way = &stretches[i];
        if (strcmp(said, way->said) == 0 && (way->hint == NULL || has_hint(conversion, way->hint)))
            return way;
    }
    return NULL;
}

static wb_status warn(wb_conversion *conversion, wb__context *context, const char *name,
                      const char *message)
{
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_META,
                         wb__plan_text(conversion, wb__str_from(name, SIZE_MAX)), message);
}

/* ---- Llama 3 ---- */

static wb_status add_llama3(wb_conversion *conversion, wb__context *context)
{
    const wb_config *config = &conversion->semantics->config;
    const wb__llama3 numbers = {real_of(conversion, "factor", 8),
                                real_of(conversion, "low_freq_factor", 1),
                                real_of(conversion, "high_freq_factor", 4),
                                real_of(conversion, "original_max_position_embeddings", 8192)};
    uint64_t n = config->head_dim / 2;
    if (n == 0 || n > FACTORS_MAX)
        return WB_OK;
    float *values = wb__arena_alloc(&conversion->arena, (size_t)n * sizeof *values);
    if (values == NULL)
        return wb__fail_memory(context);
    wb__llama3_divisors(&numbers, config->rope_theta, n, values);
    return wb__plan_add_made(conversion, context, "rope_freqs.weight", values, n);
}

/* ---- Phi 3: factors of the frequencies for long and for short contexts ---- */

/* Returns the number of frequencies per head, which is also the number of factors that llama.cpp
 * loads. */
static uint64_t count_frequencies(const wb_conversion *conversion)
{
    char key[96];
    uint64_t rotated;
    (void)snprintf(key, sizeof key, "%s.rope.dimension_count",
                   conversion->semantics->config.architecture);
    return wb_meta_get_uint(conversion->model, key, SIZE_MAX, &rotated, NULL) == WB_OK ? rotated / 2
                                                                                       : 0;
}

static bool find_list(const wb_conversion *conversion, const char *key, wb_meta_array *array)
{
    char full[128];
    for (size_t i = 0; i < OBJECTS; i++) {
        (void)snprintf(full, sizeof full, "%s.%s", objects[i], key);
        *array = (wb_meta_array){.size = sizeof *array};
        if (wb_meta_get_array(conversion->model, full, SIZE_MAX, WB_META_ANY, array, NULL) == WB_OK)
            return true;
    }
    return false;
}

static bool read_factor(const wb_meta_array *array, uint64_t i, float *value)
{
    double real = 0;
    int64_t whole = 0;
    if (array->element == WB_META_INT || array->element == WB_META_UINT) {
        if (wb_meta_ints(array, i, 1, &whole) != WB_OK)
            return false;
        real = (double)whole;
    } else if (array->element != WB_META_FLOAT || wb_meta_floats(array, i, 1, &real) != WB_OK) {
        return false;
    }
    *value = real > 0 && real <= FLT_MAX ? (float)real : 0;
    return *value > 0; /* frequencies are divided by the value, so it must be positive */
}

/* Reads a list of n factors from config.json. Sets *values to NULL if config.json contains no
 * such list. */
static wb_status read_factors(wb_conversion *conversion, wb__context *context, const char *key,
                              uint64_t n, float **values)
{
    wb_meta_array array;
    *values = NULL;
    if (n == 0 || n > FACTORS_MAX || !find_list(conversion, key, &array) || array.count != n)
        return WB_OK;
    float *read = wb__arena_alloc(&conversion->arena, (size_t)n * sizeof *read);
    if (read == NULL)
        return wb__fail_memory(context);
    for (uint64_t i = 0; i < n; i++) {
        if (!read_factor(&array, i, &read[i]))
            return WB_OK;
    }
    *values = read;
    return WB_OK;
}

/* Omits LongRoPE from the output if its factors are missing. With the key but without the
 * factors, llama.cpp would scale attention but not change the frequencies. */
static wb_status drop_longrope(wb_conversion *conversion, wb__context *context, uint64_t n)
{
    char text[256];
    (void)snprintf(text, sizeof text, WB__MSG_CONVERT_ROPE_FACTORS WRONG, (unsigned long long)n);
    wb_status status = warn(conversion, context, conversion->rope_scaling->said, text);
    conversion->rope_scaling = NULL;
    return status;
}

static wb_status add_longrope(wb_conversion *conversion, wb__context *context)
{
    float *longer, *shorter = NULL;
    uint64_t n = count_frequencies(conversion);
    wb_status status = read_factors(conversion, context, "long_factor", n, &longer);
    if (status == WB_OK)
        status = read_factors(conversion, context, "short_factor", n, &shorter);
    if (status != WB_OK)
        return status;
    if (longer == NULL || shorter == NULL)
        return drop_longrope(conversion, context, n);
    status = wb__plan_add_made(conversion, context, "rope_factors_long.weight", longer, n);
    return status != WB_OK
               ? status
               : wb__plan_add_made(conversion, context, "rope_factors_short.weight", shorter, n);
}

/* ---- YaRN ---- */

/* Returns the attention factor of YaRN for a context that is extended by `factor`. The YaRN
 * paper uses weight 1, and the models of DeepSeek use other weights. */
static double attention_of(double factor, double weight)
{
    return factor > 1 ? 0.1 * weight * log(factor) + 1 : 1;
}

/* Returns the attention factor that llama.cpp uses: attention_of(factor, 1). If the metadata
 * contain a weight (yarn_log_multiplier), llama.cpp divides this by attention_of(factor,
 * weight). */
static double attention_of_llama_cpp(const wb_conversion *conversion, double factor)
{
    char key[96];
    double weight;
    (void)snprintf(key, sizeof key, "%s.rope.scaling.yarn_log_multiplier",
                   conversion->semantics->config.architecture);
    bool has =
        wb_meta_get_float(conversion->model, key, SIZE_MAX, &weight, NULL) == WB_OK && weight != 0;
    return attention_of(factor, 1) / (has ? attention_of(factor, weight) : 1);
}

/* Adds a warning if the attention factor that transformers uses is not that of llama.cpp. */
static wb_status check_attention(wb_conversion *conversion, wb__context *context)
{
    double factor = real_of(conversion, "factor", 1);
    double mscale = real_of(conversion, "mscale", 0),
           all = real_of(conversion, "mscale_all_dim", 0);
    double usual = attention_of_llama_cpp(conversion, factor), said = attention_of(factor, 1);
    if (mscale != 0 && all != 0)
        said = attention_of(factor, mscale) / attention_of(factor, all);
    said = real_of(conversion, "attention_factor", said);
    /* the tolerance allows for rounded values in config.json */
    if (fabs(said - usual) <= 1e-3 * usual)
        return WB_OK;
    return warn(conversion, context, conversion->rope_scaling->said,
                WB__MSG_CONVERT_ROPE_ATTENTION);
}

/* ---- all methods ---- */

/* Adds a warning if the model scales RoPE in layers with a sliding window. llama.cpp does not
 * scale RoPE in these layers. */
static wb_status check_sliding(wb_conversion *conversion, wb__context *context)
{
    static const char key[] = "rope_parameters.sliding_attention.rope_type";
    const char *said;
    size_t n;
    if (wb_meta_get_string(conversion->model, key, SIZE_MAX, &said, &n, NULL) != WB_OK ||
        strcmp(said, "default") == 0)
        return WB_OK;
    return warn(conversion, context, said, WB__MSG_CONVERT_ROPE_SLIDING);
}

/* Writes the RoPE scaling of the layers without a sliding window to the plan. */
static wb_status tell_stretch(wb_conversion *conversion, wb__context *context)
{
    const char *said = type_of(conversion);
    if (said == NULL)
        return WB_OK;
    conversion->rope_scaling = find_stretch(conversion, said);
    if (conversion->rope_scaling == NULL)
        return warn(conversion, context, said, WB__MSG_CONVERT_ROPE_GGUF WRONG);
    if (strcmp(said, "yarn") == 0)
        return check_attention(conversion, context);
    if (conversion->rope_scaling->hint == NULL)
        return WB_OK;
    return conversion->rope_scaling->word == NULL ? add_llama3(conversion, context)
                                                  : add_longrope(conversion, context);
}

wb_status wb__plan_rope(wb_conversion *conversion, wb__context *context)
{
    if (conversion->target != WB_TARGET_GGUF || conversion->semantics->by_key ||
        !conversion->semantics->is_family)
        return WB_OK;
    wb_status status = check_sliding(conversion, context);
    return status == WB_OK ? tell_stretch(conversion, context) : status;
}

const char *wb__plan_rope_word(const wb_conversion *conversion)
{
    return conversion->rope_scaling == NULL ? NULL : conversion->rope_scaling->word;
}

/* Returns true if the key rope.scaling.REST is written to GGUF. The original context length is
 * not written without a scaling type. In a later conversion to config.json it would become a
 * member of rope_scaling, and transformers rejects a rope_scaling without a type. Llama 3 and
 * Phi 3 are exceptions. The parameters of Llama 3 are recovered with this length, and
 * config.json of Phi 3 contains it outside rope_scaling. */
bool wb__plan_rope_keeps(const wb_conversion *conversion, wb__str rest)
{
    bool is_length = wb__str_equal(rest, WB__STR("original_context_length"));
    bool has_longrope = has_hint(conversion, "longrope");
    const char *word = wb__plan_rope_word(conversion);
    if (wb__str_starts_with(rest, WB__STR("yarn_")))
        return word != NULL && strcmp(word, "yarn") == 0;
    return word != NULL ||
           (is_length && (has_longrope || (conversion->rope_scaling != NULL &&
                                           conversion->rope_scaling->hint != NULL)));
}
