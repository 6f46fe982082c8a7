/*
 * Tests tensor-parallel slices of every encoding, along every axis, for up to 8 ranks. The slices
 * of all ranks must cover the tensor. Each must begin and end at permitted boundaries, contain the
 * bytes that wb_slice_plan lists, and decode to the tensor's values at the indices of the slice.
 * Tensors of a layer that depend on each other must be cut at the same indices.
 */
#include "support.h"
#include "weights.h"

#include "gguf_build.h"

/* ---- values of a buffer ---- */

typedef struct subject {
    const wb_model *model;
    const char *name;
    unsigned char *file; /* contents of the model's only file */
    size_t file_bytes;
    wb_tensor tensor;
    wb_encoding encoding;
    float *whole;
} subject;

static wb_mlx_type mlx_type(const wb_encoding *encoding)
{
    static const struct {
        const char *name;
        wb_mlx_mode mode;
    } modes[] = {{"mxfp4", WB_MLX_MXFP4}, {"mxfp8", WB_MLX_MXFP8}, {"nvfp4", WB_MLX_NVFP4}};
    wb_mlx_type type = {.size = sizeof type,
                        .mode = WB_MLX_AFFINE,
                        .bits = encoding->bits,
                        .group_size = encoding->group_size,
                        .global = (wb_mlx_global)encoding->global};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(encoding->type, modes[i].name) == 0)
            type.mode = modes[i].mode;
    }
    return type;
}

static wb_status decode_mlx(const wb_encoding *encoding, const wb_buffer *b, uint64_t rows,
                            uint64_t columns, float *values, uint64_t size, wb_error *error)
{
    const unsigned char *bytes = b->contents;
    wb_mlx_type type = mlx_type(encoding);
    wb_mlx_parts parts = {.size = sizeof parts,
                          .weight = bytes,
                          .weight_bytes = b->section[0].bytes,
                          .scales = bytes + b->section[1].offset,
                          .scales_bytes = b->section[1].bytes,
                          .scales_dtype = b->section[1].dtype};
    if (strcmp(b->section[b->sections - 1].role, "global_scale") == 0)
        memcpy(&type.global_scale, bytes + b->section[b->sections - 1].offset, 4);
    else
        type.global = WB_MLX_GLOBAL_NONE;
    if (type.mode == WB_MLX_AFFINE) {
        parts.biases = bytes + b->section[2].offset;
        parts.biases_bytes = b->section[2].bytes;
        parts.biases_dtype = b->section[2].dtype;
    }
    return wb_mlx_dequantize(&type, &parts, rows, columns, WB_DTYPE_F32, values, size, NULL, error);
}

static wb_status decode_hub(const wb_encoding *encoding, const wb_buffer *b, float *values,
                            uint64_t size, wb_error *error)
{
    const unsigned char *bytes = b->contents;
    const wb_section *s = b->section;
    if (strcmp(encoding->type, "fp8_block") == 0) {
        wb_fp8_block fp8 = {.size = sizeof fp8,
                            .weight = bytes,
                            .scales = bytes + s[1].offset,
                            .weight_bytes = s[0].bytes,
                            .scales_bytes = s[1].bytes,
                            .weight_dtype = s[0].dtype,
                            .scales_dtype = s[1].dtype,
                            .rows = b->shape[0],
                            .columns = b->shape[1]};
        return wb_fp8_dequantize(&fp8, values, size, NULL, error);
    }
    wb_int4_tensor int4 = {.size = sizeof int4,
                           .packing =
                               strcmp(encoding->type, "awq") == 0 ? WB_INT4_AWQ : WB_INT4_GPTQ,
                           .qweight = bytes,
                           .scales = bytes + s[1].offset,
                           .qzeros = bytes + s[2].offset,
                           .qweight_bytes = s[0].bytes,
                           .scales_bytes = s[1].bytes,
                           .qzeros_bytes = s[2].bytes,
                           .scales_dtype = s[1].dtype,
                           .out = b->shape[0],
                           .in = b->shape[1],
                           .group_size = encoding->group_size};
    if (b->sections == 4) {
        int4.g_idx = bytes + s[3].offset;
        int4.g_idx_bytes = s[3].bytes;
    }
    return wb_int4_dequantize(&int4, values, size, NULL, error);
}

static float *decode(const subject *s, const wb_buffer *b)
{
    uint64_t rows = 1, columns = b->shape[b->rank - 1];
    const char *type = s->encoding.type;
    wb_error error;
    for (uint32_t i = 0; i + 1 < b->rank; i++)
        rows *= b->shape[i];
    uint64_t size = rows * columns * sizeof(float);
    float *values = malloc((size_t)size + 1);
    assert_non_null(values);
    wb_status status;
    if (strcmp(type, "fp8_block") == 0 || strcmp(type, "awq") == 0 || strcmp(type, "gptq") == 0)
        status = decode_hub(&s->encoding, b, values, size, &error);
    else if (b->sections > 1)
        status = decode_mlx(&s->encoding, b, rows, columns, values, size, &error);
    else
        status = wb_dequantize(b->section[0].dtype, b->contents, b->bytes, rows, columns, values,
                               NULL, &error);
    if (status != WB_OK)
        fail_msg("%s: %s\n", s->name, error.message);
    return values;
}

/* ---- one part ---- */

static wb_plan_info describe(const wb_plan *plan)
{
    wb_plan_info info = {.size = sizeof info};
    assert_int_equal(wb_plan_describe(plan, &info), WB_OK);
    return info;
}

/* Checks that the file ranges of the plan, concatenated, are the sections of the buffer. Counts in
 * `covered` how often each byte of the file was read. */
static void check_ranges(const subject *s, const wb_plan *plan, const wb_buffer *b,
                         unsigned char *covered)
{
    const unsigned char *at = b->contents;
    uint32_t section = 0;
    uint64_t in_section = 0, sum = 0;
    wb_plan_range range = {.size = sizeof range};
    wb_plan_info info = describe(plan);
    for (uint64_t i = 0; i < info.ranges; i++) {
        assert_int_equal(wb_plan_range_at(plan, i, &range), WB_OK);
        assert_int_equal(range.file, 0);
        while (in_section == b->section[section].bytes && section + 1 < b->sections) {
            section++;
            in_section = 0;
        }
        assert_string_equal(range.role, b->section[section].role);
        for (uint64_t k = 0; k < range.count; k++) {
            uint64_t from = range.offset + k * range.stride;
            assert_true(from + range.bytes <= s->file_bytes);
            if (memcmp(at + b->section[section].offset + in_section, s->file + from,
                       (size_t)range.bytes) != 0)
                fail_msg("%s: range %u is not what was read\n", s->name, (unsigned)i);
            for (uint64_t byte = 0; byte < range.bytes; byte++)
                covered[from + byte]++;
            in_section += range.bytes;
            sum += range.bytes;
        }
    }
    assert_int_equal(sum, info.bytes);
    assert_int_equal(in_section, b->section[section].bytes);
    assert_int_equal(section, b->sections - 1);
    assert_int_equal(wb_plan_range_at(plan, info.ranges, &range), WB_ERROR_NOT_FOUND);
}

/* Checks that the buffer has the values of the tensor at the indices of the slice. */
static void check_values(const subject *s, const wb_plan *plan, const wb_buffer *b, uint32_t axis)
{
    float *values = decode(s, b);
    uint64_t inner = 1, outer = 1, at = 0;
    wb_plan_info info = describe(plan);
    for (uint32_t i = 0; i < s->tensor.rank; i++) {
        if (i < axis)
            outer *= s->tensor.shape[i];
        if (i > axis)
            inner *= s->tensor.shape[i];
        if (i != axis)
            assert_int_equal(b->shape[i], s->tensor.shape[i]);
    }
    for (uint64_t o = 0; o < outer; o++) {
        for (uint64_t c = 0; c < info.cuts; c++) {
            wb_plan_cut cut = {.size = sizeof cut};
            assert_int_equal(wb_plan_cut_at(plan, c, &cut), WB_OK);
            const float *want = s->whole + (o * s->tensor.shape[axis] + cut.start) * inner;
            if (memcmp(values + at, want, (size_t)(cut.count * inner) * sizeof *want) != 0)
                fail_msg("%s: values differ\n", s->name);
            at += cut.count * inner;
        }
    }
    uint64_t all = 1;
    for (uint32_t i = 0; i < b->rank; i++)
        all *= b->shape[i];
    assert_int_equal(at, all);
    free(values);
}

static void mark(unsigned char *indices, const wb_plan *plan)
{
    wb_plan_info info = describe(plan);
    for (uint64_t c = 0; c < info.cuts; c++) {
        wb_plan_cut cut = {.size = sizeof cut};
        assert_int_equal(wb_plan_cut_at(plan, c, &cut), WB_OK);
        for (uint64_t i = 0; i < cut.count; i++)
            indices[cut.start + i]++;
    }
}

/* Gets the slices of all ranks and checks them. Returns false if the slices are refused. They must
 * then be refused for every rank. */
static bool share_out(const subject *s, uint32_t axis, uint32_t of, bool values)
{
    wb_policy policy = {
        .size = sizeof policy, .plain = WB_PLAIN_KEEP, .flags = WB_POLICY_KEEP_SCALES};
    wb_provider *provider;
    uint64_t length = s->tensor.shape[axis];
    unsigned char *covered = calloc(1, s->file_bytes), *indices = calloc(1, (size_t)length);
    uint32_t refused = 0, copies = 1, most = 1;
    assert_true(covered != NULL && indices != NULL);
    assert_int_equal(wb_provider_create(s->model, NULL, &policy, &provider, NULL), WB_OK);
    for (uint32_t rank = 0; rank < of; rank++) {
        wb_buffer b = {.size = sizeof b};
        wb_plan *plan;
        wb_error error, other;
        wb_status status =
            wb_slice_plan(s->model, s->name, SIZE_MAX, axis, rank, of, &plan, &error);
        assert_int_equal(wb_provider_slice(provider, s->name, SIZE_MAX, axis, rank, of, &b, &other),
                         status);
        if (status != WB_OK) {
            assert_int_equal(status, WB_ERROR_UNSUPPORTED);
            assert_string_equal(error.message, other.message);
            assert_null(plan);
            refused++;
            continue;
        }
        wb_plan_info info = describe(plan);
        copies = rank == 0 || info.replicated < copies ? info.replicated : copies;
        most = info.replicated > most ? info.replicated : most;
        assert_int_equal(info.dims, b.rank);
        assert_memory_equal(info.shape, b.shape, b.rank * sizeof *b.shape);
        check_ranges(s, plan, &b, covered);
        if (values)
            check_values(s, plan, &b, axis);
        mark(indices, plan);
        wb_plan_free(plan);
        wb_provider_release(provider, &b);
    }
    assert_true(refused == 0 || refused == of);
    for (uint64_t i = 0; i < length && refused == 0; i++)
        assert_true(indices[i] >= copies && indices[i] <= most);
    /* The slices must cover every byte of the tensor once, or once per replica. */
    for (uint64_t i = 0; i < s->tensor.bytes && refused == 0 && s->encoding.parts == 1; i++)
        assert_true(covered[s->tensor.offset + i] >= copies &&
                    covered[s->tensor.offset + i] <= most);
    wb_provider_destroy(provider);
    free(covered);
    free(indices);
    return refused == 0;
}

/* ---- subjects ---- */

static subject subject_of(const wb_model *model, const char *name, unsigned char *file, size_t n)
{
    subject s = {.model = model, .name = name, .file = file, .file_bytes = n};
    uint64_t index, elements, bytes;
    wb_error error;
    s.tensor.size = sizeof s.tensor;
    s.encoding.size = sizeof s.encoding;
    if (wb_tensor_find(model, name, SIZE_MAX, &index) != WB_OK)
        fail_msg("there is no %s\n", name);
    assert_int_equal(wb_tensor_at(model, index, &s.tensor, &error), WB_OK);
    assert_int_equal(wb_tensor_encoding(model, index, &s.encoding, &error), WB_OK);
    assert_int_equal(
        wb_tensor_read_size(model, index, NULL, WB_DTYPE_F32, &elements, &bytes, &error), WB_OK);
    s.whole = malloc((size_t)bytes + 1);
    assert_non_null(s.whole);
    if (wb_tensor_read(model, index, NULL, WB_DTYPE_F32, s.whole, bytes, &error) != WB_OK)
        fail_msg("%s: %s\n", name, error.message);
    return s;
}

static subject subject_in(weights *w, const char *name)
{
    if (w->model == NULL)
        (void)weights_open(w);
    char *path = text_of("%s/model.safetensors", w->folder);
    size_t n;
    unsigned char *file = read_file(path, &n);
    free(path);
    return subject_of(w->model, name, file, n);
}

static void subject_free(subject *s)
{
    free(s->whole);
    free(s->file);
}

/* Gets the slices for 1 to 8 ranks along `axis`, which can be cut only between its `units` units.
 * This must succeed only if there is at least one unit for each rank. */
static void share_out_all(const subject *s, uint32_t axis, uint64_t units)
{
    for (uint32_t of = 1; of <= 8; of++) {
        if (is_slow() && of != 2 && of != 3 && of != 8)
            continue;
        if (share_out(s, axis, of, s->encoding.parts < 5) != (of <= units))
            fail_msg("%s: axis %u of %u\n", s->name, (unsigned)axis, (unsigned)of);
    }
}

static void plain(void **state)
{
    static const struct {
        const char *dtype;
        unsigned bits, unit;
    } rows[] = {{"F32", 32, 1}, {"BF16", 16, 1},   {"I8", 8, 1}, {"F8_E4M3", 8, 1},
                {"I64", 64, 1}, {"F6_E2M3", 6, 4}, {"F4", 4, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t shape[2] = {9, 20};
        weights *w = weights_new("{}");
        size_t n = 9 * 20 * rows[i].bits / 8;
        fill_random(w, weights_add(w, "t", rows[i].dtype, shape, 2, n), n);
        if (strcmp(rows[i].dtype, "F32") == 0 || strcmp(rows[i].dtype, "BF16") == 0)
            for (size_t k = rows[i].bits / 8 - 1; k < n; k += rows[i].bits / 8)
                w->data[k] &= 0x3F; /* no NaNs */
        subject s = subject_in(w, "t");
        share_out_all(&s, 0, 9);
        share_out_all(&s, 1, 20 / rows[i].unit);
        subject_free(&s);
        weights_free(w);
    }
}

static void mlx(void **state)
{
    static const struct {
        const char *mode;
        unsigned bits, group;
        const char *global;
    } rows[] = {{"affine", 2, 64, NULL}, {"affine", 3, 32, NULL},         {"affine", 4, 64, NULL},
                {"affine", 5, 32, NULL}, {"affine", 6, 32, NULL},         {"affine", 8, 128, NULL},
                {"affine", 1, 32, NULL}, {"mxfp4", 4, 32, NULL},          {"mxfp8", 8, 32, NULL},
                {"nvfp4", 4, 16, NULL},  {"nvfp4", 4, 16, "global_scale"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t shape[2] = {11, 7 * rows[i].group}, scalar[1] = {1};
        char *config = text_of("{\"quantization\":{\"group_size\":%u,\"bits\":%u,\"mode\":\"%s\"}}",
                               rows[i].group, rows[i].bits, rows[i].mode);
        weights *w = weights_new(config);
        free(config);
        weights_mlx(w, "t", rows[i].mode, rows[i].bits, rows[i].group, shape, 2, "BF16");
        if (rows[i].global != NULL)
            weights_floats(w, "t.global_scale", "F32", scalar, 0);
        subject s = subject_in(w, "t.weight");
        assert_string_equal(s.encoding.type, rows[i].mode);
        assert_int_equal(s.encoding.bits, rows[i].bits);
        share_out_all(&s, 0, 11);
        share_out_all(&s, 1, 7);
        subject_free(&s);
        weights_free(w);
    }
}

/* Tests FP8 with square blocks, AWQ and GPTQ, which are stored transposed, and NVFP4 of ModelOpt,
 * which has a per-tensor scale. */
static void hub(void **state)
{
    (void)state;
    const uint64_t fp8[2] = {1100, 700}, fp8_scales[2] = {9, 6}, q[2] = {128, 8}, gq[2] = {16, 64},
                   scales[2] = {4, 64}, zeros[2] = {4, 8}, order[1] = {128}, nv[2] = {9, 64},
                   nv_scales[2] = {9, 8};
    weights *w = weights_new("{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4}}");
    weights_raw(w, "f.weight", "F8_E4M3", fp8, 2, 1);
    for (size_t i = 0; i < w->bytes; i++) /* no NaNs, because they are not equal to themselves */
        w->data[i] &= 0x77;
    weights_floats(w, "f.weight_scale_inv", "F32", fp8_scales, 2);
    weights_raw(w, "g.qweight", "I32", gq, 2, 4);
    weights_raw(w, "g.qzeros", "I32", zeros, 2, 4);
    weights_floats(w, "g.scales", "BF16", scales, 2);
    weights_raw(w, "o.qweight", "I32", gq, 2, 4);
    weights_raw(w, "o.qzeros", "I32", zeros, 2, 4);
    weights_floats(w, "o.scales", "BF16", scales, 2);
    unsigned char *groups = weights_add(w, "o.g_idx", "I32", order, 1, 128 * 4);
    for (size_t i = 0; i < 128; i++)
        groups[i * 4] = (unsigned char)(i % 4);
    weights_raw(w, "n.weight", "U8", nv, 2, 1);
    size_t n = 9 * 8;
    unsigned char *e4m3 = weights_add(w, "n.weight_scale", "F8_E4M3", nv_scales, 2, n);
    for (size_t i = 0; i < n; i++)
        e4m3[i] = (unsigned char)(0x30 + i % 12);
    weights_floats(w, "n.weight_scale_2", "F32", order, 0);
    static const struct {
        const char *name, *type;
        uint64_t rows, columns;
    } subjects[] = {
        {"f.weight", "fp8_block", 9, 6},
        {"g.qweight", "gptq", 8, 4},
        {"o.qweight", "gptq", 8, 16}, /* with g_idx: inputs can be cut at any multiple of 8 */
        {"n.weight", "nvfp4", 9, 8}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        subject s = subject_in(w, subjects[i].name);
        assert_string_equal(s.encoding.type, subjects[i].type);
        share_out_all(&s, 0, subjects[i].rows);
        share_out_all(&s, 1, subjects[i].columns);
        subject_free(&s);
    }
    weights_free(w);
    w = weights_new("{\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4}}");
    weights_raw(w, "a.qweight", "I32", q, 2, 4);
    weights_raw(w, "a.qzeros", "I32", zeros, 2, 4);
    weights_floats(w, "a.scales", "BF16", scales, 2);
    subject s = subject_in(w, "a.qweight");
    assert_string_equal(s.encoding.type, "awq");
    share_out_all(&s, 0, 8);
    share_out_all(&s, 1, 4);
    subject_free(&s);
    weights_free(w);
}

static void ggml(void **state)
{
    static const int32_t types[] = {
        WB_DTYPE_Q4_0,  WB_DTYPE_Q4_1,    WB_DTYPE_Q5_0,   WB_DTYPE_Q5_1,   WB_DTYPE_Q8_0,
        WB_DTYPE_Q2_K,  WB_DTYPE_Q3_K,    WB_DTYPE_Q4_K,   WB_DTYPE_Q5_K,   WB_DTYPE_Q6_K,
        WB_DTYPE_IQ1_S, WB_DTYPE_IQ1_M,   WB_DTYPE_IQ2_S,  WB_DTYPE_IQ2_XS, WB_DTYPE_IQ2_XXS,
        WB_DTYPE_IQ3_S, WB_DTYPE_IQ3_XXS, WB_DTYPE_IQ4_NL, WB_DTYPE_IQ4_XS, WB_DTYPE_TQ1_0,
        WB_DTYPE_TQ2_0, WB_DTYPE_MXFP4,   WB_DTYPE_NVFP4,  WB_DTYPE_Q1_0,   WB_DTYPE_Q2_0};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        wb_dtype_info info = {.size = sizeof info};
        assert_int_equal(wb_dtype_describe(types[i], &info), WB_OK);
        const uint64_t columns = 5 * info.block_size, shape[] = {columns, 10, 0};
        uint64_t bytes, random = 99;
        gguf g;
        wb_model *model;
        wb_error error;
        assert_int_equal(wb_quantized_size(types[i], 10, columns, &bytes, NULL), WB_OK);
        gguf_start(&g, false, 1, 0);
        gguf_tensor(&g, "t", shape, (uint32_t)types[i], 0);
        gguf_pad(&g, 32);
        for (uint64_t k = 0; k < bytes; k++) /* small exponents, so that no scale is NaN */
            gguf_uint(&g, (next_random(&random) >> 33) & 0x3B, 1);
        gguf_pad(&g, 32);
        if (wb_open_memory(g.bytes, g.n, "gguf", NULL, &model, &error) != WB_OK)
            fail_msg("%s: %s\n", info.name, error.message);
        subject s = subject_of(model, "t", g.bytes, g.n);
        share_out_all(&s, 0, 10);
        share_out_all(&s, 1, 5);
        free(s.whole);
        wb_close(model);
        gguf_free(&g);
    }
}

/* Slices stacked experts along each axis: experts, outputs and inputs. */
static void stacks(void **state)
{
    (void)state;
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        const uint64_t stack[3] = {6, 10, 128};
        char name[120];
        weights *w = weights_new("{\"model_type\":\"qwen3_moe\",\"quantization\":{"
                                 "\"group_size\":32,\"bits\":4}}");
        if (!one_by_one)
            weights_mlx(w, "model.layers.0.mlp.switch_mlp.up_proj", "affine", 4, 32, stack, 3,
                        "BF16");
        for (unsigned e = 0; e < 6 && one_by_one; e++) {
            (void)snprintf(name, sizeof name, "model.layers.0.mlp.experts.%u.up_proj", e);
            weights_mlx(w, name, "affine", 4, 32, stack + 1, 2, "BF16");
        }
        subject s = subject_in(w, "layers.0.ffn.experts.up.weight");
        s.encoding.type = "affine";
        s.encoding.parts = 3;
        share_out_all(&s, 0, 6);
        share_out_all(&s, 1, 10);
        share_out_all(&s, 2, 4);
        subject_free(&s);
        weights_free(w);
    }
}

/* ---- tensors that must be cut at the same indices ---- */

static wb_plan_cut cut_of(const wb_model *model, const char *name, uint32_t axis, uint32_t rank,
                          uint32_t of, uint64_t number)
{
    wb_plan *plan;
    wb_error error;
    wb_plan_cut cut = {.size = sizeof cut};
    if (wb_slice_plan(model, name, SIZE_MAX, axis, rank, of, &plan, &error) != WB_OK)
        fail_msg("%s: %s\n", name, error.message);
    assert_int_equal(wb_plan_cut_at(plan, number, &cut), WB_OK);
    wb_plan_free(plan);
    return cut;
}

static void check_cut(wb_plan_cut cut, uint64_t start, uint64_t count)
{
    assert_int_equal(cut.start, start);
    assert_int_equal(cut.count, count);
}

static bool is_alone(const wb_model *model, const char *name, uint32_t axis, uint32_t of)
{
    wb_plan *plan;
    assert_int_equal(wb_slice_plan(model, name, SIZE_MAX, axis, 0, of, &plan, NULL), WB_OK);
    bool alone = describe(plan).alone != 0;
    wb_plan_free(plan);
    return alone;
}

static void refuse(const wb_model *model, const char *name, uint32_t axis, uint32_t of,
                   const char *said)
{
    wb_plan *plan;
    wb_error error;
    assert_int_equal(wb_slice_plan(model, name, SIZE_MAX, axis, 0, of, &plan, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_null(plan);
    if (strstr(error.message, said) == NULL)
        fail_msg("%s: %s\n", name, error.message);
}

/* The 43 blocks of 256 columns of down must be cut into 22 and 21 blocks for two ranks, and the
 * rows of gate at the same indices. */
static void uneven_blocks(void **state)
{
    (void)state;
    const uint64_t down[] = {11008, 4, 0}, gate[] = {256, 11008, 0};
    uint64_t down_bytes = 43 * 144 * 4, gate_bytes = 11008 * 144;
    gguf g;
    wb_model *model;
    wb_error error;
    gguf_start(&g, false, 2, 1);
    gguf_key(&g, "general.architecture", STR);
    gguf_string(&g, "llama");
    gguf_tensor(&g, "blk.0.ffn_down.weight", down, WB_DTYPE_Q4_K, 0);
    gguf_tensor(&g, "blk.0.ffn_gate.weight", gate, WB_DTYPE_Q4_K, (down_bytes + 31) / 32 * 32);
    gguf_pad(&g, 32);
    size_t begin = g.n;
    while (g.n < begin + (down_bytes + 31) / 32 * 32 + gate_bytes)
        gguf_uint(&g, 0, 8);
    if (wb_open_memory(g.bytes, g.n, "gguf", NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    static const char *const names[] = {"layers.0.ffn.down.weight", "layers.0.ffn.gate.weight"};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t axis = 1 - i;
        check_cut(cut_of(model, names[i], axis, 0, 2, 0), 0, 22 * 256);
        check_cut(cut_of(model, names[i], axis, 1, 2, 0), 22 * 256, 21 * 256);
    }
    check_cut(cut_of(model, names[0], 0, 1, 2, 0), 2,
              2); /* the rows of down can be cut at any index */
    /* 43 blocks cannot be partitioned among 44 ranks, but the rows of gate alone can. */
    refuse(model, names[0], 1, 44, "multiples of 256");
    check_cut(cut_of(model, names[1], 0, 1, 44, 0), 251, 251);
    assert_true(is_alone(model, names[1], 0, 44));
    assert_false(is_alone(model, names[1], 0, 43));
    wb_close(model);
    gguf_free(&g);
}

/* Makes the attention tensors of a layer with 8 query heads and 2 key-value heads of 16 rows each.
 * The output projection has quantization groups of `group` values. */
static weights *make_attention(unsigned group, bool fused, const char *more)
{
    char *config = text_of("{\"model_type\":\"%s\",\"hidden_size\":128,"
                           "\"num_attention_heads\":8,\"num_key_value_heads\":2,\"head_dim\":16,"
                           "\"quantization\":{\"group_size\":%u,\"bits\":4}%s}",
                           fused ? "phi3" : "llama", group, more);
    weights *w = weights_new(config);
    const uint64_t q[2] = {128, 64}, kv[2] = {32, 64}, qkv[2] = {192, 64}, o[2] = {64, 128},
                   gate_up[2] = {2 * 96, 64};
    free(config);
    if (fused) {
        weights_floats(w, "model.layers.0.self_attn.qkv_proj.weight", "BF16", qkv, 2);
        weights_floats(w, "model.layers.0.mlp.gate_up_proj.weight", "BF16", gate_up, 2);
    } else {
        weights_floats(w, "model.layers.0.self_attn.q_proj.weight", "BF16", q, 2);
        weights_floats(w, "model.layers.0.self_attn.k_proj.weight", "BF16", kv, 2);
        weights_floats(w, "model.layers.0.self_attn.v_proj.weight", "BF16", kv, 2);
    }
    weights_mlx(w, "model.layers.0.self_attn.o_proj", "affine", 4, group, o, 2, "BF16");
    (void)weights_open(w);
    return w;
}

static const char q_name[] = "layers.0.attention.q.weight";
static const char k_name[] = "layers.0.attention.k.weight";
static const char qkv_name[] = "layers.0.attention.qkv.weight";
static const char o_name[] = "layers.0.attention.output.weight";

static void heads(void **state)
{
    (void)state;
    weights *w = make_attention(32, false, "");
    const wb_model *m = w->model;
    for (uint32_t rank = 0; rank < 2;
         rank++) { /* each rank must get one key-value head and its four query heads */
        check_cut(cut_of(m, q_name, 0, rank, 2, 0), rank * 64, 64);
        check_cut(cut_of(m, k_name, 0, rank, 2, 0), rank * 16, 16);
        check_cut(cut_of(m, o_name, 1, rank, 2, 0), rank * 64, 64);
    }
    for (uint32_t rank = 0; rank < 4; rank++) { /* two ranks must share each key-value head */
        check_cut(cut_of(m, q_name, 0, rank, 4, 0), rank * 32, 32);
        check_cut(cut_of(m, k_name, 0, rank, 4, 0), rank / 2 * 16, 16);
        check_cut(cut_of(m, o_name, 1, rank, 4, 0), rank * 32, 32);
    }
    /* Of three ranks, two must share the first key-value head. The third must get the second. */
    static const uint64_t q3[] = {0, 32, 64, 128}, k3[] = {0, 0, 16};
    for (uint32_t rank = 0; rank < 3; rank++) {
        check_cut(cut_of(m, q_name, 0, rank, 3, 0), q3[rank], q3[rank + 1] - q3[rank]);
        check_cut(cut_of(m, o_name, 1, rank, 3, 0), q3[rank], q3[rank + 1] - q3[rank]);
        check_cut(cut_of(m, k_name, 0, rank, 3, 0), k3[rank], 16);
    }
    /* A quantization group of 32 spans two heads, so the output projection cannot be partitioned
     * among eight ranks. */
    refuse(m, o_name, 1, 8, "query heads");
    for (uint32_t rank = 0; rank < 8; rank++) {
        check_cut(cut_of(m, q_name, 0, rank, 8, 0), rank * 16, 16);
        check_cut(cut_of(m, k_name, 0, rank, 8, 0), rank / 4 * 16, 16);
    }
    assert_true(is_alone(m, q_name, 0, 8));
    assert_false(is_alone(m, q_name, 0, 4));
    assert_false(is_alone(m, k_name, 0, 8));
    /* With more ranks than heads, the rows of a head must be partitioned. */
    check_cut(cut_of(m, q_name, 0, 1, 16, 0), 8, 8);
    for (uint32_t of = 2; of <= 8; of++) {
        static const char *const names[] = {q_name, k_name, o_name};
        for (size_t i = 0; i < 3; i++) {
            subject s = subject_in(w, names[i]);
            assert_int_equal(share_out(&s, i == 2, of, true), i != 2 || of <= 4);
            subject_free(&s);
        }
    }
    weights_free(w);
    /* A quantization group of 128 spans all heads, so the output projection cannot be cut. */
    w = make_attention(128, false, "");
    refuse(w->model, o_name, 1, 2, "only in groups of 2; ");
    check_cut(cut_of(w->model, q_name, 0, 1, 2, 0), 64, 64);
    check_cut(cut_of(w->model, k_name, 0, 1, 2, 0), 16, 16);
    assert_true(is_alone(w->model, q_name, 0, 2));
    weights_free(w);
}

static void fused_heads(void **state)
{
    (void)state;
    weights *w = make_attention(32, true, ",\"intermediate_size\":96");
    for (uint32_t rank = 0; rank < 4; rank++) {
        check_cut(cut_of(w->model, qkv_name, 0, rank, 4, 0), rank * 32, 32);
        check_cut(cut_of(w->model, qkv_name, 0, rank, 4, 1), 128 + rank / 2 * 16, 16);
        check_cut(cut_of(w->model, qkv_name, 0, rank, 4, 2), 160 + rank / 2 * 16, 16);
        check_cut(cut_of(w->model, "layers.0.ffn.gate_up.weight", 0, rank, 4, 0), rank * 24, 24);
        check_cut(cut_of(w->model, "layers.0.ffn.gate_up.weight", 0, rank, 4, 1), 96 + rank * 24,
                  24);
    }
    subject s = subject_in(w, qkv_name);
    assert_true(share_out(&s, 0, 2, true));
    wb_provider *provider;
    wb_buffer b = {.size = sizeof b};
    assert_int_equal(wb_provider_create(w->model, NULL, NULL, &provider, NULL), WB_OK);
    assert_int_equal(wb_provider_slice(provider, qkv_name, SIZE_MAX, 0, 1, 4, &b, NULL), WB_OK);
    assert_int_equal(b.parts, 3);
    assert_int_equal(b.part_rows[0], 32);
    assert_int_equal(b.part_rows[1], 16);
    assert_int_equal(b.part_rows[2], 16);
    assert_int_equal(b.shape[0], 64);
    wb_provider_destroy(provider);
    subject_free(&s);
    s = subject_in(w, "layers.0.ffn.gate_up.weight");
    for (uint32_t of = 2; of <= 8; of++)
        assert_true(share_out(&s, 0, of, true));
    subject_free(&s);
    weights_free(w);
}

/* If q, k and v are fused, each rank must get its rows of q, of k and of v, in this order. */
static void fused_slices(void **state)
{
    (void)state;
    weights *w = make_attention(32, false, "");
    wb_policy policy = {.size = sizeof policy, .plain = WB_PLAIN_KEEP};
    static const char *const names[] = {q_name, k_name, "layers.0.attention.v.weight"};
    char *text = text_of("%s+%s+%s", names[0], names[1], names[2]);
    wb_provider *provider;
    assert_int_equal(wb_provider_create(w->model, NULL, &policy, &provider, NULL), WB_OK);
    for (uint32_t rank = 0; rank < 4; rank++) {
        wb_buffer all = {.size = sizeof all}, one = {.size = sizeof one};
        size_t at = 0;
        assert_int_equal(wb_provider_slice(provider, text, SIZE_MAX, 0, rank, 4, &all, NULL),
                         WB_OK);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(
                wb_provider_slice(provider, names[i], SIZE_MAX, 0, rank, 4, &one, NULL), WB_OK);
            assert_memory_equal((const unsigned char *)all.contents + at, one.contents,
                                (size_t)one.bytes);
            assert_int_equal(all.part_rows[i], one.shape[0]);
            at += (size_t)one.bytes;
        }
        assert_int_equal(all.bytes, at);
    }
    free(text);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- plans read nothing ---- */

typedef struct counted_source {
    const unsigned char *bytes;
    size_t n, reads;
} counted_source;

static wb_status counted_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    counted_source *c = ctx;
    size_t left = c->n - (size_t)offset;
    c->reads++;
    *got = n < left ? n : left;
    memcpy(dst, c->bytes + offset, *got);
    return WB_OK;
}

static void plans_read_nothing(void **state)
{
    (void)state;
    weights *w = make_attention(32, false, "");
    subject s = subject_in(w, q_name);
    counted_source c = {s.file, s.file_bytes, 0};
    wb_source source = {
        .size = sizeof source, .ctx = &c, .bytes = s.file_bytes, .read = counted_read};
    wb_model *model;
    wb_plan *plan;
    wb_provider *provider;
    wb_buffer b = {.size = sizeof b};
    assert_int_equal(wb_open_source(&source, "counted", NULL, &model, NULL), WB_OK);
    size_t opening = c.reads;
    for (uint32_t axis = 0; axis < 2; axis++) {
        assert_int_equal(wb_slice_plan(model, q_name, SIZE_MAX, axis, 1, 2, &plan, NULL), WB_OK);
        assert_true(describe(plan).bytes > 0);
        wb_plan_free(plan);
    }
    assert_int_equal(wb_provider_create(model, NULL, NULL, &provider, NULL), WB_OK);
    assert_int_equal(wb_provider_has(provider, q_name, SIZE_MAX), 1);
    assert_int_equal(c.reads, opening);
    assert_int_equal(wb_provider_slice(provider, q_name, SIZE_MAX, 0, 1, 2, &b, NULL), WB_OK);
    assert_true(c.reads > opening);
    wb_provider_destroy(provider);
    wb_close(model);
    subject_free(&s);
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),        cmocka_unit_test(mlx),
        cmocka_unit_test(hub),          cmocka_unit_test(ggml),
        cmocka_unit_test(stacks),       cmocka_unit_test(uneven_blocks),
        cmocka_unit_test(heads),        cmocka_unit_test(fused_heads),
        cmocka_unit_test(fused_slices), cmocka_unit_test(plans_read_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
