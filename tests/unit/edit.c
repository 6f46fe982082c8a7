/*
 * Tests wb_edit_file and writing into an Ollama store with each allocation failing once, and
 * wb_edit_file with invalid arguments.
 */
#include "support.h"

static char *folder;

static char *in(const char *name)
{
    return text_of("%s/%s", folder, name);
}

/* Writes a GGUF file with the tensor "t" and the key "k", whose value is "v". */
static void make_gguf(const char *path)
{
    wb_writer *writer;
    const wb_writer_options options = {
        .size = sizeof options, .format = "gguf", .flags = WB_WRITE_FORCE};
    const uint64_t shape[] = {40};
    static const uint8_t data[160];
    assert_int_equal(wb_writer_create(&options, &writer, NULL), WB_OK);
    assert_int_equal(wb_writer_set_string(writer, "k", 1, "v", 1, NULL), WB_OK);
    assert_int_equal(wb_writer_add(writer, "t", 1, WB_DTYPE_F32, shape, 1, NULL, NULL), WB_OK);
    assert_int_equal(wb_writer_plan(writer, path, NULL), WB_OK);
    assert_int_equal(wb_writer_begin(writer, NULL), WB_OK);
    assert_int_equal(wb_writer_put(writer, 0, 0, data, sizeof data, NULL), WB_OK);
    assert_int_equal(wb_writer_commit(writer, NULL), WB_OK);
    wb_writer_free(writer);
}

static bool value_is(const char *path, const char *expected)
{
    wb_model *model;
    const char *text;
    size_t len;
    assert_int_equal(wb_open(path, NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_meta_get_string(model, "k", 1, &text, &len, NULL), WB_OK);
    bool equal = len == strlen(expected) && memcmp(text, expected, len) == 0;
    wb_close(model);
    return equal;
}

static void edits_without_memory(void **state)
{
    (void)state;
    char *path = in("m.gguf"), *journal = in(".m.gguf.wb-journal");
    char *longer = malloc(5001);
    memset(longer, 'x', 5000);
    longer[5000] = '\0';
    /* way 0: the edit fits in place; 1: it inserts bytes into the file; 2: it writes a new file. */
    for (int way = 0; way < 3; way++) {
        bool done = false;
        const char *to = way == 1 ? longer : "w";
        for (size_t fail_at = 1; !done; fail_at += is_slow() ? 7 : 1) {
            counter c = {.fail_at = fail_at};
            wb_allocator allocator = counter_allocator(&c);
            const wb_edit_options options = {.size = sizeof options,
                                             .flags = way == 2 ? 0 : WB_EDIT_IN_PLACE,
                                             .allocator = &allocator};
            const wb_value value = {
                .size = sizeof value, .type = WB_META_STRING, .text = to, .text_len = strlen(to)};
            const wb_edit edit = {.size = sizeof edit,
                                  .kind = WB_EDIT_SET,
                                  .name = "k",
                                  .name_len = 1,
                                  .value = &value};
            wb_edited edited = {.size = sizeof edited};
            wb_error error;
            make_gguf(path);
            wb_status status = wb_edit_file(path, &edit, 1, &options, &edited, &error);
            assert_clean(&c);
            done = !c.failed;
            /* The edit may succeed although an allocation failed, because reading a file can do
             * without some allocations. The edit may fail although the new file is in place,
             * because the last sync failed. */
            assert_true(status == WB_OK || (!done && status != WB_ERROR_ARGUMENT));
            bool is_new = value_is(path, to);
            assert_true(is_new || (status != WB_OK && value_is(path, "v")));
            assert_true(access(journal, F_OK) != 0);
        }
    }
    free(longer);
    free(path);
    free(journal);
}

static void stores_without_memory(void **state)
{
    (void)state;
    char *store = in("store");
    char *manifest = text_of("%s/manifests/registry.ollama.ai/library/m/latest", store);
    bool done = false;
    for (size_t fail_at = 1; !done; fail_at += is_slow() ? 7 : 1) {
        counter c = {.fail_at = fail_at};
        wb_allocator allocator = counter_allocator(&c);
        wb_writer *writer;
        const uint64_t shape[] = {8};
        wb_error error;
        wb_writer_options options = {
            .size = sizeof options, .format = "ollama", .store = store, .allocator = &allocator};
        wb_status status = wb_writer_create(&options, &writer, &error);
        for (int i = 0; i < 2 && status == WB_OK; i++)
            status = wb_writer_add(writer, i == 0 ? "a.weight" : "b.weight", SIZE_MAX, WB_DTYPE_U8,
                                   shape, 1, NULL, &error);
        if (status == WB_OK)
            status = wb_writer_set_packing(writer, 0, "int8", 64, &error);
        if (status == WB_OK)
            status = wb_writer_add_bytes(writer, "config.json", "{}", 2, &error);
        if (status == WB_OK)
            status = wb_writer_plan(writer, "m", &error);
        if (status == WB_OK)
            status = wb_writer_begin(writer, &error);
        for (uint64_t i = 0; i < 2 && status == WB_OK; i++)
            status = wb_writer_put(writer, i, 0, "12345678", 8, &error);
        if (status == WB_OK)
            status = wb_writer_commit(writer, &error);
        wb_writer_free(writer);
        assert_clean(&c);
        done = !c.failed;
        assert_int_equal(status, done ? WB_OK : WB_ERROR_MEMORY);
        assert_true((access(manifest, F_OK) == 0) == done);
    }
    free(manifest);
    free(store);
}

static void refuses(void **state)
{
    (void)state;
    char *path = in("r.gguf");
    wb_error error;
    make_gguf(path);
    const wb_edit bad[] = {
        {.size = 1, .kind = WB_EDIT_DELETE, .name = "k", .name_len = 1},
        {.size = sizeof bad[0], .kind = WB_EDIT_SET, .name = "k", .name_len = 1},
        {.size = sizeof bad[0], .name = "k", .name_len = 1},
        {.size = sizeof bad[0], .kind = WB_EDIT_RENAME, .name = "t", .name_len = 1},
        {.size = sizeof bad[0], .kind = WB_EDIT_DROP}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(wb_edit_file(path, &bad[i], 1, NULL, NULL, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_edit_file(NULL, NULL, 0, NULL, NULL, &error), WB_ERROR_ARGUMENT);
    wb_edited edited = {.size = 3};
    assert_int_equal(wb_edit_file(path, NULL, 0, NULL, &edited, &error), WB_ERROR_ARGUMENT);
    edited.size = sizeof edited;
    assert_int_equal(wb_edit_file(path, NULL, 0, NULL, &edited, &error), WB_OK);
    assert_int_equal(edited.way, WB_EDIT_NOTHING);
    assert_true(value_is(path, "v"));
    /* A journal that weighbridge did not write must be refused and must not change the file. */
    char *journal = in(".r.gguf.wb-journal");
    int undone;
    write_file(journal, "WBEDIT03 and so on, but not as it should be, by far not", 55);
    assert_int_equal(wb_edit_recover(path, &undone, &error), WB_ERROR_IO);
    assert_string_equal(error.code, "edit-another-file");
    assert_int_equal(undone, 0);
    assert_int_equal(truncate(journal, (1 << 30) + 1), 0);
    assert_int_equal(wb_edit_recover(path, &undone, &error), WB_ERROR_IO);
    assert_int_equal(unlink(journal), 0);
    assert_int_equal(wb_edit_recover(path, &undone, &error), WB_OK);
    assert_int_equal(undone, 0);
    assert_true(value_is(path, "v"));
    free(journal);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_without_memory),
        cmocka_unit_test(stores_without_memory),
        cmocka_unit_test(refuses),
    };
    folder = scratch_make();
    assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failed;
}
