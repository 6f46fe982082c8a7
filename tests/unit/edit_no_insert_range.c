/*
 * Tests wb_edit_file on a file system that does not support FALLOC_FL_INSERT_RANGE: the edit must
 * write a new file instead of inserting blocks at the beginning of the file.
 *
 * wraps: fallocate64
 */
#define _GNU_SOURCE /* FALLOC_FL_INSERT_RANGE */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#ifndef FALLOC_FL_INSERT_RANGE
#define FALLOC_FL_INSERT_RANGE 0x20
#endif

static int refusal; /* errno of fallocate */
static unsigned refused;

int __real_fallocate64(int fd, int mode, off_t offset, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t n);

int __wrap_fallocate64(int fd, int mode, off_t offset, off_t n)
{
    if (mode != FALLOC_FL_INSERT_RANGE)
        return __real_fallocate64(fd, mode, offset, n);
    refused++;
    errno = refusal;
    return -1;
}

static char *folder;

/* Writes a GGUF file. Sets its modification time to an old date. */
static void make_gguf(const char *path)
{
    wb_writer *writer;
    const wb_writer_options options = {
        .size = sizeof options, .format = "gguf", .flags = WB_WRITE_FORCE};
    const uint64_t shape[] = {40};
    static const uint8_t data[160] = {1, 2, 3};
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(wb_writer_create(&options, &writer, NULL), WB_OK);
    assert_int_equal(wb_writer_set_string(writer, "k", 1, "v", 1, NULL), WB_OK);
    assert_int_equal(wb_writer_add(writer, "t", 1, WB_DTYPE_F32, shape, 1, NULL, NULL), WB_OK);
    assert_int_equal(wb_writer_plan(writer, path, NULL), WB_OK);
    assert_int_equal(wb_writer_begin(writer, NULL), WB_OK);
    assert_int_equal(wb_writer_put(writer, 0, 0, data, sizeof data, NULL), WB_OK);
    assert_int_equal(wb_writer_commit(writer, NULL), WB_OK);
    wb_writer_free(writer);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static uint64_t value_length(const char *path)
{
    wb_model *model;
    const char *text;
    size_t len;
    assert_int_equal(wb_open(path, NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_meta_get_string(model, "k", 1, &text, &len, NULL), WB_OK);
    wb_close(model);
    return len;
}

static wb_status make_longer(const char *path, wb_edited *edited, wb_error *error)
{
    static char text[5000];
    const wb_edit_options options = {.size = sizeof options, .flags = WB_EDIT_IN_PLACE};
    memset(text, 'x', sizeof text);
    const wb_value value = {
        .size = sizeof value, .type = WB_META_STRING, .text = text, .text_len = sizeof text};
    const wb_edit edit = {
        .size = sizeof edit, .kind = WB_EDIT_SET, .name = "k", .name_len = 1, .value = &value};
    *edited = (wb_edited){.size = sizeof *edited};
    return wb_edit_file(path, &edit, 1, &options, edited, error);
}

static void takes_the_next_way(void **state)
{
    static const int rows[] = {EOPNOTSUPP, ENOSYS, EINVAL};
    char *path = text_of("%s/m.gguf", folder), *journal = text_of("%s/.m.gguf.wb-journal", folder);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb_edited edited;
        wb_error error;
        make_gguf(path);
        refusal = rows[i];
        refused = 0;
        assert_int_equal(make_longer(path, &edited, &error), WB_OK);
        assert_int_equal(refused, 1);
        assert_int_equal(edited.way, WB_EDIT_NEW_FILE);
        assert_true(edited.inserted == 0);
        assert_true(value_length(path) == 5000);
        assert_true(access(journal, F_OK) != 0);
    }
    free(path);
    free(journal);
}

static void fails_where_the_disk_does(void **state)
{
    char *path = text_of("%s/m.gguf", folder), *journal = text_of("%s/.m.gguf.wb-journal", folder);
    wb_edited edited;
    wb_error error;
    (void)state;
    make_gguf(path);
    refusal = EIO;
    assert_int_equal(make_longer(path, &edited, &error), WB_ERROR_IO);
    assert_int_equal(error.os_error, EIO);
    assert_true(value_length(path) == 1);
    assert_true(access(journal, F_OK) != 0);
    free(path);
    free(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_next_way),
        cmocka_unit_test(fails_where_the_disk_does),
    };
    folder = scratch_make();
    assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failed;
}
