/* Quantization recipes of llama.cpp's file types, as of ggml 0.25. The recipes choose the same
 * types as llama_model_quantize. tests/data/mixes.tsv contains the types that
 * llama_model_quantize chooses for every file type. */
#include "convert/recipe/llama_ftype.h"

#include "dtype/dtype.h"

#define T(name) WB_DTYPE_##name

static const wb__file_type file_types[] = {
    {"F32", 0, T(F32)},        {"F16", 1, T(F16)},          {"Q4_0", 2, T(Q4_0)},
    {"Q4_1", 3, T(Q4_1)},      {"Q8_0", 7, T(Q8_0)},        {"Q5_0", 8, T(Q5_0)},
    {"Q5_1", 9, T(Q5_1)},      {"Q2_K", 10, T(Q2_K)},       {"Q3_K_S", 11, T(Q3_K)},
    {"Q3_K_M", 12, T(Q3_K)},   {"Q3_K_L", 13, T(Q3_K)},     {"Q4_K_S", 14, T(Q4_K)},
    {"Q4_K_M", 15, T(Q4_K)},   {"Q5_K_S", 16, T(Q5_K)},     {"Q5_K_M", 17, T(Q5_K)},
    {"Q6_K", 18, T(Q6_K)},     {"IQ2_XXS", 19, T(IQ2_XXS)}, {"IQ2_XS", 20, T(IQ2_XS)},
    {"Q2_K_S", 21, T(Q2_K)},   {"IQ3_XS", 22, T(IQ3_S)},    {"IQ3_XXS", 23, T(IQ3_XXS)},
    {"IQ1_S", 24, T(IQ1_S)},   {"IQ4_NL", 25, T(IQ4_NL)},   {"IQ3_S", 26, T(IQ3_S)},
    {"IQ3_M", 27, T(IQ3_S)},   {"IQ2_S", 28, T(IQ2_XS)},    {"IQ2_M", 29, T(IQ2_S)},
    {"IQ4_XS", 30, T(IQ4_XS)}, {"IQ1_M", 31, T(IQ1_M)},     {"BF16", 32, T(BF16)},
    {"TQ1_0", 36, T(TQ1_0)},   {"TQ2_0", 37, T(TQ2_0)},     {"MXFP4_MOE", 38, T(MXFP4)},
    {"Q1_0", 40, T(Q1_0)},     {"Q2_0", 41, T(Q2_0)},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- the rules ---- */

/* Sets of file types. Bit n is set if the set contains file type number n. */
#define F(number) ((uint64_t)1 << (number))
#define Q4_0 F(2)
#define Q8_0 F(7)
#define Q5_0 F(8)
#define Q2_K F(10)
#define Q3_K_S F(11)
#define Q3_K_M F(12)
#define Q3_K_L F(13)
#define Q4_K_S F(14)
#define Q4_K_M F(15)
#define Q5_K_M F(17)
#define IQ2_XXS F(19)
#define IQ2_XS F(20)
#define Q2_K_S F(21)
#define IQ3_XS F(22)
#define IQ3_XXS F(23)
#define IQ1_S F(24)
#define IQ4_NL F(25)
#define IQ3_S F(26)
#define IQ3_M F(27)
#define IQ2_S F(28)
#define IQ2_M F(29)
#define IQ4_XS F(30)
#define IQ1_M F(31)
#define TQ1_0 F(36)
#define TQ2_0 F(37)
#define MXFP4_MOE F(38)
#define Q2_0 F(41)
#define EVERY (~(uint64_t)0)
#define LOWEST (IQ1_S | IQ1_M | IQ2_XXS | IQ2_XS)
#define LOW (IQ2_S | IQ2_M)
#define OTHERS (~(LOWEST | LOW))

/* Kinds of tensors, determined from the tensor name. */
enum {
    /* output matrix, or the embedding if the model also uses it as output matrix */
    PART_OUTPUT = 1u << 0,
    PART_EMBEDDING = 1u << 1,
    PART_V = 1u << 2, /* attention value matrix, or combined matrix for q, k and v */
    PART_K = 1u << 3,
    PART_Q = 1u << 4,
    PART_O = 1u << 5,
    PART_DOWN = 1u << 6,
    PART_GATE = 1u << 7,
    PART_UP = 1u << 8,
    PART_OTHER = 1u << 9,
    PART_ANY = 0x3FFu
};

/* Conditions of a rule. All conditions whose bits are set must be true. */
enum {
    IF_GROUPED = 1u << 0, /* at least four query heads per k/v head */
    IF_NOT_GROUPED = 1u << 1,
    IF_EIGHT_EXPERTS = 1u << 2,
    /* At least four query heads per k/v head, or at least four experts. */
    IF_GROUPED_OR_EXPERTS = 1u << 3,
    IF_NO_MATRIX = 1u << 4,
    IF_MATRIX = 1u << 5,
    IF_STACKED = 1u << 6, /* the tensor contains several experts */
    /* the row length is not a multiple of the block size of the file type's base type */
    IF_UNEVEN = 1u << 7,
    IF_OTHER_TYPES = 1u << 8, /* llama.cpp has rules of its own for the family */
};

/* Layers to which a rule applies. FIRST_8TH: the first eighth of the layers. MORE: the first and
 * the last eighth, and every third layer between them. MIDDLE: all except the first and the last
 * eighth. */
typedef enum where { EVERYWHERE, FIRST_2, FIRST_4, FIRST_8TH, FIRST_16TH, MORE, MIDDLE } where;

/* Rules in order of precedence: the first rule that matches a tensor applies. Tensors without a
 * matching rule get the base type of the file type. */
static const struct {
    uint64_t file_types;
    uint32_t parts;
    uint32_t conditions;
    where layers;
    int32_t dtype;
} rules[] = {
    {MXFP4_MOE, PART_OUTPUT, 0, EVERYWHERE, T(Q8_0)},
    {MXFP4_MOE, PART_ANY, IF_STACKED, EVERYWHERE, T(MXFP4)},
    {MXFP4_MOE, PART_ANY, 0, EVERYWHERE, T(Q8_0)},

    {EVERY, PART_OUTPUT, IF_UNEVEN, EVERYWHERE, T(Q8_0)},
    {EVERY, PART_OUTPUT, IF_OTHER_TYPES, EVERYWHERE, T(Q8_0)},
    {LOWEST | LOW | IQ3_XXS, PART_OUTPUT, 0, EVERYWHERE, T(Q5_K)},
    {~Q8_0, PART_OUTPUT, 0, EVERYWHERE, T(Q6_K)},

    {LOWEST, PART_EMBEDDING, 0, EVERYWHERE, T(Q2_K)},
    {LOW | IQ3_XXS, PART_EMBEDDING, 0, EVERYWHERE, T(IQ3_S)},
    {TQ1_0 | TQ2_0 | Q2_0, PART_EMBEDDING, 0, EVERYWHERE, T(Q4_K)},

    {LOWEST | LOW, PART_V, IF_GROUPED_OR_EXPERTS, EVERYWHERE, T(Q4_K)},
    {OTHERS, PART_V, IF_EIGHT_EXPERTS, EVERYWHERE, T(Q8_0)},
    {LOW, PART_V, 0, EVERYWHERE, T(IQ3_S)},
    {LOWEST, PART_V, 0, EVERYWHERE, T(Q2_K)},
    {Q2_K | Q2_K_S, PART_V, IF_GROUPED, EVERYWHERE, T(Q4_K)},
    {Q2_K, PART_V, 0, EVERYWHERE, T(Q3_K)},
    {IQ3_XXS | IQ3_XS | IQ3_S, PART_V, IF_GROUPED, EVERYWHERE, T(Q4_K)},
    {IQ3_XXS, PART_V, IF_NO_MATRIX, EVERYWHERE, T(IQ3_S)},
    {IQ3_M, PART_V, 0, EVERYWHERE, T(Q4_K)},
    {Q3_K_M, PART_V, 0, FIRST_2, T(Q5_K)},
    {Q3_K_M, PART_V, 0, EVERYWHERE, T(Q4_K)},
    {Q3_K_L, PART_V, 0, EVERYWHERE, T(Q5_K)},
    {IQ4_NL | IQ4_XS, PART_V, IF_GROUPED, EVERYWHERE, T(Q5_K)},
    {Q4_K_M | Q5_K_M, PART_V, 0, MORE, T(Q6_K)},
    {Q4_K_S, PART_V, 0, FIRST_4, T(Q5_K)},

    {LOWEST | LOW, PART_K, IF_EIGHT_EXPERTS, EVERYWHERE, T(Q4_K)},
    {OTHERS, PART_K, IF_EIGHT_EXPERTS, EVERYWHERE, T(Q8_0)},
    {IQ3_XS, PART_K | PART_Q, 0, EVERYWHERE, T(IQ3_XXS)},
    {IQ3_XXS, PART_K | PART_Q, 0, EVERYWHERE, T(IQ2_S)},

    {Q3_K_M, PART_DOWN, IF_OTHER_TYPES, FIRST_16TH, T(Q5_K)},
    {Q3_K_M, PART_DOWN, IF_OTHER_TYPES, MORE, T(Q4_K)},
    {Q3_K_L, PART_DOWN, IF_OTHER_TYPES, EVERYWHERE, T(Q4_K)},
    {Q4_K_M, PART_DOWN, IF_OTHER_TYPES, FIRST_16TH, T(Q6_K)},
    {Q4_K_M, PART_DOWN, IF_OTHER_TYPES, MORE, T(Q5_K)},
    {Q3_K_M | Q4_K_M | Q4_K_S, PART_DOWN, IF_OTHER_TYPES, EVERYWHERE, -1},
    {LOW, PART_DOWN, 0, FIRST_8TH, T(IQ3_S)},
    {LOWEST, PART_DOWN, 0, FIRST_8TH, T(Q2_K)},
    {Q2_K, PART_DOWN, 0, EVERYWHERE, T(Q3_K)},
    {Q2_K_S, PART_DOWN, 0, FIRST_8TH, T(Q4_K)},
    {IQ3_XXS, PART_DOWN, IF_NO_MATRIX, FIRST_8TH, T(Q4_K)},
    {IQ3_XXS, PART_DOWN, IF_NO_MATRIX, EVERYWHERE, T(Q3_K)},
    {Q3_K_M, PART_DOWN, 0, FIRST_16TH, T(Q5_K)},
    {Q3_K_M, PART_DOWN, 0, EVERYWHERE, T(Q4_K)},
    {IQ3_M, PART_DOWN, 0, FIRST_8TH, T(Q4_K)},
    {IQ3_M, PART_DOWN, IF_EIGHT_EXPERTS, MORE, T(Q4_K)},
    {Q3_K_L, PART_DOWN, 0, EVERYWHERE, T(Q5_K)},
    {Q4_K_M | Q5_K_M, PART_DOWN, 0, MORE, T(Q6_K)},
    {IQ4_NL | IQ4_XS, PART_DOWN, IF_NO_MATRIX, FIRST_8TH, T(Q5_K)},
    {Q4_K_S, PART_DOWN, 0, FIRST_8TH, T(Q5_K)},
    {Q4_0, PART_DOWN, IF_MATRIX, FIRST_8TH, T(Q4_1)},
    {Q5_0, PART_DOWN, IF_MATRIX, FIRST_8TH, T(Q5_1)},

    {Q3_K_L, PART_O, IF_OTHER_TYPES, EVERYWHERE, T(Q4_K)},
    {OTHERS, PART_O, IF_OTHER_TYPES, EVERYWHERE, -1},
    {LOWEST | LOW | Q2_K | IQ3_XS | IQ3_XXS | Q3_K_S | Q3_K_M | IQ4_NL | Q4_K_S | Q4_K_M | IQ3_S |
         IQ3_M | IQ4_XS,
     PART_O, IF_EIGHT_EXPERTS, EVERYWHERE, T(Q5_K)},
    {Q2_K_S | Q3_K_L | Q5_K_M, PART_O, IF_EIGHT_EXPERTS, EVERYWHERE, -1},
    {IQ1_S | IQ1_M, PART_O, 0, EVERYWHERE, T(IQ2_XXS)},
    {LOW, PART_O, 0, EVERYWHERE, T(IQ3_S)},
    {Q2_K, PART_O, 0, EVERYWHERE, T(Q3_K)},
    {IQ3_XXS, PART_O, 0, EVERYWHERE, T(IQ3_S)},
    {Q3_K_M | IQ3_M, PART_O, 0, EVERYWHERE, T(Q4_K)},
    {Q3_K_L, PART_O, 0, EVERYWHERE, T(Q5_K)},

    {IQ3_XS, PART_GATE | PART_UP, 0, MIDDLE, T(IQ3_XXS)},
};

/* ---- kinds of tensors ---- */

static uint32_t part_of(const wb__recipe *recipe, wb__str name)
{
    static const struct {
        wb__str word;
        uint32_t part;
    } words[] = {
        {{"attn_qkv.weight", 15}, PART_V}, {{"attn_kv_b.weight", 16}, PART_V},
        {{"attn_v.weight", 13}, PART_V},   {{"attn_k.weight", 13}, PART_K},
        {{"attn_q.weight", 13}, PART_Q},   {{"attn_output.weight", 18}, PART_O},
        {{"ffn_up", 6}, PART_UP},          {{"ffn_gate", 8}, PART_GATE},
        {{"ffn_down", 8}, PART_DOWN},
    };
    if (wb__str_equal(name, WB__STR("output.weight")))
        return PART_OUTPUT;
    if (wb__str_equal(name, WB__STR("token_embd.weight")))
        return recipe->has_output ? PART_EMBEDDING : PART_OUTPUT;
    if (wb__str_equal(name, WB__STR("per_layer_token_embd.weight")))
        return PART_EMBEDDING;
    for (size_t i = 0; i < COUNT(words); i++) {
        if (wb__str_has(name, words[i].word))
            return words[i].part;
    }
    return PART_OTHER;
}

/* Returns the layer number that follows "blk." in the name, or -1 if the name has none. */
static int64_t layer_of(wb__str name)
{
    int64_t layer = -1;
    if (!wb__str_starts_with(name, WB__STR("blk.")))
        return -1;
    for (size_t i = 4; i < name.len && i < 14 && name.ptr[i] >= '0' && name.ptr[i] <= '9'; i++)
        layer = (layer < 0 ? 0 : layer * 10) + (name.ptr[i] - '0');
    return layer;
}

int wb__recipe_before(wb__str a, wb__str b)
{
    int64_t x = layer_of(a), y = layer_of(b);
    if (x != y)
        return x < y ? -1 : 1;
    return wb__str_compare(a, b);
}

/* ---- choice of the dtype ---- */

static bool is_among(where layers, uint64_t i, uint64_t n)
{
    switch (layers) {
    case EVERYWHERE: return true;
    case FIRST_2: return i < 2;
    case FIRST_4: return i < 4;
    case FIRST_8TH: return i < n / 8;
    case FIRST_16TH: return i < n / 16;
    case MORE: return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
    case MIDDLE: return i >= n / 8 && i < 7 * n / 8;
    }
    return false;
}

static uint32_t conditions_of(const wb__recipe *recipe, const wb__recipe_tensor *tensor)
{
    uint64_t group = recipe->kv_heads == 0 ? 1 : recipe->heads / recipe->kv_heads;
    uint32_t block = wb__dtype_get(recipe->file_type->dtype)->block_size;
    uint32_t met = group >= 4 ? IF_GROUPED : IF_NOT_GROUPED;
    met |= recipe->experts == 8 ? IF_EIGHT_EXPERTS : 0;
    met |= group >= 4 || recipe->experts >= 4 ? IF_GROUPED_OR_EXPERTS : 0;
    met |= recipe->matrix ? IF_MATRIX : IF_NO_MATRIX;
    met |= tensor->stack > 1 ? IF_STACKED : 0;
    met |= tensor->columns % block != 0 ? IF_UNEVEN : 0;
    met |= recipe->other_types ? IF_OTHER_TYPES : 0;
    return met;
}

/*
 * Returns the position of a tensor, counted as in llama.cpp. Rules select layers by this position
 * (is_among). It is the number of earlier tensors of the same kind (PART_*). Exception: if the
 * model has experts and the kind is not PART_V, it is the layer number. Sets *of to the number of
 * positions: for PART_V the number of v tensors in the model, otherwise the number of layers.
 * Returns 0 for kinds whose rules do not depend on the position.
 */
static uint64_t position_of(wb__recipe *recipe, wb__str name, uint32_t part, uint64_t *of)
{
    uint64_t *met = part == PART_V      ? &recipe->values_met
                    : part == PART_DOWN ? &recipe->down_met
                    : part == PART_GATE ? &recipe->gate_met
                                        : &recipe->up_met;
    *of = part == PART_V ? recipe->values : recipe->layers;
    if (!(part & (PART_V | PART_DOWN | PART_GATE | PART_UP)))
        return 0;
    uint64_t position = (*met)++;
    int64_t layer = layer_of(name);
    return part != PART_V && recipe->experts > 1 && layer >= 0 ? (uint64_t)layer : position;
}

static int32_t by_rules(wb__recipe *recipe, const wb__recipe_tensor *tensor)
{
    uint64_t set = F(recipe->file_type->number), of;
    uint32_t part = part_of(recipe, tensor->name);
    uint32_t met = conditions_of(recipe, tensor);
    uint64_t position = position_of(recipe, tensor->name, part, &of);
    int32_t dtype = -1;
    for (size_t i = 0; i < COUNT(rules); i++) {
        if ((rules[i].file_types & set) && (rules[i].parts & part) &&
            (rules[i].conditions & ~met) == 0 && is_among(rules[i].layers, position, of)) {
            dtype = rules[i].dtype;
            break;
        }
    }
    if (dtype < 0)
        dtype = recipe->file_type->dtype;
    if (part == PART_V && (OTHERS & set) && recipe->is_70b &&
        (dtype == T(Q3_K) || dtype == T(Q4_K)))
        dtype = T(Q5_K);
    return dtype;
}

int32_t wb__recipe_fallback(int32_t dtype, uint64_t columns)
{
    static const struct {
        int32_t from, to;
    } list[] = {
        {T(IQ1_S), T(IQ4_NL)},  {T(IQ1_M), T(IQ4_NL)},  {T(IQ2_XXS), T(IQ4_NL)},
        {T(IQ2_XS), T(IQ4_NL)}, {T(IQ2_S), T(IQ4_NL)},  {T(IQ3_XXS), T(IQ4_NL)},
        {T(IQ3_S), T(IQ4_NL)},  {T(IQ4_XS), T(IQ4_NL)}, {T(Q2_K), T(Q4_0)},
        {T(Q3_K), T(Q4_0)},     {T(TQ1_0), T(Q4_0)},    {T(TQ2_0), T(Q4_0)},
        {T(Q2_0), T(Q4_0)},     {T(Q4_K), T(Q5_0)},     {T(Q5_K), T(Q5_1)},
        {T(Q6_K), T(Q8_0)},
    };
    if (columns % wb__dtype_get(dtype)->block_size == 0)
        return dtype;
    if (dtype == T(Q1_0))
        return -1;
    for (size_t i = 0; i < COUNT(list); i++) {
        if (list[i].from == dtype && columns % wb__dtype_get(list[i].to)->block_size == 0)
            return list[i].to;
    }
    return T(F16);
}

void wb__recipe_choose(wb__recipe *recipe, const wb__recipe_tensor *tensor,
                       wb__recipe_choice *choice)
{
    bool blocks = !wb__dtype_is_plain(wb__dtype_get(recipe->file_type->dtype));
    choice->wanted = blocks ? by_rules(recipe, tensor) : recipe->file_type->dtype;
    choice->dtype = wb__recipe_fallback(choice->wanted, tensor->columns);
}

void wb__recipe_count(wb__recipe *recipe, wb__str name)
{
    if (wb__str_equal(name, WB__STR("output.weight")))
        recipe->has_output = true;
    recipe->values += part_of(recipe, name) == PART_V;
}

bool wb__recipe_applies(const wb__recipe_tensor *tensor)
{
    static const wb__str never[] = {
        {"_norm.weight", 12},          {"ffn_gate_inp.weight", 19},  {"ssm_conv1d.weight", 17},
        {"shortconv.conv.weight", 21}, {"position_embd.weight", 20}, {"token_types.weight", 18},
        {"attn_rel_b.weight", 17},
    };
    if (tensor->rank < 2 || !wb__str_ends_with(tensor->name, WB__STR("weight")))
        return false;
    for (size_t i = 0; i < COUNT(never); i++) {
        if (wb__str_has(tensor->name, never[i]))
            return false;
    }
    return true;
}

const wb__file_type *wb__file_type_named(wb__str name)
{
    for (size_t i = 0; i < COUNT(file_types); i++) {
        if (wb__str_equal_nocase(name, wb__str_from(file_types[i].name, SIZE_MAX)))
            return &file_types[i];
    }
    return NULL;
}

const wb__file_type *wb__file_type_numbered(uint64_t number)
{
    for (size_t i = 0; i < COUNT(file_types); i++) {
        if (file_types[i].number == number)
            return &file_types[i];
    }
    return NULL;
}

const wb__file_type *wb__file_type_of(int32_t dtype)
{
    const wb__dtype *row = wb__dtype_get(dtype);
    const wb__file_type *found =
        row == NULL ? NULL : wb__file_type_named(wb__str_from(row->name, SIZE_MAX));
    return found != NULL && found->dtype == dtype ? found : NULL;
}
