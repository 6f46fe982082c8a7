/*
 * Opens and verifies every file of data/bad/gguf by path, in every access mode, and from memory.
 * Status, code and offset must be those in table.tsv, and memory use must stay within the
 * documented bound. Repeats this with each allocation failing, with truncated files, and with
 * changed bytes.
 */
#include "support.h"

#define FOLDER TEST_DATA "/bad/gguf/"

typedef struct row {
    char name[64];
    int verdict;
    char code[64];
    uint64_t offset;
    uint8_t *bytes;
    size_t n;
    char *path;
} row;

static row rows[512];
static size_t row_count;

static void read_table(void **state)
{
    (void)state;
    FILE *file = fopen(FOLDER "table.tsv", "r");
    char line[512], offset[32];
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        row *r = &rows[row_count];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%63s %d %63s %31s", r->name, &r->verdict, r->code, offset),
                         4);
        r->offset = offset[0] == '-' ? WB_NO_OFFSET : strtoull(offset, NULL, 10);
        r->path = text_of(FOLDER "%s.gguf", r->name);
        r->bytes = read_file(r->path, &r->n);
        row_count++;
    }
    fclose(file);
    assert_true(row_count > 150);
}

/* Returns the first of the findings with the highest severity. */
static wb_finding worst(const wb_findings *findings)
{
    wb_finding chosen = {.severity = WB_INFO, .code = "-", .offset = WB_NO_OFFSET};
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        assert_true(finding.message[0] != '\0');
        if (finding.severity > chosen.severity)
            chosen = finding;
    }
    return chosen;
}

static void check(const row *r, const wb_findings *findings, const char *how)
{
    wb_finding finding = worst(findings);
    if (wb_findings_verdict(findings) != r->verdict || strcmp(finding.code, r->code) != 0 ||
        finding.offset != r->offset)
        fail_msg("%s (%s): verdict %d, %s at %lld; expected %d, %s at %lld\n", r->name, how,
                 wb_findings_verdict(findings), finding.code, (long long)finding.offset, r->verdict,
                 r->code, (long long)r->offset);
}

static void verifies(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        wb_findings *findings;
        wb_error error;
        assert_int_equal(wb_verify(rows[i].path, NULL, &findings, &error), WB_OK);
        check(&rows[i], findings, "verify");
        wb_findings_free(findings);
    }
}

/* Checks the result of opening: the expected error with its offset, or a model. */
static void check_open(const row *r, wb_status status, const wb_error *error, const char *how)
{
    bool refused = r->verdict == 2;
    if ((status != WB_OK) != refused ||
        (refused && (strcmp(error->code, r->code) != 0 || error->offset != r->offset)))
        fail_msg("%s (%s): %s at %lld\n", r->name, how, status == WB_OK ? "ok" : error->code,
                 (long long)error->offset);
}

static void opens_in_every_mode(void **state)
{
    (void)state;
    static const wb_access modes[] = {WB_ACCESS_MAP, WB_ACCESS_READ, WB_ACCESS_SNAPSHOT};
    for (size_t i = 0; i < row_count; i++) {
        for (size_t mode = 0; mode < 3; mode++) {
            wb_open_options options = {.size = sizeof options, .access = modes[mode]};
            wb_model *model;
            wb_error error;
            wb_status status = wb_open(rows[i].path, &options, &model, &error);
            check_open(&rows[i], status, &error, "open");
            wb_close(model);
        }
    }
}

/* Opens each file from a memory block of exactly its size, so that sanitizers detect reads past
 * the end. */
static void opens_memory_within_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        counter count = {0};
        wb_allocator allocator = counter_allocator(&count);
        wb_open_options options = {.size = sizeof options, .allocator = &allocator};
        uint8_t *exact = malloc(rows[i].n);
        wb_model *model;
        wb_error error;
        memcpy(exact, rows[i].bytes, rows[i].n);
        wb_status status = wb_open_memory(exact, rows[i].n, rows[i].path, &options, &model, &error);
        check_open(&rows[i], status, &error, "memory");
        wb_close(model);
        assert_int_equal(memcmp(exact, rows[i].bytes, rows[i].n), 0); /* the input is unchanged */
        assert_true(count.peak <= 8 * rows[i].n + (1 << 20));
        assert_clean(&count);
        free(exact);
    }
}

/* Opens a file with allocation number `at` failing. Returns false if there were fewer
 * allocations. */
static bool fails_at(const row *r, size_t at, bool for_good)
{
    counter count = {.fail_at = at, .for_good = for_good};
    wb_allocator allocator = counter_allocator(&count);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open_memory(r->bytes, r->n, r->path, &options, &model, &error);
    /* Opening may succeed although an allocation failed: copying the header to a smaller block is
     * optional. */
    if (!count.failed || status == WB_OK)
        check_open(r, status, &error, "after all allocations");
    else if (status != WB_ERROR_MEMORY)
        check_open(r, status, &error, "with a failed allocation");
    wb_close(model);
    assert_clean(&count);
    return count.failed;
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i += is_slow() ? 8 : 1) {
        for (int for_good = 0; for_good < 2; for_good++) {
            size_t at = 1;
            while (fails_at(&rows[i], at, for_good != 0))
                at++;
            assert_true(at > 3 && at < 1000);
        }
    }
}

/* A file that is truncated at any byte must be refused, unless no tensor uses the missing bytes. */
static void refuses_every_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i += is_slow() ? 16 : 1) {
        const row *r = &rows[i];
        size_t step = r->n > 2000 ? 97 : 1;
        for (size_t n = 0; n < r->n; n += step) {
            wb_model *model;
            wb_error error;
            if (wb_open_memory(r->bytes, n, r->path, NULL, &model, &error) == WB_OK) {
                assert_true(r->verdict < 2 || strncmp(r->code, "gguf-", 5) == 0);
                for (uint64_t t = 0; t < wb_tensor_count(model); t++) {
                    wb_tensor tensor = {.size = sizeof tensor};
                    assert_int_equal(wb_tensor_at(model, t, &tensor, NULL), WB_OK);
                    assert_true(tensor.offset <= n && tensor.bytes <= n - tensor.offset);
                }
            }
            wb_close(model);
        }
    }
}

/* Flips each bit, and sets each byte to 0 and to 255. Opening such a file must not crash or leak
 * memory, and memory use must stay within the bound. */
static void survives_every_changed_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i += is_slow() ? 40 : 4) {
        const row *r = &rows[i];
        uint8_t *changed = malloc(r->n + 1);
        memcpy(changed, r->bytes, r->n);
        for (size_t at = 0; at < r->n && at < 400; at++) {
            for (int how = 0; how < 10; how++) {
                counter count = {0};
                wb_allocator allocator = counter_allocator(&count);
                wb_open_options options = {.size = sizeof options, .allocator = &allocator};
                wb_model *model;
                changed[at] = (uint8_t)(how < 8 ? r->bytes[at] ^ 1 << how : how == 8 ? 0 : 255);
                (void)!wb_open_memory(changed, r->n, r->path, &options, &model, NULL);
                wb_close(model);
                assert_true(count.peak <= 8 * r->n + (1 << 20));
                assert_clean(&count);
            }
            changed[at] = r->bytes[at];
        }
        free(changed);
    }
}

static void free_table(void **state)
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
        cmocka_unit_test(read_table),
        cmocka_unit_test(verifies),
        cmocka_unit_test(opens_in_every_mode),
        cmocka_unit_test(opens_memory_within_bounds),
        cmocka_unit_test(survives_every_failing_allocation),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(survives_every_changed_byte),
        cmocka_unit_test(free_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
