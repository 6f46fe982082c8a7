/*
 * Fills the list of tokens of the tokenizer.json reader, and records the errors of the reader.
 */
#include "arch/tokenizer/tokenizer_reader.h"

bool wb__token_fail(wb__token_reader *r)
{
    r->file->fault = r->json.fault;
    r->file->fault_at = r->json.at;
    return false;
}

bool wb__token_fail_memory(wb__token_reader *r)
{
    r->file->fault = WB__JSON_FAULT_MEMORY;
    return false;
}

/*
 * Ids may occur in any order, and the table has one element per id up to the highest one. A large
 * id is accepted only if the file size justifies the memory.
 */
bool wb__token_reserve(wb__tokenizer_json *file, uint64_t number, bool *fits)
{
    *fits = number < file->entries + (uint64_t)WB__TOKENS_SPARE ||
            /* a file whose vocabulary has a token for every id needs at least 8 bytes per token */
            number < file->bytes / 8;
    if (!*fits)
        return true;
    if (!wb__grow(&file->allocator, (void **)&file->tokens, &file->token_capacity,
                  sizeof *file->tokens, (size_t)number + 1, SIZE_MAX))
        return false;
    while (file->token_count <= number)
        file->tokens[file->token_count++] = (wb__token_at){0, WB__TOKEN_NONE};
    return true;
}

uint32_t wb__token_keep(wb__token_reader *r)
{
    char *to = r->file->text + r->json.at + 1;
    if (r->json.text.ptr != to)
        memcpy(to, r->json.text.ptr, r->json.text.len);
    return (uint32_t)(to - r->file->text);
}
