/*
 * arch/tokenizer/tokenizer_reader.h: the pass through tokenizer.json, for the files it is spread over.
 *
 * The big parts are read in place for as long as they are in the plainest form (plain.h); what is not
 * goes through the JSON parser, entry by entry, so that there is one place that refuses.
 */
#ifndef WB_ARCH_TOKENIZER_READER_H
#define WB_ARCH_TOKENIZER_READER_H

#include "arch/tokenizer/tokenizer_file.h"

/* What is left out of the rest. */
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

/* Both return false, with the fault in the file. */
bool wb__token_fail(wb__token_reader *r);
bool wb__token_fail_memory(wb__token_reader *r);

/* Makes room for a token of that number, which *fits unless its number is absurd. False: memory. */
bool wb__token_reserve(wb__tokenizer_json *file, uint64_t number, bool *fits);

/* A token whose text stands at `at`. False: memory. */
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

/* Puts an unescaped string back over its escapes; the offset where it then stands. */
uint32_t wb__token_keep(wb__token_reader *r);

/* Each reads what the parser has just opened, to its end. False: a fault, or memory. */
bool wb__token_read_vocab(wb__token_reader *r);  /* {"text": number, …} */
bool wb__token_read_scores(wb__token_reader *r); /* [["text", score], …] */
bool wb__token_read_merges(wb__token_reader *r); /* ["a b", …] or [["a", "b"], …] */

#endif
