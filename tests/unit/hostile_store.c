/*
 * Tests malicious Ollama stores: digests that are paths, names that refer to files outside the
 * store, blobs that are not regular files, and manifests that cost memory or time. Each must be
 * refused with a reason, and no file outside the store may be opened.
 */
#include "support.h"

#include <time.h>

#define PREFIX "application/vnd.ollama.image."

typedef struct store {
    char *folder;
    char *manifest; /* path of the manifest */
} store;

static void make_folder(const char *base, const char *name)
{
    char *path = text_of("%s/%s", base, name);
    assert_int_equal(mkdir(path, 0700), 0);
    free(path);
}

static store make_store(void)
{
    store s = {.folder = scratch_make()};
    static const char *const folders[] = {"blobs", "manifests", "manifests/registry.ollama.ai",
                                          "manifests/registry.ollama.ai/library",
                                          "manifests/registry.ollama.ai/library/m"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        make_folder(s.folder, folders[i]);
    s.manifest = text_of("%s/manifests/registry.ollama.ai/library/m/latest", s.folder);
    return s;
}

static void remove_store(store *s)
{
    free(s->manifest);
    scratch_remove(s->folder);
}

/* Returns the path of the blob whose digest is `digit` 64 times. */
static char *blob_path(const store *s, char digit)
{
    char digest[65];
    memset(digest, digit, 64);
    digest[64] = '\0';
    return text_of("%s/blobs/sha256-%s", s->folder, digest);
}

static char *layer_of(const char *kind, char digit, size_t size)
{
    char digest[65];
    memset(digest, digit, 64);
    digest[64] = '\0';
    return text_of("{\"mediaType\":\"" PREFIX "%s\",\"digest\":\"sha256:%s\",\"size\":%zu}", kind,
                   digest, size);
}

static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* Writes a manifest with the JSON text `layers` as its list of layers. */
static void write_manifest(const store *s, const char *layers)
{
    char *text = text_of("{\"schemaVersion\":2,\"layers\":[%s]}", layers);
    write_text(s->manifest, text);
    free(text);
}

/* Opens the model and checks that each of its files is a blob of the store. */
static wb_status open_it(const store *s, counter *memory, wb_model **model, wb_error *error)
{
    wb_allocator allocator = counter_allocator(memory);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator, .store = s->folder};
    wb_status status = wb_open("ollama://m", &options, model, error);
    char *blobs = text_of("%s/blobs/sha256-", s->folder);
    for (uint64_t i = 0; status == WB_OK && i < wb_file_count(*model); i++) {
        wb_file file = {.size = sizeof file};
        assert_int_equal(wb_file_at(*model, i, &file, NULL), WB_OK);
        assert_int_equal(strncmp(file.path, blobs, strlen(blobs)), 0);
        assert_int_equal(strlen(file.path), strlen(blobs) + 64);
        assert_null(strchr(file.path + strlen(blobs), '/'));
    }
    free(blobs);
    return status;
}

static void assert_refused(const store *s, wb_status expected, const char *code)
{
    counter memory = {0};
    wb_model *model;
    wb_error error;
    wb_status status = open_it(s, &memory, &model, &error);
    if (status != expected || strcmp(error.code, code) != 0)
        fail_msg("%d %s, expected %d %s: %s", (int)status, error.code, (int)expected, code,
                 error.message);
    assert_null(model);
    assert_true(error.message[0] != '\0');
    assert_clean(&memory);
}

/* ---- digests ---- */

static void digests(void **state)
{
    (void)state;
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    static const char *const bad[] = {
        "",
        "sha256:",
        "sha256:../../../../../../../../../../../../../../../../../../../../../x",
        "sha256://///////////////////////////////////////////////////////////passwd",
        "sha256:000000000000000000000000000000000000000000000000000000000000000",
        "sha256:00000000000000000000000000000000000000000000000000000000000000000",
        "sha256:000000000000000000000000000000000000000000000000000000000000000g",
        "sha256:000000000000000000000000000000000000000000000000000000000000000\\u0000",
        "sha256/0000000000000000000000000000000000000000000000000000000000000000",
        "sha512:0000000000000000000000000000000000000000000000000000000000000000",
        "SHA256:0000000000000000000000000000000000000000000000000000000000000000",
        " sha256:0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "sha256:\\uff10000000000000000000000000000000000000000000000000000000000000",
    };
    store s = make_store();
    /* Creates a file to which some of the digests would refer if they were used as paths. */
    char *outside = text_of("%s/x", s.folder);
    st_write(outside, "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *layer =
            text_of("{\"mediaType\":\"" PREFIX "model\",\"digest\":\"%s\",\"size\":63}", bad[i]);
        write_manifest(&s, layer);
        assert_refused(&s, WB_ERROR_FORMAT, "ollama-manifest");
        free(layer);
    }
    static const char *const values[] = {"null", "1", "[]", "{}", "true"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char *layer =
            text_of("{\"mediaType\":\"" PREFIX "model\",\"digest\":%s,\"size\":1}", values[i]);
        write_manifest(&s, layer);
        assert_refused(&s, WB_ERROR_FORMAT, "ollama-manifest");
        free(layer);
        layer = text_of("{\"mediaType\":\"" PREFIX "model\",\"digest\":\"sha256:%s\",\"size\":%s}",
                        zeros, values[i]);
        if (strcmp(values[i], "1") != 0) {
            write_manifest(&s, layer);
            assert_refused(&s, WB_ERROR_FORMAT, "ollama-manifest");
        }
        free(layer);
    }
    free(outside);
    remove_store(&s);
}

/* ---- blobs ---- */

static void blobs(void **state)
{
    (void)state;
    store s = make_store();
    char *zero = blob_path(&s, '0'), *one = blob_path(&s, '1');
    char *layer = layer_of("model", '0', 64);
    write_manifest(&s, layer);
    assert_refused(&s, WB_ERROR_FORMAT, "ollama-blob-missing");

    assert_int_equal(mkfifo(zero, 0600), 0); /* opening the FIFO must not block */
    assert_refused(&s, WB_ERROR_FORMAT, "not-a-regular-file");
    assert_int_equal(unlink(zero), 0);

    assert_int_equal(mkdir(zero, 0700), 0);
    assert_refused(&s, WB_ERROR_FORMAT, "not-a-regular-file");
    assert_int_equal(rmdir(zero), 0);

    assert_int_equal(symlink(strrchr(zero, '/') + 1, one), 0); /* each link leads to the other */
    assert_int_equal(symlink(strrchr(one, '/') + 1, zero), 0);
    assert_refused(&s, WB_ERROR_IO, "io");
    assert_int_equal(unlink(zero), 0);

    assert_int_equal(symlink("/dev/zero", zero), 0);
    assert_refused(&s, WB_ERROR_FORMAT, "link-outside");
    assert_int_equal(unlink(zero), 0);

    /* The blob is valid and has 63 bytes; a manifest that states any other size must be refused. */
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    st_write(zero, header, 1);
    size_t bytes = 8 + sizeof header - 1 + 1;
    static const char *const sizes[] = {"0", "62", "64", "18446744073709551615"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *wrong = text_of("{\"mediaType\":\"" PREFIX "tensor\",\"digest\":\"sha256:%064d\","
                              "\"size\":%s}",
                              0, sizes[i]);
        write_manifest(&s, wrong);
        if (strtoull(sizes[i], NULL, 10) != bytes)
            assert_refused(&s, WB_ERROR_FORMAT, "ollama-blob-size");
        free(wrong);
    }
    free(layer);
    layer = layer_of("tensor", '0', bytes);
    write_manifest(&s, layer);
    counter memory = {0};
    wb_model *model;
    assert_int_equal(open_it(&s, &memory, &model, NULL), WB_OK);
    assert_int_equal(wb_tensor_count(model), 1);
    wb_close(model);
    assert_clean(&memory);
    free(layer);
    free(zero);
    free(one);
    remove_store(&s);
}

/* A FIFO instead of the blob of a text layer must be refused as well. */
static void texts(void **state)
{
    (void)state;
    store s = make_store();
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    char *zero = blob_path(&s, '0'), *one = blob_path(&s, '1');
    st_write(zero, header, 1);
    char *tensor = layer_of("tensor", '0', 8 + sizeof header - 1 + 1);
    static const char *const kinds[] = {"license", "system", "template", "params", "messages"};
    assert_int_equal(mkfifo(one, 0600), 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char *text = layer_of(kinds[i], '1', 10);
        char *both = text_of("%s,%s", tensor, text);
        write_manifest(&s, both);
        assert_refused(&s, WB_ERROR_FORMAT, "not-a-regular-file");
        free(both);
        free(text);
    }
    free(tensor);
    free(zero);
    free(one);
    remove_store(&s);
}

/* ---- names ---- */

static void names(void **state)
{
    (void)state;
    store s = make_store();
    static const char *const bad[] = {"ollama://../m",         "ollama://../../x",
                                      "ollama://m/../../x",    "ollama://./m",
                                      "ollama:///m",           "ollama://m//x",
                                      "ollama://a/b/c/d",      "ollama://m:../x",
                                      "ollama://m:",           "ollama://",
                                      "ollama://:latest",      "ollama://m:a/b",
                                      "ollama://library/..:x", "ollama://.hidden/m",
                                      "ollama://m:.tag",       "ollama://m:latest:more",
                                      "ollama://h/n/m:../../x"};
    write_text(s.manifest, "{}");
    wb_open_options options = {.size = sizeof options, .store = s.folder};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wb_model *model;
        wb_error error;
        wb_status status = wb_open(bad[i], &options, &model, &error);
        if (status != WB_ERROR_ARGUMENT || strcmp(error.code, "ollama-name") != 0)
            fail_msg("%s: %d %s", bad[i], (int)status, error.message);
        assert_null(model);
    }
    /* The valid model. */
    wb_model *model;
    wb_error error;
    assert_int_equal(wb_open("ollama://m", &options, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "ollama-manifest");
    /* A model name of 100,000 bytes. */
    char *name = malloc(100001);
    memset(name, 'a', 100000);
    name[100000] = '\0';
    memcpy(name, "ollama://", 9);
    assert_true(wb_open(name, &options, &model, &error) != WB_OK);
    free(name);
    remove_store(&s);
}

static int count_entry(void *ctx, const wb_store_entry *entry)
{
    size_t *counts = ctx;
    counts[entry->error != NULL]++;
    return 0;
}

/* Cyclic links, and manifests that are not regular files, must not block a listing. */
static void listing(void **state)
{
    (void)state;
    store s = make_store();
    size_t counts[2] = {0, 0};
    wb_error error;
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    char *circle = text_of("%s/manifests/registry.ollama.ai/library/circle", s.folder);
    char *fifo = text_of("%s/manifests/registry.ollama.ai/library/m/fifo", s.folder);
    char *self = text_of("%s/manifests/registry.ollama.ai/library/m/self", s.folder);
    char *up = text_of("%s/manifests", s.folder);
    write_text(s.manifest, "{\"layers\":[]}");
    assert_int_equal(symlink(up, circle), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(symlink(self, self), 0);
    assert_int_equal(wb_store_list(s.folder, &options, count_entry, counts, &error), WB_OK);
    assert_int_equal(counts[0], 1);
    assert_true(counts[1] <= 8); /* entries listed with an error; invalid ones may be skipped */
    assert_clean(&memory);
    free(circle);
    free(fifo);
    free(self);
    free(up);
    remove_store(&s);
}

/* ---- cost ---- */

static double now(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Opens a model whose manifest lists one blob n times or, if `different`, n missing blobs. Checks
 * the memory use, and returns the time in seconds. */
static double open_many(const char *kind, const char *more, bool different, size_t n)
{
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    static char words[4096];
    store s = make_store();
    char *zero = blob_path(&s, '0'), *one = blob_path(&s, '1');
    bool is_tensor = strcmp(kind, "tensor") == 0;
    size_t bytes = 8 + sizeof header - 1 + 1;
    st_write(zero, header, 1);
    memset(words, ' ', sizeof words);
    memcpy(words, "{}", 2);
    write_file(one, words, sizeof words);
    char *layer = text_of("{\"mediaType\":\"" PREFIX "%s\",\"digest\":\"sha256:%.64s\",\"size\":%zu"
                          "%s},",
                          kind, strrchr(is_tensor ? zero : one, '-') + 1,
                          is_tensor ? bytes : sizeof words, more);
    char *tensor = layer_of("tensor", '0', bytes);
    size_t len = strlen(layer), at = 0;
    char *text = malloc(64 + n * len + strlen(tensor));
    assert_non_null(text);
    at += (size_t)sprintf(text, "{\"layers\":[");
    size_t digest = (size_t)(strstr(layer, "sha256:") - layer) + 7;
    for (size_t i = 0; i < n; i++, at += len) {
        char number[17];
        memcpy(text + at, layer, len);
        (void)snprintf(number, sizeof number, "%016zx", i);
        if (different)
            memcpy(text + at + digest, number, 16);
    }
    at += (size_t)sprintf(text + at, "%s]}", tensor);
    write_file(s.manifest, text, at);
    bytes += sizeof words;
    counter memory = {0};
    wb_model *model;
    wb_error error;
    double start = now();
    wb_status status = open_it(&s, &memory, &model, &error);
    double seconds = now() - start;
    if (status != WB_OK)
        fail_msg("%s, %zu layers: %s", kind, n, error.message);
    if (memory.peak > 8 * (at + bytes) + ((size_t)1 << 20))
        fail_msg("%s: %zu bytes took %zu", kind, at, memory.peak);
    wb_close(model);
    assert_clean(&memory);
    free(text);
    free(tensor);
    free(layer);
    free(zero);
    free(one);
    remove_store(&s);
    return seconds;
}

static void layers(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *more;
        bool different;
    } rows[] = {{"tensor", "", false},
                {"license", "", false},
                {"license", "", true},
                {"projector", "", false},
                {"projector", "", true},
                {"other", "", true},
                {"json", ",\"name\":\"x.json\"", true},
                {"json", ",\"name\":\"config.json\"", false}};
    size_t n = is_slow() ? 300 : 10000;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)open_many(rows[i].kind, rows[i].more, rows[i].different, 10);
        /* Four times the layers must take less than 8 times the time. The limit lies between 4
         * (linear) and 16 (quadratic), because other programs may disturb the measurement. */
        double some = 0, more = 1;
        for (int attempt = 0; attempt < 5 && more > 0.05 && more > 8 * some; attempt++) {
            some = open_many(rows[i].kind, rows[i].more, rows[i].different, n);
            more = open_many(rows[i].kind, rows[i].more, rows[i].different, 4 * n);
        }
        if (!is_slow() && more > 0.05 && more > 8 * some)
            fail_msg("%s: %f s, four times as many %f s", rows[i].kind, some, more);
    }
}

/* A manifest with too many layers must be refused without high memory use. */
static void too_many_layers(void **state)
{
    (void)state;
    if (is_slow() || sizeof(size_t) < 8)
        return;
    store s = make_store();
    size_t n = 1000001, at = 0;
    char *text = malloc(n * 3 + 64);
    assert_non_null(text);
    at += (size_t)sprintf(text, "{\"layers\":[");
    for (size_t i = 0; i < n; i++, at += 3)
        memcpy(text + at, "{},", 3);
    text[at - 1] = ']';
    text[at++] = '}';
    write_file(s.manifest, text, at);
    counter memory = {0};
    wb_model *model;
    wb_error error;
    assert_int_equal(open_it(&s, &memory, &model, &error), WB_ERROR_FORMAT);
    assert_string_equal(error.code, "ollama-manifest");
    assert_non_null(strstr(error.message, "too many layers"));
    assert_true(memory.peak <= 8 * at + ((size_t)1 << 20));
    assert_clean(&memory);
    free(text);
    remove_store(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests),         cmocka_unit_test(blobs),   cmocka_unit_test(texts),
        cmocka_unit_test(names),           cmocka_unit_test(listing), cmocka_unit_test(layers),
        cmocka_unit_test(too_many_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
