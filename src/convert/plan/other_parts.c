/* Leaves out the tensors of other parts of a multimodal model. A GGUF file has the text model only;
 * llama.cpp loads the other parts from a second file (mmproj). */
#include "convert/convert.h"
#include "convert/convert_messages.h"

#include <stdio.h>

bool wb__plan_other_part(wb_conversion *conversion, uint64_t i)
{
    const wb__packed *packed;
    const wb__semantics *semantics = conversion->semantics;
    size_t stored = wb__tensors_stored(&conversion->model->tensors, i, &packed);
    wb__str name = wb__table_name(&conversion->model->catalog.table, stored);
    if (conversion->target != WB_TARGET_GGUF || semantics->by_key || !semantics->is_family ||
        wb__names_of(&semantics->names, i) != NULL || !wb__name_of_another_part(name))
        return false;
    if (conversion->other_parts++ == 0)
        conversion->first_part = name;
    return true;
}

wb_status wb__plan_note_parts(wb_conversion *conversion, wb__context *context)
{
    char text[192];
    if (conversion->other_parts == 0)
        return WB_OK;
    (void)snprintf(text, sizeof text, WB__MSG_CONVERT_OTHER_PARTS,
                   (unsigned long long)conversion->other_parts);
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_LEFT_OUT,
                         conversion->first_part, text);
}
