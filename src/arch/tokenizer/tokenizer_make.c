#include "arch/tokenizer/tokenizer_make.h"
#include "arch/arch_messages.h"

static wb_status read_files(wb__token_maker *m)
{
    const wb__tokenizer_files *files = m->files;
    const wb_allocator *allocator = &m->context->allocator;
    wb_status status = WB_OK;
    if (files->json != NULL) {
        m->has_json = wb__tokenizer_json_read(&m->json, files->json, files->json_bytes, allocator);
        if (!m->has_json && m->json.fault == WB__JSON_FAULT_MEMORY)
            return wb__fail_memory(m->context);
        if (!m->has_json)
            status = wb__token_note(m, m->json.fault_at, "tokenizer.json",
                                    wb__json_fault_text(m->json.fault));
    }
    if (status == WB_OK && files->model.len > 0) {
        m->has_pieces = wb__sentencepiece_read(&m->pieces, files->model.ptr, files->model.len);
        if (!m->has_pieces)
            status = wb__token_note(m, m->pieces.fault_at, "tokenizer.model",
                                    WB__MSG_TOKENIZER_NOT_SENTENCEPIECE);
    }
    return status;
}

/*
 * Removes added tokens that have no row in the embedding, as llama.cpp's converter does. llama.cpp
 * rejects a file with more tokens than rows. If any token without a row is not an added token, none
 * is removed, because this indicates another error.
 */
static wb_status leave_out(wb__token_maker *m)
{
    wb__strings *tokens = &m->tokenizer->tokens;
    uint64_t rows = m->files->vocab_size;
    if (rows == 0 || rows >= tokens->count)
        return WB_OK;
    for (uint64_t i = rows; i < tokens->count; i++) {
        uint32_t type = wb__token_get_type(m->tokenizer, (size_t)i);
        if (type != WB__TOKEN_CONTROL && type != WB__TOKEN_USER)
            return WB_OK;
    }
    wb__strings_cut(tokens, rows);
    const char *before = m->context->file;
    m->context->file = m->has_json ? "tokenizer.json" : "tokenizer.model";
    wb_status status = wb__note(m->context, WB_INFO, WB__FINDING_CONVERT_LEFT_OUT, WB_NO_OFFSET,
                                WB__STR(""), WB__MSG_TOKENIZER_SURPLUS_TOKENS);
    m->context->file = before;
    return status;
}

wb_status wb__tokenizer_make(wb__tokenizer *tokenizer, wb__context *context,
                             const wb__tokenizer_files *files)
{
    wb__token_maker m = {.tokenizer = tokenizer, .context = context, .files = files};
    *tokenizer = (wb__tokenizer){.allocator = context->allocator};
    tokenizer->tokens.allocator = tokenizer->merges.allocator = context->allocator;
    for (int i = 0; i < WB__SPECIALS; i++)
        tokenizer->special[i] = -1;
    wb_status status = read_files(&m);
    if (status == WB_OK && m.has_pieces)
        status = wb__make_from_pieces(&m);
    else if (status == WB_OK && m.has_json)
        status = wb__make_from_json(&m);
    else if (status == WB_OK && files->vocab.len > 0)
        status = wb__make_from_lines(&m);
    if (status == WB_OK)
        status = leave_out(&m);
    if (status == WB_OK) {
        wb__tokenizer_specials(tokenizer, files, m.has_json ? &m.json : NULL);
        if (m.has_pieces)
            wb__specials_of_pieces(&m);
    }
    wb__tokenizer_json_free(&m.json);
    return status;
}

void wb__tokenizer_free(wb__tokenizer *tokenizer)
{
    const wb_allocator *a = &tokenizer->allocator;
    if (a->free == NULL)
        return;
    wb__strings_free(&tokenizer->tokens);
    wb__strings_free(&tokenizer->merges);
    wb__free(a, tokenizer->types, tokenizer->capacity * sizeof *tokenizer->types);
    if (tokenizer->scores != NULL)
        wb__free(a, tokenizer->scores, tokenizer->capacity * sizeof *tokenizer->scores);
    wb__free(a, tokenizer->charsmap, tokenizer->charsmap_bytes);
    tokenizer->allocator.free = NULL;
}
