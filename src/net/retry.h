/*
 * net/retry.h: which failures are temporary, and how long to wait before the next attempt.
 *
 * The wait doubles with each failure in a row, from 0.5 s to 30 s. A random part of at most half of
 * it is subtracted, so that many clients do not return at the same moment. If the server asks for a
 * wait of up to 5 minutes, this wait is used instead.
 */
#ifndef WB_NET_RETRY_H
#define WB_NET_RETRY_H

#include "core/core.h"
#include "net/engine.h"
#include "net/net.h"

#define WB__RETRY_FIRST_MS 500u
#define WB__RETRY_LAST_MS 30000u
#define WB__RETRY_ASKED_MAX_S 300u

/* Return true if a new attempt can succeed. */
bool wb__outcome_passes(wb__outcome outcome);
bool wb__status_passes(unsigned status);

/* Returns true for a redirect to the address in the field Location. */
bool wb__status_redirects(unsigned status);

/* Returns the number of attempts after a failure: at most `retries`, and at most one if the host
 * cannot be reached and has sent nothing so far, because its name or port is then probably wrong.
 */
unsigned wb__retry_limit(unsigned retries, wb__outcome outcome, uint64_t received);

/*
 * Returns the number of milliseconds to wait after `failures` failures in a row, or UINT64_MAX if
 * the server asks for more than 5 minutes. `failures` is at least 1. `asked` is the number of
 * seconds that the server asks for, or UINT64_MAX if it does not ask. `random` is a random number.
 */
uint64_t wb__retry_wait_ms(unsigned failures, uint64_t asked, uint64_t random);

/*
 * Counts a failed attempt in *failures. Returns the time of the next attempt, to be compared with
 * wb__net_now_ms. Returns 0 if there shall be none, because there were too many failures in a row,
 * or the server asks for too long a wait. The lock of `net` must not be held.
 */
uint64_t wb__retry_time(wb_net *net, wb__outcome outcome, const wb__response *response,
                        unsigned *failures);

#endif
