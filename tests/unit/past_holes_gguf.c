/* Tests vulnerabilities that were found in other GGUF readers, in the handling of counts, lengths,
 * products and sums; see past_holes.h. */
#include "past_holes.h"

#define P60 (UINT64_C(1) << 60)
#define P62 (UINT64_C(1) << 62)
#define P63 (UINT64_C(1) << 63)

/* ---- GGUF: counts and lengths ---- */

static void entries_beyond_all(gguf *g)
{
    gguf_start(g, false, 0, P60);
}

static void tensors_beyond_all(gguf *g)
{
    gguf_start(g, false, P60, 0);
}

static void entries_that_wrap(gguf *g)
{
    gguf_start(g, false, 0, UINT64_MAX);
}

static void tensors_that_wrap_with_their_size(gguf *g)
{
    gguf_start(g, false, UINT64_MAX / 24 + 2, 0);
}

static void string_beyond_all(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", STR);
    gguf_uint(g, P60, 8);
}

static void string_of_all_ones(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", STR);
    gguf_uint(g, UINT64_MAX, 8); /* plus 1 for a NUL, this overflows to 0 */
}

static void key_beyond_int(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_uint(g, UINT64_C(0x80000001), 8);
    gguf_raw(g, "abc", 3);
}

static void token_beyond_int(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "tokenizer.ggml.tokens", ARR);
    gguf_array(g, STR, 1);
    gguf_uint(g, UINT64_C(0x80000001), 8);
    gguf_raw(g, "abc", 3);
}

static void array_beyond_all(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", ARR);
    gguf_array(g, I64, P60 * 2); /* times 8 bytes, this overflows to 0 */
}

static void array_of_2_63(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", ARR);
    gguf_array(g, U8, P63);
}

static void array_of_2_63_strings(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", ARR);
    gguf_array(g, STR, P63);
}

static void array_of_empty_arrays(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", ARR);
    gguf_array(g, ARR, P60);
    for (int i = 0; i < 8; i++)
        gguf_array(g, U8, 0);
}

static void arrays_a_million_deep(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", ARR);
    for (int i = 0; i < 1000000; i++)
        gguf_array(g, ARR, 1);
}

static void ends_in_key(gguf *g)
{
    gguf_start(g, false, 1, 1);
    gguf_uint(g, 8, 8);
    gguf_raw(g, "gene", 4);
}

static void ends_in_tensor(gguf *g)
{
    gguf_start(g, false, 1, 0);
    gguf_string(g, "t");
    gguf_uint(g, 4, 4);
    gguf_uint(g, 1, 8);
}

static void four_bytes(gguf *g)
{
    memset(g, 0, sizeof *g);
    gguf_raw(g, "GGUF", 4);
}

static void value_of_no_type(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_number(g, "a", 0x7FFFFFFF, 0, 8);
}

static void array_of_no_type(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_key(g, "a", ARR);
    gguf_array(g, 0xFFFFFFFF, 2);
    gguf_uint(g, 0, 8);
}

static void alignment_of_zero(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_number(g, "general.alignment", U32, 0, 4);
}

static void alignment_of_2_31(gguf *g)
{
    static const uint64_t shape[] = {1, 0};
    gguf_start(g, false, 1, 1);
    gguf_number(g, "general.alignment", U32, UINT64_C(1) << 31, 4);
    gguf_tensor(g, "t", shape, 0, 0);
}

static void alignment_of_another_type(gguf *g)
{
    gguf_start(g, false, 0, 1);
    gguf_number(g, "general.alignment", U64, 32, 8);
}

/* ---- GGUF: products and sums of tensors ---- */

static void one_tensor(gguf *g, const uint64_t *shape, uint32_t type, uint64_t offset)
{
    gguf_start(g, false, 1, 0);
    gguf_tensor(g, "t", shape, type, offset);
    gguf_pad(g, 32);
    for (int i = 0; i < 4; i++)
        gguf_uint(g, 0, 8);
}

static void product_that_wraps_to_zero(gguf *g)
{
    static const uint64_t shape[] = {UINT64_C(1) << 32, UINT64_C(1) << 32, 0};
    one_tensor(g, shape, 0, 0);
}

static void product_that_wraps_to_one(gguf *g)
{
    static const uint64_t shape[] = {UINT64_C(0xFFFFFFFF), UINT64_C(0xFFFFFFFF), 0};
    one_tensor(g, shape, 24, 0);
}

static void bytes_that_wrap(gguf *g)
{
    static const uint64_t shape[] = {P62, 0}; /* times 4 bytes, this overflows to 0 */
    one_tensor(g, shape, 0, 0);
}

static void bytes_that_wrap_short(gguf *g)
{
    static const uint64_t shape[] = {
        P62 - 1, 0}; /* 4 bytes per element: 2^64 - 4 bytes, which padding makes 0 */
    one_tensor(g, shape, 0, 0);
}

static void negative_dimension(gguf *g)
{
    static const uint64_t shape[] = {UINT64_MAX, 0};
    one_tensor(g, shape, 0, 0);
}

static void dimension_beyond_int(gguf *g)
{
    static const uint64_t shape[] = {(UINT64_C(1) << 32) + 1, 0}; /* 1 if truncated to 32 bits */
    one_tensor(g, shape, 0, 0);
}

static void rank_of_all_ones(gguf *g)
{
    gguf_start(g, false, 1, 0);
    gguf_string(g, "t");
    gguf_uint(g, UINT32_MAX, 4);
}

static void type_out_of_range(gguf *g)
{
    static const uint64_t shape[] = {1, 0};
    one_tensor(g, shape, 4096, 0);
}

static void type_below_zero(gguf *g)
{
    static const uint64_t shape[] = {1, 0};
    one_tensor(g, shape, UINT32_MAX, 0);
}

static void row_of_half_a_block(gguf *g)
{
    static const uint64_t shape[] = {16, 2, 0}; /* one block of 32 elements, but in two rows */
    one_tensor(g, shape, 2, 0);
}

static void offset_beyond_all(gguf *g)
{
    static const uint64_t shape[] = {8, 0};
    one_tensor(g, shape, 0, UINT64_MAX - 31); /* plus 32 bytes, this overflows to 0 */
}

static void offset_past_the_end(gguf *g)
{
    static const uint64_t shape[] = {8, 0};
    one_tensor(g, shape, 0, 32);
}

static void data_past_the_end(gguf *g)
{
    static const uint64_t shape[] = {1024, 0};
    one_tensor(g, shape, 0, 0);
}

static void offsets_whose_sum_wraps(gguf *g)
{
    static const uint64_t most[] = {P62 - 8, 0};
    static const uint64_t rest[] = {16, 0};
    gguf_start(g, false, 2, 0);
    gguf_tensor(g, "a", most, 0, 0);
    gguf_tensor(g, "b", rest, 0, UINT64_MAX - 31);
    gguf_pad(g, 32);
}

static const hole gguf_holes[] = {
    {"CVE-2024-21802 tensor name and entries", entries_beyond_all, WB_ERROR_FORMAT, "gguf-count"},
    {"CVE-2024-21825 tensors", tensors_beyond_all, WB_ERROR_FORMAT, "gguf-count"},
    {"CVE-2024-21836 entries that wrap", entries_that_wrap, WB_ERROR_FORMAT, "gguf-count"},
    {"CVE-2024-23496 tensors that wrap", tensors_that_wrap_with_their_size, WB_ERROR_FORMAT,
     "gguf-count"},
    {"CVE-2024-23605 string", string_beyond_all, WB_ERROR_FORMAT, "gguf-length"},
    {"CVE-2024-25664 string and its NUL", string_of_all_ones, WB_ERROR_FORMAT, "gguf-length"},
    {"CVE-2024-25665 array", array_beyond_all, WB_ERROR_FORMAT, "gguf-length"},
    {"CVE-2024-25666 array of no type", array_of_no_type, WB_ERROR_FORMAT, "gguf-value-type"},
    {"CVE-2024-25667 value of no type", value_of_no_type, WB_ERROR_FORMAT, "gguf-value-type"},
    {"CVE-2024-25668 rank", rank_of_all_ones, WB_ERROR_FORMAT, "gguf-rank"},
    {"CVE-2024-32878 ends in a key", ends_in_key, WB_ERROR_FORMAT, "gguf-length"},
    {"CVE-2024-41130 ends in a tensor", ends_in_tensor, WB_ERROR_FORMAT, "gguf-truncated"},
    {"CVE-2025-49847 token", token_beyond_int, WB_ERROR_FORMAT, "gguf-length"},
    {"CVE-2025-52566 key", key_beyond_int, WB_ERROR_FORMAT, "gguf-length"},
    {"CVE-2025-53630 sum of offsets", offsets_whose_sum_wraps, WB_ERROR_FORMAT, "gguf-overflow"},
    {"CVE-2026-27940 offset", offset_beyond_all, WB_ERROR_FORMAT, "gguf-extent"},
    {"CVE-2026-33298 bytes", bytes_that_wrap, WB_ERROR_FORMAT, "gguf-overflow"},
    {"llama.cpp 24759 padding", bytes_that_wrap_short, WB_ERROR_FORMAT, "gguf-overflow"},
    {"ggml d99724f2 product", product_that_wraps_to_zero, WB_ERROR_FORMAT, "gguf-overflow"},
    {"ggml d99724f2 product of one", product_that_wraps_to_one, WB_ERROR_FORMAT, "gguf-overflow"},
    {"ggml negative dimension", negative_dimension, WB_ERROR_FORMAT, "gguf-overflow"},
    {"llama.cpp 27188 array of 2^63", array_of_2_63, WB_ERROR_FORMAT, "gguf-length"},
    {"llama.cpp 27188 strings", array_of_2_63_strings, WB_ERROR_FORMAT, "gguf-length"},
    {"llama.cpp 27188 empty arrays", array_of_empty_arrays, WB_ERROR_FORMAT, "gguf-length"},
    {"gguf a million arrays deep", arrays_a_million_deep, WB_ERROR_FORMAT, NULL},
    {"CVE-2026-7482 data past the end", data_past_the_end, WB_ERROR_FORMAT, "gguf-extent"},
    {"CVE-2026-7482 offset past the end", offset_past_the_end, WB_ERROR_FORMAT, "gguf-extent"},
    {"CVE-2026-53923 dimension in 32 bits", dimension_beyond_int, WB_ERROR_FORMAT, "gguf-extent"},
    {"CVE-2024-39720 four bytes", four_bytes, WB_ERROR_FORMAT, "gguf-truncated"},
    {"CVE-2025-0317 alignment 0", alignment_of_zero, WB_ERROR_FORMAT, "gguf-alignment"},
    {"CVE-2025-0315 alignment 2^31", alignment_of_2_31, WB_ERROR_FORMAT, NULL},
    {"CVE-2025-0312 alignment of a type", alignment_of_another_type, WB_ERROR_FORMAT,
     "gguf-alignment"},
    {"CVE-2024-8063 half a block", row_of_half_a_block, WB_ERROR_FORMAT, "gguf-block"},
    {"CVE-2025-62609 type", type_out_of_range, WB_ERROR_FORMAT, "gguf-type"},
    {"CVE-2025-62609 type below zero", type_below_zero, WB_ERROR_FORMAT, "gguf-type"},
};

static void gguf_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gguf_holes / sizeof gguf_holes[0]; i++) {
        gguf g;
        gguf_holes[i].make(&g);
        open_from_memory(&gguf_holes[i], g.bytes, g.n);
        gguf_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gguf_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
