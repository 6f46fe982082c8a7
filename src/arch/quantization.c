#include "arch/quantization.h"

#include <stdlib.h>

typedef struct mode_row {
    const char *name;
    wb__scheme scheme;
    uint32_t bits; /* default number of bits if the entry does not specify it */
    uint32_t group;
} mode_row;

static const mode_row modes[] = {
    {"affine", WB__SCHEME_AFFINE, 4, 64}, {"mxfp4", WB__SCHEME_MXFP4, 4, 32},
    {"mxfp8", WB__SCHEME_MXFP8, 8, 32},   {"nvfp4", WB__SCHEME_NVFP4, 4, 16},
    {"int4", WB__SCHEME_INT4, 4, 0},      {"int8", WB__SCHEME_INT8, 8, 64},
    {"awq", WB__SCHEME_AWQ, 4, 0},        {"gptq", WB__SCHEME_GPTQ, 4, 0},
    {"fp8", WB__SCHEME_FP8_BLOCK, 8, 0},
};

static const mode_row *find_mode(wb__str name)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (wb__str_equal_nocase(name, wb__str_from(modes[i].name, SIZE_MAX)))
            return &modes[i];
    }
    return NULL;
}

static uint32_t small_number(const wb__tree *config, wb__node node)
{
    uint64_t value;
    return wb__tree_uint(config, node, &value) && value <= 65536 ? (uint32_t)value : 0;
}

/* Reads "weight_block_size": [rows, columns]. */
static void read_block_size(const wb__tree *config, wb__node entry, wb__packing_hint *hint)
{
    wb__node list = wb__tree_get(config, entry, "weight_block_size");
    if (list == WB__NO_NODE || wb__tree_type(config, list) != WB__JSON_ARRAY ||
        wb__tree_count(config, list) != 2)
        return;
    wb__node rows = wb__tree_first(config, list);
    hint->rows = small_number(config, rows);
    hint->group = small_number(config, wb__tree_next(config, list, rows));
}

/* Reads an entry in MLX notation, or in Transformers notation with quant_method. */
static wb__packing_hint read_entry(const wb__tree *config, wb__node entry)
{
    wb__packing_hint hint = {.scheme = WB__SCHEME_PLAIN};
    wb__node mode = wb__tree_get(config, entry, "mode");
    wb__node method = wb__tree_get(config, entry, "quant_method");
    wb__str name = WB__STR("affine");
    if (mode != WB__NO_NODE && wb__tree_type(config, mode) == WB__JSON_STRING)
        name = wb__tree_string(config, mode);
    else if (method != WB__NO_NODE)
        name = wb__tree_string(config, method);
    const mode_row *row = find_mode(name);
    if (row == NULL)
        return hint;
    hint.scheme = row->scheme;
    hint.bits = small_number(config, wb__tree_get(config, entry, "bits"));
    hint.group = small_number(config, wb__tree_get(config, entry, "group_size"));
    /* If the entry has bits but no group size, the tensor shapes determine the group size. */
    if (hint.bits == 0)
        hint.bits = row->bits;
    if (hint.group == 0 && wb__tree_get(config, entry, "bits") == WB__NO_NODE)
        hint.group = row->group;
    if (hint.scheme == WB__SCHEME_FP8_BLOCK)
        read_block_size(config, entry, &hint);
    wb__node format = wb__tree_get(config, entry, "checkpoint_format");
    hint.plain_zeros = format != WB__NO_NODE && wb__tree_type(config, format) == WB__JSON_STRING &&
                       wb__str_equal_nocase(wb__tree_string(config, format), WB__STR("gptq_v2"));
    return hint;
}

static wb__node find_object(const wb__tree *config)
{
    static const char *const places[] = {
        "quantization",
        "quantization_config",
        "text_config/quantization",
        "text_config/quantization_config",
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        wb__node node = wb__tree_path(config, 0, places[i]);
        if (node != WB__NO_NODE && wb__tree_type(config, node) == WB__JSON_OBJECT)
            return node;
    }
    /* true if the root of the JSON text is itself the object with the parameters, which is the
     * case for text from __metadata__ of a safetensors file */
    bool alone = wb__tree_get(config, 0, "bits") != WB__NO_NODE ||
                 wb__tree_get(config, 0, "quant_method") != WB__NO_NODE;
    return alone ? 0 : WB__NO_NODE;
}

/* ---- entries for modules ---- */

static uint32_t hash_of(const wb__quantization *quantization, wb__str module)
{
    return (uint32_t)wb__siphash(&quantization->key, module.ptr, module.len);
}

static bool names_module(const wb__tree *config, wb__node value)
{
    wb__json_token type = wb__tree_type(config, value);
    return type == WB__JSON_OBJECT || type == WB__JSON_FALSE;
}

/*
 * Returns the slot of a module, or the free slot for it. For a repeated key, the last entry
 * applies.
 */
static uint64_t *find_slot(const wb__quantization *quantization, wb__str module, uint32_t hash)
{
    size_t mask = quantization->slot_count - 1;
    size_t slot = hash & mask;
    for (; quantization->slots[slot] != 0; slot = (slot + 1) & mask) {
        uint64_t entry = quantization->slots[slot];
        if (entry >> 32 == hash &&
            wb__str_equal(wb__tree_string(quantization->config, (wb__node)entry), module))
            break;
    }
    return &quantization->slots[slot];
}

/*
 * Builds the hash table of module entries. A slot contains the hash in its upper half and the node
 * of the key (never 0) in its lower half.
 */
static bool index_modules(wb__quantization *quantization)
{
    const wb__tree *config = quantization->config;
    size_t modules = 0, slots = 16;
    for (wb__node key = wb__tree_first_key(config, quantization->object); key != WB__NO_NODE;
         key = wb__tree_next(config, quantization->object, key + 1))
        modules += names_module(config, key + 1);
    if (modules == 0)
        return true;
    /*
     * The number of slots doubles until at most 3/4 of them are used. A table with more than 16
     * slots therefore has less than 8/3 slots, or 22 bytes, per entry. The shortest entry in the
     * file, `"":{},`, has 6 bytes, so the table is less than four times as large as the file.
     */
    while (slots / 4 * 3 < modules)
        slots *= 2;
    quantization->slots =
        wb__alloc_zeroed(&quantization->allocator, slots * sizeof *quantization->slots);
    if (quantization->slots == NULL)
        return false;
    quantization->slot_count = slots;
    quantization->key = wb__hash_key_draw();
    for (wb__node key = wb__tree_first_key(config, quantization->object); key != WB__NO_NODE;
         key = wb__tree_next(config, quantization->object, key + 1)) {
        if (!names_module(config, key + 1))
            continue;
        uint32_t hash = hash_of(quantization, wb__tree_string(config, key));
        *find_slot(quantization, wb__tree_string(config, key), hash) = (uint64_t)hash << 32 | key;
    }
    return true;
}

wb__packing_hint wb__quantization_of(const wb__quantization *quantization, wb__str module)
{
    if (quantization->slots == NULL)
        return quantization->all;
    uint64_t entry = *find_slot(quantization, module, hash_of(quantization, module));
    if (entry == 0)
        return quantization->all;
    wb__packing_hint hint = read_entry(quantization->config, (wb__node)entry + 1);
    hint.named = hint.scheme != WB__SCHEME_PLAIN;
    return hint;
}

/* ---- layer sizes ---- */

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool add_size(wb__quantization *quantization, uint64_t size)
{
    if (size == 0)
        return true;
    if (!wb__grow(&quantization->allocator, (void **)&quantization->sizes,
                  &quantization->size_capacity, sizeof size, quantization->size_count + 1, 4096))
        return quantization->size_count >= 4096; /* more than 4096 sizes, which no real model
                                                  * has, are ignored */
    quantization->sizes[quantization->size_count++] = size;
    return true;
}

static bool is_size(wb__str key)
{
    return wb__str_ends_with(key, WB__STR("_size")) || wb__str_ends_with(key, WB__STR("_dim")) ||
           wb__str_ends_with(key, WB__STR("_rank")) || wb__str_equal(key, WB__STR("d_model")) ||
           wb__str_equal(key, WB__STR("dim"));
}

/* Adds the possible numbers of inputs of a layer to quantization->sizes: the members of an
 * object that are sizes (*_size, *_dim and others), and the number of heads times the head size. */
static bool collect_sizes(wb__quantization *quantization, wb__node object)
{
    const wb__tree *config = quantization->config;
    uint64_t heads = 0, hidden = 0, head = 0, size;
    for (wb__node key = wb__tree_first_key(config, object); key != WB__NO_NODE;
         key = wb__tree_next(config, object, key + 1)) {
        wb__str name = wb__tree_string(config, key);
        if (!wb__str_equal(name, WB__STR("vocab_size")) && is_size(name) &&
            wb__tree_uint(config, key + 1, &size) && !add_size(quantization, size))
            return false;
    }
    (void)wb__tree_uint(config, wb__tree_get(config, object, "num_attention_heads"), &heads);
    (void)wb__tree_uint(config, wb__tree_get(config, object, "hidden_size"), &hidden);
    if (!wb__tree_uint(config, wb__tree_get(config, object, "head_dim"), &head) && heads != 0)
        head = hidden / heads;
    return !wb__mul(heads, head, &size) || add_size(quantization, size);
}

int wb__quantization_has_size(const wb__quantization *quantization, uint64_t inputs)
{
    return quantization->size_count > 0 &&
           bsearch(&inputs, quantization->sizes, quantization->size_count, sizeof inputs,
                   compare_sizes) != NULL;
}

bool wb__quantization_read(wb__quantization *quantization, const wb__tree *config,
                           const wb_allocator *allocator)
{
    *quantization = (wb__quantization){.allocator = *allocator, .config = config};
    quantization->object = WB__NO_NODE;
    if (config == NULL)
        return true;
    if (!collect_sizes(quantization, 0) ||
        !collect_sizes(quantization, wb__tree_get(config, 0, "text_config")))
        return false;
    if (quantization->size_count > 1)
        qsort(quantization->sizes, quantization->size_count, sizeof *quantization->sizes,
              compare_sizes);
    quantization->object = find_object(config);
    if (quantization->object == WB__NO_NODE)
        return true;
    quantization->all = read_entry(config, quantization->object);
    return index_modules(quantization);
}

void wb__quantization_free(wb__quantization *quantization)
{
    wb__free(&quantization->allocator, quantization->slots,
             quantization->slot_count * sizeof *quantization->slots);
    wb__free(&quantization->allocator, quantization->sizes,
             quantization->size_capacity * sizeof *quantization->sizes);
    quantization->slots = NULL;
    quantization->sizes = NULL;
}

wb__packing_hint wb__quantization_ollama(wb__str type, wb__str group)
{
    wb__packing_hint hint = {.scheme = WB__SCHEME_PLAIN};
    const mode_row *row = type.len == 0 ? NULL : find_mode(type);
    if (row == NULL)
        return hint;
    hint.scheme = row->scheme;
    hint.bits = row->bits;
    hint.named = true;
    for (size_t i = 0; i < group.len && i < 5; i++) {
        if (group.ptr[i] < '0' || group.ptr[i] > '9')
            return hint;
        hint.group = hint.group * 10 + (uint32_t)(group.ptr[i] - '0');
    }
    return hint;
}
