#include <stdio.h>

#include "weighbridge.h"

int main(void)
{
    printf("weighbridge %s\n", wb_version());
    return 0;
}
