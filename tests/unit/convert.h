/* convert.h: helpers shared by the conversion tests. */
#ifndef WB_TESTS_CONVERT_H
#define WB_TESTS_CONVERT_H

#include "support.h"

static inline wb_model *open_model(const char *path)
{
    wb_model *model;
    wb_error error;
    const wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    if (wb_open(path, &options, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    return model;
}

/* Plans and runs a conversion, and returns its handle. The caller frees the handle and removes the
 * output. */
static inline wb_conversion *convert_open(wb_model *model, wb_target target,
                                          const wb_convert_policy *policy, const char *to)
{
    wb_conversion *conversion;
    wb_error error;
    if (wb_convert_plan(model, target, policy, &conversion, &error) != WB_OK ||
        wb_convert(conversion, to, NULL, &error) != WB_OK)
        fail_msg("%s: %s: %s\n", to, error.name, error.message);
    return conversion;
}

static inline void convert(const char *from, wb_target target, const wb_convert_policy *policy,
                           const char *to)
{
    wb_model *model = open_model(from);
    wb_conversion_free(convert_open(model, target, policy, to));
    wb_close(model);
}

/* Returns a copy of the stored bytes of a tensor. The caller frees the copy. */
static inline void *bytes_of(const wb_model *model, uint64_t index, uint64_t *bytes)
{
    uint64_t elements;
    assert_int_equal(wb_tensor_read_size(model, index, NULL, -1, &elements, bytes, NULL), WB_OK);
    void *read = malloc((size_t)*bytes + 1);
    assert_int_equal(wb_tensor_read(model, index, NULL, -1, read, *bytes, NULL), WB_OK);
    return read;
}

/* Checks that `made` contains tensor i of `twin` byte for byte. Compares a packed tensor part by
 * part. */
static inline void compare_tensor(const wb_model *made, const wb_model *twin, uint64_t i,
                                  const char *what)
{
    wb_tensor a = {.size = sizeof a}, b = {.size = sizeof b};
    uint64_t at = 0, n, m;
    assert_int_equal(wb_tensor_at(twin, i, &b, NULL), WB_OK);
    if (wb_tensor_find(made, b.name, b.name_len, &at) != WB_OK)
        fail_msg("%s has no %s\n", what, b.name);
    wb_encoding encoding = {.size = sizeof encoding};
    assert_int_equal(wb_tensor_encoding(twin, i, &encoding, NULL), WB_OK);
    if (encoding.parts > 1) {
        for (uint32_t part = 0; part < encoding.parts; part++) {
            wb_part of = {.size = sizeof of};
            assert_int_equal(wb_tensor_part(twin, i, part, &of, NULL), WB_OK);
            wb_part own = {.size = sizeof own};
            assert_int_equal(wb_tensor_part(made, at, part, &own, NULL), WB_OK);
            void *x = bytes_of(made, own.index, &n), *y = bytes_of(twin, of.index, &m);
            if (n != m || memcmp(x, y, (size_t)n) != 0)
                fail_msg("%s: %s of %s differ\n", what, of.role, b.name);
            free(x);
            free(y);
        }
        return;
    }
    assert_int_equal(wb_tensor_at(made, at, &a, NULL), WB_OK);
    if (a.dtype != b.dtype || a.rank != b.rank ||
        memcmp(a.shape, b.shape, a.rank * sizeof *a.shape) != 0)
        fail_msg("%s: %s is of another kind\n", what, b.name);
    void *x = bytes_of(made, at, &n), *y = bytes_of(twin, i, &m);
    if (n != m || memcmp(x, y, (size_t)n) != 0)
        fail_msg("%s: %s has other values\n", what, b.name);
    free(x);
    free(y);
}

/* Checks that both models contain the same tensors. */
static inline void compare_tensors(const wb_model *made, const wb_model *twin, const char *what)
{
    assert_int_equal(wb_tensor_count(made), wb_tensor_count(twin));
    for (uint64_t i = 0; i < wb_tensor_count(twin); i++)
        compare_tensor(made, twin, i, what);
}

static inline void compare_files(const char *a, const char *b)
{
    size_t n, m;
    unsigned char *x = read_file(a, &n), *y = read_file(b, &m);
    if (n != m || memcmp(x, y, n) != 0)
        fail_msg("%s and %s differ\n", a, b);
    free(x);
    free(y);
}

#endif
