/*
 * Checks tensor values: counts NaNs, infinities, blocks with NaN or infinite scales, and invalid
 * booleans.
 * Reads at most a given number of bytes (the budget). The structure of the files was checked when
 * the model was opened.
 */
#include "dtype/dtype_block.h"
#include "read/raw_bytes.h"
#include "verify/verify.h"
#include "verify/verify_messages.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define DEFAULT_BUDGET ((uint64_t)64 << 20)

typedef struct value_check {
    const wb_model *model;
    wb__context *context;
    const wb_verify_options *options;
    uint8_t *chunk;
    uint64_t budget; /* number of bytes that may still be read */
    uint64_t done;   /* number of bytes read so far */
    uint64_t total;  /* number of bytes that will be read */
    uint64_t unread; /* number of bytes skipped so far, because they exceed the budget */
    wb__crc32 crc32;
} value_check;

static bool is_worth_reading(const wb__dtype *dtype)
{
    return wb__dtype_is_float(dtype) || dtype->kind == WB__CLASS_COMPLEX ||
           dtype->kind == WB__CLASS_BOOL || dtype->kind == WB__CLASS_BLOCK;
}

static wb_status report_progress(value_check *check)
{
    const wb_progress *progress = check->options->progress;
    if (progress == NULL || progress->report == NULL ||
        progress->report(progress->ctx, check->done, check->total) == 0)
        return WB_OK;
    return wb__fail(check->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_VERIFY_CANCELLED);
}

/* Counts NaN, infinite and invalid values in n units. Swaps big-endian bytes in place. */
static void count_odd(const wb__dtype *dtype, bool big_endian, uint8_t *units, size_t n,
                      wb__value_counts *counts)
{
    if (!is_worth_reading(dtype))
        return;
    if (big_endian)
        wb__dtype_swap(dtype, units, n);
    if (wb__dtype_is_plain(dtype))
        wb__dtype_count_odd(dtype, units, n * wb__dtype_unit(dtype), counts);
    else
        wb__block_count_odd(dtype, units, n, counts);
}

/* Adds a finding each for NaNs, infinities and invalid booleans, if *counts contains any. n is
 * the number of values or blocks that were examined. */
static wb_status note_counts(value_check *check, size_t tensor, const wb__value_counts *counts,
                             unsigned long long n)
{
    wb__context *context = check->context;
    const wb__catalog *catalog = &check->model->catalog;
    wb__str name = wb__table_name(&catalog->table, tensor);
    uint64_t offset = wb__catalog_offset_of(catalog, tensor);
    bool is_plain = wb__dtype_is_plain(wb__table_kind_of(&catalog->table, tensor)->dtype);
    wb_status status = WB_OK;
    if (counts->nan > 0)
        status = wb__note(context, WB_SEVERE, WB__FINDING_VALUES_NAN, offset, name,
                          is_plain ? WB__MSG_VERIFY_NAN : WB__MSG_VERIFY_NAN_SCALES,
                          (unsigned long long)counts->nan, n);
    if (status == WB_OK && counts->infinite > 0)
        status = wb__note(context, WB_SEVERE, WB__FINDING_VALUES_INFINITE, offset, name,
                          is_plain ? WB__MSG_VERIFY_INFINITE : WB__MSG_VERIFY_INFINITE_SCALES,
                          (unsigned long long)counts->infinite, n);
    if (status == WB_OK && counts->odd_bool > 0)
        status = wb__note(context, WB_INFO, WB__FINDING_VALUES_BOOL, offset, name,
                          WB__MSG_VERIFY_BOOLEANS, (unsigned long long)counts->odd_bool, n);
    return status;
}

static wb_status note_checksum(value_check *check, const wb__raw_bytes *stored)
{
    const wb__catalog *catalog = &check->model->catalog;
    return wb__note(check->context, WB_SEVERE, WB__FINDING_CHECKSUM, stored->at,
                    wb__table_name(&catalog->table, stored->tensor), WB__MSG_VERIFY_CHECKSUM);
}

/* Reads the first `left` bytes of a tensor and counts NaN, infinite and invalid values. */
static wb_status look_at(value_check *check, wb__raw_bytes *stored, uint64_t left,
                         wb__value_counts *counts)
{
    const wb__kind *kind = stored->kind;
    const wb__storing *storing = stored->storing;
    bool big_endian = wb__catalog_is_swapped(&check->model->catalog, stored->tensor);
    bool has_crc = storing != NULL && storing->has_crc && !storing->deflated;
    size_t unit = wb__dtype_unit_bytes(kind->dtype);
    size_t chunk = CHUNK_BYTES - CHUNK_BYTES % unit;
    uint32_t crc = has_crc ? storing->crc_before : 0;
    for (uint64_t at = 0; at < left;) {
        size_t n = left - at < chunk ? (size_t)(left - at) : chunk;
        wb_status status = wb__raw_bytes_read(stored, at, check->chunk, n);
        if (status != WB_OK)
            return status;
        if (has_crc)
            crc = wb__crc32_add(&check->crc32, crc, check->chunk, n);
        count_odd(kind->dtype, big_endian, check->chunk, n / unit, counts);
        at += n;
        check->done += n;
        status = report_progress(check);
        if (status != WB_OK)
            return status;
    }
    return has_crc && left == kind->bytes && crc != storing->crc ? note_checksum(check, stored)
                                                                 : WB_OK;
}

/* If `status` is a format error of one tensor, turns it into a finding and returns WB_OK, so that
 * the other tensors are checked. */
static wb_status as_finding(value_check *check, wb_status status)
{
    wb_error error = *check->context->error;
    if (status != WB_ERROR_FORMAT)
        return status;
    (void)wb__error_reset(check->context->error, check->context->error);
    return wb__findings_add_error(check->context->findings, &error, WB_SEVERE)
               ? WB_OK
               : wb__fail_memory(check->context);
}

static wb_status verify_tensor(value_check *check, size_t tensor)
{
    const wb__catalog *catalog = &check->model->catalog;
    const wb__kind *kind = wb__table_kind_of(&catalog->table, tensor);
    uint64_t left = kind->bytes;
    size_t unit = wb__dtype_unit_bytes(kind->dtype);
    wb__raw_bytes stored;
    wb__value_counts counts = {0, 0, 0};
    /*
     * A tensor that is larger than the rest of the budget is not read at all, so that counts refer
     * to whole tensors. But if it is the first tensor, a part of it is read.
     */
    if (left > check->budget && check->done > 0) {
        check->unread += left;
        return WB_OK;
    }
    if (left > check->budget) {
        check->unread += left - check->budget;
        left = check->budget - check->budget % unit;
    }
    uint64_t n_values =
        wb__dtype_is_plain(kind->dtype) ? wb__dtype_elements(kind->dtype, left) : left / unit;
    check->budget -= left;
    wb__raw_bytes_open(&stored, check->model, check->context, tensor);
    wb__raw_bytes_any_order(&stored);
    wb_status status = as_finding(check, look_at(check, &stored, left, &counts));
    wb__raw_bytes_close(&stored);
    if (status != WB_OK)
        return status;
    return note_counts(check, tensor, &counts, n_values);
}

static wb_status verify_values(value_check *check)
{
    const wb__catalog *catalog = &check->model->catalog;
    wb_status status = WB_OK;
    for (size_t file = 0; file < catalog->file_count && status == WB_OK; file++) {
        const wb__catalog_file *in = &catalog->files[file];
        check->context->file = in->path;
        for (size_t i = 0; i < in->tensor_count && status == WB_OK; i++)
            status = verify_tensor(check, in->first_tensor + i);
    }
    check->context->file = "";
    if (status == WB_OK && check->unread > 0)
        status = wb__note(check->context, WB_INFO, WB__FINDING_VALUES_UNREAD, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_VERIFY_NOT_READ, (unsigned long long)check->unread,
                          (unsigned long long)(check->unread + check->done));
    return status;
}

static bool is_unaligned(const wb__catalog *catalog, const wb__catalog_file *in, size_t tensor)
{
    const wb__dtype *dtype = wb__table_kind_of(&catalog->table, tensor)->dtype;
    uint32_t size = wb__dtype_is_plain(dtype) ? dtype->block_bits / 8 : 1;
    const wb__storing *storing = wb__catalog_storing_of(catalog, tensor);
    return size > 1 && (storing == NULL || !storing->deflated) &&
           (in->data_begin + wb__record_at(&catalog->table, tensor)->begin) % size != 0;
}

/* Adds one finding per model for tensors whose offset is not a multiple of their element size. */
static wb_status note_unaligned(wb__context *context, const wb__catalog *catalog)
{
    uint64_t count = 0;
    size_t first = 0;
    for (size_t file = 0; file < catalog->file_count; file++) {
        const wb__catalog_file *in = &catalog->files[file];
        for (size_t i = in->first_tensor; i < in->first_tensor + in->tensor_count; i++) {
            if (is_unaligned(catalog, in, i) && count++ == 0)
                first = i;
        }
    }
    if (count == 0)
        return WB_OK;
    context->file = catalog->files[wb__catalog_file_of(catalog, first)].path;
    wb_status status =
        wb__note(context, WB_INFO, WB__FINDING_ST_UNALIGNED, wb__catalog_offset_of(catalog, first),
                 wb__table_name(&catalog->table, first), WB__MSG_VERIFY_UNALIGNED,
                 (unsigned long long)count);
    context->file = "";
    return status;
}

static uint64_t all_bytes(const wb__catalog *catalog)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < catalog->table.count; i++)
        sum += wb__table_kind_of(&catalog->table, i)->bytes;
    return sum;
}

static uint64_t budget_of(const wb_verify_options *options)
{
    if (options->flags & WB_VERIFY_DEEP)
        return UINT64_MAX;
    return options->data_budget == 0 ? DEFAULT_BUDGET : options->data_budget;
}

wb_status wb__verify_refused(const wb_model *model, wb__context *context,
                             const wb_verify_options *options)
{
    size_t last = model->source_count - 1;
    const char *code = context->error->code;
    if (strcmp(code, wb__finding_code(WB__FINDING_OLLAMA_BLOB_SIZE)) == 0 ||
        strcmp(code, wb__finding_code(WB__FINDING_OLLAMA_BLOB_MISSING)) == 0)
        return WB_OK; /* the error itself says that the file is damaged */
    if (model->source_count == 0 || wb__source_bytes(model->sources[last]) > budget_of(options))
        return WB_OK;
    wb_error unused;
    wb__context ask = *context;
    ask.error = &unused;
    return wb__verify_digests(model, last, &ask);
}

wb_status wb__verify(const wb_model *model, wb__context *context, const wb_verify_options *options)
{
    const wb__catalog *catalog = &model->catalog;
    value_check check = {.model = model, .context = context, .options = options};
    wb_status status = wb__verify_journals(model, context);
    if (status == WB_OK)
        status = note_unaligned(context, catalog);
    for (size_t file = 0; file < catalog->file_count && status == WB_OK; file++)
        status = wb__verify_padding(model, context, file);
    if (status == WB_OK)
        status = wb__verify_texts(model, context);
    if (status == WB_OK)
        status = wb__verify_metadata(model, context);
    if (status == WB_OK)
        status = wb__verify_meaning(model, context);
    if (status != WB_OK)
        return status;
    check.budget = budget_of(options);
    check.total = all_bytes(catalog);
    if (check.total > check.budget)
        check.total = check.budget;
    wb__crc32_init(&check.crc32);
    check.chunk = wb__alloc(&context->allocator, CHUNK_BYTES);
    if (check.chunk == NULL)
        return wb__fail_memory(context);
    status = verify_values(&check);
    wb__free(&context->allocator, check.chunk, CHUNK_BYTES);
    if (status == WB_OK && check.unread == 0) /* the budget was sufficient for all tensors */
        status = wb__verify_digests(model, 0, context);
    return status;
}
