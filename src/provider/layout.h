/*
 * provider/layout.h: the steps of wb__layout_make.
 *
 *   layout_check.c   checks that operands can be fused
 *   layout_runs.c    computes the runs of a section
 *   buffer_layout.c  everything else
 */
#ifndef WB_PROVIDER_LAYOUT_H
#define WB_PROVIDER_LAYOUT_H

#include "provider/buffer_request.h"

typedef struct wb__layout_maker {
    wb__layout *layout;
    wb__context *context;
    const wb_model *model;
    const wb__operands *operands;
    const wb__rank *rank;
    const wb__target_type *becomes;
    wb__cut lead;    /* range of dimension 0, if the tensor has more than two dimensions */
    uint64_t pieces; /* total number of ranges of all operands, which are joined */
    bool pads;       /* some ranges are padded with zero rows */
    uint32_t joint;  /* dimension along which the ranges are joined */
} wb__layout_maker;

#define WB__REFUSE_FUSE(m, operand, ...)                                                           \
    wb__fail((m)->context, WB_ERROR_UNSUPPORTED, WB__FINDING_FUSE, WB_NO_OFFSET,                   \
             (wb__str){(operand)->tensor.name, (operand)->tensor.name_len}, __VA_ARGS__)

/* Returns true if the values are stored as plain numbers. */
static inline bool wb__is_plain_operand(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "plain") == 0;
}

/* Returns true if the tensors are not divided among ranks, or only along dimension `joint`. */
static inline bool wb__is_by_rows(const wb__layout_maker *m)
{
    return m->rank->of == 0 || m->rank->axis == m->joint;
}

/* Fails if the operands cannot be fused. */
wb_status wb__layout_check(const wb__layout_maker *m);

/* The name of the section (wb_section.role) for each part. */
extern const char *const wb__section_roles[WB__PARTS];

/* Adds the ranges of all operands to the current section. Only the indices `lead` of dimension 0
 * are included. */
wb_status wb__layout_add_joined(wb__layout_maker *m, wb__part role, wb__cut lead);

#endif
