/*
 * headers big|small FILE: writes a safetensors file with a header like those of the official
 * library. The tensor data is a hole in the file.
 *
 *   big    92,160 tensors, the experts of a large mixture of experts; header of 12 MB
 *   small  300 tensors, a dense model of 33 layers; header of 35 KB
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct header {
    FILE *text;
    uint64_t data; /* total size of the tensors so far, in bytes */
} header;

/* Adds a BF16 tensor; `columns` is 0 for a one-dimensional tensor. */
static void add(header *h, const char *name, uint64_t rows, uint64_t columns)
{
    uint64_t bytes = 2 * rows * (columns == 0 ? 1 : columns);
    fprintf(h->text, ",\"%s\":{\"dtype\":\"BF16\",\"shape\":[%" PRIu64, name, rows);
    if (columns != 0)
        fprintf(h->text, ",%" PRIu64, columns);
    fprintf(h->text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", h->data, h->data + bytes);
    h->data += bytes;
}

static void add_big(header *h)
{
    static const char *const projections[] = {"gate", "up", "down"};
    char name[128];
    for (int layer = 0; layer < 60; layer++) {
        for (int expert = 0; expert < 512; expert++) {
            for (int i = 0; i < 3; i++) {
                (void)snprintf(name, sizeof name, "model.layers.%d.mlp.experts.%d.%s_proj.weight",
                               layer, expert, projections[i]);
                add(h, name, i == 2 ? 2048 : 1408, i == 2 ? 1408 : 2048);
            }
        }
    }
}

static void add_small(header *h)
{
    static const struct part {
        const char *name;
        uint64_t rows, columns;
    } parts[] = {
        {"self_attn.q_proj", 4096, 4096},      {"self_attn.k_proj", 1024, 4096},
        {"self_attn.v_proj", 1024, 4096},      {"self_attn.o_proj", 4096, 4096},
        {"mlp.gate_proj", 14336, 4096},        {"mlp.up_proj", 14336, 4096},
        {"mlp.down_proj", 4096, 14336},        {"input_layernorm", 4096, 0},
        {"post_attention_layernorm", 4096, 0},
    };
    char name[128];
    add(h, "model.embed_tokens.weight", 128256, 4096);
    for (int layer = 0; layer < 33; layer++) {
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            (void)snprintf(name, sizeof name, "model.layers.%d.%s.weight", layer, parts[i].name);
            add(h, name, parts[i].rows, parts[i].columns);
        }
    }
    add(h, "model.norm.weight", 4096, 0);
    add(h, "lm_head.weight", 128256, 4096);
}

static int write_file(const char *path, const char *text, size_t n, uint64_t data)
{
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)n >> 8 * i);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return 1;
    /* Flush the file to disk now, so that write-back does not disturb the measurement. */
    int failed = fwrite(length, 1, sizeof length, file) != sizeof length ||
                 fwrite(text, 1, n, file) != n || fflush(file) != 0 ||
                 ftruncate(fileno(file), (off_t)(sizeof length + n + data)) != 0 ||
                 fsync(fileno(file)) != 0;
    return fclose(file) != 0 || failed;
}

int main(int argc, char **argv)
{
    char *text;
    size_t n;
    if (argc != 3 || (strcmp(argv[1], "big") != 0 && strcmp(argv[1], "small") != 0)) {
        fputs("usage: headers big|small FILE\n", stderr);
        return 4;
    }
    header h = {.text = open_memstream(&text, &n)};
    if (h.text == NULL)
        return 1;
    fputs("{\"__metadata__\":{\"format\":\"pt\"}", h.text);
    (strcmp(argv[1], "big") == 0 ? add_big : add_small)(&h);
    fputc('}', h.text);
    (void)fflush(h.text);
    fprintf(h.text, "%*s", (int)(-n % 8), "");
    int failed = fclose(h.text) != 0 || write_file(argv[2], text, n, h.data) != 0;
    if (failed)
        perror(argv[2]);
    free(text);
    return failed;
}
