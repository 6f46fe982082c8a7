/*
 * gguf_build.h: builds GGUF files in memory, in either byte order, for tests.
 */
#ifndef WB_TESTS_GGUF_BUILD_H
#define WB_TESTS_GGUF_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct gguf {
    uint8_t *bytes;
    size_t n, capacity;
    bool big;
} gguf;

enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 };

static inline void gguf_raw(gguf *g, const void *bytes, size_t n)
{
    if (g->n + n > g->capacity) {
        g->capacity = (g->n + n) * 2;
        g->bytes = realloc(g->bytes, g->capacity);
        if (g->bytes == NULL)
            abort();
    }
    if (n > 0)
        memcpy(g->bytes + g->n, bytes, n);
    g->n += n;
}

static inline void gguf_uint(gguf *g, uint64_t v, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < width; i++)
        bytes[g->big ? width - 1 - i : i] = (uint8_t)(v >> 8 * i);
    gguf_raw(g, bytes, width);
}

static inline void gguf_text(gguf *g, const char *text, size_t n)
{
    gguf_uint(g, n, 8);
    gguf_raw(g, text, n);
}

static inline void gguf_string(gguf *g, const char *text)
{
    gguf_text(g, text, strlen(text));
}

/* Begins a GGUF file of version 3 with its magic, version and counts. */
static inline void gguf_start(gguf *g, bool big, uint64_t tensors, uint64_t entries)
{
    memset(g, 0, sizeof *g);
    g->big = big;
    gguf_raw(g, "GGUF", 4);
    gguf_uint(g, 3, 4);
    gguf_uint(g, tensors, 8);
    gguf_uint(g, entries, 8);
}

/* Writes a key and the type of its value. The caller writes the value next. */
static inline void gguf_key(gguf *g, const char *key, uint32_t type)
{
    gguf_string(g, key);
    gguf_uint(g, type, 4);
}

static inline void gguf_number(gguf *g, const char *key, uint32_t type, uint64_t v, unsigned width)
{
    gguf_key(g, key, type);
    gguf_uint(g, v, width);
}

/* Writes the type and length of an array. The caller writes the elements next. */
static inline void gguf_array(gguf *g, uint32_t type, uint64_t count)
{
    gguf_uint(g, type, 4);
    gguf_uint(g, count, 8);
}

/* Writes the description of a tensor. `shape` lists the dimensions innermost first and ends with
 * 0. */
static inline void gguf_tensor(gguf *g, const char *name, const uint64_t *shape, uint32_t type,
                               uint64_t offset)
{
    uint32_t rank = 0;
    while (shape[rank] != 0)
        rank++;
    gguf_string(g, name);
    gguf_uint(g, rank, 4);
    for (uint32_t i = 0; i < rank; i++)
        gguf_uint(g, shape[i], 8);
    gguf_uint(g, type, 4);
    gguf_uint(g, offset, 8);
}

static inline void gguf_pad(gguf *g, size_t alignment)
{
    while (g->n % alignment != 0)
        gguf_raw(g, "", 1);
}

static inline void gguf_free(gguf *g)
{
    free(g->bytes);
    memset(g, 0, sizeof *g);
}

#endif
