/*
 * Reports errors in the header of a .npy file.
 */
#include "formats/npy/npy.h"

wb_status wb__npy_fail(wb__npy *npy, wb__finding_id id, uint64_t at, const char *what)
{
    wb_status status = id == WB__FINDING_NPY_DTYPE || id == WB__FINDING_NPY_OBJECTS
                           ? WB_ERROR_UNSUPPORTED
                           : WB_ERROR_FORMAT;
    return wb__fail(npy->context, status, id, npy->at + (npy->is_packed ? 0 : at), npy->name, "%s",
                    what);
}
