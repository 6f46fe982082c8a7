/* Generates text with a model of the Llama, Qwen 2 and 3, Gemma or Phi 3 families, in any format
 * and encoding:
 *
 * llama PATH [-n COUNT] [-t TEMPERATURE] [-s SEED] [-l LOGITS.npy] [TOKEN...]
 *
 * Continues the given tokens, or starts with the beginning-of-text token. The next token is the
 * most probable token, or is sampled at a temperature with -t. -l writes the logits after each
 * given token to a file.
 */
#include "model.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    const char *path, *logits;
    uint64_t count, seed;
    double temperature;
    uint64_t *tokens;
    uint64_t n_tokens;
} options;

/* ---- tokens to text ---- */

/* Returns the byte that a character represents in byte-level BPE. A printable byte is represented
 * by the character with the same number, the other bytes by characters from U+0100 on.
 */
static int byte_of(unsigned character)
{
    unsigned hidden = 256;
    for (unsigned byte = 0; byte < 256; byte++) {
        int shown = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        if (character == (shown ? byte : hidden++))
            return (int)byte;
    }
    return -1;
}

static void print_token(const wb_meta_array *texts, int byte_level, uint64_t token)
{
    const char *text;
    size_t len;
    unsigned byte;
    if (wb_meta_string_at(texts, token, &text, &len) != WB_OK)
        return;
    if (!byte_level && len == 6 && sscanf(text, "<0x%2X>", &byte) == 1)
        putchar((int)byte);
    else
        for (size_t i = 0; i < len; i++) {
            unsigned char c = (unsigned char)text[i];
            int decoded = -1;
            if (byte_level && c >= 0xC2 && c <= 0xC5 && i + 1 < len)
                decoded = byte_of((c & 31u) << 6 | ((unsigned char)text[i + 1] & 63u));
            if (decoded >= 0) {
                putchar(decoded);
                i++;
            } else if (!byte_level && len - i >= 3 && memcmp(text + i, "\xE2\x96\x81", 3) == 0) {
                putchar(' '); /* SentencePiece encodes a space as U+2581 */
                i += 2;
            } else {
                putchar(c);
            }
        }
}

/* ---- sampling ---- */

static double uniform(uint64_t *seed) /* splitmix64 generator */
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static uint64_t choose(const float *logits, uint64_t n, double temperature, uint64_t *seed)
{
    uint64_t best = 0;
    double sum = 0;
    for (uint64_t i = 1; i < n; i++)
        if (logits[i] > logits[best])
            best = i;
    if (temperature <= 0)
        return best;
    for (uint64_t i = 0; i < n; i++)
        sum += exp((double)(logits[i] - logits[best]) / temperature);
    double left = uniform(seed) * sum;
    for (uint64_t i = 0; i < n; i++) {
        left -= exp((double)(logits[i] - logits[best]) / temperature);
        if (left < 0)
            return i;
    }
    return best;
}

/* ---- logits in NumPy format ---- */

/* https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
static void write_header(FILE *f, uint64_t rows, uint64_t columns)
{
    char text[118];
    snprintf(text, sizeof text,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%" PRIu64 ", %" PRIu64 "), }",
             rows, columns);
    fprintf(f, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, text);
}

/* ---- the command line ---- */

static void run(const model *m, const options *o)
{
    uint64_t vocabulary = m->embedding.rows, seed = o->seed;
    state *s = state_new(m, o->n_tokens + o->count);
    FILE *out = o->logits ? fopen(o->logits, "wb") : NULL;
    /* The text of each token. Without a tokenizer it is empty, and token numbers are printed. */
    wb_meta_array texts = WB_META_ARRAY_INIT;
    const char *kind;
    size_t len;
    wb_error ignored;
    const float *logits = NULL;
    int byte_level = wb_meta_get_string(m->files, "tokenizer.ggml.model", SIZE_MAX, &kind, &len,
                                        &ignored) == WB_OK &&
                     strcmp(kind, "gpt2") == 0;
    wb_status found = wb_meta_get_array(m->files, "tokenizer.ggml.tokens", SIZE_MAX, WB_META_STRING,
                                        &texts, &ignored);
    if (o->logits && out == NULL)
        fail(o->logits, "cannot be written");
    if (out)
        write_header(out, o->n_tokens, vocabulary);
    for (uint64_t i = 0; i < o->n_tokens + o->count; i++) {
        uint64_t token =
            i < o->n_tokens ? o->tokens[i] : choose(logits, vocabulary, o->temperature, &seed);
        if (token >= vocabulary)
            fail("the vocabulary", "does not have so many tokens");
        if (found == WB_OK)
            print_token(&texts, byte_level, token);
        else
            printf("%" PRIu64 " ", token);
        fflush(stdout);
        logits = forward(m, s, token);
        if (out && i < o->n_tokens)
            fwrite(logits, sizeof *logits, (size_t)vocabulary, out);
    }
    putchar('\n');
    if (out && (ferror(out) | fclose(out)) != 0)
        fail(o->logits, "cannot be written");
    state_free(s);
}

/* Parses the value of an option, or a token number. Returns -1 if the word is not a number. */
static double parse_number(const char *word)
{
    char *end;
    double value = strtod(word, &end);
    return end != word && *end == 0 && value >= 0 && value < 0x1p53 ? value : -1;
}

static int parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        int option = argv[i][0] == '-' ? argv[i][1] : 0;
        const char *word = option && i + 1 < argc ? argv[++i] : argv[i];
        double value = parse_number(word);
        if (option == 'l')
            o->logits = word;
        else if (option == 0 && o->path == NULL)
            o->path = word;
        else if (value < 0)
            return 0;
        else if (option == 0)
            o->tokens[o->n_tokens++] = (uint64_t)value;
        else if (option == 'n')
            o->count = (uint64_t)value;
        else if (option == 't')
            o->temperature = value;
        else if (option == 's')
            o->seed = (uint64_t)value;
        else
            return 0;
    }
    return o->path != NULL;
}

int main(int argc, char **argv)
{
    model m;
    wb_error error;
    options o = {.seed = 1, .tokens = need((uint64_t)argc + 1, sizeof *o.tokens)};
    if (!parse(argc, argv, &o)) {
        fputs(
            "usage: llama PATH [-n COUNT] [-t TEMPERATURE] [-s SEED] [-l LOGITS.npy] [TOKEN...]\n",
            stderr);
        free(o.tokens);
        return 2;
    }
    model_open(o.path, &m);
    if (o.n_tokens == 0) {
        o.n_tokens = 1;
        if (wb_meta_get_uint(m.files, "tokenizer.ggml.bos_token_id", SIZE_MAX, o.tokens, &error) !=
            WB_OK)
            fail(o.path, "does not say what a text begins with: name a token");
    }
    run(&m, &o);
    model_close(&m);
    free(o.tokens);
    return 0;
}
