/*
 * Structure-aware mutations of safetensors files: of the header length, the header, or the data.
 * Random byte changes almost always break the length, so that the rest of the file is not tested.
 */
#include "fuzz.h"

#define LENGTH_BYTES 8

typedef struct mutation {
    uint32_t random;
    fuzz_mutate *bytes;
    uint8_t *header;
    size_t header_size;
    uint8_t *data;
    size_t data_size;
    size_t max; /* maximum of header_size plus data_size */
} mutation;

/* xorshift32 (Marsaglia, "Xorshift RNGs", 2003). */
static uint32_t draw(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static size_t below(mutation *m, size_t n)
{
    return n == 0 ? 0 : draw(&m->random) % n;
}

/* Changes, removes or inserts some bytes. Used with AFL++, which provides no function for this, and
 * sometimes with libFuzzer. */
static size_t own_bytes(mutation *m, uint8_t *p, size_t size, size_t max)
{
    for (size_t n = 1 + below(m, 4); n > 0; n--) {
        size_t at = below(m, size + 1);
        size_t span = 1 + below(m, 8);
        switch (below(m, 4)) {
        case 0:
            if (at < size)
                p[at] ^= (uint8_t)(1u << below(m, 8));
            break;
        case 1:
            if (at < size)
                p[at] = (uint8_t)below(m, 256);
            break;
        case 2:
            if (span > size - at)
                span = size - at;
            memmove(p + at, p + at + span, size - at - span);
            size -= span;
            break;
        default:
            if (span > max - size)
                span = max - size;
            memmove(p + at + span, p + at, size - at);
            for (size_t i = 0; i < span; i++)
                p[at + i] = (uint8_t)(i > 0 && below(m, 2) ? p[at + i - 1] : 0x20 + below(m, 0x60));
            size += span;
            break;
        }
    }
    return size;
}

static size_t mutate_bytes(mutation *m, uint8_t *p, size_t size, size_t max)
{
    if (max == 0)
        return 0; /* LLVMFuzzerMutate would insert a byte even then */
    return m->bytes != NULL && below(m, 8) != 0 ? m->bytes(p, size, max)
                                                : own_bytes(m, p, size, max);
}

/* Replaces `old` bytes of the header at `at` with a text. Does nothing if the file would be too
 * large. */
static void put(mutation *m, size_t at, size_t old, const void *text, size_t len)
{
    if (len > old && len - old > m->max - m->header_size - m->data_size)
        return;
    memmove(m->header + at + len, m->header + at + old, m->header_size - at - old);
    memcpy(m->header + at, text, len);
    m->header_size += len;
    m->header_size -= old;
}

/* Searches the header from a random offset on for a byte in `set`. Returns its offset, or
 * header_size if there is none. */
static size_t find_any(mutation *m, const char *set)
{
    size_t start = below(m, m->header_size);
    for (size_t i = 0; i < m->header_size; i++) {
        size_t at = (start + i) % m->header_size;
        if (m->header[at] != 0 && strchr(set, m->header[at]) != NULL)
            return at;
    }
    return m->header_size;
}

/* Returns the largest end offset of a tensor, which is the second number in "data_offsets"; 0 if
 * there is none. */
static size_t last_offset(const mutation *m)
{
    static const char key[] = "\"data_offsets\":[";
    size_t largest = 0;
    for (size_t i = 0; i + sizeof key < m->header_size; i++) {
        if (memcmp(m->header + i, key, sizeof key - 1) != 0)
            continue;
        i += sizeof key - 1;
        while (i < m->header_size && m->header[i] != ',' && m->header[i] != '"')
            i++;
        size_t n = 0;
        for (i++; i < m->header_size && m->header[i] >= '0' && m->header[i] <= '9'; i++) {
            if (n < SIZE_MAX / 16)
                n = n * 10 + (size_t)(m->header[i] - '0');
        }
        largest = n > largest ? n : largest;
    }
    return largest;
}

static void resize_data(mutation *m, size_t size)
{
    if (size > m->max - m->header_size)
        return;
    for (size_t i = m->data_size; i < size; i++)
        m->data[i] = (uint8_t)below(m, 256);
    m->data_size = size;
}

/* Adds a tensor after the last one, as a writer would, sometimes with a defect. */
static void add_tensor(mutation *m)
{
    static const struct {
        const char *name;
        size_t bits;
    } dtypes[] = {
        {"F32", 32}, {"F16", 16},    {"BF16", 16},   {"F64", 64},    {"U8", 8},      {"I8", 8},
        {"I64", 64}, {"BOOL", 8},    {"C64", 64},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},
        {"U16", 16}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E5M2", 8}, {"XX", 8},
    };
    char text[400], name[64];
    size_t end = m->header_size;
    while (end > 0 && m->header[end - 1] != '}')
        end--;
    if (end == 0)
        return;
    size_t kind = below(m, sizeof dtypes / sizeof *dtypes);
    size_t number = below(m, 100);
    switch (below(m, 16)) {
    case 0: snprintf(name, sizeof name, "\\u00%02zx", number); break;
    case 1: snprintf(name, sizeof name, "\xC3\xA9%zu", number); break;
    case 2: snprintf(name, sizeof name, "__metadata__"); break;
    case 3: name[0] = '\0'; break;
    case 4: snprintf(name, sizeof name, "b%zu", number); break;
    default: snprintf(name, sizeof name, "model.layers.%zu.mlp.up_proj.weight", number); break;
    }
    size_t rows = below(m, 9), columns = 1 + below(m, 9);
    size_t bytes = rows * columns * dtypes[kind].bits / 8;
    size_t begin = last_offset(m);
    int len = snprintf(text, sizeof text,
                       "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]}",
                       end >= 2 && m->header[end - 2] != '{' ? "," : "", name, dtypes[kind].name,
                       rows, columns, begin, begin + bytes);
    put(m, end - 1, 0, text, (size_t)len);
    resize_data(m, begin + bytes);
}

static void change_number(mutation *m)
{
    /* clang-format off */
    static const char *const numbers[] = {
        "0", "1", "2", "8", "16", "255", "4294967295", "4294967296", "9223372036854775807",
        "9223372036854775808", "18446744073709551615", "18446744073709551616", "-0", "1.0", "1e1",
        "01", "999999999999999", "1000000000000000", "\"1\"", "null", "[]"
    };
    /* clang-format on */
    size_t at = find_any(m, "0123456789");
    size_t end = at;
    while (end < m->header_size && m->header[end] >= '0' && m->header[end] <= '9')
        end++;
    const char *number = numbers[below(m, sizeof numbers / sizeof *numbers)];
    if (at < end)
        put(m, at, end - at, number, strlen(number));
}

/* Copies or removes the text between two punctuation marks. */
static void move_span(mutation *m, int copy)
{
    uint8_t span[512];
    size_t from = find_any(m, ",{}[]:\"");
    size_t to = find_any(m, ",{}[]:\"");
    size_t at = find_any(m, ",{}[]:\"");
    if (from > to) {
        size_t swapped = from;
        from = to;
        to = swapped;
    }
    if (to - from > sizeof span || to == m->header_size)
        return;
    if (!copy) {
        put(m, from, to - from, "", 0);
    } else {
        memcpy(span, m->header + from, to - from);
        put(m, at, 0, span, to - from);
    }
}

static void mutate(mutation *m)
{
    static const char spaces[] = "        ";
    switch (below(m, 10)) {
    case 0:
    case 1: add_tensor(m); break;
    case 2: change_number(m); break;
    case 3: move_span(m, 0); break;
    case 4: move_span(m, 1); break;
    case 5: put(m, m->header_size, 0, spaces, below(m, sizeof spaces)); break;
    case 6: m->data_size = mutate_bytes(m, m->data, m->data_size, m->max - m->header_size); break;
    default:
        m->header_size = mutate_bytes(m, m->header, m->header_size, m->max - m->data_size);
        break;
    }
}

static uint64_t load_length(const uint8_t *p)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        n |= (uint64_t)p[i] << 8 * i;
    return n;
}

size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t max, uint32_t seed,
                               fuzz_mutate *bytes)
{
    mutation m = {.random = seed * 2654435761u | 1, .bytes = bytes};
    (void)draw(&m.random);
    if (max < LENGTH_BYTES + 64 || size > max)
        return size;
    if (below(&m, 32) == 0)
        return mutate_bytes(&m, data, size, max);

    m.max = max - LENGTH_BYTES;
    m.header = malloc(m.max);
    m.data = malloc(m.max);
    if (m.header != NULL && m.data != NULL) {
        uint64_t header = size < LENGTH_BYTES ? 0 : load_length(data);
        size_t rest = size < LENGTH_BYTES ? 0 : size - LENGTH_BYTES;
        m.header_size = header < rest ? (size_t)header : rest;
        m.data_size = rest - m.header_size;
        if (rest > 0) {
            memcpy(m.header, data + LENGTH_BYTES, m.header_size);
            memcpy(m.data, data + LENGTH_BYTES + m.header_size, m.data_size);
        }
        mutate(&m);
        if (below(&m, 2) == 0)
            resize_data(&m, last_offset(&m));
        for (unsigned i = 0; i < LENGTH_BYTES; i++)
            data[i] = (uint8_t)((uint64_t)m.header_size >> 8 * i);
        memcpy(data + LENGTH_BYTES, m.header, m.header_size);
        memcpy(data + LENGTH_BYTES + m.header_size, m.data, m.data_size);
        size = LENGTH_BYTES + m.header_size + m.data_size;
    }
    free(m.header);
    free(m.data);
    return size;
}
