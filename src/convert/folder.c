/*
 * What lies beside the weights of a folder. Of a folder its files go over as they are, but for
 * config.json; of a GGUF file they are made of its key-values.
 */
#include "convert/deliver.h"

#define FILE_MAX ((size_t)256 << 20)

static bool add(void *ctx, const char *text, size_t n)
{
    wb__buffer *buffer = ctx;
    wb__buffer_add(buffer, text, n);
    return !wb__buffer_failed(buffer);
}

wb__json_writer wb__deliver_json(wb__buffer *to)
{
    return (wb__json_writer){.write = add, .ctx = to};
}

void wb__deliver_json_text(wb__buffer *to, wb__str text)
{
    wb__json_writer writer = wb__deliver_json(to);
    wb__json_write_str(&writer, text);
}

/* ---- one file ---- */

static wb_status write_file(wb__delivery *out, const char *name, const void *bytes, size_t n)
{
    return wb_writer_add_bytes(out->writer, name, bytes, n, out->context->error);
}

static wb_status make_file(wb__delivery *out, const char *name,
                           wb_status (*make)(wb__delivery *out, wb__buffer *to))
{
    wb__buffer text = {.allocator = &out->context->allocator, .ceiling = FILE_MAX};
    wb_status status = make(out, &text);
    if (status == WB_OK && wb__buffer_failed(&text))
        status = wb__fail_memory(out->context);
    if (status == WB_OK && text.n > 0)
        status = write_file(out, name, text.bytes, text.n);
    wb__buffer_free(&text);
    return status;
}

/* ---- files that go over as they are ---- */

static wb_status copy_file(wb__delivery *out, const char *name)
{
    char *text;
    size_t n;
    wb_status status = wb__beside_text(out->plan->model, out->context, name, &text, &n);
    if (status != WB_OK || text == NULL)
        return status;
    status = write_file(out, name, text, n);
    wb__free(&out->context->allocator, text, n + 1);
    return status;
}

static wb_status copy_files(wb__delivery *out)
{
    static const char *const names[] = {
        "tokenizer.json",
        "tokenizer.model",
        "tokenizer_config.json",
        "vocab.txt",
        "vocab.json",
        "merges.txt",
        "special_tokens_map.json",
        "added_tokens.json",
        "chat_template.jinja",
        "generation_config.json",
        "preprocessor_config.json",
    };
    wb_status status = WB_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == WB_OK; i++)
        status = copy_file(out, names[i]);
    return status;
}

static wb_status make_template(wb__delivery *out, wb__buffer *to)
{
    const char *text;
    size_t n;
    if (wb_meta_get_string(out->plan->model, "tokenizer.chat_template", SIZE_MAX, &text, &n,
                           NULL) == WB_OK)
        wb__buffer_add(to, text, n);
    return WB_OK;
}

wb_status wb__deliver_beside(wb__delivery *out)
{
    wb_status status = make_file(out, "config.json", wb__deliver_config);
    if (status == WB_OK && !out->plan->insight->by_key)
        return copy_files(out);
    if (status == WB_OK)
        status = make_file(out, "tokenizer.json", wb__deliver_tokenizer);
    if (status == WB_OK)
        status = make_file(out, "tokenizer_config.json", wb__deliver_tokenizer_config);
    return status == WB_OK ? make_file(out, "chat_template.jinja", make_template) : status;
}
