/*
 * A template, included once for each instruction set: KERNEL are the attributes of its function, NAME is
 * what it is called. The lanes are the same for all, and so are their sums.
 *
 * Adds up a run of WB__RUN values; returns the largest magnitude of both, as the bits of a binary32.
 */
KERNEL static uint32_t NAME(lanes *sums, const float *restrict before, const float *restrict after)
{
    float error[LANES] = {0}, old[LANES] = {0}, new[LANES] = {0}, most[LANES] = {0};
    uint32_t largest[LANES] = {0}, all = 0;
    for (size_t i = 0; i < RUN; i += LANES) {
        uint32_t x_bits[LANES], y_bits[LANES];
        memcpy(x_bits, before + i, sizeof x_bits);
        memcpy(y_bits, after + i, sizeof y_bits);
        for (size_t lane = 0; lane < LANES; lane++) {
            float x = before[i + lane], y = after[i + lane];
            float away = y - x;
            float size = fabsf(away);
            error[lane] += away * away;
            old[lane] += x * x;
            new[lane] += y *y;
            most[lane] = size > most[lane] ? size : most[lane];
            uint32_t p = x_bits[lane] & 0x7FFFFFFFu, q = y_bits[lane] & 0x7FFFFFFFu;
            p = q > p ? q : p;
            largest[lane] = p > largest[lane] ? p : largest[lane];
        }
    }
    memcpy(sums->error, error, sizeof error);
    memcpy(sums->before, old, sizeof old);
    memcpy(sums->after, new, sizeof new);
    memcpy(sums->most, most, sizeof most);
    for (size_t lane = 0; lane < LANES; lane++)
        all = largest[lane] > all ? largest[lane] : all;
    return all;
}
