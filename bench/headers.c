/*
 * headers WORKLOAD FILE: writes a safetensors file with a large header. The tensor data is a hole
 * in the file.
 *
 *   big     92,160 BF16 tensors, the experts of a large mixture of experts; header of 12 MB, as the
 *           official library writes it
 *   spaces  like big, with the spaces that Python's json module writes
 *   plain:DTYPE  like big, with another dtype, for example plain:U32; no tensor has scales
 *   fp8     46,080 F8_E4M3 weights with their scales, in the order of the official library: all F32
 *           scales, then all weights (DeepSeek V3)
 *   mlx4    30,720 weights of 4 bits with scales and biases, as MLX writes them: entries sorted by
 *           name, data_offsets first in each entry, tensor data not in the order of the names
 *   moe     a complete model of 92,163 BF16 tensors: 60 layers with attention, router, shared experts
 *           and 508 experts
 *   small   300 tensors, a dense model of 33 layers; header of 35 KB
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct header {
    FILE *text;
    const char *dtype; /* dtype of the tensors that `add` appends */
    uint64_t data;     /* total size of the tensors so far, in bytes */
} header;

/* Returns the size of an element in bytes. */
static uint64_t size_of(const char *dtype)
{
    static const char *const names[] = {"F8_E4M3", "U8", "BF16", "F16", "F32", "U32"};
    static const uint64_t sizes[] = {1, 1, 2, 2, 4, 4};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], dtype) == 0)
            return sizes[i];
    }
    fprintf(stderr, "headers: unknown dtype %s\n", dtype);
    exit(4);
}

/* Adds a tensor; `columns` is 0 for a one-dimensional tensor. */
static void add(header *h, const char *name, uint64_t rows, uint64_t columns)
{
    uint64_t bytes = size_of(h->dtype) * rows * (columns == 0 ? 1 : columns);
    fprintf(h->text, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%" PRIu64, name, h->dtype, rows);
    if (columns != 0)
        fprintf(h->text, ",%" PRIu64, columns);
    fprintf(h->text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", h->data, h->data + bytes);
    h->data += bytes;
}

/* Adds a tensor, with the spaces that Python's json.dumps writes. */
static void add_spaced(header *h, const char *name, uint64_t rows, uint64_t columns)
{
    uint64_t bytes = size_of(h->dtype) * rows * columns;
    fprintf(h->text,
            ", \"%s\": {\"dtype\": \"%s\", \"shape\": [%" PRIu64 ", %" PRIu64
            "], \"data_offsets\": [%" PRIu64 ", %" PRIu64 "]}",
            name, h->dtype, rows, columns, h->data, h->data + bytes);
    h->data += bytes;
}

static const char *const projections[] = {"gate", "up", "down"};

static void add_experts(header *h, void (*add_one)(header *h, const char *name, uint64_t rows,
                                                   uint64_t columns))
{
    char name[128];
    for (int layer = 0; layer < 60; layer++) {
        for (int expert = 0; expert < 512; expert++) {
            for (int i = 0; i < 3; i++) {
                (void)snprintf(name, sizeof name, "model.layers.%d.mlp.experts.%d.%s_proj.weight",
                               layer, expert, projections[i]);
                add_one(h, name, i == 2 ? 2048 : 1408, i == 2 ? 1408 : 2048);
            }
        }
    }
}

static void add_big(header *h)
{
    add_experts(h, add);
}

static void add_layer(header *h, int layer, const char *const *names, uint64_t rows,
                      uint64_t columns)
{
    char name[128];
    for (; *names != NULL; names++) {
        (void)snprintf(name, sizeof name, "model.layers.%d.%s.weight", layer, *names);
        add(h, name, rows, columns);
    }
}

static void add_moe(header *h)
{
    static const char *const norms[] = {"input_layernorm", "post_attention_layernorm", NULL};
    static const char *const head_norms[] = {"self_attn.q_norm", "self_attn.k_norm", NULL};
    static const char *const squares[] = {"self_attn.q_proj", "self_attn.k_proj",
                                          "self_attn.v_proj", "self_attn.o_proj", NULL};
    static const char *const wide[] = {"mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj",
                                       NULL};
    static const char *const down[] = {"mlp.shared_experts.down_proj", NULL};
    static const char *const router[] = {"mlp.gate", NULL};
    char name[128];
    add(h, "model.embed_tokens.weight", 1024, 2048);
    add(h, "model.norm.weight", 2048, 0);
    add(h, "lm_head.weight", 1024, 2048);
    for (int layer = 0; layer < 60; layer++) {
        add_layer(h, layer, norms, 2048, 0);
        add_layer(h, layer, head_norms, 128, 0);
        add_layer(h, layer, squares, 2048, 2048);
        add_layer(h, layer, router, 508, 2048);
        add_layer(h, layer, wide, 1408, 2048);
        add_layer(h, layer, down, 2048, 1408);
        for (int expert = 0; expert < 508 * 3; expert++) {
            bool is_down = expert % 3 == 2;
            (void)snprintf(name, sizeof name, "model.layers.%d.mlp.experts.%d.%s_proj.weight",
                           layer, expert / 3, projections[expert % 3]);
            add(h, name, is_down ? 2048 : 1408, is_down ? 1408 : 2048);
        }
    }
}

static void add_spaces(header *h)
{
    add_experts(h, add_spaced);
}

static void add_fp8(header *h)
{
    char name[128];
    for (int weights = 0; weights < 2; weights++) {
        h->dtype = weights ? "F8_E4M3" : "F32";
        for (int layer = 0; layer < 60; layer++) {
            for (int expert = 0; expert < 256; expert++) {
                for (int i = 0; i < 3; i++) {
                    uint64_t rows = i == 2 ? 7168 : 2048, columns = i == 2 ? 2048 : 7168;
                    (void)snprintf(name, sizeof name,
                                   "model.layers.%d.mlp.experts.%d.%s_proj.weight%s", layer, expert,
                                   projections[i], weights ? "" : "_scale_inv");
                    add(h, name, weights ? rows : rows / 128, weights ? columns : columns / 128);
                }
            }
        }
    }
}

/* The parts of a weight of MLX, sorted by name. */
static const struct mlx_part {
    const char *name, *dtype;
    uint64_t columns_per; /* number of weight values per stored element of a row */
} mlx_parts[] = {{"biases", "BF16", 64}, {"scales", "BF16", 64}, {"weight", "U32", 8}};

#define MLX_LAYERS 64
#define MLX_EXPERTS 160
#define MLX_TENSORS (MLX_LAYERS * MLX_EXPERTS * 9)

static uint64_t mlx_columns(unsigned tensor)
{
    return (tensor / 3 % 3 == 2 ? 1408 : 2048) / mlx_parts[tensor % 3].columns_per;
}

static uint64_t mlx_rows(unsigned tensor)
{
    return tensor / 3 % 3 == 2 ? 2048 : 1408;
}

static uint64_t mlx_bytes(unsigned tensor)
{
    return mlx_rows(tensor) * mlx_columns(tensor) * size_of(mlx_parts[tensor % 3].dtype);
}

static void add_mlx4(header *h)
{
    static uint64_t begin[MLX_TENSORS];
    /* MLX writes tensor data in the order of a hash table. The multiplier simulates this order. */
    for (unsigned i = 0; i < MLX_TENSORS; i++) {
        unsigned tensor = (unsigned)((uint64_t)i * 57331 % MLX_TENSORS);
        begin[tensor] = h->data;
        h->data += mlx_bytes(tensor);
    }
    for (unsigned i = 0; i < MLX_TENSORS; i++) {
        fprintf(h->text,
                ",\"model.layers.%u.mlp.experts.%u.%s_proj.%s\":{\"data_offsets\":[%" PRIu64
                ",%" PRIu64 "],\"dtype\":\"%s\",\"shape\":[%" PRIu64 ",%" PRIu64 "]}",
                i / 9 / MLX_EXPERTS, i / 9 % MLX_EXPERTS, projections[i / 3 % 3],
                mlx_parts[i % 3].name, begin[i], begin[i] + mlx_bytes(i), mlx_parts[i % 3].dtype,
                mlx_rows(i), mlx_columns(i));
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

static const struct workload {
    const char *name, *dtype;
    void (*fill)(header *h);
} workloads[] = {
    {"big", "BF16", add_big}, {"spaces", "BF16", add_spaces}, {"fp8", "", add_fp8},
    {"mlx4", "", add_mlx4},   {"moe", "BF16", add_moe},       {"small", "BF16", add_small},
};

static int usage(void)
{
    fputs("usage: headers big|spaces|plain:DTYPE|fp8|mlx4|moe|small FILE\n", stderr);
    return 4;
}

int main(int argc, char **argv)
{
    char *text;
    size_t n;
    if (argc != 3)
        return usage();
    struct workload work = {"plain", NULL, add_big};
    if (strncmp(argv[1], "plain:", 6) == 0)
        work.dtype = argv[1] + 6;
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        if (strcmp(argv[1], workloads[i].name) == 0)
            work = workloads[i];
    }
    if (work.dtype == NULL)
        return usage();
    header h = {.text = open_memstream(&text, &n), .dtype = work.dtype};
    if (h.text == NULL)
        return 1;
    fputs("{\"__metadata__\":{\"format\":\"pt\"}", h.text);
    work.fill(&h);
    fputc('}', h.text);
    (void)fflush(h.text);
    fprintf(h.text, "%*s", (int)(-n % 8), "");
    int failed = fclose(h.text) != 0 || write_file(argv[2], text, n, h.data) != 0;
    if (failed)
        perror(argv[2]);
    free(text);
    return failed;
}
