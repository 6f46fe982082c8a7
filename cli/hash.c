/* wb hash: prints digests of files and of tensor values as text, JSON or a manifest. */
#include <string.h>

#include "exit.h"
#include "messages.h"
#include "output.h"
#include "paths.h"
#include "report.h"
#include "terminal.h"
#include "threads.h"

typedef struct request {
    const arguments *args;
    wb_open_options options;
    wb_limits limits;
} request;

typedef struct subject {
    const request *request;
    const char *path, *label;
    const wb_model *model;
    const wb_hashes *hashes;
} subject;

static void text_add_digest(text *t, const uint8_t digest[WB_DIGEST_BYTES])
{
    for (size_t i = 0; i < WB_DIGEST_BYTES; i++)
        text_addf(t, "%02x", digest[i]);
}

static void json_digest(wb_json *json, const char *key, const uint8_t digest[WB_DIGEST_BYTES])
{
    text t = {0};
    text_add_digest(&t, digest);
    json_text(json, key, t.ptr);
    text_free(&t);
}

/* ---- JSON ---- */

static void json_files(wb_json *json, const subject *s)
{
    wb_json_key(json, "files", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; i < wb_file_count(s->model); i++) {
        uint8_t digest[WB_DIGEST_BYTES];
        wb_file file = WB_FILE_INIT;
        if (wb_file_at(s->model, i, &file, NULL) != WB_OK ||
            wb_hash_file(s->hashes, i, digest) != WB_OK)
            continue;
        wb_json_begin(json, '{');
        json_text(json, "path", file.path);
        json_number(json, "bytes", file.bytes);
        json_digest(json, "sha256", digest);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

static void json_tensors(wb_json *json, const subject *s)
{
    wb_tensor_hash hash = WB_TENSOR_HASH_INIT;
    wb_json_key(json, "tensors", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; wb_hash_tensor_at(s->hashes, i, &hash) == WB_OK; i++) {
        wb_tensor tensor = WB_TENSOR_INIT;
        if (wb_tensor_at(s->model, hash.tensor, &tensor, NULL) != WB_OK)
            continue;
        wb_json_begin(json, '{');
        wb_json_key(json, "name", SIZE_MAX);
        wb_json_string(json, hash.name, hash.name_len);
        wb_json_key(json, "native", SIZE_MAX);
        wb_json_string(json, tensor.name, tensor.name_len);
        wb_json_key(json, "canonical", SIZE_MAX);
        wb_json_bool(json, (int)hash.is_canonical);
        wb_json_key(json, "shape", SIZE_MAX);
        wb_json_begin(json, '[');
        for (uint32_t d = 0; d < tensor.rank; d++)
            wb_json_uint(json, tensor.shape[d]);
        wb_json_end(json, ']');
        json_digest(json, "sha256", hash.digest);
        json_number(json, "nan", hash.nan);
        json_number(json, "infinite", hash.infinite);
        wb_json_key(json, "counts", SIZE_MAX);
        wb_json_bool(json, (int)hash.counts);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
}

static void answer(const subject *s)
{
    uint8_t digest[WB_DIGEST_BYTES];
    wb_json json = out_json(out_stdout());
    json_answer(&json, "hash");
    json_text(&json, "path", s->path);
    json_text(&json, "format", wb_format(s->model));
    if (wb_hash_values(s->hashes, digest) == WB_OK)
        json_digest(&json, "values", digest);
    json_files(&json, s);
    if (wb_hash_tensor_count(s->hashes) > 0 && !s->request->args->given[OPTION_TENSORS_OFF])
        json_tensors(&json, s);
    wb_json_end(&json, '}');
    out_json_end(&json);
}

/* ---- text ---- */

static void add_line(text *t, const uint8_t digest[WB_DIGEST_BYTES], const char *name, size_t len)
{
    text_adds(t, "  ");
    text_add_digest(t, digest);
    text_adds(t, "  ");
    text_add_shown(t, name, len);
}

static void show_tensors(out *o, const subject *s)
{
    wb_tensor_hash hash = WB_TENSOR_HASH_INIT;
    for (uint64_t i = 0; wb_hash_tensor_at(s->hashes, i, &hash) == WB_OK && !out_closed(o); i++) {
        text t = {0};
        add_line(&t, hash.digest, hash.name, hash.name_len);
        if (hash.nan + hash.infinite > 0)
            text_addf(&t, "  %s(%llu NaN, %llu infinite)%s", style(STYLE_YELLOW),
                      (unsigned long long)hash.nan, (unsigned long long)hash.infinite,
                      style(STYLE_END));
        if (!hash.counts)
            text_addf(&t, "  %s(not in the digest of all values)%s", style(STYLE_DIM),
                      style(STYLE_END));
        text_adds(&t, "\n");
        out_text(o, &t);
        text_free(&t);
    }
}

static void show(const subject *s)
{
    uint8_t digest[WB_DIGEST_BYTES];
    out *o = out_stdout();
    text t = {0};
    text_adds(&t, style(STYLE_BOLD));
    text_add_shown(&t, s->label, strlen(s->label));
    text_addf(&t, "%s\n", style(STYLE_END));
    if (wb_hash_values(s->hashes, digest) == WB_OK) {
        text_adds(&t, "all values\n");
        add_line(&t, digest, wb_format(s->model), strlen(wb_format(s->model)));
        text_adds(&t, "\n");
    }
    text_adds(&t, "files\n");
    for (uint64_t i = 0; i < wb_file_count(s->model); i++) {
        wb_file file = WB_FILE_INIT;
        if (wb_file_at(s->model, i, &file, NULL) != WB_OK ||
            wb_hash_file(s->hashes, i, digest) != WB_OK)
            continue;
        add_line(&t, digest, file.path, strlen(file.path));
        text_adds(&t, "\n");
    }
    bool has_tensors = wb_hash_tensor_count(s->hashes) > 0;
    if (has_tensors && !s->request->args->given[OPTION_TENSORS_OFF]) {
        text_adds(&t, "values of tensors\n");
        out_text(o, &t);
        show_tensors(o, s);
    } else {
        out_text(o, &t);
    }
    text_free(&t);
}

/* ---- one path ---- */

static int write_piece(void *ctx, const char *bytes, size_t n)
{
    out_write(ctx, bytes, n);
    return out_closed(ctx);
}

static int write_manifest(const subject *s)
{
    const char *path = s->request->args->value[OPTION_MANIFEST];
    wb_error error;
    out *o = output_is_stdout(path) ? out_stdout() : out_file(path);
    if (o == NULL)
        return EXIT_IO;
    wb_status status = wb_hash_manifest(s->hashes, write_piece, o, &error);
    if (o == out_stdout())
        return EXIT_CLEAN; /* write errors are reported when the command ends */
    int code = out_commit(o, status == WB_OK ? EXIT_CLEAN : EXIT_IO);
    if (status != WB_OK && code == EXIT_CLEAN)
        report_error(path, &error);
    return code;
}

static bool is_over_model(const subject *s)
{
    const char *path = s->request->args->value[OPTION_MANIFEST];
    return path != NULL && !output_is_stdout(path) && replaces_model(path, s->model);
}

static int hash_path(void *ctx, paths *seen, const char *path)
{
    const request *r = ctx;
    wb_model *model = NULL;
    wb_hashes *hashes = NULL;
    wb_error error;
    subject s = {.request = r, .path = path, .label = path_label(path)};
    wb_progress progress = progress_of(s.label);
    wb_hash_options options = {.size = sizeof options, .progress = &progress};
    options.flags = r->args->given[OPTION_FILES] ? WB_HASH_FILES : WB_HASH_FILES | WB_HASH_VALUES;
    if (r->args->given[OPTION_MANIFEST])
        options.flags |= WB_HASH_CHUNKS;
    wb_status status = open_path(path, &r->options, &model, &error);
    int code = status == WB_OK ? EXIT_CLEAN : exit_code_of_opening(status);
    if (status == WB_OK) {
        paths_cover(seen, model);
        status = wb_hash_model(model, &options, &hashes, &error);
        code = status == WB_OK ? EXIT_CLEAN : exit_code_of(status);
    }
    progress_clear();
    s.model = model;
    s.hashes = hashes;
    if (status != WB_OK) {
        report_error(s.label, &error);
        if (r->args->given[OPTION_JSON])
            json_failure(path, &error);
    } else if (is_over_model(&s)) {
        code = report_usage(MSG_MANIFEST_IS_MODEL);
    } else if (r->args->given[OPTION_MANIFEST]) {
        code = write_manifest(&s);
        if (code == EXIT_CLEAN && r->args->given[OPTION_JSON])
            answer(&s);
    } else if (r->args->given[OPTION_JSON]) {
        answer(&s);
    } else {
        show(&s);
    }
    wb_hashes_free(hashes);
    wb_close(model);
    return code;
}

int command_hash(const arguments *args)
{
    request r = {.args = args};
    int code = open_options_of(args, &r.options, &r.limits);
    if (code != 0)
        return code;
    if (args->given[OPTION_MANIFEST] && args->count > 1)
        return report_usage(MSG_MANIFEST_ONE_PATH);
    if (args->given[OPTION_JSON] && args->given[OPTION_MANIFEST] &&
        output_is_stdout(args->value[OPTION_MANIFEST]))
        return report_usage(MSG_MANIFEST_AND_JSON);
    r.options.executor = threads_executor();
    return paths_each(args, hash_path, &r);
}
