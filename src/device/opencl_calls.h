/*
 * device/opencl_calls.h: the declarations used from OpenCL, as in version 1.1 of the specification
 * (Khronos, "The OpenCL API"). Objects are opaque pointers. Names are those of the specification.
 */
#ifndef WB_DEVICE_OPENCL_CALLS_H
#define WB_DEVICE_OPENCL_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_PLATFORM_NOT_FOUND_KHR = -1001,

    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* in bits */
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    CL_MEM_HOST_PTR = 0x1103,
    CL_BUFFER_CREATE_TYPE_REGION = 0x1220
};

#define CL_DEVICE_TYPE_CPU ((uint64_t)1 << 1)
#define CL_DEVICE_TYPE_GPU ((uint64_t)1 << 2)
#define CL_DEVICE_TYPE_ALL ((uint64_t)0xFFFFFFFF)
#define CL_MEM_READ_WRITE ((uint64_t)1 << 0)
#define CL_MEM_READ_ONLY ((uint64_t)1 << 2)
#define CL_MEM_USE_HOST_PTR ((uint64_t)1 << 3)

typedef struct wb__opencl_region {
    size_t origin, size;
} wb__opencl_region;

typedef struct wb__opencl_calls {
    int32_t (*get_platforms)(uint32_t room, void **platforms, uint32_t *n);
    int32_t (*get_platform_info)(void *platform, uint32_t what, size_t room, void *to, size_t *n);
    int32_t (*get_devices)(void *platform, uint64_t type, uint32_t room, void **devices,
                           uint32_t *n);
    int32_t (*get_device_info)(void *device, uint32_t what, size_t room, void *to, size_t *n);
    void *(*create_context)(const intptr_t *properties, uint32_t n, void *const *devices,
                            void (*notify)(const char *, const void *, size_t, void *), void *ctx,
                            int32_t *code);
    int32_t (*retain_context)(void *context);
    int32_t (*release_context)(void *context);
    void *(*create_queue)(void *context, void *device, uint64_t properties, int32_t *code);
    int32_t (*retain_queue)(void *queue);
    int32_t (*release_queue)(void *queue);
    void *(*create_buffer)(void *context, uint64_t flags, size_t bytes, void *host, int32_t *code);
    void *(*create_sub_buffer)(void *buffer, uint64_t flags, uint32_t type, const void *info,
                               int32_t *code);
    int32_t (*on_destruction)(void *buffer, void (*notify)(void *buffer, void *ctx), void *ctx);
    int32_t (*get_buffer_info)(void *buffer, uint32_t what, size_t room, void *to, size_t *n);
    int32_t (*release_buffer)(void *buffer);
    int32_t (*write_buffer)(void *queue, void *buffer, uint32_t blocking, size_t offset, size_t n,
                            const void *from, uint32_t waits, void *const *wait_for, void **event);
    int32_t (*read_buffer)(void *queue, void *buffer, uint32_t blocking, size_t offset, size_t n,
                           void *to, uint32_t waits, void *const *wait_for, void **event);
    int32_t (*flush)(void *queue);
    int32_t (*wait_for_events)(uint32_t n, void *const *events);
    int32_t (*release_event)(void *event);
} wb__opencl_calls;

#endif
