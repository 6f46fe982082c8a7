#include "suggest.h"

#include <stdlib.h>
#include <string.h>

#include "weighbridge/experimental.h"

#define LONGEST 512 /* nothing is suggested for names with more bytes */
#define DTYPES 256  /* upper bound of wb_dtype numbers */

/* ---- comparing names ---- */

/* A name in the form in which names are compared: lower case, without separators. */
typedef struct plain {
    char bytes[LONGEST];
    size_t len;
} plain;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool simplify(const char *name, size_t len, plain *to)
{
    to->len = 0;
    if (len > LONGEST)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (c == '-' || c == '_' || c == '.' || c == ' ')
            continue;
        to->bytes[to->len++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return true;
}

/* Returns true if both names have the same digits in the same order. */
static bool same_numbers(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0, j = 0;
    for (;;) {
        while (i < a_len && !is_digit(a[i]))
            i++;
        while (j < b_len && !is_digit(b[j]))
            j++;
        if (i == a_len || j == b_len)
            return i == a_len && j == b_len;
        if (a[i] != b[j])
            return false;
        i++;
        j++;
        /* "1.1" and "11" are different numbers. */
        if ((i < a_len && is_digit(a[i])) != (j < b_len && is_digit(b[j])))
            return false;
    }
}

/* Returns the maximum edit distance of a suggestion for a name of this length. */
static size_t tolerance(size_t len)
{
    return len < 3 ? 0 : len < 6 ? 1 : len < 12 ? 2 : len < 40 ? len / 5 : 8;
}

suggestion suggest(const char *typed, size_t len)
{
    return (suggestion){.typed = typed, .len = len, .distance = SIZE_MAX};
}

void suggest_consider(suggestion *s, const char *name, size_t len)
{
    plain a, b;
    if (s->distance == 0 || !simplify(s->typed, s->len, &a) || !simplify(name, len, &b) ||
        a.len == 0 || b.len == 0)
        return;
    size_t limit = tolerance(a.len);
    bool is_start = a.len >= 3 && a.len < b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
    size_t distance = 1;
    if (!is_start || limit == 0) {
        if (!same_numbers(s->typed, s->len, name, len))
            return;
        distance = edit_distance(a.bytes, a.len, b.bytes, b.len, limit);
        if (distance > limit || distance >= b.len)
            return;
    }
    if (distance >= s->distance)
        return;
    s->best = name;
    s->best_len = len;
    s->distance = distance;
}

const char *suggest_word(const char *typed, const char *list, size_t *len)
{
    suggestion s = suggest(typed, strlen(typed));
    const char *word;
    size_t n;
    while ((word = next_word(&list, &n)) != NULL)
        suggest_consider(&s, word, n);
    *len = s.best_len;
    return s.best;
}

/* ---- tensors ---- */

static void consider_names(suggestion *s, const wb_model *model, wb_names_kind kind)
{
    const char *names;
    const uint64_t *at;
    if (wb_tensor_names(model, kind, &names, &at, NULL) != WB_OK)
        return;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++)
        suggest_consider(s, names + at[i], (size_t)(at[i + 1] - at[i] - 1));
}

static void add_meant(text *t, const char *name, size_t len)
{
    text_adds(t, "; did you mean \"");
    text_add_shown(t, name, len);
    text_adds(t, "\"?");
}

/* Returns the first number that is a whole component of the name (layers.12.attn), or -1. */
static long layer_of(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        size_t n = i;
        if (i > 0 && name[i - 1] != '.')
            continue;
        while (n < len && is_digit(name[n]))
            n++;
        if (n > i && n - i < 7 && n < len && name[n] == '.')
            return strtol(name + i, NULL, 10);
    }
    return -1;
}

void text_add_tensor_meant(text *t, const wb_model *model, const char *typed, size_t len)
{
    wb_tensor tensor = WB_TENSOR_INIT;
    wb_config config = WB_CONFIG_INIT;
    uint64_t index;
    long layer = layer_of(typed, len);
    if (wb_tensor_meant(model, typed, len, &index) == WB_OK &&
        wb_tensor_at(model, index, &tensor, NULL) == WB_OK) {
        add_meant(t, tensor.name, tensor.name_len);
        return;
    }
    suggestion s = suggest(typed, len);
    consider_names(&s, model, WB_NAMES_NATIVE);
    consider_names(&s, model, WB_NAMES_CANONICAL);
    if (s.best != NULL)
        add_meant(t, s.best, s.best_len);
    else if (layer >= 0 && wb_config_get(model, &config, NULL) == WB_OK && config.n_layers > 0 &&
             (uint64_t)layer >= config.n_layers)
        text_addf(t, "; the layers of the model are 0 to %llu",
                  (unsigned long long)config.n_layers - 1);
}

/* ---- keys and quantizations ---- */

void text_add_key_meant(text *t, const wb_model *model, const char *typed, size_t len)
{
    suggestion s = suggest(typed, len);
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = WB_META_INIT;
        if (wb_meta_at(model, i, &meta, NULL) == WB_OK)
            suggest_consider(&s, meta.key, meta.key_len);
    }
    if (s.best != NULL)
        add_meant(t, s.best, s.best_len);
}

const char *suggest_quant(const char *typed)
{
    suggestion s = suggest(typed, strlen(typed));
    const char *name;
    for (size_t i = 0; (name = wb_quant_name(i)) != NULL; i++)
        suggest_consider(&s, name, strlen(name));
    return s.best;
}

const char *suggest_dtype(const char *typed)
{
    /* Names of element types in PyTorch and NumPy. */
    static const char *const others[][2] = {
        {"bfloat16", "BF16"}, {"double", "F64"},  {"float", "F32"}, {"float16", "F16"},
        {"float32", "F32"},   {"float64", "F64"}, {"half", "F16"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(typed, others[i][0]) == 0)
            return others[i][1];
    }
    suggestion s = suggest(typed, strlen(typed));
    for (int32_t id = 0; id < DTYPES; id++) {
        const char *name = wb_dtype_name(id);
        if (name != NULL)
            suggest_consider(&s, name, strlen(name));
    }
    return s.best;
}
