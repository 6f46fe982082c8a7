/*
 * arch/tokenizer/tokenizer_reader.h: internals of the tokenizer.json reader.
 *
 * plain.h parses the large lists as long as they are in plain notation. The JSON parser parses all
 * other entries, so that errors are reported in one place.
 */
#ifndef WB_ARCH_TOKENIZER_TOKENIZER_READER_H
#define WB_ARCH_TOKENIZER_TOKENIZER_READER_H

#include "arch/tokenizer/tokenizer_file.h"

/* A part of the file, such as the vocabulary, that is not copied to wb__tokenizer_json.rest. */
typedef struct wb__span {
    size_t from, to;
} wb__span;

#define WB__SPANS 8

typedef struct wb__token_reader {
    wb__tokenizer_json *file;
    wb__json json;
    wb__cursor cursor;
    wb__span spans[WB__SPANS];
    size_t span_count;
} wb__token_reader;

/* Set the error in r->file and return false. */
bool wb__token_fail(wb__token_reader *r);
bool wb__token_fail_memory(wb__token_reader *r);

/*
 * Makes the table of tokens large enough for the id `number`, or sets *fits to false if the id is
 * too large. Returns false if out of memory.
 */
bool wb__token_reserve(wb__tokenizer_json *file, uint64_t number, bool *fits);

/* Adds a token whose string is at offset `at`. Returns false if out of memory. */
static inline bool wb__token_add(wb__tokenizer_json *file, uint64_t number, uint32_t at,
                                 uint32_t len)
{
    bool fits = true;
    file->entries++;
    if (number >= file->token_count && !wb__token_reserve(file, number, &fits))
        return false;
    if (fits)
        file->tokens[number] = (wb__token_at){at, len};
    else
        file->scattered++;
    return true;
}

/* Writes the parser's current string, unescaped, over its escaped form in the file buffer. Returns
 * the offset of the string. */
uint32_t wb__token_keep(wb__token_reader *r);

/*
 * Read the array or object that the parser has just opened. Return false on a JSON error or if out
 * of memory.
 */
bool wb__token_read_vocab(wb__token_reader *r);  /* {"text": number, …} */
bool wb__token_read_scores(wb__token_reader *r); /* [["text", score], …] */
bool wb__token_read_merges(wb__token_reader *r); /* ["a b", …] or [["a", "b"], …] */

#endif
