/* A writer whose disk is full: errors name what the caller named, and nothing is left that helps nobody. */
#include "writing.h"

#include <sys/resource.h>

static char *folder;

static struct rlimit before;

static void allow(rlim_t bytes)
{
    struct rlimit small = {bytes, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static wb_writer *make(const char *path)
{
    static uint8_t beside[10000];
    wb_writer *writer;
    const wb_writer_options options = {
        .size = sizeof options, .format = "safetensors", .flags = WB_WRITE_FOLDER | WB_WRITE_KEEP};
    const uint64_t shape[] = {4};
    OK(wb_writer_create(&options, &writer, E));
    OK(wb_writer_add(writer, "t", SIZE_MAX, WB_DTYPE_F32, shape, 1, NULL, E));
    OK(wb_writer_add_bytes(writer, "beside.txt", beside, sizeof beside, E));
    OK(wb_writer_plan(writer, path, E));
    return writer;
}

static void the_file_is_named(void **state)
{
    (void)state;
    wb_error error;
    char *path = text_of("%s/model", folder);
    char *file = text_of("%s/beside.txt", path);
    wb_writer *writer = make(path);
    OK(wb_writer_begin(writer, E));
    fill(writer, 0, 0, 16);
    allow(4096);
    wb_status status = wb_writer_commit(writer, &error);
    allow(before.rlim_cur);
    assert_int_equal(status, WB_ERROR_IO);
    assert_int_equal(error.os_error, EFBIG);
    assert_string_equal(error.file, file);
    wb_writer_free(writer);
    free(file);
    free(path);
}

static void an_empty_folder_goes(void **state)
{
    (void)state;
    wb_error error;
    char *path = text_of("%s/other", folder);
    char *kept = text_of("%s/.other.wb-partial", folder);
    wb_writer *writer = make(path);
    allow(0);
    wb_status status = wb_writer_begin(writer, &error);
    allow(before.rlim_cur);
    assert_int_equal(status, WB_ERROR_IO);
    assert_int_equal(access(kept, F_OK), 0);
    wb_writer_free(writer);
    assert_int_equal(access(kept, F_OK), -1);
    free(kept);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_named),
        cmocka_unit_test(an_empty_folder_goes),
    };
    (void)getrlimit(RLIMIT_FSIZE, &before);
    folder = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failed;
}
