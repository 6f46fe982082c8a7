/*
 * Groups the tensors of an Ollama model into layers with one blob each:
 *
 *   - A weight with its scale, bias and global scale is a layer, named after the weight.
 *   - An expert group, which consists of all experts of a decoder layer, is a layer, named after
 *     the common prefix of the experts' names. If the experts have different packings, each weight
 *     is a layer instead.
 *
 * Layers are sorted by name, and expert layers follow all other layers (docs/format/ollama.md). In
 * the layout of February 2026, the shared experts of a decoder layer also form a group, and blobs
 * of groups contain no metadata. In the current layout two kinds of experts do not form a group:
 * experts that a quantized (packed) model stores one by one, such as "….experts.3.up_proj.weight",
 * and experts that the model stores stacked, such as "….switch_mlp.up_proj.weight".
 */
#include <stdio.h>
#include <stdlib.h>

#include "bundles/ollama/ollama.h"
#include "core/call_options.h"
#include "write/write.h"
#include "write/write_messages.h"

static const char *const groups[] = {".mlp.experts.", ".moe.experts.", ".mixer.experts."};
static const char *const feb_groups[] = {".mlp.experts.",    ".mlp.shared_experts.",
                                         ".mlp.switch_mlp.", ".moe.experts.",
                                         ".mixer.experts.",  ".mixer.shared_experts."};

/* Returns the prefix of the name that identifies an expert group, without the final dot, or an
 * empty string if the tensor does not belong to a group. */
static wb__str group_of(const wb_writer *writer, wb__str name)
{
    bool feb = (writer->flags & WB_WRITE_FEB2026) != 0;
    const char *const *markers = feb ? feb_groups : groups;
    size_t count =
        feb ? sizeof feb_groups / sizeof feb_groups[0] : sizeof groups / sizeof groups[0];
    for (size_t i = 0; i < count; i++) {
        wb__str marker = wb__str_from(markers[i], SIZE_MAX);
        size_t at = wb__str_find(name, marker), end = at + marker.len;
        if (at == SIZE_MAX)
            continue;
        bool one = end < name.len && name.ptr[end] >= '0' && name.ptr[end] <= '9';
        return (wb__str){name.ptr, one && !feb ? 0 : end - 1};
    }
    return (wb__str){name.ptr, 0};
}

/* Returns the weight to which a scale, bias or global scale belongs, or the tensor itself. */
static wb__outgoing *owner_of(wb_writer *writer, wb__outgoing *tensor)
{
    static const struct {
        wb__str end;
        uint8_t part;
    } ends[] = {{{".scale", 6}, 1}, {{".bias", 5}, 2}, {{".global_scale", 13}, 3}};
    wb__str name = tensor->out.name;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (!wb__str_ends_with(name, ends[i].end))
            continue;
        wb__str base = {name.ptr, name.len - ends[i].end.len};
        uint32_t owner = wb__name_map_find(&writer->tensor_names, base);
        if (owner != UINT32_MAX) {
            tensor->part = ends[i].part;
            return wb__writer_tensor(writer, owner);
        }
    }
    return tensor;
}

static void find_layers(wb_writer *writer)
{
    for (size_t i = 0; i < writer->tensors.count; i++) {
        wb__outgoing *tensor = wb__writer_tensor(writer, i);
        const wb__outgoing *owner = owner_of(writer, tensor);
        wb__str group = group_of(writer, owner->out.name);
        tensor->layer = group.len != 0 ? group : owner->out.name;
        tensor->is_expert = group.len != 0;
        if (owner != tensor) { /* companions of a weight get its packing and stay adjacent to it */
            tensor->packing = owner->packing;
            tensor->group = owner->group;
        }
    }
}

static wb__str base_name(const wb__outgoing *tensor)
{
    static const uint8_t ends[] = {0, 6, 5, 13};
    return (wb__str){tensor->out.name.ptr, tensor->out.name.len - ends[tensor->part]};
}

static int by_layer(const void *left, const void *right)
{
    const wb__outgoing *a = *(wb__outgoing *const *)left;
    const wb__outgoing *b = *(wb__outgoing *const *)right;
    if (a->is_expert != b->is_expert)
        return a->is_expert - b->is_expert;
    int order = wb__str_compare(a->layer, b->layer);
    if (order == 0)
        order = wb__str_compare(base_name(a), base_name(b));
    return order != 0 ? order : a->part - b->part;
}

static bool is_packed_alike(const wb__outgoing *a, const wb__outgoing *b)
{
    if (a->packing == NULL || b->packing == NULL)
        return a->packing == b->packing;
    return strcmp(a->packing, b->packing) == 0 && a->group == b->group;
}

/* Splits expert groups whose weights have different packings into one layer per weight. */
static void split_groups(const wb_writer *writer)
{
    /* The cast is valid, because wb__out_tensor is the first member of wb__outgoing. */
    wb__outgoing **order = (wb__outgoing **)writer->order;
    for (size_t i = 0; i < writer->tensors.count;) {
        size_t end = i;
        bool alike = true;
        wb__str layer = order[i]->layer;
        while (end < writer->tensors.count && wb__str_compare(order[end]->layer, layer) == 0) {
            alike = alike && is_packed_alike(order[i], order[end]);
            end++;
        }
        for (; i < end; i++) {
            if (!alike && !(writer->flags & WB_WRITE_FEB2026))
                order[i]->layer = base_name(order[i]);
        }
    }
}

static wb_status make_outputs(wb__context *context, wb_writer *writer)
{
    size_t tensors = writer->tensors.count, count = 0;
    wb__outgoing **order = wb__arena_alloc(&writer->arena, (tensors + 1) * sizeof(*order));
    wb__output *outputs = wb__arena_alloc(&writer->arena, (tensors + 1) * sizeof *outputs);
    if (order == NULL || outputs == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < tensors; i++)
        order[i] = wb__writer_tensor(writer, i);
    if (tensors != 0)
        qsort(order, tensors, sizeof(*order), by_layer);
    writer->order = (wb__out_tensor **)order;
    split_groups(writer);
    memset(outputs, 0, (tensors + 1) * sizeof *outputs);
    for (size_t i = 0; i < tensors; i++) {
        if (i == 0 || wb__str_compare(order[i]->layer, order[i - 1]->layer) != 0) {
            outputs[count].first = i;
            outputs[count].layer = order[i]->layer;
            outputs[count].layout.header.allocator = &writer->allocator;
            count++;
        }
        wb__output *output = &outputs[count - 1];
        order[i]->file = (uint32_t)(count - 1);
        output->layout.tensor_count++;
        output->left += order[i]->out.bytes;
    }
    writer->outputs = outputs;
    writer->output_count = count;
    /* The library would refuse to read a model with so many files. */
    if (count > context->limits.files)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FILES_LIMIT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_WRITE_STORE_BLOBS, count,
                        (unsigned long long)context->limits.files);
    return WB_OK;
}

static wb_status give_metas(wb__context *context, wb_writer *writer, wb__output *output)
{
    const wb__outgoing *main = (const wb__outgoing *)writer->order[output->first];
    bool feb_group = (writer->flags & WB_WRITE_FEB2026) && main->is_expert;
    char number[16];
    int len = snprintf(number, sizeof number, "%lu", (unsigned long)main->group);
    if (main->packing == NULL || feb_group)
        return WB_OK;
    const wb__str texts[] = {{number, (size_t)len}, wb__str_from(main->packing, SIZE_MAX)};
    static const wb__str keys[] = {{"group_size", 10}, {"quant_type", 10}};
    const wb__out_meta **list = wb__arena_alloc(&writer->arena, 2 * sizeof(*list));
    for (size_t i = 0; i < 2; i++) {
        wb__out_meta *meta = wb__arena_alloc(&writer->arena, sizeof *meta + 8 + texts[i].len);
        if (list == NULL || meta == NULL)
            return wb__fail_memory(context);
        uint8_t *value = (uint8_t *)(meta + 1);
        wb__store_le64(value, texts[i].len);
        memcpy(value + 8, texts[i].ptr, texts[i].len);
        *meta = (wb__out_meta){
            .key = keys[i], .tag = WB__TAG_STRING, .value = value, .bytes = 8 + texts[i].len};
        list[i] = meta;
    }
    output->layout.metas = list;
    output->layout.meta_count = 2;
    return WB_OK;
}

static wb_status lay_out(wb__context *context, wb_writer *writer, wb__output *output)
{
    wb__out_file *layout = &output->layout;
    layout->tensors = writer->order + output->first;
    layout->alignment = 8;
    layout->go_layout = true;
    layout->arena = &writer->arena;
    wb_status status = give_metas(context, writer, output);
    return status == WB_OK ? writer->format->write(context, layout) : status;
}

/* ---- paths ---- */

static char *print(wb__arena *arena, const char *store, const char *middle, wb__str host,
                   wb__str space, wb__str model, wb__str tag)
{
    size_t n = strlen(store) + strlen(middle) + host.len + space.len + model.len + tag.len + 8;
    char *text = wb__arena_text(arena, n);
    if (text != NULL)
        (void)snprintf(text, n, "%s%s%.*s/%.*s/%.*s/%.*s", store, middle, (int)host.len, host.ptr,
                       (int)space.len, space.ptr, (int)model.len, model.ptr, (int)tag.len, tag.ptr);
    return text;
}

/* Sets the path for partial files. If this path cannot be determined, partial files are not
 * kept. */
static wb_status find_kept(wb__context *context, wb_writer *writer)
{
    char *path;
    wb_status status = wb__ollama_kept_path(context, writer->store, writer->store_name, &path);
    if (status != WB_OK || path == NULL) {
        writer->flags &= ~WB_WRITE_KEEP;
        return status;
    }
    writer->kept_beside = wb__arena_copy(&writer->arena, path, strlen(path));
    wb__free(&context->allocator, path, strlen(path) + 1);
    return writer->kept_beside == NULL ? wb__fail_memory(context) : WB_OK;
}

static wb_status find_places(wb__context *context, wb_writer *writer, const char *text)
{
    wb__ollama_name name;
    char *own = NULL;
    if (text == NULL || !wb__ollama_name_parse(wb__str_from(text, SIZE_MAX), &name))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_OLLAMA_NAME, WB_NO_OFFSET,
                        wb__str_from(text, SIZE_MAX), WB__MSG_WRITE_STORE_NAME);
    if (writer->store == NULL) {
        wb_status status = wb__ollama_default_store(context, &own);
        if (status != WB_OK)
            return status;
        writer->store = wb__arena_copy(&writer->arena, own, strlen(own));
        wb__free(&context->allocator, own, strlen(own) + 1);
        if (writer->store == NULL)
            return wb__fail_memory(context);
    }
    writer->store_name.ptr = wb__arena_copy(&writer->arena, text, strlen(text));
    writer->store_name.len = strlen(text);
    if (writer->store_name.ptr == NULL)
        return wb__fail_memory(context);
    writer->manifest_path = print(&writer->arena, writer->store, "/manifests/", name.host,
                                  name.space, name.model, name.tag);
    size_t n = strlen(writer->store) + sizeof "/blobs/";
    char *blobs = wb__arena_text(&writer->arena, n + sizeof "sha256");
    if (writer->manifest_path == NULL || blobs == NULL)
        return wb__fail_memory(context);
    (void)snprintf(blobs, n + sizeof "sha256", "%s/blobs/sha256", writer->store);
    /* The name of a blob contains the digest of its bytes, which is not known yet. All outputs
     * have the common prefix as path until then. */
    for (size_t i = 0; i < writer->output_count; i++)
        writer->outputs[i].path = blobs;
    writer->blobs = blobs;
    return writer->flags & WB_WRITE_KEEP ? find_kept(context, writer) : WB_OK;
}

wb_status wb__store_plan_whole(wb__context *context, wb_writer *writer, const char *name)
{
    wb_status status = wb__writer_plan_whole(context, writer);
    if (status == WB_OK)
        status = find_places(context, writer, name);
    writer->has_paths = true;
    if (status == WB_OK)
        atomic_store(&writer->state, WB__PLANNED);
    return status;
}

wb_status wb__store_plan(wb__context *context, wb_writer *writer, const char *name)
{
    find_layers(writer);
    wb_status status = make_outputs(context, writer);
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++)
        status = lay_out(context, writer, &writer->outputs[i]);
    if (status == WB_OK && writer->output_count == 0)
        status = wb__fail_argument(context, WB__MSG_WRITE_STORE_EMPTY);
    if (status == WB_OK)
        status = find_places(context, writer, name);
    writer->has_paths = true;
    if (status == WB_OK)
        atomic_store(&writer->state, WB__PLANNED);
    return status;
}
