/*
 * Makes a GGUF header of about BYTES bytes and opens it with wb_open_source, whose instructions
 * tests/check/linearity.sh counts. Fails if memory use exceeds 8 times the size of the file by
 * more than 1 MiB. A family is one kind of valid or hostile header.
 *
 *   linearity_gguf FAMILY BYTES
 *   linearity_gguf --list        prints a line for each family: its name, and the name of the valid
 *                                family to compare it with, or "-"
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weighbridge.h"

enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR };

#define TENSOR_BYTES 4000 /* data per tensor, in bytes; a multiple of the alignment */

typedef struct header {
    uint8_t *bytes;
    size_t n;
    uint64_t data; /* size of the data section, in bytes */
} header;

static void put(header *h, const void *bytes, size_t n)
{
    memcpy(h->bytes + h->n, bytes, n);
    h->n += n;
}

static void put_uint(header *h, uint64_t v, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < width; i++)
        bytes[i] = (uint8_t)(v >> 8 * i);
    put(h, bytes, width);
}

static void put_text(header *h, const char *text, size_t n)
{
    put_uint(h, n, 8);
    put(h, text, n);
}

/* ---- tensors ---- */

typedef struct extent {
    uint64_t columns, rows, offset;
    uint32_t type;
} extent;

static void put_named(header *h, const char *name, extent e)
{
    put_text(h, name, strlen(name));
    put_uint(h, 2, 4);
    put_uint(h, e.columns, 8);
    put_uint(h, e.rows, 8);
    put_uint(h, e.type, 4);
    put_uint(h, e.offset, 8);
}

static void put_tensor(header *h, unsigned long i, extent e)
{
    char name[64];
    (void)snprintf(name, sizeof name, "blk.%03lu.attn_q.part_%06lu.weight", i / 20 % 1000, i);
    put_named(h, name, e);
}

static extent at_place(unsigned long place)
{
    return (extent){8, 125, (uint64_t)place * TENSOR_BYTES, 0};
}

static void honest(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    h->data += TENSOR_BYTES;
    put_tensor(h, i, at_place(i));
}

static void reversed(header *h, unsigned long i, unsigned long n)
{
    h->data += TENSOR_BYTES;
    put_tensor(h, i, at_place(n - 1 - i));
}

static void shuffled(header *h, unsigned long i, unsigned long n)
{
    h->data += TENSOR_BYTES;
    put_tensor(h, i,
               at_place(i * 7919 % n)); /* a permutation, because n is never a multiple of 7919 */
}

/* Writes overlapping tensors, which the library refuses after it has read the header. */
static void overlapping(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    h->data += TENSOR_BYTES;
    put_tensor(h, i, at_place(0));
}

static void own_shapes(header *h, unsigned long i, unsigned long n)
{
    extent e = {8, 125 + i, h->data, 0};
    (void)n;
    put_tensor(h, i, e);
    h->data += e.columns * e.rows * 4;
}

static void all_empty(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_tensor(h, i, (extent){0, i, 0, 0});
}

static void alternating_types(header *h, unsigned long i, unsigned long n)
{
    static const uint32_t types[] = {0, 1, 8, 12, 14, 2, 24, 28, 30, 20, 39};
    (void)n;
    put_tensor(h, i, (extent){256, 0, 0, types[i % 11]});
}

/* Writes names that differ only in 6 bytes in the middle. */
static void like_names(header *h, unsigned long i, unsigned long n)
{
    char name[64];
    (void)n;
    (void)snprintf(name, sizeof name, "aaaaaaaaaaaa%06luaaaaaaaaaaaaaaaaa", i);
    h->data += TENSOR_BYTES;
    put_named(h, name, at_place(i));
}

/* Writes tensors of which the last has the name of the first. */
static void twice(header *h, unsigned long i, unsigned long n)
{
    h->data += TENSOR_BYTES;
    put_tensor(h, i + 1 == n ? 0 : i, at_place(i));
}

/* ---- entries ---- */

static void put_key(header *h, const char *format, unsigned long i, uint32_t type)
{
    char key[64];
    int n = snprintf(key, sizeof key, format, i);
    put_text(h, key, (size_t)n);
    put_uint(h, type, 4);
}

#define KEY "llama.block.%08lu"

static void entry(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, KEY, i, U32);
    put_uint(h, i, 4);
}

static void like_keys(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, "aaaa%08luaaaaaaaa", i, U32);
    put_uint(h, i, 4);
}

static void key_twice(header *h, unsigned long i, unsigned long n)
{
    entry(h, i + 1 == n ? 0 : i, n);
}

/* Writes keys that cause one finding each. */
static void odd_keys(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, "LLAMA block %08lu", i, U32);
    put_uint(h, i, 4);
}

static void short_strings(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, "llama.%06lu", i, STR);
    put_text(h, "text", 4);
}

static void bad_strings(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, "llama.%06lu", i, STR);
    put_text(h, "tex\xFF", 4);
}

static void short_arrays(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, "llama.%06lu", i, ARR);
    put_uint(h, U32, 4);
    put_uint(h, 1, 8);
    put_uint(h, i, 4);
}

static void empty_arrays(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, "llama.%08lu__", i, ARR);
    put_uint(h, i % 3 == 0 ? ARR : STR, 4);
    put_uint(h, 0, 8);
}

static void nested_arrays(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_key(h, "llama.%06lu", i, ARR);
    put_uint(h, ARR, 4);
    put_uint(h, 1, 8);
    put_uint(h, U8, 4);
    put_uint(h, 0, 8);
}

/* ---- elements of one array ---- */

static void begin_array(header *h, unsigned long n, uint32_t type)
{
    put_key(h, "a%lu", n % 10, ARR);
    put_uint(h, type, 4);
    put_uint(h, n, 8);
}

static void begin_strings(header *h, unsigned long n)
{
    begin_array(h, n, STR);
}

static void begin_arrays(header *h, unsigned long n)
{
    begin_array(h, n, ARR);
}

static void begin_nest(header *h, unsigned long n)
{
    (void)n;
    begin_array(h, 1, ARR);
}

static void word(header *h, unsigned long i, unsigned long n)
{
    char text[32];
    (void)n;
    put_text(h, text, (size_t)snprintf(text, sizeof text, "word-word-%06lu", i % 1000000));
}

/* Writes strings of zero bytes. Any 8 of these bytes look like the length of an empty string, so
 * the reader guesses wrong offsets of strings (src/formats/gguf/gguf_strings.c). */
static void zeros(header *h, unsigned long i, unsigned long n)
{
    static const char text[16];
    (void)i;
    (void)n;
    put_text(h, text, sizeof text);
}

static void uneven(header *h, unsigned long i, unsigned long n)
{
    static const char text[25];
    (void)n;
    put_text(h, text, (i * 7919 >> 3) % 19);
}

static void empty(header *h, unsigned long i, unsigned long n)
{
    (void)i;
    (void)n;
    put_text(h, "", 0);
}

static void long_text(header *h, unsigned long i, unsigned long n)
{
    static char text[292];
    (void)n;
    memset(text, 'a' + (int)(i % 26), sizeof text);
    put_text(h, text, sizeof text);
}

static void empty_array(header *h, unsigned long i, unsigned long n)
{
    (void)n;
    put_uint(h, i % 3 == 0 ? STR : i % 3 == 1 ? ARR : U8, 4);
    put_uint(h, 0, 8);
}

static void one_array(header *h, unsigned long i, unsigned long n)
{
    put_uint(h, i + 1 == n ? U8 : ARR, 4);
    put_uint(h, i + 1 == n ? 0 : 1, 8);
}

/* ---- the whole ---- */

typedef void member(header *h, unsigned long i, unsigned long n);

static const struct family {
    const char *name, *honest;
    void (*begin)(
        header *h,
        unsigned long
            n); /* begins an array of n elements; NULL: members are tensors or metadata entries */
    member *write;
    unsigned bytes; /* approximate size of a member, in bytes */
    unsigned tensors;
} families[] = {
    {"tensors", "-", NULL, honest, 75, 1},
    {"tensors_reversed", "tensors", NULL, reversed, 75, 1},
    {"tensors_shuffled", "tensors", NULL, shuffled, 75, 1},
    {"tensors_overlapping", "tensors", NULL, overlapping, 75, 1},
    {"tensors_own_shapes", "tensors", NULL, own_shapes, 75, 1},
    {"tensors_all_empty", "tensors", NULL, all_empty, 75, 1},
    {"tensors_alternating_types", "tensors", NULL, alternating_types, 75, 1},
    {"tensors_like_names", "tensors", NULL, like_names, 75, 1},
    {"tensors_twice", "tensors", NULL, twice, 75, 1},
    {"entries", "-", NULL, entry, 36, 0},
    {"entries_like_keys", "entries", NULL, like_keys, 36, 0},
    {"entries_twice", "entries", NULL, key_twice, 36, 0},
    {"entries_odd_keys", "entries", NULL, odd_keys, 36, 0},
    {"entries_strings", "-", NULL, short_strings, 36, 0},
    {"entries_bad_strings", "entries_strings", NULL, bad_strings, 36, 0},
    {"entries_arrays", "-", NULL, short_arrays, 40, 0},
    {"entries_empty_arrays", "entries_arrays", NULL, empty_arrays, 40, 0},
    {"entries_nested_arrays", "entries_arrays", NULL, nested_arrays, 48, 0},
    {"strings", "-", begin_strings, word, 24, 0},
    {"strings_zeros", "strings", begin_strings, zeros, 24, 0},
    {"strings_uneven", "strings", begin_strings, uneven, 17, 0},
    {"strings_empty", "-", begin_strings, empty, 8, 0},
    {"strings_long", "strings", begin_strings, long_text, 300, 0},
    {"arrays_empty", "entries_arrays", begin_arrays, empty_array, 12, 0},
    {"arrays_nested", "entries_arrays", begin_nest, one_array, 12, 0},
};

#define FAMILIES (sizeof families / sizeof families[0])

typedef struct heap {
    size_t live, peak;
} heap;

static void *heap_alloc(void *ctx, size_t bytes)
{
    heap *h = ctx;
    h->live += bytes;
    h->peak = h->live > h->peak ? h->live : h->peak;
    return malloc(bytes);
}

static void heap_free(void *ctx, void *memory, size_t bytes)
{
    heap *h = ctx;
    h->live -= bytes;
    free(memory);
}

/* Reads bytes of the header; offsets behind the header read as zeros. */
static wb_status read_header(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const header *h = ctx;
    size_t present = offset < h->n ? h->n - (size_t)offset : 0;
    if (present > n)
        present = n;
    if (present > 0)
        memcpy(dst, h->bytes + offset, present);
    memset((char *)dst + present, 0, n - present);
    *got = n;
    return WB_OK;
}

static int open_family(const struct family *f, size_t bytes)
{
    unsigned long n = bytes / f->bytes;
    if (n % 7919 == 0)
        n++;
    header h = {malloc(n * (f->bytes + 64) + 4096), 0, 0};
    heap memory = {0, 0};
    if (h.bytes == NULL)
        return 1;
    put(&h, "GGUF\3\0\0\0", 8);
    put_uint(&h, f->tensors ? n : 0, 8);
    put_uint(&h, f->tensors ? 0 : f->begin != NULL ? 1 : n, 8);
    if (f->begin != NULL)
        f->begin(&h, n);
    for (unsigned long i = 0; i < n; i++)
        f->write(&h, i, n);
    while (h.n % 32 != 0)
        put_uint(&h, 0, 1);

    wb_source source = {
        .size = sizeof source, .ctx = &h, .bytes = h.n + h.data, .read = read_header};
    wb_allocator allocator = {&memory, heap_alloc, heap_free};
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open_source(&source, "x.gguf", &options, &model, &error);
    uint64_t present = h.n + h.data;
    fprintf(stderr,
            "%s: header %zu bytes, %llu tensors, %llu entries, %s; memory %.2f times the file\n",
            f->name, h.n, status == WB_OK ? (unsigned long long)wb_tensor_count(model) : 0,
            status == WB_OK ? (unsigned long long)wb_meta_count(model) : 0,
            status == WB_OK ? "accepted" : error.message, (double)memory.peak / (double)present);
    wb_close(model);
    free(h.bytes);
    return memory.live != 0 || memory.peak > 8 * present + (1u << 20);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < FAMILIES; i++)
            printf("%s %s\n", families[i].name, families[i].honest);
        return 0;
    }
    for (size_t i = 0; argc == 3 && i < FAMILIES; i++) {
        if (strcmp(argv[1], families[i].name) == 0)
            return open_family(&families[i], strtoul(argv[2], NULL, 10));
    }
    return 2;
}
