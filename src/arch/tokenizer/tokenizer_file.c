#include "arch/tokenizer/tokenizer_reader.h"

/* ---- tokens by id ---- */

bool wb__tokenizer_json_add(wb__tokenizer_json *file, uint64_t number, wb__str text)
{
    return wb__token_add(file, number, (uint32_t)(text.ptr - file->rest),
                         (uint32_t)text.len | WB__TOKEN_REST);
}

wb__str wb__tokenizer_json_token(const wb__tokenizer_json *file, size_t number, bool *is_token)
{
    const wb__token_at *token = &file->tokens[number];
    *is_token = token->len != WB__TOKEN_NONE;
    if (!*is_token)
        return WB__STR("");
    const char *base = token->len & WB__TOKEN_REST ? file->rest : file->text;
    return (wb__str){base + token->at, token->len & ~WB__TOKEN_REST};
}

/* ---- the whole file ---- */

/* Records that `rest` omits the value that starts at `from` and ends at the cursor (read_rest). */
static void leave_out(wb__token_reader *r, size_t from)
{
    r->spans[r->span_count++] = (wb__span){from, (size_t)wb__cursor_at(&r->cursor)};
}

static bool read_model(wb__token_reader *r)
{
    wb__json *json = &r->json;
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_vocab = wb__str_equal(json->text, WB__STR("vocab"));
        bool is_merges = wb__str_equal(json->text, WB__STR("merges"));
        wb__json_token token = wb__json_next(json);
        size_t from = (size_t)json->at;
        /* A span is a value that is left out of `rest`. A valid file has at most two. Values after
         * WB__SPANS spans stay in `rest`. */
        bool big = r->span_count < WB__SPANS;
        if (is_vocab && token == WB__JSON_OBJECT && big) {
            if (!wb__token_read_vocab(r))
                return false;
            leave_out(r, from);
        } else if (is_vocab && token == WB__JSON_ARRAY && big) {
            if (!wb__token_read_scores(r))
                return false;
            leave_out(r, from);
        } else if (is_merges && token == WB__JSON_ARRAY && big) {
            if (!wb__token_read_merges(r))
                return false;
            leave_out(r, from);
        } else if (!wb__json_skip(json)) {
            return wb__token_fail(r);
        }
    }
    if (json->token != WB__JSON_OBJECT_END)
        return wb__token_fail(r);
    return true;
}

static bool read_top(wb__token_reader *r)
{
    wb__json *json = &r->json;
    if (wb__json_next(json) != WB__JSON_OBJECT)
        return json->token == WB__JSON_FAULT ? wb__token_fail(r) : true;
    while (wb__json_next(json) == WB__JSON_KEY) {
        bool is_model = wb__str_equal(json->text, WB__STR("model"));
        if (is_model && wb__json_next(json) == WB__JSON_OBJECT) {
            if (!read_model(r))
                return false;
        } else if (!wb__json_skip(json)) {
            return wb__token_fail(r);
        }
    }
    if (json->token != WB__JSON_OBJECT_END)
        return wb__token_fail(r);
    return true;
}

/*
 * Copies the JSON text, replaces each value that was parsed already by the number 0, and parses the
 * copy to a tree. The tree then does not contain the large lists of the vocabulary.
 */
static bool read_rest(wb__token_reader *r)
{
    wb__tokenizer_json *file = r->file;
    file->rest_bytes = file->bytes;
    for (size_t i = 0; i < r->span_count; i++)
        file->rest_bytes -= r->spans[i].to - r->spans[i].from - 1;
    file->rest = wb__alloc(&file->allocator, file->rest_bytes + 1);
    if (file->rest == NULL)
        return wb__token_fail_memory(r);
    size_t from = 0, n = 0;
    for (size_t i = 0; i < r->span_count; i++) {
        memcpy(file->rest + n, file->text + from, r->spans[i].from - from);
        n += r->spans[i].from - from;
        file->rest[n++] = '0';
        from = r->spans[i].to;
    }
    memcpy(file->rest + n, file->text + from, file->bytes - from);
    file->rest[file->rest_bytes] = '\0';
    if (wb__tree_parse(&file->tree, file->rest, file->rest_bytes, &file->allocator))
        return true;
    file->fault = file->tree.fault;
    file->fault_at = file->tree.fault_at;
    for (size_t i = 0; i < r->span_count && file->fault_at > r->spans[i].from; i++)
        file->fault_at += r->spans[i].to - r->spans[i].from - 1;
    return false;
}

bool wb__tokenizer_json_read(wb__tokenizer_json *file, char *text, size_t bytes,
                             const wb_allocator *allocator)
{
    wb__token_reader r = {.file = file};
    *file = (wb__tokenizer_json){.allocator = *allocator, .text = text, .bytes = bytes};
    file->merges.allocator = *allocator;
    if (bytes >= WB__TOKEN_REST) {
        file->fault = WB__JSON_FAULT_STRING_LENGTH;
        return false;
    }
    r.cursor = wb__cursor_over(text, bytes);
    wb__json_start(&r.json, &r.cursor, allocator);
    r.json.nonfinite = true;
    bool read = read_top(&r);
    wb__json_stop(&r.json);
    return read && read_rest(&r);
}

void wb__tokenizer_json_drop_tokens(wb__tokenizer_json *file)
{
    wb__free(&file->allocator, file->tokens, file->token_capacity * sizeof *file->tokens);
    wb__free(&file->allocator, file->scores, file->score_capacity * sizeof *file->scores);
    file->tokens = NULL;
    file->scores = NULL;
    file->token_count = file->token_capacity = file->score_capacity = 0;
}

void wb__tokenizer_json_free(wb__tokenizer_json *file)
{
    const wb_allocator *a = &file->allocator;
    if (a->free == NULL)
        return;
    wb__tokenizer_json_drop_tokens(file);
    wb__strings_free(&file->merges);
    wb__tree_free(&file->tree);
    wb__free(a, file->rest, file->rest_bytes + 1);
    *file = (wb__tokenizer_json){0};
}
