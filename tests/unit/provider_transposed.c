/*
 * Tests provider buffers of AWQ and GPTQ matrices, which are stored transposed: fused, and as
 * slices for any number of ranks, with and without g_idx. The test itself decodes the stored matrix
 * and the buffer (layout: docs/provider.md), and checks that the buffer is a slice of the matrix.
 */
#include "unmapped_device.h"
#include "weights.h"

/* ---- decoding by the test ---- */

/* A 4-bit AWQ or GPTQ matrix [out, in] with BF16 scales. */
typedef struct packed {
    bool awq;
    uint64_t out, in, group;
    const unsigned char *qweight, *scales, *qzeros, *g_idx; /* g_idx: NULL if groups are in order */
} packed;

static uint32_t word_at(const unsigned char *bytes, uint64_t i)
{
    bytes += 4 * i;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static int nibble_at(const unsigned char *bytes, uint64_t word, unsigned i)
{
    return (int)(word_at(bytes, word) >> 4 * i & 15);
}

static float bf16_at(const unsigned char *bytes, uint64_t i)
{
    uint32_t bits = (uint32_t)(bytes[2 * i] | bytes[2 * i + 1] << 8) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Decodes the value of output o and input i. AWQ stores the 8 outputs of a word in the order 0 2 4
 * 6 1 3 5 7. */
static float value_of(const packed *p, uint64_t o, uint64_t i)
{
    static const unsigned places[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    unsigned place = p->awq ? places[o % 8] : (unsigned)(o % 8);
    uint64_t group = p->g_idx != NULL ? word_at(p->g_idx, i) : i / p->group;
    int zero = nibble_at(p->qzeros, group * (p->out / 8) + o / 8, place) + !p->awq;
    int code = p->awq ? nibble_at(p->qweight, i * (p->out / 8) + o / 8, place)
                      : nibble_at(p->qweight, i / 8 * p->out + o, (unsigned)(i % 8));
    return (float)(code - zero) * bf16_at(p->scales, group * p->out + o);
}

/* ---- models ---- */

typedef enum kind { AWQ, GPTQ, GPTQ_IN_ORDER, KINDS } kind;

static const char *const kind_names[KINDS] = {"awq", "gptq", "gptq"};

/* Adds a g_idx that is not in order and uses all groups. It is equal for all matrices with the same
 * number of inputs. */
static void add_order(weights *w, const char *name, uint64_t in, uint64_t group)
{
    unsigned char *to = weights_add(w, name, "I32", &in, 1, (size_t)in * 4);
    for (uint64_t i = 0; i < in; i++)
        to[i * 4] = (unsigned char)(i * 7 % in / group);
}

static void add_matrix(weights *w, kind of, const char *module, uint64_t out, uint64_t in,
                       uint64_t group)
{
    char name[160];
    weights_int4(w, of == AWQ, module, out, in, group);
    (void)snprintf(name, sizeof name, "%s.g_idx", module);
    if (of == GPTQ)
        add_order(w, name, in, group);
}

static const unsigned char *bytes_of(const weights *w, const char *module, const char *part)
{
    char name[160];
    size_t n;
    (void)snprintf(name, sizeof name, "%s.%s", module, part);
    return weights_bytes(w, name, &n);
}

static packed stored(const weights *w, kind of, const char *module, uint64_t out, uint64_t in,
                     uint64_t group)
{
    return (packed){.awq = of == AWQ,
                    .out = out,
                    .in = in,
                    .group = group,
                    .qweight = bytes_of(w, module, "qweight"),
                    .scales = bytes_of(w, module, "scales"),
                    .qzeros = bytes_of(w, module, "qzeros"),
                    .g_idx = of == GPTQ ? bytes_of(w, module, "g_idx") : NULL};
}

#define ATTENTION "model.layers.0.self_attn."
#define MLP "model.layers.0.mlp."

static const struct matrix {
    const char *module, *canonical;
    uint64_t out, in;
} matrices[] = {{ATTENTION "q_proj", "layers.0.attention.q.weight", 128, 64},
                {ATTENTION "k_proj", "layers.0.attention.k.weight", 64, 64},
                {ATTENTION "v_proj", "layers.0.attention.v.weight", 64, 64},
                {ATTENTION "o_proj", "layers.0.attention.output.weight", 64, 128},
                {MLP "gate_proj", "layers.0.ffn.gate.weight", 192, 64},
                {MLP "up_proj", "layers.0.ffn.up.weight", 192, 64},
                {MLP "down_proj", "layers.0.ffn.down.weight", 64, 192},
                {"x", "x.qweight", 72, 64}};
#define MATRICES (sizeof matrices / sizeof matrices[0])
enum { Q, K, V, OUTPUT, GATE, UP, DOWN, X };
enum { GROUP = 16 };

static weights *make_model(kind of)
{
    char *config = text_of("{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":8,"
                           "\"num_key_value_heads\":4,\"head_dim\":16,\"intermediate_size\":192,"
                           "\"quantization_config\":{\"quant_method\":\"%s\",\"bits\":4,"
                           "\"group_size\":%d}}",
                           kind_names[of], GROUP);
    weights *w = weights_new(config);
    free(config);
    for (size_t i = 0; i < MATRICES; i++)
        add_matrix(w, of, matrices[i].module, matrices[i].out, matrices[i].in, GROUP);
    (void)weights_open(w);
    return w;
}

static wb_provider *make_provider(const wb_model *model, const wb_device *device)
{
    wb_provider *provider;
    wb_error error;
    if (wb_provider_create(model, device, NULL, &provider, &error) != WB_OK)
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

/* ---- contents of a buffer ---- */

static packed held(kind of, const wb_buffer *b, const unsigned char *bytes)
{
    static const char *const roles[] = {"values", "scales", "biases", "order"};
    assert_int_equal(b->sections, of == GPTQ ? 4 : 3);
    for (uint32_t i = 0; i < b->sections; i++)
        assert_string_equal(b->section[i].role, roles[i]);
    assert_int_equal(b->rank, 2);
    assert_int_equal(b->dtype, WB_DTYPE_I32);
    assert_int_equal(b->group_size, GROUP);
    assert_int_equal(b->section[0].bytes, b->shape[0] * b->shape[1] / 2);
    if (of == GPTQ)
        assert_int_equal(b->section[3].bytes, b->parts * b->shape[1] * 4);
    return (packed){.awq = of == AWQ,
                    .out = b->shape[0],
                    .in = b->shape[1],
                    .group = GROUP,
                    .qweight = bytes + b->section[0].offset,
                    .scales = bytes + b->section[1].offset,
                    .qzeros = bytes + b->section[2].offset,
                    .g_idx = of == GPTQ ? bytes + b->section[3].offset : NULL};
}

/* Checks that `rows` rows of the buffer, from row `to` on, equal rows of the stored matrix, from
 * row `from` on. Input i of the buffer is input first + i of the matrix. */
static void check_rows(const packed *buffer, uint64_t to, const packed *matrix, uint64_t from,
                       uint64_t rows, uint64_t first)
{
    for (uint64_t o = 0; o < rows; o++) {
        for (uint64_t i = 0; i < buffer->in; i++) {
            float have = value_of(buffer, to + o, i), want = value_of(matrix, from + o, first + i);
            if (have != want)
                fail_msg("output %u, input %u: %g, not %g\n", (unsigned)(to + o), (unsigned)i,
                         (double)have, (double)want);
        }
    }
}

/* Checks that wb_int4_dequantize decodes the buffer to the same values as the test. */
static void check_decoded(kind of, const wb_buffer *b, const packed *by_hand)
{
    wb_int4_tensor tensor = {.size = sizeof tensor,
                             .packing = of == AWQ ? WB_INT4_AWQ : WB_INT4_GPTQ,
                             .qweight = by_hand->qweight,
                             .qzeros = by_hand->qzeros,
                             .scales = by_hand->scales,
                             .g_idx = by_hand->g_idx,
                             .qweight_bytes = b->section[0].bytes,
                             .qzeros_bytes = b->section[2].bytes,
                             .scales_bytes = b->section[1].bytes,
                             .g_idx_bytes = b->shape[1] * 4,
                             .scales_dtype = b->section[1].dtype,
                             .out = b->shape[0],
                             .in = b->shape[1],
                             .group_size = GROUP};
    size_t bytes = (size_t)(b->shape[0] * b->shape[1]) * sizeof(float);
    float *values = malloc(bytes + 1);
    wb_error error;
    assert_non_null(values);
    if (wb_int4_dequantize(&tensor, values, bytes, NULL, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    for (uint64_t o = 0; o < b->shape[0]; o++)
        for (uint64_t i = 0; i < b->shape[1]; i++)
            assert_true(values[o * b->shape[1] + i] == value_of(by_hand, o, i));
    free(values);
}

/* ---- plans ---- */

static void put(unsigned char *to, uint64_t *at, const unsigned char *file, size_t file_bytes,
                const wb_plan_range *range)
{
    for (uint64_t i = 0; i < range->count; i++) {
        uint64_t from = range->offset + i * range->stride;
        assert_true(from + range->bytes <= file_bytes);
        memcpy(to + *at, file + from, (size_t)range->bytes);
        *at += range->bytes;
    }
}

/* Checks that the file ranges of a plan, in order, are the bytes of the buffer, without gaps
 * between sections. */
static void check_ranges(const weights *w, const wb_plan *plan, const wb_buffer *b,
                         const unsigned char *bytes)
{
    wb_plan_info info = {.size = sizeof info};
    assert_int_equal(wb_plan_describe(plan, &info), WB_OK);
    assert_int_equal(info.bytes, b->bytes);
    char *path = text_of("%s/model.safetensors", w->folder);
    size_t n;
    uint64_t at = 0;
    unsigned char *file = read_file(path, &n), *all = malloc((size_t)b->bytes + 1);
    assert_non_null(all);
    for (uint64_t i = 0; i < info.ranges; i++) {
        wb_plan_range range = {.size = sizeof range};
        assert_int_equal(wb_plan_range_at(plan, i, &range), WB_OK);
        assert_true(at + range.bytes * range.count <= b->bytes);
        put(all, &at, file, n, &range);
    }
    assert_int_equal(at, b->bytes);
    assert_memory_equal(all, bytes, (size_t)at);
    wb_plan_range range = {.size = sizeof range};
    assert_int_equal(wb_plan_range_at(plan, info.ranges, &range), WB_ERROR_NOT_FOUND);
    free(all);
    free(file);
    free(path);
}

/* ---- complete matrices, and slices ---- */

typedef struct subject {
    weights *w;
    wb_provider *provider;
    kind of;
    const unsigned *list;
    size_t count;
    char *text; /* the names, joined by "+" */
} subject;

static char *join_names(const unsigned *list, size_t n)
{
    char *text = text_of("%s", matrices[list[0]].canonical);
    for (size_t i = 1; i < n; i++) {
        char *longer = text_of("%s+%s", text, matrices[list[i]].canonical);
        free(text);
        text = longer;
    }
    return text;
}

static packed matrix_of(const subject *s, size_t i)
{
    const struct matrix *m = &matrices[s->list[i]];
    return stored(s->w, s->of, m->module, m->out, m->in, GROUP);
}

/* Returns the slice of matrix i that a rank gets according to the plan, or without a plan the
 * complete matrix. */
static wb_plan_cut cut_of(const subject *s, const wb_plan *plan, size_t i, uint32_t axis)
{
    const struct matrix *m = &matrices[s->list[i]];
    wb_plan_cut cut = {.size = sizeof cut, .count = axis == 0 ? m->out : m->in};
    if (plan != NULL) {
        assert_int_equal(wb_plan_cut_at(plan, i, &cut), WB_OK);
        assert_int_equal(cut.tensor, i);
    }
    return cut;
}

static void check_buffer(const subject *s, const wb_buffer *b, const wb_plan *plan, uint32_t axis)
{
    unsigned char *bytes = download(s->provider, b);
    packed all = held(s->of, b, bytes);
    uint64_t at = 0;
    assert_int_equal(b->parts, s->count);
    for (size_t i = 0; i < s->count; i++) {
        packed whole = matrix_of(s, i), part = all;
        wb_plan_cut cut = cut_of(s, plan, i, axis);
        uint64_t rows = axis == 0 ? cut.count : whole.out;
        if (part.g_idx != NULL)
            part.g_idx += i * b->shape[1] * 4;
        assert_int_equal(b->part_rows[i], rows);
        assert_int_equal(b->shape[1], axis == 0 ? whole.in : cut.count);
        check_rows(&part, at, &whole, axis == 0 ? cut.start : 0, rows, axis == 0 ? 0 : cut.start);
        at += rows;
    }
    assert_int_equal(b->shape[0], at);
    check_decoded(s->of, b, &all);
    if (plan != NULL)
        check_ranges(s->w, plan, b, bytes);
    free(bytes);
}

/* Gets the slices of all ranks. They must be consecutive and cover the matrices. */
static void check_parts(const subject *s, uint32_t axis, uint32_t of)
{
    uint64_t next[3] = {0, 0, 0};
    for (uint32_t rank = 0; rank < of; rank++) {
        wb_buffer b = {.size = sizeof b};
        wb_plan *plan;
        wb_error error;
        if (wb_slice_plan(s->w->model, s->text, SIZE_MAX, axis, rank, of, &plan, &error) != WB_OK ||
            wb_provider_slice(s->provider, s->text, SIZE_MAX, axis, rank, of, &b, &error) != WB_OK)
            fail_msg("%s, axis %u, %u of %u: %s\n", s->text, axis, rank, of, error.message);
        check_buffer(s, &b, plan, axis);
        for (size_t i = 0; i < s->count; i++) {
            wb_plan_cut cut = cut_of(s, plan, i, axis);
            assert_true(cut.start == next[i] || (s->list[0] <= V && of > 4)); /* shared heads */
            next[i] = cut.start + cut.count;
        }
        wb_plan_free(plan);
        wb_provider_release(s->provider, &b);
    }
    for (size_t i = 0; i < s->count; i++)
        assert_int_equal(next[i], axis == 0 ? matrices[s->list[i]].out : matrices[s->list[i]].in);
}

static void check_refused(const subject *s, uint32_t axis, uint32_t of)
{
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    assert_int_equal(wb_provider_slice(s->provider, s->text, SIZE_MAX, axis, 0, of, &b, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cannot be divided among"));
}

static void all_ways(void **state)
{
    static const struct {
        unsigned list[3];
        size_t count;
        uint32_t ranks[2][2]; /* maximum number of ranks: [0: no g_idx; 1: g_idx][axis] */
    } rows[] = {{{Q, K, V}, 3, {{8, 4}, {8, 8}}}, {{GATE, UP}, 2, {{8, 4}, {8, 8}}},
                {{X}, 1, {{8, 4}, {8, 8}}},       {{OUTPUT}, 1, {{8, 8}, {8, 8}}},
                {{DOWN}, 1, {{8, 8}, {8, 8}}},    {{K, V}, 2, {{8, 4}, {8, 8}}},
                {{UP, GATE}, 2, {{8, 4}, {8, 8}}}};
    (void)state;
    for (kind of = AWQ; of < KINDS; of++) {
        weights *w = make_model(of);
        for (size_t device = 0; device < 2; device++) {
            wb_provider *provider = make_provider(w->model, device == 0 ? NULL : late_device());
            for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                subject s = {w, provider, of, rows[i].list, rows[i].count, NULL};
                wb_buffer b = {.size = sizeof b};
                s.text = join_names(s.list, s.count);
                assert_int_equal(wb_provider_get(provider, s.text, SIZE_MAX, &b, NULL), WB_OK);
                check_buffer(&s, &b, NULL, 0);
                for (uint32_t ranks = is_slow() ? 4 : 1; ranks <= 8; ranks += is_slow() ? 4 : 1) {
                    for (uint32_t axis = 0; axis < 2; axis++) {
                        if (ranks <= rows[i].ranks[of == GPTQ][axis])
                            check_parts(&s, axis, ranks);
                        else
                            check_refused(&s, axis, ranks);
                    }
                }
                free(s.text);
            }
            wb_provider_destroy(provider);
        }
        weights_free(w);
    }
}

/* If q, k and v are stored as one tensor, each rank must get its slices of q, k and v, with g_idx
 * for each. */
static void one_tensor(void **state)
{
    (void)state;
    for (kind of = AWQ; of < KINDS; of++) {
        char *config =
            text_of("{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":8,"
                    "\"num_key_value_heads\":4,\"head_dim\":16,"
                    "\"quantization_config\":{\"quant_method\":\"%s\",\"bits\":4}}",
                    kind_names[of]);
        weights *w = weights_new(config);
        free(config);
        add_matrix(w, of, ATTENTION "qkv_proj", 256, 64, GROUP);
        wb_provider *provider = make_provider(weights_open(w), NULL);
        packed whole = stored(w, of, ATTENTION "qkv_proj", 256, 64, GROUP);
        for (uint32_t rank = 0; rank < 4; rank++) {
            wb_buffer b = {.size = sizeof b};
            assert_int_equal(wb_provider_slice(provider, "layers.0.attention.qkv.weight", SIZE_MAX,
                                               0, rank, 4, &b, NULL),
                             WB_OK);
            assert_int_equal(b.parts, 3);
            unsigned char *bytes = download(provider, &b);
            packed part = held(of, &b, bytes);
            check_rows(&part, 0, &whole, rank * 32, 32, 0);
            check_rows(&part, 32, &whole, 128 + rank * 16, 16, 0);
            if (part.g_idx != NULL)
                part.g_idx += 2 * 64 * 4;
            check_rows(&part, 48, &whole, 192 + rank * 16, 16, 0);
            free(bytes);
        }
        wb_provider_destroy(provider);
        weights_free(w);
    }
}

/* If separately stored experts of gate and up are fused, the buffer must contain for every expert
 * first its gate, then its up. */
static void experts(void **state)
{
    (void)state;
    enum { EXPERTS = 3, OUT = 24, IN = 32 };
    weights *w = weights_new("{\"model_type\":\"qwen3_moe\",\"num_experts\":3,"
                             "\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4}}");
    char module[2][EXPERTS][80];
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned e = 0; e < EXPERTS; e++) {
            (void)snprintf(module[i][e], sizeof module[i][e], MLP "experts.%u.%s_proj", e,
                           i == 0 ? "gate" : "up");
            add_matrix(w, AWQ, module[i][e], OUT, IN, GROUP);
        }
    }
    wb_provider *provider = make_provider(weights_open(w), NULL);
    wb_buffer b = {.size = sizeof b};
    static const char names[] = "layers.0.ffn.experts.gate.weight+layers.0.ffn.experts.up.weight";
    assert_int_equal(wb_provider_get(provider, names, SIZE_MAX, &b, NULL), WB_OK);
    assert_int_equal(b.shape[0], EXPERTS);
    assert_int_equal(b.shape[1], 2 * OUT);
    assert_int_equal(b.shape[2], IN);
    const unsigned char *bytes = b.contents;
    for (uint64_t e = 0; e < EXPERTS; e++) {
        packed one = {.awq = true, .out = b.shape[1], .in = b.shape[2], .group = GROUP};
        one.qweight = bytes + b.section[0].offset + e * b.section[0].bytes / EXPERTS;
        one.scales = bytes + b.section[1].offset + e * b.section[1].bytes / EXPERTS;
        one.qzeros = bytes + b.section[2].offset + e * b.section[2].bytes / EXPERTS;
        for (uint64_t i = 0; i < 2; i++) {
            packed whole = stored(w, AWQ, module[i][e], OUT, IN, GROUP);
            check_rows(&one, i * OUT, &whole, 0, OUT, 0);
        }
    }
    wb_provider_destroy(provider);
    weights_free(w);
}

/* Tests tensors that are larger than the staging memory. */
static void large(void **state)
{
    (void)state;
    enum { IN = 6000 };
    static const uint64_t outs[2] = {2048, 512};
    weights *w = weights_new("{\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4}}");
    add_matrix(w, AWQ, "a", outs[0], IN, IN);
    add_matrix(w, AWQ, "b", outs[1], IN, IN);
    (void)weights_open(w);
    for (size_t device = 0; device < 2; device++) {
        wb_provider *provider = make_provider(w->model, device == 0 ? NULL : late_device());
        wb_buffer b = {.size = sizeof b};
        assert_int_equal(wb_provider_get(provider, "a.qweight+b.qweight", SIZE_MAX, &b, NULL),
                         WB_OK);
        unsigned char *bytes = download(provider, &b);
        const unsigned char *at = bytes,
                            *from[2] = {bytes_of(w, "a", "qweight"), bytes_of(w, "b", "qweight")};
        for (uint64_t row = 0; row < IN; row++) {
            for (size_t i = 0; i < 2; i++) {
                size_t n = (size_t)outs[i] / 2;
                assert_memory_equal(at, from[i] + row * n, n);
                at += n;
            }
        }
        free(bytes);
        wb_provider_destroy(provider);
    }
    weights_free(w);
}

/* ---- what cannot be ---- */

static void refuse(wb_provider *provider, const char *names, const char *said)
{
    wb_buffer b = {.size = sizeof b};
    wb_error error;
    assert_int_equal(wb_provider_get(provider, names, SIZE_MAX, &b, &error), WB_ERROR_UNSUPPORTED);
    if (strstr(error.message, said) == NULL)
        fail_msg("%s: %s\n", names, error.message);
}

static void refusals(void **state)
{
    (void)state;
    const uint64_t eight[2] = {8, 16}, scales[2] = {2, 16}, zeros[2] = {2, 4};
    weights *w = weights_new("{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,"
                             "\"g\":{\"quant_method\":\"gptq\",\"bits\":8}}}");
    add_matrix(w, GPTQ, "a", 16, 32, 16);
    add_matrix(w, GPTQ_IN_ORDER, "b", 16, 32, 16);
    add_matrix(w, GPTQ_IN_ORDER, "c", 16, 32, 8);
    add_matrix(w, GPTQ_IN_ORDER, "d", 16, 64, 16);
    add_matrix(w, GPTQ_IN_ORDER, "e", 200000, 8, 8);
    add_matrix(w, GPTQ_IN_ORDER, "f", 200000, 8, 8);
    weights_raw(w, "g.qweight", "I32", eight, 2, 4);
    weights_raw(w, "g.qzeros", "I32", zeros, 2, 4);
    weights_floats(w, "g.scales", "BF16", scales, 2);
    wb_provider *provider = make_provider(weights_open(w), NULL);
    refuse(provider, "b.qweight+g.qweight", "has 8 bits");
    refuse(provider, "a.qweight+b.qweight", "of different parts");
    refuse(provider, "b.qweight+c.qweight", "groups of this tensor have 8");
    refuse(provider, "b.qweight+d.qweight", "columns");
    refuse(provider, "e.qweight+f.qweight", "needs 1600000 bytes");
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- the order of the rows of q and k ---- */

/* Returns the stored row that becomes row `row` of the buffer. RoPE rotates pairs of rows. The
 * stored order (half) has the two rows of a pair 8 rows apart, the buffer (interleaved) has them
 * next to each other. A head has 16 rows. */
static uint64_t half_row(uint64_t row)
{
    return row - row % 16 + row % 16 / 2 + row % 2 * 8;
}

/* Tests the permutation of the rows of q and k: of each alone, in a slice, and in a buffer that is
 * fused with v, whose rows are not permuted. */
static void row_order(void **state)
{
    (void)state;
    const wb_policy policy = {.size = sizeof policy, .flags = WB_POLICY_ROPE_INTERLEAVED};
    for (int of = 0; of < KINDS; of++) {
        weights *w = make_model((kind)of);
        for (int far = 0; far < 2; far++) {
            wb_provider *provider;
            wb_buffer b = WB_BUFFER_INIT;
            assert_int_equal(
                wb_provider_create(w->model, far ? late_device() : NULL, &policy, &provider, NULL),
                WB_OK);
            char *names = text_of("%s+%s+%s", matrices[Q].canonical, matrices[K].canonical,
                                  matrices[V].canonical);
            for (int fused = 0; fused < 2; fused++) {
                assert_int_equal(wb_provider_get(provider, fused ? names : matrices[Q].canonical,
                                                 SIZE_MAX, &b, NULL),
                                 WB_OK);
                unsigned char *bytes = download(provider, &b);
                packed buffer = held((kind)of, &b, bytes);
                uint64_t at = 0;
                for (int m = Q; m <= (fused ? V : Q); m++) {
                    packed matrix = stored(w, (kind)of, matrices[m].module, matrices[m].out,
                                           matrices[m].in, GROUP);
                    for (uint64_t row = 0; row < matrices[m].out; row++)
                        check_rows(&buffer, at + row, &matrix, m == V ? row : half_row(row), 1, 0);
                    at += matrices[m].out;
                }
                free(bytes);
            }
            packed matrix = stored(w, (kind)of, matrices[K].module, 64, 64, GROUP);
            assert_int_equal(
                wb_provider_slice(provider, matrices[K].canonical, SIZE_MAX, 0, 1, 2, &b, NULL),
                WB_OK);
            unsigned char *bytes = download(provider, &b);
            packed buffer = held((kind)of, &b, bytes);
            for (uint64_t row = 0; row < 32; row++)
                check_rows(&buffer, row, &matrix, half_row(32 + row), 1, 0);
            free(bytes);
            free(names);
            wb_provider_destroy(provider);
        }
        weights_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_ways), cmocka_unit_test(one_tensor),
                                       cmocka_unit_test(experts),  cmocka_unit_test(large),
                                       cmocka_unit_test(refusals), cmocka_unit_test(row_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
