/* Lists of names, separated by '|'. */
#include "arch/family.h"

bool wb__spelling_next(const char **rest, wb__str *spelling)
{
    if (*rest == NULL || **rest == '\0')
        return false;
    size_t n = strcspn(*rest, "|");
    *spelling = (wb__str){*rest, n};
    *rest += n + ((*rest)[n] == '|');
    return true;
}
