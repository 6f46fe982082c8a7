/*
 * Shapes (kinds of dense files, dense.h) that are binary files: GGUF files, SentencePiece models
 * and .npz files. Each GGUF shape has a function that writes one item.
 */
#include "dense.h"
#include "gguf_build.h"

typedef struct items {
    void (*each)(gguf *g, uint64_t i);
    bool tensors;          /* the items are tensors; otherwise metadata entries */
    void (*head)(gguf *g); /* writes key and type of an array; its length follows; NULL: no array */
} items;

static void put_key(gguf *g, uint64_t i, uint32_t type)
{
    char text[24];
    gguf_text(g, text, short_number(text, i));
    gguf_uint(g, type, 4);
}

static void byte_key(gguf *g, uint64_t i)
{
    put_key(g, i, U8);
    gguf_uint(g, 1, 1);
}

static void string_key(gguf *g, uint64_t i)
{
    put_key(g, i, STR);
    gguf_string(g, "");
}

static void array_key(gguf *g, uint64_t i)
{
    put_key(g, i, ARR);
    gguf_array(g, STR, 1);
    gguf_string(g, "");
}

static void nested_key(gguf *g, uint64_t i)
{
    put_key(g, i, ARR);
    gguf_array(g, ARR, 4);
    for (int k = 0; k < 4; k++)
        gguf_array(g, STR, 0);
}

static void put_tensor(gguf *g, const char *name, size_t n, uint32_t rank, uint64_t extent)
{
    gguf_text(g, name, n);
    gguf_uint(g, rank, 4);
    for (uint32_t d = 0; d < rank; d++)
        gguf_uint(g, d == 0 ? 0 : extent, 8);
    gguf_uint(g, 0, 4);
    gguf_uint(g, 0, 8);
}

static void empty_tensor(gguf *g, uint64_t i)
{
    char text[24];
    put_tensor(g, text, short_number(text, i), 1, 0);
}

static void own_shape(gguf *g, uint64_t i)
{
    char text[24];
    put_tensor(g, text, short_number(text, i), 2, i);
}

static void layer_tensor(gguf *g, uint64_t i)
{
    char text[64];
    int n = sprintf(text, "blk.%llu.ffn_up.weight", (unsigned long long)i);
    put_tensor(g, text, (size_t)n, 1, 0);
}

/* ---- arrays with a single key ---- */

static void token_head(gguf *g)
{
    gguf_key(g, "tokenizer.ggml.tokens", ARR);
    gguf_uint(g, STR, 4);
}

static void token(gguf *g, uint64_t i)
{
    (void)i;
    gguf_string(g, "");
}

static void array_head(gguf *g)
{
    gguf_key(g, "a", ARR);
    gguf_uint(g, ARR, 4);
}

static void array(gguf *g, uint64_t i)
{
    (void)i;
    gguf_array(g, U8, 0);
}

static void byte_head(gguf *g)
{
    gguf_key(g, "a", ARR);
    gguf_uint(g, U8, 4);
}

static void byte(gguf *g, uint64_t i)
{
    gguf_uint(g, i, 1);
}

static void write_gguf(const dense_shape *s, const char *folder, size_t bytes)
{
    const items *kind = s->detail;
    gguf g;
    uint64_t count = 0;
    gguf_start(&g, false, 0, kind->tensors ? 2 : 3);
    gguf_key(&g, "general.architecture", STR);
    gguf_string(&g, "llama");
    gguf_number(&g, "llama.block_count", U32, 1, 4);
    if (kind->head != NULL)
        kind->head(&g);
    size_t at = g.n;
    if (kind->head != NULL)
        gguf_uint(&g, 0, 8);
    while (g.n < bytes)
        kind->each(&g, count++);
    if (kind->head != NULL) {
        put_length(g.bytes + at, count);
    } else {
        put_length(g.bytes + 8, kind->tensors ? count : 0);
        put_length(g.bytes + 16, 2 + (kind->tensors ? 0 : count));
    }
    gguf_pad(&g, 32);
    char *path = text_of("%s/%s", folder, s->path);
    write_file(path, g.bytes, g.n);
    free(path);
    gguf_free(&g);
}

/* ---- SentencePiece ---- */

typedef struct bytes {
    const char *bytes;
    size_t n;
} bytes;

static void write_pieces(const dense_shape *s, const char *folder, size_t n)
{
    const bytes *piece = s->detail;
    write_small_model(folder);
    FILE *file = open_in(folder, "tokenizer.model");
    for (size_t at = 0; at < n; at += piece->n)
        fwrite(piece->bytes, 1, piece->n, file);
    fclose(file);
}

/* ---- zip files of numpy ---- */

static void put_record(gguf *g, const char *name, uint64_t at)
{
    gguf_raw(g, at == UINT64_MAX ? "PK\3\4" : "PK\1\2", 4);
    if (at != UINT64_MAX)
        gguf_uint(g, 20, 2);
    gguf_uint(g, 20, 2);
    gguf_uint(g, 0, 8); /* flags, method, time and date */
    gguf_uint(g, 0, 4); /* the checksum is not checked while a file is opened */
    gguf_uint(g, 128, 4);
    gguf_uint(g, 128, 4);
    gguf_uint(g, strlen(name), 2);
    gguf_uint(g, 0, 2);
    if (at != UINT64_MAX) {
        gguf_uint(g, 0, 6);
        gguf_uint(g, 0, 4);
        gguf_uint(g, at, 4);
    }
    gguf_raw(g, name, strlen(name));
}

static void write_npz(const dense_shape *s, const char *folder, size_t n)
{
    gguf g = {0}, directory = {0};
    uint64_t count = 0;
    for (; g.n + directory.n < n; count++) {
        char name[32];
        size_t len = short_number(name, count);
        memcpy(name + len, ".npy", 5);
        put_record(&directory, name, g.n);
        put_record(&g, name, UINT64_MAX);
        char text[119];
        int used = sprintf(text, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }");
        memset(text + used, ' ', sizeof text - (size_t)used);
        text[117] = '\n';
        gguf_raw(&g, "\x93NUMPY\1", 7);
        gguf_raw(&g, "\0", 1);
        gguf_uint(&g, 118, 2);
        gguf_raw(&g, text, 118);
    }
    uint64_t start = g.n;
    gguf_raw(&g, directory.bytes, directory.n);
    gguf_raw(&g, "PK\5\6\0\0\0\0", 8);
    gguf_uint(&g, count < 65535 ? count : 65535, 2);
    gguf_uint(&g, count < 65535 ? count : 65535, 2);
    gguf_uint(&g, directory.n, 4);
    gguf_uint(&g, start, 4);
    gguf_uint(&g, 0, 2);
    char *path = text_of("%s/%s", folder, s->path);
    write_file(path, g.bytes, g.n);
    free(path);
    gguf_free(&g);
    gguf_free(&directory);
}

#define GGUF(name, each, tensors, head)                                                            \
    {                                                                                              \
        name, write_gguf, "model.gguf", &(const items)                                             \
        {                                                                                          \
            each, tensors, head                                                                    \
        }                                                                                          \
    }
#define PIECES(name, text) {name, write_pieces, "", &(const bytes){text, sizeof text - 1}}

const dense_shape binary_shapes[] = {
    GGUF("gguf keys", byte_key, false, NULL),
    GGUF("gguf keys with strings", string_key, false, NULL),
    GGUF("gguf keys with arrays", array_key, false, NULL),
    GGUF("gguf keys with nested arrays", nested_key, false, NULL),
    GGUF("gguf tensors", empty_tensor, true, NULL),
    GGUF("gguf tensors, distinct shapes", own_shape, true, NULL),
    GGUF("gguf layers", layer_tensor, true, NULL),
    GGUF("gguf tokens", token, false, token_head),
    GGUF("gguf array of arrays", array, false, array_head),
    GGUF("gguf array of bytes", byte, false, byte_head),
    PIECES("pieces, empty", "\x0a\0"),
    PIECES("pieces without text", "\x0a\2\x18\1"),
    PIECES("pieces of one byte", "\x0a\3\x0a\1x"),
    {"npz members", write_npz, "model.npz", NULL},
    {NULL, NULL, NULL, NULL},
};
