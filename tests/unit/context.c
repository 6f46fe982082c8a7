/* Tests core/context.h (errors, findings, deviations) and core/endian.h. */
#include "support.h"

#include "core/core.h"

typedef struct fixture {
    counter memory;
    wb_allocator allocator;
    wb_findings findings;
    wb_error error;
    wb__context context;
} fixture;

static void begin(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->allocator = counter_allocator(&f->memory);
    wb__findings_init(&f->findings, &f->allocator);
    f->context = (wb__context){.allocator = f->allocator,
                               .file = "dir/model\n.safetensors",
                               .error = &f->error,
                               .findings = &f->findings};
}

static void end(fixture *f)
{
    wb__findings_clear(&f->findings);
    assert_clean(&f->memory);
}

static void fails_with_all_it_knows(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    wb_status status = wb__fail(&f.context, WB_ERROR_FORMAT, WB__FINDING_ST_OFFSETS, 42,
                                (wb__str){"a\0b", 3}, "begin %d", 7);
    assert_int_equal(status, WB_ERROR_FORMAT);
    assert_int_equal(f.error.status, WB_ERROR_FORMAT);
    assert_int_equal(f.error.offset, 42);
    assert_int_equal(f.error.os_error, 0);
    assert_string_equal(f.error.code, "safetensors-offsets");
    assert_string_equal(f.error.file, "dir/model\\x0a.safetensors");
    assert_string_equal(f.error.name, "a\\x00b");
    assert_string_equal(f.error.message, "begin 7");
    assert_string_equal(f.error.advice, wb__finding_advice(WB__FINDING_ST_OFFSETS));
    assert_int_equal(f.findings.count, 0);
    end(&f);
}

static void cuts_what_is_long(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    char *longer = malloc(100000);
    assert_non_null(longer);
    memset(longer, 'n', 100000);
    longer[99999] = '\0';
    f.context.file = longer;
    (void)wb__fail(&f.context, WB_ERROR_FORMAT, WB__FINDING_ST_JSON, 0, (wb__str){longer, 99999},
                   "%s", longer);
    assert_true(strlen(f.error.file) < sizeof f.error.file);
    assert_string_equal(f.error.name + sizeof f.error.name - 5, "n...");
    assert_int_equal(strlen(f.error.message), sizeof f.error.message - 1);
    free(longer);
    end(&f);
}

static void names_failures_of_the_system(void **state)
{
    (void)state;
    static const struct {
        int os_error;
        wb_status status;
    } rows[] = {{ENOENT, WB_ERROR_NOT_FOUND}, {ENOTDIR, WB_ERROR_NOT_FOUND}, {EACCES, WB_ERROR_IO},
                {EIO, WB_ERROR_IO},           {ENOMEM, WB_ERROR_MEMORY},     {123456, WB_ERROR_IO}};
    fixture f;
    begin(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(wb__fail_os(&f.context, rows[i].os_error, "cannot open"), rows[i].status);
        assert_int_equal(f.error.os_error, rows[i].os_error);
        assert_true(strncmp(f.error.message, "cannot open: ", 13) == 0);
        assert_true(f.error.offset == WB_NO_OFFSET);
    }
    assert_int_equal(wb__fail_memory(&f.context), WB_ERROR_MEMORY);
    assert_string_equal(f.error.code, "out-of-memory");
    assert_int_equal(f.error.os_error, 0);
    end(&f);
}

static void deviates(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(wb__deviation(&f.context, WB__FINDING_ST_SPELLING, 9, WB__STR("t"), "odd"),
                     WB_ERROR_FORMAT);
    assert_int_equal(f.error.offset, 9);
    assert_int_equal(f.findings.count, 0);
    f.context.compatible = true;
    (void)wb__error_reset(&f.error, &f.error);
    assert_int_equal(wb__deviation(&f.context, WB__FINDING_ST_SPELLING, 9, WB__STR("t"), "odd"),
                     WB_OK);
    assert_int_equal(f.error.status, WB_OK);
    assert_int_equal(f.findings.count, 1);
    assert_int_equal(f.findings.list[0].severity, WB_INFO);
    assert_string_equal(f.findings.list[0].code, "safetensors-spelling");
    assert_int_equal(wb_findings_verdict(&f.findings), 0);
    f.context.findings = NULL; /* without a list, findings are discarded */
    assert_int_equal(wb__deviation(&f.context, WB__FINDING_ST_SPELLING, 9, WB__STR("t"), "odd"),
                     WB_OK);
    end(&f);
}

/* At most 1,000 findings are stored. The finding of an error is stored in addition. */
static void keeps_a_bounded_list(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(
            wb__note(&f.context, WB_INFO, WB__FINDING_VALUES_BOOL, 0, WB__STR("t"), "number %d", i),
            WB_OK);
    assert_int_equal(f.findings.count, 1000);
    assert_string_equal(f.findings.list[999].message, "number 999");
    assert_int_equal(wb_findings_verdict(&f.findings), 0);
    (void)wb__fail(&f.context, WB_ERROR_FORMAT, WB__FINDING_ST_JSON, 1, WB__STR(""), "why");
    assert_true(wb__findings_add_error(&f.findings, &f.error, WB_FATAL));
    assert_int_equal(f.findings.count, 1001);
    assert_int_equal(wb_findings_verdict(&f.findings), 2);
    end(&f);
}

static void verdicts(void **state)
{
    (void)state;
    static const int expected[] = {0, 1, 1, 2};
    for (int severity = WB_INFO; severity <= WB_FATAL; severity++) {
        fixture f;
        begin(&f);
        assert_int_equal(wb_findings_verdict(&f.findings), 0);
        (void)wb__note(&f.context, WB_INFO, WB__FINDING_IO, 0, WB__STR(""), "x");
        (void)wb__note(&f.context, (wb_severity)severity, WB__FINDING_IO, 0, WB__STR(""), "x");
        assert_int_equal(wb_findings_verdict(&f.findings), expected[severity]);
        wb_finding finding = {.size = sizeof finding};
        assert_int_equal(wb_findings_at(&f.findings, 1, &finding), WB_OK);
        assert_int_equal(finding.severity, severity);
        assert_int_equal(wb_findings_at(&f.findings, 2, &finding), WB_ERROR_NOT_FOUND);
        assert_null(finding.code);
        finding.size = 3;
        assert_int_equal(wb_findings_at(&f.findings, 0, &finding), WB_ERROR_ARGUMENT);
        end(&f);
    }
}

static void finding_codes_are_unique(void **state)
{
    (void)state;
    for (int i = 0; i < WB__FINDING_COUNT; i++) {
        const char *code = wb__finding_code((wb__finding_id)i);
        assert_true(strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(code));
        assert_true(strlen(wb__finding_advice((wb__finding_id)i)) <
                    sizeof(((wb_error *)0)->advice));
        for (int k = 0; k < i; k++)
            assert_true(strcmp(code, wb__finding_code((wb__finding_id)k)) != 0);
    }
}

static void integers_in_bytes(void **state)
{
    (void)state;
    static const uint8_t bytes[9] = {0xAA, 1, 2, 3, 4, 5, 6, 7, 0x88};
    uint8_t out[9] = {0xAA};
    assert_int_equal(wb__load_le16(bytes + 1), 0x0201);
    assert_true(wb__load_le32(bytes + 5) == 0x88070605);
    assert_true(wb__load_le64(bytes + 1) == UINT64_C(0x8807060504030201));
    wb__store_le64(out + 1, UINT64_C(0x8807060504030201));
    assert_memory_equal(out, bytes, 9);
    wb__store_le32(out + 2, 0x12345678);
    wb__store_le16(out + 7, 0xBEEF);
    assert_memory_equal(out, "\xAA\x01\x78\x56\x34\x12\x06\xEF\xBE", 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fails_with_all_it_knows),      cmocka_unit_test(cuts_what_is_long),
        cmocka_unit_test(names_failures_of_the_system), cmocka_unit_test(deviates),
        cmocka_unit_test(keeps_a_bounded_list),         cmocka_unit_test(verdicts),
        cmocka_unit_test(finding_codes_are_unique),     cmocka_unit_test(integers_in_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
