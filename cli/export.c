#include "options.h"
int command_export(const arguments *args)
{
    (void)args;
    return 3;
}
