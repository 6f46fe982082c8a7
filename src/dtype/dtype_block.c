/*
 * The field layout of all block types, as declared in ggml's ggml-common.h.
 *
 * In files from big-endian machines, the bytes of each integer that ggml's quantizers store are in
 * reverse order. The width of a field in this table is the width of these integers, which can
 * differ from the type in ggml-common.h. The quantizers copy the field qh of Q5_0 and Q5_1, the
 * words of IQ2_XXS and the signs of IQ3_XXS from 32-bit words. The scales of IQ1_M are four 16-bit
 * words, whose upper 4 bits together form one binary16. All other packed fields are assembled byte
 * by byte.
 */
#include "dtype/dtype_block.h"
#include "weighbridge/dtypes.h"

typedef enum field_kind {
    BYTES,
    WORD16,
    WORD32,
    SCALE16,      /* binary16 */
    SCALE32,      /* binary32 */
    SCALE_E8M0,   /* 255 is NaN (OCP Microscaling specification) */
    SCALE_SPREAD, /* four 16-bit words; the top 4 bits of each word are 4 bits of a binary16 */
    FIELD_KINDS
} field_kind;

static const uint8_t widths[FIELD_KINDS] = {1, 2, 4, 2, 4, 1, 2};

typedef struct field {
    uint8_t kind; /* a field_kind */
    uint16_t count;
} field;

#define FIELDS 4

typedef struct block_layout {
    uint16_t bytes;       /* size of the block in bytes */
    field fields[FIELDS]; /* terminated by an entry with count 0 */
} block_layout;

static const block_layout layouts[] = {
    [WB_DTYPE_Q4_0] = {18, {{SCALE16, 1}, {BYTES, 16}}},
    [WB_DTYPE_Q4_1] = {20, {{SCALE16, 2}, {BYTES, 16}}},
    [WB_DTYPE_Q5_0] = {22, {{SCALE16, 1}, {WORD32, 1}, {BYTES, 16}}},
    [WB_DTYPE_Q5_1] = {24, {{SCALE16, 2}, {WORD32, 1}, {BYTES, 16}}},
    [WB_DTYPE_Q8_0] = {34, {{SCALE16, 1}, {BYTES, 32}}},
    [WB_DTYPE_Q8_1] = {36, {{SCALE16, 2}, {BYTES, 32}}},
    [WB_DTYPE_Q2_K] = {84, {{BYTES, 16 + 64}, {SCALE16, 2}}},
    [WB_DTYPE_Q3_K] = {110, {{BYTES, 32 + 64 + 12}, {SCALE16, 1}}},
    [WB_DTYPE_Q4_K] = {144, {{SCALE16, 2}, {BYTES, 12 + 128}}},
    [WB_DTYPE_Q5_K] = {176, {{SCALE16, 2}, {BYTES, 12 + 32 + 128}}},
    [WB_DTYPE_Q6_K] = {210, {{BYTES, 128 + 64 + 16}, {SCALE16, 1}}},
    [WB_DTYPE_Q8_K] = {292, {{SCALE32, 1}, {BYTES, 256}, {WORD16, 16}}},
    [WB_DTYPE_IQ2_XXS] = {66, {{SCALE16, 1}, {WORD32, 16}}},
    [WB_DTYPE_IQ2_XS] = {74, {{SCALE16, 1}, {WORD16, 32}, {BYTES, 8}}},
    [WB_DTYPE_IQ3_XXS] = {98, {{SCALE16, 1}, {BYTES, 64}, {WORD32, 8}}},
    [WB_DTYPE_IQ1_S] = {50, {{SCALE16, 1}, {BYTES, 32}, {WORD16, 8}}},
    [WB_DTYPE_IQ4_NL] = {18, {{SCALE16, 1}, {BYTES, 16}}},
    [WB_DTYPE_IQ3_S] = {110, {{SCALE16, 1}, {BYTES, 64 + 8 + 32 + 4}}},
    [WB_DTYPE_IQ2_S] = {82, {{SCALE16, 1}, {BYTES, 64 + 8 + 8}}},
    [WB_DTYPE_IQ4_XS] = {136, {{SCALE16, 1}, {WORD16, 1}, {BYTES, 4 + 128}}},
    [WB_DTYPE_IQ1_M] = {56, {{BYTES, 32 + 16}, {SCALE_SPREAD, 4}}},
    [WB_DTYPE_TQ1_0] = {54, {{BYTES, 48 + 4}, {SCALE16, 1}}},
    [WB_DTYPE_TQ2_0] = {66, {{BYTES, 64}, {SCALE16, 1}}},
    [WB_DTYPE_MXFP4] = {17, {{SCALE_E8M0, 1}, {BYTES, 16}}},
    /* the E4M3 scales need no check: all 256 codes are valid */
    [WB_DTYPE_NVFP4] = {36, {{BYTES, 4 + 32}}},
    [WB_DTYPE_Q1_0] = {18, {{SCALE16, 1}, {BYTES, 16}}},
    [WB_DTYPE_Q2_0] = {18, {{SCALE16, 1}, {BYTES, 16}}},
};

static const block_layout *layout_of(const wb__dtype *dtype)
{
    size_t number = (size_t)dtype->id;
    if (number >= sizeof layouts / sizeof layouts[0] || layouts[number].bytes == 0)
        return NULL;
    return &layouts[number];
}

/* ---- byte order ---- */

static void swap_numbers(uint8_t *p, size_t n, unsigned width)
{
    for (; n > 0; n--, p += width) {
        switch (width) {
        case 2: wb__store_le16(p, wb__swap16(wb__load_le16(p))); break;
        case 4: wb__store_le32(p, wb__swap32(wb__load_le32(p))); break;
        case 8: wb__store_le64(p, wb__swap64(wb__load_le64(p))); break;
        default: return;
        }
    }
}

void wb__dtype_swap(const wb__dtype *dtype, void *units, size_t n)
{
    const block_layout *layout = layout_of(dtype);
    uint8_t *p = units;
    if (layout == NULL) {
        if (dtype->kind == WB__CLASS_COMPLEX) /* a complex element is two numbers */
            swap_numbers(p, 2 * n, dtype->block_bits / 16);
        else if (wb__dtype_is_plain(dtype))
            swap_numbers(p, n, dtype->block_bits / 8);
        return;
    }
    for (; n > 0; n--) {
        for (const field *f = layout->fields; f < layout->fields + FIELDS && f->count > 0; f++) {
            swap_numbers(p, f->count, widths[f->kind]);
            p += (size_t)f->count * widths[f->kind];
        }
    }
}

/* ---- invalid scales ---- */

typedef struct block_state {
    bool nan, infinite;
} block_state;

static void look_at_f16(uint16_t bits, block_state *state)
{
    state->nan |= (bits & 0x7FFF) > 0x7C00;
    state->infinite |= (bits & 0x7FFF) == 0x7C00;
}

static void look_at_f32(uint32_t bits, block_state *state)
{
    state->nan |= (bits & 0x7FFFFFFF) > 0x7F800000;
    state->infinite |= (bits & 0x7FFFFFFF) == 0x7F800000;
}

static void look_at_field(const field *f, const uint8_t *p, block_state *state)
{
    unsigned spread = 0;
    for (unsigned i = 0; i < f->count; i++) {
        switch ((field_kind)f->kind) {
        case SCALE16: look_at_f16(wb__load_le16(p + 2 * (size_t)i), state); break;
        case SCALE32: look_at_f32(wb__load_le32(p + 4 * (size_t)i), state); break;
        case SCALE_E8M0: state->nan |= p[i] == 0xFF; break;
        case SCALE_SPREAD: spread |= (unsigned)p[2 * i + 1] >> 4 << 4 * i; break;
        default: return;
        }
    }
    look_at_f16((uint16_t)spread, state);
}

void wb__block_count_odd(const wb__dtype *dtype, const void *blocks, size_t n,
                         wb__value_counts *counts)
{
    const block_layout *layout = layout_of(dtype);
    const uint8_t *p = blocks;
    if (layout == NULL)
        return;
    for (; n > 0; n--) {
        block_state state = {false, false};
        for (const field *f = layout->fields; f < layout->fields + FIELDS && f->count > 0; f++) {
            look_at_field(f, p, &state);
            p += (size_t)f->count * widths[f->kind];
        }
        counts->nan += state.nan;
        counts->infinite += state.infinite && !state.nan;
    }
}
