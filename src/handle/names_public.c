#include "core/call_options.h"
#include "handle/handle_messages.h"
#include "handle/semantics.h"
#include "weighbridge/experimental.h"
#include "weighbridge/tensor.h"

#include <stdatomic.h>

/* Companion tensors of a packed weight: the suffix with which engines request one (handed_over),
 * and the suffix of its name in the file (stored). */
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
        uint32_t found = wb__table_find(&model->catalog.table, (wb__str){buffer, n + stored.len});
        if (found != WB__NO_TENSOR &&
            wb__tensors_number(&model->tensors, found) >= model->tensors.count)
            return found;
    }
    return WB__NO_TENSOR;
}

/* Finds a tensor by its native name. This needs no semantics (handle/semantics.h). */
static uint64_t find_native(const wb_model *model, wb__str name)
{
    uint32_t i = wb__table_find(&model->catalog.table, name);
    if (i == WB__NO_TENSOR && model->tensors.packed_count > 0)
        i = find_companion(model, name);
    return i == WB__NO_TENSOR ? UINT64_MAX : wb__tensors_number(&model->tensors, i);
}

wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len, uint64_t *index)
{
    wb_error spare;
    const wb__semantics *semantics;
    wb__str wanted = wb__str_from(name, name_len);
    uint64_t found = find_native(model, wanted);
    *index = 0;
    if (found == UINT64_MAX) {
        wb__context context = wb__context_of(model, wb__error_reset(NULL, &spare));
        wb_status status = wb__semantics_of(model, &context, &semantics);
        if (status != WB_OK)
            return status;
        found = wb__semantics_find(model, semantics, wanted);
    }
    if (found == UINT64_MAX)
        return WB_ERROR_NOT_FOUND;
    *index = found;
    return WB_OK;
}

int wb_tensor_has(const wb_model *model, const char *name, size_t name_len)
{
    uint64_t index;
    return wb_tensor_find(model, name, name_len, &index) == WB_OK;
}

wb_status wb_tensor_meant(const wb_model *model, const char *name, size_t name_len, uint64_t *index)
{
    wb_error spare;
    const wb__semantics *semantics;
    wb__matched matched;
    char buffer[WB__STEM_MAX * 2];
    wb__context context = wb__context_of(model, wb__error_reset(NULL, &spare));
    *index = 0;
    wb_status status = wb__semantics_of(model, &context, &semantics);
    if (status != WB_OK)
        return status;
    if (!wb__rule_match(&semantics->names.rules, wb__str_from(name, name_len), &matched) ||
        matched.rule->canonical == NULL)
        return WB_ERROR_NOT_FOUND;
    wb__str canonical = {buffer, wb__canonical_write(matched.rule, matched.layer, matched.suffix,
                                                     buffer, sizeof buffer)};
    uint64_t found = wb__semantics_find(model, semantics, canonical);
    if (found == UINT64_MAX)
        return WB_ERROR_NOT_FOUND;
    *index = found;
    return WB_OK;
}

/* ---- canonical names ---- */

static wb_status fail_unknown(wb__context *context, wb__str name, const char *what)
{
    return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET, name, "%s",
                    what);
}

static void hand_out(wb__str text, const char **ptr, size_t *len)
{
    *ptr = text.ptr;
    if (len != NULL)
        *len = text.len;
}

wb_status wb_canonical_name(const wb_model *model, const char *name, size_t name_len,
                            const char **canonical, size_t *canonical_len, wb_error *error)
{
    wb_error spare;
    const wb__semantics *semantics;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb__str wanted = wb__str_from(name, name_len);
    hand_out((wb__str){NULL, 0}, canonical, canonical_len);
    wb_status status = wb__semantics_of(model, &context, &semantics);
    if (status != WB_OK)
        return status;
    uint64_t number = find_native(model, wanted);
    if (number == UINT64_MAX)
        return fail_unknown(&context, wanted, WB__MSG_HANDLE_NO_NATIVE_NAME);
    const wb__name_entry *entry =
        number < model->tensors.count ? wb__names_of(&semantics->names, number) : NULL;
    if (entry == NULL)
        return fail_unknown(&context, wanted, WB__MSG_HANDLE_NOT_CANONICAL);
    hand_out((wb__str){entry->text, entry->len}, canonical, canonical_len);
    return WB_OK;
}

wb_status wb_native_name(const wb_model *model, const char *canonical, size_t canonical_len,
                         const char **name, size_t *name_len, wb_error *error)
{
    wb_error spare;
    const wb__semantics *semantics;
    const wb__expert_view *view;
    const wb__packed *packed;
    size_t stored;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb__str wanted = wb__str_from(canonical, canonical_len);
    hand_out((wb__str){NULL, 0}, name, name_len);
    wb_status status = wb__semantics_of(model, &context, &semantics);
    if (status != WB_OK)
        return status;
    uint64_t number = wb__semantics_find(model, semantics, wanted);
    if (number == UINT64_MAX)
        return fail_unknown(&context, wanted, WB__MSG_HANDLE_NO_CANONICAL_NAME);
    status = wb__expert_view_of(model, &context, number, &view);
    if (status == WB_OK)
        status =
            wb__resolve(model, &context, view != NULL ? view->parts[0] : number, &stored, &packed);
    if (status == WB_OK)
        hand_out(wb__table_name(&model->catalog.table, stored), name, name_len);
    return status;
}

/* ---- all names at once ---- */

/* Returns the native name of tensor i if `semantics` is NULL, otherwise its canonical name, or an
 * empty string if it has none. */
static wb__str name_at(const wb_model *model, const wb__semantics *semantics, size_t i)
{
    const wb__packed *packed;
    if (semantics == NULL)
        return wb__table_name(&model->catalog.table,
                              wb__tensors_stored(&model->tensors, i, &packed));
    const wb__name_entry *entry = wb__names_of(&semantics->names, i);
    return entry == NULL ? WB__STR("") : (wb__str){entry->text, entry->len};
}

/* Builds the list of native names if `semantics` is NULL, otherwise of canonical names. */
static wb__name_list *make_names(const wb_model *model, const wb__semantics *semantics)
{
    const wb__table *table = &model->catalog.table;
    size_t count = model->tensors.count;
    size_t texts = 0;
    bool in_table = semantics == NULL && model->tensors.stored == NULL;
    for (size_t i = 0; i < count && !in_table; i++)
        texts += name_at(model, semantics, i).len + 1;
    size_t bytes = sizeof(wb__name_list) + (count + 1) * sizeof(uint64_t) + texts;
    wb__name_list *names = wb__alloc(&model->allocator, bytes);
    if (names == NULL)
        return NULL;
    names->bytes = bytes;
    if (in_table) {
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
        wb__str name = name_at(model, semantics, i);
        memcpy(copy + names->offsets[i], name.ptr, name.len);
        copy[names->offsets[i] + name.len] = '\0';
        names->offsets[i + 1] = names->offsets[i] + name.len + 1;
    }
    return names;
}

wb_status wb_tensor_names(const wb_model *model, wb_names_kind kind, const char **bytes,
                          const uint64_t **offsets, wb_error *error)
{
    wb_error spare;
    const wb__semantics *semantics = NULL;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *bytes = NULL;
    *offsets = NULL;
    if (kind > WB_NAMES_CANONICAL)
        return wb__fail_argument(&context, WB__MSG_HANDLE_NAMES_KIND);
    /* The cast removes `const`: a const model never changes, except for caches such as this one. */
    _Atomic(wb__name_list *) *cache = (_Atomic(wb__name_list *) *)(uintptr_t)&model->names[kind];
    wb__name_list *known = atomic_load(cache);
    if (known == NULL) {
        wb_status status =
            kind == WB_NAMES_CANONICAL ? wb__semantics_of(model, &context, &semantics) : WB_OK;
        if (status != WB_OK)
            return status;
        wb__name_list *made = make_names(model, semantics);
        if (made == NULL)
            return wb__fail_memory(&context);
        if (atomic_compare_exchange_strong(cache, &known, made))
            known = made;
        else /* another thread stored its result first: use that one */
            wb__free(&model->allocator, made, made->bytes);
    }
    *bytes = known->texts;
    *offsets = known->offsets;
    return WB_OK;
}
