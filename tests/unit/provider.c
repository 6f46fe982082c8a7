/*
 * Tests the weight provider: contents of the buffers of single and fused tensors of every encoding,
 * refused requests, policies, and the reported loss of conversions.
 */
#include "support.h"
#include "weights.h"

#include "dtype/half.h"
#include "gguf_build.h"

/* ---- expected contents of a buffer ---- */

typedef struct expected {
    unsigned char *bytes;
    size_t n;
} expected;

static void put(expected *e, const void *bytes, size_t n)
{
    e->bytes = realloc(e->bytes, e->n + n + 1);
    assert_non_null(e->bytes);
    memcpy(e->bytes + e->n, bytes, n);
    e->n += n;
}

static void put_tensor(expected *e, const weights *w, const char *module, const char *part)
{
    size_t n;
    char name[160];
    (void)snprintf(name, sizeof name, "%s.%s", module, part);
    const unsigned char *bytes = weights_bytes(w, name, &n);
    put(e, bytes, n);
}

/* Appends a BF16 tensor as F16. Converts each value separately, through F32. */
static void put_as_f16(expected *e, const weights *w, const char *module, const char *part)
{
    size_t n;
    char name[160];
    (void)snprintf(name, sizeof name, "%s.%s", module, part);
    const unsigned char *bytes = weights_bytes(w, name, &n);
    for (size_t i = 0; i < n; i += 2) {
        uint16_t half = wb__f32_to_f16((uint32_t)(bytes[i] | bytes[i + 1] << 8) << 16);
        unsigned char stored[2] = {(unsigned char)half, (unsigned char)(half >> 8)};
        put(e, stored, 2);
    }
}

static wb_provider *make_provider(const wb_model *model, const wb_policy *policy)
{
    wb_error error;
    wb_provider *provider;
    if (wb_provider_create(model, NULL, policy, &provider, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return provider;
}

static wb_buffer fuse(wb_provider *provider, const char *const *names, size_t n)
{
    wb_buffer buffer = {.size = sizeof buffer};
    wb_error error;
    wb_status status = n == 1 ? wb_provider_get(provider, names[0], SIZE_MAX, &buffer, &error)
                              : wb_provider_fuse(provider, names, NULL, n, 0, &buffer, &error);
    if (status != WB_OK)
        fail_msg("%s: %s\n", names[0], error.message);
    return buffer;
}

static void check_bytes(wb_provider *provider, const wb_buffer *buffer, expected *e)
{
    assert_int_equal(buffer->bytes, e->n);
    assert_non_null(buffer->contents);
    assert_memory_equal(buffer->contents, e->bytes, e->n);
    unsigned char *copy = malloc(e->n);
    assert_non_null(copy);
    assert_int_equal(wb_provider_download(provider, buffer, 0, copy, e->n, NULL), WB_OK);
    assert_memory_equal(copy, e->bytes, e->n);
    free(copy);
    free(e->bytes);
    *e = (expected){NULL, 0};
}

/* ---- MLX ---- */

static const char *const modules[] = {"model.layers.0.self_attn.q_proj",
                                      "model.layers.0.self_attn.k_proj",
                                      "model.layers.0.self_attn.v_proj"};
static const char *const canonical[] = {
    "layers.0.attention.q.weight", "layers.0.attention.k.weight", "layers.0.attention.v.weight"};

static weights *make_affine(unsigned bits, unsigned group, const char *scales)
{
    char *config = text_of("{\"model_type\":\"llama\",\"quantization\":{\"group_size\":%u,"
                           "\"bits\":%u}}",
                           group, bits);
    weights *w = weights_new(config);
    free(config);
    for (size_t i = 0; i < 3; i++) {
        const uint64_t shape[2] = {i == 0 ? 24 : 8, 128};
        weights_mlx(w, modules[i], "affine", bits, group, shape, 2, scales);
    }
    (void)weights_open(w);
    return w;
}

/* Checks the buffers of one, two and three affine tensors. A buffer must contain the values of all
 * tensors, then all scales, then all biases. Also checks the offsets of these sections. */
static void check_affine(unsigned bits, unsigned group, int32_t code, bool keep)
{
    weights *w = make_affine(bits, group, "BF16");
    wb_policy policy = {.size = sizeof policy, .flags = keep ? WB_POLICY_KEEP_SCALES : 0};
    wb_provider *provider = make_provider(w->model, &policy);
    void (*put_scales)(expected *, const weights *, const char *, const char *) =
        keep ? put_tensor : put_as_f16;
    for (size_t n = 1; n <= 3; n++) {
        expected e = {NULL, 0};
        size_t begin[3];
        wb_buffer buffer = fuse(provider, canonical, n);
        for (size_t i = 0; i < n; i++)
            put_tensor(&e, w, modules[i], "weight");
        begin[1] = e.n;
        for (size_t i = 0; i < n; i++)
            put_scales(&e, w, modules[i], "scales");
        begin[2] = e.n;
        for (size_t i = 0; i < n; i++)
            put_scales(&e, w, modules[i], "biases");
        assert_int_equal(buffer.dtype, code);
        assert_int_equal(buffer.bits, bits);
        assert_int_equal(buffer.group_size, group);
        assert_int_equal(buffer.rank, 2);
        assert_int_equal(buffer.shape[0], 16 + 8 * n);
        assert_int_equal(buffer.shape[1], 128);
        assert_int_equal(buffer.parts, n);
        assert_int_equal(buffer.part_rows[n - 1], n == 1 ? 24 : 8);
        assert_int_equal(buffer.sections, 3);
        assert_string_equal(buffer.section[0].role, "values");
        assert_string_equal(buffer.section[1].role, "scales");
        assert_string_equal(buffer.section[2].role, "biases");
        assert_int_equal(buffer.section[0].dtype, WB_DTYPE_U32);
        for (size_t i = 1; i < 3; i++) {
            assert_int_equal(buffer.section[i].dtype, keep ? WB_DTYPE_BF16 : WB_DTYPE_F16);
            assert_int_equal(buffer.section[i].offset, begin[i]);
        }
        assert_int_equal(buffer.section[2].offset + buffer.section[2].bytes, e.n);
        check_bytes(provider, &buffer, &e);
    }
    assert_int_equal(wb_provider_dtype(provider, canonical[0], SIZE_MAX), code);
    wb_provider_destroy(provider);
    weights_free(w);
}

static void affine(void **state)
{
    static const struct {
        unsigned bits, group;
        int32_t code;
    } types[] = {{3, 64, 99}, {4, 64, 100}, {6, 64, 102}, {8, 64, 101},
                 {3, 32, 99}, {2, 128, 98}, {5, 32, 103}};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        check_affine(types[i].bits, types[i].group, types[i].code, false);
        check_affine(types[i].bits, types[i].group, types[i].code, true);
    }
}

/* Checks the buffers of one, two and three tensors without biases. A buffer must contain the values
 * of all tensors, then all scales. If there are per-tensor scales, they must follow at a multiple
 * of 4 bytes. */
static void check_scaled(const char *mode, unsigned bits, unsigned group, int32_t code,
                         const char *global)
{
    char *config = text_of("{\"model_type\":\"llama\",\"quantization\":{\"group_size\":%u,"
                           "\"bits\":%u,\"mode\":\"%s\"}}",
                           group, bits, mode);
    weights *w = weights_new(config);
    free(config);
    for (size_t i = 0; i < 3; i++) {
        const uint64_t shape[2] = {i == 0 ? 5 : 3, 32};
        weights_mlx(w, modules[i], mode, bits, group, shape, 2, "none");
        if (global != NULL) {
            char name[160];
            (void)snprintf(name, sizeof name, "%s.%s", modules[i], global);
            weights_floats(w, name, "F32", NULL, 0);
        }
    }
    wb_provider *provider = make_provider(weights_open(w), NULL);
    for (size_t n = 1; n <= 3; n++) {
        expected e = {NULL, 0};
        wb_buffer buffer = fuse(provider, canonical, n);
        for (size_t i = 0; i < n; i++)
            put_tensor(&e, w, modules[i], "weight");
        for (size_t i = 0; i < n; i++)
            put_tensor(&e, w, modules[i], "scales");
        while (global != NULL && e.n % 4 != 0)
            put(&e, "", 1);
        assert_int_equal(buffer.sections, global != NULL ? 3 : 2);
        if (global != NULL) {
            assert_int_equal(buffer.section[2].offset, e.n);
            assert_int_equal(buffer.section[2].bytes, 4 * n);
            assert_int_equal(buffer.global, WB_MLX_GLOBAL_AMAX);
            for (size_t i = 0; i < n; i++)
                put_tensor(&e, w, modules[i], global);
        }
        assert_int_equal(buffer.dtype, code);
        check_bytes(provider, &buffer, &e);
    }
    wb_provider_destroy(provider);
    weights_free(w);
}

static void scaled(void **state)
{
    (void)state;
    check_scaled("mxfp4", 4, 32, 104, NULL);
    check_scaled("mxfp8", 8, 32, 105, NULL);
    check_scaled("nvfp4", 4, 16, 106, NULL);
    check_scaled("nvfp4", 4, 16, 106, "global_scale");
}

/* ---- experts ---- */

/* If the experts of gate and up are fused, each section must contain for every expert first its
 * gate, then its up. */
static void check_experts(const char *const *names, size_t n, bool one_by_one)
{
    enum { EXPERTS = 3 };
    char name[120];
    weights *w = weights_new("{\"model_type\":\"qwen3_moe\",\"num_experts\":3,"
                             "\"quantization\":{\"group_size\":32,\"bits\":4}}");
    for (size_t i = 0; i < 2; i++) {
        const uint64_t stack[3] = {EXPERTS, 4, 64};
        const char *leaf = i == 0 ? "gate_proj" : "up_proj";
        (void)snprintf(name, sizeof name, "model.layers.0.mlp.switch_mlp.%s", leaf);
        if (!one_by_one)
            weights_mlx(w, name, "affine", 4, 32, stack, 3, "BF16");
        for (unsigned e = 0; e < EXPERTS && one_by_one; e++) {
            (void)snprintf(name, sizeof name, "model.layers.0.mlp.experts.%u.%s", e, leaf);
            weights_mlx(w, name, "affine", 4, 32, stack + 1, 2, "BF16");
        }
    }
    wb_provider *provider = make_provider(weights_open(w), NULL);
    wb_buffer buffer = fuse(provider, names, n);
    static const char *const parts[] = {"weight", "scales", "biases"};
    expected all = {NULL, 0};
    for (size_t p = 0; p < 3; p++) {
        for (unsigned e = 0; e < EXPERTS; e++) {
            for (size_t i = 0; i < n; i++) {
                const char *leaf = i == 0 ? "gate_proj" : "up_proj";
                expected one = {NULL, 0};
                (void)snprintf(name, sizeof name, "model.layers.0.mlp.switch_mlp.%s", leaf);
                if (one_by_one)
                    (void)snprintf(name, sizeof name, "model.layers.0.mlp.experts.%u.%s", e, leaf);
                (p == 0 ? put_tensor : put_as_f16)(&one, w, name, parts[p]);
                size_t its = one_by_one ? one.n : one.n / EXPERTS;
                put(&all, one.bytes + (one_by_one ? 0 : e * its), its);
                free(one.bytes);
            }
        }
    }
    assert_int_equal(buffer.rank, 3);
    assert_int_equal(buffer.shape[0], EXPERTS);
    assert_int_equal(buffer.shape[1], 4 * n);
    assert_int_equal(buffer.shape[2], 64);
    assert_int_equal(buffer.dtype, 100);
    check_bytes(provider, &buffer, &all);
    wb_provider_destroy(provider);
    weights_free(w);
}

static void experts(void **state)
{
    static const char *const names[] = {"layers.0.ffn.experts.gate.weight",
                                        "layers.0.ffn.experts.up.weight"};
    (void)state;
    check_experts(names, 1, false);
    check_experts(names, 2, false);
    check_experts(names, 1, true);
    check_experts(names, 2, true);
}

/* ---- GGUF ---- */

typedef struct gguf_model {
    gguf file;
    size_t begin;
    size_t at[8], bytes[8];
    wb_model *model;
} gguf_model;

static void gguf_open(gguf_model *g, bool big, uint32_t type, unsigned block, unsigned block_bytes,
                      uint64_t columns)
{
    static const char *const names[] = {"blk.0.attn_q.weight", "blk.0.attn_k.weight",
                                        "blk.0.attn_v.weight"};
    uint64_t random = 4711, offset = 0;
    gguf_start(&g->file, big, 3, 1);
    gguf_key(&g->file, "general.architecture", STR);
    gguf_string(&g->file, "llama");
    for (size_t i = 0; i < 3; i++) {
        const uint64_t shape[] = {columns, i == 0 ? 6 : 3, 0};
        g->at[i] = (size_t)offset;
        g->bytes[i] = (size_t)(shape[0] / block * block_bytes * shape[1]);
        gguf_tensor(&g->file, names[i], shape, type, offset);
        offset = (offset + g->bytes[i] + 31) / 32 * 32;
    }
    gguf_pad(&g->file, 32);
    g->begin = g->file.n;
    for (size_t i = 0; i < offset; i += 8)
        gguf_uint(&g->file, next_random(&random), 8);
    wb_error error;
    if (wb_open_memory(g->file.bytes, g->file.n, "gguf", NULL, &g->model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
}

static void blocks(void **state)
{
    static const struct {
        uint32_t type, block, bytes;
    } types[] = {{WB_DTYPE_Q4_K, 256, 144}, {WB_DTYPE_Q8_0, 32, 34},  {WB_DTYPE_Q6_K, 256, 210},
                 {WB_DTYPE_IQ4_NL, 32, 18}, {WB_DTYPE_MXFP4, 32, 17}, {WB_DTYPE_TQ1_0, 256, 54},
                 {WB_DTYPE_F16, 1, 2},      {WB_DTYPE_I8, 1, 1}};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        gguf_model g = {.model = NULL};
        gguf_open(&g, false, types[t].type, types[t].block, types[t].bytes, 512);
        wb_provider *provider = make_provider(g.model, NULL);
        for (size_t n = 1; n <= 3; n++) {
            expected e = {NULL, 0};
            wb_buffer buffer = fuse(provider, canonical, n);
            for (size_t i = 0; i < n; i++)
                put(&e, g.file.bytes + g.begin + g.at[i], g.bytes[i]);
            assert_int_equal(buffer.dtype, types[t].type);
            assert_int_equal(buffer.sections, 1);
            assert_int_equal(buffer.shape[0], 3 + 3 * n);
            assert_int_equal(buffer.shape[1], 512);
            /* A single tensor must not be copied, because the file has the right layout. */
            assert_int_equal(buffer.borrowed, n == 1);
            if (n == 1)
                assert_ptr_equal(buffer.contents, g.file.bytes + g.begin + g.at[0]);
            check_bytes(provider, &buffer, &e);
        }
        wb_provider_destroy(provider);
        wb_close(g.model);
        gguf_free(&g.file);
    }
}

/* Big-endian files must give the same buffers as little-endian files, but by copying. */
static void other_byte_order(void **state)
{
    (void)state;
    gguf_model g = {.model = NULL};
    gguf_open(&g, true, WB_DTYPE_Q8_0, 32, 34, 64);
    wb_provider *provider = make_provider(g.model, NULL);
    wb_buffer buffer = fuse(provider, canonical, 1);
    const unsigned char *stored = g.file.bytes + g.begin, *given = buffer.contents;
    assert_int_equal(buffer.borrowed, 0);
    for (size_t i = 0; i < g.bytes[0]; i += 34) {
        assert_int_equal(given[i], stored[i + 1]);
        assert_int_equal(given[i + 1], stored[i]);
        assert_memory_equal(given + i + 2, stored + i + 2, 32);
    }
    wb_provider_destroy(provider);
    wb_close(g.model);
    gguf_free(&g.file);
}

/* ---- plain tensors and policies ---- */

static const float odd[] = {1.0f,  65504.0f, 65519.0f, 65520.0f,       -1e30f, 1e-8f,   -2e-8f,
                            6e-8f, 0.0f,     -0.0f,    2.98023224e-8f, 1e38f,  3.0e-8f, 0.1f};
#define ODD (sizeof odd / sizeof odd[0])

static weights *make_plain(void)
{
    const uint64_t odd_shape[1] = {ODD}, rows[2] = {9, 6000};
    weights *w = weights_new("{\"model_type\":\"llama\"}");
    memcpy(weights_add(w, "odd", "F32", odd_shape, 1, sizeof odd), odd, sizeof odd);
    weights_floats(w, "model.layers.0.self_attn.q_proj.weight", "BF16", rows, 2);
    weights_floats(w, "model.layers.0.self_attn.k_proj.weight", "BF16", rows, 2);
    weights_raw(w, "model.layers.0.self_attn.v_proj.weight", "I32", rows, 2, 4);
    weights_floats(w, "model.norm.weight", "F32", rows + 1, 1);
    (void)weights_open(w);
    return w;
}

static void policies(void **state)
{
    (void)state;
    weights *w = make_plain();
    static const struct {
        wb_plain_policy plain;
        int32_t dtype, odd, bf16;
    } rows[] = {{WB_PLAIN_F16, 0, WB_DTYPE_F16, WB_DTYPE_F16},
                {WB_PLAIN_KEEP, 0, WB_DTYPE_F32, WB_DTYPE_BF16},
                {WB_PLAIN_DTYPE, WB_DTYPE_BF16, WB_DTYPE_BF16, WB_DTYPE_BF16},
                {WB_PLAIN_DTYPE, WB_DTYPE_F32, WB_DTYPE_F32, WB_DTYPE_F32}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb_policy policy = {.size = sizeof policy, .plain = rows[i].plain, .dtype = rows[i].dtype};
        wb_provider *provider = make_provider(w->model, &policy);
        static const char *const names[] = {"odd", "layers.0.attention.q.weight",
                                            "layers.0.attention.v.weight", "model.norm.weight"};
        const int32_t dtypes[] = {rows[i].odd, rows[i].bf16, WB_DTYPE_I32, rows[i].odd};
        for (size_t k = 0; k < 4; k++) {
            wb_buffer buffer = fuse(provider, &names[k], 1);
            uint64_t index, elements, bytes;
            assert_int_equal(buffer.dtype, dtypes[k]);
            assert_int_equal(buffer.section[0].dtype, dtypes[k]);
            assert_int_equal(wb_provider_dtype(provider, names[k], SIZE_MAX), dtypes[k]);
            assert_int_equal(wb_tensor_find(w->model, names[k], SIZE_MAX, &index), WB_OK);
            assert_int_equal(
                wb_tensor_read_size(w->model, index, NULL, dtypes[k], &elements, &bytes, NULL),
                WB_OK);
            expected e = {malloc((size_t)bytes), (size_t)bytes};
            assert_int_equal(wb_tensor_read(w->model, index, NULL, dtypes[k], e.bytes, bytes, NULL),
                             WB_OK);
            check_bytes(provider, &buffer, &e);
            assert_int_equal(buffer.overflowed, k == 0 && dtypes[k] == WB_DTYPE_F16 ? 3 : 0);
            assert_int_equal(buffer.underflowed, k == 0 && dtypes[k] == WB_DTYPE_F16 ? 3 : 0);
        }
        wb_cache_stats stats = {.size = sizeof stats};
        assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
        assert_int_equal(stats.loads, 4);
        assert_int_equal(stats.overflowed, i == 0 ? 3 : 0);
        assert_int_equal(stats.underflowed, i == 0 ? 3 : 0);
        wb_provider_destroy(provider);
    }
    weights_free(w);
}

/* ---- names ---- */

static void names(void **state)
{
    (void)state;
    weights *w = make_affine(4, 64, "BF16");
    wb_provider *provider = make_provider(w->model, NULL);
    wb_buffer one = fuse(provider, canonical, 1), same = fuse(provider, canonical, 1);
    assert_ptr_equal(one.contents, same.contents);
    static const char *const native[] = {"model.layers.0.self_attn.q_proj.weight"};
    same = fuse(provider, native, 1);
    assert_ptr_equal(one.contents, same.contents);
    wb_buffer fused = fuse(provider, canonical, 3), again = {.size = sizeof again};
    char *text = text_of("%s+%s+%s", canonical[0], canonical[1], canonical[2]);
    assert_int_equal(wb_provider_get(provider, text, SIZE_MAX, &again, NULL), WB_OK);
    assert_ptr_equal(fused.contents, again.contents);
    again = fuse(provider, canonical, 3);
    assert_ptr_equal(fused.contents, again.contents);
    assert_int_equal(wb_provider_has(provider, text, SIZE_MAX), 1);
    assert_int_equal(wb_provider_has(provider, canonical[2], SIZE_MAX), 1);
    assert_int_equal(wb_provider_has(provider, "layers.1.attention.q.weight", SIZE_MAX), 0);
    assert_int_equal(wb_provider_has(provider, "a+", SIZE_MAX), 0);
    assert_int_equal(wb_provider_dtype(provider, text, SIZE_MAX), 100);
    assert_int_equal(wb_provider_dtype(provider, "none", SIZE_MAX), -1);
    uint64_t shape[2];
    uint32_t rank = 2;
    assert_int_equal(wb_provider_shape(provider, text, SIZE_MAX, shape, &rank, NULL), WB_OK);
    assert_int_equal(rank, 2);
    assert_int_equal(shape[0], 40);
    assert_int_equal(shape[1], 128);
    rank = 1;
    assert_int_equal(wb_provider_shape(provider, text, SIZE_MAX, shape, &rank, NULL),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(rank, 0);
    wb_cache_stats stats = {.size = sizeof stats};
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_int_equal(stats.loads, 2);
    assert_int_equal(stats.buffers, 2);
    assert_int_equal(stats.hits, 4);
    assert_int_equal(stats.in_use, 2);
    assert_int_equal(stats.bytes, one.bytes + fused.bytes);
    free(text);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- what cannot be ---- */

static void refuse(wb_provider *provider, const char *a, const char *b, wb_status expected_status,
                   const char *said)
{
    wb_error error;
    const char *both[] = {a, b};
    wb_buffer zero = {.size = sizeof zero}, buffer = {.size = sizeof buffer, .bytes = 7};
    wb_status status = wb_provider_fuse(provider, both, NULL, 2, 0, &buffer, &error);
    assert_int_equal(status, expected_status);
    if (strstr(error.message, said) == NULL)
        fail_msg("%s + %s: %s\n", a, b, error.message);
    assert_memory_equal(&buffer, &zero, sizeof zero);
}

static void refusals(void **state)
{
    (void)state;
    const uint64_t wide[2] = {4, 128}, narrow[2] = {4, 64}, vector[1] = {64}, fp8[2] = {130, 128},
                   fp8_scales[2] = {2, 1}, awq[2] = {64, 2}, awq_scales[2] = {1, 16},
                   awq_zeros[2] = {1, 2};
    weights *w = weights_new("{\"model_type\":\"llama\",\"quantization\":{\"group_size\":64,"
                             "\"bits\":4,\"d\":{\"group_size\":64,\"bits\":8},"
                             "\"g\":{\"group_size\":32,\"bits\":4}}}");
    weights_mlx(w, "a", "affine", 4, 64, wide, 2, "BF16");
    weights_mlx(w, "b", "affine", 4, 64, narrow, 2, "BF16");
    weights_mlx(w, "c", "affine", 4, 64, wide, 2, "F32");
    weights_mlx(w, "d", "affine", 8, 64, wide, 2, "BF16");
    weights_mlx(w, "g", "affine", 4, 32, wide, 2, "BF16");
    weights_floats(w, "p", "BF16", wide, 2);
    weights_raw(w, "i", "I32", wide, 2, 4);
    weights_floats(w, "v", "F32", vector, 1);
    for (int i = 0; i < 2; i++) {
        weights_raw(w, i == 0 ? "e.weight" : "f.weight", "F8_E4M3", fp8, 2, 1);
        weights_floats(w, i == 0 ? "e.weight_scale_inv" : "f.weight_scale_inv", "F32", fp8_scales,
                       2);
        weights_raw(w, i == 0 ? "h.qweight" : "j.qweight", "I32", awq, 2, 4);
        weights_floats(w, i == 0 ? "h.scales" : "j.scales", "BF16", awq_scales, 2);
        weights_raw(w, i == 0 ? "h.qzeros" : "j.qzeros", "I32", awq_zeros, 2, 4);
    }
    wb_policy policy = {.size = sizeof policy, .flags = WB_POLICY_KEEP_SCALES};
    wb_provider *provider = make_provider(weights_open(w), &policy);
    refuse(provider, "a.weight", "b.weight", WB_ERROR_UNSUPPORTED, "columns");
    refuse(provider, "a.weight", "c.weight", WB_ERROR_UNSUPPORTED, "have the dtype F32");
    refuse(provider, "a.weight", "d.weight", WB_ERROR_UNSUPPORTED,
           "this tensor has 8 bits per value");
    refuse(provider, "a.weight", "g.weight", WB_ERROR_UNSUPPORTED, "groups");
    refuse(provider, "a.weight", "p", WB_ERROR_UNSUPPORTED, "plain");
    refuse(provider, "p", "i", WB_ERROR_UNSUPPORTED, "plain (I32 in");
    refuse(provider, "p", "v", WB_ERROR_UNSUPPORTED, "dimensions");
    refuse(provider, "e.weight", "f.weight", WB_ERROR_UNSUPPORTED,
           "not a multiple of the block size 128");
    refuse(provider, "p", "nothing", WB_ERROR_NOT_FOUND, "no tensor");
    refuse(provider, "p", "", WB_ERROR_NOT_FOUND, "no tensor");
    wb_cache_stats stats = {.size = sizeof stats};
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_int_equal(stats.bytes, 0);
    assert_int_equal(stats.buffers, 0);
    wb_provider_destroy(provider);
    weights_free(w);
}

static void arguments(void **state)
{
    (void)state;
    weights *w = make_affine(4, 64, "BF16");
    wb_error error;
    wb_provider *provider = (wb_provider *)(uintptr_t)1;
    wb_policy policy = {.size = 3};
    assert_int_equal(wb_provider_create(w->model, NULL, &policy, &provider, &error),
                     WB_ERROR_ARGUMENT);
    assert_null(provider);
    policy = (wb_policy){.size = sizeof policy, .plain = WB_PLAIN_DTYPE, .dtype = WB_DTYPE_Q4_0};
    assert_int_equal(wb_provider_create(w->model, NULL, &policy, &provider, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_provider_create(NULL, NULL, NULL, &provider, &error), WB_ERROR_ARGUMENT);
    wb_device device = {.size = sizeof device};
    assert_int_equal(wb_provider_create(w->model, &device, NULL, &provider, &error),
                     WB_ERROR_ARGUMENT);
    wb_host_options host = {.size = sizeof host, .alignment = 48};
    assert_int_equal(wb_device_host(&host, &device, &error), WB_ERROR_ARGUMENT);
    assert_null(device.ctx);
    provider = make_provider(w->model, NULL);
    wb_buffer buffer = {.size = 5};
    assert_int_equal(wb_provider_get(provider, canonical[0], SIZE_MAX, &buffer, &error),
                     WB_ERROR_ARGUMENT);
    buffer.size = sizeof buffer;
    assert_int_equal(wb_provider_slice(provider, canonical[0], SIZE_MAX, 0, 0, 0, &buffer, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_provider_slice(provider, canonical[0], SIZE_MAX, 2, 0, 2, &buffer, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_provider_slice(provider, canonical[0], SIZE_MAX, 0, 2, 2, &buffer, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_provider_fuse(provider, canonical, NULL, 0, 0, &buffer, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(wb_provider_fuse(provider, canonical, NULL, 2, 6, &buffer, &error),
                     WB_ERROR_ARGUMENT);
    unsigned char byte = 9;
    buffer = fuse(provider, canonical, 1);
    assert_int_equal(wb_provider_download(provider, &buffer, buffer.bytes, &byte, 1, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(byte, 0);
    wb_provider_release(provider, &buffer);
    wb_provider_release(provider, &buffer);
    wb_provider_release(provider, NULL);
    wb_provider_destroy(provider);
    wb_provider_destroy(NULL);
    wb_device_close(NULL);
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine), cmocka_unit_test(scaled),   cmocka_unit_test(experts),
        cmocka_unit_test(blocks), cmocka_unit_test(policies), cmocka_unit_test(other_byte_order),
        cmocka_unit_test(names),  cmocka_unit_test(refusals), cmocka_unit_test(arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
