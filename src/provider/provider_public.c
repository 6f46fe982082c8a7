#include "handle/handle.h"
#include "provider/provider.h"
#include "provider/provider_messages.h"

/* ---- making ---- */

#define ROPE_FLAGS (WB_POLICY_ROPE_HALF | WB_POLICY_ROPE_INTERLEAVED)
#define FLAGS (WB_POLICY_KEEP_SCALES | WB_POLICY_DECODE | ROPE_FLAGS | WB_POLICY_NORM_PLAIN)

static wb_status check_policy(wb__context *context, const wb_policy *policy)
{
    if (policy->plain > WB_PLAIN_DTYPE)
        return wb__fail_argument(context, WB__MSG_PROVIDER_POLICY_PLAIN);
    if (policy->plain == WB_PLAIN_DTYPE && policy->dtype != WB_DTYPE_F32 &&
        policy->dtype != WB_DTYPE_F16 && policy->dtype != WB_DTYPE_BF16)
        return wb__fail_argument(context, WB__MSG_PROVIDER_POLICY_DTYPE);
    if (policy->flags & ~FLAGS)
        return wb__fail_argument(context, WB__MSG_PROVIDER_POLICY_FLAGS);
    if ((policy->flags & ROPE_FLAGS) == ROPE_FLAGS)
        return wb__fail_argument(context, WB__MSG_PROVIDER_POLICY_ROPE);
    if (policy->vocab_multiple > WB_VOCAB_MULTIPLE_MAX)
        return wb__fail_argument(context, WB__MSG_PROVIDER_POLICY_VOCAB);
    if (policy->io > WB_IO_DIRECT || policy->io == WB_IO_MAP)
        return wb__fail_argument(context, WB__MSG_PROVIDER_POLICY_IO);
    return WB_OK;
}

static wb_status check_device(wb__context *context, const wb_device *device)
{
    if (device->free == NULL || (device->alloc == NULL && device->claim == NULL))
        return wb__fail_argument(context, WB__MSG_PROVIDER_DEVICE_ALLOC);
    if (device->map == NULL && (device->upload == NULL || device->download == NULL))
        return wb__fail_argument(context, WB__MSG_PROVIDER_DEVICE_MAP);
    if ((device->claim == NULL) != (device->publish == NULL))
        return wb__fail_argument(context, WB__MSG_PROVIDER_DEVICE_CLAIM);
    if ((device->stage == NULL) != (device->unstage == NULL))
        return wb__fail_argument(context, WB__MSG_PROVIDER_DEVICE_STAGE);
    return WB_OK;
}

wb_status wb_provider_create(const wb_model *model, const wb_device *device,
                             const wb_policy *policy, wb_provider **provider, wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_policy own_policy = {.size = sizeof own_policy};
    wb_device own_device = {.size = sizeof own_device};
    wb_open_options options = {.size = sizeof options};
    *provider = NULL;
    bool taken = WB__TAKE(wb_policy, policy, &own_policy);
    options.allocator = own_policy.allocator;
    options.executor = own_policy.executor;
    wb_status status = wb__context_init(&context, &options, wb__error_reset(error, &spare));
    if (status != WB_OK)
        return status;
    if (model == NULL)
        return wb__fail_argument(&context, WB__MSG_PROVIDER_MODEL_NULL);
    if (!taken)
        return WB__FAIL_SIZE(&context, wb_policy, policy);
    if (!WB__TAKE(wb_device, device, &own_device))
        return WB__FAIL_SIZE(&context, wb_device, device);
    status = check_policy(&context, &own_policy);
    if (status == WB_OK && device != NULL)
        status = check_device(&context, &own_device);
    if (status != WB_OK)
        return status;
    wb__files files = {
        .sources = model->sources, .count = model->source_count, .io = own_policy.io};
    return wb__provider_make(&context, model, &files, device == NULL ? NULL : &own_device,
                             policy == NULL ? NULL : &own_policy, provider);
}

void wb_provider_destroy(wb_provider *provider)
{
    if (provider != NULL)
        wb__provider_free(provider);
}

/* ---- asking ---- */

static wb_status fail(const wb_provider *provider, wb_error *error, const char *what)
{
    wb_error spare;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    return wb__fail_argument(&context, what);
}

/* Clears the caller's struct, of any version. Returns false if its size is too small. */
static bool clear_buffer(wb_buffer *buffer)
{
    wb_buffer unused;
    return WB__OUT(wb_buffer, buffer, &unused) != NULL;
}

/* Gets a buffer for a caller whose wb_buffer has another size than the library's. */
static wb_status give_resized(wb_provider *provider, const wb__query *query, wb_buffer *caller,
                              wb_error *error)
{
    wb_error spare;
    wb_buffer own, *out = WB__OUT(wb_buffer, caller, &own);
    if (out == NULL) {
        wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
        return WB__FAIL_SIZE(&context, wb_buffer, caller);
    }
    wb_status status = wb__provider_get(provider, query, out, error);
    if (status == WB_OK)
        WB__GIVE(wb_buffer, caller, out);
    return status;
}

static wb_status give(wb_provider *provider, const wb__query *query, wb_buffer *buffer,
                      wb_error *error)
{
    if (buffer->size != sizeof *buffer)
        return give_resized(provider, query, buffer, error);
    wb_status status = wb__provider_get(provider, query, buffer, error);
    if (status != WB_OK)
        *buffer = (wb_buffer){.size = sizeof *buffer};
    return status;
}

wb_status wb_provider_get(wb_provider *provider, const char *name, size_t name_len,
                          wb_buffer *buffer, wb_error *error)
{
    const wb__query query = {wb__str_from(name, name_len), {0, 0, 0}};
    return give(provider, &query, buffer, error);
}

wb_status wb_provider_slice(wb_provider *provider, const char *name, size_t name_len, uint32_t axis,
                            uint32_t rank, uint32_t of, wb_buffer *buffer, wb_error *error)
{
    const wb__query query = {wb__str_from(name, name_len), {axis, rank, of}};
    if (of != 0)
        return give(provider, &query, buffer, error);
    (void)clear_buffer(buffer);
    return fail(provider, error, WB__MSG_PROVIDER_NO_RANKS);
}

/* Names joined with '+'. The text is in `room` if it fits, otherwise it is allocated. */
typedef struct joined_names {
    char *text;
    size_t len;
    size_t bytes; /* size of the allocated text in bytes */
    char room[1024];
} joined_names;

static bool join_names(const wb_provider *provider, const char *const *names, const size_t *lens,
                       size_t n, joined_names *joined)
{
    joined->text = joined->room;
    joined->len = joined->bytes = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
            wb__str name = wb__str_from(names[i], lens == NULL ? SIZE_MAX : lens[i]);
            bool fits = at + name.len + 1 <= sizeof joined->room || joined->bytes != 0;
            if (fits) {
                memcpy(joined->text + at, name.ptr, name.len);
                joined->text[at + name.len] = '+';
            }
            at += name.len + 1;
        }
        joined->len = at - 1;
        if (at <= sizeof joined->room || joined->bytes != 0)
            return true;
        joined->text = wb__alloc(&provider->allocator, at);
        if (joined->text == NULL)
            return false;
        joined->bytes = at;
    }
    return true;
}

wb_status wb_provider_fuse(wb_provider *provider, const char *const *names, const size_t *name_lens,
                           size_t n, uint32_t flags, wb_buffer *buffer, wb_error *error)
{
    joined_names joined;
    wb_error spare;
    const char *wrong = n == 0 || names == NULL         ? WB__MSG_PROVIDER_NO_NAMES
                        : n > WB__OPERANDS_MAX          ? WB__MSG_PROVIDER_NAMES_MANY
                        : (flags & ~WB_FUSE_FREE_PARTS) ? WB__MSG_PROVIDER_FLAGS
                                                        : NULL;
    if (wrong != NULL) {
        (void)clear_buffer(buffer);
        return fail(provider, error, wrong);
    }
    if (!join_names(provider, names, name_lens, n, &joined)) {
        (void)clear_buffer(buffer);
        wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
        return wb__fail_memory(&context);
    }
    const wb__query query = {{joined.text, joined.len}, {n == 1 ? 0 : WB__JOINED, 0, 0}};
    wb_status status = give(provider, &query, buffer, error);
    if (joined.bytes != 0)
        wb__free(&provider->allocator, joined.text, joined.bytes);
    if (status == WB_OK && (flags & WB_FUSE_FREE_PARTS) != 0)
        wb__provider_drop_parts(provider, buffer);
    return status;
}

void wb_provider_release(wb_provider *provider, wb_buffer *buffer)
{
    if (buffer == NULL || !wb__abi_fits(WB__ABI_wb_buffer, buffer->size) || buffer->use == NULL)
        return;
    wb__provider_release(provider, buffer);
    (void)clear_buffer(buffer);
}

void wb_provider_trim(wb_provider *provider)
{
    wb__provider_trim(provider);
}

/* ---- bytes ---- */

wb_status wb_provider_download(const wb_provider *provider, const wb_buffer *buffer,
                               uint64_t offset, void *dst, uint64_t n, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    const wb_device *device = &provider->device;
    wb_status status = WB_OK;
    if (!wb__abi_fits(WB__ABI_wb_buffer, buffer->size) || buffer->use == NULL ||
        !wb__in_range(offset, n, buffer->bytes))
        status = wb__fail_argument(&context, WB__MSG_PROVIDER_RANGE);
    else if (n != 0 && buffer->contents != NULL)
        memcpy(dst, (const uint8_t *)buffer->contents + offset, (size_t)n);
    else if (n != 0 && device->download == NULL)
        status = wb__fail_device(&context, WB_ERROR_UNSUPPORTED, "give back", n);
    else if (n != 0)
        status = device->download(device->ctx, buffer->handle, offset, dst, n);
    if (status != WB_OK && context.error->status == WB_OK)
        status = wb__fail_device(&context, status, "give back", n);
    if (status != WB_OK && dst != NULL && n <= SIZE_MAX)
        memset(dst, 0, (size_t)n);
    return status;
}

wb_status wb_provider_stats(const wb_provider *provider, wb_cache_stats *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__provider_context(provider, wb__error_reset(error, &spare));
    wb_cache_stats own, *stats = WB__OUT(wb_cache_stats, caller, &own);
    if (stats == NULL)
        return WB__FAIL_SIZE(&context, wb_cache_stats, caller);
    wb__provider_count(provider, stats);
    WB__GIVE(wb_cache_stats, caller, stats);
    return WB_OK;
}
