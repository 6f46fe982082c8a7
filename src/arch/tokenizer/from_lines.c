/* Creates a tokenizer from vocab.txt, which has one token per line. */
#include "arch/arch_messages.h"
#include "arch/tokenizer/tokenizer_make.h"

static bool is_control(wb__str word)
{
    return word.len > 2 && word.ptr[0] == '[' && word.ptr[word.len - 1] == ']';
}

/* Reads the next line without its line end. Returns false after the last line. */
static bool next_line(wb__str *rest, wb__str *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t n = end == NULL ? rest->len : (size_t)(end - rest->ptr);
    *line = (wb__str){rest->ptr, n};
    if (n > 0 && rest->ptr[n - 1] == '\r')
        line->len--;
    n += end != NULL;
    *rest = (wb__str){rest->ptr + n, rest->len - n};
    return true;
}

/* Returns an upper limit of the total length of all token strings. A token that starts a word
 * becomes 3 bytes longer, because it is marked with U+2581. */
static size_t bytes_of_tokens(const wb__token_maker *m, size_t lines, size_t count)
{
    return m->files->vocab.len + 3 * lines + (count - lines) * sizeof "[PAD4294967295]";
}

wb_status wb__make_from_lines(wb__token_maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    wb__str rest = m->files->vocab, line;
    size_t have = 0;
    while (next_line(&rest, &line))
        have++;
    if (wb__tokens_too_dense(have, m->files->vocab.len))
        return wb__token_note(m, WB_NO_OFFSET, "vocab.txt", WB__MSG_TOKENIZER_DENSE);
    size_t count = wb__tokens_count(m, have);
    if (!wb__tokens_reserve(tokenizer, count, false) ||
        !wb__strings_reserve(&tokenizer->tokens, bytes_of_tokens(m, have, count), count))
        return wb__fail_memory(m->context);
    tokenizer->model = "bert";
    tokenizer->pre = "default";
    rest = m->files->vocab;
    for (size_t i = 0; i < count; i++) {
        bool added;
        if (!next_line(&rest, &line)) {
            added = wb__token_add_pad(tokenizer, i);
        } else if (is_control(line)) {
            wb__token_set_type(tokenizer, i, WB__TOKEN_CONTROL);
            added = wb__strings_add(&tokenizer->tokens, line);
        } else {
            wb__token_set_type(tokenizer, i, WB__TOKEN_NORMAL);
            added = wb__token_add_word_piece(&tokenizer->tokens, line);
        }
        if (!added)
            return wb__fail_memory(m->context);
    }
    return WB_OK;
}
