#define _POSIX_C_SOURCE 200809L
#include "convert/recipe/overrides.h"
#include "convert/convert_messages.h"

#include <regex.h>

struct wb__overrides {
    size_t count, made;
    struct rule {
        regex_t regex;
        wb__encoding_spec spec;
        const char *pattern; /* string owned by the caller; valid only during planning */
    } list[];
};

#define RULES_MAX 4096

static size_t bytes_of(size_t count)
{
    return sizeof(wb__overrides) + count * sizeof(struct rule);
}

static wb_status make_rule(wb__context *context, const wb_convert_rule *said, struct rule *rule,
                           size_t *made)
{
    char why[128];
    if (said->pattern == NULL || said->type == NULL)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_CONVERT_RULE_EMPTY);
    if (!wb__encoding_spec_parse(wb__str_from(said->type, SIZE_MAX), &rule->spec))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_CONVERT_TYPE, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_CONVERT_RULE_TYPE, said->type);
    int failed = regcomp(&rule->regex, said->pattern, REG_EXTENDED | REG_NOSUB);
    if (failed == REG_ESPACE)
        return wb__fail_memory(context);
    if (failed != 0) {
        (void)regerror(failed, &rule->regex, why, sizeof why);
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_CONVERT_RULE_PATTERN, said->pattern, why);
    }
    rule->pattern = said->pattern;
    (*made)++;
    return WB_OK;
}

wb_status wb__overrides_make(wb__context *context, const wb_convert_rule *list, uint64_t count,
                             wb__overrides **rules)
{
    *rules = NULL;
    if (count > RULES_MAX)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_CONVERT_RULES_MANY, RULES_MAX);
    wb__overrides *made = wb__alloc(&context->allocator, bytes_of((size_t)count));
    if (made == NULL)
        return wb__fail_memory(context);
    made->count = (size_t)count;
    made->made = 0;
    wb_status status = WB_OK;
    for (size_t i = 0; i < count && status == WB_OK; i++)
        status = make_rule(context, &list[i], &made->list[i], &made->made);
    if (status == WB_OK)
        *rules = made;
    else
        wb__overrides_free(&context->allocator, made);
    return status;
}

void wb__overrides_free(const wb_allocator *allocator, wb__overrides *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->made; i++)
        regfree(&rules->list[i].regex);
    wb__free(allocator, rules, bytes_of(rules->count));
}

bool wb__overrides_match(const wb__overrides *rules, size_t index, const char *name)
{
    return regexec(&rules->list[index].regex, name, 0, NULL, 0) == 0;
}

const char *wb__overrides_pattern(const wb__overrides *rules, size_t index)
{
    return rules == NULL || index >= rules->count ? NULL : rules->list[index].pattern;
}

const wb__encoding_spec *wb__overrides_find(const wb__overrides *rules, const char *name)
{
    for (size_t i = rules == NULL ? 0 : rules->count; i-- > 0;) {
        if (wb__overrides_match(rules, i, name))
            return &rules->list[i].spec;
    }
    return NULL;
}
