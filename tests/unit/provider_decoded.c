/*
 * Tests WB_POLICY_DECODE for quantized tensors of every encoding: complete, fused, and as slices
 * for any number of ranks. To get the expected values, the test decodes complete tensors with
 * wb_tensor_read, then slices and joins the values itself.
 */
#include "support.h"
#include "weights.h"

#include "dtype/half.h"
#include "gguf_build.h"
#include "unmapped_device.h"

/* ---- whole tensors ---- */

typedef struct whole {
    const char *name;
    uint64_t shape[3]; /* matrices, rows, columns */
    uint32_t rank;
    float *values;
} whole;

static whole read_whole(const wb_model *model, const char *name)
{
    whole t = {.name = name, .shape = {1, 1, 1}};
    wb_tensor tensor = {.size = sizeof tensor};
    uint64_t index, elements, bytes;
    wb_error error;
    assert_int_equal(wb_tensor_find(model, name, SIZE_MAX, &index), WB_OK);
    assert_int_equal(wb_tensor_at(model, index, &tensor, NULL), WB_OK);
    t.rank = tensor.rank;
    for (uint32_t i = 0; i < t.rank; i++)
        t.shape[3 - t.rank + i] = tensor.shape[i];
    assert_int_equal(
        wb_tensor_read_size(model, index, NULL, WB_DTYPE_F32, &elements, &bytes, &error), WB_OK);
    t.values = malloc((size_t)bytes + 1);
    assert_non_null(t.values);
    if (wb_tensor_read(model, index, NULL, WB_DTYPE_F32, t.values, bytes, &error) != WB_OK)
        fail_msg("%s: %s\n", name, error.message);
    return t;
}

/* ---- expected contents of a buffer ---- */

/* Index ranges in the dimensions of `whole`: matrices, rows, columns. */
typedef struct box {
    uint64_t start[3], count[3];
} box;

static box all_of(const whole *t)
{
    return (box){{0, 0, 0}, {t->shape[0], t->shape[1], t->shape[2]}};
}

/* Reduces the range along `axis` to that of a rank. If the indices are not divisible by the
 * number of ranks, each of the first ranks gets one more index, as for plain tensors. */
static void cut(box *b, uint32_t axis, uint32_t rank, uint32_t of)
{
    uint64_t n = b->count[axis], more = n % of;
    b->start[axis] = rank * (n / of) + (rank < more ? rank : more);
    b->count[axis] = n / of + (rank < more);
}

typedef struct expected {
    float *values;
    size_t n, room;
} expected;

static void put_box(expected *e, const whole *t, const box *b, uint64_t matrix)
{
    for (uint64_t row = 0; row < b->count[1]; row++) {
        uint64_t at = ((b->start[0] + matrix) * t->shape[1] + b->start[1] + row) * t->shape[2];
        size_t n = (size_t)b->count[2];
        if (e->n + n >= e->room) {
            e->room = 2 * (e->n + n + 1);
            e->values = realloc(e->values, e->room * sizeof(float));
            assert_non_null(e->values);
        }
        memcpy(e->values + e->n, t->values + at + b->start[2], n * sizeof(float));
        e->n += n;
    }
}

/* Joins the values of all tensors: for each matrix, the rows of one tensor after the other. */
static expected joined(const whole *tensors, const box *boxes, size_t n)
{
    expected e = {NULL, 0, 0};
    for (uint64_t matrix = 0; matrix < boxes[0].count[0]; matrix++)
        for (size_t i = 0; i < n; i++)
            put_box(&e, &tensors[i], &boxes[i], matrix);
    return e;
}

static void check_values(const wb_provider *provider, const wb_buffer *b, const expected *e)
{
    unsigned char *bytes = malloc((size_t)b->bytes + 1);
    size_t size = b->dtype == WB_DTYPE_F32 ? 4 : 2;
    uint64_t over = 0, under = 0;
    assert_non_null(bytes);
    assert_int_equal(b->sections, 1);
    assert_int_equal(b->section[0].dtype, b->dtype);
    assert_int_equal(b->bits, size * 8);
    assert_int_equal(b->group_size, 0);
    assert_int_equal(b->bytes, e->n * size);
    assert_int_equal(wb_provider_download(provider, b, 0, bytes, b->bytes, NULL), WB_OK);
    for (size_t i = 0; i < e->n; i++) {
        uint32_t bits;
        memcpy(&bits, &e->values[i], sizeof bits);
        uint16_t half = wb__f32_to_f16(bits);
        unsigned char want[4] = {(unsigned char)half, (unsigned char)(half >> 8)};
        if (size == 4)
            memcpy(want, &e->values[i], 4);
        if (memcmp(bytes + i * size, want, size) != 0)
            fail_msg("value %u differs\n", (unsigned)i);
        over += (half & 0x7FFF) == 0x7C00 && (bits & 0x7FFFFFFF) < 0x7F800000;
        under += (half & 0x7FFF) == 0 && (bits & 0x7FFFFFFF) != 0;
    }
    assert_int_equal(b->overflowed, size == 2 ? over : 0);
    assert_int_equal(b->underflowed, size == 2 ? under : 0);
    free(bytes);
}

/* ---- all ways to ask ---- */

static void check_whole(wb_provider *provider, const whole *tensors, const char *text, size_t n,
                        int32_t dtype)
{
    box boxes[2] = {all_of(&tensors[0]), all_of(&tensors[n - 1])};
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    if (wb_provider_get(provider, text, SIZE_MAX, &b, &error) != WB_OK)
        fail_msg("%s: %s\n", text, error.message);
    expected e = joined(tensors, boxes, n);
    assert_int_equal(b.dtype, dtype);
    assert_int_equal(wb_provider_dtype(provider, text, SIZE_MAX), dtype);
    assert_int_equal(b.parts, n);
    check_values(provider, &b, &e);
    wb_provider_release(provider, &b);
    free(e.values);
}

static void check_part(wb_provider *provider, const whole *tensors, const char *text, size_t n,
                       const wb_plan_info *part)
{
    uint32_t dimension = part->axis + 3 - tensors[0].rank;
    box boxes[2] = {all_of(&tensors[0]), all_of(&tensors[1])};
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    if (wb_provider_slice(provider, text, SIZE_MAX, part->axis, part->rank, part->of, &b, &error) !=
        WB_OK)
        fail_msg("%s, axis %u, %u of %u: %s\n", text, part->axis, part->rank, part->of,
                 error.message);
    for (size_t i = 0; i < n; i++)
        cut(&boxes[i], dimension, part->rank, part->of);
    expected e = joined(tensors, boxes, n);
    assert_int_equal(b.shape[tensors[0].rank - 1], boxes[0].count[2]);
    check_values(provider, &b, &e);
    wb_provider_release(provider, &b);
    free(e.values);
}

/* Checks two tensors, separate and fused, and their slices, with several policies and devices. */
static void check_all(const wb_model *model, const char *first, const char *second)
{
    static const struct {
        wb_plain_policy plain;
        int32_t dtype;
    } rows[] = {{WB_PLAIN_F16, WB_DTYPE_F16}, {WB_PLAIN_KEEP, WB_DTYPE_F32}};
    whole tensors[2] = {read_whole(model, first), read_whole(model, second)};
    char *both = text_of("%s+%s", first, second);
    for (size_t i = 0; i < 4; i++) {
        wb_policy policy = {
            .size = sizeof policy, .plain = rows[i % 2].plain, .flags = WB_POLICY_DECODE};
        const wb_device *device = i < 2 ? NULL : far_device();
        wb_provider *provider;
        assert_int_equal(wb_provider_create(model, device, &policy, &provider, NULL), WB_OK);
        for (size_t n = 1; n <= 2; n++) {
            const char *text = n == 1 ? first : both;
            check_whole(provider, tensors, text, n, rows[i % 2].dtype);
            wb_plan_info part = {.of = 1};
            for (part.of = is_slow() ? 7 : 1; part.of <= 8; part.of++)
                for (part.axis = 0; part.axis < tensors[0].rank; part.axis++)
                    for (part.rank = 0; part.rank < part.of; part.rank++)
                        if (tensors[0].shape[part.axis + 3 - tensors[0].rank] >= part.of)
                            check_part(provider, tensors, text, n, &part);
        }
        wb_provider_destroy(provider);
    }
    free(both);
    free(tensors[0].values);
    free(tensors[1].values);
}

/* ---- what there is ---- */

static void mlx(void **state)
{
    static const struct {
        const char *mode;
        unsigned bits, group;
    } rows[] = {{"affine", 4, 64}, {"affine", 3, 32}, {"mxfp4", 4, 32}, {"nvfp4", 4, 16}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t a[2] = {13, 128}, b[2] = {9, 128};
        char *config = text_of("{\"quantization\":{\"group_size\":%u,\"bits\":%u,\"mode\":\"%s\"}}",
                               rows[i].group, rows[i].bits, rows[i].mode);
        weights *w = weights_new(config);
        free(config);
        weights_mlx(w, "a", rows[i].mode, rows[i].bits, rows[i].group, a, 2, "BF16");
        weights_mlx(w, "b", rows[i].mode, rows[i].bits, rows[i].group, b, 2, "BF16");
        weights_floats(w, "p", "F32", b, 2);
        check_all(weights_open(w), "a.weight", "b.weight");
        check_all(w->model, "b.weight", "p"); /* a quantized tensor fused with a plain one */
        weights_free(w);
    }
}

/* Values out of the range of F16 must be counted. */
static void losses(void **state)
{
    (void)state;
    const uint64_t shape[2] = {8, 64};
    weights *w = weights_new("{\"quantization\":{\"group_size\":64,\"bits\":4}}");
    weights_mlx(w, "a", "affine", 4, 64, shape, 2, "BF16");
    weights_mlx(w, "b", "affine", 4, 64, shape, 2, "BF16");
    static const unsigned char huge[2] = {0, 0x47}, tiny[2] = {0, 0x30}; /* 32768, 2^-31 */
    for (size_t i = 0; i < w->count; i++) {
        if (strstr(w->tensors[i].name, ".scales") != NULL) {
            memcpy(w->data + w->tensors[i].at, huge, 2);
            memcpy(w->data + w->tensors[i].at + 2, tiny, 2);
        }
        if (strstr(w->tensors[i].name, ".biases") != NULL)
            memset(w->data + w->tensors[i].at, 0, 4);
    }
    check_all(weights_open(w), "a.weight", "b.weight");
    wb_policy policy = {.size = sizeof policy, .flags = WB_POLICY_DECODE};
    wb_provider *provider;
    wb_buffer b = {.size = sizeof b};
    assert_int_equal(wb_provider_create(w->model, NULL, &policy, &provider, NULL), WB_OK);
    assert_int_equal(wb_provider_get(provider, "a.weight", SIZE_MAX, &b, NULL), WB_OK);
    assert_true(b.overflowed > 0 && b.underflowed > 0);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* Tests encodings that store many values in one unit: FP8 has blocks of 128 rows, AWQ words of 8
 * outputs, GPTQ words of 8 inputs. A slice of a decoded tensor may begin inside of a unit. */
static void hub(void **state)
{
    (void)state;
    const uint64_t fp8[2] = {150, 200}, fp8_scales[2] = {2, 2}, awq[2] = {96, 3},
                   gptq[2] = {12, 24}, scales[2] = {3, 24}, zeros[2] = {3, 3}, order[1] = {96};
    static const char *const names[] = {"a", "b"};
    for (int of = 0; of < 2; of++) {
        weights *w = weights_new(of == 0 ? "{\"quantization_config\":{\"quant_method\":\"awq\"}}"
                                         : "{\"quantization_config\":{\"quant_method\":\"gptq\"}}");
        for (size_t i = 0; i < 2; i++) {
            char name[40];
            (void)snprintf(name, sizeof name, "%s.qweight", names[i]);
            weights_raw(w, name, "I32", of == 0 ? awq : gptq, 2, 4);
            (void)snprintf(name, sizeof name, "%s.scales", names[i]);
            weights_floats(w, name, "BF16", scales, 2);
            (void)snprintf(name, sizeof name, "%s.qzeros", names[i]);
            weights_raw(w, name, "I32", zeros, 2, 4);
            (void)snprintf(name, sizeof name, "%s.g_idx", names[i]);
            unsigned char *to = of == 0 ? NULL : weights_add(w, name, "I32", order, 1, 96 * 4);
            for (size_t k = 0; k < 96 && to != NULL;
                 k++) /* group indices in a different order for each tensor */
                to[k * 4] = (unsigned char)((k + i) % 3);
            (void)snprintf(name, sizeof name, "f%s.weight", names[i]);
            size_t at = w->bytes;
            weights_raw(w, name, "F8_E4M3", fp8, 2, 1);
            for (; at < w->bytes; at++)
                w->data[at] &= 0x77; /* no NaNs */
            (void)snprintf(name, sizeof name, "f%s.weight_scale_inv", names[i]);
            weights_floats(w, name, "F32", fp8_scales, 2);
        }
        check_all(weights_open(w), "a.qweight", "b.qweight");
        if (of == 0)
            check_all(w->model, "fa.weight", "fb.weight");
        weights_free(w);
    }
}

static void blocks(void **state)
{
    (void)state;
    static const struct {
        uint32_t type, bytes;
    } rows[] = {{WB_DTYPE_Q4_K, 144}, {WB_DTYPE_Q6_K, 210}, {WB_DTYPE_IQ4_XS, 136}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t a[] = {512, 7, 0}, b[] = {512, 9, 0};
        uint64_t random = 99, second = (rows[i].bytes * 14 + 31) / 32 * 32;
        gguf g;
        wb_model *model;
        wb_error error;
        gguf_start(&g, false, 2, 1);
        gguf_key(&g, "general.architecture", STR);
        gguf_string(&g, "llama");
        gguf_tensor(&g, "a", a, rows[i].type, 0);
        gguf_tensor(&g, "b", b, rows[i].type, second);
        gguf_pad(&g, 32);
        size_t begin = g.n;
        while (g.n < begin + second + (rows[i].bytes * 18 + 31) / 32 * 32)
            gguf_uint(&g, next_random(&random) & 0x3F3F3F3F3F3F3F3F, 8); /* no NaNs */
        if (wb_open_memory(g.bytes, g.n, "gguf", NULL, &model, &error) != WB_OK)
            fail_msg("%s\n", error.message);
        check_all(model, "a", "b");
        wb_close(model);
        gguf_free(&g);
    }
}

/* Tests stacked experts, and experts that are stored as separate tensors. */
static void experts(void **state)
{
    (void)state;
    enum { EXPERTS = 3 };
    const uint64_t stack[3] = {EXPERTS, 6, 64};
    static const char *const leaves[] = {"gate_proj", "up_proj"};
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        weights *w = weights_new("{\"model_type\":\"qwen3_moe\",\"num_experts\":3,"
                                 "\"quantization\":{\"group_size\":32,\"bits\":4}}");
        for (size_t i = 0; i < 2; i++) {
            char name[120];
            (void)snprintf(name, sizeof name, "model.layers.0.mlp.switch_mlp.%s", leaves[i]);
            if (one_by_one == 0)
                weights_mlx(w, name, "affine", 4, 32, stack, 3, "BF16");
            for (unsigned e = 0; e < EXPERTS && one_by_one != 0; e++) {
                (void)snprintf(name, sizeof name, "model.layers.0.mlp.experts.%u.%s", e, leaves[i]);
                weights_mlx(w, name, "affine", 4, 32, stack + 1, 2, "BF16");
            }
        }
        check_all(weights_open(w), "layers.0.ffn.experts.gate.weight",
                  "layers.0.ffn.experts.up.weight");
        weights_free(w);
    }
}

/* The rows of gate are cut at the same indices as the columns of down. A row of quantized down has
 * only 3 groups of 32 columns. With decoding, slices may begin inside a group: gate and down must
 * be partitioned among 8 ranks, as in a plain layer. */
static void layers(void **state)
{
    (void)state;
    const uint64_t gate[2] = {96, 64}, down[2] = {64, 96};
    weights *w = weights_new("{\"model_type\":\"llama\",\"quantization\":{\"group_size\":32,"
                             "\"bits\":4}}");
    weights_mlx(w, "model.layers.0.mlp.gate_proj", "affine", 4, 32, gate, 2, "BF16");
    weights_mlx(w, "model.layers.0.mlp.up_proj", "affine", 4, 32, gate, 2, "BF16");
    weights_mlx(w, "model.layers.0.mlp.down_proj", "affine", 4, 32, down, 2, "BF16");
    check_all(weights_open(w), "layers.0.ffn.gate.weight", "layers.0.ffn.up.weight");
    wb_policy policy = {.size = sizeof policy, .flags = WB_POLICY_DECODE};
    wb_provider *provider;
    wb_buffer b = {.size = sizeof b};
    assert_int_equal(wb_provider_create(w->model, NULL, &policy, &provider, NULL), WB_OK);
    assert_int_equal(
        wb_provider_slice(provider, "layers.0.ffn.down.weight", SIZE_MAX, 1, 7, 8, &b, NULL),
        WB_OK);
    assert_int_equal(b.shape[1], 12);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* Tests a complete AWQ tensor with more values than the library decodes at once. WB_IO_DIRECT must
 * have no effect. */
static void large(void **state)
{
    (void)state;
    const uint64_t values[2] = {2304, 576}, scales[2] = {1, 4608}, zeros[2] = {1, 576};
    if (is_slow())
        skip();
    weights *w = weights_new("{\"quantization_config\":{\"quant_method\":\"awq\"}}");
    weights_raw(w, "a.qweight", "I32", values, 2, 4);
    weights_floats(w, "a.scales", "BF16", scales, 2);
    weights_raw(w, "a.qzeros", "I32", zeros, 2, 4);
    const wb_model *model = weights_open(w);
    whole t = read_whole(model, "a.qweight");
    for (size_t i = 0; i < 2; i++) {
        wb_policy policy = {.size = sizeof policy, .flags = WB_POLICY_DECODE, .io = WB_IO_DIRECT};
        wb_provider *provider;
        assert_int_equal(
            wb_provider_create(model, i == 0 ? NULL : far_device(), &policy, &provider, NULL),
            WB_OK);
        check_whole(provider, &t, "a.qweight", 1, WB_DTYPE_F16);
        wb_provider_destroy(provider);
    }
    free(t.values);
    weights_free(w);
}

/* Tensors that cannot be decoded must be refused. */
static void refusals(void **state)
{
    (void)state;
    const uint64_t values[2] = {8, 16}, scales[2] = {2, 16}, zeros[2] = {2, 4};
    weights *w = weights_new("{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":8}}");
    weights_raw(w, "a.qweight", "I32", values, 2, 4);
    weights_raw(w, "a.qzeros", "I32", zeros, 2, 4);
    weights_floats(w, "a.scales", "BF16", scales, 2);
    wb_policy policy = {.size = sizeof policy, .flags = WB_POLICY_DECODE};
    wb_provider *provider;
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    assert_int_equal(wb_provider_create(weights_open(w), NULL, &policy, &provider, NULL), WB_OK);
    assert_int_equal(wb_provider_get(provider, "a.qweight", SIZE_MAX, &b, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cannot be decoded"));
    wb_provider_destroy(provider);
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mlx),     cmocka_unit_test(losses),
                                       cmocka_unit_test(hub),     cmocka_unit_test(blocks),
                                       cmocka_unit_test(experts), cmocka_unit_test(layers),
                                       cmocka_unit_test(large),   cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
