#include "arch/string_arrays.h"

static bool grow(wb__strings *strings, size_t n)
{
    const size_t ceiling = UINT32_MAX; /* largest offset that `marks` can store */
    if (n > ceiling - 2 * WB__STRINGS_HEAD - strings->used)
        return false;
    if (strings->count % WB__STRINGS_STEP == 0 &&
        !wb__grow(&strings->allocator, (void **)&strings->marks, &strings->mark_capacity,
                  sizeof *strings->marks, (size_t)strings->count / WB__STRINGS_STEP + 1, SIZE_MAX))
        return false;
    return wb__grow(&strings->allocator, (void **)&strings->bytes, &strings->capacity, 1,
                    strings->used + n + 2 * WB__STRINGS_HEAD, ceiling);
}

bool wb__strings_reserve(wb__strings *strings, size_t bytes, size_t count)
{
    uint64_t all;
    if (!wb__mul(count, WB__STRINGS_HEAD, &all) || !wb__add(all, bytes, &all) ||
        !wb__add(all, strings->used + 2 * WB__STRINGS_HEAD, &all) || all > UINT32_MAX)
        return true; /* reserving is only a hint; wb__strings_append fails when the limit is
                      * reached */
    return wb__grow(&strings->allocator, (void **)&strings->bytes, &strings->capacity, 1,
                    (size_t)all, UINT32_MAX) &&
           wb__grow(&strings->allocator, (void **)&strings->marks, &strings->mark_capacity,
                    sizeof *strings->marks, ((size_t)strings->count + count) / WB__STRINGS_STEP + 1,
                    SIZE_MAX);
}

char *wb__strings_append(wb__strings *strings, size_t n)
{
    /*
     * The required space includes the string, its length field, and 8 final zero bytes, which the
     * next length field overwrites.
     */
    if ((strings->count % WB__STRINGS_STEP == 0 ||
         strings->capacity - strings->used < n + 2 * WB__STRINGS_HEAD ||
         n > UINT32_MAX - 2 * WB__STRINGS_HEAD) &&
        !grow(strings, n))
        return NULL;
    if (strings->count % WB__STRINGS_STEP == 0)
        strings->marks[strings->count / WB__STRINGS_STEP] = (uint32_t)strings->used;
    char *head = strings->bytes + strings->used;
    wb__store_le64(head, (uint64_t)n << 8);
    strings->used += WB__STRINGS_HEAD + n;
    strings->count++;
    wb__store_le64(strings->bytes + strings->used, 0);
    return head + WB__STRINGS_HEAD;
}

wb__str wb__strings_at(const wb__strings *strings, uint64_t i)
{
    wb__str text =
        wb__strings_from(strings->bytes + strings->marks[i / WB__STRINGS_STEP] + WB__STRINGS_HEAD);
    for (uint64_t step = i % WB__STRINGS_STEP; step > 0; step--)
        text = wb__strings_after(text);
    return text;
}

void wb__strings_cut(wb__strings *strings, uint64_t count)
{
    if (count >= strings->count)
        return;
    wb__str first = wb__strings_at(strings, count);
    strings->used = (size_t)(first.ptr - strings->bytes) - WB__STRINGS_HEAD;
    strings->count = count;
    wb__store_le64(strings->bytes + strings->used, 0);
}

void wb__strings_free(wb__strings *strings)
{
    wb__free(&strings->allocator, strings->bytes, strings->capacity);
    wb__free(&strings->allocator, strings->marks, strings->mark_capacity * sizeof *strings->marks);
    strings->bytes = NULL;
    strings->marks = NULL;
    strings->capacity = strings->mark_capacity = 0;
    strings->used = 0;
    strings->count = 0;
}
