/*
 * Tests public functions with invalid and missing arguments, the limits, the list of all names,
 * metadata, the executor, and the findings of wb_verify_model about values.
 */
#include "support.h"

static wb_model *open_text(const char *header, size_t data, unsigned char **bytes,
                           const wb_open_options *options)
{
    size_t n;
    wb_model *model;
    wb_error error;
    *bytes = st_bytes(header, strlen(header), data, &n);
    if (wb_open_memory(*bytes, n, "memory", options, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return model;
}

static wb_status refuse_text(const char *header, size_t data, const wb_open_options *options,
                             wb_error *error)
{
    size_t n;
    wb_model *model;
    unsigned char *bytes = st_bytes(header, strlen(header), data, &n);
    wb_status status = wb_open_memory(bytes, n, "memory", options, &model, error);
    assert_null(model);
    free(bytes);
    return status;
}

static void options_that_make_no_sense(void **state)
{
    (void)state;
    wb_allocator half = {NULL, counter_alloc, NULL};
    wb_limits old = {.size = 8};
    const wb_open_options rows[] = {{.size = 3},
                                    {.size = sizeof rows[0], .access = (wb_access)3},
                                    {.size = sizeof rows[0], .flags = 16},
                                    {.size = sizeof rows[0], .allocator = &half},
                                    {.size = sizeof rows[0], .limits = &old}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb_error error;
        wb_findings *findings = (wb_findings *)1;
        assert_int_equal(refuse_text("{}", 0, &rows[i], &error), WB_ERROR_ARGUMENT);
        assert_string_equal(error.code, "argument");
        assert_true(error.message[0] != '\0');
        wb_verify_options verify = {.size = sizeof verify, .open = &rows[i]};
        assert_int_equal(wb_verify("x", &verify, &findings, &error), WB_ERROR_ARGUMENT);
        assert_null(findings);
    }
    wb_findings *findings;
    wb_verify_options verify = {.size = 1};
    assert_int_equal(wb_verify("x", &verify, &findings, NULL), WB_ERROR_ARGUMENT);
    verify = (wb_verify_options){.size = sizeof verify, .flags = 16};
    assert_int_equal(wb_verify("x", &verify, &findings, NULL), WB_ERROR_ARGUMENT);
}

static void nothing_given(void **state)
{
    (void)state;
    wb_model *model = (wb_model *)1;
    assert_int_equal(wb_open(NULL, NULL, &model, NULL), WB_ERROR_ARGUMENT);
    assert_null(model);
    assert_int_equal(wb_open("x", NULL, NULL, NULL), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_open_memory("", 0, NULL, NULL, &model, NULL), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_open_fd(0, NULL, NULL, &model, NULL), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_open_source(NULL, "x", NULL, &model, NULL), WB_ERROR_ARGUMENT);
    wb_close(NULL);
    wb_findings_free(NULL);
}

static void statuses_have_names(void **state)
{
    (void)state;
    assert_string_equal(wb_status_name(WB_OK), "ok");
    assert_string_equal(wb_status_name(WB_ERROR_CANCELLED), "cancelled");
    assert_string_equal(wb_status_name((wb_status)99), "unknown");
    for (int i = 0; i <= 10; i++)
        assert_true(strcmp(wb_status_name((wb_status)i), "unknown") != 0);
    assert_string_equal(wb_version(), "0.1.0");
}

static void limits_hold(void **state)
{
    (void)state;
    static const char rank_3[] =
        "{\"t\":{\"dtype\":\"U8\",\"shape\":[1,1,1],\"data_offsets\":[0,1]}}"
        "                                                                                        "
        "                                                                                        "
        "                                                                                        "
        "                                                                                        "
        "                                                                                        "
        "                                                                                        ";
    wb_limits limits;
    wb_open_options options = {.size = sizeof options, .limits = &limits};
    wb_error error;
    unsigned char *bytes;
    wb_limits_default(&limits);
    assert_int_equal(limits.size, sizeof limits);
    assert_int_equal(limits.safetensors_header, 100000000);
    limits.rank = 3; /* rank_3 is padded so that the fast parser also reads it */
    wb_close(open_text(rank_3, 1, &bytes, &options));
    free(bytes);
    limits.rank = 2;
    assert_int_equal(refuse_text(rank_3, 1, &options, &error), WB_ERROR_LIMIT);
    assert_string_equal(error.code, "too-many-dimensions");
    assert_string_equal(error.name, "t");
    assert_int_equal(error.offset, 8 + 32);
    wb_limits_default(&limits);
    limits.safetensors_header = sizeof rank_3 - 1;
    wb_close(open_text(rank_3, 1, &bytes, &options));
    free(bytes);
    limits.safetensors_header--;
    assert_int_equal(refuse_text(rank_3, 1, &options, &error), WB_ERROR_LIMIT);
    assert_string_equal(error.code, "safetensors-header-too-large");
    limits.safetensors_header = UINT64_MAX; /* the library clamps it to 2^32 - 1 */
    unsigned char announced[16] = "????????{\"a\":{}";
    wb_model *model;
    put_length(announced, UINT64_C(1) << 32);
    assert_int_equal(wb_open_memory(announced, 16, "x.safetensors", &options, &model, &error),
                     WB_ERROR_LIMIT);
}

static const char two[] = "{\"__metadata__\":{\"a\\u0000b\":\"\\u0000\",\"k\":\"v\"},"
                          "\"x\\u0000y\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                          "\"\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[8,10]}}";

static void answers_about_tensors(void **state)
{
    (void)state;
    unsigned char *bytes;
    wb_model *model = open_text(two, 10, &bytes, NULL);
    wb_tensor tensor = {.size = sizeof tensor};
    const char *names;
    const uint64_t *offsets;
    const void *data;
    uint64_t index = 7;
    wb_error error;
    assert_int_equal(wb_tensor_find(model, "x\0y", 3, &index), WB_OK);
    assert_int_equal(index, 0);
    assert_int_equal(wb_tensor_find(model, "x\0y", SIZE_MAX, &index), WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_tensor_find(model, "", SIZE_MAX, &index), WB_OK);
    assert_int_equal(index, 1);
    assert_int_equal(wb_tensor_find(model, NULL, 0, &index), WB_OK);
    assert_true(wb_tensor_has(model, "x\0y", 3));
    assert_false(wb_tensor_has(model, "x", SIZE_MAX));
    assert_int_equal(wb_tensor_dtype(model, "", 0), WB_DTYPE_BF16);
    assert_int_equal(wb_tensor_dtype(model, "none", SIZE_MAX), -1);
    assert_int_equal(wb_tensor_at(model, 1, &tensor, NULL), WB_OK);
    assert_int_equal(tensor.rank, 0);
    assert_int_equal(tensor.elements, 1);
    assert_int_equal(tensor.bytes, 2);
    assert_int_equal(tensor.name_len, 0);
    assert_int_equal(wb_tensor_at(model, 2, &tensor, &error), WB_ERROR_NOT_FOUND);
    assert_null(tensor.name);
    tensor.size = sizeof tensor.size; /* the struct ends after `size` */
    assert_int_equal(wb_tensor_at(model, 0, &tensor, &error), WB_ERROR_ARGUMENT);
    assert_int_equal(wb_tensor_data(model, 2, &data, &error), WB_ERROR_NOT_FOUND);
    assert_null(data);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, NULL), WB_OK);
        assert_int_equal(offsets[0], 0);
        assert_int_equal(offsets[1], 4);
        assert_int_equal(offsets[2], 5);
        assert_memory_equal(names, "x\0y\0\0", 5);
    }
    wb_close(model);
    free(bytes);

    model = open_text("{}", 0, &bytes, NULL); /* a model without tensors */
    assert_int_equal(wb_tensor_count(model), 0);
    assert_int_equal(wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, NULL), WB_OK);
    assert_int_equal(offsets[0], 0);
    assert_int_equal(wb_tensor_find(model, "", 0, &index), WB_ERROR_NOT_FOUND);
    wb_close(model);
    free(bytes);
}

static void answers_about_metadata(void **state)
{
    (void)state;
    unsigned char *bytes;
    wb_model *model = open_text(two, 10, &bytes, NULL);
    wb_meta meta = {.size = sizeof meta};
    const char *value;
    size_t len;
    wb_error error;
    assert_int_equal(wb_meta_count(model), 2);
    assert_int_equal(wb_meta_at(model, 0, &meta, NULL), WB_OK);
    assert_int_equal(meta.key_len, 3);
    assert_memory_equal(meta.key, "a\0b", 4);
    assert_int_equal(meta.type, WB_META_STRING);
    assert_int_equal(wb_meta_get_string(model, "a\0b", 3, &value, &len, NULL), WB_OK);
    assert_int_equal(len, 1);
    assert_memory_equal(value, "\0", 2);
    assert_int_equal(wb_meta_get_string(model, "k", SIZE_MAX, &value, &len, NULL), WB_OK);
    assert_string_equal(value, "v");
    assert_int_equal(wb_meta_get_string(model, "none", SIZE_MAX, &value, &len, &error),
                     WB_ERROR_NOT_FOUND);
    assert_null(value);
    assert_string_equal(error.name, "none");
    assert_int_equal(wb_meta_at(model, 2, &meta, NULL), WB_ERROR_NOT_FOUND);
    meta.size = 1;
    assert_int_equal(wb_meta_at(model, 0, &meta, NULL), WB_ERROR_ARGUMENT);
    wb_close(model);
    free(bytes);
}

/* The library copies the executor of the open options, so the caller may free it after opening.
 * Serial calls do not use the executor. */
static unsigned bodies;

static void run_backwards(void *ctx, size_t n, void (*body)(void *arg, size_t i), void *arg)
{
    (void)ctx;
    while (n-- > 0) {
        bodies++;
        body(arg, n);
    }
}

static void takes_an_executor(void **state)
{
    (void)state;
    wb_executor *executor = malloc(sizeof *executor);
    assert_non_null(executor);
    *executor = (wb_executor){.parallel_for = run_backwards};
    wb_open_options options = {.size = sizeof options, .executor = executor};
    unsigned char *bytes;
    float out[2];
    wb_model *model = open_text(two, 10, &bytes, &options);
    free(executor);
    assert_int_equal(wb_tensor_read(model, 0, NULL, -1, out, sizeof out, NULL), WB_OK);
    wb_close(model);
    free(bytes);
}

/* ---- values ---- */

typedef struct seen {
    char codes[500];
    int verdict;
} seen;

static seen verify(const wb_model *model, const wb_verify_options *options)
{
    wb_findings *findings;
    seen s = {"", 0};
    assert_int_equal(wb_verify_model(model, options, &findings, NULL), WB_OK);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        (void)snprintf(s.codes + strlen(s.codes), sizeof s.codes - strlen(s.codes), "%s%s@%lld/%s",
                       i > 0 ? " " : "", finding.code, (long long)finding.offset, finding.name);
    }
    s.verdict = wb_findings_verdict(findings);
    wb_findings_free(findings);
    return s;
}

static const char odd[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"
                          "\"b\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[12,15]},"
                          "\"c\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[15,19]}}  ";

static void finds_odd_values(void **state)
{
    (void)state;
    unsigned char *bytes;
    size_t data = 8 + sizeof odd - 1;
    wb_model *model = open_text(odd, 19, &bytes, NULL);
    memcpy(bytes + data, "\0\0\0\0\0\0\xC0\x7F\0\0\x80\xFF\0\1\7\0\x7C\1\xFC", 19);
    char *expected = text_of("safetensors-unaligned@%zu/c values-nan@%zu/a values-infinite@%zu/a "
                             "values-bool@%zu/b values-nan@%zu/c values-infinite@%zu/c",
                             data + 15, data, data, data + 12, data + 15, data + 15);
    seen s = verify(model, NULL);
    assert_string_equal(s.codes, expected);
    assert_int_equal(s.verdict, 1);
    free(expected);

    memset(bytes + data, 0, 19);
    s = verify(model, NULL);
    expected = text_of("safetensors-unaligned@%zu/c", data + 15);
    assert_string_equal(s.codes, expected);
    assert_int_equal(s.verdict, 0);
    free(expected);
    wb_close(model);
    free(bytes);
}

static void reads_as_far_as_told(void **state)
{
    (void)state;
    unsigned char *bytes;
    wb_model *model = open_text(odd, 19, &bytes, NULL);
    wb_verify_options options = {.size = sizeof options, .data_budget = 12};
    memset(bytes + 8 + sizeof odd - 1, 0, 19);
    assert_non_null(strstr(verify(model, &options).codes, "values-unread"));
    options.data_budget = 19;
    assert_null(strstr(verify(model, &options).codes, "values-unread"));
    options.data_budget = 1;
    assert_non_null(strstr(verify(model, &options).codes, "values-unread"));
    options.flags = WB_VERIFY_DEEP;
    assert_null(strstr(verify(model, &options).codes, "values-unread"));
    wb_close(model);
    free(bytes);
}

typedef struct watch {
    uint64_t done, total;
    unsigned calls, stop_at;
} watch;

static int report(void *ctx, uint64_t done, uint64_t total)
{
    watch *w = ctx;
    assert_true(done >= w->done && done <= total);
    w->done = done;
    w->total = total;
    return ++w->calls == w->stop_at;
}

static void reports_progress(void **state)
{
    (void)state;
    unsigned char *bytes;
    wb_findings *findings;
    wb_error error;
    wb_model *model = open_text("{\"t\":{\"dtype\":\"U8\",\"shape\":[5000000],"
                                "\"data_offsets\":[0,5000000]}}",
                                5000000, &bytes, NULL);
    watch w = {0, 0, 0, 0};
    wb_progress progress = {&w, report};
    wb_verify_options options = {.size = sizeof options, .progress = &progress};
    assert_int_equal(wb_verify_model(model, &options, &findings, &error), WB_OK);
    wb_findings_free(findings);
    assert_true(w.calls >= 2 && w.done == 5000000 && w.total == 5000000);
    w = (watch){.stop_at = 2};
    assert_int_equal(wb_verify_model(model, &options, &findings, &error), WB_ERROR_CANCELLED);
    assert_null(findings);
    assert_int_equal(w.calls, 2);
    wb_close(model);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_make_no_sense), cmocka_unit_test(nothing_given),
        cmocka_unit_test(statuses_have_names),        cmocka_unit_test(limits_hold),
        cmocka_unit_test(answers_about_tensors),      cmocka_unit_test(answers_about_metadata),
        cmocka_unit_test(takes_an_executor),          cmocka_unit_test(finds_odd_values),
        cmocka_unit_test(reads_as_far_as_told),       cmocka_unit_test(reports_progress)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
