/*
 * provider/tensor_role.h: the role of a tensor in its layer, derived from its canonical name.
 *
 * q, k, v and the attention output form a group, and so do gate, up and down. Files store q, k and
 * v as three tensors or as one (qkv), and gate and up as two or as one (gate_up).
 */
#ifndef WB_PROVIDER_TENSOR_ROLE_H
#define WB_PROVIDER_TENSOR_ROLE_H

#include "core/core.h"

typedef enum wb__leaf {
    WB__LEAF_NONE, /* not a tensor of a group */
    WB__LEAF_Q,
    WB__LEAF_K,
    WB__LEAF_V,
    WB__LEAF_QKV,
    WB__LEAF_OUTPUT, /* attention output; its inputs are divided like the rows of q */
    WB__LEAF_GATE,
    WB__LEAF_UP,
    WB__LEAF_GATE_UP,
    WB__LEAF_DOWN /* its inputs are divided like the rows of gate and up */
} wb__leaf;

typedef struct wb__layer_role {
    wb__str group;  /* "layers.0.attention" */
    wb__str suffix; /* "weight" or "bias" */
    wb__leaf leaf;
} wb__layer_role;

/* Returns the role of a tensor with this canonical name. `leaf` is WB__LEAF_NONE if the tensor is
 * not in a group. */
wb__layer_role wb__layer_role_of(wb__str canonical);

/* Maximum length of a name that wb__layer_role_name writes, with its NUL. */
#define WB__LAYER_ROLE_BYTES 512

/* Writes the canonical name of another tensor of the group, such as "layers.0.attention.k.weight".
 * Returns the length of the name; 0 if the name is too long. */
size_t wb__layer_role_name(const wb__layer_role *role, wb__leaf leaf,
                           char name[WB__LAYER_ROLE_BYTES]);

/* The tensors of a group share a dimension (shard.c). Returns true if it is the input dimension of
 * this tensor, false if it is the row dimension. */
static inline bool wb__leaf_is_inputs(wb__leaf leaf)
{
    return leaf == WB__LEAF_OUTPUT || leaf == WB__LEAF_DOWN;
}

/* Maximum number of tensors that one tensor can contain: q, k and v. */
#define WB__FUSED_MAX 3

/* Returns the number of tensors of which a tensor with this role consists, and sets parts[] to
 * their roles, in the order of their rows. Returns 0 for other tensors than qkv and gate_up. */
size_t wb__leaf_parts(wb__leaf leaf, wb__leaf parts[WB__FUSED_MAX]);

/* Returns the role (qkv or gate_up) of a tensor that contains a tensor with role `leaf` as a part,
 * and sets *index to the index of the part. Returns WB__LEAF_NONE if there is none. */
wb__leaf wb__leaf_whole(wb__leaf leaf, uint32_t *index);

#endif
