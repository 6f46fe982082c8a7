/*
 * Parses the header token by token. This parser defines which headers are accepted (rules 4 to 7 in
 * docs/format/safetensors.md).
 *
 * The official library checks that the whole header is UTF-8 before it parses JSON. This parser
 * checks UTF-8 while parsing. To report the same error, it searches the rest of the header for
 * invalid UTF-8 after any other error.
 */
#include "formats/formats_messages.h"
#include "formats/safetensors/safetensors_reader.h"

static wb__str no_name(void)
{
    return WB__STR("");
}

/* ---- failures ---- */

/* Returns the offset of the first invalid UTF-8 after the cursor; WB_NO_OFFSET if there is none. */
static uint64_t find_bad_utf8(wb__cursor *cursor)
{
    for (;;) {
        size_t at_hand = wb__cursor_at_hand(cursor);
        size_t valid = wb__utf8_valid_prefix(cursor->p, at_hand);
        cursor->p += valid;
        /* The rest may be the start of a valid sequence that continues after the buffer. */
        size_t left = at_hand - valid;
        if (left >= 4)
            return wb__cursor_at(cursor);
        if (wb__cursor_left(cursor) == left)
            return left == 0 ? WB_NO_OFFSET : wb__cursor_at(cursor);
        if (!wb__cursor_want(cursor, left + 1))
            return WB_NO_OFFSET;
    }
}

static wb_status fail_utf8(wb__st_reader *reader, uint64_t at)
{
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_UTF8, at, no_name(),
                    WB__MSG_ST_UTF8);
}

/* Replaces an error by a UTF-8 error if the rest of the header has invalid UTF-8. */
static wb_status or_bad_utf8(wb__st_reader *reader, wb_status status)
{
    if (status != WB_ERROR_FORMAT)
        return status;
    uint64_t at = find_bad_utf8(reader->cursor);
    return at == WB_NO_OFFSET ? status : fail_utf8(reader, at);
}

/* Reports the error that the JSON parser stopped with. */
static wb_status fail_json(wb__st_reader *reader)
{
    const wb__json *json = &reader->json;
    switch (json->fault) {
    case WB__JSON_FAULT_MEMORY: return wb__fail_memory(reader->context);
    /* the read error was already reported */
    case WB__JSON_FAULT_READ: return reader->context->error->status;
    case WB__JSON_FAULT_UTF8: return fail_utf8(reader, json->at);
    default: break;
    }
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_JSON, json->at, no_name(),
                    "%s", wb__json_fault_text(json->fault));
}

/* Reports valid JSON that the format does not permit here. `what` completes "expected …". */
static wb_status fail_expected(wb__st_reader *reader, wb__str name, const char *what)
{
    if (reader->json.token == WB__JSON_FAULT)
        return fail_json(reader);
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_ENTRY, reader->json.at, name,
                    "expected %s", what);
}

/* ---- one tensor ---- */

enum field { FIELD_DTYPE = 1, FIELD_SHAPE = 2, FIELD_OFFSETS = 4, FIELDS_ALL = 7 };

typedef struct tensor_entry {
    wb__str name;
    uint32_t where;
    const wb__dtype *dtype;
    uint32_t rank;
    uint64_t begin, end;
} tensor_entry;

static wb_status name_dtype(wb__st_reader *reader, tensor_entry *entry)
{
    entry->dtype = wb__st_dtype(reader->json.text);
    if (entry->dtype != NULL)
        return WB_OK;
    char shown[48];
    wb__printable(shown, sizeof shown, reader->json.text);
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_DTYPE, reader->json.at,
                    entry->name, WB__MSG_ST_UNKNOWN_DTYPE, shown);
}

/*
 * Parses the value of "dtype": a string or, in compatible mode, {string: null}, which the official
 * library accepts.
 */
static wb_status read_dtype(wb__st_reader *reader, tensor_entry *entry)
{
    wb__json *json = &reader->json;
    if (wb__json_next(json) == WB__JSON_STRING)
        return name_dtype(reader, entry);
    if (json->token != WB__JSON_OBJECT)
        return fail_expected(reader, entry->name, "the dtype as a string");
    wb_status status = wb__deviation(reader->context, WB__FINDING_ST_SPELLING, json->at,
                                     entry->name, WB__MSG_ST_DTYPE_OBJECT);
    if (status != WB_OK)
        return status;
    if (wb__json_next(json) != WB__JSON_KEY)
        return fail_expected(reader, entry->name, "the dtype");
    status = name_dtype(reader, entry);
    if (status != WB_OK)
        return status;
    if (wb__json_next(json) != WB__JSON_NULL)
        return fail_expected(reader, entry->name,
                             "null as the value in the dtype object, as in {\"F32\": null}");
    if (wb__json_next(json) != WB__JSON_OBJECT_END)
        return fail_expected(reader, entry->name, "a single dtype");
    return WB_OK;
}

static wb_status read_shape(wb__st_reader *reader, tensor_entry *entry)
{
    wb__json *json = &reader->json;
    uint64_t ceiling = reader->context->limits.rank;
    if (ceiling > UINT32_MAX)
        ceiling = UINT32_MAX;
    if (wb__json_next(json) != WB__JSON_ARRAY)
        return fail_expected(reader, entry->name, "the shape as an array");
    entry->rank = 0;
    while (wb__json_next(json) == WB__JSON_UINT) {
        if (entry->rank >= ceiling)
            return wb__fail(reader->context, WB_ERROR_LIMIT, WB__FINDING_RANK_LIMIT, json->at,
                            entry->name, WB__MSG_ST_RANK, (unsigned long long)ceiling);
        if (!wb__grow(&reader->context->allocator, (void **)&reader->shape, &reader->shape_capacity,
                      sizeof *reader->shape, (size_t)entry->rank + 1, UINT32_MAX))
            return wb__fail_memory(reader->context);
        reader->shape[entry->rank++] = json->uint;
    }
    if (json->token != WB__JSON_ARRAY_END)
        return fail_expected(reader, entry->name, "a dimension, an integer from 0 to 2^64 - 1");
    return WB_OK;
}

static wb_status read_offsets(wb__st_reader *reader, tensor_entry *entry)
{
    static const char what[] = "data_offsets as an array of two integers from 0 to 2^64 - 1";
    wb__json *json = &reader->json;
    if (wb__json_next(json) != WB__JSON_ARRAY || wb__json_next(json) != WB__JSON_UINT)
        return fail_expected(reader, entry->name, what);
    entry->begin = json->uint;
    if (wb__json_next(json) != WB__JSON_UINT)
        return fail_expected(reader, entry->name, what);
    entry->end = json->uint;
    if (wb__json_next(json) != WB__JSON_ARRAY_END)
        return fail_expected(reader, entry->name, what);
    return WB_OK;
}

static const struct field_row {
    enum field field;
    wb__str name;
    wb_status (*read)(wb__st_reader *reader, tensor_entry *entry);
} fields[] = {
    {FIELD_DTYPE, {"dtype", 5}, read_dtype},
    {FIELD_SHAPE, {"shape", 5}, read_shape},
    {FIELD_OFFSETS, {"data_offsets", 12}, read_offsets},
};

/*
 * Skips an unknown field. A repeated field is reported because parsers may interpret it
 * differently.
 */
static wb_status skip_field(wb__st_reader *reader, const tensor_entry *entry)
{
    wb__json *json = &reader->json;
    bool repeated;
    uint64_t at = json->at;
    if (!wb__key_set_add(&reader->fields, reader->entry, json->text, &repeated))
        return wb__fail_memory(reader->context);
    if (repeated) {
        wb_status status = wb__deviation(reader->context, WB__FINDING_ST_DUPLICATE, at, entry->name,
                                         WB__MSG_ST_UNKNOWN_FIELD_TWICE);
        if (status != WB_OK)
            return status;
    }
    return wb__json_skip(json) ? WB_OK : fail_json(reader);
}

static wb_status read_entry_object(wb__st_reader *reader, tensor_entry *entry)
{
    wb__json *json = &reader->json;
    unsigned seen = 0;
    reader->entry++;
    while (wb__json_next(json) == WB__JSON_KEY) {
        const struct field_row *row = fields;
        while (row < fields + 3 && !wb__str_equal(row->name, json->text))
            row++;
        wb_status status;
        if (row == fields + 3) {
            status = skip_field(reader, entry);
        } else if (seen & row->field) {
            status = wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_ENTRY, json->at,
                              entry->name, WB__MSG_ST_FIELD_TWICE, row->name.ptr);
        } else {
            seen |= row->field;
            status = row->read(reader, entry);
        }
        if (status != WB_OK)
            return status;
    }
    if (json->token != WB__JSON_OBJECT_END)
        return fail_json(reader);
    for (const struct field_row *row = fields; row < fields + 3; row++) {
        if (!(seen & row->field))
            return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_ENTRY, json->at,
                            entry->name, WB__MSG_ST_FIELD_MISSING, row->name.ptr);
    }
    return WB_OK;
}

/* Parses [dtype, shape, data_offsets], a notation that the official library's parser accepts. */
static wb_status read_entry_array(wb__st_reader *reader, tensor_entry *entry)
{
    wb__json *json = &reader->json;
    wb_status status = wb__deviation(reader->context, WB__FINDING_ST_SPELLING, json->at,
                                     entry->name, WB__MSG_ST_ENTRY_ARRAY);
    for (const struct field_row *row = fields; row < fields + 3 && status == WB_OK; row++)
        status = row->read(reader, entry);
    if (status != WB_OK)
        return status;
    if (wb__json_next(json) != WB__JSON_ARRAY_END)
        return fail_expected(reader, entry->name, "no element after dtype, shape and data_offsets");
    return WB_OK;
}

/*
 * Reserves more memory if necessary. The initial reservation assumes that all entries are JSON
 * objects. Entries may also be arrays in compatible mode. Arrays are shorter, so the header can
 * contain more entries. The fast parser requires space for as many minimum-length entries as the
 * rest of the header can contain.
 */
static wb_status make_room(wb__st_reader *reader)
{
    const wb__table *table = reader->table;
    uint64_t left = wb__cursor_left(reader->cursor);
    if (table->capacity - table->count > left / WB__ST_ENTRY_MIN)
        return WB_OK;
    return wb__table_reserve(reader->table, reader->context, left + 1,
                             left / WB__ST_ENTRY_MIN_COMPATIBLE + 1);
}

static wb_status add_tensor(wb__st_reader *reader, const tensor_entry *entry)
{
    wb__kind kind = {.shape = reader->shape, .dtype = entry->dtype, .rank = entry->rank};
    uint32_t number;
    wb__kind_measure(&kind);
    if (kind.fault == WB__KIND_SOUND &&
        (entry->end < entry->begin || entry->end - entry->begin != kind.bytes))
        kind.fault = WB__KIND_SIZE;
    if (kind.fault != WB__KIND_SOUND)
        kind.bytes = entry->end - entry->begin;
    if (!wb__table_kind(reader->table, &kind, &number))
        return wb__fail_memory(reader->context);
    wb__table_add(reader->table, entry->name, number, entry->begin, entry->where);
    reader->irregular |= entry->begin != reader->expected || kind.fault != WB__KIND_SOUND;
    reader->expected = entry->end;
    return make_room(reader);
}

/*
 * Copies the current key to its final position in the table, after the existing names. The reserved
 * space is sufficient: a name is not longer than its text in the header, and its NUL is shorter
 * than two quotes.
 */
static wb__str keep_key(wb__st_reader *reader)
{
    wb__str key = reader->json.text;
    char *copy = reader->table->names + reader->table->names_used;
    memcpy(copy, key.ptr, key.len);
    return (wb__str){copy, key.len};
}

static wb_status read_entry(wb__st_reader *reader)
{
    wb__json *json = &reader->json;
    tensor_entry entry = {.name = keep_key(reader),
                          .where = (uint32_t)(json->at - WB__ST_LENGTH_BYTES)};
    wb_status status;
    switch (wb__json_next(json)) {
    case WB__JSON_OBJECT: status = read_entry_object(reader, &entry); break;
    case WB__JSON_ARRAY: status = read_entry_array(reader, &entry); break;
    default: status = fail_expected(reader, entry.name, "the tensor's entry as an object"); break;
    }
    return status != WB_OK ? status : add_tensor(reader, &entry);
}

/* ---- metadata ---- */

static wb_status read_metadata_string(wb__st_reader *reader)
{
    wb__json *json = &reader->json;
    uint64_t at = json->at;
    wb__str key = keep_key(reader);
    bool repeated;
    if (wb__json_next(json) != WB__JSON_STRING)
        return fail_expected(reader, key, "a string, because all metadata values are strings");
    wb_status status =
        wb__catalog_add_string(reader->model, reader->context, key, json->text, &repeated);
    if (status == WB_OK && repeated)
        status = wb__deviation(reader->context, WB__FINDING_ST_DUPLICATE, at, key,
                               WB__MSG_ST_META_KEY_TWICE);
    return status;
}

static wb_status read_metadata(wb__st_reader *reader)
{
    static const wb__str name = {"__metadata__", 12};
    wb__json *json = &reader->json;
    if (reader->has_metadata)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_ENTRY, json->at, name,
                        WB__MSG_ST_META_TWICE);
    reader->has_metadata = true;
    if (wb__json_next(json) == WB__JSON_NULL)
        return wb__note(reader->context, WB_INFO, WB__FINDING_ST_METADATA_NULL, json->at, name,
                        WB__MSG_ST_META_NULL);
    if (json->token != WB__JSON_OBJECT)
        return fail_expected(reader, name, "__metadata__ as an object of strings");
    while (wb__json_next(json) == WB__JSON_KEY) {
        wb_status status = read_metadata_string(reader);
        if (status != WB_OK)
            return status;
    }
    return json->token == WB__JSON_OBJECT_END ? WB_OK : fail_json(reader);
}

/* ---- the whole header ---- */

static wb_status read_members(wb__st_reader *reader)
{
    static const wb__str metadata = {"__metadata__", 12};
    wb__json *json = &reader->json;
    for (;;) {
        if (reader->fast != NULL)
            wb__st_take_fast(reader);
        if (wb__json_next(json) != WB__JSON_KEY)
            break;
        wb_status status =
            wb__str_equal(json->text, metadata) ? read_metadata(reader) : read_entry(reader);
        if (status != WB_OK)
            return status;
    }
    return json->token == WB__JSON_OBJECT_END ? WB_OK : fail_json(reader);
}

/* Skips spaces; other white space is accepted only in compatible mode. */
static wb_status skip_padding(wb__st_reader *reader, const char *where)
{
    wb__cursor *cursor = reader->cursor;
    bool noted = false;
    for (;;) {
        int c = wb__cursor_peek(cursor);
        if (c == '\n' || c == '\r' || c == '\t') {
            if (!noted) {
                wb_status status =
                    wb__deviation(reader->context, WB__FINDING_ST_SPELLING, wb__cursor_at(cursor),
                                  no_name(), WB__MSG_ST_WHITE_SPACE, where);
                if (status != WB_OK)
                    return status;
            }
            noted = true;
        } else if (c != ' ') {
            return cursor->failed ? reader->context->error->status : WB_OK;
        }
        cursor->p++;
    }
}

static wb_status read_padding(wb__st_reader *reader)
{
    wb__cursor *cursor = reader->cursor;
    wb_status status = skip_padding(reader, "after");
    if (status != WB_OK || wb__cursor_left(cursor) == 0)
        return status;
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_JSON, wb__cursor_at(cursor),
                    no_name(), WB__MSG_ST_AFTER_OBJECT);
}

static wb_status read_root(wb__st_reader *reader)
{
    wb__json *json = &reader->json;
    if (wb__cursor_peek(reader->cursor) != '{') {
        uint64_t at = wb__cursor_at(reader->cursor);
        if (wb__json_next(json) != WB__JSON_OBJECT)
            return fail_expected(reader, no_name(), "the header as a JSON object");
        wb_status status = wb__deviation(reader->context, WB__FINDING_ST_SPELLING, at, no_name(),
                                         WB__MSG_ST_NO_BRACE);
        if (status != WB_OK)
            return status;
    } else {
        (void)wb__json_next(json);
    }
    wb_status status = read_members(reader);
    return status != WB_OK ? status : read_padding(reader);
}

wb_status wb__st_decode(wb__st_reader *reader)
{
    wb__json_start(&reader->json, reader->cursor, &reader->context->allocator);
    wb_status status = or_bad_utf8(reader, read_root(reader));
    wb__json_stop(&reader->json);
    return status;
}
