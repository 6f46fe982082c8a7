/*
 * Tests wb_files: files that the caller provides. The test provides the test data under the prefix
 * "box://". Every model must give the same tensors, values, metadata and findings as from its real
 * path, and be converted with its sidecar files. Failures of the callbacks must be reported.
 */
#include "convert.h"
#include "writing.h"

#include <dirent.h>

#define PREFIX "box://"

/* ---- the files ---- */

static unsigned opened, expected_count, announced_ranges;
static bool fail_reads, fail_list;

static const char *real_path(const char *path)
{
    return path + strlen(PREFIX);
}

static int owns(void *ctx, const char *path)
{
    (void)ctx;
    return strncmp(path, PREFIX, strlen(PREFIX)) == 0;
}

static wb_status read_box(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    ssize_t done = fail_reads ? -1 : pread((int)(intptr_t)ctx, dst, n, (off_t)offset);
    *got = done < 0 ? 0 : (size_t)done;
    return done < 0 ? WB_ERROR_IO : WB_OK;
}

static void close_box(void *ctx)
{
    assert_int_equal(close((int)(intptr_t)ctx), 0);
    opened--;
}

static void expect_range(void *ctx, uint64_t offset, uint64_t n)
{
    struct stat st;
    assert_int_equal(fstat((int)(intptr_t)ctx, &st), 0);
    assert_true(n > 0 && offset + n <= (uint64_t)st.st_size);
    announced_ranges++;
}

static void explain(void *ctx, wb_error *error)
{
    (void)ctx;
    error->code = "box";
    snprintf(error->message, sizeof error->message, "the box is locked");
    snprintf(error->advice, sizeof error->advice, "Find the key.");
}

static wb_status open_box(void *ctx, const char *path, wb_source *source, int *is_folder,
                          wb_error *error)
{
    struct stat st;
    (void)ctx;
    if (stat(real_path(path), &st) != 0) {
        snprintf(error->message, sizeof error->message, "the box has no such file");
        return WB_ERROR_NOT_FOUND;
    }
    *is_folder = S_ISDIR(st.st_mode);
    if (*is_folder)
        return WB_OK;
    int fd = open(real_path(path), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    opened++;
    *source = (wb_source){.size = sizeof *source,
                          .ctx = (void *)(intptr_t)fd,
                          .bytes = (uint64_t)st.st_size,
                          .read = read_box,
                          .close = close_box,
                          .expect = expect_range,
                          .explain = explain,
                          .version = "1"};
    return WB_OK;
}

static wb_status list_box(void *ctx, const char *path,
                          wb_status (*each)(void *each_ctx, const char *name), void *each_ctx,
                          wb_error *error)
{
    wb_status status = WB_OK;
    (void)ctx;
    if (fail_list) {
        error->code = "box";
        snprintf(error->message, sizeof error->message, "the box is sealed");
        return WB_ERROR_IO;
    }
    DIR *dir = opendir(real_path(path));
    assert_non_null(dir);
    for (struct dirent *entry; status == WB_OK && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.')
            status = each(each_ctx, entry->d_name);
    }
    closedir(dir);
    return status;
}

static void expect_paths(void *ctx, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(owns(ctx, paths[i]));
    expected_count += (unsigned)count;
}

static const wb_files box = {
    .size = sizeof box, .owns = owns, .open = open_box, .list = list_box, .expect = expect_paths};

static const wb_open_options options = {
    .size = sizeof options, .access = WB_ACCESS_READ, .files = &box};

/* ---- comparing ---- */

static wb_model *open_box_model(const char *path)
{
    wb_model *model;
    char *address = text_of("%s%s", PREFIX, path);
    OK(wb_open(address, &options, &model, E));
    free(address);
    return model;
}

static void compare_metadata(const wb_model *a, const wb_model *b)
{
    wb_config x = {.size = sizeof x}, y = {.size = sizeof y};
    OK(wb_config_get(a, &x, E));
    OK(wb_config_get(b, &y, E));
    assert_int_equal(x.dim, y.dim);
    assert_int_equal(x.n_layers, y.n_layers);
    assert_int_equal(wb_meta_count(a), wb_meta_count(b));
}

static void same_as_real(void **state)
{
    static const char *const models[] = {"qwen3-4bit-3shards",
                                         "qwen3-4bit-3shards/model-00002-of-00003.safetensors",
                                         "qwen3-bf16", "gemma3-4bit", "qwen3_moe-nvfp4"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        wb_model *real;
        char *path = text_of("%s/models/%s", TEST_DATA, models[i]);
        OK(wb_open(path, NULL, &real, E));
        expected_count = announced_ranges = 0;
        wb_model *boxed = open_box_model(path);
        assert_int_equal(wb_file_count(real), wb_file_count(boxed));
        compare_tensors(real, boxed, path);
        compare_metadata(real, boxed);
        OK(wb_model_check(boxed, E));
        assert_int_equal(expected_count, wb_file_count(boxed));
        assert_true(announced_ranges > 0);
        wb_close(real);
        wb_close(boxed);
        assert_int_equal(opened, 0);
        free(path);
    }
}

static void verifies(void **state)
{
    (void)state;
    wb_findings *findings;
    const wb_verify_options deep = {.size = sizeof deep, .open = &options, .flags = WB_VERIFY_DEEP};
    OK(wb_verify(PREFIX TEST_DATA "/models/qwen3-4bit-3shards", &deep, &findings, E));
    assert_int_equal(wb_findings_verdict(findings), 0);
    wb_findings_free(findings);
    assert_int_equal(opened, 0);
}

/* ---- converting ---- */

static void compare_in(const char *folder, const char *a, const char *b, const char *name)
{
    char *x = text_of("%s/%s/%s", folder, a, name), *y = text_of("%s/%s/%s", folder, b, name);
    compare_files(x, y);
    free(x);
    free(y);
}

static void converts(void **state)
{
    (void)state;
    char *folder = scratch_make();
    char *path = text_of("%s/in", folder);
    char *file = text_of("%s/in/notes.txt", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    write_file(file, "seven", 5);
    char *copy = text_of("cp '%s/models/qwen3-bf16'/* %s", TEST_DATA, path);
    assert_int_equal(system(copy), 0);
    for (int boxed = 0; boxed <= 1; boxed++) {
        wb_model *model;
        const wb_convert_policy policy = {.size = sizeof policy, .quant = "affine4:64"};
        char *out = text_of("%s/%s", folder, boxed ? "boxed" : "real");
        if (boxed)
            model = open_box_model(path);
        else
            OK(wb_open(path, NULL, &model, E));
        wb_conversion_free(convert_open(model, WB_TARGET_MLX, &policy, out));
        wb_close(model);
        free(out);
    }
    compare_in(folder, "real", "boxed", "model.safetensors");
    compare_in(folder, "real", "boxed", "config.json");
    compare_in(folder, "in", "boxed", "notes.txt");
    assert_int_equal(opened, 0);
    free(copy);
    free(file);
    free(path);
    scratch_remove(folder);
}

/* ---- failures ---- */

static void refuses(const char *path, wb_status status, const char *code, const char *message)
{
    wb_error error;
    wb_model *model;
    assert_int_equal(wb_open(path, &options, &model, &error), status);
    assert_null(model);
    assert_string_equal(error.code, code);
    if (strstr(error.message, message) == NULL)
        fail_msg("%s: %s\n", path, error.message);
    assert_int_equal(opened, 0);
}

static void failures(void **state)
{
    (void)state;
    refuses(PREFIX "/nowhere/model.safetensors", WB_ERROR_NOT_FOUND, "not-found", "no such file");
    fail_reads = true;
    refuses(PREFIX TEST_DATA "/models/qwen3-bf16/model.safetensors", WB_ERROR_IO, "box",
            "the box is locked");
    fail_reads = false;
    fail_list = true;
    refuses(PREFIX TEST_DATA "/models/qwen3-bf16", WB_ERROR_IO, "box", "the box is sealed");
    fail_list = false;
}

static void incomplete(void **state)
{
    (void)state;
    wb_files bad = box;
    wb_error error;
    wb_model *model;
    wb_open_options with = options;
    with.files = &bad;
    bad.list = NULL;
    assert_int_equal(wb_open(PREFIX "x", &with, &model, &error), WB_ERROR_ARGUMENT);
    assert_true(strstr(error.message, "wb_files") != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_real), cmocka_unit_test(verifies),   cmocka_unit_test(converts),
        cmocka_unit_test(failures),     cmocka_unit_test(incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
