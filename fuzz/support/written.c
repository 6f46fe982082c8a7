#include "written.h"

bool written_draw(fuzz_tape *tape, written_tensor *t)
{
    static const int32_t dtypes[] = {WB_DTYPE_F32, WB_DTYPE_F16, WB_DTYPE_BF16, WB_DTYPE_I8,
                                     WB_DTYPE_I64, WB_DTYPE_U8,  WB_DTYPE_Q8_0, WB_DTYPE_F64,
                                     WB_DTYPE_I32, WB_DTYPE_Q4_0};
    wb_dtype_info info = {.size = sizeof info};
    uint64_t elements = 1;
    t->name_len = fuzz_text(tape, t->name, sizeof t->name - 1);
    t->dtype = dtypes[fuzz_choose(tape, sizeof dtypes / sizeof *dtypes)];
    t->rank = fuzz_choose(tape, 5);
    for (uint32_t i = 0; i < t->rank; i++) {
        t->shape[i] = fuzz_choose(tape, 9);
        elements *= t->shape[i];
    }
    if (wb_dtype_describe(t->dtype, &info) != WB_OK || info.block_size == 0)
        return false;
    if (t->rank > 0 && info.block_size > 1) {
        elements = elements * info.block_size;
        t->shape[t->rank - 1] *= info.block_size;
    }
    t->bytes = elements / info.block_size * info.block_bits / 8;
    if (elements % info.block_size != 0 || t->bytes > sizeof t->data)
        return false;
    uint32_t state = fuzz_seed((uint32_t)tape->at + t->rank);
    for (size_t i = 0; i < t->bytes; i++)
        t->data[i] = (uint8_t)fuzz_draw(&state);
    return true;
}

static void check_tensor(const wb_model *model, const written_tensor *t)
{
    uint64_t index, elements, bytes;
    uint8_t data[WRITTEN_BYTES];
    wb_tensor found = {.size = sizeof found};
    CHECK(wb_tensor_find(model, t->name, t->name_len, &index) == WB_OK);
    CHECK(wb_tensor_at(model, index, &found, NULL) == WB_OK);
    CHECK((int32_t)found.dtype == t->dtype && found.rank == t->rank);
    CHECK(memcmp(found.shape, t->shape, t->rank * sizeof *t->shape) == 0);
    CHECK(wb_tensor_read_size(model, index, NULL, -1, &elements, &bytes, NULL) == WB_OK);
    CHECK(bytes == t->bytes && bytes <= sizeof data);
    CHECK(wb_tensor_read(model, index, NULL, -1, data, sizeof data, NULL) == WB_OK);
    CHECK(memcmp(data, t->data, (size_t)bytes) == 0);
}

/* Returns true if the writer inserted the tensor as padding. A declared tensor with the name of a
 * padding tensor is not padding. */
static bool is_padding(const written *w, const wb_tensor *t)
{
    for (size_t i = 0; i < w->tensor_count; i++) {
        if (w->tensors[i].name_len == t->name_len &&
            memcmp(w->tensors[i].name, t->name, t->name_len) == 0)
            return false;
    }
    return t->name_len > 11 && memcmp(t->name, "__padding__", 11) == 0;
}

void written_check(const written *w, const char *path, bool has_metadata)
{
    wb_model *model;
    wb_error error;
    const wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    if (wb_open(path, &options, &model, &error) != WB_OK) {
        fprintf(stderr, "%s: %s\n", error.name, error.message);
        CHECK(false);
    }
    uint64_t padding = 0;
    for (uint64_t i = 0; i < wb_tensor_count(model); i++) {
        wb_tensor t = {.size = sizeof t};
        CHECK(wb_tensor_at(model, i, &t, NULL) == WB_OK);
        padding += is_padding(w, &t);
    }
    CHECK(wb_tensor_count(model) == w->tensor_count + padding);
    for (size_t i = 0; i < w->tensor_count; i++)
        check_tensor(model, &w->tensors[i]);
    for (size_t i = 0; has_metadata && i < w->meta_count; i++) {
        const char *text;
        size_t n;
        const written_meta *m = &w->metas[i];
        CHECK(wb_meta_get_string(model, m->key, m->key_len, &text, &n, NULL) == WB_OK);
        CHECK(n == m->text_len && memcmp(text, m->text, n) == 0);
    }
    wb_close(model);
}
