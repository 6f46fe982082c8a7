/* Generates rope_scaling for a config.json that is made from GGUF key-values. For Llama 3 and
 * Phi 3 the parameters come from GGUF tensors with frequency factors. For other models they come
 * from key-values, which are written only if transformers accepts them. */
#include <math.h>

#include "arch/llama3_rope.h"
#include "convert/convert_messages.h"
#include "convert/emit/deliver.h"

#define FACTORS_MAX 65536

/* ---- values of a tensor ---- */

/* Reads the values of a tensor. If *n is 0, sets *n to their number; otherwise the tensor must have
 * *n values. Sets *values to NULL and returns WB_OK if the tensor does not exist or has another
 * number of values. */
static wb_status read_factors(const wb__emit_job *out, const char *name, uint64_t *n,
                              float **values)
{
    const wb_conversion *conversion = out->conversion;
    wb_tensor tensor = {.size = sizeof tensor};
    uint64_t index;
    *values = NULL;
    if (wb_tensor_find(conversion->model, name, SIZE_MAX, &index) != WB_OK ||
        wb_tensor_at(conversion->model, index, &tensor, NULL) != WB_OK || tensor.elements == 0 ||
        tensor.elements > FACTORS_MAX || (*n != 0 && tensor.elements != *n))
        return WB_OK;
    *n = tensor.elements;
    size_t bytes = (size_t)*n * sizeof(float);
    *values = wb__alloc(&conversion->allocator, bytes);
    if (*values == NULL)
        return wb__fail_memory(out->context);
    wb_status status = wb_tensor_read(conversion->model, index, NULL, WB_DTYPE_F32, *values, bytes,
                                      out->context->error);
    if (status == WB_OK)
        return WB_OK;
    wb__free(&conversion->allocator, *values, bytes);
    *values = NULL;
    return status;
}

static void free_factors(const wb__emit_job *out, float *values, uint64_t n)
{
    wb__free(&out->conversion->allocator, values, (size_t)n * sizeof *values);
}

static int64_t original_context(const wb_conversion *conversion)
{
    int64_t context = 0;
    return wb_meta_get_int(conversion->model, "rope_scaling.original_max_position_embeddings",
                           SIZE_MAX, &context, NULL) == WB_OK
               ? context
               : 0;
}

/* ---- Llama 3 ---- */

static void add_llama3(wb__buffer *to, const wb__llama3 *numbers)
{
    const struct {
        const char *key;
        double value;
    } members[] = {{"factor", numbers->factor},
                   {"high_freq_factor", numbers->high},
                   {"low_freq_factor", numbers->low}};
    wb__json_writer writer = wb__emit_json(to);
    wb__emit_member(to, WB__STR("rope_scaling"));
    wb__json_write_begin(&writer, '{');
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        wb__json_write_key(&writer, members[i].key);
        wb__json_write_real(&writer, members[i].value);
    }
    wb__json_write_key(&writer, "original_max_position_embeddings");
    wb__json_write_uint(&writer, (uint64_t)numbers->context);
    wb__json_write_key(&writer, "rope_type");
    wb__json_write_str(&writer, WB__STR("llama3"));
    wb__json_write_end(&writer, '}');
}

/* Finds rope_scaling parameters from which the GGUF tensor rope_freqs can be computed, writes
 * them, and sets *found to true. If no parameters match, adds a warning. Does nothing if the
 * source has no such tensor. */
static wb_status rebuild_llama3(wb__emit_job *out, wb__buffer *to, bool *found)
{
    wb_conversion *conversion = out->conversion;
    const wb_config *config = &conversion->semantics->config;
    wb__llama3 numbers = {.context = (double)original_context(conversion)};
    uint64_t n = 0;
    float *divisors;
    wb_status status = read_factors(out, "rope_freqs.weight", &n, &divisors);
    if (status != WB_OK || divisors == NULL)
        return status;
    *found =
        n == config->head_dim / 2 && wb__llama3_find(divisors, config->rope_theta, n, &numbers);
    free_factors(out, divisors, n);
    if (*found)
        add_llama3(to, &numbers);
    else
        status = wb__plan_note(conversion, out->context, WB_WARNING, WB__FINDING_CONVERT_META,
                               WB__STR("rope_freqs.weight"), WB__MSG_CONVERT_ROPE_DIVISORS);
    return status;
}

/* ---- Phi 3 ---- */

static void add_list(wb__json_writer *writer, const char *key, const float *values, uint64_t n)
{
    wb__json_write_key(writer, key);
    wb__json_write_begin(writer, '[');
    for (uint64_t i = 0; i < n; i++)
        wb__json_write_real(writer, (double)values[i]);
    wb__json_write_end(writer, ']');
}

/* Writes the RoPE parameters of Phi 3. config.json of Phi 3 contains
 * original_max_position_embeddings outside rope_scaling. Its rope_scaling contains two lists of
 * factors or does not exist. */
static wb_status rebuild_longrope(wb__emit_job *out, wb__buffer *to, bool *said)
{
    uint64_t n = 0;
    float *longer, *shorter = NULL;
    int64_t context = original_context(out->conversion);
    wb__json_writer writer = wb__emit_json(to);
    *said = true;
    if (context > 0) {
        wb__emit_member(to, WB__STR("original_max_position_embeddings"));
        wb__json_write_int(&writer, context);
    }
    wb_status status = read_factors(out, "rope_factors_long.weight", &n, &longer);
    if (status == WB_OK && longer != NULL)
        status = read_factors(out, "rope_factors_short.weight", &n, &shorter);
    if (shorter != NULL) {
        writer = wb__emit_json(to);
        wb__emit_member(to, WB__STR("rope_scaling"));
        wb__json_write_begin(&writer, '{');
        wb__json_write_key(&writer, "type");
        wb__json_write_str(&writer, WB__STR("longrope"));
        add_list(&writer, "long_factor", longer, n);
        add_list(&writer, "short_factor", shorter, n);
        wb__json_write_end(&writer, '}');
    }
    if (longer != NULL)
        free_factors(out, longer, n);
    if (shorter != NULL)
        free_factors(out, shorter, n);
    return status;
}

/* ---- other architectures ---- */

static void add_linear(wb__buffer *to, double factor)
{
    wb__json_writer writer = wb__emit_json(to);
    wb__emit_member(to, WB__STR("rope_scaling"));
    wb__json_write_begin(&writer, '{');
    wb__json_write_key(&writer, "factor");
    wb__json_write_real(&writer, factor);
    wb__json_write_key(&writer, "rope_type");
    wb__json_write_str(&writer, WB__STR("linear"));
    wb__json_write_end(&writer, '}');
}

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

/* Checks the rope_scaling key-values of the GGUF file. transformers requires a known type and a
 * factor. If both exist, sets *said to false, and the caller copies the key-values. A factor
 * without a type is written with the type "linear", because llama.cpp applies such a factor as
 * linear scaling. A type without a factor is not written, because llama.cpp then scales nothing. */
static wb_status check_type(wb__emit_job *out, wb__buffer *to, bool *said)
{
    static const char *const shared[] = {"linear", "yarn", "dynamic"};
    static const char *const nothing[] = {"none", "default"};
    const wb_model *model = out->conversion->model;
    const char *type;
    size_t n;
    double factor = 0;
    bool has = wb_meta_get_float(model, "rope_scaling.factor", SIZE_MAX, &factor, NULL) == WB_OK &&
               isfinite(factor) && factor > 0;
    *said = true;
    if (wb_meta_get_string(model, "rope_scaling.rope_type", SIZE_MAX, &type, &n, NULL) != WB_OK) {
        if (has && factor != 1)
            add_linear(to, factor);
        return WB_OK;
    }
    *said = !has || !is_one_of(type, shared, sizeof shared / sizeof shared[0]);
    if (is_one_of(type, shared, sizeof shared / sizeof shared[0]) ||
        is_one_of(type, nothing, sizeof nothing / sizeof nothing[0]))
        return WB_OK;
    return wb__plan_note(out->conversion, out->context, WB_WARNING, WB__FINDING_CONVERT_META,
                         (wb__str){type, n}, WB__MSG_CONVERT_ROPE_TYPE);
}

wb_status wb__emit_rope(wb__emit_job *out, wb__buffer *to, bool *said)
{
    *said = false;
    if (wb__family_hint(out->conversion->semantics->family, "longrope"))
        return rebuild_longrope(out, to, said);
    wb_status status = rebuild_llama3(out, to, said);
    return status == WB_OK && !*said ? check_type(out, to, said) : status;
}
