/*
 * Merges a LoRA adapter into a small model (support/small.h). The adapter is a directory of PEFT or
 * mlx-lm, whose pairs of matrices (A and B) fit the model's tensors; some have a defect, such as a
 * wrong shape. A merge that can be planned must either succeed, with a result that opens, or fail
 * and leave no files.
 *
 *   5 bytes    the target and the kind of adapter; the adapter's rank; its scale; its alpha;
 *              use_rslora or DoRA, and alphas of single modules
 *   24 bytes   four bytes for each of six pairs: the tensor, the defect of A, the defect of B, and
 *              the dtype of both
 *   the rest   the model
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <sys/stat.h>
#include <unistd.h>

#include "support/model.h"
#include "support/scratch.h"
#include "support/small.h"
#include "weighbridge.h"

#define PAIRS 6
#define HEADER_MAX 8192
#define DATA_MAX (1u << 17)

typedef struct choices {
    uint8_t kind, rank, scale, alpha, own;
    struct {
        uint8_t tensor, a, b, dtype;
    } pairs[PAIRS];
} choices;

typedef struct file {
    char header[HEADER_MAX];
    size_t header_bytes, data;
} file;

static bool is_mlx(const choices *of)
{
    return (of->kind & 8) != 0;
}

/* ---- the adapter ---- */

static void add(file *f, const char *name, uint8_t how, uint32_t rank, const uint64_t *shape)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16", "F64", "I8"};
    static const uint8_t sizes[] = {4, 2, 2, 8, 1};
    char entry[600], dimensions[100] = "";
    int at = 0;
    how = how < 200 ? 0 : how % 5;
    uint64_t bytes = sizes[how];
    for (uint32_t i = 0; i < rank; i++) {
        at += snprintf(dimensions + at, sizeof dimensions - (size_t)at, "%s%u", i > 0 ? "," : "",
                       (unsigned)shape[i]);
        bytes *= shape[i];
    }
    int n = snprintf(entry, sizeof entry,
                     "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                     f->header_bytes > 1 ? "," : "", name, dtypes[how], dimensions, f->data,
                     f->data + (size_t)bytes);
    if (n >= (int)sizeof entry || bytes > DATA_MAX - f->data ||
        (size_t)n + 1 >= HEADER_MAX - f->header_bytes)
        return;
    memcpy(f->header + f->header_bytes, entry, (size_t)n);
    f->header_bytes += (size_t)n;
    f->data += (size_t)bytes;
}

/* Adds matrix A or B of a pair, with the chosen defect. mlx-lm stores the transpose of PEFT's
 * matrix. */
static void add_half(file *f, const choices *of, const wb_tensor *tensor, char letter,
                     uint8_t wrong, uint8_t dtype)
{
    char name[400];
    uint64_t inputs = tensor->rank < 2 ? 1 : tensor->shape[tensor->rank - 1];
    uint64_t shape[3] = {2, letter == 'A' ? of->rank : tensor->shape[0],
                         letter == 'A' ? inputs : of->rank};
    uint32_t rank = wrong >= 240 && wrong < 245 ? 3 : 2;
    int len = (int)tensor->name_len;
    if (wrong == 255) /* this matrix of the pair is missing */
        return;
    if (len > 7 && memcmp(tensor->name + len - 7, ".weight", 7) == 0)
        len -= 7;
    if (wrong >= 245)
        shape[1 + wrong % 2] += 1 + wrong % 3;
    if (is_mlx(of)) {
        uint64_t first = shape[1];
        shape[1] = shape[2];
        shape[2] = first;
    }
    (void)snprintf(name, sizeof name,
                   is_mlx(of) ? "%.*s.lora_%c" : "base_model.model.%.*s.lora_%c.weight", len,
                   tensor->name, is_mlx(of) ? letter - 'A' + 'a' : letter);
    add(f, name, dtype, rank, rank == 3 ? shape : shape + 1);
}

static void write_tensors(const choices *of, const wb_model *model)
{
    static file f;
    static uint8_t bytes[8 + HEADER_MAX + DATA_MAX];
    uint64_t count = wb_tensor_count(model);
    f = (file){.header = "{", .header_bytes = 1};
    for (size_t i = 0; i < PAIRS && count > 0; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        CHECK(wb_tensor_at(model, of->pairs[i].tensor % count, &tensor, NULL) == WB_OK);
        if (tensor.name_len > 250 || tensor.rank == 0)
            continue;
        add_half(&f, of, &tensor, 'A', of->pairs[i].a, of->pairs[i].dtype);
        add_half(&f, of, &tensor, 'B', of->pairs[i].b, of->pairs[i].dtype);
    }
    f.header[f.header_bytes++] = '}';
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)((uint64_t)f.header_bytes >> 8 * i);
    memcpy(bytes + 8, f.header, f.header_bytes);
    for (size_t i = 0; i < f.data; i++)
        bytes[8 + f.header_bytes + i] = (uint8_t)(i * 2654435761u >> 13);
    fuzz_scratch_write("adapter/adapter_model.safetensors", bytes, 8 + f.header_bytes + f.data);
}

static void write_config(const choices *of)
{
    static const char *const alphas[] = {"16",    "0",   "-1",   "1e300", "1e-300", "null",
                                         "\"x\"", "NaN", "1e39", "8",     "0.5",    "[]"};
    static const char *const patterns[] = {
        "{}",
        "null",
        "{\"q_proj\": 3, \"self_attn.q_proj\": 4}",
        "{\"model\\\\.layers\\\\.0\\\\.mlp\\\\.down_proj\": 2.5, \"down_proj\": 1}",
        "{\"(a+)+$\": 1}",
        "[1]",
        "{\"v_proj\": \"x\"}",
        "{\"\": 1, \".\": 2, \"\\\\\": 3}"};
    char text[600];
    const char *alpha = alphas[of->alpha % (sizeof alphas / sizeof *alphas)];
    int n = is_mlx(of)
                ? snprintf(text, sizeof text,
                           "{\"fine_tune_type\": \"%s\", \"lora_parameters\": {\"scale\": %s}}",
                           of->own % 16 == 15 ? "dora" : "lora", alpha)
                : snprintf(text, sizeof text,
                           "{\"r\": %u, \"lora_alpha\": %s, \"use_rslora\": %s, "
                           "\"alpha_pattern\": %s}",
                           (unsigned)of->rank, alpha, of->own & 8 ? "true" : "false",
                           patterns[of->own % 8]);
    CHECK(n > 0 && n < (int)sizeof text);
    fuzz_scratch_write("adapter/adapter_config.json", text, (size_t)n);
}

/* ---- merging ---- */

static void merge(const wb_model *model, const choices *of)
{
    static const double scales[] = {1, 0, -1, 1e300, 1e-300, 0.25};
    static const char *const quants[] = {"F32", "F16", NULL, "Q8_0", "Q4_0"};
    static const wb_target targets[] = {WB_TARGET_GGUF, WB_TARGET_SAFETENSORS};
    char adapter[700], path[700];
    wb_conversion *conversion;
    wb_model *result;
    wb_error error;
    bool gguf = (of->kind & 1) == 0;
    (void)snprintf(adapter, sizeof adapter, "%s/adapter", fuzz_scratch());
    (void)snprintf(path, sizeof path, "%s-merged.%s", fuzz_scratch(),
                   gguf ? "gguf" : "safetensors");
    const wb_convert_lora lora = {adapter, scales[of->scale % 6]};
    const wb_convert_policy policy = {.size = sizeof policy,
                                      .quant = quants[(of->kind >> 4) % (gguf ? 5 : 3)],
                                      .loras = &lora,
                                      .lora_count = 1};
    wb_status status = wb_convert_plan(model, targets[!gguf], &policy, &conversion, &error);
    if (status == WB_OK)
        status = wb_convert(conversion, path, NULL, &error);
    if (status == WB_OK) {
        const wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
        CHECK(wb_open(path, &options, &result, &error) == WB_OK);
        wb_close(result);
        CHECK(unlink(path) == 0);
    } else {
        fuzz_check_error(&error, status, SIZE_MAX);
        CHECK(status != WB_ERROR_IO && status != WB_ERROR_MEMORY && status != WB_ERROR_CHANGED);
        CHECK(access(path, F_OK) != 0);
    }
    wb_conversion_free(conversion);
}

static choices draw(fuzz_tape *tape)
{
    choices c = {.kind = (uint8_t)fuzz_choose(tape, 256)};
    c.rank = (uint8_t)(1 + fuzz_choose(tape, 8));
    c.scale = (uint8_t)fuzz_choose(tape, 256);
    c.alpha = (uint8_t)fuzz_choose(tape, 256);
    c.own = (uint8_t)fuzz_choose(tape, 256);
    for (size_t i = 0; i < PAIRS; i++) {
        c.pairs[i].tensor = (uint8_t)fuzz_choose(tape, 256);
        c.pairs[i].a = (uint8_t)fuzz_choose(tape, 256);
        c.pairs[i].b = (uint8_t)fuzz_choose(tape, 256);
        c.pairs[i].dtype = (uint8_t)fuzz_choose(tape, 256);
    }
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool has_folder;
    fuzz_tape tape = {data, size, 0};
    choices c = draw(&tape);
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb_open_options options = {
        .size = sizeof options, .access = WB_ACCESS_READ, .allocator = &allocator};
    wb_model *model;
    fuzz_small_model(&tape);
    if (!has_folder)
        fuzz_scratch_folder("adapter");
    has_folder = true;
    if (wb_open(fuzz_scratch(), &options, &model, NULL) == WB_OK) {
        write_tensors(&c, model);
        write_config(&c);
        merge(model, &c);
    }
    wb_close(model);
    CHECK(heap.live == 0);
    return 0;
}
