/*
 * dense.h: measures the memory that each public function needs for dense files.
 *
 * A dense file has as many small items (keys, tensors, tokens …) as fit into its size, so that the
 * memory for each item counts most. A shape writes such files, and an operation calls public
 * functions. dense.c runs every operation on every shape, and compares the peak of the allocated
 * memory with the promised bound: 8 times the size of the files plus 1 MiB, or the larger bound
 * that the public header promises for the function.
 */
#ifndef WB_TESTS_DENSE_H
#define WB_TESTS_DENSE_H

#include "support.h"

#include "weighbridge/experimental.h"

/* ---- shapes ---- */

typedef struct dense_shape {
    const char *name;
    /* Writes files with about `bytes` bytes in total into a new directory. */
    void (*write)(const struct dense_shape *kind, const char *folder, size_t bytes);
    const char *path;   /* path to open, relative to the directory; "": the directory */
    const void *detail; /* parameters of `write`; the type depends on the shape */
} dense_shape;

/* The lists end with a shape without a name. */
extern const dense_shape text_shapes[], binary_shapes[], set_shapes[];

/* Appends number i as a short text without characters that need an escape; returns its length. */
size_t short_number(char *to, uint64_t i);

FILE *open_in(const char *folder, const char *name);

/* Writes model.safetensors and config.json of a complete llama model of one layer. */
void write_small_model(const char *folder);

/* ---- operations ---- */

typedef struct subject {
    const char *path;    /* the path to open */
    const char *store;   /* the Ollama store, or NULL */
    const char *file;    /* the path of the only file of weights, or NULL */
    const char *scratch; /* an empty directory for output */
    counter memory;
    wb_allocator allocator;
    wb_open_options options;
    wb_error error;
} subject;

typedef struct operation {
    const char *name;
    /* Runs the operation and frees its results. Returns the status to print. */
    wb_status (*run)(subject *s);
    uint64_t factor;   /* memory that the public header permits, per byte of the files; 0: 8 */
    uint64_t constant; /* additional bytes that the header permits, for buffers of fixed size */
} operation;

/* The lists end with an operation without a name. */
extern const operation model_operations[], use_operations[], write_operations[];

/* Opens the model of a subject. */
wb_status open_it(subject *s, wb_model **model);

#endif
