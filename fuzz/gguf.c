/*
 * The GGUF reader, and everything that can be asked of an open model, on a whole file in memory and
 * through a source that reads a few bytes at a time: both must get the same answer, what an open
 * model says must fit together and with the bytes, and memory must stay below what the
 * documentation promises.
 */
#include "support/harness.h"

#define ELEMENTS 200 /* looked at of one array */

static void check_array(const wb_meta_array *array, unsigned depth);

static void check_strings(const wb_meta_array *array)
{
    uint64_t n = array->count < ELEMENTS ? array->count : ELEMENTS;
    const char *values[ELEMENTS];
    size_t lens[ELEMENTS];
    CHECK(wb_meta_strings(array, array->count - n, n, values, lens) == WB_OK);
    for (uint64_t i = 0; i < n; i++) {
        const char *value;
        size_t len;
        CHECK(wb_meta_string_at(array, array->count - n + i, &value, &len) == WB_OK);
        CHECK(value == values[i] && len == lens[i] && value[len] == '\0');
        CHECK(i == 0 || value == values[i - 1] + lens[i - 1] + 8);
    }
}

static void check_numbers(const wb_meta_array *array)
{
    uint64_t n = array->count < ELEMENTS ? array->count : ELEMENTS;
    union {
        int64_t ints[ELEMENTS];
        uint64_t uints[ELEMENTS];
        double floats[ELEMENTS];
    } values;
    CHECK(array->data != NULL && array->bits >= 8 && array->bits <= 64);
    if (array->element == WB_META_FLOAT) {
        CHECK(wb_meta_floats(array, 0, n, values.floats) == WB_OK);
        CHECK(wb_meta_ints(array, 0, n, values.ints) == WB_ERROR_ARGUMENT);
        return;
    }
    wb_status as_int = wb_meta_ints(array, 0, n, values.ints);
    CHECK(as_int == WB_OK || (as_int == WB_ERROR_TYPE && array->element == WB_META_UINT));
    wb_status as_uint = wb_meta_uints(array, 0, n, values.uints);
    CHECK(as_uint == WB_OK || (as_uint == WB_ERROR_TYPE && array->element == WB_META_INT));
}

static void check_array(const wb_meta_array *array, unsigned depth)
{
    const char *value;
    size_t len;
    if (array->element == WB_META_STRING) {
        check_strings(array);
    } else if (array->element != WB_META_ARRAY) {
        check_numbers(array);
    } else {
        for (uint64_t i = 0; i < array->count && i < 8 && depth < 8; i++) {
            wb_meta_array inner = {.size = sizeof inner};
            CHECK(wb_meta_array_at(array, i, &inner) == WB_OK);
            check_array(&inner, depth + 1);
        }
    }
    CHECK(wb_meta_string_at(array, array->count, &value, &len) != WB_OK);
}

static void check_entry(const wb_model *model, uint64_t index)
{
    wb_meta meta = {.size = sizeof meta};
    wb_meta_array array = {.size = sizeof array};
    const char *text;
    size_t len;
    uint64_t found;
    int64_t i;
    uint64_t u;
    double d;
    int b;
    CHECK(wb_meta_at(model, index, &meta, NULL) == WB_OK);
    CHECK(meta.key[meta.key_len] == '\0' && strlen(meta.key) == meta.key_len);
    CHECK(wb_meta_find(model, meta.key, meta.key_len, &found) == WB_OK && found == index);
    wb_status as_string = wb_meta_get_string(model, meta.key, meta.key_len, &text, &len, NULL);
    wb_status as_int = wb_meta_get_int(model, meta.key, meta.key_len, &i, NULL);
    wb_status as_uint = wb_meta_get_uint(model, meta.key, meta.key_len, &u, NULL);
    wb_status as_float = wb_meta_get_float(model, meta.key, meta.key_len, &d, NULL);
    wb_status as_bool = wb_meta_get_bool(model, meta.key, meta.key_len, &b, NULL);
    wb_status as_array = wb_meta_get_array(model, meta.key, meta.key_len, &array, NULL);
    CHECK((as_string == WB_OK) == (meta.type == WB_META_STRING));
    CHECK((as_bool == WB_OK) == (meta.type == WB_META_BOOL));
    CHECK((as_array == WB_OK) == (meta.type == WB_META_ARRAY));
    CHECK((as_int == WB_OK || as_uint == WB_OK) ==
          (meta.type == WB_META_INT || meta.type == WB_META_UINT));
    CHECK(meta.type != WB_META_FLOAT || as_float == WB_OK);
    if (as_string == WB_OK)
        CHECK(text[len] == '\0' && len == meta.count);
    if (as_array == WB_OK) {
        CHECK(array.element == meta.element && array.count == meta.count);
        check_array(&array, 0);
    }
}

static void check_tensor(const wb_model *model, uint64_t index, const uint8_t *file, size_t size,
                         int in_memory, int turned)
{
    wb_tensor tensor = {.size = sizeof tensor};
    uint64_t found, elements = 1;
    const void *bytes;
    CHECK(wb_tensor_at(model, index, &tensor, NULL) == WB_OK);
    CHECK(tensor.name[tensor.name_len] == '\0' && tensor.rank <= 4);
    CHECK(wb_tensor_find(model, tensor.name, tensor.name_len, &found) == WB_OK && found == index);
    CHECK(tensor.offset <= size && tensor.bytes <= size - tensor.offset);
    for (uint32_t i = 0; i < tensor.rank; i++)
        elements *= tensor.shape[i];
    CHECK(elements == tensor.elements);
    wb_status status = wb_tensor_data(model, index, &bytes, NULL);
    CHECK(turned || !in_memory ||
          (status == WB_OK && (tensor.bytes == 0 || bytes == file + tensor.offset)));
    CHECK(!turned || status == WB_ERROR_UNSUPPORTED);
    uint8_t *dst = malloc((size_t)tensor.bytes + 1);
    CHECK(dst != NULL);
    CHECK(wb_tensor_read(model, index, NULL, -1, dst, tensor.bytes, NULL) == WB_OK);
    CHECK(turned || tensor.bytes == 0 ||
          memcmp(dst, file + tensor.offset, (size_t)tensor.bytes) == 0);
    free(dst);
}

static void check_model(const wb_model *model, const uint8_t *file, size_t size, int in_memory)
{
    wb_file description = {.size = sizeof description};
    uint64_t tensors = wb_tensor_count(model), entries = wb_meta_count(model);
    CHECK(wb_file_at(model, 0, &description, NULL) == WB_OK);
    CHECK(description.bytes == size && description.data_offset <= size);
    CHECK(description.version == 2 || description.version == 3);
    for (uint64_t i = 0; i < tensors && i < 64; i++)
        check_tensor(model, i, file, size, in_memory, description.big_endian != 0);
    for (uint64_t i = 0; i < entries && i < 256; i++)
        check_entry(model, i);
    check_findings(wb_model_findings(model), size);
}

static void verify(const wb_model *model, size_t size)
{
    wb_verify_options options = {.size = sizeof options, .flags = WB_VERIFY_DEEP};
    wb_findings *findings;
    CHECK(wb_verify_model(model, &options, &findings, NULL) == WB_OK);
    check_findings(findings, size);
    wb_findings_free(findings);
}

typedef struct answer {
    wb_status status;
    wb_error error;
    uint64_t tensors, entries, findings;
} answer;

static answer ask(const uint8_t *data, size_t size, dribble *source)
{
    heap h = {0, 0};
    wb_allocator allocator = {&h, heap_alloc, heap_free};
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    answer a = {.status = WB_OK};
    wb_model *model;
    if (source != NULL) {
        wb_source described = {.size = sizeof described,
                               .ctx = source,
                               .bytes = size,
                               .read = dribble_read,
                               .close = dribble_close};
        a.status = wb_open_source(&described, "x.gguf", &options, &model, &a.error);
    } else {
        a.status = wb_open_memory(data, size, "x.gguf", &options, &model, &a.error);
    }
    CHECK((a.status == WB_OK) == (model != NULL));
    CHECK(h.peak <= 8 * size + (1u << 20));
    if (a.status != WB_OK) {
        check_error(&a.error, a.status, size);
        CHECK(a.status == WB_ERROR_FORMAT || a.status == WB_ERROR_LIMIT);
    } else if (strcmp(wb_format(model), "gguf") == 0) {
        a.tensors = wb_tensor_count(model);
        a.entries = wb_meta_count(model);
        a.findings = wb_findings_count(wb_model_findings(model));
        check_model(model, data, size, source == NULL);
        if (source == NULL)
            verify(model, size);
    }
    wb_close(model);
    CHECK(h.live == 0);
    return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    answer whole = ask(data, size, NULL);
    dribble source = {.bytes = data, .size = size, .most = 1 + size % 97};
    answer parts = ask(data, size, &source);
    CHECK(whole.status == parts.status && whole.tensors == parts.tensors);
    CHECK(whole.entries == parts.entries && whole.findings == parts.findings);
    if (whole.status != WB_OK)
        CHECK(whole.error.code == parts.error.code && whole.error.offset == parts.error.offset &&
              strcmp(whole.error.message, parts.error.message) == 0);
    return 0;
}
