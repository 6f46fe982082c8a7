/*
 * Tests files that another program truncates, overwrites, replaces or removes while they are open,
 * with each access mode and each operation on the model. Reading missing bytes must give an error
 * that names the file. Data copied to memory must stay valid. wb_model_check must report the
 * change. If an access to a mapping faults, wb_owns_address must recognize the address.
 */
#include "support.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

enum { EACH = 50000, DATA = 2 * EACH, CUT = EACH + 20000 };

static const char header[] =
    "{\"model.embed_tokens.weight\":{\"dtype\":\"U8\",\"shape\":[50000],\"data_offsets\":[0,50000]}"
    ","
    "\"model.norm.weight\":{\"dtype\":\"U8\",\"shape\":[50000],\"data_offsets\":[50000,100000]}}";
#define DATA_AT (8 + sizeof header - 1)

static char *folder, *path;

static void make(void)
{
    st_write(path, header, DATA);
}

static wb_model *open_as(wb_access access)
{
    wb_open_options options = {.size = sizeof options, .access = access};
    wb_model *model;
    wb_error error;
    make();
    if (wb_open(path, &options, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return model;
}

/* ---- changes by other programs ---- */

static void shorten(void)
{
    assert_int_equal(truncate(path, (off_t)(DATA_AT + CUT)), 0);
}

static void overwrite(void)
{
    unsigned char bytes[EACH];
    memset(bytes, 0xEE, sizeof bytes);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pwrite(fd, bytes, sizeof bytes, (off_t)(DATA_AT + (size_t)i * EACH)),
                         EACH);
    /* Set the time too: if the clock is coarse, the write might not change it. */
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(close(fd), 0);
}

static void replace(void)
{
    char *other = text_of("%s/other", folder);
    size_t n;
    unsigned char *bytes = st_bytes(header, sizeof header - 1, DATA, &n);
    memset(bytes + DATA_AT, 0xEE, DATA);
    write_file(other, bytes, n);
    assert_int_equal(rename(other, path), 0);
    free(bytes);
    free(other);
}

static void delete(void)
{
    assert_int_equal(unlink(path), 0);
}

/* ---- operations on the model after the change ---- */

/* Reads the second tensor, which a truncated file no longer fully contains. */
static wb_status read_it(const wb_model *model, wb_error *error, unsigned char *first)
{
    static unsigned char bytes[EACH];
    memset(bytes, 1, sizeof bytes);
    wb_status status = wb_tensor_read(model, 1, NULL, -1, bytes, sizeof bytes, error);
    *first = bytes[0];
    for (size_t i = 0; i < sizeof bytes && status != WB_OK; i++)
        assert_int_equal(bytes[i], 0); /* a failed call returns no data */
    return status;
}

static wb_status verify_it(const wb_model *model, wb_error *error)
{
    wb_verify_options deep = {.size = sizeof deep, .flags = WB_VERIFY_DEEP};
    wb_findings *findings;
    wb_status status = wb_verify_model(model, &deep, &findings, error);
    assert_true((status == WB_OK) == (findings != NULL));
    wb_findings_free(findings);
    return status;
}

static wb_status hash_it(const wb_model *model, wb_error *error)
{
    wb_hash_options options = {.size = sizeof options, .flags = WB_HASH_FILES};
    wb_hashes *hashes;
    wb_status status = wb_hash_model(model, &options, &hashes, error);
    wb_hashes_free(hashes);
    return status;
}

static wb_status load_by(const wb_model *model, wb_io io, wb_error *error)
{
    wb_load_options options = {.size = sizeof options, .io = io};
    wb_load_report report = {.size = sizeof report};
    return wb_load(model, &options, &report, error);
}

static wb_status load_it(const wb_model *model, wb_error *error)
{
    return load_by(model, WB_IO_READ, error);
}

static wb_status load_directly(const wb_model *model, wb_error *error)
{
    return load_by(model, WB_IO_DIRECT, error);
}

/* Gets the tensor from a provider, in a buffer that does not share memory with the model. */
static wb_status provide_it(const wb_model *model, wb_error *error)
{
    wb_host_options options = {.size = sizeof options, .flags = WB_HOST_COPY};
    wb_device device;
    wb_provider *provider;
    wb_buffer buffer = {.size = sizeof buffer};
    assert_int_equal(wb_device_host(&options, &device, NULL), WB_OK);
    assert_int_equal(wb_provider_create(model, &device, NULL, &provider, NULL), WB_OK);
    wb_status status = wb_provider_get(provider, "output_norm.weight", SIZE_MAX, &buffer, error);
    assert_true((status == WB_OK) == (buffer.contents != NULL));
    wb_provider_destroy(provider);
    wb_device_close(&device);
    return status;
}

static const struct {
    const char *name;
    wb_status (*use)(const wb_model *model, wb_error *error);
    bool minds; /* the operation fails after any change of the file */
} uses[] = {{"verify", verify_it, false},
            {"hash", hash_it, true},
            {"load", load_it, false},
            {"load past the cache", load_directly, false},
            {"provide", provide_it, false}};

static const struct {
    const char *name;
    void (*change)(void);
    bool cuts;     /* the change removes bytes of the open file */
    bool in_place; /* the change is to the open file, so later reads return the new bytes */
} changes[] = {{"shortened", shorten, true, true},
               {"overwritten", overwrite, false, true},
               {"replaced", replace, false, false},
               {"removed", delete, false, false}};

static void check_use(wb_access access, size_t change, size_t use)
{
    wb_error error;
    wb_model *model = open_as(access);
    changes[change].change();
    bool gone = changes[change].cuts && access != WB_ACCESS_SNAPSHOT;
    wb_status status = uses[use].use(model, &error);
    if (status == WB_ERROR_UNSUPPORTED && access != WB_ACCESS_READ) { /* nothing to fetch */
        wb_close(model);
        return;
    }
    bool told = uses[use].minds && access != WB_ACCESS_SNAPSHOT;
    if (status != (gone ? WB_ERROR_IO : told ? WB_ERROR_CHANGED : WB_OK))
        fail_msg("%s, %s, access %d: %s\n", changes[change].name, uses[use].name, (int)access,
                 wb_status_name(status));
    if (gone) {
        assert_string_equal(error.code, "file-ends-early");
        assert_int_equal(error.offset, DATA_AT + CUT);
        assert_string_equal(error.file, path);
    }
    wb_close(model);
}

static void used_afterwards(void **state)
{
    (void)state;
    for (int access = WB_ACCESS_MAP; access <= WB_ACCESS_SNAPSHOT; access++) {
        for (size_t change = 0; change < sizeof changes / sizeof changes[0]; change++) {
            for (size_t use = 0; use < sizeof uses / sizeof uses[0]; use++)
                check_use((wb_access)access, change, use);
        }
    }
}

/* wb_tensor_read uses the file in every access mode, never the mapping, so it cannot fault. */
static void read_afterwards(void **state)
{
    (void)state;
    for (int access = WB_ACCESS_MAP; access <= WB_ACCESS_SNAPSHOT; access++) {
        for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
            wb_error error;
            unsigned char first;
            bool own = access == WB_ACCESS_SNAPSHOT;
            wb_model *model = open_as((wb_access)access);
            assert_int_equal(wb_model_check(model, NULL), WB_OK);
            changes[i].change();
            wb_status status = read_it(model, &error, &first);
            assert_int_equal(status, changes[i].cuts && !own ? WB_ERROR_IO : WB_OK);
            if (status == WB_OK)
                assert_int_equal(first, changes[i].in_place && !own ? 0xEE : EACH % 256);
            assert_int_equal(wb_model_check(model, &error), own ? WB_OK : WB_ERROR_CHANGED);
            if (!own) {
                assert_string_equal(error.code, "file-changed");
                assert_string_equal(error.file, path);
            }
            wb_close(model);
        }
    }
}

/* A truncated file cannot be opened in any access mode. */
static void opened_afterwards(void **state)
{
    (void)state;
    for (int access = WB_ACCESS_MAP; access <= WB_ACCESS_SNAPSHOT; access++) {
        static const size_t lengths[] = {0, 4, 40, DATA_AT - 1, DATA_AT, DATA_AT + CUT};
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            wb_open_options options = {.size = sizeof options, .access = (wb_access)access};
            wb_model *model;
            wb_error error;
            make();
            assert_int_equal(truncate(path, (off_t)lengths[i]), 0);
            assert_int_equal(wb_open(path, &options, &model, &error), WB_ERROR_FORMAT);
            assert_null(model);
            assert_string_equal(error.file, path);
        }
    }
}

/* ---- mappings ---- */

static sigjmp_buf back;
static void *volatile fault_at;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    fault_at = info->si_addr;
    siglongjmp(back, 1);
}

static void mapped_afterwards(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;
    wb_model *model = open_as(WB_ACCESS_MAP), *other = open_as(WB_ACCESS_READ);
    const void *data = NULL;
    assert_int_equal(wb_tensor_data(model, 1, &data, NULL), WB_OK);
    const volatile unsigned char *bytes = data;
    assert_int_equal(bytes[EACH - 1], (DATA - 1) % 256);
    shorten();
    assert_int_equal(sigaction(SIGBUS, &action, &before), 0);
    bool faulted = sigsetjmp(back, 1) != 0;
    if (!faulted)
        (void)bytes[EACH - 1]; /* the file no longer has a page at this address */
    assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
    assert_true(faulted);
    assert_int_equal(wb_owns_address(model, fault_at), 1);
    assert_int_equal(wb_owns_address(other, fault_at), 0);
    assert_int_equal(wb_owns_address(model, &model), 0);
    wb_close(model);
    wb_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_afterwards),
        cmocka_unit_test(read_afterwards),
        cmocka_unit_test(opened_afterwards),
        cmocka_unit_test(mapped_afterwards),
    };
    folder = scratch_make();
    path = text_of("%s/m.safetensors", folder);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    free(path);
    scratch_remove(folder);
    return failures;
}
