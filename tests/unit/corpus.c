/*
 * Opens and verifies every file of data/bad/safetensors in strict and compatible mode, with each
 * access mode and from memory. Status, code, offset and name of the error must be those in
 * safetensors.tsv. A refused file must give one FATAL finding. All memory must be freed, and
 * nothing may be printed.
 */
#include "support.h"

#include <dirent.h>

#define FOLDER TEST_DATA "/bad/safetensors/"

typedef struct expectation {
    bool accept;
    const char *code;
    uint64_t offset;
    const char *name;
} expectation;

typedef struct row {
    const char *file;
    expectation mode[2]; /* compatible, strict */
} row;

static unsigned char *table_text;
static row rows[400];
static size_t row_count;

static expectation parse_expectation(char **cells)
{
    expectation e = {.accept = strcmp(cells[0], "accept") == 0, .code = cells[1], .name = cells[3]};
    e.offset = strtoull(cells[2], NULL, 10);
    if (strcmp(e.name, "-") == 0)
        e.name = "";
    return e;
}

static void load_table(void)
{
    size_t n;
    table_text = read_file(TEST_DATA "/bad/safetensors.tsv", &n);
    for (char *line = (char *)table_text; *line != '\0';) {
        char *cells[9];
        char *end = line + strcspn(line, "\n");
        char *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        for (size_t i = 0; i < 9; i++) {
            cells[i] = line;
            line += strcspn(line, "\t");
            if (*line != '\0')
                *line++ = '\0';
        }
        rows[row_count].file = cells[0];
        rows[row_count].mode[0] = parse_expectation(cells + 1);
        rows[row_count].mode[1] = parse_expectation(cells + 5);
        row_count++;
        assert_true(row_count < sizeof rows / sizeof rows[0]);
        line = next;
    }
}

static void check_error(const row *r, const expectation *e, const char *code, uint64_t offset,
                        const char *name, const char *file)
{
    if (strcmp(code, e->code) != 0 || offset != e->offset || strcmp(name, e->name) != 0)
        fail_msg("%s: %s at %llu, name '%s'; expected %s at %llu, name '%s'\n", r->file, code,
                 (unsigned long long)offset, name, e->code, (unsigned long long)e->offset, e->name);
    assert_non_null(strstr(file, r->file));
}

/* Reads all tensors and metadata of an accepted file, so that sanitizers check these reads. */
static void walk(const wb_model *model)
{
    unsigned char bytes[256];
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        uint64_t found;
        assert_int_equal(wb_tensor_at(model, i, &tensor, NULL), WB_OK);
        assert_int_equal(wb_tensor_find(model, tensor.name, tensor.name_len, &found), WB_OK);
        assert_int_equal(found, i);
        assert_int_equal(tensor.name[tensor.name_len], '\0');
        if (tensor.bytes <= sizeof bytes)
            assert_int_equal(wb_tensor_read(model, i, NULL, -1, bytes, sizeof bytes, NULL), WB_OK);
    }
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        const char *value;
        size_t len;
        assert_int_equal(wb_meta_at(model, i, &meta, NULL), WB_OK);
        assert_int_equal(wb_meta_get_string(model, meta.key, meta.key_len, &value, &len, NULL),
                         WB_OK);
    }
}

enum way { MAP, READ, SNAPSHOT, MEMORY, WAYS };

static void open_one(const row *r, const expectation *e, enum way way, uint32_t flags)
{
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_open_options options = {.size = sizeof options, .flags = flags, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    wb_status status;
    unsigned char *bytes = NULL;
    size_t n;
    char *path = text_of(FOLDER "%s", r->file);
    if (way == MEMORY) {
        bytes = read_file(path, &n);
        status = wb_open_memory(bytes, n, r->file, &options, &model, &error);
    } else {
        options.access = (wb_access)way;
        status = wb_open(path, &options, &model, &error);
    }
    if (e->accept != (status == WB_OK))
        fail_msg("%s, way %d, flags %u: %s (%s)\n", r->file, (int)way, (unsigned)flags,
                 wb_status_name(status), error.message);
    if (status == WB_OK) {
        walk(model);
    } else {
        assert_null(model);
        if (status != WB_ERROR_FORMAT && status != WB_ERROR_LIMIT)
            fail_msg("%s, way %d: %s, %s\n", r->file, (int)way, wb_status_name(status),
                     error.message);
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != '\0');
        check_error(r, e, error.code, error.offset, error.name, error.file);
    }
    wb_close(model);
    free(bytes);
    free(path);
    assert_clean(&memory);
}

static void verify_one(const row *r, const expectation *e, uint32_t flags)
{
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_open_options open = {.size = sizeof open, .flags = flags, .allocator = &allocator};
    wb_verify_options options = {.size = sizeof options, .open = &open};
    wb_findings *findings;
    wb_error error;
    size_t fatal = 0;
    char *path = text_of(FOLDER "%s", r->file);
    assert_int_equal(wb_verify(path, &options, &findings, &error), WB_OK);
    assert_int_equal(error.status, WB_OK);
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(findings, i, &finding), WB_OK);
        if (finding.severity != WB_FATAL)
            continue;
        fatal++;
        check_error(r, e, finding.code, finding.offset, finding.name, finding.file);
    }
    assert_int_equal(fatal, e->accept ? 0 : 1);
    if (e->accept != (wb_findings_verdict(findings) < 2))
        fail_msg("%s: verdict %d\n", r->file, wb_findings_verdict(findings));
    wb_findings_free(findings);
    free(path);
    assert_clean(&memory);
}

static void run_mode(const expectation *(*select)(const row *r), uint32_t flags)
{
    for (size_t i = 0; i < row_count; i++) {
        for (int way = 0; way < WAYS; way++)
            open_one(&rows[i], select(&rows[i]), (enum way)way, flags);
        verify_one(&rows[i], select(&rows[i]), flags);
    }
}

static const expectation *compatible_column(const row *r)
{
    return &r->mode[0];
}

static const expectation *strict_column(const row *r)
{
    return &r->mode[1];
}

static void strict(void **state)
{
    (void)state;
    run_mode(strict_column, 0);
}

static void compatible(void **state)
{
    (void)state;
    run_mode(compatible_column, WB_OPEN_COMPATIBLE);
}

static void table_has_every_file(void **state)
{
    size_t files = 0;
    (void)state;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        files += strstr(entry->d_name, ".safetensors") != NULL;
    (void)closedir(folder);
    assert_int_equal(files, row_count);
    assert_true(files >= 200);
}

/* Checks that the library prints nothing: stdout and stderr go to a file, which must stay empty. */
static void prints_nothing(void **state)
{
    (void)state;
    FILE *sink = tmpfile();
    assert_non_null(sink);
    (void)fflush(NULL);
    int out = dup(1), err = dup(2);
    assert_true(out >= 0 && err >= 0);
    assert_true(dup2(fileno(sink), 1) == 1 && dup2(fileno(sink), 2) == 2);
    for (size_t i = 0; i < row_count; i++) {
        verify_one(&rows[i], strict_column(&rows[i]), 0);
        open_one(&rows[i], compatible_column(&rows[i]), MAP, WB_OPEN_COMPATIBLE);
    }
    (void)fflush(NULL);
    assert_true(dup2(out, 1) == 1 && dup2(err, 2) == 2);
    (void)close(out);
    (void)close(err);
    struct stat st;
    assert_int_equal(fstat(fileno(sink), &st), 0);
    assert_int_equal(st.st_size, 0);
    (void)fclose(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(table_has_every_file),
                                       cmocka_unit_test(strict), cmocka_unit_test(compatible),
                                       cmocka_unit_test(prints_nothing)};
    load_table();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    free(table_text);
    return failures;
}
