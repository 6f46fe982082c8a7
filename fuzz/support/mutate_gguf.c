/*
 * Structure-aware mutations of GGUF files. Random byte changes mostly break a length or a count, so
 * that the rest of the file is not tested.
 *
 * A valid file, or the valid beginning of a file, is split into items: key-value entries and tensor
 * infos. Items are added, duplicated, removed or changed, and the counts in the header are updated.
 * If the length of a name or string changes, its length prefix is updated too.
 */
#include "fuzz.h"
#include "model.h"

#define FRONT 24 /* size of magic, version, tensor count and entry count, in bytes */
#define ITEMS_MAX 96
#define TYPE_STRING 8
#define TYPE_ARRAY 9
#define DEPTH_MAX 4

typedef struct span {
    size_t at, len;
} span;

typedef struct mutation {
    uint32_t random;
    fuzz_mutate *bytes;
    uint8_t *p;
    size_t size, max;
    bool big;
    span entries[ITEMS_MAX], tensors[ITEMS_MAX];
    size_t entry_count, tensor_count;
    size_t infos_end; /* offset of the end of the tensor infos */
} mutation;

static size_t below(mutation *m, size_t n)
{
    return n == 0 ? 0 : fuzz_draw(&m->random) % n;
}

/* ---- numbers in the file's byte order ---- */

static uint64_t load(const mutation *m, size_t at, unsigned width)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < width; i++)
        n |= (uint64_t)m->p[at + (m->big ? width - 1 - i : i)] << 8 * i;
    return n;
}

static void store(const mutation *m, uint8_t *p, uint64_t n, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        p[m->big ? width - 1 - i : i] = (uint8_t)(n >> 8 * i);
}

/* ---- splitting a file into items ---- */

static bool skip(const mutation *m, size_t *at, uint64_t n)
{
    if (n > m->size - *at)
        return false;
    *at += (size_t)n;
    return true;
}

static bool skip_string(const mutation *m, size_t *at)
{
    if (m->size - *at < 8)
        return false;
    uint64_t len = load(m, *at, 8);
    *at += 8;
    return skip(m, at, len);
}

static unsigned width_of(uint64_t type)
{
    static const uint8_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizeof widths ? widths[type] : 0;
}

static bool skip_value(const mutation *m, size_t *at, uint64_t type, int depth)
{
    if (type == TYPE_STRING)
        return skip_string(m, at);
    if (type != TYPE_ARRAY)
        return width_of(type) != 0 && skip(m, at, width_of(type));
    if (m->size - *at < 12 || depth == DEPTH_MAX)
        return false;
    uint64_t element = load(m, *at, 4), count = load(m, *at + 4, 8);
    *at += 12;
    if (width_of(element) != 0)
        return count <= m->size && skip(m, at, count * width_of(element));
    for (uint64_t i = 0; i < count; i++) {
        if (!skip_value(m, at, element, depth + 1))
            return false;
    }
    return true;
}

static bool skip_entry(const mutation *m, size_t *at)
{
    if (!skip_string(m, at) || m->size - *at < 4)
        return false;
    uint64_t type = load(m, *at, 4);
    *at += 4;
    return skip_value(m, at, type, 0);
}

static bool skip_tensor(const mutation *m, size_t *at)
{
    if (!skip_string(m, at) || m->size - *at < 4)
        return false;
    uint64_t rank = load(m, *at, 4);
    *at += 4;
    return rank <= 64 && skip(m, at, rank * 8 + 12);
}

static size_t cut(const mutation *m, size_t *at, span *items, uint64_t count,
                  bool (*next)(const mutation *, size_t *))
{
    size_t n = 0;
    for (; n < count && n < ITEMS_MAX; n++) {
        size_t begin = *at;
        if (!next(m, at)) {
            *at = begin;
            break;
        }
        items[n] = (span){begin, *at - begin};
    }
    return n;
}

static void cut_all(mutation *m)
{
    size_t at = FRONT;
    m->big = m->p[4] == 0; /* the version, 2 or 3, begins with 0 if big-endian */
    m->entry_count = cut(m, &at, m->entries, load(m, 16, 8), skip_entry);
    m->tensor_count = cut(m, &at, m->tensors, load(m, 8, 8), skip_tensor);
    m->infos_end = at;
}

/* ---- changing it ---- */

/* Replaces `old` bytes at `at` with `len` bytes. Returns false if the result would be too large. */
static bool put(mutation *m, size_t at, size_t old, const void *bytes, size_t len)
{
    if (len > old && len - old > m->max - m->size)
        return false;
    memmove(m->p + at + len, m->p + at + old, m->size - at - old);
    if (len > 0)
        memcpy(m->p + at, bytes, len);
    m->size = m->size + len - old;
    return true;
}

static void count(mutation *m, size_t at, int change)
{
    store(m, m->p + at, load(m, at, 8) + (uint64_t)(int64_t)change, 8);
}

static const uint64_t numbers[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   8,
                                   13,
                                   16,
                                   31,
                                   32,
                                   33,
                                   64,
                                   127,
                                   128,
                                   255,
                                   256,
                                   257,
                                   4096,
                                   65535,
                                   65536,
                                   0x7FFFFFFF,
                                   0x80000000,
                                   UINT32_MAX,
                                   (uint64_t)UINT32_MAX + 1,
                                   1ull << 40,
                                   1ull << 60,
                                   1ull << 61,
                                   1ull << 62,
                                   INT64_MAX,
                                   (uint64_t)INT64_MAX + 1,
                                   UINT64_MAX - 7,
                                   UINT64_MAX};

static uint64_t some_number(mutation *m)
{
    return below(m, 3) != 0 ? below(m, 300) : numbers[below(m, sizeof numbers / sizeof *numbers)];
}

static size_t print_name(mutation *m, char *out, size_t capacity)
{
    static const char *const names[] = {"token_embd.weight",       "output_norm.weight",
                                        "blk.%zu.attn_q.weight",   "blk.%zu.ffn_up_exps.weight",
                                        "blk.%zu.ffn_norm.weight", "t%zu",
                                        "output.weight",           "blk.%zu.attn_qkv.bias",
                                        "v.%zu\xC3\xA9",           ""};
    const char *name = names[below(m, sizeof names / sizeof *names)];
    const char *hole = strstr(name, "%zu");
    int n = hole == NULL ? snprintf(out, capacity, "%s", name)
                         : snprintf(out, capacity, "%.*s%zu%s", (int)(hole - name), name,
                                    below(m, 4), hole + 3);
    return (size_t)n;
}

typedef struct writer {
    const mutation *m;
    uint8_t bytes[512];
    size_t n;
} writer;

static void write_uint(writer *w, uint64_t n, unsigned width)
{
    store(w->m, w->bytes + w->n, n, width);
    w->n += width;
}

static void write_text(writer *w, const char *text, size_t len)
{
    write_uint(w, len, 8);
    memcpy(w->bytes + w->n, text, len);
    w->n += len;
}

static void write_value(mutation *m, writer *w, unsigned type, int depth)
{
    static const char *const texts[] = {"llama", "gpt2", "", "\xE2\x96\x81the", "a\xFF", "qwen2"};
    if (w->n > sizeof w->bytes - 64)
        return;
    if (type == TYPE_STRING) {
        const char *text = texts[below(m, 6)];
        write_text(w, text, strlen(text));
    } else if (type == TYPE_ARRAY) {
        unsigned element = (unsigned)below(m, 13);
        if (depth == 2 && element == TYPE_ARRAY)
            element = TYPE_STRING;
        size_t n = below(m, 5), length_at = w->n + 4;
        write_uint(w, element, 4);
        write_uint(w, n, 8);
        for (size_t i = 0; i < n; i++) {
            if (w->n > sizeof w->bytes - 96) {
                store(w->m, w->bytes + length_at, i, 8);
                break;
            }
            write_value(m, w, element, depth + 1);
        }
    } else if (type == 7) {
        write_uint(w, below(m, 2), 1);
    } else {
        write_uint(w, some_number(m), width_of(type));
    }
}

static void add_entry(mutation *m)
{
    static const struct {
        const char *key;
        unsigned type; /* 13: any type */
    } keys[] = {{"general.architecture", 8},
                {"general.alignment", 4},
                {"llama.block_count", 4},
                {"llama.embedding_length", 4},
                {"llama.attention.head_count", 4},
                {"llama.attention.layer_norm_rms_epsilon", 6},
                {"tokenizer.ggml.model", 8},
                {"tokenizer.ggml.tokens", 9},
                {"tokenizer.ggml.scores", 9},
                {"tokenizer.ggml.token_type", 9},
                {"tokenizer.ggml.merges", 9},
                {"split.no", 2},
                {"split.count", 2},
                {"split.tensors.count", 5},
                {"general.file_type", 4},
                {"k", 13},
                {"general.quantization_version", 4}};
    writer w = {.m = m};
    size_t which = below(m, sizeof keys / sizeof *keys);
    unsigned type =
        keys[which].type == 13 || below(m, 4) == 0 ? (unsigned)below(m, 13) : keys[which].type;
    char key[64];
    int n = snprintf(key, sizeof key, "%s", keys[which].key);
    if (below(m, 4) == 0)
        n = snprintf(key, sizeof key, "k%zu", below(m, 50));
    write_text(&w, key, (size_t)n);
    write_uint(&w, type, 4);
    write_value(m, &w, type, 0);
    size_t at = FRONT;
    if (m->entry_count > 0)
        at = m->entries[below(m, m->entry_count)].at;
    if (put(m, at, 0, w.bytes, w.n))
        count(m, 16, 1);
}

static size_t data_begin(const mutation *m, size_t alignment)
{
    return (m->infos_end + alignment - 1) / alignment * alignment;
}

/* Adds a tensor info after the last one. The tensor's data usually begins after all existing
 * data. */
static void add_tensor(mutation *m)
{
    static const struct {
        uint8_t type;
        uint16_t block;
        uint8_t bytes;
    } types[] = {{0, 1, 4},      {1, 1, 2},     {2, 32, 18},   {8, 32, 34},    {12, 256, 144},
                 {14, 256, 210}, {16, 256, 66}, {20, 32, 18},  {24, 1, 1},     {28, 1, 8},
                 {30, 1, 2},     {34, 256, 54}, {39, 32, 17},  {40, 64, 36},   {41, 128, 18},
                 {42, 64, 18},   {29, 256, 56}, {10, 256, 84}, {11, 256, 110}, {3, 32, 20}};
    char name[64];
    writer w = {.m = m};
    size_t which = below(m, sizeof types / sizeof *types);
    size_t block = types[which].block;
    size_t rank = below(m, 4), rows = 1, blocks = 1 + below(m, 2);
    size_t begin = data_begin(m, 32), data = m->size > begin ? m->size - begin : 0;
    write_text(&w, name, print_name(m, name, sizeof name));
    write_uint(&w, rank, 4);
    for (size_t i = 0; i < rank; i++) {
        size_t n = i == 0 ? blocks * block : 1 + below(m, 3);
        rows *= i == 0 ? 1 : n;
        write_uint(&w, n, 8);
    }
    if (rank == 0)
        blocks = 1;
    write_uint(&w, below(m, 16) == 0 ? below(m, 48) : types[which].type, 4);
    size_t offset = below(m, 16) == 0 ? below(m, 4) * 32 : (data + 31) / 32 * 32;
    write_uint(&w, offset, 8);
    /* The tensor infos grow, so the data moves to a new aligned offset. */
    size_t old_end = m->infos_end, old_begin = begin < m->size ? begin : m->size;
    m->infos_end += w.n;
    size_t new_begin = data_begin(m, 32);
    size_t total = new_begin + offset + rows * blocks * types[which].bytes;
    if (total > m->max || new_begin + (m->size - old_begin) > m->max)
        return;
    memmove(m->p + new_begin, m->p + old_begin, m->size - old_begin);
    memcpy(m->p + old_end, w.bytes, w.n);
    memset(m->p + m->infos_end, 0, new_begin - m->infos_end);
    m->size = new_begin + (m->size - old_begin);
    while (m->size < total)
        m->p[m->size++] = (uint8_t)fuzz_draw(&m->random);
    count(m, 8, 1);
}

/* Duplicates or removes one of the items and updates their count at offset count_at. */
static void copy_item(mutation *m, const span *items, size_t n, size_t count_at, bool remove)
{
    if (n == 0)
        return;
    span item = items[below(m, n)];
    uint8_t copy[1024];
    if (remove) {
        (void)put(m, item.at, item.len, "", 0);
        count(m, count_at, -1);
    } else if (item.len <= sizeof copy) {
        memcpy(copy, m->p + item.at, item.len);
        if (put(m, items[below(m, n)].at, 0, copy, item.len))
            count(m, count_at, 1);
    }
}

/* Overwrites a number: a field of a tensor info, or 1, 2, 4 or 8 bytes anywhere before the data. */
static void change_number(mutation *m)
{
    static const unsigned widths[] = {1, 2, 4, 8, 8, 4};
    unsigned width = widths[below(m, 6)];
    size_t end = m->infos_end, at;
    if (m->tensor_count > 0 && below(m, 2) == 0) { /* the rank, a dimension, the type or offset */
        span item = m->tensors[below(m, m->tensor_count)];
        size_t name = 8 + (size_t)load(m, item.at, 8);
        size_t fields = (item.len - name - 16) / 8 + 3;
        size_t which = below(m, fields);
        at = item.at + name;
        width = which == 0 || which == fields - 2 ? 4 : 8;
        if (which > 0)
            at += which == fields - 1   ? item.len - name - 8
                  : which == fields - 2 ? item.len - name - 12
                                        : 8 * which - 4;
    } else {
        at = end < width ? 0 : below(m, end - width + 1);
    }
    if (at + width <= m->size)
        store(m, m->p + at, some_number(m), width);
}

/* Changes a name or string, and its length prefix if the length changes. */
static void change_string(mutation *m)
{
    bool tensor = m->tensor_count > 0 && below(m, 2) == 0;
    if (!tensor && m->entry_count == 0)
        return;
    span item =
        tensor ? m->tensors[below(m, m->tensor_count)] : m->entries[below(m, m->entry_count)];
    size_t at = item.at, len = (size_t)load(m, at, 8);
    if (!tensor && below(m, 2) == 0 && load(m, at + 8 + len, 4) == TYPE_STRING) {
        at += 8 + len + 4;
        len = (size_t)load(m, at, 8);
    }
    uint8_t text[256];
    if (len > sizeof text / 2)
        return;
    memcpy(text, m->p + at + 8, len);
    size_t changed = m->bytes == NULL ? len : m->bytes(text, len, sizeof text);
    if (m->bytes == NULL && len > 0)
        text[below(m, len)] = (uint8_t)fuzz_draw(&m->random);
    if (put(m, at + 8, len, text, changed))
        store(m, m->p + at, changed, 8);
}

/* Mutates plain bytes with the mutation function of the fuzzer. If the fuzzer has no such function
 * (AFL++), flips one bit. */
static size_t any_bytes(mutation *m, uint8_t *p, size_t size, size_t max)
{
    if (m->bytes != NULL)
        return m->bytes(p, size, max);
    if (size > 0)
        p[below(m, size)] ^= (uint8_t)(1u << below(m, 8));
    return size;
}

static void mutate(mutation *m)
{
    size_t begin = m->infos_end;
    switch (below(m, 12)) {
    case 0:
    case 1: add_entry(m); break;
    case 2:
    case 3: add_tensor(m); break;
    case 4: copy_item(m, m->entries, m->entry_count, 16, below(m, 3) != 0); break;
    case 5: copy_item(m, m->tensors, m->tensor_count, 8, below(m, 3) != 0); break;
    case 6:
    case 7: change_number(m); break;
    case 8: change_string(m); break;
    case 9: m->size = begin + any_bytes(m, m->p + begin, m->size - begin, m->max - begin); break;
    case 10: /* truncate or extend the file */
        if (below(m, 2) == 0)
            m->size -= below(m, m->size - FRONT + 1);
        else
            while (m->size < m->max && below(m, 40) != 0)
                m->p[m->size++] = (uint8_t)below(m, 2);
        break;
    default: m->size = any_bytes(m, m->p, m->size, m->max); break;
    }
}

size_t fuzz_mutate_gguf(uint8_t *data, size_t size, size_t max, uint32_t seed, fuzz_mutate *bytes)
{
    mutation m = {.random = fuzz_seed(seed), .bytes = bytes, .p = data, .size = size, .max = max};
    if (size > max || max < FRONT)
        return size;
    if (size < FRONT || memcmp(data, "GGUF", 4) != 0) {
        if (below(&m, 4) == 0)
            return any_bytes(&m, data, size, max);
        static const uint8_t front[FRONT] = {'G', 'G', 'U', 'F', 3};
        memcpy(data, front, FRONT);
        m.size = FRONT;
    }
    cut_all(&m);
    mutate(&m);
    return m.size;
}
