/* The forward pass of one token through all layers. Sums use double where that is cheap. */
#include "model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 16 }; /* number of rows decoded at once */

struct state {
    uint64_t length;   /* maximum number of tokens in the sequence */
    uint64_t position; /* position of the next token */
    float *x;          /* [dim], hidden state */
    float *normed;     /* [dim], normalized hidden state */
    float *added;      /* [dim], output of a block, to be added to x */
    float *part;       /* [dim], output of one expert */
    float *qkv;        /* [q_dim + 2 kv_dim], query, key and value */
    float *attended;   /* [q_dim], attention output */
    float *ffn;        /* gate, followed by up */
    float *router;     /* [n_experts], router scores */
    float *scores;     /* [length], attention scores */
    float *logits;     /* [vocabulary] */
    float *keys;       /* [n_layers, length, kv_dim], key cache */
    float *values;
    float *rows;   /* [AT_ONCE, columns], decoded weight rows */
    float *memory; /* one allocation for all buffers above */
};

state *state_new(const model *m, uint64_t length)
{
    const wb_config *c = &m->config;
    state *s = need(1, sizeof *s);
    uint64_t ffn = 2 * (c->ffn_dim > c->expert_ffn_dim ? c->ffn_dim : c->expert_ffn_dim), total = 0;
    uint64_t widest = c->dim > m->q_dim ? c->dim : m->q_dim;
    widest = widest > ffn / 2 ? widest : ffn / 2;
    if (length > UINT32_MAX / m->kv_dim / c->n_layers)
        fail("length", "the text is too long for this example");
    const struct {
        float **buffer;
        uint64_t size;
    } buffers[] = {{&s->x, c->dim},
                   {&s->normed, c->dim},
                   {&s->added, c->dim},
                   {&s->part, c->dim},
                   {&s->qkv, m->q_dim + 2 * m->kv_dim},
                   {&s->attended, m->q_dim},
                   {&s->ffn, ffn},
                   {&s->router, c->n_experts},
                   {&s->scores, length},
                   {&s->logits, m->embedding.rows},
                   {&s->rows, AT_ONCE * widest},
                   {&s->keys, c->n_layers * length * m->kv_dim},
                   {&s->values, c->n_layers * length * m->kv_dim}};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        total += buffers[i].size;
    float *at = s->memory = need(total, sizeof *at);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; at += buffers[i++].size)
        *buffers[i].buffer = at;
    s->length = length;
    return s;
}

void state_free(state *s)
{
    free(s->memory);
    free(s);
}

static float dot(const float *a, const float *b, uint64_t n)
{
    float sums[8] = {0}; /* independent sums, so that the compiler can vectorize the loop */
    float sum = 0;
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (uint64_t j = 0; j < 8; j++)
            sums[j] += a[i + j] * b[i + j];
    for (; i < n; i++)
        sum += a[i] * b[i];
    for (uint64_t j = 0; j < 8; j++)
        sum += sums[j];
    return sum;
}

/* Computes out = W * in for rows first … first + n - 1 of the weight w. */
static void multiply(const state *s, const weight *w, uint64_t first, uint64_t n, const float *in,
                     float *out)
{
    for (uint64_t at = 0; at < n; at += AT_ONCE) {
        uint64_t count = n - at < AT_ONCE ? n - at : AT_ONCE;
        const float *rows = rows_of(w, first + at, count, s->rows);
        for (uint64_t i = 0; i < count; i++)
            out[at + i] = dot(rows + i * w->columns, in, w->columns) +
                          (w->bias ? w->bias[first + at + i] : 0);
    }
}

/* Applies RMSNorm to each group of `columns` values. If the model does not have this norm, copies
 * the values unchanged.
 */
static void normalize(const model *m, const weight *w, const float *in, float *out, uint64_t n)
{
    if (w->values == NULL) {
        memmove(out, in, (size_t)n * sizeof *out);
        return;
    }
    for (uint64_t at = 0; at < n; at += w->columns) {
        double squares = 0;
        for (uint64_t i = 0; i < w->columns; i++)
            squares += (double)in[at + i] * (double)in[at + i];
        float scale = (float)(1 / sqrt(squares / (double)w->columns + m->config.norm_eps));
        for (uint64_t i = 0; i < w->columns; i++)
            out[at + i] = in[at + i] * scale * w->values[i];
    }
}

static void softmax(float *values, uint64_t n)
{
    float largest = values[0];
    double sum = 0;
    for (uint64_t i = 1; i < n; i++)
        largest = fmaxf(largest, values[i]);
    for (uint64_t i = 0; i < n; i++)
        sum += (double)(values[i] = expf(values[i] - largest));
    for (uint64_t i = 0; i < n; i++)
        values[i] = (float)((double)values[i] / sum);
}

static float soft_cap(double value, double cap)
{
    return (float)(cap > 0 ? cap * tanh(value / cap) : value);
}

static void rotate(const layer_facts *about, float *heads, uint64_t n_heads, uint64_t position)
{
    uint64_t pairs = about->rope.pairs;
    for (uint64_t i = 0; i < pairs; i++) {
        double angle = (double)position * about->frequencies[i];
        float cosine = (float)(cos(angle) * about->rope.attention_factor),
              sine = (float)(sin(angle) * about->rope.attention_factor);
        for (uint64_t h = 0; h < n_heads; h++) {
            float *a = heads + h * about->layer.head_dim + i, *b = a + pairs, old = *a;
            *a = old * cosine - *b * sine;
            *b = old * sine + *b * cosine;
        }
    }
}

static void attention(const model *m, state *s, uint64_t n)
{
    const weight *layer = m->layers[n];
    const wb_config *c = &m->config;
    uint64_t hd = c->head_dim, q_dim = m->q_dim, kv_dim = m->kv_dim;
    float *q = s->qkv, *k = q + q_dim, *v = k + kv_dim;
    float *keys = s->keys + n * s->length * kv_dim, *values = s->values + n * s->length * kv_dim;
    multiply(s, &layer[Q], 0, q_dim, s->normed, q);
    multiply(s, &layer[K], 0, kv_dim, s->normed, k);
    multiply(s, &layer[V], 0, kv_dim, s->normed, v);
    normalize(m, &layer[Q_NORM], q, q, q_dim);
    normalize(m, &layer[K_NORM], k, k, kv_dim);
    const layer_facts *about = &m->about[n];
    uint64_t window = about->layer.sliding_window, first = 0;
    if (window != 0 && s->position >= window)
        first = s->position - window + 1;
    rotate(about, q, c->n_heads, s->position);
    rotate(about, k, c->n_kv_heads, s->position);
    memcpy(keys + s->position * kv_dim, k, (size_t)kv_dim * sizeof *k);
    memcpy(values + s->position * kv_dim, v, (size_t)kv_dim * sizeof *v);
    memset(s->attended, 0, (size_t)q_dim * sizeof *s->attended);
    for (uint64_t h = 0; h < c->n_heads; h++) {
        uint64_t at = h / (c->n_heads / c->n_kv_heads) * hd, seen = s->position + 1 - first;
        for (uint64_t i = 0; i < seen; i++)
            s->scores[i] = soft_cap((double)dot(q + h * hd, keys + (first + i) * kv_dim + at, hd) *
                                        c->attention_scale,
                                    c->attn_logit_softcapping);
        softmax(s->scores, seen);
        for (uint64_t i = 0; i < seen; i++)
            for (uint64_t j = 0; j < hd; j++)
                s->attended[h * hd + j] += s->scores[i] * values[(first + i) * kv_dim + at + j];
    }
    multiply(s, &layer[ATTENTION_OUTPUT], 0, c->dim, s->attended, s->added);
}

/* gate = activation(gate) * up */
static void activate(const model *m, float *gate, const float *up, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        double x = (double)gate[i];
        double y = m->config.activation == WB_ACTIVATION_GELU_TANH
                       ? 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
                       : x / (1 + exp(-x));
        gate[i] = (float)y * up[i];
    }
}

static void mixture(const model *m, state *s, const weight *layer)
{
    const wb_config *c = &m->config;
    uint64_t n = c->expert_ffn_dim;
    double chosen = 0;
    multiply(s, &layer[ROUTER], 0, c->n_experts, s->normed, s->router);
    softmax(s->router, c->n_experts);
    memset(s->added, 0, (size_t)c->dim * sizeof *s->added);
    for (uint64_t used = 0; used < c->n_experts_used; used++) {
        uint64_t best = 0;
        for (uint64_t e = 1; e < c->n_experts; e++)
            if (s->router[e] > s->router[best])
                best = e;
        multiply(s, &layer[EXPERTS_GATE], best * n, n, s->normed, s->ffn);
        multiply(s, &layer[EXPERTS_UP], best * n, n, s->normed, s->ffn + n);
        activate(m, s->ffn, s->ffn + n, n);
        multiply(s, &layer[EXPERTS_DOWN], best * c->dim, c->dim, s->ffn, s->part);
        for (uint64_t i = 0; i < c->dim; i++)
            s->added[i] += s->router[best] * s->part[i];
        chosen += (double)s->router[best];
        s->router[best] = -1;
    }
    for (uint64_t i = 0; c->expert_weights_norm && i < c->dim; i++)
        s->added[i] = (float)((double)s->added[i] / chosen);
}

static void feed_forward(const model *m, state *s, const weight *layer)
{
    uint64_t n = m->config.ffn_dim;
    if (layer[ROUTER].rows) {
        mixture(m, s, layer);
        return;
    }
    multiply(s, &layer[GATE], 0, n, s->normed, s->ffn);
    multiply(s, &layer[UP], 0, n, s->normed, s->ffn + n);
    activate(m, s->ffn, s->ffn + n, n);
    multiply(s, &layer[DOWN], 0, m->config.dim, s->ffn, s->added);
}

static void add(const model *m, state *s, const weight *post_norm)
{
    normalize(m, post_norm, s->added, s->added, m->config.dim);
    for (uint64_t i = 0; i < m->config.dim; i++)
        s->x[i] += s->added[i];
}

const float *forward(const model *m, state *s, uint64_t token)
{
    uint64_t dim = m->config.dim;
    const float *row = rows_of(&m->embedding, token, 1, s->rows);
    for (uint64_t i = 0; i < dim; i++)
        s->x[i] = (float)((double)row[i] * m->config.embedding_scale);
    for (uint64_t n = 0; n < m->config.n_layers; n++) {
        const weight *layer = m->layers[n];
        normalize(m, &layer[ATTENTION_NORM], s->x, s->normed, dim);
        attention(m, s, n);
        add(m, s, &layer[POST_ATTENTION_NORM]);
        normalize(m, &layer[FFN_NORM], s->x, s->normed, dim);
        feed_forward(m, s, layer);
        add(m, s, &layer[POST_FFN_NORM]);
    }
    normalize(m, &m->output_norm, s->x, s->normed, dim);
    multiply(s, &m->output, 0, m->embedding.rows, s->normed, s->logits);
    for (uint64_t i = 0; m->config.final_logit_softcapping > 0 && i < m->embedding.rows; i++)
        s->logits[i] = soft_cap((double)s->logits[i], m->config.final_logit_softcapping);
    s->position++;
    return s->logits;
}
