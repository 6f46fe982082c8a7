#include "hash/hash.h"
#include "json/json.h"

void wb__digest_write(const wb__digest *digest, char text[WB__DIGEST_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < WB__SHA256_BYTES; i++) {
        text[2 * i] = digits[digest->bytes[i] >> 4];
        text[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    text[WB__DIGEST_TEXT - 1] = '\0';
}

/* ---- adapter from the caller's output function to the JSON writer ---- */

typedef struct target {
    int (*write)(void *ctx, const char *text, size_t n);
    void *ctx;
} target;

static bool write_on(void *ctx, const char *text, size_t n)
{
    const target *to = ctx;
    return to->write(to->ctx, text, n) == 0;
}

static void put_digest(wb__json_writer *json, const wb__digest *digest)
{
    char text[WB__DIGEST_TEXT];
    wb__digest_write(digest, text);
    wb__json_write_str(json, (wb__str){text, WB__DIGEST_TEXT - 1});
}

static void put_part(wb__json_writer *json, const wb__file_part *part)
{
    wb__json_write_begin(json, '{');
    if (part->tensor.ptr != NULL) {
        wb__json_write_key(json, "tensor");
        wb__json_write_str(json, part->tensor);
    }
    wb__json_write_key(json, "bytes");
    wb__json_write_uint(json, part->bytes);
    wb__json_write_key(json, "chunks");
    wb__json_write_begin(json, '[');
    for (uint64_t c = 0; c < wb__chunks_of(part->bytes); c++)
        put_digest(json, &part->chunks[c]);
    wb__json_write_end(json, ']');
    wb__json_write_end(json, '}');
}

static void put_files(wb__json_writer *json, const wb_hashes *hashes)
{
    wb__json_write_key(json, "files");
    wb__json_write_begin(json, '[');
    for (size_t i = 0; i < hashes->file_count; i++) {
        const wb__file_hash *file = &hashes->files[i];
        wb__json_write_begin(json, '{');
        wb__json_write_key(json, "name");
        wb__json_write_str(json, wb__base_name(hashes->model->catalog.files[i].path));
        wb__json_write_key(json, "bytes");
        wb__json_write_uint(json, wb__source_bytes(hashes->model->sources[i]));
        wb__json_write_key(json, "sha256");
        put_digest(json, &file->digest);
        wb__json_write_key(json, "parts");
        wb__json_write_begin(json, '[');
        for (size_t p = 0; p < file->part_count; p++)
            put_part(json, &file->parts[p]);
        wb__json_write_end(json, ']');
        wb__json_write_end(json, '}');
    }
    wb__json_write_end(json, ']');
}

static void put_values(wb__json_writer *json, const wb_hashes *hashes)
{
    wb__json_write_key(json, "values");
    wb__json_write_begin(json, '{');
    wb__json_write_key(json, "sha256");
    put_digest(json, &hashes->all_values);
    wb__json_write_key(json, "tensors");
    wb__json_write_begin(json, '[');
    for (size_t i = 0; i < hashes->subjects.count; i++) {
        wb__json_write_begin(json, '{');
        wb__json_write_key(json, "name");
        wb__json_write_str(json, hashes->subjects.list[i].name);
        wb__json_write_key(json, "sha256");
        put_digest(json, &hashes->values[i].digest);
        wb__json_write_end(json, '}');
    }
    wb__json_write_end(json, ']');
    wb__json_write_end(json, '}');
}

bool wb__manifest_write(const wb_hashes *hashes,
                        int (*write)(void *ctx, const char *text, size_t n), void *ctx)
{
    target to = {write, ctx};
    wb__json_writer json = {.write = write_on, .ctx = &to};
    wb__json_write_begin(&json, '{');
    wb__json_write_key(&json, "weighbridge_manifest");
    wb__json_write_uint(&json, 1);
    wb__json_write_key(&json, "chunk_bytes");
    wb__json_write_uint(&json, WB__CHUNK_BYTES);
    if (hashes->flags & WB_HASH_VALUES)
        put_values(&json, hashes);
    put_files(&json, hashes);
    wb__json_write_end(&json, '}');
    return !json.failed && write(ctx, "\n", 1) == 0;
}
