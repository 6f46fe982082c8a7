/*
 * Parses and validates a manifest. In a valid manifest, file names contain no directories, the
 * lengths of the parts of a file add up to the length of the file, and the number of digests of
 * each part matches its length.
 */
#include "handle/config_json.h"
#include "hash/hash.h"
#include "hash/hash_messages.h"
#include "json/tree.h"

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool wb__digest_read(wb__digest *digest, wb__str text)
{
    if (text.len != WB__DIGEST_TEXT - 1)
        return false;
    for (size_t i = 0; i < WB__SHA256_BYTES; i++) {
        int high = digit_of(text.ptr[2 * i]), low = digit_of(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

typedef struct reading {
    wb__manifest *manifest;
    wb__context *context;
    const wb__tree *tree;
} reading;

static wb_status fail_at(const reading *r, wb__node node, const char *what)
{
    return wb__fail(r->context, WB_ERROR_FORMAT, WB__FINDING_MANIFEST,
                    node == WB__NO_NODE ? WB_NO_OFFSET : wb__tree_at(r->tree, node)->at,
                    WB__STR(""), WB__MSG_HASH_MANIFEST, what);
}

static bool number_of(const reading *r, wb__node object, const char *key, uint64_t *value)
{
    return wb__tree_type(r->tree, object) == WB__JSON_OBJECT &&
           wb__tree_uint(r->tree, wb__tree_get(r->tree, object, key), value);
}

/* Reads the string member `key` of a JSON object and copies it to the arena of the manifest. */
static wb_status text_of(const reading *r, wb__node object, const char *key, wb__str *text)
{
    wb__node node = WB__NO_NODE;
    if (wb__tree_type(r->tree, object) == WB__JSON_OBJECT)
        node = wb__tree_get(r->tree, object, key);
    if (node == WB__NO_NODE || wb__tree_type(r->tree, node) != WB__JSON_STRING)
        return fail_at(r, object, WB__MSG_HASH_MANIFEST_NAME);
    *text = wb__tree_string(r->tree, node);
    text->ptr = wb__arena_copy(&r->manifest->arena, text->ptr, text->len);
    return text->ptr == NULL ? wb__fail_memory(r->context) : WB_OK;
}

/* Returns true if a name refers to a file in the directory of the manifest. */
static bool is_plain_name(wb__str name)
{
    return name.len > 0 && memchr(name.ptr, '/', name.len) == NULL &&
           memchr(name.ptr, '\0', name.len) == NULL && !wb__str_equal(name, WB__STR(".")) &&
           !wb__str_equal(name, WB__STR(".."));
}

/* Minimum number of JSON nodes per list element: the object, its keys and their values. */
#define FILE_NODES 7 /* object with members name, bytes and parts */
#define PART_NODES 6 /* object with members bytes and chunks (an array with one element) */
#define CHUNK_NODES 1

/*
 * Finds the array member `key` of a JSON object and sets *n to its length. Every valid element has
 * at least `nodes` JSON nodes. Fails if the array has fewer than n * nodes nodes, so that the
 * memory that is allocated for the elements stays proportional to the size of the text.
 */
static wb_status list_of(const reading *r, wb__node object, const char *key, size_t nodes,
                         wb__node *list, size_t *n)
{
    *list = WB__NO_NODE;
    if (wb__tree_type(r->tree, object) == WB__JSON_OBJECT)
        *list = wb__tree_get(r->tree, object, key);
    if (*list == WB__NO_NODE || wb__tree_type(r->tree, *list) != WB__JSON_ARRAY)
        return wb__fail(r->context, WB_ERROR_FORMAT, WB__FINDING_MANIFEST,
                        wb__tree_at(r->tree, object)->at, WB__STR(""), WB__MSG_HASH_MANIFEST_LIST,
                        key);
    *n = wb__tree_count(r->tree, *list);
    if (*n > (wb__tree_at(r->tree, *list)->extent - *list) / nodes)
        return fail_at(r, *list, WB__MSG_HASH_MANIFEST_ELEMENTS);
    return WB_OK;
}

static wb_status read_chunks(const reading *r, wb__node node, wb__file_part *part)
{
    wb__node list;
    size_t n = 0;
    wb_status status = list_of(r, node, "chunks", CHUNK_NODES, &list, &n);
    if (status != WB_OK)
        return status;
    if (n != wb__chunks_of(part->bytes))
        return fail_at(r, list, WB__MSG_HASH_MANIFEST_CHUNK_COUNT);
    wb__digest *chunks = wb__arena_alloc(&r->manifest->arena, n * sizeof *chunks);
    if (chunks == NULL)
        return wb__fail_memory(r->context);
    part->chunks = chunks;
    wb__node at = wb__tree_first(r->tree, list);
    for (size_t i = 0; i < n; i++, at = wb__tree_next(r->tree, list, at)) {
        if (wb__tree_type(r->tree, at) != WB__JSON_STRING ||
            !wb__digest_read(&chunks[i], wb__tree_string(r->tree, at)))
            return fail_at(r, at, WB__MSG_HASH_MANIFEST_CHUNK);
    }
    return WB_OK;
}

static wb_status read_parts(const reading *r, wb__node node, wb__manifest_file *file)
{
    wb__node list;
    size_t n = 0;
    uint64_t sum = 0;
    wb_status status = list_of(r, node, "parts", PART_NODES, &list, &n);
    if (status != WB_OK)
        return status;
    file->parts = wb__arena_alloc(&r->manifest->arena, n * sizeof *file->parts);
    if (file->parts == NULL)
        return wb__fail_memory(r->context);
    wb__node at = wb__tree_first(r->tree, list);
    for (; file->part_count < n && status == WB_OK; at = wb__tree_next(r->tree, list, at)) {
        wb__file_part *part = &file->parts[file->part_count++];
        *part = (wb__file_part){0};
        bool is_tensor = wb__tree_type(r->tree, at) == WB__JSON_OBJECT &&
                         wb__tree_get(r->tree, at, "tensor") != WB__NO_NODE;
        if (!number_of(r, at, "bytes", &part->bytes) || part->bytes == 0 ||
            !wb__add(sum, part->bytes, &sum))
            return fail_at(r, at, WB__MSG_HASH_MANIFEST_PART_BYTES);
        status = is_tensor ? text_of(r, at, "tensor", &part->tensor) : WB_OK;
        if (status == WB_OK)
            status = read_chunks(r, at, part);
    }
    if (status == WB_OK && sum != file->bytes)
        return fail_at(r, list, WB__MSG_HASH_MANIFEST_PARTS);
    return status;
}

static wb_status read_files(const reading *r)
{
    wb__node list;
    size_t n = 0;
    wb_status status = list_of(r, 0, "files", FILE_NODES, &list, &n);
    if (status != WB_OK)
        return status;
    wb__manifest_file *files = wb__arena_alloc(&r->manifest->arena, n * sizeof *files);
    if (files == NULL)
        return wb__fail_memory(r->context);
    r->manifest->files = files;
    wb__node at = wb__tree_first(r->tree, list);
    for (size_t i = 0; i < n && status == WB_OK; i++, at = wb__tree_next(r->tree, list, at)) {
        files[i] = (wb__manifest_file){0};
        r->manifest->file_count = i + 1;
        status = text_of(r, at, "name", &files[i].name);
        if (status == WB_OK && !is_plain_name(files[i].name))
            status = fail_at(r, at, WB__MSG_HASH_MANIFEST_FILE_NAME);
        if (status == WB_OK && !number_of(r, at, "bytes", &files[i].bytes))
            status = fail_at(r, at, WB__MSG_HASH_MANIFEST_FILE_BYTES);
        if (status == WB_OK)
            status = read_parts(r, at, &files[i]);
    }
    return status;
}

static wb_status read_tree(const reading *r)
{
    uint64_t version, chunk_bytes;
    if (!number_of(r, 0, "weighbridge_manifest", &version))
        return fail_at(r, 0, WB__MSG_HASH_MANIFEST_VERSION_MISSING);
    if (version != 1)
        return wb__fail(r->context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_HASH_MANIFEST_VERSION, (unsigned long long)version);
    if (!number_of(r, 0, "chunk_bytes", &chunk_bytes) || chunk_bytes != WB__CHUNK_BYTES)
        return fail_at(r, 0, WB__MSG_HASH_MANIFEST_CHUNK_BYTES);
    return read_files(r);
}

wb_status wb__manifest_parse(wb__manifest *manifest, wb__context *context, char *text, size_t bytes)
{
    wb__tree tree;
    wb_status status = WB_OK;
    *manifest = (wb__manifest){.allocator = context->allocator};
    manifest->arena.allocator = &manifest->allocator;
    bool parsed = wb__tree_parse(&tree, text, bytes, &context->allocator);
    reading r = {manifest, context, &tree};
    if (!parsed && tree.fault == WB__JSON_FAULT_MEMORY)
        status = wb__fail_memory(context);
    else if (!parsed)
        status = wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_MANIFEST, tree.fault_at,
                          WB__STR(""), "%s", wb__json_fault_text(tree.fault));
    else
        status = read_tree(&r);
    wb__tree_free(&tree);
    return status;
}

wb_status wb__manifest_read(wb__manifest *manifest, wb__context *context, const char *path)
{
    char *text;
    size_t bytes;
    *manifest = (wb__manifest){.allocator = context->allocator};
    context->file = path;
    wb_status status = wb__read_text(context, NULL, path, &text, &bytes);
    if (status == WB_OK && text == NULL)
        status = wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_HASH_MANIFEST_NOT_FOUND);
    if (status != WB_OK)
        return status;
    status = wb__manifest_parse(manifest, context, text, bytes);
    wb__free(&context->allocator, text, bytes + 1);
    context->file = "";
    return status;
}

wb_status wb__manifest_read_text(wb__manifest *manifest, wb__context *context, const char *name,
                                 const char *text, size_t bytes)
{
    *manifest = (wb__manifest){.allocator = context->allocator};
    context->file = name;
    if (bytes > context->limits.json_bytes || bytes >= UINT32_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_MANIFEST, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_HASH_MANIFEST_LONG, (unsigned long long)bytes,
                        (unsigned long long)context->limits.json_bytes);
    char *copy = wb__alloc(&context->allocator, bytes + 1);
    if (copy == NULL)
        return wb__fail_memory(context);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    wb_status status = wb__manifest_parse(manifest, context, copy, bytes);
    wb__free(&context->allocator, copy, bytes + 1);
    context->file = "";
    return status;
}

void wb__manifest_free(wb__manifest *manifest)
{
    if (manifest->arena.allocator != NULL)
        wb__arena_free(&manifest->arena);
    manifest->arena.allocator = NULL;
}
