/*
 * Tests the search for companions (model/companions.h). A companion is a tensor with the scales or
 * biases of packed values. The test applies the search to random tables of tensors, and compares
 * the result with that of a simple implementation of the rules. The rules: for each tensor, in the
 * order of the table, the first naming convention whose required companion exists applies; no
 * tensor belongs to two groups.
 */
#include "support.h"

#include "model/catalog.h"
#include "model/packed.h"

/* ---- the rules ---- */

static const struct rule {
    int32_t dtype;
    const char *ending;
    const char *companion[WB__PARTS];
    wb__global global;
} rules[] = {
    {WB_DTYPE_U32, ".weight", {NULL, ".scales", ".biases", ".global_scale"}, WB__GLOBAL_MAXIMUM},
    {WB_DTYPE_U32, "", {NULL, ".scale", ".bias", ".global_scale"}, WB__GLOBAL_LAST},
    {WB_DTYPE_F8_E4M3, ".weight", {NULL, ".weight_scale_inv"}, WB__GLOBAL_NONE},
    {WB_DTYPE_U8, ".weight", {NULL, ".weight_scale", NULL, ".weight_scale_2"}, WB__GLOBAL_FACTOR},
    {WB_DTYPE_U8,
     ".weight_packed",
     {NULL, ".weight_scale", NULL, ".weight_global_scale"},
     WB__GLOBAL_DIVISOR},
    {WB_DTYPE_I32, ".qweight", {NULL, ".scales", ".qzeros", NULL, ".g_idx"}, WB__GLOBAL_NONE},
    {WB_DTYPE_NVFP4, ".weight", {NULL, NULL, NULL, ".scale"}, WB__GLOBAL_FACTOR},
};
#define RULES (sizeof rules / sizeof rules[0])

typedef struct expected {
    wb__packed packed[64];
    wb__packing packings[64];
    uint64_t shapes[64][4];
    size_t count;
    bool companion[64], taken[64];
    size_t notes;
} expected;

static uint32_t named(const wb__table *table, wb__str module, const char *ending)
{
    char name[200];
    if (ending == NULL)
        return WB__NO_TENSOR;
    int n = snprintf(name, sizeof name, "%.*s%s", (int)module.len, module.ptr, ending);
    return wb__table_find(table, (wb__str){name, (size_t)n});
}

/* Returns the rule that applies to a tensor, or NULL, and sets the parts. */
static const struct rule *rule_of(const wb__table *table, size_t i, uint32_t parts[WB__PARTS])
{
    wb__str name = wb__table_name(table, i);
    for (size_t r = 0; r < RULES; r++) {
        const struct rule *rule = &rules[r];
        wb__str ending = wb__str_from(rule->ending, SIZE_MAX);
        if (wb__table_kind_of(table, i)->dtype->id != rule->dtype ||
            !wb__str_ends_with(name, ending))
            continue;
        wb__str module = {name.ptr, name.len - ending.len};
        int required =
            rule->companion[WB__PART_SCALES] != NULL ? WB__PART_SCALES : WB__PART_GLOBAL_SCALE;
        if (named(table, module, rule->companion[required]) == WB__NO_TENSOR)
            continue;
        for (int part = 0; part < WB__PARTS; part++)
            parts[part] = named(table, module, rule->companion[part]);
        parts[WB__PART_VALUES] = (uint32_t)i;
        return rule;
    }
    return NULL;
}

static bool is_free(const expected *e, const uint32_t parts[WB__PARTS])
{
    for (int part = 0; part < WB__PARTS; part++) {
        if (parts[part] != WB__NO_TENSOR && e->taken[parts[part]])
            return false;
    }
    return true;
}

static void expect(expected *e, const wb__table *table, const wb__packing_hints *hints)
{
    memset(e, 0, sizeof *e);
    for (size_t i = 0; i < table->count; i++) {
        wb__packed *packed = &e->packed[e->count];
        wb__packing *packing = &e->packings[e->count];
        const char *doubt;
        const struct rule *rule = e->taken[i] ? NULL : rule_of(table, i, packed->parts);
        if (rule == NULL)
            continue;
        memset(packing, 0, sizeof *packing);
        packing->global =
            packed->parts[WB__PART_GLOBAL_SCALE] == WB__NO_TENSOR ? WB__GLOBAL_NONE : rule->global;
        bool fits = wb__packing_solve(table, packed->parts, hints->all, hints, packing,
                                      e->shapes[e->count], &doubt) &&
                    is_free(e, packed->parts);
        e->notes += !fits || doubt != NULL;
        if (!fits)
            continue;
        packing->kind.shape = e->shapes[e->count];
        packed->packing = packing;
        for (int part = 0; part < WB__PARTS; part++) {
            if (packed->parts[part] == WB__NO_TENSOR)
                continue;
            e->taken[packed->parts[part]] = true;
            e->companion[packed->parts[part]] = part != WB__PART_VALUES;
        }
        e->count++;
    }
}

/* ---- random tables ---- */

static uint64_t state;

static unsigned below(unsigned n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

/* Returns a random dtype: for three tensors of four, one that is usual for the name. */
static int32_t dtype_for(const char *name)
{
    static const int32_t all[] = {WB_DTYPE_U32,   WB_DTYPE_F8_E4M3, WB_DTYPE_U8,   WB_DTYPE_I32,
                                  WB_DTYPE_NVFP4, WB_DTYPE_F32,     WB_DTYPE_BF16, WB_DTYPE_F16};
    if (below(4) == 0)
        return all[below(8)];
    if (strstr(name, "scale") != NULL || strstr(name, "bias") != NULL)
        return below(3) == 0 ? WB_DTYPE_F32 : WB_DTYPE_BF16;
    if (strstr(name, "q") != NULL || strstr(name, "g_idx") != NULL)
        return WB_DTYPE_I32;
    return all[below(3)];
}

static void add_tensor(wb__catalog *model, const char *name)
{
    static const uint64_t shapes[][2] = {{128, 1}, {1, 1}, {128, 8}, {128, 128}};
    int32_t dtype = dtype_for(name);
    bool small = strstr(name, "scale") != NULL || strstr(name, "bias") != NULL;
    bool single = strstr(name, "_inv") != NULL || strstr(name, "global") != NULL;
    uint64_t shape[2];
    uint32_t k;
    size_t fitting = small ? single : dtype == WB_DTYPE_F8_E4M3 ? 3 : 2;
    memcpy(shape, shapes[below(6) == 0 ? below(4) : fitting], sizeof shape);
    wb__kind kind = {.shape = shape, .rank = 2, .dtype = wb__dtype_get(dtype)};
    wb__kind_measure(&kind);
    assert_true(wb__table_kind(&model->table, &kind, &k));
    wb__table_add(&model->table, wb__str_from(name, SIZE_MAX), k, 0, 0);
}

static void shuffle(char names[][200], unsigned n)
{
    for (unsigned i = n; i > 1; i--) {
        char swapped[200];
        unsigned other = below(i);
        memcpy(swapped, names[i - 1], sizeof swapped);
        memcpy(names[i - 1], names[other], sizeof swapped);
        memcpy(names[other], swapped, sizeof swapped);
    }
}

static void fill(wb__catalog *model, wb__context *context)
{
    static const char *const endings[] = {
        "",        ".weight", ".weight_packed",  ".qweight",          ".scales",
        ".scale",  ".biases", ".bias",           ".global_scale",     ".weight_scale",
        ".qzeros", ".g_idx",  ".weight_scale_2", ".weight_scale_inv", ".weight_global_scale"};
    char names[64][200];
    unsigned n = 0, modules = 1 + below(6), density = 1 + below(4);
    for (unsigned m = 0; m < modules; m++) {
        for (unsigned i = 0; i < 15 && n < 60; i++) {
            if (below(density) == 0)
                (void)snprintf(names[n++], 200, "layers.%u.%s", m, endings[i]);
        }
    }
    if (below(2) == 0)
        shuffle(names, n);
    assert_int_equal(wb__table_reserve(&model->table, context, 200 * 64, 64), WB_OK);
    for (unsigned i = 0; i < n; i++)
        add_tensor(model, names[i]);
    assert_int_equal(wb__catalog_end_file(model, context, NULL, NULL), WB_OK);
}

/* ---- comparison ---- */

static size_t file_of(const void *ctx, size_t stored)
{
    (void)ctx;
    (void)stored;
    return 0;
}

static void same_packing(const wb__packing *a, const wb__packing *b)
{
    assert_int_equal(a->scheme, b->scheme);
    assert_int_equal(a->global, b->global);
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->group, b->group);
    assert_int_equal(a->kind.bytes, b->kind.bytes);
    assert_int_equal(a->kind.rank, b->kind.rank);
    assert_memory_equal(a->kind.shape, b->kind.shape, a->kind.rank * sizeof *a->kind.shape);
}

static void compare(const expected *e, const wb__tensors *tensors, size_t stored)
{
    size_t next = 0, companions = 0;
    assert_int_equal(tensors->packed_count, e->count);
    for (size_t i = 0; i < e->count; i++) {
        assert_memory_equal(tensors->packed[i].parts, e->packed[i].parts,
                            sizeof e->packed[i].parts);
        same_packing(tensors->packed[i].packing, e->packed[i].packing);
    }
    for (size_t i = 0; i < stored; i++)
        companions += e->companion[i];
    assert_int_equal(tensors->count, stored - companions);
    for (size_t i = 0; i < stored; i++) {
        const wb__packed *packed;
        uint64_t number = e->companion[i] ? tensors->count + i : next++;
        assert_int_equal(wb__tensors_number(tensors, i), number);
        assert_int_equal(wb__tensors_stored(tensors, number, &packed), i);
        assert_int_equal(packed != NULL, e->taken[i] && !e->companion[i]);
        if (packed != NULL)
            assert_int_equal(packed->parts[WB__PART_VALUES], i);
    }
}

static void same_as_rules(void **ignored)
{
    static expected e;
    (void)ignored;
    size_t joined = 0, notes = 0;
    for (state = 1; state <= 10000; state++) {
        uint64_t seed = state;
        wb_error error;
        wb_findings findings;
        wb_allocator allocator = wb__default_allocator;
        wb__findings_init(&findings, &allocator);
        wb__context context = {
            .allocator = allocator, .file = "", .error = &error, .findings = &findings};
        wb__packing_hint hint = {.scheme = WB__SCHEME_AFFINE, .bits = 4, .group = 64};
        wb__packing_hints hints = {.all = &hint};
        wb__catalog model;
        wb__tensors tensors;
        wb_limits_default(&context.limits);
        wb__catalog_init(&model, &allocator, 0);
        assert_int_equal(wb__catalog_begin_file(&model, &context, "x", "test", 0), WB_OK);
        fill(&model, &context);
        expect(&e, &model.table, &hints);
        wb__tensors_init(&tensors, &allocator);
        assert_int_equal(wb__packed_join(&tensors, &context, &model.table, &hints, file_of, NULL),
                         WB_OK);
        compare(&e, &tensors, model.table.count);
        assert_int_equal(wb_findings_count(&findings), e.notes);
        joined += e.count;
        notes += e.notes;
        wb__tensors_free(&tensors);
        wb__catalog_free(&model);
        wb__findings_clear(&findings);
        state = seed;
    }
    assert_true(joined > 3000 && notes > 500);
}

/* Tests companions with long names, in an order in which the companion of a tensor is not next to
 * it and must be searched. Repeats this with each allocation failing once. */
static void long_names(void **ignored)
{
    (void)ignored;
    size_t calls = 1;
    for (size_t k = 0; k <= calls; k++) {
        counter memory = {.fail_at = k};
        wb_allocator allocator = counter_allocator(&memory);
        wb_error error;
        wb__context context = {.allocator = allocator, .file = "", .error = &error};
        wb__packing_hints hints = {.all = NULL};
        wb__catalog model;
        wb__tensors tensors;
        char name[512];
        const uint64_t shapes[2][2] = {{128, 128}, {1, 1}};
        const int32_t dtypes[2] = {WB_DTYPE_F8_E4M3, WB_DTYPE_F32};
        static const int order[] = {5, 2, 7, 0, 3, 6, 1, 4};
        wb_limits_default(&context.limits);
        wb__catalog_init(&model, &wb__default_allocator, 0);
        assert_int_equal(wb__catalog_begin_file(&model, &context, "x", "test", 0), WB_OK);
        assert_int_equal(wb__table_reserve(&model.table, &context, 8 * sizeof name, 8), WB_OK);
        for (int i = 0; i < 8; i++) {
            uint32_t number;
            int scale = order[i] % 2;
            wb__kind kind = {
                .shape = shapes[scale], .rank = 2, .dtype = wb__dtype_get(dtypes[scale])};
            wb__kind_measure(&kind);
            assert_true(wb__table_kind(&model.table, &kind, &number));
            int n = snprintf(name, sizeof name, "%0400d.weight%s", order[i] / 2,
                             scale ? "_scale_inv" : "");
            wb__table_add(&model.table, (wb__str){name, (size_t)n}, number, 0, 0);
        }
        assert_int_equal(wb__catalog_end_file(&model, &context, NULL, NULL), WB_OK);
        wb__tensors_init(&tensors, &allocator);
        wb_status status = wb__packed_join(&tensors, &context, &model.table, &hints, file_of, NULL);
        assert_int_equal(status, memory.failed ? WB_ERROR_MEMORY : WB_OK);
        if (status == WB_OK)
            assert_int_equal(tensors.packed_count, 4);
        wb__tensors_free(&tensors);
        wb__catalog_free(&model);
        assert_clean(&memory);
        calls = k == 0 ? memory.calls : calls;
    }
    assert_true(calls > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_rules),
        cmocka_unit_test(long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
