/*
 * A model in an Ollama store: blobs first, each under the SHA-256 of its bytes, the manifest last,
 * without which no blob is a model. A blob that is there already is not written again.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bundles/ollama/ollama.h"
#include "write/write.h"
#include "json/tree.h"

#define CONFIG_TYPE "application/vnd.docker.container.image.v1+json"
#define IMAGE_TYPE "application/vnd.ollama.image."
#define CHUNK ((size_t)1 << 20)

/* ---- digests ---- */

static void print_digest(const uint8_t digest[WB__SHA256_BYTES], char *text)
{
    for (size_t i = 0; i < WB__SHA256_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static wb_status fail_hash(wb__context *context)
{
    return wb__fail_os(context, EIO, "libcrypto could not compute the SHA-256 that names a blob");
}

/* Bytes were written in any order, so that they are read back, out of the page cache mostly. */
static wb_status hash_output(wb__context *context, wb__output *output, wb__sha256 *hash,
                             uint8_t *chunk)
{
    uint8_t digest[WB__SHA256_BYTES];
    uint64_t at = 0, end = output->layout.bytes;
    while (at < end) {
        size_t n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        int os_error = wb__sink_read(output->sink, at, chunk, n);
        if (os_error != 0)
            return wb__fail_os(context, os_error, "cannot read back what was written");
        wb__sha256_add(hash, chunk, n);
        at += n;
    }
    if (!wb__sha256_finish(hash, digest))
        return fail_hash(context);
    print_digest(digest, output->digest);
    return WB_OK;
}

wb_status wb__store_digest(wb__context *context, wb_writer *writer, wb__output *output)
{
    wb__sha256 hash;
    uint8_t *chunk = wb__alloc(&context->allocator, CHUNK);
    (void)writer;
    if (chunk == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__sha256_open(&hash, context);
    if (status == WB_OK)
        status = hash_output(context, output, &hash, chunk);
    wb__sha256_close(&hash);
    wb__free(&context->allocator, chunk, CHUNK);
    return status;
}

static wb_status hash_bytes(wb__context *context, const void *bytes, size_t n, char *text)
{
    wb__sha256 hash;
    uint8_t digest[WB__SHA256_BYTES];
    wb_status status = wb__sha256_open(&hash, context);
    if (status == WB_OK) {
        wb__sha256_add(&hash, bytes, n);
        if (wb__sha256_finish(&hash, digest))
            print_digest(digest, text);
        else
            status = fail_hash(context);
    }
    wb__sha256_close(&hash);
    return status;
}

/* ---- folders ---- */

/* Makes a folder, and its name durable. 0, or errno. */
static int make_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? 0 : errno;
    if (slash == NULL || slash == path)
        return wb__folder_sync(slash == NULL ? "." : "/");
    *slash = '\0';
    int os_error = wb__folder_sync(path);
    *slash = '/';
    return os_error;
}

/* Makes the folders that lead to a path. */
static wb_status make_folders(wb__context *context, const char *path)
{
    size_t n = strlen(path) + 1;
    char *copy = wb__alloc(&context->allocator, n);
    int os_error = 0;
    if (copy == NULL)
        return wb__fail_memory(context);
    memcpy(copy, path, n);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL && os_error == 0;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        os_error = make_folder(copy);
        *slash = '/';
    }
    wb__free(&context->allocator, copy, n);
    if (os_error == 0)
        return WB_OK;
    context->file = path;
    return wb__fail_os(context, os_error, "cannot make the folders of the store");
}

/* Ollama finds models whatever the case of their names: one that is there keeps its own. */
static wb_status find_existing(wb__context *context, wb_writer *writer)
{
    char *path;
    wb_status status = wb__ollama_find(context, writer->store, writer->store_name, &path);
    if (status == WB_ERROR_NOT_FOUND) {
        (void)wb__error_reset(context->error, context->error);
        context->file = "";
        return WB_OK;
    }
    if (status != WB_OK)
        return status;
    writer->manifest_path = wb__arena_copy(&writer->arena, path, strlen(path));
    wb__free(&context->allocator, path, strlen(path) + 1);
    return writer->manifest_path == NULL ? wb__fail_memory(context) : WB_OK;
}

wb_status wb__store_begin(wb__context *context, wb_writer *writer)
{
    struct stat st;
    wb_status found = find_existing(context, writer);
    if (found != WB_OK)
        return found;
    if (!(writer->flags & WB_WRITE_FORCE) && lstat(writer->manifest_path, &st) == 0) {
        context->file = writer->manifest_path;
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_EXISTS, WB_NO_OFFSET,
                        WB__STR(""), "the store has a model of this name");
    }
    wb_status status = make_folders(context, writer->blobs);
    return status == WB_OK ? make_folders(context, writer->manifest_path) : status;
}

/* ---- blobs ---- */

static char *blob_path(wb__context *context, const wb_writer *writer, const char *digest)
{
    size_t n = strlen(writer->blobs) + 1 + 2 * (size_t)WB__SHA256_BYTES + 1;
    char *path = wb__alloc(&context->allocator, n);
    if (path != NULL)
        (void)snprintf(path, n, "%s-%s", writer->blobs, digest);
    return path;
}

/* A blob of that name and length is there; if the length is another it was torn, not by us. */
static bool is_there(const char *path, uint64_t bytes)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes;
}

static wb_status publish_output(wb__context *context, const wb_writer *writer, wb__output *output)
{
    char *path = blob_path(context, writer, output->digest);
    wb_status status = path == NULL ? wb__fail_memory(context) : WB_OK;
    if (path != NULL && !is_there(path, output->layout.bytes)) {
        status = wb__sink_rename(context, output->sink, path);
        if (status == WB_OK)
            status = wb__sink_publish(context, output->sink);
    }
    wb__free(&context->allocator, path, path == NULL ? 0 : strlen(path) + 1);
    wb__sink_discard(output->sink);
    output->sink = NULL;
    return status;
}

static wb_status write_file(wb__context *context, const char *path, const void *bytes, size_t n)
{
    wb_sink *sink;
    wb_status status = wb__sink_open(context, path, n, &sink);
    if (status != WB_OK)
        return status;
    status = wb__sink_write(context, sink, bytes, n);
    if (status == WB_OK)
        return wb__sink_commit(context, sink);
    wb__sink_discard(sink);
    return status;
}

static wb_status put_blob(wb__context *context, const wb_writer *writer, const void *bytes,
                          size_t n, char *digest)
{
    wb_status status = hash_bytes(context, bytes, n, digest);
    if (status != WB_OK)
        return status;
    char *path = blob_path(context, writer, digest);
    if (path == NULL)
        return wb__fail_memory(context);
    if (!is_there(path, n))
        status = write_file(context, path, bytes, n);
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

/* ---- the manifest ---- */

static bool append(void *ctx, const char *text, size_t n)
{
    wb__buffer_add(ctx, text, n);
    return !wb__buffer_failed(ctx);
}

static void put_layer(wb__json_writer *json, const char *type, const char *kind, const char *digest,
                      uint64_t bytes, wb__str name)
{
    char text[80];
    wb__json_write_begin(json, '{');
    wb__json_write_key(json, "mediaType");
    (void)snprintf(text, sizeof text, "%s%s", type, kind);
    wb__json_write_str(json, wb__str_from(text, SIZE_MAX));
    wb__json_write_key(json, "digest");
    (void)snprintf(text, sizeof text, "sha256:%s", digest);
    wb__json_write_str(json, wb__str_from(text, SIZE_MAX));
    wb__json_write_key(json, "size");
    wb__json_write_uint(json, bytes);
    if (name.len != 0) {
        wb__json_write_key(json, "name");
        wb__json_write_str(json, name);
    }
    wb__json_write_end(json, '}');
}

static int by_name(const void *left, const void *right)
{
    const wb__extra *a = *(wb__extra *const *)left;
    const wb__extra *b = *(wb__extra *const *)right;
    return strcmp(a->name.ptr, b->name.ptr);
}

/* The bytes of a file beside the weights; a copy in *owned where it has to be freed. */
static wb_status read_extra(wb__context *context, const wb__extra *extra, const uint8_t **bytes,
                            size_t *n, uint8_t **owned)
{
    wb__source *source;
    bool is_folder;
    *bytes = extra->bytes;
    *n = extra->n;
    *owned = NULL;
    if (extra->path == NULL)
        return WB_OK;
    context->file = extra->path;
    wb_status status = wb__source_open(context, extra->path, WB_ACCESS_READ, &source, &is_folder);
    if (status != WB_OK || is_folder)
        return is_folder ? wb__fail_os(context, EISDIR, "cannot read the file") : status;
    if (wb__source_bytes(source) > context->limits.json_bytes)
        status = wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, extra->name,
                          "the file has more than %llu bytes (wb_limits.json_bytes)",
                          (unsigned long long)context->limits.json_bytes);
    if (status == WB_OK) {
        *n = (size_t)wb__source_bytes(source);
        *owned = wb__alloc(&context->allocator, *n);
        status = *owned == NULL ? wb__fail_memory(context)
                                : wb__source_read(source, context, 0, *owned, *n);
        *bytes = *owned;
    }
    wb__source_close(source);
    if (status == WB_OK) {
        context->file = "";
    } else {
        wb__free(&context->allocator, *owned, *n);
        *owned = NULL;
    }
    return status;
}

static wb_status put_json_layers(wb__context *context, wb_writer *writer, wb__json_writer *json)
{
    size_t count = writer->extras.count;
    wb__extra **sorted = wb__arena_alloc(&writer->arena, (count + 1) * sizeof(*sorted));
    wb_status status = WB_OK;
    if (sorted == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < count; i++)
        sorted[i] = wb__list_at(&writer->extras, i);
    if (count != 0)
        qsort(sorted, count, sizeof(*sorted), by_name);
    for (size_t i = 0; i < count && status == WB_OK; i++) {
        const uint8_t *bytes;
        uint8_t *owned;
        size_t n;
        char digest[2 * WB__SHA256_BYTES + 1];
        if (!wb__str_ends_with(sorted[i]->name, WB__STR(".json")))
            continue;
        status = read_extra(context, sorted[i], &bytes, &n, &owned);
        if (status != WB_OK)
            return status;
        status = put_blob(context, writer, bytes, n, digest);
        wb__free(&context->allocator, owned, n);
        if (status == WB_OK)
            put_layer(json, IMAGE_TYPE, "json", digest, n, sorted[i]->name);
    }
    return status;
}

/* The text under a key that was set, or empty. */
static wb__str text_under(const wb_writer *writer, const char *key)
{
    uint32_t number = wb__name_map_find(&writer->meta_names, wb__str_from(key, SIZE_MAX));
    if (number == UINT32_MAX)
        return (wb__str){"", 0};
    const wb__out_meta *meta = wb__list_at(&writer->metas, number);
    if (meta->tag != WB__TAG_STRING)
        return (wb__str){"", 0};
    return (wb__str){(const char *)meta->value + 8, meta->bytes - 8};
}

static wb_status put_text_layers(wb__context *context, wb_writer *writer, wb__json_writer *json)
{
    static const char *const kinds[] = {"template", "system", "license", "params", "messages"};
    wb_status status = WB_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == WB_OK; i++) {
        char key[32];
        char digest[2 * WB__SHA256_BYTES + 1];
        (void)snprintf(key, sizeof key, "ollama.%s", kinds[i]);
        wb__str text = text_under(writer, key);
        if (text.len == 0)
            continue;
        status = put_blob(context, writer, text.ptr, text.len, digest);
        if (status == WB_OK)
            put_layer(json, IMAGE_TYPE, kinds[i], digest, text.len, WB__STR(""));
    }
    return status;
}

/* ---- the config ---- */

/* How Ollama talks to models of an architecture, as far as it is known. */
static const struct dialect {
    const char *architecture; /* part of the name that config.json has, in lower case */
    const char *renderer, *parser;
    const char *capability; /* beside completion */
} dialects[] = {{"qwen3", "qwen3-coder", "qwen3", "tools"}};

static bool contains_nocase(wb__str text, const char *part)
{
    wb__str wanted = wb__str_from(part, SIZE_MAX);
    for (size_t i = 0; i + wanted.len <= text.len; i++) {
        if (wb__str_equal_nocase((wb__str){text.ptr + i, wanted.len}, wanted))
            return true;
    }
    return false;
}

static const struct dialect *dialect_in(const wb__tree *tree)
{
    wb__node list = wb__tree_get(tree, 0, "architectures");
    wb__node first = list == WB__NO_NODE ? WB__NO_NODE : wb__tree_first(tree, list);
    wb__str name = first == WB__NO_NODE ? WB__STR("") : wb__tree_string(tree, first);
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        if (contains_nocase(name, dialects[i].architecture))
            return &dialects[i];
    }
    return NULL;
}

static wb_status find_dialect(wb__context *context, const wb_writer *writer,
                              const struct dialect **dialect)
{
    *dialect = NULL;
    for (size_t i = 0; i < writer->extras.count; i++) {
        const wb__extra *extra = wb__list_at(&writer->extras, i);
        const uint8_t *bytes;
        uint8_t *owned;
        size_t n;
        if (!wb__str_equal(extra->name, WB__STR("config.json")))
            continue;
        wb_status status = read_extra(context, extra, &bytes, &n, &owned);
        char *copy = status == WB_OK ? wb__alloc(&context->allocator, n + 1) : NULL;
        if (copy != NULL) {
            wb__tree tree;
            memcpy(copy, bytes, n);
            copy[n] = '\0';
            if (wb__tree_parse(&tree, copy, n, &context->allocator))
                *dialect = dialect_in(&tree);
            else if (tree.fault == WB__JSON_FAULT_MEMORY)
                status = wb__fail_memory(context);
            wb__tree_free(&tree);
            wb__free(&context->allocator, copy, n + 1);
        } else if (status == WB_OK) {
            status = wb__fail_memory(context);
        }
        wb__free(&context->allocator, owned, n);
        return status;
    }
    return WB_OK;
}

static void put_field(wb__json_writer *json, const char *key, wb__str text)
{
    wb__json_write_key(json, key);
    wb__json_write_str(json, text);
}

/* What Ollama says of a model that is a GGUF file, in the order of its struct. */
static void make_gguf_config(const wb_writer *writer, wb__buffer *out)
{
    wb__json_writer json = {.write = append, .ctx = out};
    wb__str family = text_under(writer, "ollama.model_family");
    wb__json_write_begin(&json, '{');
    put_field(&json, "model_format", WB__STR("gguf"));
    put_field(&json, "model_family", family);
    wb__json_write_key(&json, "model_families");
    wb__json_write_begin(&json, '[');
    wb__json_write_str(&json, family);
    wb__json_write_end(&json, ']');
    put_field(&json, "model_type", text_under(writer, "ollama.model_type"));
    put_field(&json, "file_type", text_under(writer, "ollama.file_type"));
    put_field(&json, "architecture", WB__STR("amd64"));
    put_field(&json, "os", WB__STR("linux"));
    wb__json_write_end(&json, '}');
}

/* In the order of Ollama's struct. */
static wb_status make_config(wb__context *context, const wb_writer *writer, wb__buffer *out)
{
    const struct dialect *dialect;
    wb__str whole = text_under(writer, "ollama.config");
    if (whole.len != 0) {
        wb__buffer_add(out, whole.ptr, whole.len);
        return WB_OK;
    }
    if (writer->whole != NULL) {
        make_gguf_config(writer, out);
        return WB_OK;
    }
    wb_status status = find_dialect(context, writer, &dialect);
    if (status != WB_OK)
        return status;
    wb__json_writer json = {.write = append, .ctx = out};
    wb__json_write_begin(&json, '{');
    put_field(&json, "model_format", WB__STR("safetensors"));
    put_field(&json, "model_family", WB__STR(""));
    wb__json_write_key(&json, "model_families");
    wb__json_write_null(&json);
    put_field(&json, "model_type", WB__STR(""));
    put_field(&json, "file_type", text_under(writer, "ollama.file_type"));
    if (dialect != NULL) {
        put_field(&json, "renderer", wb__str_from(dialect->renderer, SIZE_MAX));
        put_field(&json, "parser", wb__str_from(dialect->parser, SIZE_MAX));
    }
    put_field(&json, "requires", WB__STR("0.19.0"));
    wb__json_write_key(&json, "capabilities");
    wb__json_write_begin(&json, '[');
    wb__json_write_str(&json, WB__STR("completion"));
    if (dialect != NULL)
        wb__json_write_str(&json, wb__str_from(dialect->capability, SIZE_MAX));
    wb__json_write_end(&json, ']');
    put_field(&json, "architecture", WB__STR(""));
    put_field(&json, "os", WB__STR(""));
    wb__json_write_end(&json, '}');
    return WB_OK;
}

static wb_status put_config(wb__context *context, const wb_writer *writer, wb__json_writer *json)
{
    wb__buffer config = {.allocator = &context->allocator, .ceiling = SIZE_MAX / 2};
    char digest[2 * WB__SHA256_BYTES + 1];
    wb_status status = make_config(context, writer, &config);
    if (status == WB_OK && wb__buffer_failed(&config))
        status = wb__fail_memory(context);
    if (status == WB_OK)
        status = put_blob(context, writer, config.bytes, config.n, digest);
    if (status == WB_OK) {
        wb__json_write_key(json, "config");
        put_layer(json, CONFIG_TYPE, "", digest, config.n, WB__STR(""));
    }
    wb__buffer_free(&config);
    return status;
}

static wb_status make_manifest(wb__context *context, wb_writer *writer, wb__buffer *out)
{
    wb__json_writer json = {.write = append, .ctx = out};
    wb__json_write_begin(&json, '{');
    wb__json_write_key(&json, "schemaVersion");
    wb__json_write_uint(&json, 2);
    put_field(&json, "mediaType", WB__STR("application/vnd.docker.distribution.manifest.v2+json"));
    wb_status status = put_config(context, writer, &json);
    wb__json_write_key(&json, "layers");
    wb__json_write_begin(&json, '[');
    for (size_t i = 0; i < writer->output_count; i++) {
        const wb__output *output = &writer->outputs[i];
        put_layer(&json, IMAGE_TYPE, writer->whole != NULL ? "model" : "tensor", output->digest,
                  output->layout.bytes, output->layer);
    }
    if (status == WB_OK)
        status = put_json_layers(context, writer, &json);
    if (status == WB_OK)
        status = put_text_layers(context, writer, &json);
    wb__json_write_end(&json, ']');
    wb__json_write_end(&json, '}');
    wb__buffer_text(out, "\n");
    return status == WB_OK && wb__buffer_failed(out) ? wb__fail_memory(context) : status;
}

wb_status wb__store_commit(wb__context *context, wb_writer *writer)
{
    wb__buffer manifest = {.allocator = &context->allocator, .ceiling = SIZE_MAX / 2};
    wb_status status = WB_OK;
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++)
        status = wb__output_finish(context, writer, &writer->outputs[i]);
    if (status == WB_OK)
        status = wb__writer_check_source(context, writer);
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++)
        status = publish_output(context, writer, &writer->outputs[i]);
    if (status == WB_OK)
        status = make_manifest(context, writer, &manifest);
    if (status == WB_OK)
        status = write_file(context, writer->manifest_path, manifest.bytes, manifest.n);
    wb__buffer_free(&manifest);
    return status;
}
