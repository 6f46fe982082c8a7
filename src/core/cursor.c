#include "core/cursor.h"

bool wb__cursor_fetch(wb__cursor *c, size_t n)
{
    if (n > wb__cursor_left(c)) {
        c->truncated = true;
        return false;
    }
    while (wb__cursor_at_hand(c) < n) {
        if (n > c->reach)
            return false;
        if (c->failed || c->fill == NULL || !c->fill(c)) {
            c->failed = true;
            return false;
        }
    }
    return true;
}

int wb__cursor_peek_slow(wb__cursor *c)
{
    if (wb__cursor_left(c) == 0 || !wb__cursor_fetch(c, 1))
        return -1;
    return *c->p;
}
