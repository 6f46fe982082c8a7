/* Divides the tensors of a conversion into tiles. */
#include "convert/convert.h"

/* Number of rows of a tile of a transposed tensor. For each row of the source, a tile reads this
 * number of contiguous elements. */
#define TRANSPOSED_ROWS 128u

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the number of rows that must be in the same tile: the rows of a head if the rows are
 * permuted, several rows of a transposed tensor, otherwise 1. */
static uint64_t unit_rows(const wb__planned_tensor *planned)
{
    if (wb__planned_transposes(planned))
        return smaller(planned->gather->matrix_rows, TRANSPOSED_ROWS);
    return planned->row_order == WB__ROWS_UNCHANGED ? 1 : planned->head_rows;
}

/* Returns true if a tile may be a part of a row. The following conversions need complete rows: with
 * an importance matrix, some encoders use the mean square of the row; an adapter adds a product of
 * matrices to each row; permutation and transposition move complete rows. */
static bool splits_rows(const wb__planned_tensor *planned)
{
    return planned->columns > WB__TILE_ELEMENTS && planned->reads_part_rows &&
           planned->importance == NULL && planned->lora == NULL && !wb__planned_moves(planned);
}

/* Returns the number of rows of each tile of a tensor that is divided into complete rows. Only the
 * last tile may have fewer rows. */
static uint64_t rows_per_tile(const wb__planned_tensor *planned)
{
    uint64_t unit = unit_rows(planned);
    uint64_t rows = WB__TILE_ELEMENTS / planned->columns / unit * unit;
    return rows == 0 ? unit : rows;
}

/* Returns the tile that begins at the given row and column. If the rows come from several source
 * tensors, the tile ends at the latest where its source tensor ends (piece_rows). A tile of a
 * transposed tensor ends at the latest where its matrix ends. */
static wb__tile_range tile_at(const wb__planned_tensor *planned, uint64_t first, uint64_t column)
{
    wb__tile_range range = {.first = first, .column = column};
    if (planned->columns == 0 || first >= planned->rows)
        return range;
    range.columns = planned->columns - column;
    if (splits_rows(planned)) {
        range.rows = 1;
        range.columns = smaller(range.columns, WB__TILE_ELEMENTS);
        return range;
    }
    range.rows = smaller(rows_per_tile(planned), planned->rows - first);
    if (planned->pieces != NULL)
        range.rows = smaller(range.rows, planned->piece_rows - first % planned->piece_rows);
    if (wb__planned_transposes(planned)) {
        uint64_t height = planned->gather->matrix_rows;
        range.rows = smaller(range.rows, height - first % height);
    }
    return range;
}

wb__tile_range wb__tile_begin(const wb__planned_tensor *planned)
{
    return tile_at(planned, 0, 0);
}

void wb__tile_next(const wb__planned_tensor *planned, wb__tile_range *range)
{
    uint64_t end = range->column + range->columns;
    *range = end < planned->columns ? tile_at(planned, range->first, end)
                                    : tile_at(planned, range->first + range->rows, 0);
}

void wb__tile_before(const wb__planned_tensor *planned, const wb__encoding_spec *encoding,
                     const wb__tile_range *range, uint64_t before[WB__PARTS])
{
    uint64_t in_row[WB__PARTS];
    (void)wb__encoding_spec_measure(encoding, range->first, planned->columns, before);
    (void)wb__encoding_spec_measure(encoding, 1, range->column, in_row);
    for (int i = 0; i < WB__PARTS; i++)
        before[i] += in_row[i]; /* no overflow: at most the size of the part */
}

void wb__tile_measure(const wb__planned_tensor *planned, const wb__tile_range *range,
                      wb__tile_sizes *sizes)
{
    uint64_t in[WB__PARTS] = {0};
    uint64_t elements = range->rows * range->columns;
    *sizes = (wb__tile_sizes){0};
    if (!planned->by_view || planned->route == WB__ROUTE_COPY)
        (void)wb__encoding_spec_measure(&planned->from, range->rows, range->columns, in);
    else if (planned->wide)
        in[WB__PART_VALUES] = elements * sizeof(double);
    for (int i = 0; i < WB__PARTS; i++)
        sizes->raw += in[i];
    /* A permutation or transposition copies the bytes to a second buffer. */
    if (wb__planned_moves(planned))
        sizes->raw *= 2;
    if (planned->route != WB__ROUTE_COPY) {
        sizes->values = elements * sizeof(float);
        if (wb__planned_moves(planned))
            sizes->values *= 2;
        sizes->again = elements * sizeof(float);
    }
    (void)wb__encoding_spec_measure(&planned->to, range->rows, range->columns, sizes->parts);
}
