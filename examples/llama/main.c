/* Generates text with a model of the Llama, Qwen 2 and 3, Gemma or Phi 3 families, in any format
 * and encoding. The usage text below has the options.
 */
#include "model.h"
#include "printer.h"
#include "sample.h"
#include "tokenizer.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: llama [options] TEXT MODEL\n"
    "\n"
    "Prints TEXT and what the model generates after it. TEXT is read from standard\n"
    "input if it is \"-\". MODEL is a Hugging Face or MLX folder, a GGUF file, or\n"
    "anything else that the library opens.\n"
    "\n"
    "  -n COUNT  generates at most COUNT tokens [128]\n"
    "  -t TEMP   samples at this temperature [0: takes the most probable token]\n"
    "  -k COUNT  samples from the COUNT most probable tokens [0: from all]\n"
    "  -p SUM    samples from the most probable tokens, up to this sum of their\n"
    "            probabilities [1: from all]\n"
    "  -s SEED   seed of the random numbers [1]\n"
    "  -i        TEXT has the ids of tokens, such as \"315 461 592\"\n"
    "  -T        prints the ids of the tokens of TEXT, and generates nothing\n"
    "  -l FILE   writes the logits after each token of TEXT to a file of NumPy\n"
    "  -h        prints this text\n"
    "  --        ends the options, so that TEXT can begin with \"-\"\n";

typedef struct options {
    const char *text, *path, *logits;
    size_t len; /* of the text */
    uint64_t count;
    sampler sampler;
    int ids, only_tokens;
} options;

/* ---- the text ---- */

static char *read_input(size_t *len)
{
    char *text = NULL;
    size_t capacity = 0;
    *len = 0;
    for (int c; text = grow(text, *len, &capacity, 1), (c = getchar()) != EOF;)
        text[(*len)++] = (char)c;
    text[*len] = 0;
    return text;
}

/* Parses token ids that spaces separate. Returns 0 if there is anything else. */
static int parse_ids(const char *text, token_list *list)
{
    while (text += strspn(text, " \n"), *text != 0) {
        char *end;
        errno = 0;
        unsigned long long id = strtoull(text, &end, 10);
        if (*text < '0' || *text > '9' || errno != 0 || id >= NO_TOKEN)
            return 0;
        add_token(list, (uint32_t)id);
        text = end;
    }
    return 1;
}

/* Lists the tokens of the text. An empty text has the token with which text begins. */
static void list_tokens(const wb_model *files, const tokenizer *t, const options *o,
                        token_list *list)
{
    wb_special_tokens special = WB_SPECIAL_TOKENS_INIT;
    if (!o->ids && t == NULL)
        fail(o->path, "has no tokenizer; -i gives the ids of tokens");
    if (!o->ids)
        encode(t, o->text, o->len, list);
    if (list->count > 0 || o->only_tokens)
        return;
    if (wb_special_tokens_get(files, &special, NULL) != WB_OK || special.bos < 0 ||
        special.bos >= NO_TOKEN)
        fail(o->path, "does not say what a text begins with, so TEXT cannot be empty");
    add_token(list, (uint32_t)special.bos);
}

static void print_token(printer *p, const tokenizer *t, uint64_t token)
{
    size_t len;
    const char *text = t ? token_text(t, token, &len) : NULL;
    if (t == NULL)
        printf("%" PRIu64 " ", token);
    else if (!is_control(t, token))
        print_text(p, text, len);
    fflush(stdout);
}

/* ---- logits in NumPy format ---- */

/* https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
static FILE *create_logits(const char *path, uint64_t rows, uint64_t columns)
{
    char text[118];
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        fail(path, "cannot be written");
    snprintf(text, sizeof text,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }",
             rows, columns);
    fprintf(f, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, text);
    return f;
}

/* ---- generating ---- */

static int is_end(const wb_special_tokens *special, uint64_t token)
{
    for (uint64_t i = 0; i < special->stop_count; i++)
        if (special->stop[i] == (int64_t)token)
            return 1;
    return 0;
}

/* Processes the given tokens. Returns the logits after the last one. */
static const float *read_given(const model *m, state *s, const options *o, const token_list *given)
{
    uint64_t vocabulary = m->embedding.rows;
    FILE *out = o->logits ? create_logits(o->logits, given->count, vocabulary) : NULL;
    const float *logits = NULL;
    for (size_t i = 0; i < given->count; i++) {
        if (given->ids[i] >= vocabulary)
            fail("the vocabulary", "does not have so many tokens");
        logits = forward(m, s, given->ids[i]);
        if (out)
            fwrite(logits, sizeof *logits, (size_t)vocabulary, out);
    }
    if (out && (ferror(out) | fclose(out)) != 0)
        fail(o->logits, "cannot be written");
    return logits;
}

static void generate(const model *m, const tokenizer *t, options *o, const token_list *given)
{
    state *s = state_new(m, given->count + o->count);
    wb_special_tokens special = WB_SPECIAL_TOKENS_INIT;
    printer p = {.count = 0};
    if (wb_special_tokens_get(m->files, &special, NULL) != WB_OK)
        fail(o->path, "the special tokens cannot be read");
    if (!o->ids)
        fwrite(o->text, 1, o->len, stdout);
    for (size_t i = 0; o->ids && i < given->count; i++)
        print_token(&p, t, given->ids[i]);
    fflush(stdout);
    const float *logits = read_given(m, s, o, given);
    for (uint64_t i = 0; i < o->count; i++) {
        uint64_t token = choose(&o->sampler, logits, m->embedding.rows);
        if (is_end(&special, token))
            break;
        print_token(&p, t, token);
        if (i + 1 < o->count)
            logits = forward(m, s, token);
    }
    print_rest(&p);
    putchar('\n');
    state_free(s);
}

static void print_ids(const options *o, token_list *list)
{
    wb_model *files;
    wb_error error;
    if (wb_open(o->path, NULL, &files, &error) != WB_OK)
        fail(*error.file ? error.file : o->path, error.message);
    tokenizer *t = tokenizer_new(files);
    list_tokens(files, t, o, list);
    for (size_t i = 0; i < list->count; i++)
        printf("%s%" PRIu32, i ? " " : "", list->ids[i]);
    putchar('\n');
    tokenizer_free(t);
    wb_close(files);
}

/* ---- the command line ---- */

/* Sets an option to the value `word`. Returns 0 if it is not such a value. */
static int set_option(options *o, char option, const char *word)
{
    char *end;
    double value = strtod(word, &end);
    int is_number = end != word && *end == 0 && value >= 0 && value < 0x1p53;
    int is_whole = is_number && value == (double)(uint64_t)value;
    if (option == 'l')
        o->logits = word;
    else if (option == 'n' && is_whole)
        o->count = (uint64_t)value;
    else if (option == 'k' && is_whole)
        o->sampler.top_k = (uint64_t)value;
    else if (option == 's' && is_whole)
        o->sampler.seed = (uint64_t)value;
    else if (option == 't' && is_number)
        o->sampler.temperature = value;
    else if (option == 'p' && is_number && value <= 1)
        o->sampler.top_p = value;
    else
        return 0;
    return 1;
}

static _Noreturn void misused(const char *what, const char *why)
{
    fprintf(stderr, "llama: %s: %s\n\n%s", what, why, usage);
    exit(2);
}

static void parse(int argc, char **argv, options *o)
{
    int names = 0; /* 1: the words after "--" are no options */
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!names && strcmp(word, "--") == 0) {
            names = 1;
        } else if (names || word[0] != '-' || word[1] == 0) {
            const char **place = o->text == NULL ? &o->text : &o->path;
            if (o->path != NULL)
                misused(word, "there is a TEXT and a MODEL already");
            *place = word;
        } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        } else if (strcmp(word, "-i") == 0) {
            o->ids = 1;
        } else if (strcmp(word, "-T") == 0) {
            o->only_tokens = 1;
        } else if (word[2] != 0 || strchr("ntkpsl", word[1]) == NULL) {
            misused(word, "there is no such option");
        } else if (i + 1 == argc) {
            misused(word, "a value is missing");
        } else if (!set_option(o, word[1], argv[++i])) {
            misused(argv[i], "this is not a value that the option can have");
        }
    }
    if (o->path == NULL)
        misused(o->text ? "MODEL" : "TEXT", "is missing");
}

int main(int argc, char **argv)
{
    model m;
    options o = {.count = 128, .sampler = {.top_p = 1, .seed = 1}};
    token_list given = {.count = 0};
    char *input = NULL;
    parse(argc, argv, &o);
    o.len = strlen(o.text);
    if (strcmp(o.text, "-") == 0)
        o.text = input = read_input(&o.len);
    if (o.ids && !parse_ids(o.text, &given))
        misused(o.text, "is not a list of token ids");
    if (o.only_tokens) {
        print_ids(&o, &given);
    } else {
        model_open(o.path, &m);
        tokenizer *t = tokenizer_new(m.files);
        list_tokens(m.files, t, &o, &given);
        generate(&m, t, &o, &given);
        tokenizer_free(t);
        model_close(&m);
    }
    free(given.ids);
    free(input);
    if (fflush(stdout) != 0 || ferror(stdout))
        fail("standard output", "cannot be written");
    return 0;
}
