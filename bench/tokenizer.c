/*
 * tokenizer KIND FOLDER: writes a model with one tensor and a tokenizer.json of about 20 MB,
 * indented by two spaces, as the tokenizers library does. Does nothing if tokenizer.json exists.
 *
 *   pairs   byte-level BPE; merges as ["a", "b"], the format since version 0.20 of the library
 *   texts   byte-level BPE; merges as "a b", the earlier format
 *   scores  Unigram; tokens with scores
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES 20000000
#define LONGEST 24

static uint64_t state = 1;

/* splitmix64 */
static uint64_t random_bits(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Makes word `number`. Every third word begins with the space marker, and every eighth is
 * Cyrillic. */
static void make_word(char word[4 * LONGEST], uint64_t number)
{
    static const char *const marks[] = {"\xC4\xA0", "", ""};
    size_t n = 2 + (size_t)(random_bits() % 7);
    size_t len = (size_t)sprintf(word, "%s", marks[number % 3]);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = random_bits();
        if (number % 8 == 7)
            len += (size_t)sprintf(word + len, "\xD0%c", (int)(0xB0 + r % 16));
        else
            word[len++] = (char)('a' + r % 26);
    }
    /* Append the number in base 26, so that all words differ. */
    for (; number > 0; number /= 26)
        word[len++] = (char)('a' + number % 26);
    word[len] = '\0';
}

static void put_vocab(FILE *file, long bytes)
{
    char word[4 * LONGEST];
    fputs("    \"vocab\": {", file);
    for (uint64_t number = 0; ftell(file) < bytes; number++) {
        make_word(word, number);
        fprintf(file, "%s\n      \"%s\": %" PRIu64, number == 0 ? "" : ",", word, number);
    }
    fputs("\n    },\n", file);
}

static void put_merges(FILE *file, const char *kind, long bytes)
{
    char word[4 * LONGEST];
    fputs("    \"merges\": [", file);
    for (uint64_t number = 0; ftell(file) < bytes; number++) {
        make_word(word, number);
        /* The offset at which a Cyrillic word is divided is even, because its characters have two
         * bytes. Other words are divided near their start. */
        size_t cut = 2 + strlen(word) / 4 * 2;
        if (number % 8 != 7)
            cut = strlen(word) / 2 < 2 ? 1 : 2;
        fprintf(file, number == 0 ? "" : ",");
        if (strcmp(kind, "pairs") == 0)
            fprintf(file, "\n      [\n        \"%.*s\",\n        \"%s\"\n      ]", (int)cut, word,
                    word + cut);
        else
            fprintf(file, "\n      \"%.*s %s\"", (int)cut, word, word + cut);
    }
    fputs("\n    ]\n", file);
}

static void put_scores(FILE *file)
{
    char word[4 * LONGEST];
    fputs("    \"unk_id\": 0,\n    \"vocab\": [", file);
    for (uint64_t number = 0; ftell(file) < BYTES; number++) {
        make_word(word, number);
        fprintf(file, "%s\n      [\n        \"%s\",\n        -%" PRIu64 ".%015" PRIu64 "\n      ]",
                number == 0 ? "" : ",", word, 5 + random_bits() % 10,
                random_bits() % UINT64_C(1000000000000000));
    }
    fputs("\n    ]\n", file);
}

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void put_tokenizer(FILE *file, const char *kind)
{
    int scores = strcmp(kind, "scores") == 0;
    fprintf(file,
            "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n"
            "  \"added_tokens\": [],\n  \"normalizer\": null,\n  \"pre_tokenizer\": {\n"
            "    \"type\": \"ByteLevel\",\n    \"add_prefix_space\": false\n  },\n"
            "  \"post_processor\": null,\n  \"decoder\": null,\n  \"model\": {\n"
            "    \"type\": \"%s\",\n    \"byte_fallback\": false,\n",
            scores ? "Unigram" : "BPE");
    if (scores) {
        put_scores(file);
    } else {
        put_vocab(file, BYTES / 2);
        put_merges(file, kind, BYTES);
    }
    fputs("  }\n}\n", file);
}

int main(int argc, char **argv)
{
    static const char header[] =
        "{\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}   ";
    char path[4096];
    uint8_t length[8] = {sizeof header - 1};
    if (argc != 3)
        return 4;
    (void)mkdir(argv[2], 0777);
    (void)snprintf(path, sizeof path, "%s/tokenizer.json", argv[2]);
    if (access(path, R_OK) == 0)
        return 0;
    FILE *file = create(argv[2], "model.safetensors");
    (void)fwrite(length, 1, sizeof length, file);
    (void)fwrite(header, 1, sizeof header - 1, file);
    (void)fwrite("\0\0\0", 1, 4, file);
    int bad = fclose(file) != 0;
    file = create(argv[2], "config.json");
    fputs("{\"model_type\": \"llama\"}\n", file);
    bad |= fclose(file) != 0;
    file = create(argv[2], "tokenizer.json");
    put_tokenizer(file, argv[1]);
    bad |= ferror(file) != 0 || fclose(file) != 0;
    sync();
    return bad;
}
