/* Splits text into words, numbers, punctuation and spaces, as byte-level BPE does before it merges
 * bytes. The tokenizer files have regular expressions for this. Their metadata has the name of the
 * expression (tokenizer.ggml.pre), and the tables below have a scanner for each part of it.
 */
#include "tokenizer.h"
#include "unicode.h"
#include <string.h>

/* One alternative of a regular expression. The function returns the end of the longest match at
 * `p`, or `p` if it does not match.
 */
typedef struct alternative {
    const char *(*match)(const struct alternative *a, const char *p, const char *end);
    unsigned set;      /* classes of characters */
    unsigned prefix;   /* classes of the character that may precede them */
    int limit;         /* maximum number of characters; 0: any */
    const char *after; /* characters that may follow the match, any number of them */
} alternative;

struct split_rule {
    const alternative *steps[4]; /* each step splits the parts that the previous one made */
    int takes_words;
};

static unsigned class_at(const char *p, const char *end)
{
    uint32_t character;
    if (p == end)
        return 0;
    next_char(p, end, &character);
    return class_of(character);
}

static const char *after_char(const char *p, const char *end)
{
    uint32_t character;
    return next_char(p, end, &character);
}

/* Returns the end of the characters of a set of classes. */
static const char *run(const char *p, const char *end, unsigned set, int limit)
{
    for (int n = 0; (limit == 0 || n < limit) && (class_at(p, end) & set) != 0; n++)
        p = after_char(p, end);
    return p;
}

static int is_line_end(const char *p, const char *end)
{
    return p < end && (*p == '\r' || *p == '\n');
}

/* [SET]{1,LIMIT} */
static const char *some(const alternative *a, const char *p, const char *end)
{
    return run(p, end, a->set, a->limit);
}

/* ` ?[SET]+[AFTER]*` */
static const char *spaced(const alternative *a, const char *p, const char *end)
{
    const char *from = p < end && *p == ' ' && (class_at(p + 1, end) & a->set) ? p + 1 : p;
    const char *stop = run(from, end, a->set, 0);
    if (stop == from)
        return p;
    while (a->after && stop < end && *stop != 0 && strchr(a->after, *stop))
        stop++;
    return stop;
}

/* The position after a character that may precede a word. A line break may not. */
static const char *after_prefix(const alternative *a, const char *p, const char *end)
{
    return !is_line_end(p, end) && (class_at(p, end) & a->prefix) ? after_char(p, end) : p;
}

/* `[PREFIX]?[SET]+` */
static const char *word(const alternative *a, const char *p, const char *end)
{
    const char *from = after_prefix(a, p, end), *stop = run(from, end, a->set, 0);
    return stop > from ? stop : run(p, end, a->set, 0);
}

/* `'s|'t|'re|'ve|'m|'ll|'d`. With a limit, capital letters match, too. */
static const char *contraction(const alternative *a, const char *p, const char *end)
{
    static const char *const endings[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (p == end || *p != '\'')
        return p;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]), same = 0;
        while (same < n && (size_t)(end - p) > n) {
            char c = p[1 + same];
            if (a->limit && c >= 'A' && c <= 'Z')
                c = (char)(c - 'A' + 'a');
            if (c != endings[i][same])
                break;
            same++;
        }
        if (same == n)
            return p + 1 + n;
    }
    return p;
}

/* `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`: capital letters, then small ones.
 * Letters without case, and marks, are both. If no small letter follows, the match ends after the
 * last character that is both.
 */
static const char *small_letters(const char *p, const char *end)
{
    const unsigned both = LETTER | MARKS;
    const char *last = p, *q = p;
    for (; class_at(q, end) & (UPPER | both); q = after_char(q, end))
        if (class_at(q, end) & both)
            last = after_char(q, end);
    return class_at(q, end) == LOWER ? run(q, end, LOWER | both, 0) : last;
}

/* `[PREFIX]?`, then small_letters() or capital letters. With a limit, a contraction may follow. */
static const char *cased_word(const alternative *a, const char *p, const char *end)
{
    const char *from = after_prefix(a, p, end), *stop = small_letters(from, end);
    if (stop == from)
        stop = small_letters(p, end);
    if (stop == p)
        stop = run(from, end, UPPER, 0);
    if (stop == p || stop == from)
        return p;
    return a->limit ? contraction(a, stop, end) : stop;
}

/* `[!-/:-~][A-Za-z]+`: an ASCII punctuation character before letters */
static const char *marked_word(const alternative *a, const char *p, const char *end)
{
    (void)a;
    if (p == end || *p < '!' || *p > '~' || !(class_at(p, end) & (PUNCTUATION | SYMBOL)))
        return p;
    const char *q = p + 1;
    while (q < end && ((*q >= 'A' && *q <= 'Z') || (*q >= 'a' && *q <= 'z')))
        q++;
    return q > p + 1 ? q : p;
}

/* `[!$+<=>^~|\p{P}]+`: punctuation, and some of the ASCII symbols */
static const char *punctuation(const alternative *a, const char *p, const char *end)
{
    while (p < end &&
           (class_at(p, end) == PUNCTUATION || (*p != 0 && strchr(a->after, *p) != NULL)))
        p = after_char(p, end);
    return p;
}

/* Chinese characters and Japanese syllables */
static const char *ideographs(const alternative *a, const char *p, const char *end)
{
    uint32_t c;
    (void)a;
    for (const char *next; p < end; p = next) {
        next = next_char(p, end, &c);
        if (!(c >= 0x4E00 && c <= 0x9FA5) && !(c >= 0x3040 && c <= 0x30FF))
            break;
    }
    return p;
}

static const char *three_digits(const alternative *a, const char *p, const char *end)
{
    (void)a;
    for (int i = 0; i < 3; i++)
        if (end - p <= i || p[i] < '0' || p[i] > '9')
            return p;
    return p + 3;
}

/* `\s*[\r\n]+`: spaces up to the last line break */
static const char *lines(const alternative *a, const char *p, const char *end)
{
    const char *last = p;
    (void)a;
    for (; class_at(p, end) == SPACE; p = after_char(p, end))
        if (is_line_end(p, end))
            last = p + 1;
    return last;
}

/* `\s+(?!\S)|\s+`: all spaces, but the last one belongs to the word after them. */
static const char *spaces(const alternative *a, const char *p, const char *end)
{
    const char *q = p, *last = p;
    (void)a;
    for (; class_at(q, end) == SPACE; q = after_char(q, end))
        last = q;
    return q == end || last == p ? q : last;
}

/* ---- rules ---- */

enum {
    NOT_WORDS = ALL_CLASSES & ~(SPACE | LETTERS | NUMBER),
    NOT_LETTERS = ALL_CLASSES & ~(LETTERS | NUMBER),
    NOT_SYMBOLS = ALL_CLASSES & ~(LETTERS | PUNCTUATION | SYMBOL)
};

static const alternative gpt2[] = {{.match = contraction},
                                   {.match = spaced, .set = LETTERS},
                                   {.match = spaced, .set = NUMBER},
                                   {.match = spaced, .set = NOT_WORDS},
                                   {.match = spaces},
                                   {.match = NULL}};
static const alternative llama3[] = {{.match = contraction, .limit = 1},
                                     {.match = word, .prefix = NOT_LETTERS, .set = LETTERS},
                                     {.match = some, .set = NUMBER, .limit = 3},
                                     {.match = spaced, .set = NOT_WORDS, .after = "\r\n"},
                                     {.match = lines},
                                     {.match = spaces},
                                     {.match = NULL}};
static const alternative qwen2[] = {{.match = contraction, .limit = 1},
                                    {.match = word, .prefix = NOT_LETTERS, .set = LETTERS},
                                    {.match = some, .set = NUMBER, .limit = 1},
                                    {.match = spaced, .set = NOT_WORDS, .after = "\r\n"},
                                    {.match = lines},
                                    {.match = spaces},
                                    {.match = NULL}};
static const alternative qwen35[] = {{.match = contraction, .limit = 1},
                                     {.match = word, .prefix = NOT_LETTERS, .set = LETTERS | MARKS},
                                     {.match = some, .set = NUMBER, .limit = 1},
                                     {.match = spaced, .set = NOT_WORDS & ~MARKS, .after = "\r\n"},
                                     {.match = lines},
                                     {.match = spaces},
                                     {.match = NULL}};
static const alternative gpt4o[] = {{.match = cased_word, .prefix = NOT_LETTERS, .limit = 1},
                                    {.match = some, .set = NUMBER, .limit = 3},
                                    {.match = spaced, .set = NOT_WORDS, .after = "\r\n/"},
                                    {.match = lines},
                                    {.match = spaces},
                                    {.match = NULL}};
static const alternative tekken[] = {{.match = cased_word, .prefix = NOT_LETTERS},
                                     {.match = some, .set = NUMBER, .limit = 1},
                                     {.match = spaced, .set = NOT_WORDS, .after = "\r\n/"},
                                     {.match = lines},
                                     {.match = spaces},
                                     {.match = NULL}};
static const alternative deepseek3[] = {
    {.match = marked_word},
    {.match = word, .prefix = NOT_SYMBOLS, .set = LETTERS | MARKS},
    {.match = spaced, .set = PUNCTUATION | SYMBOL, .after = "\r\n"},
    {.match = lines},
    {.match = spaces},
    {.match = NULL}};
static const alternative digit[] = {{.match = some, .set = NUMBER, .limit = 1}, {.match = NULL}};
static const alternative digits3[] = {{.match = some, .set = NUMBER, .limit = 3}, {.match = NULL}};
static const alternative numbers[] = {{.match = some, .set = NUMBER}, {.match = NULL}};
static const alternative threes[] = {{.match = three_digits}, {.match = NULL}};
static const alternative chinese[] = {{.match = ideographs}, {.match = NULL}};
static const alternative symbols[] = {{.match = punctuation, .after = "$+<=>^~|"}, {.match = NULL}};

static const struct split_rule rules[] = {
    {{gpt2}, 0},
    {{llama3}, 1},
    {{qwen2}, 0},
    {{qwen35}, 0},
    {{gpt4o}, 0},
    {{tekken}, 1},
    {{digit, gpt2}, 0},
    {{digits3, chinese, deepseek3}, 0},
    {{symbols, gpt2, numbers, threes}, 0},
};

/* The names that llama.cpp gives to the expressions. Models with the same expression have several
 * names. "default" is for files that do not name one.
 */
static const struct {
    const char *name;
    int rule;
} names[] = {{"gpt-2", 0},
             {"phi-2", 0},
             {"olmo", 0},
             {"mpt", 0},
             {"mellum", 0},
             {"gigachat", 0},
             {"a.x-4.0", 0},
             {"exaone4", 0},
             {"llama-bpe", 1},
             {"llama3", 1},
             {"llama-v3", 1},
             {"falcon3", 1},
             {"falcon-h1", 1},
             {"pixtral", 1},
             {"midm-2.0", 1},
             {"lfm2", 1},
             {"qwen2", 2},
             {"stablelm2", 2},
             {"hunyuan", 2},
             {"megrez", 2},
             {"kormo", 2},
             {"qwen35", 3},
             {"gpt-4o", 4},
             {"llama4", 4},
             {"kanana2", 4},
             {"tekken", 5},
             {"starcoder", 6},
             {"refact", 6},
             {"command-r", 6},
             {"smollm", 6},
             {"codeshell", 6},
             {"exaone", 6},
             {"minerva-7b", 6},
             {"deepseek-v3", 7},
             {"deepseek-r1-qwen", 2},
             {"default", 8}};

const struct split_rule *find_rule(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0)
            return &rules[names[i].rule];
    return NULL;
}

int rule_takes_words(const struct split_rule *rule)
{
    return rule->takes_words;
}

static void split_step(const struct split_rule *rule, size_t step, const char *p, const char *end,
                       void (*each)(void *context, const char *text, size_t len), void *context)
{
    const char *begin = p; /* of the text that no alternative has matched */
    if (step == sizeof rule->steps / sizeof *rule->steps || rule->steps[step] == NULL) {
        each(context, p, (size_t)(end - p));
        return;
    }
    while (p < end) {
        const char *stop = p;
        for (const alternative *a = rule->steps[step]; stop == p && a->match; a++)
            stop = a->match(a, p, end);
        if (stop == p) {
            p = after_char(p, end);
            continue;
        }
        if (begin < p)
            split_step(rule, step + 1, begin, p, each, context);
        split_step(rule, step + 1, p, stop, each, context);
        begin = p = stop;
    }
    if (begin < end)
        split_step(rule, step + 1, begin, end, each, context);
}

void split(const struct split_rule *rule, const char *text, size_t len,
           void (*each)(void *context, const char *text, size_t len), void *context)
{
    split_step(rule, 0, text, text + len, each, context);
}
