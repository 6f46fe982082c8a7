/*
 * Tests reading slices of quantized tensors. The test writes the blocks as a U8 tensor in a
 * safetensors file, and then changes the dtype of the opened tensor to a GGML type.
 */
#include "open/open.h"
#include "quant/quant.h"
#include "weighbridge.h"

#include "unit.h"

#define ROWS 3
#define COLUMNS 2048

static uint64_t random_state = 1;

static uint8_t random_byte(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint8_t)(random_state >> 40);
}

/* Opens a model whose only tensor has ROWS rows of COLUMNS values of the dtype. Makes the file in
 * the buffer `file`. */
static wb_model *make_model(int32_t dtype, uint8_t *file, size_t room, uint8_t **blocks)
{
    static uint64_t shape[2] = {ROWS, COLUMNS};
    wb_error error;
    wb_model *model;
    uint64_t bytes;
    assert_int_equal(wb_quantized_size(dtype, ROWS, COLUMNS, &bytes, &error), WB_OK);
    int header = snprintf((char *)file + 8, room - 8,
                          "{\"t\":{\"dtype\":\"U8\",\"shape\":[%llu],\"data_offsets\":[0,%llu]}}",
                          (unsigned long long)bytes, (unsigned long long)bytes);
    assert_true(header > 0 && 8 + (size_t)header + bytes <= room);
    wb__store_le64(file, (uint64_t)header);
    *blocks = file + 8 + header;
    for (uint64_t i = 0; i < bytes; i++)
        (*blocks)[i] = random_byte() & 0x3F; /* small exponents, so that no scale is infinite */
    if (wb_open_memory(file, 8 + (size_t)header + (size_t)bytes, "memory", NULL, &model, &error) !=
        WB_OK)
        fail_msg("%s", error.message);
    wb__kind *kind = (wb__kind *)wb__table_kind_of(&model->catalog.table, 0);
    kind->dtype = wb__dtype_get(dtype);
    kind->rank = 2;
    kind->shape = shape;
    wb__kind_measure(kind);
    assert_int_equal(kind->fault, WB__KIND_SOUND);
    assert_int_equal(kind->bytes, bytes);
    return model;
}

static uint8_t file[ROWS * COLUMNS * 4 + 200];
static float all[ROWS * COLUMNS], part[ROWS * COLUMNS + 1];

static void check_slice(const wb_model *model, const char *text, int32_t dtype)
{
    const uint64_t shape[2] = {ROWS, COLUMNS};
    wb_axis axes[2];
    wb_error error;
    uint64_t elements, bytes;
    assert_int_equal(wb_slice_parse(text, SIZE_MAX, shape, 2, axes, &error), WB_OK);
    wb_slice slice = {.size = sizeof slice, .rank = 2, .axes = axes, .count = UINT64_MAX};
    assert_int_equal(wb_tensor_read_size(model, 0, &slice, dtype, &elements, &bytes, &error),
                     WB_OK);
    for (size_t shift = 0; shift < 2; shift++) { /* the destination may be unaligned */
        uint8_t *dst = (uint8_t *)part + shift;
        if (wb_tensor_read(model, 0, &slice, dtype, dst, bytes, &error) != WB_OK)
            fail_msg("%s: %s", text, error.message);
        size_t k = 0;
        for (uint64_t r = 0; r < axes[0].count; r++) {
            for (uint64_t c = 0; c < axes[1].count; c++, k++) {
                uint64_t row = axes[0].start + r * (uint64_t)axes[0].step;
                uint64_t column = axes[1].start + c * (uint64_t)axes[1].step;
                const float *want = &all[row * COLUMNS + column];
                uint8_t converted[4];
                size_t size = wb__dtype_get(dtype)->block_bits / 8;
                wb__dtype_convert(wb__dtype_get(WB_DTYPE_F32), want, 0, wb__dtype_get(dtype),
                                  converted, 1);
                if (memcmp(dst + size * k, converted, size) != 0)
                    fail_msg("%s: element %lu differs", text, (unsigned long)k);
            }
        }
        assert_int_equal(k, elements);
    }
}

static void reads(void **state)
{
    static const int32_t dtypes[] = {WB_DTYPE_Q4_0, WB_DTYPE_Q8_0, WB_DTYPE_NVFP4, WB_DTYPE_Q6_K,
                                     WB_DTYPE_IQ3_S};
    static const char *const slices[] = {"...",   "1",         "0:2,256:512", "1:,3:1000",
                                         ":,::7", "::-1,::-1", "2,255:257",   ":,-1",
                                         "0:0,:", "1,31::256"};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        uint8_t *blocks;
        wb_error error;
        wb_model *model = make_model(dtypes[i], file, sizeof file, &blocks);
        uint64_t bytes;
        assert_int_equal(wb_quantized_size(dtypes[i], ROWS, COLUMNS, &bytes, &error), WB_OK);
        assert_int_equal(wb_dequantize(dtypes[i], blocks, bytes, ROWS, COLUMNS, all, NULL, &error),
                         WB_OK);
        for (size_t k = 0; k < sizeof slices / sizeof slices[0]; k++) {
            check_slice(model, slices[k], WB_DTYPE_F32);
            check_slice(model, slices[k], WB_DTYPE_BF16);
        }
        wb_close(model);
    }
}

static void reads_blocks(void **state)
{
    (void)state;
    const uint64_t shape[2] = {ROWS, COLUMNS};
    uint8_t *blocks;
    wb_error error;
    wb_axis axes[2];
    wb_slice slice = {.size = sizeof slice, .rank = 2, .axes = axes, .count = UINT64_MAX};
    uint64_t elements, bytes;
    wb_model *model = make_model(WB_DTYPE_Q4_K, file, sizeof file, &blocks);
    assert_int_equal(wb_slice_parse("1:,256:768", SIZE_MAX, shape, 2, axes, &error), WB_OK);
    assert_int_equal(wb_tensor_read_size(model, 0, &slice, -1, &elements, &bytes, &error), WB_OK);
    assert_int_equal(elements, 1024);
    assert_int_equal(bytes, 4 * 144);
    assert_int_equal(wb_tensor_read(model, 0, &slice, -1, part, bytes, &error), WB_OK);
    assert_memory_equal(part, blocks + 9 * 144, 2 * 144);
    assert_memory_equal((uint8_t *)part + 2 * 144, blocks + 17 * 144, 2 * 144);

    assert_int_equal(wb_slice_parse(":,0:128", SIZE_MAX, shape, 2, axes, &error), WB_OK);
    assert_int_equal(wb_tensor_read_size(model, 0, &slice, -1, &elements, &bytes, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_int_equal(wb_slice_parse(":,::256", SIZE_MAX, shape, 2, axes, &error), WB_OK);
    assert_int_equal(wb_tensor_read_size(model, 0, &slice, -1, &elements, &bytes, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_int_equal(wb_tensor_read_size(model, 0, NULL, WB_DTYPE_Q8_0, &elements, &bytes, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_int_equal(wb_tensor_read_size(model, 0, NULL, WB_DTYPE_C64, &elements, &bytes, &error),
                     WB_ERROR_UNSUPPORTED);
    wb_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(reads_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
