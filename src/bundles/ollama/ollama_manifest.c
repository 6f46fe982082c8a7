#include "bundles/ollama/ollama.h"

#include "bundles/bundles_messages.h"
#include "io/io.h"

#define MEDIA_PREFIX "application/vnd.ollama.image."
#define DIGEST_PREFIX 7 /* length of "sha256:" */
#define DIGEST_DIGITS 64
#define LAYERS_MAX 1000000 /* limit on the number of layers, far more than any model has */

static const struct {
    const char *word; /* last word of the media type */
    wb__layer_kind kind;
} kinds[] = {
    {"model", WB__LAYER_MODEL},       {"tensor", WB__LAYER_TENSOR},
    {"json", WB__LAYER_JSON},         {"draft", WB__LAYER_DRAFT},
    {"adapter", WB__LAYER_ADAPTER},   {"projector", WB__LAYER_PROJECTOR},
    {"template", WB__LAYER_TEMPLATE}, {"prompt", WB__LAYER_TEMPLATE},
    {"system", WB__LAYER_SYSTEM},     {"params", WB__LAYER_PARAMS},
    {"messages", WB__LAYER_MESSAGES}, {"license", WB__LAYER_LICENSE},
    {"other", WB__LAYER_OTHER},
};

const char *wb__layer_kind_name(wb__layer_kind kind)
{
    size_t i = 0;
    while (kinds[i].kind != kind)
        i++;
    return kinds[i].word;
}

static wb__layer_kind kind_of(wb__str media)
{
    wb__str prefix = WB__STR(MEDIA_PREFIX);
    if (media.len > prefix.len && memcmp(media.ptr, prefix.ptr, prefix.len) == 0) {
        wb__str word = {media.ptr + prefix.len, media.len - prefix.len};
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            if (wb__str_equal(word, wb__str_from(kinds[i].word, SIZE_MAX)))
                return kinds[i].kind;
        }
    }
    return WB__LAYER_OTHER;
}

void wb__ollama_init(wb__ollama *ollama, const wb_allocator *allocator)
{
    memset(ollama, 0, sizeof *ollama);
    ollama->allocator = *allocator;
    ollama->arena.allocator = &ollama->allocator;
}

void wb__ollama_free(wb__ollama *ollama)
{
    wb__tree_free(&ollama->manifest);
    wb__free(&ollama->allocator, ollama->text, ollama->text_bytes + 1);
    wb__free(&ollama->allocator, ollama->layers, ollama->capacity * sizeof *ollama->layers);
    ollama->arena.allocator = &ollama->allocator;
    wb__arena_free(&ollama->arena);
    wb__ollama_init(ollama, &ollama->allocator);
}

/*
 * Returns true if the text contains the name of a key that manifests contain. Used for a text that
 * is not valid JSON. The search omits the quotes of the key, because the JSON parser may have
 * replaced the closing quote by a NUL.
 */
static bool says_manifest(const wb__ollama *ollama)
{
    wb__str text = {ollama->text, ollama->text_bytes};
    return wb__str_has(text, WB__STR("schemaVersion"));
}

/*
 * Returns true if the text is meant to be a manifest, valid or not: its file is in a store, or the
 * text has fields that only manifests have. The result only selects the error message.
 */
static bool is_manifest(const wb__ollama *ollama)
{
    const wb__tree *tree = &ollama->manifest;
    if (wb__ollama_is_store(&ollama->allocator, ollama->store))
        return true;
    if (tree->fault != WB__JSON_FAULT_NONE)
        return says_manifest(ollama);
    wb__node layers = wb__tree_get(tree, 0, "layers");
    if (wb__tree_get(tree, 0, "schemaVersion") != WB__NO_NODE)
        return true;
    return wb__tree_get(tree, wb__tree_first(tree, layers), "digest") != WB__NO_NODE;
}

static wb_status fail_at(const wb__ollama *ollama, wb__context *context, uint64_t at,
                         const char *what)
{
    if (!is_manifest(ollama))
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_FOREIGN_JSON, 0, WB__STR(""),
                        WB__MSG_OLLAMA_JSON_TEXT);
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_OLLAMA_MANIFEST, at, WB__STR(""),
                    WB__MSG_OLLAMA_BAD_MANIFEST, what);
}

static wb_status fail(const wb__ollama *ollama, wb__context *context, wb__node node,
                      const char *what)
{
    return fail_at(ollama, context, wb__tree_at(&ollama->manifest, node)->at, what);
}

/*
 * Accepts "sha256:" or "sha256-", followed by 64 hexadecimal digits. A digest therefore cannot
 * contain path separators.
 */
static bool is_digest(wb__str text)
{
    if (text.len != DIGEST_PREFIX + DIGEST_DIGITS || memcmp(text.ptr, "sha256", 6) != 0 ||
        (text.ptr[6] != ':' && text.ptr[6] != '-'))
        return false;
    for (size_t i = DIGEST_PREFIX; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return false;
    }
    return true;
}

static wb_status read_layer(const wb__ollama *ollama, wb__context *context, wb__node node,
                            wb__ollama_layer *layer)
{
    const wb__tree *tree = &ollama->manifest;
    wb__node digest = wb__tree_get(tree, node, "digest");
    wb__node size = wb__tree_get(tree, node, "size");
    wb__node media = wb__tree_get(tree, node, "mediaType");
    wb__node name = wb__tree_get(tree, node, "name");
    *layer = (wb__ollama_layer){.node = node};
    if (wb__tree_type(tree, node) != WB__JSON_OBJECT)
        return fail(ollama, context, node, WB__MSG_OLLAMA_LAYER_OBJECT);
    if (digest == WB__NO_NODE || wb__tree_type(tree, digest) != WB__JSON_STRING)
        return fail(ollama, context, node, WB__MSG_OLLAMA_NO_DIGEST);
    wb__str text = wb__tree_string(tree, digest);
    if (!is_digest(text))
        return fail(ollama, context, digest, WB__MSG_OLLAMA_BAD_DIGEST);
    layer->digest = (wb__str){text.ptr + DIGEST_PREFIX, DIGEST_DIGITS};
    if (!wb__tree_uint(tree, size, &layer->bytes))
        return fail(ollama, context, node, WB__MSG_OLLAMA_NO_SIZE);
    if (media != WB__NO_NODE)
        layer->kind = kind_of(wb__tree_string(tree, media));
    else
        layer->kind = WB__LAYER_OTHER;
    if (name != WB__NO_NODE)
        layer->name = wb__tree_string(tree, name);
    return WB_OK;
}

static wb_status read_layers(wb__ollama *ollama, wb__context *context, wb__node layers)
{
    const wb__tree *tree = &ollama->manifest;
    size_t count = wb__tree_count(tree, layers);
    if (count > 0 && !wb__grow(&ollama->allocator, (void **)&ollama->layers, &ollama->capacity,
                               sizeof *ollama->layers, count, LAYERS_MAX))
        return count > LAYERS_MAX ? fail(ollama, context, layers, WB__MSG_OLLAMA_TOO_MANY_LAYERS)
                                  : wb__fail_memory(context);
    for (wb__node node = wb__tree_first(tree, layers); node != WB__NO_NODE;
         node = wb__tree_next(tree, layers, node)) {
        wb_status status = read_layer(ollama, context, node, &ollama->layers[ollama->count]);
        if (status != WB_OK)
            return status;
        ollama->count++;
    }
    return WB_OK;
}

/* Returns the directory above the last "manifests" of the path, which also contains the blobs. */
static char *store_of(wb__ollama *ollama, const char *path)
{
    static const char inner[] = "/manifests/";
    const char *at = NULL;
    for (const char *p = strstr(path, inner); p != NULL; p = strstr(p + 1, inner))
        at = p;
    if (at != NULL)
        return wb__arena_copy(&ollama->arena, path, at == path ? 1 : (size_t)(at - path));
    /*
     * For a relative path "manifests/…" the store is the current directory. For a manifest outside
     * a store, the store is the directory of the manifest.
     */
    if (strncmp(path, inner + 1, sizeof inner - 2) == 0)
        return wb__arena_copy(&ollama->arena, ".", 1);
    const char *slash = strrchr(path, '/');
    return slash == NULL ? wb__arena_copy(&ollama->arena, ".", 1)
                         : wb__arena_copy(&ollama->arena, path, (size_t)(slash - path));
}

wb_status wb__ollama_parse(wb__ollama *ollama, wb__context *context, const char *path, char *text,
                           size_t bytes)
{
    const wb__tree *tree = &ollama->manifest;
    ollama->text = text;
    ollama->text_bytes = bytes;
    ollama->path = wb__arena_copy(&ollama->arena, path, strlen(path));
    ollama->store = store_of(ollama, path);
    if (ollama->path == NULL || ollama->store == NULL)
        return wb__fail_memory(context);
    if (!wb__tree_parse(&ollama->manifest, text, bytes, &ollama->allocator))
        return tree->fault == WB__JSON_FAULT_MEMORY
                   ? wb__fail_memory(context)
                   : fail_at(ollama, context, tree->fault_at, wb__json_fault_text(tree->fault));
    wb__node layers = wb__tree_get(tree, 0, "layers");
    wb__node config = wb__tree_get(tree, 0, "config");
    if (layers == WB__NO_NODE || wb__tree_type(tree, layers) != WB__JSON_ARRAY)
        return fail(ollama, context, 0, WB__MSG_OLLAMA_NO_LAYERS);
    wb_status status = WB_OK;
    if (config != WB__NO_NODE && wb__tree_type(tree, config) == WB__JSON_OBJECT) {
        status = read_layer(ollama, context, config, &ollama->config);
        ollama->has_config = status == WB_OK;
    }
    return status != WB_OK ? status : read_layers(ollama, context, layers);
}

char *wb__ollama_blob(wb__ollama *ollama, const wb__ollama_layer *layer)
{
    static const char inner[] = "/blobs/sha256-";
    size_t store = strlen(ollama->store);
    char *path = wb__arena_text(&ollama->arena, store + sizeof inner + DIGEST_DIGITS);
    if (path == NULL)
        return NULL;
    memcpy(path, ollama->store, store);
    memcpy(path + store, inner, sizeof inner - 1);
    memcpy(path + store + sizeof inner - 1, layer->digest.ptr, DIGEST_DIGITS);
    path[store + sizeof inner - 1 + DIGEST_DIGITS] = '\0';
    return path;
}

const wb__ollama_layer *wb__ollama_layer_of(const wb__ollama *ollama, wb__layer_kind kind,
                                            const char *name)
{
    for (size_t i = 0; i < ollama->count; i++) {
        const wb__ollama_layer *layer = &ollama->layers[i];
        if (layer->kind == kind &&
            (name == NULL || wb__str_equal(layer->name, wb__str_from(name, SIZE_MAX))))
            return layer;
    }
    return NULL;
}
