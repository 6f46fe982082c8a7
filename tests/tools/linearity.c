/*
 * Makes a safetensors header of about BYTES bytes and opens it with wb_open_source, whose
 * instructions tests/check/linearity.sh counts. A family is one kind of valid or hostile header.
 *
 *   linearity FAMILY BYTES [compatible]   "compatible": opens with WB_OPEN_COMPATIBLE
 *   linearity --list                      prints a line for each family: its name, and the name of
 *                                         the valid family to compare it with, or "-"
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weighbridge.h"

#define ENTRY_MAX 4096

/* Writes member i of n, without a comma. *data_at is the offset at which the tensor's data may
 * begin; the function advances it by the size of the data. */
typedef int member(char *to, unsigned long i, unsigned long n, unsigned long long *data_at);

static int entry(char *to, const char *name, unsigned long rows, unsigned long long begin,
                 unsigned long long end)
{
    return snprintf(to, ENTRY_MAX,
                    "\"%s\":{\"dtype\":\"U8\",\"shape\":[%lu,1000],\"data_offsets\":[%llu,%llu]}",
                    name, rows, begin, end);
}

static int honest(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    char name[80];
    (void)n;
    (void)snprintf(name, sizeof name, "model.layers.%03lu.self_attn.proj_%05lu.weight",
                   i / 20 % 1000, i);
    *at += 1000000;
    return entry(to, name, 1000, *at - 1000000, *at);
}

static int reversed(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    *at += 1000000;
    return honest(to, i, n, &(unsigned long long){(n - 1 - i) * 1000000ull});
}

/* Writes tensors in shuffled order, so that the distance between the offsets of successive tensors
 * varies. */
static int shuffled(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    unsigned long place = i * 7919 % n; /* a permutation, because n is never a multiple of 7919 */
    *at += 1000000;
    return honest(to, i, n, &(unsigned long long){place * 1000000ull});
}

static int own_kinds(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    char name[80];
    unsigned long rows = 1000 + i;
    (void)n;
    (void)snprintf(name, sizeof name, "model.layers.%03lu.self_attn.proj_%05lu.weight",
                   i / 20 % 1000, i);
    *at += rows * 1000;
    return entry(to, name, rows, *at - rows * 1000, *at);
}

/* Writes names of 43 bytes that differ only in the middle. */
static int like_names(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    char name[80];
    (void)n;
    (void)snprintf(name, sizeof name, "aaaaaaaaaaaaaaaaaaa%05luaaaaaaaaaaaaaaaaaaa", i);
    *at += 1000000;
    return entry(to, name, 1000, *at - 1000000, *at);
}

static int all_empty(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    char name[80];
    (void)n;
    (void)at;
    (void)snprintf(name, sizeof name, "model.layers.%03lu.self_attn.proj_%05lu.weight______",
                   i / 20 % 1000, i);
    return entry(to, name, 0, 0, 0);
}

/* Writes tensors that begin at the same offset and end at descending offsets. The library must
 * compare both offsets to sort them, and refuses the header. */
static int nested(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    char name[80];
    (void)at;
    (void)snprintf(name, sizeof name, "model.layers.%03lu.self_attn.proj_%05lu.weight",
                   i / 20 % 1000, i);
    return entry(to, name, 1000 + n - i, 0, (1000 + n - i) * 1000ull);
}

static int alternating_dtypes(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    static const char *const dtypes[] = {"F8_E4M3", "BF16", "I64", "BOOL", "F16", "F32",
                                         "U8",      "I8",   "F64", "C64",  "U16"};
    (void)n;
    (void)at;
    return snprintf(
        to, ENTRY_MAX,
        "\"model.layers.%03lu.self_attn.proj_%05lu.weight\":{\"dtype\":\"%s\",\"shape\":[0,%lu],"
        "\"data_offsets\":[0,0]}",
        i / 20 % 1000, i, dtypes[i % 11], i % 13);
}

/* ---- tensors with white space between tokens ---- */

static int spaced(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)n;
    *at += 1000000;
    return snprintf(
        to, ENTRY_MAX,
        "\"model.layers.%03lu.proj_%05lu.weight\": {\"dtype\": \"U8\", \"shape\": [1000, 1000], "
        "\"data_offsets\": [%llu, %llu]}",
        i / 20 % 1000, i, *at - 1000000, *at);
}

static int spaced_reversed(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    *at += 1000000;
    return spaced(to, i, n, &(unsigned long long){(n - 1 - i) * 1000000ull});
}

/* ---- tensors that only the general parser reads ---- */

static int spaced_field(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)n;
    *at += 1000000;
    return snprintf(to, ENTRY_MAX,
                    "\"proj_%05lu\": {\"dtype\": \"U8\", \"shape\": [1000, 1000], "
                    "\"a\": {}, \"b\": [[]], \"data_offsets\": [%llu, %llu]}",
                    i, *at - 1000000, *at);
}

static int escaped(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)n;
    *at += 1000000;
    return snprintf(
        to, ENTRY_MAX,
        "\"model.layers.\\u0061\\u0062%05lu\": {\"dtype\": \"U8\", \"shape\": [1000, 1000], "
        "\"data_offsets\": [%llu, %llu]}",
        i, *at - 1000000, *at);
}

/* ---- one long token, or many small members that are not tensors ---- */

static int metadata(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\"%lx\":\"\"", i + 4096);
}

static int same_metadata(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)i;
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\"\":\"\"");
}

static int field(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\"%lx\":0", i + 4096);
}

static int same_field(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)i;
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\"\":0");
}

static int array_entry(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\"%lx\":[\"U8\",[0],[0,0]]", i + 4096);
}

static int same_array_entry(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)i;
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\"\":[\"U8\",[0],[0,0]]");
}

static int digit(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)i;
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "1234567890123456");
}

static int nest(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\"%lx\":[[[[[[[[[[[[[[[[{},[]]]]]]]]]]]]]]]]]", i);
}

static int letters(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)i;
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "xxxxxxxxxxxxxxxx");
}

static int escapes(char *to, unsigned long i, unsigned long n, unsigned long long *at)
{
    (void)i;
    (void)n;
    (void)at;
    return snprintf(to, ENTRY_MAX, "\\u00e9");
}

#define FIELDS "{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],"

static const struct family {
    const char *name, *honest, *before, *after;
    member *write;
    unsigned bytes; /* approximate size of a member, in bytes */
    bool joined;    /* members follow each other without commas */
} families[] = {
    {"honest", "-", "{", "}", honest, 112, false},
    {"reversed", "honest", "{", "}", reversed, 112, false},
    {"shuffled", "honest", "{", "}", shuffled, 112, false},
    {"own_kinds", "-", "{", "}", own_kinds, 112, false},
    {"like_names", "honest", "{", "}", like_names, 112, false},
    {"all_empty", "honest", "{", "}", all_empty, 112, false},
    {"nested", "own_kinds", "{", "}", nested, 112, false},
    {"alternating_dtypes", "-", "{", "}", alternating_dtypes, 112, false},
    {"spaced", "-", "{", "}", spaced, 112, false},
    {"spaced_reversed", "spaced", "{", "}", spaced_reversed, 112, false},
    {"escaped", "-", "{", "}", escaped, 112, false},
    {"spaced_field", "escaped", "{", "}", spaced_field, 112, false},
    {"metadata", "-", "{\"__metadata__\":{", "}}", metadata, 10, false},
    {"same_metadata", "metadata", "{\"__metadata__\":{", "}}", same_metadata, 6, false},
    {"fields", "-", FIELDS, "}}", field, 9, false},
    {"same_fields", "fields", FIELDS, "}}", same_field, 5, false},
    {"array_entries", "-", "{", "}", array_entry, 25, false},
    {"same_array_entries", "array_entries", "{", "}", same_array_entry, 20, false},
    {"long_number", "-", FIELDS "\"x\":0.", "}}", digit, 16, true},
    {"nesting", "-", FIELDS, "}}", nest, 46, false},
    {"long_name", "-", "{\"", "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
     letters, 16, true},
    {"long_value", "-", "{\"__metadata__\":{\"k\":\"", "\"}}", letters, 16, true},
    {"escapes", "-", "{\"__metadata__\":{\"k\":\"", "\"}}", escapes, 6, true},
    {"never_closed", "-", "{\"__metadata__\":{\"k\":\"", "", letters, 16, true},
};

#define FAMILIES (sizeof families / sizeof families[0])

/* A source that contains only the header; the rest reads as zeros. Its declared size includes the
 * data of all tensors, so that the header is accepted. */
typedef struct header_only {
    const char *bytes;
    size_t n;
} header_only;

static wb_status read_header(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const header_only *h = ctx;
    size_t present = offset < h->n ? h->n - (size_t)offset : 0;
    if (present > n)
        present = n;
    if (present > 0)
        memcpy(dst, h->bytes + offset, present);
    memset((char *)dst + present, 0, n - present);
    *got = n;
    return WB_OK;
}

static int open_family(const struct family *f, size_t bytes, bool compatible)
{
    unsigned long n = bytes / f->bytes;
    if (n % 7919 == 0)
        n++;
    char *text = malloc(8 + n * 256 + ENTRY_MAX);
    unsigned long long data_at = 0;
    if (text == NULL)
        return 1;
    size_t len = 8;
    len += (size_t)sprintf(text + len, "%s", f->before);
    for (unsigned long i = 0; i < n; i++) {
        if (i > 0 && !f->joined)
            text[len++] = ',';
        len += (size_t)f->write(text + len, i, n, &data_at);
    }
    len += (size_t)sprintf(text + len, "%s", f->after);
    for (unsigned i = 0; i < 8; i++)
        text[i] = (char)((unsigned long long)(len - 8) >> 8 * i);

    header_only h = {text, len};
    wb_source source = {
        .size = sizeof source, .ctx = &h, .bytes = len + data_at, .read = read_header};
    wb_open_options options = {.size = sizeof options,
                               .flags = compatible ? WB_OPEN_COMPATIBLE : 0};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open_source(&source, "x.safetensors", &options, &model, &error);
    fprintf(stderr, "%s: %zu bytes, %llu tensors, %s\n", f->name, len,
            status == WB_OK ? (unsigned long long)wb_tensor_count(model) : 0,
            status == WB_OK ? "accepted" : error.message);
    wb_close(model);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < FAMILIES; i++)
            printf("%s %s\n", families[i].name, families[i].honest);
        return 0;
    }
    for (size_t i = 0; argc >= 3 && i < FAMILIES; i++) {
        if (strcmp(argv[1], families[i].name) == 0)
            return open_family(&families[i], strtoul(argv[2], NULL, 10), argc > 3);
    }
    return 2;
}
