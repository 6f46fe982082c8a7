/*
 * Shapes (kinds of dense files, dense.h) of many files: safetensors shards, split GGUF models and
 * Ollama stores.
 */
#include "dense.h"
#include "gguf_build.h"

#include <inttypes.h>

/* Writes a directory with an index and many shards, each with one tensor. */
static void write_shards(const dense_shape *s, const char *folder, size_t bytes)
{
    unsigned count = (unsigned)(bytes / 120);
    if (count > 60000)
        count = 60000;
    (void)s;
    FILE *index = open_in(folder, "model.safetensors.index.json");
    fputs("{\"weight_map\":{", index);
    for (unsigned i = 0; i < count; i++) {
        char name[64], header[128];
        (void)sprintf(name, "model-%05u-of-%05u.safetensors", i + 1, count);
        (void)sprintf(header, "{\"%u\":[\"U8\",[0],[0,0]]}", i);
        fprintf(index, "%s\"%u\":\"%s\"", i ? "," : "", i, name);
        char *path = text_of("%s/%s", folder, name);
        st_write(path, header, 0);
        free(path);
    }
    fputs("}}", index);
    fclose(index);
}

static void write_splits(const dense_shape *s, const char *folder, size_t bytes)
{
    unsigned count = (unsigned)(bytes / 200);
    if (count > 60000)
        count = 60000;
    (void)s;
    for (unsigned i = 0; i < count; i++) {
        gguf g;
        char name[24];
        char *path = text_of("%s/model-%05u-of-%05u.gguf", folder, i + 1, count);
        gguf_start(&g, false, 1, 3);
        gguf_number(&g, "split.no", U16, i, 2);
        gguf_number(&g, "split.count", U16, count, 2);
        gguf_number(&g, "split.tensors.count", I32, count, 4);
        (void)sprintf(name, "%u", i);
        const uint64_t shape_of_one[] = {1, 0};
        gguf_tensor(&g, name, shape_of_one, 24, 0);
        gguf_pad(&g, 32);
        gguf_uint(&g, 1, 8);
        write_file(path, g.bytes, g.n);
        free(path);
        gguf_free(&g);
    }
}

/* Writes a store with one manifest, which lists the same blob many times. */
static void write_manifest(const dense_shape *s, const char *folder, size_t bytes)
{
    static const char *const folders[] = {"blobs", "manifests", "manifests/registry.ollama.ai",
                                          "manifests/registry.ollama.ai/library",
                                          "manifests/registry.ollama.ai/library/m"};
    (void)s;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char *path = text_of("%s/%s", folder, folders[i]);
        if (mkdir(path, 0700) != 0)
            abort();
        free(path);
    }
    size_t limit = (size_t)4 << 20; /* manifests of more than 4 MiB are refused */
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    char *blob = text_of("%s/blobs/sha256-%064d", folder, 0);
    st_write(blob, header, 1);
    free(blob);
    FILE *file = open_in(folder, "manifests/registry.ollama.ai/library/m/latest");
    fputs("{\"schemaVersion\":2,\"layers\":[", file);
    if (bytes > limit - 1000)
        bytes = limit - 1000;
    for (unsigned i = 0; (size_t)ftell(file) < bytes; i++)
        fprintf(
            file,
            "%s{\"mediaType\":\"application/vnd.ollama.image.tensor\",\"digest\":\"sha256:%064d\","
            "\"size\":%zu,\"name\":\"%u\"}",
            i ? "," : "", 0, sizeof header + 8, i);
    fputs("]}", file);
    fclose(file);
}

const dense_shape set_shapes[] = {
    {"shards", write_shards, "", NULL},
    {"gguf splits", write_splits, "", NULL},
    {"ollama manifest", write_manifest, "ollama://m", NULL},
    {NULL, NULL, NULL, NULL},
};
