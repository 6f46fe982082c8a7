#include "arch/derive_meta.h"

/* Maximum number of scalars, more than any real config.json has. Additional members of a hostile
 * config.json are ignored. */
#define MAX_SCALARS 4096
#define MAX_ELEMENTS 16384 /* maximum number of elements of all arrays together */
#define MAX_KEY 128
#define MAX_NESTING 3

static bool is_new(const wb__deriver *teller, const char *key)
{
    wb__str text = wb__str_from(key, SIZE_MAX);
    return teller->status == WB_OK && wb__catalog_find_meta(teller->known, text) == NULL &&
           wb__catalog_find_meta(teller->into, text) == NULL;
}

static void tell(wb__deriver *teller, const char *key, wb__meta *entry)
{
    bool repeated;
    size_t n = strlen(key);
    entry->key.ptr = wb__arena_copy(&teller->into->arena, key, n);
    entry->key_len = (uint32_t)n;
    teller->status = entry->key.ptr == NULL ? wb__fail_memory(teller->context)
                                            : wb__catalog_add_meta(teller->into, teller->context,
                                                                   entry, true, &repeated);
}

void wb__derive_uint(wb__deriver *teller, const char *key, uint64_t value)
{
    wb__meta entry = {
        .type = WB_META_UINT, .bits = value > UINT32_MAX ? 64 : 32, .value.number = value};
    if (is_new(teller, key))
        tell(teller, key, &entry);
}

void wb__derive_float(wb__deriver *teller, const char *key, double value)
{
    wb__meta entry = {.type = WB_META_FLOAT, .bits = 64};
    memcpy(&entry.value.number, &value, sizeof value);
    if (is_new(teller, key))
        tell(teller, key, &entry);
}

void wb__derive_bool(wb__deriver *teller, const char *key, bool value)
{
    wb__meta entry = {.type = WB_META_BOOL, .bits = 8, .value.number = value};
    if (is_new(teller, key))
        tell(teller, key, &entry);
}

void wb__derive_text(wb__deriver *teller, const char *key, wb__str value)
{
    bool repeated;
    if (is_new(teller, key))
        teller->status = wb__catalog_add_string(teller->into, teller->context,
                                                wb__str_from(key, SIZE_MAX), value, &repeated);
}

void wb__derive_fact(wb__deriver *teller, const char *key, const wb__fact *fact)
{
    wb__meta negative = {.type = WB_META_INT, .bits = 64, .value.number = fact->number};
    switch (fact->type) {
    case WB__FACT_UINT: wb__derive_uint(teller, key, fact->number); break;
    case WB__FACT_INT:
        if (is_new(teller, key))
            tell(teller, key, &negative);
        break;
    case WB__FACT_REAL: wb__derive_float(teller, key, fact->real); break;
    case WB__FACT_BOOL: wb__derive_bool(teller, key, fact->number != 0); break;
    case WB__FACT_TEXT: wb__derive_text(teller, key, fact->text); break;
    default: break;
    }
}

/*
 * The offset of a metadata array is relative to the header of its file. Each derived array
 * therefore gets its own file entry in the catalog. The header of this file is the array.
 */
static void tell_array(wb__deriver *teller, const char *key, const void *bytes, wb__array *array)
{
    wb__meta entry = {.type = WB_META_ARRAY};
    entry.value.array = wb__arena_alloc(&teller->into->arena, sizeof *array);
    if (entry.value.array == NULL) {
        teller->status = wb__fail_memory(teller->context);
        return;
    }
    *entry.value.array = *array;
    teller->status = wb__catalog_begin_file(teller->into, teller->context, key, "", 0);
    if (teller->status != WB_OK)
        return;
    wb__catalog_file_in_hand(teller->into)->header = (uint8_t *)(uintptr_t)bytes;
    tell(teller, key, &entry);
}

void wb__derive_numbers(wb__deriver *teller, const char *key, const void *bytes, uint64_t count,
                        wb_meta_type type, uint8_t bits)
{
    wb__array array = {.count = count, .element = (uint8_t)type, .bits = bits};
    if (is_new(teller, key))
        tell_array(teller, key, bytes, &array);
}

void wb__derive_strings(wb__deriver *teller, const char *key, const wb__strings *strings)
{
    wb__array array = {.count = strings->count, .element = WB_META_STRING};
    array.of.marks = strings->marks;
    if (is_new(teller, key))
        tell_array(teller, key, strings->bytes, &array);
}

/* ---- JSON files ---- */

/* Derives an array of strings in the layout of wb__strings. */
static void tell_text_array(wb__deriver *teller, const char *key, const wb__tree *tree,
                            wb__node list, uint64_t count)
{
    size_t bytes = WB__STRINGS_HEAD;
    for (wb__node n = wb__tree_first(tree, list); n != WB__NO_NODE;
         n = wb__tree_next(tree, list, n))
        bytes += WB__STRINGS_HEAD + wb__tree_string(tree, n).len;
    wb__strings strings = {.bytes = wb__arena_alloc(&teller->into->arena, bytes)};
    strings.marks = wb__arena_alloc(&teller->into->arena,
                                    ((size_t)count / WB__STRINGS_STEP + 1) * sizeof(uint32_t));
    if (strings.bytes == NULL || strings.marks == NULL) {
        teller->status = wb__fail_memory(teller->context);
        return;
    }
    strings.capacity = bytes;
    for (wb__node n = wb__tree_first(tree, list); n != WB__NO_NODE;
         n = wb__tree_next(tree, list, n)) {
        wb__str text = wb__tree_string(tree, n);
        char *head = strings.bytes + strings.used;
        if (strings.count % WB__STRINGS_STEP == 0)
            strings.marks[strings.count / WB__STRINGS_STEP] = (uint32_t)strings.used;
        wb__store_le64(head, (uint64_t)text.len << 8);
        if (text.len > 0)
            memcpy(head + WB__STRINGS_HEAD, text.ptr, text.len);
        strings.used += WB__STRINGS_HEAD + text.len;
        strings.count++;
    }
    wb__store_le64(strings.bytes + strings.used, 0);
    wb__derive_strings(teller, key, &strings);
}

static void tell_number_array(wb__deriver *teller, const char *key, const wb__tree *tree,
                              wb__node list, uint64_t count, bool real, bool negative)
{
    uint64_t *numbers = wb__arena_alloc(&teller->into->arena, (size_t)count * sizeof *numbers);
    size_t i = 0;
    if (numbers == NULL) {
        teller->status = wb__fail_memory(teller->context);
        return;
    }
    for (wb__node n = wb__tree_first(tree, list); n != WB__NO_NODE;
         n = wb__tree_next(tree, list, n)) {
        wb__fact fact = wb__fact_of_node(tree, n);
        uint64_t bits = fact.number;
        if (real)
            memcpy(&bits, &fact.real, sizeof bits);
        wb__store_le64(&numbers[i++], bits);
    }
    wb__derive_numbers(teller, key, numbers, count,
                       real       ? WB_META_FLOAT
                       : negative ? WB_META_INT
                                  : WB_META_UINT,
                       64);
}

/* Derives an array of strings or an array of numbers. Other arrays are ignored. */
static void tell_json_array(wb__deriver *teller, const char *key, const wb__tree *tree,
                            wb__node list)
{
    uint64_t count = 0, texts = 0, ints = 0, reals = 0, negatives = 0, large = 0;
    if (!is_new(teller, key))
        return;
    for (wb__node n = wb__tree_first(tree, list); n != WB__NO_NODE;
         n = wb__tree_next(tree, list, n), count++) {
        wb__fact fact = wb__fact_of_node(tree, n);
        texts += fact.type == WB__FACT_TEXT;
        reals += fact.type == WB__FACT_REAL;
        negatives += fact.type == WB__FACT_INT;
        ints += fact.type == WB__FACT_UINT || fact.type == WB__FACT_INT;
        large += fact.type == WB__FACT_UINT && fact.number > INT64_MAX;
    }
    if (count == 0 || (negatives > 0 && large > 0) || count > MAX_ELEMENTS - teller->elements)
        return;
    teller->elements += (size_t)count;
    if (texts == count)
        tell_text_array(teller, key, tree, list, count);
    else if (ints + reals == count)
        tell_number_array(teller, key, tree, list, count, reals > 0, negatives > 0);
}

/*
 * Derives the members of an object. key[0 … n) contains the names of the enclosing objects, each
 * followed by a dot.
 */
static void tell_members(wb__deriver *teller, const wb__tree *tree, wb__node object, char *key,
                         size_t n, unsigned nesting)
{
    for (wb__node name = wb__tree_first_key(tree, object); name != WB__NO_NODE;
         name = wb__tree_next(tree, object, name + 1)) {
        wb__str text = wb__tree_string(tree, name);
        if (teller->status != WB_OK || teller->scalars >= MAX_SCALARS)
            return;
        if (n + text.len + 2 > MAX_KEY || memchr(text.ptr, 0, text.len) != NULL)
            continue;
        memcpy(key + n, text.ptr, text.len);
        key[n + text.len] = '\0';
        switch (wb__tree_type(tree, name + 1)) {
        case WB__JSON_OBJECT: /* added_tokens_decoder: see wb__derive_tokenizer */
            if (nesting < MAX_NESTING && !wb__str_equal(text, WB__STR("added_tokens_decoder"))) {
                key[n + text.len] = '.';
                tell_members(teller, tree, name + 1, key, n + text.len + 1, nesting + 1);
            }
            break;
        case WB__JSON_ARRAY: tell_json_array(teller, key, tree, name + 1); break;
        default: {
            wb__fact fact = wb__fact_of_node(tree, name + 1);
            wb__derive_fact(teller, key, &fact);
            teller->scalars++;
        }
        }
    }
}

void wb__derive_json(wb__deriver *teller, const wb__tree *tree)
{
    char key[MAX_KEY];
    wb__node text_config = wb__tree_get(tree, 0, "text_config");
    if (text_config != WB__NO_NODE) /* text_config takes precedence over the enclosing object */
        tell_members(teller, tree, text_config, key, 0, 1);
    tell_members(teller, tree, 0, key, 0, 0);
}
