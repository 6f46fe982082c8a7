/*
 * Tests wb_policy.vocab_multiple: embeddings and output matrices of every encoding are padded with
 * rows of zeros, complete and as slices for any number of ranks. The other rows must be the same as
 * without padding.
 */
#include "support.h"
#include "weights.h"

#include "gguf_build.h"
#include "unmapped_device.h"

#define EMBEDDING "token_embedding.weight"
#define OUTPUT "output.weight"

/* ---- what is expected ---- */

static uint64_t common(uint64_t a, uint64_t b)
{
    uint64_t both = a;
    while (both % b != 0)
        both += a;
    return both;
}

static uint64_t padded(uint64_t n, uint64_t multiple, uint64_t of)
{
    uint64_t both = common(multiple, of);
    return (n + both - 1) / both * both;
}

/* Compares a section of a slice (`part`) with the same section of the complete tensor (`whole`).
 * A row of the section covers `rows` rows of the tensor. The slice has `all` tensor rows: the first
 * `real` are those of the complete tensor from row `first` on, the others must be zeros. */
static void check_section(const unsigned char *whole, uint64_t whole_bytes, uint64_t whole_rows,
                          const unsigned char *part, uint64_t part_bytes, uint64_t first,
                          uint64_t real, uint64_t all, uint64_t rows)
{
    uint64_t stored = (whole_rows + rows - 1) / rows, row = whole_bytes / stored;
    uint64_t held = (real + rows - 1) / rows, total = (all + rows - 1) / rows;
    assert_int_equal(whole_bytes % stored, 0);
    assert_int_equal(part_bytes, total * row);
    if (held > 0)
        assert_memory_equal(part, whole + first / rows * row, (size_t)(held * row));
    for (uint64_t i = held * row; i < part_bytes; i++)
        assert_int_equal(part[i], 0);
}

static wb_provider *make_provider(const wb_model *model, const wb_device *device,
                                  wb_plain_policy plain, uint32_t flags, uint32_t multiple)
{
    wb_policy policy = {
        .size = sizeof policy, .plain = plain, .flags = flags, .vocab_multiple = multiple};
    wb_provider *provider;
    wb_error error;
    if (wb_provider_create(model, device, &policy, &provider, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return provider;
}

static unsigned char *download(const wb_provider *provider, const wb_buffer *b)
{
    unsigned char *bytes = malloc((size_t)b->bytes + 1);
    assert_non_null(bytes);
    assert_int_equal(wb_provider_download(provider, b, 0, bytes, b->bytes, NULL), WB_OK);
    return bytes;
}

static wb_buffer ask(wb_provider *provider, const char *name, uint32_t axis, uint32_t rank,
                     uint32_t of)
{
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    wb_status status =
        of == 0 ? wb_provider_get(provider, name, SIZE_MAX, &b, &error)
                : wb_provider_slice(provider, name, SIZE_MAX, axis, rank, of, &b, &error);
    if (status != WB_OK)
        fail_msg("%s, %u of %u: %s\n", name, (unsigned)rank, (unsigned)of, error.message);
    return b;
}

/* ---- encodings with contiguous rows ---- */

typedef struct subject {
    const wb_model *model;
    const char *name;
    wb_plain_policy plain;
    uint32_t flags;
    uint64_t block; /* number of rows that share a row of scales: 1 or 128 */
    uint64_t unit;  /* the number of rows of a rank is a multiple of this */
} subject;

static void check_rank(const subject *s, wb_provider *provider, const wb_buffer *whole,
                       uint32_t multiple, uint32_t rank, uint32_t of)
{
    uint64_t n = whole->shape[0], parts = of == 0 ? 1 : of;
    uint64_t all = padded(n, multiple, parts * s->unit), each = all / parts;
    uint64_t first = rank * each, left = first < n ? n - first : 0;
    uint64_t real = left < each ? left : each;
    wb_buffer b = ask(provider, s->name, 0, rank, of);
    unsigned char *bytes = download(provider, &b);
    const unsigned char *from = whole->contents;
    assert_int_equal(b.shape[0], each);
    assert_int_equal(b.part_rows[0], real);
    assert_int_equal(b.parts, 1);
    assert_int_equal(b.sections, whole->sections);
    for (uint32_t i = 0; i < b.sections; i++) {
        uint64_t block = i > 0 ? s->block : 1;
        assert_int_equal(b.section[i].dtype, whole->section[i].dtype);
        if (strcmp(b.section[i].role, "global_scale") == 0)
            assert_memory_equal(bytes + b.section[i].offset, from + whole->section[i].offset, 4);
        else
            check_section(from + whole->section[i].offset, whole->section[i].bytes, n,
                          bytes + b.section[i].offset, b.section[i].bytes, first, real, each,
                          block);
    }
    free(bytes);
    wb_provider_release(provider, &b);
}

static void check_subject(const subject *s)
{
    static const uint32_t multiples[] = {1, 64, 100};
    wb_provider *plainly = make_provider(s->model, NULL, s->plain, s->flags, 0);
    wb_buffer whole = ask(plainly, s->name, 0, 0, 0);
    uint64_t shape[2];
    for (size_t i = 0; i < 6; i++) {
        uint32_t multiple = multiples[i % 3], rank = 2;
        wb_provider *provider =
            make_provider(s->model, i < 3 ? NULL : far_device(), s->plain, s->flags, multiple);
        check_rank(s, provider, &whole, multiple, 0, 0);
        for (uint32_t of = 1; of <= 8; of++)
            for (uint32_t r = 0; r < of; r++)
                check_rank(s, provider, &whole, multiple, r, of);
        assert_int_equal(wb_provider_shape(provider, s->name, SIZE_MAX, shape, &rank, NULL), WB_OK);
        assert_int_equal(shape[0], padded(whole.shape[0], multiple, s->unit));
        wb_provider_destroy(provider);
    }
    wb_provider_destroy(plainly);
}

static void plain(void **state)
{
    (void)state;
    const uint64_t shape[2] = {150, 24}, bias[1] = {150};
    weights *w = weights_new("{\"model_type\":\"llama\",\"tie_word_embeddings\":false}");
    weights_floats(w, "model.embed_tokens.weight", "BF16", shape, 2);
    weights_floats(w, "lm_head.weight", "F32", shape, 2);
    weights_floats(w, "lm_head.bias", "F32", bias, 1);
    weights_floats(w, "model.layers.0.self_attn.q_proj.weight", "F32", shape, 2);
    const wb_model *model = weights_open(w);
    static const char *const names[] = {EMBEDDING, OUTPUT, "output.bias"};
    for (size_t i = 0; i < 3; i++) {
        check_subject(&(subject){model, names[i], WB_PLAIN_F16, 0, 1, 1});
        check_subject(&(subject){model, names[i], WB_PLAIN_KEEP, 0, 1, 1});
    }
    /* Tensors other than embeddings and outputs must not be padded. A tensor whose number of rows
     * is already a multiple of the requested number must not be padded, either. */
    wb_provider *provider = make_provider(model, NULL, WB_PLAIN_KEEP, 0, 64);
    assert_int_equal(ask(provider, "layers.0.attention.q.weight", 0, 0, 0).shape[0], 150);
    wb_provider_destroy(provider);
    provider = make_provider(model, NULL, WB_PLAIN_KEEP, 0, 75);
    wb_buffer b = ask(provider, OUTPUT, 0, 0, 0);
    assert_int_equal(b.shape[0], 150);
    assert_int_equal(b.borrowed, 1);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* If columns are partitioned, every rank must get the padding rows. */
static void columns(void **state)
{
    (void)state;
    const uint64_t shape[2] = {50, 24};
    weights *w = weights_new("{\"model_type\":\"llama\"}");
    weights_floats(w, "model.embed_tokens.weight", "F32", shape, 2);
    wb_provider *provider = make_provider(weights_open(w), NULL, WB_PLAIN_KEEP, 0, 64);
    size_t n;
    const unsigned char *stored = weights_bytes(w, "model.embed_tokens.weight", &n);
    for (uint32_t rank = 0; rank < 3; rank++) {
        wb_buffer b = ask(provider, EMBEDDING, 1, rank, 3);
        assert_int_equal(b.shape[0], 64);
        assert_int_equal(b.shape[1], 8);
        assert_int_equal(b.part_rows[0], 50);
        const unsigned char *at = b.contents;
        for (uint64_t row = 0; row < 50; row++)
            assert_memory_equal(at + row * 32, stored + row * 96 + rank * 32, 32);
        for (size_t i = 50 * 32; i < 64 * 32; i++)
            assert_int_equal(at[i], 0);
    }
    wb_provider_destroy(provider);
    weights_free(w);
}

static void quantized(void **state)
{
    static const struct {
        const char *mode;
        unsigned bits, group;
    } rows[] = {{"affine", 4, 64}, {"affine", 3, 32}, {"mxfp4", 4, 32}, {"nvfp4", 4, 16}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t shape[2] = {77, 128};
        char *config = text_of("{\"model_type\":\"llama\",\"quantization\":{\"group_size\":%u,"
                               "\"bits\":%u,\"mode\":\"%s\"}}",
                               rows[i].group, rows[i].bits, rows[i].mode);
        weights *w = weights_new(config);
        free(config);
        weights_mlx(w, "model.embed_tokens", rows[i].mode, rows[i].bits, rows[i].group, shape, 2,
                    "BF16");
        if (i == 3)
            weights_floats(w, "model.embed_tokens.global_scale", "F32", NULL, 0);
        const wb_model *model = weights_open(w);
        check_subject(&(subject){model, EMBEDDING, WB_PLAIN_F16, 0, 1, 1});
        check_subject(&(subject){model, OUTPUT, WB_PLAIN_F16, 0, 1,
                                 1}); /* the output, which is tied to the embedding */
        check_subject(&(subject){model, EMBEDDING, WB_PLAIN_KEEP, WB_POLICY_DECODE, 1, 1});
        weights_free(w);
    }
}

/* FP8 has one row of scales for 128 rows. */
static void fp8(void **state)
{
    (void)state;
    const uint64_t shape[2] = {300, 128}, scales[2] = {3, 1};
    weights *w = weights_new("{\"model_type\":\"llama\"}");
    weights_raw(w, "lm_head.weight", "F8_E4M3", shape, 2, 1);
    weights_floats(w, "lm_head.weight_scale_inv", "F32", scales, 2);
    check_subject(&(subject){weights_open(w), OUTPUT, WB_PLAIN_F16, 0, 128, 128});
    weights_free(w);
}

static void blocks(void **state)
{
    (void)state;
    const uint64_t shape[] = {256, 33, 0};
    uint64_t random = 12;
    gguf g;
    wb_model *model;
    wb_error error;
    gguf_start(&g, false, 1, 1);
    gguf_key(&g, "general.architecture", STR);
    gguf_string(&g, "llama");
    gguf_tensor(&g, "token_embd.weight", shape, WB_DTYPE_Q6_K, 0);
    gguf_pad(&g, 32);
    for (size_t begin = g.n; g.n < begin + (33 * 210 + 31) / 32 * 32;)
        gguf_uint(&g, next_random(&random), 8);
    if (wb_open_memory(g.bytes, g.n, "gguf", NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    check_subject(&(subject){model, EMBEDDING, WB_PLAIN_F16, 0, 1, 1});
    wb_close(model);
    gguf_free(&g);
}

/* ---- AWQ and GPTQ, which are stored transposed ---- */

static float *decode(const wb_buffer *b, const unsigned char *bytes, bool awq)
{
    uint64_t size = b->shape[0] * b->shape[1] * sizeof(float);
    float *values = malloc((size_t)size);
    assert_non_null(values);
    wb_int4_tensor tensor = {.size = sizeof tensor,
                             .packing = awq ? WB_INT4_AWQ : WB_INT4_GPTQ,
                             .qweight = bytes,
                             .scales = bytes + b->section[1].offset,
                             .qzeros = bytes + b->section[2].offset,
                             .qweight_bytes = b->section[0].bytes,
                             .scales_bytes = b->section[1].bytes,
                             .qzeros_bytes = b->section[2].bytes,
                             .scales_dtype = b->section[1].dtype,
                             .out = b->shape[0],
                             .in = b->shape[1],
                             .group_size = b->group_size};
    if (b->sections == 4) {
        tensor.g_idx = bytes + b->section[3].offset;
        tensor.g_idx_bytes = b->section[3].bytes;
    }
    wb_error error;
    if (wb_int4_dequantize(&tensor, values, size, NULL, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return values;
}

/* Checks the values of a slice: rows from `row` on and inputs from `input` on of the complete
 * matrix with 64 inputs, then rows of zeros. */
static void check_decoded(const wb_provider *provider, const wb_buffer *b, bool awq,
                          const float *whole, uint64_t row, uint64_t input)
{
    unsigned char *bytes = download(provider, b);
    float *values = decode(b, bytes, awq);
    for (uint64_t o = 0; o < b->shape[0]; o++) {
        for (uint64_t i = 0; i < b->shape[1]; i++) {
            float want = o < b->part_rows[0] ? whole[(row + o) * 64 + input + i] : 0;
            assert_true(values[o * b->shape[1] + i] == want);
        }
    }
    free(values);
    free(bytes);
}

static void transposed(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) { /* 0: AWQ; 1: GPTQ; 2: GPTQ with g_idx */
        bool awq = kind == 0;
        const uint64_t values[2] = {awq ? 64 : 8, awq ? 9 : 72}, scales[2] = {4, 72},
                       zeros[2] = {4, 9}, order[1] = {64}, bias[1] = {72};
        weights *w = weights_new(awq ? "{\"model_type\":\"llama\",\"quantization_config\":"
                                       "{\"quant_method\":\"awq\"}}"
                                     : "{\"model_type\":\"llama\",\"quantization_config\":"
                                       "{\"quant_method\":\"gptq\"}}");
        weights_raw(w, "lm_head.qweight", "I32", values, 2, 4);
        weights_raw(w, "lm_head.qzeros", "I32", zeros, 2, 4);
        weights_floats(w, "lm_head.scales", "BF16", scales, 2);
        weights_floats(w, "lm_head.bias", "F32", bias, 1);
        unsigned char *to = kind < 2 ? NULL : weights_add(w, "lm_head.g_idx", "I32", order, 1, 256);
        for (size_t i = 0; i < 64 && to != NULL; i++)
            to[i * 4] = (unsigned char)(i % 4);
        const wb_model *model = weights_open(w);
        uint64_t index;
        float whole[72 * 64];
        assert_int_equal(wb_tensor_find(model, OUTPUT, SIZE_MAX, &index), WB_OK);
        assert_int_equal(
            wb_tensor_read(model, index, NULL, WB_DTYPE_F32, whole, sizeof whole, NULL), WB_OK);
        for (size_t device = 0; device < 2; device++) {
            wb_provider *provider =
                make_provider(model, device == 0 ? NULL : far_device(), WB_PLAIN_F16, 0, 16);
            wb_buffer b = ask(provider, OUTPUT, 0, 0, 0);
            assert_int_equal(b.shape[0], 80);
            check_decoded(provider, &b, awq, whole, 0, 0);
            for (uint32_t of = 1; of <= 8; of++) {
                uint64_t each = padded(72, 16, of * 8) / of;
                for (uint32_t rank = 0; rank < of; rank++) {
                    b = ask(provider, OUTPUT, 0, rank, of);
                    assert_int_equal(b.shape[0], each);
                    check_decoded(provider, &b, awq, whole, rank * each, 0);
                    /* The bias must be cut like its matrix, although a bias alone could be cut
                     * anywhere. */
                    assert_int_equal(ask(provider, "output.bias", 0, rank, of).shape[0], each);
                }
            }
            for (uint32_t rank = 0; rank < 4; rank++) {
                b = ask(provider, OUTPUT, 1, rank, 4);
                assert_int_equal(b.shape[0], 80);
                assert_int_equal(b.shape[1], 16);
                check_decoded(provider, &b, awq, whole, 0, rank * 16);
            }
            wb_provider_destroy(provider);
        }
        weights_free(w);
    }
}

/* ---- zeros ---- */

/* Checks that zero bytes decode to zeros in every type, because padding consists of zero bytes. */
static void zeros_are_zeros(void **state)
{
    (void)state;
    static const unsigned char bytes[4096];
    float values[256];
    unsigned types = 0;
    for (int32_t id = 0; id < 200; id++) {
        wb_dtype_info info = {.size = sizeof info};
        if (wb_dtype_describe(id, &info) != WB_OK || info.block_size < 2)
            continue;
        uint64_t n = (uint64_t)info.block_bits / 8;
        memset(values, 1, sizeof values);
        if (wb_dequantize(id, bytes, n, 1, info.block_size, values, NULL, NULL) != WB_OK)
            continue; /* Q8_1 and Q8_K do not occur in files */
        types++;
        for (uint32_t i = 0; i < info.block_size; i++)
            assert_true(values[i] == 0);
    }
    assert_true(types >= 20);
    static const wb_mlx_mode modes[] = {WB_MLX_AFFINE, WB_MLX_MXFP4, WB_MLX_MXFP8, WB_MLX_NVFP4};
    static const uint32_t bits[] = {4, 4, 8, 4}, groups[] = {64, 32, 32, 16};
    for (size_t i = 0; i < 4; i++) {
        wb_mlx_type type = {
            .size = sizeof type, .mode = modes[i], .bits = bits[i], .group_size = groups[i]};
        wb_mlx_parts parts = {.size = sizeof parts,
                              .weight = bytes,
                              .scales = bytes,
                              .biases = bytes,
                              .weight_bytes = 64 * bits[i] / 8,
                              .scales_bytes = 64 / groups[i] * (i == 0 ? 2 : 1),
                              .biases_bytes = i == 0 ? 2 : 0,
                              .scales_dtype = WB_DTYPE_F16,
                              .biases_dtype = WB_DTYPE_F16};
        assert_int_equal(wb_mlx_dequantize(&type, &parts, 1, 64, WB_DTYPE_F32, values,
                                           64 * sizeof(float), NULL, NULL),
                         WB_OK);
        for (size_t k = 0; k < 64; k++)
            assert_true(values[k] == 0);
    }
}

static void refusals(void **state)
{
    (void)state;
    const uint64_t shape[2] = {6, 3};
    weights *w = weights_new("{\"model_type\":\"llama\"}");
    (void)weights_add(w, "lm_head.weight", "F4", shape, 2, 9);
    wb_policy policy = {.size = sizeof policy, .vocab_multiple = WB_VOCAB_MULTIPLE_MAX + 1};
    wb_provider *provider;
    wb_error error;
    wb_buffer b = {.size = sizeof b};
    assert_int_equal(wb_provider_create(weights_open(w), NULL, &policy, &provider, &error),
                     WB_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "vocab_multiple"));
    provider = make_provider(w->model, NULL, WB_PLAIN_F16, 0, 7);
    assert_int_equal(wb_provider_get(provider, OUTPUT, SIZE_MAX, &b, &error), WB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "at a byte boundary"));
    wb_provider_destroy(provider);
    /* With very many ranks, the last ones must get only zeros. */
    provider = make_provider(w->model, NULL, WB_PLAIN_F16, 0, WB_VOCAB_MULTIPLE_MAX);
    b = ask(provider, OUTPUT, 0, UINT32_MAX - 1, UINT32_MAX);
    assert_int_equal(b.shape[0], WB_VOCAB_MULTIPLE_MAX);
    assert_int_equal(b.part_rows[0], 0);
    assert_int_equal(b.bytes, WB_VOCAB_MULTIPLE_MAX * 3 / 2);
    wb_provider_destroy(provider);
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),           cmocka_unit_test(columns),
        cmocka_unit_test(quantized),       cmocka_unit_test(fp8),
        cmocka_unit_test(blocks),          cmocka_unit_test(transposed),
        cmocka_unit_test(zeros_are_zeros), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
