#include "arch/model_facts.h"

#include <float.h>

#include "arch/family.h"

wb__fact wb__fact_of_node(const wb__tree *tree, wb__node node)
{
    wb__fact fact = {.type = WB__FACT_NONE};
    int64_t negative;
    if (node == WB__NO_NODE)
        return fact;
    switch (wb__tree_type(tree, node)) {
    case WB__JSON_STRING:
        fact.type = WB__FACT_TEXT;
        fact.text = wb__tree_string(tree, node);
        break;
    case WB__JSON_TRUE:
    case WB__JSON_FALSE:
        fact.type = WB__FACT_BOOL;
        fact.number = wb__tree_type(tree, node) == WB__JSON_TRUE;
        break;
    case WB__JSON_NULL: fact.type = WB__FACT_NULL; break;
    case WB__JSON_UINT:
        (void)wb__tree_double(tree, node, &fact.real);
        if (wb__tree_uint(tree, node, &fact.number)) {
            fact.type = WB__FACT_UINT;
        } else if (wb__tree_int(tree, node, &negative)) {
            fact.type = WB__FACT_INT;
            fact.number = (uint64_t)negative;
        } else {
            fact.type = WB__FACT_REAL;
        }
        break;
    default: fact.type = WB__FACT_OTHER;
    }
    return fact;
}

/* Writes "prefix.key" to `text`, or only the key if the prefix is empty. Returns a string with
 * length 0 if it does not fit. */
static wb__str full_key(wb__str prefix, wb__str key, char *text, size_t capacity)
{
    if (prefix.len == 0)
        return key;
    if (prefix.len + 1 + key.len > capacity)
        return WB__STR("");
    memcpy(text, prefix.ptr, prefix.len);
    text[prefix.len] = '.';
    memcpy(text + prefix.len + 1, key.ptr, key.len);
    return (wb__str){text, prefix.len + 1 + key.len};
}

static bool by_key(const wb__facts *facts, wb__str prefix, wb__str key, wb__fact *fact)
{
    char text[160];
    wb__str full = full_key(prefix, key, text, sizeof text);
    return full.len != 0 && facts->key_value(facts->ctx, full, fact);
}

wb__fact wb__fact_by_key(const wb__facts *facts, wb__str prefix, const char *keys)
{
    wb__fact fact = {.type = WB__FACT_NONE};
    wb__str key;
    if (facts->key_value == NULL)
        return fact;
    for (const char *rest = keys; wb__spelling_next(&rest, &key);) {
        if (prefix.len > 0 && by_key(facts, prefix, key, &fact))
            return fact;
    }
    for (const char *rest = keys; wb__spelling_next(&rest, &key);) {
        if (by_key(facts, WB__STR(""), key, &fact))
            return fact;
    }
    return (wb__fact){.type = WB__FACT_NONE};
}

void wb__facts_use_config(wb__facts *facts, const wb__tree *config)
{
    static const char *const nested[WB__FACT_PLACES - 1] = {
        "text_config", "llm_config", "lm_config", "language_config", "thinker_config/text_config"};
    facts->config = config;
    facts->place_count = 0;
    for (size_t i = 0; i < WB__FACT_PLACES - 1; i++) {
        wb__node node = wb__tree_path(config, 0, nested[i]);
        if (node != WB__NO_NODE && wb__tree_type(config, node) == WB__JSON_OBJECT)
            facts->places[facts->place_count++] = node;
    }
    facts->places[facts->place_count++] = 0;
}

/* Returns the node at a path inside `place`, or WB__NO_NODE. */
static wb__node node_at(const wb__facts *facts, wb__node place, wb__str path)
{
    char text[96];
    if (path.len >= sizeof text)
        return WB__NO_NODE;
    memcpy(text, path.ptr, path.len);
    text[path.len] = '\0';
    return wb__tree_path(facts->config, place, text);
}

wb__fact wb__fact_by_path(const wb__facts *facts, const char *paths)
{
    wb__fact null = {.type = WB__FACT_NONE};
    wb__str path;
    for (size_t i = 0; i < facts->place_count; i++) {
        for (const char *rest = paths; wb__spelling_next(&rest, &path);) {
            wb__fact fact = wb__fact_of_node(facts->config, node_at(facts, facts->places[i], path));
            if (fact.type == WB__FACT_NULL)
                null = fact;
            else if (fact.type != WB__FACT_NONE)
                return fact;
        }
    }
    return null;
}

/* ---- lists ---- */

static bool list_by_key(const wb__facts *facts, wb__str prefix, const char *keys,
                        wb__fact_list *list)
{
    char text[160];
    wb__str key;
    while (facts->key_list != NULL && wb__spelling_next(&keys, &key)) {
        wb__str full = full_key(prefix, key, text, sizeof text);
        if (full.len != 0 && facts->key_list(facts->ctx, full, list))
            return true;
    }
    return false;
}

static bool list_by_path(const wb__facts *facts, const char *paths, wb__fact_list *list)
{
    wb__str path;
    for (size_t i = 0; i < facts->place_count; i++) {
        for (const char *rest = paths; wb__spelling_next(&rest, &path);) {
            wb__node node = node_at(facts, facts->places[i], path);
            if (node == WB__NO_NODE || wb__tree_type(facts->config, node) != WB__JSON_ARRAY)
                continue;
            list->tree = facts->config;
            list->parent = node;
            list->node = wb__tree_first(facts->config, node);
            return true;
        }
    }
    return false;
}

bool wb__fact_list_find(const wb__facts *facts, wb__str prefix, const char *keys, const char *paths,
                        wb__fact_list *list)
{
    *list = (wb__fact_list){.count = 0};
    return list_by_key(facts, prefix, keys, list) || list_by_path(facts, paths, list);
}

uint64_t wb__fact_list_count(const wb__fact_list *list)
{
    return list->element != NULL ? list->count : wb__tree_count(list->tree, list->parent);
}

void wb__fact_list_seek(wb__fact_list *list, uint64_t index)
{
    if (list->element != NULL) {
        list->next = index;
        return;
    }
    for (; list->next < index && list->node != WB__NO_NODE; list->next++)
        list->node = wb__tree_next(list->tree, list->parent, list->node);
}

bool wb__fact_list_next(wb__fact_list *list, wb__fact *fact)
{
    if (list->element != NULL ? list->next >= list->count : list->node == WB__NO_NODE)
        return false;
    if (list->element != NULL) {
        list->element(list, list->next, fact);
    } else {
        *fact = wb__fact_of_node(list->tree, list->node);
        list->node = wb__tree_next(list->tree, list->parent, list->node);
    }
    list->next++;
    return true;
}

/*
 * Tries decimal numbers of one digit, two digits and so on, until the number converts back to the
 * same float32. Nine digits always suffice (Steele and White, 1990). The digits are computed in
 * double, whose error is far below the ninth digit.
 */
double wb__shortest_of_float(double value)
{
    double lead = value < 0 ? -value : value;
    int exponent = 0;
    if (!(lead > 0) || lead > FLT_MAX)
        return value;
    for (; lead >= 10; lead /= 10)
        exponent++;
    for (; lead < 1; lead *= 10)
        exponent--;
    double scaled = lead;
    for (int digits = 1; digits <= 9; digits++, scaled *= 10) {
        wb__decimal decimal = {.negative = value < 0};
        uint8_t reversed[10];
        for (uint32_t rest = (uint32_t)(scaled + 0.5); rest != 0; rest /= 10)
            reversed[decimal.count++] = (uint8_t)(rest % 10);
        for (size_t i = 0; i < decimal.count; i++)
            decimal.digits[i] = reversed[decimal.count - 1 - i];
        decimal.exponent = exponent + 1 + ((int64_t)decimal.count - digits);
        uint64_t bits = wb__decimal_to_double(&decimal);
        double candidate;
        memcpy(&candidate, &bits, sizeof candidate);
        if ((float)candidate == (float)value)
            return candidate;
    }
    return value;
}
