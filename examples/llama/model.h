/*
 * A model as the forward pass wants it: weights by their canonical names, the config, and the few facts
 * of a family that are in neither.
 */
#ifndef LLAMA_MODEL_H
#define LLAMA_MODEL_H

#include <weighbridge.h>

/* What a layer may consist of; model.c has the canonical names. */
enum {
    ATTENTION_NORM,
    Q,
    K,
    V,
    QKV,
    ATTENTION_OUTPUT,
    Q_NORM,
    K_NORM,
    POST_ATTENTION_NORM,
    FFN_NORM,
    GATE,
    UP,
    GATE_UP,
    DOWN,
    ROUTER,
    EXPERTS_GATE,
    EXPERTS_UP,
    EXPERTS_DOWN,
    POST_FFN_NORM,
    PARTS
};

/* [rows, columns], experts one below the other; rows 0: the model has none. */
typedef struct weight {
    wb_buffer buffer;   /* as the files have it, packed where they are */
    wb_mlx_type packed; /* where the buffer is one of MLX's types */
    float *values;      /* of norms, and where there is nothing to decode rows of the buffer with */
    float *bias;        /* [rows]; NULL: none */
    uint64_t rows;
    uint64_t columns;
} weight;

typedef struct model {
    wb_model *files;
    wb_provider *provider;
    wb_config config;
    uint64_t q_dim;
    uint64_t kv_dim;
    weight embedding; /* [vocabulary, dim] */
    weight output_norm;
    weight output;
    weight (*layers)[PARTS];
    double *rope;       /* radians a position for each of head_dim / 2 pairs … */
    double *rope_local; /* … and in layers with a sliding window */
    double embedding_scale;
    double query_scale;
    double attention_cap; /* soft caps; 0: none */
    double logit_cap;
    int gelu;              /* else SiLU */
    int normalize_experts; /* the factors of the experts used add up to 1 */
} model;

/* Ends the program with a message. */
_Noreturn void fail(const char *what, const char *why);

/* Zeroed memory, or the end. */
void *need(uint64_t count, size_t size);

/* Opens a model and gets its weights. */
void model_open(const char *path, model *m);
void model_close(model *m);

/* Rows first … first + n - 1 in float32: where they lie, or decoded to `room`. */
const float *rows_of(const weight *w, uint64_t first, uint64_t n, float *room);

typedef struct state state;

/* A text of at most `length` tokens, empty. */
state *state_new(const model *m, uint64_t length);
void state_free(state *s);

/* Takes the next token and gives the logits [vocabulary] of the one behind it, valid until the next. */
const float *forward(const model *m, state *s, uint64_t token);

#endif
