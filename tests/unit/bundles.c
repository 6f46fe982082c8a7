/*
 * Tests models of several files: directories with and without an index, incomplete models, a stale
 * index, and extra files. Opening any shard must open all shards of the model. A file name in an
 * index must never refer to a file outside the directory.
 */
#include "support.h"

#include "bundles/bundle.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

static char *folder; /* directory of the current case, emptied for each case */

static void start_case(void)
{
    if (folder != NULL)
        scratch_remove(folder);
    folder = scratch_make();
}

static char *in(const char *name)
{
    return text_of("%s/%s", folder, name);
}

/* Writes a file with one U8 tensor of four bytes. */
static void put_tensor(const char *file, const char *tensor)
{
    char *path = in(file);
    char *header =
        text_of("{\"%s\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", tensor);
    st_write(path, header, 4);
    free(header);
    free(path);
}

static void put_shards(unsigned n)
{
    for (unsigned i = 1; i <= n; i++) {
        char *file = text_of("model-%05u-of-%05u.safetensors", i, n);
        char *tensor = text_of("t%u", i);
        put_tensor(file, tensor);
        free(file);
        free(tensor);
    }
}

static void put_text(const char *name, const char *text)
{
    char *path = in(name);
    write_file(path, text, strlen(text));
    free(path);
}

#define INDEX "model.safetensors.index.json"
#define SHARD(i) "model-0000" #i "-of-00003.safetensors"
#define MAP_3 "\"t1\":\"" SHARD(1) "\",\"t2\":\"" SHARD(2) "\",\"t3\":\"" SHARD(3) "\""

static void put_index(const char *map)
{
    char *text = text_of("{\"metadata\":{\"total_size\":12},\"weight_map\":{%s}}", map);
    put_text(INDEX, text);
    free(text);
}

/* Opens file `name` of the directory (NULL: the directory itself). The model must have `tensors`
 * tensors, and opening must give the findings `codes`, in this order. */
static wb_model *opens(const char *name, uint64_t tensors, const char *codes)
{
    char *path = name == NULL ? text_of("%s", folder) : in(name);
    char seen[500] = "";
    wb_model *model;
    wb_error error;
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    const wb_findings *findings = wb_model_findings(model);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%s", i > 0 ? " " : "",
                       finding.code);
    }
    if (strcmp(seen, codes) != 0)
        fail_msg("%s: found '%s', expected '%s'\n", path, seen, codes);
    assert_int_equal(wb_tensor_count(model), tensors);
    free(path);
    return model;
}

static void opens_and_closes(const char *name, uint64_t tensors, const char *codes)
{
    wb_close(opens(name, tensors, codes));
}

/* Checks that opening fails with this code and offset, and that the message contains `says`. */
static void refuses(const char *name, wb_status status, const char *code, uint64_t offset,
                    const char *says)
{
    char *path = name == NULL ? text_of("%s", folder) : in(name);
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open(path, NULL, &model, &error), status);
    assert_null(model);
    if (strcmp(error.code, code) != 0 || error.offset != offset ||
        strstr(error.message, says) == NULL)
        fail_msg("%s: %s at %lld: %s\n", path, error.code, (long long)error.offset, error.message);
    free(path);
}

static void whole_sets(void **state)
{
    (void)state;
    start_case();
    put_shards(3);
    put_index(MAP_3);
    put_text("config.json", "{}");
    opens_and_closes(NULL, 3, "");
    wb_model *model = opens(SHARD(2), 3, ""); /* opening one shard opens all */
    wb_tensor tensor = {.size = sizeof tensor};
    uint64_t i;
    assert_int_equal(wb_tensor_find(model, "t3", SIZE_MAX, &i), WB_OK);
    assert_int_equal(wb_tensor_at(model, i, &tensor, NULL), WB_OK);
    wb_file file = {.size = sizeof file};
    assert_int_equal(wb_file_at(model, tensor.file, &file, NULL), WB_OK);
    assert_non_null(strstr(file.path, SHARD(3)));
    assert_int_equal(wb_file_count(model), 3);
    wb_close(model);
    char *slashed = text_of("%s/", folder);
    assert_int_equal(wb_open(slashed, NULL, &model, NULL), WB_OK);
    wb_close(model);
    free(slashed);

    start_case();
    put_tensor("model.safetensors", "t");
    opens_and_closes(NULL, 1, "");
    put_index("\"t\":\"model.safetensors\"");
    opens_and_closes(NULL, 1, "index-total-size"); /* total_size in the index is 12 instead of 4 */
}

static void no_index(void **state)
{
    (void)state;
    start_case();
    put_shards(3);
    opens_and_closes(NULL, 3, "index-missing");
    opens_and_closes(SHARD(1), 3, "index-missing");
    put_text("._" SHARD(1), "left by another system");
    opens_and_closes(NULL, 3, "index-missing");

    start_case();
    put_tensor("anything.safetensors", "t");
    opens_and_closes(NULL, 1, "");
    put_tensor("another.safetensors", "u");
    refuses(NULL, WB_ERROR_FORMAT, "folder-ambiguous", WB_NO_OFFSET, "another.safetensors");
    opens_and_closes("another.safetensors", 1, "");
}

static void missing_shards(void **state)
{
    (void)state;
    for (int with_index = 0; with_index < 2; with_index++) {
        start_case();
        put_shards(3);
        if (with_index)
            put_index(MAP_3);
        char *path = in(SHARD(2));
        assert_int_equal(unlink(path), 0);
        free(path);
        refuses(NULL, WB_ERROR_FORMAT, "shard-missing", WB_NO_OFFSET, SHARD(2));
        refuses(SHARD(3), WB_ERROR_FORMAT, "shard-missing", WB_NO_OFFSET, SHARD(2));
    }
    start_case();
    put_tensor("model-00001-of-04000.safetensors",
               "t"); /* the missing shards must be counted without looking up each of them */
    refuses(
        NULL, WB_ERROR_FORMAT, "shard-missing", WB_NO_OFFSET,
        "3999 of the model's files are missing; the first one is model-00002-of-04000.safetensors");
}

static void stale_indices(void **state)
{
    (void)state;
    start_case();
    put_shards(3);
    put_index(MAP_3 ",\"gone\":\"" SHARD(1) "\"");
    opens_and_closes(NULL, 3, "index-stale");
    put_index("\"t1\":\"" SHARD(1) "\",\"t2\":\"" SHARD(3) "\",\"t3\":\"" SHARD(2) "\"");
    opens_and_closes(NULL, 3, "index-stale");
    put_index("\"t1\":\"" SHARD(1) "\",\"t2\":\"" SHARD(2) "\"");
    opens_and_closes(NULL, 2, "shard-stray index-total-size");
    opens_and_closes(SHARD(3), 3, "index-missing"); /* the index does not list this shard */

    start_case();
    put_tensor("model.safetensors", "t");
    put_index("\"t\":\"model-00001-of-00009.safetensors\"");
    opens_and_closes(NULL, 1, "index-stale");

    start_case();
    put_shards(3);
    put_index("\"t1\":\"" SHARD(1) "\",\"t3\":\"" SHARD(3) "\",\"t2\":\"" SHARD(
        2) "\",\"t1\":\"" SHARD(1) "\"");
    opens_and_closes(NULL, 3, "");
}

static void strays(void **state)
{
    (void)state;
    start_case();
    put_shards(3);
    put_index(MAP_3);
    put_tensor("model-extra.safetensors", "x");
    put_tensor("adapter.safetensors",
               "y"); /* a file that is not a shard, so loaders do not read it */
    opens_and_closes(NULL, 3, "shard-stray");

    start_case();
    put_tensor("model.safetensors", "t");
    put_tensor("model-00001-of-00001.safetensors", "t");
    opens_and_closes(NULL, 1, "shard-stray");
}

static void tensors_in_two_files(void **state)
{
    (void)state;
    start_case();
    put_shards(3);
    put_tensor(SHARD(3), "t1");
    refuses(NULL, WB_ERROR_FORMAT, "tensor-in-two-files", 9, SHARD(1));
}

static void damaged_indices(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
    } rows[] = {
        {"", 0},
        {"[]", 0},
        {"{}", 1},
        {"{\"weight_map\":[]}", 14},
        {"{\"weight_map\":{\"t\":1}}", 19},
        {"{\"weight_map\":{\"t\":null}}", 19},
        {"{\"weight_map\":{\"t\":\"" SHARD(1) "\"},\"weight_map\":{}}", 55},
        {"{\"weight_map\":{\"t\":\"" SHARD(1) "\"", 53},
        {"{\"weight_map\":{\"\\ud800\":\"x\"}}", 16},
        {"{\"metadata\":{\"total_size\":01},\"weight_map\":{}}", 26},
        {"{\"metadata\":{\"x\":[1,]},\"weight_map\":{}}", 20},
        {"{\"x\":tru,\"weight_map\":{}}", 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start_case();
        put_shards(3);
        put_text(INDEX, rows[i].text);
        refuses(NULL, WB_ERROR_FORMAT, "index-json", rows[i].offset, "");
        refuses(SHARD(1), WB_ERROR_FORMAT, "index-json", rows[i].offset, "");
    }
    start_case();
    put_shards(3);
    char *path = in(INDEX);
    assert_int_equal(mkdir(path, 0700), 0);
    refuses(NULL, WB_ERROR_FORMAT, "not-a-regular-file", WB_NO_OFFSET, "folder");
    free(path);
}

static void odd_but_sound_indices(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"metadata\":null,\"weight_map\":{" MAP_3 "}}",
        "{\"metadata\":{\"total_size\":\"12\",\"mlx\":[{}]},\"weight_map\":{" MAP_3 "}}",
        "{\"metadata\":{\"total_size\":12.0},\"weight_map\":{" MAP_3 "},\"x\":{\"weight_map\":1}}",
        " { \"weight_map\" : {" MAP_3 "} } \n",
        "{\"weight_map\":{\"t3\":\"" SHARD(3) "\",\"t1\":\"" SHARD(1) "\",\"t2\":\"" SHARD(
            2) "\"}}",
        "{\"weight_map\":{\"t\\u0033\":\"" SHARD(
            3) "\",\"t1\":\"\\u006d"
               "odel-00001-of-00003.safetensors\",\"\\u00742\":\"" SHARD(2) "\"}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        start_case();
        put_shards(3);
        put_text(INDEX, texts[i]);
        opens_and_closes(NULL, 3, "");
    }
}

/* An index is untrusted: opening must fail if it names a file outside its directory. */
static void escapes(void **state)
{
    (void)state;
    static const char *const names[] = {
        "../x.safetensors", "/etc/passwd",          "sub/x.safetensors", "..", ".", "",
        "./" SHARD(1),      "a\\u0000.safetensors", "x\\u002f..\\u002fy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        start_case();
        put_shards(3);
        char *map = text_of("\"t1\":\"%s\"", names[i]);
        put_index(map);
        refuses(NULL, WB_ERROR_FORMAT, "index-path", 49, "folder of the index");
        refuses(SHARD(1), WB_ERROR_FORMAT, "index-path", 49, "folder of the index");
        free(map);
    }
}

/* Symbolic links in the directory are followed: the user created them, and download caches
 * consist of them. */
static void links(void **state)
{
    (void)state;
    start_case();
    char *blobs = in("blobs"), *target = in("blobs/1"), *link = in("model.safetensors");
    char *whole = in("folder"), *inner = in("folder/model.safetensors");
    assert_int_equal(mkdir(blobs, 0700), 0);
    assert_int_equal(mkdir(whole, 0700), 0);
    put_tensor("blobs/1", "t");
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(symlink("../blobs/1", inner), 0);
    opens_and_closes("model.safetensors", 1, "");
    opens_and_closes("folder/model.safetensors", 1, "");
    refuses("folder", WB_ERROR_FORMAT, "link-outside", WB_NO_OFFSET, "symbolic link");
    assert_int_equal(unlink(target), 0);
    refuses("model.safetensors", WB_ERROR_NOT_FOUND, "link-broken", WB_NO_OFFSET, "");
    free(blobs);
    free(target);
    free(link);
    free(whole);
    free(inner);
}

static void empty_folders(void **state)
{
    (void)state;
    start_case();
    refuses(NULL, WB_ERROR_FORMAT, "folder-without-weights", WB_NO_OFFSET, "");
    put_text("pytorch_model.bin", "x");
    refuses(NULL, WB_ERROR_FORMAT, "folder-other-format", WB_NO_OFFSET, "pytorch_model.bin");
}

static void limits(void **state)
{
    (void)state;
    wb_limits limits;
    wb_open_options options = {.size = sizeof options, .limits = &limits};
    wb_model *model;
    wb_error error;
    wb_limits_default(&limits);
    start_case();
    put_shards(3);
    put_index(MAP_3);
    limits.files = 2;
    assert_int_equal(wb_open(folder, &options, &model, &error), WB_ERROR_LIMIT);
    assert_string_equal(error.code, "too-many-files");
    limits.files = 3;
    assert_int_equal(wb_open(folder, &options, &model, &error), WB_OK);
    wb_close(model);
    limits.json_bytes = 50;
    assert_int_equal(wb_open(folder, &options, &model, &error), WB_ERROR_LIMIT);
    assert_string_equal(error.code, "index-json");
}

/* A model may have more files than the library keeps open at a time. All must be readable, and a
 * file that was replaced must be refused. */
static void many_shards(void **state)
{
    (void)state;
    start_case();
    put_shards(100);
    wb_model *model = opens(NULL, 100, "index-missing");
    unsigned char bytes[4];
    const void *data;
    wb_error error;
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(wb_tensor_read(model, i, NULL, -1, bytes, 4, NULL), WB_OK);
        assert_memory_equal(bytes, "\0\1\2\3", 4);
        if (i % 3 == 0) {
            assert_int_equal(wb_tensor_data(model, i, &data, NULL), WB_OK);
            assert_memory_equal(data, "\0\1\2\3", 4);
        }
    }
    assert_int_equal(wb_model_check(model, NULL), WB_OK);
    put_tensor("model-00100-of-00100.safetensors", "other");
    assert_int_equal(wb_tensor_read(model, 99, NULL, -1, bytes, 4, &error), WB_ERROR_CHANGED);
    assert_non_null(strstr(error.file, "model-00100-of-00100"));
    assert_int_equal(wb_model_check(model, &error), WB_ERROR_CHANGED);
    assert_int_equal(wb_tensor_read(model, 98, NULL, -1, bytes, 4, &error), WB_OK);
    wb_close(model);
}

/* Tests wb_model_reads: which paths are files of the model, including other hard links to them. */
static void what_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int reads;
    } rows[] = {{SHARD(1), 1},    {SHARD(3), 1},  {INDEX, 1},    {"config.json", 1},
                {"weights", 1},   {"config", 1},  {"other", 0},  {"tokenizer.json", 0},
                {"notes.txt", 0}, {"nothing", 0}, {"no/such", 0}};
    static const char *const links[][2] = {
        {SHARD(2), "weights"}, {"config.json", "config"}, {"notes.txt", "other"}};
    wb_error error;
    int reads = 5;
    start_case();
    put_shards(3);
    put_index(MAP_3);
    put_text("config.json", "{}");
    put_text("notes.txt", "{}");
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        char *from = in(links[i][0]), *to = in(links[i][1]);
        assert_int_equal(link(from, to), 0);
        free(from);
        free(to);
    }
    wb_model *model = opens(NULL, 3, "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *path = in(rows[i].name);
        assert_int_equal(wb_model_reads(model, path, &reads, &error), WB_OK);
        if (reads != rows[i].reads)
            fail_msg("%s: %d", path, reads);
        free(path);
    }
    assert_int_equal(wb_model_reads(model, NULL, &reads, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(reads, 0);
    wb_close(model);
}

static void shard_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t number, of;
    } rows[] = {{"model-00001-of-00003.safetensors", 1, 3},
                {"-1-of-1.safetensors", 1, 1},
                {"a-b-of-1-007-of-123.safetensors", 7, 123},
                {"x-000000001-of-999999999.safetensors", 1, 999999999},
                {"x-0000000001-of-0000000003.safetensors", 0, 0},
                {"model-00000-of-00003.safetensors", 0, 0},
                {"model-00004-of-00003.safetensors", 0, 0},
                {"model-1-of-03.safetensors", 0, 0},
                {"model-00001-of-00003.gguf", 1, 3},
                {"model00001-of-00003.safetensors", 0, 0},
                {"model-00001of-00003.safetensors", 0, 0},
                {"model--of-.safetensors", 0, 0},
                {"model.safetensors", 0, 0},
                {".safetensors", 0, 0},
                {"", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__shard_name shard;
        char again[80];
        wb__str name = wb__str_from(rows[i].name, SIZE_MAX);
        bool is_shard = wb__shard_parse(name, &shard);
        assert_int_equal(is_shard, rows[i].of != 0);
        if (!is_shard)
            continue;
        assert_int_equal(shard.number, rows[i].number);
        assert_int_equal(shard.of, rows[i].of);
        wb__shard_print(&shard, shard.number, again, sizeof again);
        assert_string_equal(again, rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_sets),      cmocka_unit_test(no_index),
        cmocka_unit_test(missing_shards),  cmocka_unit_test(stale_indices),
        cmocka_unit_test(strays),          cmocka_unit_test(tensors_in_two_files),
        cmocka_unit_test(damaged_indices), cmocka_unit_test(odd_but_sound_indices),
        cmocka_unit_test(escapes),         cmocka_unit_test(links),
        cmocka_unit_test(empty_folders),   cmocka_unit_test(limits),
        cmocka_unit_test(many_shards),     cmocka_unit_test(what_is_read),
        cmocka_unit_test(shard_names)};
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failures;
}
