/*
 * Parser of the header's dict, a small subset of Python; one function per rule.
 *
 *     dict   = "{" [ entry { "," entry } [ "," ] ] "}"
 *     entry  = string ":" value           each of descr, fortran_order and shape once
 *     value  = string | "True" | "False" | "(" [ size { "," size } [ "," ] ] ")"
 *     size   = digits [ "L" ]             Python 2 wrote the L
 *
 * There is no nesting, so the parser does not recurse. A tuple of one size needs its comma, as in
 * Python.
 */
#include "formats/formats_messages.h"
#include "formats/npy/npy.h"

typedef struct literal {
    wb__npy *npy;
    const char *begin, *p, *end;
} literal;

static wb_status fail(const literal *l, const char *what)
{
    return wb__npy_fail(l->npy, WB__FINDING_NPY_HEADER,
                        l->npy->text_at + (uint64_t)(l->p - l->begin), what);
}

static void skip_spaces(literal *l)
{
    while (l->p < l->end && (*l->p == ' ' || *l->p == '\n' || *l->p == '\t' || *l->p == '\r'))
        l->p++;
}

static bool take(literal *l, char c)
{
    skip_spaces(l);
    if (l->p == l->end || *l->p != c)
        return false;
    l->p++;
    return true;
}

static bool take_word(literal *l, wb__str word)
{
    skip_spaces(l);
    if ((size_t)(l->end - l->p) < word.len || memcmp(l->p, word.ptr, word.len) != 0)
        return false;
    l->p += word.len;
    return true;
}

static wb_status string(literal *l, wb__str *out)
{
    skip_spaces(l);
    char quote = l->p < l->end ? *l->p : '\0';
    if (quote != '\'' && quote != '"')
        return fail(l, WB__MSG_NPY_STRING);
    const char *begin = ++l->p;
    for (; l->p < l->end && *l->p != quote; l->p++) {
        if (*l->p == '\\' || (unsigned char)*l->p < ' ')
            return fail(l, WB__MSG_NPY_ESCAPE);
    }
    if (l->p == l->end)
        return fail(l, WB__MSG_NPY_STRING_END);
    *out = (wb__str){begin, (size_t)(l->p - begin)};
    l->p++;
    return WB_OK;
}

static wb_status descr(literal *l)
{
    wb__str text = {"", 0};
    skip_spaces(l);
    uint64_t at = l->npy->text_at + (uint64_t)(l->p - l->begin);
    if (l->p < l->end && (*l->p == '[' || *l->p == '(')) {
        size_t left = (size_t)(l->end - l->p);
        bool objects = false; /* the list of types contains 'O' or '|O', the type of objects */
        for (size_t i = 1; i + 1 < left && !objects; i++)
            objects = l->p[i] == 'O' && strchr("'\"|", l->p[i - 1]) != NULL &&
                      strchr("'\"", l->p[i + 1]) != NULL;
        if (objects)
            return wb__npy_descr(l->npy, WB__STR("|O"), at);
        return wb__npy_fail(l->npy, WB__FINDING_NPY_DTYPE, at, WB__MSG_NPY_RECORDS);
    }
    wb_status status = string(l, &text);
    return status == WB_OK ? wb__npy_descr(l->npy, text, at) : status;
}

static wb_status fortran_order(literal *l)
{
    l->npy->columns = take_word(l, WB__STR("True"));
    if (!l->npy->columns && !take_word(l, WB__STR("False")))
        return fail(l, WB__MSG_NPY_BOOLEAN);
    return WB_OK;
}

static wb_status size(literal *l, uint64_t *out)
{
    uint64_t value = 0;
    skip_spaces(l);
    const char *begin = l->p;
    for (; l->p < l->end && *l->p >= '0' && *l->p <= '9'; l->p++) {
        if (!wb__mul(value, 10, &value) || !wb__add(value, (uint64_t)(*l->p - '0'), &value))
            return fail(l, WB__MSG_NPY_DIMENSION);
    }
    if (l->p == begin)
        return fail(l, WB__MSG_NPY_DIGITS);
    if (*begin == '0' && l->p > begin + 1)
        return fail(l, WB__MSG_NPY_LEADING_ZERO);
    if (l->p < l->end && *l->p == 'L')
        l->p++;
    *out = value;
    return WB_OK;
}

static wb_status append(literal *l, uint64_t dimension)
{
    wb__npy *npy = l->npy;
    wb__context *context = npy->context;
    if (npy->rank >= context->limits.rank)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_RANK_LIMIT, npy->at, npy->name,
                        WB__MSG_NPY_RANK, (unsigned long long)context->limits.rank);
    if (!wb__grow(&context->allocator, (void **)&npy->shape, &npy->shape_capacity,
                  sizeof *npy->shape, npy->rank + 1, UINT32_MAX))
        return wb__fail_memory(context);
    npy->shape[npy->rank++] = dimension;
    return WB_OK;
}

static wb_status shape(literal *l)
{
    bool comma = true;
    l->npy->rank = 0;
    if (!take(l, '('))
        return fail(l, WB__MSG_NPY_TUPLE);
    while (!take(l, ')')) {
        uint64_t dimension = 0;
        if (!comma)
            return fail(l, WB__MSG_NPY_TUPLE_NEXT);
        wb_status status = size(l, &dimension);
        if (status == WB_OK)
            status = append(l, dimension);
        if (status != WB_OK)
            return status;
        comma = take(l, ',');
    }
    return l->npy->rank == 1 && !comma ? fail(l, WB__MSG_NPY_TUPLE_COMMA) : WB_OK;
}

static const struct {
    wb__str key;
    wb_status (*value)(literal *l);
} entries[] = {
    {{"descr", 5}, descr},
    {{"fortran_order", 13}, fortran_order},
    {{"shape", 5}, shape},
};

#define ENTRIES (sizeof entries / sizeof entries[0])

static wb_status entry(literal *l, bool seen[ENTRIES])
{
    wb__str key = {"", 0};
    wb_status status = string(l, &key);
    size_t i = 0;
    if (status != WB_OK)
        return status;
    while (i < ENTRIES && !wb__str_equal(key, entries[i].key))
        i++;
    if (i == ENTRIES || seen[i])
        return fail(l, i == ENTRIES ? WB__MSG_NPY_UNKNOWN_KEY : WB__MSG_NPY_KEY_TWICE);
    seen[i] = true;
    if (!take(l, ':'))
        return fail(l, WB__MSG_NPY_COLON);
    return entries[i].value(l);
}

wb_status wb__npy_literal(wb__npy *npy, const uint8_t *text)
{
    bool seen[ENTRIES] = {false};
    bool comma = true;
    literal l = {.npy = npy, .begin = (const char *)text, .p = (const char *)text};
    l.end = l.p + (npy->data_at - npy->text_at);
    if (!take(&l, '{'))
        return fail(&l, WB__MSG_NPY_DICT);
    while (!take(&l, '}')) {
        if (!comma)
            return fail(&l, WB__MSG_NPY_DICT_NEXT);
        wb_status status = entry(&l, seen);
        if (status != WB_OK)
            return status;
        comma = take(&l, ',');
    }
    skip_spaces(&l);
    if (l.p < l.end)
        return fail(&l, WB__MSG_NPY_AFTER_DICT);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (!seen[i])
            return fail(&l, WB__MSG_NPY_KEY_MISSING);
    }
    return WB_OK;
}
