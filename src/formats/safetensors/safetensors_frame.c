/*
 * Learns frames: the text of a member around its name and its two offsets. fast.h then compares
 * this text instead of parsing it.
 *
 * A frame may have its three fields in any order, with white space between tokens: the official
 * library writes dtype, shape, data_offsets, and MLX writes data_offsets, dtype, shape.
 */
#include "formats/safetensors/safetensors_reader.h"

#define MAX_RANK 8
#define MAX_DTYPE 16
#define MAX_DIGITS 15 /* limit of read_number in fast.h */

typedef struct scanner {
    const uint8_t *p;
    const uint8_t *end;
    wb__kind kind;
    uint64_t shape[MAX_RANK];
    const uint8_t *number[2]; /* first digit of begin and of end in data_offsets */
    const uint8_t *after[2];  /* byte after the last digit of begin and of end */
} scanner;

static int peek(const scanner *s)
{
    return s->p == s->end ? -1 : *s->p;
}

static void skip_space(scanner *s)
{
    while (wb__st_is_space(peek(s)))
        s->p++;
}

static bool take(scanner *s, int c)
{
    if (peek(s) != c)
        return false;
    s->p++;
    return true;
}

/* Takes a punctuation character and the white space on both sides. */
static bool take_mark(scanner *s, int c)
{
    skip_space(s);
    if (!take(s, c))
        return false;
    skip_space(s);
    return true;
}

static bool take_number(scanner *s, uint64_t *value)
{
    const uint8_t *from = s->p;
    *value = 0;
    while (peek(s) >= '0' && peek(s) <= '9' && s->p - from < MAX_DIGITS)
        *value = *value * 10 + (uint64_t)(*s->p++ - '0');
    return s->p != from && !(s->p - from > 1 && *from == '0');
}

/* Reads the rest of a string without escapes. Its opening quote was already read. */
static bool take_string(scanner *s, wb__str *text)
{
    const uint8_t *from = s->p;
    while (s->p - from < MAX_DTYPE && peek(s) != '"' && peek(s) >= 0)
        s->p++;
    *text = (wb__str){(const char *)from, (size_t)(s->p - from)};
    return take(s, '"');
}

static bool take_dtype(scanner *s)
{
    wb__str name;
    if (!take(s, '"') || !take_string(s, &name))
        return false;
    s->kind.dtype = wb__st_dtype(name);
    return s->kind.dtype != NULL;
}

static bool take_shape(scanner *s)
{
    if (!take(s, '['))
        return false;
    skip_space(s);
    if (take(s, ']'))
        return true;
    do {
        if (s->kind.rank == MAX_RANK || !take_number(s, &s->shape[s->kind.rank]))
            return false;
        s->kind.rank++;
    } while (take_mark(s, ','));
    return take(s, ']');
}

static bool take_offsets(scanner *s)
{
    uint64_t ignored;
    if (!take(s, '['))
        return false;
    for (int i = 0; i < 2; i++) {
        skip_space(s);
        s->number[i] = s->p;
        if (!take_number(s, &ignored))
            return false;
        s->after[i] = s->p;
        if (i == 0 && !take_mark(s, ','))
            return false;
    }
    skip_space(s);
    return take(s, ']');
}

static const struct field_row {
    wb__str name;
    bool (*take)(scanner *s);
} fields[] = {
    {{"dtype", 5}, take_dtype},
    {{"shape", 5}, take_shape},
    {{"data_offsets", 12}, take_offsets},
};

#define FIELDS (sizeof fields / sizeof fields[0])

/* Takes a field; `seen` has a bit for each field that was taken. */
static bool take_field(scanner *s, unsigned *seen)
{
    wb__str name;
    if (!take(s, '"') || !take_string(s, &name) || !take_mark(s, ':'))
        return false;
    for (size_t i = 0; i < FIELDS; i++) {
        if (!wb__str_equal(name, fields[i].name))
            continue;
        if (*seen & 1u << i)
            return false;
        *seen |= 1u << i;
        return fields[i].take(s);
    }
    return false;
}

/* Takes the text from the closing quote of a name to the closing brace of the member. */
static bool take_member(scanner *s)
{
    unsigned seen = 0;
    if (!take(s, '"') || !take_mark(s, ':') || !take(s, '{'))
        return false;
    skip_space(s);
    do {
        if (!take_field(s, &seen))
            return false;
    } while (take_mark(s, ','));
    return take(s, '}') && seen == (1u << FIELDS) - 1;
}

static void keep(wb__st_text *text, const uint8_t *from, const uint8_t *to)
{
    size_t n = (size_t)(to - from);
    memcpy(text->text, from, n);
    memset(text->text + n, 0, -n % 64);
    text->len = (uint32_t)n;
    text->first_mask = n >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * n) - 1;
    text->first = wb__load_le64(text->text) & text->first_mask;
}

/* Stores the frame of a member in the cache, in place of the oldest frame. Returns false if the
 * frame cannot be cached. */
static bool learn(wb__st_reader *reader, const uint8_t *p, const uint8_t *end)
{
    scanner s = {.p = p, .end = end};
    wb__st_frame *frame = &reader->frames[reader->next_frame];
    if (reader->table->kinds.count >= reader->kinds_max || !take_member(&s) ||
        s.kind.rank > reader->context->limits.rank || s.number[0] - p > WB__ST_TEXT_MAX ||
        s.number[1] - s.after[0] > WB__ST_BETWEEN_MAX || s.p - s.after[1] > WB__ST_TEXT_MAX)
        return false;
    s.kind.shape = s.shape;
    wb__kind_measure(&s.kind);
    if (s.kind.fault != WB__KIND_SOUND || !wb__table_kind(reader->table, &s.kind, &frame->kind))
        return false;
    keep(&frame->open, p, s.number[0]);
    keep(&frame->between, s.after[0], s.number[1]);
    keep(&frame->close, s.after[1], s.p);
    frame->bytes = s.kind.bytes;
    frame->number = reader->next_frame;
    reader->follower[reader->history] = (uint8_t)frame->number;
    reader->next_frame = (reader->next_frame + 1) % WB__ST_FRAMES;
    return true;
}

void wb__st_forget_frames(wb__st_reader *reader)
{
    for (size_t i = 0; i < WB__ST_FRAMES; i++) {
        /* In a used frame, open.text begins with the quote that ends the name of a tensor. In an
         * unused frame it is a single NUL, which matches no tensor. */
        reader->frames[i].open.len = 1;
        reader->frames[i].open.text[0] = '\0';
    }
}

static bool skip_text(const uint8_t **p, const uint8_t *end, const wb__st_text *text)
{
    if ((size_t)(end - *p) < text->len || memcmp(*p, text->text, text->len) != 0)
        return false;
    *p += text->len;
    return true;
}

static void skip_digits(const uint8_t **p, const uint8_t *end)
{
    while (*p != end && **p >= '0' && **p <= '9')
        (*p)++;
}

static bool is_frame(const wb__st_frame *frame, const uint8_t *p, const uint8_t *end)
{
    if (!skip_text(&p, end, &frame->open))
        return false;
    skip_digits(&p, end);
    if (!skip_text(&p, end, &frame->between))
        return false;
    skip_digits(&p, end);
    return skip_text(&p, end, &frame->close);
}

bool wb__st_find_frame(wb__st_reader *reader, const uint8_t *p, const uint8_t *end)
{
    for (unsigned i = 0; i < WB__ST_FRAMES; i++) {
        if (is_frame(&reader->frames[i], p, end)) {
            reader->follower[reader->history] = (uint8_t)i;
            return true;
        }
    }
    return learn(reader, p, end);
}
