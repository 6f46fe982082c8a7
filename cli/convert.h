/*
 * convert.h: wb convert, from the command line to what is told in the end.
 */
#ifndef WB_CLI_CONVERT_H
#define WB_CLI_CONVERT_H

#include "options.h"

typedef struct convert_job {
    const arguments *args;
    const char *input;
    const char *output;
    wb_target target;
    wb_policy policy;
    wb_convert_rule *rules;
    char *rule_texts;
    wb_open_options options;
    wb_limits limits;
    wb_model *model;
    wb_conversion *conversion;
    bool planned_only;
} convert_job;

/* The name that --to has for a target. */
const char *convert_target_name(wb_target target);

/* Tells what was planned, or done. */
void convert_tell(const convert_job *job);
void convert_tell_json(const convert_job *job);

#endif
