/* Tests the codebooks of IQ1, IQ2 and IQ3 (quant/scalar/codebooks.h defines point, code and cell).
 * If a code is not a point of the codebook, its cell lists the nearest points. The test finds the
 * same points by exhaustive search. */
#include "quant/scalar/codebooks.h"

#include "unit.h"

static const struct {
    const uint16_t *codes;
    size_t count;
    unsigned bits, levels, shells;
    size_t near; /* total length of the lists of nearest points */
} books[WB__CODEBOOKS] = {
    [WB__CODEBOOK_IQ2_XXS] = {wb__codes_iq2_xxs, 256, 2, 3, 2, 113157},
    [WB__CODEBOOK_IQ2_XS] = {wb__codes_iq2_xs, 512, 2, 3, 2, 181721},
    [WB__CODEBOOK_IQ2_S] = {wb__codes_iq2_s, 1024, 2, 3, 1, 44716},
    [WB__CODEBOOK_IQ1] = {wb__codes_iq1, 2048, 2, 3, 3, 327721},
    [WB__CODEBOOK_IQ3_XXS] = {wb__codes_iq3_xxs, 256, 3, 8, 2, 18985},
    [WB__CODEBOOK_IQ3_S] = {wb__codes_iq3_s, 512, 3, 8, 3, 24733},
};

static unsigned distance(unsigned a, unsigned b, unsigned bits)
{
    unsigned sum = 0, mask = (1u << bits) - 1;
    for (; a != 0 || b != 0; a >>= bits, b >>= bits) {
        int difference = (int)(a & mask) - (int)(b & mask);
        sum += (unsigned)(difference * difference);
    }
    return sum;
}

/* Checks that the cell of `code` lists, in order of distance, all points of the codebook that have
 * one of the `shells` smallest distances from the code, and no others. */
static void check_cell(int id, const wb__codebook *book, unsigned code)
{
    uint32_t cell = book->cells[code];
    const uint16_t *near = book->near + WB__CELL_VALUE(cell);
    size_t found = 0;
    unsigned shells = 0;
    for (unsigned d = 0; shells < books[id].shells && d < 256; d++) {
        size_t before = found;
        for (size_t i = 0; i < books[id].count; i++) {
            if (distance(code, books[id].codes[i], books[id].bits) == d) {
                assert_true(found < WB__CELL_COUNT(cell));
                assert_int_equal(near[found], books[id].codes[i]);
                found++;
            }
        }
        shells += found != before;
    }
    assert_int_equal(found, WB__CELL_COUNT(cell));
}

static void cells(void **state)
{
    (void)state;
    for (int id = 0; id < WB__CODEBOOKS; id++) {
        const wb__codebook *book = wb__codebook_get((wb__codebook_id)id);
        unsigned codes = books[id].bits == 2 ? 1u << 16 : 1u << 12;
        size_t near = 0, point = 0;
        assert_ptr_equal(book, wb__codebook_get((wb__codebook_id)id));
        for (unsigned code = 0, checked = 0; code < codes; code++) {
            unsigned rest = code;
            while (rest != 0 && (rest & ((1u << books[id].bits) - 1)) < books[id].levels)
                rest >>= books[id].bits;
            if (rest != 0)
                continue; /* not a code, because a coordinate is too large */
            uint32_t cell = book->cells[code];
            near += WB__CELL_COUNT(cell);
            if (WB__CELL_COUNT(cell) == 0) {
                assert_int_equal(WB__CELL_VALUE(cell), point);
                assert_int_equal(books[id].codes[point], code);
                point++;
            } else if (checked++ % 401 == 0) {
                check_cell(id, book, code);
            }
        }
        assert_int_equal(point, books[id].count);
        assert_int_equal(near, books[id].near);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
