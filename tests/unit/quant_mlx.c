/*
 * Compares the codecs of the MLX modes with results of MLX (tests/data/golden/mlx), bit for bit,
 * with every instruction set of this machine. WB_GOLDEN_MLX may name another directory of such
 * files.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>

#include "quant_mlx.h"

#include "unit.h"

#define MAX_BITS_NAME 16

static const char *folder(void)
{
    const char *named = getenv("WB_GOLDEN_MLX");
    return named != NULL ? named : TEST_DATA "/golden/mlx";
}

static wb_model *open_golden(const char *name)
{
    char path[4096];
    wb_model *model;
    wb_error error;
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s", path, error.message);
    return model;
}

/* The unquantized values from which MLX made a golden file. The caller frees the buffer. */
typedef struct input {
    int32_t dtype;
    uint64_t elements;
    uint8_t *bytes;
} input;

static input load_input(const wb_model *golden)
{
    input in = {0};
    char name[MAX_BITS_NAME];
    if (!meta(golden, "input", name, sizeof name))
        return in;
    wb_model *inputs = open_golden("inputs.safetensors");
    part all = need(inputs, name);
    part rows = find(golden, "rows");
    size_t row_bytes = (size_t)(all.bytes / all.shape[0]);
    size_t count = (size_t)(rows.data != NULL ? rows.shape[0] : all.shape[0]);
    in.dtype = all.dtype;
    in.elements = count * all.shape[1];
    in.bytes = malloc(row_bytes * count);
    assert_non_null(in.bytes);
    for (size_t i = 0; i < count; i++) {
        size_t row = rows.data != NULL ? wb__load_le32(rows.data + 4 * i) : i;
        memcpy(in.bytes + i * row_bytes, all.data + row * row_bytes, row_bytes);
    }
    wb_close(inputs);
    return in;
}

#define ROW_TINY 35      /* input row tiny_1e-36 */
#define ROW_SUBNORMAL 36 /* input row subnormal_f32 */

static bool edge_row(const wb_model *golden, const wb__mlx_type *type, uint64_t row)
{
    /* In the rows ROW_TINY and ROW_SUBNORMAL, scales of MLX overflow a byte. This library clamps
     * them, so the results differ. */
    char name[MAX_BITS_NAME];
    if (type->mode != WB__MLX_MXFP4 && type->mode != WB__MLX_MXFP8)
        return false;
    if (!meta(golden, "input", name, sizeof name) || strcmp(name, "x_f16") == 0)
        return false;
    return row == ROW_TINY || row == ROW_SUBNORMAL;
}

static void check_encoder(const char *file, const wb_model *golden, const wb__mlx_type *type,
                          uint32_t features, const input *in)
{
    part weight = need(golden, "weight"), scales = need(golden, "scales");
    part biases = find(golden, "biases"), global = find(golden, "global_scale");
    wb__mlx_encoding encoding = {.e8m0 = strncmp(file, "legacy", 6) == 0 ? WB__MLX_E8M0_NEAREST
                                                                         : WB__MLX_E8M0_UP};
    if (global.data != NULL) {
        encoding.has_global = true;
        uint32_t bits = wb__load_le32(global.data);
        memcpy(&encoding.global_scale, &bits, 4);
    }
    size_t groups = (size_t)(in->elements / type->group);
    uint8_t *w = malloc(weight.bytes), *s = malloc(scales.bytes), *b = malloc(scales.bytes);
    assert_true(w != NULL && s != NULL && b != NULL);
    wb__mlx_encode(features, type, &encoding, in->dtype, in->bytes, 0, groups,
                   &(wb__mlx_encoded){w, s, b});
    size_t rows = (size_t)weight.shape[0];
    for (size_t row = 0; row < rows; row++) {
        if (edge_row(golden, type, row))
            continue;
        size_t wn = weight.bytes / rows, sn = scales.bytes / rows;
        if (memcmp(w + row * wn, weight.data + row * wn, wn) != 0)
            fail_msg("%s, %s: codes of row %d", file, level_name(features), (int)row);
        if (memcmp(s + row * sn, scales.data + row * sn, sn) != 0)
            fail_msg("%s, %s: scales of row %d", file, level_name(features), (int)row);
        if (biases.data != NULL && memcmp(b + row * sn, biases.data + row * sn, sn) != 0)
            fail_msg("%s, %s: biases of row %d", file, level_name(features), (int)row);
    }
    free(w);
    free(s);
    free(b);
}

/* Decodes the parts, which may be unaligned in the file, and compares the values. */
static void check_decoder(const char *file, const wb__mlx_type *type, uint32_t features,
                          const wb__mlx_parts *parts, size_t groups, const part *expected)
{
    uint8_t *values = malloc(expected->bytes);
    assert_non_null(values);
    wb__mlx_decode(features, type, parts, true, 0, groups, expected->dtype, values);
    if (!same_values(expected->dtype, values, expected->data, groups * type->group))
        fail_msg("%s, %s: values as %s", file, level_name(features),
                 wb_dtype_name(expected->dtype));
    free(values);
}

static void check_affine(const char *file, const wb_model *golden, const wb__mlx_type *type,
                         uint32_t features)
{
    part weight = need(golden, "weight"), scales = need(golden, "scales");
    part biases = need(golden, "biases"), expected = need(golden, "dequant");
    wb__mlx_parts parts = {weight.data, scales.data, biases.data, scales.dtype, biases.dtype, 0, 0};
    check_decoder(file, type, features, &parts, count_groups(&weight, type), &expected);
}

static void check_scaled(const char *file, const wb_model *golden, const wb__mlx_type *type,
                         uint32_t features)
{
    static const char *const names[] = {"dequant_f32", "dequant_f16", "dequant_bf16",
                                        "dequant_global"};
    part weight = need(golden, "weight"), scales = need(golden, "scales");
    part global = find(golden, "global_scale"), rows = find(golden, "rows");
    unsigned compared = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        part expected = find(golden, names[i]);
        if (expected.data == NULL)
            continue;
        compared++;
        wb__mlx_parts parts = {.weight = weight.data, .scales = scales.data};
        if (rows.data != NULL || i == 3) {
            uint32_t bits = wb__load_le32(global.data);
            parts.global = WB__MLX_GLOBAL_AMAX;
            memcpy(&parts.global_scale, &bits, 4);
        }
        check_decoder(file, type, features, &parts, count_groups(&weight, type), &expected);
    }
    assert_true(compared >= 3);
}

static unsigned check_file(const char *file)
{
    wb_model *golden = open_golden(file);
    wb__mlx_type type;
    unsigned checked = 0;
    if (read_type(golden, &type) && find(golden, "scales").data != NULL) {
        input in = load_input(golden);
        for (size_t i = 0; i < LEVELS && level(i) != NO_LEVEL; i++) {
            if (in.bytes != NULL)
                check_encoder(file, golden, &type, level(i), &in);
            (type.mode == WB__MLX_AFFINE ? check_affine : check_scaled)(file, golden, &type,
                                                                        level(i));
        }
        free(in.bytes);
        checked++;
    }
    wb_close(golden);
    return checked;
}

static unsigned check_folder(const char *below)
{
    char path[4096];
    unsigned checked = 0;
    snprintf(path, sizeof path, "%s/%s", folder(), below);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".safetensors") != 0)
            continue;
        snprintf(path, sizeof path, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        checked += check_file(path);
    }
    closedir(dir);
    return checked;
}

static void golden_files(void **state)
{
    (void)state;
    assert_true(check_folder("") >= 40);
    assert_true(check_folder("legacy_0.32.1") >= 4);
}

/* With scales and biases of different dtypes, the product must be rounded to the dtype of the
 * scales, and the sum must be computed in binary32. */
static void mixed_dtypes(void **state)
{
    (void)state;
    static const struct {
        const char *scales, *biases, *expected;
    } cases[] = {{"scales_f16", "biases_f32", "dequant"},
                 {"scales_bf16", "biases_f32", "dequant_bf16_f32"},
                 {"scales_f16", "biases_bf16", "dequant_f16_bf16"}};
    wb_model *golden = open_golden("decode_mixed_scale_dtypes_b4.safetensors");
    const wb__mlx_type type = {WB__MLX_AFFINE, 4, 64};
    part weight = need(golden, "weight");
    for (size_t i = 0; i < 3; i++) {
        part scales = need(golden, cases[i].scales), biases = need(golden, cases[i].biases);
        part expected = need(golden, cases[i].expected);
        wb__mlx_parts parts = {weight.data,
                               scales.data,
                               biases.data,
                               scales.dtype,
                               biases.dtype,
                               WB__MLX_GLOBAL_NONE,
                               0};
        check_decoder(cases[i].expected, &type, 0, &parts, count_groups(&weight, &type), &expected);
    }
    wb_close(golden);
}

static void e4m3(void **state)
{
    (void)state;
    wb_model *golden = open_golden("e4m3.safetensors");
    part in = need(golden, "encode_in"), out = need(golden, "encode_out");
    part values = need(golden, "decode_f32");
    for (uint64_t i = 0; i < in.shape[0]; i++) {
        uint32_t bits = wb__load_le32(in.data + 4 * i);
        if (wb__float_to_e4m3(wb__float_of_bits(bits)) != out.data[i])
            fail_msg("E4M3 of %08x is %02x", (unsigned)bits, out.data[i]);
    }
    for (unsigned code = 0; code < 256; code++) {
        uint8_t value[4];
        wb__store_le32(value, wb__bits_of_float(wb__float_from_e4m3((uint8_t)code)));
        assert_true(same_values(WB_DTYPE_F32, value, values.data + 4 * code, 1));
    }
    wb_close(golden);
}

/* A stack of experts must be encoded as a sequence of groups, like other tensors. */
static void experts(void **state)
{
    (void)state;
    wb_model *golden = open_golden("experts3d_bf16.safetensors");
    part x = need(golden, "x"), weight = need(golden, "affine4.weight");
    part scales = need(golden, "affine4.scales"), biases = need(golden, "affine4.biases");
    part fp_weight = need(golden, "mxfp4.weight"), fp_scales = need(golden, "mxfp4.scales");
    wb__mlx_type affine = {WB__MLX_AFFINE, 4, 64}, mxfp4 = {WB__MLX_MXFP4, 4, 32};
    wb__mlx_encoding encoding = {0};
    uint8_t w[4096], s[1024], b[1024];
    wb__mlx_encode(level(0), &affine, &encoding, x.dtype, x.data, 0, 4 * 8 * 2,
                   &(wb__mlx_encoded){w, s, b});
    assert_memory_equal(w, weight.data, weight.bytes);
    assert_memory_equal(s, scales.data, scales.bytes);
    assert_memory_equal(b, biases.data, biases.bytes);
    wb__mlx_encode(level(0), &mxfp4, &encoding, x.dtype, x.data, 0, 4 * 8 * 4,
                   &(wb__mlx_encoded){w, s, NULL});
    assert_memory_equal(w, fp_weight.data, fp_weight.bytes);
    assert_memory_equal(s, fp_scales.data, fp_scales.bytes);
    wb_close(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_files),
                                       cmocka_unit_test(mixed_dtypes), cmocka_unit_test(e4m3),
                                       cmocka_unit_test(experts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
