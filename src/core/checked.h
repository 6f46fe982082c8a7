/*
 * core/checked.h: checked arithmetic on numbers read from files. All additions, multiplications,
 * alignments and range checks of such numbers go through these functions.
 *
 * Every function returns true and stores the exact result, or returns false and stores nothing. No
 * function wraps, so a product that overflows cannot appear as a small number, zero or a negative
 * number. All operands are uint64_t on every machine; wb__to_size converts a number to size_t where
 * memory is addressed.
 *
 * scripts/prove.sh proves the ACSL contracts for all operands. Numbers in the contracts are
 * mathematical integers, which do not wrap.
 */
#ifndef WB_CORE_CHECKED_H
#define WB_CORE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*@ requires \valid(sum);
    assigns *sum;
    ensures \result == 1 <==> a + b <= UINT64_MAX;
    ensures \result == 1 ==> *sum == a + b;
    ensures \result == 0 ==> *sum == \old(*sum); */
static inline bool wb__add(uint64_t a, uint64_t b, uint64_t *sum)
{
    if (b > UINT64_MAX - a)
        return false;
    *sum = a + b;
    return true;
}

/*@ requires \valid(product);
    assigns *product;
    ensures \result == 1 <==> a * b <= UINT64_MAX;
    ensures \result == 1 ==> *product == a * b;
    ensures \result == 0 ==> *product == \old(*product); */
static inline bool wb__mul(uint64_t a, uint64_t b, uint64_t *product)
{
    if (a != 0 && b > UINT64_MAX / a)
        return false;
    *product = a * b;
    return true;
}

/* Rounds n up to a multiple of `alignment`, which need not be a power of two but must not be 0. */
/*@ requires \valid(aligned) && alignment > 0;
    assigns *aligned;
    ensures \result == 1 ==> n <= *aligned < n + alignment && *aligned % alignment == 0;
    ensures \result == 0 ==> *aligned == \old(*aligned);
    ensures \result == 0 ==> n % alignment != 0 && n - n % alignment + alignment > UINT64_MAX; */
static inline bool wb__align_up(uint64_t n, uint64_t alignment, uint64_t *aligned)
{
    uint64_t past = n % alignment;
    return wb__add(n, past == 0 ? 0 : alignment - past, aligned);
}

/* Returns true if the `count` bytes at `offset` are inside the first `size` bytes. */
/*@ assigns \nothing;
    ensures \result == 1 <==> offset + count <= size; */
static inline bool wb__in_range(uint64_t offset, uint64_t count, uint64_t size)
{
    return offset <= size && count <= size - offset;
}

/*@ requires \valid(size);
    assigns *size;
    ensures \result == 1 <==> n <= SIZE_MAX;
    ensures \result == 1 ==> *size == n;
    ensures \result == 0 ==> *size == \old(*size); */
static inline bool wb__to_size(uint64_t n, size_t *size)
{
    if (n > SIZE_MAX)
        return false;
    *size = (size_t)n;
    return true;
}

#endif
