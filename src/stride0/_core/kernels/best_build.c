/* Prints the name of the best build of the kernels for this processor. Run by the build. */
#include <stdio.h>

#include "cpu.h"

int main(void)
{
    for (int k = 0; k < S0_BUILDS; k++) {
        if (s0_builds[k].runs()) {
            puts(s0_builds[k].name);
            return 0;
        }
    }
    return 1;
}
