/*
 * Checks the padding between tensors and the UTF-8 of strings in arrays. Opening a model checks
 * neither: the padding is spread over the whole file, and the check of the strings would take as
 * long as opening.
 */
#include "model/file_order.h"
#include "verify/verify.h"
#include "verify/verify_messages.h"
#include "weighbridge/metadata.h"

/* ---- padding ---- */

#define PIECE ((size_t)16 << 10)

typedef struct padding_check {
    wb__context *context;
    const wb__source *source;
    uint64_t odd;   /* number of non-zero bytes in the padding */
    uint64_t first; /* file offset of the first non-zero byte */
} padding_check;

static wb_status check_gap(padding_check *check, uint64_t from, uint64_t to)
{
    uint8_t piece[PIECE];
    while (from < to) {
        size_t n = to - from < PIECE ? (size_t)(to - from) : PIECE;
        wb_status status = wb__source_read(check->source, check->context, from, piece, n);
        if (status != WB_OK)
            return status;
        for (size_t i = 0; i < n; i++) {
            if (piece[i] != 0 && check->odd++ == 0)
                check->first = from + i;
        }
        from += n;
    }
    return WB_OK;
}

/* Adds a warning if a second GGUF file follows the last tensor. If other bytes follow, opening
 * the model has already added an info. */
static wb_status check_rest(padding_check *check, const wb__catalog_file *file, uint64_t at)
{
    char begin[4];
    if (!wb__in_range(at, sizeof begin, file->bytes))
        return WB_OK;
    wb_status status = wb__source_read(check->source, check->context, at, begin, sizeof begin);
    if (status != WB_OK || memcmp(begin, "GGUF", sizeof begin) != 0)
        return status;
    return wb__note(check->context, WB_WARNING, WB__FINDING_GGUF_TRAILING, at, WB__STR(""),
                    WB__MSG_VERIFY_SECOND_GGUF);
}

static wb_status check_gaps(padding_check *check, const wb__catalog *catalog,
                            const wb__catalog_file *file, const wb__order *order)
{
    uint64_t end = file->header_end, padded;
    for (size_t i = 0; i < order->count; i++) {
        size_t tensor = wb__order_at(order, i);
        uint64_t begin = file->data_begin + wb__tensor_begin(&catalog->table, tensor);
        if (begin > end) {
            wb_status status = check_gap(check, end, begin);
            if (status != WB_OK)
                return status;
        }
        uint64_t tensor_end = file->data_begin + wb__tensor_end(&catalog->table, tensor);
        end = tensor_end > end ? tensor_end : end;
    }
    if (!wb__align_up(end, file->alignment, &padded) || padded > file->bytes)
        padded = file->bytes;
    wb_status status = check_gap(check, end, padded);
    return status != WB_OK ? status : check_rest(check, file, padded);
}

wb_status wb__verify_padding(const wb_model *model, wb__context *context, size_t number)
{
    const wb__catalog *catalog = &model->catalog;
    const wb__catalog_file *file = &catalog->files[number];
    padding_check check = {context, model->sources[number], 0, 0};
    wb__order order;
    if (file->alignment == 0)
        return WB_OK;
    context->file = file->path;
    wb_status status = wb__order_make(&order, context, &catalog->table, file);
    if (status == WB_OK)
        status = check_gaps(&check, catalog, file, &order);
    wb__order_free(&order);
    if (status == WB_OK && check.odd > 0)
        status = wb__note(context, WB_WARNING, WB__FINDING_GGUF_PADDING, check.first, WB__STR(""),
                          WB__MSG_VERIFY_PADDING, (unsigned long long)check.odd);
    context->file = "";
    return status;
}

/* ---- strings in arrays ---- */

/* Adds a finding for strings that are not valid UTF-8. It is only an info, because published
 * vocabularies contain raw bytes. */
static wb_status verify_strings(const wb_model *model, wb__context *context, const wb__meta *meta)
{
    const wb__array *array = meta->value.array;
    const uint8_t *base = wb__meta_base(&model->catalog, meta);
    uint64_t odd = 0, first = 0;
    wb__str string = {NULL, 0};
    for (uint64_t i = 0; i < array->count; i++) {
        string = i == 0 ? wb__array_string(array, base, 0) : wb__array_next_string(string);
        const uint8_t *text = (const uint8_t *)string.ptr;
        if ((wb__utf8_valid_prefix(text, string.len) < string.len ||
             (string.len > 0 && memchr(text, 0, string.len) != NULL)) &&
            odd++ == 0)
            first = (uint64_t)(text - base);
    }
    if (odd == 0)
        return WB_OK;
    context->file = model->catalog.files[meta->file].path;
    wb_status status = wb__note(context, WB_INFO, WB__FINDING_GGUF_TEXT, first,
                                wb__meta_key(&model->catalog, meta), WB__MSG_VERIFY_STRINGS,
                                (unsigned long long)odd, (unsigned long long)array->count);
    context->file = "";
    return status;
}

wb_status wb__verify_texts(const wb_model *model, wb__context *context)
{
    const wb__list *metas = &model->catalog.metas;
    for (size_t i = 0; i < metas->count; i++) {
        const wb__meta *meta = wb__list_at(metas, i);
        if (meta->type != WB_META_ARRAY || meta->value.array->element != WB_META_STRING)
            continue;
        wb_status status = verify_strings(model, context, meta);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}
