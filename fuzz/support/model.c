#include "support/model.h"

#define VALUES_MAX 16384u /* digests are checked only for models with at most so many values */

/* ---- memory ---- */

#define GUARD 16

static void *heap_alloc(void *ctx, size_t bytes)
{
    fuzz_heap *heap = ctx;
    if (bytes > SIZE_MAX - GUARD)
        return NULL;
    uint8_t *block = malloc(bytes + GUARD);
    if (block == NULL)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    heap->live += bytes;
    heap->peak = heap->live > heap->peak ? heap->live : heap->peak;
    return block + GUARD;
}

static void heap_free(void *ctx, void *memory, size_t bytes)
{
    fuzz_heap *heap = ctx;
    uint8_t *block = (uint8_t *)memory - GUARD;
    CHECK(memcmp(block, &bytes, sizeof bytes) == 0);
    heap->live -= bytes;
    free(block);
}

wb_allocator fuzz_allocator(fuzz_heap *heap)
{
    return (wb_allocator){heap, heap_alloc, heap_free};
}

/* ---- a source that returns fewer bytes than requested ---- */

static wb_status dribble_read(void *ctx, uint64_t offset, void *dst, size_t n, size_t *got)
{
    fuzz_dribble *d = ctx;
    size_t left = offset < d->size ? d->size - (size_t)offset : 0;
    *got = n < d->most ? n : d->most;
    *got = *got < left ? *got : left;
    if (*got > 0)
        memcpy(dst, d->bytes + offset, *got);
    return WB_OK;
}

static void dribble_close(void *ctx)
{
    fuzz_dribble *d = ctx;
    d->closed++;
}

wb_source fuzz_dribble_source(fuzz_dribble *dribble)
{
    return (wb_source){.size = sizeof(wb_source),
                       .ctx = dribble,
                       .bytes = dribble->size,
                       .read = dribble_read,
                       .close = dribble_close};
}

/* ---- errors and findings ---- */

static void check_text(const char *text, size_t capacity)
{
    CHECK(memchr(text, '\0', capacity) != NULL);
    for (const char *p = text; *p != '\0'; p++)
        CHECK((unsigned char)*p >= 0x20 && *p != 0x7F);
}

void fuzz_check_error(const wb_error *error, wb_status status, size_t size)
{
    CHECK(error->status == status);
    CHECK(error->code != NULL && error->code[0] != '\0');
    CHECK(error->message[0] != '\0');
    CHECK(error->offset == WB_NO_OFFSET || error->offset <= size);
    check_text(error->file, sizeof error->file);
    check_text(error->name, sizeof error->name);
    check_text(error->message, sizeof error->message);
    check_text(error->advice, sizeof error->advice);
}

void fuzz_check_same_error(const wb_error *a, const wb_error *b)
{
    CHECK(a->status == b->status && a->code == b->code && a->offset == b->offset);
    CHECK(strcmp(a->name, b->name) == 0 && strcmp(a->message, b->message) == 0);
}

void fuzz_check_findings(const wb_findings *findings, size_t size)
{
    wb_finding finding = {.size = sizeof finding};
    uint64_t count = wb_findings_count(findings);
    int verdict = 0;
    for (uint64_t i = 0; i < count; i++) {
        CHECK(wb_findings_at(findings, i, &finding) == WB_OK);
        CHECK(finding.code[0] != '\0' && finding.message[0] != '\0');
        CHECK(finding.offset == WB_NO_OFFSET || finding.offset <= size);
        CHECK(finding.severity != WB_FATAL);
        check_text(finding.name, SIZE_MAX / 2);
        check_text(finding.message, SIZE_MAX / 2);
        verdict |= finding.severity > WB_INFO;
    }
    CHECK(wb_findings_at(findings, count, &finding) == WB_ERROR_NOT_FOUND);
    CHECK(wb_findings_verdict(findings) == verdict);
}

/* ---- metadata ---- */

#define ARRAY_DEPTH 8
#define ARRAY_WALK 64 /* maximum number of elements checked per array */

/* Checks that strings read one by one equal those read in one call. */
static void check_strings(const wb_meta_array *array, uint64_t n)
{
    const char *values[ARRAY_WALK];
    size_t lens[ARRAY_WALK];
    CHECK(wb_meta_strings(array, 0, n, values, lens) == WB_OK);
    for (uint64_t i = 0; i < n; i++) {
        const char *value;
        size_t len;
        CHECK(wb_meta_string_at(array, i, &value, &len) == WB_OK);
        CHECK(value == values[i] && len == lens[i] && value[len] == '\0');
    }
    const char *none;
    size_t len;
    CHECK(wb_meta_string_at(array, array->count, &none, &len) == WB_ERROR_NOT_FOUND);
    CHECK(wb_meta_strings(array, array->count, 1, &none, &len) == WB_ERROR_NOT_FOUND);
}

static void check_numbers(const wb_meta_array *array, uint64_t n)
{
    union {
        int64_t ints[ARRAY_WALK];
        uint64_t uints[ARRAY_WALK];
        double floats[ARRAY_WALK];
    } to;
    wb_status status = wb_meta_ints(array, array->count - n, n, to.ints);
    wb_status other = wb_meta_uints(array, array->count - n, n, to.uints);
    bool is_float = array->element == WB_META_FLOAT;
    CHECK(is_float ? status == WB_ERROR_ARGUMENT : status == WB_OK || status == WB_ERROR_TYPE);
    CHECK(is_float ? other == WB_ERROR_ARGUMENT : other == WB_OK || other == WB_ERROR_TYPE);
    CHECK(wb_meta_floats(array, 0, n, to.floats) == (is_float ? WB_OK : WB_ERROR_ARGUMENT));
    CHECK(array->bits == 8 || array->bits == 16 || array->bits == 32 || array->bits == 64);
    if (array->count > 0) { /* the last byte must be readable */
        const volatile uint8_t *bytes = array->data;
        CHECK(bytes != NULL);
        (void)bytes[array->count * (array->bits / 8) - 1];
    }
}

static void check_array(const wb_meta_array *array, int depth)
{
    uint64_t n = array->count < ARRAY_WALK ? array->count : ARRAY_WALK;
    if (array->element == WB_META_STRING) {
        check_strings(array, n);
    } else if (array->element == WB_META_ARRAY) {
        for (uint64_t i = 0; i < n && depth < ARRAY_DEPTH; i++) {
            wb_meta_array inner = {.size = sizeof inner};
            CHECK(wb_meta_array_at(array, i, &inner) == WB_OK);
            check_array(&inner, depth + 1);
        }
        wb_meta_array none = {.size = sizeof none};
        CHECK(wb_meta_array_at(array, array->count, &none) == WB_ERROR_NOT_FOUND);
    } else {
        check_numbers(array, n);
    }
}

static void check_entry(const wb_model *model, const wb_meta *meta)
{
    const char *text;
    size_t len;
    int64_t i;
    uint64_t u;
    double f;
    int b;
    wb_meta_array array = {.size = sizeof array};
    bool is_int = meta->type == WB_META_INT, is_uint = meta->type == WB_META_UINT;
    bool is_number = is_int || is_uint || meta->type == WB_META_FLOAT;
    wb_status status = wb_meta_get_string(model, meta->key, meta->key_len, &text, &len, NULL);
    CHECK(status == (meta->type == WB_META_STRING ? WB_OK : WB_ERROR_TYPE));
    if (status == WB_OK)
        CHECK(len == meta->count && text[len] == '\0');
    status = wb_meta_get_int(model, meta->key, meta->key_len, &i, NULL);
    CHECK(is_int ? status == WB_OK : status == WB_ERROR_TYPE || (is_uint && status == WB_OK));
    status = wb_meta_get_uint(model, meta->key, meta->key_len, &u, NULL);
    CHECK(is_uint ? status == WB_OK : status == WB_ERROR_TYPE || (is_int && status == WB_OK));
    status = wb_meta_get_float(model, meta->key, meta->key_len, &f, NULL);
    CHECK(meta->type == WB_META_FLOAT ? status == WB_OK
                                      : status == WB_ERROR_TYPE || (is_number && status == WB_OK));
    status = wb_meta_get_bool(model, meta->key, meta->key_len, &b, NULL);
    CHECK(status == (meta->type == WB_META_BOOL ? WB_OK : WB_ERROR_TYPE));
    status = wb_meta_get_array(model, meta->key, meta->key_len, WB_META_ANY, &array, NULL);
    CHECK(status == (meta->type == WB_META_ARRAY ? WB_OK : WB_ERROR_TYPE));
    if (status == WB_OK) {
        CHECK(array.count == meta->count && array.element == meta->element);
        check_array(&array, 0);
    }
}

void fuzz_check_metadata(const wb_model *model)
{
    for (uint64_t i = 0; i < wb_meta_count(model); i++) {
        wb_meta meta = {.size = sizeof meta};
        uint64_t found;
        CHECK(wb_meta_at(model, i, &meta, NULL) == WB_OK);
        CHECK(meta.key[meta.key_len] == '\0');
        CHECK(wb_meta_find(model, meta.key, meta.key_len, &found) == WB_OK && found == i);
        if (i < 256)
            check_entry(model, &meta);
    }
    uint64_t none;
    CHECK(wb_meta_find(model, "no such key\xFF", SIZE_MAX, &none) == WB_ERROR_NOT_FOUND);
}

/* ---- tensors ---- */

#define READ_MAX 4096 /* maximum number of elements read per tensor */
#define RANK_MAX 8

/* Chooses some indices of each dimension, in ascending or descending order. */
static void draw_axes(const wb_tensor *tensor, uint32_t *random, wb_axis *axes)
{
    for (uint32_t i = 0; i < tensor->rank; i++) {
        uint64_t n = tensor->shape[i];
        uint32_t what = fuzz_draw(random);
        axes[i] = (wb_axis){.start = 0, .count = n, .step = 1};
        if (n == 0 || what % 3 == 0)
            continue;
        uint64_t start = fuzz_draw(random) % n, step = 1 + what / 8 % 3;
        bool back = what & 4;
        uint64_t room = (back ? start : n - 1 - start) / step;
        axes[i].start = start;
        axes[i].step = back ? -(int64_t)step : (int64_t)step;
        axes[i].count = 1 + fuzz_draw(random) % (room + 1);
        axes[i].drop = axes[i].count == 1 && what & 64;
    }
}

/* Returns the position in the tensor of element `i` of the selection. */
static uint64_t place_of(const wb_tensor *tensor, const wb_axis *axes, uint64_t i)
{
    uint64_t place = 0, stride = 1;
    for (uint32_t d = tensor->rank; d-- > 0;) {
        uint64_t at = i % axes[d].count;
        i /= axes[d].count;
        place += stride * (axes[d].start + at * (uint64_t)axes[d].step);
        stride *= tensor->shape[d];
    }
    return place;
}

static void *read_all(const wb_model *model, uint64_t index, const wb_slice *slice, int32_t dtype,
                      uint64_t *elements, uint64_t *bytes)
{
    wb_error error;
    wb_status status = wb_tensor_read_size(model, index, slice, dtype, elements, bytes, &error);
    if (status != WB_OK) {
        fuzz_check_error(&error, status, SIZE_MAX);
        return NULL;
    }
    if (*elements > READ_MAX)
        return NULL;
    uint8_t *dst = malloc(*bytes == 0 ? 1 : (size_t)*bytes);
    CHECK(dst != NULL);
    if (*bytes > 0)
        CHECK(wb_tensor_read(model, index, slice, dtype, dst, *bytes - 1, &error) ==
              WB_ERROR_ARGUMENT);
    status = wb_tensor_read(model, index, slice, dtype, dst, *bytes, &error);
    if (status != WB_OK) { /* the stored data is invalid, such as a group index out of range */
        free(dst);
        return NULL;
    }
    return dst;
}

static void check_slice(const wb_model *model, uint64_t index, const wb_tensor *tensor,
                        uint32_t *random, const float *whole)
{
    wb_axis axes[RANK_MAX];
    uint64_t elements, bytes;
    draw_axes(tensor, random, axes);
    wb_slice slice = {.size = sizeof slice,
                      .rank = tensor->rank,
                      .axes = axes,
                      .first = fuzz_draw(random) % 4 == 0 ? 1 : 0,
                      .count = UINT64_MAX};
    float *some = read_all(model, index, &slice, WB_DTYPE_F32, &elements, &bytes);
    if (some == NULL)
        return;
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t place = place_of(tensor, axes, slice.first + i);
        CHECK(place < tensor->elements);
        CHECK(memcmp(&some[i], &whole[place], sizeof *some) == 0 ||
              (some[i] != some[i] && whole[place] != whole[place]));
    }
    free(some);
    void *raw = read_all(model, index, &slice, -1, &elements, &bytes);
    free(raw);
}

static void check_values(const wb_model *model, uint64_t index, const wb_tensor *tensor,
                         uint32_t *random)
{
    static const int32_t dtypes[] = {WB_DTYPE_F64,     WB_DTYPE_BF16, WB_DTYPE_F16,
                                     WB_DTYPE_F8_E4M3, WB_DTYPE_U8,   WB_DTYPE_F4,
                                     WB_DTYPE_I64,     WB_DTYPE_BOOL, WB_DTYPE_F8_E8M0};
    uint64_t elements, bytes;
    const void *stored;
    if (tensor->elements > READ_MAX || tensor->rank > RANK_MAX)
        return;
    float *whole = read_all(model, index, NULL, WB_DTYPE_F32, &elements, &bytes);
    if (whole != NULL) {
        CHECK(elements == tensor->elements && bytes == 4 * elements);
        check_slice(model, index, tensor, random, whole);
        check_slice(model, index, tensor, random, whole);
    }
    free(whole);
    uint8_t *raw = read_all(model, index, NULL, -1, &elements, &bytes);
    if (raw != NULL && bytes > 0 && wb_tensor_data(model, index, &stored, NULL) == WB_OK)
        CHECK(bytes == tensor->bytes && memcmp(raw, stored, (size_t)bytes) == 0);
    free(raw);
    int32_t dtype = dtypes[fuzz_draw(random) % (sizeof dtypes / sizeof *dtypes)];
    free(read_all(model, index, NULL, dtype, &elements, &bytes));
}

static void check_parts(const wb_model *model, uint64_t index, const wb_tensor *tensor)
{
    wb_encoding encoding = {.size = sizeof encoding};
    uint64_t sum = 0;
    CHECK(wb_tensor_encoding(model, index, &encoding, NULL) == WB_OK);
    CHECK(encoding.type[0] != '\0' && encoding.parts >= 1);
    for (uint32_t i = 0; i < encoding.parts; i++) {
        wb_part part = {.size = sizeof part};
        wb_tensor stored = {.size = sizeof stored};
        uint64_t found;
        CHECK(wb_tensor_part(model, index, i, &part, NULL) == WB_OK);
        CHECK(part.role[0] != '\0');
        CHECK(wb_tensor_at(model, part.index, &stored, NULL) == WB_OK);
        if (encoding.parts > 1) {
            CHECK(i == 0 || wb_tensor_find(model, stored.name, stored.name_len, &found) == WB_OK);
            sum += stored.bytes;
        }
    }
    CHECK(encoding.parts == 1 || sum == tensor->bytes);
    wb_part none = {.size = sizeof none};
    CHECK(wb_tensor_part(model, index, encoding.parts, &none, NULL) != WB_OK);
}

static void check_tensor(const wb_model *model, uint64_t index, uint32_t *random)
{
    wb_tensor tensor = {.size = sizeof tensor};
    wb_file file = {.size = sizeof file};
    uint64_t found, elements = 1;
    CHECK(wb_tensor_at(model, index, &tensor, NULL) == WB_OK);
    CHECK(tensor.name[tensor.name_len] == '\0');
    CHECK(wb_tensor_find(model, tensor.name, tensor.name_len, &found) == WB_OK && found == index);
    CHECK(wb_tensor_has(model, tensor.name, tensor.name_len));
    CHECK(wb_file_at(model, tensor.file, &file, NULL) == WB_OK);
    CHECK(tensor.offset <= file.bytes);
    for (uint32_t i = 0; i < tensor.rank; i++)
        elements *= tensor.shape[i];
    CHECK(elements == tensor.elements);
    check_parts(model, index, &tensor);
    check_values(model, index, &tensor, random);
}

static void check_names(const wb_model *model)
{
    const char *names, *canonical;
    const uint64_t *offsets, *canonical_offsets;
    uint64_t count = wb_tensor_count(model);
    CHECK(wb_tensor_names(model, WB_NAMES_NATIVE, &names, &offsets, NULL) == WB_OK);
    CHECK(wb_tensor_names(model, WB_NAMES_CANONICAL, &canonical, &canonical_offsets, NULL) ==
          WB_OK);
    for (uint64_t i = 0; i < count; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        uint64_t found;
        CHECK(wb_tensor_at(model, i, &tensor, NULL) == WB_OK);
        CHECK(offsets[i + 1] - offsets[i] - 1 == tensor.name_len);
        CHECK(memcmp(names + offsets[i], tensor.name, tensor.name_len + 1) == 0);
        const char *name = canonical + canonical_offsets[i];
        size_t len = (size_t)(canonical_offsets[i + 1] - canonical_offsets[i] - 1);
        CHECK(name[len] == '\0');
        CHECK(len == 0 || wb_tensor_find(model, name, len, &found) == WB_OK);
    }
}

static void check_config(const wb_model *model)
{
    wb_config config = {.size = sizeof config};
    CHECK(wb_config_get(model, &config, NULL) == WB_OK);
    for (uint32_t i = 0; i < WB_CONFIG_FIELDS; i++) {
        wb_config_value value = {.size = sizeof value};
        CHECK(wb_config_at(&config, i, &value) == WB_OK);
        CHECK(value.name[0] != '\0' && value.origin == config.origin[i]);
    }
}

static void check_verify(const wb_model *model, uint32_t random)
{
    wb_verify_options options = {.size = sizeof options, .data_budget = 1 + random % 512};
    wb_findings *findings;
    wb_error error;
    if (random % 2 == 0)
        options.flags = WB_VERIFY_DEEP;
    CHECK(wb_verify_model(model, &options, &findings, &error) == WB_OK);
    fuzz_check_findings(findings, SIZE_MAX);
    wb_findings_free(findings);
}

/* Checks that wb_diff_models finds no difference between a model and itself, and that it compares
 * as many tensors as wb_hash_model computes digests for. */
static void check_digests(const wb_model *model)
{
    uint64_t values = 0;
    for (uint64_t i = 0; i < wb_tensor_count(model) && values <= VALUES_MAX; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        CHECK(wb_tensor_at(model, i, &tensor, NULL) == WB_OK);
        values += tensor.elements > VALUES_MAX ? VALUES_MAX + 1 : tensor.elements;
    }
    if (values > VALUES_MAX)
        return;
    wb_hash_options options = {.size = sizeof options};
    wb_hashes *hashes;
    wb_diff *diff;
    wb_error error;
    wb_status status = wb_hash_model(model, &options, &hashes, &error);
    CHECK(status == WB_OK || error.message[0] != '\0');
    CHECK((wb_diff_models(model, model, NULL, &diff, &error) == WB_OK) == (status == WB_OK));
    if (status != WB_OK)
        return;
    CHECK(wb_diff_kinds(diff) == 0);
    CHECK(wb_diff_tensor_count(diff) == wb_hash_tensor_count(hashes));
    uint64_t odd = 0;
    for (uint64_t i = 0; i < wb_hash_tensor_count(hashes); i++) {
        wb_tensor_hash hash = {.size = sizeof hash};
        CHECK(wb_hash_tensor_at(hashes, i, &hash) == WB_OK);
        odd += hash.nan + hash.infinite;
    }
    wb_distance distance;
    wb_diff_distance(diff, &distance);
    CHECK(distance.different == 0 && distance.nmse == 0 && odd <= distance.values);
    wb_diff_free(diff);
    wb_hashes_free(hashes);
}

void fuzz_check_model(const wb_model *model, uint32_t random)
{
    uint32_t state = fuzz_seed(random);
    uint64_t count = wb_tensor_count(model);
    fuzz_check_findings(wb_model_findings(model), SIZE_MAX);
    for (uint64_t i = 0; i < count && i < 64; i++)
        check_tensor(model, i, &state);
    wb_tensor none = {.size = sizeof none};
    CHECK(wb_tensor_at(model, UINT64_MAX, &none, NULL) == WB_ERROR_NOT_FOUND);
    CHECK(wb_model_check(model, NULL) == WB_OK);
    check_config(model);
    check_names(model);
    CHECK(!wb_tensor_has(model, "no such tensor\xFF", SIZE_MAX));
    fuzz_check_metadata(model);
    check_verify(model, state);
    check_digests(model);
    fuzz_check_provider(model, &state);
}
