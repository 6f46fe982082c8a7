#include "model/metadata.h"

#include "model/catalog.h"
#include "model/model_messages.h"
#include "weighbridge/metadata.h"

/* ---- single entries ---- */

const uint8_t *wb__meta_base(const wb__catalog *model, const wb__meta *meta)
{
    return model->files[meta->file].header;
}

wb__str wb__meta_key(const wb__catalog *model, const wb__meta *meta)
{
    if (meta->in_header)
        return (wb__str){(const char *)wb__meta_base(model, meta) + meta->key.at, meta->key_len};
    return (wb__str){meta->key.ptr, meta->key_len};
}

wb__str wb__meta_text(const wb__catalog *model, const wb__meta *meta)
{
    wb__str key = wb__meta_key(model, meta);
    size_t gap = meta->in_header ? WB__META_GAP_IN_HEADER : WB__META_GAP;
    return (wb__str){key.ptr + key.len + gap, (size_t)meta->value.len};
}

wb__str wb__array_string(const wb__array *array, const uint8_t *base, uint64_t i)
{
    const char *head = (const char *)base + array->of.marks[i / WB__STRING_STEP];
    wb__str string = {head + WB__STRING_HEAD, (size_t)(wb__load_le64(head) >> 8)};
    for (uint64_t step = i % WB__STRING_STEP; step > 0; step--)
        string = wb__array_next_string(string);
    return string;
}

static bool same_strings(const wb__array *a, const uint8_t *a_base, const wb__array *b,
                         const uint8_t *b_base)
{
    if (a->count == 0)
        return true;
    wb__str x = wb__array_string(a, a_base, 0), y = wb__array_string(b, b_base, 0);
    for (uint64_t i = 0;;) {
        if (!wb__str_equal(x, y))
            return false;
        if (++i == a->count)
            return true;
        x = wb__array_next_string(x);
        y = wb__array_next_string(y);
    }
}

/* Arrays of arrays always compare as different; files of one set do not repeat them in practice. */
static bool same_array(const wb__array *a, const uint8_t *a_base, const wb__array *b,
                       const uint8_t *b_base)
{
    if (a->element != b->element || a->bits != b->bits || a->count != b->count)
        return false;
    if (a->element == WB_META_STRING)
        return same_strings(a, a_base, b, b_base);
    return a->element != WB_META_ARRAY &&
           memcmp(a_base + a->at, b_base + b->at, (size_t)a->count * a->bits / 8) == 0;
}

static bool same_value(const wb__catalog *model, const wb__meta *a, const wb__meta *b)
{
    if (a->type != b->type || a->bits != b->bits)
        return false;
    if (a->type == WB_META_STRING)
        return wb__str_equal(wb__meta_text(model, a), wb__meta_text(model, b));
    if (a->type == WB_META_ARRAY)
        return same_array(a->value.array, wb__meta_base(model, a), b->value.array,
                          wb__meta_base(model, b));
    return a->value.number == b->value.number;
}

/* ---- the set of entries ---- */

static uint32_t hash_key(const wb__catalog *model, wb__str key)
{
    return model->table.hasher.hash(&model->table.hasher, key.ptr, key.len);
}

/*
 * Returns the slot of the entry with the key, or the free slot for it. The table must not be empty.
 */
static size_t slot_for(const wb__catalog *model, wb__str key, uint32_t hash)
{
    size_t mask = model->meta_slot_count - 1;
    size_t slot = hash & mask;
    for (; model->meta_slots[slot] != 0; slot = (slot + 1) & mask) {
        const wb__meta *meta = wb__list_at(&model->metas, model->meta_slots[slot] - 1);
        if (meta->hash == hash && wb__str_equal(wb__meta_key(model, meta), key))
            break;
    }
    return slot;
}

static bool enlarge_slots(wb__catalog *model)
{
    size_t count = model->meta_slot_count == 0 ? 8 : model->meta_slot_count * 2;
    uint32_t *slots = wb__alloc_zeroed(&model->allocator, count * sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < model->metas.count; i++) {
        const wb__meta *meta = wb__list_at(&model->metas, i);
        size_t slot = meta->hash & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    wb__free(&model->allocator, model->meta_slots,
             model->meta_slot_count * sizeof *model->meta_slots);
    model->meta_slots = slots;
    model->meta_slot_count = count;
    return true;
}

static wb_status note_conflict(const wb__catalog *model, wb__context *context,
                               const wb__meta *first, const wb__meta *second)
{
    if (same_value(model, first, second))
        return WB_OK;
    return wb__note(context, WB_INFO, WB__FINDING_METADATA_CONFLICT, wb__meta_where(second),
                    wb__meta_key(model, second), WB__MSG_MODEL_META_CONFLICT,
                    model->files[first->file].path);
}

/*
 * Returns the mark of the current file. An entry stores in `seen` the mark of the last file that
 * contained its key. A mark has one byte and repeats after 255 files, so `seen` of all entries is
 * reset before the marks repeat.
 */
#define SEEN_PERIOD 255

static uint8_t seen_mark(wb__catalog *model)
{
    size_t file = model->file_count - 1;
    if (file % SEEN_PERIOD == 0 && model->metas_forgot != file) {
        for (size_t i = 0; i < model->metas.count; i++) {
            wb__meta *meta = wb__list_at(&model->metas, i);
            meta->seen = 0;
        }
        model->metas_forgot = file;
    }
    return (uint8_t)(1 + file % SEEN_PERIOD);
}

wb_status wb__catalog_add_meta(wb__catalog *model, wb__context *context, const wb__meta *entry,
                               bool of_file, bool *repeated)
{
    wb__meta added = *entry;
    added.file = (uint32_t)(model->file_count - 1);
    added.seen = seen_mark(model);
    wb__str key = wb__meta_key(model, &added);
    added.hash = hash_key(model, key);
    *repeated = false;
    if (model->metas.count >= UINT32_MAX - 1)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_HEADERS_LIMIT, WB_NO_OFFSET, key,
                        WB__MSG_MODEL_META_COUNT);
    if (model->meta_slot_count / 4 * 3 <= model->metas.count && !enlarge_slots(model))
        return wb__fail_memory(context);
    size_t slot = slot_for(model, key, added.hash);
    if (model->meta_slots[slot] != 0) {
        wb__meta *known = wb__list_at(&model->metas, model->meta_slots[slot] - 1);
        *repeated = known->seen == added.seen;
        known->seen = added.seen;
        if (known->file == added.file)
            *known = added;
        else if (!*repeated && !of_file)
            return note_conflict(model, context, known, &added);
        return WB_OK;
    }
    wb__meta *meta = wb__list_append(&model->metas);
    if (meta == NULL)
        return wb__fail_memory(context);
    model->meta_slots[slot] = (uint32_t)model->metas.count;
    *meta = added;
    return WB_OK;
}

wb_status wb__catalog_add_string(wb__catalog *model, wb__context *context, wb__str key,
                                 wb__str value, bool *repeated)
{
    *repeated = false;
    if (model->take_string != NULL &&
        model->take_string(model->take_ctx, model->file_count - 1, key, value))
        return WB_OK;
    if (key.len > UINT32_MAX || value.len > UINT32_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_HEADERS_LIMIT, WB_NO_OFFSET, key,
                        WB__MSG_MODEL_META_SIZE);
    char *text = wb__arena_text(&model->arena, key.len + value.len + 2);
    if (text == NULL)
        return wb__fail_memory(context);
    memcpy(text, key.ptr, key.len);
    text[key.len] = '\0';
    memcpy(text + key.len + 1, value.ptr, value.len);
    text[key.len + 1 + value.len] = '\0';
    wb__meta entry = {.type = WB_META_STRING,
                      .key.ptr = text,
                      .value.len = value.len,
                      .key_len = (uint32_t)key.len};
    return wb__catalog_add_meta(model, context, &entry, false, repeated);
}

uint32_t wb__catalog_find_entry(const wb__catalog *model, wb__str key)
{
    if (model->metas.count == 0)
        return WB__NO_META;
    /* A free slot holds 0, and 0 - 1 is WB__NO_META. */
    return model->meta_slots[slot_for(model, key, hash_key(model, key))] - 1;
}

const wb__meta *wb__catalog_find_meta(const wb__catalog *model, wb__str key)
{
    uint32_t entry = wb__catalog_find_entry(model, key);
    return entry == WB__NO_META ? NULL : wb__list_at(&model->metas, entry);
}
