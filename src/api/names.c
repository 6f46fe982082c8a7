#include "open/open.h"

#include <stdatomic.h>

/* How engines call the companions of a tensor whose parts they take over. */
static const struct {
    wb__str handed_over, stored;
} companion_names[] = {
    {{"_global_scale", 13}, {".global_scale", 13}},
    {{"_scale", 6}, {".scale", 6}},
    {{"_qbias", 6}, {".bias", 5}},
};

static uint32_t find_companion(const wb_model *model, wb__str name)
{
    char buffer[1024];
    for (size_t i = 0; i < sizeof companion_names / sizeof companion_names[0]; i++) {
        wb__str ending = companion_names[i].handed_over;
        wb__str stored = companion_names[i].stored;
        if (!wb__str_ends_with(name, ending) || name.len > sizeof buffer)
            continue;
        size_t n = name.len - ending.len;
        memcpy(buffer, name.ptr, n);
        memcpy(buffer + n, stored.ptr, stored.len);
        uint32_t found = wb__table_find(&model->logical.table, (wb__str){buffer, n + stored.len});
        if (found != WB__NO_TENSOR &&
            wb__tensors_number(&model->tensors, found) >= model->tensors.count)
            return found;
    }
    return WB__NO_TENSOR;
}

wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len, uint64_t *index)
{
    wb__str wanted = wb__str_from(name, name_len);
    uint32_t i = wb__table_find(&model->logical.table, wanted);
    if (i == WB__NO_TENSOR && model->tensors.packed_count > 0)
        i = find_companion(model, wanted);
    *index = i == WB__NO_TENSOR ? 0 : wb__tensors_number(&model->tensors, i);
    return i == WB__NO_TENSOR ? WB_ERROR_NOT_FOUND : WB_OK;
}

int wb_tensor_has(const wb_model *model, const char *name, size_t name_len)
{
    uint64_t index;
    return wb_tensor_find(model, name, name_len, &index) == WB_OK;
}

/* Offsets of all names, and the names themselves where those of the table have companions between.
 */
static wb__name_list *make_names(const wb_model *model)
{
    const wb__table *table = &model->logical.table;
    const wb__packed *packed;
    size_t count = model->tensors.count;
    size_t texts = 0;
    for (size_t i = 0; i < count && model->tensors.stored != NULL; i++)
        texts += wb__table_name(table, wb__tensors_stored(&model->tensors, i, &packed)).len + 1;
    size_t bytes = sizeof(wb__name_list) + (count + 1) * sizeof(uint64_t) + texts;
    wb__name_list *names = wb__alloc(&model->allocator, bytes);
    if (names == NULL)
        return NULL;
    names->bytes = bytes;
    if (model->tensors.stored == NULL) {
        names->texts = table->names;
        for (size_t i = 0; i < count; i++)
            names->offsets[i] = wb__record_at(table, i)->name;
        names->offsets[count] = table->names_used;
        return names;
    }
    char *copy = (char *)&names->offsets[count + 1];
    names->texts = copy;
    names->offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        wb__str name = wb__table_name(table, wb__tensors_stored(&model->tensors, i, &packed));
        memcpy(copy + names->offsets[i], name.ptr, name.len + 1);
        names->offsets[i + 1] = names->offsets[i] + name.len + 1;
    }
    return names;
}

wb_status wb_tensor_names(const wb_model *model, const char **bytes, const uint64_t **offsets,
                          wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    /* A cache is no part of what the model is: the cast is for it alone. */
    _Atomic(wb__name_list *) *cache = (_Atomic(wb__name_list *) *)&model->names;
    wb__name_list *known = atomic_load(cache);
    *bytes = NULL;
    *offsets = NULL;
    if (known == NULL) {
        wb__name_list *made = make_names(model);
        if (made == NULL)
            return wb__fail_memory(&context);
        if (atomic_compare_exchange_strong(cache, &known, made))
            known = made;
        else /* another thread was first */
            wb__free(&model->allocator, made, made->bytes);
    }
    *bytes = known->texts;
    *offsets = known->offsets;
    return WB_OK;
}
