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

static bool by_key(const wb__facts *facts, wb__str prefix, wb__str key, wb__fact *fact)
{
    char text[160];
    if (prefix.len == 0)
        return facts->key_value(facts->ctx, key, fact);
    if (prefix.len + 1 + key.len > sizeof text)
        return false;
    memcpy(text, prefix.ptr, prefix.len);
    text[prefix.len] = '.';
    memcpy(text + prefix.len + 1, key.ptr, key.len);
    return facts->key_value(facts->ctx, (wb__str){text, prefix.len + 1 + key.len}, fact);
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

wb__fact wb__fact_by_path(const wb__facts *facts, const char *paths)
{
    wb__fact null = {.type = WB__FACT_NONE};
    if (facts->config == NULL)
        return null;
    const wb__node places[] = {wb__tree_get(facts->config, 0, "text_config"), 0};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        wb__str path;
        for (const char *rest = paths; wb__spelling_next(&rest, &path);) {
            char text[96];
            if (path.len >= sizeof text)
                continue;
            memcpy(text, path.ptr, path.len);
            text[path.len] = '\0';
            wb__fact fact =
                wb__fact_of_node(facts->config, wb__tree_path(facts->config, places[i], text));
            if (fact.type == WB__FACT_NULL)
                null = fact;
            else if (fact.type != WB__FACT_NONE)
                return fact;
        }
    }
    return null;
}

/*
 * Nine digits distinguish all float32 values (Steele and White, 1990). The digits are computed in
 * double, whose error is far below the ninth digit, and verified by reading them back.
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
