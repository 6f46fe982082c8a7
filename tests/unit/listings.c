/*
 * Compares the tensors of real models with those that an independent reader lists
 * (tests/tools/make_listings.py). The test files have the headers of the real files, but a hole
 * instead of tensor data.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "core/core.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "weighbridge.h"

static char root[] = "/tmp/wb-listings-XXXXXX";

static void copy_file(const char *from, const char *to)
{
    static const char ending[] = ".header";
    char target[4200];
    uint8_t block[65536];
    size_t n = strlen(to);
    uint64_t bytes = 0;
    FILE *in = fopen(from, "rb");
    assert_non_null(in);
    (void)snprintf(target, sizeof target, "%s", to);
    bool header = n > sizeof ending && strcmp(to + n - (sizeof ending - 1), ending) == 0;
    if (header) {
        target[n - (sizeof ending - 1)] = '\0';
        assert_int_equal(fread(block, 1, 8, in), 8);
        bytes = wb__load_le64(block);
    }
    FILE *out = fopen(target, "wb");
    assert_non_null(out);
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        assert_int_equal(fwrite(block, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    (void)fclose(in);
    if (header)
        assert_int_equal(truncate(target, (off_t)bytes), 0);
}

static void copy_tree(const char *from, const char *to)
{
    DIR *folder = opendir(from);
    assert_non_null(folder);
    assert_true(mkdir(to, 0777) == 0);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char a[4096], b[4096];
        struct stat st;
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(a, sizeof a, "%s/%s", from, entry->d_name);
        (void)snprintf(b, sizeof b, "%s/%s", to, entry->d_name);
        assert_int_equal(stat(a, &st), 0);
        if (S_ISDIR(st.st_mode))
            copy_tree(a, b);
        else
            copy_file(a, b);
    }
    (void)closedir(folder);
}

static wb_model *open_model(const char *name)
{
    char path[4096], store[4096];
    wb_error error;
    wb_model *model;
    (void)snprintf(store, sizeof store, "%s/all/store", root);
    wb_open_options options = {.size = sizeof options, .store = store};
    if (strncmp(name, "ollama://", 9) == 0)
        (void)snprintf(path, sizeof path, "%s", name);
    else
        (void)snprintf(path, sizeof path, "%s/all/%s", root, name);
    if (wb_open(path, &options, &model, &error) != WB_OK)
        fail_msg("%s: %s: %s", name, error.file, error.message);
    return model;
}

/* Compares a line of expected.tsv with the model. */
static void compare(const wb_model *model, char *line)
{
    char *field[9], *rest = line, shape[256] = "";
    for (size_t i = 0; i < 9; i++)
        assert_non_null(field[i] = strsep(&rest, "\t\n"));
    uint64_t index;
    wb_tensor tensor = {.size = sizeof tensor};
    wb_encoding encoding = {.size = sizeof encoding};
    if (wb_tensor_find(model, field[1], SIZE_MAX, &index) != WB_OK)
        fail_msg("%s has no %s", field[0], field[1]);
    assert_int_equal(wb_tensor_at(model, index, &tensor, NULL), WB_OK);
    assert_int_equal(wb_tensor_encoding(model, index, &encoding, NULL), WB_OK);
    assert_true(index < wb_tensor_count(model));
    for (uint32_t i = 0; i < tensor.rank; i++)
        (void)snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%" PRIu64,
                       i == 0 ? "" : ",", tensor.shape[i]);
    assert_string_equal(wb_dtype_name((int32_t)tensor.dtype), field[2]);
    assert_string_equal(shape, field[3]);
    assert_string_equal(encoding.type, field[4]);
    assert_int_equal(encoding.bits, strtoull(field[5], NULL, 10));
    assert_int_equal(encoding.group_size, strtoull(field[6], NULL, 10));
    assert_int_equal(tensor.bytes, strtoull(field[7], NULL, 10));
    assert_int_equal(tensor.elements, strtoull(field[8], NULL, 10));

    /* The sizes of the parts must add up, and each part must be found by its name. */
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < encoding.parts; i++) {
        wb_part part = {.size = sizeof part};
        wb_tensor stored = {.size = sizeof stored};
        uint64_t found;
        assert_int_equal(wb_tensor_part(model, index, i, &part, NULL), WB_OK);
        assert_int_equal(wb_tensor_at(model, part.index, &stored, NULL), WB_OK);
        bytes += stored.bytes;
        assert_int_equal(wb_tensor_find(model, stored.name, stored.name_len, &found), WB_OK);
        assert_int_equal(found, i == 0 ? index : part.index);
    }
    assert_int_equal(bytes, tensor.bytes);
}

static void lists_every_model(void **state)
{
    (void)state;
    char line[4096], name[256] = "";
    wb_model *model = NULL;
    uint64_t left = 0;
    size_t models = 0;
    FILE *expected = fopen(TEST_DATA "/listings/expected.tsv", "r");
    assert_non_null(expected);
    assert_non_null(fgets(line, sizeof line, expected)); /* the header line */
    while (fgets(line, sizeof line, expected) != NULL) {
        size_t n = strcspn(line, "\t");
        if (strncmp(line, name, n) != 0 || name[n] != '\0') {
            assert_int_equal(left, 0);
            wb_close(model);
            (void)snprintf(name, sizeof name, "%.*s", (int)n, line);
            model = open_model(name);
            assert_int_equal(wb_findings_verdict(wb_model_findings(model)), 0);
            left = wb_tensor_count(model);
            models++;
        }
        compare(model, line);
        left--;
    }
    assert_int_equal(left, 0);
    assert_true(models >= 24);
    wb_close(model);
    (void)fclose(expected);
}

/* Inference engines query parts of packed tensors by Ollama's names for them (…_scale, …_qbias). */
static void hands_over_parts(void **state)
{
    (void)state;
    wb_model *model = open_model("ollama://c-bf16-int4");
    uint64_t index;
    wb_tensor tensor = {.size = sizeof tensor};
    assert_int_equal(wb_tensor_find(model, "lm_head.weight_scale", SIZE_MAX, &index), WB_OK);
    assert_int_equal(wb_tensor_at(model, index, &tensor, NULL), WB_OK);
    assert_string_equal(tensor.name, "lm_head.weight.scale");
    assert_int_equal(wb_tensor_find(model, "lm_head.weight_qbias", SIZE_MAX, &index), WB_OK);
    assert_int_equal(wb_tensor_at(model, index, &tensor, NULL), WB_OK);
    assert_string_equal(tensor.name, "lm_head.weight.bias");
    assert_false(wb_tensor_has(model, "model.norm.weight_scale", SIZE_MAX));
    assert_int_equal(wb_tensor_dtype(model, "lm_head.weight", SIZE_MAX), 101);
    assert_int_equal(wb_quant_bits(model, "lm_head.weight", SIZE_MAX), 8);
    assert_int_equal(wb_quant_group_size(model, "lm_head.weight", SIZE_MAX), 64);
    assert_int_equal(wb_quant_bits(model, "model.norm.weight", SIZE_MAX), 0);
    wb_close(model);
}

/* A model in a store must open by the path of its manifest and by every form of its name, in any
 * case. */
static void opens_by_any_name(void **state)
{
    (void)state;
    wb_model *model = open_model("store/manifests/registry.ollama.ai/library/c-bf16/latest");
    uint64_t count = wb_tensor_count(model);
    wb_close(model);
    static const char *const names[] = {"ollama://c-bf16", "ollama://C-BF16:Latest",
                                        "ollama://library/c-bf16:latest",
                                        "ollama://registry.ollama.ai/library/c-bf16"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        model = open_model(names[i]);
        assert_int_equal(wb_tensor_count(model), count);
        wb_close(model);
    }
}

static void refuse(const char *name, const char *code)
{
    char store[4096];
    wb_error error;
    wb_model *model;
    (void)snprintf(store, sizeof store, "%s/all/store", root);
    wb_open_options options = {.size = sizeof options, .store = store};
    assert_true(wb_open(name, &options, &model, &error) != WB_OK);
    assert_null(model);
    assert_string_equal(error.code, code);
}

static void refuses_names(void **state)
{
    (void)state;
    refuse("ollama://none", "ollama-no-model");
    refuse("ollama://../../etc/passwd", "ollama-name");
    refuse("ollama://a/b/c/../d", "ollama-name");
    refuse("ollama://", "ollama-name");
    refuse("ollama://c-bf16:", "ollama-name");
    refuse("ollama://-c", "ollama-name");
    refuse("no-such-model-here", "ollama-no-model");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_every_model), cmocka_unit_test(hands_over_parts),
        cmocka_unit_test(opens_by_any_name), cmocka_unit_test(refuses_names)};
    char all[64], command[128];
    if (mkdtemp(root) == NULL)
        return 1;
    (void)snprintf(all, sizeof all, "%s/all", root);
    copy_tree(TEST_DATA "/listings", all);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)snprintf(command, sizeof command, "rm -rf %s", root);
    return failed != 0 || system(command) != 0;
}
