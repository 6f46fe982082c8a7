/*
 * Tests vulnerabilities that were found in other readers of safetensors, model directories and
 * stores; see past_holes.h.
 */
#include "past_holes.h"

/* ---- safetensors ---- */

typedef struct text_hole {
    const char *name;
    const char *header;
    size_t data; /* number of bytes after the header */
    const char *code;
} text_hole;

#define F32_4 "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":"

static const text_hole safetensors_holes[] = {
    {"safetensors duplicate name", "{\"a\":" F32_4 "[0,4]},\"a\":" F32_4 "[4,8]}}", 8,
     "safetensors-duplicate"},
    {"safetensors duplicate escaped", "{\"a\":" F32_4 "[0,4]},\"\\u0061\":" F32_4 "[4,8]}}", 8,
     "safetensors-duplicate"},
    {"safetensors duplicate member",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
     "safetensors-entry"},
    {"safetensors bytes reused", "{\"a\":" F32_4 "[0,4]},\"b\":" F32_4 "[0,4]}}", 4,
     "safetensors-offsets"},
    {"safetensors hole", "{\"a\":" F32_4 "[4,8]}}", 8, "safetensors-offsets"},
    {"safetensors hidden tail", "{\"a\":" F32_4 "[0,4]}}", 64, "safetensors-coverage"},
    {"MLX 3363 offsets past the end", "{\"a\":" F32_4 "[0,4]}}", 0, "safetensors-coverage"},
    {"MLX 3363 offsets backwards", "{\"a\":" F32_4 "[4,0]}}", 4, "safetensors-offsets"},
    {"MLX 3363 offsets beyond all", "{\"a\":" F32_4 "[18446744073709551612,18446744073709551616]}}",
     4, "safetensors-entry"},
    {"safetensors-cpp product wraps to zero",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     "safetensors-overflow"},
    {"safetensors-cpp bytes wrap",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387905],\"data_offsets\":[0,4]}}", 4,
     "safetensors-overflow"},
    {"safetensors-cpp bits wrap",
     "{\"a\":{\"dtype\":\"F64\",\"shape\":[288230376151711744],\"data_offsets\":[0,0]}}", 0,
     "safetensors-overflow"},
    {"negative dimension", "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,0]}}", 0,
     NULL},
    {"dimension of 2^64",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[18446744073709551616],\"data_offsets\":[0,0]}}", 0,
     NULL},
    {"dimension with an exponent",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[1e0],\"data_offsets\":[0,4]}}", 4, NULL},
};

static void safetensors_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof safetensors_holes / sizeof safetensors_holes[0]; i++) {
        const text_hole *t = &safetensors_holes[i];
        const hole h = {t->name, NULL, WB_ERROR_FORMAT, t->code};
        gguf g = {0};
        gguf_string(&g, t->header);
        for (size_t n = 0; n < t->data; n++)
            gguf_raw(&g, "", 1);
        open_from_memory(&h, g.bytes, g.n);
        gguf_free(&g);
    }
}

/* Tests a header that declares 2^63 bytes, and one that consists of a million brackets. */
static void headers_that_cost_are_refused(void **state)
{
    (void)state;
    const hole huge = {"safetensors header of 2^63", NULL, WB_ERROR_FORMAT, NULL};
    const hole deep = {"safetensors a million brackets", NULL, WB_ERROR_FORMAT, NULL};
    gguf g = {0};
    gguf_uint(&g, UINT64_C(1) << 63, 8);
    gguf_raw(&g, "{}", 2);
    open_from_memory(&huge, g.bytes, g.n);
    gguf_free(&g);
    gguf_uint(&g, 1000008, 8);
    gguf_raw(&g, "{\"a\":", 5);
    for (int i = 0; i < 1000003; i++)
        gguf_raw(&g, "[", 1);
    open_from_memory(&deep, g.bytes, g.n);
    gguf_free(&g);
}

/* ---- nothing is executed, followed or opened without request ---- */

static void open_path(const char *name, const char *path, const char *store, wb_status status,
                      const char *code)
{
    const hole h = {name, NULL, status, code};
    wb_open_options options = {.size = sizeof options, .store = store};
    wb_error error;
    wb_model *model;
    wb_status got = wb_open(path, &options, &model, &error);
    check(&h, got, &error);
    wb_close(model);
}

static void write_text(const char *folder, const char *name, const char *text, size_t n)
{
    char *path = text_of("%s/%s", folder, name);
    write_file(path, text, n);
    free(path);
}

static void code_is_not_run(void **state)
{
    (void)state;
    static const char pickle[] = "\x80\x02"
                                 "cposix\nsystem\nX\x04\0\0\0trueq\0\x85R.";
    static const char archive[] = "PK\x03\x04\x14\0\0\0\0\0";
    char *folder = scratch_make();
    write_text(folder, "pickle", pickle, sizeof pickle - 1);
    write_text(folder, "archive", archive, sizeof archive - 1);
    char *path = text_of("%s/pickle", folder);
    open_path("CVE-2025-32434 pickle", path, NULL, WB_ERROR_FORMAT, "pickle");
    free(path);
    path = text_of("%s/archive", folder);
    open_path("CVE-2025-1716 archive", path, NULL, WB_ERROR_FORMAT, "zip");
    free(path);
    scratch_remove(folder);
}

static void devices_are_not_opened(void **state)
{
    (void)state;
    char *folder = scratch_make();
    char *path = text_of("%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    open_path("CVE-2024-39721 FIFO", path, NULL, WB_ERROR_FORMAT, "not-a-regular-file");
    free(path);
    open_path("CVE-2024-39721 device", "/dev/random", NULL, WB_ERROR_FORMAT, "not-a-regular-file");
    path = text_of("%s/link.safetensors", folder);
    assert_int_equal(symlink("/dev/random", path), 0);
    open_path("CVE-2024-39721 link to a device", path, NULL, WB_ERROR_FORMAT, "not-a-regular-file");
    free(path);
    scratch_remove(folder);
}

/* CVE-2024-27318, CVE-2026-27489 and CVE-2026-34446 of ONNX: a file contains names of other files
 * outside the directory. */
static const char *const outside[] = {
    "../secret.safetensors",
    "a/../../secret.safetensors",
    "/etc/passwd",
    "a/b.safetensors",
    "..",
    ".",
    "",
    "..\\\\secret.safetensors",
};

static void indexes_do_not_leave_the_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        char *parent = scratch_make();
        char *folder = text_of("%s/model", parent);
        assert_int_equal(mkdir(folder, 0700), 0);
        static const char sound[] = "\x2F\0\0\0\0\0\0\0{\"a\":" F32_4 "[0,4]}}\0\0\0\0";
        write_text(parent, "secret.safetensors", sound, sizeof sound - 1);
        char *index = text_of("{\"weight_map\":{\"a\":\"%s\"}}", outside[i]);
        write_text(folder, "model.safetensors.index.json", index, strlen(index));
        free(index);
        open_path(outside[i], folder, NULL, WB_ERROR_FORMAT, NULL);
        free(folder);
        scratch_remove(parent);
    }
}

/* CVE-2024-37032, CVE-2024-45436, CVE-2025-44779 and CVE-2026-7020 of Ollama: digests that are
 * paths. */
static const char *const digests[] = {
    "sha256:../../../../../../../../etc/passwd",
    "sha256-../../secret",
    "../secret",
    "/etc/passwd",
    "sha256:",
    "sha256:zz11111111111111111111111111111111111111111111111111111111111111",
    "sha256:1111111111111111111111111111111111111111111111111111111111111111/../x",
    "md5:11111111111111111111111111111111",
};

static void digests_are_no_paths(void **state)
{
    (void)state;
    char *store = scratch_make();
    static const char *const folders[] = {"blobs", "manifests", "manifests/registry.ollama.ai",
                                          "manifests/registry.ollama.ai/library",
                                          "manifests/registry.ollama.ai/library/m"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *path = text_of("%s/%s", store, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        free(path);
    }
    for (size_t i = 0; i < sizeof digests / sizeof digests[0]; i++) {
        char *text = text_of("{\"schemaVersion\":2,\"layers\":[{\"mediaType\":"
                             "\"application/vnd.ollama.image.model\",\"digest\":\"%s\","
                             "\"size\":4}]}",
                             digests[i]);
        write_text(store, "manifests/registry.ollama.ai/library/m/latest", text, strlen(text));
        open_path(digests[i], "ollama://m", store, WB_ERROR_FORMAT, "ollama-manifest");
        free(text);
    }
    /* CVE-2025-1975: Ollama used the first layer although the list was empty or missing. */
    static const char *const empty[] = {"{}", "{\"layers\":[]}", "{\"layers\":[null]}", "[]",
                                        "{\"layers\":{}}"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        write_text(store, "manifests/registry.ollama.ai/library/m/latest", empty[i],
                   strlen(empty[i]));
        open_path(empty[i], "ollama://m", store, WB_ERROR_FORMAT, NULL);
    }
    static const char *const names[] = {"ollama://../m", "ollama://m:../../x", "ollama://a/../m",
                                        "ollama:///etc/passwd", "ollama://m\n"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        open_path(names[i], names[i], store, WB_ERROR_ARGUMENT, NULL);
    scratch_remove(store);
}

/* ---- valid files that other programs misinterpreted ---- */

/* Proofs of concept published by Hugging Face: a program read INT8 scores as floats, past their
 * end. The getters must return values of the stored type only. */
static void arrays_are_of_their_type(void **state)
{
    (void)state;
    gguf g;
    gguf_start(&g, false, 0, 3);
    gguf_number(&g, "general.architecture", U8, 1, 1); /* CVE-2025-0312 */
    gguf_key(&g, "tokenizer.ggml.scores", ARR);
    gguf_array(&g, I8, 4);
    gguf_uint(&g, 0, 4);
    gguf_key(&g, "tokenizer.chat_template", STR);
    gguf_string(&g, "{{ ''.__class__.__mro__ }}"); /* CVE-2024-34359: a template is only text */
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open_memory(g.bytes, g.n, "memory", NULL, &model, &error), WB_OK);
    wb_meta_array array = {.size = sizeof array};
    assert_int_equal(
        wb_meta_get_float_array(model, "tokenizer.ggml.scores", SIZE_MAX, &array, &error),
        WB_ERROR_TYPE);
    const char *text;
    size_t length;
    assert_int_equal(
        wb_meta_get_string(model, "general.architecture", SIZE_MAX, &text, &length, &error),
        WB_ERROR_TYPE);
    assert_int_equal(
        wb_meta_get_string(model, "tokenizer.chat_template", SIZE_MAX, &text, &length, &error),
        WB_OK);
    assert_int_equal(length, 26);
    wb_close(model);
    gguf_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_is_refused),
        cmocka_unit_test(headers_that_cost_are_refused),
        cmocka_unit_test(code_is_not_run),
        cmocka_unit_test(devices_are_not_opened),
        cmocka_unit_test(indexes_do_not_leave_the_folder),
        cmocka_unit_test(digests_are_no_paths),
        cmocka_unit_test(arrays_are_of_their_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
