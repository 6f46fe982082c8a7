/*
 * tokenizer_fixture.h: helpers for tests that make tokenizers from strings in memory. Include this
 * file first.
 */
#ifndef WB_TESTS_TOKENIZER_FIXTURE_H
#define WB_TESTS_TOKENIZER_FIXTURE_H

#include "support.h"

#include "arch/tokenizer/tokenizer.h"

typedef struct made {
    counter memory;
    wb_allocator allocator;
    wb_error error;
    wb_findings findings;
    wb__context context;
    wb__tokenizer tokenizer;
    char *text;
    wb_status status;
    /* Contents of the sidecar files, if the test sets them with beside(): */
    char *config_text, *tokenizer_config_text;
    wb__tree config, tokenizer_config;
    bool is_phi;
} made;

static inline void prepare(made *m)
{
    memset(m, 0, sizeof *m);
    m->allocator = counter_allocator(&m->memory);
    wb__findings_init(&m->findings, &wb__default_allocator);
    m->context = (wb__context){
        .allocator = m->allocator, .file = "", .error = &m->error, .findings = &m->findings};
}

static inline void make_from(made *m, const char *json, wb__str pieces, wb__str vocab,
                             uint64_t rows)
{
    wb__tokenizer_files files = {
        .model = pieces, .vocab = vocab, .vocab_size = rows, .is_phi = m->is_phi};
    if (m->config_text != NULL)
        files.config = &m->config;
    if (m->tokenizer_config_text != NULL)
        files.tokenizer_config = &m->tokenizer_config;
    if (json != NULL) {
        m->text = text_of("%s", json);
        files.json = m->text;
        files.json_bytes = strlen(json);
    }
    m->status = wb__tokenizer_make(&m->tokenizer, &m->context, &files);
}

/* Sets the contents of config.json and tokenizer_config.json; NULL: the file does not exist. */
static inline void beside(made *m, const char *config, const char *tokenizer_config)
{
    if (config != NULL) {
        m->config_text = text_of("%s", config);
        assert_true(
            wb__tree_parse(&m->config, m->config_text, strlen(config), &wb__default_allocator));
    }
    if (tokenizer_config != NULL) {
        m->tokenizer_config_text = text_of("%s", tokenizer_config);
        assert_true(wb__tree_parse(&m->tokenizer_config, m->tokenizer_config_text,
                                   strlen(tokenizer_config), &wb__default_allocator));
    }
}

static inline void release(made *m)
{
    wb__tree_free(&m->config);
    wb__tree_free(&m->tokenizer_config);
    free(m->config_text);
    free(m->tokenizer_config_text);
    wb__tokenizer_free(&m->tokenizer);
    wb__findings_clear(&m->findings);
    free(m->text);
    assert_clean(&m->memory);
}

static const wb__str none = {"", 0};

static inline void is_token(const made *m, uint64_t number, const char *text, int32_t type)
{
    wb__str token = wb__strings_at(&m->tokenizer.tokens, number);
    if (token.len != strlen(text) || memcmp(token.ptr, text, token.len) != 0)
        fail_msg("token %d is '%.*s', not '%s'\n", (int)number, (int)token.len, token.ptr, text);
    assert_int_equal(token.ptr[token.len], 0);
    assert_int_equal((int32_t)wb__load_le32(&m->tokenizer.types[number]), type);
}

static inline void is_merge(const made *m, uint64_t number, const char *text)
{
    wb__str merge = wb__strings_at(&m->tokenizer.merges, number);
    assert_int_equal(merge.len, strlen(text));
    assert_memory_equal(merge.ptr, text, merge.len);
}

static inline float score_of(const made *m, size_t number)
{
    uint32_t bits = wb__load_le32(&m->tokenizer.scores[number]);
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

#endif
