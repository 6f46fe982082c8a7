/*
 * Tests a writer with a full disk, and with files of other programs at its temporary paths. Errors
 * must contain the path of the caller's file, useless partial files must be removed, and files of
 * other programs must not be written to.
 */
#include "writing.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

#include <sys/resource.h>
#include <sys/stat.h>

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

/* If a file with the temporary name may belong to another user (a file with a second hard link, a
 * symbolic link, a pipe), it must not be written to. */
static void a_second_name_is_not_ours(void **state)
{
    (void)state;
    static const char *const ways[] = {"hard", "soft", "pipe"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        size_t n;
        char *path = text_of("%s/%s", folder, ways[i]);
        char *kept = text_of("%s/.%s.wb-partial", folder, ways[i]);
        char *inside = text_of("%s/.model.safetensors.wb-partial", kept);
        char *other = text_of("%s/other.txt", folder);
        write_file(other, "mine", 4);
        assert_int_equal(mkdir(kept, 0777), 0);
        assert_int_equal(i == 0   ? link(other, inside)
                         : i == 1 ? symlink(other, inside)
                                  : mkfifo(inside, 0600),
                         0);
        wb_writer *writer = make(path);
        OK(wb_writer_begin(writer, E));
        fill(writer, 0, 0, 16);
        OK(wb_writer_commit(writer, E));
        wb_writer_free(writer);
        expect_sound(path);
        unsigned char *text = read_file(other, &n);
        assert_int_equal(n, 4);
        assert_memory_equal(text, "mine", 4);
        free(text);
        free(other);
        free(inside);
        free(kept);
        free(path);
    }
}

/* If a private file is replaced, the new file must have its permissions even while it still has its
 * temporary name. */
static void a_private_file_stays_so(void **state)
{
    (void)state;
    struct stat st;
    wb_writer *writer;
    char *path = text_of("%s/private.safetensors", folder);
    char *kept = text_of("%s/.private.safetensors.wb-partial", folder);
    const wb_writer_options options = {
        .size = sizeof options, .format = "safetensors", .flags = WB_WRITE_KEEP | WB_WRITE_FORCE};
    const uint64_t shape[] = {4};
    write_file(path, "secret", 6);
    assert_int_equal(chmod(path, 0600), 0);
    OK(wb_writer_create(&options, &writer, E));
    OK(wb_writer_add(writer, "t", SIZE_MAX, WB_DTYPE_F32, shape, 1, NULL, E));
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_begin(writer, E));
    assert_int_equal(stat(kept, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    fill(writer, 0, 0, 16);
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    expect_sound(path);
    free(kept);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_named),
        cmocka_unit_test(an_empty_folder_goes),
        cmocka_unit_test(a_second_name_is_not_ours),
        cmocka_unit_test(a_private_file_stays_so),
    };
    (void)getrlimit(RLIMIT_FSIZE, &before);
    folder = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failed;
}
