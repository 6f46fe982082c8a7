#include "arch/name_pattern.h"

#define MAX_NUMBERS 2

/* A tensor name split into its parts. */
typedef struct parts {
    wb__str stem;
    wb__suffix suffix;
    unsigned numbers;
    size_t from[MAX_NUMBERS], to[MAX_NUMBERS]; /* positions of the numbers in the stem */
    uint32_t value[MAX_NUMBERS];
} parts;

static const wb__str wrappers[] = {
    {"model.", 6},
    {"language_model.", 15},
    {"bert.", 5},
};

static const struct {
    wb__str text;
    wb__suffix suffix;
} suffixes[] = {
    {{".weight", 7}, WB__SUFFIX_WEIGHT},
    {{".bias", 5}, WB__SUFFIX_BIAS},
    {{".gamma", 6}, WB__SUFFIX_WEIGHT}, /* TensorFlow names in BERT models */
    {{".beta", 5}, WB__SUFFIX_BIAS},
    {{".qweight", 8}, WB__SUFFIX_WEIGHT},        /* AWQ, GPTQ */
    {{".weight_packed", 14}, WB__SUFFIX_WEIGHT}, /* compressed-tensors */
};

static bool unwrap(wb__str *name)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        wb__str wrapper = wrappers[i];
        if (name->len > wrapper.len && memcmp(name->ptr, wrapper.ptr, wrapper.len) == 0) {
            name->ptr += wrapper.len;
            name->len -= wrapper.len;
            return true;
        }
    }
    return false;
}

/* Parses digits without leading zeros, so that two different names never give the same number. */
static bool read_number(const char *digit, size_t n, uint32_t *number)
{
    uint32_t value = 0;
    if (n == 0 || n > 5 || (n > 1 && *digit == '0'))
        return false;
    for (; n > 0; n--, digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        value = value * 10 + (uint32_t)(*digit - '0');
    }
    *number = value;
    return value <= WB__NUMBER_MAX;
}

static bool take_apart(wb__str name, parts *p)
{
    while (unwrap(&name)) {
    }
    *p = (parts){.suffix = WB__SUFFIX_NONE};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (wb__str_ends_with(name, suffixes[i].text)) {
            p->suffix = suffixes[i].suffix;
            name.len -= suffixes[i].text.len;
            break;
        }
    }
    p->stem = name;
    /* A brace in the name could be confused with a number placeholder. */
    if (name.len == 0 || name.len > WB__STEM_MAX - 2 * MAX_NUMBERS ||
        memchr(name.ptr, '{', name.len) != NULL)
        return false;
    for (size_t from = 0; from < name.len && p->numbers < MAX_NUMBERS;) {
        const char *dot = memchr(name.ptr + from, '.', name.len - from);
        size_t to = dot == NULL ? name.len : (size_t)(dot - name.ptr);
        if (read_number(name.ptr + from, to - from, &p->value[p->numbers])) {
            p->from[p->numbers] = from;
            p->to[p->numbers] = to;
            p->numbers++;
        }
        from = to + 1;
    }
    return true;
}

/* Writes the stem with its first `count` numbers replaced by placeholders. */
static wb__str write_pattern(const parts *p, unsigned count, char *out)
{
    static const char marks[MAX_NUMBERS][3] = {{'{', 'n', '}'}, {'{', 'e', '}'}};
    size_t n = 0, from = 0;
    for (unsigned i = 0; i < count; i++) {
        memcpy(out + n, p->stem.ptr + from, p->from[i] - from);
        n += p->from[i] - from;
        memcpy(out + n, marks[i], sizeof marks[i]);
        n += sizeof marks[i];
        from = p->to[i];
    }
    memcpy(out + n, p->stem.ptr + from, p->stem.len - from);
    return (wb__str){out, n + p->stem.len - from};
}

/* ---- the table ---- */

/* FNV-1a. All table entries are built in, so an attacker cannot cause collisions. */
static size_t slot_of(wb__str pattern)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < pattern.len; i++)
        hash = (hash ^ (uint8_t)pattern.ptr[i]) * 16777619u;
    return (hash ^ hash >> 16) % WB__SPELLING_SLOTS;
}

/* Returns the slot of a pattern, or the free slot for it. */
static size_t find_slot(const wb__rule_table *table, wb__str pattern)
{
    size_t slot = slot_of(pattern);
    while (table->slots[slot] != 0 &&
           !wb__str_equal(table->entries[table->slots[slot] - 1].spelling, pattern))
        slot = (slot + 1) % WB__SPELLING_SLOTS;
    return slot;
}

static void add_spelling(wb__rule_table *table, const wb__rule *rule, wb__spelt spelt,
                         wb__str spelling)
{
    size_t slot = find_slot(table, spelling);
    if (table->slots[slot] != 0 || table->count == WB__SPELLINGS_MAX)
        return;
    table->entries[table->count].spelling = spelling;
    table->entries[table->count].rule = rule;
    table->entries[table->count].spelt = spelt;
    table->slots[slot] = (uint16_t)++table->count;
}

void wb__rule_table_make(wb__rule_table *table, const wb__family *family)
{
    memset(table, 0, sizeof *table);
    for (size_t group = 0; group < WB__RULE_GROUPS && family->rules[group] != NULL; group++) {
        for (const wb__rule *rule = family->rules[group]; rule->gguf != NULL; rule++) {
            const char *columns[] = {
                [WB__SPELT_GGUF] = rule->gguf,
                [WB__SPELT_NATIVE] = rule->native,
                [WB__SPELT_CANONICAL] = rule->canonical,
            };
            for (wb__spelt spelt = WB__SPELT_GGUF; spelt <= WB__SPELT_CANONICAL; spelt++) {
                wb__str spelling;
                while (wb__spelling_next(&columns[spelt], &spelling))
                    add_spelling(table, rule, spelt, spelling);
            }
        }
    }
}

bool wb__rule_match(const wb__rule_table *table, wb__str name, wb__matched *matched)
{
    parts p;
    char buffer[WB__STEM_MAX];
    if (!take_apart(name, &p))
        return false;
    /* The first number is always replaced, because it is a placeholder in every spelling. */
    for (unsigned count = p.numbers == 0 ? 0 : 1; count <= p.numbers; count++) {
        uint16_t entry = table->slots[find_slot(table, write_pattern(&p, count, buffer))];
        if (entry == 0)
            continue;
        *matched = (wb__matched){
            .rule = table->entries[entry - 1].rule,
            .spelt = table->entries[entry - 1].spelt,
            .suffix = p.suffix,
            .layer = count > 0 ? p.value[0] : 0,
            .expert = count > 1 ? p.value[1] : 0,
            .has_expert = count > 1,
        };
        return true;
    }
    return false;
}

/* ---- writing names ---- */

static size_t write_number(uint32_t number, char *out)
{
    char digits[10];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    return n;
}

size_t wb__pattern_expand(wb__str pattern, uint32_t layer, uint32_t expert, wb__suffix suffix,
                          char *out, size_t capacity)
{
    static const wb__str texts[] = {{"", 0}, {".weight", 7}, {".bias", 5}};
    size_t n = 0;
    if (pattern.len + 2 * 10 + texts[suffix].len > capacity)
        return 0;
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] != '{') {
            out[n++] = pattern.ptr[i];
            continue;
        }
        n += write_number(pattern.ptr[i + 1] == 'n' ? layer : expert, out + n);
        i += 2;
    }
    memcpy(out + n, texts[suffix].ptr, texts[suffix].len);
    return n + texts[suffix].len;
}

size_t wb__canonical_write(const wb__matched *matched, char *out, size_t capacity)
{
    const wb__rule *rule = matched->rule;
    wb__suffix suffix = matched->suffix;
    if (rule->provides & WB__RULE_BARE && suffix == WB__SUFFIX_WEIGHT)
        suffix = WB__SUFFIX_NONE;
    return wb__pattern_expand(wb__str_from(rule->canonical, SIZE_MAX), matched->layer,
                              matched->expert, suffix, out, capacity);
}

bool wb__name_of_activations(wb__str name)
{
    static const wb__str endings[] = {
        {".input_scale", 12}, /* ModelOpt, llama.cpp */
        {".input_global_scale", 19},
        {".k_scale", 8},
        {".v_scale", 8},
    };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (wb__str_ends_with(name, endings[i]))
            return true;
    }
    return false;
}
