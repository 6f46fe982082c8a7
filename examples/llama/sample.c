#include "sample.h"
#include "model.h"
#include <math.h>
#include <stdlib.h>

typedef struct candidate {
    double weight; /* probability, not normalized */
    uint64_t token;
} candidate;

static double uniform(uint64_t *seed) /* splitmix64 generator */
{
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static int compare(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->token > b->token) - (a->token < b->token);
}

/* Returns the number of candidates that top_k and top_p leave. The candidates are sorted. */
static uint64_t count_likely(const sampler *s, const candidate *all, uint64_t n)
{
    double sum = 0, part = 0;
    uint64_t count = 0;
    n = s->top_k > 0 && s->top_k < n ? s->top_k : n;
    for (uint64_t i = 0; i < n; i++)
        sum += all[i].weight;
    while (count < n && (count == 0 || part < s->top_p * sum))
        part += all[count++].weight;
    return count;
}

static uint64_t draw(sampler *s, const candidate *all, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += all[i].weight;
    double left = uniform(&s->seed) * sum;
    for (uint64_t i = 0; i < n; i++)
        if ((left -= all[i].weight) < 0)
            return all[i].token;
    return all[0].token;
}

uint64_t choose(sampler *s, const float *logits, uint64_t n)
{
    uint64_t best = 0;
    for (uint64_t i = 1; i < n; i++)
        if (logits[i] > logits[best])
            best = i;
    if (s->temperature <= 0)
        return best;
    candidate *all = need(n, sizeof *all);
    for (uint64_t i = 0; i < n; i++)
        all[i] = (candidate){exp((double)(logits[i] - logits[best]) / s->temperature), i};
    qsort(all, (size_t)n, sizeof *all, compare);
    best = draw(s, all, count_likely(s, all, n));
    free(all);
    return best;
}
