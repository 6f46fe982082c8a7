/* A model for the forward pass: weights by canonical name, the config, and properties of layers. */
#ifndef LLAMA_MODEL_H
#define LLAMA_MODEL_H

#include <weighbridge.h>

/* The weights of a layer. model.c lists their canonical names. */
enum {
    ATTENTION_NORM,
    Q,
    K,
    V,
    ATTENTION_OUTPUT,
    Q_NORM,
    K_NORM,
    POST_ATTENTION_NORM,
    FFN_NORM,
    GATE,
    UP,
    DOWN,
    ROUTER,
    EXPERTS_GATE,
    EXPERTS_UP,
    EXPERTS_DOWN,
    POST_FFN_NORM,
    PARTS
};

/* A weight matrix [rows, columns]. Matrices of several experts are concatenated along the rows.
 * rows == 0: the model does not have the weight.
 */
typedef struct weight {
    wb_buffer buffer;    /* data in the stored encoding */
    wb_mlx_type packed;  /* MLX type of the data, if it is packed as in MLX */
    const float *values; /* decoded values: norms, and weights whose encoding cannot be decoded by
                          * rows */
    const float *bias;   /* [rows], NULL: no bias */
    uint64_t rows;
    uint64_t columns;
} weight;

/* Properties of a layer, and the frequencies of its rotary position embedding. */
typedef struct layer_facts {
    wb_layer layer;
    wb_rope rope;
    double *frequencies; /* [rope.pairs], in radians per position */
} layer_facts;

typedef struct model {
    wb_model *files;
    wb_provider *provider; /* weights in their stored encoding */
    wb_provider *decoded;  /* weights in float32 */
    wb_config config;
    uint64_t q_dim;
    uint64_t kv_dim;
    weight embedding; /* [vocabulary, dim] */
    weight output_norm;
    weight output;
    weight (*layers)[PARTS];
    layer_facts *about; /* [n_layers] */
} model;

/* Prints a message and ends the program. */
_Noreturn void fail(const char *what, const char *why);

/* Allocates zeroed memory. Ends the program if there is none. */
void *need(uint64_t count, size_t size);

/* Makes room for one more element in an array that has `count`. Returns the array, which may move.
 */
void *grow(void *memory, size_t count, size_t *capacity, size_t size);

/* Opens a model and loads its weights. */
void model_open(const char *path, model *m);
void model_close(model *m);

/* Returns rows first … first + n - 1 in float32: a pointer into the stored data, or the rows
 * decoded into `room`.
 */
const float *rows_of(const weight *w, uint64_t first, uint64_t n, float *room);

typedef struct state state;

/* Creates an empty sequence of at most `length` tokens. */
state *state_new(const model *m, uint64_t length);
void state_free(state *s);

/* Processes the next token of the sequence. Returns the logits [vocabulary] for the token after it,
 * valid until the next call.
 */
const float *forward(const model *m, state *s, uint64_t token);

#endif
