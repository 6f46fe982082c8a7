/*
 * arch/canonical_names.h: maps a model's tensors to canonical names, which are the same for all
 * file formats.
 *
 * One pass parses each tensor name and looks the name up once (name_pattern.h). The result is a
 * list with one entry per canonical name of the model, and a hash table of the entries. Experts
 * that are stored as separate tensors are the parts of a stack and share one entry. A stack becomes
 * a view (one tensor with all parts) if no expert from 0 on is missing and all parts have the same
 * shape and type.
 */
#ifndef WB_ARCH_CANONICAL_NAMES_H
#define WB_ARCH_CANONICAL_NAMES_H

#include "arch/name_pattern.h"
#include "model/packed.h"

#define WB__NO_ENTRY UINT32_MAX

typedef struct wb__name_entry {
    const char *text; /* the canonical name, NUL-terminated */
    const wb__rule *rule;
    uint32_t len;
    uint32_t hash;
    uint32_t first;   /* number of the tensor; for a stack, of the part found first */
    uint32_t view;    /* index in `views`; WB__NO_ENTRY: not a stack, or a stack without view */
    uint32_t experts; /* number of parts found in the stack; 0: not a stack */
    uint16_t layer;
    uint8_t suffix;
    /* spelling that the name in the file matches (for a stack, the name of the first part); NULL:
     * the name in the file is the canonical name */
    const wb__spelling *spelling;
} wb__name_entry;

/* View of a stack: separately stored experts as one tensor. */
typedef struct wb__expert_view {
    const char *name; /* canonical name */
    size_t name_len;
    const uint32_t *parts; /* array of `count` tensor numbers, ordered by expert */
    uint32_t count;
    wb__kind kind; /* kind of the whole tensor, shape [experts, …] */
} wb__expert_view;

typedef struct wb__names {
    wb_allocator allocator;
    wb__arena arena;
    const wb__table *table;
    const wb__tensors *tensors;
    wb__rule_table rules;
    wb__list entries; /* list of wb__name_entry, in tensor order */
    uint32_t *of;     /* index of each tensor's entry, or WB__NO_ENTRY */
    uint32_t *slots;  /* hash table by canonical name: entry index + 1; 0: free */
    size_t slot_count;
    wb__expert_view *views;
    size_t view_count;
    uint32_t layers; /* highest layer number found, plus one */
    uint32_t enc_layers;
    uint32_t unmapped;   /* number of tensors that no rule matches */
    uint32_t repeated;   /* number of tensors whose canonical name was already used */
    uint32_t gguf_names; /* number of tensors with GGUF-style names */
    uint32_t known;      /* number of tensors whose rule defines no canonical name */
} wb__names;

/*
 * Maps all tensors to canonical names. Fails only with WB_ERROR_MEMORY. Release `names` with
 * wb__names_free, also after a failure.
 */
wb_status wb__names_make(wb__names *names, wb__context *context, const wb__family *family,
                         const wb__table *table, const wb__tensors *tensors);
void wb__names_free(wb__names *names);

static inline const wb__name_entry *wb__names_at(const wb__names *names, size_t i)
{
    return wb__list_at(&names->entries, i);
}

/* Returns the entry with exactly this canonical name, or NULL. */
const wb__name_entry *wb__names_find(const wb__names *names, wb__str canonical);

/*
 * Returns the kind (type and shape) of a tensor. A packed tensor consists of several stored
 * tensors, such as codes and scales (model/packed.h); its kind is that of the tensor that they
 * represent together.
 */
const wb__kind *wb__names_kind(const wb__names *names, uint64_t number);

/*
 * Returns the kind of the token embedding, a matrix [tokens, dim], or NULL if there is none. Also
 * finds the embedding of BERT, which has another canonical name.
 */
const wb__kind *wb__names_embedding(const wb__names *names);

/* Returns the entry of a tensor, or NULL if the tensor has none. */
static inline const wb__name_entry *wb__names_of(const wb__names *names, uint64_t number)
{
    return names->of[number] == WB__NO_ENTRY ? NULL : wb__names_at(names, names->of[number]);
}

#endif
