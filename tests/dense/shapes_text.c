/*
 * Shapes (kinds of dense files, dense.h) of text: headers of safetensors files, and sidecar files.
 * A shape repeats a text. In the text, %n stands for the number of the repetition in short form
 * (short_number), %d for the same number in decimal.
 */
#include "dense.h"

typedef struct repeated {
    const char *file;
    const char *begin, *each, *end;
    uint64_t first; /* number of the first repetition */
} repeated;

size_t short_number(char *to, uint64_t i)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t n = 0;
    do {
        to[n++] = digits[i % (sizeof digits - 1)];
        i /= sizeof digits - 1;
    } while (i > 0);
    return n;
}

FILE *open_in(const char *folder, const char *name)
{
    char *path = text_of("%s/%s", folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        abort();
    free(path);
    return file;
}

static void put_text(const char *folder, const char *name, const char *text)
{
    FILE *file = open_in(folder, name);
    fputs(text, file);
    fclose(file);
}

void write_small_model(const char *folder)
{
    static const struct {
        const char *name;
        unsigned rows, columns;
    } tensors[] = {
        {"model.embed_tokens.weight", 64, 32},
        {"model.layers.0.input_layernorm.weight", 32, 0},
        {"model.layers.0.self_attn.q_proj.weight", 32, 32},
        {"model.layers.0.self_attn.k_proj.weight", 32, 32},
        {"model.layers.0.self_attn.v_proj.weight", 32, 32},
        {"model.layers.0.self_attn.o_proj.weight", 32, 32},
        {"model.layers.0.post_attention_layernorm.weight", 32, 0},
        {"model.layers.0.mlp.gate_proj.weight", 64, 32},
        {"model.layers.0.mlp.up_proj.weight", 64, 32},
        {"model.layers.0.mlp.down_proj.weight", 32, 64},
        {"model.norm.weight", 32, 0},
    };
    char header[4096];
    size_t n = 0, data = 0;
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        unsigned columns = tensors[i].columns;
        size_t bytes = (size_t)tensors[i].rows * (columns == 0 ? 1 : columns) * 2;
        n += (size_t)sprintf(header + n, "%c\"%s\":{\"dtype\":\"BF16\",\"shape\":[%u",
                             i ? ',' : '{', tensors[i].name, tensors[i].rows);
        if (columns > 0)
            n += (size_t)sprintf(header + n, ",%u", columns);
        n += (size_t)sprintf(header + n, "],\"data_offsets\":[%zu,%zu]}", data, data + bytes);
        data += bytes;
    }
    header[n++] = '}';
    header[n] = '\0';
    char *path = text_of("%s/model.safetensors", folder);
    st_write(path, header, data);
    free(path);
    put_text(
        folder, "config.json",
        "{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\",\"hidden_size\":32,"
        "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"num_key_value_heads\":2,"
        "\"intermediate_size\":64,\"vocab_size\":64,\"rms_norm_eps\":1e-5,"
        "\"rope_theta\":10000.0,\"max_position_embeddings\":64,\"tie_word_embeddings\":true,"
        "\"torch_dtype\":\"bfloat16\"}");
}

/* Writes the text `each`, in which %d stands for the number i, and %n for a short form of it.
 * Returns the number of bytes written. */
static size_t put_each(FILE *file, const char *each, uint64_t i)
{
    size_t n = 0;
    for (const char *p = each; *p != '\0'; p++) {
        char text[24] = {*p};
        size_t len = 1;
        if (*p == '%' && *++p == 'n')
            len = short_number(text, i);
        else if (*p == 'd')
            len = p[-1] == '%' ? (size_t)sprintf(text, "%llu", (unsigned long long)i) : 1;
        fwrite(text, 1, len, file);
        n += len;
    }
    return n;
}

static void put_repeated(FILE *file, const repeated *r, size_t bytes)
{
    fputs(r->begin, file);
    size_t n = strlen(r->begin) + strlen(r->end);
    for (uint64_t i = r->first; n < bytes; i++)
        n += put_each(file, r->each, i);
    fputs(r->end, file);
}

static void write_header(const dense_shape *s, const char *folder, size_t bytes)
{
    const repeated *r = s->detail;
    FILE *file = open_in(folder, s->path);
    unsigned char length[8] = {0};
    fwrite(length, 1, 8, file);
    put_repeated(file, r, bytes);
    put_length(length, (uint64_t)ftell(file) - 8);
    rewind(file);
    fwrite(length, 1, 8, file);
    fclose(file);
}

static void write_sidecar(const dense_shape *s, const char *folder, size_t bytes)
{
    const repeated *r = s->detail;
    write_small_model(folder);
    FILE *file = open_in(folder, r->file);
    put_repeated(file, r, bytes);
    fclose(file);
}

#define HEADER(name, ...)                                                                          \
    {                                                                                              \
        name, write_header, "model.safetensors", &(const repeated)                                 \
        {                                                                                          \
            NULL, __VA_ARGS__                                                                      \
        }                                                                                          \
    }
#define SIDECAR(name, ...)                                                                         \
    {                                                                                              \
        name, write_sidecar, "", &(const repeated)                                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define LAST "\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}"
#define EMPTY ":{\"dtype\":\"F16\",\"shape\":[0],\"data_offsets\":[0,0]},"
#define BPE "{\"model\":{\"type\":\"BPE\","
#define FALLBACK BPE "\"byte_fallback\":true,"

const dense_shape text_shapes[] = {
    HEADER("st tensors", "{", "\"%n\"" EMPTY, LAST, 0),
    HEADER("st tensors as arrays", "{", "\"%n\":[\"U8\",[0],[0,0]],", LAST, 0),
    HEADER("st tensors, distinct shapes", "{", "\"%n\":[\"U8\",[0,%d],[0,0]],", LAST, 0),
    HEADER("st layers", "{", "\"model.layers.%d.mlp.up_proj.weight\":[\"F16\",[0],[0,0]],", LAST,
           0),
    HEADER("st experts", "{",
           "\"model.layers.0.mlp.experts.%d.up_proj.weight\":[\"F16\",[0,1],[0,0]],", LAST, 0),
    HEADER("st packed", "{",
           "\"%n.weight\":[\"U32\",[0,8],[0,0]],\"%n.scales\":[\"F16\",[0,1],[0,0]],"
           "\"%n.biases\":[\"F16\",[0,1],[0,0]],",
           LAST, 0),
    HEADER(
        "st long names", "{",
        "\"%"
        "nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xx\":[\"U8\",[0],[0,0]],",
        LAST, 0),
    HEADER("st one name", "{\"", "xxxxxxxx",
           "\":{\"dtype\":\"U8\",\"shape\":[0],"
           "\"data_offsets\":[0,0]}}",
           0),
    HEADER("st names with escapes", "{", "\"%n\\u0001\\u0002\":[\"U8\",[0],[0,0]],", LAST, 0),
    HEADER("st dimensions", "{\"t\":{\"dtype\":\"U8\",\"shape\":[", "0,",
           "0],\"data_offsets\":[0,0]}}", 0),
    HEADER("st keys", "{\"__metadata__\":{", "\"%n\":\"\",", "\"\":\"\"}," LAST, 0),
    HEADER("st one key", "{\"__metadata__\":{", "\"\":\"\",", "\"\":\"\"}," LAST, 0),
    HEADER("st one value", "{\"__metadata__\":{\"k\":\"", "xxxxxxxx", "\"}," LAST, 0),
    HEADER("st nesting", "{\"t\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],",
           "\"%n\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],", "\"z\":0}}",
           0),
    SIDECAR("bpe vocabulary", "tokenizer.json", BPE "\"vocab\":{", "\"%n\":%d,", "\"\":0}}}", 1),
    SIDECAR("bpe empty tokens", "tokenizer.json", BPE "\"vocab\":{", "\"\":%d,", "\"\":0}}}", 1),
    SIDECAR("bpe scattered ids", "tokenizer.json", BPE "\"vocab\":{\"a\":370000", ",\"\":0", "}}}",
            1),
    SIDECAR("bpe merges", "tokenizer.json", BPE "\"vocab\":{},\"merges\":[", "\"\",", "\"\"]}}", 0),
    SIDECAR("bpe merges as pairs", "tokenizer.json", BPE "\"vocab\":{},\"merges\":[",
            "[\"\",\"\"],", "[\"\",\"\"]]}}", 0),
    SIDECAR("bpe byte fallback", "tokenizer.json", FALLBACK "\"vocab\":{", "\"%n\":%d,",
            "\"\":0},\"merges\":[\"1 2\"]}}", 1),
    SIDECAR("unigram", "tokenizer.json", "{\"model\":{\"type\":\"Unigram\",\"vocab\":[",
            "[\"\",0],", "[\"\",0]]}}", 0),
    SIDECAR("unigram, bad entries", "tokenizer.json",
            "{\"model\":{\"type\":\"Unigram\",\"vocab\":[", "[],", "[]]}}", 0),
    SIDECAR("wordpiece", "tokenizer.json", "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{",
            "\"%n\":%d,", "\"\":0}}}", 1),
    SIDECAR("added tokens", "tokenizer.json",
            BPE "\"vocab\":{},\"merges\":[\"a b\"]},\"added_tokens\":[",
            "{\"id\":%d,\"content\":\"\"},", "{}]}", 0),
    SIDECAR("tokenizer.json numbers", "tokenizer.json", "{\"x\":[", "0,", "0]}", 0),
    SIDECAR("tokenizer.json objects", "tokenizer.json", "{\"x\":[", "{},", "{}]}", 0),
    SIDECAR("tokenizer.json nesting", "tokenizer.json", "{\"x\":[",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],", "0]}", 0),
    SIDECAR("tokenizer_config.json keys", "tokenizer_config.json", "{", "\"%n\":0,", "\"\":0}", 0),
    SIDECAR("added_tokens_decoder", "tokenizer_config.json", "{\"added_tokens_decoder\":{",
            "\"%d\":{\"content\":\"\"},", "\"x\":0}}", 0),
    SIDECAR("vocab.txt", "vocab.txt", "", "\n", "\n", 0),
    SIDECAR("vocab.txt, short words", "vocab.txt", "", "a\n", "b\n", 0),
    SIDECAR("vocab.txt, words of 3 bytes", "vocab.txt", "", "abc\n", "b\n", 0),
    SIDECAR("config.json numbers", "config.json", "{\"model_type\":\"llama\",\"x\":[", "0,", "0]}",
            0),
    SIDECAR("config.json keys", "config.json", "{\"model_type\":\"llama\",", "\"%n\":0,",
            "\"num_hidden_layers\":1}", 0),
    SIDECAR("config.json quantization", "config.json",
            "{\"model_type\":\"llama\",\"quantization\":{\"bits\":4,\"group_size\":32,",
            "\"%n\":{\"bits\":4},", "\"mode\":\"affine\"}}", 0),
    SIDECAR("config.json texts", "config.json", "{\"model_type\":\"llama\",\"x\":[", "\"\",",
            "\"\"]}", 0),
    SIDECAR("generation_config.json", "generation_config.json", "{\"eos_token_id\":[", "0,", "0]}",
            0),
    SIDECAR("pooling config.json", "1_Pooling/config.json", "{\"x\":[", "{},", "{}]}", 0),
    SIDECAR("chat_template.jinja", "chat_template.jinja", "", "xxxxxxxx", "x", 0),
    SIDECAR("index.json", "model.safetensors.index.json", "{\"weight_map\":{",
            "\"%n\":\"model.safetensors\",", "\"z\":\"model.safetensors\"}}", 0),
    {NULL, NULL, NULL, NULL},
};
