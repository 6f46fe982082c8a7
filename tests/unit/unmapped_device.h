/*
 * unmapped_device.h: two devices without mapped memory, for provider tests. far_device copies at
 * once, late_device copies when the caller waits. Bytes that were not uploaded are 0xAA.
 */
#ifndef WB_TESTS_UNMAPPED_DEVICE_H
#define WB_TESTS_UNMAPPED_DEVICE_H

#include "support.h"

typedef struct late_copy {
    void *to;
    const void *from;
    size_t n;
} late_copy;

static inline wb_status far_alloc(void *ctx, uint64_t bytes, void **handle)
{
    (void)ctx;
    *handle = malloc((size_t)bytes);
    if (*handle != NULL)
        memset(*handle, 0xAA, (size_t)bytes);
    return *handle == NULL ? WB_ERROR_MEMORY : WB_OK;
}

static inline void far_free(void *ctx, void *handle, uint64_t bytes)
{
    (void)ctx, (void)bytes;
    free(handle);
}

static inline wb_status far_upload(void *ctx, void *handle, uint64_t offset, const void *src,
                                   uint64_t n, void **event)
{
    (void)ctx, (void)event;
    memcpy((char *)handle + offset, src, (size_t)n);
    return WB_OK;
}

static inline wb_status late_upload(void *ctx, void *handle, uint64_t offset, const void *src,
                                    uint64_t n, void **event)
{
    (void)ctx;
    late_copy *copy = malloc(sizeof *copy);
    assert_non_null(copy);
    *copy = (late_copy){(char *)handle + offset, src, (size_t)n};
    *event = copy;
    return WB_OK;
}

static inline wb_status late_wait(void *ctx, void *event)
{
    (void)ctx;
    const late_copy *copy = event;
    memcpy(copy->to, copy->from, copy->n);
    free(event);
    return WB_OK;
}

static inline wb_status far_download(void *ctx, void *handle, uint64_t offset, void *dst,
                                     uint64_t n)
{
    (void)ctx;
    memcpy(dst, (const char *)handle + offset, (size_t)n);
    return WB_OK;
}

static inline const wb_device *far_device(void)
{
    static const wb_device device = {.size = sizeof device,
                                     .alloc = far_alloc,
                                     .free = far_free,
                                     .upload = far_upload,
                                     .download = far_download};
    return &device;
}

static inline const wb_device *late_device(void)
{
    static const wb_device device = {.size = sizeof device,
                                     .alloc = far_alloc,
                                     .free = far_free,
                                     .upload = late_upload,
                                     .download = far_download,
                                     .wait = late_wait};
    return &device;
}

#endif
