#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "provider/provider.h"

#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"

/*
 * Adds a file to the key of a model. Processes whose models have the same key share buffers. The
 * key depends on the sizes, inodes and times of all files. If a file has no path, the key is unique
 * to this process and model. Returns false if there is no file `index`.
 */
static bool add_file(const wb_model *model, uint64_t index, wb__hash_key *lane)
{
    wb_file file = {.size = sizeof file};
    struct stat st;
    uint64_t facts[9] = {0};
    if (wb_file_at(model, index, &file, NULL) != WB_OK)
        return false;
    facts[0] = file.bytes;
    facts[1] = file.data_offset;
    if (stat(file.path, &st) == 0 && (uint64_t)st.st_size == file.bytes) {
        facts[2] = (uint64_t)st.st_dev;
        facts[3] = (uint64_t)st.st_ino;
        facts[4] = (uint64_t)st.st_mtim.tv_sec;
        facts[5] = (uint64_t)st.st_mtim.tv_nsec;
        facts[6] = (uint64_t)st.st_ctim.tv_sec;
        facts[7] = (uint64_t)st.st_ctim.tv_nsec;
    } else {
        facts[8] = (uint64_t)getpid() << 32 ^ (uintptr_t)model;
    }
    lane->word[0] = wb__siphash(lane, facts, sizeof facts);
    lane->word[1] += lane->word[0];
    return true;
}

static void make_model_key(wb_provider *provider)
{
    for (uint64_t i = 0; i < WB__MODEL_KEY_BYTES / 8; i++) {
        wb__hash_key lane = {{i, UINT64_C(0x77656967686272)}};
        for (uint64_t file = 0; add_file(provider->model, file, &lane); file++)
            ;
        memcpy(provider->model_key + i * 8, &lane.word[0], 8);
    }
}

static wb_status make_device(wb__context *context, wb_provider *provider, const wb_device *device)
{
    static const wb_host_options defaults = {.size = sizeof defaults};
    if (device != NULL) {
        provider->device = *device;
        return WB_OK;
    }
    wb_status status = wb__host_open(context, &defaults, &provider->own);
    provider->device = provider->own;
    return status;
}

wb_status wb__provider_make(wb__context *context, const wb_model *model, const wb__files *files,
                            const wb_device *device, const wb_policy *policy, wb_provider **out)
{
    *out = NULL;
    wb_provider *provider = wb__alloc(&context->allocator, sizeof *provider);
    if (provider == NULL)
        return wb__fail_memory(context);
    memset(provider, 0, sizeof *provider);
    provider->allocator = context->allocator;
    provider->executor = context->executor;
    provider->model = model;
    provider->files = *files;
    provider->files.rooms = &provider->rooms;
    provider->becomes.plain = WB_DTYPE_F16;
    provider->becomes.converts_scales = true;
    if (policy != NULL) {
        provider->becomes.converts_scales = (policy->flags & WB_POLICY_KEEP_SCALES) == 0;
        provider->becomes.vocab_multiple = policy->vocab_multiple;
        provider->becomes.decodes = (policy->flags & WB_POLICY_DECODE) != 0;
        provider->becomes.adds_offset = (policy->flags & WB_POLICY_NORM_PLAIN) != 0;
        provider->becomes.rope = policy->flags & WB_POLICY_ROPE_HALF          ? WB_ROPE_HALF
                                 : policy->flags & WB_POLICY_ROPE_INTERLEAVED ? WB_ROPE_INTERLEAVED
                                                                              : WB_ROPE_NONE;
        if (policy->plain != WB_PLAIN_F16)
            provider->becomes.plain = policy->plain == WB_PLAIN_DTYPE ? policy->dtype : -1;
        provider->budget = policy->budget;
    }
    /* With a budget, evicted buffers may be loaded again, so let the page cache keep the files. */
    if (provider->budget != 0 && provider->files.io == WB_IO_AUTO)
        provider->files.io = WB_IO_READ;
    provider->arena.allocator = &provider->allocator;
    provider->entries = (wb__list){.arena = &provider->arena, .item_size = sizeof(wb__entry *)};
    atomic_init(&provider->clock, 1);
    bool locks = pthread_mutex_init(&provider->lock, NULL) == 0;
    if (locks && pthread_cond_init(&provider->loaded, NULL) != 0) {
        (void)pthread_mutex_destroy(&provider->lock);
        locks = false;
    }
    if (locks && !wb__staging_init(&provider->rooms, &provider->allocator)) {
        (void)pthread_cond_destroy(&provider->loaded);
        (void)pthread_mutex_destroy(&provider->lock);
        locks = false;
    }
    if (!locks) {
        wb__free(&context->allocator, provider, sizeof *provider);
        return wb__fail_memory(context);
    }
    wb_status status = make_device(context, provider, device);
    if (status == WB_OK && !wb__names_table_init(&provider->names, &provider->allocator))
        status = wb__fail_memory(context);
    if (status != WB_OK) {
        wb__provider_free(provider);
        return status;
    }
    if (provider->device.claim != NULL)
        make_model_key(provider);
    *out = provider;
    return WB_OK;
}

void wb__provider_free(wb_provider *provider)
{
    wb_allocator allocator = provider->allocator;
    wb__provider_free_buffers(provider);
    if (provider->own.close != NULL)
        provider->own.close(provider->own.ctx);
    wb__staging_free(&provider->rooms);
    wb__names_table_free(&provider->names);
    wb__list_free(&provider->entries);
    wb__arena_free(&provider->arena);
    (void)pthread_cond_destroy(&provider->loaded);
    (void)pthread_mutex_destroy(&provider->lock);
    wb__free(&allocator, provider, sizeof *provider);
}
