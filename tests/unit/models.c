/* Reads every tensor that data/models/expected.tsv lists for real models: as stored, converted and
 * sliced. NumPy computed the expected hashes. */
#include "support.h"

static uint64_t hash_of(const unsigned char *bytes, uint64_t n)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint64_t i = 0; i < n; i += 8) { /* words of 8 bytes; the last is padded with zeros */
        uint64_t word = 0;
        for (unsigned b = 0; b < 8 && i + b < n; b++)
            word |= (uint64_t)bytes[i + b] << 8 * b;
        hash = (hash ^ word) * UINT64_C(0x100000001B3);
    }
    return hash;
}

typedef struct reader {
    wb_model *model;
    unsigned char *out;
    size_t room;
    const char *folder;
} reader;

static void check(const reader *r, const char *tensor, uint64_t index, const wb_slice *slice,
                  int32_t dtype, const char *expected)
{
    uint64_t elements, bytes;
    if (strcmp(expected, "-") == 0)
        return;
    assert_int_equal(wb_tensor_read_size(r->model, index, slice, dtype, &elements, &bytes, NULL),
                     WB_OK);
    assert_true(bytes <= r->room);
    assert_int_equal(wb_tensor_read(r->model, index, slice, dtype, r->out, bytes, NULL), WB_OK);
    if (hash_of(r->out, bytes) != strtoull(expected, NULL, 16))
        fail_msg("%s, %s as %d%s\n", r->folder, tensor, (int)dtype,
                 slice == NULL ? "" : ", sliced");
}

static void check_row(const reader *r, char *cells[8])
{
    uint64_t index;
    wb_tensor tensor = {.size = sizeof tensor};
    wb_axis axes[8];
    char shape[100] = "";
    if (wb_tensor_find(r->model, cells[1], SIZE_MAX, &index) != WB_OK)
        fail_msg("%s has no %s\n", r->folder, cells[1]);
    assert_int_equal(wb_tensor_at(r->model, index, &tensor, NULL), WB_OK);
    if (strcmp(cells[2], "-") == 0) /* a packed weight */
        return;
    assert_string_equal(wb_dtype_name((int32_t)tensor.dtype), cells[2]);
    for (uint32_t i = 0; i < tensor.rank; i++)
        (void)snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%llu",
                       i > 0 ? "x" : "", (unsigned long long)tensor.shape[i]);
    assert_string_equal(shape, cells[3]);
    check(r, cells[1], index, NULL, -1, cells[4]);
    if (is_slow() && index % 16 != 0)
        return;
    check(r, cells[1], index, NULL, WB_DTYPE_F32, cells[5]);
    check(r, cells[1], index, NULL, WB_DTYPE_BF16, cells[6]);
    assert_int_equal(wb_slice_parse("::-2", SIZE_MAX, tensor.shape, tensor.rank, axes, NULL),
                     WB_OK);
    wb_slice slice = {.size = sizeof slice, .rank = tensor.rank, .axes = axes, .count = UINT64_MAX};
    check(r, cells[1], index, &slice, -1, cells[7]);
}

/* Checks that the table lists all tensors of the model. For a model with packed tensors, the
 * table also lists their parts. */
static void check_count(const wb_model *model, uint64_t listed, bool packed)
{
    uint64_t count = model == NULL ? listed : wb_tensor_count(model);
    assert_true(packed ? count > 0 && count <= listed : count == listed);
}

static void run(wb_access access)
{
    size_t n, rows = 0;
    uint64_t in_model = 0;
    bool packed = false;
    unsigned char *table = read_file(TEST_DATA "/models/expected.tsv", &n);
    reader r = {.room = (size_t)4 << 20};
    r.out = malloc(r.room);
    assert_non_null(r.out);
    for (char *line = (char *)table; *line != '\0'; rows++) {
        char *cells[8];
        for (int i = 0; i < 8; i++) {
            cells[i] = line;
            line += strcspn(line, "\t\n");
            *line++ = '\0';
        }
        if (r.folder == NULL || strcmp(r.folder, cells[0]) != 0) {
            wb_open_options options = {.size = sizeof options, .access = access};
            char *path = text_of(TEST_DATA "/models/%s", cells[0]);
            check_count(r.model, in_model, packed);
            wb_close(r.model);
            wb_error error;
            if (wb_open(path, &options, &r.model, &error) != WB_OK)
                fail_msg("%s: %s\n", path, error.message);
            assert_int_equal(wb_findings_verdict(wb_model_findings(r.model)), 0);
            free(path);
            r.folder = cells[0];
            in_model = 0;
            packed = false;
        }
        packed |= strcmp(cells[2], "-") == 0;
        check_row(&r, cells);
        in_model++;
    }
    check_count(r.model, in_model, packed);
    assert_true(rows > 100);
    wb_close(r.model);
    free(r.out);
    free(table);
}

static void mapped(void **state)
{
    (void)state;
    run(WB_ACCESS_MAP);
}

static void copied(void **state)
{
    (void)state;
    if (!is_slow())
        run(WB_ACCESS_SNAPSHOT);
}

/* With WB_OPEN_STORED, scales and biases are tensors like others. */
static void not_joined(void **state)
{
    (void)state;
    const char *path = TEST_DATA "/models/qwen3-4bit-3shards";
    wb_open_options options = {.size = sizeof options, .flags = WB_OPEN_STORED};
    wb_model *joined, *stored;
    uint64_t files = 0, index;
    assert_int_equal(wb_open(path, NULL, &joined, NULL), WB_OK);
    assert_int_equal(wb_open(path, &options, &stored, NULL), WB_OK);
    for (uint64_t i = 0; i < wb_file_count(stored); i++) {
        wb_file file = WB_FILE_INIT;
        assert_int_equal(wb_file_at(stored, i, &file, NULL), WB_OK);
        files += file.tensors;
    }
    assert_int_equal(wb_tensor_count(stored), files);
    assert_true(wb_tensor_count(joined) < files);
    const char *name = "model.layers.0.mlp.down_proj.scales";
    assert_int_equal(wb_tensor_find(stored, name, SIZE_MAX, &index), WB_OK);
    assert_true(index < files);
    for (uint64_t i = 0; i < files; i++) {
        wb_encoding encoding = WB_ENCODING_INIT;
        const void *bytes;
        assert_int_equal(wb_tensor_encoding(stored, i, &encoding, NULL), WB_OK);
        assert_int_equal(encoding.parts, 1);
        assert_string_equal(encoding.type, "plain");
        assert_int_equal(wb_tensor_data(stored, i, &bytes, NULL), WB_OK);
    }
    wb_close(joined);
    wb_close(stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mapped), cmocka_unit_test(copied),
                                       cmocka_unit_test(not_joined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
