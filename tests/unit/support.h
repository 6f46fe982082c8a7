/*
 * support.h: helpers for the unit tests: a counting allocator that can fail, scratch directories,
 * and safetensors files built from a header and a number of data bytes. Include it first.
 */
#ifndef WB_TESTS_SUPPORT_H
#define WB_TESTS_SUPPORT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define _FILE_OFFSET_BITS 64

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weighbridge.h"

/* ---- counting allocator ---- */

typedef struct counter {
    size_t live;    /* number of allocated bytes that are not freed */
    size_t peak;    /* maximum of `live`, in bytes */
    size_t blocks;  /* number of allocated blocks that are not freed */
    size_t calls;   /* number of allocation calls */
    size_t fail_at; /* number of the call that fails, counted from 1; 0: none */
    bool for_good;  /* all later calls fail as well */
    bool failed;    /* a call has failed */
    bool wrong;     /* a block was freed with a size other than its allocated size */
} counter;

/* Bytes in front of each block, which contain its size; a multiple of the alignment of malloc. */
#define COUNTER_HEAD 16

static inline void *counter_alloc(void *ctx, size_t bytes)
{
    counter *c = ctx;
    c->calls++;
    if (c->fail_at != 0 && (c->calls == c->fail_at || (c->for_good && c->calls > c->fail_at))) {
        c->failed = true;
        return NULL;
    }
    if (bytes > SIZE_MAX - COUNTER_HEAD)
        return NULL;
    unsigned char *block = malloc(bytes + COUNTER_HEAD);
    if (block == NULL)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    c->live += bytes;
    c->blocks++;
    if (c->live > c->peak)
        c->peak = c->live;
    return block + COUNTER_HEAD;
}

static inline void counter_free(void *ctx, void *memory, size_t bytes)
{
    counter *c = ctx;
    unsigned char *block = (unsigned char *)memory - COUNTER_HEAD;
    size_t allocated;
    memcpy(&allocated, block, sizeof allocated);
    c->wrong |= allocated != bytes;
    c->live -= allocated;
    c->blocks--;
    free(block);
}

static inline wb_allocator counter_allocator(counter *c)
{
    return (wb_allocator){c, counter_alloc, counter_free};
}

/* Checks that all memory was freed, each block with its allocated size. */
static inline void assert_clean(const counter *c)
{
    assert_false(c->wrong);
    assert_int_equal(c->blocks, 0);
    assert_int_equal(c->live, 0);
}

/* ---- files ---- */

static inline char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns a formatted string. The caller frees it. */
static inline char *text_of(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (n < 0)
        abort();
    return text;
}

/* Creates a scratch directory. scratch_remove deletes it with its contents. */
static inline char *scratch_make(void)
{
    const char *base = getenv("TMPDIR");
    char *path = text_of("%s/wb-unit-XXXXXX", base == NULL || *base == '\0' ? "/tmp" : base);
    assert_non_null(mkdtemp(path));
    return path;
}

static inline int scratch_remove_entry(const char *path, const struct stat *st, int kind,
                                       struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void scratch_remove(char *path)
{
    (void)nftw(path, scratch_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

static inline void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(n == 0 ? 0 : fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Returns the contents of a file, followed by a NUL byte. The caller frees them. */
static inline unsigned char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: %s\n", path, strerror(errno));
    struct stat st;
    assert_int_equal(fstat(fileno(file), &st), 0);
    *n = (size_t)st.st_size;
    unsigned char *bytes = malloc(*n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    bytes[*n] = '\0';
    assert_int_equal(fclose(file), 0);
    return bytes;
}

/* ---- safetensors ---- */

static inline void put_length(unsigned char *to, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(n >> 8 * i);
}

/* Makes a safetensors file: the length of the header, the header, and `data` bytes with the values
 * 0, 1, 2, … The caller frees it. */
static inline unsigned char *st_bytes(const char *header, size_t header_len, size_t data, size_t *n)
{
    *n = 8 + header_len + data;
    unsigned char *bytes = malloc(*n);
    assert_non_null(bytes);
    put_length(bytes, header_len);
    memcpy(bytes + 8, header, header_len);
    for (size_t i = 0; i < data; i++)
        bytes[8 + header_len + i] = (unsigned char)i;
    return bytes;
}

static inline void st_write(const char *path, const char *header, size_t data)
{
    size_t n;
    unsigned char *bytes = st_bytes(header, strlen(header), data, &n);
    write_file(path, bytes, n);
    free(bytes);
}

/* ---- others ---- */

/* Returns true under valgrind. Programs are about 50 times slower under valgrind than without it,
 * so tests run fewer cases. */
static inline bool is_slow(void)
{
    return getenv("WB_TEST_SLOW") != NULL;
}

/* Returns a pseudorandom number (xorshift64*: Vigna, 2014). */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

#endif
