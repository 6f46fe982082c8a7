/*
 * vocabulary FILE: writes a GGUF file as a small model with a large vocabulary has it: 151,665 tokens and
 * 151,387 merges, 7 bytes long on average, their types, and 700 small tensors; 5 MB of header.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS 151665
#define MERGES 151387
#define TENSORS 700
#define TENSOR_BYTES 512

static FILE *out;
static uint64_t written;
static uint64_t state = 7;

static void put(const void *bytes, size_t n)
{
    if (n > 0 && fwrite(bytes, 1, n, out) != n) {
        perror("vocabulary");
        exit(1);
    }
    written += n;
}

static void put_number(uint64_t v, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < width; i++)
        bytes[i] = (uint8_t)(v >> 8 * i);
    put(bytes, width);
}

static void put_text(const char *text)
{
    put_number(strlen(text), 8);
    put(text, strlen(text));
}

static void put_key(const char *key, uint32_t type)
{
    put_text(key);
    put_number(type, 4);
}

/* xorshift64*: Vigna, 2014 */
static uint32_t below(uint32_t n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % n;
}

/* Letters, digits and the sign for a space; the sum of three dice has about the spread of real ones. */
static void add_word(char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789";
    unsigned n = 1 + below(5) + below(5) + below(5);
    for (unsigned i = 0; i < n; i++) {
        if (below(20) == 0) {
            (void)strcat(text, "\xC4\xA0");
        } else {
            char letter[2] = {letters[below(sizeof letters - 1)], '\0'};
            (void)strcat(text, letter);
        }
    }
}

static void put_strings(const char *key, uint32_t count, unsigned words)
{
    char text[128];
    put_key(key, 9);
    put_number(8, 4);
    put_number(count, 8);
    for (uint32_t i = 0; i < count; i++) {
        text[0] = '\0';
        for (unsigned w = 0; w < words; w++) {
            if (w > 0)
                (void)strcat(text, " ");
            add_word(text);
        }
        put_text(text);
    }
}

static void put_metadata(void)
{
    static const char *const counts[] = {
        "qwen2.block_count",         "qwen2.context_length",       "qwen2.embedding_length",
        "qwen2.feed_forward_length", "qwen2.attention.head_count", "tokenizer.ggml.eos_token_id"};
    put_key("general.architecture", 8);
    put_text("qwen2");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        put_key(counts[i], 4);
        put_number(32, 4);
    }
    put_key("tokenizer.ggml.model", 8);
    put_text("gpt2");
    put_strings("tokenizer.ggml.tokens", TOKENS, 1);
    put_key("tokenizer.ggml.token_type", 9);
    put_number(5, 4);
    put_number(TOKENS, 8);
    for (uint32_t i = 0; i < TOKENS; i++)
        put_number(1, 4);
    put_strings("tokenizer.ggml.merges", MERGES, 2);
}

static void put_tensors(void)
{
    static const uint8_t zeros[TENSOR_BYTES];
    char name[64];
    for (unsigned i = 0; i < TENSORS; i++) {
        (void)snprintf(name, sizeof name, "blk.%u.t%u_weights.weight", i / 12, i % 12);
        put_text(name);
        put_number(2, 4);
        put_number(32, 8);
        put_number(4, 8);
        put_number(0, 4);
        put_number((uint64_t)i * TENSOR_BYTES, 8);
    }
    put(zeros, (size_t)((32 - written % 32) % 32));
    for (unsigned i = 0; i < TENSORS; i++)
        put(zeros, TENSOR_BYTES);
}

int main(int argc, char **argv)
{
    out = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (out == NULL) {
        fprintf(stderr, "usage: vocabulary FILE\n");
        return 4;
    }
    put("GGUF", 4);
    put_number(3, 4);
    put_number(TENSORS, 8);
    put_number(11, 8);
    put_metadata();
    put_tensors();
    return fclose(out) == 0 ? 0 : 1;
}
