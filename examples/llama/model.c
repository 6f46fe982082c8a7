/* Loads weights and configuration from any format that the library opens. */
#include "model.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Symbols for the numbers of rows and columns of weights. */
enum { ONE, DIM, HEAD, Q_DIM, KV_DIM, FFN, EXPERTS, EXPERT_FFN, ALL_FFN, ALL_DIM, SIZES };

static const struct {
    const char *name;
    int rows, columns;
} parts[PARTS] = {
    [ATTENTION_NORM] = {"attention_norm", ONE, DIM},
    [Q] = {"attention.q", Q_DIM, DIM},
    [K] = {"attention.k", KV_DIM, DIM},
    [V] = {"attention.v", KV_DIM, DIM},
    [ATTENTION_OUTPUT] = {"attention.output", DIM, Q_DIM},
    [Q_NORM] = {"attention.q_norm", ONE, HEAD},
    [K_NORM] = {"attention.k_norm", ONE, HEAD},
    [POST_ATTENTION_NORM] = {"post_attention_norm", ONE, DIM},
    [FFN_NORM] = {"ffn_norm", ONE, DIM},
    [GATE] = {"ffn.gate", FFN, DIM},
    [UP] = {"ffn.up", FFN, DIM},
    [DOWN] = {"ffn.down", DIM, FFN},
    [ROUTER] = {"ffn.router", EXPERTS, DIM},
    [EXPERTS_GATE] = {"ffn.experts.gate", ALL_FFN, DIM},
    [EXPERTS_UP] = {"ffn.experts.up", ALL_FFN, DIM},
    [EXPERTS_DOWN] = {"ffn.experts.down", ALL_DIM, EXPERT_FFN},
    [POST_FFN_NORM] = {"post_ffn_norm", ONE, DIM},
};

/* Supported architectures. Except for Gemma, they differ only in configuration and tensors. */
static const char *const families[] = {"llama", "qwen2", "qwen3",  "qwen3moe",
                                       "phi3",  "gemma", "gemma2", "gemma3"};

void fail(const char *what, const char *why)
{
    fprintf(stderr, "llama: %s: %s\n", what, why);
    exit(1);
}

void *need(uint64_t count, size_t size)
{
    void *memory = count <= SIZE_MAX / size ? calloc((size_t)count + !count, size) : NULL;
    if (memory == NULL)
        fail("out of memory", "the model is too large for this machine");
    return memory;
}

void *grow(void *memory, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return memory;
    *capacity = *capacity ? 2 * *capacity : 64;
    memory = *capacity <= SIZE_MAX / size ? realloc(memory, *capacity * size) : NULL;
    if (memory == NULL)
        fail("out of memory", "the text is too long for this machine");
    return memory;
}

static void check(wb_status status, const wb_error *error)
{
    if (status != WB_OK)
        fail(*error->file ? error->file : "the model", error->message);
}

/* Returns a tensor as float32 [rows, columns], or NULL if the model does not have it. */
static const float *decoded(const model *m, const char *name, uint64_t *rows, uint64_t *columns)
{
    wb_error error;
    wb_buffer b = WB_BUFFER_INIT;
    if (!wb_provider_has(m->decoded, name, SIZE_MAX))
        return NULL;
    check(wb_provider_get(m->decoded, name, SIZE_MAX, &b, &error), &error);
    if (b.rank == 0 || b.bytes == 0)
        fail(name, "is empty");
    *columns = b.shape[b.rank - 1];
    *rows = b.bytes / sizeof(float) / *columns;
    return b.contents;
}

/* Returns the MLX type of a buffer, derived from its dtype number. */
static wb_mlx_type mlx_type(const wb_buffer *buffer)
{
    static const wb_mlx_mode modes[] = {WB_MLX_MXFP4, WB_MLX_MXFP8, WB_MLX_NVFP4};
    wb_mlx_mode mode = buffer->dtype < 104 ? WB_MLX_AFFINE : modes[buffer->dtype - 104];
    return (wb_mlx_type){.size = sizeof(wb_mlx_type),
                         .mode = mode,
                         .bits = buffer->bits,
                         .group_size = buffer->group_size};
}

/* Loads a weight and its bias, and checks their sizes. rows == 0 allows any number of rows. Large
 * weights keep their stored encoding and are decoded row by row when they are used.
 */
static void read_weight(const model *m, const char *stem, uint64_t rows, uint64_t columns,
                        weight *w)
{
    char name[128];
    uint64_t one, n;
    wb_error error;
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    snprintf(name, sizeof name, "%s.weight", stem);
    if (!wb_provider_has(m->provider, name, SIZE_MAX))
        return;
    w->buffer.size = sizeof w->buffer;
    check(wb_provider_get(m->provider, name, SIZE_MAX, &w->buffer, &error), &error);
    const wb_buffer *b = &w->buffer;
    w->rows = w->columns = 1;
    for (uint32_t i = 0; i < b->rank; i++)
        *(i + 1 < b->rank ? &w->rows : &w->columns) *= b->shape[i];
    if (w->columns != columns || (rows ? w->rows != rows : w->rows == 0))
        fail(name, "is of another shape than the config says");
    if (w->rows > 1 && b->dtype >= 97 && b->dtype <= 106 && b->global == WB_MLX_GLOBAL_NONE)
        w->packed = mlx_type(b);
    else if (w->rows == 1 || b->sections != 1 || wb_dtype_describe(b->dtype, &info) != WB_OK ||
             !info.decodes)
        w->values = decoded(m, name, &one, &n);
    snprintf(name, sizeof name, "%s.bias", stem);
    if ((w->bias = decoded(m, name, &one, &n)) != NULL && one * n != w->rows)
        fail(name, "is of another length than its weight");
}

const float *rows_of(const weight *w, uint64_t first, uint64_t n, float *room)
{
    const wb_buffer *b = &w->buffer;
    const unsigned char *at[3] = {0};
    uint64_t sizes[3] = {0};
    wb_error error;
    if (w->values)
        return w->values + first * w->columns;
    for (uint32_t i = 0; i < b->sections && i < 3; i++) {
        sizes[i] = b->section[i].bytes / w->rows * n;
        at[i] = (const unsigned char *)b->contents + b->section[i].offset + sizes[i] / n * first;
    }
    const wb_mlx_parts packed = {.size = sizeof packed,
                                 .weight = at[0],
                                 .scales = at[1],
                                 .biases = at[2],
                                 .weight_bytes = sizes[0],
                                 .scales_bytes = sizes[1],
                                 .biases_bytes = sizes[2],
                                 .scales_dtype = b->section[1].dtype,
                                 .biases_dtype = b->section[2].dtype};
    wb_status status =
        w->packed.mode
            ? wb_mlx_dequantize(&w->packed, &packed, n, w->columns, WB_DTYPE_F32, room,
                                n * w->columns * sizeof *room, NULL, &error)
            : wb_dequantize(b->dtype, at[0], sizes[0], n, w->columns, room, NULL, &error);
    check(status, &error);
    return room;
}

static void read_layer(const model *m, uint64_t n, weight *layer)
{
    const wb_config *c = &m->config;
    const uint64_t e = c->n_experts, f = c->expert_ffn_dim, q = m->q_dim, kv = m->kv_dim;
    const uint64_t sizes[SIZES] = {1,          c->dim, c->head_dim, q,     kv,
                                   c->ffn_dim, e,      f,           e * f, e * c->dim};
    char stem[64];
    for (int i = 0; i < PARTS; i++) {
        snprintf(stem, sizeof stem, "layers.%" PRIu64 ".%s", n, parts[i].name);
        read_weight(m, stem, sizes[parts[i].rows], sizes[parts[i].columns], &layer[i]);
    }
    int attention = layer[Q].rows && layer[K].rows && layer[V].rows;
    int dense = layer[DOWN].rows && layer[GATE].rows && layer[UP].rows;
    int mixed = layer[EXPERTS_GATE].rows && layer[EXPERTS_UP].rows && layer[EXPERTS_DOWN].rows;
    if (!layer[ATTENTION_NORM].rows || !attention || !layer[ATTENTION_OUTPUT].rows ||
        !layer[FFN_NORM].rows || !(layer[ROUTER].rows ? mixed : dense))
        fail(stem, "this layer lacks weights");
}

static void set_layers(model *m)
{
    wb_error error;
    m->about = need(m->config.n_layers, sizeof *m->about);
    for (uint64_t n = 0; n < m->config.n_layers; n++) {
        layer_facts *about = &m->about[n];
        *about = (layer_facts){.layer = WB_LAYER_INIT, .rope = WB_ROPE_INIT};
        check(wb_layer_get(m->files, n, &about->layer, &error), &error);
        check(wb_rope_get(m->files, n, 0, &about->rope, NULL, 0, &error), &error);
        about->frequencies = need(about->rope.pairs, sizeof *about->frequencies);
        check(wb_rope_get(m->files, n, 0, &about->rope, about->frequencies,
                          (size_t)about->rope.pairs, &error),
              &error);
        if (about->rope.pairs > about->layer.head_dim / 2)
            fail("config", "more elements are rotated than a head has");
    }
}

static void set_facts(model *m)
{
    const wb_config *c = &m->config;
    const uint64_t counts[] = {c->n_layers,           c->dim,          c->n_heads,
                               c->n_kv_heads,         c->head_dim / 2, c->n_experts + 1,
                               c->n_experts_used + 1, c->ffn_dim + 1,  c->expert_ffn_dim + 1};
    int known = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        known |= c->architecture && strcmp(c->architecture, families[i]) == 0;
    if (!known)
        fail(c->architecture ? c->architecture : "architecture",
             "not one of those this example knows");
    /* Limit the sizes, so that the product of two sizes does not overflow. */
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] == 0 || counts[i] > INT32_MAX)
            fail("config", "a size is missing or absurd");
    if (c->n_heads % c->n_kv_heads || c->head_dim % 2 || c->n_experts_used > c->n_experts)
        fail("config", "these sizes do not go together");
    m->q_dim = c->n_heads * c->head_dim;
    m->kv_dim = c->n_kv_heads * c->head_dim;
    if (c->activation != WB_ACTIVATION_SILU && c->activation != WB_ACTIVATION_GELU_TANH)
        fail("activation", "not one of those this example knows");
}

void model_open(const char *path, model *m)
{
    /* One provider keeps the stored encodings, so that weights can be used directly from the mapped
     * files. The other decodes norms, biases, and encodings that cannot be decoded row by row. With
     * these flags, the order of rows and the offset of norms do not depend on the format. */
    const uint32_t flags = WB_POLICY_ROPE_HALF | WB_POLICY_NORM_PLAIN;
    const wb_policy keep = {
        .size = sizeof keep, .plain = WB_PLAIN_KEEP, .flags = flags | WB_POLICY_KEEP_SCALES};
    const wb_policy decode = {.size = sizeof decode,
                              .plain = WB_PLAIN_DTYPE,
                              .dtype = WB_DTYPE_F32,
                              .flags = flags | WB_POLICY_DECODE};
    wb_error error;
    *m = (model){.config.size = sizeof m->config};
    check(wb_open(path, NULL, &m->files, &error), &error);
    check(wb_config_get(m->files, &m->config, &error), &error);
    check(wb_provider_create(m->files, NULL, &keep, &m->provider, &error), &error);
    check(wb_provider_create(m->files, NULL, &decode, &m->decoded, &error), &error);
    set_facts(m);
    set_layers(m);
    read_weight(m, "token_embedding", 0, m->config.dim, &m->embedding);
    read_weight(m, "output_norm", 1, m->config.dim, &m->output_norm);
    read_weight(m, "output", m->embedding.rows, m->config.dim, &m->output);
    if (!m->embedding.rows || !m->output_norm.rows || !m->output.rows)
        fail(path, "lacks the weights of embedding or output");
    m->layers = need(m->config.n_layers, sizeof *m->layers);
    for (uint64_t n = 0; n < m->config.n_layers; n++)
        read_layer(m, n, m->layers[n]);
}

void model_close(model *m)
{
    for (uint64_t n = 0; n < m->config.n_layers; n++)
        free(m->about[n].frequencies);
    free(m->about);
    free(m->layers);
    wb_provider_destroy(m->decoded);
    wb_provider_destroy(m->provider);
    wb_close(m->files);
}
