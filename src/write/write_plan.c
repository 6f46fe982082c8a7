/*
 * Assigns tensors to files, in the order of declaration. A new file begins if the next tensor would
 * exceed the size limit or the tensor limit of the current file. gguf-split and the tools of
 * Hugging Face divide files in the same way.
 */
#include "core/call_options.h"
#include "model/padding_tensor.h"
#include "write/write.h"
#include "write/write_messages.h"

/* Returns the number of bytes that a tensor adds to the size of its file. For GGUF the number
 * includes alignment padding, as in gguf-split. */
static uint64_t weight_of(const wb_writer *writer, const wb__outgoing *tensor, uint64_t alignment)
{
    uint64_t bytes = tensor->out.bytes;
    if (writer->format == &wb__format_gguf && !wb__align_up(bytes, alignment, &bytes))
        bytes = UINT64_MAX;
    return bytes;
}

/* Sets the file number of each tensor, and sets *count to the number of files. */
static wb_status assign(wb__context *context, wb_writer *writer, uint64_t alignment, size_t *count)
{
    uint64_t bytes = 0, tensors = 0, sum;
    uint32_t file = 0;
    uint64_t max_bytes = writer->max_file_bytes == 0 ? UINT64_MAX : writer->max_file_bytes;
    uint64_t max_tensors = writer->max_file_tensors == 0 ? UINT64_MAX : writer->max_file_tensors;
    for (size_t i = 0; i < writer->tensors.count; i++) {
        wb__outgoing *tensor = wb__writer_tensor(writer, i);
        uint64_t weight = weight_of(writer, tensor, alignment);
        if (!wb__add(bytes, weight, &sum))
            sum = UINT64_MAX;
        bool fits = sum <= max_bytes && tensors < max_tensors;
        if (!fits && tensors != 0) {
            file++;
            tensors = 0;
            sum = weight;
        }
        bytes = sum;
        tensors++;
        tensor->file = file;
    }
    *count = (size_t)file + 1;
    if (*count > 1 && writer->format == &wb__format_npz)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_WRITE_SPLIT, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_WRITE_NPZ_SPLIT);
    if (*count > context->limits.files || *count > UINT16_MAX) /* split.count is a 16-bit number */
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_WRITE_SPLIT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_WRITE_FILES_MANY, *count);
    return WB_OK;
}

/* ---- metadata of each file ---- */

static wb__out_meta *make_number(wb__arena *arena, const char *key, uint32_t tag, uint64_t value)
{
    wb__out_meta *meta = wb__arena_alloc(arena, sizeof *meta + 8);
    if (meta == NULL)
        return NULL;
    uint8_t *bytes = (uint8_t *)(meta + 1);
    wb__store_le64(bytes, value);
    *meta = (wb__out_meta){.key = wb__str_from(key, SIZE_MAX),
                           .tag = tag,
                           .value = bytes,
                           .bytes = wb__tag_width(tag)};
    return meta;
}

#define SPLIT_KEYS 3

/*
 * Selects the metadata of file `number`. The first part of a GGUF split contains all keys, and the
 * other parts contain only the split.* keys. The split.* keys have the same order as in files of
 * gguf-split. Every safetensors file contains all keys.
 */
static wb_status give_metas(wb__context *context, wb_writer *writer, size_t number)
{
    wb__out_file *layout = &writer->outputs[number].layout;
    bool is_split = writer->format == &wb__format_gguf && writer->output_count > 1;
    size_t own = is_split && number != 0 ? 0 : writer->metas.count;
    const wb__out_meta **list = wb__arena_alloc(&writer->arena, (own + SPLIT_KEYS) * sizeof(*list));
    if (list == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < own; i++)
        list[i] = wb__list_at(&writer->metas, i);
    layout->metas = list;
    layout->meta_count = own;
    if (!is_split)
        return WB_OK;
    list[own] = make_number(&writer->arena, "split.no", WB__TAG_U16, number);
    list[own + 1] =
        make_number(&writer->arena, "split.tensors.count", WB__TAG_I32, writer->tensors.count);
    list[own + 2] = make_number(&writer->arena, "split.count", WB__TAG_U16, writer->output_count);
    layout->meta_count += SPLIT_KEYS;
    for (size_t i = own; i < layout->meta_count; i++) {
        if (list[i] == NULL)
            return wb__fail_memory(context);
    }
    return WB_OK;
}

/* ---- layout ---- */

static wb_status find_alignment(wb__context *context, const wb_writer *writer, uint64_t *alignment)
{
    bool is_gguf = writer->format == &wb__format_gguf;
    bool is_npz = writer->format == &wb__format_npz;
    uint32_t number = wb__name_map_find(&writer->meta_names, WB__STR("general.alignment"));
    *alignment = writer->alignment;
    if (writer->alignment != 0)
        return WB_OK;
    *alignment = is_gguf ? 32 : is_npz ? 64 : 8;
    if (!is_gguf || number == UINT32_MAX)
        return WB_OK;
    const wb__out_meta *meta = wb__list_at(&writer->metas, number);
    if (meta->tag == WB__TAG_U32)
        *alignment = wb__load_le32(meta->value);
    if (meta->tag != WB__TAG_U32 || *alignment == 0 || (*alignment & (*alignment - 1)) != 0)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_GGUF_ALIGNMENT, WB_NO_OFFSET,
                        meta->key, WB__MSG_WRITE_ALIGNMENT_VALUE);
    return WB_OK;
}

/* Returns the number for the name of the first new padding tensor. It is larger than the numbers of
 * all padding tensors that the source may already contain. */
static uint64_t first_filler(const wb_writer *writer)
{
    uint64_t past = 0;
    for (size_t i = 0; i < writer->tensors.count; i++)
        past = wb__padding_tensor_past(writer->order[i]->name, past);
    return past;
}

static wb_status lay_out(wb__context *context, wb_writer *writer, size_t number, uint64_t alignment,
                         bool is_stream)
{
    wb__output *output = &writer->outputs[number];
    wb__out_file *layout = &output->layout;
    layout->tensors = writer->order + output->first;
    layout->alignment = alignment;
    layout->align_tensors = (writer->flags & WB_WRITE_ALIGN_TENSORS) != 0 ||
                            (writer->format == &wb__format_npz && writer->alignment != 0);
    layout->is_stream = is_stream;
    layout->big_endian = (writer->flags & WB_WRITE_BIG_ENDIAN) != 0;
    layout->keeps_order = writer->is_edit;
    layout->arena = &writer->arena;
    layout->filler = number == 0 ? first_filler(writer) : writer->outputs[number - 1].layout.filler;
    wb_status status = give_metas(context, writer, number);
    if (status == WB_OK)
        status = writer->format->write(context, layout);
    if (status == WB_OK && layout->bytes > INT64_MAX)
        status = wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_WRITE_SPLIT, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_WRITE_FILE_SIZE, (unsigned long long)layout->bytes);
    return status;
}

static wb_status plan_whole(wb__context *context, wb_writer *writer, const char *path)
{
    if (path == NULL || writer->extras.count != 0)
        return wb__fail_argument(context, WB__MSG_WRITE_COPY_WHOLE_PATH);
    wb_status status = wb__writer_plan_whole(context, writer);
    if (status == WB_OK)
        status = wb__writer_name_outputs(context, writer, path);
    writer->has_paths = true;
    if (status == WB_OK)
        atomic_store(&writer->state, WB__PLANNED);
    return status;
}

wb_status wb__writer_plan(wb__context *context, wb_writer *writer, const char *path)
{
    uint64_t alignment;
    size_t count = 1;
    if (atomic_load(&writer->state) != WB__DECLARING)
        return wb__fail_argument(context, WB__MSG_WRITE_PLAN_STATE);
    if (writer->is_store && writer->whole != NULL)
        return wb__store_plan_whole(context, writer, path);
    if (writer->is_store)
        return wb__store_plan(context, writer, path);
    if (writer->whole != NULL)
        return plan_whole(context, writer, path);
    if (writer->extras.count != 0 && !(writer->flags & WB_WRITE_FOLDER))
        return wb__fail_argument(context, WB__MSG_WRITE_SIDECARS_FOLDER);
    wb_status status = find_alignment(context, writer, &alignment);
    if (status == WB_OK)
        status = assign(context, writer, alignment, &count);

    if (status == WB_OK)
        status = wb__writer_make_outputs(context, writer, count);
    bool is_stream = path == NULL || wb__path_is_stream(path);
    for (size_t i = 0; i < count && status == WB_OK; i++)
        status = lay_out(context, writer, i, alignment, is_stream);
    writer->has_paths = path != NULL;
    if (status == WB_OK && path != NULL)
        status = wb__writer_name_outputs(context, writer, path);
    if (status == WB_OK)
        atomic_store(&writer->state, WB__PLANNED);
    return status;
}
