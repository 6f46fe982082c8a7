/*
 * Reads any text as a manifest of an Ollama store, and as the name of an Ollama model.
 *
 * The store has nine blobs of 512 bytes. The digest of a blob is one digit, repeated 64 times:
 *
 *   0, 1   a GGUF file
 *   2, 3   a packed tensor with its companion tensors, such as scales
 *   4      a plain tensor
 *   5      config.json
 *   6      a license
 *   7      parameters
 *   8      a tokenizer
 */
#include "bundles/ollama/ollama.h"
#include "support/fuzz.h"
#include "support/model.h"
#include "support/scratch.h"
#include "weighbridge.h"

#define BLOB_BYTES 512
#define MANIFEST "manifests/registry.ollama.ai/library/m/latest"

static void write_blob(char digit, const void *bytes)
{
    char name[100];
    int n = snprintf(name, sizeof name, "blobs/sha256-");
    memset(name + n, digit, 64);
    name[n + 64] = '\0';
    fuzz_scratch_write(name, bytes, BLOB_BYTES);
}

/* Writes a blob: a text, padded with spaces, and `data` bytes. If `digit` is 2 to 4, the blob is a
 * safetensors file, and the length of the text precedes the text. */
static void write_text(char digit, const char *text, size_t data)
{
    uint8_t blob[BLOB_BYTES];
    size_t at = digit >= '2' && digit <= '4' ? 8 : 0, header = BLOB_BYTES - at - data;
    memset(blob, ' ', sizeof blob);
    CHECK(strlen(text) <= header);
    for (size_t i = 0; i < at; i++)
        blob[i] = (uint8_t)((uint64_t)header >> 8 * i);
    memcpy(blob + at, text, strlen(text));
    for (size_t i = at + header; i < BLOB_BYTES; i++)
        blob[i] = (uint8_t)(i * 37);
    write_blob(digit, blob);
}

static void write_gguf(char digit)
{
    static const uint8_t begin[] =
        "GGUF\3\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
        "\x14\0\0\0\0\0\0\0general.architecture\x08\0\0\0"
        "\5\0\0\0\0\0\0\0llama"
        "\1\0\0\0\0\0\0\0a\1\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    uint8_t blob[BLOB_BYTES];
    memset(blob, 0, sizeof blob);
    memcpy(blob, begin, sizeof begin - 1);
    blob[77] = (uint8_t)('a' + digit - '0');
    write_blob(digit, blob);
}

static void make_store(void)
{
    static const char *const folders[] = {"blobs", "manifests", "manifests/registry.ollama.ai",
                                          "manifests/registry.ollama.ai/library",
                                          "manifests/registry.ollama.ai/library/m"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        fuzz_scratch_folder(folders[i]);
    write_gguf('0');
    write_gguf('1');
    write_text('2',
               "{\"__metadata__\":{\"quant_type\":\"int4\",\"group_size\":\"32\"},"
               "\"a.weight\":{\"dtype\":\"U32\",\"shape\":[1,8],\"data_offsets\":[0,32]},"
               "\"a.weight.scale\":{\"dtype\":\"BF16\",\"shape\":[1,2],\"data_offsets\":[32,36]},"
               "\"a.weight.bias\":{\"dtype\":\"BF16\",\"shape\":[1,2],\"data_offsets\":[36,40]}}",
               40);
    write_text('3',
               "{\"__metadata__\":{\"quant_type\":\"nvfp4\",\"group_size\":\"16\"},"
               "\"b.weight\":{\"dtype\":\"U32\",\"shape\":[1,4],\"data_offsets\":[0,16]},"
               "\"b.weight.scale\":{\"dtype\":\"U8\",\"shape\":[1,2],\"data_offsets\":[16,18]}}",
               18);
    write_text('4', "{\"c.weight\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", 16);
    write_text('5', "{\"model_type\":\"llama\",\"hidden_size\":64,\"quantization\":{\"bits\":4}}",
               0);
    write_text('6', "Do what you like.", 0);
    write_text('7', "{\"temperature\":0.5,\"stop\":[\"a\",\"b\"]}", 0);
    write_text('8', "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}", 0);
}

/* Checks that all files of the model are blobs of the store. */
static void check_files(const wb_model *model)
{
    size_t root = strlen(fuzz_scratch());
    for (uint64_t i = 0; i < wb_file_count(model); i++) {
        wb_file file = {.size = sizeof file};
        CHECK(wb_file_at(model, i, &file, NULL) == WB_OK);
        CHECK(strncmp(file.path, fuzz_scratch(), root) == 0);
        CHECK(strncmp(file.path + root, "/blobs/sha256-", 14) == 0);
        CHECK(strspn(file.path + root + 14, "0123456789abcdefABCDEF") == 64);
        CHECK(strlen(file.path + root) == 78);
    }
}

static void check_name(const uint8_t *data, size_t size)
{
    wb__ollama_name name;
    wb__str text = {(const char *)data, size};
    if (!wb__ollama_name_parse(text, &name))
        return;
    const wb__str parts[] = {name.host, name.space, name.model, name.tag};
    for (size_t i = 0; i < 4; i++) {
        CHECK(parts[i].len > 0 && parts[i].ptr[0] != '.');
        CHECK(memchr(parts[i].ptr, '/', parts[i].len) == NULL);
        CHECK(memchr(parts[i].ptr, '\0', parts[i].len) == NULL);
    }
}

static int count_entry(void *ctx, const wb_store_entry *entry)
{
    (*(int *)ctx)++;
    CHECK(strcmp(entry->name, "m") == 0 || strcmp(entry->name, "m:latest") == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    char path[400];
    fuzz_heap heap = {0, 0};
    wb_allocator allocator = fuzz_allocator(&heap);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    wb_model *model;
    wb_error error;
    if (!made)
        make_store();
    made = true;
    check_name(data, size);
    fuzz_scratch_write(MANIFEST, data, size);
    (void)snprintf(path, sizeof path, "%s/%s", fuzz_scratch(), MANIFEST);
    wb_status status = wb_open(path, &options, &model, &error);
    CHECK(heap.peak <= 8 * (size + 9 * BLOB_BYTES) + (1u << 20));
    CHECK(status != WB_ERROR_IO && status != WB_ERROR_MEMORY && status != WB_ERROR_ARGUMENT);
    if (status != WB_OK) {
        fuzz_check_error(&error, status, SIZE_MAX);
    } else if (size > 0 && data[0] == '{') { /* otherwise the input may itself be a model file */
        check_files(model);
        fuzz_check_model(model, (uint32_t)size);
    }
    wb_close(model);
    CHECK(heap.live == 0);
    if (size % 4 == 0) {
        int entries = 0;
        CHECK(wb_store_list(fuzz_scratch(), &options, count_entry, &entries, &error) == WB_OK);
        CHECK(entries == 1 && heap.live == 0);
    }
    return 0;
}
