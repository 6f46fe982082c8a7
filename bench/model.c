/*
 * model FOLDER: writes a Hugging Face model of 2 GiB in BF16: 16 layers with the shapes of Qwen
 * 3, tied embeddings of 128 MiB (its largest tensor), and no tokenizer. The values are nearly
 * normally distributed, like real weights, and the same in every run.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LAYERS = 16, DIM = 2048, KV = 1024, FFN = 8192, VOCAB = 32768, HEAD = 128 };

static const char config[] =
    "{\"architectures\":[\"Qwen3ForCausalLM\"],\"model_type\":\"qwen3\",\"hidden_size\":2048,"
    "\"num_hidden_layers\":16,\"num_attention_heads\":16,\"num_key_value_heads\":8,"
    "\"head_dim\":128,\"intermediate_size\":8192,\"vocab_size\":32768,"
    "\"max_position_embeddings\":4096,\"rms_norm_eps\":1e-06,\"rope_theta\":1000000.0,"
    "\"tie_word_embeddings\":true,\"torch_dtype\":\"bfloat16\"}\n";

static const struct part {
    const char *name;
    unsigned rows, columns; /* columns 0: one-dimensional */
} parts[] = {{"input_layernorm", DIM, 0},    {"self_attn.q_proj", DIM, DIM},
             {"self_attn.k_proj", KV, DIM},  {"self_attn.v_proj", KV, DIM},
             {"self_attn.o_proj", DIM, DIM}, {"self_attn.q_norm", HEAD, 0},
             {"self_attn.k_norm", HEAD, 0},  {"post_attention_layernorm", DIM, 0},
             {"mlp.gate_proj", FFN, DIM},    {"mlp.up_proj", FFN, DIM},
             {"mlp.down_proj", DIM, FFN}};

static _Noreturn void fail(const char *path, const char *why)
{
    fprintf(stderr, "model: %s: %s\n", path, why);
    exit(1);
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = n < 0 || (size_t)n >= sizeof path ? NULL : fopen(path, "wb");
    if (file == NULL)
        fail(folder, "cannot be written into");
    return file;
}

static void add(FILE *header, const char *name, const struct part *part, uint64_t *at)
{
    uint64_t bytes = 2 * (uint64_t)part->rows * (part->columns == 0 ? 1 : part->columns);
    fprintf(header, ",\"%s.weight\":{\"dtype\":\"BF16\",\"shape\":[%u", name, part->rows);
    if (part->columns != 0)
        fprintf(header, ",%u", part->columns);
    fprintf(header, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *at, *at + bytes);
    *at += bytes;
}

/* Adds all tensors to the header and returns their total size in bytes. */
static uint64_t add_all(FILE *header)
{
    static const struct part embeddings = {"model.embed_tokens", VOCAB, DIM};
    static const struct part norm = {"model.norm", DIM, 0};
    char name[96];
    uint64_t at = 0;
    add(header, embeddings.name, &embeddings, &at);
    for (int layer = 0; layer < LAYERS; layer++) {
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            (void)snprintf(name, sizeof name, "model.layers.%d.%s", layer, parts[i].name);
            add(header, name, &parts[i], &at);
        }
    }
    add(header, norm.name, &norm, &at);
    return at;
}

/* splitmix64 */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Returns the sum of four uniform random numbers, truncated to BF16. */
static uint16_t draw(uint64_t *state)
{
    uint64_t bits = random_bits(state);
    int32_t sum = -2 * 65535;
    for (int i = 0; i < 64; i += 16)
        sum += (int32_t)(bits >> i & 65535);
    float value = (float)sum * (0.035f / 65536);
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return (uint16_t)(word >> 16);
}

int main(int argc, char **argv)
{
    static uint16_t values[1 << 16];
    char *text;
    size_t n;
    uint64_t state = 1;
    if (argc != 2 || (mkdir(argv[1], 0777) != 0 && errno != EEXIST))
        fail(argc == 2 ? argv[1] : "usage", "model FOLDER");
    FILE *header = open_memstream(&text, &n);
    if (header == NULL)
        fail(argv[1], "no memory");
    fputs("{\"__metadata__\":{\"format\":\"pt\"}", header);
    uint64_t bytes = add_all(header);
    fputc('}', header);
    (void)fflush(header);
    fprintf(header, "%*s", (int)(-n % 8), "");
    if (fclose(header) != 0)
        fail(argv[1], "no memory");
    FILE *file = open_in(argv[1], "model.safetensors");
    for (int i = 0; i < 64; i += 8)
        fputc((int)((uint64_t)n >> i & 255), file);
    int good = fwrite(text, 1, n, file) == n;
    for (uint64_t at = 0; at < bytes && good; at += sizeof values) {
        size_t most = sizeof values / sizeof values[0];
        uint64_t left = (bytes - at) / sizeof values[0];
        size_t count = left < most ? (size_t)left : most;
        for (size_t i = 0; i < count; i++)
            values[i] = draw(&state);
        good = fwrite(values, sizeof values[0], count, file) == count;
    }
    if (fclose(file) != 0 || !good)
        fail(argv[1], "writing failed");
    file = open_in(argv[1], "config.json");
    if (fputs(config, file) < 0 || fclose(file) != 0)
        fail(argv[1], "writing failed");
    free(text);
    return 0;
}
