/*
 * Gets weights of a small model from the provider. A request asks for one weight, for several fused
 * into one buffer, or for the slice of one tensor-parallel rank. Requests are repeated, and their
 * buffers released or retained, in any order, with or without a memory budget, on a simulated
 * device or on the host.
 *
 * A fused buffer must be the concatenation of its parts, a slice by rows must contain the rows that
 * wb_slice_plan lists, memory use must not exceed the budget, and all memory must be freed at the
 * end.
 */
#include "support/model.h"
#include "support/scratch.h"
#include "support/small.h"
#include "weighbridge.h"

#define REQUESTS 12
#define HELD 4

/* ---- a device without mapped memory ---- */

typedef struct device_heap {
    uint64_t live;
    unsigned buffers;
} device_heap;

static wb_status device_alloc(void *ctx, uint64_t bytes, void **handle)
{
    device_heap *h = ctx;
    CHECK(bytes >= 1);
    *handle = malloc((size_t)bytes);
    h->live += bytes;
    h->buffers++;
    return *handle == NULL ? WB_ERROR_MEMORY : WB_OK;
}

static void device_free(void *ctx, void *handle, uint64_t bytes)
{
    device_heap *h = ctx;
    CHECK(h->buffers > 0 && h->live >= bytes);
    h->live -= bytes;
    h->buffers--;
    free(handle);
}

static wb_status device_upload(void *ctx, void *handle, uint64_t offset, const void *src,
                               uint64_t n, void **event)
{
    (void)ctx;
    (void)event;
    memcpy((uint8_t *)handle + offset, src, (size_t)n);
    return WB_OK;
}

static wb_status device_download(void *ctx, void *handle, uint64_t offset, void *dst, uint64_t n)
{
    (void)ctx;
    memcpy(dst, (uint8_t *)handle + offset, (size_t)n);
    return WB_OK;
}

/* ---- names ---- */

typedef struct request {
    char text[4 * 200];
    size_t len;
    const char *names[3];
    size_t lens[3];
    uint32_t count;
} request;

/* Writes the canonical name of a tensor. The model may store the tensor in another way, for example
 * as a part of a fused tensor. Returns the length of the name. */
static size_t virtual_name(fuzz_tape *tape, char *to, size_t capacity)
{
    static const char *const stems[] = {"attention.q",   "attention.k", "attention.v",
                                        "attention.qkv", "ffn.gate",    "ffn.up",
                                        "ffn.gate_up"};
    const char *stem = stems[fuzz_choose(tape, 7)];
    int n = snprintf(to, capacity, "layers.%u.%s.%s", fuzz_choose(tape, 2), stem,
                     fuzz_choose(tape, 8) == 0 ? "bias" : "weight");
    return (size_t)n;
}

/* Chooses one to three names, joined with '+': canonical names, names of the file, and sometimes
 * any text. */
static void choose_names(fuzz_tape *tape, const wb_model *model, request *r)
{
    uint64_t tensors = wb_tensor_count(model);
    r->count = 1 + fuzz_choose(tape, 8) % 3;
    r->len = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const char *texts;
        const uint64_t *offsets;
        uint32_t kind = fuzz_choose(tape, 16);
        char *to = r->text + r->len;
        size_t n = 0;
        if (kind == 0 || tensors == 0) {
            n = fuzz_text(tape, to, 100);
        } else if (kind == 1) {
            n = virtual_name(tape, to, 100);
        } else {
            uint64_t at = fuzz_choose(tape, 256) % tensors;
            CHECK(wb_tensor_names(model, kind % 2 ? WB_NAMES_CANONICAL : WB_NAMES_NATIVE, &texts,
                                  &offsets, NULL) == WB_OK);
            n = (size_t)(offsets[at + 1] - offsets[at] - 1);
            n = n < 190 ? n : 190;
            memcpy(to, texts + offsets[at], n);
        }
        r->names[i] = to;
        r->lens[i] = n;
        to[n] = i + 1 < r->count ? '+' : '\0';
        r->len += n + (i + 1 < r->count);
    }
}

/* ---- what must hold ---- */

static void allowed(wb_status status, const wb_error *error)
{
    CHECK(status == WB_ERROR_NOT_FOUND || status == WB_ERROR_UNSUPPORTED ||
          status == WB_ERROR_LIMIT);
    fuzz_check_error(error, status, SIZE_MAX);
}

static uint8_t *contents_of(const wb_provider *provider, const wb_buffer *b)
{
    uint8_t *bytes = malloc((size_t)b->bytes + 1);
    CHECK(bytes != NULL);
    CHECK(wb_provider_download(provider, b, 0, bytes, b->bytes, NULL) == WB_OK);
    CHECK(b->contents == NULL || b->bytes == 0 ||
          memcmp(b->contents, bytes, (size_t)b->bytes) == 0);
    return bytes;
}

/* Returns true if two arrays of values are equal; any NaN equals any NaN. */
static bool same_values(const uint8_t *a, const uint8_t *b, size_t n, int32_t dtype)
{
    uint32_t infinity = dtype == WB_DTYPE_F32    ? 0x7F800000
                        : dtype == WB_DTYPE_BF16 ? 0x7F80
                        : dtype == WB_DTYPE_F16  ? 0x7C00
                                                 : 0;
    size_t width = dtype == WB_DTYPE_F32 ? 4 : 2;
    bool same = n == 0 || memcmp(a, b, n) == 0;
    for (size_t i = 0; !same && infinity != 0 && i + width <= n; i += width) {
        uint32_t x = 0, y = 0;
        for (size_t byte = 0; byte < width; byte++) {
            x |= (uint32_t)a[i + byte] << 8 * byte;
            y |= (uint32_t)b[i + byte] << 8 * byte;
        }
        uint32_t sign = 1u << (8 * width - 1);
        if (x != y && ((x & ~sign) <= infinity || (y & ~sign) <= infinity))
            return false;
    }
    return same || infinity != 0;
}

static void check_shape(const wb_provider *provider, const request *r, const wb_buffer *b)
{
    uint64_t shape[8] = {0};
    uint32_t rank = 8;
    CHECK(b->sections >= 1 && b->sections <= WB_SECTIONS);
    CHECK(wb_provider_has(provider, r->text, r->len) == 1);
    CHECK(wb_provider_dtype(provider, r->text, r->len) == b->dtype);
    CHECK(wb_provider_shape(provider, r->text, r->len, shape, &rank, NULL) == WB_OK);
    CHECK(rank == b->rank && memcmp(shape, b->shape, rank * sizeof *shape) == 0);
}

/* Checks that every section of a fused buffer is the concatenation of the sections of its parts. */
static void check_fused(wb_provider *provider, const request *r, const wb_buffer *b)
{
    uint8_t *all = contents_of(provider, b);
    uint64_t done[WB_SECTIONS] = {0};
    bool complete = true;
    for (uint32_t i = 0; i < r->count && complete && b->rank <= 2; i++) {
        wb_buffer part = {.size = sizeof part};
        wb_error error;
        wb_status status = wb_provider_get(provider, r->names[i], r->lens[i], &part, &error);
        complete = status == WB_OK;
        if (!complete) { /* the budget cannot hold the part in addition to the fused buffer */
            CHECK(status == WB_ERROR_LIMIT);
            continue;
        }
        uint8_t *its = contents_of(provider, &part);
        CHECK(part.sections == b->sections && part.dtype == b->dtype);
        for (uint32_t s = 0; s < part.sections; s++) {
            CHECK(part.section[s].dtype == b->section[s].dtype);
            CHECK(done[s] + part.section[s].bytes <= b->section[s].bytes);
            CHECK(same_values(all + b->section[s].offset + done[s], its + part.section[s].offset,
                              (size_t)part.section[s].bytes, part.section[s].dtype));
            done[s] += part.section[s].bytes;
        }
        free(its);
        wb_provider_release(provider, &part);
    }
    for (uint32_t s = 0; s < b->sections && complete && b->rank <= 2; s++)
        CHECK(done[s] == b->section[s].bytes);
    free(all);
}

/* Checks that a slice contains the rows that the plan lists, if the buffer has one section. */
static void check_rows(wb_provider *provider, const request *r, const wb_plan *plan,
                       const wb_buffer *b)
{
    wb_plan_info info = {.size = sizeof info};
    CHECK(wb_plan_describe(plan, &info) == WB_OK);
    CHECK(info.dims == b->rank && memcmp(info.shape, b->shape, b->rank * sizeof *b->shape) == 0);
    if (r->count > 1 || b->sections != 1 || info.axis != 0 || b->rank == 0 || b->rank > 2)
        return;
    wb_buffer whole = {.size = sizeof whole};
    wb_error error;
    if (wb_provider_get(provider, r->text, r->len, &whole, &error) != WB_OK)
        return;
    uint8_t *all = contents_of(provider, &whole), *some = contents_of(provider, b);
    uint64_t row = whole.shape[0] == 0 ? 0 : whole.bytes / whole.shape[0], at = 0, first = 0;
    uint32_t tensor = 0; /* tensor of the previous range; a name may refer to several tensors */
    for (uint64_t i = 0; i < info.cuts; i++) {
        wb_plan_cut cut = {.size = sizeof cut};
        CHECK(wb_plan_cut_at(plan, i, &cut) == WB_OK);
        first += cut.tensor == tensor ? 0 : whole.part_rows[tensor];
        tensor = cut.tensor;
        CHECK(first + cut.start + cut.count <= whole.shape[0] && at + cut.count * row <= b->bytes);
        CHECK(same_values(some + at, all + (first + cut.start) * row, (size_t)(cut.count * row),
                          b->section[0].dtype));
        at += cut.count * row;
    }
    CHECK(at == b->bytes);
    free(all);
    free(some);
    wb_provider_release(provider, &whole);
}

/* Returns true if the request fuses tensors. */
static bool is_fused(const request *r)
{
    return r->count > 1 || strstr(r->text, ".qkv.") != NULL || strstr(r->text, ".gate_up.") != NULL;
}

static bool normalises; /* the policy permutes rows or changes norms */

static wb_status share(fuzz_tape *tape, wb_provider *provider, const wb_model *model,
                       const request *r, wb_buffer *b)
{
    uint32_t axis = fuzz_choose(tape, 4) == 3 ? 1 : 0, of = 1 + fuzz_choose(tape, 8);
    uint32_t rank = fuzz_choose(tape, (uint8_t)of);
    uint64_t shape[8];
    uint32_t dims = 8;
    wb_plan *plan;
    wb_error error;
    if (wb_provider_shape(provider, r->text, r->len, shape, &dims, NULL) == WB_OK && dims <= axis)
        return WB_ERROR_ARGUMENT; /* the axis does not exist */
    wb_status planned = wb_slice_plan(model, r->text, r->len, axis, rank, of, &plan, &error);
    if (planned == WB_ERROR_ARGUMENT)
        return planned;
    if (planned != WB_OK)
        allowed(planned, &error);
    wb_status status = wb_provider_slice(provider, r->text, r->len, axis, rank, of, b, &error);
    if (status != WB_OK)
        allowed(status, &error);
    /* wb_slice_plan may return UNSUPPORTED although the request succeeds: tensors of different
     * types can be fused if the policy converts them to one type. */
    CHECK(status == planned || status == WB_ERROR_LIMIT ||
          (is_fused(r) && planned == WB_ERROR_UNSUPPORTED) ||
          (normalises && status == WB_ERROR_UNSUPPORTED));
    if (status == WB_OK && plan != NULL)
        check_rows(provider, r, plan, b);
    wb_plan_free(plan);
    return status;
}

static wb_status ask(fuzz_tape *tape, wb_provider *provider, const wb_model *model, wb_buffer *b)
{
    static request r;
    wb_error error;
    wb_status status = WB_ERROR_NOT_FOUND;
    uint32_t kind = fuzz_choose(tape, 16);
    choose_names(tape, model, &r);
    *b = (wb_buffer){.size = sizeof *b};
    if (kind < 4) {
        status = wb_provider_get(provider, r.text, r.len, b, &error);
    } else if (kind < 8) {
        uint32_t flags = kind == 7 ? WB_FUSE_FREE_PARTS : 0;
        status = wb_provider_fuse(provider, r.names, r.lens, r.count, flags, b, &error);
    } else if (kind < 14) {
        return share(tape, provider, model, &r, b);
    } else if (kind == 14) {
        wb_provider_trim(provider);
        return status;
    } else if (fuzz_choose(tape, 4) == 0) {
        uint32_t groups[3], count;
        wb_status got =
            wb_provider_fuse_groups(provider, r.names, r.lens, r.count, groups, &count, &error);
        if (got != WB_OK)
            allowed(got, &error);
        else
            CHECK(count >= 1 && count <= r.count && groups[0] == 0);
        return status;
    } else {
        wb_status got = wb_provider_prefetch(provider, r.names, r.lens, r.count, &error);
        if (got != WB_OK)
            allowed(got, &error);
        return status;
    }
    if (status != WB_OK) {
        allowed(status, &error);
        return status;
    }
    check_shape(provider, &r, b);
    if (r.count > 1)
        check_fused(provider, &r, b);
    return status;
}

static void ask_all(fuzz_tape *tape, const wb_model *model)
{
    device_heap device_memory = {0, 0};
    fuzz_heap memory = {0, 0};
    wb_allocator allocator = fuzz_allocator(&memory);
    static const uint32_t normals[] = {0,
                                       0,
                                       WB_POLICY_ROPE_HALF,
                                       WB_POLICY_ROPE_INTERLEAVED,
                                       WB_POLICY_ROPE_HALF | WB_POLICY_NORM_PLAIN,
                                       WB_POLICY_ROPE_INTERLEAVED | WB_POLICY_NORM_PLAIN};
    uint32_t how = fuzz_choose(tape, 256), normal = normals[fuzz_choose(tape, 6)];
    normalises = normal != 0;
    wb_device device = {.size = sizeof device,
                        .ctx = &device_memory,
                        .alloc = device_alloc,
                        .free = device_free,
                        .upload = device_upload,
                        .download = device_download};
    wb_policy policy = {.size = sizeof policy,
                        .plain = (wb_plain_policy)(how % 3),
                        .dtype = how & 4 ? WB_DTYPE_F32 : WB_DTYPE_BF16,
                        .flags = (how & 8 ? WB_POLICY_KEEP_SCALES : 0) | normal,
                        .budget = how & 16 ? 1024u << (how >> 5) : 0,
                        .allocator = &allocator};
    wb_provider *provider;
    CHECK(wb_provider_create(model, how & 32 ? &device : NULL, &policy, &provider, NULL) == WB_OK);
    wb_buffer held[HELD] = {{.size = 0}};
    for (uint32_t i = 0; i < REQUESTS && !fuzz_tape_ended(tape); i++) {
        uint32_t slot = fuzz_choose(tape, HELD);
        wb_provider_release(provider, &held[slot]);
        if (ask(tape, provider, model, &held[slot]) != WB_OK)
            held[slot] = (wb_buffer){.size = 0};
    }
    wb_cache_stats stats = {.size = sizeof stats};
    CHECK(wb_provider_stats(provider, &stats, NULL) == WB_OK);
    CHECK(policy.budget == 0 || stats.peak_bytes <= policy.budget);
    for (uint32_t i = 0; i < HELD; i++)
        wb_provider_release(provider, &held[i]);
    CHECK(wb_provider_stats(provider, &stats, NULL) == WB_OK && stats.in_use == 0);
    wb_provider_trim(provider);
    CHECK(wb_provider_stats(provider, &stats, NULL) == WB_OK && stats.bytes == 0);
    wb_provider_destroy(provider);
    CHECK(memory.live == 0 && device_memory.live == 0 && device_memory.buffers == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_tape tape = {data, size, 0};
    const wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    wb_model *model;
    uint32_t requests =
        fuzz_choose(&tape, 128); /* the last `requests` bytes of the input are requests */
    size_t rest = size > tape.at ? size - tape.at : 0;
    requests = requests < rest ? requests : (uint32_t)rest;
    fuzz_tape asked = {data + size - requests, requests, 0};
    tape.size -= requests;
    fuzz_small_model(&tape);
    CHECK(wb_open(fuzz_scratch(), &options, &model, NULL) == WB_OK);
    ask_all(&asked, model);
    wb_close(model);
    return 0;
}
