/*
 * part.h: --part axis:rank/of, a tensor-parallel part.
 */
#ifndef WB_CLI_PART_H
#define WB_CLI_PART_H

#include <stdint.h>

typedef struct part_option {
    uint32_t axis, rank, of; /* of 0: the whole tensor */
} part_option;

/* Reads the option's value, NULL for none. 0, or the exit code after saying what is wrong. */
int part_parse(const char *typed, part_option *part);

#endif
