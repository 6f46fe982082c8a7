/*
 * The search for the points of a group of IQ2 or IQ3. iq_encode.c describes the algorithm,
 * codebooks.h defines the terms.
 */
#include "quant/scalar/iq_search.h"
#include "quant/kernel.h"
#include "quant/scalar/rounding.h"

static unsigned coordinates(const wb__iq_type *type, const float *x, float inverse)
{
    unsigned code = 0;
    for (size_t i = 0; i < type->cell; i++) {
        int l = wb__round_even(0.5f * (inverse * x[i] - 1));
        code |= (unsigned)wb__clamp(l, 0, type->levels - 1) << type->bits * i;
    }
    return code;
}

/* Returns the magnitude of coordinate i of a code. */
static float magnitude_of(const wb__iq_type *type, unsigned code, size_t i)
{
    return (float)(2 * (code >> type->bits * i & ((1u << type->bits) - 1)) + 1);
}

/*
 * Returns the neighbour, from the list in `cell`, with the least error for the values from index
 * `at` on; the first one if errors are equal.
 */
static unsigned best_near(const wb__iq_group *group, size_t at, uint32_t cell, float scale)
{
    const wb__iq_type *type = group->type;
    const uint16_t *near = group->book->near + WB__CELL_VALUE(cell);
    unsigned best = near[0];
    float least = FLT_MAX;
    for (size_t k = 0; k < WB__CELL_COUNT(cell); k++) {
        float error = 0;
        for (size_t i = 0; i < type->cell; i++) {
            float difference = scale * magnitude_of(type, near[k], i) - group->x[at + i];
            error += group->roots[at + i] * difference * difference;
        }
        if (error < least) {
            least = error;
            best = near[k];
        }
    }
    return best;
}

/*
 * Returns the point for the values from index `at` on. If the code of these values is not in the
 * codebook, sets *moved to true and returns the best neighbour of the code.
 */
static unsigned point_for(const wb__iq_group *group, size_t at, float inverse, float scale,
                          bool *moved)
{
    unsigned code = coordinates(group->type, group->x + at, inverse);
    uint32_t cell = group->book->cells[code];
    *moved = WB__CELL_COUNT(cell) != 0;
    return *moved ? best_near(group, at, cell, scale) : code;
}

typedef struct fit {
    float lx, l2;
} fit;

static fit fit_of(const wb__iq_group *group, const uint16_t *codes)
{
    const wb__iq_type *type = group->type;
    fit f = {0, 0};
    for (size_t i = 0; i < type->group; i++) {
        float w = group->weights[i];
        float q = magnitude_of(type, codes[i / type->cell], i % type->cell);
        f.lx += w * group->x[i] * q;
        f.l2 += w * q * q;
    }
    return f;
}

/*
 * Searches again for the points with moved[k] set (for all points if again_all is set). Uses
 * `scale`, which is optimal for the current points. Returns the optimal scale for the new points.
 */
static float look_again(const wb__iq_group *group, float scale, const bool *moved, uint16_t *codes)
{
    const wb__iq_type *type = group->type;
    bool unused;
    for (size_t k = 0; k < (size_t)(type->group / type->cell); k++) {
        if (type->again_all || moved[k])
            codes[k] = (uint16_t)point_for(group, k * type->cell, 1 / scale, scale, &unused);
    }
    fit f = fit_of(group, codes);
    return f.l2 > 0 ? f.lx / f.l2 : scale;
}

/*
 * Tries the candidate scales around `middle` (see wb__iq_search). Stores the points of the best
 * candidate in `codes`, and returns the scale that is optimal for these points. Returns `scale` if
 * no candidate reduces the error.
 */
static float try_scales(const wb__iq_group *group, float middle, float scale, uint16_t *codes,
                        bool *moved)
{
    const wb__iq_type *type = group->type;
    float top = (float)(2 * type->levels - 1), best = 0;
    for (int try = -type->tries; try <= type->tries; try++) {
        uint16_t these[WB__IQ_CELLS_MAX];
        bool these_moved[WB__IQ_CELLS_MAX];
        float inverse = (top + (float)try * type->step) / middle;
        size_t cells = type->group / type->cell;
        for (size_t k = 0; k < cells; k++)
            these[k] =
                (uint16_t)point_for(group, k * type->cell, inverse, 1 / inverse, &these_moved[k]);
        fit f = fit_of(group, these);
        if (f.l2 > 0 && f.lx * f.lx > best * f.l2) {
            scale = f.lx / f.l2;
            best = scale * f.lx;
            memcpy(codes, these, cells * sizeof *these);
            memcpy(moved, these_moved, cells * sizeof *these_moved);
        }
    }
    return scale;
}

float wb__iq_search_scalar(const wb__iq_group *group, float middle, float scale, uint16_t *codes)
{
    const wb__iq_type *type = group->type;
    size_t cells = type->group / type->cell;
    bool moved[WB__IQ_CELLS_MAX];
    memset(codes, 0, cells * sizeof *codes);
    memset(moved, type->again_all, sizeof moved);
    scale = try_scales(group, middle, scale, codes, moved);
    bool again = type->search_first;
    for (size_t k = 0; k < cells; k++)
        again |= moved[k];
    return again && scale > 0 ? look_again(group, scale, moved, codes) : scale;
}
