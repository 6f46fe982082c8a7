#include "arch/tokenizer/pretokenizer.h"

/*
 * known[] lists the rules. `steps` has one line per step of the rule (wb__pretokenizer_steps in
 * pretokenizer.h), and `name` is llama.cpp's name of the rule. The macros are parts of the regular
 * expressions in `steps`.
 */
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define NO_LETTER "[^\\r\\n\\p{L}\\p{N}]?"

static const struct {
    const char *steps;
    const char *name;
    bool ignores_merges;
} known[] = {
    {"*\n", "gpt-2", false},
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+\n",
     "gpt-2", false},
    {CONTRACTIONS "|" NO_LETTER "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES "\n",
     "llama-bpe", true},
    {CONTRACTIONS "|" NO_LETTER "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES "\n",
     "qwen2", false},
    {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+"
                  "[\\r\\n]*|" SPACES "\n",
     "qwen35", false},
    {NO_LETTER UPPER "*" LOWER "+" CONTRACTIONS "?|" NO_LETTER UPPER "+" LOWER "*" CONTRACTIONS
                     "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES "\n",
     "gpt-4o", false},
    {NO_LETTER UPPER "*" LOWER "+|" NO_LETTER UPPER "+" LOWER
                     "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES "\n",
     "tekken", true},
    {"#1\n*\n", "starcoder", false},
    {"!\n*\n#\n[0-9][0-9][0-9]\n", "falcon", false},
    {"\\p{N}{1,3}\n[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+\n"
     "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
     "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES "\n",
     "deepseek-v3", false},
};

#define COUNT (sizeof known / sizeof known[0])

#define STEPS_MAX 1024

typedef struct steps {
    char text[STEPS_MAX];
    size_t n;
    bool unknown;
} steps;

static void add_step(steps *s, wb__str step)
{
    if (step.len + 1 > STEPS_MAX - s->n) {
        s->unknown = true;
        return;
    }
    memcpy(s->text + s->n, step.ptr, step.len);
    s->n += step.len;
    s->text[s->n++] = '\n';
}

/* Adds an expression. Line breaks become the escapes "\n" and "\r", as in known[]. */
static void add_expression(steps *s, wb__str expression)
{
    char text[STEPS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < expression.len && n + 2 <= sizeof text; i++) {
        char c = expression.ptr[i];
        if (c == '\n' || c == '\r') {
            text[n++] = '\\';
            c = c == '\n' ? 'n' : 'r';
        }
        text[n++] = c;
    }
    s->unknown |= n + 2 > sizeof text;
    add_step(s, (wb__str){text, n});
}

static bool is_true(const wb__tree *tree, wb__node object, const char *key, bool unsaid)
{
    bool value;
    wb__node node = wb__tree_get(tree, object, key);
    return node != WB__NO_NODE && wb__tree_bool(tree, node, &value) ? value : unsaid;
}

static void read_step(const wb__tree *tree, wb__node node, steps *s)
{
    wb__str type = wb__tree_string(tree, wb__tree_get(tree, node, "type"));
    if (wb__str_equal(type, WB__STR("Split"))) {
        wb__node expression = wb__tree_path(tree, node, "pattern/Regex");
        if (expression == WB__NO_NODE)
            expression = wb__tree_path(tree, node, "pattern/String");
        add_expression(s, wb__tree_string(tree, expression));
    } else if (wb__str_equal(type, WB__STR("Digits"))) {
        add_step(s, is_true(tree, node, "individual_digits", false) ? WB__STR("#1") : WB__STR("#"));
    } else if (wb__str_equal(type, WB__STR("Punctuation"))) {
        add_step(s, WB__STR("!"));
    } else if (wb__str_equal(type, WB__STR("ByteLevel"))) {
        if (is_true(tree, node, "use_regex", true))
            add_step(s, WB__STR("*"));
    } else {
        s->unknown = true;
    }
}

const char *wb__pretokenizer_name(const wb__tree *tree, wb__node pre_tokenizer)
{
    steps s = {.n = 0};
    wb__node list = wb__tree_get(tree, pre_tokenizer, "pretokenizers");
    if (list == WB__NO_NODE) {
        read_step(tree, pre_tokenizer, &s);
    } else {
        for (wb__node node = wb__tree_first(tree, list); node != WB__NO_NODE && !s.unknown;
             node = wb__tree_next(tree, list, node))
            read_step(tree, node, &s);
    }
    if (s.unknown)
        return NULL;
    for (size_t i = 0; i < COUNT; i++) {
        if (wb__str_equal((wb__str){s.text, s.n}, wb__str_from(known[i].steps, SIZE_MAX)))
            return known[i].name;
    }
    return NULL;
}

/* Names for which llama.cpp splits text in the same way as for a name in known[]. */
static const struct {
    const char *other, *name;
} aliases[] = {
    {"llama3", "llama-bpe"},    {"llama-v3", "llama-bpe"},
    {"falcon3", "llama-bpe"},   {"falcon-h1", "llama-bpe"},
    {"pixtral", "llama-bpe"},   {"lfm2", "llama-bpe"},
    {"midm-2.0", "llama-bpe"},  {"deepseek-r1-qwen", "qwen2"},
    {"megrez", "qwen2"},        {"kormo", "qwen2"},
    {"stablelm2", "qwen2"},     {"hunyuan", "qwen2"},
    {"smollm", "starcoder"},    {"refact", "starcoder"},
    {"command-r", "starcoder"}, {"codeshell", "starcoder"},
    {"exaone", "starcoder"},    {"minerva-7b", "starcoder"},
    {"phi-2", "gpt-2"},         {"olmo", "gpt-2"},
    {"mpt", "gpt-2"},           {"mellum", "gpt-2"},
    {"gigachat", "gpt-2"},      {"a.x-4.0", "gpt-2"},
    {"exaone4", "gpt-2"},       {"llama4", "gpt-4o"},
    {"kanana2", "gpt-4o"},
};

/* Returns the index of the first row in known[] with this name; COUNT if there is none. */
static size_t find_name(wb__str name)
{
    size_t at = 0;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (wb__str_equal(name, wb__str_from(aliases[i].other, SIZE_MAX)))
            name = wb__str_from(aliases[i].name, SIZE_MAX);
    }
    while (at < COUNT && !wb__str_equal(name, wb__str_from(known[at].name, SIZE_MAX)))
        at++;
    return at;
}

const char *wb__pretokenizer_steps(wb__str name)
{
    size_t at = find_name(name);
    return at < COUNT ? known[at].steps : NULL;
}

bool wb__pretokenizer_ignores_merges(wb__str name)
{
    size_t at = find_name(name);
    return at < COUNT && known[at].ignores_merges;
}
