/*
 * Tests the policies that normalise buffers: the order of the rows of q and k, and the offset of
 * norm weights. The test permutes the stored bytes itself.
 */
#include "support.h"
#include "weights.h"

#include "gguf_build.h"
#include "unmapped_device.h"

enum { HEADS = 4, KV_HEADS = 2, HEAD = 8, DIM = 64 };

/* ---- expected rows ---- */

/* Returns the index of the stored row that becomes row `row` of the buffer. */
static size_t source_of(size_t row, size_t head, bool to_half)
{
    size_t within = row % head, half = head / 2;
    size_t from = !to_half        ? within / 2 + within % 2 * half
                  : within < half ? 2 * within
                                  : 2 * (within - half) + 1;
    return row - within + from;
}

/* Copies `rows` rows of n bytes and permutes those of each head. */
static void permute(unsigned char *to, const unsigned char *from, size_t rows, size_t n,
                    bool to_half)
{
    for (size_t row = 0; row < rows; row++)
        memcpy(to + row * n, from + source_of(row, HEAD, to_half) * n, n);
}

static wb_provider *provider_for(const wb_model *model, const wb_device *device, uint32_t flags)
{
    wb_error error;
    wb_provider *provider;
    const wb_policy policy = {
        .size = sizeof policy, .plain = WB_PLAIN_KEEP, .flags = WB_POLICY_KEEP_SCALES | flags};
    if (wb_provider_create(model, device, &policy, &provider, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return provider;
}

/* Returns the bytes of a buffer. The caller frees them. */
static unsigned char *get(wb_provider *provider, const char *name, wb_buffer *buffer)
{
    wb_error error;
    *buffer = (wb_buffer){.size = sizeof *buffer};
    if (wb_provider_get(provider, name, SIZE_MAX, buffer, &error) != WB_OK)
        fail_msg("%s: %s\n", name, error.message);
    unsigned char *bytes = malloc((size_t)buffer->bytes + 1);
    assert_non_null(bytes);
    assert_int_equal(wb_provider_download(provider, buffer, 0, bytes, buffer->bytes, NULL), WB_OK);
    return bytes;
}

/* Checks that a section of a buffer consists of the rows of a stored part, permuted. */
static void check_section(const wb_buffer *buffer, const unsigned char *bytes, uint32_t section,
                          const unsigned char *part, size_t n, size_t rows, bool to_half)
{
    unsigned char *expected = malloc(n);
    assert_non_null(expected);
    permute(expected, part, rows, n / rows, to_half);
    assert_int_equal(buffer->section[section].bytes, n);
    assert_memory_equal(bytes + buffer->section[section].offset, expected, n);
    free(expected);
}

/* ---- GGUF ---- */

static const struct {
    uint32_t type;
    size_t columns, row_bytes;
} types[] = {{0, DIM, 4 * DIM}, {1, DIM, 2 * DIM}, {30, DIM, 2 * DIM}, {2, DIM, 36},
             {8, DIM, 68},      {12, 256, 144},    {14, 256, 210},     {21, 256, 110}};
#define TYPES (sizeof types / sizeof types[0])

static void add_text(gguf *g, const char *key, const char *text)
{
    gguf_key(g, key, STR);
    gguf_string(g, text);
}

/* Opens a GGUF file of a llama model with q, k and the bias of q. Fills the buffers q, k and bias
 * with the random bytes of these tensors. */
static wb_model *open_gguf(size_t type, gguf *g, unsigned char *q, unsigned char *k,
                           unsigned char *bias, uint64_t *random)
{
    const size_t row = types[type].row_bytes;
    const uint64_t q_shape[] = {types[type].columns, HEADS * HEAD, 0};
    const uint64_t k_shape[] = {types[type].columns, KV_HEADS * HEAD, 0};
    const uint64_t bias_shape[] = {HEADS * HEAD, 0};
    wb_error error;
    wb_model *model;
    gguf_start(g, false, 3, 5);
    add_text(g, "general.architecture", "llama");
    gguf_number(g, "llama.attention.head_count", U32, HEADS, 4);
    gguf_number(g, "llama.attention.head_count_kv", U32, KV_HEADS, 4);
    gguf_number(g, "llama.embedding_length", U32, HEADS * HEAD, 4);
    gguf_number(g, "llama.block_count", U32, 1, 4);
    size_t at = 0;
    gguf_tensor(g, "blk.0.attn_q.weight", q_shape, types[type].type, at);
    at += (HEADS * HEAD * row + 31) / 32 * 32;
    gguf_tensor(g, "blk.0.attn_k.weight", k_shape, types[type].type, at);
    at += (KV_HEADS * HEAD * row + 31) / 32 * 32;
    gguf_tensor(g, "blk.0.attn_q.bias", bias_shape, 0, at);
    gguf_pad(g, 32);
    for (size_t i = 0; i < HEADS * HEAD * row; i++)
        q[i] = (unsigned char)(next_random(random) >> 32);
    for (size_t i = 0; i < KV_HEADS * HEAD * row; i++)
        k[i] = (unsigned char)(next_random(random) >> 32);
    for (size_t i = 0; i < HEADS * HEAD * 4; i++)
        bias[i] = (unsigned char)(next_random(random) >> 32);
    gguf_raw(g, q, HEADS * HEAD * row);
    gguf_pad(g, 32);
    gguf_raw(g, k, KV_HEADS * HEAD * row);
    gguf_pad(g, 32);
    gguf_raw(g, bias, HEADS * HEAD * 4);
    gguf_pad(g, 32);
    if (wb_open_memory(g->bytes, g->n, "test", NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return model;
}

static void check_gguf(size_t type, const wb_device *device)
{
    static unsigned char q[HEADS * HEAD * 1024], k[HEADS * HEAD * 1024], bias[HEADS * HEAD * 4];
    gguf g;
    wb_buffer b;
    uint64_t random = 7 + type;
    wb_model *model = open_gguf(type, &g, q, k, bias, &random);
    wb_provider *half = provider_for(model, device, WB_POLICY_ROPE_HALF);
    wb_provider *stored = provider_for(model, device, WB_POLICY_ROPE_INTERLEAVED);
    size_t row = types[type].row_bytes;
    unsigned char *bytes = get(half, "layers.0.attention.q.weight", &b);
    check_section(&b, bytes, 0, q, HEADS * HEAD * row, HEADS * HEAD, true);
    free(bytes);
    bytes = get(half, "layers.0.attention.q.bias", &b);
    check_section(&b, bytes, 0, bias, sizeof bias, HEADS * HEAD, true);
    free(bytes);
    bytes = get(half, "layers.0.attention.q.weight+layers.0.attention.k.weight", &b);
    unsigned char *expected = malloc((HEADS + KV_HEADS) * HEAD * row);
    assert_non_null(expected);
    permute(expected, q, HEADS * HEAD, row, true);
    permute(expected + HEADS * HEAD * row, k, KV_HEADS * HEAD, row, true);
    assert_memory_equal(bytes, expected, (HEADS + KV_HEADS) * HEAD * row);
    free(bytes);
    free(expected);
    bytes = get(stored, "layers.0.attention.q.weight", &b); /* GGUF stores the interleaved order */
    assert_memory_equal(bytes, q, HEADS * HEAD * row);
    free(bytes);
    wb_provider_destroy(half);
    wb_provider_destroy(stored);
    wb_close(model);
    gguf_free(&g);
}

static void test_gguf(void **state)
{
    (void)state;
    for (size_t type = 0; type < TYPES; type++) {
        check_gguf(type, NULL);
        check_gguf(type, far_device());
        check_gguf(type, late_device());
    }
}

/* ---- MLX and FP8 ---- */

#define ATTENTION "model.layers.0.self_attn."

static weights *new_model(const char *quantization, int heads, int head)
{
    char *config = text_of("{\"model_type\":\"llama\",\"hidden_size\":%d,"
                           "\"num_attention_heads\":%d,\"num_key_value_heads\":%d,\"head_dim\":%d,"
                           "\"num_hidden_layers\":1%s}",
                           DIM, heads, heads / 2, head, quantization);
    weights *w = weights_new(config);
    free(config);
    return w;
}

static void check_mlx(const char *mode, unsigned bits, unsigned group)
{
    static const char *const parts[] = {"weight", "scales", "biases"};
    const uint64_t shape[2] = {HEADS * HEAD, DIM};
    char *quantization = text_of(
        ",\"quantization\":{\"mode\":\"%s\",\"bits\":%u,\"group_size\":%u}", mode, bits, group);
    weights *w = new_model(quantization, HEADS, HEAD);
    free(quantization);
    weights_mlx(w, ATTENTION "q_proj", mode, bits, group, shape, 2, "BF16");
    wb_provider *provider = provider_for(weights_open(w), NULL, WB_POLICY_ROPE_INTERLEAVED);
    wb_buffer b;
    unsigned char *bytes = get(provider, "layers.0.attention.q.weight", &b);
    assert_int_equal(b.sections, strcmp(mode, "affine") == 0 ? 3 : 2);
    for (uint32_t i = 0; i < b.sections; i++) {
        char name[80];
        size_t n;
        (void)snprintf(name, sizeof name, ATTENTION "q_proj.%s", parts[i]);
        const unsigned char *part = weights_bytes(w, name, &n);
        check_section(&b, bytes, i, part, n, HEADS * HEAD, false);
    }
    free(bytes);
    wb_provider_destroy(provider);
    weights_free(w);
}

static void test_mlx(void **state)
{
    (void)state;
    check_mlx("affine", 4, 32);
    check_mlx("affine", 3, 32);
    check_mlx("mxfp4", 4, 32);
    check_mlx("mxfp8", 8, 32);
    check_mlx("nvfp4", 4, 16);
}

/* Decodes a tensor with a policy, and compares it with the permuted rows of the decoded stored
 * tensor. */
static void check_decoded(const wb_model *model, const char *name, size_t rows, size_t columns)
{
    wb_buffer a, b;
    wb_provider *plain = provider_for(model, NULL, WB_POLICY_DECODE);
    wb_provider *permuted =
        provider_for(model, NULL, WB_POLICY_DECODE | WB_POLICY_ROPE_INTERLEAVED);
    unsigned char *stored = get(plain, name, &a), *bytes = get(permuted, name, &b);
    assert_int_equal(a.bytes, rows * columns * 4);
    check_section(&b, bytes, 0, stored, (size_t)a.bytes, rows, false);
    free(stored);
    free(bytes);
    wb_provider_destroy(plain);
    wb_provider_destroy(permuted);
}

/* A scale of block FP8 applies to 128 rows. Heads of 8 rows do not cross blocks, heads of 96 rows
 * do. */
static void test_fp8(void **state)
{
    (void)state;
    for (int head = HEAD; head <= 96; head += 96 - HEAD) {
        weights *w = new_model(",\"quantization_config\":{\"quant_method\":\"fp8\","
                               "\"weight_block_size\":[128,128]}",
                               head == HEAD ? 24 : 4, head);
        const uint64_t rows = head == HEAD ? 24 * HEAD : 4 * 96, shape[2] = {rows, 128};
        const uint64_t scales[2] = {(rows + 127) / 128, 1};
        weights_raw(w, ATTENTION "q_proj.weight", "F8_E4M3", shape, 2, 1);
        weights_floats(w, ATTENTION "q_proj.weight_scale_inv", "F32", scales, 2);
        const wb_model *model = weights_open(w);
        wb_provider *provider = provider_for(model, NULL, WB_POLICY_ROPE_INTERLEAVED);
        wb_buffer b = WB_BUFFER_INIT;
        wb_error error;
        if (head == HEAD) {
            size_t n;
            unsigned char *bytes = get(provider, "layers.0.attention.q.weight", &b);
            const unsigned char *part = weights_bytes(w, ATTENTION "q_proj.weight", &n);
            check_section(&b, bytes, 0, part, n, (size_t)rows, false);
            part = weights_bytes(w, ATTENTION "q_proj.weight_scale_inv", &n);
            assert_memory_equal(bytes + b.section[1].offset, part, n);
            free(bytes);
            check_decoded(model, "layers.0.attention.q.weight", (size_t)rows, 128);
        } else {
            assert_int_equal(
                wb_provider_get(provider, "layers.0.attention.q.weight", SIZE_MAX, &b, &error),
                WB_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "whole number of attention heads"));
        }
        wb_provider_destroy(provider);
        weights_free(w);
    }
}

/* ---- norms, biases and q, k and v in one tensor ---- */

static void test_norms(void **state)
{
    (void)state;
    const uint64_t shape[2] = {HEAD, DIM};
    weights *w = weights_new("{\"model_type\":\"gemma3_text\",\"hidden_size\":64,"
                             "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":8}");
    weights_floats(w, "model.norm.weight", "BF16", shape + 1, 1);
    weights_floats(w, ATTENTION "q_norm.weight", "BF16", shape, 1);
    weights_floats(w, "model.embed_tokens.weight", "BF16", shape, 2);
    const wb_model *model = weights_open(w);
    wb_provider *plain = provider_for(model, NULL, WB_POLICY_NORM_PLAIN);
    wb_provider *stored = provider_for(model, NULL, WB_POLICY_ROPE_STORED);
    wb_provider *both =
        provider_for(model, far_device(), WB_POLICY_NORM_PLAIN | WB_POLICY_ROPE_INTERLEAVED);
    wb_buffer b;
    size_t n;
    const unsigned char *part = weights_bytes(w, "model.norm.weight", &n);
    float value, bare;
    unsigned char *bytes = get(plain, "output_norm.weight", &b);
    assert_int_equal(b.dtype, WB_DTYPE_F32);
    assert_int_equal(wb_provider_dtype(plain, "output_norm.weight", SIZE_MAX), WB_DTYPE_F32);
    for (size_t i = 0; i < DIM; i++) {
        uint32_t bits = (uint32_t)(part[2 * i] | part[2 * i + 1] << 8) << 16;
        memcpy(&bare, &bits, 4);
        memcpy(&value, bytes + 4 * i, 4);
        assert_true(value == bare + 1);
    }
    free(bytes);
    bytes = get(plain, "token_embedding.weight", &b); /* not a norm */
    assert_int_equal(b.dtype, WB_DTYPE_BF16);
    assert_int_equal(b.borrowed, 1);
    free(bytes);
    bytes = get(stored, "output_norm.weight", &b);
    assert_int_equal(b.dtype, WB_DTYPE_BF16);
    assert_memory_equal(bytes, part, n);
    free(bytes);
    /* The weights of a head's norm must be permuted like the rows of the head. */
    part = weights_bytes(w, ATTENTION "q_norm.weight", &n);
    bytes = get(both, "layers.0.attention.q_norm.weight", &b);
    for (size_t i = 0; i < HEAD; i++) {
        size_t from = source_of(i, HEAD, false);
        uint32_t bits = (uint32_t)(part[2 * from] | part[2 * from + 1] << 8) << 16;
        memcpy(&bare, &bits, 4);
        memcpy(&value, bytes + 4 * i, 4);
        assert_true(value == bare + 1);
    }
    free(bytes);
    wb_provider_destroy(plain);
    wb_provider_destroy(stored);
    wb_provider_destroy(both);
    weights_free(w);
}

/* Norm weights must be converted to F16 after 1 was added to them. A norm with dtype F64 must be
 * refused. */
static void test_norm_dtypes(void **state)
{
    (void)state;
    const uint64_t shape[2] = {2, 4};
    weights *w = weights_new("{\"model_type\":\"gemma\"}");
    float *values = (float *)(void *)weights_add(w, "model.norm.weight", "F32", shape, 1, 8);
    values[0] = 0.00048828125f; /* 2^-11: 1 + 2^-11 is rounded to 1 in F16 */
    values[1] = 65535;          /* overflows in F16 */
    (void)weights_add(w, "model.layers.0.input_layernorm.weight", "F64", shape, 1, 16);
    wb_provider *provider;
    wb_error error;
    const wb_policy policy = {.size = sizeof policy, .flags = WB_POLICY_NORM_PLAIN};
    assert_int_equal(wb_provider_create(weights_open(w), NULL, &policy, &provider, &error), WB_OK);
    wb_buffer b;
    unsigned char *bytes = get(provider, "output_norm.weight", &b);
    assert_int_equal(b.dtype, WB_DTYPE_F16);
    assert_int_equal(bytes[0] | bytes[1] << 8, 0x3C00);
    assert_int_equal(bytes[2] | bytes[3] << 8, 0x7C00);
    assert_int_equal(b.overflowed, 1);
    free(bytes);
    assert_int_equal(
        wb_provider_get(provider, "layers.0.attention_norm.weight", SIZE_MAX, &b, &error),
        WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.code, "rows");
    wb_provider_destroy(provider);
    weights_free(w);
}

static weights *fused_model(void)
{
    weights *w = new_model(",\"model_type\":\"phi3\",\"intermediate_size\":48", HEADS, HEAD);
    const uint64_t qkv[2] = {(HEADS + 2 * KV_HEADS) * HEAD, DIM}, gate_up[2] = {96, DIM};
    weights_floats(w, ATTENTION "qkv_proj.weight", "F32", qkv, 2);
    weights_floats(w, ATTENTION "qkv_proj.bias", "F32", qkv, 1);
    weights_floats(w, "model.layers.0.mlp.gate_up_proj.weight", "F32", gate_up, 2);
    (void)weights_open(w);
    return w;
}

/* RoPE applies to q and k, so only their rows must be permuted, not those of v. */
static void test_qkv(void **state)
{
    (void)state;
    weights *w = fused_model();
    const size_t q = HEADS * HEAD, kv = KV_HEADS * HEAD, row = DIM * 4;
    size_t n;
    wb_buffer b = WB_BUFFER_INIT;
    const unsigned char *part = weights_bytes(w, ATTENTION "qkv_proj.weight", &n);
    unsigned char *expected = malloc(n), *bytes;
    wb_error error;
    assert_non_null(expected);
    permute(expected, part, q, row, false);
    permute(expected + q * row, part + q * row, kv, row, false);
    memcpy(expected + (q + kv) * row, part + (q + kv) * row, kv * row);
    wb_provider *provider = provider_for(w->model, late_device(), WB_POLICY_ROPE_INTERLEAVED);
    bytes = get(provider, "layers.0.attention.qkv.weight", &b);
    assert_int_equal(b.parts, 3);
    assert_int_equal(b.part_rows[0], q);
    assert_int_equal(b.part_rows[1], kv);
    assert_int_equal(b.part_rows[2], kv);
    assert_memory_equal(bytes, expected, n);
    free(bytes);
    bytes = get(provider, "layers.0.attention.k.weight", &b);
    assert_memory_equal(bytes, expected + q * row, kv * row);
    free(bytes);
    /* With two ranks, a slice of the rows must consist of complete heads. */
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_int_equal(wb_provider_slice(provider, "layers.0.attention.qkv.weight", SIZE_MAX, 0,
                                           rank, 2, &b, NULL),
                         WB_OK);
        assert_int_equal(b.parts, 3);
        assert_int_equal(b.bytes, n / 2);
        bytes = malloc(n / 2);
        assert_non_null(bytes);
        assert_int_equal(wb_provider_download(provider, &b, 0, bytes, n / 2, NULL), WB_OK);
        assert_memory_equal(bytes, expected + rank * q / 2 * row, q / 2 * row);
        assert_memory_equal(bytes + q / 2 * row, expected + (q + rank * kv / 2) * row,
                            kv / 2 * row);
        free(bytes);
    }
    assert_int_equal(
        wb_provider_slice(provider, "layers.0.attention.qkv.weight", SIZE_MAX, 1, 0, 2, &b, &error),
        WB_ERROR_UNSUPPORTED);
    wb_provider_destroy(provider);
    free(expected);
    weights_free(w);
}

/* If the heads of a layer cannot be divided among the given number of ranks, a slice of q may begin
 * inside a head. */
static void test_slices_inside_heads(void **state)
{
    (void)state;
    const uint64_t shape[2] = {HEADS * HEAD, DIM};
    weights *w = new_model("", HEADS, HEAD);
    weights_floats(w, ATTENTION "q_proj.weight", "BF16", shape, 2);
    size_t n;
    const size_t row = DIM * 2;
    wb_buffer b = WB_BUFFER_INIT;
    wb_provider *provider = provider_for(weights_open(w), NULL, WB_POLICY_ROPE_INTERLEAVED);
    const unsigned char *part = weights_bytes(w, ATTENTION "q_proj.weight", &n);
    unsigned char *expected = malloc(n);
    assert_non_null(expected);
    permute(expected, part, HEADS * HEAD, row, false);
    size_t at = 0;
    for (uint32_t rank = 0; rank < 5; rank++) {
        assert_int_equal(wb_provider_slice(provider, "layers.0.attention.q.weight", SIZE_MAX, 0,
                                           rank, 5, &b, NULL),
                         WB_OK);
        assert_memory_equal(b.contents, expected + at, (size_t)b.bytes);
        at += (size_t)b.bytes;
    }
    assert_int_equal(at, n);
    /* A slice along the inputs must have all rows. */
    assert_int_equal(
        wb_provider_slice(provider, "layers.0.attention.q.weight", SIZE_MAX, 1, 1, 2, &b, NULL),
        WB_OK);
    for (size_t i = 0; i < HEADS * HEAD; i++)
        assert_memory_equal((const unsigned char *)b.contents + i * row / 2,
                            expected + i * row + row / 2, row / 2);
    wb_provider_destroy(provider);
    free(expected);
    weights_free(w);
}

/* ---- names of tensors that the model stores in another way ---- */

static void check_same(wb_provider *provider, const char *a, const char *b, uint32_t parts)
{
    wb_buffer x, y;
    unsigned char *p = get(provider, a, &x), *q = get(provider, b, &y);
    assert_int_equal(x.bytes, y.bytes);
    assert_memory_equal(p, q, (size_t)x.bytes);
    assert_int_equal(x.parts, parts);
    assert_int_equal(y.parts, parts);
    assert_int_equal(x.dtype, wb_provider_dtype(provider, a, SIZE_MAX));
    assert_int_equal(wb_provider_has(provider, a, SIZE_MAX), 1);
    free(p);
    free(q);
}

static void test_virtual_names(void **state)
{
    (void)state;
    weights *w = fused_model();
    wb_provider *provider = provider_for(w->model, NULL, 0);
    size_t n;
    wb_buffer b;
    const unsigned char *part = weights_bytes(w, ATTENTION "qkv_proj.weight", &n);
    check_same(
        provider, "layers.0.attention.qkv.weight",
        "layers.0.attention.q.weight+layers.0.attention.k.weight+layers.0.attention.v.weight", 3);
    check_same(provider, "layers.0.ffn.gate_up.weight",
               "layers.0.ffn.gate.weight+layers.0.ffn.up.weight", 2);
    check_same(provider, "layers.0.attention.qkv.bias",
               "layers.0.attention.q.bias+layers.0.attention.k.bias+layers.0.attention.v.bias", 3);
    unsigned char *bytes = get(provider, "layers.0.attention.v.weight", &b);
    assert_int_equal(b.shape[0], KV_HEADS * HEAD);
    assert_int_equal(b.borrowed, 1); /* a range of the mapped tensor */
    assert_memory_equal(bytes, part + (HEADS + KV_HEADS) * HEAD * DIM * 4, (size_t)b.bytes);
    free(bytes);
    bytes = get(provider, "layers.0.ffn.up.weight", &b);
    part = weights_bytes(w, "model.layers.0.mlp.gate_up_proj.weight", &n);
    assert_memory_equal(bytes, part + n / 2, n / 2);
    free(bytes);
    for (uint32_t rank = 0; rank < 2; rank++) {
        wb_buffer whole = WB_BUFFER_INIT, joined = WB_BUFFER_INIT;
        assert_int_equal(wb_provider_slice(provider, "layers.0.ffn.gate_up.weight", SIZE_MAX, 0,
                                           rank, 2, &whole, NULL),
                         WB_OK);
        assert_int_equal(wb_provider_slice(provider,
                                           "layers.0.ffn.gate.weight+"
                                           "layers.0.ffn.up.weight",
                                           SIZE_MAX, 0, rank, 2, &joined, NULL),
                         WB_OK);
        assert_int_equal(whole.bytes, joined.bytes);
        assert_memory_equal(whole.contents, joined.contents, (size_t)whole.bytes);
    }
    wb_buffer q = WB_BUFFER_INIT;
    wb_error error;
    assert_int_equal(
        wb_provider_slice(provider, "layers.0.attention.q.weight", SIZE_MAX, 1, 0, 2, &q, &error),
        WB_ERROR_UNSUPPORTED);
    assert_int_equal(wb_provider_has(provider, "layers.1.attention.q.weight", SIZE_MAX), 0);
    assert_int_equal(wb_provider_has(provider, "layers.0.attention.o.weight", SIZE_MAX), 0);
    assert_int_equal(wb_provider_has(provider, "attention.q", SIZE_MAX), 0);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* If the number of rows of qkv does not agree with the numbers of heads in the config, the rows of
 * q, k and v are unknown, so a request for q alone must be refused. */
static void test_unknown_division(void **state)
{
    (void)state;
    const uint64_t shape[2] = {64, DIM};
    weights *w = weights_new("{\"model_type\":\"phi3\",\"num_attention_heads\":4,"
                             "\"num_key_value_heads\":2,\"head_dim\":16}");
    weights_floats(w, ATTENTION "qkv_proj.weight", "F32", shape, 2);
    wb_provider *provider = provider_for(weights_open(w), NULL, 0);
    wb_buffer b = WB_BUFFER_INIT;
    wb_error error;
    assert_int_equal(wb_provider_get(provider, "layers.0.attention.q.weight", SIZE_MAX, &b, &error),
                     WB_ERROR_UNSUPPORTED);
    unsigned char *bytes = get(provider, "layers.0.attention.qkv.weight", &b);
    assert_int_equal(b.parts, 1);
    free(bytes);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- refused requests ---- */

static void test_refused(void **state)
{
    (void)state;
    const uint64_t shape[2] = {HEADS * HEAD, DIM};
    wb_buffer b = WB_BUFFER_INIT;
    wb_error error;
    wb_provider *provider;
    weights *w = weights_new("{}");
    weights_floats(w, ATTENTION "q_proj.weight", "BF16", shape, 2);
    weights_floats(w, "model.norm.weight", "BF16", shape, 1);
    wb_policy policy = {.size = sizeof policy,
                        .flags = WB_POLICY_ROPE_HALF | WB_POLICY_ROPE_INTERLEAVED};
    assert_int_equal(wb_provider_create(weights_open(w), NULL, &policy, &provider, &error),
                     WB_ERROR_ARGUMENT);
    policy.flags = WB_POLICY_ROPE_HALF | WB_POLICY_NORM_PLAIN;
    assert_int_equal(wb_provider_create(w->model, NULL, &policy, &provider, &error), WB_OK);
    assert_int_equal(wb_provider_get(provider, "layers.0.attention.q.weight", SIZE_MAX, &b, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_string_equal(error.code, "rows");
    assert_int_equal(wb_provider_get(provider, "output_norm.weight", SIZE_MAX, &b, &error),
                     WB_ERROR_UNSUPPORTED);
    wb_provider_destroy(provider);
    weights_free(w);
    /* The rows cannot be divided into heads. */
    w = new_model("", 5, HEAD);
    const uint64_t odd[2] = {5 * HEAD + 1, DIM};
    weights_floats(w, ATTENTION "q_proj.weight", "BF16", odd, 2);
    provider = provider_for(weights_open(w), NULL, WB_POLICY_ROPE_INTERLEAVED);
    assert_int_equal(wb_provider_get(provider, "layers.0.attention.q.weight", SIZE_MAX, &b, &error),
                     WB_ERROR_UNSUPPORTED);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- the same model in two formats ---- */

static void check_twin(const char *family, uint32_t flags)
{
    char *folder = text_of("%s/twins/%s", TEST_DATA, family), *file = text_of("%s.gguf", folder);
    const char *paths[2] = {folder, file};
    wb_model *models[2];
    wb_provider *providers[2];
    wb_error error;
    const char *texts;
    const uint64_t *offsets;
    size_t compared = 0;
    const wb_policy policy = {
        .size = sizeof policy, .plain = WB_PLAIN_DTYPE, .dtype = WB_DTYPE_F32, .flags = flags};
    for (int i = 0; i < 2; i++) {
        if (wb_open(paths[i], NULL, &models[i], &error) != WB_OK ||
            wb_provider_create(models[i], NULL, &policy, &providers[i], &error) != WB_OK)
            fail_msg("%s: %s\n", paths[i], error.message);
    }
    assert_int_equal(wb_tensor_names(models[1], WB_NAMES_CANONICAL, &texts, &offsets, &error),
                     WB_OK);
    for (uint64_t i = 0; i < wb_tensor_count(models[1]); i++) {
        const char *name = texts + offsets[i];
        wb_buffer a, b;
        if (*name == '\0')
            continue;
        unsigned char *x = get(providers[0], name, &a), *y = get(providers[1], name, &b);
        assert_int_equal(a.bytes, b.bytes);
        if (memcmp(x, y, (size_t)a.bytes) != 0)
            fail_msg("%s: %s differs\n", family, name);
        free(x);
        free(y);
        compared++;
    }
    assert_true(compared > 10);
    for (int i = 0; i < 2; i++) {
        wb_provider_destroy(providers[i]);
        wb_close(models[i]);
    }
    free(folder);
    free(file);
}

static void test_twins(void **state)
{
    static const char *const families[] = {"bert",  "gemma",   "gemma2",  "gemma3",
                                           "llama", "mistral", "mixtral", "phi3",
                                           "qwen2", "qwen3",   "qwen3moe"};
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        check_twin(families[i], WB_POLICY_ROPE_HALF | WB_POLICY_NORM_PLAIN);
        check_twin(families[i], WB_POLICY_ROPE_INTERLEAVED | WB_POLICY_NORM_PLAIN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_mlx),
        cmocka_unit_test(test_fp8),
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_norm_dtypes),
        cmocka_unit_test(test_qkv),
        cmocka_unit_test(test_slices_inside_heads),
        cmocka_unit_test(test_virtual_names),
        cmocka_unit_test(test_unknown_division),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
