/*
 * Reads any text as family tables, which form feeds separate, and uses the accepted tables for a
 * small model: a GGUF file in memory, or a folder with config.json. A table must not change which
 * tensors a model has, and must give the same names and config each time. To be fast, an input
 * selects one of the two models, and either these checks or the plan of a conversion.
 */
#include "support/fuzz.h"
#include "support/model.h"
#include "weighbridge.h"

#define TABLES 8

/* ---- the models ---- */

typedef struct file {
    const char *path;
    uint8_t bytes[2048];
    size_t size;
} file;

static file gguf = {.path = "model.gguf"};
static file weights = {.path = "m/model.safetensors"};
static file config = {.path = "m/config.json"};

static void put(file *f, const void *bytes, size_t n)
{
    CHECK(f->size + n <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, n);
    f->size += n;
}

static void put_number(file *f, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        put(f, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

static void put_string(file *f, const char *text)
{
    put_number(f, strlen(text), 8);
    put(f, text, strlen(text));
}

static void put_key(file *f, const char *key, unsigned type)
{
    put_string(f, key);
    put_number(f, type, 4);
}

static void make_gguf(void)
{
    static const char *const names[] = {"blk.0.attn_q.weight", "blk.1.x.bias", "x"};
    put(&gguf, "GGUF", 4);
    put_number(&gguf, 3, 4);
    put_number(&gguf, 3, 8); /* tensors */
    put_number(&gguf, 5, 8); /* keys */
    put_key(&gguf, "general.architecture", 8);
    put_string(&gguf, "mine");
    put_key(&gguf, "mine.block_count", 4);
    put_number(&gguf, 3, 4);
    put_key(&gguf, "mine.embedding_length", 4);
    put_number(&gguf, 2, 4);
    put_key(&gguf, "mine.scale", 6);
    put_number(&gguf, 0x3F000000, 4);
    put_key(&gguf, "mine.list", 9);
    put_number(&gguf, 4, 4);
    put_number(&gguf, 3, 8);
    for (unsigned i = 0; i < 3; i++)
        put_number(&gguf, i, 4);
    for (unsigned i = 0; i < 3; i++) {
        put_string(&gguf, names[i]);
        put_number(&gguf, 1, 4);
        put_number(&gguf, 2, 8);
        put_number(&gguf, 0, 4); /* F32 */
        put_number(&gguf, i * 32, 8);
    }
    while (gguf.size % 32 != 0)
        put_number(&gguf, 0, 1);
    for (unsigned i = 0; i < 3; i++)
        put(&gguf, (uint8_t[32]){0}, 32);
}

static void make_folder(void)
{
    static const char header[] =
        "{\"model.layers.0.self_attn.q_proj.weight\":{\"dtype\":\"F32\",\"shape\":[2],"
        "\"data_offsets\":[0,8]},\"model.layers.1.mlp.experts.0.up_proj.weight\":{\"dtype\":"
        "\"F32\",\"shape\":[1,2],\"data_offsets\":[8,16]},\"model.layers.1.mlp.experts.1.up_proj"
        ".weight\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[16,24]},\"a.0.b.1.bias\":"
        "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[24,32]}}";
    static const char text[] =
        "{\"model_type\":\"mine\",\"architectures\":[\"Mine\"],\"hidden_size\":64,"
        "\"num_hidden_layers\":3,\"num_attention_heads\":4,\"intermediate_size\":128,"
        "\"rope_parameters\":{\"rope_theta\":10000.0,\"rope_type\":\"default\"},\"tie\":null,"
        "\"layer_types\":[\"full\",\"sliding\",\"full\"],\"list\":[3,3,5],\"word\":\"abc\"}";
    put_string(&weights, header);
    put(&weights, (uint8_t[32]){0}, 32);
    put(&config, text, sizeof text - 1);
}

static const file *file_of(const char *path)
{
    return strcmp(path, weights.path) == 0  ? &weights
           : strcmp(path, config.path) == 0 ? &config
                                            : NULL;
}

static int owns(void *ctx, const char *path)
{
    (void)ctx;
    return path[0] == 'm' && (path[1] == '\0' || path[1] == '/');
}

static wb_status read_bytes(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const file *f = ctx;
    *got = offset >= f->size ? 0 : f->size - offset < n ? (size_t)(f->size - offset) : n;
    memcpy(dst, f->bytes + offset, *got);
    return WB_OK;
}

static wb_status open_file(void *ctx, const char *path, wb_source *source, int *is_folder,
                           wb_error *error)
{
    const file *f = file_of(path);
    (void)ctx;
    (void)error;
    *is_folder = strcmp(path, "m") == 0;
    if (f == NULL)
        return *is_folder ? WB_OK : WB_ERROR_NOT_FOUND;
    *source = (wb_source){
        .size = sizeof *source, .ctx = (void *)(uintptr_t)f, .bytes = f->size, .read = read_bytes};
    return WB_OK;
}

static wb_status list(void *ctx, const char *path,
                      wb_status (*each)(void *each_ctx, const char *name), void *each_ctx,
                      wb_error *error)
{
    (void)ctx;
    (void)path;
    (void)error;
    wb_status status = each(each_ctx, "model.safetensors");
    return status == WB_OK ? each(each_ctx, "config.json") : status;
}

static wb_model *open_model(bool is_gguf, wb_families *families)
{
    static const wb_files files = {
        .size = sizeof files, .owns = owns, .open = open_file, .list = list};
    wb_open_options options = WB_OPEN_OPTIONS_INIT;
    wb_model *model;
    options.access = WB_ACCESS_READ;
    options.files = &files;
    options.families = families;
    wb_status status =
        is_gguf ? wb_open_memory(gguf.bytes, gguf.size, gguf.path, &options, &model, NULL)
                : wb_open("m", &options, &model, NULL);
    CHECK(status == WB_OK);
    return model;
}

/* ---- use of the tables ---- */

/* Appends the canonical names of all tensors, and the config, to `to`. Returns the new length. */
static size_t describe(const wb_model *model, char *to, size_t capacity)
{
    size_t n = 0;
    wb_config c = WB_CONFIG_INIT;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor tensor = WB_TENSOR_INIT;
        const char *name;
        CHECK(wb_tensor_at(model, i, &tensor, NULL) == WB_OK);
        wb_status status = wb_canonical_name(model, tensor.name, SIZE_MAX, &name, NULL, NULL);
        CHECK(status == WB_OK || status == WB_ERROR_NOT_FOUND);
        n += (size_t)snprintf(to + n, capacity - n, "%s\n", status == WB_OK ? name : "");
    }
    CHECK(wb_config_get(model, &c, NULL) == WB_OK);
    for (uint32_t field = 0; field < WB_CONFIG_FIELDS; field++) {
        wb_config_value value = WB_CONFIG_VALUE_INIT;
        CHECK(wb_config_at(&c, field, &value) == WB_OK);
        n += (size_t)snprintf(to + n, capacity - n, "%s %u %llu %a %s\n", value.name, value.origin,
                              (unsigned long long)value.number, value.real,
                              value.text == NULL ? "" : value.text);
        CHECK(n < capacity);
    }
    return n;
}

static void use(wb_families *families, bool is_gguf)
{
    static char texts[2][65536];
    size_t n[2];
    for (int pass = 0; pass < 2; pass++) {
        wb_model *model = open_model(is_gguf, families);
        CHECK(wb_tensor_count(model) == (is_gguf ? 3 : 4));
        n[pass] = describe(model, texts[pass], sizeof texts[pass]);
        if (pass == 1) {
            wb_findings *findings;
            fuzz_check_metadata(model);
            CHECK(wb_verify_model(model, NULL, &findings, NULL) == WB_OK);
            fuzz_check_findings(findings, SIZE_MAX);
            wb_findings_free(findings);
        }
        wb_close(model);
    }
    CHECK(n[0] == n[1] && memcmp(texts[0], texts[1], n[0]) == 0);
}

/* Plans a conversion, which evaluates the other rows of the tables. */
static void plan(wb_families *families, bool is_gguf)
{
    wb_conversion *conversion;
    wb_error error;
    wb_convert_policy policy = WB_CONVERT_POLICY_INIT;
    wb_target target = is_gguf ? WB_TARGET_SAFETENSORS : WB_TARGET_GGUF;
    wb_model *model = open_model(is_gguf, families);
    wb_status status = wb_convert_plan(model, target, &policy, &conversion, &error);
    if (status != WB_OK)
        fuzz_check_error(&error, status, SIZE_MAX);
    CHECK(status != WB_ERROR_IO && status != WB_ERROR_MEMORY && status != WB_ERROR_CHANGED);
    wb_conversion_free(conversion);
    wb_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_family_table tables[TABLES];
    wb_families *families;
    wb_error error;
    size_t count = 0, from = 0;
    unsigned choice = 0; /* the model, and what it is used for: both follow from all bytes */
    if (gguf.size == 0) {
        make_gguf();
        make_folder();
    }
    char *text = malloc(size + 1); /* sanitizers find reads after the end */
    CHECK(text != NULL);
    memcpy(text, data, size);
    for (size_t i = 0; i < size; i++)
        choice += data[i];
    for (size_t i = 0; i <= size && count < TABLES; i++) {
        if (i < size && text[i] != '\f')
            continue;
        tables[count++] = (wb_family_table){
            .size = sizeof *tables, .path = "t", .text = text + from, .text_len = i - from};
        from = i + 1;
    }
    wb_status status = wb_families_read(tables, count, &options, &families, &error);
    free(text);
    CHECK(heap.peak <= 8 * size + (1u << 20));
    CHECK((status == WB_OK) == (families != NULL));
    if (status == WB_OK) {
        bool is_gguf = (choice & 1) != 0;
        if ((choice & 2) != 0)
            use(families, is_gguf);
        else
            plan(families, is_gguf);
    } else {
        CHECK(status == WB_ERROR_FORMAT || status == WB_ERROR_LIMIT);
        fuzz_check_error(&error, status, size);
    }
    wb_families_free(families);
    CHECK(heap.live == 0);
    return 0;
}
