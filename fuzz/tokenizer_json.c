/*
 * Reads any text as tokenizer.json. The fast reader must accept and reject the same texts as the
 * JSON parser. Memory use must be at most 1 MiB larger than 8 times the size of the input. All
 * lists of a tokenizer must have the same length.
 */
#include "arch/tokenizer/tokenizer.h"
#include "support/fuzz.h"

typedef struct heap {
    size_t live, peak;
} heap;

static void *heap_alloc(void *ctx, size_t bytes)
{
    heap *h = ctx;
    h->live += bytes;
    h->peak = h->live > h->peak ? h->live : h->peak;
    return malloc(bytes);
}

static void heap_free(void *ctx, void *memory, size_t bytes)
{
    heap *h = ctx;
    h->live -= bytes;
    free(memory);
}

static void check_strings(const wb__strings *strings)
{
    if (strings->count == 0)
        return;
    wb__str text = wb__strings_at(strings, 0);
    for (uint64_t i = 0; i < strings->count; i++) {
        CHECK(text.ptr[text.len] == '\0');
        CHECK(text.ptr + text.len + WB__STRINGS_HEAD <= strings->bytes + strings->capacity);
        if (i % 5 == 0)
            CHECK(wb__strings_at(strings, i).ptr == text.ptr);
        if (i + 1 < strings->count)
            text = wb__strings_after(text);
    }
}

static char *copy_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heap h = {0, 0};
    wb_allocator allocator = {&h, heap_alloc, heap_free};
    /* The reader of tokenizer.json must accept exactly the texts that the JSON parser accepts. */
    char *text = copy_of(data, size);
    wb__tree tree;
    bool is_json = wb__tree_parse(&tree, text, size, &wb__default_allocator);
    wb__tree_free(&tree);
    free(text);

    text = copy_of(data, size);
    wb__tokenizer_json json;
    CHECK(wb__tokenizer_json_read(&json, text, size, &allocator) == is_json);
    if (!is_json)
        CHECK(json.fault != WB__JSON_FAULT_NONE && json.fault_at <= size);
    check_strings(&json.merges);
    wb__tokenizer_json_free(&json);
    CHECK(h.live == 0);
    free(text);

    wb_error error;
    wb_findings findings;
    wb__tokenizer tokenizer;
    wb__context context = {
        .allocator = allocator, .file = "", .error = &error, .findings = &findings};
    wb__findings_init(&findings, &wb__default_allocator);
    text = copy_of(data, size);
    wb__tokenizer_files files = {
        .json = text, .json_bytes = size, .is_phi = size % 2 == 0, .vocab_size = size % 97};
    CHECK(wb__tokenizer_make(&tokenizer, &context, &files) == WB_OK);
    CHECK(h.peak + size <= 8 * size + (1u << 20));
    check_strings(&tokenizer.tokens);
    check_strings(&tokenizer.merges);
    /* The capacity may be larger than the number of tokens, because tokens without an embedding row
     * are omitted. */
    if (tokenizer.model != NULL)
        CHECK(tokenizer.capacity >= tokenizer.tokens.count);
    for (int i = 0; i < WB__SPECIALS; i++)
        CHECK(tokenizer.special[i] < 0 || tokenizer.tokens.count == 0 ||
              (uint64_t)tokenizer.special[i] < tokenizer.tokens.count);
    wb__tokenizer_free(&tokenizer);
    wb__findings_clear(&findings);
    CHECK(h.live == 0);
    free(text);
    return 0;
}
