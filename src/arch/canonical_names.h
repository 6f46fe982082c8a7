/*
 * arch/canonical_names.h: the canonical names of a model's tensors.
 *
 * One pass over the tensors, in which each name is taken apart and looked up once (pattern.h),
 * gives a list of entries, one for each canonical name that the model has, and a table to find them
 * in. Experts that are stored one by one meet in one entry, and become a view: a tensor of as many
 * parts as there are experts, if all are there, from 0 on, and all alike.
 */
#ifndef WB_ARCH_NAMES_H
#define WB_ARCH_NAMES_H

#include "arch/name_pattern.h"
#include "model/packed.h"

#define WB__NO_ENTRY UINT32_MAX

typedef struct wb__name_entry {
    const char *text; /* the canonical name, and a NUL */
    const wb__rule *rule;
    uint32_t len;
    uint32_t hash;
    uint32_t first;   /* number of the tensor; of a stack that of the part met first */
    uint32_t view;    /* WB__NO_ENTRY: it is not a stack, or one with gaps */
    uint32_t experts; /* parts of a stack met, 0: no stack */
    uint16_t layer;
    uint8_t suffix;
    uint8_t spelt;
} wb__name_entry;

/* Experts stored one by one, as one tensor. */
typedef struct wb__expert_view {
    const char *name; /* canonical */
    size_t name_len;
    const uint32_t *parts; /* numbers of tensors, `count` of them */
    uint32_t count;
    wb__kind kind; /* of the whole: [experts, …] */
} wb__expert_view;

typedef struct wb__names {
    wb_allocator allocator;
    wb__arena arena;
    const wb__table *table;
    const wb__tensors *tensors;
    wb__rule_table rules;
    wb__list entries; /* of wb__name_entry, in the order of the tensors */
    uint32_t *of;     /* the entry of each tensor, or WB__NO_ENTRY */
    uint32_t *slots;  /* entry number + 1; 0: free */
    size_t slot_count;
    wb__expert_view *views;
    size_t view_count;
    uint32_t layers; /* one more than the highest number met */
    uint32_t enc_layers;
    uint32_t unmapped;   /* tensors no rule knows */
    uint32_t repeated;   /* tensors whose canonical name another has */
    uint32_t gguf_names; /* tensors with a name in GGUF's style */
    uint32_t known;      /* tensors that need no canonical name */
} wb__names;

/* Maps all tensors. MEMORY is the only failure. Release with wb__names_free, also after it. */
wb_status wb__names_make(wb__names *names, wb__context *context, const wb__family *family,
                         const wb__table *table, const wb__tensors *tensors);
void wb__names_free(wb__names *names);

static inline const wb__name_entry *wb__names_at(const wb__names *names, size_t i)
{
    return wb__list_at(&names->entries, i);
}

/* The entry of exactly that canonical name, or NULL. */
const wb__name_entry *wb__names_find(const wb__names *names, wb__str canonical);

/* What a tensor by that number is: shape and type of the whole. */
const wb__kind *wb__names_kind(const wb__names *names, uint64_t number);

/* The same of the embedding [tokens, dim], whose canonical name is another in BERT; NULL: there is no such matrix. */
const wb__kind *wb__names_embedding(const wb__names *names);

/* The entry of a tensor, or NULL. */
static inline const wb__name_entry *wb__names_of(const wb__names *names, uint64_t number)
{
    return names->of[number] == WB__NO_ENTRY ? NULL : wb__names_at(names, names->of[number]);
}

#endif
