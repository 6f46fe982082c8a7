/*
 * Creates the manifest of a model in an Ollama store and the blobs of its sidecar files.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "write/ollama/store.h"

#define CONFIG_TYPE "application/vnd.docker.container.image.v1+json"
#define IMAGE_TYPE "application/vnd.ollama.image."

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

/*
 * Ollama stores each JSON file of a model in a layer of type json, and finds the layer by the name
 * of the file. The file chat_template.jinja is also stored in a layer of type json, which Ollama
 * ignores. In a layer of type template, Ollama would parse it as a Go template.
 */
bool wb__store_has_layer(wb__str name)
{
    return wb__str_ends_with(name, WB__STR(".json")) ||
           wb__str_equal(name, WB__STR("chat_template.jinja"));
}

static int by_name(const void *left, const void *right)
{
    const wb__sidecar *a = *(wb__sidecar *const *)left;
    const wb__sidecar *b = *(wb__sidecar *const *)right;
    return strcmp(a->name.ptr, b->name.ptr);
}

static wb_status put_sidecar_layers(wb__context *context, wb_writer *writer, wb__json_writer *json)
{
    size_t count = writer->extras.count;
    wb__sidecar **sorted = wb__arena_alloc(&writer->arena, (count + 1) * sizeof(*sorted));
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
        if (!wb__store_has_layer(sorted[i]->name))
            continue;
        status = wb__store_read_extra(context, sorted[i], &bytes, &n, &owned);
        if (status != WB_OK)
            return status;
        status = wb__store_put_blob(context, writer, bytes, n, digest);
        wb__free(&context->allocator, owned, n);
        if (status == WB_OK)
            put_layer(json, IMAGE_TYPE, "json", digest, n, sorted[i]->name);
    }
    return status;
}

static wb_status put_text_layers(wb__context *context, wb_writer *writer, wb__json_writer *json)
{
    static const char *const kinds[] = {"template", "system", "license", "params", "messages"};
    wb_status status = WB_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == WB_OK; i++) {
        char key[32];
        char digest[2 * WB__SHA256_BYTES + 1];
        (void)snprintf(key, sizeof key, "ollama.%s", kinds[i]);
        wb__str text = wb__store_text(writer, key);
        if (text.len == 0)
            continue;
        status = wb__store_put_blob(context, writer, text.ptr, text.len, digest);
        if (status == WB_OK)
            put_layer(json, IMAGE_TYPE, kinds[i], digest, text.len, WB__STR(""));
    }
    return status;
}

static wb_status put_config(wb__context *context, const wb_writer *writer, wb__json_writer *json)
{
    wb__buffer config = {.allocator = &context->allocator, .ceiling = SIZE_MAX / 2};
    char digest[2 * WB__SHA256_BYTES + 1];
    wb_status status = wb__store_config(context, writer, &config);
    if (status == WB_OK && wb__buffer_failed(&config))
        status = wb__fail_memory(context);
    if (status == WB_OK)
        status = wb__store_put_blob(context, writer, config.bytes, config.n, digest);
    if (status == WB_OK) {
        wb__json_write_key(json, "config");
        put_layer(json, CONFIG_TYPE, "", digest, config.n, WB__STR(""));
    }
    wb__buffer_free(&config);
    return status;
}

wb_status wb__store_manifest(wb__context *context, wb_writer *writer, wb__buffer *out)
{
    wb__json_writer json = {.write = wb__store_append, .ctx = out};
    wb__json_write_begin(&json, '{');
    wb__json_write_key(&json, "schemaVersion");
    wb__json_write_uint(&json, 2);
    wb__store_put_field(&json, "mediaType",
                        WB__STR("application/vnd.docker.distribution.manifest.v2+json"));
    wb_status status = put_config(context, writer, &json);
    wb__json_write_key(&json, "layers");
    wb__json_write_begin(&json, '[');
    for (size_t i = 0; i < writer->output_count; i++) {
        const wb__output *output = &writer->outputs[i];
        put_layer(&json, IMAGE_TYPE, writer->whole != NULL ? "model" : "tensor", output->digest,
                  output->layout.bytes, output->layer);
    }
    if (status == WB_OK)
        status = put_sidecar_layers(context, writer, &json);
    if (status == WB_OK)
        status = put_text_layers(context, writer, &json);
    wb__json_write_end(&json, ']');
    wb__json_write_end(&json, '}');
    wb__buffer_text(out, "\n");
    return status == WB_OK && wb__buffer_failed(out) ? wb__fail_memory(context) : status;
}
