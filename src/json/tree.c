#include "json/tree.h"

static bool fail(wb__tree *tree, const wb__json *json)
{
    tree->fault = json->fault;
    tree->fault_at = json->at;
    return false;
}

/*
 * Writes the decoded string over its escaped form in the text, followed by a NUL. There is space
 * for the NUL, because the closing quote is not needed any more.
 */
static uint32_t keep_string(wb__tree *tree, const wb__json *json)
{
    char *to = tree->text + json->at + 1;
    if (json->text.ptr != to)
        memcpy(to, json->text.ptr, json->text.len);
    to[json->text.len] = '\0';
    return (uint32_t)json->text.len;
}

static bool parse(wb__tree *tree, wb__json *json)
{
    wb__tree_node *open[WB__JSON_MAX_DEPTH]; /* open arrays and objects */
    unsigned depth = 0;
    for (;;) {
        wb__json_token token = wb__json_next(json);
        if (token == WB__JSON_FAULT)
            return fail(tree, json);
        if (token == WB__JSON_END)
            return true;
        if (token == WB__JSON_OBJECT_END || token == WB__JSON_ARRAY_END) {
            if (depth > 0) /* always true: the parser accepts no end without a begin */
                open[--depth]->extent = (uint32_t)tree->nodes.count;
            continue;
        }
        wb__tree_node *node = wb__list_append(&tree->nodes);
        if (node == NULL) {
            json->fault = WB__JSON_FAULT_MEMORY;
            return fail(tree, json);
        }
        if (token == WB__JSON_OBJECT || token == WB__JSON_ARRAY)
            open[depth++] = node;
        node->at = (uint32_t)json->at;
        node->extent =
            token == WB__JSON_KEY || token == WB__JSON_STRING ? keep_string(tree, json) : 0;
    }
}

bool wb__tree_parse(wb__tree *tree, char *text, size_t bytes, const wb_allocator *allocator)
{
    wb__json json;
    *tree = (wb__tree){.allocator = *allocator, .text = text, .bytes = bytes};
    tree->arena.allocator = &tree->allocator;
    tree->nodes = (wb__list){.arena = &tree->arena, .item_size = sizeof(wb__tree_node)};
    wb__cursor cursor = wb__cursor_over(text, bytes);
    wb__json_start(&json, &cursor, allocator);
    json.nonfinite = true;
    bool good = bytes < UINT32_MAX && parse(tree, &json);
    if (bytes >= UINT32_MAX)
        tree->fault = WB__JSON_FAULT_STRING_LENGTH;
    while (good && cursor.p != cursor.end) { /* only white space may follow */
        good = *cursor.p == ' ' || *cursor.p == '\t' || *cursor.p == '\n' || *cursor.p == '\r';
        if (!good) {
            tree->fault = WB__JSON_FAULT_VALUE;
            tree->fault_at = wb__cursor_at(&cursor);
        }
        cursor.p++;
    }
    wb__json_stop(&json);
    return good;
}

void wb__tree_free(wb__tree *tree)
{
    if (tree->arena.allocator == NULL)
        return;
    /* Set the pointers again, because the tree may have been moved since it was parsed. */
    tree->arena.allocator = &tree->allocator;
    tree->nodes.arena = &tree->arena;
    wb__list_free(&tree->nodes);
    wb__arena_free(&tree->arena);
    *tree = (wb__tree){0};
}

wb__json_token wb__tree_type(const wb__tree *tree, wb__node node)
{
    switch (tree->text[wb__tree_at(tree, node)->at]) {
    case '{': return WB__JSON_OBJECT;
    case '[': return WB__JSON_ARRAY;
    case '"': return WB__JSON_STRING;
    case 't': return WB__JSON_TRUE;
    case 'f': return WB__JSON_FALSE;
    case 'n': return WB__JSON_NULL;
    default: return WB__JSON_UINT;
    }
}

/* Returns the first node after a value and after all nodes inside this value. */
static wb__node behind(const wb__tree *tree, wb__node value)
{
    wb__json_token type = wb__tree_type(tree, value);
    return type == WB__JSON_OBJECT || type == WB__JSON_ARRAY ? wb__tree_at(tree, value)->extent
                                                             : value + 1;
}

static bool is_type(const wb__tree *tree, wb__node node, wb__json_token type)
{
    return node != WB__NO_NODE && wb__tree_type(tree, node) == type;
}

wb__node wb__tree_first(const wb__tree *tree, wb__node parent)
{
    if (!is_type(tree, parent, WB__JSON_OBJECT) && !is_type(tree, parent, WB__JSON_ARRAY))
        return WB__NO_NODE;
    return parent + 1 < wb__tree_at(tree, parent)->extent ? parent + 1 : WB__NO_NODE;
}

wb__node wb__tree_first_key(const wb__tree *tree, wb__node object)
{
    return is_type(tree, object, WB__JSON_OBJECT) ? wb__tree_first(tree, object) : WB__NO_NODE;
}

wb__node wb__tree_next(const wb__tree *tree, wb__node parent, wb__node value)
{
    wb__node next = behind(tree, value);
    return next < wb__tree_at(tree, parent)->extent ? next : WB__NO_NODE;
}

size_t wb__tree_count(const wb__tree *tree, wb__node parent)
{
    size_t count = 0;
    bool object = is_type(tree, parent, WB__JSON_OBJECT);
    for (wb__node n = wb__tree_first(tree, parent); n != WB__NO_NODE;
         n = wb__tree_next(tree, parent, object ? n + 1 : n))
        count++;
    return count;
}

static wb__node get(const wb__tree *tree, wb__node object, wb__str key)
{
    wb__node found = WB__NO_NODE;
    if (!is_type(tree, object, WB__JSON_OBJECT))
        return found;
    for (wb__node k = wb__tree_first(tree, object); k != WB__NO_NODE;
         k = wb__tree_next(tree, object, k + 1)) {
        if (wb__str_equal(wb__tree_string(tree, k), key))
            found = k + 1;
    }
    return found;
}

wb__node wb__tree_get(const wb__tree *tree, wb__node object, const char *key)
{
    return get(tree, object, wb__str_from(key, SIZE_MAX));
}

wb__node wb__tree_path(const wb__tree *tree, wb__node object, const char *path)
{
    while (object != WB__NO_NODE) {
        size_t length = strcspn(path, "/");
        object = get(tree, object, wb__str_from(path, length));
        if (path[length] == '\0')
            break;
        path += length + 1;
    }
    return object;
}

wb__str wb__tree_string(const wb__tree *tree, wb__node node)
{
    if (!is_type(tree, node, WB__JSON_STRING))
        return WB__STR("");
    const wb__tree_node *n = wb__tree_at(tree, node);
    return (wb__str){tree->text + n->at + 1, n->extent};
}

/* Parses a number again, to get its value. Its syntax was already checked. */
static bool number(const wb__tree *tree, wb__node node, wb__json *json)
{
    if (!is_type(tree, node, WB__JSON_UINT))
        return false;
    uint32_t at = wb__tree_at(tree, node)->at;
    wb__cursor cursor = wb__cursor_over(tree->text + at, tree->bytes - at);
    wb__json_start(json, &cursor, &tree->allocator);
    json->nonfinite = true;
    (void)wb__json_next(json);
    json->cursor = NULL;
    return true;
}

bool wb__tree_uint(const wb__tree *tree, wb__node node, uint64_t *value)
{
    wb__json json;
    if (!number(tree, node, &json) || json.token != WB__JSON_UINT)
        return false;
    *value = json.uint;
    return true;
}

bool wb__tree_int(const wb__tree *tree, wb__node node, int64_t *value)
{
    wb__json json;
    if (!number(tree, node, &json))
        return false;
    if (json.token == WB__JSON_UINT) {
        if (json.uint > INT64_MAX)
            return false;
        *value = (int64_t)json.uint;
        return true;
    }
    /* A negative integer has only digits after the minus sign; INT64_MIN has magnitude 2^63. */
    uint64_t magnitude = 0;
    const char *digit = tree->text + wb__tree_at(tree, node)->at;
    const char *end = tree->text + tree->bytes;
    if (*digit++ != '-')
        return false;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        if (magnitude > (UINT64_C(1) << 63) / 10)
            return false;
        magnitude = magnitude * 10 + (uint64_t)(*digit - '0');
    }
    if ((digit < end && (*digit == '.' || *digit == 'e' || *digit == 'E' || *digit == 'I')) ||
        magnitude > UINT64_C(1) << 63)
        return false;
    *value = magnitude == UINT64_C(1) << 63 ? INT64_MIN : -(int64_t)magnitude;
    return true;
}

bool wb__tree_double(const wb__tree *tree, wb__node node, double *value)
{
    wb__json json;
    if (!number(tree, node, &json))
        return false;
    uint64_t bits = wb__json_real_bits(&json);
    memcpy(value, &bits, sizeof *value);
    return true;
}

bool wb__tree_bool(const wb__tree *tree, wb__node node, bool *value)
{
    *value = is_type(tree, node, WB__JSON_TRUE);
    return *value || is_type(tree, node, WB__JSON_FALSE);
}
