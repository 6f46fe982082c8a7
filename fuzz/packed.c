/*
 * Opens safetensors files whose tensors consist of several parts, packed values and companion
 * tensors, and decodes them.
 *
 *   byte 0 odd    the rest of the input is the header of the file; byte 0 is the only data byte
 *   byte 0 even   seven bytes per tensor, from which the header is generated (put_tensor); then a
 *                 byte 255; then the data bytes
 *
 * The data of the file has the length that the header declares, and repeats the data bytes.
 */
#include "support/fuzz.h"
#include "support/model.h"
#include "support/tape.h"
#include "weighbridge.h"

#define HEADER_MAX 8192
#define DATA_MAX 65536

typedef struct input {
    const uint8_t *p, *end;
} input;

static uint8_t take(input *in)
{
    return in->p < in->end ? *in->p++ : 0;
}

typedef struct text {
    char bytes[HEADER_MAX];
    size_t n;
    size_t data; /* data offset of the next tensor */
} text;

static void put(text *t, const char *s)
{
    size_t n = strlen(s);
    if (n < sizeof t->bytes - t->n) {
        memcpy(t->bytes + t->n, s, n + 1);
        t->n += n;
    }
}

/* Appends an entry to the header. Does nothing if the entry or its data does not fit. */
static void put_part(text *t, const char *name, const char *ending, const char *dtype, size_t width,
                     const size_t *shape, size_t rank)
{
    char entry[400], dimensions[128] = "";
    size_t bytes = width, at = 0;
    for (size_t i = 0; i < rank; i++) {
        bytes *= shape[i];
        at += (size_t)snprintf(dimensions + at, sizeof dimensions - at, "%s%zu", i > 0 ? "," : "",
                               shape[i]);
    }
    int n =
        snprintf(entry, sizeof entry,
                 "%s\"%s%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                 t->n > 1 ? "," : "", name, ending, dtype, dimensions, t->data, t->data + bytes);
    if ((size_t)n + 2 >= sizeof t->bytes - t->n || bytes > DATA_MAX - t->data)
        return;
    put(t, entry);
    t->data += bytes;
}

typedef struct companion {
    const char *ending;
    const char *dtype; /* NULL: a float type chosen by the input */
    uint8_t per;       /* length of the last dimension: GROUPS, WORDS, … (the enum below) */
} companion;

enum { GROUPS, WORDS, ONE, INPUTS, BLOCKS };

static const struct scheme {
    const char *ending, *dtype;
    uint8_t width;
    companion with[3];
} schemes[] = {
    {".weight", "U32", 4, {{".scales", NULL, GROUPS}, {".biases", NULL, GROUPS}}},
    {".weight", "U32", 4, {{".scales", "U8", GROUPS}, {".biases", NULL, GROUPS}}},
    {"", "U32", 4, {{".scale", NULL, GROUPS}, {".bias", NULL, GROUPS}}},
    {"", "U32", 4, {{".scale", "U8", GROUPS}, {".global_scale", "F32", ONE}}},
    {".weight", "F8_E4M3", 1, {{".weight_scale_inv", NULL, BLOCKS}}},
    {".weight", "U8", 1, {{".weight_scale", "F8_E4M3", GROUPS}, {".weight_scale_2", "F32", ONE}}},
    {".weight_packed",
     "U8",
     1,
     {{".weight_scale", "F8_E4M3", GROUPS}, {".weight_global_scale", "F32", ONE}}},
    {".qweight",
     "I32",
     4,
     {{".scales", NULL, GROUPS}, {".qzeros", "I32", WORDS}, {".g_idx", "I32", INPUTS}}},
};

/*
 * Adds a weight with companions. Seven bytes select: the scheme; words per row; groups per row;
 * rows; the number of experts and the parts with a defect; the kind of defect and the dtype of the
 * floats; the name. There are few names, so that names repeat.
 */
static void put_tensor(text *t, input *in)
{
    static const char *const floats[] = {"F32", "F16", "BF16", "F64"};
    static const uint8_t widths[] = {4, 2, 2, 8};
    const struct scheme *s = &schemes[take(in) % (sizeof schemes / sizeof *schemes)];
    size_t words = take(in) % 65, groups = take(in) % 17, rows = take(in) % 17;
    uint8_t odd = take(in), kind = take(in), number = take(in);
    char name[40];
    (void)snprintf(name, sizeof name, number & 64 ? "model.layers.%d.mlp.up_proj" : "t%d",
                   number % 4);
    size_t shape[3] = {1 + odd % 3, rows, words};
    size_t skip = odd & 64 ? 0 : 1; /* only a stack of experts has the first dimension */
    bool across = s->with[2].ending != NULL;
    if (!(odd & 128))
        put_part(t, name, s->ending, s->dtype, s->width, shape + skip, 3 - skip);
    for (size_t i = 0; i < 3 && s->with[i].ending != NULL; i++) {
        const companion *with = &s->with[i];
        size_t last[] = {groups, words / 8, 1, words * 8, (words + 127) / 128};
        size_t part[3] = {shape[0], with->per == BLOCKS ? (rows + 127) / 128 : rows,
                          last[with->per]};
        if (across) { /* the groups divide a column: scales have one row per group */
            part[1] = groups;
            part[2] = with->per == WORDS ? words : words * (number & 128 ? 8 : 1);
        }
        if (odd & (4u << i) && kind & 16) /* the part is missing */
            continue;
        if (odd & (4u << i) && kind & 32) /* the part has a wrong shape */
            part[2]++;
        size_t rank = 3 - skip, from = skip;
        if (with->per == ONE || with->per == INPUTS) {
            part[2] = with->per == ONE ? 1 : rows * 8;
            from = 2;
            rank = with->per == ONE ? kind / 64 % 2 : 1;
        }
        const char *dtype = with->dtype != NULL && !(kind & 8) ? with->dtype : floats[kind % 4];
        size_t width = widths[kind % 4];
        if (dtype == with->dtype)
            width = strcmp(dtype, "I32") == 0 || strcmp(dtype, "F32") == 0 ? 4 : 1;
        put_part(t, name, with->ending, dtype, width, part + from, rank);
    }
}

static void put_metadata(text *t, uint8_t how)
{
    static const char *const said[] = {
        "\"quant_type\":\"int4\",\"group_size\":\"32\"",
        "\"quant_type\":\"nvfp4\"",
        "\"t1.quant_type\":\"mxfp8\",\"t1.group_size\":\"32\"",
        "\"quantization_config\":\"{\\\"bits\\\":3,\\\"group_size\\\":128}\"",
        "\"quantization_config\":\"{\\\"bits\\\":8,\\\"t1\\\":{\\\"bits\\\":2}}\"",
        "\"quantization_config\":\"{\\\"bits\\\":7,\\\"group_size\\\":3,\\\"hidden_size\\\":64}\"",
        "\"quantization_config\":\"{\\\"quant_method\\\":\\\"gptq\\\",\\\"bits\\\":8}\"",
        "\"quantization_config\":\"{\\\"quant_method\\\":\\\"awq\\\",\\\"bits\\\":2}\"",
        "\"quantization_config\":\"{\\\"bits\\\":16,\\\"group_size\\\":16,\\\"t1\\\":false}\"",
        "\"quant_type\":\"int8\",\"group_size\":\"99999\"",
    };
    if (how < 64)
        return;
    put(t, "\"__metadata__\":{");
    put(t, said[how % (sizeof said / sizeof *said)]);
    put(t, "}");
}

static void try_file(const uint8_t *header, size_t header_bytes, size_t data, input bits,
                     uint32_t random)
{
    size_t size = 8 + header_bytes + data, n = (size_t)(bits.end - bits.p);
    uint8_t *file = malloc(size);
    CHECK(file != NULL);
    for (unsigned i = 0; i < 8; i++)
        file[i] = (uint8_t)((uint64_t)header_bytes >> 8 * i);
    if (header_bytes > 0)
        memcpy(file + 8, header, header_bytes);
    for (size_t i = 0; i < data; i++)
        file[8 + header_bytes + i] = (uint8_t)(n == 0 ? i * 37 : bits.p[i % n] + i / n);
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb_open_options options = {
        .size = sizeof options, .flags = WB_OPEN_COMPATIBLE, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    wb_status status = wb_open_memory(file, size, "x.safetensors", &options, &model, &error);
    CHECK(heap.peak <= 8 * size + (1u << 20));
    if (status != WB_OK)
        fuzz_check_error(&error, status, size);
    else
        fuzz_check_model(model, random);
    wb_close(model);
    CHECK(heap.live == 0);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static text t;
    input in = {data, data + size};
    uint8_t what = take(&in);
    if (what % 2 == 1) {
        size_t n = (size_t)(in.end - in.p);
        try_file(in.p, n, fuzz_largest_number(in.p, n, DATA_MAX), (input){data, data + 1},
                 (uint32_t)size);
        return 0;
    }
    t.n = t.data = 0;
    put(&t, "{");
    put_metadata(&t, what);
    while (in.p < in.end && *in.p != 255)
        put_tensor(&t, &in);
    put(&t, "}");
    if (in.p < in.end)
        in.p++;
    try_file((const uint8_t *)t.bytes, t.n, t.data, in, (uint32_t)(size * 7 + what));
    return 0;
}
