/*
 * Tests the parser of family tables and the evaluation of their expressions: every statement, every
 * operator and function, every error with its position, damaged tables, and lack of memory.
 */
#include "support.h"

#include "arch/family_text.h"
#include "arch/name_pattern.h"

#include "arch/arch_messages.h"
#include "arch/family_parser.h"
#include "weighbridge/config.h"

typedef struct reading {
    wb_error error;
    wb__context context;
    wb__arena arena;
    const wb__family *family;
    wb_status status;
} reading;

static void read_with(reading *r, const char *text, size_t n, const wb_allocator *allocator)
{
    *r = (reading){.context = {.allocator = *allocator, .file = "before"}};
    r->context.error = &r->error;
    r->arena.allocator = &r->context.allocator;
    (void)wb__error_reset(&r->error, &r->error);
    r->status =
        wb__family_read(&r->context, &r->arena, "t.family", (wb__str){text, n}, NULL, &r->family);
    assert_string_equal(r->context.file, "before");
    assert_true((r->status == WB_OK) == (r->family != NULL));
}

static void begin(reading *r, const char *text)
{
    read_with(r, text, strlen(text), &wb__default_allocator);
}

static void end(reading *r)
{
    wb__arena_free(&r->arena);
}

/* ---- expressions ---- */

/* The values that expressions can read: some scalars, the list [3, 3, 5], and one tensor. */
static wb__fact value(void *ctx, const char *name)
{
    (void)ctx;
    static const struct {
        const char *name;
        wb__fact fact;
    } values[] = {
        {"two", {.type = WB__FACT_UINT, .number = 2, .real = 2}},
        {"minus", {.type = WB__FACT_INT, .number = (uint64_t)-3, .real = -3}},
        {"half", {.type = WB__FACT_REAL, .real = 0.5}},
        {"word", {.type = WB__FACT_TEXT, .text = {"abc", 3}}},
        {"nil", {.type = WB__FACT_NULL}},
        {"items", {.type = WB__FACT_OTHER}},
        {"a.b/c-d", {.type = WB__FACT_UINT, .number = 7, .real = 7}},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (strcmp(values[i].name, name) == 0)
            return values[i].fact;
    }
    return (wb__fact){.type = WB__FACT_NONE};
}

static bool tensor(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "layers.0.ffn.up.weight") == 0;
}

typedef struct facts {
    wb__tree tree;
    wb__facts facts;
} facts;

static bool list(void *ctx, const char *name, wb__fact_list *out)
{
    facts *f = ctx;
    return wb__fact_list_find(&f->facts, (wb__str){"", 0}, name, name, out);
}

static void show(const wb__fact *fact, char *out, size_t capacity)
{
    switch (fact->type) {
    case WB__FACT_NONE: (void)snprintf(out, capacity, "none"); break;
    case WB__FACT_NULL: (void)snprintf(out, capacity, "null"); break;
    case WB__FACT_BOOL: (void)snprintf(out, capacity, fact->number ? "true" : "false"); break;
    case WB__FACT_UINT:
        (void)snprintf(out, capacity, "%llu", (unsigned long long)fact->number);
        break;
    case WB__FACT_INT: (void)snprintf(out, capacity, "%lld", (long long)fact->number); break;
    case WB__FACT_REAL: (void)snprintf(out, capacity, "%.17g!", fact->real); break;
    case WB__FACT_TEXT:
        (void)snprintf(out, capacity, "'%.*s'", (int)fact->text.len, fact->text.ptr);
        break;
    default: (void)snprintf(out, capacity, "other");
    }
}

static void expressions(void **state)
{
    (void)state;
    static const struct {
        const char *expr, *shown;
    } rows[] = {
        {"1", "1"},
        {"1.5e1", "15"},
        {"0.1", "0.10000000000000001!"},
        {"1e-6", "9.9999999999999995e-07!"},
        {"9007199254740992", "9007199254740992"},
        {"\"a b\"", "'a b'"},
        {"true", "true"},
        {"null", "null"},
        {"[]", "other"},
        {"two", "2"},
        {"a.b/c-d", "7"},
        {"unknown", "none"},
        {"unknown == 1", "none"},
        {"unknown != 1", "none"},
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"10 - 4 - 3", "3"},
        {"7 / 2", "3.5!"},
        {"6 / 2", "3"},
        {"12 / 2 / 3", "2"},
        {"1 / 0", "none"},
        {"2 - 5", "-3"},
        {"-two", "-2"},
        {"--two", "2"},
        {"half + half", "1!"},
        {"word + 1", "none"},
        {"9007199254740992 * 2", "18014398509481984!"},
        {"two == 2.0", "true"},
        {"half == 0.5", "true"},
        {"minus == -3", "true"},
        {"two != 3", "true"},
        {"two < 3 and 3 <= 3 and 4 > 3 and 3 >= 3", "true"},
        {"word == \"abc\"", "true"},
        {"word == two", "false"},
        {"nil == null", "true"},
        {"true == true", "true"},
        {"word < 1", "none"},
        {"true or false and false", "true"},
        {"not false", "true"},
        {"not two", "true"},
        {"not true or true", "true"},
        {"unknown ?? nil ?? 4", "4"},
        {"two ?? 4", "2"},
        {"two == 2 ? \"y\" : \"n\"", "'y'"},
        {"false ? 1 : true ? 2 : 3", "2"},
        {"int(2.9)", "2"},
        {"int(-2.9)", "-2"},
        {"int(word)", "none"},
        {"round_up(5, 4)", "8"},
        {"round_up(8, 4)", "8"},
        {"round_up(8, 0)", "none"},
        {"sqrt(16)", "4!"},
        {"sqrt(-1)", "none"},
        {"log(1)", "0!"},
        {"pow(2, 10)", "1024!"},
        {"pow(10, 400)", "none"},
        {"min(2, 3) + max(2, 3)", "5"},
        {"has(two)", "true"},
        {"has(nil)", "false"},
        {"has(items)", "true"},
        {"has(unknown)", "false"},
        {"count(items)", "3"},
        {"count(unknown)", "0"},
        {"leading(items, 3)", "2"},
        {"first(items, 5)", "2"},
        {"first(items, 6)", "none"},
        {"in(items, 5)", "true"},
        {"in(items, 4)", "false"},
        {"all(items, 3)", "false"},
        {"all(unknown, 3)", "true"},
        {"tensor(layers.0.ffn.up.weight)", "true"},
        {"tensor(other)", "false"},
        {"items[2]", "5"},
        {"items[3]", "none"},
        {"items[minus]", "none"},
        {"word[1]", "'b'"},
        {"word[3]", "none"},
        {"probit(0.5) < 1e-15 and probit(0.5) > -1e-15", "true"},
        {"probit(0)", "none"},
    };
    facts f;
    char json[] = "{\"items\":[3,3,5]}";
    assert_true(wb__tree_parse(&f.tree, json, strlen(json), &wb__default_allocator));
    f.facts = (wb__facts){.key_value = NULL};
    wb__facts_use_config(&f.facts, &f.tree);
    const wb__scope scope = {.ctx = &f, .value = value, .list = list, .tensor = tensor};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256], shown[64];
        reading r;
        (void)snprintf(text, sizeof text, "family t\nlet x = %s\n", rows[i].expr);
        begin(&r, text);
        if (r.status != WB_OK)
            fail_msg("%s: %s", rows[i].expr, r.error.message);
        wb__fact fact = wb__expr_eval(r.family->values[0].expr, &scope);
        show(&fact, shown, sizeof shown);
        if (strcmp(shown, rows[i].shown) != 0)
            fail_msg("%s gives %s instead of %s", rows[i].expr, shown, rows[i].shown);
        end(&r);
    }
    wb__fact fact = wb__expr_eval(NULL, &scope);
    assert_int_equal(fact.type, WB__FACT_NONE);
    assert_true(wb__expr_holds(NULL, &scope, true));
    assert_int_equal(wb__expr_count(NULL, &scope), 0);
    wb__tree_free(&f.tree);
}

/* ---- statements ---- */

static const char every_statement[] = "# A comment, then the first statement.\n"
                                      "family my : llama # a comment after a statement\n"
                                      "\n"
                                      "gguf my\n"
                                      "type my my2\n"
                                      "type my3\n"
                                      "class MyForCausalLM\n"
                                      "when expert_count == 0\n"
                                      "wrapper model.\n"
                                      "signature L.x\n"
                                      "token phi\n"
                                      "rope adjacent\n"
                                      "norm gguf, mlx\n"
                                      "flag no-head encoder\n"
                                      "need q k\n"
                                      "need recurrent: mixer conv\n"
                                      "layer-prefix h.{n}.\n"
                                      "set n_layers = 1\n"
                                      "default norm_eps = 1e-6\n"
                                      "implied norm_eps = 1e-5\n"
                                      "missing rope_theta =\n"
                                      "    # a comment inside a statement\n"
                                      "    10000\n"
                                      "always tie_embeddings = true\n"
                                      "let half = n_layers / 2\n"
                                      "key a.b u32 = n_layers if n_layers != 0\n"
                                      "key a.c f32[] = norm_eps\n"
                                      "json c.d = n_layers\n"
                                      "mlx m = 1\n"
                                      "json kinds[] = i == 0 ? \"a\" : \"b\"\n"
                                      "refuse hf x if i == 1 \"no\"\n"
                                      "warn gguf, mlx activation if activation != \"silu\"\n"
                                      "    \"other programs differ\"\n"
                                      "tensor L.q [dim, *] | L.attn.q, mlx:L.q, ~L.old_q.weight | "
                                      "B.q scale(1 / 2), ~B.Q! | role q rope_q\n"
                                      "tensor - | L.mask | -\n"
                                      "tensor ids! | ids | ids\n"
                                      "tensor L.all | L.qkv transpose groups(n_heads) | -\n"
                                      "parts L.all = L.q L.k x\n"
                                      "drop L.ffn.gate\n"
                                      "drop output\n";

static void statements(void **state)
{
    (void)state;
    reading r;
    begin(&r, every_statement);
    assert_int_equal(r.status, WB_OK);
    const wb__family *f = r.family;
    assert_string_equal(f->name, "my");
    assert_string_equal(f->base->name, "llama");
    assert_string_equal(f->gguf, "my");
    assert_string_equal(f->types, "my|my2|my3");
    assert_string_equal(f->classes, "MyForCausalLM");
    assert_string_equal(f->wrappers, "model.");
    assert_string_equal(f->signature, "L.x");
    assert_string_equal(f->tokenizer, "phi");
    assert_non_null(f->when);
    assert_int_equal(f->rope, WB__ROPE_ADJACENT);
    assert_int_equal(f->norm_sides, WB__SIDE_GGUF | WB__SIDE_MLX);
    assert_int_equal(wb__family_flags(f),
                     WB__FAMILY_NO_HEAD | WB__FAMILY_ENCODER | WB__FAMILY_FACTORS);
    assert_int_equal(wb__family_needs(f, WB_LAYER_ATTENTION), WB__NEED_Q | WB__NEED_K);
    assert_int_equal(wb__family_needs(f, WB_LAYER_RECURRENT),
                     WB__NEED_Q | WB__NEED_K | WB__NEED_MIXER | WB__NEED_CONV);

    static const uint8_t places[] = {WB__VALUE_SET,  WB__VALUE_DEFAULT, WB__VALUE_IMPLIED,
                                     WB__VALUE_BOTH, WB__VALUE_ALWAYS,  WB__VALUE_LET};
    assert_int_equal(f->value_count, sizeof places);
    for (size_t i = 0; i < sizeof places; i++)
        assert_int_equal(f->values[i].where, places[i]);
    assert_int_equal(f->values[1].field, WB_CONFIG_NORM_EPS);
    assert_int_equal(f->values[5].field, -1);

    assert_int_equal(f->key_count, 5);
    assert_int_equal(f->keys[0].type, WB__KEY_U32);
    assert_non_null(f->keys[0].condition);
    assert_int_equal(f->keys[1].type, WB__KEY_F32_LIST);
    assert_null(f->keys[1].condition);
    assert_true(f->keys[2].place == WB__KEYS_JSON && f->keys[0].place == WB__KEYS_GGUF);
    assert_int_equal(f->keys[3].place, WB__KEYS_MLX);
    assert_int_equal(f->keys[4].type, WB__KEY_LIST);

    assert_int_equal(f->limit_count, 2);
    assert_int_equal(f->limits[1].sides, WB__SIDE_GGUF | WB__SIDE_MLX);
    assert_string_equal(f->limits[1].member, "activation");
    assert_true(f->limits[0].is_refused && !f->limits[1].is_refused);
    assert_string_equal(f->limits[1].text, "other programs differ");
    end(&r);
}

static void tensors(void **state)
{
    (void)state;
    reading r;
    begin(&r, every_statement);
    assert_int_equal(r.family->rule_count, 6);
    const wb__rule *rule = r.family->rules;
    assert_string_equal(rule->canonical, "layers.{n}.q");
    assert_int_equal(rule->rank, 2);
    assert_true(rule->shape[0] != NULL && rule->shape[1] == NULL);
    assert_int_equal(rule->provides, WB__NEED_Q | WB__RULE_ROPE_Q);

    /* The names that the first statement `tensor` of every_statement lists. If a listed name has no
     * prefix such as "mlx:", it is used in each format for which the statement lists no other name.
     */
    static const struct {
        const char *name;
        uint8_t sides, suffix, transforms;
        bool is_read;
    } spellings[] = {
        {"h.{n}.attn.q", WB__SIDE_HF | WB__SIDE_OLLAMA, WB__SUFFIX_SAME, 0, false},
        {"h.{n}.q", WB__SIDE_MLX, WB__SUFFIX_SAME, 0, false},
        {"h.{n}.old_q", WB__SIDE_NATIVE, WB__SUFFIX_WEIGHT, 0, true},
        {"blk.{n}.q", WB__SIDE_GGUF, WB__SUFFIX_SAME, 1, false},
        {"blk.{n}.Q", WB__SIDE_GGUF, WB__SUFFIX_NONE, 0, true},
    };
    assert_int_equal(rule->spelling_count, sizeof spellings / sizeof spellings[0]);
    for (size_t i = 0; i < rule->spelling_count; i++) {
        assert_string_equal(rule->spellings[i].name, spellings[i].name);
        assert_int_equal(rule->spellings[i].sides, spellings[i].sides);
        assert_int_equal(rule->spellings[i].suffix, spellings[i].suffix);
        assert_int_equal(rule->spellings[i].count, spellings[i].transforms);
        assert_int_equal(rule->spellings[i].is_read, spellings[i].is_read);
    }
    assert_null(rule[1].canonical);
    assert_int_equal(rule[1].spelling_count, 1);
    assert_int_equal(rule[2].suffix, WB__SUFFIX_NONE);
    assert_true(rule[4].is_dropped && rule[5].is_dropped);
    assert_string_equal(rule[4].canonical, "layers.{n}.ffn.gate");
    assert_string_equal(rule[5].canonical, "output");

    const wb__spelling *moved = rule[3].spellings;
    assert_int_equal(moved->count, 2);
    assert_true(wb__spelling_moves(moved) && !wb__spelling_moves(rule->spellings));
    assert_null(wb__spelling_transform(moved, WB__TRANSFORM_TRANSPOSE)->argument);
    assert_non_null(wb__spelling_transform(moved, WB__TRANSFORM_GROUPS)->argument);
    assert_null(wb__spelling_transform(moved, WB__TRANSFORM_SCALE));
    const wb__fused *fused = wb__family_fused(r.family, "layers.{n}.all");
    assert_int_equal(fused->count, 3);
    assert_string_equal(fused->parts[1], "layers.{n}.k");
    assert_string_equal(fused->parts[2], "x");
    assert_ptr_equal(wb__family_fused_with(r.family, "x", WB__SIDE_HF), fused);
    assert_null(wb__family_fused_with(r.family, "x", WB__SIDE_GGUF));
    assert_null(wb__family_fused(r.family, "layers.{n}.q"));
    end(&r);
}

/* ---- errors ---- */

static void errors(void **state)
{
    (void)state;
    /* `at` is the text at the offset of the error. */
    static const struct {
        const char *text, *message, *at;
    } rows[] = {
        {"", "expected 'family'", ""},
        {"gguf x\n", "expected 'family'", "gguf"},
        {"family 1\n", WB__MSG_FAMILY_WORD, "1"},
        {"family a : none-such\n", WB__MSG_FAMILY_BASE, ""},
        {"family a b\n", WB__MSG_FAMILY_REST, "b"},
        {"family a\nfamily b\n", WB__MSG_FAMILY_STATEMENT, "family"},
        {"family a\nset no_field = 1\n", WB__MSG_FAMILY_FIELD, "="},
        {"family a\nlet x 1\n", "expected '='", "1"},
        {"family a\nlet x = \n", WB__MSG_FAMILY_EXPR, ""},
        {"family a\nlet x = 1 2\n", WB__MSG_FAMILY_REST, "2"},
        {"family a\nlet x = (1\n", "expected ')'", ""},
        {"family a\nlet x = 1 ? 2\n", "expected ':'", ""},
        {"family a\nlet x = y[1\n", "expected ']'", ""},
        {"family a\nlet x = nosuch(1)\n", WB__MSG_FAMILY_FUNCTION, "1"},
        {"family a\nlet x = pow(1)\n", "expected ','", ")"},
        {"family a\nlet x = has(1)\n", WB__MSG_FAMILY_WORD, "1"},
        {"family a\nlet x = 1e999\n", WB__MSG_FAMILY_EXPR, "1e999"},
        {"family a\nlet x = 01\n", WB__MSG_FAMILY_EXPR, "01"},
        {"family a\nlet x = \"a\n", WB__MSG_FAMILY_EXPR, "\"a"},
        {"family a\nlet x = $\n", WB__MSG_FAMILY_EXPR, "$"},
        {"family a\nrope none\n", WB__MSG_FAMILY_CHOICE, "none"},
        {"family a\nflag\n", WB__MSG_FAMILY_CHOICE, ""},
        {"family a\nnorm gguf x\n", WB__MSG_FAMILY_REST, "x"},
        {"family a\nnorm x\n", WB__MSG_FAMILY_FORMAT, "x"},
        {"family a\nneed x\n", WB__MSG_FAMILY_ROLE, "x"},
        {"family a\nneed x: q\n", WB__MSG_FAMILY_CHOICE, "x"},
        {"family a\nlayer-prefix x.\n", WB__MSG_FAMILY_NAME, ""},
        {"family a\nkey a = 1\n", WB__MSG_FAMILY_CHOICE, "="},
        {"family a\nkey a str[] = 1\n", WB__MSG_FAMILY_CHOICE, "]"},
        {"family a\nwarn gguf a b\n", "expected 'if'", "b"},
        {"family a\nwarn gguf a if 1\n", WB__MSG_FAMILY_TEXT, ""},
        {"family a\ntensor x | y\n", "expected '|'", ""},
        {"family a\ntensor x{m} | y | z\n", WB__MSG_FAMILY_NAME, "|"},
        {"family a\ntensor x | y} | z\n", WB__MSG_FAMILY_NAME, "|"},
        {"family a\ntensor x | hf:a, mlx:b, ollama:c, d | z\n", WB__MSG_FAMILY_FORMAT, "|"},
        {"family a\ntensor x | y twist(1) | z\n", WB__MSG_FAMILY_TRANSFORM, "twist"},
        {"family a\ntensor x | y scale 2 | z\n", "expected '('", "2"},
        {"family a\ntensor x | y groups | z\n", "expected '('", "|"},
        {"family a\nparts x y\n", "expected '='", "y"},
        {"family a\nparts x =\n", WB__MSG_FAMILY_WORD, ""},
        {"family a\nparts x = a b c d e\n", WB__MSG_FAMILY_PARTS, "e"},
        {"family a\ntensor x [a, b, c, d, e, f] | y | z\n", WB__MSG_FAMILY_AXES, "f"},
        {"family a\ntensor x | y | z | join a\n", "expected 'role'", "join"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reading r;
        begin(&r, rows[i].text);
        size_t n = strlen(rows[i].at);
        if (r.status != WB_ERROR_FORMAT || strstr(r.error.message, rows[i].message) == NULL ||
            r.error.offset > strlen(rows[i].text) ||
            strncmp(rows[i].text + r.error.offset, rows[i].at, n) != 0)
            fail_msg("%s: '%s' at %llu", rows[i].text, r.error.message,
                     (unsigned long long)r.error.offset);
        assert_string_equal(r.error.file, "t.family");
        assert_string_equal(r.error.code, "family-table");
        end(&r);
    }
}

/* Parses a table that consists of `head`, n times `text`, and `tail`. Returns the message of the
 * error, or an empty string. */
static const char *repeated(reading *r, const char *head, const char *text, size_t n,
                            const char *tail)
{
    size_t length = strlen(head) + n * strlen(text) + strlen(tail);
    char *table = malloc(length + 1), *at = table;
    assert_non_null(table);
    at += sprintf(at, "%s", head);
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%s", text);
    (void)sprintf(at, "%s", tail);
    read_with(r, table, length, &wb__default_allocator);
    free(table);
    end(r);
    return r->status == WB_OK ? "" : r->error.message;
}

static void limits(void **state)
{
    (void)state;
    reading r;
    static const struct {
        const char *head, *text, *tail;
        size_t most;
        const char *message;
    } rows[] = {
        {"family a\n", "let x = 1\n", "", WB__TABLE_STATEMENTS - 1, WB__MSG_FAMILY_LONG},
        {"family a\nlet x = ", "(", "", 0, WB__MSG_FAMILY_EXPR},
        {"family a\nlet x = 1", " + 1", "\n", (WB__EXPR_MAX - 1) / 2, WB__MSG_FAMILY_EXPR_LONG},
        {"family a\ntensor x | y", ", ~y", " | -\n", WB__TABLE_SPELLINGS - 1,
         WB__MSG_FAMILY_SPELLINGS},
        {"family a\ntensor x | y", " scale(1)", " | -\n", WB__TABLE_TRANSFORMS,
         WB__MSG_FAMILY_TRANSFORM},
        {"family a\ntensor ", "x", " | y | z\n", WB__TABLE_NAME, WB__MSG_FAMILY_NAME},
        {"family a\ndrop ", "x", "\n", WB__TABLE_NAME, WB__MSG_FAMILY_NAME},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *head = rows[i].head, *text = rows[i].text, *tail = rows[i].tail;
        if (rows[i].most > 0)
            assert_string_equal(repeated(&r, head, text, rows[i].most, tail), "");
        const char *message = repeated(&r, head, text, rows[i].most + 1, tail);
        if (strstr(message, rows[i].message) == NULL)
            fail_msg("%s%s…: '%s'", head, text, message);
    }
    const char *message = repeated(&r, "family a\nlet x = ", "(", 100000, "1\n");
    assert_non_null(strstr(message, WB__MSG_FAMILY_EXPR_NESTING));
    message = repeated(&r, "family a\nlet x = ", "not ", 100000, "1\n");
    assert_true(r.status == WB_ERROR_FORMAT && message[0] != '\0');
    message = repeated(&r, "family a\nlet x = ", "1 ? 1 : ", 100000, "1\n");
    assert_true(r.status == WB_ERROR_FORMAT && message[0] != '\0');
    message = repeated(&r, "family a\n", "#", WB__TABLE_BYTES, "\n");
    assert_non_null(strstr(message, WB__MSG_FAMILY_LONG));
}

/* ---- damaged tables, lack of memory ---- */

static void damaged(void **state)
{
    (void)state;
    static const char bytes[] = {'\0', '\n', ' ', '#', '"', '(', ')', '|', '{', '}', ':',       '~',
                                 '!',  '=',  '?', '[', ']', '-', '1', 'L', '.', ',', (char)0xff};
    char text[sizeof every_statement];
    reading r;
    for (size_t n = 0; n < sizeof every_statement; n++) {
        char *exact = malloc(n + 1); /* sanitizers find reads after the end */
        assert_non_null(exact);
        memcpy(exact, every_statement, n);
        read_with(&r, exact, n, &wb__default_allocator);
        end(&r);
        free(exact);
        for (size_t i = 0; i < sizeof bytes; i++) {
            memcpy(text, every_statement, sizeof text);
            text[n] = bytes[i];
            read_with(&r, text, sizeof text - 1, &wb__default_allocator);
            end(&r);
        }
    }
}

static void lack_of_memory(void **state)
{
    (void)state;
    counter c = {0};
    const wb_allocator allocator = {.ctx = &c, .alloc = counter_alloc, .free = counter_free};
    reading r;
    bool failed = true;
    for (size_t at = 1; failed; at++) {
        c = (counter){.fail_at = at};
        read_with(&r, every_statement, sizeof every_statement - 1, &allocator);
        failed = c.failed;
        assert_int_equal(r.status, failed ? WB_ERROR_MEMORY : WB_OK);
        end(&r);
        assert_true(c.live == 0 && !c.wrong);
    }
    assert_true(c.peak < 8 * sizeof every_statement + ((size_t)1 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions),    cmocka_unit_test(statements), cmocka_unit_test(tensors),
        cmocka_unit_test(errors),         cmocka_unit_test(limits),     cmocka_unit_test(damaged),
        cmocka_unit_test(lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
