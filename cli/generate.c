#include "options.h"
int command_generate(const arguments *args)
{
    (void)args;
    return 3;
}
