/*
 * Parses texts such as "1:, ::-2, ..." for any shape, and reads with slices. Bit 0 of byte 0 is the
 * mode; the other bits are the rank.
 *
 *   mode 0   Parses any text. The input contains one byte per dimension, then the text.
 *   mode 1   Parses a slice and reads a tensor with it. The input contains a byte that selects the
 *            dtype, one byte per dimension, then bytes that select indices of each dimension. The
 *            text is generated from the indices, so the selected elements are known.
 */
#include "open/open.h"
#include "support/fuzz.h"
#include "weighbridge.h"

#define RANK_MAX 4

typedef struct input {
    const uint8_t *p, *end;
} input;

static uint8_t take(input *in)
{
    return in->p < in->end ? *in->p++ : 0;
}

/* Returns a small length, or sometimes a length at which arithmetic could overflow. */
static uint64_t take_dimension(input *in)
{
    static const uint64_t large[] = {INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX, UINT32_MAX,
                                     (uint64_t)INT64_MAX - 1};
    uint8_t byte = take(in);
    return byte >= 251 ? large[byte - 251] : byte;
}

static void check_axis(const wb_axis *axis, uint64_t dimension)
{
    CHECK(axis->count <= dimension);
    CHECK(!axis->drop || axis->count == 1);
    CHECK(axis->step != 0);
    if (axis->count == 0)
        return;
    CHECK(axis->start < dimension);
    uint64_t step = axis->step < 0 ? 0 - (uint64_t)axis->step : (uint64_t)axis->step;
    uint64_t room = axis->step < 0 ? axis->start : dimension - 1 - axis->start;
    CHECK(axis->count - 1 <= room / step);
}

/* Parses any text. An accepted slice must be within the tensor. */
static void try_text(input in, uint32_t rank)
{
    /* Exact allocations, so that sanitizers detect accesses past the end. */
    uint64_t *shape = malloc(rank * sizeof *shape + 1);
    wb_axis *axes = malloc(rank * sizeof *axes + 1);
    CHECK(shape != NULL && axes != NULL);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = take_dimension(&in);
    size_t len = (size_t)(in.end - in.p);
    char *text = malloc(len + 1);
    CHECK(text != NULL);
    if (len > 0)
        memcpy(text, in.p, len);
    char *exact = realloc(text, len == 0 ? 1 : len);
    CHECK(exact != NULL);
    wb_error error;
    wb_status status = wb_slice_parse(exact, len, shape, rank, axes, &error);
    CHECK(status == WB_OK || status == WB_ERROR_ARGUMENT);
    if (status != WB_OK)
        CHECK(error.status == status && error.message[0] != '\0' && error.code != NULL);
    else
        for (uint32_t i = 0; i < rank; i++)
            check_axis(&axes[i], shape[i]);
    free(exact);
    free(axes);
    free(shape);
}

/* ---- a selection whose elements are known ---- */

typedef struct index_range {
    bool single, has_start, has_stop, has_step;
    int start, stop, step;
} index_range;

static int take_bound(input *in)
{
    return (int)take(in) % 25 - 12;
}

static index_range take_range(input *in)
{
    uint8_t what = take(in);
    index_range r = {.single = what % 4 == 0,
                     .has_start = what & 4,
                     .has_stop = what & 8,
                     .has_step = what & 16,
                     .start = take_bound(in),
                     .stop = take_bound(in),
                     .step = take_bound(in)};
    return r;
}

static int print_range(char *out, size_t capacity, const index_range *r)
{
    char start[8] = "", stop[8] = "", step[9] = "";
    if (r->single)
        return snprintf(out, capacity, "%d", r->start);
    if (r->has_start)
        snprintf(start, sizeof start, "%d", r->start);
    if (r->has_stop)
        snprintf(stop, sizeof stop, "%d", r->stop);
    if (r->has_step)
        snprintf(step, sizeof step, ":%d", r->step);
    return snprintf(out, capacity, "%s:%s%s", start, stop, step);
}

#define DIMENSION_MAX 8

/* Lists the indices that Python would select. Returns their number, or -1 if Python refuses the
 * slice. */
static int list_indices(const index_range *r, int n, int indices[DIMENSION_MAX])
{
    int count = 0;
    if (r->single) {
        int index = r->start < 0 ? r->start + n : r->start;
        if (index < 0 || index >= n)
            return -1;
        indices[0] = index;
        return 1;
    }
    int step = r->has_step ? r->step : 1;
    if (step == 0)
        return -1;
    int i = step > 0 ? 0 : n - 1, stop = step > 0 ? n : -1;
    if (r->has_start) {
        i = r->start < 0 ? r->start + n : r->start;
        if (i < 0)
            i = step > 0 ? 0 : -1;
        if (i > n - 1)
            i = step > 0 ? n : n - 1;
    }
    if (r->has_stop) {
        stop = r->stop < 0 ? r->stop + n : r->stop;
        if (stop < 0)
            stop = -1;
        if (stop > n)
            stop = n;
    }
    for (; (step > 0 ? i < stop : i > stop) && i >= 0 && i < n; i += step)
        indices[count++] = i;
    return count;
}

/* Makes a safetensors file with one tensor, whose bytes depend on their position. Returns NULL if
 * the tensor is not a whole number of bytes. */
static uint8_t *make_file(const char *dtype, uint32_t bits, const int *shape, uint32_t rank,
                          size_t *size)
{
    char text[64] = "", header[256];
    size_t elements = 1, len = 0;
    for (uint32_t i = 0; i < rank; i++) {
        elements *= (size_t)shape[i];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", i > 0 ? "," : "", shape[i]);
    }
    if (elements * bits % 8 != 0)
        return NULL;
    size_t bytes = elements * bits / 8;
    size_t n = (size_t)snprintf(
        header, sizeof header, "{\"t\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[0,%zu]}}",
        dtype, text, bytes);
    *size = 8 + n + bytes;
    uint8_t *file = malloc(*size);
    CHECK(file != NULL);
    wb__store_le64(file, n);
    memcpy(file + 8, header, n);
    for (size_t i = 0; i < bytes; i++)
        file[8 + n + i] = (uint8_t)(i * 37 + i / 256 * 11);
    return file;
}

/* Returns bit number `bit`, counted from the lowest bit of the first byte. */
static int bit_of(const uint8_t *bytes, size_t bit)
{
    return bytes[bit / 8] >> bit % 8 & 1;
}

/* Checks that the result contains the elements at the combinations of the indices, in row-major
 * order, starting with combination number `first`. */
static void check_elements(const uint8_t *got, uint64_t elements, const uint8_t *stored,
                           uint32_t bits, const int *shape, uint32_t rank,
                           int indices[][DIMENSION_MAX], const int *counts, uint64_t first)
{
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t rest = first + i;
        size_t element = 0, stride = 1;
        for (uint32_t d = rank; d-- > 0;) {
            element += (size_t)indices[d][rest % (uint64_t)counts[d]] * stride;
            rest /= (uint64_t)counts[d];
            stride *= (size_t)shape[d];
        }
        for (uint32_t b = 0; b < bits; b++)
            CHECK(bit_of(got, (size_t)i * bits + b) == bit_of(stored, element * bits + b));
    }
}

static void read_selection(input in, uint32_t rank)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } dtypes[] = {{"U8", 8}, {"F32", 32}, {"BF16", 16}, {"F4", 4}, {"C64", 64}, {"F6_E2M3", 6}};
    int shape[RANK_MAX], counts[RANK_MAX], indices[RANK_MAX][DIMENSION_MAX];
    uint64_t lengths[RANK_MAX] = {0}, selected = 1;
    wb_axis axes[RANK_MAX];
    char text[128] = "";
    size_t len = 0, size;
    bool refused = false;
    uint8_t choice = take(&in);
    for (uint32_t i = 0; i < rank; i++)
        lengths[i] = (uint64_t)(shape[i] = take(&in) % (DIMENSION_MAX + 1));
    for (uint32_t i = 0; i < rank; i++) {
        index_range r = take_range(&in);
        if (i > 0)
            text[len++] = ',';
        len += (size_t)print_range(text + len, sizeof text - len, &r);
        counts[i] = list_indices(&r, shape[i], indices[i]);
        refused |= counts[i] < 0;
        selected *= (uint64_t)(counts[i] < 0 ? 0 : counts[i]);
    }
    wb_status status = wb_slice_parse(text, len, lengths, rank, axes, NULL);
    CHECK((status == WB_OK) == !refused);
    if (refused)
        return;
    for (uint32_t i = 0; i < rank; i++)
        CHECK(axes[i].count == (uint64_t)counts[i] &&
              (counts[i] == 0 || axes[i].start == (uint64_t)indices[i][0]));

    size_t kind = choice % (sizeof dtypes / sizeof *dtypes);
    uint8_t *file = make_file(dtypes[kind].name, dtypes[kind].bits, shape, rank, &size);
    if (file == NULL)
        return;
    wb_model *model;
    wb_error error;
    CHECK(wb_open_memory(file, size, "slice", NULL, &model, &error) == WB_OK);
    wb_slice slice = {.size = sizeof slice,
                      .rank = rank,
                      .axes = axes,
                      .first = take(&in) % 5,
                      .count = choice >= 128 ? UINT64_MAX : take(&in)};
    uint64_t elements, bytes;
    status = wb_tensor_read_size(model, 0, &slice, -1, &elements, &bytes, &error);
    CHECK(status == WB_OK || (status == WB_ERROR_ARGUMENT && slice.first > selected) ||
          (status == WB_ERROR_UNSUPPORTED && dtypes[kind].bits < 8));
    if (status == WB_OK) {
        wb_tensor tensor = {.size = sizeof tensor};
        uint8_t *got = malloc(bytes == 0 ? 1 : (size_t)bytes);
        CHECK(got != NULL);
        CHECK(elements ==
                  (selected - slice.first < slice.count ? selected - slice.first : slice.count) ||
              rank == 0);
        CHECK(bytes == elements * dtypes[kind].bits / 8);
        CHECK(wb_tensor_at(model, 0, &tensor, NULL) == WB_OK);
        CHECK(wb_tensor_read(model, 0, &slice, -1, got, bytes, &error) == WB_OK);
        check_elements(got, elements, file + tensor.offset, dtypes[kind].bits, shape, rank, indices,
                       counts, slice.first);
        free(got);
    }
    wb_close(model);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, data + size};
    uint8_t what = take(&in);
    uint32_t rank = what / 2 % (RANK_MAX + 1);
    if (what % 2 == 0)
        try_text(in, rank);
    else
        read_selection(in, rank);
    return 0;
}
