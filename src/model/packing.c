/*
 * Derives bits and group size from shapes.
 *
 * The shapes alone are ambiguous. A row of w packed words with s scales has s · group columns, and
 * also w · 32 / bits columns, so only the product bits · group = 32 · w / s is known. A product of
 * 256 may be 4 bits in groups of 64, 8 bits in groups of 32 or 2 bits in groups of 128. The
 * decision uses the first of these rules that gives a choice:
 *
 * 1. a hint for this tensor that agrees with the shapes
 * 2. a model-wide hint that agrees with the shapes. Exception: if the hint's number of columns is
 *    not one of the model's layer sizes and rule 3 gives a choice, rule 3 is used, and its choice
 *    is reported as doubtful
 * 3. the only choice for which the number of columns is one of the model's layer sizes
 * 4. the choice with the usual group size, reported as doubtful if there are others
 */
#include "model/model_messages.h"
#include "model/packed.h"
#include "weighbridge/dtypes.h"

typedef struct affine_choice {
    uint32_t bits;
    uint32_t group;
} affine_choice;

static const uint32_t affine_bits[] = {4, 8, 6, 5, 3, 2, 1}; /* the usual widths first */
static const uint32_t affine_groups[] = {64, 32, 128};

typedef struct problem {
    const wb__table *table;
    uint32_t *parts;
    const wb__packing_hint *hint;
    const wb__packing_hints *hints;
    wb__packing *packing; /* the result */
    uint64_t *shape;      /* result: the logical shape of the joined tensor */
    const char **doubt;
} problem;

/* Returns the kind (dtype, shape, size) of a part that always exists: values or scales. */
static const wb__kind *part_of(const problem *p, wb__part part)
{
    return wb__table_kind_of(p->table, p->parts[part]);
}

/* Returns the kind of an optional part; NULL if it does not exist. */
static const wb__kind *kind_of(const problem *p, wb__part part)
{
    return p->parts[part] == WB__NO_TENSOR ? NULL : part_of(p, part);
}

/* Returns the last dimension; the rank must be at least 1. */
static uint64_t last_of(const wb__kind *kind)
{
    return kind->shape[kind->rank - 1];
}

/*
 * Returns true if all dimensions except the last are equal. The rank of the values must be at least
 * 1.
 */
static bool same_rows(const wb__kind *values, const wb__kind *other)
{
    return other->rank == values->rank &&
           memcmp(values->shape, other->shape, (values->rank - 1) * sizeof *values->shape) == 0;
}

static bool is_plain_float(const wb__kind *kind)
{
    int32_t id = kind->dtype->id;
    return id == WB_DTYPE_F32 || id == WB_DTYPE_F16 || id == WB_DTYPE_BF16;
}

/* Sums the bytes of all parts and counts the elements of the shape. */
static bool measure(const problem *p, uint32_t rank)
{
    wb__kind *kind = &p->packing->kind;
    kind->dtype = part_of(p, WB__PART_VALUES)->dtype;
    kind->rank = rank;
    kind->elements = 1;
    kind->bytes = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (!wb__mul(kind->elements, p->shape[i], &kind->elements))
            return false;
    }
    for (int part = 0; part < WB__PARTS; part++) {
        const wb__kind *of = kind_of(p, (wb__part)part);
        if (of != NULL && !wb__add(kind->bytes, of->bytes, &kind->bytes))
            return false;
    }
    return true;
}

/* Sets `shape` to the shape of the values with `inputs` as last dimension. */
static bool widen(const problem *p, uint64_t inputs)
{
    const wb__kind *values = part_of(p, WB__PART_VALUES);
    memcpy(p->shape, values->shape, values->rank * sizeof *p->shape);
    p->shape[values->rank - 1] = inputs;
    return measure(p, values->rank);
}

/* ---- U32 words with separate scales: MLX and Ollama ---- */

static bool solve_float(const problem *p, uint64_t bits_per_scale)
{
    static const wb__scheme schemes[] = {WB__SCHEME_NVFP4, WB__SCHEME_MXFP4, WB__SCHEME_MXFP8};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        uint32_t bits = wb__scheme_bits(schemes[i]);
        uint32_t group = wb__scheme_group(schemes[i]);
        if ((uint64_t)bits * group == bits_per_scale) {
            p->packing->scheme = schemes[i];
            p->packing->bits = bits;
            p->packing->group = group;
            return true;
        }
    }
    return false;
}

static bool is_known_size(const wb__packing_hints *hints, uint64_t inputs)
{
    return hints->has_size != NULL && hints->has_size(hints->ctx, inputs) != 0;
}

static bool is_among(uint64_t value, const uint32_t *list, size_t n)
{
    size_t i = 0;
    while (i < n && list[i] != value)
        i++;
    return i < n;
}

/*
 * Sets *choice to the packing of the hint. Returns false if this packing is not supported or does
 * not agree with the shapes.
 */
static bool take_hint(const wb__packing_hint *hint, uint64_t bits_per_scale, affine_choice *choice)
{
    bool affine = hint->scheme == WB__SCHEME_AFFINE || hint->scheme == WB__SCHEME_INT4 ||
                  hint->scheme == WB__SCHEME_INT8;
    if (hint->scheme == WB__SCHEME_INT4 && hint->bits == 0 && hint->named) {
        /* an Ollama blob that does not state its packing: int4 in groups of 32 or 64, or int8 in
         * groups of 64 */
        if (bits_per_scale != 128 && bits_per_scale != 256 && bits_per_scale != 512)
            return false;
        *choice = (affine_choice){bits_per_scale == 512 ? 8 : 4, bits_per_scale == 128 ? 32 : 64};
        return true;
    }
    if (!affine || hint->bits == 0)
        return false;
    uint64_t group = hint->group != 0 ? hint->group : bits_per_scale / hint->bits;
    if (!is_among(hint->bits, affine_bits, sizeof affine_bits / sizeof affine_bits[0]) ||
        !is_among(group, affine_groups, sizeof affine_groups / sizeof affine_groups[0]) ||
        hint->bits * group != bits_per_scale)
        return false;
    *choice = (affine_choice){hint->bits, (uint32_t)group};
    return true;
}

/*
 * Returns the number of packings that agree with the shapes, and sets *choice to the preferred one.
 * If `known_only`, considers only packings whose number of columns is a layer size of the model.
 */
static int choose(const wb__packing_hints *hints, uint64_t bits_per_scale, uint64_t per_row,
                  bool known_only, affine_choice *choice)
{
    int ways = 0;
    for (size_t g = 0; g < sizeof affine_groups / sizeof affine_groups[0]; g++) {
        for (size_t b = 0; b < sizeof affine_bits / sizeof affine_bits[0]; b++) {
            if ((uint64_t)affine_bits[b] * affine_groups[g] != bits_per_scale ||
                (known_only && !is_known_size(hints, per_row / affine_bits[b])))
                continue;
            if (ways++ == 0)
                *choice = (affine_choice){affine_bits[b], affine_groups[g]};
        }
    }
    return ways;
}

static bool solve_affine(const problem *p, uint64_t bits_per_scale, uint64_t per_row,
                         const char **doubt)
{
    const wb__packing_hint *hint = p->hint;
    const wb__packing_hints *hints = p->hints;
    affine_choice choice = {0, 0};
    affine_choice known = {0, 0};
    bool hinted = take_hint(hint, bits_per_scale, &choice);
    if (!hinted || !hint->named) {
        int ways = choose(hints, bits_per_scale, per_row, true, &known);
        if (!hinted || (ways == 1 && !is_known_size(hints, per_row / choice.bits))) {
            if (ways == 1) {
                if (hinted)
                    *doubt = WB__MSG_MODEL_PACKING_WRONG_SIZE;
                choice = known;
            } else {
                ways = choose(hints, bits_per_scale, per_row, false, &choice);
                if (ways == 0)
                    return false;
                if (ways > 1)
                    *doubt = WB__MSG_MODEL_PACKING_AMBIGUOUS;
            }
        }
    }
    p->packing->bits = choice.bits;
    p->packing->group = choice.group;
    p->packing->scheme = WB__SCHEME_AFFINE;
    if (hint->scheme == WB__SCHEME_INT4 || hint->scheme == WB__SCHEME_INT8)
        p->packing->scheme = choice.bits == 4   ? WB__SCHEME_INT4
                             : choice.bits == 8 ? WB__SCHEME_INT8
                                                : WB__SCHEME_AFFINE;
    return true;
}

static bool solve_words(const problem *p)
{
    const wb__kind *values = part_of(p, WB__PART_VALUES);
    const wb__kind *scales = part_of(p, WB__PART_SCALES);
    const wb__kind *biases = kind_of(p, WB__PART_BIASES);
    uint64_t per_row, bits; /* packed bits in a row, and packed bits per scale */
    *p->doubt = WB__MSG_MODEL_PACKING_SCALES;
    if (!same_rows(values, scales) || last_of(scales) == 0 ||
        !wb__mul(last_of(values), 32, &per_row) || per_row % last_of(scales) != 0)
        return false;
    bits = per_row / last_of(scales);
    if (scales->dtype->id == WB_DTYPE_U8) {
        if (!solve_float(p, bits))
            return false;
        p->parts[WB__PART_BIASES] =
            /* float schemes have no biases; a tensor with the name of the biases is unrelated */
            WB__NO_TENSOR;
        *p->doubt = NULL;
    } else {
        if (!is_plain_float(scales))
            return false;
        if (biases == NULL || !same_rows(values, biases) || last_of(biases) != last_of(scales) ||
            !is_plain_float(biases)) {
            *p->doubt = WB__MSG_MODEL_PACKING_BIASES;
            return false;
        }
        const char *uncertain = NULL;
        if (!solve_affine(p, bits, per_row, &uncertain))
            return false;
        *p->doubt = uncertain;
    }
    /* number of elements in a row = packed bits in the row / bits of an element */
    return widen(p, per_row / p->packing->bits);
}

/* ---- bytes with separate scales ---- */

static bool solve_nvfp4(const problem *p)
{
    const wb__kind *values = part_of(p, WB__PART_VALUES);
    const wb__kind *scales = part_of(p, WB__PART_SCALES);
    uint64_t inputs;
    p->packing->scheme = WB__SCHEME_NVFP4;
    p->packing->bits = 4;
    p->packing->group = 16;
    return same_rows(values, scales) && scales->dtype->id == WB_DTYPE_F8_E4M3 &&
           wb__mul(last_of(values), 2, &inputs) && inputs % 16 == 0 &&
           last_of(scales) == inputs / 16 && widen(p, inputs);
}

static bool has_blocks(const wb__kind *values, const wb__kind *scales, uint32_t rows,
                       uint32_t columns)
{
    uint32_t rank = values->rank;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t of = i + 1 == rank ? columns : i + 2 == rank ? rows : 1;
        if (scales->shape[i] != values->shape[i] / of + (values->shape[i] % of != 0))
            return false;
    }
    return true;
}

static bool solve_fp8_block(const problem *p)
{
    const wb__packing_hint *hint = p->hint;
    const wb__kind *values = part_of(p, WB__PART_VALUES);
    const wb__kind *scales = part_of(p, WB__PART_SCALES);
    bool said = hint->scheme == WB__SCHEME_FP8_BLOCK && hint->rows != 0 && hint->group != 0;
    p->packing->scheme = WB__SCHEME_FP8_BLOCK;
    p->packing->bits = 8;
    p->packing->rows = said ? hint->rows : 128;
    p->packing->group = said ? hint->group : 128;
    if (values->rank < 2 || scales->rank != values->rank || !is_plain_float(scales))
        return false;
    if (!has_blocks(values, scales, p->packing->rows, p->packing->group)) {
        if (!said || !has_blocks(values, scales, 128, 128))
            return false;
        p->packing->rows = p->packing->group = 128;
        *p->doubt = WB__MSG_MODEL_PACKING_BLOCKS;
    }
    return widen(p, last_of(values));
}

/* ---- ggml blocks, which contain their scales ---- */

static bool solve_blocks(const problem *p)
{
    const wb__kind *values = part_of(p, WB__PART_VALUES);
    p->packing->scheme = WB__SCHEME_PLAIN;
    p->packing->bits = values->dtype->block_bits / values->dtype->block_size;
    p->packing->group = values->dtype->block_size;
    return widen(p, last_of(values));
}

/* ---- AWQ and GPTQ ---- */

/*
 * AWQ packs eight outputs into a word: shape [in, out / 8]. GPTQ packs 32 / bits inputs into a
 * word: shape [in · bits / 32, out]. Scales are [in / group, out] in both. The resulting tensor is
 * [out, in].
 */
static bool is_words(const wb__kind *kind)
{
    return kind->dtype->id == WB_DTYPE_I32 || kind->dtype->id == WB_DTYPE_U32;
}

static bool solve_words_across(const problem *p)
{
    const wb__packing_hint *hint = p->hint;
    const wb__kind *values = part_of(p, WB__PART_VALUES);
    const wb__kind *scales = part_of(p, WB__PART_SCALES);
    const wb__kind *zeros = kind_of(p, WB__PART_BIASES);
    const wb__kind *order = kind_of(p, WB__PART_ORDER);
    if (values->rank != 2 || !is_words(values) || scales->rank != 2 || scales->shape[0] == 0 ||
        !is_plain_float(scales) || zeros == NULL || zeros->rank != 2 || !is_words(zeros) ||
        zeros->shape[0] != scales->shape[0])
        return false;
    uint32_t bits = hint->bits == 0 ? 4 : hint->bits;
    uint64_t outputs = scales->shape[1];
    uint64_t inputs, packed_outputs, packed_zeros;
    if (bits != 2 && bits != 4 && bits != 8)
        return false;
    p->packing->bits = bits;
    if (!wb__mul(values->shape[1], 32 / bits, &packed_outputs) ||
        !wb__mul(zeros->shape[1], 32 / bits, &packed_zeros) || packed_zeros != outputs)
        return false;
    if (packed_outputs == outputs && hint->scheme != WB__SCHEME_GPTQ) {
        p->packing->scheme = WB__SCHEME_AWQ;
        inputs = values->shape[0];
    } else if (values->shape[1] == outputs) {
        p->packing->scheme = WB__SCHEME_GPTQ;
        p->packing->plain_zeros = hint->plain_zeros;
        if (!wb__mul(values->shape[0], 32 / bits, &inputs))
            return false;
    } else {
        return false;
    }
    if (order != NULL && (order->rank != 1 || !is_words(order) || order->shape[0] != inputs))
        return false;
    if (inputs % scales->shape[0] != 0 || inputs / scales->shape[0] > UINT32_MAX)
        return false;
    p->packing->group = (uint32_t)(inputs / scales->shape[0]);
    p->shape[0] = outputs;
    p->shape[1] = inputs;
    return measure(p, 2);
}

bool wb__packing_solve(const wb__table *table, uint32_t parts[WB__PARTS],
                       const wb__packing_hint *hint, const wb__packing_hints *hints,
                       wb__packing *packing, uint64_t *shape, const char **doubt)
{
    const problem asked = {table, parts, hint, hints, packing, shape, doubt};
    const problem *p = &asked;
    const wb__kind *values = part_of(p, WB__PART_VALUES);
    const wb__kind *global = kind_of(p, WB__PART_GLOBAL_SCALE);
    *doubt = NULL;
    bool fits = values->rank >= 1;
    if (fits && global != NULL) /* one scale for the tensor, or one per expert */
        fits = global->dtype->id == WB_DTYPE_F32 &&
               (global->elements == 1 ||
                (values->rank > 2 && global->rank > 0 && global->elements == values->shape[0] &&
                 global->shape[0] == global->elements));
    if (fits) {
        switch (values->dtype->id) {
        case WB_DTYPE_U32: return solve_words(p);
        case WB_DTYPE_U8: fits = solve_nvfp4(p); break;
        case WB_DTYPE_F8_E4M3: fits = solve_fp8_block(p); break;
        case WB_DTYPE_NVFP4: fits = solve_blocks(p); break;
        default: fits = solve_words_across(p); break;
        }
    }
    if (!fits)
        *doubt = WB__MSG_MODEL_PACKING_PARTS;
    return fits;
}
