#include "formats/gguf/gguf_types.h"

#include <stddef.h>

static const struct removed {
    uint32_t number;
    const char *text;
} removed[] = {
    {4, "Q4_2, removed in 2023"},
    {5, "Q4_3, removed in 2023"},
    {31, "Q4_0_4_4, removed in 2024: Q4_0 is rearranged when it is loaded instead"},
    {32, "Q4_0_4_8, removed in 2024: Q4_0 is rearranged when it is loaded instead"},
    {33, "Q4_0_8_8, removed in 2024: Q4_0 is rearranged when it is loaded instead"},
    {36, "IQ4_NL_4_4, removed in 2025: IQ4_NL is rearranged when it is loaded instead"},
    {37, "IQ4_NL_4_8, removed in 2025: IQ4_NL is rearranged when it is loaded instead"},
    {38, "IQ4_NL_8_8, removed in 2025: IQ4_NL is rearranged when it is loaded instead"},
};

const char *wb__gguf_removed_type(uint32_t number)
{
    for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++) {
        if (removed[i].number == number)
            return removed[i].text;
    }
    return NULL;
}
