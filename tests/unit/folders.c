/*
 * Tests which files of a directory, a set of shards or an Ollama store form a model. Each model is
 * opened by the path of the directory and by the path of a file in it. Some tests repeat with each
 * allocation failing.
 */
#include "support.h"

#include "bundles/bundle.h"
#include "bundles/ollama/ollama.h"

static char *folder;

/* Creates a new empty directory for the current case. */
static void start_case(void)
{
    if (folder != NULL) {
        assert_int_equal(chdir("/"), 0);
        scratch_remove(folder);
    }
    folder = scratch_make();
    assert_int_equal(chdir(folder), 0);
}

static void put_tensor(const char *file, const char *name)
{
    char *header =
        text_of("{\"%s\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", name);
    st_write(file, header, 4);
    free(header);
}

static void put_text(const char *file, const char *text)
{
    write_file(file, text, strlen(text));
}

static void opens(const char *path, uint64_t tensors)
{
    wb_model *model;
    wb_error error;
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    assert_int_equal(wb_tensor_count(model), tensors);
    wb_close(model);
}

static void refuses(const char *path, const char *code, const char *says)
{
    wb_model *model;
    wb_error error;
    assert_int_not_equal(wb_open(path, NULL, &model, &error), WB_OK);
    assert_null(model);
    if (strcmp(error.code, code) != 0 || strstr(error.message, says) == NULL)
        fail_msg("%s: %s: %s\n", path, error.code, error.message);
}

/* Without an add-on library, an address is refused with advice to fetch the files. */
static void addresses(void **state)
{
    (void)state;
    refuses("https://host/o/n", "address", "only files of this machine");
    refuses("hf://o/n", "address", "only files of this machine");
    refuses("s3://bucket/m.gguf", "address", "only files of this machine");
}

/* ---- folders ---- */

static void relative_paths(void **state)
{
    (void)state;
    start_case();
    put_tensor("m-1-of-2.safetensors", "a");
    put_tensor("m-2-of-2.safetensors", "b");
    opens("m-1-of-2.safetensors", 2);
    opens("./m-2-of-2.safetensors", 2);
    opens(".", 2);
    wb_error error;
    wb__context context = {.allocator = wb__default_allocator, .file = "", .error = &error};
    wb_limits_default(&context.limits);
    wb__bundle bundle;
    wb__bundle_init(&bundle, &wb__default_allocator);
    assert_int_equal(wb__bundle_of_shard(&context, "/no such set-1-of-2.safetensors", &bundle),
                     WB_ERROR_FORMAT);
    assert_string_equal(error.code, "shard-missing");
    wb__bundle_free(&bundle);
}

static void mixed_names(void **state)
{
    (void)state;
    static const char *const torn[] = {"weights.bin", "weights.pt", "weights.pth"};
    for (size_t i = 0; i < 3; i++) {
        start_case();
        put_text(torn[i], "x");
        refuses(".", "folder-other-format", torn[i]);
    }
    start_case(); /* two sets of shards in one directory, one of them incomplete */
    put_tensor("a-1-of-2.safetensors", "a");
    put_tensor("a-2-of-2.safetensors", "b");
    put_tensor("b-1-of-2.safetensors", "c");
    refuses(".", "folder-ambiguous", " weights files that do not form one model");
    opens("a-1-of-2.safetensors", 2);
    refuses("b-1-of-2.safetensors", "shard-missing", "b-2-of-2");
    start_case();
    put_tensor("a-1-of-1.safetensors", "a");
    put_tensor("zzz.safetensors", "z");
    refuses(".", "folder-ambiguous", "zzz");
    opens("a-1-of-1.safetensors", 1);
    start_case();
    put_tensor("a-1-of-5.safetensors", "a");
    put_tensor("a-3-of-5.safetensors", "b");
    put_tensor("a-5-of-5.safetensors", "c");
    refuses(".", "shard-missing", "2 of the model's files are missing; the first one is a-2-of-5");
}

static void several_indices(void **state)
{
    (void)state;
    start_case();
    put_tensor("model-1-of-2.safetensors", "a");
    put_tensor("model-2-of-2.safetensors", "b");
    put_text("a.safetensors.index.json", "damaged");
    put_text("z.safetensors.index.json", "damaged");
    put_text("model.safetensors.index.json",
             "{\"weight_map\":{\"a\":\"model-1-of-2.safetensors\",\"b\":"
             "\"model-2-of-2.safetensors\"}}");
    opens(".", 2);
    start_case(); /* the index lists a file that does not exist */
    put_tensor("model.safetensors", "a");
    put_text("model.safetensors.index.json",
             "{\"weight_map\":{\"a\":\"model.safetensors\",\"b\":\"gone.safetensors\"}}");
    refuses(".", "shard-missing", "gone.safetensors");
    start_case();
    put_tensor("model.safetensors", "a");
    char *name = malloc(400), *index;
    assert_non_null(name);
    memset(name, 'x', 399);
    name[399] = '\0';
    index = text_of("{\"weight_map\":{\"a\":\"%s\"}}", name);
    put_text("model.safetensors.index.json", index);
    refuses(".", "index-path", "is not the name of a file");
    free(name);
    free(index);
    start_case(); /* an index that omits a tensor */
    st_write(
        "model.safetensors",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\","
        "\"shape\":[4],\"data_offsets\":[4,8]}}",
        8);
    put_text("model.safetensors.index.json",
             "{\"metadata\":{\"total_size\":8},\"weight_map\":{\"a\":\"model.safetensors\"}}");
    wb_model *model;
    wb_finding finding = {.size = sizeof finding};
    assert_int_equal(wb_open(".", NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_findings_count(wb_model_findings(model)), 1);
    assert_int_equal(wb_findings_at(wb_model_findings(model), 0, &finding), WB_OK);
    assert_non_null(strstr(finding.message, "1 of the 2 tensors"));
    wb_close(model);
}

static void names_of_shards(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool good;
    } rows[] = {{"a-1-of-2.safetensors", true},
                {"a-01-of-02.gguf", true},
                {"a-x-of-2.safetensors", false},
                {"a--of-2.safetensors", false},
                {"a-1-of-.safetensors", false},
                {"a-01-of-2.safetensors", false},
                {"a1-of-2.safetensors", false},
                {"a-1-to-2.safetensors", false},
                {"a-0-of-2.safetensors", false},
                {"a-3-of-2.safetensors", false},
                {"a-1-of-2.bin", false},
                {"-1-of-1.gguf", true},
                {"a-1234567890-of-1234567890.gguf", false}};
    wb__shard_name shard;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(wb__shard_parse(wb__str_from(rows[i].name, SIZE_MAX), &shard),
                         rows[i].good);
    static const struct {
        const char *name;
        bool same;
    } others[] = {{"a-2-of-2.safetensors", true},
                  {"b-2-of-2.safetensors", false},
                  {"a-02-of-02.safetensors", false},
                  {"a-2-of-3.safetensors", false},
                  {"a-2-of-2.gguf", false}};
    assert_true(wb__shard_parse(WB__STR("a-1-of-2.safetensors"), &shard));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        wb__shard_name other;
        assert_true(wb__shard_parse(wb__str_from(others[i].name, SIZE_MAX), &other));
        assert_int_equal(wb__shard_same_set(&shard, &other), others[i].same);
    }
}

/* ---- GGUF ---- */

static void gguf_folders(void **state)
{
    (void)state;
    start_case();
    static const char empty[24] = {'G', 'G', 'U', 'F', 3};
    write_file(".hidden.gguf", "x", 1);
    write_file("a-1-of-5.gguf", empty, sizeof empty);
    write_file("a-3-of-5.gguf", empty, sizeof empty);
    write_file("a-5-of-5.gguf", empty, sizeof empty);
    refuses(".", "shard-missing",
            "2 of which are missing from the folder; the first one is a-2-of-5");
    start_case();
    write_file("only.gguf", empty, sizeof empty);
    write_file(".hidden.gguf", "x", 1);
    opens(".", 0);
}

/* ---- stores ---- */

static void make(const char *path)
{
    char *each = text_of("%s", path);
    for (char *slash = each; (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        (void)mkdir(each, 0700);
        *slash = '/';
    }
    assert_int_equal(mkdir(each, 0700) == 0 || errno == EEXIST, 1);
    free(each);
}

static void paths_of_stores(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool manifest, blob;
    } rows[] = {{"/s/manifests/h/n/m/t", true, false}, {"manifests/h/n/m/t", true, false},
                {"/s/manifest/h", false, false},       {"manifest/h", false, false},
                {"/s/blobs/sha256-0", false, true},    {"blobs/sha256-0", false, true},
                {"/s/xblobs/sha256-0", false, false},  {"blobs/other", false, false},
                {"lobs/sha256-0", false, false},       {"sha256-0", false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(wb__ollama_is_manifest_path(rows[i].path), rows[i].manifest);
        assert_int_equal(wb__ollama_is_blob_path(rows[i].path), rows[i].blob);
    }
    start_case();
    make("half/manifests");
    make("whole/manifests");
    make("whole/blobs");
    assert_false(wb__ollama_is_store(&wb__default_allocator, "none"));
    assert_false(wb__ollama_is_store(&wb__default_allocator, "half"));
    assert_true(wb__ollama_is_store(&wb__default_allocator, "whole"));
    counter memory = {.fail_at = 1};
    wb_allocator allocator = counter_allocator(&memory);
    assert_false(wb__ollama_is_store(&allocator, "whole"));
    assert_clean(&memory);
}

static void place_of_the_store(void **state)
{
    (void)state;
    static const struct {
        const char *models, *home, *store;
    } rows[] = {{"/m", "/h", "/m"},
                {"", "/h", "/h/.ollama/models"},
                {NULL, "/h", "/h/.ollama/models"},
                {"/m", "", "/m"},
                {NULL, "", NULL},
                {"", NULL, NULL},
                {NULL, NULL, NULL}};
    char *home = getenv("HOME") == NULL ? NULL : text_of("%s", getenv("HOME"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)unsetenv("OLLAMA_MODELS");
        (void)unsetenv("HOME");
        if (rows[i].models != NULL)
            assert_int_equal(setenv("OLLAMA_MODELS", rows[i].models, 1), 0);
        if (rows[i].home != NULL)
            assert_int_equal(setenv("HOME", rows[i].home, 1), 0);
        char *store;
        wb_error error;
        wb__context context = {.error = &error, .allocator = wb__default_allocator, .file = ""};
        assert_int_equal(wb__ollama_default_store(&context, &store),
                         rows[i].store == NULL ? WB_ERROR_NOT_FOUND : WB_OK);
        assert_int_equal(store == NULL, rows[i].store == NULL);
        if (store != NULL) {
            assert_string_equal(store, rows[i].store);
            wb__free(&wb__default_allocator, store, strlen(store) + 1);
        }
    }
    (void)unsetenv("OLLAMA_MODELS");
    if (home != NULL)
        (void)setenv("HOME", home, 1);
    free(home);
}

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MANIFEST                                                                                   \
    "{\"layers\":[{\"mediaType\":\"application/"                                                   \
    "vnd.ollama.image.model\",\"digest\":\"sha256:" DIGEST "\",\"size\":1}]}"

/* Parses a manifest that is given by its path: the library must find the store, and in it the path
 * of the blob. Repeats this with each allocation failing once. */
static void manifests(void **state)
{
    (void)state;
    char longest[3000] = "/";
    memset(longest + 1, 's', 2500);
    memcpy(longest + 2501, "/manifests/h/n/m/t", sizeof "/manifests/h/n/m/t");
    const struct {
        const char *path, *store;
    } rows[] = {{"/s/manifests/h/n/m/t", "/s"},
                {"/manifests/h/n/m/t", "/"},
                {"manifests/h/n/m/t", "."},
                {"somewhere/else", "somewhere"},
                {"else", "."},
                {"/a/manifests/b/manifests/h", "/a/manifests/b"},
                {longest, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t calls = 1, enough = 0;
        for (size_t k = 0; k <= calls; k++) {
            counter memory = {.fail_at = 0};
            wb_allocator allocator = counter_allocator(&memory);
            wb_error error;
            wb__context context = {.allocator = allocator, .file = "", .error = &error};
            wb__ollama ollama;
            wb_limits_default(&context.limits);
            wb__ollama_init(&ollama, &allocator);
            char *text = wb__alloc(&allocator, sizeof MANIFEST);
            assert_non_null(text);
            memcpy(text, MANIFEST, sizeof MANIFEST);
            memory.fail_at = k == 0 ? 0 : k + 1;
            wb_status status =
                wb__ollama_parse(&ollama, &context, rows[i].path, text, sizeof MANIFEST - 1);
            char *blob = status == WB_OK ? wb__ollama_blob(&ollama, &ollama.layers[0]) : NULL;
            if (k == 0) {
                assert_int_equal(status, WB_OK);
                assert_non_null(strstr(blob, "/blobs/sha256-" DIGEST));
                if (rows[i].store != NULL)
                    assert_string_equal(ollama.store, rows[i].store);
                assert_non_null(wb__ollama_layer_of(&ollama, WB__LAYER_MODEL, NULL));
                assert_null(wb__ollama_layer_of(&ollama, WB__LAYER_MODEL, "other"));
                assert_null(wb__ollama_layer_of(&ollama, WB__LAYER_TENSOR, NULL));
                calls = memory.calls - 1;
            } else {
                assert_true(status == WB_ERROR_MEMORY || blob == NULL);
                enough++;
            }
            wb__ollama_free(&ollama);
            assert_clean(&memory);
        }
        assert_true(enough >= 3);
    }
}

static int count_entry(void *ctx, const wb_store_entry *entry)
{
    unsigned *seen = ctx;
    seen[entry->error == NULL ? 0 : 1]++;
    return 0;
}

/* A listing of a store must report or skip files that are not manifests, and continue. */
static void odd_stores(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text;
    } rows[] = {
        {"manifests/h/n/m/sound", "{\"layers\":[]}"},
        {"manifests/h/n/m/too-much",
         "{\"layers\":[{\"size\":18446744073709551615},{\"size\":18446744073709551615}]}"},
        {"manifests/h/n/m/too-much-config", "{\"layers\":[{\"size\":18446744073709551615}],"
                                            "\"config\":{\"size\":18446744073709551615}}"},
        {"manifests/h/n/m/config-first", "{\"config\":{\"size\":1},\"layers\":[{\"size\":2}]}"},
        {"manifests/h/n/m/bad-config", "{\"layers\":[],\"config\":{\"size\":}}"},
        {"manifests/h/n/m/no-object", "[]"},
        {"manifests/h/n/file", "where a folder belongs"},
        {"manifests/h/file", "where a folder belongs"},
        {"manifests/file", "where a folder belongs"},
    };
    start_case();
    make("manifests/h/n/m/folder");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_text(rows[i].file, rows[i].text);
    put_text("manifests/h/n/m/large", "{");
    assert_int_equal(truncate("manifests/h/n/m/large", 17 << 20), 0);
    unsigned seen[2] = {0, 0};
    assert_int_equal(wb_store_list(".", NULL, count_entry, seen, NULL), WB_OK);
    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 5);
}

/* ---- memory ---- */

static wb_status stop_at_first(void *ctx, wb__str file)
{
    (void)ctx, (void)file;
    return WB_OK;
}

static void allocations(void **state)
{
    (void)state;
    start_case();
    put_text("i.json", "{\"we\\u0069ght_map\":{\"\\u0061\":\"\\u0062\"}}");
    char longest[1600];
    memset(longest, 'n', sizeof longest);
    memcpy(longest + 1500, "-1-of-2.safetensors", sizeof "-1-of-2.safetensors");
    for (int way = 0; way < 3; way++) {
        size_t calls = 1;
        wb_status sound = WB_OK;
        for (size_t k = 0; k <= calls; k++) {
            counter memory = {.fail_at = k};
            wb_allocator allocator = counter_allocator(&memory);
            wb_error error;
            wb__context context = {.allocator = allocator, .file = "", .error = &error};
            wb__bundle bundle;
            wb_limits_default(&context.limits);
            wb__bundle_init(&bundle, &allocator);
            wb_status status =
                way == 0   ? wb__bundle_of_shard(&context, longest, &bundle)
                : way == 1 ? wb__bundle_add(&context, &bundle, "f", (wb__str){longest, 1500})
                           : wb__index_read(&context, &bundle, NULL, "i.json", stop_at_first, NULL);
            if (k == 0)
                sound = status;
            else
                assert_int_equal(status, WB_ERROR_MEMORY);
            calls = k == 0 ? memory.calls : calls;
            wb__bundle_free(&bundle);
            assert_clean(&memory);
        }
        assert_int_equal(sound, way == 0 ? WB_ERROR_FORMAT : WB_OK);
        assert_true(calls >= 2);
    }
}

/* Opens a repository of a Hugging Face cache, and a directory that contains a store. Each
 * allocation fails once: the result is the usual one, or an error, and nothing leaks. */
static void allocations_near_models(void **state)
{
    static const char *const paths[] = {"models--o--n", "home"};
    (void)state;
    start_case();
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(mkdir(paths[i], 0700), 0);
    assert_int_equal(mkdir("models--o--n/refs", 0700), 0);
    assert_int_equal(mkdir("models--o--n/snapshots", 0700), 0);
    assert_int_equal(mkdir("models--o--n/snapshots/0a1", 0700), 0);
    put_text("models--o--n/refs/main", "0a1\n");
    put_tensor("models--o--n/snapshots/0a1/model.safetensors", "a");
    assert_int_equal(mkdir("home/models", 0700), 0);
    assert_int_equal(mkdir("home/models/blobs", 0700), 0);
    assert_int_equal(mkdir("home/models/manifests", 0700), 0);
    opens(paths[0], 1);
    refuses(paths[1], "ollama-store", "the folder 'models' in this folder");
    for (size_t i = 0; i < 2; i++) {
        bool done = false;
        for (size_t k = 1; !done; k++) {
            counter memory = {.fail_at = k};
            wb_allocator allocator = counter_allocator(&memory);
            wb_open_options options = {.size = sizeof options, .allocator = &allocator};
            wb_model *model;
            wb_error error;
            wb_status status = wb_open(paths[i], &options, &model, &error);
            done = !memory.failed;
            assert_true(status == (i == 0 ? WB_OK : WB_ERROR_FORMAT) ||
                        (!done && status == WB_ERROR_MEMORY));
            wb_close(model);
            assert_clean(&memory);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relative_paths),  cmocka_unit_test(mixed_names),
        cmocka_unit_test(several_indices), cmocka_unit_test(addresses),
        cmocka_unit_test(names_of_shards), cmocka_unit_test(gguf_folders),
        cmocka_unit_test(paths_of_stores), cmocka_unit_test(place_of_the_store),
        cmocka_unit_test(manifests),       cmocka_unit_test(odd_stores),
        cmocka_unit_test(allocations),     cmocka_unit_test(allocations_near_models),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    failures += chdir("/") != 0;
    if (folder != NULL)
        scratch_remove(folder);
    return failures;
}
