#include "model/packed.h"
#include "model/model_messages.h"

/* ---- names of schemes and parts ---- */

const char *wb__part_name(wb__part part)
{
    static const char *const names[WB__PARTS] = {"values", "scales", "biases", "global_scale",
                                                 "order"};
    return names[part];
}

/* ---- naming conventions of companions ---- */

/* If a tensor's name ends in `ending`, its companions have the endings in `companion` instead. */
typedef struct naming {
    int32_t dtype; /* dtype of the values */
    wb__str ending;
    /* empty if the part does not exist; the first non-empty one is required */
    wb__str companion[WB__PARTS];
    wb__global global;
} naming;

#define NONE {"", 0}
#define TEXT(literal) {literal, sizeof(literal) - 1}

/* The first row that matches is used. */
static const naming namings[] = {
    {WB_DTYPE_U32,
     TEXT(".weight"),
     {NONE, TEXT(".scales"), TEXT(".biases"), TEXT(".global_scale"), NONE},
     WB__GLOBAL_MAXIMUM},
    {WB_DTYPE_U32,
     TEXT(""),
     {NONE, TEXT(".scale"), TEXT(".bias"), TEXT(".global_scale"), NONE},
     WB__GLOBAL_LAST},
    {WB_DTYPE_F8_E4M3,
     TEXT(".weight"),
     {NONE, TEXT(".weight_scale_inv"), NONE, NONE, NONE},
     WB__GLOBAL_NONE},
    {WB_DTYPE_U8,
     TEXT(".weight"),
     {NONE, TEXT(".weight_scale"), NONE, TEXT(".weight_scale_2"), NONE},
     WB__GLOBAL_FACTOR},
    {WB_DTYPE_U8,
     TEXT(".weight_packed"),
     {NONE, TEXT(".weight_scale"), NONE, TEXT(".weight_global_scale"), NONE},
     WB__GLOBAL_DIVISOR},
    {WB_DTYPE_I32,
     TEXT(".qweight"),
     {NONE, TEXT(".scales"), TEXT(".qzeros"), NONE, TEXT(".g_idx")},
     WB__GLOBAL_NONE},
    {WB_DTYPE_NVFP4, TEXT(".weight"), {NONE, NONE, NONE, TEXT(".scale"), NONE}, WB__GLOBAL_FACTOR},
};
#define NAMINGS (sizeof namings / sizeof namings[0])
#define HINTED (NAMINGS - 1) /* without the last row: a ggml type defines its packing itself */

#define LONGEST_ENDING 32

/* ---- table of tensors ---- */

void wb__tensors_init(wb__tensors *tensors, const wb_allocator *allocator)
{
    memset(tensors, 0, sizeof *tensors);
    tensors->allocator = allocator;
    tensors->shapes.allocator = allocator;
}

void wb__tensors_free(wb__tensors *tensors)
{
    if (tensors->stored != NULL)
        wb__free(tensors->allocator, tensors->stored,
                 2 * tensors->stored_count * sizeof *tensors->stored);
    wb__free(tensors->allocator, tensors->packed,
             tensors->packed_capacity * sizeof *tensors->packed);
    wb__arena_free(&tensors->shapes);
    tensors->stored = NULL;
    tensors->packed = NULL;
}

size_t wb__tensors_stored(const wb__tensors *tensors, uint64_t number, const wb__packed **packed)
{
    *packed = NULL;
    if (number >= tensors->count)
        return (size_t)(number - tensors->count);
    if (tensors->stored == NULL)
        return (size_t)number;
    uint32_t stored = tensors->stored[number];
    size_t low = 0, high = tensors->packed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tensors->packed[middle].parts[WB__PART_VALUES] < stored)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < tensors->packed_count && tensors->packed[low].parts[WB__PART_VALUES] == stored)
        *packed = &tensors->packed[low];
    return stored;
}

uint64_t wb__tensors_number(const wb__tensors *tensors, size_t stored)
{
    return tensors->seen_as == NULL ? stored : tensors->seen_as[stored];
}

/* ---- joining ---- */

typedef struct joiner {
    wb__tensors *tensors;
    wb__context *context;
    const wb__table *table;
    const wb__packing_hints *hints;
    size_t (*file_of)(const void *ctx, size_t stored);
    const void *ctx;
    char *name; /* name buffer for companions */
    size_t name_capacity;
    bool *taken; /* true for each stored tensor that is already part of a joined tensor */
} joiner;

/*
 * Returns true if a table has values with the dtype of one of the first `ways` naming conventions.
 */
static bool has_values(const wb__table *table, size_t ways)
{
    for (size_t i = 0; i < table->kinds.count; i++) {
        for (size_t n = 0; n < ways; n++) {
            const wb__kind *kind = wb__list_at(&table->kinds, i);
            if (kind->dtype->id == namings[n].dtype)
                return true;
        }
    }
    return false;
}

bool wb__packed_needs_hints(const wb__table *table)
{
    return has_values(table, HINTED);
}

static uint32_t find_companion(joiner *join, wb__str module, wb__str ending)
{
    if (ending.len == 0)
        return WB__NO_TENSOR;
    memcpy(join->name, module.ptr, module.len);
    memcpy(join->name + module.len, ending.ptr, ending.len);
    return wb__table_find(join->table, (wb__str){join->name, module.len + ending.len});
}

/* Finds the companions of a stored tensor; returns false if it has none. */
static bool find_parts(joiner *join, size_t stored, wb__packed *packed, wb__str *module)
{
    wb__str name = wb__table_name(join->table, stored);
    int32_t dtype = wb__table_kind_of(join->table, stored)->dtype->id;
    for (size_t n = 0; n < NAMINGS; n++) {
        const naming *way = &namings[n];
        if (way->dtype != dtype || !wb__str_ends_with(name, way->ending))
            continue;
        *module = (wb__str){name.ptr, name.len - way->ending.len};
        int required = WB__PART_SCALES;
        while (way->companion[required].len == 0)
            required++;
        if (find_companion(join, *module, way->companion[required]) == WB__NO_TENSOR)
            continue;
        packed->parts[WB__PART_VALUES] = (uint32_t)stored;
        for (int part = WB__PART_SCALES; part < WB__PARTS; part++)
            packed->parts[part] = find_companion(join, *module, way->companion[part]);
        packed->global =
            packed->parts[WB__PART_GLOBAL_SCALE] == WB__NO_TENSOR ? WB__GLOBAL_NONE : way->global;
        return true;
    }
    return false;
}

static wb_status note(joiner *join, size_t stored, wb__finding_id id, const char *what)
{
    return wb__note(join->context, WB_WARNING, id, WB_NO_OFFSET,
                    wb__table_name(join->table, stored), "%s", what);
}

/* Marks all parts as taken; returns false if one is already taken. */
static bool take_parts(joiner *join, const wb__packed *packed)
{
    for (int part = 0; part < WB__PARTS; part++) {
        if (packed->parts[part] != WB__NO_TENSOR && join->taken[packed->parts[part]])
            return false;
    }
    for (int part = 0; part < WB__PARTS; part++) {
        if (packed->parts[part] != WB__NO_TENSOR)
            join->taken[packed->parts[part]] = true;
    }
    return true;
}

static wb_status join_one(joiner *join, size_t stored)
{
    wb__packed packed = {.kind = {0}};
    wb__str module;
    if (join->taken[stored] || !find_parts(join, stored, &packed, &module))
        return WB_OK;
    wb__packing_hint hint = {.scheme = WB__SCHEME_PLAIN};
    if (join->hints->of != NULL)
        hint = join->hints->of(join->hints->ctx, module, join->file_of(join->ctx, stored));
    const wb__kind *values = wb__table_kind_of(join->table, stored);
    uint32_t rank = values->rank < 2 ? 2 : values->rank;
    uint64_t *shape = wb__arena_alloc(&join->tensors->shapes, rank * sizeof *shape);
    const char *doubt = NULL;
    wb__tensors *tensors = join->tensors;
    if (shape == NULL ||
        !wb__grow(tensors->allocator, (void **)&tensors->packed, &tensors->packed_capacity,
                  sizeof packed, tensors->packed_count + 1, UINT32_MAX))
        return wb__fail_memory(join->context);
    if (!wb__packing_solve(join->table, &packed, &hint, join->hints, shape, &doubt))
        return note(join, stored, WB__FINDING_PACKING_UNKNOWN, doubt);
    if (!take_parts(join, &packed))
        return note(join, stored, WB__FINDING_PACKING_UNKNOWN, WB__MSG_MODEL_PARTS_SHARED);
    packed.kind.shape = shape;
    tensors->packed[tensors->packed_count++] = packed;
    return doubt == NULL ? WB_OK : note(join, stored, WB__FINDING_PACKING_DOUBT, doubt);
}

/* Renumbers the tensors, so that companions come after all others. */
static wb_status number_anew(joiner *join)
{
    wb__tensors *tensors = join->tensors;
    size_t n = tensors->stored_count;
    uint32_t *numbers = wb__alloc_zeroed(tensors->allocator, 2 * n * sizeof *numbers);
    if (numbers == NULL)
        return wb__fail_memory(join->context);
    tensors->stored = numbers;
    tensors->seen_as = numbers + n;
    for (size_t i = 0; i < tensors->packed_count; i++) {
        for (int part = WB__PART_SCALES; part < WB__PARTS; part++) {
            if (tensors->packed[i].parts[part] != WB__NO_TENSOR)
                tensors->seen_as[tensors->packed[i].parts[part]] = 1;
        }
    }
    tensors->count = 0;
    for (size_t i = 0; i < n; i++) {
        if (tensors->seen_as[i] == 0)
            tensors->stored[tensors->count++] = (uint32_t)i;
    }
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++)
        tensors->seen_as[i] = tensors->seen_as[i] == 0 ? next++ : (uint32_t)(tensors->count + i);
    return WB_OK;
}

wb_status wb__packed_join(wb__tensors *tensors, wb__context *context, const wb__table *table,
                          const wb__packing_hints *hints,
                          size_t (*file_of)(const void *ctx, size_t stored), const void *ctx)
{
    joiner join = {.tensors = tensors,
                   .context = context,
                   .table = table,
                   .hints = hints,
                   .file_of = file_of,
                   .ctx = ctx,
                   .name_capacity = table->names_used + LONGEST_ENDING};
    tensors->count = tensors->stored_count = table->count;
    if (!has_values(table, NAMINGS) || table->count > UINT32_MAX / 2)
        return WB_OK;
    join.name = wb__alloc(tensors->allocator, join.name_capacity);
    join.taken = wb__alloc_zeroed(tensors->allocator, table->count * sizeof *join.taken);
    wb_status status = join.name == NULL || join.taken == NULL ? wb__fail_memory(context) : WB_OK;
    for (size_t i = 0; i < table->count && status == WB_OK; i++)
        status = join_one(&join, i);
    wb__free(tensors->allocator, join.name, join.name_capacity);
    wb__free(tensors->allocator, join.taken, table->count * sizeof *join.taken);
    if (status == WB_OK && tensors->packed_count > 0)
        status = number_anew(&join);
    return status;
}
