#include "device/opencl.h"

#include "device/device_messages.h"
#include "device/driver.h"

#define CALL(field, function) {"cl" #function, offsetof(wb__opencl_calls, field)}

static const wb__driver_call calls[] = {
    CALL(get_platforms, GetPlatformIDs),
    CALL(get_platform_info, GetPlatformInfo),
    CALL(get_devices, GetDeviceIDs),
    CALL(get_device_info, GetDeviceInfo),
    CALL(create_context, CreateContext),
    CALL(retain_context, RetainContext),
    CALL(release_context, ReleaseContext),
    CALL(create_queue, CreateCommandQueue),
    CALL(retain_queue, RetainCommandQueue),
    CALL(release_queue, ReleaseCommandQueue),
    CALL(create_buffer, CreateBuffer),
    CALL(create_sub_buffer, CreateSubBuffer),
    CALL(on_destruction, SetMemObjectDestructorCallback),
    CALL(get_buffer_info, GetMemObjectInfo),
    CALL(release_buffer, ReleaseMemObject),
    CALL(write_buffer, EnqueueWriteBuffer),
    CALL(read_buffer, EnqueueReadBuffer),
    CALL(flush, Flush),
    CALL(wait_for_events, WaitForEvents),
    CALL(release_event, ReleaseEvent),
};

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64, NAME_MAX_BYTES = 256 };

wb_status wb__opencl_status(int32_t code)
{
    switch (code) {
    case CL_SUCCESS: return WB_OK;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY: return WB_ERROR_MEMORY;
    case CL_INVALID_BUFFER_SIZE: return WB_ERROR_LIMIT;
    default: return WB_ERROR_IO;
    }
}

wb_status wb__opencl_fail(wb__context *context, int32_t code, const char *call)
{
    return wb__fail(context, wb__opencl_status(code), WB__FINDING_DEVICE, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_OPENCL_CALL, call, (int)code);
}

/* ---- device selection ---- */

/* Returns true if the name reported by the driver contains `text`. */
static bool has_name(int32_t (*get)(void *, uint32_t, size_t, void *, size_t *), void *object,
                     uint32_t what, const char *text)
{
    char name[NAME_MAX_BYTES + 1] = "";
    size_t n = 0;
    if (get(object, what, NAME_MAX_BYTES, name, &n) != CL_SUCCESS)
        return false;
    return strstr(name, text) != NULL;
}

static uint64_t type_of(const wb__opencl *cl, void *device)
{
    uint64_t type = 0;
    if (cl->call.get_device_info(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        return 0;
    return type;
}

/*
 * Selects the first matching GPU of all platforms, or else the first matching device of any type.
 */
static wb_status look_for_device(wb__opencl *cl, wb__context *context, const char *name)
{
    void *platforms[PLATFORMS_MAX], *devices[DEVICES_MAX];
    uint32_t platform_count = 0;
    bool found_gpu = false;
    int32_t code = cl->call.get_platforms(PLATFORMS_MAX, platforms, &platform_count);
    if (code != CL_SUCCESS && code != CL_PLATFORM_NOT_FOUND_KHR)
        return wb__opencl_fail(context, code, "clGetPlatformIDs");
    for (uint32_t p = 0; code == CL_SUCCESS && p < platform_count && p < PLATFORMS_MAX; p++) {
        uint32_t n = 0;
        bool fits = name == NULL ||
                    has_name(cl->call.get_platform_info, platforms[p], CL_PLATFORM_NAME, name);
        int32_t found =
            cl->call.get_devices(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &n);
        if (found != CL_SUCCESS && found != CL_DEVICE_NOT_FOUND)
            return wb__opencl_fail(context, found, "clGetDeviceIDs");
        for (uint32_t d = 0; found == CL_SUCCESS && d < n && d < DEVICES_MAX; d++) {
            if (!fits && !has_name(cl->call.get_device_info, devices[d], CL_DEVICE_NAME, name))
                continue;
            bool is_gpu = (type_of(cl, devices[d]) & CL_DEVICE_TYPE_GPU) != 0;
            if (cl->device == NULL || (is_gpu && !found_gpu))
                cl->device = devices[d];
            found_gpu |= is_gpu;
        }
    }
    if (cl->device != NULL)
        return WB_OK;
    return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NO_DRIVER, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_OPENCL_NO_DEVICE, name == NULL ? "" : " whose name contains ",
                    name == NULL ? "" : name);
}

/* ---- context and queue ---- */

static wb_status make_context(wb__opencl *cl, wb__context *context,
                              const wb_opencl_options *options)
{
    int32_t code = CL_SUCCESS;
    if (options->context == NULL) {
        cl->context = cl->call.create_context(NULL, 1, &cl->device, NULL, NULL, &code);
        return code == CL_SUCCESS && cl->context != NULL
                   ? WB_OK
                   : wb__opencl_fail(context, code, "clCreateContext");
    }
    code = cl->call.retain_context(options->context);
    if (code != CL_SUCCESS)
        return wb__opencl_fail(context, code, "clRetainContext");
    cl->context = options->context;
    return WB_OK;
}

static wb_status make_queue(wb__opencl *cl, wb__context *context, const wb_opencl_options *options)
{
    int32_t code = CL_SUCCESS;
    if (options->queue == NULL) {
        cl->queue = cl->call.create_queue(cl->context, cl->device, 0, &code);
        return code == CL_SUCCESS && cl->queue != NULL
                   ? WB_OK
                   : wb__opencl_fail(context, code, "clCreateCommandQueue");
    }
    code = cl->call.retain_queue(options->queue);
    if (code != CL_SUCCESS)
        return wb__opencl_fail(context, code, "clRetainCommandQueue");
    cl->queue = options->queue;
    return WB_OK;
}

/*
 * Queries the capabilities of the device. A capability that cannot be queried is assumed to be
 * missing.
 */
static void look_at_device(wb__opencl *cl)
{
    uint32_t bits = 0, unified = 0;
    cl->is_processor = (type_of(cl, cl->device) & CL_DEVICE_TYPE_CPU) != 0;
    if (cl->call.get_device_info(cl->device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified,
                                 &unified, NULL) == CL_SUCCESS)
        cl->is_unified = unified != 0 && !cl->is_processor;
    if (cl->call.get_device_info(cl->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits,
                                 NULL) == CL_SUCCESS)
        cl->base_alignment = bits / 8;
    if (cl->base_alignment == 0)
        cl->is_unified = false;
}

void wb__opencl_release(wb__opencl *cl)
{
    if (cl->queue != NULL)
        (void)cl->call.release_queue(cl->queue);
    if (cl->context != NULL)
        (void)cl->call.release_context(cl->context);
    cl->queue = NULL;
    cl->context = NULL;
}

wb_status wb__opencl_find(wb__opencl *cl, wb__context *context, const wb_opencl_options *options)
{
    static const char *const libraries[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
    wb_status status = wb__driver_open(context, options->library, libraries, calls,
                                       sizeof calls / sizeof calls[0], &cl->call);
    if (status != WB_OK)
        return status;
    cl->device = options->device;
    if (cl->device == NULL)
        status = look_for_device(cl, context, options->name);
    if (status == WB_OK)
        status = make_context(cl, context, options);
    if (status == WB_OK)
        status = make_queue(cl, context, options);
    if (status == WB_OK)
        look_at_device(cl);
    else
        wb__opencl_release(cl);
    return status;
}
