/*
 * Reads a GGUF file with a long array of strings, which repeats the input. The SIMD reader
 * (src/formats/gguf/gguf_strings.c) must find the same strings as a loop that skips from one length
 * to the next.
 */
#include "support/fuzz.h"
#include "weighbridge.h"

#define FRONT 49 /* total bytes of magic, version, counts, a one-byte key, types, array length */
#define BODY_MAX 120000
#define STRINGS_MAX (BODY_MAX / 8)

static uint8_t file[FRONT + BODY_MAX + 32];

static void put(size_t at, uint64_t v, unsigned width, bool big)
{
    for (unsigned i = 0; i < width; i++)
        file[at + (big ? width - 1 - i : i)] = (uint8_t)(v >> 8 * i);
}

static uint64_t length_at(size_t at, bool big)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)file[at + (big ? 7 - i : i)] << 8 * i;
    return v;
}

/* Returns the number of complete strings that end at or before the offset *end, and sets *end to
 * the end of the last one. */
static uint64_t walk(size_t *end, bool big)
{
    size_t at = FRONT;
    uint64_t count = 0;
    for (; *end - at >= 8 && length_at(at, big) <= *end - at - 8; count++)
        at += 8 + (size_t)length_at(at, big);
    *end = at;
    return count;
}

static void check(const wb_model *model, uint64_t count, bool big)
{
    static const char *texts[STRINGS_MAX];
    static size_t lens[STRINGS_MAX];
    wb_meta_array array = {.size = sizeof array};
    CHECK(wb_meta_get_array(model, "a", 1, WB_META_ANY, &array, NULL) == WB_OK &&
          array.count == count);
    CHECK(wb_meta_strings(&array, 0, count, texts, lens) == WB_OK);
    size_t at = FRONT;
    for (uint64_t i = 0; i < count; i++) {
        CHECK(lens[i] == length_at(at, big));
        CHECK(memcmp(texts[i], file + at + 8, lens[i]) == 0 && texts[i][lens[i]] == '\0');
        at += 8 + lens[i];
        if (i % 37 == 0) {
            const char *text;
            size_t len;
            CHECK(wb_meta_string_at(&array, i, &text, &len) == WB_OK);
            CHECK(text == texts[i] && len == lens[i]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wb_model *model;
    wb_error error;
    if (size < 2)
        return 0;
    bool big = data[0] % 2 == 1;
    size_t body = 80000 + (size_t)data[0] * 156; /* several blocks of the SIMD reader */
    for (size_t i = 0; i < body; i++)
        file[FRONT + i] = data[1 + i % (size - 1)];
    size_t end = FRONT + body, n;
    uint64_t count = walk(&end, big);
    memcpy(file, "GGUF", 4);
    put(4, 3, 4, big);
    put(8, 0, 8, big);
    put(16, 1, 8, big);
    put(24, 1, 8, big);
    file[32] = 'a';
    put(33, 9, 4, big);
    put(37, 8, 4, big);
    put(41, count, 8, big);
    for (n = end; n % 32 != 0; n++)
        file[n] = 0;
    wb_status status = wb_open_memory(file, n, "x.gguf", NULL, &model, &error);
    CHECK(status == WB_OK);
    check(model, count, big);
    wb_close(model);
    return 0;
}
