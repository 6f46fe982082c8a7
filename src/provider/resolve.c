#include "provider/buffer_request.h"
#include "provider/provider_messages.h"
#include "weighbridge/config.h"

static void decode(wb__operand *operand)
{
    if (strcmp(operand->encoding.type, "plain") == 0)
        return;
    operand->is_decoded = true;
    operand->tensor.dtype = WB_DTYPE_F32;
    operand->encoding = (wb_encoding){.size = sizeof operand->encoding,
                                      .type = "plain",
                                      .dtype = WB_DTYPE_F32,
                                      .bits = 32,
                                      .parts = 1};
}

static wb_status find_canonical(wb__context *context, const wb_model *model, wb__operand *operand)
{
    wb_error ignored;
    wb_status status = wb_canonical_name(model, operand->tensor.name, operand->tensor.name_len,
                                         &operand->canonical, &operand->canonical_len, &ignored);
    if (operand->canonical == NULL)
        operand->canonical = "";
    return status == WB_ERROR_MEMORY ? wb__fail_memory(context) : WB_OK;
}

static wb_status describe(wb__context *context, const wb_model *model, uint64_t number,
                          wb__operand *operand)
{
    wb_part part = {.size = sizeof part};
    *operand = (wb__operand){.number = number,
                             .tensor = {.size = sizeof operand->tensor},
                             .encoding = {.size = sizeof operand->encoding}};
    wb_status status = wb_tensor_at(model, number, &operand->tensor, context->error);
    if (status == WB_OK)
        status = wb_tensor_encoding(model, number, &operand->encoding, context->error);
    if (status == WB_OK)
        status = wb_tensor_part(model, number, 0, &part, context->error);
    if (status != WB_OK)
        return status;
    if (strcmp(part.role, "expert") == 0) {
        operand->members = operand->encoding.parts;
        operand->canonical = operand->tensor.name;
        operand->canonical_len = operand->tensor.name_len;
        status = wb_tensor_encoding(model, part.index, &operand->encoding, context->error);
    } else {
        status = find_canonical(context, model, operand);
    }
    operand->role = wb__layer_role_of((wb__str){operand->canonical, operand->canonical_len});
    return status;
}

/* Describes the operand with this key: its tensor, which part of the tensor it is, and how the
 * policy changes it. */
static wb_status make_operand(const wb__operands *operands, wb__context *context,
                              const wb_model *model, uint64_t key, wb__operand *operand)
{
    uint32_t part = (uint32_t)(key >> WB__KEY_PART_SHIFT);
    uint64_t number = key & (((uint64_t)1 << WB__KEY_PART_SHIFT) - 1);
    wb_status status = describe(context, model, number, operand);
    if (status == WB_OK && operands->decodes)
        decode(operand);
    if (status == WB_OK && part != 0)
        status = wb__operand_take_part(context, model, operand, part);
    if (status == WB_OK && operands->becomes != NULL)
        status = wb__row_change_of(context, model, operands->becomes, operand, &operand->change);
    return status;
}

wb_status wb__operands_add_key(wb__operands *operands, wb__context *context, const wb_model *model,
                               uint64_t key)
{
    if (operands->count == WB__OPERANDS_MAX)
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_FUSE, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_PROVIDER_OPERANDS, WB__OPERANDS_MAX);
    if (!wb__grow(&operands->allocator, (void **)&operands->list, &operands->capacity,
                  sizeof *operands->list, operands->count + 1, WB__OPERANDS_MAX))
        return wb__fail_memory(context);
    wb_status status =
        make_operand(operands, context, model, key, &operands->list[operands->count]);
    operands->count += status == WB_OK;
    return status;
}

/* Returns the name that begins at `at` and ends before the next '+' or at the end of the text. */
static wb__str next_name(wb__str text, size_t at)
{
    const char *plus = memchr(text.ptr + at, '+', text.len - at);
    return (wb__str){text.ptr + at, (plus == NULL ? text.len : (size_t)(plus - text.ptr)) - at};
}

/* Adds the tensor with this name, or the operands that correspond to the name (wb__virtual_keys).
 * Fails with WB_ERROR_NOT_FOUND, without a message, if there are none. */
static wb_status add_name(wb__operands *operands, wb__context *context, const wb_model *model,
                          wb__str name)
{
    uint64_t keys[WB__FUSED_MAX];
    size_t n = 1;
    wb_status status = wb_tensor_find(model, name.ptr, name.len, &keys[0]);
    if (status == WB_ERROR_MEMORY)
        return wb__fail_memory(context);
    if (status == WB_ERROR_NOT_FOUND)
        status = wb__virtual_keys(context, model, name, keys, &n);
    for (size_t i = 0; i < n && status == WB_OK; i++)
        status = wb__operands_add_key(operands, context, model, keys[i]);
    return status;
}

static wb_status fail_not_found(wb__context *context, wb__str name)
{
    return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET, name,
                    WB__MSG_PROVIDER_NO_TENSOR);
}

wb_status wb__operands_add(wb__operands *operands, wb__context *context, const wb_model *model,
                           wb__str text, bool joined)
{
    wb_status status = joined ? WB_ERROR_NOT_FOUND : add_name(operands, context, model, text);
    if (status != WB_ERROR_NOT_FOUND)
        return status;
    if (!joined && memchr(text.ptr, '+', text.len) == NULL)
        return fail_not_found(context, text);
    for (size_t at = 0; at <= text.len;) {
        wb__str name = next_name(text, at);
        status = add_name(operands, context, model, name);
        if (status != WB_OK)
            return status == WB_ERROR_NOT_FOUND ? fail_not_found(context, name) : status;
        at += name.len + 1;
    }
    return WB_OK;
}

void wb__operands_free(wb__operands *operands)
{
    wb__free(&operands->allocator, operands->list, operands->capacity * sizeof *operands->list);
    operands->list = NULL;
    operands->count = operands->capacity = 0;
}

static wb__part part_of(const char *role)
{
    int part = WB__PART_VALUES;
    while (part < WB__PARTS && strcmp(role, wb__part_name((wb__part)part)) != 0)
        part++;
    return (wb__part)part;
}

wb_status wb__operand_parts(wb__context *context, const wb_model *model, const wb__operand *operand,
                            uint64_t member, uint64_t parts[WB__PARTS])
{
    wb_part part = {.size = sizeof part};
    uint64_t number = operand->number;
    wb_status status = WB_OK;
    for (int i = 0; i < WB__PARTS; i++)
        parts[i] = WB__NO_PART;
    if (operand->members != 0) {
        status = wb_tensor_part(model, number, (uint32_t)member, &part, context->error);
        number = part.index;
    }
    if (operand->is_decoded) {
        parts[WB__PART_VALUES] = number;
        return status;
    }
    for (uint32_t i = 0; i < operand->encoding.parts && status == WB_OK; i++) {
        status = wb_tensor_part(model, number, i, &part, context->error);
        if (status == WB_OK && part_of(part.role) < WB__PARTS)
            parts[part_of(part.role)] = part.index;
    }
    return status;
}

int32_t wb__target_dtype(const wb__target_type *becomes, const wb__operand *operand)
{
    int32_t stored = operand->encoding.dtype;
    bool is_float = strcmp(operand->encoding.type, "plain") == 0 && wb__is_common_float(stored);
    if (is_float && becomes->plain >= 0)
        return becomes->plain;
    /* The sum of a norm weight and 1 would lose precision in a dtype of 16 bits. */
    return is_float && operand->change.adds != 0 ? WB_DTYPE_F32 : stored;
}
