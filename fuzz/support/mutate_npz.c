/*
 * Structure-aware mutations of .npz files. Random byte changes mostly break a length or a checksum,
 * so that the rest of the file is not tested.
 *
 * There are two kinds of mutation:
 *
 *   - The members are read from the central directory, as far as it is valid. Members are changed,
 *     added, swapped or removed, and the archive is written with correct lengths, offsets and
 *     checksums.
 *   - Bytes of one array are changed in place, together with the checksums of the array. This
 *     preserves other defects of the archive.
 */
#include "fuzz.h"
#include "model.h"

#define MEMBERS_MAX 24
#define LOCAL 30
#define ENTRY 46
#define END 22

typedef struct member {
    uint8_t name[64];
    size_t name_len;
    uint8_t *bytes; /* as stored; compressed if the method is 8 */
    size_t n;
    uint32_t crc, size; /* CRC-32 and size of the uncompressed bytes */
    unsigned method;
    unsigned
        descriptor; /* a code: 16: data descriptor with signature; 15: without signature; 0: none */
    bool zip64;     /* sizes are stored in an extra field */
    size_t local_at, entry_at, data_at;
} member;

typedef struct mutation {
    uint32_t random;
    fuzz_mutate *bytes;
    member members[MEMBERS_MAX];
    size_t count;
    size_t max;
} mutation;

static size_t below(mutation *m, size_t n)
{
    return n == 0 ? 0 : fuzz_draw(&m->random) % n;
}

static uint32_t load(const uint8_t *p, unsigned width)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < width; i++)
        n |= (uint32_t)p[i] << 8 * i;
    return n;
}

static void store(uint8_t *p, uint64_t n, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (uint8_t)(n >> 8 * i);
}

static uint32_t crc_of(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
    }
    return ~crc;
}

/* ---- reading an archive ---- */

static bool take_member(mutation *m, const uint8_t *p, size_t size, size_t at)
{
    member *to = &m->members[m->count];
    *to = (member){.entry_at = at, .local_at = load(p + at + 42, 4)};
    to->method = load(p + at + 10, 2);
    to->name_len = load(p + at + 28, 2);
    to->crc = load(p + at + 16, 4);
    to->n = load(p + at + 20, 4);
    to->size = load(p + at + 24, 4);
    if (to->name_len > sizeof to->name || to->name_len > size - at - ENTRY ||
        to->local_at > size - LOCAL || size < LOCAL)
        return false;
    memcpy(to->name, p + at + ENTRY, to->name_len);
    to->data_at = to->local_at + LOCAL + load(p + to->local_at + 26, 2) +
                  (size_t)load(p + to->local_at + 28, 2);
    if (to->data_at > size || to->n > size - to->data_at)
        return false;
    to->descriptor = load(p + at + 8, 2) & 8 ? 16 : 0;
    to->bytes = malloc(to->n + 1);
    CHECK(to->bytes != NULL);
    memcpy(to->bytes, p + to->data_at, to->n);
    m->count++;
    return true;
}

static void read_archive(mutation *m, const uint8_t *p, size_t size)
{
    size_t end = size;
    while (end >= END && memcmp(p + end - END, "PK\5\6", 4) != 0)
        end--;
    if (end < END)
        return;
    size_t at = load(p + end - END + 16, 4);
    while (m->count < MEMBERS_MAX && at <= size && size - at >= ENTRY &&
           memcmp(p + at, "PK\1\2", 4) == 0) {
        size_t more = load(p + at + 28, 2) + (size_t)load(p + at + 30, 2) + load(p + at + 32, 2);
        if (!take_member(m, p, size, at) || more > size - at - ENTRY)
            return;
        at += ENTRY + more;
    }
}

/* ---- changing members ---- */

static void set_bytes(member *of, uint8_t *bytes, size_t n)
{
    free(of->bytes);
    of->bytes = bytes;
    of->n = n;
    of->size = (uint32_t)n;
    of->method = 0;
    of->crc = crc_of(bytes, n);
}

/* Converts the bytes to a deflate stream, either one stored block or literals of the fixed code. */
static void pack(mutation *m, member *of)
{
    uint8_t *packed = calloc(1, 2 * of->n + 32);
    size_t bit = 0, n = of->n;
    CHECK(packed != NULL);
    if (below(m, 2) == 0) {
        packed[0] = 1;
        store(packed + 1, n, 2);
        store(packed + 3, ~n, 2);
        memcpy(packed + 5, of->bytes, n);
        n += 5;
    } else {
        packed[0] = 3; /* header of a last block with fixed codes: RFC 1951, 3.2.6 */
        bit = 3;
        for (size_t i = 0; i <= n; i++) {
            unsigned code = i == n               ? 0
                            : of->bytes[i] < 144 ? 0x30u + of->bytes[i]
                                                 : 0x190u + of->bytes[i] - 144;
            unsigned length = i == n ? 7 : of->bytes[i] < 144 ? 8 : 9;
            while (length-- > 0) {
                packed[bit / 8] |= (uint8_t)((code >> length & 1) << bit % 8);
                bit++;
            }
        }
        n = (bit + 7) / 8;
    }
    free(of->bytes);
    of->bytes = packed;
    of->n = n;
    of->method = 8;
}

/* Makes an array in the .npy format as NumPy writes it, sometimes with a defect. */
static void make_array(mutation *m, member *to)
{
    static const char *const types[] = {"<f4", "<f2", "<f8", "|i1", "<i8", "|b1",
                                        ">f4", "<u2", "<c8", "|V2", "|O",  "<f3"};
    static const uint8_t widths[] = {4, 2, 8, 1, 8, 1, 4, 2, 8, 2, 8, 3};
    char text[200];
    size_t type = below(m, sizeof widths), rank = below(m, 4), elements = 1;
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                     types[type], below(m, 4) == 0 ? "True" : "False");
    for (size_t i = 0; i < rank; i++) {
        size_t dimension = below(m, 5);
        elements *= dimension;
        n += snprintf(text + n, sizeof text - (size_t)n, "%zu,%s", dimension,
                      below(m, 2) ? " " : "");
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    size_t header = 10 + (size_t)n + 1, data = elements * widths[type];
    header += below(m, 8) == 0 ? below(m, 9) : (64 - header % 64) % 64;
    uint8_t *bytes = malloc(header + data + 1);
    CHECK(bytes != NULL);
    memset(bytes, ' ', header);
    memcpy(bytes, "\x93NUMPY\1", 8);
    store(bytes + 8, header - 10, 2);
    memcpy(bytes + 10, text, (size_t)n);
    bytes[header - 1] = '\n';
    for (size_t i = 0; i < data; i++)
        bytes[header + i] = (uint8_t)below(m, 256);
    set_bytes(to, bytes, header + data);
}

static void add_member(mutation *m)
{
    if (m->count == MEMBERS_MAX)
        return;
    member *to = &m->members[m->count++];
    *to = (member){.descriptor = below(m, 8) == 0 ? 15 + (unsigned)below(m, 2) : 0,
                   .zip64 = below(m, 8) == 0};
    to->name_len = (size_t)snprintf((char *)to->name, sizeof to->name, "%s%zu.npy",
                                    below(m, 8) == 0 ? "a/../b" : "w", below(m, 20));
    make_array(m, to);
    if (below(m, 4) == 0)
        pack(m, to);
}

/* Changes the .npy header and its length field, or any bytes of the member. Of a compressed member,
 * changes the compressed bytes. */
static void mutate_member(mutation *m, member *of)
{
    if (of->method != 0) {
        of->n = m->bytes != NULL && of->n > 0 ? m->bytes(of->bytes, of->n, of->n) : of->n;
        return;
    }
    size_t room = of->n + 64, header = of->n >= 10 ? 10 + (size_t)load(of->bytes + 8, 2) : 0;
    uint8_t *bytes = malloc(room + 1);
    CHECK(bytes != NULL);
    memcpy(bytes, of->bytes, of->n);
    size_t n = of->n;
    if (m->bytes != NULL && below(m, 2) == 0 && header > 10 && header <= n) {
        uint8_t text[4096];
        size_t length = header - 10 < sizeof text - 64 ? header - 10 : 0;
        memcpy(text, bytes + 10, length);
        length = length == 0 ? 0 : m->bytes(text, length, length + 64);
        if (length > 0) {
            memmove(bytes + 10 + length, bytes + header, n - header);
            memcpy(bytes + 10, text, length);
            store(bytes + 8, length, 2);
            n = n - header + 10 + length;
        }
    } else if (m->bytes != NULL && n > 0) {
        n = m->bytes(bytes, n, room);
    }
    set_bytes(of, bytes, n);
}

static void mutate_members(mutation *m)
{
    size_t i = below(m, m->count), k = below(m, m->count);
    member swapped;
    switch (below(m, 10)) {
    case 0:
    case 1: add_member(m); break;
    case 2: /* removes a member */
        if (m->count > 0) {
            free(m->members[i].bytes);
            m->members[i] = m->members[--m->count];
        }
        break;
    case 3: /* swaps two members */
        if (m->count > 0) {
            swapped = m->members[i];
            m->members[i] = m->members[k];
            m->members[k] = swapped;
        }
        break;
    case 4:
        if (m->count > 0 && m->bytes != NULL)
            m->members[i].name_len = m->bytes(m->members[i].name, m->members[i].name_len, 64);
        break;
    case 5:
        if (m->count > 0 && m->members[i].method == 0)
            pack(m, &m->members[i]);
        break;
    case 6:
        if (m->count > 0) {
            m->members[i].descriptor = 15 + (unsigned)below(m, 2);
            m->members[i].zip64 = below(m, 2) == 0;
        }
        break;
    default:
        if (m->count > 0)
            mutate_member(m, &m->members[i]);
        else
            add_member(m);
        break;
    }
}

/* ---- writing it ---- */

/* Writes the fields from the flags to the lengths, which a local header and a directory entry have
 * in common. */
static void put_common(uint8_t *p, const member *of, bool local)
{
    bool later = local && of->descriptor != 0;
    store(p, of->descriptor != 0 ? 8 : 0, 2);
    store(p + 2, of->method, 2);
    store(p + 8, later ? 0 : of->crc, 4);
    store(p + 12, of->zip64 ? UINT32_MAX : later ? 0 : of->n, 4);
    store(p + 16, of->zip64 ? UINT32_MAX : later ? 0 : of->size, 4);
    store(p + 20, of->name_len, 2);
    store(p + 22, of->zip64 ? 20 : 0, 2);
}

static size_t put_name(uint8_t *p, const member *of, bool local)
{
    bool later = local && of->descriptor != 0;
    memcpy(p, of->name, of->name_len);
    if (!of->zip64)
        return of->name_len;
    p += of->name_len;
    store(p, 1, 2);
    store(p + 2, 16, 2);
    store(p + 4, later ? 0 : of->size, 8);
    store(p + 12, later ? 0 : of->n, 8);
    return of->name_len + 20;
}

static size_t put_descriptor(uint8_t *p, const member *of)
{
    size_t at = 0;
    unsigned width = of->zip64 ? 8 : 4;
    if (of->descriptor == 0)
        return 0;
    if (of->descriptor == 16) {
        memcpy(p, "PK\7\10", 4);
        at = 4;
    }
    store(p + at, of->crc, 4);
    store(p + at + 4, of->n, width);
    store(p + at + 4 + width, of->size, width);
    return at + 4 + 2 * (size_t)width;
}

/* Writes all members and the central directory. Returns the size of the archive, or 0 if it does
 * not fit. */
static size_t write_archive(mutation *m, uint8_t *to)
{
    size_t at = 0, need = END;
    for (size_t i = 0; i < m->count; i++)
        need += LOCAL + ENTRY + 2 * (m->members[i].name_len + 20) + m->members[i].n + 24;
    if (need > m->max)
        return 0;
    for (size_t i = 0; i < m->count; i++) {
        member *of = &m->members[i];
        of->local_at = at;
        memset(to + at, 0, LOCAL);
        memcpy(to + at, "PK\3\4\x14", 5);
        put_common(to + at + 6, of, true);
        at += LOCAL;
        at += put_name(to + at, of, true);
        memcpy(to + at, of->bytes, of->n);
        at += of->n;
        at += put_descriptor(to + at, of);
    }
    size_t directory = at;
    for (size_t i = 0; i < m->count; i++) {
        const member *of = &m->members[i];
        memset(to + at, 0, ENTRY);
        memcpy(to + at, "PK\1\2\x14\0\x14", 7);
        put_common(to + at + 8, of, false);
        store(to + at + 42, of->local_at, 4);
        at += ENTRY;
        at += put_name(to + at, of, false);
    }
    memset(to + at, 0, END);
    memcpy(to + at, "PK\5\6", 4);
    store(to + at + 8, m->count, 2);
    store(to + at + 10, m->count, 2);
    store(to + at + 12, at - directory, 4);
    store(to + at + 16, directory, 4);
    return at + END;
}

/* Changes bytes of one array in place. Updates its checksum in the directory entry, and in the
 * local header or data descriptor. */
static size_t repair(mutation *m, uint8_t *data, size_t size)
{
    const member *of = &m->members[below(m, m->count)];
    if (of->method != 0 || of->n == 0 || m->bytes == NULL)
        return size;
    uint8_t *bytes = malloc(of->n);
    CHECK(bytes != NULL);
    memcpy(bytes, of->bytes, of->n);
    size_t n = m->bytes(bytes, of->n, of->n);
    memcpy(data + of->data_at, bytes, n);
    uint32_t crc = crc_of(data + of->data_at, of->n);
    free(bytes);
    store(data + of->entry_at + 16, crc, 4);
    if (of->descriptor == 0)
        store(data + of->local_at + 14, crc, 4);
    else if (size - of->data_at - of->n >= 8)
        store(data + of->data_at + of->n + 4, crc, 4);
    return size;
}

size_t fuzz_mutate_npz(uint8_t *data, size_t size, size_t max, uint32_t seed, fuzz_mutate *bytes)
{
    mutation m = {.random = fuzz_seed(seed), .bytes = bytes, .max = max};
    if (bytes != NULL && below(&m, 4) == 0)
        return bytes(data, size, max);
    read_archive(&m, data, size);
    if (m.count > 0 && below(&m, 4) == 0) {
        size = repair(&m, data, size);
    } else {
        uint8_t *made = malloc(max + 1);
        CHECK(made != NULL);
        mutate_members(&m);
        size_t n = write_archive(&m, made);
        if (n > 0)
            memcpy(data, made, n);
        size = n > 0 ? n : size;
        free(made);
    }
    for (size_t i = 0; i < m.count; i++)
        free(m.members[i].bytes);
    return size;
}
