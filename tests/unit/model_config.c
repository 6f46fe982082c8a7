/*
 * Tests values of config.json and other sidecar files in every accepted form, experts that can and
 * cannot be stacked, and models whose sizes overflow.
 */
#include "support.h"

#include "gguf_build.h"

/* ---- a folder ---- */

typedef struct beside {
    const char *name, *text;
} beside;

#define LLAMA "\"model_type\":\"llama\",\"hidden_size\":64"
#define ONE_TENSOR "\"model.norm.weight\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}"

static char *make_folder(const char *header, size_t data, const beside *files)
{
    char *folder = scratch_make();
    char *path = text_of("%s/model.safetensors", folder);
    st_write(path, header, data);
    free(path);
    for (; files->name != NULL; files++) {
        path = text_of("%s/%s", folder, files->name);
        write_file(path, files->text, strlen(files->text));
        free(path);
    }
    return folder;
}

static wb_model *open_folder(const char *folder)
{
    wb_model *model;
    wb_error error;
    if (wb_open(folder, NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return model;
}

/* ---- values as text ---- */

static char *array_text(const wb_meta_array *array)
{
    char *all = text_of("[");
    for (uint64_t i = 0; i < array->count && i < 8; i++) {
        char one[64] = "?";
        const char *text;
        size_t len;
        int64_t number;
        uint64_t large;
        double real;
        if (array->element == WB_META_STRING && wb_meta_string_at(array, i, &text, &len) == WB_OK)
            (void)snprintf(one, sizeof one, "'%.*s'", (int)len, text);
        else if (array->element == WB_META_FLOAT && wb_meta_floats(array, i, 1, &real) == WB_OK)
            (void)snprintf(one, sizeof one, "%g", real);
        else if (array->element == WB_META_INT && wb_meta_ints(array, i, 1, &number) == WB_OK)
            (void)snprintf(one, sizeof one, "%+lld", (long long)number);
        else if (wb_meta_uints(array, i, 1, &large) == WB_OK)
            (void)snprintf(one, sizeof one, "%llu", (unsigned long long)large);
        char *more = text_of("%s%s%s", all, i > 0 ? "," : "", one);
        free(all);
        all = more;
    }
    char *closed = text_of("%s]", all);
    free(all);
    return closed;
}

/* Returns a metadata value as text, or "absent" if the key is missing. Signed integers start with
 * '+' or '-'. */
static char *value_text(const wb_model *model, const char *key)
{
    const char *text;
    size_t len;
    int64_t number;
    uint64_t large, index;
    double real;
    int flag;
    wb_meta_array array = {.size = sizeof array};
    wb_meta meta = {.size = sizeof meta};
    if (wb_meta_find(model, key, SIZE_MAX, &index) != WB_OK)
        return text_of("absent");
    assert_int_equal(wb_meta_at(model, index, &meta, NULL), WB_OK);
    if (wb_meta_get_string(model, key, SIZE_MAX, &text, &len, NULL) == WB_OK)
        return text_of("%.*s", (int)len, text);
    if (wb_meta_get_bool(model, key, SIZE_MAX, &flag, NULL) == WB_OK)
        return text_of("%s", flag ? "true" : "false");
    if (meta.type == WB_META_UINT && wb_meta_get_uint(model, key, SIZE_MAX, &large, NULL) == WB_OK)
        return text_of("%llu", (unsigned long long)large);
    if (wb_meta_get_int(model, key, SIZE_MAX, &number, NULL) == WB_OK)
        return text_of("%+lld", (long long)number);
    if (wb_meta_get_float(model, key, SIZE_MAX, &real, NULL) == WB_OK)
        return text_of("%g", real);
    assert_int_equal(wb_meta_get_array(model, key, SIZE_MAX, WB_META_ANY, &array, NULL), WB_OK);
    return array_text(&array);
}

static void expect(const wb_model *model, const char *key, const char *expected)
{
    char *is = value_text(model, key);
    if (strcmp(is, expected) != 0)
        fail_msg("%s is %s, not %s\n", key, is, expected);
    free(is);
}

/* ---- config.json ---- */

/* A config.json. The two %s are replaced by the elements of lists. */
#define CONFIG                                                                                     \
    "{" LLAMA ",\"neg\":-5,\"neg\":-6,\"big\":18446744073709551615,\"list\":[1,2],\"list\":[3],"   \
    "\"mixed\":[1,\"a\"],\"signs\":[-1,2],\"beyond\":[-1,18446744073709551615],\"large\":["        \
    "18446744073709551615],\"reals\":[1,2.5],\"texts\":[\"a\",\"\"],\"empty\":[],\"nothing\":"     \
    "null,"                                                                                        \
    "\"a\":{\"b\":{\"c\":{\"d\":1,\"e\":{\"f\":1}}}},\"nul\\u0000key\":1,"                         \
    "\"a key that is longer than any that a config has, which is left out, and that the more so "  \
    "as "                                                                                          \
    "it "                                                                                          \
    "has more than a hundred and twenty-eight bytes\":1,"                                          \
    "\"many\":[0%s],\"more\":[0%s],\"few\":[7],\"format\":\"config\"}"

static void config_values(void **state)
{
    (void)state;
    char *zeros = malloc(20001),
         *text; /* a list; two of them exceed the limit MAX_ELEMENTS (derive_meta.c) */
    assert_non_null(zeros);
    for (size_t i = 0; i < 20000; i++)
        zeros[i] = i % 2 == 0 ? ',' : '0';
    zeros[20000] = '\0';
    text = text_of(CONFIG, zeros, zeros);
    free(zeros);
    const beside files[] = {{"config.json", text}, {NULL, NULL}};
    char *folder = make_folder(
        "{\"__metadata__\":{\"format\":\"pt\",\"neg\":\"of the file\"}," ONE_TENSOR "}", 4, files);
    static const char *const rows[][2] = {
        {"neg", "of the file"},
        {"format", "pt"},
        {"big", "18446744073709551615"},
        {"list", "[1,2]"},
        {"mixed", "absent"},
        {"signs", "[-1,+2]"},
        {"beyond", "absent"},
        {"reals", "[1,2.5]"},
        {"texts", "['a','']"},
        {"empty", "absent"},
        {"nothing", "absent"},
        {"large", "[18446744073709551615]"},
        {"a.b.c.d", "1"},
        {"a.b.c.e.f", "absent"},
        {"nul", "absent"},
        {"few", "[7]"},
        {"more", "absent"},
        {"many", "[0,0,0,0,0,0,0,0]"},
        {"llama.embedding_length", "64"},
    };
    wb_model *model = open_folder(folder);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect(model, rows[i][0], rows[i][1]);
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        assert_int_equal(wb_meta_at(model, i, &meta, NULL), WB_OK);
        assert_true(meta.key_len < 128);
    }
    wb_close(model);
    scratch_remove(folder);
    free(text);
}

/* Only the first few thousand values of a config.json must become metadata. */
static void too_many_values(void **state)
{
    (void)state;
    char *text = text_of("{" LLAMA), *at;
    size_t room = 200000, n = strlen(text);
    text = realloc(text, room);
    assert_non_null(text);
    for (int i = 0; i < 6000; i++)
        n += (size_t)snprintf(text + n, room - n, ",\"k%d\":%d", i, i);
    at = text + n;
    (void)snprintf(at, room - n, ",\"o\":{\"x\":1}}");
    const beside files[] = {{"config.json", text}, {NULL, NULL}};
    char *folder = make_folder("{" ONE_TENSOR "}", 4, files);
    wb_model *model = open_folder(folder);
    expect(model, "k4000", "4000");
    expect(model, "k5999", "absent");
    expect(model, "o.x", "absent");
    wb_close(model);
    scratch_remove(folder);
    free(text);
}

/* ---- chat templates, and a SentencePiece Unigram file with a character map ---- */

static const char templates[] =
    "{\"chat_template\":[{\"name\":\"default\",\"template\":\"D\"},{\"name\":\"tool_use\","
    "\"template\":"
    "\"T\"},{\"name\":\"aZ09/:@[`{~\",\"template\":\"R\"},{\"name\":\"\",\"template\":\"E\"},7,"
    "{\"name\":\"a name that is longer than the room there is for it, which is quite a lot of "
    "room\","
    "\"template\":\"L\"}" /* followed by more entries than the library reads */
#define EIGHT ",0,0,0,0,0,0,0,0"
    EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT ",{\"name\":\"late\",\"template\":\"X\"}]}";

static void templates_and_pieces(void **state)
{
    (void)state;
    static const char pieces[] = "\x0A\x03\x0A\x01"
                                 "a\x12\x02\x18\x01\x1A\x05\x12\x03map";
    const beside files[] = {{"config.json", "{" LLAMA ",\"bos_token_id\":0}"},
                            {"tokenizer_config.json", templates},
                            {"tokenizer.model", pieces},
                            {"generation_config.json", "{\"temperature\":0.5,\"top_k\":-1}"},
                            {NULL, NULL}};
    char *folder = make_folder("{" ONE_TENSOR "}", 4, files);
    static const char *const rows[][2] = {
        {"tokenizer.chat_template", "D"},
        {"chat_template", "D"},
        {"tokenizer.chat_template.tool_use", "T"},
        {"tokenizer.chat_template.aZ09_______", "R"},
        {"tokenizer.chat_template.", "absent"},
        {"tokenizer.chat_template.late", "absent"},
        {"tokenizer.ggml.precompiled_charsmap", "[109,97,112]"},
        {"tokenizer.ggml.model", "t5"},
        {"general.sampling.temp", "0.5"},
        {"general.sampling.top_k", "-1"},
    };
    wb_model *model = open_folder(folder);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect(model, rows[i][0], rows[i][1]);
    wb_close(model);
    scratch_remove(folder);
    static const char *const others[][2] = {
        {"7", "absent"}, {"\"only\"", "only"}, {"{}", "absent"}};
    for (size_t i = 0; i < 3; i++) {
        char *said = text_of("{\"chat_template\":%s}", others[i][0]);
        const beside one[] = {{"tokenizer_config.json", said}, {NULL, NULL}};
        folder = make_folder("{" ONE_TENSOR "}", 4, one);
        model = open_folder(folder);
        expect(model, "tokenizer.chat_template", others[i][1]);
        wb_close(model);
        scratch_remove(folder);
        free(said);
    }
}

/* Opens a directory and queries metadata, with each allocation failing once. Returns the number of
 * attempts that failed. */
static size_t fail_each(const char *folder, size_t *calls)
{
    counter memory = {0};
    wb_allocator allocator = counter_allocator(&memory);
    wb_open_options options = {.size = sizeof options, .allocator = &allocator};
    size_t failed = 0;
    *calls = 1;
    for (size_t k = 0; k <= *calls; k++) {
        wb_model *model;
        uint64_t index;
        memory = (counter){.fail_at = k};
        wb_status status = wb_open(folder, &options, &model, NULL);
        if (status == WB_OK)
            status = wb_meta_find(model, "b", SIZE_MAX, &index);
        if (status == WB_OK) /* the library can do without this allocation */
            expect(model, "b", "[1,2]");
        else
            assert_int_equal(status, WB_ERROR_MEMORY);
        failed += status != WB_OK;
        wb_close(model);
        *calls = k == 0 ? memory.calls : *calls;
        assert_clean(&memory);
    }
    return failed;
}

/* Tests many stacks of experts and keys of many lengths, so that every code path that allocates
 * memory runs. */
static void many_allocations(void **state)
{
    (void)state;
    const size_t room = 60000;
    for (int length = 1; length <= (is_slow() ? 2 : 10); length++) {
        char *header = calloc(2, room), *text = header + room;
        assert_non_null(header);
        size_t n = (size_t)snprintf(header, room, "{"), m;
        for (int i = 0; i < 200; i++)
            n += (size_t)snprintf(
                header + n, room - n,
                "%s\"model.layers.%d.block_sparse_moe.experts.%d.w1.weight\":{\"dtype\":"
                "\"U8\",\"shape\":[1,1],\"data_offsets\":[%d,%d]}",
                i > 0 ? "," : "", i / 2 * length, i % 2, i, i + 1);
        (void)snprintf(header + n, room - n, "}");
        m = (size_t)snprintf(text, room, "{\"model_type\":\"mixtral\",\"b\":[1,2]");
        for (int i = 0; i < 60; i++)
            m += (size_t)snprintf(text + m, room - m, ",\"%.*s%d\":[%d],\"%.*sx%d\":%d", length,
                                  "abcdefghijkl", i, i, length, "abcdefghijkl", i, i);
        m += (size_t)snprintf(text + m, room - m, ",\"n\":[0");
        for (int i = 0; i < 200; i++)
            m += (size_t)snprintf(text + m, room - m, ",%d", i);
        m += (size_t)snprintf(text + m, room - m, "],\"t\":[\"\"");
        for (int i = 0; i < 5000; i++)
            m += (size_t)snprintf(text + m, room - m, ",\"\"");
        (void)snprintf(text + m, room - m, "]}");
        const beside files[] = {{"config.json", text}, {NULL, NULL}};
        char *folder = make_folder(header, 200, files);
        size_t calls;
        assert_true(fail_each(folder, &calls) > 20);
        scratch_remove(folder);
        free(header);
    }
}

static void allocations(void **state)
{
    (void)state;
    const beside files[] = {{"config.json",
                             "{" LLAMA ",\"a\":[\"x\",\"y\"],\"b\":[1,2],\"c\":-1,\"d_dim\":5,"
                             "\"text_config\":{\"e_size\":6,\"f_size\":7}}"},
                            {"tokenizer_config.json", templates},
                            {"tokenizer.json", "{\"model\":{\"type\":\"Other\"}}"},
                            {NULL, NULL}};
    char *folder = make_folder("{" ONE_TENSOR "}", 4, files);
    size_t calls, failed = fail_each(folder, &calls);
    if (failed < 30 || failed + 8 < calls)
        fail_msg("%zu of %zu\n", failed, calls);
    scratch_remove(folder);
}

/* ---- GGUF ---- */

static wb_model *open_gguf(gguf *g)
{
    wb_model *model;
    wb_error error;
    gguf_pad(g, 32);
    if (wb_open_memory(g->bytes, g->n, "x.gguf", NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return model;
}

static void close_gguf(gguf *g, wb_model *model)
{
    wb_close(model);
    gguf_free(g);
}

/* A special token must not get a text if its id is out of range or the tokens are not strings. */
static void special_names(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        gguf g;
        gguf_start(&g, false, 0, 5);
        gguf_key(&g, "general.architecture", STR);
        gguf_string(&g, "llama");
        gguf_number(&g, "tokenizer.ggml.bos_token_id", U32, 1, 4);
        gguf_number(&g, "tokenizer.ggml.eos_token_id", U32, 2, 4);
        gguf_number(&g, "tokenizer.ggml.padding_token_id", way == 3 ? I32 : U32, 0, 4);
        gguf_key(&g, way == 2 ? "other" : "tokenizer.ggml.tokens", way == 1 ? STR : ARR);
        if (way == 1) {
            gguf_string(&g, "no array");
        } else {
            gguf_array(&g, way == 3 ? U8 : STR, 2);
            for (int i = 0; i < 2; i++) {
                if (way == 3)
                    gguf_uint(&g, 1, 1);
                else
                    gguf_string(&g, i == 0 ? "zero" : "one");
            }
        }
        wb_model *model = open_gguf(&g);
        expect(model, "bos_token", way == 0 ? "one" : "absent");
        expect(model, "eos_token", "absent");
        expect(model, "pad_token", way == 0 ? "zero" : "absent");
        close_gguf(&g, model);
    }
}

static void odd_keys(void **state)
{
    (void)state;
    static char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    static const char *const architectures[] = {"", longest, "llama"};
    static const uint32_t thetas[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0x461C4000};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 4; k++) {
            gguf g;
            gguf_start(&g, false, 0, 3);
            gguf_key(&g, "general.architecture", STR);
            gguf_string(&g, architectures[i]);
            gguf_number(&g, "llama.rope.freq_base", F32, thetas[k], 4);
            gguf_number(&g, "rope.freq_base", F32, thetas[k], 4);
            wb_model *model = open_gguf(&g);
            wb_config c = {.size = sizeof c};
            assert_int_equal(wb_config_get(model, &c, NULL), WB_OK);
            if (i == 0)
                assert_null(c.architecture);
            else
                assert_string_equal(c.architecture, architectures[i]);
            if (i > 0 && k == 3)
                assert_true(c.rope_theta > 9999 && c.rope_theta < 10001);
            if (i > 0 && k == 0)
                assert_true(c.rope_theta > 1e300);
            close_gguf(&g, model);
        }
    }
}

/* ---- sources that declare more bytes than exist ---- */

typedef struct promise {
    const unsigned char *bytes;
    size_t n;
} promise;

static wb_status read_promise(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    const promise *p = ctx;
    memset(dst, 0, n);
    if (offset < p->n)
        memcpy(dst, p->bytes + offset, n < p->n - (size_t)offset ? n : p->n - (size_t)offset);
    *got = n;
    return WB_OK;
}

static wb_model *open_promise(promise *p, uint64_t length, const char *label)
{
    wb_source source = {.size = sizeof source, .ctx = p, .bytes = length, .read = read_promise};
    wb_model *model;
    wb_error error;
    if (wb_open_source(&source, label, NULL, &model, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return model;
}

/* The sum of the element counts of all tensors overflows 64 bits. */
static void sums_that_overflow(void **state)
{
    (void)state;
    const unsigned long long each = (1ULL << 61) - 2; /* bytes of a tensor of 4-bit elements */
    char header[1200] = "{";
    for (unsigned i = 0; i < 5; i++) {
        size_t at = strlen(header);
        (void)snprintf(
            header + at, sizeof header - at,
            "%s\"model.layers.0.block_sparse_moe.experts.%u.w1.weight\":{\"dtype\":\"F4\","
            "\"shape\":[2,%llu],\"data_offsets\":[%llu,%llu]}%s",
            i > 0 ? "," : "", i, each, i * each, (i + 1) * each, i == 4 ? "}" : "");
    }
    size_t n;
    uint64_t index;
    unsigned char *bytes = st_bytes(header, strlen(header), 0, &n);
    promise p = {bytes, n};
    wb_model *model = open_promise(&p, n + 5 * each, "x.safetensors");
    assert_int_equal(wb_tensor_find(model, "layers.0.ffn.experts.gate.weight", SIZE_MAX, &index),
                     WB_ERROR_NOT_FOUND);
    expect(model, "general.file_type", "absent");
    wb_close(model);
    free(bytes);

    static const uint64_t shape[] = {256, UINT64_C(1) << 54, 0};
    const uint64_t part = (UINT64_C(1) << 54) * 50; /* IQ1_S uses 50 bytes per 256 values */
    gguf g;
    gguf_start(&g, false, 5, 1);
    gguf_key(&g, "general.architecture", STR);
    gguf_string(&g, "llama");
    for (unsigned i = 0; i < 5; i++) {
        char *name = text_of("blk.%u.ffn_up.weight", i);
        gguf_tensor(&g, name, shape, 19, i * part);
        free(name);
    }
    gguf_pad(&g, 32);
    p = (promise){g.bytes, g.n};
    model = open_promise(&p, g.n + 5 * part, "x.gguf");
    wb_config c = {.size = sizeof c};
    assert_int_equal(wb_config_get(model, &c, NULL), WB_OK);
    assert_int_equal(c.quant_bits, 1);
    assert_int_equal(c.quant_group_size, 256);
    expect(model, "torch_dtype", "absent");
    close_gguf(&g, model);
}

/* ---- experts ---- */

#define E(n) "\"model.layers.0.block_sparse_moe.experts." #n ".w1"
#define PART(name, dtype, shape, begin, end)                                                       \
    name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"
#define Q(n, words, groups, begin, a, b, end)                                                      \
    PART(E(n) ".weight", "U32", "[2," #words "]", begin, a)                                        \
    "," PART(E(n) ".scales", "F16", "[2," #groups "]", a, b) "," PART(E(n) ".biases", "F16",       \
                                                                      "[2," #groups "]", b, end)

static void experts(void **state)
{
    (void)state;
    static const struct {
        const char *what, *header, *config;
        size_t data;
        bool stacked;
    } rows[] = {
        {"alike",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(E(1) ".weight", "F16", "[2,4]",
                                                                  16, 32) "}",
         "", 32, true},
        {"in another order",
         "{" PART(E(1) ".weight", "F16", "[2,4]", 0,
                  16) "," PART(E(2) ".weight", "F16", "[2,4]", 16,
                               32) "," PART(E(0) ".weight", "F16", "[2,4]", 32, 48) "}",
         "", 48, true},
        {"of two dtypes",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(E(1) ".weight", "BF16", "[2,4]",
                                                                  16, 32) "}",
         "", 32, false},
        {"of two ranks",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(E(1) ".weight", "F16", "[8]", 16,
                                                                  32) "}",
         "", 32, false},
        {"of two sizes",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(E(1) ".weight", "F16", "[2,8]",
                                                                  16, 48) "}",
         "", 48, false},
        {"of two shapes",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(E(1) ".weight", "F16", "[4,2]",
                                                                  16, 32) "}",
         "", 32, false},
        {"of two shapes with other ends",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(E(1) ".weight", "F16", "[1,8]",
                                                                  16, 32) "}",
         "", 32, false},
        {"without the second",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(E(2) ".weight", "F16", "[2,4]",
                                                                  16, 32) "}",
         "", 32, false},
        {"the first twice, under two names",
         "{" PART(E(0) ".weight", "F16", "[2,4]", 0, 16) "," PART(
             "\"model.layers.0.mlp.experts.0.gate_proj.weight", "F16", "[2,4]", 16, 32) "}",
         "", 32, false},
        {"all, and one more",
         "{" PART("\"model.layers.0.mlp.switch_mlp.gate_proj.weight", "F16", "[2,2,4]", 0,
                  32) "," PART(E(0) ".weight", "F16", "[2,4]", 32, 48) "}",
         "", 48, true},
        {"quantized alike", "{" Q(0, 8, 1, 0, 64, 68, 72) "," Q(1, 8, 1, 72, 136, 140, 144) "}", "",
         144, true},
        {"one of them quantized",
         "{" Q(0, 8, 1, 0, 64, 68, 72) "," PART(E(1) ".weight", "F16", "[2,64]", 72, 328) "}", "",
         328, false},
        {"quantized by other bits",
         "{" Q(0, 8, 1, 0, 64, 68, 72) "," Q(1, 16, 1, 72, 200, 204, 208) "}",
         ",\"quantization\":{\"group_size\":64,\"bits\":4,"
         "\"model.layers.0.block_sparse_moe.experts.1.w1\":{\"group_size\":64,\"bits\":8}}",
         208, false},
        {"quantized in other groups",
         "{" Q(0, 8, 1, 0, 64, 68, 72) "," Q(1, 8, 2, 72, 136, 144, 152) "}",
         ",\"quantization\":{\"group_size\":64,\"bits\":4,"
         "\"model.layers.0.block_sparse_moe.experts.1.w1\":{\"group_size\":32,\"bits\":4}}",
         152, false},
        {"quantized in other ways",
         "{" Q(0, 8, 1, 0, 64, 68, 72) "," PART(E(1) ".weight", "U32", "[2,8]", 72, 136) "," PART(
             E(1) ".scales", "U8", "[2,2]", 136, 140) "}",
         "", 140, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = text_of("{\"model_type\":\"mixtral\"%s}", rows[i].config);
        const beside files[] = {{"config.json", text}, {NULL, NULL}};
        char *folder = make_folder(rows[i].header, rows[i].data, files);
        wb_model *model = open_folder(folder);
        uint64_t index;
        wb_status status =
            wb_tensor_find(model, "layers.0.ffn.experts.gate.weight", SIZE_MAX, &index);
        if (status != (rows[i].stacked ? WB_OK : WB_ERROR_NOT_FOUND))
            fail_msg("%s: %s\n", rows[i].what, wb_status_name(status));
        wb_close(model);
        scratch_remove(folder);
        free(text);
    }
}

/* ---- configs ---- */

#define T(name, shape, begin, end) PART("\"" name, "F16", shape, begin, end)

static void configs(void **state)
{
    (void)state;
    static const struct {
        const char *header, *config;
        size_t data;
        const char *architecture;
        uint64_t window, pattern, encoder_layers;
    } rows[] = {
        {"{" ONE_TENSOR "}",
         "{\"model_type\":\"gemma3_text\",\"sliding_window\":8,\"layer_types\":[\"sliding_"
         "attention\","
         "\"full_attention\"]}",
         4, "gemma3", 8, 2, 0},
        {"{" ONE_TENSOR "}",
         "{\"model_type\":\"mistral\",\"sliding_window\":8,\"use_sliding_window\":true,"
         "\"layer_types\":[\"full_attention\"]}",
         4, "llama", 8, 0, 0},
        {"{" ONE_TENSOR "}",
         "{\"model_type\":\"mistral\",\"sliding_window\":8,\"use_sliding_window\":false,"
         "\"layer_types\":[]}",
         4, "llama", 0, 0, 0},
        {"{" ONE_TENSOR "}",
         "{\"model_type\":\"mistral\",\"sliding_window\":null,\"use_sliding_window\":\"x\"}", 4,
         "llama", 0, 0, 0},
        {"{" T("model.encoder.layers.0.fc1.weight", "[1,2]", 0,
               4) "," T("model.encoder.layers.2.fc1.weight", "[1,2]", 4, 8) "}",
         "{\"model_type\":\"whisper\"}", 8, "whisper", 0, 0, 3},
        {"{" T("model.encoder.layers.0.fc1.weight", "[1,2]", 0, 4) "}",
         "{\"model_type\":\"whisper\",\"encoder_layers\":7}", 4, "whisper", 0, 0, 7},
        {"{" ONE_TENSOR "}", "{\"model_type\":\"gemma3_text\"}", 4, "gemma3", 0, 0, 0},
        {"{" ONE_TENSOR "}", "{\"text_config\":{\"model_type\":\"\"},\"model_type\":\"none such\"}",
         4, "none such", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const beside files[] = {{"config.json", rows[i].config}, {NULL, NULL}};
        char *folder = make_folder(rows[i].header, rows[i].data, files);
        wb_model *model = open_folder(folder);
        wb_config c = {.size = sizeof c};
        assert_int_equal(wb_config_get(model, &c, NULL), WB_OK);
        assert_string_equal(c.architecture, rows[i].architecture);
        if (c.sliding_window != rows[i].window || c.sliding_window_pattern != rows[i].pattern ||
            c.enc_n_layers != rows[i].encoder_layers)
            fail_msg("%d: %d %d %d\n", (int)i, (int)c.sliding_window, (int)c.sliding_window_pattern,
                     (int)c.enc_n_layers);
        char *key = text_of("%s.attention.sliding_window", rows[i].architecture);
        char *window = rows[i].window == 0 ? text_of("absent") : text_of("%d", (int)rows[i].window);
        expect(model, key, window);
        free(key);
        free(window);
        wb_close(model);
        scratch_remove(folder);
    }
}

/* Without an architecture key, a tensor name that only one architecture has must determine the
 * architecture. */
static void signatures(void **state)
{
    (void)state;
    static const struct {
        const char *header, *architecture;
    } rows[] = {
        {"{" T("model.layers.0.mlp.gate_up_proj.weight", "[1,2]", 0, 4) "}", "phi3"},
        {"{" T("model.layers.0.pre_feedforward_layernorm.weight", "[2]", 0, 4) "}", "gemma3"},
        {"{" T("model.layers.0.nothing.known.weight", "[2]", 0, 4) "}", NULL},
    };
    for (size_t i = 0; i < 3; i++) {
        const beside none[] = {{NULL, NULL}};
        char *folder = make_folder(rows[i].header, 4, none);
        wb_model *model = open_folder(folder);
        wb_config c = {.size = sizeof c};
        assert_int_equal(wb_config_get(model, &c, NULL), WB_OK);
        if (rows[i].architecture == NULL) {
            assert_null(c.architecture);
        } else {
            assert_string_equal(c.architecture, rows[i].architecture);
            assert_int_equal(c.origin[WB_CONFIG_ARCHITECTURE], WB_ORIGIN_DERIVED);
        }
        wb_close(model);
        scratch_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_values),
        cmocka_unit_test(too_many_values),
        cmocka_unit_test(templates_and_pieces),
        cmocka_unit_test(allocations),
        cmocka_unit_test(many_allocations),
        cmocka_unit_test(special_names),
        cmocka_unit_test(odd_keys),
        cmocka_unit_test(sums_that_overflow),
        cmocka_unit_test(experts),
        cmocka_unit_test(configs),
        cmocka_unit_test(signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
