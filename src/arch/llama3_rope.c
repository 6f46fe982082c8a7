#include "arch/llama3_rope.h"

#include <math.h>
#include <stddef.h>

float wb__llama3_divisor(const wb__llama3 *l, double theta, uint64_t i, uint64_t n)
{
    const double turn = 6.283185307179586476925286766559;
    double wave = turn * pow(theta, (double)(2 * i) / (double)(2 * n));
    double smooth = (l->context / wave - l->low) / (l->high - l->low);
    return wave < l->context / l->high  ? 1.0f
           : wave > l->context / l->low ? (float)l->factor
                                        : (float)(1 / ((1 - smooth) / l->factor + smooth));
}

void wb__llama3_divisors(const wb__llama3 *numbers, double theta, uint64_t n, float *divisors)
{
    for (uint64_t i = 0; i < n; i++)
        divisors[i] = wb__llama3_divisor(numbers, theta, i, n);
}

/* Returns true if the parameters give these divisors. The tolerance of 1e-5 allows for the rounding
 * errors of llama.cpp's converter, which computes in binary32 and multiplies the errors by the RoPE
 * factor. */
static bool gives(const wb__llama3 *numbers, const float *divisors, double theta, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        double want = wb__llama3_divisor(numbers, theta, i, n);
        if (!(fabs((double)divisors[i] - want) <= 1e-5 * want))
            return false;
    }
    return true;
}

bool wb__llama3_find(const float *divisors, double theta, uint64_t n, wb__llama3 *numbers)
{
    /* `low` is normalized to 1, because the divisors do not change if low, high and the context
     * are multiplied by the same number. */
    static const double bounds[][2] = {{1, 4}, {1, 2}, {1, 8}, {1, 16}, {1, 32}};
    const double contexts[] = {
        numbers->context, 8192, 4096, 2048, 16384, 32768, 1024, 65536, 131072};
    if (n == 0 || !(theta > 1) || !(divisors[n - 1] > 1))
        return false;
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        for (size_t c = 0; c < sizeof contexts / sizeof contexts[0]; c++) {
            if (!(contexts[c] >= 1))
                continue;
            *numbers = (wb__llama3){divisors[n - 1], bounds[b][0], bounds[b][1], contexts[c]};
            if (gives(numbers, divisors, theta, n))
                return true;
        }
    }
    return false;
}
