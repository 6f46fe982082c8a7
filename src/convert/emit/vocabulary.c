#include "convert/emit/vocabulary.h"

#include <math.h>
#include <stdlib.h>

#include "core/siphash.h"

#define MERGES_MAX ((size_t)1 << 26)

/* Maximum ratio of the text size of all merges to the text size of all tokens. A crafted file can
 * make every split of every token a merge. Each merge contains the text of the whole token, so the
 * merges of n tokens of n bytes have n³ bytes in total. Trained vocabularies have two or three
 * merges per token, which is far below this ratio. */
#define MERGES_RATIO 16
#define MERGES_SPARE ((size_t)64 << 10) /* bytes allowed in addition to this ratio */
/* Maximum text size of all merges, in bytes, equal to the maximum size of a sidecar file. */
#define MERGES_ROOM ((uint64_t)256 << 20)
/* Estimated number of bytes of JSON syntax (quotes and separators) per text. */
#define TEXT_EXTRA 8

static size_t slot_of(const wb__vocabulary *v, wb__str text)
{
    size_t slot = (size_t)wb__siphash(&v->key, text.ptr, text.len) & (v->slot_count - 1);
    while (v->slots[slot] != 0 && !wb__str_equal(wb__vocabulary_at(v, v->slots[slot] - 1), text))
        slot = (slot + 1) & (v->slot_count - 1);
    return slot;
}

uint32_t wb__vocabulary_find(const wb__vocabulary *v, wb__str text)
{
    uint32_t found = v->slot_count == 0 ? 0 : v->slots[slot_of(v, text)];
    return found == 0 ? UINT32_MAX : found - 1;
}

static bool enter_all(wb__vocabulary *v)
{
    size_t slots = 16;
    while (slots / 2 < v->count)
        slots *= 2;
    v->slots = wb__alloc_zeroed(&v->allocator, slots * sizeof *v->slots);
    if (v->slots == NULL)
        return false;
    v->slot_count = slots;
    v->key = wb__hash_key_draw();
    for (size_t i = 0; i < v->count; i++) {
        size_t slot = slot_of(v, wb__vocabulary_at(v, i));
        if (v->slots[slot] == 0)
            v->slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

static bool get_array(const wb_model *model, const char *key, wb_meta_array *array, uint64_t count)
{
    *array = (wb_meta_array){.size = sizeof *array};
    return wb_meta_get_array(model, key, SIZE_MAX, WB_META_ANY, array, NULL) == WB_OK &&
           array->count == count;
}

wb_status wb__vocabulary_read(wb__vocabulary *v, wb__context *context, const wb_model *model)
{
    wb_meta_array tokens = {.size = sizeof tokens}, numbers;
    *v = (wb__vocabulary){.allocator = context->allocator, .model = model};
    if (wb_meta_get_array(model, "tokenizer.ggml.tokens", SIZE_MAX, WB_META_STRING, &tokens,
                          NULL) != WB_OK ||
        tokens.count == 0 || tokens.count >= UINT32_MAX)
        return WB_OK;
    v->count = (size_t)tokens.count;
    v->texts = wb__alloc(&v->allocator, v->count * sizeof *v->texts);
    v->lens = wb__alloc(&v->allocator, v->count * sizeof *v->lens);
    if (v->texts == NULL || v->lens == NULL ||
        wb_meta_strings(&tokens, 0, tokens.count, v->texts, v->lens) != WB_OK || !enter_all(v))
        return wb__fail_memory(context);
    if (get_array(model, "tokenizer.ggml.token_type", &numbers, tokens.count)) {
        v->types = wb__alloc(&v->allocator, v->count * sizeof *v->types);
        if (v->types == NULL)
            return wb__fail_memory(context);
        if (wb_meta_ints(&numbers, 0, numbers.count, v->types) != WB_OK)
            memset(v->types, 0, v->count * sizeof *v->types);
    }
    if (get_array(model, "tokenizer.ggml.scores", &numbers, tokens.count)) {
        v->scores = wb__alloc(&v->allocator, v->count * sizeof *v->scores);
        if (v->scores == NULL)
            return wb__fail_memory(context);
        if (wb_meta_floats(&numbers, 0, numbers.count, v->scores) != WB_OK)
            memset(v->scores, 0, v->count * sizeof *v->scores);
    }
    return WB_OK;
}

void wb__vocabulary_free(wb__vocabulary *v)
{
    wb__free(&v->allocator, v->texts, v->count * sizeof *v->texts);
    wb__free(&v->allocator, v->lens, v->count * sizeof *v->lens);
    wb__free(&v->allocator, v->types, v->count * sizeof *v->types);
    wb__free(&v->allocator, v->scores, v->count * sizeof *v->scores);
    wb__free(&v->allocator, v->slots, v->slot_count * sizeof *v->slots);
}

/* ---- merges ---- */

/* Compares scores so that high scores come first and NaN comes last. */
static int compare_scores(float x, float y)
{
    if (isnan(x) || isnan(y))
        return (int)(isnan(x) != 0) - (int)(isnan(y) != 0);
    return (x < y) - (x > y);
}

static int by_score(const void *a, const void *b)
{
    const wb__merge *x = a, *y = b;
    int order = compare_scores(x->score, y->score);
    if (order != 0)
        return order;
    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    return (x->right > y->right) - (x->right < y->right);
}

/* Returns the maximum text size of all merges for this vocabulary, in bytes. */
static uint64_t room_of(const wb__vocabulary *v)
{
    uint64_t bytes = MERGES_SPARE / MERGES_RATIO;
    for (size_t i = 0; i < v->count; i++)
        bytes += v->lens[i] + TEXT_EXTRA; /* cannot overflow, because all texts are in memory */
    return bytes < MERGES_ROOM / MERGES_RATIO ? bytes * MERGES_RATIO : MERGES_ROOM;
}

/* Returns true if a token can be part of a merge. Such a token has the type `normal`. Added
 * tokens and byte tokens have other types. */
static bool is_piece(const wb__vocabulary *v, uint32_t i)
{
    return i != UINT32_MAX && wb__vocabulary_type(v, i) == 1;
}

/* Adds a merge for each position at which token i splits into two other tokens. Subtracts the
 * size of each merge from *room, and sets merges->too_many if *room is too small. */
static bool add_cuts(const wb__vocabulary *v, size_t i, wb__merges *merges, uint64_t *room)
{
    wb__str text = wb__vocabulary_at(v, i);
    for (size_t cut = 1; cut < text.len && text.len < 512 && !merges->too_many; cut++) {
        if (wb__utf8_is_continuation((unsigned char)text.ptr[cut]))
            continue;
        uint32_t left = wb__vocabulary_find(v, (wb__str){text.ptr, cut});
        if (!is_piece(v, left))
            continue;
        uint32_t right = wb__vocabulary_find(v, (wb__str){text.ptr + cut, text.len - cut});
        if (!is_piece(v, right))
            continue;
        merges->too_many = *room < text.len + TEXT_EXTRA;
        *room -= merges->too_many ? 0 : text.len + TEXT_EXTRA;
        if (!wb__grow(&v->allocator, (void **)&merges->list, &merges->capacity,
                      sizeof *merges->list, merges->count + 1, MERGES_MAX))
            return false;
        merges->list[merges->count++] =
            (wb__merge){left, right, v->scores == NULL ? 0.0f : (float)v->scores[i]};
    }
    return true;
}

wb_status wb__vocabulary_merges(const wb__vocabulary *v, wb__context *context, wb__merges *merges)
{
    uint64_t room = room_of(v);
    *merges = (wb__merges){.list = NULL};
    for (size_t i = 0; i < v->count && !merges->too_many; i++) {
        bool named = is_piece(v, (uint32_t)i) &&
                     wb__vocabulary_find(v, wb__vocabulary_at(v, i)) == (uint32_t)i;
        if (named && !add_cuts(v, i, merges, &room))
            return wb__fail_memory(context);
    }
    if (merges->too_many)
        merges->count = 0;
    if (merges->count > 0)
        qsort(merges->list, merges->count, sizeof *merges->list, by_score);
    return WB_OK;
}

void wb__merges_free(const wb__vocabulary *v, wb__merges *merges)
{
    wb__free(&v->allocator, merges->list, merges->capacity * sizeof *merges->list);
    *merges = (wb__merges){.list = NULL};
}
