#include "core/cursor.h"

bool wb__cursor_fetch(wb__cursor *c, size_t n)
{
    if (n > wb__cursor_left(c)) {
        c->truncated = true;
        return false;
    }
    /*@ loop invariant sound(c) && at(c) == \at(at(c), Pre);
        loop assigns c->p, c->end, c->end_at, c->kept, c->failed; */
    while (wb__cursor_at_hand(c) < n) {
        if (n > c->reach)
            return false;
        bool more = false;
        if (!c->failed && c->fill != NULL)
            /*@ calls wb__cursor_fill_owes; */
            more = c->fill(c);
        if (!more) {
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
