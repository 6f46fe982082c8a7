/*
 * Tests the readers of all formats with injected faults, while models are opened, queried and
 * verified: each allocation fails, alone or with all later ones, and each read of a source fails. A
 * call that fails must report the injected error, free all memory and return no result. A call that
 * succeeds must return the same result as without the fault.
 */
#include "model_digest.h"

#include "gguf_build.h"

#define MODELS TEST_DATA "/models/"
#define TWINS TEST_DATA "/twins/"
#define HUB TEST_DATA "/golden/hub/"
#define NPY TEST_DATA "/npy/"
#define BAD TEST_DATA "/bad/gguf/"

static char *folder;

/* ---- what is run ---- */

typedef wb_status run_function(const char *path, const wb_allocator *allocator, uint64_t *digest);

static wb_status run_open(const char *path, const wb_allocator *allocator, uint64_t *digest)
{
    wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .allocator = allocator, .store = folder};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open(path, &options, &model, &error);
    assert_true((status == WB_OK) == (model != NULL));
    if (status == WB_ERROR_MEMORY)
        assert_string_equal(error.code, "out-of-memory");
    if (status == WB_OK)
        status = whole_model(model, digest, &error);
    wb_close(model);
    return status;
}

static wb_status run_verify(const char *path, const wb_allocator *allocator, uint64_t *digest)
{
    wb_open_options open = {.size = sizeof open, .allocator = allocator, .store = folder};
    wb_verify_options options = {.size = sizeof options, .open = &open};
    wb_findings *findings;
    wb_error error;
    wb_status status = wb_verify(path, &options, &findings, &error);
    assert_true((status == WB_OK) == (findings != NULL));
    if (status == WB_OK)
        whole_findings(findings, digest);
    wb_findings_free(findings);
    return status;
}

static int see_entry(void *ctx, const wb_store_entry *entry)
{
    whole_mix(ctx, entry->name, strlen(entry->name));
    whole_mix(ctx, &entry->layers, sizeof entry->layers);
    if (entry->error != NULL) {
        assert_int_not_equal(entry->error->status, WB_ERROR_MEMORY);
        whole_mix(ctx, entry->error->message, strlen(entry->error->message));
    }
    return 0;
}

static wb_status run_list(const char *path, const wb_allocator *allocator, uint64_t *digest)
{
    wb_open_options options = {.size = sizeof options, .allocator = allocator};
    return wb_store_list(path, &options, see_entry, digest, NULL);
}

static bool lacks_zlib(void)
{
    wb_model *model;
    wb_status status = wb_open(TEST_DATA "/npy/deflated.npz", NULL, &model, NULL);
    wb_close(model);
    return status == WB_ERROR_UNSUPPORTED;
}

/* Repeats the call. In each run, another allocation fails; if there are many allocations, only some
 * of them are made to fail. With `for_good`, all later allocations of the run fail too. */
static void fail_each(run_function *run, const char *path, bool for_good)
{
    uint64_t expected = 0;
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_status sound = run(path, &allocator, &expected);
    size_t calls = memory.calls, most = is_slow() ? 12 : 400;
    assert_clean(&memory);
    if (sound != WB_OK && sound != WB_ERROR_FORMAT &&
        !(sound == WB_ERROR_UNSUPPORTED && lacks_zlib()))
        fail_msg("%s: %s\n", path, wb_status_name(sound));
    for (size_t k = 1; k <= calls; k += 1 + (for_good ? calls + 3 : calls) / most) {
        uint64_t digest = 0;
        memory = (counter){.fail_at = k, .for_good = for_good};
        wb_status status = run(path, &allocator, &digest);
        assert_true(memory.failed);
        assert_clean(&memory);
        if (status != WB_ERROR_MEMORY && (status != sound || digest != expected))
            fail_msg("%s: allocation %zu of %zu failed%s, status %s\n", path, k, calls,
                     for_good ? " with all after it" : "", wb_status_name(status));
    }
}

static void fail_all(run_function *run, const char *path)
{
    fail_each(run, path, false);
    fail_each(run, path, true);
}

/* ---- allocations ---- */

/* Writes a safetensors file with one tensor. `which` makes the contents of files distinct. */
static void put_weights(const char *path, int which)
{
    char *header = text_of("{\"__metadata__\":{\"n\":\"%d\"},"
                           "\"t%d\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
                           which, which);
    st_write(path, header, 16);
    free(header);
}

static void put_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

static char *in(const char *name)
{
    char *path = text_of("%s/%s", folder, name);
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    return path;
}

static void put_split(const char *name, unsigned i, unsigned says)
{
    static const uint64_t shape[] = {8, 0};
    char *path = in(name), *tensor = text_of("blk.%u.t", i);
    gguf g;
    gguf_start(&g, false, 1, 3);
    gguf_number(&g, "split.no", U16, says, 2);
    gguf_number(&g, "split.count", U16, 4, 2);
    gguf_number(&g, "split.tensors.count", I32, 7, 4);
    gguf_tensor(&g, tensor, shape, 0, 0);
    gguf_pad(&g, 32);
    for (unsigned k = 0; k < 32; k++)
        gguf_raw(&g, "", 1);
    write_file(path, g.bytes, g.n);
    gguf_free(&g);
    free(path);
    free(tensor);
}

#define DIGEST(digit)                                                                              \
    "sha256:" #digit "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LAYER(kind, digit, more)                                                                   \
    "{\"mediaType\":\"application/vnd.ollama.image." kind                                          \
    "\",\"digest\":\"" DIGEST(digit) "\",\"size\":100" more "}"

/* Writes an Ollama store with three models: one has a blob for each tensor, one has all tensors in
 * one blob, and one has a damaged manifest. */
static void put_store(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"manifests/registry.ollama.ai/library/m/latest",
         "{\"schemaVersion\":2,\"config\":" LAYER("config", 1, "") ",\"layers\":[" LAYER("tensor", 2, ",\"name\":\"t2\"") "," LAYER(
             "tensor", 3,
             ",\"name\":\"t3\"") "," LAYER("json", 4,
                                           ",\"name\":\"config."
                                           "json\"") "," LAYER("json", 5,
                                                               ",\"na"
                                                               "me\":"
                                                               "\"tok"
                                                               "enize"
                                                               "r."
                                                               "json"
                                                               "\"") "," LAYER("template", 6,
                                                                               "") "]}"},
        {"manifests/registry.ollama.ai/library/g/latest",
         "{\"schem\\u0061Version\":2,\"layers\":[" LAYER("model", 7, "") "," LAYER("params", 1,
                                                                                   "") "]}"},
        {"manifests/registry.ollama.ai/library/g/damaged", "{\"layers\":["},
        {"manifests/registry.ollama.ai/library/.hidden", "x"},
        {"blobs/sha256-1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "{}"},
        {"blobs/sha256-4123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
         "{\"model_type\":\"llama\",\"hidden_size\":4}"},
        {"blobs/sha256-5123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
         "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[\"a b\"]}}"},
        {"blobs/sha256-6123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "{{x}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *path = in(rows[i].name);
        put_text(path, rows[i].text);
        free(path);
    }
    for (int which = 2; which < 4; which++) {
        char *path = text_of("%s/blobs/sha256-%d123456789abcdef0123456789abcdef0123456789abcdef0123"
                             "456789abcdef",
                             folder, which);
        put_weights(path, which);
        free(path);
    }
    put_split("blobs/sha256-7123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 0,
              0);
}

static void put_folders(void)
{
    static const char *const files[] = {
        "stale/model.safetensors",     "stale/model-00001-of-00001.safetensors",
        "shards/a-1-of-2.safetensors", "shards/a-2-of-2.safetensors",
        "named/a-1-of-2.safetensors",  "named/a-2-of-2.safetensors",
        "named/zzz.safetensors",       "stray/model.safetensors",
        "stray/model-x.safetensors",   "first/b.safetensors",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = in(files[i]);
        put_weights(path, (int)i);
        free(path);
    }
    char *stale = in("stale/model.safetensors.index.json");
    put_text(stale, "{\"weight_map\":{\"x\":\"gone.safetensors\"}}");
    char *named = in("named/a.safetensors.index.json");
    put_text(named, "{\"weight_map\":{\"t\\u0034\":\"a-1-of-2.safetensors\","
                    "\"x\":\"a-1-of-2.safetensors\",\"t5\":\"a-2-of-2.safetensors\"}}");
    char *first = in("first/a.safetensors.index.json");
    put_text(first, "{\"metadata\":{\"total_size\":1},\"weight_map\":{\"x\":\"b.safetensors\"}}");
    free(first);
    put_split("split/m-00001-of-00003.gguf", 0, 0);
    put_split("split/m-00002-of-00003.gguf", 1, 2);
    put_split("split/m-00003-of-00003.gguf", 2, 1);
    char *lone = in("lone/weights.npz");
    size_t n;
    unsigned char *bytes = read_file(TEST_DATA "/npy/large.npz", &n);
    write_file(lone, bytes, n);
    free(bytes);
    free(stale);
    free(named);
    free(lone);
}

static const char *const paths[] = {
    TWINS "llama",
    TWINS "llama.gguf",
    TWINS "bert",
    TWINS "gemma",
    TWINS "gemma3.gguf",
    TWINS "mixtral",
    TWINS "mixtral.gguf",
    TWINS "phi3",
    MODELS "qwen3-4bit-3shards",
    HUB "gptq_act_order.safetensors",
    HUB "nvfp4.safetensors",
    NPY "f4.columns.npy",
    NPY "i8.both.npy",
    BAD "arr_nested.gguf",
    BAD "be_v3.gguf",
    BAD "ok_all_scalar_types.gguf",
    BAD "off_overlap_part.gguf",
    BAD "off_swapped.gguf",
    BAD "split_no_ge_count.gguf",
    "ollama://m",
    "ollama://LIBRARY/M:Latest",
    "ollama://g",
    "stale",
    "shards",
    "named/a-2-of-2.safetensors",
    "split",
    "stray",
    "first",
    "split/m-00002-of-00003.gguf",
    "lone",
};

#define PATHS (sizeof paths / sizeof paths[0])

static void for_all(run_function *run)
{
    for (size_t i = 0; i < PATHS; i++) {
        bool here = paths[i][0] != '/' && strchr(paths[i], ':') == NULL;
        char *path = here ? in(paths[i]) : text_of("%s", paths[i]);
        fail_all(run, path);
        free(path);
    }
}

static void allocations_of_open(void **state)
{
    (void)state;
    for_all(run_open);
}

static void allocations_of_verify(void **state)
{
    (void)state;
    for_all(run_verify);
}

static void allocations_of_listing(void **state)
{
    (void)state;
    fail_all(run_list, folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_of_open),
        cmocka_unit_test(allocations_of_verify),
        cmocka_unit_test(allocations_of_listing),
    };
    folder = scratch_make();
    put_store();
    put_folders();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failures;
}
