#include "read/comparable.h"

#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
    const wb__comparable *x = a, *y = b;
    int order = wb__str_compare(x->name, y->name);
    if (order != 0)
        return order;
    return x->number < y->number ? -1 : 1;
}

/* Returns true for each expert of a stack except the first. The first represents the stack. */
static bool is_later_expert(const wb__name_entry *entry, uint64_t number)
{
    return entry != NULL && entry->view != WB__NO_ENTRY && entry->first != number;
}

static wb__comparable subject_of(const wb_model *model, const wb__semantics *semantics,
                                 uint64_t number)
{
    const wb__names *names = &semantics->names;
    const wb__name_entry *entry = wb__names_of(names, number);
    const wb__packed *packed;
    size_t stored = wb__tensors_stored(&model->tensors, number, &packed);
    wb__comparable subject = {.number = number, .kind = wb__names_kind(names, number)};
    if (entry != NULL && entry->experts > 0 && entry->view == WB__NO_ENTRY)
        entry = NULL; /* the stack is incomplete, so the experts stay separate tensors */
    if (entry != NULL && wb__spelling_moves(entry->spelling))
        entry = NULL; /* the canonical tensor has other rows or columns */
    if (entry == NULL) {
        wb__matched matched;
        subject.name = wb__table_name(&model->catalog.table, stored);
        subject.is_spare = wb__rule_match(&names->rules, subject.name, &matched) &&
                           matched.rule->canonical == NULL;
    } else {
        subject.name = (wb__str){entry->text, entry->len};
        subject.is_canonical = true;
        if (entry->view != WB__NO_ENTRY) {
            subject.view = &names->views[entry->view];
            subject.kind = &subject.view->kind;
            subject.number = model->tensors.count + model->tensors.stored_count + entry->view;
        }
        subject.order = wb__row_order_of(entry, subject.kind, &semantics->config,
                                         semantics->is_family ? semantics->family : NULL);
    }
    subject.floats = subject.kind->elements;
    if (subject.kind->dtype->kind ==
        WB__CLASS_COMPLEX) /* the product cannot overflow, because the file contains all values */
        subject.floats *= 2;
    return subject;
}

wb_status wb__comparables_make(wb__comparables *subjects, const wb_model *model,
                               wb__context *context)
{
    const wb__semantics *semantics;
    *subjects = (wb__comparables){.allocator = context->allocator};
    wb_status status = wb__semantics_of(model, context, &semantics);
    if (status != WB_OK)
        return status;
    for (uint64_t i = 0; i < model->tensors.count; i++)
        subjects->capacity += !is_later_expert(wb__names_of(&semantics->names, i), i);
    size_t bytes = subjects->capacity * sizeof *subjects->list;
    subjects->list = wb__alloc(&subjects->allocator, bytes);
    if (subjects->list == NULL)
        return wb__fail_memory(context);
    for (uint64_t i = 0; i < model->tensors.count; i++) {
        if (!is_later_expert(wb__names_of(&semantics->names, i), i))
            subjects->list[subjects->count++] = subject_of(model, semantics, i);
    }
    qsort(subjects->list, subjects->count, sizeof *subjects->list, by_name);
    return WB_OK;
}

void wb__comparables_free(wb__comparables *subjects)
{
    wb__free(&subjects->allocator, subjects->list, subjects->capacity * sizeof *subjects->list);
    subjects->list = NULL;
    subjects->count = 0;
}

const wb__comparable *wb__comparables_find(const wb__comparables *subjects, wb__str name)
{
    size_t low = 0, high = subjects->count;
    wb__comparable wanted = {.name = name};
    while (low < high) { /* binary search for the first of several equal names */
        size_t middle = low + (high - low) / 2;
        if (by_name(&subjects->list[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < subjects->count && wb__str_equal(subjects->list[low].name, name)
               ? &subjects->list[low]
               : NULL;
}

bool wb__comparable_is_whole(const wb_model *model, const wb__comparable *subject)
{
    const wb__packed *packed;
    uint64_t number = subject->view == NULL ? subject->number : subject->view->parts[0];
    size_t stored = wb__tensors_stored(&model->tensors, number, &packed);
    const wb__storing *storing = wb__catalog_storing_of(&model->catalog, stored);
    return (packed != NULL && packed->packing->scheme >= WB__SCHEME_FP8_BLOCK) ||
           (storing != NULL && (storing->deflated || storing->columns));
}
