/* part.h: parses --part axis:rank/of, which selects the slice of a tensor-parallel rank. */
#ifndef WB_CLI_PART_H
#define WB_CLI_PART_H

#include <stdint.h>

typedef struct part_option {
    uint32_t axis, rank, of; /* of == 0: the whole tensor */
} part_option;

/* Parses the value of the option; NULL means no option. Returns 0, or an exit code after reporting
 * the error.
 */
int part_parse(const char *typed, part_option *part);

#endif
