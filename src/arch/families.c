/* Finds families by name, and returns the properties that a family has or inherits. */
#include "arch/family.h"

/* ---- search ---- */

static bool is_hidden(const wb__family_set *set, const wb__family *compiled)
{
    for (size_t i = 0; set != NULL && i < set->count; i++) {
        if (strcmp(set->families[i]->name, compiled->name) == 0)
            return true;
    }
    return false;
}

const wb__family *wb__family_next(const wb__family_set *set, size_t *i)
{
    size_t own = set == NULL ? 0 : set->count;
    if (*i < own)
        return set->families[(*i)++];
    while (*i - own < wb__family_count) {
        const wb__family *compiled = wb__families[(*i)++ - own];
        if (!is_hidden(set, compiled))
            return compiled;
    }
    return NULL;
}

static bool is_listed(const char *list, wb__str text)
{
    wb__str element;
    while (wb__spelling_next(&list, &element)) {
        if (wb__str_equal(element, text))
            return true;
    }
    return false;
}

const wb__family *wb__family_named(const wb__family_set *set, wb__str name)
{
    const wb__family *family;
    for (size_t i = 0; (family = wb__family_next(set, &i)) != NULL;) {
        if (wb__str_equal(name, wb__str_from(family->name, SIZE_MAX)))
            return family;
    }
    return wb__str_equal(name, wb__str_from(wb__family_unknown.name, SIZE_MAX))
               ? &wb__family_unknown
               : NULL;
}

const wb__family *wb__family_by_model_type(const wb__family_set *set, wb__str model_type)
{
    const wb__family *family;
    for (size_t i = 0; (family = wb__family_next(set, &i)) != NULL;) {
        if (is_listed(family->types, model_type))
            return family;
    }
    return NULL;
}

const wb__family *wb__family_by_name(const wb__family_set *set, wb__str architecture,
                                     const wb__scope *scope)
{
    const wb__family *family, *usual = NULL;
    for (size_t i = 0; (family = wb__family_next(set, &i)) != NULL;) {
        if (!is_listed(family->gguf, architecture))
            continue;
        if (family->when == NULL && usual == NULL)
            usual = family;
        if (family->when != NULL && scope != NULL && wb__expr_holds(family->when, scope, false))
            return family;
    }
    return usual;
}

const wb__family *wb__family_by_signature(const wb__family_set *set,
                                          bool (*has)(void *ctx, wb__str pattern), void *ctx)
{
    const wb__family *family;
    wb__str pattern;
    for (size_t i = 0; (family = wb__family_next(set, &i)) != NULL;) {
        const char *rest = family->signature;
        while (wb__spelling_next(&rest, &pattern)) {
            if (has(ctx, pattern))
                return family;
        }
    }
    return &wb__family_unknown;
}

/* ---- inheritance ---- */

static wb__str first_of(const char *list)
{
    wb__str first = {"", 0};
    (void)wb__spelling_next(&list, &first);
    return first;
}

wb__str wb__family_gguf(const wb__family *family)
{
    while (family != NULL && family->gguf == NULL)
        family = family->base;
    return first_of(family == NULL ? NULL : family->gguf);
}

wb__str wb__family_type(const wb__family *family)
{
    while (family != NULL && family->types == NULL)
        family = family->base;
    return first_of(family == NULL ? NULL : family->types);
}

wb__str wb__family_class(const wb__family *family)
{
    while (family != NULL && family->classes == NULL)
        family = family->base;
    return first_of(family == NULL ? NULL : family->classes);
}

wb__family_rope wb__family_rope_of(const wb__family *family)
{
    while (family->base != NULL && family->rope == WB__ROPE_INHERITED)
        family = family->base;
    return family->rope == WB__ROPE_INHERITED ? WB__ROPE_HALVES : (wb__family_rope)family->rope;
}

const wb__rule *wb__family_rule(const wb__family *family, const char *canonical)
{
    for (; family != NULL; family = family->base) {
        for (size_t i = 0; i < family->rule_count; i++) {
            const wb__rule *rule = &family->rules[i];
            if (rule->canonical != NULL && strcmp(rule->canonical, canonical) == 0)
                return rule->is_dropped ? NULL : rule;
        }
    }
    return NULL;
}

const wb__fused *wb__family_fused(const wb__family *family, const char *canonical)
{
    for (; family != NULL; family = family->base) {
        for (size_t i = 0; i < family->fused_count; i++) {
            if (strcmp(family->fused[i].whole, canonical) == 0)
                return &family->fused[i];
        }
    }
    return NULL;
}

static bool has_part(const wb__fused *fused, const char *part)
{
    for (size_t i = 0; i < fused->count; i++) {
        if (strcmp(fused->parts[i], part) == 0)
            return true;
    }
    return false;
}

/* Returns true if a format has the tensor under a name that is written. */
static bool is_written(const wb__family *family, const char *canonical, uint8_t side)
{
    const wb__rule *rule = wb__family_rule(family, canonical);
    for (size_t i = 0; rule != NULL && i < rule->spelling_count; i++) {
        if (!rule->spellings[i].is_read && (rule->spellings[i].sides & side) != 0)
            return true;
    }
    return false;
}

const wb__fused *wb__family_fused_with(const wb__family *family, const char *part, uint8_t side)
{
    for (const wb__family *f = family; f != NULL; f = f->base) {
        for (size_t i = 0; i < f->fused_count; i++) {
            if (has_part(&f->fused[i], part) && is_written(family, f->fused[i].whole, side))
                return &f->fused[i];
        }
    }
    return NULL;
}

uint8_t wb__family_norms(const wb__family *family)
{
    while (family->base != NULL && !family->has_norm_sides)
        family = family->base;
    return family->norm_sides;
}

uint32_t wb__family_flags(const wb__family *family)
{
    uint32_t flags = 0;
    for (; family != NULL; family = family->base)
        flags |= family->flags;
    return flags;
}

uint32_t wb__family_needs(const wb__family *family, unsigned kind)
{
    const wb__family *f = family;
    while (f->base != NULL && f->needs == 0)
        f = f->base;
    uint32_t needs = f->needs;
    f = family;
    while (f->base != NULL && f->kind_needs[kind] == 0)
        f = f->base;
    return needs | f->kind_needs[kind];
}

const wb__value_row *wb__family_value(const wb__family *family, unsigned places, int field,
                                      const char *name)
{
    for (; family != NULL; family = family->base) {
        for (size_t i = 0; i < family->value_count; i++) {
            const wb__value_row *row = &family->values[i];
            if ((places >> row->where & 1) != 0 && row->field == field &&
                (field >= 0 || strcmp(row->name, name) == 0))
                return row;
        }
    }
    return NULL;
}

bool wb__family_hint(const wb__family *family, const char *hint)
{
    for (; family != NULL; family = family->base) {
        if (is_listed(family->tokenizer, wb__str_from(hint, SIZE_MAX)))
            return true;
    }
    return false;
}
