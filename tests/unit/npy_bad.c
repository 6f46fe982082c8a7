/*
 * Verifies every file of data/bad/npy, and opens it by path and from memory. Verdict, code and
 * offset must be those in the name of the file, VERDICT_CODE_atOFFSET_DESCRIPTION. Memory use must
 * stay within the documented bound. Repeats this with each allocation failing once.
 */
#include "support.h"

#include <dirent.h>

#define FOLDER TEST_DATA "/bad/npy"

typedef struct row {
    char name[256];
    int verdict;
    char code[64];
    uint64_t offset;
    uint8_t *bytes;
    size_t n;
    char *path;
} row;

static row rows[512];
static size_t row_count;
static bool has_zlib;

static void read_names(void **state)
{
    (void)state;
    DIR *folder = opendir(FOLDER);
    struct dirent *entry;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        row *r = &rows[row_count];
        char offset[32];
        if (entry->d_name[0] == '.')
            continue;
        assert_true(strlen(entry->d_name) < sizeof r->name);
        memcpy(r->name, entry->d_name, strlen(entry->d_name) + 1);
        assert_int_equal(sscanf(r->name, "%d_%63[^_]_at%31[^_]_", &r->verdict, r->code, offset), 3);
        r->offset = strcmp(offset, "none") == 0 ? WB_NO_OFFSET : strtoull(offset, NULL, 10);
        r->path = text_of(FOLDER "/%s", r->name);
        r->bytes = read_file(r->path, &r->n);
        row_count++;
    }
    closedir(folder);
    assert_true(row_count > 150);
}

/* Finds out whether zlib is available. Without it, as in 32-bit builds on 64-bit systems, the
 * library refuses compressed arrays. */
static void look_for_zlib(void **state)
{
    (void)state;
    wb_error error;
    wb_model *model;
    wb_status status = wb_open(FOLDER "/0_-_atnone_deflated.npz", NULL, &model, &error);
    has_zlib = status == WB_OK;
    if (!has_zlib)
        assert_string_equal(error.code, "no-zlib");
    wb_close(model);
}

static bool is_left_out(const char *code)
{
    return !has_zlib && strcmp(code, "no-zlib") == 0;
}

static void verifies(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        const row *r = &rows[i];
        wb_findings *findings;
        wb_error error;
        wb_finding worst = {.severity = WB_INFO, .code = "-", .offset = WB_NO_OFFSET};
        assert_int_equal(wb_verify(r->path, NULL, &findings, &error), WB_OK);
        for (uint64_t k = 0; k < wb_findings_count(findings); k++) {
            wb_finding finding = {.size = sizeof finding};
            assert_int_equal(wb_findings_at(findings, k, &finding), WB_OK);
            if (finding.severity > worst.severity)
                worst = finding;
        }
        if (!is_left_out(worst.code) &&
            (wb_findings_verdict(findings) != r->verdict || strcmp(worst.code, r->code) != 0 ||
             worst.offset != r->offset))
            fail_msg("%s: verdict %d, %s at %lld\n", r->name, wb_findings_verdict(findings),
                     worst.code, (long long)worst.offset);
        wb_findings_free(findings);
    }
}

static wb_status open_row(const row *r, bool by_path, const wb_open_options *options,
                          wb_model **model, wb_error *error)
{
    return by_path ? wb_open(r->path, options, model, error)
                   : wb_open_memory(r->bytes, r->n, r->name, options, model, error);
}

static void opens(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * row_count; i++) {
        const row *r = &rows[i / 2];
        wb_error error;
        wb_model *model;
        wb_status status = open_row(r, i % 2 == 0, NULL, &model, &error);
        if (status != WB_OK && is_left_out(error.code))
            continue;
        if ((status != WB_OK) != (r->verdict == 2) ||
            (status != WB_OK &&
             (strcmp(error.code, r->code) != 0 || error.offset != r->offset || model != NULL)))
            fail_msg("%s: status %d, %s at %lld\n", r->name, status, error.code,
                     (long long)error.offset);
        wb_close(model);
    }
}

/* Reads all arrays. This may fail only if the file is damaged or an allocation failed. */
static void read_all(const row *r, const wb_model *model)
{
    for (uint64_t i = 0; model != NULL && i < wb_tensor_count(model); i++) {
        uint64_t elements, bytes;
        wb_error error;
        assert_int_equal(wb_tensor_read_size(model, i, NULL, -1, &elements, &bytes, NULL), WB_OK);
        void *to = malloc(bytes == 0 ? 1 : (size_t)bytes);
        assert_non_null(to);
        wb_status status = wb_tensor_read(model, i, NULL, -1, to, bytes, &error);
        assert_true(status == WB_OK || status == WB_ERROR_MEMORY ||
                    (r->verdict == 1 && strcmp(error.code, r->code) == 0));
        free(to);
    }
}

static void memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        size_t calls = 1;
        for (size_t fail_at = 0; fail_at <= calls; fail_at++) {
            counter heap = {.fail_at = fail_at};
            wb_allocator allocator = counter_allocator(&heap);
            wb_open_options options = {.size = sizeof options, .allocator = &allocator};
            wb_error error;
            wb_model *model;
            wb_status status = open_row(&rows[i], fail_at % 2 == 0, &options, &model, &error);
            if (fail_at == 0)
                assert_true(heap.peak <= 8 * rows[i].n + (1u << 20));
            if (heap.failed && status != WB_OK)
                assert_int_equal(status, WB_ERROR_MEMORY);
            read_all(&rows[i], model);
            if (fail_at == 0)
                calls = heap.calls;
            wb_close(model);
            assert_clean(&heap);
        }
    }
}

static void frees(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        free(rows[i].bytes);
        free(rows[i].path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_names), cmocka_unit_test(look_for_zlib), cmocka_unit_test(verifies),
        cmocka_unit_test(opens),      cmocka_unit_test(memory),        cmocka_unit_test(frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
