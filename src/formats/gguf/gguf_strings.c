/*
 * Reads the strings of an array: replaces the length in front of each string by the in-memory
 * encoding of the length (model/metadata.h), and records the offset (mark) of every
 * WB__STRING_STEP-th string.
 *
 * A vocabulary has hundreds of thousands of strings. Each can be found only from the length of the
 * previous one, so a sequential scan is limited by load latency. The scan therefore divides a block
 * of the array into LANES lanes of about equal length, and advances by one string in each lane per
 * iteration, so that the processor overlaps the loads. The start of each lane after the first is a
 * guess: the next position where eight bytes form a length below 256, which in a vocabulary is
 * almost always a real length. The guess is right if the previous lane, which starts at a verified
 * position, ends exactly there. Lanes only read; lengths are rewritten after verification. After a
 * wrong guess, the next REST_BYTES are scanned sequentially, so that a file crafted to make all
 * guesses wrong causes little extra work.
 */
#include "formats/gguf/gguf_reader.h"

#define LANES 4 /* must match walk() */
#define LANE_BYTES 4096
#define GUESS_BYTES 128 /* maximum distance of a lane's start from its nominal position, in bytes */
#define BLOCK_BYTES (LANES * LANE_BYTES)
#define LANE_STRINGS ((LANE_BYTES + GUESS_BYTES) / WB__STRING_HEAD + 1)
#define REST_BYTES (4 * BLOCK_BYTES) /* number of bytes scanned sequentially after a wrong guess */

/*
 * A lane uses only the lower 16 bits of a length, so a wrong length advances the lane by less than
 * 64 KiB + WB__STRING_HEAD. Positions of strings in a block are stored in 16 bits.
 */
_Static_assert(BLOCK_BYTES + GUESS_BYTES <= UINT16_MAX, "places in a block have 16 bits");

/* Positions are relative to the first byte of the block. */
typedef struct lanes {
    size_t begin[LANES + 1]; /* the last entry is the end of the block */
    /* end of the last string of each lane, possibly beyond the available bytes */
    size_t end[LANES];
    size_t count[LANES];
    uint16_t at[LANES][LANE_STRINGS];
} lanes;

static inline uint64_t length_at(const uint8_t *p, bool big_endian)
{
    return big_endian ? wb__swap64(wb__load_le64(p)) : wb__load_le64(p);
}

/* Returns the end of the string at `at`, assuming a length below 64 KiB. */
static inline size_t after(const uint8_t *block, size_t at, bool big_endian)
{
    const uint8_t *p = block + at;
    size_t len = big_endian ? (size_t)p[7] | (size_t)p[6] << 8 : wb__load_le16(p);
    return at + WB__STRING_HEAD + len;
}

/* Guesses for each lane (quarter of the block) where its first string starts. Returns false if
 * there is no likely start. */
static inline bool guess(lanes *l, const uint8_t *block, bool big_endian)
{
    l->begin[0] = 0;
    l->begin[LANES] = BLOCK_BYTES;
    for (size_t k = 1; k < LANES; k++) {
        size_t at = k * LANE_BYTES, last = at + GUESS_BYTES;
        while (at < last && length_at(block + at, big_endian) > 255)
            at++;
        if (at == last)
            return false;
        l->begin[k] = at;
    }
    return true;
}

static inline void walk(lanes *l, const uint8_t *block, bool big_endian)
{
    size_t a = l->begin[0], b = l->begin[1], c = l->begin[2], d = l->begin[3], n = 0;
    for (; a < l->begin[1] && b < l->begin[2] && c < l->begin[3] && d < l->begin[4]; n++) {
        l->at[0][n] = (uint16_t)a;
        l->at[1][n] = (uint16_t)b;
        l->at[2][n] = (uint16_t)c;
        l->at[3][n] = (uint16_t)d;
        a = after(block, a, big_endian);
        b = after(block, b, big_endian);
        c = after(block, c, big_endian);
        d = after(block, d, big_endian);
    }
    const size_t reached[LANES] = {a, b, c, d};
    for (size_t k = 0; k < LANES; k++) {
        size_t count = n, at = reached[k];
        for (; at < l->begin[k + 1]; count++) {
            l->at[k][count] = (uint16_t)at;
            at = after(block, at, big_endian);
        }
        l->count[k] = count;
        l->end[k] = at;
    }
}

/* Replaces the lengths of n strings by the in-memory encoding of lengths (model/metadata.h). Stops
 * at the first length of 64 KiB or more. Returns the number of replaced lengths. */
static inline size_t rewrite(uint8_t *block, const uint16_t *at, size_t n, bool big_endian)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t len = length_at(block + at[i], big_endian);
        if (len > UINT16_MAX)
            return i;
        wb__store_le64(block + at[i], len << 8);
    }
    return n;
}

typedef struct progress {
    wb__gguf_reader *reader;
    uint32_t *marks;
    uint64_t done, count; /* number of strings read, and number in the array */
    size_t resume;        /* after a wrong guess: header offset from which lanes are used again */
} progress;

static void set_marks(progress *to, size_t block_at, const uint16_t *at, size_t n)
{
    uint64_t next = (to->done + WB__STRING_STEP - 1) / WB__STRING_STEP;
    for (size_t i = (size_t)(next * WB__STRING_STEP - to->done); i < n; i += WB__STRING_STEP)
        to->marks[next++] = (uint32_t)(block_at + at[i]);
}

/* Reads the strings of a block whose bytes are available. Stops after the lane that does not end at
 * the guessed start of the next lane. */
static inline void take_block(progress *to, bool big_endian)
{
    wb__cursor *cursor = to->reader->cursor;
    size_t block_at = (size_t)wb__cursor_at(cursor), k = 0, taken;
    uint8_t *block = cursor->kept + block_at;
    lanes l;
    size_t at_hand = wb__cursor_at_hand(cursor);
    bool good = guess(&l, block, big_endian);
    if (good)
        walk(&l, block, big_endian);
    while (good) {
        size_t n = l.count[k];
        if (l.end[k] > at_hand) /* the last string is not completely available */
            n--;
        taken = rewrite(block, l.at[k], n, big_endian);
        set_marks(to, block_at, l.at[k], taken);
        to->done += taken;
        cursor->p = block + (taken < l.count[k] ? l.at[k][taken] : l.end[k]);
        good = taken == n && l.end[k] == l.begin[k + 1];
        if (++k == LANES)
            return;
    }
    to->resume = (size_t)wb__cursor_at(cursor) + REST_BYTES;
}

/* Reads up to `most` strings that are completely available. */
static inline void take_from(progress *to, uint64_t most, bool big_endian)
{
    wb__cursor *cursor = to->reader->cursor;
    uint8_t *p = cursor->kept + (size_t)wb__cursor_at(cursor);
    for (; most > 0 && cursor->end - p >= WB__STRING_HEAD; most--, to->done++) {
        uint64_t len = length_at(p, big_endian);
        if (len > (size_t)(cursor->end - p) - WB__STRING_HEAD)
            break;
        wb__store_le64(p, len << 8);
        p += WB__STRING_HEAD + (size_t)len;
    }
    cursor->p = p;
}

/* Reads one string, fetching more bytes if necessary. */
static wb_status take_one(progress *to)
{
    wb__gguf_reader *reader = to->reader;
    size_t at = (size_t)wb__cursor_at(reader->cursor), len;
    wb_status status = wb__gguf_take_length(reader, "a string of an array", &len);
    if (status != WB_OK)
        return status;
    wb__store_le64(reader->cursor->kept + at, (uint64_t)len << 8);
    (void)wb__gguf_skip(reader, len);
    to->done++;
    return WB_OK;
}

/* Reads strings up to the next one whose offset must be recorded (every WB__STRING_STEP-th), or up
 * to the end of the array. */
static inline wb_status take_step(progress *to, bool big_endian)
{
    uint64_t end = to->done - to->done % WB__STRING_STEP + WB__STRING_STEP;
    if (end > to->count)
        end = to->count;
    if (to->done % WB__STRING_STEP == 0)
        to->marks[to->done / WB__STRING_STEP] = (uint32_t)wb__cursor_at(to->reader->cursor);
    take_from(to, end - to->done, big_endian);
    while (to->done < end) {
        wb_status status = take_one(to);
        if (status != WB_OK)
            return status;
        take_from(to, end - to->done, big_endian);
    }
    return WB_OK;
}

/*
 * Returns true if lanes may be used: the remaining strings, of at least WB__GGUF_STRING_MIN bytes
 * each, fill a block, and all bytes that lanes inspect are available.
 */
static inline bool is_block_at_hand(const progress *to)
{
    const wb__cursor *cursor = to->reader->cursor;
    return (to->count - to->done) * WB__GGUF_STRING_MIN >= BLOCK_BYTES &&
           wb__cursor_at_hand(cursor) >= BLOCK_BYTES + GUESS_BYTES + WB__STRING_HEAD &&
           (size_t)wb__cursor_at(cursor) >= to->resume;
}

static inline wb_status take_all(progress *to, bool big_endian)
{
    wb_status status = WB_OK;
    while (to->done < to->count && status == WB_OK) {
        if (is_block_at_hand(to))
            take_block(to, big_endian);
        else
            status = take_step(to, big_endian);
    }
    return status;
}

wb_status wb__gguf_read_strings(wb__gguf_reader *reader, wb__array *array)
{
    size_t marks = (size_t)((array->count + WB__STRING_STEP - 1) / WB__STRING_STEP);
    array->at = (uint32_t)wb__cursor_at(reader->cursor);
    array->of.marks = wb__arena_alloc(&reader->model->arena, marks * sizeof *array->of.marks);
    if (array->of.marks == NULL)
        return wb__fail_memory(reader->context);
    progress to = {.reader = reader, .marks = array->of.marks, .count = array->count};
    return reader->file->big_endian ? take_all(&to, true) : take_all(&to, false);
}
