#include "part.h"

#include <string.h>

#include "report.h"

/* Parses digits up to the character `end` and returns a pointer after it. Returns NULL if there are
 * no digits or too many.
 */
static const char *take_number(const char *p, char end, uint32_t *number)
{
    uint64_t value = 0;
    const char *start = p;
    for (; *p >= '0' && *p <= '9' && value <= UINT32_MAX; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (p == start || *p != end || value > UINT32_MAX)
        return NULL;
    *number = (uint32_t)value;
    return p + (end != '\0');
}

int part_parse(const char *typed, part_option *part)
{
    *part = (part_option){0, 0, 0};
    if (typed == NULL)
        return 0;
    const char *p = take_number(typed, ':', &part->axis);
    if (p != NULL)
        p = take_number(p, '/', &part->rank);
    if (p != NULL)
        p = take_number(p, '\0', &part->of);
    if (p == NULL || part->rank >= part->of)
        return report_usage(
            "--part must be AXIS:RANK/OF; 0:1/4 is the second of four parts of the rows");
    return 0;
}
