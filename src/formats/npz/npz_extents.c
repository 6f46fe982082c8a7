/*
 * Checks that members do not overlap. Members that share bytes allow a small archive to unpack to a
 * huge size (David Fifield, "A better zip bomb", 2019), and two programs may find different members
 * in such an archive.
 */
#include "formats/formats_messages.h"
#include "formats/npz/npz.h"

/* Restores the heap order (largest start offset first) by moving item `i` of n down. */
static void sift(wb__npz_extent *heap, size_t i, size_t n)
{
    for (;;) {
        size_t latest = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++) {
            if (heap[child].begin > heap[latest].begin)
                latest = child;
        }
        if (latest == i)
            return;
        wb__npz_extent moved = heap[i];
        heap[i] = heap[latest];
        heap[latest] = moved;
        i = latest;
    }
}

/* Sorts by start offset. Returns at once if the extents are sorted already, which is usual.
 * Otherwise uses heap sort. */
static void sort(wb__npz_extent *extents, size_t n)
{
    size_t ordered = 1;
    while (ordered < n && extents[ordered].begin >= extents[ordered - 1].begin)
        ordered++;
    if (ordered >= n)
        return;
    for (size_t i = n / 2; i-- > 0;)
        sift(extents, i, n);
    for (size_t left = n - 1; left > 0; left--) {
        wb__npz_extent last = extents[0];
        extents[0] = extents[left];
        extents[left] = last;
        sift(extents, 0, left);
    }
}

wb_status wb__npz_check_extents(wb__npz *npz)
{
    size_t n = (size_t)npz->count;
    uint64_t end = 0, between = 0, first = 0;
    sort(npz->extents, n);
    for (size_t i = 0; i <= n; i++) {
        uint64_t begin = i < n ? npz->extents[i].begin : npz->directory_at;
        if (begin < end)
            return wb__npz_fail(npz, WB__FINDING_NPZ_OVERLAP,
                                npz->extents[i < n ? i : n - 1].entry_at, WB__STR(""),
                                WB__MSG_NPZ_OVERLAP);
        if (begin > end && between == 0)
            first = end;
        between += begin - end;
        if (i < n)
            end = npz->extents[i].end;
    }
    if (between == 0)
        return WB_OK;
    return wb__note(npz->context, WB_WARNING, WB__FINDING_NPZ_GAP, first, WB__STR(""),
                    WB__MSG_NPZ_GAP, (unsigned long long)between);
}
