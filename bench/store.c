/*
 * store MODELS FOLDER: writes the manifests of an Ollama store. Each manifest lists 29 blobs: the
 * 25 tensors of a small model, one per blob, and 4 sidecar files. No blobs are written. Does
 * nothing if FOLDER already exists.
 */
#define _GNU_SOURCE /* sync */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const in_layer[] = {
    "input_layernorm",          "mlp.down_proj",    "mlp.gate_proj",    "mlp.up_proj",
    "post_attention_layernorm", "self_attn.k_norm", "self_attn.k_proj", "self_attn.o_proj",
    "self_attn.q_norm",         "self_attn.q_proj", "self_attn.v_proj",
};
static const char *const configs[] = {"config.json", "generation_config.json", "tokenizer.json",
                                      "tokenizer_config.json"};

static uint64_t state = 1;

/* splitmix64 */
static uint64_t random_bits(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void put_blob(FILE *file, const char *kind, const char *name)
{
    fprintf(file, "{\"mediaType\":\"application/vnd.%s\",\"digest\":\"sha256:", kind);
    for (int i = 0; i < 4; i++)
        fprintf(file, "%016" PRIx64, random_bits());
    fprintf(file, "\",\"size\":%" PRIu64, random_bits() % 100000);
    if (name != NULL)
        fprintf(file, ",\"name\":\"%s\"", name);
    fputc('}', file);
}

static void put_tensor(FILE *file, const char *name)
{
    put_blob(file, "ollama.image.tensor", name);
    fputc(',', file);
}

static int write_manifest(const char *path)
{
    char name[128];
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return 1;
    fputs("{\"schemaVersion\":2,\"mediaType\":"
          "\"application/vnd.docker.distribution.manifest.v2+json\",\"config\":",
          file);
    put_blob(file, "docker.container.image.v1+json", NULL);
    fputs(",\"layers\":[", file);
    put_tensor(file, "lm_head.weight");
    put_tensor(file, "model.embed_tokens.weight");
    for (int layer = 0; layer < 2; layer++) {
        for (size_t i = 0; i < sizeof in_layer / sizeof in_layer[0]; i++) {
            (void)snprintf(name, sizeof name, "model.layers.%d.%s.weight", layer, in_layer[i]);
            put_tensor(file, name);
        }
    }
    put_tensor(file, "model.norm.weight");
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        fputs(i == 0 ? "" : ",", file);
        put_blob(file, "ollama.image.json", configs[i]);
    }
    fputs("]}", file);
    return fclose(file) != 0;
}

/* Creates the directory FOLDER/manifests/registry.ollama.ai/library/NAME and writes the manifest
 * "latest" in it. */
static int write_model(const char *folder, unsigned long number)
{
    char path[4096];
    static const char *const steps[] = {"", "/manifests", "/registry.ollama.ai", "/library"};
    int n = 0;
    (void)snprintf(path, sizeof path, "%s", folder);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        n = (int)strlen(path);
        (void)snprintf(path + n, sizeof path - (size_t)n, "%s", steps[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return 1;
    }
    n = (int)strlen(path);
    (void)snprintf(path + n, sizeof path - (size_t)n, "/model-%04lu", number);
    if (mkdir(path, 0777) != 0)
        return 1;
    n = (int)strlen(path);
    (void)snprintf(path + n, sizeof path - (size_t)n, "/latest");
    return write_manifest(path);
}

int main(int argc, char **argv)
{
    unsigned long models = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    char beside[4096];
    struct stat st;
    if (models == 0) {
        fputs("usage: store MODELS FOLDER\n", stderr);
        return 4;
    }
    if (stat(argv[2], &st) == 0)
        return 0;
    /* Writes to a temporary directory first: an interrupted run leaves no FOLDER. */
    (void)snprintf(beside, sizeof beside, "%s.%ld", argv[2], (long)getpid());
    for (unsigned long i = 0; i < models; i++) {
        if (write_model(beside, i) != 0) {
            perror(beside);
            return 1;
        }
    }
    if (rename(beside, argv[2]) != 0) {
        perror(argv[2]);
        return 1;
    }
    sync(); /* flushed now, so that write-back does not disturb the measurement */
    return 0;
}
