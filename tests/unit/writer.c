/* Tests wb_writer_*: the written files must contain what was declared, and no other files may be
 * created. */
#include "writing.h"

#include <dirent.h>
#include <pthread.h>

static char *folder;

static char *in(const char *name)
{
    return text_of("%s/%s", folder, name);
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count - 2;
}

static wb_writer *make(const char *format, uint32_t flags)
{
    wb_writer *writer;
    wb_error error;
    const wb_writer_options options = {.size = sizeof options, .format = format, .flags = flags};
    if (wb_writer_create(&options, &writer, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return writer;
}

static uint64_t add(wb_writer *writer, const char *name, int32_t dtype, uint64_t a, uint64_t b)
{
    uint64_t index;
    const uint64_t shape[] = {a, b};
    OK(wb_writer_add(writer, name, SIZE_MAX, dtype, shape, 2, &index, E));
    return index;
}

static uint64_t bytes_of(const wb_writer *writer, uint64_t index)
{
    wb_tensor tensor = {.size = sizeof tensor};
    OK(wb_writer_tensor_at(writer, index, &tensor, E));
    return tensor.bytes;
}

static void expect_bytes(const wb_model *model, const char *name, uint64_t index)
{
    uint64_t i, elements, bytes;
    OK(wb_tensor_find(model, name, SIZE_MAX, &i));
    OK(wb_tensor_read_size(model, i, NULL, -1, &elements, &bytes, E));
    uint8_t *got = malloc((size_t)bytes + 1);
    OK(wb_tensor_read(model, i, NULL, -1, got, bytes, E));
    for (uint64_t k = 0; k < bytes; k++)
        assert_int_equal(got[k], byte_of(index, k));
    free(got);
}

static wb_model *open_model(const char *path)
{
    wb_model *model;
    OK(wb_open(path, NULL, &model, E));
    return model;
}

/* ---- safetensors ---- */

/* The file must have the bytes that the safetensors library (0.8.0) writes for this model. */
static void is_the_official_file(void **state)
{
    (void)state;
    static const char header[] =
        "{\"__metadata__\":{\"for\\nmat\":\"p\\\"t\\u0001\xC3\xA9\x7F\"},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]},"
        "\"a\":{\"dtype\":\"BF16\",\"shape\":[3,1],\"data_offsets\":[8,14]},"
        "\"c\":{\"dtype\":\"BF16\",\"shape\":[1,0],\"data_offsets\":[14,14]},"
        "\"d\":{\"dtype\":\"U8\",\"shape\":[1,3],\"data_offsets\":[14,17]}}";
    wb_writer *writer = make("safetensors", 0);
    uint64_t d = add(writer, "d", WB_DTYPE_U8, 1, 3);
    uint64_t c = add(writer, "c", WB_DTYPE_BF16, 1, 0);
    uint64_t b = add(writer, "b", WB_DTYPE_F32, 1, 2);
    uint64_t a = add(writer, "a", WB_DTYPE_BF16, 3, 1);
    OK(wb_writer_set_string(writer, "for\nmat", SIZE_MAX, "p\"t\x01\xC3\xA9\x7F", SIZE_MAX, E));
    char *path = in("official.safetensors");
    assert_int_equal(wb_writer_check(writer, NULL), WB_ERROR_ARGUMENT); /* not planned yet */
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_check(writer, E));
    OK(wb_writer_begin(writer, E));
    const uint64_t all[] = {a, b, c, d};
    for (size_t i = 0; i < 4; i++)
        fill(writer, all[i], 0, bytes_of(writer, all[i]));
    assert_int_equal(access(path, F_OK), -1);
    OK(wb_writer_commit(writer, E));
    size_t n;
    uint8_t *bytes = read_file(path, &n);
    size_t padded = (sizeof header - 1 + 7) / 8 * 8;
    assert_int_equal(n, 8 + padded + 17);
    assert_int_equal(bytes[0] | bytes[1] << 8, padded);
    assert_memory_equal(bytes + 8, header, sizeof header - 1);
    for (size_t i = sizeof header - 1; i < padded; i++)
        assert_int_equal(bytes[8 + i], ' ');
    free(bytes);
    wb_writer_free(writer);
    wb_model *model = open_model(path);
    expect_bytes(model, "a", a);
    expect_bytes(model, "b", b);
    expect_bytes(model, "d", d);
    wb_close(model);
    expect_sound(path);
    free(path);
}

static void aligns(void **state)
{
    (void)state;
    for (int tensors_too = 0; tensors_too < 2; tensors_too++) {
        wb_writer *writer;
        wb_writer_options options = {.size = sizeof options,
                                     .format = "safetensors",
                                     .flags = WB_WRITE_FORCE |
                                              (tensors_too ? WB_WRITE_ALIGN_TENSORS : 0),
                                     .alignment = 4096};
        OK(wb_writer_create(&options, &writer, E));
        uint64_t a = add(writer, "a", WB_DTYPE_U8, 1, 5), b = add(writer, "b", WB_DTYPE_U8, 1, 9);
        char *path = in("aligned.safetensors");
        OK(wb_writer_plan(writer, path, E));
        OK(wb_writer_begin(writer, E));
        fill(writer, b, 0, 9);
        fill(writer, a, 0, 5);
        OK(wb_writer_commit(writer, E));
        wb_writer_free(writer);
        wb_model *model = open_model(path);
        uint64_t i;
        wb_tensor tensor = {.size = sizeof tensor};
        OK(wb_tensor_find(model, "b", SIZE_MAX, &i));
        OK(wb_tensor_at(model, i, &tensor, E));
        assert_int_equal(tensor.offset, tensors_too ? 8192 : 4096 + 5);
        assert_int_equal(wb_tensor_count(model), tensors_too ? 3 : 2);
        expect_bytes(model, "a", a);
        expect_bytes(model, "b", b);
        wb_close(model);
        expect_sound(path);
        free(path);
    }
}

/* If an aligned file is aligned again, some of its tensors already have names of padding tensors.
 * The writer must choose other names for its own padding tensors. */
static void aligns_again(void **state)
{
    (void)state;
    static const char *const taken[] = {"__padding__.0", "__padding__.1", "__padding__.x",
                                        "__padding__.18446744073709551615", "__padding__."};
    const size_t count = sizeof taken / sizeof taken[0];
    for (int sharded = 0; sharded < 2; sharded++) {
        wb_writer *writer;
        wb_writer_options options = {.size = sizeof options,
                                     .format = "safetensors",
                                     .flags =
                                         WB_WRITE_ALIGN_TENSORS | (sharded ? WB_WRITE_FOLDER : 0),
                                     .max_file_bytes = sharded ? 10 : 0,
                                     .alignment = 64};
        OK(wb_writer_create(&options, &writer, E));
        uint64_t index[sizeof taken / sizeof taken[0]];
        for (size_t i = 0; i < count; i++)
            index[i] = add(writer, taken[i], WB_DTYPE_U8, 1, 5);
        char *path = in(sharded ? "again" : "again.safetensors");
        OK(wb_writer_plan(writer, path, E));
        OK(wb_writer_begin(writer, E));
        for (size_t i = 0; i < count; i++)
            fill(writer, index[i], 0, 5);
        OK(wb_writer_commit(writer, E));
        wb_writer_free(writer);
        wb_model *model = open_model(path);
        assert_true(wb_tensor_count(model) > count);
        for (size_t i = 0; i < count; i++)
            expect_bytes(model, taken[i], index[i]);
        wb_close(model);
        expect_sound(path);
        free(path);
    }
}

static void shards(void **state)
{
    (void)state;
    wb_writer *writer;
    wb_writer_options options = {
        .size = sizeof options, .format = "safetensors", .max_file_bytes = 100};
    OK(wb_writer_create(&options, &writer, E));
    uint64_t index[5];
    char *path = in("sharded.safetensors");
    for (unsigned i = 0; i < 5; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "t%u", i);
        index[i] = add(writer, name, WB_DTYPE_F32, 1, i == 2 ? 100 : 10);
    }
    OK(wb_writer_plan(writer, path, E));
    assert_int_equal(wb_writer_file_count(writer), 3);
    OK(wb_writer_begin(writer, E));
    for (unsigned i = 5; i > 0; i--)
        fill(writer, index[i - 1], 0, bytes_of(writer, index[i - 1]));
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    char *shard = in("sharded-00002-of-00003.safetensors");
    assert_int_equal(access(shard, F_OK), 0);
    char *found = in("sharded.safetensors.index.json");
    size_t n;
    uint8_t *text = read_file(found, &n);
    text[n] = '\0';
    assert_non_null(strstr((char *)text, "\"total_size\": 560"));
    assert_non_null(strstr((char *)text, "    \"t2\": \"sharded-00002-of-00003.safetensors\",\n"));
    free(text);
    free(found);
    free(shard);
    free(path);
}

/* An Ollama store has one blob per tensor. Writers must refuse more blobs than readers accept. */
static void blobs_have_a_limit(void **state)
{
    (void)state;
    char *store = in("store");
    wb_limits limits;
    wb_limits_default(&limits);
    for (uint64_t files = 2; files <= 3; files++) {
        wb_writer *writer;
        wb_error error = {.status = WB_OK};
        limits.files = files;
        const wb_writer_options options = {
            .size = sizeof options, .format = "ollama", .store = store, .limits = &limits};
        OK(wb_writer_create(&options, &writer, E));
        (void)add(writer, "a.weight", WB_DTYPE_I8, 1, 8);
        (void)add(writer, "b.weight", WB_DTYPE_I8, 1, 8);
        (void)add(writer, "c.weight", WB_DTYPE_I8, 1, 8);
        OK(wb_writer_add_bytes(writer, "config.json", "{\"architectures\":[\"X\"]}", 23, E));
        assert_int_equal(wb_writer_plan(writer, "m", &error), files == 3 ? WB_OK : WB_ERROR_LIMIT);
        assert_string_equal(error.code, files == 3 ? "" : "too-many-files");
        wb_writer_free(writer);
    }
    free(store);
}

static void folders(void **state)
{
    (void)state;
    char *path = in("model");
    for (int round = 0; round < 4; round++) {
        wb_error error;
        wb_writer *writer;
        wb_writer_options options = {.size = sizeof options,
                                     .format = "safetensors",
                                     .flags = WB_WRITE_FOLDER | (round >= 2 ? WB_WRITE_FORCE : 0),
                                     .max_file_bytes = round == 2 ? 0 : 64};
        OK(wb_writer_create(&options, &writer, E));
        uint64_t a = add(writer, "a", WB_DTYPE_F32, 2, 8), b = add(writer, "b", WB_DTYPE_F32, 2, 8);
        OK(wb_writer_plan(writer, path, E));
        wb_status status = wb_writer_begin(writer, &error);
        if (round == 1) {
            assert_int_equal(status, WB_ERROR_ARGUMENT);
            assert_string_equal(error.code, "output-exists");
        } else {
            assert_int_equal(status, WB_OK);
            fill(writer, a, 0, 64);
            fill(writer, b, 0, 64);
            OK(wb_writer_commit(writer, E));
            wb_model *model = open_model(path);
            expect_bytes(model, "a", a);
            expect_bytes(model, "b", b);
            assert_int_equal(wb_file_count(model), round == 2 ? 1 : 2);
            wb_close(model);
            expect_sound(path);
            assert_int_equal(count_entries(path), round == 2 ? 1 : 3);
        }
        wb_writer_free(writer);
    }
    free(path);
}

/* If a directory that existed during wb_writer_check is gone at wb_writer_begin, it must be
 * created. */
static void a_folder_goes_away(void **state)
{
    (void)state;
    char *path = in("gone");
    wb_writer *writer = make("safetensors", WB_WRITE_FOLDER | WB_WRITE_FORCE);
    uint64_t a = add(writer, "a", WB_DTYPE_F32, 2, 8);
    assert_int_equal(mkdir(path, 0777), 0);
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_check(writer, E));
    assert_int_equal(rmdir(path), 0);
    OK(wb_writer_begin(writer, E));
    fill(writer, a, 0, 64);
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    expect_sound(path);
    free(path);
}

/* ---- GGUF ---- */

static void set_all(wb_writer *writer)
{
    static const char *const texts[] = {"one", "", "three\xFF"};
    static const size_t lens[] = {3, 0, 6};
    static const int16_t shorts[] = {-1, 2, -3};
    const wb_value rows[] = {
        {.size = sizeof rows[0],
         .type = WB_META_ARRAY,
         .element = WB_META_INT,
         .bits = 16,
         .count = 3,
         .items = shorts},
        {.size = sizeof rows[0], .type = WB_META_ARRAY, .element = WB_META_STRING, .count = 0},
    };
    const struct {
        const char *key;
        wb_value value;
    } values[] = {
        {"general.architecture", {.type = WB_META_STRING, .text = "llama", .text_len = 5}},
        {"t.u8", {.type = WB_META_UINT, .bits = 8, .number = 255}},
        {"t.i8", {.type = WB_META_INT, .bits = 8, .number = (uint64_t)-128}},
        {"t.u16", {.type = WB_META_UINT, .bits = 16, .number = 65535}},
        {"t.i16", {.type = WB_META_INT, .bits = 16, .number = (uint64_t)-2}},
        {"t.u32", {.type = WB_META_UINT, .bits = 32, .number = 4000000000}},
        {"t.i32", {.type = WB_META_INT, .bits = 32, .number = (uint64_t)-3}},
        {"t.u64", {.type = WB_META_UINT, .number = UINT64_MAX}},
        {"t.i64", {.type = WB_META_INT, .bits = 64, .number = (uint64_t)-4}},
        {"t.f32", {.type = WB_META_FLOAT, .bits = 32, .real = 0.5}},
        {"t.f64", {.type = WB_META_FLOAT, .real = 0.1}},
        {"t.bool", {.type = WB_META_BOOL, .number = 1}},
        {"t.strings",
         {.type = WB_META_ARRAY,
          .element = WB_META_STRING,
          .count = 3,
          .items = texts,
          .lens = lens}},
        {"t.nested", {.type = WB_META_ARRAY, .element = WB_META_ARRAY, .count = 2, .items = rows}},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        wb_value value = values[i].value;
        value.size = sizeof value;
        OK(wb_writer_set(writer, values[i].key, SIZE_MAX, &value, E));
    }
}

static void expect_all(const wb_model *model)
{
    uint64_t u;
    int64_t s;
    double f;
    int b;
    OK(wb_meta_get_uint(model, "t.u8", SIZE_MAX, &u, E));
    assert_int_equal(u, 255);
    OK(wb_meta_get_int(model, "t.i8", SIZE_MAX, &s, E));
    assert_int_equal(s, -128);
    OK(wb_meta_get_uint(model, "t.u32", SIZE_MAX, &u, E));
    assert_int_equal(u, 4000000000);
    OK(wb_meta_get_uint(model, "t.u64", SIZE_MAX, &u, E));
    assert_true(u == UINT64_MAX);
    OK(wb_meta_get_int(model, "t.i64", SIZE_MAX, &s, E));
    assert_int_equal(s, -4);
    OK(wb_meta_get_float(model, "t.f32", SIZE_MAX, &f, E));
    assert_true(f == 0.5);
    OK(wb_meta_get_float(model, "t.f64", SIZE_MAX, &f, E));
    assert_true(f == 0.1);
    OK(wb_meta_get_bool(model, "t.bool", SIZE_MAX, &b, E));
    assert_int_equal(b, 1);
    wb_meta_array array = {.size = sizeof array}, inner = {.size = sizeof inner};
    const char *text;
    size_t len;
    OK(wb_meta_get_string_array(model, "t.strings", SIZE_MAX, &array, E));
    assert_int_equal(array.count, 3);
    OK(wb_meta_string_at(&array, 2, &text, &len));
    assert_int_equal(len, 6);
    assert_memory_equal(text, "three\xFF", 6);
    OK(wb_meta_get_array(model, "t.nested", SIZE_MAX, WB_META_ANY, &array, E));
    OK(wb_meta_array_at(&array, 0, &inner));
    int64_t ints[3];
    OK(wb_meta_ints(&inner, 0, 3, ints));
    assert_int_equal(ints[2], -3);
    OK(wb_meta_array_at(&array, 1, &inner));
    assert_int_equal(inner.count, 0);
    assert_int_equal(inner.element, WB_META_STRING);
}

static void write_gguf(const char *path, uint32_t flags, uint64_t alignment, uint64_t max_tensors)
{
    wb_writer *writer;
    wb_writer_options options = {.size = sizeof options,
                                 .format = "gguf",
                                 .flags = flags | WB_WRITE_FORCE,
                                 .alignment = alignment,
                                 .max_file_tensors = max_tensors};
    OK(wb_writer_create(&options, &writer, E));
    set_all(writer);
    uint64_t q = add(writer, "q", WB_DTYPE_Q4_K, 3, 512);
    uint64_t f = add(writer, "f", WB_DTYPE_F16, 5, 7);
    uint64_t i = add(writer, "i", WB_DTYPE_I8, 1, 1);
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_begin(writer, E));
    fill(writer, i, 0, 1);
    fill(writer, f, 40, 70);
    fill(writer, q, 288, 3 * 288);
    fill(writer, f, 0, 40);
    fill(writer, q, 0, 288);
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    (void)max_tensors;
}

static void expect_gguf(const char *path, uint64_t files, int big_endian, unsigned alignment)
{
    wb_model *model = open_model(path);
    assert_int_equal(wb_file_count(model), files);
    expect_all(model);
    expect_bytes(model, "q", 0);
    expect_bytes(model, "f", 1);
    expect_bytes(model, "i", 2);
    for (uint64_t i = 0; i < files; i++) {
        wb_file file = {.size = sizeof file};
        OK(wb_file_at(model, i, &file, E));
        assert_int_equal(file.big_endian, big_endian);
        assert_int_equal(file.data_offset % alignment, 0);
        assert_int_equal(file.bytes % alignment, 0);
    }
    wb_close(model);
}

static void ggufs(void **state)
{
    (void)state;
    char *path = in("g.gguf");
    for (int big = 0; big < 2; big++) {
        uint32_t flags = big ? WB_WRITE_BIG_ENDIAN : 0;
        write_gguf(path, flags, 0, 0);
        expect_gguf(path, 1, big, 32);
        write_gguf(path, flags, 8, 0);
        expect_gguf(path, 1, big, 8);
        write_gguf(path, flags, 4096, 0);
        expect_gguf(path, 1, big, 4096);
    }
    free(path);
    char *split = in("s.gguf"), *first = in("s-00001-of-00003.gguf");
    write_gguf(split, 0, 64, 1);
    expect_gguf(first, 3, 0, 64);
    /* A set of files must not replace another set, not even with WB_WRITE_FORCE. */
    wb_writer *writer;
    wb_error error;
    wb_writer_options options = {
        .size = sizeof options, .format = "gguf", .flags = WB_WRITE_FORCE, .max_file_tensors = 1};
    OK(wb_writer_create(&options, &writer, E));
    for (int i = 0; i < 3; i++)
        (void)add(writer, i == 0 ? "a" : i == 1 ? "b" : "c", WB_DTYPE_F32, 1, 1);
    OK(wb_writer_plan(writer, split, E));
    assert_int_equal(wb_writer_begin(writer, &error), WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "output-exists");
    wb_writer_free(writer);
    free(split);
    free(first);
}

/* Copying all tensors and metadata of a model must give an identical file. */
static void copies(void **state)
{
    (void)state;
    for (int big = 0; big < 4; big++) {
        uint32_t from_flags = big & 1 ? WB_WRITE_BIG_ENDIAN : 0;
        uint32_t to_flags = big & 2 ? WB_WRITE_BIG_ENDIAN : 0;
        char *from = in("from.gguf"), *to = in("to.gguf"), *expected = in("expected.gguf");
        write_gguf(from, from_flags, 64, 0);
        write_gguf(expected, to_flags, 64, 0);
        wb_model *model = open_model(from);
        wb_writer *writer;
        wb_writer_options options = {.size = sizeof options,
                                     .format = "gguf",
                                     .flags = to_flags | WB_WRITE_FORCE,
                                     .source = model};
        OK(wb_writer_create(&options, &writer, E));
        /* Omits entries that the library derives, because the file does not store them. */
        for (uint64_t i = 0; i < wb_meta_count(model); i++) {
            wb_meta meta = {.size = sizeof meta};
            OK(wb_meta_at(model, i, &meta, E));
            if (meta.file != WB_NO_FILE)
                OK(wb_writer_copy_meta(writer, model, i, E));
        }
        for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
            wb_tensor tensor = {.size = sizeof tensor};
            OK(wb_tensor_at(model, i, &tensor, E));
            OK(wb_writer_add(writer, tensor.name, tensor.name_len, (int32_t)tensor.dtype,
                             tensor.shape, tensor.rank, NULL, E));
        }
        OK(wb_writer_plan(writer, to, E));
        OK(wb_writer_begin(writer, E));
        for (uint64_t i = 0; i < wb_tensor_count(model); i++)
            OK(wb_writer_copy(writer, i, model, i, E));
        OK(wb_writer_commit(writer, E));
        wb_writer_free(writer);
        /* An output that is a source file, under any name, must be refused. */
        wb_error error;
        char *link_to = in("link.gguf");
        (void)unlink(link_to);
        assert_int_equal(symlink(from, link_to), 0);
        OK(wb_writer_create(&options, &writer, E));
        OK(wb_writer_plan(writer, link_to, E));
        assert_int_equal(wb_writer_begin(writer, &error), WB_ERROR_ARGUMENT);
        assert_string_equal(error.code, "output-is-input");
        wb_writer_free(writer);
        wb_close(model);
        size_t n, m;
        uint8_t *a = read_file(to, &n), *b = read_file(expected, &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
        free(a);
        free(b);
        free(from);
        free(to);
        free(expected);
        free(link_to);
    }
}

/* ---- streams ---- */

static void streams(void **state)
{
    (void)state;
    char *path = in("file.gguf");
    for (int big = 0; big < 2; big++) {
        int ends[2];
        wb_error error;
        write_gguf(path, big ? WB_WRITE_BIG_ENDIAN : 0, 0, 0);
        size_t n;
        uint8_t *expected = read_file(path, &n), *got = calloc(1, n + 64);
        assert_int_equal(pipe(ends), 0);
        wb_writer *writer = make("gguf", big ? WB_WRITE_BIG_ENDIAN : 0);
        set_all(writer);
        (void)add(writer, "q", WB_DTYPE_Q4_K, 3, 512);
        (void)add(writer, "f", WB_DTYPE_F16, 5, 7);
        (void)add(writer, "i", WB_DTYPE_I8, 1, 1);
        OK(wb_writer_begin_fd(writer, ends[1], "a pipe", E));
        /* A write out of order must be refused and change nothing. */
        assert_int_equal(wb_writer_put(writer, 1, 0, "xx", 2, &error), WB_ERROR_ARGUMENT);
        assert_string_equal(error.code, "write-order");
        for (uint64_t i = 0; i < 3; i++) {
            uint64_t index;
            OK(wb_writer_order(writer, i, &index, E));
            fill(writer, index, 0, bytes_of(writer, index));
        }
        OK(wb_writer_commit(writer, E));
        wb_writer_free(writer);
        (void)close(ends[1]);
        size_t have = 0;
        ssize_t piece;
        while ((piece = read(ends[0], got + have, n + 64 - have)) > 0)
            have += (size_t)piece;
        (void)close(ends[0]);
        assert_int_equal(have, n);
        assert_memory_equal(got, expected, n);
        free(expected);
        free(got);
    }
    free(path);
}

/* ---- what is refused ---- */

static void refuses(void **state)
{
    (void)state;
    wb_error error;
    wb_writer *writer;
    const uint64_t shape[] = {4};
    uint64_t i;
    wb_writer_options options = {.size = sizeof options, .format = "pickle"};
    assert_int_equal(wb_writer_create(&options, &writer, &error), WB_ERROR_UNSUPPORTED);
    assert_null(writer);
    options.format = "gguf";
    options.alignment = 24;
    assert_int_equal(wb_writer_create(&options, &writer, &error), WB_ERROR_ARGUMENT);

    writer = make("gguf", 0);
    OK(wb_writer_add(writer, "a", SIZE_MAX, WB_DTYPE_F32, shape, 1, &i, E));
    assert_int_equal(wb_writer_add(writer, "a", 1, WB_DTYPE_F32, shape, 1, &i, &error),
                     WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "write-twice");
    assert_int_equal(wb_writer_add(writer, "b", 1, WB_DTYPE_Q4_0, shape, 1, &i, &error),
                     WB_ERROR_ARGUMENT); /* 4 columns, but blocks have 32 */
    assert_int_equal(wb_writer_add(writer, "b", 1, 12345, shape, 1, &i, &error), WB_ERROR_ARGUMENT);
    const wb_value wide = {.size = sizeof wide, .type = WB_META_UINT, .bits = 8, .number = 256};
    assert_int_equal(wb_writer_set(writer, "k", 1, &wide, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_writer_put(writer, i, 0, "x", 1, &error), WB_ERROR_ARGUMENT);
    char *path = in("refused.gguf");
    OK(wb_writer_plan(writer, path, E));
    assert_int_equal(wb_writer_set_string(writer, "k", 1, "v", 1, &error), WB_ERROR_ARGUMENT);
    OK(wb_writer_begin(writer, E));
    fill(writer, 0, 4, 8);
    assert_int_equal(wb_writer_put(writer, 0, 3, "xx", 2, &error), WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "write-twice");
    assert_int_equal(wb_writer_put(writer, 0, 12, "xxxxx", 5, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_writer_commit(writer, &error), WB_ERROR_ARGUMENT);
    assert_string_equal(error.code, "write-missing");
    fill(writer, 0, 12, 16);
    fill(writer, 0, 0, 4);
    fill(writer, 0, 8, 12);
    assert_int_equal(wb_writer_put(writer, 0, 0, "x", 1, &error), WB_ERROR_ARGUMENT);
    wb_writer_free(writer); /* without a commit, no file may be created */
    assert_int_equal(access(path, F_OK), -1);
    free(path);

    /* Values that the format cannot represent must be refused. */
    static const struct {
        const char *format, *name, *key, *code;
        int32_t dtype;
    } cases[] = {
        {"gguf", "1234567890123456789012345678901234567890123456789012345678901234", "k",
         "write-tensor-name", WB_DTYPE_F32},
        {"gguf", "t", "", "write-metadata", WB_DTYPE_F32},
        {"gguf", "t", "k", "write-dtype", WB_DTYPE_U32},
        {"safetensors", "__metadata__", "k", "write-tensor-name", WB_DTYPE_F32},
        {"safetensors", "bad\xFF", "k", "write-text", WB_DTYPE_F32},
        {"safetensors", "t", "k\xFF", "write-text", WB_DTYPE_F32},
        {"safetensors", "t", "k", "safetensors-dtype", WB_DTYPE_Q8_0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const uint64_t row[] = {32};
        writer = make(cases[k].format, 0);
        OK(wb_writer_add(writer, cases[k].name, SIZE_MAX, cases[k].dtype, row, 1, NULL, E));
        OK(wb_writer_set_string(writer, cases[k].key, SIZE_MAX, "v", 1, E));
        assert_int_equal(wb_writer_plan(writer, "/nowhere/file", &error), WB_ERROR_UNSUPPORTED);
        assert_string_equal(error.code, cases[k].code);
        wb_writer_free(writer);
    }
}

/* ---- threads ---- */

typedef struct task {
    wb_writer *writer;
    uint64_t index;
} task;

static void *put_backwards(void *arg)
{
    task *t = arg;
    for (uint64_t at = 40000; at > 0; at -= 400)
        fill(t->writer, t->index, at - 400, at);
    return NULL;
}

static void from_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    task tasks[4];
    wb_writer *writer;
    wb_writer_options options = {.size = sizeof options, .format = "gguf", .max_file_tensors = 2};
    OK(wb_writer_create(&options, &writer, E));
    for (size_t i = 0; i < 4; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "t%zu", i);
        tasks[i] = (task){writer, add(writer, name, WB_DTYPE_F32, 100, 100)};
    }
    char *path = in("threads.gguf"), *first = in("threads-00001-of-00002.gguf");
    OK(wb_writer_plan(writer, path, E));
    OK(wb_writer_begin(writer, E));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_backwards, &tasks[i]), 0);
    for (size_t i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
    OK(wb_writer_commit(writer, E));
    wb_writer_free(writer);
    wb_model *model = open_model(first);
    for (size_t i = 0; i < 4; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "t%zu", i);
        expect_bytes(model, name, i);
    }
    wb_close(model);
    free(path);
    free(first);
}

/* ---- allocations ---- */

/* Repeats writing with each allocation failing once. No memory may leak. */
static void without_memory(void **state)
{
    (void)state;
    char *path = in("memory.safetensors");
    bool done = false;
    for (size_t fail_at = 1; !done; fail_at++) {
        counter c = {.fail_at = fail_at};
        wb_allocator allocator = counter_allocator(&c);
        wb_writer_options options = {.size = sizeof options,
                                     .format = "safetensors",
                                     .max_file_bytes = 8,
                                     .allocator = &allocator};
        wb_writer *writer;
        const uint64_t shape[] = {2, 1};
        wb_status status = wb_writer_create(&options, &writer, NULL);
        if (status == WB_OK)
            status = wb_writer_set_string(writer, "k", 1, "v", 1, NULL);
        for (int i = 0; i < 3 && status == WB_OK; i++)
            status = wb_writer_add(writer,
                                   i == 0   ? "a"
                                   : i == 1 ? "b"
                                            : "c",
                                   1, WB_DTYPE_F32, shape, 2, NULL, NULL);
        if (status == WB_OK)
            status = wb_writer_plan(writer, path, NULL);
        if (status == WB_OK)
            status = wb_writer_begin(writer, NULL);
        for (uint64_t i = 0; i < 6 && status == WB_OK; i++)
            status = wb_writer_put(writer, i / 2, (1 - i % 2) * 4, "1234", 4, NULL);
        if (status == WB_OK)
            status = wb_writer_commit(writer, NULL);
        wb_writer_free(writer);
        assert_clean(&c);
        done = !c.failed;
        assert_int_equal(status, done ? WB_OK : WB_ERROR_MEMORY);
    }
    char *index = in("memory.safetensors.index.json");
    assert_int_equal(access(index, F_OK), 0);
    free(index);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_official_file),
        cmocka_unit_test(aligns),
        cmocka_unit_test(aligns_again),
        cmocka_unit_test(shards),
        cmocka_unit_test(blobs_have_a_limit),
        cmocka_unit_test(folders),
        cmocka_unit_test(a_folder_goes_away),
        cmocka_unit_test(ggufs),
        cmocka_unit_test(copies),
        cmocka_unit_test(streams),
        cmocka_unit_test(refuses),
        cmocka_unit_test(from_threads),
        cmocka_unit_test(without_memory),
    };
    folder = scratch_make();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failed;
}
