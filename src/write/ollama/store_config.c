/*
 * Creates the config of a model in an Ollama store. The manifest of the model refers to the config.
 */
#include "write/ollama/store.h"
#include "json/tree.h"

/* The renderer, parser and capabilities that Ollama uses for an architecture. */
static const struct dialect {
    /* substring to search in the architecture of config.json, in lower case */
    const char *architecture;
    const char *renderer, *parser;
    const char *capability; /* capability of the model in addition to `completion` */
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
        const wb__sidecar *extra = wb__list_at(&writer->extras, i);
        const uint8_t *bytes;
        uint8_t *owned;
        size_t n;
        if (!wb__str_equal(extra->name, WB__STR("config.json")))
            continue;
        wb_status status = wb__store_read_extra(context, extra, &bytes, &n, &owned);
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

/* Writes the config of a GGUF model. The members have the order of Ollama's config struct. */
static void make_gguf_config(const wb_writer *writer, wb__buffer *out)
{
    wb__json_writer json = {.write = wb__store_append, .ctx = out};
    wb__str family = wb__store_text(writer, "ollama.model_family");
    wb__json_write_begin(&json, '{');
    wb__store_put_field(&json, "model_format", WB__STR("gguf"));
    wb__store_put_field(&json, "model_family", family);
    wb__json_write_key(&json, "model_families");
    wb__json_write_begin(&json, '[');
    wb__json_write_str(&json, family);
    wb__json_write_end(&json, ']');
    wb__store_put_field(&json, "model_type", wb__store_text(writer, "ollama.model_type"));
    wb__store_put_field(&json, "file_type", wb__store_text(writer, "ollama.file_type"));
    wb__store_put_field(&json, "architecture", WB__STR("amd64"));
    wb__store_put_field(&json, "os", WB__STR("linux"));
    wb__json_write_end(&json, '}');
}

/* Writes the members in the order of Ollama's config struct. */
wb_status wb__store_config(wb__context *context, const wb_writer *writer, wb__buffer *out)
{
    const struct dialect *dialect;
    wb__str whole = wb__store_text(writer, "ollama.config");
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
    wb__json_writer json = {.write = wb__store_append, .ctx = out};
    wb__json_write_begin(&json, '{');
    wb__store_put_field(&json, "model_format", WB__STR("safetensors"));
    wb__store_put_field(&json, "model_family", WB__STR(""));
    wb__json_write_key(&json, "model_families");
    wb__json_write_null(&json);
    wb__store_put_field(&json, "model_type", WB__STR(""));
    wb__store_put_field(&json, "file_type", wb__store_text(writer, "ollama.file_type"));
    if (dialect != NULL) {
        wb__store_put_field(&json, "renderer", wb__str_from(dialect->renderer, SIZE_MAX));
        wb__store_put_field(&json, "parser", wb__str_from(dialect->parser, SIZE_MAX));
    }
    wb__store_put_field(&json, "requires", WB__STR("0.19.0"));
    wb__json_write_key(&json, "capabilities");
    wb__json_write_begin(&json, '[');
    wb__json_write_str(&json, WB__STR("completion"));
    if (dialect != NULL)
        wb__json_write_str(&json, wb__str_from(dialect->capability, SIZE_MAX));
    wb__json_write_end(&json, ']');
    wb__store_put_field(&json, "architecture", WB__STR(""));
    wb__store_put_field(&json, "os", WB__STR(""));
    wb__json_write_end(&json, '}');
    return WB_OK;
}
