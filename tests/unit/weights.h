/*
 * weights.h: writes small models of any encoding into a scratch directory, for tests of the
 * provider and others.
 *
 * Packed values are random bytes; scales and biases are random floats between -1 and 1, except
 * where stated. weights_bytes returns the stored bytes, so that a test need not read them with the
 * library. Include support.h first.
 */
#ifndef WB_TESTS_WEIGHTS_H
#define WB_TESTS_WEIGHTS_H

#include "support.h"

typedef struct weights {
    char *folder;
    char header[1 << 16];
    unsigned char *data;
    size_t bytes, capacity;
    size_t begin; /* file offset of the data section */
    struct {
        char name[192];
        size_t at, bytes;
    } tensors[256];
    size_t count;
    uint64_t random;
    wb_model *model;
} weights;

static inline weights *weights_new(const char *config)
{
    weights *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->folder = scratch_make();
    w->random = 88172645463325252u;
    w->header[0] = '{';
    char *path = text_of("%s/config.json", w->folder);
    write_file(path, config, strlen(config));
    free(path);
    return w;
}

/* Appends a tensor of `bytes` bytes, filled with 0. Returns its data. */
static inline unsigned char *weights_add(weights *w, const char *name, const char *dtype,
                                         const uint64_t *shape, int rank, size_t bytes)
{
    size_t n = strlen(w->header);
    char dims[256] = "";
    for (int i = 0; i < rank; i++)
        (void)snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%llu", i > 0 ? "," : "",
                       (unsigned long long)shape[i]);
    (void)snprintf(w->header + n, sizeof w->header - n,
                   "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                   w->count > 0 ? "," : "", name, dtype, dims, w->bytes, w->bytes + bytes);
    if (w->bytes + bytes > w->capacity) {
        w->capacity = (w->bytes + bytes) * 2;
        w->data = realloc(w->data, w->capacity);
        assert_non_null(w->data);
    }
    (void)snprintf(w->tensors[w->count].name, sizeof w->tensors[0].name, "%s", name);
    w->tensors[w->count].at = w->bytes;
    w->tensors[w->count++].bytes = bytes;
    w->bytes += bytes;
    memset(w->data + w->bytes - bytes, 0, bytes);
    return w->data + w->bytes - bytes;
}

static inline size_t elements_of(const uint64_t *shape, int rank)
{
    size_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= (size_t)shape[i];
    return n;
}

static inline void fill_random(weights *w, unsigned char *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)(next_random(&w->random) >> 32);
}

/* Appends a tensor of random bytes, with `size` bytes per element. */
static inline void weights_raw(weights *w, const char *name, const char *dtype,
                               const uint64_t *shape, int rank, size_t size)
{
    size_t n = elements_of(shape, rank) * size;
    fill_random(w, weights_add(w, name, dtype, shape, rank, n), n);
}

static inline float next_float(weights *w)
{
    return (float)((int64_t)(next_random(&w->random) >> 40) - (1 << 23)) / (float)(1 << 23);
}

/* Appends a tensor of random floats between -1 and 1, as F32 or BF16. */
static inline void weights_floats(weights *w, const char *name, const char *dtype,
                                  const uint64_t *shape, int rank)
{
    size_t n = elements_of(shape, rank), size = strcmp(dtype, "F32") == 0 ? 4 : 2;
    unsigned char *to = weights_add(w, name, dtype, shape, rank, n * size);
    for (size_t i = 0; i < n; i++) {
        float value = next_float(w);
        unsigned char bytes[4];
        memcpy(bytes, &value, 4);
        memcpy(to + i * size, bytes + 4 - size, size); /* the upper half of an F32 is a BF16 */
    }
}

/* Appends the parts of an MLX tensor. `mode` is "affine", "mxfp4", "mxfp8" or "nvfp4". `shape` is
 * the shape of the decoded tensor. */
static inline void weights_mlx(weights *w, const char *module, const char *mode, unsigned bits,
                               unsigned group, const uint64_t *shape, int rank,
                               const char *scales_dtype)
{
    char name[180];
    uint64_t packed[4], scales[4];
    memcpy(packed, shape, (size_t)rank * sizeof *shape);
    memcpy(scales, shape, (size_t)rank * sizeof *shape);
    packed[rank - 1] = shape[rank - 1] * bits / 32;
    scales[rank - 1] = shape[rank - 1] / group;
    (void)snprintf(name, sizeof name, "%s.weight", module);
    weights_raw(w, name, "U32", packed, rank, 4);
    (void)snprintf(name, sizeof name, "%s.scales", module);
    if (strcmp(mode, "affine") == 0) {
        weights_floats(w, name, scales_dtype, scales, rank);
        (void)snprintf(name, sizeof name, "%s.biases", module);
        weights_floats(w, name, scales_dtype, scales, rank);
        return;
    }
    size_t n = elements_of(scales, rank);
    unsigned char *to = weights_add(w, name, "U8", scales, rank, n);
    for (size_t i = 0; i < n; i++) /* scales near 1: E4M3 for nvfp4, otherwise E8M0 */
        to[i] = (unsigned char)((strcmp(mode, "nvfp4") == 0 ? 0x30 : 120) +
                                (int)(next_random(&w->random) >> 40) % 12);
}

/* Appends the parts of a 4-bit AWQ or GPTQ matrix [out, in] with BF16 scales, except g_idx, which
 * the caller may append. */
static inline void weights_int4(weights *w, bool awq, const char *module, uint64_t out, uint64_t in,
                                uint64_t group)
{
    const uint64_t values[2] = {awq ? in : in / 8, awq ? out / 8 : out};
    const uint64_t scales[2] = {in / group, out}, zeros[2] = {in / group, out / 8};
    char name[160];
    (void)snprintf(name, sizeof name, "%s.qweight", module);
    weights_raw(w, name, "I32", values, 2, 4);
    (void)snprintf(name, sizeof name, "%s.scales", module);
    weights_floats(w, name, "BF16", scales, 2);
    (void)snprintf(name, sizeof name, "%s.qzeros", module);
    weights_raw(w, name, "I32", zeros, 2, 4);
}

static inline void weights_write(weights *w)
{
    char *path = text_of("%s/model.safetensors", w->folder);
    size_t header = strlen(w->header), n = 0;
    w->header[header++] = '}';
    while ((8 + header) % 64 != 0) /* so that the data section begins at a multiple of 64 */
        w->header[header++] = ' ';
    w->begin = 8 + header;
    unsigned char *bytes = st_bytes(w->header, header, w->bytes, &n);
    memcpy(bytes + w->begin, w->data, w->bytes);
    write_file(path, bytes, n);
    free(bytes);
    free(path);
}

static inline const wb_model *weights_open_as(weights *w, wb_access access,
                                              const wb_allocator *allocator)
{
    wb_error error;
    wb_open_options options = {.size = sizeof options, .access = access, .allocator = allocator};
    if (w->begin == 0)
        weights_write(w);
    if (wb_open(w->folder, &options, &w->model, &error) != WB_OK)
        fail_msg("%s: %s\n", w->folder, error.message);
    return w->model;
}

static inline const wb_model *weights_open(weights *w)
{
    return weights_open_as(w, WB_ACCESS_MAP, NULL);
}

/* Returns the stored bytes of the tensor with this name, and their number in *n. */
static inline const unsigned char *weights_bytes(const weights *w, const char *name, size_t *n)
{
    for (size_t i = 0; i < w->count; i++) {
        if (strcmp(w->tensors[i].name, name) == 0) {
            *n = w->tensors[i].bytes;
            return w->data + w->tensors[i].at;
        }
    }
    *n = 0;
    fail_msg("there is no %s\n", name);
    return NULL;
}

static inline void weights_free(weights *w)
{
    wb_close(w->model);
    scratch_remove(w->folder);
    free(w->data);
    free(w);
}

#endif
