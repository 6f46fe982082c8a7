/* Names of quantizations, for programs that list or complete them. */
#include "convert/recipe/encoding.h"
#include "convert/recipe/llama_ftype.h"
#include "dtype/dtype.h"
#include "weighbridge/experimental.h"

/* wb_quant_name lists the file types of llama.cpp, then the names of this array, then the names of
 * dtypes. */
static const char *const others[] = {
    "mxfp4",       "mxfp8",      "nvfp4",      "int4",       "int8",       "affine2:64",
    "affine3:64",  "affine4:64", "affine5:64", "affine6:64", "affine8:64", "affine4:32",
    "affine4:128", "mixed_2_6",  "mixed_3_4",  "mixed_3_6",  "mixed_4_6",
};

#define DTYPES 256 /* all wb_dtype numbers are smaller than this number */
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Returns true if --quant accepts the name of this dtype, and the name is neither that of a file
 * type nor in `others`. Names are compared without case, because --quant accepts MXFP4 and mxfp4 as
 * the same name. */
static bool is_listed(const wb__dtype *dtype)
{
    wb__quant quant;
    wb__str name = wb__str_from(dtype->name, SIZE_MAX);
    if (wb__file_type_named(name) != NULL || !wb__quant_parse(name, &quant))
        return false;
    for (size_t i = 0; i < COUNT(others); i++) {
        if (wb__str_equal_nocase(name, wb__str_from(others[i], SIZE_MAX)))
            return false;
    }
    return true;
}

const char *wb_quant_name(size_t i)
{
    for (uint64_t number = 0; number < WB__FILE_TYPES; number++) {
        const wb__file_type *type = wb__file_type_numbered(number);
        if (type != NULL && i-- == 0)
            return type->name;
    }
    if (i < COUNT(others))
        return others[i];
    i -= COUNT(others);
    for (int32_t id = 0; id < DTYPES; id++) {
        const wb__dtype *dtype = wb__dtype_get(id);
        if (dtype != NULL && is_listed(dtype) && i-- == 0)
            return dtype->name;
    }
    return NULL;
}

int wb_quant_is_known(const char *name)
{
    wb__quant quant;
    return wb__quant_parse(wb__str_from(name, SIZE_MAX), &quant);
}

const char *wb_file_type_name(uint64_t number)
{
    const wb__file_type *type = wb__file_type_numbered(number);
    return type == NULL ? NULL : type->name;
}
