/* wb inspect: the name of the quantization, and the number of bits per weight. */
#include <math.h>
#include <string.h>

#include "inspect.h"

/* Returns the name of the llama.cpp file type ("Q4_K_M") that a GGUF file states; NULL: none. */
static const char *stated_type(const wb_model *model)
{
    uint64_t number;
    if (wb_meta_get_uint(model, "general.file_type", SIZE_MAX, &number, NULL) != WB_OK)
        return NULL;
    return wb_file_type_name(number);
}

void text_add_quantization(text *t, const inspection *in)
{
    const totals *sum = &in->totals;
    const char *stated = stated_type(in->model);
    const kind_total *largest = NULL;
    for (size_t i = 0; i < sum->count; i++) {
        if (largest == NULL || sum->kinds[i].bytes > largest->bytes)
            largest = &sum->kinds[i];
    }
    if (stated != NULL)
        text_adds(t, stated);
    else if (largest != NULL)
        text_add_kind(t, largest->dtype, &largest->encoding);
}

double inspection_bits(const inspection *in)
{
    const totals *sum = &in->totals;
    uint64_t parameters = sum->all.parameters;
    return parameters == 0 ? NAN : (double)sum->weight_bytes * 8 / (double)parameters;
}
