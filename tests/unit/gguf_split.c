/*
 * Tests split GGUF models: opened by any of their files and by their directory, with missing files,
 * and with files whose metadata is wrong.
 */
#include "support.h"

#include "gguf_build.h"

typedef struct part {
    uint64_t number, count;
    int64_t tensors; /* value of split.tensors.count; -1: the file has no split metadata */
} part;

/* Builds file i of a split model, with two tensors. Only file 0 contains other metadata than the
 * split numbers. */
static gguf make_part(const part *p, unsigned i)
{
    static const uint64_t shape[] = {8, 2, 0};
    gguf g;
    bool says = p->tensors >= 0;
    gguf_start(&g, false, 2, (says ? 3u : 0u) + (i == 0 ? 1u : 0u));
    if (says) {
        gguf_number(&g, "split.no", U16, p->number, 2);
        gguf_number(&g, "split.count", U16, p->count, 2);
        gguf_number(&g, "split.tensors.count", I32, (uint64_t)p->tensors, 4);
    }
    if (i == 0) {
        gguf_key(&g, "general.architecture", STR);
        gguf_string(&g, "llama");
    }
    for (unsigned k = 0; k < 2; k++) {
        char *name = text_of("blk.%u.t%u", i, k);
        gguf_tensor(&g, name, shape, 0, 64 * k);
        free(name);
    }
    gguf_pad(&g, 32);
    for (unsigned k = 0; k < 128; k++)
        gguf_raw(&g, (const char *)&i, 1);
    return g;
}

static char *write_part(const char *folder, unsigned i, unsigned of, const part *p)
{
    char *path = text_of("%s/m-%05u-of-%05u.gguf", folder, i + 1, of);
    gguf g = make_part(p, i);
    write_file(path, g.bytes, g.n);
    gguf_free(&g);
    return path;
}

static uint64_t warnings(const wb_model *model, const char *code)
{
    uint64_t n = 0;
    const wb_findings *findings = wb_model_findings(model);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        if (finding.severity < WB_WARNING)
            continue;
        if (strcmp(finding.code, code) != 0)
            fail_msg("%s: %s\n", finding.code, finding.message);
        n++;
    }
    return n;
}

/* Counts the metadata entries that are stored in a file, as opposed to derived ones. */
static uint64_t of_files(const wb_model *model)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        assert_int_equal(wb_meta_at(model, i, &meta, NULL), WB_OK);
        n += meta.file != WB_NO_FILE;
    }
    return n;
}

static void check_whole(const char *path)
{
    wb_model *model;
    wb_error error;
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    assert_int_equal(wb_file_count(model), 3);
    assert_int_equal(wb_tensor_count(model), 6);
    assert_int_equal(of_files(model), 4);
    assert_int_equal(warnings(model, ""), 0);
    for (unsigned i = 0; i < 6; i++) {
        char *name = text_of("blk.%u.t%u", i / 2, i % 2);
        uint64_t index;
        uint8_t bytes[64], expected[64];
        assert_int_equal(wb_tensor_find(model, name, SIZE_MAX, &index), WB_OK);
        assert_int_equal(index, i);
        assert_int_equal(wb_tensor_read(model, index, NULL, -1, bytes, sizeof bytes, NULL), WB_OK);
        memset(expected, (int)(i / 2), sizeof expected);
        assert_memory_equal(bytes, expected, sizeof bytes);
        free(name);
    }
    wb_close(model);
}

static void whole_sets(void **state)
{
    (void)state;
    char *folder = scratch_make();
    char *paths[3];
    for (unsigned i = 0; i < 3; i++)
        paths[i] = write_part(folder, i, 3, &(part){i, 3, 6});
    for (unsigned i = 0; i < 3; i++)
        check_whole(paths[i]);
    check_whole(folder);

    /* With a second model in the directory, opening a file must still work, and opening the
     * directory must fail. */
    char *other = text_of("%s/n-00001-of-00001.gguf", folder);
    gguf g = make_part(&(part){0, 1, 2}, 0);
    write_file(other, g.bytes, g.n);
    gguf_free(&g);
    check_whole(paths[1]);
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open(folder, NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "folder-ambiguous");
    assert_int_equal(wb_open(other, NULL, &model, &error), WB_OK);
    assert_int_equal(wb_tensor_count(model), 2);
    assert_int_equal(warnings(model, ""), 0);
    wb_close(model);
    free(other);
    for (unsigned i = 0; i < 3; i++)
        free(paths[i]);
    scratch_remove(folder);
}

static void missing_parts(void **state)
{
    (void)state;
    char *folder = scratch_make();
    char *middle = write_part(folder, 1, 3, &(part){1, 3, 6});
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open(middle, NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "shard-missing");
    assert_non_null(strstr(error.message, "3 parts, 2 of which are missing from the folder"));
    assert_non_null(strstr(error.message, "m-00001-of-00003.gguf"));
    assert_int_equal(wb_open(folder, NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "shard-missing");
    free(write_part(folder, 0, 3, &(part){0, 3, 6}));
    assert_int_equal(wb_open(middle, NULL, &model, &error), WB_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "m-00003-of-00003.gguf"));

    /* If the file is renamed, only its metadata says that it is part of a split model. */
    char *renamed = text_of("%s/lone.gguf", folder);
    assert_int_equal(rename(middle, renamed), 0);
    assert_int_equal(wb_open(renamed, NULL, &model, &error), WB_OK);
    assert_int_equal(warnings(model, "gguf-split-lone"), 1);
    wb_close(model);
    free(renamed);
    free(middle);
    scratch_remove(folder);
}

/* Tests files with wrong split metadata: `findings` is the expected number of warnings. */
static void disagreements(void **state)
{
    (void)state;
    static const struct {
        part parts[2];
        uint64_t findings;
    } sets[] = {
        {{{0, 2, 4}, {1, 2, 4}}, 0},   {{{0, 2, 4}, {0, 2, 4}}, 1},  {{{0, 3, 4}, {1, 2, 4}}, 1},
        {{{0, 2, 5}, {1, 2, 4}}, 1},   {{{0, 2, 4}, {1, 2, -1}}, 1}, {{{1, 2, 4}, {0, 2, 4}}, 2},
        {{{0, 2, -1}, {1, 2, -1}}, 2},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        char *folder = scratch_make();
        wb_model *model;
        wb_error error;
        for (unsigned k = 0; k < 2; k++)
            free(write_part(folder, k, 2, &sets[i].parts[k]));
        if (wb_open(folder, NULL, &model, &error) != WB_OK)
            fail_msg("set %zu: %s\n", i, error.message);
        assert_int_equal(warnings(model, "gguf-split"), sets[i].findings);
        wb_close(model);
        scratch_remove(folder);
    }
}

/* A tensor in two files, and a repeated key in the second file, must be refused. */
static void repeated(void **state)
{
    (void)state;
    char *folder = scratch_make();
    wb_model *model;
    wb_error error;
    free(write_part(folder, 0, 2, &(part){0, 2, 4}));
    char *second = text_of("%s/m-00002-of-00002.gguf", folder);
    gguf g = make_part(&(part){1, 2, 4}, 0);
    write_file(second, g.bytes, g.n);
    gguf_free(&g);
    assert_int_equal(wb_open(folder, NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "tensor-in-two-files");

    gguf_start(&g, false, 0, 2);
    for (int i = 0; i < 2; i++) {
        gguf_key(&g, "general.architecture", STR);
        gguf_string(&g, "llama");
    }
    write_file(second, g.bytes, g.n);
    assert_int_equal(wb_open(folder, NULL, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "gguf-duplicate-key");
    gguf_free(&g);
    free(second);
    scratch_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_sets),
        cmocka_unit_test(missing_parts),
        cmocka_unit_test(disagreements),
        cmocka_unit_test(repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
