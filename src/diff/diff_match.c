#include "diff/diff.h"

static wb__pair *add_pair(wb_diff *diff, wb__str name, const wb__comparable *a,
                          const wb__comparable *b)
{
    wb__pair *pair = &diff->pairs[diff->pair_count++];
    *pair = (wb__pair){.name = name, .a = a, .b = b};
    return pair;
}

bool wb__same_shape(const wb__kind *a, const wb__kind *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

/* Returns true if two tensors have the same dtype or packing. For experts that are stored
 * separately, compares the first expert. */
static bool same_encoding(const wb_diff *diff, const wb__comparable *a, const wb__comparable *b)
{
    const wb__packed *p, *q;
    (void)wb__tensors_stored(&diff->a->tensors, a->view == NULL ? a->number : a->view->parts[0],
                             &p);
    (void)wb__tensors_stored(&diff->b->tensors, b->view == NULL ? b->number : b->view->parts[0],
                             &q);
    if (p == NULL || q == NULL)
        return p == q && a->kind->dtype == b->kind->dtype;
    return p->packing->scheme == q->packing->scheme && p->packing->bits == q->packing->bits &&
           p->packing->group == q->packing->group;
}

static int compare_names(wb__str a, wb__str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n == 0 ? 0 : memcmp(a.ptr, b.ptr, n);
    return order != 0 ? order : a.len < b.len ? -1 : a.len > b.len;
}

/* Returns the embedding of `model` if the model also uses it as output matrix and `name` is the
 * output matrix of the other model. Otherwise returns NULL. */
static const wb__comparable *tied_to(const wb_model *model, const wb__comparables *subjects,
                                     wb__str name)
{
    wb_config config = {.size = sizeof config};
    if (!wb__str_equal(name, WB__STR("output.weight")) ||
        wb_config_get(model, &config, NULL) != WB_OK || !config.tie_embeddings)
        return NULL;
    return wb__comparables_find(subjects, WB__STR("token_embedding.weight"));
}

/* Merges the tensor lists of both models into a list of pairs. All lists are sorted by name. */
static void merge(wb_diff *diff)
{
    const wb__comparables *a = &diff->a_subjects, *b = &diff->b_subjects;
    size_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : compare_names(a->list[i].name, b->list[j].name);
        if (order == 0) {
            add_pair(diff, a->list[i].name, &a->list[i], &b->list[j]);
            i++;
            j++;
        } else if (order < 0) {
            wb__str name = a->list[i].name;
            add_pair(diff, name, &a->list[i], tied_to(diff->b, b, name));
            i++;
        } else {
            wb__str name = b->list[j].name;
            add_pair(diff, name, tied_to(diff->a, a, name), &b->list[j]);
            j++;
        }
    }
}

wb_status wb__diff_match(wb_diff *diff, wb__context *context)
{
    wb_status status = wb__comparables_make(&diff->a_subjects, diff->a, context);
    if (status == WB_OK)
        status = wb__comparables_make(&diff->b_subjects, diff->b, context);
    if (status != WB_OK)
        return status;
    diff->pair_capacity = diff->a_subjects.count + diff->b_subjects.count;
    diff->pairs = wb__alloc(&diff->allocator, diff->pair_capacity * sizeof *diff->pairs);
    if (diff->pairs == NULL)
        return wb__fail_memory(context);
    merge(diff);
    bool one_format = strcmp(wb_format(diff->a), wb_format(diff->b)) == 0;
    for (size_t i = 0; i < diff->pair_count; i++) {
        wb__pair *pair = &diff->pairs[i];
        const wb__comparable *x = pair->a, *y = pair->b;
        if (x != NULL && y != NULL) {
            pair->differs = wb__same_shape(x->kind, y->kind) ? 0 : WB_DIFF_SHAPES;
            pair->differs |= same_encoding(diff, x, y) ? 0 : WB_DIFF_ENCODINGS;
        } else { /* one model lacks the tensor: no difference if the formats differ and
                  * converters may omit it (is_spare) */
            bool is_spare = x != NULL ? x->is_spare : y != NULL && y->is_spare;
            pair->differs = is_spare && !one_format ? 0 : WB_DIFF_NAMES;
        }
        pair->differs &= diff->kinds;
    }
    return WB_OK;
}
