#include "arch/canonical_names.h"

/*
 * The stacks found so far. The parts of a stack are the separately stored experts that share one
 * canonical name.
 */
typedef struct stacking {
    uint32_t *next;   /* next part of the stack, indexed by tensor; WB__NO_TENSOR: none */
    uint32_t *expert; /* expert number, indexed by tensor */
    size_t count;     /* number of tensors */
    size_t stacks;
    size_t parts;
} stacking;

/* Returns the kind of a tensor, and in *packed its packing or NULL. */
static const wb__kind *kind_of(const wb__names *names, uint64_t number, const wb__packed **packed)
{
    size_t stored = wb__tensors_stored(names->tensors, number, packed);
    return *packed != NULL ? &(*packed)->packing->kind : wb__table_kind_of(names->table, stored);
}

const wb__kind *wb__names_kind(const wb__names *names, uint64_t number)
{
    const wb__packed *packed;
    return kind_of(names, number, &packed);
}

const wb__kind *wb__names_embedding(const wb__names *names)
{
    static const wb__str spelt[] = {{"token_embedding.weight", 22}, {"token_embd.weight", 17}};
    for (size_t i = 0; i < sizeof spelt / sizeof spelt[0]; i++) {
        const wb__name_entry *entry = wb__names_find(names, spelt[i]);
        const wb__kind *kind = entry == NULL ? NULL : wb__names_kind(names, entry->first);
        if (kind != NULL && kind->rank == 2)
            return kind;
    }
    return NULL;
}

static wb__str name_of(const wb__names *names, size_t number)
{
    const wb__packed *packed;
    return wb__table_name(names->table, wb__tensors_stored(names->tensors, number, &packed));
}

/* ---- lookup ---- */

static uint32_t hash_of(const wb__names *names, wb__str text)
{
    const wb__name_hasher *hasher = &names->table->hasher;
    return hasher->hash(hasher, text.ptr, text.len);
}

static size_t find_slot(const wb__names *names, wb__str text, uint32_t hash)
{
    size_t mask = names->slot_count - 1;
    size_t slot = hash & mask;
    for (; names->slots[slot] != 0; slot = (slot + 1) & mask) {
        const wb__name_entry *entry = wb__names_at(names, names->slots[slot] - 1);
        if (entry->hash == hash && wb__str_equal((wb__str){entry->text, entry->len}, text))
            break;
    }
    return slot;
}

const wb__name_entry *wb__names_find(const wb__names *names, wb__str canonical)
{
    uint32_t entry = names->slots[find_slot(names, canonical, hash_of(names, canonical))];
    return entry == 0 ? NULL : wb__names_at(names, entry - 1);
}

/* ---- construction ---- */

static bool start_stacking(wb__names *names, stacking *stack)
{
    if (stack->next != NULL)
        return true;
    stack->count = names->tensors->count;
    stack->next = wb__alloc(&names->allocator, stack->count * 2 * sizeof *stack->next);
    if (stack->next != NULL)
        stack->expert = stack->next + stack->count;
    return stack->next != NULL;
}

static bool add_part(wb__names *names, stacking *stack, wb__name_entry *entry, uint32_t tensor,
                     uint32_t expert)
{
    if (!start_stacking(names, stack))
        return false;
    /*
     * The parts of a stack are a linked list. Each new part is inserted after the first one, so the
     * order of the list is: first, last, …, second.
     */
    stack->expert[tensor] = expert;
    stack->next[tensor] = WB__NO_TENSOR;
    if (entry->first != tensor) {
        stack->next[tensor] = stack->next[entry->first];
        stack->next[entry->first] = tensor;
    } else {
        stack->stacks++;
    }
    stack->parts++;
    entry->experts++;
    return true;
}

/* Adds the next tensor of a stack that has an entry. */
static bool add_similar(wb__names *names, stacking *stack, uint32_t tensor,
                        const wb__similar *similar)
{
    wb__name_entry *entry = wb__list_at(&names->entries, similar->entry);
    names->of[tensor] = similar->entry;
    names->gguf_names += similar->matched.spelling != NULL &&
                         (similar->matched.spelling->sides & WB__SIDE_GGUF) != 0;
    return add_part(names, stack, entry, tensor, similar->matched.expert);
}

static bool add_tensor(wb__names *names, stacking *stack, uint32_t tensor, wb__similar *similar)
{
    const wb__matched *matched = &similar->matched;
    char buffer[WB__STEM_MAX * 2];
    wb__str text = {buffer, wb__canonical_write(matched->rule, matched->layer, matched->suffix,
                                                buffer, sizeof buffer)};
    uint32_t hash = hash_of(names, text);
    size_t slot = find_slot(names, text, hash);
    wb__name_entry *entry = NULL;
    if (names->slots[slot] != 0) {
        entry = wb__list_at(&names->entries, names->slots[slot] - 1);
        if (!matched->has_expert || entry->experts == 0) {
            names->repeated++;
            return true;
        }
    } else {
        char *copy = wb__arena_text(&names->arena, text.len + 1);
        entry = copy == NULL ? NULL : wb__list_append(&names->entries);
        if (entry == NULL)
            return false;
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
        *entry = (wb__name_entry){.text = copy,
                                  .rule = matched->rule,
                                  .len = (uint32_t)text.len,
                                  .hash = hash,
                                  .first = tensor,
                                  .view = WB__NO_ENTRY,
                                  .layer = (uint16_t)matched->layer,
                                  .suffix = (uint8_t)matched->suffix,
                                  .spelling = matched->spelling};
        names->slots[slot] = (uint32_t)names->entries.count;
    }
    names->of[tensor] = names->slots[slot] - 1;
    if (matched->has_expert)
        similar->entry = names->slots[slot] - 1;
    names->gguf_names +=
        matched->spelling != NULL && (matched->spelling->sides & WB__SIDE_GGUF) != 0;
    if (wb__rule_has_layer(matched->rule)) {
        uint32_t *layers = wb__rule_is_encoder(matched->rule) ? &names->enc_layers : &names->layers;
        if (matched->layer >= *layers)
            *layers = matched->layer + 1;
    }
    return !matched->has_expert || add_part(names, stack, entry, tensor, matched->expert);
}

static bool map_tensors(wb__names *names, stacking *stack)
{
    bool added = true;
    wb__matcher *matcher = wb__alloc(&names->allocator, sizeof *matcher);
    if (matcher == NULL)
        return false;
    wb__matcher_start(matcher, &names->rules);
    for (size_t i = 0; i < names->tensors->count && added; i++) {
        names->of[i] = WB__NO_ENTRY;
        wb__similar *similar = wb__matcher_next(matcher, name_of(names, i));
        if (similar == NULL)
            names->unmapped++;
        else if (similar->matched.rule->canonical == NULL)
            names->known++;
        else if (similar->entry != UINT32_MAX)
            added = add_similar(names, stack, (uint32_t)i, similar);
        else
            added = add_tensor(names, stack, (uint32_t)i, similar);
    }
    wb__free(&names->allocator, matcher, sizeof *matcher);
    return added;
}

/* ---- views ---- */

/* Returns true if tensor `b` has the kind `x` and the packing of `p`, which may be NULL. */
static bool are_alike(const wb__names *names, const wb__kind *x, const wb__packed *p, uint32_t b)
{
    const wb__packed *q;
    const wb__kind *y = kind_of(names, b, &q);
    if ((p == NULL) != (q == NULL) || (p != NULL && (p->packing->scheme != q->packing->scheme ||
                                                     p->packing->bits != q->packing->bits ||
                                                     p->packing->group != q->packing->group)))
        return false;
    return x == y || (x->dtype == y->dtype && x->rank == y->rank && x->bytes == y->bytes &&
                      memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0);
}

/* Sets *kind to the kind (type and shape) of `count` stacked tensors of kind `of`. */
static bool stack_kind(wb__names *names, const wb__kind *of, uint32_t count, wb__kind *kind)
{
    *kind = *of;
    uint64_t *shape = wb__arena_alloc(&names->arena, (of->rank + 1) * sizeof *shape);
    if (shape == NULL)
        return false;
    shape[0] = count;
    memcpy(shape + 1, of->shape, of->rank * sizeof *shape);
    kind->shape = shape;
    kind->rank = of->rank + 1;
    if (!wb__mul(of->elements, count, &kind->elements) || !wb__mul(of->bytes, count, &kind->bytes))
        kind->fault = WB__KIND_OVERFLOW;
    return true;
}

/*
 * Writes the parts of a stack to `parts`, in order of their experts. Returns false if an expert is
 * missing or has two parts, or if the parts differ in type or shape.
 */
static bool order_parts(const wb__names *names, const stacking *stack, const wb__name_entry *entry,
                        uint32_t *parts)
{
    for (uint32_t i = 0; i < entry->experts; i++)
        parts[i] = WB__NO_TENSOR;
    const wb__packed *packed;
    const wb__kind *kind = kind_of(names, entry->first, &packed);
    for (uint32_t part = entry->first; part != WB__NO_TENSOR; part = stack->next[part]) {
        uint32_t expert = stack->expert[part];
        if (expert >= entry->experts || parts[expert] != WB__NO_TENSOR ||
            !are_alike(names, kind, packed, part))
            return false;
        parts[expert] = part;
    }
    return true;
}

static bool make_views(wb__names *names, const stacking *stack)
{
    if (stack->stacks == 0)
        return true;
    uint32_t *parts = wb__arena_alloc(&names->arena, stack->parts * sizeof *parts);
    names->views = wb__arena_alloc(&names->arena, stack->stacks * sizeof *names->views);
    if (parts == NULL || names->views == NULL)
        return false;
    for (size_t i = 0; i < names->entries.count; i++) {
        wb__name_entry *entry = wb__list_at(&names->entries, i);
        if (entry->experts == 0 || !order_parts(names, stack, entry, parts))
            continue;
        wb__expert_view *view = &names->views[names->view_count];
        *view = (wb__expert_view){
            .name = entry->text, .name_len = entry->len, .count = entry->experts, .parts = parts};
        if (!stack_kind(names, wb__names_kind(names, entry->first), entry->experts, &view->kind))
            return false;
        if (view->kind.fault != WB__KIND_SOUND)
            continue;
        entry->view = (uint32_t)names->view_count++;
        parts += entry->experts;
    }
    return true;
}

wb_status wb__names_make(wb__names *names, wb__context *context, const wb__family *family,
                         const wb__table *table, const wb__tensors *tensors)
{
    stacking stack = {0};
    memset(names, 0, sizeof *names);
    names->allocator = context->allocator;
    names->arena.allocator = &names->allocator;
    names->entries = (wb__list){.arena = &names->arena, .item_size = sizeof(wb__name_entry)};
    names->table = table;
    names->tensors = tensors;
    wb__rule_table_make(&names->rules, family);
    names->slot_count = 16;
    while (names->slot_count / 2 < tensors->count)
        names->slot_count *= 2;
    names->of = wb__alloc(&names->allocator, tensors->count * sizeof *names->of);
    names->slots = wb__alloc_zeroed(&names->allocator, names->slot_count * sizeof *names->slots);
    bool made = names->of != NULL && names->slots != NULL && map_tensors(names, &stack) &&
                make_views(names, &stack);
    wb__free(&names->allocator, stack.next, stack.count * 2 * sizeof *stack.next);
    return made ? WB_OK : wb__fail_memory(context);
}

void wb__names_free(wb__names *names)
{
    if (names->arena.allocator == NULL)
        return;
    wb__free(&names->allocator, names->of, names->tensors->count * sizeof *names->of);
    wb__free(&names->allocator, names->slots, names->slot_count * sizeof *names->slots);
    wb__list_free(&names->entries);
    wb__arena_free(&names->arena);
    names->arena.allocator = NULL;
}
