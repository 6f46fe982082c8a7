#include "arch/name_pattern.h"

#define MAX_NUMBERS 2

/* A tensor name split into its parts. */
typedef struct parts {
    wb__str stem;
    wb__suffix suffix;
    unsigned numbers;
    size_t from[MAX_NUMBERS], to[MAX_NUMBERS]; /* positions of the numbers in `stem` */
    uint32_t value[MAX_NUMBERS];
} parts;

/* Prefixes that tensor names of any family may have. The table of a family can add more. */
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

static bool unwrap_one(wb__str *name, wb__str wrapper)
{
    if (name->len <= wrapper.len || memcmp(name->ptr, wrapper.ptr, wrapper.len) != 0)
        return false;
    name->ptr += wrapper.len;
    name->len -= wrapper.len;
    return true;
}

/* Removes one wrapper prefix, if there is one. */
static bool unwrap(const wb__family *family, wb__str *name)
{
    wb__str own;
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        if (unwrap_one(name, wrappers[i]))
            return true;
    }
    for (; family != NULL; family = family->base) {
        for (const char *rest = family->wrappers; wb__spelling_next(&rest, &own);) {
            if (unwrap_one(name, own))
                return true;
        }
    }
    return false;
}

/* Parses a number. Rejects leading zeros, so that two names never give the same number. */
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

static bool take_apart(const wb__family *family, wb__str name, parts *p)
{
    while (unwrap(family, &name)) {
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
    /* A name with a brace is rejected, because it could contain the text of a placeholder. */
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

/* Writes the stem with its first `count` numbers replaced by the placeholders {n} and {e}. */
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

/* FNV-1a. The number of entries is limited, so collisions that an attacker causes cost little. */
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
           !wb__str_equal(table->entries[table->slots[slot] - 1].text, pattern))
        slot = (slot + 1) % WB__SPELLING_SLOTS;
    return slot;
}

static void add_spelling(wb__rule_table *table, const wb__rule *rule, const wb__spelling *spelling)
{
    wb__str text = wb__str_from(spelling == NULL ? rule->canonical : spelling->name, SIZE_MAX);
    if (spelling != NULL && (spelling->sides & WB__SIDE_NATIVE) != 0) {
        while (unwrap(table->family, &text)) {
        }
    }
    size_t slot = find_slot(table, text);
    if (table->slots[slot] != 0 || table->count == WB__SPELLINGS_MAX)
        return;
    table->entries[table->count].text = text;
    table->entries[table->count].rule = rule;
    table->entries[table->count].spelling = spelling;
    table->slots[slot] = (uint16_t)++table->count;
}

/* Adds the spellings of a rule in the formats `sides`. */
static void add_spellings(wb__rule_table *table, const wb__rule *rule, uint8_t sides)
{
    for (size_t i = 0; i < rule->spelling_count; i++) {
        if ((rule->spellings[i].sides & sides) != 0)
            add_spelling(table, rule, &rule->spellings[i]);
    }
}

/* Returns true if the row `rule` of `family`, a base of `nearest`, is replaced: `nearest` or a
 * family between the two has a row with the same canonical name. */
static bool is_replaced(const wb__family *nearest, const wb__family *family, const wb__rule *rule)
{
    for (; nearest != family; nearest = nearest->base) {
        for (size_t i = 0; i < nearest->rule_count; i++) {
            const wb__rule *own = &nearest->rules[i];
            if (own->canonical != NULL && rule->canonical != NULL &&
                strcmp(own->canonical, rule->canonical) == 0)
                return true;
        }
    }
    return false;
}

void wb__rule_table_make(wb__rule_table *table, const wb__family *family)
{
    memset(table, 0, sizeof *table);
    table->family = family;
    for (const wb__family *f = family; f != NULL; f = f->base) {
        for (size_t i = 0; i < f->rule_count; i++) {
            const wb__rule *rule = &f->rules[i];
            if (rule->is_dropped || is_replaced(family, f, rule))
                continue;
            add_spellings(table, rule, WB__SIDE_GGUF);
            add_spellings(table, rule, WB__SIDE_NATIVE);
            if (rule->canonical != NULL)
                add_spelling(table, rule, NULL);
        }
    }
}

/* Sets *suffix to the suffix of the canonical name. Returns false if the rule does not apply to
 * tensors with the suffix `found`. */
static bool match_suffix(const wb__rule *rule, const wb__spelling *spelling, wb__suffix found,
                         wb__suffix *suffix)
{
    if (spelling != NULL && spelling->suffix != WB__SUFFIX_SAME && spelling->suffix != found)
        return false;
    *suffix = rule->suffix == WB__SUFFIX_SAME ? found : (wb__suffix)rule->suffix;
    return rule->suffix == WB__SUFFIX_SAME ||
           (spelling != NULL && spelling->suffix != WB__SUFFIX_SAME) || rule->suffix == found;
}

bool wb__rule_match(const wb__rule_table *table, wb__str name, wb__matched *matched)
{
    parts p;
    char buffer[WB__STEM_MAX];
    if (!take_apart(table->family, name, &p))
        return false;
    /* The first number is always replaced, because it is a placeholder in every spelling. */
    for (unsigned count = p.numbers == 0 ? 0 : 1; count <= p.numbers; count++) {
        uint16_t entry = table->slots[find_slot(table, write_pattern(&p, count, buffer))];
        if (entry == 0)
            continue;
        *matched = (wb__matched){
            .rule = table->entries[entry - 1].rule,
            .spelling = table->entries[entry - 1].spelling,
            .layer = count > 0 ? p.value[0] : 0,
            .expert = count > 1 ? p.value[1] : 0,
            .has_expert = count > 1,
        };
        if (match_suffix(matched->rule, matched->spelling, p.suffix, &matched->suffix))
            return true;
    }
    return false;
}

/* ---- many names ---- */

/* Returns true if a text has a number between dots, as in "mlp.0". */
static bool has_number(wb__str text)
{
    uint32_t number;
    for (size_t from = 0, to; from <= text.len; from = to + 1) {
        const char *dot = memchr(text.ptr + from, '.', text.len - from);
        to = dot == NULL ? text.len : (size_t)(dot - text.ptr);
        if (read_number(text.ptr + from, to - from, &number))
            return true;
    }
    return false;
}

/* Returns true if a wrapper prefix of the family has a number. */
static bool has_numbered_wrapper(const wb__family *family)
{
    wb__str wrapper;
    for (; family != NULL; family = family->base) {
        for (const char *rest = family->wrappers; wb__spelling_next(&rest, &wrapper);) {
            if (has_number(wrapper))
                return true;
        }
    }
    return false;
}

/* Names with the same text around their numbers have the same rule, unless numbers are also part of
 * a wrapper or of a spelling. */
void wb__matcher_start(wb__matcher *matcher, const wb__rule_table *table)
{
    matcher->table = table;
    matcher->count = matcher->last = 0;
    matcher->has_layers = !has_numbered_wrapper(table->family);
    matcher->has_experts = matcher->has_layers;
    for (size_t i = 0; i < table->count && matcher->has_experts; i++)
        matcher->has_experts = !has_number(table->entries[i].text);
}

/* Reads the digits of `name` at *at, up to the next dot or the end, as a number. */
static bool take_number(wb__str name, size_t *at, uint32_t *number)
{
    size_t from = *at;
    while (*at < name.len && name.ptr[*at] >= '0' && name.ptr[*at] <= '9')
        ++*at;
    return read_number(name.ptr + from, *at - from, number);
}

/* Consumes the bytes from..to of the earlier name. */
static bool take_text(const wb__similar *s, size_t from, size_t to, wb__str name, size_t *at)
{
    if (name.len - *at < to - from || memcmp(name.ptr + *at, s->name.ptr + from, to - from) != 0)
        return false;
    *at += to - from;
    return true;
}

/* Returns true if the name differs from an earlier one only in its numbers, which it sets in
 * s->matched. */
static bool is_similar(wb__similar *s, wb__str name)
{
    size_t at = 0, rest = s->to[s->matched.has_expert];
    uint32_t layer, expert = 0;
    if (!take_text(s, 0, s->from[0], name, &at) || !take_number(name, &at, &layer))
        return false;
    if (s->matched.has_expert &&
        (!take_text(s, s->to[0], s->from[1], name, &at) || !take_number(name, &at, &expert)))
        return false;
    if (name.len - at != s->name.len - rest || !take_text(s, rest, s->name.len, name, &at))
        return false;
    if (layer != s->matched.layer)
        s->entry = UINT32_MAX;
    s->matched.layer = layer;
    s->matched.expert = expert;
    return true;
}

/* Sets the positions of the numbers in an earlier name. Returns false if it cannot be compared with
 * later names. */
static bool find_numbers(const wb__matcher *matcher, wb__similar *s)
{
    parts p;
    if (!take_apart(matcher->table->family, s->name, &p) || p.numbers == 0 ||
        !(p.numbers > 1 ? matcher->has_experts : matcher->has_layers) ||
        s->name.len > WB__STEM_MAX - 4 * MAX_NUMBERS)
        return false;
    size_t skipped = (size_t)(p.stem.ptr - s->name.ptr);
    for (unsigned i = 0; i < p.numbers; i++) {
        s->from[i] = skipped + p.from[i];
        s->to[i] = skipped + p.to[i];
    }
    return true;
}

wb__similar *wb__matcher_next(wb__matcher *matcher, wb__str name)
{
    wb__similar *last = &matcher->names[matcher->last], *s;
    if (matcher->count > 0 && name.len <= WB__STEM_MAX - 4 * MAX_NUMBERS) {
        s = &matcher->names[last->next];
        for (size_t tried = 0; tried < matcher->count; tried++) {
            if (is_similar(s, name)) {
                last->next = matcher->last = (size_t)(s - matcher->names);
                return s;
            }
            s = &matcher->names[tried];
        }
    }
    /* The last place is for names that are not compared with later ones. */
    s = &matcher
             ->names[matcher->count < WB__SIMILAR_MAX - 1 ? matcher->count : WB__SIMILAR_MAX - 1];
    if (!wb__rule_match(matcher->table, name, &s->matched))
        return NULL;
    s->name = name;
    s->entry = UINT32_MAX;
    s->next = 0;
    if (s != &matcher->names[WB__SIMILAR_MAX - 1] && find_numbers(matcher, s)) {
        if (matcher->count > 0)
            last->next = matcher->count;
        matcher->last = matcher->count++;
    }
    return s;
}

const wb__spelling *wb__rule_spelling(const wb__rule *rule, uint8_t side)
{
    for (size_t i = 0; i < rule->spelling_count; i++) {
        const wb__spelling *spelling = &rule->spellings[i];
        if (!spelling->is_read && (spelling->sides & side) != 0)
            return spelling;
    }
    return NULL;
}

const wb__transform *wb__spelling_transform(const wb__spelling *spelling, wb__transform_kind kind)
{
    for (size_t i = 0; spelling != NULL && i < spelling->count; i++) {
        if (spelling->chain[i].kind == kind)
            return &spelling->chain[i];
    }
    return NULL;
}

bool wb__spelling_moves(const wb__spelling *spelling)
{
    return wb__spelling_transform(spelling, WB__TRANSFORM_TRANSPOSE) != NULL ||
           wb__spelling_transform(spelling, WB__TRANSFORM_MAYBE_TRANSPOSE) != NULL ||
           wb__spelling_transform(spelling, WB__TRANSFORM_GROUPS) != NULL;
}

bool wb__rule_is_stack(const wb__rule *rule)
{
    for (size_t i = 0; i < rule->spelling_count; i++) {
        if (strstr(rule->spellings[i].name, "{e}") != NULL)
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
        if (n + 10 + (pattern.len - i) + texts[suffix].len > capacity)
            return 0; /* a number has at most 10 digits */
        n += write_number(pattern.ptr[i + 1] == 'n' ? layer : expert, out + n);
        i += 2;
    }
    memcpy(out + n, texts[suffix].ptr, texts[suffix].len);
    return n + texts[suffix].len;
}

size_t wb__canonical_write(const wb__rule *rule, uint32_t layer, wb__suffix suffix, char *out,
                           size_t capacity)
{
    return wb__pattern_expand(wb__str_from(rule->canonical, SIZE_MAX), layer, 0, suffix, out,
                              capacity);
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

bool wb__name_of_another_part(wb__str name)
{
    static const wb__str beginnings[] = {
        {"vision", 6},
        {"visual", 6},
        {"multi_modal", 11},
        {"audio", 5},
        {"mm.", 3},
        {"v.", 2},
        {"a.", 2},
        {"draft.", 6},
        {"image_newline", 13},
        {"embed_vision", 12},
        {"embed_audio", 11},
        {"model.vision", 12},
        {"model.visual", 12},
        {"model.audio", 11},
        {"model.multi_modal", 17},
        {"model.image_newline", 19},
        {"model.embed_vision", 18},
        {"model.embed_audio", 17},
        {"mtp.", 4},
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (wb__str_starts_with(name, beginnings[i]) && name.len > beginnings[i].len)
            return true;
    }
    return false;
}
