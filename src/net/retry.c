#include "net/retry.h"

#include <time.h>

bool wb__outcome_passes(wb__outcome outcome)
{
    switch (outcome) {
    case WB__OUTCOME_RESOLVE:
    case WB__OUTCOME_CONNECT:
    case WB__OUTCOME_TLS:
    case WB__OUTCOME_TIMEOUT:
    case WB__OUTCOME_CUT: return true;
    default: return false;
    }
}

bool wb__status_passes(unsigned status)
{
    return status == 408 || status == 425 || status == 429 ||
           (status >= 500 && status < 600 && status != 501 && status != 505);
}

bool wb__status_redirects(unsigned status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

unsigned wb__retry_limit(unsigned retries, wb__outcome outcome, uint64_t received)
{
    bool unreachable = outcome == WB__OUTCOME_RESOLVE || outcome == WB__OUTCOME_CONNECT;
    return unreachable && received == 0 && retries > 1 ? 1 : retries;
}

uint64_t wb__retry_wait_ms(unsigned failures, uint64_t asked, uint64_t random)
{
    if (asked != UINT64_MAX)
        return asked > WB__RETRY_ASKED_MAX_S ? UINT64_MAX : asked * 1000;
    unsigned doublings = failures == 0 ? 0 : failures - 1;
    uint64_t wait = doublings >= 6 ? WB__RETRY_LAST_MS : (uint64_t)WB__RETRY_FIRST_MS << doublings;
    return wait - random % (wait / 2);
}

uint64_t wb__retry_time(wb_net *net, wb__outcome outcome, const wb__response *response,
                        unsigned *failures)
{
    uint64_t asked = wb__response_wait(response, (int64_t)time(NULL));
    wb__net_lock(net);
    unsigned limit = wb__retry_limit(net->options.retries, outcome, net->received);
    uint64_t wait =
        ++*failures > limit ? UINT64_MAX : wb__retry_wait_ms(*failures, asked, wb__net_random(net));
    wb__net_unlock(net);
    return wait == UINT64_MAX ? 0 : wb__net_now_ms() + wait;
}
