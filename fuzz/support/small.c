#include "small.h"

#include "scratch.h"

#define HEADER_MAX 16384
#define DATA_MAX (1u << 18)

enum {
    BIASES = 1,  /* q, k and v have biases */
    NORMS = 2,   /* q and k have norms */
    POST = 4,    /* norms also follow attention and feed-forward */
    JOINED = 8,  /* q, k and v are one tensor; gate and up are one tensor */
    EXPERTS = 16 /* each expert has its own tensors */
};

static const struct family {
    const char *architecture, *type;
    unsigned has;
    const char *expert; /* printf format of an expert's name */
    const char *router;
    const char *parts[3]; /* names of gate, up and down */
} families[] = {
    {"LlamaForCausalLM", "llama", 0, NULL, NULL, {NULL}},
    {"MistralForCausalLM", "mistral", 0, NULL, NULL, {NULL}},
    {"Qwen2ForCausalLM", "qwen2", BIASES, NULL, NULL, {NULL}},
    {"Qwen3ForCausalLM", "qwen3", NORMS, NULL, NULL, {NULL}},
    {"Gemma2ForCausalLM", "gemma2", POST, NULL, NULL, {NULL}},
    {"Gemma3ForCausalLM", "gemma3_text", POST | NORMS, NULL, NULL, {NULL}},
    {"Phi3ForCausalLM", "phi3", JOINED, NULL, NULL, {NULL}},
    {"MixtralForCausalLM",
     "mixtral",
     EXPERTS,
     "block_sparse_moe.experts.%u.%s",
     "block_sparse_moe.gate",
     {"w1", "w3", "w2"}},
    {"Qwen3MoeForCausalLM",
     "qwen3_moe",
     EXPERTS | NORMS,
     "mlp.experts.%u.%s_proj",
     "mlp.gate",
     {"gate", "up", "down"}},
    {"NobodyForCausalLM", "nobody", 0, NULL, NULL, {NULL}},
};

static const struct dtype {
    const char *name;
    uint32_t bits;
} dtypes[] = {{"F32", 32}, {"F16", 16}, {"BF16", 16}, {"F64", 64}, {"I8", 8}, {"F8_E4M3", 8}};

typedef struct maker {
    fuzz_tape *tape;
    const struct family *family;
    uint32_t dim, heads, kv_heads, head_dim, ffn, layers, vocab, experts;
    uint32_t dtype;       /* dtype of most tensors */
    uint32_t bits, group; /* bits and group size of MLX packing; bits 0: not packed */
    char layer[32];
    char header[HEADER_MAX];
    size_t header_bytes, data;
} maker;

static void add(maker *m, const char *name, const char *dtype, const uint32_t *shape, uint32_t rank,
                uint64_t bits)
{
    char entry[512], dimensions[64] = "";
    int at = 0;
    for (uint32_t i = 0; i < rank; i++) {
        at += snprintf(dimensions + at, sizeof dimensions - (size_t)at, "%s%u", i > 0 ? "," : "",
                       (unsigned)shape[i]);
        bits *= shape[i];
    }
    size_t bytes = (size_t)(bits / 8);
    int n =
        snprintf(entry, sizeof entry,
                 "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                 m->header_bytes > 1 ? "," : "", name, dtype, dimensions, m->data, m->data + bytes);
    CHECK(n > 0 && n < (int)sizeof entry);
    if ((size_t)n + 1 >= HEADER_MAX - m->header_bytes || bytes > DATA_MAX - m->data)
        return;
    memcpy(m->header + m->header_bytes, entry, (size_t)n);
    m->header_bytes += (size_t)n;
    m->data += bytes;
}

/* Adds a weight packed as in MLX; returns false if its shape cannot be packed. */
static bool add_packed(maker *m, const char *module, const uint32_t *shape, uint32_t rank)
{
    char name[260];
    uint32_t part[3] = {shape[0], shape[1], rank > 2 ? shape[2] : 0};
    uint32_t last = shape[rank - 1];
    if (rank < 2 || last % m->group != 0 || last * m->bits % 32 != 0)
        return false;
    part[rank - 1] = last * m->bits / 32;
    (void)snprintf(name, sizeof name, "%s.weight", module);
    add(m, name, "U32", part, rank, 32);
    part[rank - 1] = last / m->group;
    (void)snprintf(name, sizeof name, "%s.scales", module);
    add(m, name, "F16", part, rank, 16);
    (void)snprintf(name, sizeof name, "%s.biases", module);
    add(m, name, "F16", part, rank, 16);
    return true;
}

/* Adds a weight of shape [out, in], or [out] if `in` is 0. Sometimes the weight has a defect. */
static void weight(maker *m, const char *module, uint32_t out, uint32_t in, bool may_pack)
{
    char name[260];
    uint32_t shape[2] = {out, in}, rank = in == 0 ? 1 : 2;
    uint32_t how = fuzz_choose(m->tape, 256), dtype = m->dtype;
    if (how == 255) /* the weight is missing */
        return;
    if (how >= 250)
        shape[how % rank]++;
    else if (how >= 240)
        dtype = how % (sizeof dtypes / sizeof *dtypes);
    else if (may_pack && m->bits != 0 && how < 200 && add_packed(m, module, shape, rank))
        return;
    (void)snprintf(name, sizeof name, "%s.weight", module);
    add(m, name, dtypes[dtype].name, shape, rank, dtypes[dtype].bits);
}

static void of_layer(maker *m, const char *module, uint32_t out, uint32_t in)
{
    char name[240];
    (void)snprintf(name, sizeof name, "%s.%s", m->layer, module);
    weight(m, name, out, in, in != 0);
}

static void attention(maker *m)
{
    static const char *const names[] = {"q", "k", "v"};
    uint32_t q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    if (m->family->has & JOINED) {
        of_layer(m, "self_attn.qkv_proj", q + 2 * kv, m->dim);
    } else {
        for (size_t i = 0; i < 3; i++) {
            char name[160];
            (void)snprintf(name, sizeof name, "self_attn.%s_proj", names[i]);
            of_layer(m, name, i == 0 ? q : kv, m->dim);
            if (m->family->has & BIASES) {
                uint32_t rows = i == 0 ? q : kv;
                (void)snprintf(name, sizeof name, "%s.self_attn.%s_proj.bias", m->layer, names[i]);
                add(m, name, dtypes[m->dtype].name, &rows, 1, dtypes[m->dtype].bits);
            }
        }
    }
    of_layer(m, "self_attn.o_proj", m->dim, q);
    if (m->family->has & NORMS) {
        of_layer(m, "self_attn.q_norm", m->head_dim, 0);
        of_layer(m, "self_attn.k_norm", m->head_dim, 0);
    }
}

static void feed_forward(maker *m)
{
    if (m->family->has & EXPERTS) {
        of_layer(m, m->family->router, m->experts, m->dim);
        for (uint32_t e = 0; e < m->experts; e++) {
            for (uint32_t i = 0; i < 3; i++) {
                char name[160];
                (void)snprintf(name, sizeof name, m->family->expert, (unsigned)e,
                               m->family->parts[i]);
                of_layer(m, name, i == 2 ? m->dim : m->ffn, i == 2 ? m->ffn : m->dim);
            }
        }
        return;
    }
    if (m->family->has & JOINED) {
        of_layer(m, "mlp.gate_up_proj", 2 * m->ffn, m->dim);
    } else {
        of_layer(m, "mlp.gate_proj", m->ffn, m->dim);
        of_layer(m, "mlp.up_proj", m->ffn, m->dim);
    }
    of_layer(m, "mlp.down_proj", m->dim, m->ffn);
}

static void tensors(maker *m, bool tied)
{
    m->header[m->header_bytes++] = '{';
    weight(m, "model.embed_tokens", m->vocab, m->dim, true);
    for (uint32_t i = 0; i < m->layers; i++) {
        (void)snprintf(m->layer, sizeof m->layer, "model.layers.%u", (unsigned)i);
        of_layer(m, "input_layernorm", m->dim, 0);
        attention(m);
        of_layer(m, "post_attention_layernorm", m->dim, 0);
        if (m->family->has & POST) {
            of_layer(m, "pre_feedforward_layernorm", m->dim, 0);
            of_layer(m, "post_feedforward_layernorm", m->dim, 0);
        }
        feed_forward(m);
    }
    weight(m, "model.norm", m->dim, 0, false);
    if (!tied)
        weight(m, "lm_head", m->vocab, m->dim, true);
    m->header[m->header_bytes++] = '}';
}

static void write_config(const maker *m, bool tied)
{
    char text[2048], packing[80] = "";
    if (m->bits != 0)
        (void)snprintf(packing, sizeof packing, ",\"quantization\":{\"bits\":%u,\"group_size\":%u}",
                       (unsigned)m->bits, (unsigned)m->group);
    int n = snprintf(
        text, sizeof text,
        "{\"architectures\":[\"%s\"],\"model_type\":\"%s\",\"hidden_size\":%u,"
        "\"num_attention_heads\":%u,\"num_key_value_heads\":%u,\"head_dim\":%u,"
        "\"intermediate_size\":%u,\"moe_intermediate_size\":%u,\"num_hidden_layers\":%u,"
        "\"vocab_size\":%u,\"num_local_experts\":%u,\"num_experts\":%u,\"num_experts_per_tok\":1,"
        "\"max_position_embeddings\":64,\"rms_norm_eps\":1e-6,\"rope_theta\":10000.0,"
        "\"tie_word_embeddings\":%s%s}",
        m->family->architecture, m->family->type, (unsigned)m->dim, (unsigned)m->heads,
        (unsigned)m->kv_heads, (unsigned)m->head_dim, (unsigned)m->ffn, (unsigned)m->ffn,
        (unsigned)m->layers, (unsigned)m->vocab, (unsigned)m->experts, (unsigned)m->experts,
        tied ? "true" : "false", packing);
    CHECK(n > 0 && n < (int)sizeof text);
    fuzz_scratch_write("config.json", text, (size_t)n);
}

/* Fills n bytes so that they are finite values of moderate magnitude in every float type. */
static void fill(uint8_t *bytes, size_t n)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        uint8_t byte = (uint8_t)(state >> 24);
        bytes[i] = i % 2 == 0 ? byte : (uint8_t)(0x3C + (byte & 0x81) + (byte >> 6 & 2));
    }
}

void fuzz_small_model(fuzz_tape *tape)
{
    static const uint8_t sizes[] = {32, 64, 16, 48, 96, 33};
    static const uint8_t bits[] = {0, 0, 4, 8, 2, 3};
    static maker m;
    static uint8_t file[8 + HEADER_MAX + DATA_MAX];
    static uint8_t values[DATA_MAX];
    if (values[0] == 0)
        fill(values, sizeof values);
    m = (maker){.tape = tape};
    m.family = &families[fuzz_choose(tape, sizeof families / sizeof *families)];
    m.dim = sizes[fuzz_choose(tape, 6)];
    m.heads = 1u << fuzz_choose(tape, 3);
    m.kv_heads = 1u << fuzz_choose(tape, 2);
    m.head_dim = fuzz_choose(tape, 4) == 0 ? sizes[fuzz_choose(tape, 6)] : m.dim / m.heads;
    m.ffn = sizes[fuzz_choose(tape, 6)];
    m.layers = 1 + fuzz_choose(tape, 8) / 7;
    m.vocab = 1 + fuzz_choose(tape, 9);
    m.experts = 1 + fuzz_choose(tape, 3);
    m.dtype = fuzz_choose(tape, 4) % 3;
    m.bits = bits[fuzz_choose(tape, 6)];
    m.group = 32u << fuzz_choose(tape, 2);
    bool tied = fuzz_choose(tape, 2) == 1;
    tensors(&m, tied);
    write_config(&m, tied);
    for (unsigned i = 0; i < 8; i++)
        file[i] = (uint8_t)((uint64_t)m.header_bytes >> 8 * i);
    memcpy(file + 8, m.header, m.header_bytes);
    memcpy(file + 8 + m.header_bytes, values, m.data);
    fuzz_scratch_write("model.safetensors", file, 8 + m.header_bytes + m.data);
}
