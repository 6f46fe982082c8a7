/*
 * Names the output files and creates the index file of shards.
 */
#include <stdio.h>
#include <stdlib.h>

#include "write/write.h"

static const char st_end[] = ".safetensors";
static const char gguf_end[] = ".gguf";

#define NUMBERS 40 /* buffer size for a part number such as "-00001-of-00003", in bytes */

static char *join(wb__arena *arena, wb__str front, const char *back)
{
    size_t n = strlen(back);
    char *text = wb__arena_text(arena, front.len + n + 1);
    if (text != NULL) {
        memcpy(text, front.ptr, front.len);
        memcpy(text + front.len, back, n + 1);
    }
    return text;
}

/* Returns `path` without the file extension `end`, if `path` ends with it. */
static wb__str stem_of(wb__str path, const char *end)
{
    wb__str tail = wb__str_from(end, SIZE_MAX);
    if (wb__str_ends_with(path, tail) && path.len > tail.len)
        path.len -= tail.len;
    return path;
}

wb_status wb__writer_name_outputs(wb__context *context, wb_writer *writer, const char *path)
{
    bool is_gguf = writer->format == &wb__format_gguf;
    const char *end = is_gguf ? gguf_end : st_end;
    wb__str stem = wb__str_from(path, SIZE_MAX);
    char numbers[NUMBERS + sizeof st_end];
    if (writer->flags & WB_WRITE_FOLDER) {
        while (stem.len > 1 && stem.ptr[stem.len - 1] == '/')
            stem.len--;
        writer->folder = wb__arena_copy(&writer->arena, stem.ptr, stem.len);
        const char *base = join(&writer->arena, stem, "/model");
        if (writer->folder == NULL || base == NULL)
            return wb__fail_memory(context);
        stem = wb__str_from(base, SIZE_MAX);
    } else if (writer->output_count > 1) {
        stem = stem_of(stem, end);
    } else {
        end = "";
    }
    for (size_t i = 0; i < writer->output_count; i++) {
        const char *back = end;
        if (writer->output_count > 1) {
            (void)snprintf(numbers, sizeof numbers, "-%05zu-of-%05zu%s", i + 1,
                           writer->output_count, end);
            back = numbers;
        }
        writer->outputs[i].path = join(&writer->arena, stem, back);
        if (writer->outputs[i].path == NULL)
            return wb__fail_memory(context);
    }
    if (is_gguf || writer->output_count == 1)
        return WB_OK;
    writer->index_path = join(&writer->arena, stem, ".safetensors.index.json");
    return writer->index_path == NULL ? wb__fail_memory(context)
                                      : wb__writer_make_index(context, writer);
}

/* ---- the index ---- */

static int by_name(const void *left, const void *right)
{
    const wb__outgoing *a = *(wb__outgoing *const *)left;
    const wb__outgoing *b = *(wb__outgoing *const *)right;
    return wb__str_compare(a->out.name, b->out.name);
}

static bool append(void *ctx, const char *text, size_t n)
{
    wb__buffer *out = ctx;
    wb__buffer_add(out, text, n);
    return !wb__buffer_failed(out);
}

static void put_name(wb__buffer *out, wb__str name)
{
    wb__json_writer json = {.write = append, .ctx = out};
    wb__json_write_str(&json, name);
}

/* Formats the index as the tools of Hugging Face do: two spaces per indentation level, and
 * tensor names sorted. */
wb_status wb__writer_make_index(wb__context *context, wb_writer *writer)
{
    size_t count = writer->tensors.count;
    wb__outgoing **sorted = wb__alloc(&writer->allocator, count * sizeof *sorted);
    wb__buffer out = {.allocator = &writer->allocator, .ceiling = SIZE_MAX / 2};
    uint64_t total = 0;
    if (sorted == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = wb__writer_tensor(writer, i);
        total += sorted[i]->out.bytes;
    }
    qsort(sorted, count, sizeof *sorted, by_name);
    wb__buffer_text(&out, "{\n  \"metadata\": {\n    \"total_size\": ");
    wb__buffer_uint(&out, total);
    wb__buffer_text(&out, "\n  },\n  \"weight_map\": {");
    for (size_t i = 0; i < count; i++) {
        wb__buffer_text(&out, i == 0 ? "\n    " : ",\n    ");
        put_name(&out, sorted[i]->out.name);
        wb__buffer_text(&out, ": ");
        put_name(&out, wb__path_base(writer->outputs[sorted[i]->file].path));
    }
    wb__buffer_text(&out, "\n  }\n}\n");
    wb__free(&writer->allocator, sorted, count * sizeof *sorted);
    writer->index = (char *)out.bytes;
    writer->index_bytes = out.capacity;
    writer->index_len = out.n;
    return wb__buffer_failed(&out) ? wb__fail_memory(context) : WB_OK;
}
