#include "arch/nearest_family.h"
#include "arch/name_pattern.h"
#include "weighbridge/config.h"

#define PREFIX_MIN 3 /* shorter common prefixes of names of architectures are accidental */

typedef struct similarity {
    size_t known;   /* number of tensor names that the family has */
    bool is_whole;  /* the tensors have all roles that the family needs */
    size_t prefix;  /* length of the longest common prefix of the names of both architectures */
    size_t derived; /* number of families that are based on the family */
} similarity;

static size_t common_prefix(wb__str a, wb__str b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

static size_t longest_prefix(const char *list, wb__str architecture)
{
    size_t longest = 0;
    wb__str name;
    while (wb__spelling_next(&list, &name)) {
        size_t n = common_prefix(name, architecture);
        longest = n > longest ? n : longest;
    }
    return longest < PREFIX_MIN ? 0 : longest;
}

static size_t count_derived(const wb__family_set *set, const wb__family *family)
{
    size_t count = 0;
    const wb__family *other;
    for (size_t i = 0; (other = wb__family_next(set, &i)) != NULL;) {
        const wb__family *base = other->base;
        while (base != NULL && base != family)
            base = base->base;
        count += base == family;
    }
    return count;
}

static similarity compare(const wb__family_set *set, const wb__rule_table *table,
                          const wb__name_source *names, wb__str architecture)
{
    wb__matched matched;
    size_t of_gguf = longest_prefix(table->family->gguf, architecture);
    size_t of_types = longest_prefix(table->family->types, architecture);
    similarity s = {.prefix = of_gguf > of_types ? of_gguf : of_types,
                    .derived = count_derived(set, table->family)};
    uint32_t needs = wb__family_needs(table->family, WB_LAYER_ATTENTION) & ~(uint32_t)WB__NEED_HEAD;
    for (size_t i = 0; i < names->count; i++) {
        if (!wb__rule_match(table, names->name(names->model, i), &matched) ||
            matched.rule->canonical == NULL || matched.spelling == NULL ||
            matched.spelling->is_read)
            continue;
        s.known++;
        needs &= ~matched.rule->provides;
    }
    s.is_whole = needs == 0;
    return s;
}

static bool is_nearer(const similarity *a, const similarity *b)
{
    if (a->known != b->known)
        return a->known > b->known;
    if (a->is_whole != b->is_whole)
        return a->is_whole;
    return a->prefix != b->prefix ? a->prefix > b->prefix : a->derived > b->derived;
}

wb_status wb__family_nearest(wb__context *context, const wb__family_set *set,
                             const wb__name_source *names, wb__str architecture,
                             const wb__family **nearest, size_t *known)
{
    const wb__family *family;
    wb__rule_table *table = wb__alloc(&context->allocator, sizeof *table);
    similarity best = {.known = 0};
    *nearest = NULL;
    if (table == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; (family = wb__family_next(set, &i)) != NULL;) {
        if (family->types == NULL)
            continue; /* a table that only serves as a base */
        wb__rule_table_make(table, family);
        similarity s = compare(set, table, names, architecture);
        if (s.known > 0 && is_nearer(&s, &best)) {
            best = s;
            *nearest = family;
        }
    }
    *known = best.known;
    wb__free(&context->allocator, table, sizeof *table);
    return WB_OK;
}
