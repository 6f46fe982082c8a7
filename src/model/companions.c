#include "model/companions.h"
#include "weighbridge/dtypes.h"

/* A naming convention for packed values and their companions (tensors with the scales, biases …).
 * The name of the values has the ending `ending`, and the names of the companions have the endings
 * in `companion` instead. */
typedef struct naming {
    int32_t dtype; /* dtype of the values */
    wb__str ending;
    /* ending of each part, empty if the convention has no such part; the part with the first
     * non-empty ending is required */
    wb__str companion[WB__PARTS];
    wb__global global;
} naming;

#define NONE {"", 0}
#define TEXT(literal) {literal, sizeof(literal) - 1}

/* The naming conventions, in order of precedence: if several of them find companions for the same
 * packed values, the first one is used. */
static const naming namings[WB__NAMINGS] = {
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
/* Number of rows of `namings` whose packing can depend on config files: all except the last,
 * because a ggml type such as NVFP4 defines its packing itself. */
#define HINTED (WB__NAMINGS - 1)

static bool has_dtype(const wb__table *table, int32_t dtype)
{
    for (size_t i = 0; i < table->kinds.count; i++) {
        const wb__kind *kind = wb__list_at(&table->kinds, i);
        if (kind->dtype->id == dtype)
            return true;
    }
    return false;
}

bool wb__companions_possible(const wb__table *table, bool hinted)
{
    for (size_t n = 0; n < (hinted ? HINTED : WB__NAMINGS); n++) {
        if (has_dtype(table, namings[n].dtype))
            return true;
    }
    return false;
}

/* Returns the required part of a naming convention: all tensors of the convention have it. */
static wb__part required_part(const naming *way)
{
    int part = WB__PART_SCALES;
    while (way->companion[part].len == 0)
        part++;
    return (wb__part)part;
}

/* ---- names ---- */

static bool is_joined(wb__str name, wb__str module, wb__str ending)
{
    return name.len == module.len + ending.len && memcmp(name.ptr, module.ptr, module.len) == 0 &&
           memcmp(name.ptr + module.len, ending.ptr, ending.len) == 0;
}

/* Looks up the name that consists of `module` and `ending`. */
static uint32_t look_up(wb__companions *c, wb__str module, wb__str ending)
{
    char buffer[256];
    size_t len = module.len + ending.len; /* cannot overflow: each is shorter than all names
                                           * together */
    char *name = len <= sizeof buffer ? buffer : wb__alloc(c->allocator, len);
    if (name == NULL) {
        c->failed = true;
        return WB__NO_TENSOR;
    }
    memcpy(name, module.ptr, module.len);
    memcpy(name + module.len, ending.ptr, ending.len);
    uint32_t found = wb__table_find(c->table, (wb__str){name, len});
    if (name != buffer)
        wb__free(c->allocator, name, len);
    return found;
}

/*
 * Returns the index of the tensor whose name consists of `module` and `ending`, or WB__NO_TENSOR.
 * First tries the tensor with index from + *distance, and updates *distance.
 */
static uint32_t find(wb__companions *c, wb__str module, wb__str ending, size_t from,
                     int64_t *distance)
{
    int64_t guess = (int64_t)from + *distance;
    if (guess >= 0 && (uint64_t)guess < c->table->count &&
        is_joined(wb__table_name(c->table, (size_t)guess), module, ending))
        return (uint32_t)guess;
    uint32_t found = look_up(c, module, ending);
    if (found != WB__NO_TENSOR)
        *distance = (int64_t)found - (int64_t)from;
    return found;
}

/* ---- endings of companions ---- */

/* An ending that tensors of the table may have. */
typedef struct ending {
    wb__str text;
    /* `last`: the last 8 bytes of the ending (see last_bytes). `mask`: selects the bytes of `last`
     * that belong to the ending. A name shorter than the ending does not match: last_bytes pads it
     * with zeros, and an ending has no NUL. */
    uint64_t last, mask;
    unsigned naming;
    wb__part part;
    bool is_required;
    /* tensor index of the values minus tensor index of the companion, in the previous group */
    int64_t distance;
    uint8_t next; /* index + 1 of another ending with the same last byte; 0: none */
} ending;

#define ENDINGS_MAX (WB__NAMINGS * WB__PARTS)

typedef struct endings {
    ending list[ENDINGS_MAX];
    /* first[c]: 1 + index in `list` of an ending whose last byte is c; 0: no ending has it */
    uint8_t first[256];
} endings;

/* Returns the last 8 bytes of a text, with zeros in front of a shorter text. */
static uint64_t last_bytes(wb__str text)
{
    uint8_t last[8] = {0};
    if (text.len >= 8)
        return wb__load_le64((const uint8_t *)text.ptr + text.len - 8);
    memcpy(last + 8 - text.len, text.ptr, text.len);
    return wb__load_le64(last);
}

static void list_endings(const wb__table *table, endings *all)
{
    size_t count = 0;
    memset(all, 0, sizeof *all);
    for (unsigned n = 0; n < WB__NAMINGS; n++) {
        if (!has_dtype(table, namings[n].dtype))
            continue;
        for (int part = WB__PART_SCALES; part < WB__PARTS; part++) {
            wb__str text = namings[n].companion[part];
            if (text.len == 0)
                continue;
            uint8_t *first = &all->first[(uint8_t)text.ptr[text.len - 1]];
            all->list[count++] =
                (ending){.text = text,
                         .last = last_bytes(text),
                         .mask = text.len >= 8 ? UINT64_MAX : UINT64_MAX << (64 - 8 * text.len),
                         .naming = n,
                         .part = (wb__part)part,
                         .is_required = (wb__part)part == required_part(&namings[n]),
                         .next = *first};
            *first = (uint8_t)count;
        }
    }
}

/* ---- groups ---- */

/*
 * Finds the optional parts of a group. Looks only for parts that at least one tensor of the table
 * has.
 */
static void find_others(wb__companions *c, wb__group *group)
{
    unsigned n = group->naming;
    for (int part = WB__PART_SCALES; part < WB__PARTS; part++) {
        if (c->exists[n] >> part & 1)
            group->parts[part] = find(c, group->module, namings[n].companion[part],
                                      group->parts[WB__PART_VALUES], &c->distance[n][part]);
    }
}

/*
 * Sets *group to the group of tensor `i`, which is a required companion. Returns false if the table
 * does not contain the values for this companion.
 */
static bool group_of(wb__companions *c, ending *e, size_t i, wb__str name, wb__group *group)
{
    const naming *way = &namings[e->naming];
    group->module = (wb__str){name.ptr, name.len - e->text.len};
    uint32_t values = find(c, group->module, way->ending, i, &e->distance);
    if (values == WB__NO_TENSOR || wb__table_kind_of(c->table, values)->dtype->id != way->dtype)
        return false;
    for (int part = 0; part < WB__PARTS; part++)
        group->parts[part] = WB__NO_TENSOR;
    group->parts[WB__PART_VALUES] = values;
    group->parts[e->part] = (uint32_t)i;
    group->naming = e->naming;
    c->reported[e->naming] = true;
    if (c->exists[e->naming] != 0)
        find_others(c, group);
    group->global =
        group->parts[WB__PART_GLOBAL_SCALE] == WB__NO_TENSOR ? WB__GLOBAL_NONE : way->global;
    return true;
}

typedef struct receiver {
    bool (*take)(void *ctx, const wb__group *group);
    void *ctx;
} receiver;

/* Handles tensor i, whose name has the ending `e`. If this is the ending of a required companion,
 * reports the group of the tensor. Otherwise records in c->exists that the optional part exists,
 * and returns WB__SEARCH_AGAIN if a group of the same naming convention was already reported
 * without this part. */
static wb__search visit(wb__companions *c, ending *e, size_t i, wb__str name, const receiver *to)
{
    wb__group group;
    if (!e->is_required) {
        bool missed = c->reported[e->naming] && !(c->exists[e->naming] >> e->part & 1);
        c->exists[e->naming] |= 1u << e->part;
        return missed ? WB__SEARCH_AGAIN : WB__SEARCH_DONE;
    }
    if (to->take == NULL || !group_of(c, e, i, name, &group))
        return WB__SEARCH_DONE;
    return to->take(to->ctx, &group) ? WB__SEARCH_DONE : WB__SEARCH_NO_MEMORY;
}

/* Visits all tensors that have the ending of a companion. */
static wb__search visit_all(wb__companions *c, const receiver *to)
{
    endings all;
    list_endings(c->table, &all);
    for (size_t i = 0; i < c->table->count; i++) {
        wb__str name = wb__table_name(c->table, i);
        uint8_t next = name.len == 0 ? 0 : all.first[(uint8_t)name.ptr[name.len - 1]];
        if (next == 0)
            continue;
        uint64_t last = last_bytes(name);
        while (next != 0) {
            ending *e = &all.list[next - 1];
            next = e->next;
            if ((last & e->mask) != e->last ||
                (e->text.len > 8 && !wb__str_ends_with(name, e->text)))
                continue;
            wb__search result = visit(c, e, i, name, to);
            if (result != WB__SEARCH_DONE)
                return result;
        }
    }
    return c->failed ? WB__SEARCH_NO_MEMORY : WB__SEARCH_DONE;
}

/* ---- interface ---- */

void wb__companions_start(wb__companions *companions, const wb__table *table,
                          const wb_allocator *allocator)
{
    *companions = (wb__companions){.allocator = allocator, .table = table};
}

wb__search wb__companions_search(wb__companions *companions,
                                 bool (*take)(void *ctx, const wb__group *group), void *ctx)
{
    const receiver to = {take, ctx}, nobody = {NULL, NULL};
    wb__search result = visit_all(companions, &to);
    if (result == WB__SEARCH_AGAIN) {
        /* The search ended early. Search again without reporting, to find which optional parts the
         * model has. The next search of the caller can then report complete groups. */
        memset(companions->reported, 0, sizeof companions->reported);
        (void)visit_all(companions, &nobody);
    }
    return result;
}
