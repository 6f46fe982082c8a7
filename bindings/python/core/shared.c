#include "core.h"

void shared_init(shared *self, void (*destroy)(shared *self))
{
    atomic_init(&self->uses, 1);
    self->destroy = destroy;
}

void shared_keep(shared *self)
{
    (void)atomic_fetch_add_explicit(&self->uses, 1, memory_order_relaxed);
}

void shared_drop(shared *self)
{
    if (self != NULL && atomic_fetch_sub_explicit(&self->uses, 1, memory_order_acq_rel) == 1)
        self->destroy(self);
}
