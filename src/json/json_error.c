/*
 * Records the error (fault) of a JSON text, and returns the message of a fault.
 */
#include "json/json_state.h"

const char *wb__json_fault_text(wb__json_fault fault)
{
    static const char *const texts[] = {
#define X(name, text) text,
        WB__JSON_FAULTS(X)
#undef X
    };
    return texts[fault];
}

bool wb__json_fail(wb__json *json, wb__json_fault fault, uint64_t at)
{
    json->token = WB__JSON_FAULT;
    json->fault = fault;
    json->at = at;
    json->state = AT_FAULT;
    return false;
}

bool wb__json_fail_at_end(wb__json *json)
{
    return wb__json_fail(json, json->cursor->failed ? WB__JSON_FAULT_READ : WB__JSON_FAULT_ENDS,
                         wb__cursor_at(json->cursor));
}
