#include "model/padding_tensor.h"

#include "core/text.h"

#define DIGITS_MAX 18 /* maximum number of digits; the number then fits in 64 bits */

/* Parses the number of a padding tensor's name; returns false for other names. */
static bool number_of(wb__str name, uint64_t *number)
{
    const wb__str front = WB__STR(WB__FILLER);
    if (!wb__str_starts_with(name, front) || name.len == front.len ||
        name.len > front.len + DIGITS_MAX)
        return false;
    *number = 0;
    for (size_t i = front.len; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return false;
        *number = 10 * *number + (uint64_t)(name.ptr[i] - '0');
    }
    return true;
}

bool wb__is_padding_tensor(wb__str name)
{
    uint64_t number;
    return number_of(name, &number);
}

uint64_t wb__padding_tensor_past(wb__str name, uint64_t past)
{
    uint64_t number;
    return number_of(name, &number) && number >= past ? number + 1 : past;
}
