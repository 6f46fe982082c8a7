/*
 * Tests that opening a model reads only its header. A file of 8 TiB, almost entirely a hole, must
 * open with and without mapping, and only a small part of it may be loaded into memory. Two
 * processes that map a model must share its pages.
 */
#include "support.h"

#include "weighbridge.h"
#include "weighbridge/experimental.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define TIB (UINT64_C(1) << 40)

static char *folder;

static const char header[] =
    "{\"first\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]},"
    "\"hole\":{\"dtype\":\"F32\",\"shape\":[2199023255552],\"data_offsets\":[16,8796093022224]},"
    "\"last\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[8796093022224,8796093022240]}}";

/* Makes the 8 TiB file. Returns its path, or NULL if the file system does not support this size. */
static char *make_sparse(void)
{
    char *path = text_of("%s/sparse.safetensors", folder);
    st_write(path, header, 16);
    uint64_t bytes = 8 + sizeof header - 1 + 8 * TIB + 32;
    int fd = open(path, O_RDWR);
    bool made = ftruncate(fd, (off_t)bytes) == 0 &&
                pwrite(fd, "0123456789abcdef", 16, (off_t)(bytes - 16)) == 16;
    (void)close(fd);
    if (made)
        return path;
    fprintf(stderr, "the file system of %s has no files of 8 TiB: %s\n", folder, strerror(errno));
    free(path);
    return NULL;
}

static size_t resident(void)
{
    unsigned long all, pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%lu %lu", &all, &pages), 2);
    (void)fclose(statm);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns how many of the first 256 MiB of the file are in the page cache, in bytes. */
static size_t cached(const char *path)
{
    enum { PART = 1 << 28 };
    static unsigned char in_core[PART / 4096];
    size_t sum = 0;
    int fd = open(path, O_RDONLY);
    void *map = mmap(NULL, PART, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mincore(map, PART, in_core), 0);
    for (size_t i = 0; i < sizeof in_core; i++)
        sum += in_core[i] & 1;
    (void)munmap(map, PART);
    (void)close(fd);
    return sum * 4096;
}

static void opens_by_its_header(void **state)
{
    (void)state;
    char *path = make_sparse();
    if (path == NULL)
        skip();
    size_t before = resident(), cached_before = cached(path);
    for (int access = WB_ACCESS_MAP; access <= WB_ACCESS_READ; access++) {
        wb_open_options options = {.size = sizeof options, .access = (wb_access)access};
        wb_model *model;
        wb_error error;
        if (wb_open(path, &options, &model, &error) != WB_OK)
            fail_msg("%s\n", error.message);
        wb_tensor tensor = {.size = sizeof tensor};
        uint64_t i;
        unsigned char bytes[16];
        const void *data;
        assert_int_equal(wb_tensor_find(model, "hole", SIZE_MAX, &i), WB_OK);
        assert_int_equal(wb_tensor_at(model, i, &tensor, NULL), WB_OK);
        assert_true(tensor.bytes == 8 * TIB);
        assert_int_equal(wb_model_check(model, NULL), WB_OK);
        if (!is_slow()) {
            assert_true(resident() < before + (4 << 20));
            assert_true(cached(path) <= cached_before + (1 << 20)); /* with kernel read-ahead */
        }

        /* Tensor data at the end of the file must be accessible. */
        assert_int_equal(wb_tensor_find(model, "last", SIZE_MAX, &i), WB_OK);
        assert_int_equal(wb_tensor_read(model, i, NULL, -1, bytes, 16, &error), WB_OK);
        assert_memory_equal(bytes, "0123456789abcdef", 16);
        wb_status status = wb_tensor_data(model, i, &data, &error);
        if (access == WB_ACCESS_MAP &&
            status == WB_OK) { /* mapping may fail: the address space may be too small */
            assert_memory_equal(data, "0123456789abcdef", 16);
            assert_true(wb_owns_address(model, data));
        } else {
            assert_int_equal(status, WB_ERROR_UNSUPPORTED);
        }
        wb_axis axis = {.start = 2199023255551, .count = 3, .step = -1099511627775};
        wb_slice slice = {.size = sizeof slice, .rank = 1, .axes = &axis, .count = UINT64_MAX};
        assert_int_equal(wb_tensor_read(model, 1, &slice, -1, bytes, 16, &error), WB_OK);
        assert_memory_equal(bytes, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
        wb_close(model);
    }
    free(path);
}

/* ---- reads counted at the source ---- */

typedef struct counting {
    uint64_t bytes_read, furthest;
} counting;

static wb_status count_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    counting *c = ctx;
    static const char length[8] = {(char)((sizeof header - 1) & 0xFF),
                                   (char)((sizeof header - 1) >> 8)};
    for (size_t i = 0; i < n; i++) {
        uint64_t at = offset + i;
        ((char *)dst)[i] = at < 8 ? length[at] : at < 8 + sizeof header - 1 ? header[at - 8] : 'x';
    }
    c->bytes_read += n;
    if (offset + n > c->furthest)
        c->furthest = offset + n;
    *got = n;
    return WB_OK;
}

/* No byte may be read twice. The first read may get up to 4 KiB, and so bytes after the header,
 * because the length of the header is not known before. */
static void reads_its_header_once(void **state)
{
    (void)state;
    counting c = {0, 0};
    wb_source source = {.size = sizeof source,
                        .ctx = &c,
                        .bytes = 8 + sizeof header - 1 + 8 * TIB + 32,
                        .read = count_read};
    wb_model *model;
    assert_int_equal(wb_open_source(&source, "counted", NULL, &model, NULL), WB_OK);
    assert_true(c.bytes_read <= 4096);
    assert_true(c.furthest == c.bytes_read);
    assert_int_equal(wb_tensor_count(model), 3);
    wb_close(model);
}

/* A source that counts the bytes read: a large header must be read only once, and nothing after
 * it. */
typedef struct counted_bytes {
    const unsigned char *bytes;
    size_t present;
    uint64_t read;
} counted_bytes;

static wb_status read_present(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    counted_bytes *c = ctx;
    c->read += n;
    assert_true(offset + n <= c->present);
    memcpy(dst, c->bytes + offset, n);
    *got = n;
    return WB_OK;
}

static void reads_a_large_header_once(void **state)
{
    (void)state;
    size_t len = 0, capacity = 600000, n;
    char *large = malloc(capacity);
    assert_non_null(large);
    large[len++] = '{';
    for (unsigned i = 0; i < 5000; i++)
        len += (size_t)snprintf(large + len, capacity - len,
                                "%s\"t%u\":{\"dtype\":\"F64\",\"shape\":[1000,1000],"
                                "\"data_offsets\":[%llu,%llu]}",
                                i > 0 ? "," : "", i, i * 8000000ULL, (i + 1) * 8000000ULL);
    large[len++] = '}';
    unsigned char *bytes = st_bytes(large, len, 0, &n);
    counted_bytes c = {bytes, n, 0};
    wb_source source = {.size = sizeof source,
                        .ctx = &c,
                        .bytes = n + UINT64_C(5000) * 8000000,
                        .read = read_present};
    wb_model *model;
    assert_int_equal(wb_open_source(&source, "counted", NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_tensor_count(model), 5000);
    assert_true(c.read == n);
    wb_close(model);
    free(bytes);
    free(large);
}

/* ---- two processes ---- */

#define SHARED_BYTES ((size_t)16 << 20)

/* Reads the values Rss and Pss in /proc/self/smaps, in KiB, of the mapping that contains
 * `address`. */
static bool read_smaps(const void *address, unsigned long *rss, unsigned long *pss)
{
    char line[512];
    bool inside = false;
    FILE *smaps = fopen("/proc/self/smaps", "r");
    if (smaps == NULL)
        return false;
    *rss = *pss = 0;
    while (fgets(line, sizeof line, smaps) != NULL) {
        unsigned long long from, to;
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
        if (inside && (sscanf(line, "Rss: %lu", rss) == 1 || sscanf(line, "Pss: %lu", pss) == 1))
            continue;
    }
    (void)fclose(smaps);
    return true;
}

/* Opens the model and reads from every page of its mapped tensor. */
static wb_model *map_shared(const char *path, const void **data)
{
    wb_model *model;
    unsigned sum = 0;
    assert_int_equal(wb_open(path, NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_tensor_data(model, 0, data, NULL), WB_OK);
    for (size_t i = 0; i < SHARED_BYTES; i += 4096)
        sum += ((const unsigned char *)*data)[i];
    assert_true(sum != 1); /* keeps the loop from being optimized away */
    return model;
}

static void shares_its_pages(void **state)
{
    (void)state;
    if (is_slow())
        skip(); /* under valgrind, the system reports the memory maps of valgrind */
    char *path = text_of("%s/shared.safetensors", folder);
    char *text = text_of("{\"t\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":[0,%zu]}}",
                         SHARED_BYTES, SHARED_BYTES);
    st_write(path, text, SHARED_BYTES);
    free(text);
    int ready[2], finish[2], status;
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(finish), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const void *data;
        wb_model *model = map_shared(path, &data);
        bool told = write(ready[1], "r", 1) == 1 && read(finish[0], &byte, 1) == 1;
        wb_close(model);
        _exit(told ? 0 : 1);
    }
    const void *data;
    unsigned long rss, pss;
    wb_model *model = map_shared(path, &data);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    bool known = read_smaps(data, &rss, &pss);
    assert_int_equal(write(finish[1], "f", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wb_close(model);
    free(path);
    if (!known || pss == 0)
        skip();
    assert_true(rss >= SHARED_BYTES / 1024);
    if (pss < rss * 45 / 100 || pss > rss * 55 / 100)
        fail_msg("%lu KiB of %lu are this process's share\n", pss, rss);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_by_its_header), cmocka_unit_test(reads_its_header_once),
        cmocka_unit_test(reads_a_large_header_once), cmocka_unit_test(shares_its_pages)};
    folder = scratch_make();
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    return failures;
}
