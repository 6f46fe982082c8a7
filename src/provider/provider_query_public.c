/* Functions that describe the buffers of a provider without loading them. */
#include "core/call_options.h"
#include "provider/fuse_groups.h"
#include "provider/provider.h"
#include "provider/provider_messages.h"

static wb__operands operands_of(const wb_provider *provider)
{
    return (wb__operands){.allocator = provider->allocator,
                          .decodes = provider->becomes.decodes,
                          .becomes = &provider->becomes};
}

int wb_provider_has(const wb_provider *provider, const char *name, size_t name_len)
{
    wb_error error;
    wb__context context = wb__provider_context(provider, wb__error_reset(NULL, &error));
    wb__operands operands = {.allocator = provider->allocator};
    wb_status status =
        wb__operands_add(&operands, &context, provider->model, wb__str_from(name, name_len), false);
    wb__operands_free(&operands);
    return status == WB_OK;
}

int32_t wb_provider_dtype(const wb_provider *provider, const char *name, size_t name_len)
{
    wb_error error;
    wb__context context = wb__provider_context(provider, wb__error_reset(NULL, &error));
    wb__operands operands = operands_of(provider);
    wb__layout layout = {.bytes = 0};
    const wb__rank whole = {0, 0, 0};
    int32_t dtype = -1;
    wb_status status =
        wb__operands_add(&operands, &context, provider->model, wb__str_from(name, name_len), false);
    if (status == WB_OK && operands.count > 1) /* check that they can be fused */
        status = wb__layout_make(&layout, &context, provider->model, &operands, &whole,
                                 &provider->becomes);
    if (status == WB_OK)
        dtype = wb__target_dtype(&provider->becomes, &operands.list[0]);
    wb__layout_free(&layout);
    wb__operands_free(&operands);
    return dtype;
}

wb_status wb_provider_shape(const wb_provider *provider, const char *name, size_t name_len,
                            uint64_t *shape, uint32_t *rank, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    wb__operands operands = operands_of(provider);
    wb__layout layout = {.bytes = 0};
    const wb__rank whole = {0, 0, 0};
    uint32_t room = *rank;
    *rank = 0;
    wb_status status =
        wb__operands_add(&operands, &context, provider->model, wb__str_from(name, name_len), false);
    if (status == WB_OK)
        status = wb__layout_make(&layout, &context, provider->model, &operands, &whole,
                                 &provider->becomes);
    if (status == WB_OK && layout.rank > room)
        status = wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                          wb__str_from(name, name_len), WB__MSG_PROVIDER_SHAPE_SPACE,
                          (unsigned long)layout.rank, (unsigned long)room);
    if (status == WB_OK) {
        *rank = layout.rank;
        for (uint32_t i = 0; i < layout.rank; i++)
            shape[i] = layout.shape[i];
    } else {
        for (uint32_t i = 0; i < room; i++)
            shape[i] = 0;
    }
    wb__layout_free(&layout);
    wb__operands_free(&operands);
    return status;
}

wb_status wb_provider_fuse_groups(const wb_provider *provider, const char *const *names,
                                  const size_t *name_lens, size_t n, uint32_t *groups,
                                  uint32_t *count, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    wb__str texts[WB_FUSE_GROUPS_MAX];
    const wb__rank whole = {0, 0, 0};
    *count = 0;
    if (n == 0 || names == NULL)
        return wb__fail_argument(&context, WB__MSG_PROVIDER_NO_NAMES);
    if (n > WB_FUSE_GROUPS_MAX)
        return wb__fail_argument(&context, WB__MSG_PROVIDER_NAMES_MANY);
    for (size_t i = 0; i < n; i++)
        texts[i] = wb__str_from(names[i], name_lens == NULL ? SIZE_MAX : name_lens[i]);
    wb_status status = wb__fuse_groups(&context, provider->model, &provider->becomes, &whole, texts,
                                       n, groups, count);
    if (status != WB_OK) {
        *count = 0;
        memset(groups, 0, n * sizeof *groups);
    }
    return status;
}
