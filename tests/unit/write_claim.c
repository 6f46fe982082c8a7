/* Tests the removal of files that killed writers left (io/write_claim.c). */
#include "support.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

static char *folder;

static char *in(const char *name)
{
    return text_of("%s/%s", folder, name);
}

static bool is_there(const char *name)
{
    char *path = in(name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static void make(const char *name)
{
    char *path = in(name);
    write_file(path, "x", 1);
    free(path);
}

static void make_link(const char *from, const char *to)
{
    char *a = in(from), *b = in(to);
    assert_int_equal(link(a, b), 0);
    free(a);
    free(b);
}

/* Writes a file, which must remove the leftover files in the same directory. */
static void write_another(void)
{
    wb_sink *sink;
    char *path = in("another");
    assert_int_equal(wb_sink_open(path, 1, NULL, &sink, NULL), WB_OK);
    assert_int_equal(wb_sink_write(sink, "y", 1, NULL), WB_OK);
    assert_int_equal(wb_sink_commit(sink, NULL), WB_OK);
    free(path);
}

static void leftovers_go(void **state)
{
    (void)state;
    char *sub = in(".wb-00000000000000aa.tmp");
    make(".wb-0123456789abcdef.tmp");
    assert_int_equal(mkdir(sub, 0700), 0);
    make(".wb-00000000000000aa.tmp/model.safetensors");
    make(".wb-0123456789abcdeg.tmp");
    make(".wb-0123456789abcdef.tmp2");
    make(".wb-0123456789abcdef-1x.tmp");
    make("wb-0123456789abcdef.tmp");
    write_another();
    assert_false(is_there(".wb-0123456789abcdef.tmp"));
    assert_false(is_there(".wb-00000000000000aa.tmp"));
    assert_true(is_there(".wb-0123456789abcdeg.tmp"));
    assert_true(is_there(".wb-0123456789abcdef.tmp2"));
    assert_true(is_there(".wb-0123456789abcdef-1x.tmp"));
    assert_true(is_there("wb-0123456789abcdef.tmp"));
    free(sub);
}

/* If temporary file 0 has no second hard link, its writer was killed before the set of files was
 * complete. All files of this set must be removed. */
static void half_a_set_goes(void **state)
{
    (void)state;
    make(".wb-0000000000000001-00000.tmp");
    make(".wb-0000000000000001-00001.tmp");
    make_link(".wb-0000000000000001-00001.tmp", "m-00001-of-00002.safetensors");
    make(".wb-0000000000000001-00002.tmp");
    make("m-00002-of-00002.safetensors"); /* a file of another program */
    write_another();
    assert_false(is_there("m-00001-of-00002.safetensors"));
    assert_true(is_there("m-00002-of-00002.safetensors"));
    assert_false(is_there(".wb-0000000000000001-00000.tmp"));
    assert_false(is_there(".wb-0000000000000001-00001.tmp"));
    assert_false(is_there(".wb-0000000000000001-00002.tmp"));
}

static void whole_sets_stay(void **state)
{
    (void)state;
    /* A set is complete if its temporary file 0 has a second hard link (set 2) or is already
     * removed (set 3). */
    make(".wb-0000000000000002-00000.tmp");
    make_link(".wb-0000000000000002-00000.tmp", "n.safetensors.index.json");
    make(".wb-0000000000000002-00001.tmp");
    make_link(".wb-0000000000000002-00001.tmp", "n-00001-of-00001.safetensors");
    make(".wb-0000000000000003-00001.tmp");
    make_link(".wb-0000000000000003-00001.tmp", "o-00001-of-00001.safetensors");
    write_another();
    assert_true(is_there("n.safetensors.index.json"));
    assert_true(is_there("n-00001-of-00001.safetensors"));
    assert_true(is_there("o-00001-of-00001.safetensors"));
    assert_false(is_there(".wb-0000000000000002-00000.tmp"));
    assert_false(is_there(".wb-0000000000000002-00001.tmp"));
    assert_false(is_there(".wb-0000000000000003-00001.tmp"));
}

/* Files of running writers must not be removed. */
static void living_ones_stay(void **state)
{
    (void)state;
    wb_writer *writer;
    char *path = in("made");
    const uint64_t shape[] = {4};
    const wb_writer_options options = {.size = sizeof options,
                                       .format = "safetensors",
                                       .flags = WB_WRITE_FOLDER,
                                       .max_file_tensors = 1};
    assert_int_equal(wb_writer_create(&options, &writer, NULL), WB_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(wb_writer_add(writer,
                                       i == 0   ? "a"
                                       : i == 1 ? "b"
                                                : "c",
                                       1, WB_DTYPE_U8, shape, 1, NULL, NULL),
                         WB_OK);
    assert_int_equal(wb_writer_plan(writer, path, NULL), WB_OK);
    assert_int_equal(wb_writer_begin(writer, NULL), WB_OK);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(wb_writer_put(writer, i, 0, "1234", 4, NULL), WB_OK);
        write_another();
    }
    assert_int_equal(wb_writer_commit(writer, NULL), WB_OK);
    wb_writer_free(writer);
    assert_true(is_there("made/model-00003-of-00003.safetensors"));
    assert_true(is_there("made/model.safetensors.index.json"));
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leftovers_go), cmocka_unit_test(half_a_set_goes),
        cmocka_unit_test(whole_sets_stay), cmocka_unit_test(living_ones_stay)};
    folder = scratch_make();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failures;
}
